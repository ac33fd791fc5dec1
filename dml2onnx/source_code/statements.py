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
from dml2onnx.ir.graph import Graph, GraphInput, Node, Value, Write
from dml2onnx.ir.inputs import input_descs
from dml2onnx.ir.operator import Scalar, ScaleBias
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.source_code.bindings import Bound, View, bound_constant, bound_input, keywords, seen
from dml2onnx.source_code.calls import Calls, Tensor, layouts, literal
from dml2onnx.source_code.contents import Contents, eval_number
from dml2onnx.source_code.text import Group, Joined, Keyword, Part, Ref, Text, call, number, numbers, string
from dml2onnx.source_code.trial import Trial

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
_STAND_IN = "(?:op|operator|node|layer|tensor|value|[a-z])"
_NUMBERED = re.compile(rf"(?:{_STAND_IN}(?:[_/.]{_STAND_IN})*)?")
"""What stands before a number in the names that tools make."""
LARGEST_TRIED = 1 << 26
"""Bytes of a constant that is tried as an argument; larger ones are made by ``g.constant``."""


@dataclass(frozen=True, slots=True)
class Statement:
    """``targets = part``, inside of ``layouts``."""

    part: Part
    targets: tuple[object, ...]
    """What the variables hold: a value, or the node for the tuple of its outputs; ``None`` for what nobody needs."""
    is_tuple: bool = False
    layouts: tuple[Part, ...] = ()
    name: str = ""
    """Of the node, unless it says no more than the operator; in a loop with marks where the number goes."""
    stem: str = ""
    """What the node is called when the call says nothing."""
    takes_name: bool = False


