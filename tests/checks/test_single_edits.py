"""A valid descriptor with one field changed has one finding, and a remedy that restores the field."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dml2onnx.catalog import LATEST, FieldType, enum_schema
from dml2onnx.checks import check
from dml2onnx.checks.candidates import changed, in_words
from dml2onnx.checks.operators import Judge, findings_of
from dml2onnx.checks.single_edits import single_edits
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import MAX_DIMENSIONS, TensorDesc
from dml2onnx.test_cases.valid import descriptors
from tests.checks.build import one, op, t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dml2onnx.catalog import FieldSchema
    from dml2onnx.ir.operator import FieldValue

LEAST = {"tensor": 0.99, "enumerator": 0.96, "number": 0.95, "axis": 0.75, "array": 0.85}
"""The share of restored values, by kind; an axis out of range does not determine the right one."""


def mistaken(field: FieldSchema, value: FieldValue) -> Iterator[tuple[str, FieldValue]]:
    """Common wrong values, by the kind of the field."""
    if isinstance(value, TensorDesc):
        for axis in range(1, value.rank, 2):
            sizes = list(value.sizes)
            sizes[axis - 1], sizes[axis] = sizes[axis], sizes[axis - 1]
            yield "tensor", replace(value, sizes=tuple(sizes), strides=None, total_size=0)
    elif field.enum is not None:
        yield from (("enumerator", name) for name in enum_schema(field.enum).values)
    elif field.dimensions == "axis":
        yield from (("axis", axis) for axis in range(MAX_DIMENSIONS))
    elif field.type in (FieldType.UINT, FieldType.INT) and isinstance(value, int):
        yield from (("number", other) for other in (value + 1, value * 2, max(value - 1, 0)))
    elif field.type in (FieldType.UINT_ARRAY, FieldType.INT_ARRAY) and isinstance(value, tuple):
        numbers = [item for item in value if isinstance(item, int)]
        for made in ([n + 1 for n in numbers], [n * 2 for n in numbers], numbers[::-1]):
            yield "array", tuple(made)


def mistakes() -> Iterator[tuple[str, str, FieldValue, OperatorDesc]]:
    """(kind, field, right value, wrong descriptor) of all mistakes that DirectML refuses."""
    for valid, *_ in descriptors().values():
        counts = {field.count for field in valid.schema.fields}
        for position, (field, value) in enumerate(valid.items()):
            for kind, other in mistaken(field, value) if value is not None and field.name not in counts else ():
                values = (*valid.values[:position], other, *valid.values[position + 1 :])
                wrong = OperatorDesc(valid.schema, values)
                if other != value and any(item.is_error for item in findings_of(wrong, LATEST)):
                    yield kind, field.name, value, wrong


def test_remedies_restore_the_right_value() -> None:
    total, single, found = Counter[str](), Counter[str](), Counter[str]()
    for kind, field, value, wrong in mistakes():
        errors = [item for item in check(one(wrong)) if item.is_error]
        words = [remedy.words for item in errors for remedy in item.remedies]
        shown = str(list(value.sizes)) if isinstance(value, TensorDesc) else f"{field} {in_words(value)}"
        total[kind] += 1
        single[kind] += len(errors) == 1
        found[kind] += any(text.startswith(field) and shown in text for text in words)
    assert total.keys() == LEAST.keys()
    assert sum(single.values()) >= 0.99 * sum(total.values()), (total, single)
    assert all(found[kind] >= share * total[kind] for kind, share in LEAST.items()), (total, found)


def test_refusing_agrees_with_findings() -> None:
    """The order of the rules depends on the descriptors before."""
    for number, (*_, wrong) in enumerate(mistakes()):
        if number % 9 == 0:
            refused = Judge(LATEST).refusing(wrong.schema, warned=False)
            tried = [wrong, *(changed(wrong, edit.changes) for edit in single_edits(wrong, findings_of(wrong, LATEST)))]
            for desc in tried[:20]:
                assert refused(desc) == any(item.is_error for item in findings_of(desc, LATEST)), desc


@pytest.mark.parametrize("operator", descriptors())
def test_edits_change_one_field(operator: str) -> None:
    """Or an array and its count, two tensors, a whole array, arrays of one count; no negative unsigned numbers."""
    for valid in descriptors()[operator]:
        for candidate in single_edits(valid, findings_of(valid, LATEST)):
            names = [change.path for change in candidate.changes]
            assert len(set(names)) == len(names)
            fields = [valid.schema.fields_by_name[change.field] for change in candidate.changes]
            assert len(names) <= 2 or len({field.count for field in fields}) == 1
            for change in candidate.changes:
                field = valid.schema.fields_by_name[change.field]
                assert change.value != valid.get(change.field)
                if field.type is FieldType.UINT_ARRAY and isinstance(change.value, tuple):
                    assert all(isinstance(item, int) and item >= 0 for item in change.value)


@pytest.mark.parametrize("operator", ["PADDING", "UPSAMPLE_2D", "SPACE_TO_DEPTH1"])
def test_inputs_are_solved_from_the_output(operator: str) -> None:
    valid = descriptors()[f"DML_OPERATOR_{operator}"][0]
    tensor = valid.get("InputTensor")
    assert isinstance(tensor, TensorDesc)
    sizes = list(tensor.sizes)
    sizes[-1] *= 3
    position = valid.schema.index["InputTensor"]
    other = replace(tensor, sizes=tuple(sizes), strides=None, total_size=0)
    wrong = OperatorDesc(valid.schema, (*valid.values[:position], other, *valid.values[position + 1 :]))
    (item,) = [item for item in check(one(wrong)) if item.is_error]
    assert any(remedy.words.startswith(f"InputTensor of sizes {list(tensor.sizes)}") for remedy in item.remedies)


def test_no_padding_as_wide_as_the_window_is_proposed() -> None:
    unpadded = {"Strides": (1, 1), "WindowSize": (2, 2), "StartPadding": (0, 0), "EndPadding": (0, 0)}
    (item,) = check(one(op("MAX_POOLING", InputTensor=t(1, 1, 8, 8), OutputTensor=t(1, 1, 11, 11), **unpadded)))
    assert [remedy.words.partition(" of sizes ")[0] for remedy in item.remedies] == ["InputTensor", "OutputTensor"]
