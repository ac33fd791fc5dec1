"""The nodes of a graph as statements of a program."""

from __future__ import annotations

import operator
import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from dml2onnx.builder.operators.calls import CALLS
from dml2onnx.catalog import FieldType
from dml2onnx.codes.exporting import NOT_EXPRESSIBLE
from dml2onnx.diagnostics import DmlError
from dml2onnx.ir.graph import Constant, Graph, GraphInput, Node, Value, Write
from dml2onnx.ir.inputs import input_descs
from dml2onnx.ir.operator import Scalar, ScaleBias
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.source_code.bindings import BoundExpression, BufferView, bound_constant, bound_input, keywords, viewed
from dml2onnx.source_code.calls import Calls, TensorArgument, layouts, literal, parameters
from dml2onnx.source_code.contents import ArrayExpression, ProgramArrays, eval_number
from dml2onnx.source_code.text import Group, Joined, Keyword, Part, Ref, Text, call, number, numbers, string
from dml2onnx.source_code.trial import TrialBuilder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

BINARY: Mapping[str, tuple[str, Callable[[Any, Any], object]]] = {
    "ELEMENT_WISE_ADD": ("+", operator.add),
    "ELEMENT_WISE_SUBTRACT": ("-", operator.sub),
    "ELEMENT_WISE_MULTIPLY": ("*", operator.mul),
    "ELEMENT_WISE_DIVIDE": ("/", operator.truediv),
    "ELEMENT_WISE_MODULUS_TRUNCATE": ("%", operator.mod),
    "ELEMENT_WISE_LOGICAL_EQUALS": ("==", operator.eq),
    "ELEMENT_WISE_LOGICAL_LESS_THAN": ("<", operator.lt),
    "ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL": ("<=", operator.le),
    "ELEMENT_WISE_LOGICAL_GREATER_THAN": (">", operator.gt),
    "ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL": (">=", operator.ge),
    "ELEMENT_WISE_BIT_AND": ("&", operator.and_),
    "ELEMENT_WISE_BIT_OR": ("|", operator.or_),
    "ELEMENT_WISE_BIT_XOR": ("^", operator.xor),
    "ELEMENT_WISE_BIT_SHIFT_LEFT": ("<<", operator.lshift),
    "ELEMENT_WISE_BIT_SHIFT_RIGHT": (">>", operator.rshift),
}
UNARY: Mapping[str, tuple[str, Callable[[Any], object]]] = {
    "ELEMENT_WISE_NEGATE": ("-", operator.neg),
    "ELEMENT_WISE_BIT_NOT": ("~", operator.invert),
}
_GENERIC_WORD = "(?:op|operator|node|layer|tensor|value|[a-z])"
_GENERIC_NAME = re.compile(rf"(?:{_GENERIC_WORD}(?:[_/.]{_GENERIC_WORD})*)?")
"""Generated names of nodes, without their number."""
MAX_LITERAL_BYTES = 1 << 26
"""Bytes of a constant that is tried as an array argument; larger ones need ``g.constant``."""


@dataclass(frozen=True, slots=True)
class Statement:
    """``targets = part``, in the context of ``layouts``."""

    part: Part
    targets: tuple[object, ...]
    """The contents of the variables: a value, or a node for the tuple of its outputs."""
    is_tuple: bool = False
    layouts: tuple[Part, ...] = ()
    name: str = ""
    """The name of the node, unless it is generic; in a loop with marks around the number."""
    stem: str = ""
    """The builder's default name of the node, without a number."""
    takes_name: bool = False