class Statements:
    """The statements of a graph, in the order in which they are executed."""

    def __init__(self, graph: Graph, trial: Trial, references: Mapping[Path, str]) -> None:
        self._graph = graph
        self._trial = trial
        self.contents = Contents(references)
        self.bound: dict[Value, Bound] = {}
        self._inline: dict[Value, Part] = {}
        """Constants that one node reads, which need no variable."""
        self._views: dict[Value, list[View]] = {}
        self._readers: dict[Value, tuple[Node, str]] = {}
        """The first of the nodes that read a value, and as what."""
        for node in graph.sorted_nodes():
            for name, _, read, desc in node.views_in():
                self._views.setdefault(read.value, []).append(View(read.value, desc, read.offset))
                self._readers.setdefault(read.value, (node, name))
        ends = [*graph.outputs, *graph.results]
        self._others = Counter(item.value for item in ends)
        self._others.update(write.base for node in graph.nodes for _, _, write, _ in node.views_out() if write.base)
        reach = max([desc.reach for node in graph.nodes for *_, desc in node.views_in()], default=4)
        self._calls = Calls(trial, Value("x", reach))

    def all(self) -> list[Statement]:
        """Inputs, constants that have variables, and nodes."""
        made = [self._input(item) for item in self._described_inputs()]
        made += [item for constant in self._graph.constants for item in self._constant(constant)]
        return [*made, *(self._node(node) for node in self._graph.sorted_nodes())]

    def end(self, value: Value, desc: TensorDesc) -> Part:
        """A value as an output of the graph."""
        return seen(self._of(value), View(value, desc), self._trial)

    def _of(self, value: Value) -> Bound:
        found = self.bound.get(value)
        if found is None:
            raise DmlError(NOT_EXPRESSIBLE.at(f"nothing provides {string(value.name)}"))
        return found

    def _described_inputs(self) -> list[GraphInput]:
        """The inputs, those that their first reader describes with its descriptor, where the caller sees no other."""
        graph = self._graph
        with_desc = []
        for item in graph.inputs:
            first = next(iter(self._views.get(item.value, [])), None)
            is_whole = first is not None and not first.offset and first.desc.total_bytes == item.value.nbytes
            is_plain = is_whole and first is not None and not first.desc.owned_by_dml
            with_desc.append(replace(item, desc=first.desc) if item.desc is None and is_plain and first else item)
        before, after = (input_descs(items, graph.nodes, graph.outputs) for items in (graph.inputs, with_desc))
        return [new if a == b else old for old, new, a, b in zip(graph.inputs, with_desc, before, after, strict=True)]

    def _input(self, item: Any) -> Statement:
        part, self.bound[item.value] = bound_input(item, self._views.get(item.value, []), self.contents, self._trial)
        return Statement(part, (item.value,))

    def _constant(self, item: Any) -> list[Statement]:
        views, others = self._views.get(item.value, []), self._others[item.value]
        if not views and not others:
            return []
        part, bound = bound_constant(item, views, self.contents, self._constant_name(item.value))
        self.bound[item.value] = bound
        if len(views) == 1 and not others:
            self._inline[item.value] = part
            self.bound[item.value] = Bound(part, bound.home, bound.shown)
            return []
        self.bound[item.value] = Bound(bound.part, bound.home)
        return [Statement(part, (item.value,))]

    def _constant_name(self, value: Value) -> str:
        """The constant's own name, or where it says nothing that of its reader and of the argument."""
        if not re.fullmatch(r"(.*[/._])?constant(_\d+)?", value.name):
            return value.name
        node, field = self._readers.get(value, (None, ""))
        return value.name if node is None else f"{node.name}_{CALLS[node.operator.type].fields[field]}"

    # --- Nodes --------------------------------------------------------------------------------------------------------

    def _node(self, node: Node) -> Statement:
        short = self._operators(node) if is_generic(node) or is_usual(node) else None
        part = short or self._method(node)
        layout = self._layouts(node)
        results = () if short else self._calls.of(node).results
        field = node.operator.schema.output_fields[0]
        for _, _, write, desc in node.views_out():
            self.bound[write.value] = Bound(Ref(write.value), View(write.value, desc, write.offset))
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
            self.bound[value] = Bound(Joined((Ref(node), Text(f".{member}"))), home)
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
        order = list(self._calls.parameters(found.method))
        for name, value in found.arguments:
            positional = positional and isinstance(value, Tensor) and order[len(arguments)] == name
            if isinstance(value, Tensor):
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
        return seen(self._of(read.value), View(read.value, desc, read.offset), self._trial)

    def _literals(
        self, node: Node, method: str, arguments: tuple[tuple[str, object], ...]
    ) -> dict[tuple[str, int], Part]:
        """Numbers and arrays that the method itself makes constants of, as the node has them."""
        choices: dict[tuple[str, int], list[tuple[Part, object]]] = {}
        for name, index, read, _ in node.views_in():
            shown = self._of(read.value).shown if read.value in self._inline else None
            if shown is None or prod(shown.shape) * shown.data_type.dtype.itemsize > LARGEST_TRIED:
                continue
            supplied: list[tuple[Part, object]] = []
            if shown.scalar:
                supplied.append((Text(shown.scalar), eval_number(shown.scalar)))
            supplied.append((shown.part, np.zeros(shown.shape, shown.data_type.dtype)))
            choices[name, index] = supplied
        found: dict[tuple[str, int], tuple[Part, object]] = {}
        for place, supplied in choices.items():
            for item in supplied:
                if self._gives(node, method, arguments, {**found, place: item}):
                    found[place] = item
                    break
        return {place: part for place, (part, _) in found.items()}

    def _gives(
        self,
        node: Node,
        method: str,
        arguments: tuple[tuple[str, object], ...],
        literals: Mapping[tuple[str, int], tuple[Part, object]],
    ) -> bool:
        supplied: dict[str, object] = {}
        for name, value in arguments:
            if isinstance(value, Tensor):
                descs = node.operator.tensors(value.field)
                items = [
                    literals[value.field, index][1]
                    if (value.field, index) in literals
                    else self._trial.of(read.value, descs[index], read.offset)
                    for index, read in enumerate(node.reads[value.field])
                ]
                supplied[name] = items if value.is_array else items[0]
            else:
                supplied[name] = value
        return self._calls.records(partial(getattr(self._trial, method), **supplied), node.operator)

    # --- Python's operators -------------------------------------------------------------------------------------------

    def _operators(self, node: Node) -> Part | None:
        """``a + b`` and the like, where that records the node."""
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
        supplied = node.operator.get("ScaleBias")
        ((_, _, read, desc),) = node.views_in()
        part, expression = self._term(read, desc, None)
        if not isinstance(supplied, ScaleBias) or not isinstance(part, Ref):
            return None
        scale, bias = supplied.scale, supplied.bias
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
        """An operand and what stands for it when it is tried; as a literal where the other one has that type."""
        bound = self._of(read.value)
        shown = bound.shown if read.value in self._inline else None
        if literal_of is not None and shown is not None and shown.data_type is literal_of:
            if shown.scalar:
                return Text(shown.scalar), eval_number(shown.scalar)
            if prod(shown.shape) * shown.data_type.dtype.itemsize <= LARGEST_TRIED:
                return shown.part, np.zeros(shown.shape, shown.data_type.dtype)
        wanted = View(read.value, desc, read.offset)
        part = seen(bound, wanted, self._trial, broadcasts=True)
        home = bound.home if part is bound.part else wanted
        return part, self._trial.of(read.value, home.desc, home.offset)

    # --- Layouts ------------------------------------------------------------------------------------------------------

    def _layouts(self, node: Node) -> tuple[Part, ...]:
        """What is said of the memory of outputs, each in a context of its own."""
        stated = {(field, index): supplied for field, index, supplied in layouts(node.operator, self._trial)}
        several = len(node.targets) > 1
        found = []
        for field, index, write, desc in node.views_out():
            parts = self._placed(node, write, desc)
            steps = stated.get((field, index), {}).get("strides")
            said: list[Part] = [Keyword("strides", numbers(steps))] if steps else []
            said += [*parts, *keywords(desc)]
            if not said:
                continue
            if several:
                said.append(Keyword("field", Text(string(field))))
                if len(node.writes[field]) > 1:
                    said.append(Keyword("index", Text(str(index))))
            found.append(call("g.output_layout", said))
        return tuple(found)

    def _placed(self, node: Node, write: Write, desc: TensorDesc) -> list[Part]:
        """Into which buffer an output is written, and how large it is."""
        parts: list[Part] = []
        base = node.before(write)
        if base is not None and base in node.targets:
            message = "one output is written into a buffer that another one makes"
            raise DmlError(
                NOT_EXPRESSIBLE.at(message, node=node.name, operator=node.operator.type, pointer=node.source)
            )
        if base is not None:
            parts.append(Keyword("into", self._of(base).part))
        if write.offset:
            parts.append(Keyword("offset", Text(str(write.offset))))
        usual = write.offset + desc.total_bytes if base is None else base.nbytes
        if write.value.nbytes != usual:
            parts.append(Keyword("buffer_bytes", Text(str(write.value.nbytes))))
        return parts


def is_usual(node: Node) -> bool:
    """Whether a node in a scope is called as the builder calls it by itself."""
    return re.search(rf"[/._]{node.operator.schema.stem}(_\d+)?$", node.name) is not None


def is_generic(node: Node) -> bool:
    """Whether a node's name says no more than its operator does."""
    name = re.sub(r"[\d_\W]+$", "", node.name.lower().removeprefix("dml_operator_"))
    stem = node.operator.schema.stem
    short = stem.removeprefix("element_wise_").removeprefix("activation_").removeprefix("logical_")
    return _NUMBERED.fullmatch(name) is not None or name in (stem.rstrip("0123456789"), short, stem)
