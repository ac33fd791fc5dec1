"""The shortest call of a builder's method that records a descriptor.

Calls are not guessed: each is tried on a builder, first with all arguments, then without those that change nothing.
"""

from __future__ import annotations

import inspect
import re
from contextlib import ExitStack, contextmanager, suppress
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
from dml2onnx.ir.operator import OperatorDesc, Scalar, ScaleBias, Size2D
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.source_code.text import Group, Keyword, Part, Text, call, number, numbers, string
from dml2onnx.source_code.trial import Trial, same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from dml2onnx.ir.graph import Node, Value

_MISSING = object()
REFUSALS = (DmlError, TypeError, ValueError)
"""What a builder raises for a call that it does not take."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """An argument that is a tensor of the node, or a list of them."""

    field: str
    is_array: bool


@dataclass(frozen=True, slots=True)
class MethodCall:
    """A method, and the value of each argument that has to be given."""

    method: str
    arguments: tuple[tuple[str, object], ...]
    """By the names of the arguments, in their order: :class:`Tensor`, or a value of Python."""
    results: tuple[str, ...]
    """Members of what it returns, where it returns several outputs."""


class Calls:
    """The calls for the descriptors of a graph, each found once."""

    def __init__(self, trial: Trial, value: Value) -> None:
        self._trial = trial
        self._value = value
        self._known: dict[OperatorDesc, MethodCall] = {}
        self._returned: object = None

    def of(self, node: Node) -> MethodCall:
        """The call for a node; :class:`DmlError` where no call records it."""
        desc = node.operator
        known = self._known.get(desc)
        if known is None:
            known = self._known[desc] = self._found(node)
        return known

    def _found(self, node: Node) -> MethodCall:
        desc = node.operator
        exact = CALLS[desc.type]
        supplied = _arguments(desc)
        plain = re.sub(r"\d$", "", exact.method)
        names = dict.fromkeys(name for name in (plain, exact.method) if hasattr(GraphBuilder, name))
        reason: Exception | None = None
        for method in names:
            arguments = _for_method(method, desc, supplied)
            if arguments is None:
                continue
            try:
                if self._records(method, arguments, desc):
                    kept = tuple(self._shortened(method, arguments, desc).items())
                    return MethodCall(method, kept, getattr(self._returned, "_fields", ()))
            except REFUSALS as error:
                reason = error
        if isinstance(reason, DmlError):
            raise DmlError(*reason.diagnostics)
        message = f"no call of the builder records {desc.type} with these fields"
        raise DmlError(NOT_EXPRESSIBLE.at(message, node=node.name, operator=desc.type, pointer=node.source))

    def _shortened(self, method: str, arguments: Mapping[str, object], desc: OperatorDesc) -> dict[str, object]:
        """The arguments without those that change nothing, and with one number where it stands for a list."""
        kept = dict(arguments)
        parameters = _parameters(method)
        for name, value in arguments.items():
            if parameters[name].default is not inspect.Parameter.empty and self._will_do(
                method, {key: item for key, item in kept.items() if key != name}, desc
            ):
                del kept[name]
                continue
            field = next((key for key, item in CALLS[desc.type].fields.items() if item == name), "")
            if field in spatial(desc.schema) and isinstance(value, list) and len(set(value)) == 1:
                shorter = {**kept, name: value[0]}
                if self._will_do(method, shorter, desc):
                    kept = shorter
        return kept

    def _will_do(self, method: str, arguments: Mapping[str, object], desc: OperatorDesc) -> bool:
        with suppress(*REFUSALS):
            return self._records(method, arguments, desc)
        return False

    def _records(self, method: str, arguments: Mapping[str, object], desc: OperatorDesc) -> bool:
        supplied = {name: self._python(value, desc) for name, value in arguments.items()}
        return self._made(partial(getattr(self._trial, method), **supplied), desc)

    def records(self, make: Callable[[], object], desc: OperatorDesc) -> bool:
        """Whether a call, of expressions and literals, records the descriptor."""
        with suppress(*REFUSALS):
            return self._made(make, desc)
        return False

    def _made(self, make: Callable[[], object], desc: OperatorDesc) -> bool:
        with self.laid_out(desc):
            nodes, self._returned = self._trial.attempt(make)
        return len(nodes) == 1 and same(nodes[0].operator, desc)

    @contextmanager
    def laid_out(self, desc: OperatorDesc) -> Iterator[None]:
        """The builder with the layouts that the outputs of a descriptor have."""
        with ExitStack() as stack:
            for field, index, layout in layouts(desc, self._trial):
                stack.enter_context(self._trial.output_layout(field=field, index=index, **layout))
            yield

    @staticmethod
    def parameters(method: str) -> Mapping[str, inspect.Parameter]:
        """The arguments of a method, but for the name of the node."""
        return _parameters(method)

    def _python(self, value: object, desc: OperatorDesc) -> object:
        if not isinstance(value, Tensor):
            return value
        made = [self._trial.of(self._value, item) for item in desc.tensors(value.field)]
        return made if value.is_array else next(iter(made), None)


def layouts(desc: OperatorDesc, trial: Trial) -> list[tuple[str, int, dict[str, Any]]]:
    """What has to be said of outputs that do not lie as the policy of the builder lays them."""
    found = []
    for item in desc.schema.output_fields:
        for index, tensor in enumerate(desc.tensors(item.name)):
            usual = TensorDesc(tensor.data_type, tensor.sizes, _steps(trial, tensor))
            stated: dict[str, Any] = {}
            if usual.strides != tensor.strides:
                stated["strides"] = list(tensor.effective_strides)
            for name in ("owned_by_dml", "total_size", "alignment"):
                if getattr(tensor, name):
                    stated[name] = getattr(tensor, name)
            if stated:
                found.append((item.name, index, stated))
    return found


def _steps(trial: Trial, tensor: TensorDesc) -> tuple[int, ...] | None:
    steps = trial.policy(tensor.data_type, tensor.sizes)
    return None if steps is None else tuple(steps)


@cache
def _parameters(method: str) -> Mapping[str, inspect.Parameter]:
    found = dict(inspect.signature(getattr(GraphBuilder, method)).parameters)
    del found["self"], found["name"]
    return found


def _arguments(desc: OperatorDesc) -> dict[str, object]:
    """What the exact method of an operator takes for a descriptor."""
    exact, schema = CALLS[desc.type], desc.schema
    supplied: dict[str, object] = {}
    for field, name in exact.fields.items():
        kind = schema.fields_by_name[field].type
        if kind in (FieldType.TENSOR, FieldType.TENSOR_ARRAY):
            there = desc.get(field) is not None
            supplied[name] = Tensor(field, kind is FieldType.TENSOR_ARRAY) if there else None
        else:
            supplied[name] = _plain(desc.get(field))
    for field, (sizes, data_type, wanted) in exact.outputs.items():
        tensors = desc.tensors(field)
        is_array = schema.fields_by_name[field].type is FieldType.TENSOR_ARRAY
        if sizes:
            shapes = [list(item.sizes) for item in tensors]
            supplied[sizes] = shapes if is_array else next(iter(shapes), None)
        if data_type:
            supplied[data_type] = next((item.data_type.name for item in tensors), None)
        if wanted:
            supplied[wanted] = bool(tensors)
    return supplied


def _plain(value: object) -> object:
    """A field's value as it is given to a method."""
    match value:
        case tuple():
            return [_plain(item) for item in value]
        case Scalar():
            return value.value
        case OperatorDesc():
            attributes = {field.name: _plain(item) for field, item in value.items() if not field.is_tensor}
            defaults = ACTIVATION_DEFAULTS.get(value.type, {})
            needed = {name: item for name, item in attributes.items() if not _is_default(defaults.get(name), item)}
            return Activation(value.type, **needed)
    return value