class Statements:
    """The statements of a graph, in order of execution."""

    def __init__(self, graph: Graph, trial: TrialBuilder, references: Mapping[Path, str]) -> None:
        self._graph = graph
        self._trial = trial
        self.contents = ProgramArrays(references)
        self.bound: dict[Value, BoundExpression] = {}
        self._inline: set[Value] = set()
        """Constants with a single reader, which need no variable."""
        self._views: dict[Value, list[BufferView]] = {}
        self._readers: dict[Value, tuple[Node, str]] = {}
        """The first reader of each value, and the field that reads it."""
        for node in graph.sorted_nodes():
            for name, _, read, desc in node.views_in():
                self._views.setdefault(read.value, []).append(BufferView(read.value, desc, read.offset))
                self._readers.setdefault(read.value, (node, name))
        ends = [*graph.outputs, *graph.results]
        self._others = Counter(item.value for item in ends)
        self._others.update(write.base for node in graph.nodes for _, _, write, _ in node.views_out() if write.base)
        self._calls = Calls(trial, graph)

    def all(self) -> list[Statement]:
        """The statements of inputs, of constants with variables, and of nodes."""
        statements = [self._input(item) for item in self._typed_inputs()]
        statements += [item for constant in self._graph.constants for item in self._constant(constant)]
        return [*statements, *(self._node(node) for node in self._graph.sorted_nodes())]

    def end(self, value: Value, desc: TensorDesc) -> Part:
        """The expression of an output of the graph."""
        return viewed(self._of(value), BufferView(value, desc), self._trial)

    def _of(self, value: Value) -> BoundExpression:
        found = self.bound.get(value)
        if found is None:
            raise DmlError(NOT_EXPRESSIBLE.at(f"nothing provides {string(value.name)}"))
        return found

    def _typed_inputs(self) -> list[GraphInput]:
        """The inputs; untyped ones get the descriptor of their first reader if that does not change the interface."""
        graph = self._graph
        with_desc = []
        for item in graph.inputs:
            first = next(iter(self._views.get(item.value, [])), None)
            is_whole = first is not None and not first.offset and first.desc.total_bytes == item.value.nbytes
            is_plain = is_whole and first is not None and not first.desc.owned_by_dml
            with_desc.append(replace(item, desc=first.desc) if item.desc is None and is_plain and first else item)
        before, after = (input_descs(items, graph.nodes, graph.outputs) for items in (graph.inputs, with_desc))
        return [new if a == b else old for old, new, a, b in zip(graph.inputs, with_desc, before, after, strict=True)]

    def _input(self, item: GraphInput) -> Statement:
        part, self.bound[item.value] = bound_input(item, self._views.get(item.value, []), self.contents, self._trial)
        return Statement(part, (item.value,))

    def _constant(self, item: Constant) -> list[Statement]:
        views, others = self._views.get(item.value, []), self._others[item.value]
        if not views and not others:
            return []
        part, bound = bound_constant(item, views, self.contents, self._constant_name(item.value))
        self.bound[item.value] = bound
        if len(views) == 1 and not others:
            self._inline.add(item.value)
            self.bound[item.value] = replace(bound, part=part)
            return []
        self.bound[item.value] = BoundExpression(bound.part, bound.home)
        return [Statement(part, (item.value,))]

    def _constant_name(self, value: Value) -> str:
        """The constant's name, or that of its reader and the argument if its own is generic."""
        if not re.fullmatch(r"(.*[/._])?constant(_\d+)?", value.name):
            return value.name
        node, field = self._readers.get(value, (None, ""))
        return value.name if node is None else f"{node.name}_{CALLS[node.operator.type].fields[field]}"

    # --- Nodes --------------------------------------------------------------------------------------------------------

    def _node(self, node: Node) -> Statement:
        short = self._operators(node) if is_generic(node) or is_default(node) else None
        part = short or self._method(node)
        layout = self._layouts(node)
        results = () if short else self._calls.of(node).results
        field = node.operator.schema.output_fields[0]
        for _, _, write, desc in node.views_out():
            self.bound[write.value] = BoundExpression(Ref(write.value), BufferView(write.value, desc, write.offset))
        used = [value for value in node.targets if self._views.get(value) or self._others[value]]
        named = ("" if is_generic(node) else node.name, node.operator.schema.stem, short is None)
        if field.type is FieldType.TENSOR_ARRAY:
            return Statement(part, node.targets, True, layout, *named)
        if not results:
            return Statement(part, node.targets, False, layout, *named)
        members = self._members(node, results)
        if len(used) == 1:
            whole = Joined((part, Text(f".{members[used[0]]}")))
            return Statement(whole, (used[0],), False, layout, *named)
        for value, member in members.items():
            home = self.bound[value].home
            self.bound[value] = BoundExpression(Joined((Ref(node), Text(f".{member}"))), home)
        return Statement(part, (node,), False, layout, *named)

    def _members(self, node: Node, results: tuple[str, ...]) -> dict[Value, str]:
        fields = [item.name for item in node.operator.schema.output_fields]
        names = dict(zip(fields, results, strict=False))
        return {writes[0].value: names[field] for field, writes in node.writes.items()}

    def _method(self, node: Node) -> Part:
        found = self._calls.of(node)
        literals = self._literals(node, found.method, found.arguments)
        fields = {name: field for field, name in CALLS[node.operator.type].fields.items()}
        arguments: list[Part] = []
        positional = True
        order = list(parameters(found.method))
        for name, value in found.arguments:
            positional = positional and isinstance(value, TensorArgument) and order[len(arguments)] == name
            if isinstance(value, TensorArgument):
                items = [
                    literals.get((value.field, index)) or self._operand(node, value.field, index)
                    for index in range(len(node.reads[value.field]))
                ]
                part: Part = Group("[", tuple(items), "]") if value.is_array else items[0]
            else:
                scalar = node.operator.get(fields[name]) if name in fields else None
                part = literal(value, scalar.data_type if isinstance(scalar, Scalar) else None)
            arguments.append(part if positional else Keyword(name, part))
        return call(f"g.{found.method}", arguments)

    def _operand(self, node: Node, field: str, index: int) -> Part:
        read, desc = node.reads[field][index], node.operator.tensors(field)[index]
        return viewed(self._of(read.value), BufferView(read.value, desc, read.offset), self._trial)

    def _array(self, value: Value) -> ArrayExpression | None:
        """The array of an inline constant, unless it is large."""
        array = self._of(value).array if value in self._inline else None
        is_large = array is not None and prod(array.shape) * array.data_type.dtype.itemsize > MAX_LITERAL_BYTES
        return None if is_large else array

    def _literals(
        self, node: Node, method: str, arguments: tuple[tuple[str, object], ...]
    ) -> dict[tuple[str, int], Part]:
        """Numbers and arrays, by field and index, that the method converts to the node's constants by itself."""
        found: dict[tuple[str, int], tuple[Part, object]] = {}
        for name, index, read, _ in node.views_in():
            array = self._array(read.value)
            if array is None:
                continue
            choices: list[tuple[Part, object]] = [(array.part, np.zeros(array.shape, array.data_type.dtype))]
            if array.scalar:
                choices.insert(0, (Text(array.scalar), eval_number(array.scalar)))
            for item in choices:
                if self._records(node, method, arguments, {**found, (name, index): item}):
                    found[name, index] = item
                    break
        return {place: part for place, (part, _) in found.items()}

    def _records(
        self,
        node: Node,
        method: str,
        arguments: tuple[tuple[str, object], ...],
        literals: Mapping[tuple[str, int], tuple[Part, object]],
    ) -> bool:
        """Whether a call with literals for some tensors records the node."""
        values: dict[str, object] = {}
        for name, value in arguments:
            if isinstance(value, TensorArgument):
                descs = node.operator.tensors(value.field)
                items = [
                    literals[value.field, index][1]
                    if (value.field, index) in literals
                    else self._trial.of(read.value, descs[index], read.offset)
                    for index, read in enumerate(node.reads[value.field])
                ]
                values[name] = items if value.is_array else items[0]
            else:
                values[name] = value
        return self._calls.records(partial(getattr(self._trial, method), **values), node.operator)

    # --- Python's operators -------------------------------------------------------------------------------------------

    def _operators(self, node: Node) -> Part | None:
        """An expression such as ``a + b``; ``None`` if no such expression records the node."""
        desc = node.operator
        inputs = [(field, read, tensor) for field, _, read, tensor in node.views_in()]
        if desc.type == "ELEMENT_WISE_IDENTITY":
            return self._scaled(node)
        if desc.type in UNARY:
            sign, function = UNARY[desc.type]
            part, expression = self._term(*inputs[0][1:], None)
            done = self._calls.records(lambda: function(expression), desc)
            return Joined((Text(sign), part)) if done and isinstance(part, Ref) else None
        if desc.type not in BINARY or len(inputs) != 2:
            return None
        sign, binary = BINARY[desc.type]
        left, a = self._term(*inputs[0][1:], None)
        for literals in (True, False):
            right, b = self._term(*inputs[1][1:], inputs[0][2].data_type if literals else None)
            if isinstance(left, (Ref, Joined)) and self._calls.records(lambda b=b: binary(a, b), desc):  # type: ignore[misc]  # inferred
                return Joined((left, Text(f" {sign} "), right))
        return None

    def _scaled(self, node: Node) -> Part | None:
        scale_bias = node.operator.get("ScaleBias")
        ((_, _, read, desc),) = node.views_in()
        part, expression = self._term(read, desc, None)
        if not isinstance(scale_bias, ScaleBias) or not isinstance(part, Ref):
            return None
        scale, bias = scale_bias.scale, scale_bias.bias
        options: list[tuple[str, float, Callable[[], object]]] = [
            (" * ", scale, lambda: expression * scale),
            (" + ", bias, lambda: expression + bias),
            (" - ", -bias, lambda: expression - -bias),
        ]
        for sign, value, make in options:
            if (sign == " * " or value > 0) and self._calls.records(make, node.operator):
                return Joined((part, Text(f"{sign}{number(value)}")))
        return None

    def _term(self, read: Any, desc: TensorDesc, literal_of: DataType | None) -> tuple[Part, Any]:
        """An operand and its value in the trial; constants of the type ``literal_of`` become literals."""
        bound = self._of(read.value)
        array = self._array(read.value)
        if literal_of is not None and array is not None and array.data_type is literal_of:
            if array.scalar:
                return Text(array.scalar), eval_number(array.scalar)
            return array.part, np.zeros(array.shape, array.data_type.dtype)
        view = BufferView(read.value, desc, read.offset)
        part = viewed(bound, view, self._trial, broadcasts=True)
        home = bound.home if part is bound.part else view
        return part, self._trial.of(read.value, home.desc, home.offset)

    # --- Layouts ------------------------------------------------------------------------------------------------------

    def _layouts(self, node: Node) -> tuple[Part, ...]:
        """The ``g.output_layout`` contexts of the outputs."""
        options = {(field, index): item for field, index, item in layouts(node.operator, self._trial)}
        found = []
        for field, index, write, desc in node.views_out():
            strides = options.get((field, index), {}).get("strides")
            arguments: list[Part] = [Keyword("strides", numbers(strides))] if strides else []
            arguments += [*self._target_buffer(node, write, desc), *keywords(desc)]
            if not arguments:
                continue
            if len(node.targets) > 1:
                arguments.append(Keyword("field", Text(string(field))))
                if len(node.writes[field]) > 1:
                    arguments.append(Keyword("index", Text(str(index))))
            found.append(call("g.output_layout", arguments))
        return tuple(found)

    def _target_buffer(self, node: Node, write: Write, desc: TensorDesc) -> list[Part]:
        """The arguments for the buffer of an output: the existing buffer, the offset, and the size."""
        parts: list[Part] = []
        base = node.before(write)
        if base is not None and base in node.targets:
            message = "one output is written into the buffer of another one"
            raise DmlError(
                NOT_EXPRESSIBLE.at(message, node=node.name, operator=node.operator.type, pointer=node.source)
            )
        if base is not None:
            parts.append(Keyword("into", self._of(base).part))
        if write.offset:
            parts.append(Keyword("offset", Text(str(write.offset))))
        if write.value.nbytes != (write.offset + desc.total_bytes if base is None else base.nbytes):
            parts.append(Keyword("buffer_bytes", Text(str(write.value.nbytes))))
        return parts


def is_default(node: Node) -> bool:
    """Whether a node in a scope has the builder's default name."""
    return re.search(rf"[/._]{node.operator.schema.stem}(_\d+)?$", node.name) is not None


def is_generic(node: Node) -> bool:
    """Whether a node's name only repeats its operator, or is generated."""
    name = re.sub(r"[\d_\W]+$", "", node.name.lower().removeprefix("dml_operator_"))
    stem = node.operator.schema.stem
    short = stem.removeprefix("element_wise_").removeprefix("activation_").removeprefix("logical_")
    return _GENERIC_NAME.fullmatch(name) is not None or name in (stem.rstrip("0123456789"), short, stem)
