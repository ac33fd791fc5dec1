"""Round trips of every operator: filled in C++, described by the recorder, and loaded."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import dml2onnx
from dml2onnx import catalog
from dml2onnx.ir.graph import Node
from dml2onnx.ir.operator import OperatorDesc
from tests.drawing import Draw
from tests.exporters.same import bits
from tests.frontends.models import input_edge, output_edge
from tests.recorder.compilers import Compiler
from tests.recorder.cpp import PROLOGUE, Function

MAIN = """\
#include "dml2onnx_recorder.h"
#include <cstdio>
{prologue}
namespace {{
void Show(const DML_OPERATOR_DESC& desc) {{
  const auto description = dml2onnx::detail::Describe(&desc);
  std::puts(description.Acceptable() ? description.json.c_str() : description.problems[0].c_str());
}}
{functions}
}}  // namespace

int main() {{
{calls}}}
"""


def drawn() -> list[OperatorDesc]:
    """Each operator with every field set, with no optional ones, and with some."""
    found = []
    for index, name in enumerate(catalog.operator_names()):
        draw = Draw(index)
        found += [draw.operator(catalog.operator(name), is_set) for is_set in (lambda: True, lambda: False, draw.coin)]
    return found


@pytest.fixture(scope="module")
def pairs(
    compiler: Compiler, directml: Path, tmp_path_factory: pytest.TempPathFactory
) -> list[tuple[OperatorDesc, Node]]:
    """Descriptors, and the nodes that a C++ program recorded for them."""
    directory = tmp_path_factory.mktemp("descriptions")
    operators = drawn()
    functions, calls = [], []
    for index, operator in enumerate(operators):
        function = Function()
        desc = function.descriptor(operator)
        body = "\n  ".join([*function.lines, f"Show({desc});"])
        functions.append(f"void Operator{index}() {{\n  {body}\n}}\n")
        calls.append(f"  Operator{index}();\n")
    source = directory / "main.cpp"
    source.write_text(MAIN.format(prologue=PROLOGUE, functions="\n".join(functions), calls="".join(calls)))
    program = directory / "describe"
    compiler.program(source, directml, program)
    lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    model = directory / "graph.json"
    model.write_text(json.dumps(graph_of(operators, [json.loads(line) for line in lines])))
    graph = dml2onnx.load(model)
    assert not graph.findings
    return list(zip(operators, graph.nodes, strict=True))


def graph_of(operators: list[OperatorDesc], descriptions: list[object]) -> dict[str, object]:
    """A graph with an input or output for each tensor."""
    inputs: list[tuple[int, int]] = []
    outputs: list[tuple[int, int]] = []
    for node, operator in enumerate(operators):
        for fields, edges in ((operator.schema.input_fields, inputs), (operator.schema.output_fields, outputs)):
            number = 0
            for field in fields:
                for present in operator.tensors(field.name) or (None,):
                    if present is not None:
                        edges.append((node, number))
                    number += 1
    return {
        "InputCount": len(inputs),
        "OutputCount": len(outputs),
        "Nodes": [{"Type": "OPERATOR", "Desc": {"Operator": item}} for item in descriptions],
        "InputEdges": [input_edge(index, *end) for index, end in enumerate(inputs)],
        "OutputEdges": [output_edge(*end, index) for index, end in enumerate(outputs)],
    }


def test_every_field_of_every_operator(pairs: list[tuple[OperatorDesc, Node]]) -> None:
    wrong = [
        f"{expected.type}.{field.name}: {value} became {found}"
        for expected, node in pairs
        for (field, value), (_, found) in zip(expected.items(), node.operator.items(), strict=True)
        if bits(value) != bits(found)
    ]
    assert not wrong, "\n".join(wrong)
    assert {expected.schema.name for expected, _ in pairs} == set(catalog.operator_names())
    assert all(expected.type == node.operator.type for expected, node in pairs)


def test_every_optional_field_is_present_and_absent(pairs: list[tuple[OperatorDesc, Node]]) -> None:
    found = {
        (expected.schema.name, field.name, value is None)
        for expected, _ in pairs
        for field, value in expected.items()
        if field.optional
    }
    schemas = map(catalog.operator, catalog.operator_names())
    optional = [(schema.name, field.name) for schema in schemas for field in schema.fields if field.optional]
    assert found == {(*item, is_absent) for item in optional for is_absent in (True, False)}
