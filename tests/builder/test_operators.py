"""The method of every operator: recorded descriptors, inference, and documentation."""

from __future__ import annotations

import inspect
import sys
import typing
from pathlib import Path

import pytest

import dml2onnx
from dml2onnx import catalog
from dml2onnx.builder import Expression, GraphBuilder
from dml2onnx.builder.operators import Operators
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.test_cases.valid import descriptors
from tests.builder.calls import arguments, as_read, builder_for, call, generator, recorded, results, signatures

NAMES = [catalog.operator(name).short_name for name in catalog.operator_names()]
CASES = [pytest.param(desc, id=f"{desc.type}-{i}") for descs in descriptors().values() for i, desc in enumerate(descs)]


def test_every_operator_has_a_case() -> None:
    assert {desc.values[0].type for desc in CASES} == set(NAMES)  # type: ignore[union-attr]


@pytest.mark.parametrize("desc", CASES)
def test_records_the_descriptor(desc: OperatorDesc) -> None:
    g = builder_for(desc)
    assert recorded(g, call(g, desc)) == as_read(desc)


@pytest.mark.parametrize("desc", CASES)
def test_infers_the_outputs(desc: OperatorDesc) -> None:
    """Without optional arguments of outputs, inputs and attributes are the same, and there are no findings."""
    g = GraphBuilder()
    graph = g.build(results(call(g, desc, stated=False)))
    assert dml2onnx.check(graph) == []
    operator = graph.nodes[-1].operator
    for field, value in as_read(desc).items():
        if field not in desc.schema.output_fields:
            assert operator.get(field.name) == value, field.name
        else:
            assert operator.has(field.name) == desc.has(field.name)


@pytest.mark.parametrize("name", NAMES)
def test_hints_and_documentation(name: str) -> None:
    schema = catalog.operator(name)
    method = getattr(GraphBuilder, generator.method_name(schema))
    hints = typing.get_type_hints(method)
    parameters = [item for item in inspect.signature(method).parameters if item != "self"]
    assert hints.keys() == {*parameters, "return"}
    assert method.__doc__ is not None
    assert schema.doc in method.__doc__
    for parameter in parameters:
        assert f"    {parameter}: " in method.__doc__, parameter
    for field in schema.output_fields:
        assert f"{field.name}: " in method.__doc__
    assert hints["name"] == str | None
    for field in schema.input_fields:
        hint = hints[signatures.parameter_name(schema.short_name, field.name)]
        kinds = typing.get_args(hint)
        assert Expression in kinds or Expression in typing.get_args(kinds[0])
        assert (type(None) in typing.get_args(hint)) == field.optional


def test_methods_are_exactly_the_operators() -> None:
    methods = {
        name
        for base in Operators.__mro__
        if base.__module__.startswith("dml2onnx.builder.operators")
        for name, value in vars(base).items()
        if inspect.isfunction(value)
    }
    assert methods == {generator.method_name(catalog.operator(name)) for name in NAMES}


def test_methods_written_by_hand() -> None:
    hand = "dml2onnx.builder.directmlx"
    assert all(getattr(GraphBuilder, name).__module__ == hand for name in signatures.WRITTEN_BY_HAND)


def test_stale_files_are_detected(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, text in generator.files().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(generator, "TARGET", tmp_path)
    monkeypatch.setattr(sys, "argv", ["generate_builder.py", "--check"])
    assert generator.main() == 0
    (tmp_path / "padding.py").write_text("changed")
    assert generator.main() == 1


def test_arguments_are_complete() -> None:
    """The cases have a value for every argument of every method."""
    reached: dict[str, set[str]] = {}
    for desc in (item.values[0] for item in CASES):
        assert isinstance(desc, OperatorDesc)
        name = generator.method_name(desc.schema)
        reached.setdefault(name, set()).update(arguments(builder_for(desc), desc, stated=True))
    for name, found in reached.items():
        assert set(inspect.signature(getattr(GraphBuilder, name)).parameters) <= {*found, "self", "name"}, name
