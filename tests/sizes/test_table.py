"""The table of sizes in each operator's page matches the rules, at the sizes of its example and at others."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator

import pytest

from dml2onnx import catalog
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.rules.inference import infer_outputs
from dml2onnx.sizes.solver import Solver
from dml2onnx.sizes.tracing import trace
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.test_cases.valid import descriptors
from tests.sizes.networks import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

from _docs_operators import _has_errors, _other_sizes  # type: ignore[import-not-found]

ROW = re.compile(r"^\| `([^`]*)` \| `\[(.*)\]` \| `\[(.*)\]` \|$", re.MULTILINE)
SIZE = re.compile(r"\b[A-Za-z]\w*(?:\[\d+\])+")
Table = dict[str, tuple[list[str], list[int]]]


def _table(name: str) -> Table:
    """The expressions and the example of each tensor."""
    rows = ROW.findall(_other_sizes(catalog.operator(name)))
    return {label: (_split(text), [int(size) for size in own.split(", ")]) for label, text, own in rows}


def _split(text: str) -> list[str]:
    return re.split(r", (?![^(]*\))", text)


def _own(table: Table) -> dict[str, int]:
    """The example's values of the input sizes in expressions."""
    found = {}
    for name in {size for texts, _ in table.values() for text in texts for size in SIZE.findall(text)}:
        label, _, index = name[:-1].rpartition("[")
        found[name] = table[label][1][int(index)]
    return found


def _at(text: str, values: dict[str, int]) -> float:
    filled = SIZE.sub(lambda match: f"({values[match[0]]})", text)
    return float(eval(filled, {"floor": math.floor}))  # of our own table


def _example(name: str) -> OperatorDesc:
    return next(item for item in descriptors()[name] if not _has_errors(single_node(item)))


def _inferred(op: OperatorDesc, table: Table, values: dict[str, int]) -> Iterator[tuple[str, list[int]]]:
    """The inferred outputs for these input sizes."""
    filled = list(op.values)
    for field in op.schema.tensor_fields:
        own = op.get(field.name)
        position = op.schema.index[field.name]
        if field in op.schema.output_fields:
            filled[position] = None
        elif isinstance(own, TensorDesc):
            filled[position] = TensorDesc(own.data_type, tuple(int(_at(text, values)) for text in table[field.name][0]))
        elif own:
            filled[position] = tuple(
                TensorDesc(desc.data_type, tuple(int(_at(text, values)) for text in table[f"{field.name}[{i}]"][0]))
                for i, desc in enumerate(op.tensors(field.name))
            )
    names = [field.name for field in op.schema.output_fields if isinstance(op.get(field.name), TensorDesc)]
    made = infer_outputs(OperatorDesc(op.schema, tuple(filled)), {}, {}, names).outputs
    for field_name, (_, sizes) in made.items():
        yield field_name, list(sizes)


@pytest.mark.parametrize("name", catalog.operator_names())
def test_the_table_matches_the_rules(name: str) -> None:
    table, op = _table(name), _example(name)
    described = [field.name for field in op.schema.tensor_fields if op.tensors(field.name)]
    assert {label.partition("[")[0] for label in table} == set(described)
    own = _own(table)
    for texts, sizes in table.values():
        assert [_at(text, own) for text in texts] == sizes
    (node,) = trace(single_node(op), Solver(), {}).nodes.values()
    if node.attributes:  # resized as well, see test_operators
        return
    natural = dict(_inferred(op, table, own))
    for varied in own:
        for new in (own[varied] + 1, own[varied] * 2):
            values = {**own, varied: new}
            if any(_at(text, values) % 1 or _at(text, values) < 1 for texts, _ in table.values() for text in texts):
                continue
            for label, sizes in _inferred(op, table, values):
                if natural.get(label) == table[label][1]:  # the example has the natural size
                    assert [_at(text, values) for text in table[label][0]] == sizes, (varied, new)
