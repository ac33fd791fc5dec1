"""What PyTorch's ``scaled_dot_product_attention`` is asked, and the same for DirectML; NumPy only.

Run by ``scripts/make_attention_answers.py``, which keeps PyTorch's answers, and by the tests of the reference.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]


class Case(NamedTuple):
    """Sizes, and what is given besides queries, keys and values."""

    batch: int = 2
    queries: int = 5
    keys: int = 7
    heads: int = 4
    groups: int = 4
    size: int = 8
    value_size: int = 8
    scale: float | None = None
    mask: str | None = None
    """``"boolean"``, ``"float"`` or ``"causal"``; with ``"cache"`` queries stand behind a past of unequal lengths."""


CASES = {
    "plain": Case(),
    "values of another size": Case(value_size=3, scale=0.7),
    "boolean mask": Case(mask="boolean"),
    "position bias": Case(mask="float", scale=-0.2),
    "grouped heads": Case(groups=2),
    "grouped heads, boolean mask": Case(heads=6, groups=2, mask="boolean"),
    "causal": Case(queries=6, keys=6, mask="causal"),
    "grouped cache": Case(batch=3, queries=2, keys=2, groups=2, mask="cache"),
    "one head": Case(batch=1, queries=1, keys=33, heads=1, groups=1, size=64, value_size=64),
}
CACHE, PAST = 9, (7, 0, 4)
"""Length of a cache, and how much of it each batch item has used."""


def arrays(name: str) -> Arrays:
    """{ batch, length, heads, size } numbers, and the mask; a cache holds numbers behind its end, too."""
    case = CASES[name]
    random = np.random.default_rng(sorted(CASES).index(name))

    def numbers(*shape: int) -> npt.NDArray[np.float32]:
        return random.standard_normal(shape).astype(np.float32)

    result: Arrays = {
        "query": numbers(case.batch, case.queries, case.heads, case.size),
        "key": numbers(case.batch, case.keys, case.groups, case.size),
        "value": numbers(case.batch, case.keys, case.groups, case.value_size),
    }
    if case.mask == "boolean":
        mask = random.integers(0, 2, (case.batch, case.heads, case.queries, case.keys)).astype(np.bool_)
        mask[..., 0] = True  # a row without a key is a matter in which the two differ
        result["mask"] = mask
    if case.mask == "float":
        result["mask"] = numbers(case.batch, case.heads, case.queries, case.keys)
    if case.mask == "cache":
        result["past_key"] = numbers(case.batch, case.groups, CACHE, case.size)
        result["past_value"] = numbers(case.batch, case.groups, CACHE, case.value_size)
    return result
