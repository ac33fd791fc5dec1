"""Constraints in words have functions in code, and all others are data."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

from dml2onnx import catalog
from dml2onnx.catalog import LATEST, Constraint, Rule
from dml2onnx.checks.operators import findings_of
from dml2onnx.codes import checking as codes
from dml2onnx.ir.operator import UNREADABLE
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.rules.constraints import constraint_check
from dml2onnx.rules.shapes import rules_by_constraint
from dml2onnx.test_cases.descriptors import plain, sized
from dml2onnx.test_cases.valid import descriptors
from dml2onnx.test_cases.valid_attention import LENGTHS, grouped
from dml2onnx.test_cases.variations import findings, with_value

WORDED = frozenset({Rule.SIZE_FORMULA, Rule.REQUIRES})
ELSEWHERE = frozenset({Rule.NOTE, Rule.FUSED_ACTIVATION, Rule.OPTIONAL_FROM, Rule.VALUE_LEVEL})
"""Notes cannot be violated; the others are checked by ``fused`` and ``support``."""


def _constraints() -> list[Constraint]:
    return [item for name in catalog.operator_names() for item in catalog.operator(name).constraints]


def test_each_worded_constraint_has_one_function() -> None:
    worded = {item.id for item in _constraints() if item.rule in WORDED}
    written = set(rules_by_constraint())
    missing = "\n".join(sorted(worded - written))
    surplus = "\n".join(sorted(written - worded))
    assert (missing, surplus) == ("", ""), f"without a function:\n{missing}\nwithout a constraint:\n{surplus}"


def test_every_other_constraint_is_compiled() -> None:
    for item in _constraints():
        compiled = constraint_check(item) is not None
        assert compiled != (item.rule in WORDED | ELSEWHERE), item.id


def test_expressions_of_the_catalog_are_valid() -> None:
    from dml2onnx.rules.expressions import evaluator

    for item in _constraints():
        for bound in (item.min, item.max, item.right):
            if bound is not None:
                assert callable(evaluator(bound))
    with pytest.raises(ValueError, match=re.escape("'InputTensor.Name'")):
        evaluator("InputTensor.Name")


@pytest.mark.parametrize(
    ("name", "field"), [("CONVOLUTION", "Strides"), ("TILE", "Repeats"), ("MAX_POOLING", "WindowSize")]
)
def test_rules_skip_arrays_with_an_unreadable_entry(name: str, field: str) -> None:
    (op, *_) = descriptors()[f"DML_OPERATOR_{name}"]
    value = op.get(field)
    assert isinstance(value, tuple)
    assert list(findings_of(with_value(op, field, (UNREADABLE, *value[1:])), LATEST)) == []


@pytest.mark.parametrize(("sizes", "strides"), [((2,), (1,)), ((2, 1), (1, 7)), ((1,), (5,))])
def test_lengths_are_packed_whatever_the_strides_of_single_elements(
    sizes: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    lengths = sized(*sizes, type="INT32", strides=strides)
    found = findings_of(grouped(**{**LENGTHS, "PastSequenceLengthsTensor": lengths}), LATEST)
    assert codes.NOT_PACKED.id not in [item.code for item in found]


@pytest.mark.parametrize(("scale", "is_valid"), [(2.0**-23, True), (2.0**-24, False), (math.nan, False)])
def test_the_smallest_scale_that_directml_accepts(scale: float, is_valid: bool) -> None:
    offsets = dict.fromkeys(("InputPixelOffsets", "OutputPixelOffsets"), (0.0, 0.0))
    tensors = dict.fromkeys(("InputTensor", "OutputTensor"), sized(2, 2))
    op = plain("RESAMPLE1", **tensors, **offsets, InterpolationMode="LINEAR", Scales=(1.0, scale))
    assert any(item.is_error for item in findings(op)) != is_valid


@pytest.mark.parametrize("name", sorted(descriptors()))
def test_rules_do_not_raise_for_tensors_of_one_dimension(name: str) -> None:
    for desc in descriptors()[name]:
        for field in desc.schema.tensor_fields:
            if isinstance(tensor := desc.get(field.name), TensorDesc):
                findings_of(with_value(desc, field.name, replace(tensor, sizes=tensor.sizes[:1], strides=None)), LATEST)
