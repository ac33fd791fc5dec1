"""Translations of ONNX nodes to calls of the builder, for ``_onnx_nodes.py``.

Rows return ``None`` for nodes that DirectML cannot express.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from _onnx_more import MORE
from onnx import helper

from dml2onnx import GraphBuilder
from dml2onnx.builder import Expression
from dml2onnx.ir.tensor import packed_strides

Array: TypeAlias = npt.NDArray[Any]
Made: TypeAlias = Expression | Sequence[Expression | None] | None

INFINITY = float("inf")


class Given:
    """The node of a test, with its attributes, and its inputs as expressions or arrays."""

    def __init__(self, g: GraphBuilder, node: Any, arrays: Sequence[Array | None]) -> None:
        self.g = g
        self.op = node.op_type
        self.outputs = list(node.output)
        self._attributes = {item.name: helper.get_attribute_value(item) for item in node.attribute}
        self.arrays = arrays
        self.feeds: dict[str, Array] = {}
        self._made: dict[int, Expression] = {}

    def has(self, index: int) -> bool:
        """Whether an optional input is present."""
        return index < len(self.arrays) and self.arrays[index] is not None

    def x(self, index: int = 0, sizes: Sequence[int] | None = None) -> Expression:
        """An input of the graph, reshaped to ``sizes`` if given."""
        if index not in self._made:
            array = self.array(index)
            stored = array.astype(np.uint8) if array.dtype == np.bool_ else array
            name = f"x{index}"
            shape = list(stored.shape) or [1]
            self._made[index] = self.g.input(name, stored.dtype.name.upper(), shape)
            self.feeds[name] = stored.reshape(shape)
        made = self._made[index]
        return made if sizes is None or tuple(sizes) == made.sizes else self.g.reshape(made, tuple(sizes))

    def feed_as(self, index: int, dtype: npt.DTypeLike) -> None:
        """Converts an input to the type that DirectML requires."""
        self.arrays = [*self.arrays[:index], self.array(index).astype(dtype), *self.arrays[index + 1 :]]

    def window(self, shape: Sequence[int]) -> dict[str, list[int]] | None:
        return _window(self, shape)

    def array(self, index: int) -> Array:
        """The array of an input."""
        array = self.arrays[index]
        assert array is not None
        return array

    def ints(self, index: int) -> tuple[int, ...]:
        """An input with sizes, axes or the like, as integers."""
        return tuple(int(item) for item in self.array(index).reshape(-1))

    def get(self, name: str, default: Any = None) -> Any:
        value = self._attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    @property
    def rank(self) -> int:
        return self.array(0).ndim

    def axis(self, default: int, name: str = "axis") -> int:
        """An axis attribute, normalised to be nonnegative."""
        return int(self.get(name, default)) % self.rank

    def broadcast_all(self, count: int) -> list[Expression]:
        """The first inputs, broadcast to common sizes."""
        sizes = np.broadcast_shapes(*(self.array(i).shape or (1,) for i in range(count)))
        return [self.broadcast(i, sizes) for i in range(count)]

    def broadcast(self, index: int, sizes: Sequence[int]) -> Expression:
        """An input, broadcast to ``sizes``."""
        own = self.array(index).shape
        return self.g.broadcast(self.x(index, [*[1] * (len(sizes) - len(own)), *own]), tuple(sizes))


Row: TypeAlias = Callable[[GraphBuilder, Given], Made]


def _call(function: Callable[..., Made], operands: Sequence[Expression | None]) -> Made:
    return function(*operands)


def _unary(name: str, **options: Any) -> Row:
    return lambda g, n: getattr(g, name)(n.x(), **options)


def _binary(name: str) -> Row:
    return lambda g, n: getattr(g, name)(*n.broadcast_all(2))


def _chain(name: str) -> Row:
    def row(g: GraphBuilder, n: Given) -> Made:
        made, *others = n.broadcast_all(len(n.arrays))
        for other in others:
            made = getattr(g, name)(made, other)
        return made if len(n.arrays) == 2 else None

    return row


def _with(name: str, **attributes: tuple[str, Any]) -> Row:
    """A call with fields from attributes, each given by ONNX's name and default."""
    return lambda g, n: getattr(g, name)(
        n.x(), **{field: n.get(attribute, default) for field, (attribute, default) in attributes.items()}
    )


def _along(name: str, default: int = -1) -> Row:
    return lambda g, n: getattr(g, name)(n.x(), axes=[n.axis(default)])


