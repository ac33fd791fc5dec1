"""The shortest method call of the builder that records a descriptor.

Each call is tried on a builder, first with all arguments, then without those that have no effect.
"""

from __future__ import annotations

import inspect
import re
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from dml2onnx.builder.attributes import ACTIVATION_DEFAULTS, Activation
from dml2onnx.builder.graph_builder import GraphBuilder
from dml2onnx.builder.operands import spatial
from dml2onnx.builder.operators.calls import CALLS
from dml2onnx.catalog import FieldType
from dml2onnx.codes.exporting import NOT_EXPRESSIBLE
from dml2onnx.diagnostics import DmlError
from dml2onnx.ir.graph import Value
from dml2onnx.ir.operator import OperatorDesc, Scalar, ScaleBias, Size2D
from dml2onnx.source_code.text import Group, Keyword, Part, Text, call, number, numbers, string
from dml2onnx.source_code.trial import TrialBuilder, same

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dml2onnx.ir.graph import Graph, Node
    from dml2onnx.ir.tensor import DataType

_MISSING = object()
_REFUSALS = (DmlError, TypeError, ValueError)
"""Exceptions of the builder for invalid calls."""


@dataclass(frozen=True, slots=True)
class TensorArgument:
    """An argument that is a tensor of the node, or a list of its tensors."""

    field: str
    is_array: bool


@dataclass(frozen=True, slots=True)
class MethodCall:
    """A method and its required arguments."""

    method: str
    arguments: tuple[tuple[str, object], ...]
    """Names and values in the order of the parameters; a value is a :class:`TensorArgument` or a Python object."""
    results: tuple[str, ...]
    """Attributes of the result, if it has several outputs."""


class Calls:
    """The calls for the descriptors of a graph; equal descriptors share one."""

    def __init__(self, trial: TrialBuilder, graph: Graph) -> None:
        self._trial = trial
        # All arguments of a trial are tensors of one buffer, which is large enough for each.
        self._value = Value("x", max([desc.reach for node in graph.nodes for *_, desc in node.views_in()], default=4))
        self._calls: dict[OperatorDesc, MethodCall] = {}
        self._returned: object = None

    def of(self, node: Node) -> MethodCall:
        """Returns the call for a node; raises :class:`DmlError` if no call records it."""
        found = self._calls.get(node.operator)
        if found is None:
            found = self._calls[node.operator] = self._find(node)
        return found

    def _find(self, node: Node) -> MethodCall:
        desc = node.operator
        exact = CALLS[desc.type]
        values = _arguments(desc)
        plain = re.sub(r"\d$", "", exact.method)
        names = dict.fromkeys(name for name in (plain, exact.method) if hasattr(GraphBuilder, name))
        reason: Exception | None = None
        for method in names:
            arguments = _for_method(method, desc, values)
            if arguments is None:
                continue
            try:
                if self._try(self._bind(method, arguments, desc), desc):
                    required = tuple(self._shorten(method, arguments, desc).items())
                    return MethodCall(method, required, getattr(self._returned, "_fields", ()))
            except _REFUSALS as error:
                reason = error
        if isinstance(reason, DmlError):
            raise DmlError(*reason.diagnostics)
        message = f"no call of the builder records {desc.type} with these fields"
        raise DmlError(NOT_EXPRESSIBLE.at(message, node=node.name, operator=desc.type, pointer=node.source))

    def _shorten(self, method: str, arguments: Mapping[str, object], desc: OperatorDesc) -> dict[str, object]:
        """Drops arguments that have no effect, and replaces lists of equal numbers by one number."""
        required = dict(arguments)
        for name, value in arguments.items():
            if parameters(method)[name].default is not inspect.Parameter.empty:
                rest = {key: item for key, item in required.items() if key != name}
                if self.records(self._bind(method, rest, desc), desc):
                    required = rest
                    continue
            field = next((key for key, item in CALLS[desc.type].fields.items() if item == name), "")
            if field in spatial(desc.schema) and isinstance(value, list) and len(set(value)) == 1:
                shorter = {**required, name: value[0]}
                if self.records(self._bind(method, shorter, desc), desc):
                    required = shorter
        return required

    def records(self, make: Callable[[], object], desc: OperatorDesc) -> bool:
        """Whether a call records the descriptor."""
        with suppress(*_REFUSALS):
            return self._try(make, desc)
        return False

    def _try(self, make: Callable[[], object], desc: OperatorDesc) -> bool:
        with ExitStack() as stack:
            for field, index, layout in layouts(desc, self._trial):
                stack.enter_context(self._trial.output_layout(field=field, index=index, **layout))
            nodes, self._returned = self._trial.attempt(make)
        return len(nodes) == 1 and same(nodes[0].operator, desc)

    def _bind(self, method: str, arguments: Mapping[str, object], desc: OperatorDesc) -> Callable[[], object]:
        values = {name: self._value_of(value, desc) for name, value in arguments.items()}
        return partial(getattr(self._trial, method), **values)

    def _value_of(self, value: object, desc: OperatorDesc) -> object:
        if not isinstance(value, TensorArgument):
            return value
        expressions = [self._trial.of(self._value, item) for item in desc.tensors(value.field)]
        return expressions if value.is_array else next(iter(expressions), None)


