"""``dml2onnx explain OPERATOR``: all that the catalogue has about an operator, and what it becomes."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

from rich.markup import escape

from dml2onnx.catalog import FieldKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dml2onnx.catalog import FieldSchema, OperatorSchema, SupportRow, TensorSupport
    from dml2onnx.cli.render import Screen

KINDS = {
    FieldKind.INPUT_TENSOR: "input",
    FieldKind.OUTPUT_TENSOR: "output",
    FieldKind.ATTRIBUTE: "attribute",
}


def explain_operator(schema: OperatorSchema, screen: Screen) -> int:
    """Fields, levels, data types, sizes, rules, and the ONNX form."""
    becomes = _becomes(schema)
    if screen.as_json:
        screen.json(_document(schema, becomes))
        return 0
    screen.say(f"[bold]{schema.name}[/]: {escape(_plain(schema.summary))}.")
    screen.say(f"From feature level {schema.introduced.name} on.\n{schema.doc}\n")
    rows = [(item.name, KINDS[item.kind], _type(item), "optional" if item.optional else "") for item in schema.fields]
    meanings = [_meaning(item) for item in schema.fields]
    screen.table(["field", "", "type", "", "meaning"], [(*row, text) for row, text in zip(rows, meanings, strict=True)])
    _section(screen, "sizes", [f"{tensor}: {text}" for tensor, text in _sizes(schema).items()])
    _section(screen, "rules", _rules(schema))
    _section(screen, "what it does", [_plain(text) for text in schema.semantics])
    screen.say("\n[bold]data types and dimensions[/]")
    screen.table(["from level", "of", "tensor", "dimensions", "data types"], _support(schema.support))
    _section(screen, "what it becomes", [becomes])
    return 0


def _section(screen: Screen, title: str, lines: list[str]) -> None:
    if lines:
        screen.say(f"\n[bold]{title}[/]")
        for line in lines:
            screen.say(escape(line))


def _document(schema: OperatorSchema, becomes: str) -> Mapping[str, object]:
    return {
        "operator": schema.name,
        "summary": _plain(schema.summary),
        "documentation": schema.doc,
        "introduced": schema.introduced.name,
        "fields": [
            {
                "name": item.name,
                "kind": KINDS[item.kind],
                "type": _type(item),
                "optional": item.optional,
                "meaning": _meaning(item),
            }
            for item in schema.fields
        ],
        "sizes": _sizes(schema),
        "rules": _rules(schema),
        "semantics": [_plain(text) for text in schema.semantics],
        "support": [
            {
                "level": row.level.name,
                "functions": list(row.functions),
                "tensors": {
                    name: {"dimension_counts": list(tensor.dimension_counts), "data_types": _types(tensor)}
                    for name, tensor in row.tensors.items()
                },
            }
            for row in schema.support
        ],
        "becomes": becomes,
    }


def _plain(text: str) -> str:
    """The catalogue's words without its references to decisions."""
    return re.sub(r"\s*\[decisions? [^\]]*\]", "", text).rstrip(".")


def _type(field: FieldSchema) -> str:
    return field.enum or field.type.value


def _meaning(field: FieldSchema) -> str:
    return "; ".join(part for part in (field.shape or "", _plain(field.doc or "")) if part)


def _sizes(schema: OperatorSchema) -> dict[str, str]:
    return {item.tensor: _plain(item.formula) for item in schema.constraints if item.formula and item.tensor}


def _rules(schema: OperatorSchema) -> list[str]:
    stated = (item.statement for item in schema.constraints if not (item.formula and item.tensor))
    return list(dict.fromkeys(_plain(text) for text in stated if text))


def _types(tensor: TensorSupport) -> list[str]:
    """Floats first, then signed integers, by their width."""
    return sorted(
        tensor.data_types, key=lambda name: (not name.startswith("FLOAT"), name.startswith("U"), name.rjust(8))
    )


def _support(rows: tuple[SupportRow, ...]) -> list[tuple[str, str, str, str, str]]:
    """A line for each tensor of each level, what is said already left out."""
    lines: list[tuple[str, str, str, str, str]] = []
    for row in rows:
        level, functions = row.level.name, ", ".join(row.functions)
        for name, tensor in row.tensors.items():
            low, high = tensor.dimension_counts
            dimensions = f"{low}" if low == high else f"{low} to {high}"
            lines.append((level, functions, name, dimensions, ", ".join(_types(tensor))))
            level = functions = ""
    return lines


def _becomes(schema: OperatorSchema) -> str:
    """How the lowering says it in a sentence: what is computed, and in which ONNX operators."""
    from dml2onnx.lowering.registry import lowerings

    lowering = lowerings()[schema.short_name]
    text = inspect.getdoc(lowering) or ""
    if "tables of this module" in text:
        return _tried(schema)
    return _plain(" ".join(text.partition("\n\n")[0].replace("``", "").split()))


def _tried(schema: OperatorSchema) -> str:
    """What an input of FLOAT32 gets, for lowerings that are rows of a table."""
    from dml2onnx.builder import GraphBuilder
    from dml2onnx.builder.recorder import INFERRED
    from dml2onnx.compiler import compile

    g = GraphBuilder()
    inputs = dict.fromkeys((field.name for field in schema.input_fields), g.input("x", "FLOAT32", [2, 2]))
    attributes = {field.name: 0.5 for field in schema.attribute_fields if not field.optional}
    (output,) = schema.output_fields
    made = g.record(schema.short_name, inputs, attributes, {output.name: INFERRED})[output.name]
    assert not isinstance(made, tuple)
    return f"{', '.join(node.op_type for node in compile(g.build(made)).lowered.nodes)} for FLOAT32"