def _reduce(function: str) -> Row:
    def row(g: GraphBuilder, n: Given) -> Made:
        axes = n.ints(1) if n.has(1) else tuple(n.get("axes", ()))
        if not axes and n.get("noop_with_empty_axes", 0):
            return None
        over = sorted(axis % n.rank for axis in axes) or list(range(n.rank))
        return g.reduce(n.x(), function, axes=over)  # type: ignore[arg-type]

    return row


def _extreme(name: str) -> Row:
    def row(g: GraphBuilder, n: Given) -> Made:
        direction = "DECREASING" if n.get("select_last_index", 0) else "INCREASING"
        made: Expression = getattr(g, name)(n.x(), "INT64", axes=[n.axis(0)], axis_direction=direction)
        return made

    return row


# --- Windows ----------------------------------------------------------------------------------------------------------


def _window(n: Given, shape: Sequence[int]) -> dict[str, list[int]] | None:
    """Strides, dilations and paddings from the attributes; None for ``ceil_mode``."""
    count = len(shape)
    strides, dilations = list(n.get("strides", [1] * count)), list(n.get("dilations", [1] * count))
    pads = list(n.get("pads", [0] * 2 * count))
    kind = n.get("auto_pad", "NOTSET")
    if kind.startswith("SAME"):
        sizes = n.array(0).shape[2:]
        for axis, (size, k, s, d) in enumerate(zip(sizes, shape, strides, dilations, strict=True)):
            total = max((-(-size // s) - 1) * s + (k - 1) * d + 1 - size, 0)
            small = total // 2
            pads[axis], pads[axis + count] = (small, total - small) if kind == "SAME_UPPER" else (total - small, small)
    elif kind == "VALID":
        pads = [0] * 2 * count
    if n.get("ceil_mode", 0):
        return None
    return {"strides": strides, "dilations": dilations, "start_padding": pads[:count], "end_padding": pads[count:]}


def _values(made: Any) -> Expression:
    """The values of an operator that may also return indices."""
    values: Expression = getattr(made, "values", made)
    return values


def _pool(name: str, **options: Callable[[Given], Any]) -> Row:
    def row(g: GraphBuilder, n: Given) -> Made:
        shape = list(n.get("kernel_shape"))
        window = _window(n, shape)
        if window is None or n.get("storage_order", 0):
            return None
        made = getattr(g, name)(
            n.x(), window_sizes=shape, **window, **{key: option(n) for key, option in options.items()}
        )
        return _values(made)

    return row


def _global(name: str, **options: Any) -> Row:
    def row(g: GraphBuilder, n: Given) -> Made:
        made = getattr(g, name)(n.x(), window_sizes=list(n.array(0).shape[2:]), **options)
        return _values(made)

    return row


def _conv(g: GraphBuilder, n: Given) -> Made:
    window = _window(n, n.array(1).shape[2:])
    bias = n.x(2, [1, n.array(2).size, *[1] * (n.rank - 2)]) if n.has(2) else None
    return None if window is None else g.convolution(n.x(0), n.x(1), bias, group_count=n.get("group", 1), **window)  # type: ignore[arg-type]


def _conv_transpose(g: GraphBuilder, n: Given) -> Made:
    if n.get("auto_pad", "NOTSET") != "NOTSET" or n.get("output_shape") is not None:
        return None
    window = _window(n, n.array(1).shape[2:])
    bias = n.x(2, [1, n.array(2).size, *[1] * (n.rank - 2)]) if n.has(2) else None
    assert window is not None
    return g.convolution(
        n.x(0),
        n.x(1),
        bias,
        direction="BACKWARD",
        output_padding=list(n.get("output_padding", [0] * (n.rank - 2))),
        group_count=n.get("group", 1),
        **window,  # type: ignore[arg-type]
    )


# --- Products ---------------------------------------------------------------------------------------------------------


def _matrix(n: Given, index: int, rank: int) -> Expression:
    shape = n.array(index).shape
    return n.x(index, [*[1] * (rank - len(shape)), *shape])


def _matmul(g: GraphBuilder, n: Given) -> Made:
    a, b = n.array(0), n.array(1)
    if min(a.ndim, b.ndim) < 2 or max(a.ndim, b.ndim) > 4:
        return None
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    batch = (*[1] * (2 - len(batch)), *batch)
    sides = [n.broadcast(i, (*batch, *n.array(i).shape[-2:])) for i in (0, 1)]
    return _call(g.gemm, sides)


def _gemm(g: GraphBuilder, n: Given) -> Made:
    a, b = n.x(0), n.x(1)
    trans_a, trans_b = bool(n.get("transA", 0)), bool(n.get("transB", 0))
    rows = a.sizes[1 if trans_a else 0], b.sizes[0 if trans_b else 1]
    return g.gemm(
        a,
        b,
        n.broadcast(2, rows) if n.has(2) else None,
        trans_a="TRANSPOSE" if trans_a else "NONE",
        trans_b="TRANSPOSE" if trans_b else "NONE",
        alpha=n.get("alpha", 1.0),
        beta=n.get("beta", 1.0),
    )


# --- Normalisations ---------------------------------------------------------------------------------------------------


def _channels(n: Given, index: int) -> Expression:
    return n.x(index, [1, n.array(index).size, *[1] * (n.rank - 2)])


def _batch_normalization(g: GraphBuilder, n: Given) -> Made:
    if n.get("training_mode", 0):
        return None
    scale, bias, mean, variance = (_channels(n, index) for index in (1, 2, 3, 4))
    return g.batch_normalization(n.x(), mean, variance, scale, bias, spatial=True, epsilon=n.get("epsilon", 1e-5))


def _instance_normalization(g: GraphBuilder, n: Given) -> Made:
    sizes = n.array(0).shape
    scale, bias = (g.broadcast(_channels(n, index), (1, sizes[1], *[1] * (n.rank - 2))) for index in (1, 2))
    axes = list(range(2, n.rank))
    return g.mean_variance_normalization1(
        n.x(), scale, bias, axes=axes, normalize_variance=True, epsilon=n.get("epsilon", 1e-5)
    )


def _layer_normalization(g: GraphBuilder, n: Given) -> Made:
    axis, sizes = n.axis(-1), n.array(0).shape
    own = (*[1] * axis, *sizes[axis:])
    scale, bias = n.x(1, own), n.x(2, own) if n.has(2) else None
    axes = list(range(axis, n.rank))
    return g.mean_variance_normalization2(
        n.x(), scale, bias, axes=axes, use_mean=True, use_variance=True, epsilon=n.get("epsilon", 1e-5)
    )


def _rms_normalization(g: GraphBuilder, n: Given) -> Made:
    axis, sizes = n.axis(-1), n.array(0).shape
    axes = list(range(axis, n.rank))
    scale = n.x(1, (*[1] * axis, *sizes[axis:]))
    return g.mean_variance_normalization2(
        n.x(), scale, None, axes=axes, use_mean=False, use_variance=True, epsilon=n.get("epsilon", 1e-5)
    )


def _lrn(g: GraphBuilder, n: Given) -> Made:
    how = {name: n.get(name, default) for name, default in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0))}
    return g.local_response_normalization(n.x(), cross_channel=True, local_size=n.get("size"), **how)


# --- Indices ----------------------------------------------------------------------------------------------------------


def _gather(g: GraphBuilder, n: Given) -> Made:
    indices = n.array(1)
    rank = max(n.rank, indices.ndim, n.rank + indices.ndim - 1)
    lead = rank - n.rank
    data, where = _matrix(n, 0, rank), _matrix(n, 1, rank)
    return g.gather(data, where, axis=lead + n.axis(0), index_dimensions=indices.ndim)


def _gather_nd(g: GraphBuilder, n: Given) -> Made:
    rank = max(n.rank, n.array(1).ndim)
    batch = n.get("batch_dims", 0)
    if batch + n.array(1).shape[-1] > n.rank or n.rank + n.array(1).ndim - n.array(1).shape[-1] - 1 - batch > rank:
        return None
    return g.gather_nd1(_matrix(n, 0, rank), _matrix(n, 1, rank), n.rank, n.array(1).ndim, batch)


def _scatter_nd(g: GraphBuilder, n: Given) -> Made:
    rank = max(n.rank, n.array(1).ndim, n.array(2).ndim)
    if n.get("reduction", "none") != "none":
        return None
    return g.scatter_nd(_matrix(n, 0, rank), _matrix(n, 1, rank), _matrix(n, 2, rank), n.rank, n.array(1).ndim)


def _scatter(g: GraphBuilder, n: Given) -> Made:
    if n.get("reduction", "none") != "none":
        return None
    return g.scatter_elements(n.x(0), n.x(1), n.x(2), axis=n.axis(0))


def _one_hot(g: GraphBuilder, n: Given) -> Made:
    indices, axis = n.array(0), int(n.get("axis", -1))
    if indices.dtype.kind == "f" or (indices < 0).any():
        return None
    axis %= indices.ndim + 1
    shape = (*indices.shape[:axis], 1, *indices.shape[axis:])
    values = n.x(2, [*[1] * (len(shape) - 1), 2])
    return g.one_hot(n.x(0, shape), values, int(n.array(1).reshape(-1)[0]), axis)


def _top_k(g: GraphBuilder, n: Given) -> Made:
    direction = "DECREASING" if n.get("largest", 1) else "INCREASING"
    made = g.top_k1(n.x(), axis=n.axis(-1), k=n.ints(1)[0], axis_direction=direction)  # type: ignore[arg-type]
    return made.value, made.index


def _cumulative(name: str, exclusive: str) -> Row:
    def row(g: GraphBuilder, n: Given) -> Made:
        direction = "DECREASING" if n.get("reverse", 0) else "INCREASING"
        options = {"axis_direction": direction, exclusive: bool(n.get("exclusive", 0))}
        made: Expression = getattr(g, name)(n.x(), axis=n.ints(1)[0] % n.rank, **options)
        return made

    return row


# --- Movement ---------------------------------------------------------------------------------------------------------


def _pad(g: GraphBuilder, n: Given) -> Made:
    modes = {"constant": "CONSTANT", "edge": "EDGE", "reflect": "REFLECTION"}
    mode, pads = modes.get(n.get("mode", "constant")), n.ints(1)
    if mode is None or n.has(3) or min(pads) < 0:
        return None
    value = n.array(2).item() if n.has(2) else 0
    kind = n.x().data_type
    half = len(pads) // 2
    return g.padding1(n.x(), mode, kind, value, list(pads[:half]), list(pads[half:]))  # type: ignore[arg-type]


def _slice(g: GraphBuilder, n: Given) -> Made:
    sizes = n.array(0).shape
    axes = [axis % n.rank for axis in n.ints(3)] if n.has(3) else list(range(len(n.ints(1))))
    steps = n.ints(4) if n.has(4) else (1,) * len(axes)
    windows = {
        a: slice(b, e, s).indices(sizes[a]) for a, b, e, s in zip(axes, n.ints(1), n.ints(2), steps, strict=True)
    }
    offsets, lengths, strides = [0] * n.rank, list(sizes), [1] * n.rank
    for axis, (begin, end, step) in windows.items():
        count = len(range(begin, end, step))
        if count == 0:
            return None
        last = begin + (count - 1) * step
        offsets[axis], lengths[axis], strides[axis] = min(begin, last), abs(last - begin) + 1, step
    return g.slice1(n.x(), offsets, lengths, strides)


def _split(g: GraphBuilder, n: Given) -> Made:
    axis = n.axis(0)
    if not n.has(1) or 0 in n.ints(1):
        return None
    return g.split(n.x(), axis=axis, output_axis_sizes=list(n.ints(1)))


def _where(g: GraphBuilder, n: Given) -> Made:
    return _call(g.if_, n.broadcast_all(3))


def _clip(g: GraphBuilder, n: Given) -> Made:
    low = n.array(1).item() if n.has(1) else -INFINITY
    high = n.array(2).item() if n.has(2) else INFINITY
    # for swapped bounds ONNX returns the upper one and DirectML the lower
    return g.clip(n.x(), low, high) if n.array(0).dtype.kind == "f" and low <= high else None


def _mod(g: GraphBuilder, n: Given) -> Made:
    return _call(g.modulus_truncate if n.get("fmod", 0) else g.modulus_floor, n.broadcast_all(2))


def _is_inf(g: GraphBuilder, n: Given) -> Made:
    both = n.get("detect_positive", 1), n.get("detect_negative", 1)
    mode = {(1, 1): "EITHER", (1, 0): "POSITIVE", (0, 1): "NEGATIVE"}.get(both)
    return None if mode is None else g.is_infinity(n.x(), mode)  # type: ignore[arg-type]


def _bit_shift(g: GraphBuilder, n: Given) -> Made:
    return _call(g.bit_shift_left if n.get("direction") == "LEFT" else g.bit_shift_right, n.broadcast_all(2))


def _gelu(g: GraphBuilder, n: Given) -> Made:
    return g.activation_gelu(n.x()) if n.get("approximate", "none") == "none" else None


def _depth_to_space(g: GraphBuilder, n: Given) -> Made:
    order = "DEPTH_COLUMN_ROW" if n.get("mode", "DCR") == "DCR" else "COLUMN_ROW_DEPTH"
    return g.depth_to_space1(n.x(), n.get("blocksize"), order)  # type: ignore[arg-type]


def _space_to_depth(g: GraphBuilder, n: Given) -> Made:
    order = "DEPTH_COLUMN_ROW" if n.get("mode", "DCR") == "DCR" else "COLUMN_ROW_DEPTH"
    return g.space_to_depth1(n.x(), n.get("blocksize"), order)  # type: ignore[arg-type]


def _cast(g: GraphBuilder, n: Given) -> Made:
    names = {1: "FLOAT32", 2: "UINT8", 3: "INT8", 4: "UINT16", 5: "INT16", 6: "INT32", 7: "INT64", 10: "FLOAT16"}
    names |= {11: "FLOAT64", 12: "UINT32", 13: "UINT64"}
    kind = names.get(n.get("to"))
    return None if kind is None or n.array(0).dtype.kind not in "fiu" else g.cast(n.x(), kind)


# --- Quantisation -----------------------------------------------------------------------------------------------------


def _parameters(n: Given, first: int) -> tuple[Expression, Expression | None] | None:
    shape, axis = n.array(0).shape, int(n.get("axis", 1))
    parameter = n.array(first)
    if parameter.ndim > 1 or n.get("block_size", 0):
        return None
    own = [1] * len(shape)
    if parameter.size > 1:
        own[axis] = parameter.size
    made = [n.g.broadcast(n.x(i, own), shape) if n.has(i) else None for i in (first, first + 1)]
    return made[0], made[1]  # type: ignore[return-value]


def _quantize(g: GraphBuilder, n: Given) -> Made:
    found = _parameters(n, 1)
    if found is None or n.array(0).dtype != np.float32 or not n.has(2) or n.array(2).dtype.itemsize != 1:
        return None
    kinds = {"uint8": "UINT8", "int8": "INT8"}
    kind = kinds.get(n.array(2).dtype.name)
    return None if kind is None else g.quantize_linear(n.x(), found[0], found[1], kind)


def _dequantize(g: GraphBuilder, n: Given) -> Made:
    found = _parameters(n, 1)
    if found is None or n.array(0).dtype.name not in ("uint8", "int8") or n.array(1).dtype != np.float32:
        return None
    return g.dequantize_linear(n.x(), *found)


def _dynamic(g: GraphBuilder, n: Given) -> Made:
    made = g.dynamic_quantize_linear(n.x(), "UINT8", "UINT8")
    return made.output, made.scale, made.zero_point


def _matmul_integer(g: GraphBuilder, n: Given) -> Made:
    points = [_matrix(n, i, 4) if n.has(i) else None for i in (2, 3)]
    return _call(g.matrix_multiply_integer, [_matrix(n, 0, 4), _matrix(n, 1, 4), *points])


_UNARY = {
    "BitwiseNot": "bit_not", "IsNaN": "is_nan", "Neg": "negate", "Not": "logical_not", "Reciprocal": "recip",
    "Relu": "activation_relu", "Sigmoid": "activation_sigmoid", "Softplus": "activation_softplus",
    "Softsign": "activation_softsign",
}  # fmt: skip
_BINARY = {
    "Add": "add", "And": "logical_and", "BitwiseAnd": "bit_and", "BitwiseOr": "bit_or", "BitwiseXor": "bit_xor",
    "Div": "divide", "Equal": "equals", "Greater": "greater_than", "GreaterOrEqual": "greater_than_or_equal",
    "Less": "less_than", "LessOrEqual": "less_than_or_equal", "Mul": "multiply", "Or": "logical_or", "Pow": "pow",
    "Sub": "subtract", "Xor": "logical_xor",
}  # fmt: skip
_REDUCTIONS = {
    "L1": "L1", "L2": "L2", "LogSum": "LOG_SUM", "LogSumExp": "LOG_SUM_EXP", "Max": "MAX", "Mean": "AVERAGE",
    "Min": "MIN", "Prod": "MULTIPLY", "Sum": "SUM", "SumSquare": "SUM_SQUARE",
}  # fmt: skip

ROWS: Mapping[str, Row] = {
    **MORE,
    **{op: _unary(name) for op, name in _UNARY.items()},
    **{op: _binary(name) for op, name in _BINARY.items()},
    **{f"Reduce{op}": _reduce(function) for op, function in _REDUCTIONS.items()},
    **{name: _unary(name.lower()) for name in ("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil")},
    **{name: _unary(name.lower()) for name in ("Cos", "Cosh", "Erf", "Exp", "Floor", "Log", "Round", "Sign", "Sin")},
    **{name: _unary(name.lower()) for name in ("Sinh", "Sqrt", "Tan", "Tanh", "Identity")},
    "ArgMax": _extreme("argmax"),
    "ArgMin": _extreme("argmin"),
    "AveragePool": _pool("average_pooling1", include_padding=lambda n: bool(n.get("count_include_pad", 0))),
    "BatchNormalization": _batch_normalization,
    "BitShift": _bit_shift,
    "Cast": _cast,
    "Celu": _with("activation_celu", alpha=("alpha", 1.0)),
    "Clip": _clip,
    "Concat": lambda g, n: g.join([n.x(i) for i in range(len(n.arrays))], axis=n.axis(0)),
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "CumProd": _cumulative("cumulative_product", "has_exclusive_product"),
    "CumSum": _cumulative("cumulative_summation", "has_exclusive_sum"),
    "DepthToSpace": _depth_to_space,
    "DequantizeLinear": _dequantize,
    "DynamicQuantizeLinear": _dynamic,
    "Elu": _with("activation_elu", alpha=("alpha", 1.0)),
    "Expand": lambda g, n: g.identity(n.broadcast(0, np.broadcast_shapes(n.array(0).shape, n.ints(1)))),
    "Gather": _gather,
    "GatherElements": lambda g, n: g.gather_elements(n.x(0), n.x(1), axis=n.axis(0)),
    "GatherND": _gather_nd,
    "Gelu": _gelu,
    "Gemm": _gemm,
    "GlobalAveragePool": _global(
        "average_pooling1", strides=None, start_padding=None, end_padding=None, dilations=None, include_padding=False
    ),
    "GlobalMaxPool": _global("max_pooling2"),
    "HardSigmoid": _with("activation_hard_sigmoid", alpha=("alpha", 0.2), beta=("beta", 0.5)),
    "HardSwish": lambda g, n: g.activation_hard_swish(n.x(), alpha=1 / 6, beta=0.5),
    "Hardmax": _along("activation_hardmax1"),
    "InstanceNormalization": _instance_normalization,
    "IsInf": _is_inf,
    "LRN": _lrn,
    "LayerNormalization": _layer_normalization,
    "LeakyRelu": _with("activation_leaky_relu", alpha=("alpha", 0.01)),
    "LogSoftmax": _along("activation_log_softmax1"),
    "LpPool": _pool("lp_pooling1", p=lambda n: n.get("p", 2)),
    "MatMul": _matmul,
    "MatMulInteger": _matmul_integer,
    "Max": _chain("max"),
    "MaxPool": _pool("max_pooling2"),
    "Mean": _chain("mean"),
    "Min": _chain("min"),
    "Mod": _mod,
    "OneHot": _one_hot,
    "PRelu": lambda g, n: _call(g.activation_parameterized_relu, n.broadcast_all(2)),
    "Pad": _pad,
    "QuantizeLinear": _quantize,
    "RMSNormalization": _rms_normalization,
    "ScatterElements": _scatter,
    "ScatterND": _scatter_nd,
    "Selu": _with(
        "activation_scaled_elu", alpha=("alpha", 1.67326319217681884765625), gamma=("gamma", 1.05070102214813232421875)
    ),
    "Shrink": _with("activation_shrink", bias=("bias", 0.0), threshold=("lambd", 0.5)),
    "Slice": _slice,
    "Softmax": _along("activation_softmax1"),
    "SpaceToDepth": _space_to_depth,
    "Split": _split,
    "Sum": _chain("add"),
    "Swish": _with("activation_swish", sigmoid_input_scale=("alpha", 1.0)),
    "ThresholdedRelu": _with("activation_thresholded_relu", alpha=("alpha", 1.0)),
    "Tile": lambda g, n: g.tile(n.x(), list(n.ints(1))),
    "TopK": _top_k,
    "Transpose": lambda g, n: g.identity(_transposed(g, n)),
    "Where": _where,
}


def _transposed(g: GraphBuilder, n: Given) -> Expression:
    order = list(n.get("perm", range(n.rank)[::-1]))
    sizes = n.array(0).shape
    strides = packed_strides(sizes)
    return g.reinterpret(n.x(), sizes=[sizes[axis] for axis in order], strides=[strides[axis] for axis in order])