def _is_default(default: object, value: object) -> bool:
    import numpy as np

    if not isinstance(default, float) or not isinstance(value, float):
        return value is None
    return float(np.float32(default)) == value


def _for_method(method: str, desc: OperatorDesc, supplied: Mapping[str, object]) -> dict[str, object] | None:
    """The same for another method of the operator, which may choose among its versions; ``None`` if it cannot."""
    found: dict[str, object] = {}
    for name, parameter in _parameters(method).items():
        value = supplied[name] if name in supplied else _derived(name, desc, supplied)
        if value is _MISSING:
            if parameter.default is inspect.Parameter.empty:
                return None
            continue
        found[name] = value
    return found


def _derived(name: str, desc: OperatorDesc, supplied: Mapping[str, object]) -> object:
    """An argument that only the method with the plain name has."""
    outputs = [item for field in desc.schema.output_fields for item in desc.tensors(field.name)]
    axis = supplied.get("axis")
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
            return supplied.get("use_mean", True)
        case "normalize_variance":
            return supplied.get("use_variance", _MISSING)
        case "input" | "exponent" if desc.type in ("ELEMENT_WISE_CONSTANT_POW", "ELEMENT_WISE_POW"):
            return supplied.get(name, _MISSING)
    return _MISSING


# --- The text ---------------------------------------------------------------------------------------------------------


def literal(value: object, data_type: DataType | None = None) -> Part:
    """A value of Python as it is written."""
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
    supplied = {key: item for key, item in value.attributes.items() if key not in defaults or defaults[key] is not item}
    if not supplied:
        return Text(string(name))
    return call(
        "Activation", (Text(string(name)), *(Keyword(_snake(key), literal(item)) for key, item in supplied.items()))
    )


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
