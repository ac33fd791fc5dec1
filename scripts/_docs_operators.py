"""A page for each operator, from the catalogue, the output of its lowering, and decisions."""

from __future__ import annotations

import inspect
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import onnx.printer
from _docs_markdown import code, fenced, items, page, plain, prose, section, table
from generate_builder import method_name

from dml2onnx import catalog
from dml2onnx.builder import GraphBuilder
from dml2onnx.catalog import OperatorSchema
from dml2onnx.checks import check
from dml2onnx.cli.operators import operator_answer
from dml2onnx.compiler import CompiledModel, compile
from dml2onnx.exporters import export
from dml2onnx.ir.graph import Graph
from dml2onnx.ir.operator import OperatorDesc, Scalar
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.report.operators import OperatorAnswer
from dml2onnx.sizes.operators import statement
from dml2onnx.sizes.solver import Solver
from dml2onnx.sizes.tracing import trace
from dml2onnx.test_cases.single_node import NAME, single_node
from dml2onnx.test_cases.valid import descriptors
from tests.checks.build import one

PART = re.compile(r"^- ([A-Z]+|Observed): (.*?)(?=^- (?:[A-Z]+|Observed): |\Z)", re.MULTILINE | re.DOTALL)
DECISION = re.compile(r"\[decisions? ([^\]]*)\]|\bdecisions? ((?:[A-Z]\d+)(?:(?:, | and )[A-Z]\d+)*)")
POINT = re.compile(r"^\*\*([A-Z]\d+)\. (.*?)\*\*$(.*?)(?=^\*\*[A-Z]\d+\. |^---$|^## |\Z)", re.MULTILINE | re.DOTALL)
LONGEST = 400
"""Limit on the length of a line of ONNX text; large constants are cut."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A point that DirectML's documentation leaves open, and our decision."""

    name: str
    title: str
    decision: str
    evidence: str
    confidence: str
    observed: str


def decisions() -> dict[str, Decision]:
    """The decisions in ``schemas/decisions.md`` by name."""
    text = (catalog.schemas_directory() / "decisions.md").read_text(encoding="utf-8")
    found = {}
    for name, title, body in POINT.findall(text):
        parts = dict(PART.findall(body))
        found[name] = Decision(
            name, title, parts["DECISION"], parts["EVIDENCE"], parts["CONFIDENCE"], parts["Observed"]
        )
    return found


def operator_pages() -> dict[str, str]:
    """The pages by path, including the index."""
    points = decisions()
    schemas = [catalog.operator(name) for name in catalog.operator_names()]
    pages = {f"operators/{schema.stem}.md": _operator(schema, points) for schema in schemas}
    rows = [
        (f"[{schema.short_name}]({schema.stem}.md)", schema.introduced.name, plain(schema.summary))
        for schema in schemas
    ]
    pages["operators/index.md"] = page("Operators", table(["operator", "from level", "what it does"], rows))
    return pages


def _operator(schema: OperatorSchema, points: Mapping[str, Decision]) -> str:
    answer = operator_answer(schema)
    builder = getattr(GraphBuilder, method_name(schema))
    parameters = ", ".join(name for name in inspect.signature(builder).parameters if name != "self")
    # not in the navigation, which every page repeats
    return "---\norphan: true\n---\n\n" + page(
        schema.short_name,
        f"{plain(schema.summary.rstrip('.'))}. From feature level {schema.introduced.name} on."
        f" Microsoft's page: [{schema.struct}]({schema.doc}).\n",
        f"In Python: `GraphBuilder.{method_name(schema)}({parameters})`\n",
        section("Fields", _fields(answer)),
        section("Values", _values(schema)),
        section("Sizes", items(f"{code(name)}: {plain(text)}" for name, text in answer.sizes.items())),
        section("Other sizes", _other_sizes(schema)),
        section("Rules", items(plain(text) for text in answer.rules)),
        section("What it does", items(plain(text) for text in answer.semantics)),
        section("Data types and dimensions", _support(answer)),
        section("Fused activations", _activations(schema)),
        section("What it becomes", f"{prose(answer.becomes)}.\n", *_examples(schema)),
        section("What a default model leaves open", items(plain(text) for text in answer.left_open)),
        section("What was decided", *_decided(schema, points)),
    )


def _fields(answer: OperatorAnswer) -> str:
    rows = [
        (code(item.name), f"optional {item.kind}" if item.optional else item.kind, code(item.type), plain(item.meaning))
        for item in answer.fields
    ]
    return table(["field", "what it is", "type", "meaning"], rows)


def _other_sizes(schema: OperatorSchema) -> str:
    """The sizes of each tensor in terms of those of the inputs, for a valid descriptor."""
    op = next((item for item in descriptors()[schema.name] if not _has_errors(single_node(item))), None)
    if op is None:
        return ""
    graph = single_node(op)
    labels = {}
    for name, index, read, _ in graph.nodes[0].views_in():
        labels[read.value] = name if isinstance(op.get(name), TensorDesc) else f"{name}[{index}]"
    inputs = tuple(replace(item, name=labels[item.value]) for item in graph.inputs)
    traced = trace(replace(graph, inputs=inputs), Solver(), {})
    (node,) = traced.nodes.values()
    rows = []
    for (name, index), view in node.views.items():
        label = name if isinstance(op.get(name), TensorDesc) else f"{name}[{index}]"
        sizes = ", ".join(str(traced.solver.resolved(size.expr)) for size in view.sizes)
        rows.append(
            (code(label), code(f"[{sizes.replace(f'{NAME}.', '')}]"), code(str(list(op.tensors(name)[index].sizes))))
        )
    text = statement(schema.short_name)
    sentence = f"{text[0].upper()}{text[1:]}\n\n" if text else ""
    return sentence + table(["tensor", "sizes in terms of the inputs", "example"], rows)


