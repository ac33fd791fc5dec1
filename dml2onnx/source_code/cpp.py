"""Writes a graph as a program of DirectMLX."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from dml2onnx.builder.policies import packed
from dml2onnx.catalog import FeatureLevel, FieldType
from dml2onnx.checks import check
from dml2onnx.codes.exporting import NOT_EXPRESSIBLE
from dml2onnx.diagnostics import DmlError, plural, quote, raise_errors, shortened, visible
from dml2onnx.frontends.names import free_name
from dml2onnx.ir.data import Data, MissingData
from dml2onnx.ir.graph import Graph, Node, Value
from dml2onnx.source_code.calls import Calls
from dml2onnx.source_code.directmlx import MEMBERS, SIZED, function_call
from dml2onnx.source_code.literals import StructureStatements, array, tensor_desc, wrapped
from dml2onnx.source_code.naming import identifier
from dml2onnx.source_code.python import policy_of
from dml2onnx.source_code.redundant import with_usual_sizes
from dml2onnx.source_code.trial import TrialBuilder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.ir.tensor import TensorDesc

_TEXT = """
    alignas alignof and asm auto bitand bitor bool break case catch char class compl concept const continue decltype
    default delete do double else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new noexcept not nullptr operator or private protected public register requires return short signed
    sizeof static struct switch template this throw true try typedef typeid typename union unsigned using virtual
    void volatile wchar_t while xor graph device builder dml std near far interface small node desc inputs
"""
_WORDS = frozenset(_TEXT.split())
"""Reserved names: keywords, names of the program, and macros of Windows' headers."""
ALIGNMENT = 64
"""Alignment of weights in their file, in bytes."""


def cpp(graph: Graph, stem: str) -> tuple[str, list[tuple[int, Data]]]:
    """Returns the text of the program, and the offset and contents of each constant in the file ``<stem>.bin``.

    Raises :class:`DmlError` with the errors of the graph, or for features that DirectMLX does not have.
    """
    raise_errors(check(graph))
    missing = [item.value.name for item in graph.constants if isinstance(item.data, MissingData)]
    if missing:
        message = f"the contents of {quote(missing[0])}, which {quote(f'{stem}.bin')} would contain, are missing"
        raise DmlError(NOT_EXPRESSIBLE.at(message, found="no file"))
    return _Program(with_usual_sizes(graph), stem).run()


