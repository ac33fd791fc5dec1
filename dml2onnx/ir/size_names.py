"""The numbers for named sizes while a graph is recorded."""

from __future__ import annotations

import re
from collections.abc import Mapping

USUAL = 16
"""The number for a name without a range: a multiple of the strides of most networks."""

is_size_name = re.compile(r"[A-Za-z_][A-Za-z0-9_]*").fullmatch


def own_size(name: str, ranges: Mapping[str, tuple[int, int]]) -> int:
    """The smallest size of the range that can be halved most often.

    A network that halves an image five times works at 32, but not at 20.
    """
    if name not in ranges:
        return USUAL
    low, high = ranges[name]
    step = 1 << (high.bit_length() - 1)
    while -(-low // step) * step > high:
        step //= 2
    return -(-low // step) * step
