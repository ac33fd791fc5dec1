"""A graph as a program of DirectMLX."""

from __future__ import annotations

import re
import textwrap
from types import MappingProxyType
from typing import TYPE_CHECKING

from dml2onnx.builder.policies import packed
from dml2onnx.catalog import FieldType
from dml2onnx.checks import check
from dml2onnx.codes.exporting import NOT_EXPRESSIBLE
from dml2onnx.diagnostics import DmlError, plural, quote, raise_errors, shortened, visible
from dml2onnx.frontends.names import free_name
from dml2onnx.ir.data import Data, MissingData
from dml2onnx.ir.graph import Graph, Node, Value
from dml2onnx.source_code.calls import Calls
from dml2onnx.source_code.directmlx import MEMBERS, SIZED, function_call
from dml2onnx.source_code.literals import Structure, array, tensor_desc, wrapped
from dml2onnx.source_code.naming import identifier
from dml2onnx.source_code.python import policy_of
from dml2onnx.source_code.redundant import with_usual_sizes
from dml2onnx.source_code.trial import Trial

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from dml2onnx.ir.tensor import TensorDesc

_TEXT = """
    alignas alignof and asm auto bitand bitor bool break case catch char class compl concept const continue decltype
    default delete do double else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new noexcept not nullptr operator or private protected public register requires return short signed
    sizeof static struct switch template this throw true try typedef typeid typename union unsigned using virtual
    void volatile wchar_t while xor graph device builder dml std near far interface small node desc inputs
"""
_WORDS = frozenset(_TEXT.split())
"""Names that variables cannot have, or that mean something here or in Windows' headers."""
ALIGNMENT = 64
"""Where weights start in their file, in bytes."""


def cpp(
    graph: Graph, stem: str, references: Mapping[Path, str] = MappingProxyType({})
) -> tuple[str, list[tuple[int, Data]]]:
    """The text of the program, and where each constant starts in the file ``<stem>.bin``.

    Raises :class:`DmlError` with what is wrong with the graph, or with what DirectMLX cannot say.
    """
    raise_errors(check(graph))
    missing = [item.value.name for item in graph.constants if isinstance(item.data, MissingData)]
    if missing:
        message = f"the contents of {quote(missing[0])} are not there, and belong into {quote(f'{stem}.bin')}"
        raise DmlError(NOT_EXPRESSIBLE.at(message, found="no file"))
    return _Program(with_usual_sizes(graph), stem).run()