def layouts(desc: OperatorDesc, trial: TrialBuilder) -> list[tuple[str, int, dict[str, Any]]]:
    """The options of ``output_layout``, by field and index, for outputs that differ from the builder's policy."""
    found = []
    for item in desc.schema.output_fields:
        for index, tensor in enumerate(desc.tensors(item.name)):
            names = ("owned_by_dml", "total_size", "alignment")
            options: dict[str, Any] = {name: getattr(tensor, name) for name in names if getattr(tensor, name)}
            if trial.by_policy(tensor).strides != tensor.strides:
                options["strides"] = list(tensor.effective_strides)
            if options:
                found.append((item.name, index, options))
    return found


@cache
def parameters(method: str) -> Mapping[str, inspect.Parameter]:
    """The parameters of a method without ``self`` and the name of the node."""
    found = dict(inspect.signature(getattr(GraphBuilder, method)).parameters)
    del found["self"], found["name"]
    return found


def _arguments(desc: OperatorDesc) -> dict[str, object]:
    """The arguments of the method that has the exact name of an operator."""
    exact, schema = CALLS[desc.type], desc.schema
    values: dict[str, object] = {}
    for field, name in exact.fields.items():
        kind = schema.fields_by_name[field].type
        if kind in (FieldType.TENSOR, FieldType.TENSOR_ARRAY):
            is_present = desc.get(field) is not None
            values[name] = TensorArgument(field, kind is FieldType.TENSOR_ARRAY) if is_present else None
        else:
            values[name] = _plain(desc.get(field))
    for field, (sizes, data_type, flag) in exact.outputs.items():
        tensors = desc.tensors(field)
        is_array = schema.fields_by_name[field].type is FieldType.TENSOR_ARRAY
        if sizes:
            shapes = [list(item.sizes) for item in tensors]
            values[sizes] = shapes if is_array else next(iter(shapes), None)
        if data_type:
            values[data_type] = next((item.data_type.name for item in tensors), None)
        if flag:
            values[flag] = bool(tensors)
    return values


def _plain(value: object) -> object:
    """The argument for the value of a field."""
    match value:
        case tuple():
            return [_plain(item) for item in value]
        case Scalar():
            return value.value
        case OperatorDesc():
            attributes = {field.name: _plain(item) for field, item in value.items() if not field.is_tensor}
            defaults = ACTIVATION_DEFAULTS.get(value.type, {})
            required = {name: item for name, item in attributes.items() if not _is_default(defaults.get(name), item)}
            return Activation(value.type, **required)
    return value


def _is_default(default: object, value: object) -> bool:
    import numpy as np

    if not isinstance(default, float) or not isinstance(value, float):
        return value is None
    return float(np.float32(default)) == value


def _for_method(method: str, desc: OperatorDesc, values: Mapping[str, object]) -> dict[str, object] | None:
    """The arguments of a method that may have other parameters; ``None`` if a required one is unknown."""
    found: dict[str, object] = {}
    for name, parameter in parameters(method).items():
        value = values[name] if name in values else _derived(name, desc, values)
        if value is _MISSING:
            if parameter.default is inspect.Parameter.empty:
                return None
            continue
        found[name] = value
    return found


def _derived(name: str, desc: OperatorDesc, values: Mapping[str, object]) -> object:
    """An argument that only the method without a version number has."""
    outputs = [item for field in desc.schema.output_fields for item in desc.tensors(field.name)]
    axis = values.get("axis")
    sizes = outputs[0].sizes if outputs else ()
    match name:
        case "output_axis_sizes" if isinstance(axis, int) and axis < len(sizes):
            return [item.sizes[axis] for item in outputs]
        case "output_length" if isinstance(axis, int) and axis < len(sizes):
            return sizes[axis]
        case "output_height" if len(sizes) == 4:
            return sizes[2]
        case "output_width" if len(sizes) == 4:
            return sizes[3]
        case "axis_direction":
            return "DECREASING"
        case "normalize_mean":
            return values.get("use_mean", True)
        case "normalize_variance":
            return values.get("use_variance", _MISSING)
        case "input" | "exponent" if desc.type in ("ELEMENT_WISE_CONSTANT_POW", "ELEMENT_WISE_POW"):
            return values.get(name, _MISSING)
    return _MISSING


# --- The text ---------------------------------------------------------------------------------------------------------


def literal(value: object, data_type: DataType | None = None) -> Part:
    """The literal of an argument."""
    match value:
        case None:
            return Text("None")
        case bool() | int() | float():
            return Text(number(value, data_type))
        case str():
            return Text(string(value))
        case Activation():
            return _activation(value)
        case ScaleBias(scale, bias):
            return call("ScaleBias", (Text(number(scale)), Text(number(bias))))
        case Size2D(width, height):
            return call("Size2D", (Keyword("width", Text(str(width))), Keyword("height", Text(str(height)))))
        case list() if all(isinstance(item, (int, float)) and not isinstance(item, bool) for item in value):
            return numbers(value)
        case list():
            return Group("[", tuple(literal(item) for item in value), "]")
    raise AssertionError(value)


def _activation(value: Activation) -> Part:
    name = value.type.removeprefix("ACTIVATION_")
    defaults = ACTIVATION_DEFAULTS.get(value.type, {})
    required = {key: item for key, item in value.attributes.items() if key not in defaults or defaults[key] is not item}
    if not required:
        return Text(string(name))
    attributes = [Keyword(_snake(key), literal(item)) for key, item in required.items()]
    return call("Activation", (Text(string(name)), *attributes))


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
