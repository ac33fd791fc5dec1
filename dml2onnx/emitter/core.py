"""Constants, names and nodes: the base of all operator methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, wraps
from hashlib import blake2b
from math import prod
from types import MappingProxyType
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import numpy as np
import numpy.typing as npt

from dml2onnx import targets
from dml2onnx.diagnostics import InternalError
from dml2onnx.emitter.budget import Budget
from dml2onnx.emitter.constant_names import NAMES
from dml2onnx.emitter.tensor import Tensor, are_constant, derived_label, propagate_properties
from dml2onnx.onnx_model import (
    DOUBLE,
    ELEMENT_TYPES,
    FLOAT16,
    INT64,
    Array,
    DType,
    OnnxNode,
    OnnxValue,
    Origin,
)
from dml2onnx.onnx_model.records import Attribute
from dml2onnx.targets import Target, has_kernels, legal_type, own_type

__all__ = [
    "EmitterCore",
    "Keeps",
    "NoKernelError",
    "Traits",
    "legalised",
    "without_rules",
]

_DTYPES = {name: dtype for dtype, (_, name) in ELEMENT_TYPES.items()}

SHARED_CONSTANT_BYTES = 1 << 20
"""Constants up to this size are compared by content; larger ones are shared only if they are the same array."""

FOLDED_GROWTH_ELEMENTS = 1 << 20
"""Folding beyond this size never enlarges a constant: Expand is cheaper to run than to store. The budget limits the
total."""


_NO_ATTRIBUTES: Mapping[str, Attribute] = {}

_Self = TypeVar("_Self", bound="EmitterCore")
_Params = ParamSpec("_Params")
_Result = TypeVar("_Result")


def legalised(
    method: Callable[Concatenate[_Self, _Params], _Result],
) -> Callable[Concatenate[_Self, _Params], _Result]:
    """Lets rules of the target replace an operator, or answer a query: see ``legalise.rules``."""
    operator = method.__name__

    @wraps(method)
    def emit(self: _Self, *args: _Params.args, **kwargs: _Params.kwargs) -> _Result:
        for rule in self.rules.get(operator, ()):
            if rule not in self.applying:
                self.applying.append(rule)
                try:
                    result: _Result | None = rule(self, *args, **kwargs)
                finally:
                    self.applying.pop()
                if result is not None:
                    return result
        return method(self, *args, **kwargs)

    return cast("Callable[Concatenate[_Self, _Params], _Result]", emit)


def _query(name: str, default: bool) -> Callable[[EmitterCore], bool]:
    """A query about the target with a default answer, which a rule may override."""

    def method(self: EmitterCore) -> bool:
        return default

    method.__name__ = name
    return legalised(method)


def without_rules(operator: Callable[_Params, _Result], *args: _Params.args, **kwargs: _Params.kwargs) -> _Result:
    """Calls an operator method of an emitter without applying rules."""
    bound: Any = operator
    result: _Result = bound.__func__.__wrapped__(bound.__self__, *args, **kwargs)
    return result


class NoKernelError(InternalError):
    """The provider has no type in which to run a node exactly; lowering should have chosen another form."""


class Keeps(Enum):
    """The types in which a node may run if there is no kernel for its own type."""

    VALUE = "value"
    """A wider type: the node computes or compares."""
    BITS = "bits"
    """Also the other integer type of the same width: the node only moves elements."""
    LOW_BITS = "low bits"
    """Any integer type at least as wide: the node computes modulo 2**bits."""

    # Enum's own __hash__ goes through Python; members are singletons, so identity serves and is fast.
    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class Traits:
    """Which inputs, and whether the output, have the element type that selects the kernel."""

    variable: str = "T"
    inputs: tuple[int, ...] | None = None
    """Indices; ``None`` means all."""
    output: bool = True
    keeps: Keeps = Keeps.VALUE


class EmitterCore:
    """Nodes and initializers of an ONNX graph under construction.

    ``target`` defines the opset and the kernel table for legalizing types. ``ports`` are the names of graph inputs and
    outputs, ``weights`` names reserved for labeled constants. ``rules`` may replace each operator:
    :func:`dml2onnx.legalise.emitter` provides those of a target.
    """

    def __init__(
        self,
        target: Target | None = None,
        ports: frozenset[str] = frozenset(),
        weights: frozenset[str] = frozenset(),
        budget: Budget | None = None,
        rules: Mapping[str, Sequence[Callable[..., Any]]] = MappingProxyType({}),
    ) -> None:
        self.rules = rules
        self.applying: list[Callable[..., Any]] = []
        """The active rules, which do not apply to the nodes that they emit."""
        self.target: Target = target or targets.target(targets.EXACT_TARGET)
        self.exact = self.target.exact
        """Whether NaN, infinities, signs of zero and last digits match the reference."""
        self.origins: list[Origin] = []
        self.operators: set[str] = set()
        """The ONNX operators of all nodes, including bodies."""
        self.emitted: list[OnnxNode] = []
        """The nodes of the current DirectML node, or of a body in it."""
        self.initializers: dict[str, Array] = {}
        self.notes: list[str] = []
        self.later_opset: int | None = None
        self.budget = budget or Budget()
        self._names = {*ports, *weights}
        self._weights = weights
        self._prefix = ""
        self._prefixes: set[str] = set()
        self._roles: dict[str, int] = {}
        self._begun = ("", "")
        self._shared: dict[object, OnnxValue] = {}
        self._vectors: dict[tuple[int, ...], Tensor] = {}
        self._reshaped: dict[tuple[Tensor, tuple[int, ...]], Tensor] = {}
        self._legal: dict[tuple[str, DType, Keeps], DType | None] = {}
        self._instead: dict[tuple[str, DType, tuple[str, ...]], bool] = {}

    @property
    def opset(self) -> int:
        """The opset of the model."""
        return self.target.opset

    # --- scope -------------------------------------------------------------------------------------------------------

    def begin(self, name: str, operator: str) -> None:
        """Attributes everything emitted from here on to the DirectML node ``name``."""
        self._prefix, count = name, 1
        while self._prefix in self._prefixes:  # only checked graphs have unique node names
            count += 1
            self._prefix = f"{name}_{count}"
        self._prefixes.add(self._prefix)
        self._roles = {}
        self.notes = []
        self.emitted = []
        self._begun = (name, operator)
        self.budget.begin(name, operator)

    def end(self) -> Origin:
        """Returns the nodes emitted since :meth:`begin`."""
        notes = tuple(dict.fromkeys(self.notes)) if self.notes else ()
        origin = Origin(*self._begun, self.emitted, notes)
        self.origins.append(origin)
        return origin

    def note(self, text: str) -> None:
        """Records why a form was chosen, for ``dml2onnx explain``."""
        self.notes.append(text)

    def suggest_opset(self, opset: int, op: str) -> None:
        """Notes that a later opset has a single operator for these nodes, if the target has a kernel for it."""
        if self.opset < opset and opset in self.target.opsets and self.target.at(opset).has_kernel(op, {}):
            self.note(f"opset {opset} has {op} for it")
            self.later_opset = max(opset, self.later_opset or 0)

    def fresh(self, name: str) -> str:
        """Reserves ``name`` or, if it is in use, the next free one."""
        names, candidate, count = self._names, name, 1
        while candidate in names:
            count += 1
            candidate = f"{name}_{count}"
        names.add(candidate)
        return candidate

    def _name(self, role: str) -> str:
        count = self._roles.get(role, 0) + 1
        self._roles[role] = count
        name = f"{self._prefix}/{role}" if count == 1 else f"{self._prefix}/{role}_{count}"
        names = self._names
        if name in names:
            return self.fresh(name)
        names.add(name)
        return name

    # --- constants ---------------------------------------------------------------------------------------------------

    def constant(self, value: npt.ArrayLike, dtype: npt.DTypeLike | None = None, label: str = "") -> Tensor:
        """Returns a constant; it becomes an initializer when a node uses it."""
        array = np.asarray(value, dtype)
        return Tensor("", array.dtype, array.shape, value=array, label=label)

    def arange(self, count: int, dtype: DType) -> Tensor:
        """Returns the constant 0, 1, .. below ``count``, after checking the budget."""
        self.budget.require(count)
        return self.constant(np.arange(count), dtype)

    def ints(self, values: Sequence[int]) -> Tensor:
        """Returns a constant INT64 vector such as a shape, axes or pads; cached, since few are used often."""
        key = tuple(values)
        found = self._vectors.get(key)
        if found is None:
            found = self._vectors[key] = self.constant(np.asarray(key, np.int64).reshape(-1))
        return found

    def initializer(self, tensor: Tensor, op: str = "", index: int = 0) -> OnnxValue:
        """Returns the initializer of a constant, shared by equal constants; input ``index`` of ``op`` names it."""
        if tensor.stored is not None:
            return tensor.stored
        value = tensor.constant
        where: object
        if value.nbytes <= SHARED_CONSTANT_BYTES:
            content = np.ascontiguousarray(value).tobytes()
            where = content if len(content) <= 64 else blake2b(content).digest()
        else:
            where = value.__array_interface__["data"], value.strides
        key = (tensor.reader, value.dtype, value.shape, where)
        stored = self._shared.get(key)
        if stored is None:
            if tensor.label in self._weights and tensor.label not in self.initializers:
                name = tensor.label
            else:
                usual = "".join(NAMES.get(op, ())[index : index + 1])
                name = self._name(tensor.label.rpartition("/")[2] or usual or "const")
            self.budget.store(value.nbytes)
            stored = self._shared[key] = OnnxValue(name, value.dtype, value.shape)
            self.initializers[name] = value
        tensor.stored = stored
        stored.dequantized = stored.dequantized or tensor.dequantized
        return stored

    # --- nodes -------------------------------------------------------------------------------------------------------

    # Queries before a node is emitted: rules of quirks override the answers.

    @legalised
    def compute_type(self, dtype: DType) -> DType:
        """The type in which to compute floating-point arithmetic on a type."""
        return dtype

    @legalised
    def precise_type(self) -> DType:
        """The type for computations that need more precision than FLOAT."""
        return DOUBLE

    keeps_subnormals = _query("keeps_subnormals", False)
    """Whether subnormal FLOAT numbers are kept, which Direct3D flushes to 0."""

    keeps_bits_of_floats = _query("keeps_bits_of_floats", True)
    """Whether FLOAT keeps all of its bits."""

    # Edge cases that default models leave open: the rules of exact models follow DirectML.

    @legalised
    def unless_nan(self, x: Tensor, y: Tensor, instead: Tensor | float) -> Tensor:
        """``instead`` where ``x`` is NaN, else ``y``: DirectML's max and min return the other operand [decision G1]."""
        return y

    @legalised
    def from_lowest(self, x: Tensor, most: float | None = None) -> Tensor:
        """``x`` clamped to the lowest finite number and, optionally, ``most``; NaN becomes the lowest number."""
        return x

    @legalised
    def to_integers(self, x: Tensor, dtype: DType) -> Tensor:
        """Truncates floats toward zero; results outside of the type are undefined in ONNX."""
        return self.Cast(x, dtype)

    @legalised
    def of_existing(self, x: Tensor, indices: Tensor, count: int) -> Tensor:
        """``x``, but 0 along its first axis where an unsigned index is not below ``count``."""
        return x

    rounds_pairs = _query("rounds_pairs", False)
    """Whether the different rounding of kernels that fuse quantization matters."""

    def writes_pairs(self) -> bool:
        """Whether quantized products are written in QDQ format."""
        return self.target.quant_format == targets.QDQ

    @legalised
    def dequantizes(self, x: Tensor, *, known: bool = False) -> bool:
        """Whether DequantizeLinear may dequantize a tensor; ``known``: with constant parameters."""
        return True

    @legalised
    def multiplies_quantised(self, op: str, dtypes: tuple[DType, DType, DType], *, known: bool) -> bool:
        """Whether QLinearConv or QLinearMatMul supports these types; ``known``: with constant scales."""
        return True

    @legalised
    def stores_nibbles(self, dtype: DType) -> bool:
        """Whether 4-bit integers may be initializers."""
        return True

    takes_units = _query("takes_units", False)
    """Whether the target needs to track graph inputs and results of QuantizeLinear."""

    @legalised
    def multiplies_signed(self, x: Tensor, w: Tensor) -> bool:
        """Whether an INT8 factor ``w`` of 8-bit integers stays INT8."""
        return True

    quantizes_last_axis_only = _query("quantizes_last_axis_only", False)
    """Whether vectors of scales apply along the last axis, whatever ``axis`` is."""

    casts_saturate = _query("casts_saturate", False)
    """Whether a Cast to a narrow integer saturates."""

    sums_of_bytes_saturate = _query("sums_of_bytes_saturate", False)
    """Whether Add, Sub and Mul of 8-bit integers saturate."""

    @legalised
    def quantizes_along(self, shape: tuple[int, ...], axis: int) -> bool:
        """Whether kernels for a vector of scales along an axis exist and are fast."""
        return True

    def supports(self, op: str, dtype: DType, variable: str = "T") -> bool:
        """Whether :meth:`legal` has a type in which ``op`` runs exactly on this type."""
        return legal_type(self.target, op, variable, ELEMENT_TYPES[dtype][1]) is not None

    def has_kernel(self, op: str, dtype: DType, *variables: str) -> bool:
        """Whether the provider runs ``op`` on this type without casts, with all type ``variables`` set to it."""
        return self.target.has_kernel(op, dict.fromkeys(variables or ("T",), ELEMENT_TYPES[dtype][1]))

    def runs_like(self, op: str, other: str, dtype: DType) -> bool:
        """Whether the target runs ``other`` in the same type as ``op``."""
        name = ELEMENT_TYPES[dtype][1]
        own = own_type(self.target, op, "T", name)
        return own is None or own_type(self.target, other, "T", name) == own

    def takes_instead(self, op: str, dtype: DType, *others: str, variable: str = "T") -> bool:
        """Whether the target has no kernel for ``op`` on this type, but one for each of the ``others``.

        The CPU provider must have these too, since a session may place the nodes there, next to their neighbors.
        """
        key = (op, dtype, others)
        if key not in self._instead:
            name = ELEMENT_TYPES[dtype][1]
            self._instead[key] = own_type(self.target, op, variable, name) is None and all(
                has_kernels(self.target, other, {"T": name}) for other in others
            )
        return self._instead[key]

    def legal(self, op: str, traits: Traits, dtype: DType) -> DType:
        """Returns the type in which ``op`` runs exactly; raises :class:`NoKernelError` if there is none."""
        key = (op, dtype, traits.keeps)
        if key not in self._legal:
            name = legal_type(
                self.target,
                op,
                traits.variable,
                ELEMENT_TYPES[dtype][1],
                traits.keeps is Keeps.BITS,
                modular=traits.keeps is Keeps.LOW_BITS and dtype.kind in "iu",
                bytes_wrap=not self.sums_of_bytes_saturate(),
            )
            self._legal[key] = None if name is None else _DTYPES[name]
        legal = self._legal[key]
        if legal is None:
            raise NoKernelError(
                op, f"no exact form of {op} for {dtype} (target {self.target.name}, opset {self.opset})"
            )
        return legal

    def emit(
        self,
        op: str,
        traits: Traits,
        inputs: Sequence[Tensor | None],
        dtype: DType,
        shape: tuple[int, ...],
        attributes: Mapping[str, Attribute] | None = None,
        fold: Callable[..., Array] | None = None,
    ) -> Tensor:
        """Emits a node with one output of ``dtype`` and ``shape``, or folds it if all inputs are constants.

        ``fold`` takes the values of the present inputs.
        """
        if fold is not None and are_constant(inputs):
            size = max(FOLDED_GROWTH_ELEMENTS, *(item.size for item in inputs if item is not None))
            if prod(shape) <= size and self.budget.affords(prod(shape) * dtype.itemsize):
                with np.errstate(all="ignore"):
                    value = fold(*(item.constant for item in inputs if item is not None))
                self._spend(value, inputs)
                assert value.shape == shape, f"folding {op} gave {value.shape} for {shape}"
                return self.constant(value.astype(dtype, copy=False), label=derived_label(inputs))
        bound = range(len(inputs)) if traits.inputs is None else traits.inputs
        leading = inputs[bound[0]]
        assert leading is not None
        legal = self.legal(op, traits, leading.dtype)
        if legal is leading.dtype:
            return self.nodes(op, inputs, [(dtype, shape)], attributes)[0]
        self.note(f"{op} runs in {legal}: it has no exact kernel for {leading.dtype} (target {self.target.name})")
        wide = [self.Cast(item, legal) if item is not None and i in bound else item for i, item in enumerate(inputs)]
        result = self.nodes(op, wide, [(legal if traits.output else dtype, shape)], attributes)[0]
        return self.Cast(result, dtype)

    def _spend(self, value: Array, inputs: Sequence[Tensor | None]) -> None:
        """Spends the bytes of a folded constant, unless it is a view of an input that is no smaller."""
        for item in inputs:
            if item is not None and item.size >= value.size and np.may_share_memory(value, item.constant):
                return
        self.budget.spend(value.nbytes)

    def nodes(
        self,
        op: str,
        inputs: Sequence[Tensor | None],
        outputs: Sequence[tuple[DType, tuple[int, ...]] | None],
        attributes: Mapping[str, Attribute] | None = None,
    ) -> list[Tensor]:
        """Emits a node without folding and legalization. An output of ``None`` has no name and no tensor."""
        operands = [
            item if item is None or item.value is None else item.stored or self.initializer(item, op, index)
            for index, item in enumerate(inputs)
        ]
        self.budget.count_node(len(self.emitted))
        self.operators.add(op)
        name = self._name(op)
        if len(outputs) == 1 and outputs[0] is not None:  # fast path for nearly all nodes
            tensors = [Tensor(name, *outputs[0])]
            results: Sequence[Tensor | None] = tensors
        else:
            results = [
                None if item is None else Tensor(f"{name}:{index}" if index else name, *item)
                for index, item in enumerate(outputs)
            ]
            tensors = [item for item in results if item is not None]
        self.emitted.append(OnnxNode(name, op, tuple(operands), tuple(results), attributes or _NO_ATTRIBUTES))
        propagate_properties(op, inputs, tensors)
        return tensors

    @legalised
    def Cast(self, x: Tensor, dtype: DType) -> Tensor:
        """Casts to another element type; integers keep their low bits.

        Constants are folded by numpy, which matches Cast for values in range. Large ones are not widened here but by
        the runtime, when it loads the model.
        """
        if x.dtype == dtype:
            return x
        grows = x.size > FOLDED_GROWTH_ELEMENTS and dtype.itemsize > x.dtype.itemsize
        if x.value is not None and not grows and self.budget.affords(x.size * dtype.itemsize):
            with np.errstate(all="ignore"):
                value = x.value.astype(dtype)
            self._spend(value, [x])
            return self.constant(value, label=derived_label([x]))
        reason = _reason_of_cast(x.dtype, dtype)
        if reason and self._begun[1] != "CAST":
            self.note(reason)
        if dtype == FLOAT16 and x.dtype == DOUBLE:
            return self.halved(x)
        result = self.nodes("Cast", [x], [(dtype, x.shape)], {"to": ELEMENT_TYPES[dtype][0]})[0]
        result.cast_from = x.dtype
        if x.below is not None and dtype.kind in "iu" and x.below <= 1 << (8 * dtype.itemsize - 1):
            result.below = x.below
        return result

    @legalised
    def halved(self, x: Tensor) -> Tensor:
        """Casts DOUBLE to FLOAT16; separate from :meth:`Cast` so that a rule can replace just this one."""
        return self.nodes("Cast", [x], [(FLOAT16, x.shape)], {"to": ELEMENT_TYPES[FLOAT16][0]})[0]

    @legalised
    def BitCast(self, x: Tensor, dtype: DType) -> Tensor:
        """Reinterprets bits as another element type of the same width; opset 26."""
        return self.nodes("BitCast", [x], [(dtype, x.shape)], {"to": ELEMENT_TYPES[dtype][0]})[0]


@cache
def _reason_of_cast(source: DType, target: DType) -> str:
    """The reason for a Cast that is only due to different types in ONNX and DirectML."""
    if "b" in (source.kind, target.kind):
        return "truth values are BOOL in ONNX and numbers in DirectML"
    if source.kind in "iu" and target == INT64:
        return "ONNX expects counts and indices in INT64"
    if source == INT64 and target.kind in "iu":
        return "ONNX returns counts and indices in INT64"
    if source.kind in "iu":
        return "ONNX expects another integer type" if target.kind in "iu" else "an integer among floating-point numbers"
    return ""