def _has_errors(graph: Graph) -> bool:
    return any(item.is_error for item in check(graph))


def _values(schema: OperatorSchema) -> str:
    """The enumerators of the operator's fields, with the level that introduced each."""
    enums = {field.enum: field.name for field in schema.fields if field.enum}
    rows = []
    for enum, field in enums.items():
        for value in catalog.enum_schema(enum).values.values():
            since = max(value.introduced, schema.introduced)
            rows.append((code(field), code(value.name), str(value.value), since.name))
    return table(["field", "value", "number", "from level"], rows)


def _support(answer: OperatorAnswer) -> str:
    """What each level allows, with one row for tensors with the same support."""
    rows = []
    for row in answer.support:
        alike: dict[tuple[str, str], list[str]] = {}
        for name, tensor in row.tensors.items():
            low, high = tensor.dimension_counts
            dimensions = str(low) if low == high else f"{low} to {high}"
            alike.setdefault((dimensions, ", ".join(tensor.data_types)), []).append(code(name))
        for (dimensions, types), names in alike.items():
            rows.append((row.level, plain(", ".join(row.functions)), ", ".join(names), dimensions, types))
    return table(["from level", "of", "tensors", "dimensions", "data types"], rows)


def _activations(schema: OperatorSchema) -> str:
    hosted = catalog.fused_activations(schema.name)
    operators = ((catalog.operator(name), level) for name, level in sorted(hosted.items()))
    rows = [(f"[{item.short_name}]({item.stem}.md)", level.name) for item, level in operators]
    return table(["operator", "from level"], rows)


# --- Examples -------------------------------------------------------------------------------------------------------


def _examples(schema: OperatorSchema) -> Sequence[str]:
    """One descriptor with its ONNX model, and a table of the ONNX nodes of further descriptors."""
    first, *others = descriptors()[schema.name]
    graph = one(first)
    parts = [
        "### An example\n",
        fenced("json", _as_native(first)),
        "becomes\n",
        fenced("text", _as_text(compile(graph, shapes=False))),
    ]
    notes = [note for trace in compile(graph).traces for note in trace.notes]
    if notes:
        parts += ["because\n", items(prose(note) for note in dict.fromkeys(notes))]
    rows = []
    for desc in others:
        model = compile(one(desc))
        notes = [
            note for trace in model.traces for note in trace.notes if f"{NAME}/" not in note
        ]  # without notes about nodes that are not shown
        counts = Counter(node.op_type for node in model.lowered.nodes)
        onnx_nodes = ", ".join([name if count == 1 else f"{count} {name}" for name, count in counts.items()])
        onnx_nodes = onnx_nodes or "none: folded or forwarded"
        rows.append((code(_changes(desc, first)), onnx_nodes, prose("; ".join(dict.fromkeys(notes)))))
    if rows:
        parts += ["### Further examples\n", "Fields that are not named are as above.\n"]
        parts += [table(["descriptor", "ONNX nodes", "why"], rows)]
    return parts


def _as_native(desc: OperatorDesc) -> str:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "model.json"
        export(one(desc), path, "native")
        return path.read_text(encoding="utf-8")


def _as_text(model: CompiledModel) -> str:
    """The model in ONNX's text format, without the header."""
    text = onnx.printer.to_text(model.model_proto).partition("graph ")[2]
    lines = [line if len(line) <= LONGEST else f"{line[:LONGEST]} ..." for line in text.splitlines()]
    return "\n".join(line.rstrip() for line in lines)


def _changes(desc: OperatorDesc, first: OperatorDesc) -> str:
    """The fields in which a descriptor differs from the first one, on one line."""
    stated = []
    counts = {field.count for field in desc.schema.fields}  # lengths of arrays are implied
    for field, value in desc.items():
        if field.name not in counts and _shown(value) != _shown(first.get(field.name)):
            stated.append(f"no {field.name}" if value is None else f"{field.name} {_shown(value)}")
    return ", ".join(stated)


def _shown(value: object) -> str:
    match value:
        case None:
            return "null"
        case TensorDesc(data_type=data_type, sizes=sizes, strides=strides):
            return f"{data_type.name}{list(sizes)}" + ("" if strides is None else f" strides {list(strides)}")
        case OperatorDesc(type=name):
            return str(name)
        case Scalar(value=number):
            return str(number)
        case [TensorDesc() | OperatorDesc() | None, *_]:
            return " ".join(map(_shown, value))
        case tuple():
            return str(list(value))
        case _:
            return str(value)


# --- Decisions ------------------------------------------------------------------------------------------------------


def _decided(schema: OperatorSchema, points: Mapping[str, Decision]) -> Iterable[str]:
    path = catalog.schemas_directory() / "operators" / f"{schema.stem}.json"
    texts = _texts(json.loads(path.read_text(encoding="utf-8")))
    names = dict.fromkeys(name for text in texts for name in named(text))
    for name in names:
        point = points[name]
        yield f"**[{name}](../decisions.md#{name.lower()})** {prose(point.title)}\n"
        yield items(
            (
                f"Decided: {prose(point.decision)}",
                f"Observed: {_observed(point.observed)}",
                f"Evidence: {prose(point.evidence)}",
                f"How sure: {prose(point.confidence)}",
            )
        )


def _observed(text: str) -> str:
    """The observation; its kind, in front of it, is emphasised in the file."""
    return re.sub(r"^\\\*(.+?)\\\*", r"*\1*", prose(text))


def named(text: str) -> list[str]:
    """The names of decisions that a text of the catalogue refers to."""
    found = DECISION.findall(text)
    return [name for several in found for name in re.findall(r"\b[A-Z]\d+\b", " ".join(several))]


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
