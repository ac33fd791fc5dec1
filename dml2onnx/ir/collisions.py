"""Decides whether a strided view addresses any element of memory twice, without enumerating its elements.

Two elements overlap if the difference ``d`` of their coordinates, nonzero with ``|d[i]| < sizes[i]``, is orthogonal to
the strides. The search builds differences from the largest stride down, and keeps those whose partial sum the smaller
strides can still cancel. The last two dimensions are a linear equation in two unknowns, solved by a formula. The rest
is a small search for every view of at most 2**32 elements.
"""

from __future__ import annotations

from itertools import combinations
from math import gcd, prod
from typing import TYPE_CHECKING

from dml2onnx.lazy import lazy_module

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    Sums = npt.NDArray[np.int64]
else:
    np = lazy_module("numpy")

_COMPARED = 1 << 16
"""Elements compared one by one: all of a small view, and enough of a large one that random strides would overlap."""
_SEARCHED = 1 << 20
"""Largest number of partial sums in the search."""


def collides(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether two coordinates below ``sizes`` address the same element."""
    pairs = sorted((stride, size) for size, stride in zip(sizes, strides, strict=True) if size > 1)
    reach = 0
    for stride, size in pairs:
        if stride <= reach or not stride:
            break
        reach += stride * (size - 1)
    else:
        return False  # every stride exceeds the extent of all smaller ones
    return pairs[0][0] == 0 or _is_crowded(pairs) or _some_collide(pairs) or _has_null_difference(pairs)


def _is_crowded(pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether some subset of the dimensions has more coordinates than addresses."""
    for count in range(2, len(pairs) + 1):
        for some in combinations(pairs, count):
            common = gcd(*(stride for stride, _ in some))
            places = 1 + sum(stride * (size - 1) for stride, size in some) // common
            if prod(size for _, size in some) > places:
                return True
    return False


def _some_collide(pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether two elements collide, among the first ones of each dimension."""
    places, left = np.zeros(1, np.int64), len(pairs)
    for stride, size in sorted(pairs, key=lambda pair: pair[1]):
        count = min(size, max(2, int((_COMPARED / len(places)) ** (1 / left))))
        places = (places[:, None] + stride * np.arange(count, dtype=np.int64)).reshape(-1)
        left -= 1
    places.sort()
    return bool((places[1:] == places[:-1]).any())


def _has_null_difference(pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether a nonzero difference of coordinates has the sum 0. By symmetry its first nonzero entry is positive."""
    if prod(size for _, size in pairs) <= _COMPARED // 2:
        return False  # _some_collide compared all of them
    falling = list(reversed(pairs))
    for first, (stride, size) in enumerate(falling):
        rest = falling[first + 1 :]
        if not rest:
            return False
        if len(rest) == 1:
            ((other, count),) = rest
            common = gcd(stride, other)
            return other // common < size and stride // common < count
        reach = sum(step * (n - 1) for step, n in rest)
        steps = min(size - 1, reach // stride)
        if steps > _SEARCHED or _undone(stride * np.arange(1, steps + 1, dtype=np.int64), rest):
            return True
    return False


def _undone(sums: Sums, rest: Sequence[tuple[int, int]]) -> bool:
    """Whether differences in the dimensions of ``rest`` cancel any of the sums."""
    while len(rest) > 2:
        (stride, size), rest = rest[0], rest[1:]
        reach, common = sum(step * (n - 1) for step, n in rest), gcd(*(step for step, _ in rest))
        steps = min(size - 1, (int(np.abs(sums).max(initial=0)) + reach) // stride)
        if len(sums) * (2 * steps + 1) > _SEARCHED:
            return True  # no view without an overlap is known to get here
        sums = (sums[:, None] + stride * np.arange(-steps, steps + 1, dtype=np.int64)).reshape(-1)
        sums = np.unique(np.abs(sums[(np.abs(sums) <= reach) & (sums % common == 0)]))
    (large, n), (small, m) = rest
    common = gcd(large, small)
    sums = sums[sums % common == 0] // common
    large, small = large // common, small // common
    # large * x + small * y = sum: integrality of y fixes x modulo small; |x| < n and |y| < m bound x
    remainder = sums % small * (pow(large, -1, small) if small > 1 else 0) % small
    span = small * (m - 1)
    lowest = np.maximum(-(n - 1), _ceiling(sums - span, large))
    highest = np.minimum(n - 1, (sums + span) // large)
    return bool((lowest + (remainder - lowest) % small <= highest).any())


def _ceiling(a: Sums, b: int) -> Sums:
    quotient: Sums = -(-a // b)
    return quotient
