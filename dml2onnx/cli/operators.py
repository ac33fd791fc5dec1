"""``dml2onnx explain OPERATOR``: the catalogue's description of an operator, and its ONNX form."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

from dml2onnx.catalog import FieldKind
from dml2onnx.catalog.left_open import LEFT_OPEN
from dml2onnx.cli.markup import escape, escape_lines
from dml2onnx.report.operators import LevelSupport, OperatorAnswer, OperatorField, TensorSupportRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.catalog import FieldSchema, OperatorSchema, SupportRow
    from dml2onnx.cli.render import Screen

KINDS = {
    FieldKind.INPUT_TENSOR: "input",
    FieldKind.OUTPUT_TENSOR: "output",
    FieldKind.ATTRIBUTE: "attribute",
}


def explain_operator(schema: OperatorSchema, screen: Screen) -> int:
    """Shows fields, levels, data types, sizes, rules, and the ONNX form."""
    answer = operator_answer(schema)
    if screen.answered(answer):
        return 0
    screen.say(f"[bold]{answer.operator}[/]: {escape(answer.summary)}.")
    screen.say(f"Since feature level {answer.introduced}.\n{answer.documentation}\n")
    rows = [
        (item.name, item.kind, item.type, "optional" if item.optional else "", item.meaning) for item in answer.fields
    ]
    screen.table(["field", "", "type", "", "meaning"], rows)
    _section(screen, "sizes", [f"{tensor}: {text}" for tensor, text in answer.sizes.items()])
    _section(screen, "rules", answer.rules)
    _section(screen, "what it does", answer.semantics)
    screen.say("\n[bold]data types and dimensions[/]")
    screen.table(["from level", "function", "tensor", "dimensions", "data types"], _support(answer.support))
    _section(screen, "ONNX form", [answer.becomes])
    _section(screen, "what a default model leaves open", answer.left_open)
    return 0


def _section(screen: Screen, title: str, lines: Sequence[str]) -> None:
    if lines:
        screen.say(f"\n[bold]{title}[/]")
        for line in lines:
            screen.say(escape_lines(line))


def operator_answer(schema: OperatorSchema) -> OperatorAnswer:
    """The answer of ``explain OPERATOR``."""
    fields = (
        OperatorField(item.name, KINDS[item.kind], item.enum or item.type.value, item.optional, _meaning(item))
        for item in schema.fields
    )
    return OperatorAnswer(
        operator=schema.name,
        summary=_plain(schema.summary),
        documentation=schema.doc,
        introduced=schema.introduced.name,
        fields=tuple(fields),
        sizes={item.tensor: _plain(item.formula) for item in schema.constraints if item.formula and item.tensor},
        rules=_rules(schema),
        semantics=tuple(_plain(text) for text in schema.semantics),
        left_open=tuple(LEFT_OPEN[word] for word in schema.left_open),
        support=tuple(_level_support(row) for row in schema.support),
        becomes=_becomes(schema),
    )


def _level_support(row: SupportRow) -> LevelSupport:
    tensors = {
        name: TensorSupportRecord(item.dimension_counts, item.sorted_types) for name, item in row.tensors.items()
    }
    return LevelSupport(row.level.name, tuple(row.functions), tensors)


def _plain(text: str) -> str:
    """Removes references to decisions from a text of the catalogue."""
    return re.sub(r"\s*\[decisions? [^\]]*\]", "", text).rstrip(".")


def _meaning(field: FieldSchema) -> str:
    return "; ".join(part for part in (field.shape or "", _plain(field.doc or "")) if part)


def _rules(schema: OperatorSchema) -> tuple[str, ...]:
    stated = (item.statement for item in schema.constraints if not (item.formula and item.tensor))
    return tuple(dict.fromkeys(_plain(text) for text in stated if text))


def _support(rows: Sequence[LevelSupport]) -> list[tuple[str, str, str, str, str]]:
    """A row for each tensor of each level; level and functions are in the first row only."""
    lines: list[tuple[str, str, str, str, str]] = []
    for row in rows:
        level, functions = row.level, ", ".join(row.functions)
        for name, tensor in row.tensors.items():
            low, high = tensor.dimension_counts
            dimensions = f"{low}" if low == high else f"{low} to {high}"
            lines.append((level, functions, name, dimensions, ", ".join(tensor.data_types)))
            level = functions = ""
    return lines


def _becomes(schema: OperatorSchema) -> str:
    """The first sentence of the lowering's docstring, which names the ONNX operators."""
    from dml2onnx.lowering import lowerings

    lowering = lowerings()[schema.short_name]
    text = inspect.getdoc(lowering) or ""
    if "tables of this module" in text:
        return _compiled(schema)
    return _plain(" ".join(text.partition("\n\n")[0].replace("``", "").split()))


def _compiled(schema: OperatorSchema) -> str:
    """The ONNX operators for FLOAT32, for lowerings that are rows of a table."""
    from dml2onnx.builder import GraphBuilder
    from dml2onnx.builder.recorder import INFERRED
    from dml2onnx.compiler import compile

    g = GraphBuilder()
    inputs = dict.fromkeys((field.name for field in schema.input_fields), g.input("x", "FLOAT32", [2, 2]))
    attributes = {field.name: 0.5 for field in schema.attribute_fields if not field.optional}
    (output,) = schema.output_fields
    tensor = g.record(schema.short_name, inputs, attributes, {output.name: INFERRED})[output.name]
    assert not isinstance(tensor, tuple)
    return f"{', '.join(node.op_type for node in compile(g.build(tensor)).lowered.nodes)} for FLOAT32"
