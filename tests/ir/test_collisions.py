"""Whether views meet themselves: small ones counted, large ones decided in bounded time."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dml2onnx.ir import collisions
from dml2onnx.ir.collisions import collides

LIMIT = 2**32 - 1


def counted(pairs: list[tuple[int, int]]) -> bool:
    places = np.zeros(1, np.int64)
    for size, stride in pairs:
        places = (places[:, None] + stride * np.arange(size)).reshape(-1)
    return len(np.unique(places)) < len(places)


def split(pairs: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [size for size, _ in pairs], [stride for _, stride in pairs]


SMALL = st.lists(st.tuples(st.integers(1, 6), st.integers(0, 60)), min_size=1, max_size=5)


@settings(max_examples=200)
@given(SMALL)
def test_small_views_are_counted(pairs: list[tuple[int, int]]) -> None:
    assert collides(*split(pairs)) == counted(pairs)


@settings(max_examples=200)
@given(SMALL)
def test_the_search_finds_what_counting_finds(pairs: list[tuple[int, int]]) -> None:
    """Methods for large views, on views small enough to count."""
    moving = sorted((stride, size) for size, stride in pairs if size > 1 and stride)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collisions, "_COMPARED", 0)
        found = collisions._has_null_difference(moving)
    assert found == counted([(size, stride) for stride, size in moving])


@pytest.mark.parametrize(
    ("sizes", "strides", "expected"),
    [
        ((1 << 13, 1 << 13), (3, 2), True),
        ((1 << 13, 2), (2, 3), False),
        ((1 << 13, 2), (2, 6), True),
        ((1 << 15, 1 << 15, 2), (1 << 16, 2, 1), False),
        ((1 << 15, 1 << 15, 3), (1 << 16, 2, 1), True),
        ((1 << 15, 1 << 15, 2), (1 << 16, 2, 3), False),  # odd and even places interleave
        ((1 << 31, 2), (2, 1), False),
        ((1 << 31, 2), (1, (1 << 31) - 1), True),
        ((65521, 65519), (65519, 65521), False),  # two primes
        ((65521, 32749), (32749, 65521), False),
        ((65522, 32749), (32749, 65519), False),
        ((65522, 32750), (32749, 65521), True),
        ((16,) * 7, (1 << 24, 1 << 20, 1 << 16, 1 << 12, 1 << 8, 1 << 4, 1), False),
        ((16,) * 7, (1 << 24, 1 << 20, 1 << 16, (1 << 12) - 1, 1 << 8, 1 << 4, 1), True),
    ],
)
def test_large_views(sizes: tuple[int, ...], strides: tuple[int, ...], expected: bool) -> None:
    assert collides(sizes, strides) is expected


@pytest.mark.parametrize("seed", range(40))
def test_the_time_is_bounded(seed: int) -> None:
    """Views of up to 2**32 elements of memory, with strides at random or nearly those of a dense tensor."""
    random = np.random.default_rng(seed)
    rank = int(random.integers(2, 9))
    sizes = [max(2, 2 ** int(random.integers(1, 32 // rank + 1)) + int(random.integers(-1, 2))) for _ in range(rank)]
    if seed % 2:
        shares = random.random(rank) ** random.choice([1, 3, 6])
        strides = [max(1, int(LIMIT * part / shares.sum() / n)) for part, n in zip(shares, sizes, strict=True)]
    else:
        strides = [max(1, int(np.prod(sizes[:i])) + int(random.integers(-2, 3))) for i in range(rank)]
    before = time.process_time()
    collides(sizes, strides)
    assert time.process_time() - before < 10
