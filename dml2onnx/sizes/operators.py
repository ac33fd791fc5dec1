"""How sizes propagate through each operator: what its rules require, and which attributes follow.

The rules of ``rules`` are computed with variable sizes: constraints of the catalog make sizes of tensors equal,
formulas compute sizes, and what other rules compare has to be equal. Attributes stay, except those that cover a whole
dimension, which still cover it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.catalog import ConditionOp, Rule
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.rules.constraints import condition_test
from dml2onnx.rules.expressions import evaluator
from dml2onnx.rules.shapes import rules_by_constraint
from dml2onnx.rules.shapes.sizes import Whole
from dml2onnx.rules.subject import Subject, UnanswerableError
from dml2onnx.sizes.expressions import Expr, Notes, Size, SymbolKind, as_size
from dml2onnx.sizes.solver import Requirement, Solver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from dml2onnx.catalog import Constraint
    from dml2onnx.ir.graph import Node
    from dml2onnx.rules.shapes.rules import Formula
    from dml2onnx.rules.shapes.sizes import Term

Tensors = dict[str, list[list[Size]]]


class Flow:
    """The sizes of a node's tensors, of which those of inputs are known, and its attributes."""

    def __init__(self, node: Node, solver: Solver, inputs: Tensors) -> None:
        self.node = node
        self.operator = node.operator
        self.solver = solver
        self.tensors: Tensors = dict(inputs)
        self.attributes: dict[str, tuple[int, ...]] = {}
        for field in self.operator.schema.output_fields:
            descs = self.operator.tensors(field.name)
            if descs:
                self.tensors[field.name] = [self._unknown(field.name, desc) for desc in descs]

    def _unknown(self, name: str, desc: TensorDesc) -> list[Size]:
        label = f"{self.node.name}.{name}"
        return [self.solver.symbol(f"{label}[{i}]", size, SymbolKind.GENERATED) for i, size in enumerate(desc.sizes)]

    def place(self, words: str) -> Requirement:
        """Returns a place with this node and what it requires."""
        return Requirement(self.node.name, self.operator.type, self.node.source, words)

    def flow(self) -> None:
        """Applies all rules of the operator, and fixes sizes that nothing determines."""
        special = _SPECIAL.get(self.operator.type)
        if special is not None:
            special(self)
        for constraint in self.operator.schema.constraints:
            if constraint.until_level is None and self._holds(constraint):
                self._require(constraint)
        self._inherit_parts()
        generates = self.operator.type in GENERATORS
        for field in self.operator.schema.output_fields:
            for sizes in self.tensors.get(field.name, ()) if not generates else ():
                self._settle(sizes)
        for field in self.operator.schema.input_fields:
            for sizes in self.tensors.get(field.name, ()):
                self._settle(sizes, SymbolKind.REPEATED)

    def _settle(self, sizes: Iterable[Size], kind: SymbolKind = SymbolKind.GENERATED) -> None:
        """Fixes the sizes of this node that nothing else determines."""
        own = f"{self.node.name}."
        for size in sizes:
            expr = self.solver.resolved(size.expr)
            for symbol in expr.symbols():
                if symbol.kind is kind and (kind is SymbolKind.REPEATED or symbol.name.startswith(own)):
                    self.solver.bound[symbol] = Expr.of(symbol.old)

    def _inherit_parts(self) -> None:
        """Copies the parts of input sizes to equal output sizes."""
        known = {}
        for field in self.operator.schema.input_fields:
            for sizes in self.tensors.get(field.name, ()):
                for size in map(self.solver.size, sizes):
                    if size.parts:
                        known[size.expr] = size.parts
        for field in self.operator.schema.output_fields if known else ():
            for sizes in self.tensors.get(field.name, ()):
                for i, size in enumerate(sizes):
                    parts = known.get(self.solver.resolved(size.expr))
                    if parts and not size.parts:
                        sizes[i] = Size(self.solver.resolved(size.expr), parts)

    # --- The descriptor for the rules ---

    def subject(self, notes: Notes | None = None) -> Subject:
        """Returns the descriptor with variable sizes."""
        values = list(self.operator.values)
        index = self.operator.schema.index
        for name, tensors in self.tensors.items():
            descs = self.operator.tensors(name)
            made = tuple(self._desc(desc, sizes, notes) for desc, sizes in zip(descs, tensors, strict=True))
            values[index[name]] = made[0] if isinstance(self.operator.get(name), TensorDesc) else made
        for name, numbers in self.attributes.items():
            values[index[name]] = tuple(
                number.noting(notes) if isinstance(number, Size) else number for number in numbers
            )
        return Subject(OperatorDesc(self.operator.schema, tuple(values)))

    def _desc(self, desc: TensorDesc, sizes: Sequence[Size], notes: Notes | None) -> TensorDesc:
        return TensorDesc(desc.data_type, tuple(size.noting(notes) for size in map(self.solver.size, sizes)))

    def sizes(self, name: str, index: int = 0) -> list[Size]:
        """The sizes of a tensor; none if it is absent."""
        tensors = self.tensors.get(name, [])
        return tensors[index] if index < len(tensors) else []

    def is_single(self, size: Size) -> bool:
        """Whether a dimension has one element at all sizes."""
        symbol = self.solver.resolved(size.expr).symbol
        return int(size) == 1 and (
            self.solver.is_constant(size) or (symbol is not None and symbol.kind is SymbolKind.REPEATED)
        )

    # --- Rules of the catalog ---

    def _holds(self, constraint: Constraint) -> bool:
        if constraint.when is None:
            return True
        try:
            return condition_test(constraint.when)(Subject(self.operator))
        except UnanswerableError:
            return constraint.when.op is ConditionOp.NULL

    def _require(self, constraint: Constraint) -> None:
        place = self.place(_requirement(constraint))
        match constraint.rule:
            case Rule.SAME_SIZES:
                self._same(constraint.tensors, place)
            case Rule.BROADCASTABLE:
                self._broadcastable(constraint.tensors, constraint.to or "", place)
            case Rule.EQUAL:
                self._equal(constraint, place)
            case _:
                rule = rules_by_constraint().get(constraint.id)
                if rule is None or constraint.id.partition("/")[2] in REPLACED_RULES:
                    return
                for name, formula in rule.formulas.items():
                    if name in self.tensors:
                        self._formula(name, formula, place)
                if not rule.formulas or constraint.id.endswith("/shapes"):
                    self._compared(rule.check, place)

    def _same(self, names: Sequence[str], place: Requirement) -> None:
        present = [sizes for name in names for sizes in self.tensors.get(name, ())]
        for other in present[1:]:
            if len(other) != len(present[0]):
                continue
            for i, (left, right) in enumerate(zip(present[0], other, strict=True)):
                self.solver.equal(left, right, place)
                if not left.parts and right.parts:
                    present[0][i] = right

    def _broadcastable(self, names: Sequence[str], to: str, place: Requirement) -> None:
        full = self.sizes(to)
        for name in names:
            for sizes in self.tensors.get(name, ()):
                for own, whole in zip(sizes, full, strict=False):
                    if own > 1:
                        self.solver.equal(own, whole, place)

    def _equal(self, constraint: Constraint, place: Requirement) -> None:
        if constraint.left is None or constraint.right is None or "Sizes" not in str(constraint.right):
            return
        try:
            left, right = evaluator(constraint.left)(self.subject()), evaluator(constraint.right)(self.subject())
        except UnanswerableError:
            return
        if isinstance(left, int) and isinstance(right, int):
            self.solver.equal(left, right, place)

    def _formula(self, name: str, formula: Formula, place: Requirement) -> None:
        found = self.sizes(name)
        try:
            terms = formula.sizes(self.subject(), len(found))
            terms = list(terms.terms if isinstance(terms, Whole) else terms)
        except UnanswerableError:
            return
        if len(terms) != len(found):
            return
        for i, term in enumerate(terms):
            if isinstance(term, Diagnostic) or term.size is None:
                continue
            expected = _chosen(term, int(found[i]))
            if expected is not None:
                self.solver.equal(found[i], expected, place)
                if expected.parts and not found[i].parts:
                    found[i] = expected

    def _compared(self, check: Callable[[Subject], Iterable[Diagnostic]], place: Requirement) -> None:
        """Requires that sizes which a rule compares and finds equal are equal at all sizes, except 1."""
        notes: Notes = []
        try:
            for _ in check(self.subject(notes)):
                pass
        except UnanswerableError:
            return
        for left, right in notes:
            if not (left.expr.number == 1 or right.expr.number == 1):
                self.solver.equal(left, right, place)