class _Program:
    def __init__(self, graph: Graph, stem: str) -> None:
        self._graph = graph
        self._stem = stem
        self._policy = policy_of(graph)
        self._trial = TrialBuilder(feature_level=graph.feature_level, policy=self._policy)
        self._calls = Calls(self._trial, graph)
        self._lines: list[str] = []
        self._names: dict[Value, str] = {}
        self._homes: dict[Value, TensorDesc] = {}
        self._taken: set[str] = set()
        self._first: dict[Value, TensorDesc] = {}
        for node in graph.sorted_nodes():
            for _, _, read, desc in node.views_in():
                self._first.setdefault(read.value, desc)

    def run(self) -> tuple[str, list[tuple[int, Data]]]:
        graph = self._graph
        sources = [item.value for item in graph.inputs] + [item.value for item in graph.constants]
        for index, value in enumerate(sources):
            self._source(index, value)
        self._lines.append("")
        for node in graph.sorted_nodes():
            self._node(node)
        outputs = ", ".join(self._names[item.value] for item in graph.outputs)
        self._write(f"return graph.Compile(DML_EXECUTION_FLAG_NONE, {{{outputs}}});")
        weights, table = self._weights()
        return self._text(table), weights

    def _write(self, statement: str, indent: str = "  ") -> None:
        self._lines += wrapped(statement, indent)

    def _name(self, value: Value, base: str) -> str:
        """Names the variable of a value."""
        base = identifier(base) or "x"
        name = free_name(f"{base}_" if base in _WORDS else base, self._taken.__contains__)
        self._taken.add(name)
        self._names[value] = name
        return name

    # --- Inputs and weights -------------------------------------------------------------------------------------------

    def _source(self, index: int, value: Value) -> None:
        desc = self._first[value]
        self._homes[value] = desc
        name = self._name(value, value.name)
        self._write(f"auto {name} = dml::InputTensor(graph, {index}, {tensor_desc(desc)});")

    def _weights(self) -> tuple[list[tuple[int, Data]], list[str]]:
        """The constants with their offsets, and the rows of the table of weights."""
        weights, table, position = [], [], 0
        for number, item in enumerate(self._graph.constants):
            position = -(-position // ALIGNMENT) * ALIGNMENT
            name = visible(item.value.name).replace("\\", "\\\\").replace('"', '\\"')
            table.append(f'    {{{len(self._graph.inputs) + number}, "{name}", {position}, {item.value.nbytes}}},')
            weights.append((position, item.data))
            position += item.value.nbytes
        return weights, table

    # --- Nodes --------------------------------------------------------------------------------------------------------

    def _node(self, node: Node) -> None:
        text = self._function(node)
        outs = node.views_out()
        for _, _, write, desc in outs:
            self._homes[write.value] = desc
        if text is None:
            self._structure(node)
        elif node.operator.schema.output_fields[0].type is FieldType.TENSOR_ARRAY:
            base = f"{self._base_name(node)}_parts"
            parts = self._name(Value(base, 0), base)
            self._write(f"auto {parts} = {text};")
            for index, (_, _, write, _) in enumerate(outs):
                self._names[write.value] = f"{parts}[{index}]"
        elif len(outs) > 1:
            base = self._base_name(node)
            whole = self._name(Value(base, 0), base)
            self._write(f"auto {whole} = {text};")
            members = MEMBERS[node.operator.type]
            for field, _, write, _ in outs:
                self._names[write.value] = f"{whole}.{members[field]}"
        else:
            (field, _, write, _), *_ = outs
            member = MEMBERS.get(node.operator.type, {}).get(field)
            text = f"{text}.{member}" if member else text
            self._write(f"auto {self._name(write.value, self._base_name(node))} = {text};")

    def _base_name(self, node: Node) -> str:
        for item in self._graph.outputs:
            if item.value in node.targets and len(node.targets) == 1:
                return item.name
        return re.split(r"[/.]", node.name)[-1] or node.operator.schema.stem

    def _function(self, node: Node) -> str | None:
        """The call of a function that returns the outputs; ``None`` if no function does."""
        if not self._has_default_outputs(node):
            return None
        desc, level = node.operator, self._graph.feature_level
        if desc.type == "ELEMENT_WISE_ADD" and (level is None or FeatureLevel(level) >= FeatureLevel("2_0")):
            return f"{self._operand(node, 'ATensor', 0)} + {self._operand(node, 'BTensor', 0)}"
        return function_call(desc, lambda field, index: self._operand(node, field, index))

    def _has_default_outputs(self, node: Node) -> bool:
        """Whether all outputs have the sizes, types and layouts that functions infer."""
        if any(self._trial.by_policy(desc) != desc for *_, desc in node.views_out()):
            return False
        try:
            arguments = dict(self._calls.of(node).arguments)
        except DmlError:
            return False
        return "output_sizes" not in arguments or node.operator.type in ("SPLIT", "CAST", *SIZED)

    def _operand(self, node: Node, field: str, index: int) -> str:
        """An input tensor, reinterpreted if its variable has another descriptor."""
        value, desc = node.reads[field][index].value, node.operator.tensors(field)[index]
        name, home = self._names[value], self._homes[value]
        if home == desc:
            return name
        kind = "" if home.data_type is desc.data_type else f"DML_TENSOR_DATA_TYPE_{desc.data_type.name}, "
        sizes = f"dml::TensorDimensions{array(desc.sizes)}"
        strides = "dml::NullOpt" if desc.strides is None else f"dml::TensorStrides{array(desc.strides)}"
        return f"dml::Reinterpret({name}, {kind}{sizes}, {strides})"

    def _structure(self, node: Node) -> None:
        """A node from its operator structure, created like the nodes of DirectMLX's functions."""
        desc = node.operator
        names = [self._name(write.value, self._output_name(node, field)) for field, _, write, _ in node.views_out()]
        self._write(f"dml::Expression {', '.join(names)};  // {desc.type}")
        structure = StructureStatements()
        structure.fill("desc", desc)
        inputs = []
        for field in desc.schema.input_fields:
            reads = node.reads.get(field.name, ())
            inputs += [f"{self._names[read.value]}.Impl()" for read in reads] or ["nullptr"]
        lines = structure.lines
        if inputs:
            lines.append(f"dml::detail::NodeOutput* const inputs[] = {{{', '.join(inputs)}}};")
        argument = "inputs" if inputs else "{}"
        lines.append(f"const auto node = graph.Impl()->CreateOperatorNode({desc.schema.name}, &desc, {argument});")
        position = 0
        outputs = iter(names)
        for field in desc.schema.output_fields:
            tensors = desc.tensors(field.name)
            for tensor in tensors:
                text = tensor_desc(tensor)
                lines.append(f"{next(outputs)} = graph.Impl()->CreateNodeOutput(node, {position}, {text});")
                position += 1
            position += not tensors
        self._lines.append("  {")
        for line in lines:
            self._write(line, "    ")
        self._lines.append("  }")

    def _output_name(self, node: Node, field: str) -> str:
        base = self._base_name(node)
        return base if len(node.targets) == 1 else f"{base}_{identifier(field.removesuffix('Tensor'))}"

    # --- The text -----------------------------------------------------------------------------------------------------

    def _text(self, table: Sequence[str]) -> str:
        graph = self._graph
        ends = f"{plural(len(graph.inputs), 'input')}, {plural(len(graph.nodes), 'node')}"
        title = f"The DirectML graph {visible(quote(graph.name))}: {ends}, {plural(len(graph.outputs), 'output')}."
        space = identifier(graph.name) or "graph"
        space = f"{space}_" if space in _WORDS else space
        policy = "" if self._policy is packed else ", dml::TensorPolicy::InterleavedChannel()"
        lines = [f"// {title}", "", "#include <DirectML.h>", "#include <DirectMLX.h>", ""]
        lines += ["#include <cstdint>", "#include <limits>", "", f"namespace {space} {{", ""]
        if table:
            lines += [
                f"// The inputs of the graph that are weights; their bytes are in {self._stem}.bin.",
                *("struct Weight {", "  std::uint32_t input;", "  const char* name;"),
                *("  std::uint64_t offset;", "  std::uint64_t bytes;", "};", ""),
                *("inline constexpr Weight kWeights[] = {", *table, "};", ""),
            ]
        lines += _listed("Inputs", [item.name for item in graph.inputs])
        lines += _listed("Outputs", [item.name for item in graph.outputs])
        lines += ["inline Microsoft::WRL::ComPtr<IDMLCompiledOperator> Compile(IDMLDevice* device) {"]
        return "\n".join(
            [*lines, f"  dml::Graph graph(device{policy});", *self._lines, "}", "", f"}}  // namespace {space}", ""]
        )


def _listed(what: str, names: Sequence[str]) -> list[str]:
    """A comment with the indices and names of inputs or outputs."""
    listed = ", ".join(f"{index}: {visible(shortened(name, 60))}" for index, name in enumerate(names))
    text = f"{what} are {listed}." if names else ""
    return textwrap.wrap(text, 98, initial_indent="// ", subsequent_indent="// ")
