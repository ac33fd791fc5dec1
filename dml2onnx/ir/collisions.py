"""Whether a strided view touches any place of memory twice, decided without looking at its elements.

Two elements share a place when the difference of their coordinates, which is some ``d`` other than 0 with
``|d[i]| < sizes[i]``, is orthogonal to the strides. Differences are drawn up from the largest stride down. Only those
whose sum so far can still be undone by the smaller strides are kept, and the last two dimensions are an equation of two
unknowns, which has a formula: what is left to search is small for every view that memory of 2**32 elements holds.
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
"""Elements that are compared one by one: all of a small view; of a large one so many that, with strides at random, some
of them meet."""
_SEARCHED = 1 << 20
"""Sums that are looked at, at once."""


def collides(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether two of the coordinates below ``sizes`` have the same place."""
    pairs = sorted((stride, size) for size, stride in zip(sizes, strides, strict=True) if size > 1)
    reach = 0
    for stride, size in pairs:
        if stride <= reach or not stride:
            break
        reach += stride * (size - 1)
    else:
        return False  # every dimension steps past all that the smaller ones reach
    return pairs[0][0] == 0 or _is_crowded(pairs) or _some_collide(pairs) or _has_null_difference(pairs)


def _is_crowded(pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether some of the dimensions have more coordinates than places."""
    for count in range(2, len(pairs) + 1):
        for some in combinations(pairs, count):
            common = gcd(*(stride for stride, _ in some))
            places = 1 + sum(stride * (size - 1) for stride, size in some) // common
            if prod(size for _, size in some) > places:
                return True
    return False


def _some_collide(pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether two of the first elements in each dimension collide."""
    places, left = np.zeros(1, np.int64), len(pairs)
    for stride, size in sorted(pairs, key=lambda pair: pair[1]):
        count = min(size, max(2, int((_COMPARED / len(places)) ** (1 / left))))
        places = (places[:, None] + stride * np.arange(count, dtype=np.int64)).reshape(-1)
        left -= 1
    places.sort()
    return bool((places[1:] == places[:-1]).any())


def _has_null_difference(pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether any difference of coordinates has the sum 0; the first dimension in which it moves, it moves forward."""
    if prod(size for _, size in pairs) <= _COMPARED // 2:
        return False  # these have been compared
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
    """Whether differences in the dimensions of ``rest`` bring any of the sums back to 0."""
    while len(rest) > 2:
        (stride, size), rest = rest[0], rest[1:]
        reach, common = sum(step * (n - 1) for step, n in rest), gcd(*(step for step, _ in rest))
        steps = min(size - 1, (int(np.abs(sums).max(initial=0)) + reach) // stride)
        if len(sums) * (2 * steps + 1) > _SEARCHED:
            return True  # no view is known that comes here without sharing memory
        sums = (sums[:, None] + stride * np.arange(-steps, steps + 1, dtype=np.int64)).reshape(-1)
        sums = np.unique(np.abs(sums[(np.abs(sums) <= reach) & (sums % common == 0)]))
    (large, n), (small, m) = rest
    common = gcd(large, small)
    sums = sums[sums % common == 0] // common
    large, small = large // common, small // common
    # large * x + small * y = sum: that y is whole gives x modulo small, that |x| < n and |y| < m two ranges
    remainder = sums % small * (pow(large, -1, small) if small > 1 else 0) % small
    span = small * (m - 1)
    lowest = np.maximum(-(n - 1), _ceiling(sums - span, large))
    highest = np.minimum(n - 1, (sums + span) // large)
    return bool((lowest + (remainder - lowest) % small <= highest).any())


def _ceiling(a: Sums, b: int) -> Sums:
    quotient: Sums = -(-a // b)
    return quotient