_CONVOLUTIONS = ("CONVOLUTION", "CONVOLUTION_INTEGER", "QUANTIZED_LINEAR_CONVOLUTION")
_PRODUCTS = ("GEMM", "MATRIX_MULTIPLY_INTEGER", "MATRIX_MULTIPLY_INTEGER_TO_FLOAT", "QUANTIZED_LINEAR_MATRIX_MULTIPLY")
_RECURRENT = ("GRU", "LSTM", "RNN")


def _requirement(constraint: Constraint) -> str:
    """The requirement of a constraint in words."""
    names = ", ".join(constraint.tensors)
    by_members = {
        Rule.SAME_SIZES: f"{names} have the same sizes",
        Rule.BROADCASTABLE: f"each size of {names} is that of {constraint.to}, or 1",
        Rule.EQUAL: f"{constraint.left} = {constraint.right}",
    }
    return (constraint.statement or by_members.get(constraint.rule, "")).rstrip(".")


def kept_dimensions(operator: OperatorDesc, field: str, rank: int) -> frozenset[int]:
    """Returns the dimensions that an operator sums over, whose sizes of 1 are not repeated."""
    if operator.type in _PRODUCTS:
        return frozenset((rank - 2, rank - 1)) if field in ("ATensor", "BTensor") else frozenset()
    if operator.type in _CONVOLUTIONS:
        return frozenset(range(rank)) if field != "InputTensor" else frozenset((1,))
    if operator.type in _RECURRENT:
        return frozenset(range(rank))
    return frozenset()