class _Program:
    def __init__(self, graph: Graph, stem: str) -> None:
        self._graph = graph
        self._stem = stem
        self._policy = policy_of(graph)
        self._trial = Trial(feature_level=graph.feature_level, policy=self._policy)
        reach = max([desc.reach for node in graph.nodes for *_, desc in node.views_in()], default=4)
        self._calls = Calls(self._trial, Value("x", reach))
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
        self._say(f"return graph.Compile(DML_EXECUTION_FLAG_NONE, {{{outputs}}});")
        placed, table = self._weights()
        return self._text(table), placed

    def _say(self, text: str, indent: str = "  ") -> None:
        self._lines += wrapped(text, indent)

    def _name(self, value: Value, wanted: str) -> str:
        base = identifier(wanted) or "x"
        name = free_name(f"{base}_" if base in _WORDS else base, self._taken.__contains__)
        self._taken.add(name)
        self._names[value] = name
        return name

    # --- Inputs and weights -------------------------------------------------------------------------------------------

    def _source(self, index: int, value: Value) -> None:
        desc = self._first[value]
        self._homes[value] = desc
        name = self._name(value, value.name)
        self._say(f"auto {name} = dml::InputTensor(graph, {index}, {tensor_desc(desc)});")

    def _weights(self) -> tuple[list[tuple[int, Data]], list[str]]:
        placed, table, position = [], [], 0
        for number, item in enumerate(self._graph.constants):
            position = -(-position // ALIGNMENT) * ALIGNMENT
            name = visible(item.value.name).replace("\\", "\\\\").replace('"', '\\"')
            table.append(f'    {{{len(self._graph.inputs) + number}, "{name}", {position}, {item.value.nbytes}}},')
            placed.append((position, item.data))
            position += item.value.nbytes
        return placed, table

    # --- Nodes --------------------------------------------------------------------------------------------------------

    def _node(self, node: Node) -> None:
        text = self._function(node)
        outs = node.views_out()
        for _, _, write, desc in outs:
            self._homes[write.value] = desc
        if text is None:
            self._structure(node)
        elif node.operator.schema.output_fields[0].type is FieldType.TENSOR_ARRAY:
            parts = self._free(f"{self._wanted(node)}_parts")
            self._say(f"auto {parts} = {text};")
            for index, (_, _, write, _) in enumerate(outs):
                self._names[write.value] = f"{parts}[{index}]"
        elif len(outs) > 1:
            whole = self._free(self._wanted(node))
            self._say(f"auto {whole} = {text};")
            members = MEMBERS[node.operator.type]
            for field, _, write, _ in outs:
                self._names[write.value] = f"{whole}.{members[field]}"
        else:
            (field, _, write, _), *_ = outs
            member = MEMBERS.get(node.operator.type, {}).get(field)
            text = f"{text}.{member}" if member else text
            self._say(f"auto {self._name(write.value, self._wanted(node))} = {text};")

    def _free(self, wanted: str) -> str:
        return self._name(Value(wanted, 0), wanted)

    def _wanted(self, node: Node) -> str:
        for item in self._graph.outputs:
            if item.value in node.targets and len(node.targets) == 1:
                return item.name
        return re.split(r"[/.]", node.name)[-1] or node.operator.schema.stem

    def _function(self, node: Node) -> str | None:
        """The call of a function that gives the outputs as they are; ``None`` where none does."""
        desc = node.operator
        if desc.type == "ELEMENT_WISE_ADD" and _has(self._graph, "2_0"):
            a, b = (self._seen(node, field, 0) for field in ("ATensor", "BTensor"))
            return f"{a} + {b}" if self._is_natural(node) else None
        if not self._is_natural(node):
            return None
        return function_call(desc, lambda field, index: self._seen(node, field, index))

    def _is_natural(self, node: Node) -> bool:
        """Whether all outputs have the sizes, types and layouts that functions give them."""
        for *_, desc in node.views_out():
            steps = self._policy(desc.data_type, desc.sizes)
            usual = type(desc)(desc.data_type, desc.sizes, None if steps is None else tuple(steps))
            if usual != desc:
                return False
        try:
            supplied = dict(self._calls.of(node).arguments)
        except DmlError:
            return False
        return "output_sizes" not in supplied or node.operator.type in ("SPLIT", "CAST", *SIZED)

    def _seen(self, node: Node, field: str, index: int) -> str:
        """An input tensor, reinterpreted where its expression is another one."""
        value, wanted = node.reads[field][index].value, node.operator.tensors(field)[index]
        name, home = self._names[value], self._homes[value]
        if home == wanted:
            return name
        kind = "" if home.data_type is wanted.data_type else f"DML_TENSOR_DATA_TYPE_{wanted.data_type.name}, "
        sizes = f"dml::TensorDimensions{array(wanted.sizes)}"
        strides = "dml::NullOpt" if wanted.strides is None else f"dml::TensorStrides{array(wanted.strides)}"
        return f"dml::Reinterpret({name}, {kind}{sizes}, {strides})"

    def _structure(self, node: Node) -> None:
        """A node from its structure, as DirectMLX's own functions make theirs."""
        desc = node.operator
        names = [self._name(write.value, self._output_name(node, field)) for field, _, write, _ in node.views_out()]
        self._say(f"dml::Expression {', '.join(names)};  // {desc.type}")
        made = Structure()
        made.fill("desc", desc)
        inputs = []
        for field in desc.schema.input_fields:
            reads = node.reads.get(field.name, ())
            inputs += [f"{self._names[read.value]}.Impl()" for read in reads] or ["nullptr"]
        made.lines.append(f"dml::detail::NodeOutput* const inputs[] = {{{', '.join(inputs)}}};" if inputs else "")
        supplied = "inputs" if inputs else "{}"
        made.lines.append(f"const auto node = graph.Impl()->CreateOperatorNode({desc.schema.name}, &desc, {supplied});")
        position = 0
        outputs = iter(names)
        for field in desc.schema.output_fields:
            tensors = desc.tensors(field.name)
            for tensor in tensors:
                text = tensor_desc(tensor)
                made.lines.append(f"{next(outputs)} = graph.Impl()->CreateNodeOutput(node, {position}, {text});")
                position += 1
            position += not tensors
        self._lines.append("  {")
        for line in filter(None, made.lines):
            self._say(line, "    ")
        self._lines.append("  }")

    def _output_name(self, node: Node, field: str) -> str:
        wanted = self._wanted(node)
        return wanted if len(node.targets) == 1 else f"{wanted}_{identifier(field.removesuffix('Tensor'))}"

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
                f"// The inputs of the graph that are weights, and where their bytes lie in {self._stem}.bin.",
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
    """A comment with the numbers and names of inputs or outputs."""
    listed = ", ".join(f"{index}: {visible(shortened(name, 60))}" for index, name in enumerate(names))
    text = f"{what} are {listed}." if names else ""
    return textwrap.wrap(text, 98, initial_indent="// ", subsequent_indent="// ")


def _has(graph: Graph, level: str) -> bool:
    """Whether the graph may have what came with a feature level."""
    from dml2onnx.catalog import FeatureLevel

    return graph.feature_level is None or FeatureLevel(graph.feature_level) >= FeatureLevel(level)
