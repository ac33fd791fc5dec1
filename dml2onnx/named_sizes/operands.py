"""Inputs of nodes that contain sizes: Reshape's 0 and -1, inferred sizes, or computed numbers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import numpy as np

from dml2onnx.named_sizes.numbers import Numbers
from dml2onnx.onnx_model import INT64, Array, NamedSize, OnnxNode, OnnxValue, Origin
from dml2onnx.sizes.expressions import Expr, Floor, Symbol
from dml2onnx.sizes.named import refused

BROADCASTING = frozenset(
    {
        *("Add", "Div", "Max", "Mean", "Min", "Mod", "Mul", "PRelu", "Pow", "Sub", "Sum"),
        *("And", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Or", "Xor", "Where"),
        *("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "MatMul"),
    }
)
"""Operators that broadcast dimensions of one element."""


class Operand(NamedTuple):
    """An input, and the nodes that compute it."""

    value: OnnxValue | None
    nodes: list[OnnxNode]


class SizedOperands:
    """Creates inputs that depend on sizes."""

    def __init__(self, numbers: Numbers, initializers: dict[str, Array], names: set[str]) -> None:
        self.numbers = numbers
        self.initializers = initializers
        self.names = names | set(initializers)
        self._runs: dict[tuple[int | Expr | None, ...], tuple[OnnxValue, int]] = {}
        """The value and the first dimension from which consecutive sizes, one or several, can be read."""
        self._values: dict[object, OnnxValue] = {}
        self._new: list[OnnxNode] = []
        self._owner = ""

    # --- Known values ---

    def add(self, value: OnnxValue) -> None:
        """Makes the sizes of a value available to later nodes."""
        dims = self.dims(value)
        if dims in self._runs:
            return
        for start, end in combinations(range(len(dims) + 1), 2):
            run = dims[start:end]
            if None not in run and any(isinstance(size, Expr) for size in run):
                self._runs.setdefault(run, (value, start))

    def _expr_of(self, size: int) -> int | Expr | None:
        if isinstance(size, NamedSize):
            return self.numbers.by_text.get(size.text)
        return size if type(size) is int else None

    def dims(self, value: OnnxValue | None) -> tuple[int | Expr | None, ...]:
        """The sizes of a value as expressions; ``None`` for unknown ones."""
        return () if value is None else tuple(map(self._expr_of, value.shape))

    # --- Inputs ---

    def operand(
        self, node: OnnxNode, position: int, arrays: Sequence[Array], inputs: Sequence[OnnxValue | None], origin: Origin
    ) -> Operand:
        """Returns the input at a position, whose contents at the points are ``arrays``."""
        self._new, self._owner = [], node.name
        data = inputs[0] if inputs else None
        value = self._shrunk(node, position, arrays)
        if value is None:
            entries = self._entries(node, position, arrays)
            if entries is None:
                what = f"the constant that {node.op_type} reads differs between sizes"
                raise refused(what, origin.node, origin.operator)
            value = self._of_entries(node, position, entries, arrays[0], data)
        return Operand(value, self._new)

    def _entries(self, node: OnnxNode, position: int, arrays: Sequence[Array]) -> list[int | Expr] | None:
        """A list of integers as expressions, with -1 for one unknown size of a Reshape."""
        first = arrays[0]
        if first.dtype.kind not in "iu" or first.ndim > 1 or any(array.shape != first.shape for array in arrays):
            return None
        entries: list[int | Expr] = []
        for numbers in zip(*(array.reshape(-1).tolist() for array in arrays), strict=True):
            found = self.numbers.of(numbers)
            if found is None and (node.op_type, position) == ("Reshape", 1) and -1 not in entries:
                found = -1
            if found is None:
                return None
            entries.append(found)
        return entries

    def _of_entries(
        self, node: OnnxNode, position: int, entries: list[int | Expr], like: Array, data: OnnxValue | None
    ) -> OnnxValue | None:
        known = self.dims(data)
        if node.op_type == "Reshape" and position == 1:
            short = _reshaped(entries, known)
            if any(isinstance(entry, Expr) for entry in short) and self._is_run(entries):
                return self._row(entries, like)
            entries = short
        elif node.op_type == "Expand" and position == 1:
            entries = _expanded(entries, known)
        elif node.op_type == "Resize" and position == 3 and data is not None and self._can_read(data):
            pairs = [(entry, size) for entry, size in zip(entries, known, strict=True) if size is not None]
            factors = [factor for pair in pairs if (factor := self.numbers.ratio(*pair)) is not None]
            if len(factors) == len(entries):
                return self._resized(data, factors)
        return self._row(entries, like)

    def _can_read(self, value: OnnxValue) -> bool:
        """Whether all sizes of a value are known, and it is not a constant."""
        return None not in self.dims(value) and value.name not in self.initializers

    def _is_run(self, entries: list[int | Expr]) -> bool:
        """Whether a value has all these sizes."""
        resolve = self.numbers.graph.traced.solver.resolved
        return tuple(resolve(size) if isinstance(size, Expr) else size for size in entries) in self._runs

    def _resized(self, data: OnnxValue, factors: list[Fraction]) -> OnnxValue:
        """The inputs of a Resize: factors if all are exact in float32, otherwise sizes times factors."""
        if all(Fraction(float(np.float32(float(factor)))) == factor for factor in factors):
            return self._constant(np.array([float(factor) for factor in factors], np.float32))
        sizes = [size for size in self.dims(data) if size is not None]
        row = self._emit("Shape", (data,), sizes)
        for op_type, numbers in (
            ("Div", [factor.denominator for factor in factors]),
            ("Mul", [factor.numerator for factor in factors]),
        ):
            if any(number != 1 for number in numbers):
                both = zip(sizes, numbers, strict=True)
                sizes = [
                    (Expr.of(size).divided(number) if op_type == "Div" else Expr.of(size).scaled(number))
                    for size, number in both
                ]
                row = self._emit(op_type, (row, self._constant(np.array(numbers, np.int64))), sizes)
        return row

    def without_sizes(self, inputs: list[OnnxValue | None]) -> list[OnnxValue | None]:
        """The inputs of a Resize with factors as the third one and without sizes."""
        if len(inputs) == 4 and inputs[3] is not None and inputs[3].dtype == np.float32:
            return [inputs[0], inputs[1], inputs[3]]
        return inputs

    def _shrunk(self, node: OnnxNode, position: int, arrays: Sequence[Array]) -> OnnxValue | None:
        """A constant that is repeated to several sizes, reduced to one element if the node broadcasts it."""
        first = arrays[0]
        repeats = node.op_type in BROADCASTING or (node.op_type == "Gemm" and position == 2)
        if not repeats or any(array.ndim != first.ndim for array in arrays):
            return None
        axes = [axis for axis in range(first.ndim) if len({array.shape[axis] for array in arrays}) > 1]
        if node.op_type == "MatMul" and any(axis >= first.ndim - 2 for axis in axes):
            return None
        small = tuple(slice(0, 1) if axis in axes else slice(None) for axis in range(first.ndim))
        one = first[small]
        if all(np.array_equal(array, np.broadcast_to(one, array.shape), equal_nan=False) for array in arrays):
            return self._constant(np.ascontiguousarray(one))
        return None

    # --- Records ---

    def _constant(self, array: Array) -> OnnxValue:
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._values:
            name = self._fresh("Sizes")
            self.initializers[name] = array
            self._values[key] = OnnxValue(name, array.dtype, array.shape)
        return self._values[key]

    def _fresh(self, role: str) -> str:
        name, number = f"{self._owner}/{role}", 1
        while name in self.names:
            number += 1
            name = f"{self._owner}/{role}_{number}"
        self.names.add(name)
        return name

    def _emit(
        self, op_type: str, inputs: tuple[OnnxValue, ...], sizes: Sequence[int | Expr], rank: int = 1, **attributes: int
    ) -> OnnxValue:
        """The value of a node that computes sizes; it is named after them."""
        key = (op_type, tuple(map(id, inputs)), tuple(attributes.items()))
        if key not in self._values:
            texts = [self.numbers.text(size) if isinstance(size, Expr) else str(size) for size in sizes]
            text = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
            value = OnnxValue(self._fresh(text), INT64, (len(sizes),) if rank else ())
            self._new.append(OnnxNode(self._fresh(op_type), op_type, inputs, (value,), attributes))
            self._values[key] = value
        return self._values[key]

    def _row(self, entries: list[int | Expr], like: Array) -> OnnxValue:
        """The numbers as one tensor."""
        pieces: list[OnnxValue] = []
        numbers: list[int] = []
        at = 0
        while at < len(entries):
            piece, count = self._piece(entries[at:])
            if isinstance(piece, int):
                numbers.append(piece)
            else:
                if numbers:
                    pieces.append(self._constant(np.array(numbers, np.int64)))
                    numbers = []
                pieces.append(piece)
            at += count
        if numbers:
            pieces.append(self._constant(np.array(numbers, np.int64)))
        row = pieces[0] if len(pieces) == 1 else self._emit("Concat", tuple(pieces), entries, axis=0)
        if like.ndim == 0:
            row = self._emit("Squeeze", (row,), entries, rank=0)
        if like.dtype != np.int64:
            raise refused(f"{self._owner} takes sizes as {like.dtype}")
        return row

    def _piece(self, entries: list[int | Expr]) -> tuple[OnnxValue | int, int]:
        """The longest run of sizes at the start that can be read from one value, and its length; or a number and 1."""
        solver = self.numbers.graph.traced.solver
        sizes = tuple(solver.resolved(size) if isinstance(size, Expr) else size for size in entries)
        for count in range(len(sizes), 1, -1):
            if sizes[:count] in self._runs:
                return self._read(sizes[:count]), count
        return (self._computed(sizes[0]) if isinstance(sizes[0], Expr) else sizes[0]), 1

    def _read(self, sizes: tuple[int | Expr, ...]) -> OnnxValue:
        """Sizes that are read from a value."""
        value, start = self._runs[sizes]
        return self._emit("Shape", (value,), sizes, start=start, end=start + len(sizes))

    def _computed(self, expr: Expr) -> OnnxValue:
        """A size that is read from a value, or computed from the names."""
        expr = self.numbers.graph.traced.solver.resolved(expr)
        if (expr,) in self._runs:
            return self._read((expr,))
        total: OnnxValue | None = None
        so_far = Expr({})
        for monomial, number in expr.terms:
            term = self._constant(np.array([number], np.int64)) if number != 1 or not monomial else None
            product = Expr({(): number})
            for atom in monomial:
                factor = self._atom(atom)
                product = product * Expr({(atom,): 1})
                term = factor if term is None else self._emit("Mul", (term, factor), (product,))
            assert term is not None
            so_far = so_far + product
            total = term if total is None else self._emit("Add", (total, term), (so_far,))
        assert total is not None
        return total

    def _atom(self, atom: Symbol | Floor) -> OnnxValue:
        if isinstance(atom, Floor):
            dividend = self._computed(atom.dividend)
            return self._emit(
                "Div", (dividend, self._constant(np.array([atom.divisor], np.int64))), (Expr({(atom,): 1}),)
            )
        expr = Expr.of(atom)
        if (expr,) in self._runs:
            return self._computed(expr)
        solver = self.numbers.graph.traced.solver
        if atom in solver.quotients:
            whole, divisor, _ = solver.quotients[atom]
            if (solver.resolved(Expr.of(whole)),) not in self._runs:
                raise refused(f"no value has the size {whole}", self._owner)
            number = self._constant(np.array([divisor], np.int64))
            return self._emit("Div", (self._computed(Expr.of(whole)), number), (expr,))
        raise refused(f"no value has the size {atom}", self._owner)


def _reshaped(entries: list[int | Expr], known: tuple[int | Expr | None, ...]) -> list[int | Expr]:
    """The shape of a Reshape with 0 for unchanged sizes, and -1 for one other."""
    shape = [
        0 if isinstance(entry, Expr) and i < len(known) and known[i] == entry else entry
        for i, entry in enumerate(entries)
    ]
    varying = [i for i, entry in enumerate(shape) if isinstance(entry, Expr)]
    if varying and -1 not in shape:
        shape[varying[-1]] = -1
    return shape


def _expanded(entries: list[int | Expr], known: tuple[int | Expr | None, ...]) -> list[int | Expr]:
    """The shape of an Expand with 1 for unchanged sizes."""
    front = len(entries) - len(known)
    return [
        1 if isinstance(entry, Expr) and i >= front and known[i - front] == entry else entry
        for i, entry in enumerate(entries)
    ]