def _chosen(term: Term, found: int) -> Size | None:
    """The result of a formula that matches the model: either of its sizes, or one with the model's difference."""
    for candidate in (term.size, term.low, term.high):
        if candidate is not None and int(candidate) == found and candidate:
            return as_size(candidate)
    size = as_size(term.size or 0)
    return None if term.high is not None and term.low == term.high and not term.accepted else size + (found - int(size))


GENERATORS = frozenset(
    {
        "FILL_VALUE_CONSTANT",
        "FILL_VALUE_SEQUENCE",
        "RANDOM_GENERATOR",
        "DIAGONAL_MATRIX",
        "DIAGONAL_MATRIX1",
        "TILE",
    }
)
"""Operators that make tensors of any size, which follow their readers."""

REPLACED_RULES = frozenset(
    {
        "window",
        "inside",
        "size-quantization",
        "activations",
        "block-divides",
        "stacked-layout",
        "leading-ones",
        "room-for-the-past",
        "tuple-length",
        "indices-strides",
        "scaled",
        "output-padding",
    }
)
"""Rules that require no equal sizes, or that a function below replaces."""


# --- Attributes and outputs without formulas --------------------------------------------------------------------------


def _slice(flow: Flow) -> None:
    """SLICE: a window over all elements still covers all; any other window keeps its position."""
    sizes, offsets = flow.sizes("InputTensor"), flow.operator.uints("Offsets")
    windows, steps = flow.operator.uints("Sizes"), flow.operator.uints("Strides")
    resized: list[int] = []
    for i, size in enumerate(sizes):
        if windows[i] == (int(size) - 1) // steps[i] + 1 and offsets[i] == 0:
            resized.append(as_size((size - 1) // steps[i]) + 1)
        else:
            _stays(flow, i, size, offsets[i], offsets[i] + (windows[i] - 1) * steps[i] + 1)
            resized.append(windows[i])
    flow.attributes["Sizes"] = tuple(resized)


def _slice1(flow: Flow, whole: str = "InputTensor") -> None:
    """SLICE1: a window over all elements still covers all; any other window keeps its position."""
    sizes, offsets = flow.sizes(whole), flow.operator.uints("InputWindowOffsets")
    windows = flow.operator.uints("InputWindowSizes")
    resized: list[int] = []
    for i, size in enumerate(sizes):
        if windows[i] == int(size):
            resized.append(size)
        else:
            _stays(flow, i, size, offsets[i], offsets[i] + windows[i])
            resized.append(windows[i])
    flow.attributes["InputWindowSizes"] = tuple(resized)


def _slice_gradient(flow: Flow) -> None:
    """SLICE_GRAD: as SLICE1; if the window covers the whole result, the result has the size of the gradient."""
    whole, part = flow.sizes("OutputGradientTensor"), flow.sizes("InputGradientTensor")
    steps, windows = flow.operator.uints("InputWindowStrides"), flow.operator.uints("InputWindowSizes")
    place = flow.place("the window is all of it")
    for i, (size, own) in enumerate(zip(whole, part, strict=True)):
        if windows[i] == int(size) and abs(steps[i]) == 1:
            flow.solver.equal(size, own, place)
        else:
            flow.solver.fix([size], place)
    _slice1(flow, "OutputGradientTensor")


def _stays(flow: Flow, i: int, size: Size, start: int, end: int) -> None:
    if start > 0 and end == int(size) and not flow.solver.is_constant(size):
        words = (
            f"its window has the elements from {start} on, and it is ambiguous whether they are counted from the front "
            f"or from the end of dimension {i}"
        )
        flow.solver.fix([size], flow.place(words))


def _split(flow: Flow) -> None:
    """SPLIT: equal parts stay equal, and a single part stays the whole."""
    sizes, axis = flow.sizes("InputTensor"), flow.operator.uint("Axis")
    parts = flow.tensors["OutputTensors"]
    whole = sizes[axis]
    place = flow.place(f"it makes {len(parts)} equal parts of dimension {axis}")
    if flow.solver.is_constant(whole) or len({int(part[axis]) for part in parts}) > 1:
        flow.solver.fix([whole], flow.place(f"it cuts dimension {axis} into parts of its own sizes"))
        return
    share = flow.solver.quotient(whole, len(parts), place)
    for part in parts:
        flow.solver.equal(part[axis], share, place)


def _join(flow: Flow) -> None:
    """JOIN: all parts have the same sizes except along the axis."""
    parts, axis = flow.tensors["InputTensors"], flow.operator.uint("Axis")
    place = flow.place(f"its parts have the same sizes except along axis {axis}")
    for part in parts[1:]:
        for i, (own, first) in enumerate(zip(part, parts[0], strict=True)):
            if i != axis:
                flow.solver.equal(own, first, place)


def _tile(flow: Flow) -> None:
    """TILE: repeats stay; a single element is repeated as often as its readers need."""
    sizes, repeats = flow.sizes("InputTensor"), flow.operator.uints("Repeats")
    both = zip(sizes, repeats, flow.sizes("OutputTensor"), strict=True)
    flow.attributes["Repeats"] = tuple(
        [out if repeat > 1 and flow.is_single(size) else repeat for size, repeat, out in both]
    )


def _top_k(flow: Flow) -> None:
    """TOP_K: if all elements are sorted, their number stays; so does any other number."""
    axis, size = flow.operator.uint("Axis"), flow.sizes("InputTensor")[flow.operator.uint("Axis")]
    if flow.operator.uint("K") == int(size) and not flow.solver.is_constant(size):
        place = flow.place(f"K is all of dimension {axis}")
        flow.solver.fix([size], place)


def _pooled(flow: Flow) -> None:
    """Pooling: a window over a whole dimension without padding still covers it; any other window stays."""
    sizes, windows = flow.sizes("InputTensor")[2:], flow.operator.uints("WindowSize")
    starts, ends = flow.operator.uints("StartPadding"), flow.operator.uints("EndPadding")
    count = len(windows)
    dilations = flow.operator.uints("Dilations") if flow.operator.has("Dilations") else (1,) * count
    resized: list[int] = []
    for i, size in enumerate(sizes):
        covers = windows[i] == int(size) and starts[i] == ends[i] == 0 and dilations[i] == 1
        resized.append(size if covers else windows[i])
    flow.attributes["WindowSize"] = tuple(resized)


def _resampled(flow: Flow) -> None:
    """RESAMPLE: the output is the scaled input."""
    scales = flow.operator.floats("Scales")
    place = flow.place("the output is the input scaled by Scales")
    for own, out, scale in zip(flow.sizes("InputTensor"), flow.sizes("OutputTensor"), scales, strict=True):
        flow.solver.equal(out, _scaled(flow, own, int(out), scale, place), place)


def _resampled_gradient(flow: Flow) -> None:
    """RESAMPLE_GRAD: the input is the scaled output."""
    scales = flow.operator.floats("Scales")
    place = flow.place("the input is the output scaled by Scales")
    sides = zip(flow.sizes("InputGradientTensor"), flow.sizes("OutputGradientTensor"), scales, strict=True)
    for own, out, scale in sides:
        inverse = 1 / scale if scale else 0.0
        flow.solver.equal(out, _scaled(flow, own, int(out), inverse, place), place)


def _scaled(flow: Flow, own: Size, out: int, scale: float, place: Requirement) -> Size:
    """The size times the ratio in the model if that matches the scale; else times the scale, rounded down."""
    ratio = Fraction(out, int(own))
    if abs(float(ratio) - scale) > 1e-6 * max(abs(scale), 1e-9):
        ratio = Fraction(float(np.float32(scale))).limit_denominator(1 << 12)
        product = as_size(own * ratio.numerator // ratio.denominator)
        return product + (out - int(product))
    return flow.solver.quotient(own, ratio.denominator, place) * ratio.numerator


def _blocks(flow: Flow) -> None:
    """QUANTIZE: blocks keep their size; so does one scale for each element, or for all."""
    sizes = flow.sizes("InputTensor")
    place = flow.place("QuantizationTensors have one element for each block of InputTensor")
    for tensor in flow.tensors.get("QuantizationTensors", ()):
        for own, size in zip(tensor, sizes, strict=False):
            if own > 1 and size % own == 0:
                flow.solver.equal(size, own * (int(size) // int(own)), place)


def _folded(flow: Flow) -> None:
    """FOLD: the image has the batch of the blocks; its height and width stay."""
    place = flow.place("the image has the batch of the blocks")
    flow.solver.equal(flow.sizes("OutputTensor")[0], flow.sizes("InputTensor")[0], place)


def _unpooled(flow: Flow) -> None:
    """MAX_UNPOOLING: batch and channels are those of the input; the image, whose elements indices count, stays."""
    place = flow.place("IndicesTensor counts the elements of the image")
    whole, part = flow.sizes("OutputTensor"), flow.sizes("InputTensor")
    flow.solver.fix([*part[1:], *whole[1:]], place)
    flow.solver.equal(whole[0], part[0], flow.place("the image has the batch of InputTensor"))


def _gathered_blocks(flow: Flow) -> None:
    """SPACE_TO_DEPTH: height and width are multiples of a block."""
    block = flow.operator.uint("BlockSize")
    for size in flow.sizes("InputTensor")[2:]:
        flow.solver.quotient(size, block, flow.place(f"it makes blocks of {block} by {block} elements"))


def _one_hot(flow: Flow) -> None:
    """ONE_HOT: the number of values along the axis stays."""
    axis = flow.operator.uint("Axis")
    flow.solver.fix([flow.sizes("OutputTensor")[axis]], flow.place("its depth is stated by the output alone"))


def _tuples(flow: Flow) -> None:
    """GATHER_ND: tuples of indices keep their length, which is the number of indexed dimensions."""
    flow.solver.fix(flow.sizes("IndicesTensor")[-1:], flow.place("the length of its index tuples stays"))


def _regions_gradient(flow: Flow) -> None:
    """ROI_ALIGN_GRAD: the sizes of the image stay, because only the output states them."""
    flow.solver.fix(flow.sizes("OutputGradientTensor"), flow.place("its sizes are stated by the output alone"))


def _pooled_average_gradient(flow: Flow) -> None:
    """AVERAGE_POOLING_GRAD: batch and channels follow; the image stays."""
    place = flow.place("the image has batch and channels of the gradient")
    for whole, part in zip(flow.sizes("OutputGradientTensor")[:2], flow.sizes("InputGradientTensor")[:2], strict=True):
        flow.solver.equal(whole, part, place)


_POOLING = (
    "AVERAGE_POOLING",
    "AVERAGE_POOLING1",
    "LP_POOLING",
    "LP_POOLING1",
    "MAX_POOLING",
    "MAX_POOLING1",
    "MAX_POOLING2",
    "QUANTIZED_LINEAR_AVERAGE_POOLING",
)

_SPECIAL: Mapping[str, Callable[[Flow], None]] = {
    "SLICE": _slice,
    "SLICE1": _slice1,
    "SLICE_GRAD": _slice_gradient,
    "SPLIT": _split,
    "JOIN": _join,
    "TILE": _tile,
    "TOP_K": _top_k,
    "TOP_K1": _top_k,
    **dict.fromkeys(_POOLING, _pooled),
    **dict.fromkeys(("RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3"), _resampled),
    **dict.fromkeys(("RESAMPLE_GRAD", "RESAMPLE_GRAD1"), _resampled_gradient),
    "SPACE_TO_DEPTH": _gathered_blocks,
    "SPACE_TO_DEPTH1": _gathered_blocks,
    "QUANTIZE": _blocks,
    "DEQUANTIZE": _blocks,
    "FOLD": _folded,
    "MAX_UNPOOLING": _unpooled,
    "ONE_HOT": _one_hot,
    **dict.fromkeys(("GATHER_ND", "GATHER_ND1", "SCATTER_ND"), _tuples),
    "ROI_ALIGN_GRAD": _regions_gradient,
    "AVERAGE_POOLING_GRAD": _pooled_average_gradient,
}


def statement(operator: str) -> str:
    """Returns what an operator requires besides its rules, as text; may be empty."""
    special = _SPECIAL.get(operator)
    text = (special.__doc__ or "").strip() if special is not None else ""
    return text.partition(": ")[2]
