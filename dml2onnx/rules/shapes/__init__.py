"""Sizes and other rules that the catalogue states in words, one module per operator family."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from dml2onnx.rules.shapes import (
    attention,
    convolution,
    element_wise,
    gathering,
    gemm,
    join,
    normalization,
    padding,
    pooling,
    quantization,
    rearranging,
    recurrent,
    reduction,
    resample,
    roi,
    slicing,
)
from dml2onnx.rules.shapes.rules import WordedRule

FAMILIES = (
    attention,
    convolution,
    element_wise,
    gathering,
    gemm,
    join,
    normalization,
    padding,
    pooling,
    quantization,
    recurrent,
    reduction,
    rearranging,
    resample,
    roi,
    slicing,
)


@cache
def rules_by_constraint() -> Mapping[str, WordedRule]:
    """The rule of each constraint; raises ``ValueError`` if a constraint has two."""
    rules: dict[str, WordedRule] = {}
    for item in worded_rules():
        for constraint in item.constraints:
            if constraint in rules:
                raise ValueError(f"{constraint} has two functions: {rules[constraint].check} and {item.check}")
            rules[constraint] = item
    return MappingProxyType(rules)


@cache
def worded_rules() -> tuple[WordedRule, ...]:
    """All rules, ordered by family."""
    return tuple(item for family in FAMILIES for item in vars(family).values() if isinstance(item, WordedRule))
