"""Cases for ``bench_ops.py``: an operator on a million elements, and the equivalent numpy expression."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from dml2onnx.test_cases.descriptors import describe

Array: TypeAlias = npt.NDArray[Any]
Expression: TypeAlias = Callable[..., object]
Shape: TypeAlias = tuple[int, ...]

SIDE = 1000
PITCH = SIDE + 24
SQUARE = (SIDE, SIDE)
FLOAT32, INT32, UINT32, UINT8 = (np.dtype(name) for name in ("float32", "int32", "uint32", "uint8"))
RANDOM = np.random.default_rng(0)


@dataclass(frozen=True, slots=True)
class Case:
    """One row of the table. ``inputs`` are in memory order; elements of array fields are named ``FIELD/INDEX``."""

    operator: str
    variant: str
    inputs: Mapping[str, Array]
    expression: Expression
    """Takes the inputs in order; its results match the outputs, except that numpy may promote to 64-bit types."""
    fields: Mapping[str, object] = field(default_factory=dict)
    views: Mapping[str, tuple[Shape, Shape]] = field(default_factory=dict)
    """Sizes and strides of inputs that are not packed."""
    limit: float = 3.0
    """The ratio above which the row needs a reason."""
    types: Sequence[npt.DTypeLike] = ()
    """Data types of outputs, if they differ from the results."""


# --- data ------------------------------------------------------------------------------------------------------------


def numbers(dtype: np.dtype[Any], shape: Shape = SQUARE, low: float = -100, high: float = 100) -> Array:
    if dtype.kind == "f":
        return RANDOM.uniform(low, high, shape).astype(dtype)
    first = 0 if dtype.kind == "u" else int(low)
    return RANDOM.integers(first, max(int(high), first + 1), shape).astype(dtype)


def random_indices(count: int, shape: Shape = SQUARE) -> Array:
    return RANDOM.integers(0, count, shape).astype(np.uint32)


def _truth(x: Array) -> Array:
    return x.astype(np.uint8)


# --- element by element ----------------------------------------------------------------------------------------------

UNARY: dict[str, tuple[Expression, tuple[float, float]]] = {
    "ABS": (np.abs, (-100, 100)),
    "ACOS": (np.arccos, (-1, 1)),
    "ACOSH": (np.arccosh, (1, 100)),
    "ASIN": (np.arcsin, (-1, 1)),
    "ASINH": (np.arcsinh, (-100, 100)),
    "ATAN": (np.arctan, (-100, 100)),
    "ATANH": (np.arctanh, (-0.99, 0.99)),
    "CEIL": (np.ceil, (-100, 100)),
    "COS": (np.cos, (-100, 100)),
    "COSH": (np.cosh, (-10, 10)),
    "ERF": (lambda x: _erf(x), (-3, 3)),
    "EXP": (np.exp, (-10, 10)),
    "FLOOR": (np.floor, (-100, 100)),
    "IDENTITY": (np.copy, (-100, 100)),
    "LOG": (np.log, (0.1, 100)),
    "NEGATE": (np.negative, (-100, 100)),
    "RECIP": (lambda x: 1 / x, (1, 100)),
    "SIGN": (np.sign, (-100, 100)),
    "SIN": (np.sin, (-100, 100)),
    "SINH": (np.sinh, (-10, 10)),
    "SQRT": (np.sqrt, (0, 100)),
    "TAN": (np.tan, (-1, 1)),
    "TANH": (np.tanh, (-3, 3)),
}

BINARY: dict[str, Expression] = {
    "ADD": np.add,
    "ADD1": lambda a, b: np.maximum(a + b, 0),
    "ATAN_YX": np.arctan2,
    "DIFFERENCE_SQUARE": lambda a, b: (a - b) ** 2,
    "DIVIDE": lambda a, b: a / b if a.dtype.kind == "f" else (a / b).astype(a.dtype),
    "MAX": np.maximum,
    "MEAN": lambda a, b: (a + b) / a.dtype.type(2) if a.dtype.kind == "f" else np.fix((a + b) / 2).astype(a.dtype),
    "MIN": np.minimum,
    "MODULUS_FLOOR": np.mod,
    "MODULUS_TRUNCATE": np.fmod,
    "MULTIPLY": np.multiply,
    "SUBTRACT": np.subtract,
}

LOGICAL: dict[str, Expression] = {
    "LOGICAL_AND": lambda a, b: _truth(np.logical_and(a, b)),
    "LOGICAL_OR": lambda a, b: _truth(np.logical_or(a, b)),
    "LOGICAL_XOR": lambda a, b: _truth(np.logical_xor(a, b)),
}

BITWISE: dict[str, Expression] = {"BIT_AND": np.bitwise_and, "BIT_OR": np.bitwise_or, "BIT_XOR": np.bitwise_xor}

SHIFTS: dict[str, Expression] = {"BIT_SHIFT_LEFT": np.left_shift, "BIT_SHIFT_RIGHT": np.right_shift}

COMPARISONS: dict[str, Expression] = {
    "LOGICAL_EQUALS": lambda a, b: _truth(a == b),
    "LOGICAL_GREATER_THAN": lambda a, b: _truth(a > b),
    "LOGICAL_GREATER_THAN_OR_EQUAL": lambda a, b: _truth(a >= b),
    "LOGICAL_LESS_THAN": lambda a, b: _truth(a < b),
    "LOGICAL_LESS_THAN_OR_EQUAL": lambda a, b: _truth(a <= b),
}


def _erf(x: Array) -> Array:
    """Abramowitz and Stegun, formula 7.1.26: numpy has no error function."""
    size = np.abs(x)
    t = 1 / (1 + np.float32(0.3275911) * size)
    y: Array = np.zeros_like(t)
    for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        y = y * t + np.float32(factor)
    result: Array = np.copysign(1 - y * t * np.exp(-size * size), x)
    return result


def element_wise() -> Iterator[Case]:
    """ELEMENT_WISE operators on FLOAT32 and INT32."""
    for dtype in (FLOAT32, INT32):
        for name, (expression, (low, high)) in UNARY.items():
            yield _unary(f"ELEMENT_WISE_{name}", dtype, expression, low=low, high=high)
        for name, expression in BINARY.items():
            fields: dict[str, object] = {"FusedActivation": describe("ACTIVATION_RELU")} if name == "ADD1" else {}
            yield _binary(name, dtype, expression, numbers(dtype), numbers(dtype, low=1), **fields)
        for name, expression in COMPARISONS.items():
            yield _binary(name, dtype, expression, numbers(dtype), numbers(dtype))
        yield from _with_fields(dtype)
    for name, expression in LOGICAL.items():
        yield _binary(name, UINT8, expression, numbers(UINT8, high=2), numbers(UINT8, high=2))
    yield _unary("ELEMENT_WISE_LOGICAL_NOT", UINT8, lambda x: _truth(np.logical_not(x)), high=2)
    for name, expression in BITWISE.items():
        for dtype in (UINT32, INT32):
            yield _binary(name, dtype, expression, numbers(dtype), numbers(dtype))
    for name, expression in SHIFTS.items():
        yield _binary(name, UINT32, expression, numbers(UINT32), numbers(UINT32, high=32))
    yield _unary("ELEMENT_WISE_BIT_NOT", UINT32, np.bitwise_not)
    yield _unary("ELEMENT_WISE_BIT_COUNT", UINT32, lambda x: np.bitwise_count(x).astype(np.uint32))
    yield from _strided()


def _unary(
    operator: str, dtype: np.dtype[Any], expression: Expression, low: float = -100, high: float = 100,
    variant: str = "", types: Sequence[npt.DTypeLike] = (), **fields: object,
) -> Case:  # fmt: skip
    inputs = {"InputTensor": numbers(dtype, low=low, high=high)}
    return Case(operator, f"{dtype.name} {variant}".strip(), inputs, expression, fields, types=types)


def _binary(name: str, dtype: np.dtype[Any], expression: Expression, a: Array, b: Array, **fields: object) -> Case:
    return Case(f"ELEMENT_WISE_{name}", dtype.name, {"ATensor": a, "BTensor": b}, expression, fields)


def _with_fields(dtype: np.dtype[Any]) -> Iterator[Case]:
    yield _unary("ELEMENT_WISE_CLIP", dtype, lambda x: np.clip(x, -5, 5), Min=-5, Max=5)
    typed: dict[str, Any] = {"MinMaxDataType": dtype.name.upper(), "Min": -5, "Max": 5}
    yield _unary("ELEMENT_WISE_CLIP1", dtype, lambda x: np.clip(x, -5, 5), **typed)
    yield _unary("ELEMENT_WISE_THRESHOLD", dtype, lambda x: np.maximum(x, 2), Min=2)
    yield _unary("ELEMENT_WISE_CONSTANT_POW", dtype, lambda x: x**3, Exponent=3, low=0, high=10)
    yield _unary("ELEMENT_WISE_IS_NAN", dtype, lambda x: _truth(np.isnan(x)))
    yield _unary("ELEMENT_WISE_IS_INFINITY", dtype, lambda x: _truth(np.isinf(x)), InfinityMode="EITHER")
    for mode, rounded in (("HALVES_TO_NEAREST_EVEN", np.round), ("TOWARD_ZERO", np.trunc), ("TOWARD_INFINITY", _away)):
        yield _unary("ELEMENT_WISE_ROUND", dtype, rounded, variant=mode.lower(), RoundingMode=mode)
    base, exponent = numbers(dtype, low=0, high=10), numbers(dtype, low=0, high=5)
    inputs = {"InputTensor": base, "ExponentTensor": exponent}
    yield Case("ELEMENT_WISE_POW", dtype.name, inputs, np.power)
    condition = {"ConditionTensor": numbers(UINT8, high=2), "ATensor": numbers(dtype), "BTensor": numbers(dtype)}
    yield Case("ELEMENT_WISE_IF", dtype.name, condition, np.where)
    for name in ("CLIP_GRAD", "CLIP_GRAD1"):
        fields = {"Min": -5, "Max": 5} if name == "CLIP_GRAD" else typed
        gradient = {"InputTensor": numbers(dtype), "InputGradientTensor": numbers(dtype)}
        yield Case(
            f"ELEMENT_WISE_{name}",
            dtype.name,
            gradient,
            lambda x, g: np.where((x > -5) & (x < 5), g, 0),
            fields,
        )


def _away(x: Array) -> Array:
    return np.copysign(np.floor(np.abs(x) + np.float32(0.5)), x)


def _strided() -> Iterator[Case]:
    for dtype in (FLOAT32, INT32):
        x, row, column = numbers(dtype), numbers(dtype, (SIDE,)), numbers(dtype, (SIDE,))
        transposed = {"InputTensor": (SQUARE, (1, SIDE))}
        yield Case(
            "ELEMENT_WISE_IDENTITY",
            f"{dtype.name} transposed",
            {"InputTensor": x},
            lambda x: np.ascontiguousarray(x.T),
            views=transposed,
            limit=1.5,
        )
        pitched = numbers(dtype, (SIDE * PITCH - PITCH + SIDE,))
        yield Case(
            "ELEMENT_WISE_IDENTITY",
            f"{dtype.name} rows with gaps",
            {"InputTensor": pitched},
            lambda x: np.pad(x, (0, PITCH - SIDE)).reshape(SIDE, PITCH)[:, :SIDE].copy(),
            views={"InputTensor": (SQUARE, (PITCH, 1))},
        )
        for name, b, strides in (("row", row, (0, 1)), ("column", column, (1, 0))):
            yield Case(
                "ELEMENT_WISE_ADD",
                f"{dtype.name} {name}",
                {"ATensor": x, "BTensor": b},
                np.add if name == "row" else lambda a, b: a + b[:, None],
                views={"BTensor": (SQUARE, strides)},
                limit=1.5,
            )


# --- activations -----------------------------------------------------------------------------------------------------


def sigmoid(x: Array) -> Array:
    y: Array = 1 / (1 + np.exp(-x))
    return y


def _softmax(x: Array) -> Array:
    y = np.exp(x - x.max(-1, keepdims=True))
    result: Array = y / y.sum(-1, keepdims=True)
    return result


def _log_softmax(x: Array) -> Array:
    shifted = x - x.max(-1, keepdims=True)
    result: Array = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return result


def _hardmax(x: Array) -> Array:
    y = np.zeros_like(x)
    np.put_along_axis(y, x.argmax(-1, keepdims=True), 1, -1)
    return y


def _elu(x: Array, alpha: float = 1, gamma: float = 1) -> Array:
    return gamma * np.where(x > 0, x, alpha * (np.exp(x) - 1))


def _shrink(x: Array) -> Array:
    return np.where(x < -1, x + 1, np.where(x > 1, x - 1, 0))


AB: dict[str, Any] = {"Alpha": 0.5, "Beta": 0.25}
ACTIVATIONS: dict[str, tuple[Expression, dict[str, Any]]] = {
    "CELU": (lambda x: np.maximum(x, 0) + np.minimum(0, 2 * (np.exp(x / 2) - 1)), {"Alpha": 2}),
    "ELU": (_elu, {"Alpha": 1}),
    "GELU": (lambda x: np.float32(0.5) * x * (1 + _erf(x / np.float32(2**0.5))), {}),
    "HARDMAX": (_hardmax, {}),
    "HARDMAX1": (_hardmax, {"Axes": [1]}),
    "HARD_SIGMOID": (lambda x: np.clip(x / 2 + np.float32(0.25), 0, 1), AB),
    "HARD_SWISH": (lambda x: x * np.clip(x / 2 + np.float32(0.25), 0, 1), AB),
    "IDENTITY": (np.copy, {}),
    "LEAKY_RELU": (lambda x: np.where(x > 0, x, x / 2), {"Alpha": 0.5}),
    "LINEAR": (lambda x: x / 2 + np.float32(0.25), AB),
    "LOG_SOFTMAX": (_log_softmax, {}),
    "LOG_SOFTMAX1": (_log_softmax, {"Axes": [1]}),
    "PARAMETRIC_SOFTPLUS": (lambda x: np.log(1 + np.exp(x / 4)) / 2, AB),
    "RELU": (lambda x: np.maximum(x, 0), {}),
    "SCALED_ELU": (lambda x: _elu(x, 2, 3), {"Alpha": 2, "Gamma": 3}),
    "SCALED_TANH": (lambda x: np.tanh(x / 4) / 2, AB),
    "SHRINK": (_shrink, {"Bias": 1, "Threshold": 1}),
    "SIGMOID": (sigmoid, {}),
    "SOFTMAX": (_softmax, {}),
    "SOFTMAX1": (_softmax, {"Axes": [1]}),
    "SOFTPLUS": (lambda x: np.log(1 + np.exp(x)), {"Steepness": 1}),
    "SOFTSIGN": (lambda x: x / (1 + np.abs(x)), {}),
    "SWISH": (lambda x: x * sigmoid(x), {"SigmoidInputScale": 1}),
    "TANH": (np.tanh, {}),
    "THRESHOLDED_RELU": (lambda x: np.where(x > 1, x, 0), {"Alpha": 1}),
}


def activations() -> Iterator[Case]:
    """ACTIVATION operators on FLOAT32, and on INT32 if DirectML admits it."""
    for dtype in (FLOAT32, INT32):
        for name, (expression, fields) in ACTIVATIONS.items():
            yield _unary(f"ACTIVATION_{name}", dtype, expression, low=-8, high=8, **fields)
        inputs = {"InputTensor": numbers(dtype, low=-8, high=8), "SlopeTensor": numbers(dtype, low=0, high=2)}
        yield Case("ACTIVATION_PARAMETERIZED_RELU", dtype.name, inputs, lambda x, s: np.where(x < 0, s * x, x))


# --- along axes ------------------------------------------------------------------------------------------------------


REDUCTIONS: dict[str, Expression] = {
    "ARGMAX": lambda x, axis: x.argmax(axis, keepdims=True).astype(np.uint32),
    "ARGMIN": lambda x, axis: x.argmin(axis, keepdims=True).astype(np.uint32),
    "AVERAGE": lambda x, axis: x.mean(axis, keepdims=True),
    "L1": lambda x, axis: np.abs(x).sum(axis, keepdims=True),
    "L2": lambda x, axis: np.sqrt((x * x).sum(axis, keepdims=True)),
    "LOG_SUM": lambda x, axis: np.log(x.sum(axis, keepdims=True)),
    "LOG_SUM_EXP": lambda x, axis: np.log(np.exp(x).sum(axis, keepdims=True)),
    "MAX": lambda x, axis: x.max(axis, keepdims=True),
    "MIN": lambda x, axis: x.min(axis, keepdims=True),
    "MULTIPLY": lambda x, axis: x.prod(axis, dtype=x.dtype, keepdims=True),
    "SUM": lambda x, axis: x.sum(axis, dtype=x.dtype, keepdims=True),
    "SUM_SQUARE": lambda x, axis: (x * x).sum(axis, dtype=x.dtype, keepdims=True),
}


def along_axes() -> Iterator[Case]:
    """Reductions, running sums and TOP_K."""
    for dtype, axis in product((FLOAT32, INT32), (1, 0)):
        x = {"InputTensor": numbers(dtype, low=0.5, high=1.5) if dtype.kind == "f" else numbers(dtype)}
        where = f"{dtype.name} axis {axis}"
        for name, reduced in REDUCTIONS.items():
            fields: dict[str, object] = {"Function": name, "Axes": [axis]}
            yield Case("REDUCE", f"{name} {where}", x, _on(reduced, axis), fields)
        for name in ("ARGMAX", "ARGMIN"):
            fields = {"Axes": [axis], "AxisDirection": "INCREASING"}
            yield Case(name, where, x, _on(REDUCTIONS[name], axis), fields)
        for name, kind, function in (("SUMMATION", "Sum", np.cumsum), ("PRODUCT", "Product", np.cumprod)):
            fields = {"Axis": axis, "AxisDirection": "INCREASING", f"HasExclusive{kind}": False}
            expression = _on(lambda x, axis, f=function: f(x, axis, dtype=x.dtype), axis)
            yield Case(f"CUMULATIVE_{name}", where, x, expression, fields)
    for dtype in (FLOAT32, INT32):
        for name in ("TOP_K", "TOP_K1"):
            fields = {"Axis": 1, "K": 10}
            if name == "TOP_K1":
                fields["AxisDirection"] = "DECREASING"
            yield Case(name, dtype.name, {"InputTensor": numbers(dtype)}, _largest, fields)


def _on(function: Expression, axis: int) -> Expression:
    return lambda x: function(x, axis)


def _largest(x: Array) -> tuple[Array, Array]:
    order = np.argsort(-x, axis=1, kind="stable")[:, :10]
    return np.take_along_axis(x, order, 1), order.astype(np.uint32)


# --- movement --------------------------------------------------------------------------------------------------------


def movement() -> Iterator[Case]:
    """Operators that move, select or convert elements."""
    types: list[np.dtype[Any]] = [FLOAT32, INT32, UINT8, np.dtype(np.float16), np.dtype(np.int64)]
    for source, target in product(types, repeat=2):
        if source != target and FLOAT32 in (source, target):
            yield _unary("CAST", source, lambda x, to=target: x.astype(to), low=0, variant=target.name, types=[target])
    for dtype in (FLOAT32, INT32):
        yield from _slicing(dtype)
        yield from _indexing(dtype)
        yield from _blocks(dtype)
    yield from _windows()


def _slicing(dtype: np.dtype[Any]) -> Iterator[Case]:
    wide = {"InputTensor": numbers(dtype, (SIDE, 2 * SIDE))}
    steps: dict[str, object] = {"Offsets": [0, 0], "Sizes": [SIDE, SIDE], "Strides": [1, 2]}
    yield Case("SLICE", f"{dtype.name} every other", wide, lambda x: np.ascontiguousarray(x[:, ::2]), steps)
    part: dict[str, object] = {"Offsets": [0, 500], "Sizes": [SIDE, SIDE], "Strides": [1, 1]}
    expression: Expression = lambda x: np.ascontiguousarray(x[:, 500:1500])  # noqa: E731
    yield Case("SLICE", f"{dtype.name} middle", wide, expression, part)
    x = {"InputTensor": numbers(dtype)}
    back: dict[str, object] = {"InputWindowOffsets": [0, 0], "InputWindowSizes": [SIDE, SIDE]}
    for name, strides, expression in (
        ("columns back", [1, -1], lambda x: np.ascontiguousarray(x[:, ::-1])),
        ("rows back", [-1, 1], lambda x: np.ascontiguousarray(x[::-1])),
    ):
        yield Case("SLICE1", f"{dtype.name} {name}", x, expression, {**back, "InputWindowStrides": strides})
    yield Case("SPLIT", dtype.name, x, lambda x: [half.copy() for half in np.split(x, 2, 1)], {"Axis": 1})
    quarter = {"InputTensor": numbers(dtype, (SIDE // 2, SIDE // 2))}
    yield Case("TILE", dtype.name, quarter, lambda x: np.tile(x, (2, 2)), {"Repeats": [2, 2]})
    lengths = RANDOM.integers(0, SIDE + 1, (SIDE, 1)).astype(np.uint32)
    reversible = {**x, "SequenceLengthsTensor": lengths}
    yield Case("REVERSE_SUBSEQUENCES", dtype.name, reversible, _reversed, {"Axis": 1})


def _reversed(x: Array, lengths: Array) -> Array:
    column = np.arange(SIDE)
    result: Array = np.take_along_axis(x, np.where(column < lengths, lengths.astype(np.int64) - 1 - column, column), 1)
    return result


def _indexing(dtype: np.dtype[Any]) -> Iterator[Case]:
    x = numbers(dtype)
    one, each = random_indices(SIDE, (1, SIDE)), random_indices(SIDE)
    for axis in (0, 1):
        expression = _taking(axis)
        fields: dict[str, object] = {"Axis": axis, "IndexDimensions": 1}
        inputs = {"InputTensor": x, "IndicesTensor": one}
        yield Case("GATHER", f"{dtype.name} axis {axis}", inputs, expression, fields)
    inputs = {"InputTensor": x, "IndicesTensor": each}
    yield Case("GATHER_ELEMENTS", dtype.name, inputs, lambda x, i: np.take_along_axis(x, i, 1), {"Axis": 1})
    rows = random_indices(SIDE, (SIDE, 1))
    for name in ("GATHER_ND", "GATHER_ND1"):
        fields = {"InputDimensionCount": 2, "IndicesDimensionCount": 2}
        if name == "GATHER_ND1":
            fields["BatchDimensionCount"] = 0
        inputs = {"InputTensor": x, "IndicesTensor": rows}
        yield Case(name, f"{dtype.name} rows", inputs, lambda x, i: x[i[:, 0]], fields)
    order = RANDOM.permuted(np.tile(np.arange(SIDE, dtype=np.uint32), (SIDE, 1)), axis=1)
    scattered = {"InputTensor": x, "IndicesTensor": order, "UpdatesTensor": numbers(dtype)}
    yield Case("SCATTER", dtype.name, scattered, _scattered, {"Axis": 1})
    shuffled = RANDOM.permutation(SIDE).astype(np.uint32).reshape(-1, 1)
    scattered = {"InputTensor": x, "IndicesTensor": shuffled, "UpdatesTensor": numbers(dtype)}
    fields = {"InputDimensionCount": 2, "IndicesDimensionCount": 2}
    yield Case("SCATTER_ND", f"{dtype.name} rows", scattered, _scattered_rows, fields)
    hot = {"IndicesTensor": rows, "ValuesTensor": numbers(dtype, (1, 2))}
    yield Case("ONE_HOT", dtype.name, hot, _one_hot, {"Axis": 1})
    mask = (numbers(INT32) > 50).astype(dtype)
    yield Case("NONZERO_COORDINATES", dtype.name, {"InputTensor": mask}, _nonzero)


def _nonzero(x: Array) -> tuple[Array, Array]:
    """The number of nonzero elements, and their coordinates; later rows are unspecified."""
    found = np.argwhere(x).astype(np.uint32)
    rows = np.zeros((x.size, x.ndim), np.uint32)
    rows[: len(found)] = found
    return np.array([len(found)], np.uint32), rows


def _taking(axis: int) -> Expression:
    return lambda x, i: np.take(x, i[0], axis)


def _scattered(x: Array, i: Array, u: Array) -> Array:
    y = x.copy()
    np.put_along_axis(y, i, u, 1)
    return y


def _scattered_rows(x: Array, i: Array, u: Array) -> Array:
    y = x.copy()
    y[i[:, 0]] = u
    return y


def _one_hot(i: Array, values: Array) -> Array:
    hot: Array = np.where(i == np.arange(SIDE, dtype=np.uint32), values[0, 1], values[0, 0])
    return hot


def _blocks(dtype: np.dtype[Any]) -> Iterator[Case]:
    space, depth = (1, 16, 250, 250), (1, 64, 125, 125)
    for order, name in (("DEPTH_COLUMN_ROW", ""), ("DEPTH_COLUMN_ROW", "1"), ("COLUMN_ROW_DEPTH", "1")):
        moved = (0, 3, 5, 1, 2, 4) if order == "DEPTH_COLUMN_ROW" else (0, 1, 3, 5, 2, 4)
        fields: dict[str, object] = {"BlockSize": 2, **({"Order": order} if name else {})}
        variant = f"{dtype.name} {order.lower()}"
        for kind, sizes, expression in (
            ("SPACE_TO_DEPTH", space, _into_depth(moved)),
            ("DEPTH_TO_SPACE", depth, _into_space(moved)),
        ):
            yield Case(kind + name, variant, {"InputTensor": numbers(dtype, sizes)}, expression, fields)


def _into_depth(moved: Shape) -> Expression:
    return lambda x: x.reshape(1, 16, 125, 2, 125, 2).transpose(moved).reshape(1, 64, 125, 125)


def _into_space(moved: Shape) -> Expression:
    sizes = tuple((1, 16, 125, 2, 125, 2)[axis] for axis in moved)
    back = tuple(int(axis) for axis in np.argsort(moved))
    return lambda x: x.reshape(sizes).transpose(back).reshape(1, 16, 250, 250)


def _windows() -> Iterator[Case]:
    image, columns = (1, 8, 120, 120), (1, 72, 118 * 118)
    fields: dict[str, object] = {"WindowSizes": [3, 3]}
    x, y = numbers(FLOAT32, image), numbers(FLOAT32, columns)
    yield Case("UNFOLD", "float32", {"InputTensor": x}, _unfolded, fields)
    yield Case("FOLD", "float32", {"InputTensor": y}, _folded, fields)
    picture = {"InputTensor": numbers(FLOAT32, (1, 16, 125, 125))}
    for mode, expression in (("NEAREST_NEIGHBOR", repeated), ("LINEAR", _interpolated)):
        fields = {"ScaleSize": {"Width": 2, "Height": 2}, "InterpolationMode": mode}
        yield Case("UPSAMPLE_2D", f"float32 {mode.lower()}", picture, expression, fields)
    colours, bias = (1, 3, 500, 667), np.array([1, 2, 3], np.float32)
    fields = {"Scale": 2, "ChannelCount": 3, "Bias": [1, 2, 3]}
    x = numbers(FLOAT32, colours)
    expression = lambda x: x * np.float32(2) + bias[:, None, None]  # noqa: E731
    yield Case("VALUE_SCALE_2D", "float32", {"InputTensor": x}, expression, fields)


def _unfolded(x: Array) -> Array:
    return sliding_window_view(x, (3, 3), (2, 3)).transpose(0, 1, 4, 5, 2, 3).reshape(1, 72, -1)


def _folded(y: Array) -> Array:
    image, windows = np.zeros((1, 8, 120, 120), np.float32), y.reshape(1, 8, 3, 3, 118, 118)
    for i, j in product(range(3), range(3)):
        image[:, :, i : i + 118, j : j + 118] += windows[:, :, i, j]
    return image


def repeated(x: Array) -> Array:
    return x.repeat(2, 2).repeat(2, 3)


def _interpolated(x: Array) -> Array:
    for axis in (2, 3):
        at = np.clip((np.arange(250) + 0.5) / 2 - 0.5, 0, 124)
        low = np.floor(at).astype(np.int64)
        weight = (at - low).astype(np.float32).reshape(-1, *(1,) * (3 - axis))
        x = x.take(low, axis) * (1 - weight) + x.take(np.minimum(low + 1, 124), axis) * weight
    return x


# --- generators ------------------------------------------------------------------------------------------------------


def filling() -> Iterator[Case]:
    """Operators that generate their output from attributes, and random numbers."""
    for dtype, sizes in product((FLOAT32, INT32), (SQUARE, (SIDE + 48, SIDE + 48))):
        variant = f"{dtype.name} {sizes[0]}x{sizes[1]}"
        fields: dict[str, object] = {"ValueDataType": dtype.name.upper()}
        yield Case("FILL_VALUE_CONSTANT", variant, {}, _full(sizes, dtype), {**fields, "Value": 7})
        steps = {**fields, "ValueStart": 3, "ValueDelta": 2}
        yield Case("FILL_VALUE_SEQUENCE", variant, {}, _sequence(sizes, dtype), steps)
        yield Case("DIAGONAL_MATRIX", variant, {}, _eye(sizes, dtype), {"Offset": 1, "Value": 7})
        band = {**fields, "Value": 0, "DiagonalFillBegin": -(1 << 31), "DiagonalFillEnd": 1}
        x = {"InputTensor": numbers(dtype, sizes)}
        yield Case("DIAGONAL_MATRIX1", variant, x, lambda x: np.triu(x, 1), band)
    state = {"InputStateTensor": np.arange(1, 7, dtype=np.uint32).reshape(1, 1, 1, 6)}
    fields = {"Type": "PHILOX_4X32_10"}
    yield Case("RANDOM_GENERATOR", "uint32", state, _philox, fields)


def _full(sizes: Shape, dtype: np.dtype[Any]) -> Expression:
    return lambda: np.full(sizes, 7, dtype)


def _sequence(sizes: Shape, dtype: np.dtype[Any]) -> Expression:
    return lambda: (dtype.type(3) + np.arange(sizes[0] * sizes[1], dtype=dtype) * dtype.type(2)).reshape(sizes)


def _eye(sizes: Shape, dtype: np.dtype[Any]) -> Expression:
    return lambda: np.eye(sizes[0], sizes[1], k=1, dtype=dtype) * dtype.type(7)


def _philox(state: Array) -> Array:
    c = [np.full(SIDE * SIDE // 4, word, np.uint64) for word in state.reshape(-1)[:4]]
    c[0] += np.arange(SIDE * SIDE // 4, dtype=np.uint64)
    key: Array = state.reshape(-1)[4:].astype(np.uint64)
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    for _ in range(10):
        p, q = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(q >> half) ^ c[1] ^ key[0], q & low, (p >> half) ^ c[3] ^ key[1], p & low]
        key = (key + np.array([0x9E3779B9, 0xBB67AE85], np.uint64)) & low
    words: Array = np.stack(c, -1).astype(np.uint32).reshape(1, 1, *SQUARE)
    return words


FAMILIES: Sequence[Callable[[], Iterator[Case]]] = (
    element_wise,
    activations,
    along_axes,
    movement,
    filling,
)


def cases() -> Iterator[Case]:
    """Yields the cases of all families, whether the operator admits the data type or not."""
    for family in FAMILIES:
        yield from family()
