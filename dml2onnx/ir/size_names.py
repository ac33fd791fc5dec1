"""The sizes at which a graph is written whose inputs have names for sizes."""

from __future__ import annotations

import re
from collections.abc import Mapping

USUAL = 16
"""What a name without a range stands for while the graph is written: a multiple of the steps of most networks."""

is_size_name = re.compile(r"[A-Za-z_][A-Za-z0-9_]*").fullmatch


def own_size(name: str, ranges: Mapping[str, tuple[int, int]]) -> int:
    """The size of its range that most numbers divide, as halving goes; the smallest of these.

    A network that halves a picture five times can be written at 32, and not at 20.
    """
    if name not in ranges:
        return USUAL
    low, high = ranges[name]
    step = 1 << (high.bit_length() - 1)
    while -(-low // step) * step > high:
        step //= 2
    return -(-low // step) * step
