"""ONNX operators of neural networks: convolution, pooling, resizing, matrix products, activations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any, overload

import numpy as np

from dml2onnx.emitter.arithmetic import ArithmeticOps, Fold
from dml2onnx.emitter.core import FOLDED_GROWTH_ELEMENTS, EmitterCore, Keeps, Traits, legalised
from dml2onnx.emitter.tensor import Tensor, broadcast_shape
from dml2onnx.emitter.windows import Window
from dml2onnx.onnx_model import (
    BOOL,
    ELEMENT_TYPES,
    FLOAT,
    FLOAT16,
    INT8,
    INT32,
    INT64,
    UINT8,
    Array,
    Dequantized,
    DType,
)
from dml2onnx.onnx_model.records import Attribute

HIDES: Mapping[DType, Any] = {dtype: np.finfo(dtype.name).max / 2 for dtype in (FLOAT16, FLOAT)}
"""The maximum that is subtracted from the score of a masked key."""
_ALL = Traits()
_FIRST = Traits(inputs=(0,))


@overload
def _of_each(op: str, /, *, fold: Fold | None = None) -> Callable[[EmitterCore, Tensor], Tensor]: ...
@overload
def _of_each(op: str, a: str, /) -> Callable[[EmitterCore, Tensor, float], Tensor]: ...
@overload
def _of_each(op: str, a: str, b: str, /) -> Callable[[EmitterCore, Tensor, float, float], Tensor]: ...
def _of_each(op: str, /, *names: str, fold: Fold | None = None) -> Callable[..., Tensor]:
    """An element-wise activation with its attributes in order."""

    def method(self: EmitterCore, x: Tensor, *numbers: float) -> Tensor:
        attributes = dict(zip(names, numbers, strict=True)) or None
        return self.emit(op, _FIRST, [x], x.dtype, x.shape, attributes, fold)

    parameters = [Parameter(name, Parameter.POSITIONAL_ONLY) for name in ("self", "x", *names)]
    method.__dict__["__signature__"] = Signature(parameters)
    method.__name__ = op
    return method


def _over(op: str) -> Callable[[EmitterCore, Tensor, int], Tensor]:
    """An activation along an axis."""

    def method(self: EmitterCore, x: Tensor, axis: int) -> Tensor:
        return self.emit(op, _FIRST, [x], x.dtype, x.shape, {"axis": axis})

    method.__name__ = op
    return method


class NeuralOps(ArithmeticOps):
    """Methods named as the ONNX operators that they emit."""

    @legalised
    def Conv(self, x: Tensor, w: Tensor, b: Tensor | None, window: Window, group: int = 1) -> Tensor:
        """Cross-correlation of ``x`` (N, C, ...) with ``w`` (M, C / group, ...), plus ``b`` (M)."""
        attributes = window.attributes("Conv", group)
        inputs = [x, w] if b is None else [x, w, b]
        shape = (x.shape[0], w.shape[0], *window.output_sizes(x.shape[2:]))
        return self.emit("Conv", _ALL, inputs, x.dtype, shape, attributes)

    @legalised
    def ConvTranspose(self, x: Tensor, w: Tensor, b: Tensor | None, window: Window, group: int = 1) -> Tensor:
        """The transposed convolution of ``x`` (N, C, ...) with ``w`` (C, M / group, ...), plus ``b`` (M)."""
        attributes = window.attributes("ConvTranspose", group)
        if any(window.output_padding):
            attributes = {**attributes, "output_padding": window.output_padding}
        inputs = [x, w] if b is None else [x, w, b]
        shape = (x.shape[0], w.shape[1] * group, *window.transposed_sizes(x.shape[2:]))
        return self.emit("ConvTranspose", _ALL, inputs, x.dtype, shape, attributes)

    @legalised
    def MaxPool(self, x: Tensor, window: Window) -> Tensor:
        """Maximum over windows, ignoring padding. Pads must be smaller than the window."""
        return self._pooled("MaxPool", x, window)

    @legalised
    def MaxPoolWithIndices(self, x: Tensor, window: Window) -> tuple[Tensor, Tensor]:
        """Maximum, and the row-major index (INT64) of the first maximum in ``x``, which is not widened."""
        shape = (*x.shape[:2], *window.output_sizes(x.shape[2:]))
        outputs = [(x.dtype, shape), (INT64, shape)]
        values, indices = self.nodes("MaxPool", [x], outputs, window.attributes("MaxPool"))
        return values, indices

    @legalised
    def MaxUnpool(self, x: Tensor, indices: Tensor, sizes: tuple[int, ...]) -> Tensor:
        """Writes the elements of ``x`` at row-major indices of a tensor of these sizes, with 0 elsewhere.

        Window and strides are derived from the two sizes.
        """
        axes = list(zip(x.shape[2:], sizes[2:], strict=True))
        strides = tuple(large // small for small, large in axes)
        shape = tuple(large - (small - 1) * stride for (small, large), stride in zip(axes, strides, strict=True))
        attributes = {"kernel_shape": shape, "pads": (0, 0) * len(axes), "strides": strides}
        return self.nodes("MaxUnpool", [x, self.Cast(indices, INT64)], [(x.dtype, sizes)], attributes)[0]

    @legalised
    def AveragePool(self, x: Tensor, window: Window, *, count_include_pad: bool) -> Tensor:
        """Mean over windows; dilations need opset 19. A window over the whole input is GlobalAveragePool.

        That needs no sizes, and sums in another order: models with named sizes use it, so all others do too.
        """
        if window.is_all_of(x.shape[2:]) and self.runs_like("AveragePool", "GlobalAveragePool", x.dtype):
            shape = (*x.shape[:2], *(1 for _ in window.shape))
            return self.emit("GlobalAveragePool", _ALL, [x], x.dtype, shape)
        return self._pooled("AveragePool", x, window, {"count_include_pad": 1} if count_include_pad else {})

    @legalised
    def LpPool(self, x: Tensor, window: Window, p: int) -> Tensor:
        """``sum(|x| ** p) ** (1 / p)`` over windows; dilations need opset 18. Pads must be smaller than the window."""
        return self._pooled("LpPool", x, window, {"p": p})

    def _pooled(self, op: str, x: Tensor, window: Window, more: Mapping[str, Attribute] = {}) -> Tensor:
        shape = (*x.shape[:2], *window.output_sizes(x.shape[2:]))
        return self.emit(op, _ALL, [x], x.dtype, shape, {**window.attributes(op), **more})

    @legalised
    def BatchNormalization(
        self, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, epsilon: float
    ) -> Tensor:
        """``scale * (x - mean) / sqrt(variance + epsilon) + bias`` of (N, C, ...) with vectors of C."""
        inputs = [x, scale, bias, mean, variance]
        return self.emit("BatchNormalization", _ALL, inputs, x.dtype, x.shape, {"epsilon": epsilon})

    @legalised
    def InstanceNormalization(self, x: Tensor, scale: Tensor, bias: Tensor, epsilon: float) -> Tensor:
        """``scale[c] * (x[n, c] - mean) / sqrt(variance + epsilon) + bias[c]`` with statistics per ``x[n, c]``.

        ``x`` has at least three dimensions.
        """
        inputs = [x, scale, bias]
        return self.emit("InstanceNormalization", _ALL, inputs, x.dtype, x.shape, {"epsilon": epsilon})

    @legalised
    def LayerNormalization(self, x: Tensor, scale: Tensor, bias: Tensor | None, axis: int, epsilon: float) -> Tensor:
        """``scale * (x - mean) / sqrt(variance + epsilon) + bias`` with statistics over the axes from ``axis`` on.

        Scale and bias broadcast to these axes; they are expanded, since runtimes require it.
        """
        inputs = [x, *(self.Expand(item, x.shape[axis:]) for item in (scale, bias) if item is not None)]
        return self.emit("LayerNormalization", _ALL, inputs, x.dtype, x.shape, {"axis": axis, "epsilon": epsilon})

    @legalised
    def RMSNormalization(self, x: Tensor, scale: Tensor, axis: int, epsilon: float) -> Tensor:
        """``scale * x / sqrt(mean(x ** 2) + epsilon)`` over the axes from ``axis`` on; opset 23."""
        inputs = [x, self.Expand(scale, x.shape[axis:])]
        return self.emit("RMSNormalization", _ALL, inputs, x.dtype, x.shape, {"axis": axis, "epsilon": epsilon})

    @legalised
    def GroupNormalization(self, x: Tensor, scale: Tensor, bias: Tensor, groups: int, epsilon: float) -> Tensor:
        """``scale * (x - mean) / sqrt(variance + epsilon) + bias`` with statistics per group of channels; opset 21.

        Scale and bias are vectors of C. ONNX defines the operator as a function.
        """
        inputs, attributes = [x, scale, bias], {"num_groups": groups, "epsilon": epsilon}
        return self.nodes("GroupNormalization", inputs, [(x.dtype, x.shape)], attributes)[0]

    @legalised
    def LpNormalization(self, x: Tensor, axis: int, p: int, epsilon: float) -> Tensor:
        """``x / norm`` of order ``p``, 1 or 2, along an axis; ONNX has no ``epsilon``, which is negligible."""
        return self.emit("LpNormalization", _ALL, [x], x.dtype, x.shape, {"axis": axis, "p": p})

    @legalised
    def LRN(self, x: Tensor, size: int, alpha: float, beta: float, bias: float) -> Tensor:
        """``x / (bias + alpha / size * s) ** beta``, ``s`` the sum of squares over ``size`` channels."""
        attributes = {"size": size, "alpha": alpha, "beta": beta, "bias": bias}
        return self.emit("LRN", _ALL, [x], x.dtype, x.shape, attributes)

    def MatMul(self, a: Tensor, b: Tensor) -> Tensor:
        """``numpy.matmul`` of tensors with at least two dimensions."""
        batch = broadcast_shape(a.shape[:-2], b.shape[:-2])
        shape = (*batch, a.shape[-2], b.shape[-1])
        return self.emit("MatMul", _ALL, [a, b], a.dtype, shape, None, np.matmul)

    @legalised
    def Attention(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        past: tuple[Tensor, Tensor] | None,
        *,
        heads: tuple[int, int],
        scale: float,
        presents: int,
    ) -> list[Tensor]:
        """``softmax(scale * Q K^T + mask) V`` per head, and ``presents`` of the present key and value; opset 23.

        Query, key and value are (batch, length, heads * size), past and present (batch, heads, length, size), all cast
        to the type of the query. ``heads`` are those of the query and of the others. ``mask`` broadcasts to (batch,
        heads, queries, keys).
        """
        batch, queries, _ = query.shape
        sizes = [x.shape[2] // heads[1] for x in (key, value)]
        total = key.shape[1] + (0 if past is None else past[0].shape[2])
        inputs: list[Tensor | None] = [query, *(self.Cast(x, query.dtype) for x in (key, value))]
        if mask is not None or past is not None:
            inputs.append(None if mask is None else self.Expand(mask, (*mask.shape[:2], queries, total)))
        inputs += [self.Cast(x, query.dtype) for x in past or ()]
        shapes: list[tuple[int, ...]] = [(batch, queries, heads[0] * sizes[1])]
        shapes += [(batch, heads[1], total, size) for size in sizes]
        attributes: dict[str, Attribute] = {"q_num_heads": heads[0], "kv_num_heads": heads[1], "scale": float(scale)}
        return self.nodes("Attention", inputs, [(query.dtype, shape) for shape in shapes[: 1 + presents]], attributes)

    @legalised
    def masked(self, mask: Tensor, value: Tensor, bias: Tensor | None, scale: float, *, instead: bool) -> Tensor | None:
        """The addend of scores: ``scale * bias``, plus ``value``, or ``value`` ``instead``, where the mask is 0."""
        kept = self.Cast(mask, BOOL)
        scaled = None if bias is None else self.Mul(bias, self.constant(scale, bias.dtype))
        if kept.value is not None and kept.value.all():
            return scaled
        # kernels of Attention treat the lowest number as an absent key, and return 0 without keys; half of it masks too
        hiding = value.constant if np.isinf(value.constant) else np.maximum(value.constant, -HIDES[value.dtype])
        plain = scaled if instead and scaled is not None else self.constant(0, value.dtype)
        values = self.Where(kept, plain, self.constant(hiding, value.dtype))
        return values if scaled is None or instead else self.Add(scaled, values)

    @legalised
    def Gemm(
        self,
        a: Tensor,
        b: Tensor,
        c: Tensor | None,
        *,
        alpha: float = 1.0,
        beta: float = 1.0,
        trans_a: bool = False,
        trans_b: bool = False,
    ) -> Tensor:
        """``alpha * A B + beta * C`` of matrices; C broadcasts to the result."""
        m, n = a.shape[1 if trans_a else 0], b.shape[0 if trans_b else 1]
        attributes: dict[str, Attribute] = {}
        if alpha != 1:
            attributes["alpha"] = float(alpha)
        if c is not None and beta != 1:
            attributes["beta"] = float(beta)
        if trans_a:
            attributes["transA"] = 1
        if trans_b:
            attributes["transB"] = 1
        inputs = [a, b] if c is None else [a, b, c]
        return self.emit("Gemm", _ALL, inputs, a.dtype, (m, n), attributes)

    @legalised
    def Resize(
        self, /, x: Tensor, sizes: tuple[int, ...] | None, scales: tuple[float, ...] | None, **attributes: Attribute
    ) -> Tensor:
        """ONNX Resize; either ``sizes`` or float32 ``scales`` (whose floor gives the sizes), all axes."""
        if sizes is not None:
            shape = sizes
            inputs = [x, None, None, self.ints(sizes)]
        else:
            assert scales is not None
            shape = tuple(int(np.floor(np.float32(n) * np.float32(s))) for n, s in zip(x.shape, scales, strict=True))
            inputs = [x, None, self.constant(scales, np.float32)]
        moves = attributes.get("mode", "nearest") == "nearest"
        traits = Traits("T1", (0,), keeps=Keeps.BITS if moves else Keeps.VALUE)
        return self.emit("Resize", traits, inputs, x.dtype, shape, attributes)

    @legalised
    def RoiAlign(
        self,
        x: Tensor,
        rois: Tensor,
        batches: Tensor,
        size: tuple[int, int],
        samples: tuple[int, int],
        scale: float,
        otherwise: Callable[[Tensor | None], Tensor],
    ) -> Tensor:
        """The mean of interpolated points per output element of each region of ``rois`` (R, 4).

        Coordinates are multiplied by ``scale`` and shifted by half a pixel. The number of points along an axis is the
        number of input elements per output element, limited to the range ``samples``. ``batches`` (R) are integers. If
        RoiAlign differs, ``otherwise`` computes all regions, or those of a mask.
        """
        fewest, most = samples
        attributes: dict[str, Attribute] = {
            "coordinate_transformation_mode": "half_pixel",
            "output_height": size[0],
            "output_width": size[1],
            "sampling_ratio": most if fewest == most else 0,
        }
        if scale != 1:
            attributes["spatial_scale"] = scale
        shape = (rois.shape[0], x.shape[1], *size)
        inputs = [x, rois, self.Cast(batches, INT64)]
        return self.emit("RoiAlign", Traits("T1", (0, 1)), inputs, x.dtype, shape, attributes)

    # --- activations -------------------------------------------------------------------------------------------------

    Relu = _of_each("Relu", fold=lambda a: np.maximum(a, 0))
    """``max(x, 0)``."""

    LeakyRelu = _of_each("LeakyRelu", "alpha")
    """``x`` where positive, else ``alpha * x``."""

    @legalised
    def PRelu(self, x: Tensor, slope: Tensor) -> Tensor:
        """``x`` where positive, else ``slope * x``; the slope broadcasts to ``x``."""
        return self.emit("PRelu", _ALL, [x, slope], x.dtype, x.shape)

    Elu = _of_each("Elu", "alpha")
    """``x`` where positive, else ``alpha * (exp(x) - 1)``."""

    Celu = _of_each("Celu", "alpha")
    """``max(0, x) + min(0, alpha * (exp(x / alpha) - 1))``."""

    Selu = legalised(_of_each("Selu", "alpha", "gamma"))
    """``gamma * x`` where positive, else ``gamma * (alpha * exp(x) - alpha)``."""

    Sigmoid = legalised(_of_each("Sigmoid"))
    """``1 / (1 + exp(-x))``."""

    Tanh = _of_each("Tanh", fold=np.tanh)
    """Hyperbolic tangent."""

    Swish = legalised(_of_each("Swish", "alpha"))
    """``x * sigmoid(alpha * x)``; opset 24."""

    HardSigmoid = _of_each("HardSigmoid", "alpha", "beta")
    """``max(0, min(1, alpha * x + beta))``."""

    @legalised
    def HardSwish(self, x: Tensor, alpha: float, beta: float) -> Tensor:
        """``x * max(0, min(1, alpha * x + beta))``; ONNX has it for 1 / 6 and 0.5 only."""
        return self.emit("HardSwish", _ALL, [x], x.dtype, x.shape)

    Shrink = legalised(_of_each("Shrink", "bias", "lambd"))
    """``x + bias`` below ``-threshold``, ``x - bias`` above ``threshold``, else 0."""

    Softplus = legalised(_of_each("Softplus"))
    """``log(exp(x) + 1)``."""

    Softsign = legalised(_of_each("Softsign"))
    """``x / (1 + |x|)``."""

    ThresholdedRelu = legalised(_of_each("ThresholdedRelu", "alpha"))
    """``x`` where above ``alpha``, else 0."""

    Gelu = legalised(_of_each("Gelu"))
    """``0.5 * x * (1 + erf(x / sqrt 2))``; opset 20."""

    Softmax = _over("Softmax")
    """``exp(x) / sum(exp(x))`` along an axis."""

    LogSoftmax = legalised(_over("LogSoftmax"))
    """Logarithm of the softmax along an axis."""

    Hardmax = _over("Hardmax")
    """1 at the first maximum along an axis, else 0."""

    # --- quantization ------------------------------------------------------------------------------------------------

    @legalised
    def QuantizeLinear(self, x: Tensor, scale: Tensor, zero_point: Tensor, axis: int | None = None) -> Tensor:
        """``round(x / scale) + zero_point``, halves to even, saturated to the type of ``zero_point``.

        ``x`` is FLOAT; NaN becomes the lowest integer. Both parameters are scalars, or vectors along ``axis``.
        """
        dtype = zero_point.dtype
        limits = np.iinfo(dtype.name)

        def fold(a: np.ndarray, s: np.ndarray, z: np.ndarray) -> Array:
            s, z = _along(s, axis, a.ndim), _along(z, axis, a.ndim)
            y = np.rint(a / s) + z.astype(np.float32)
            return np.asarray(np.clip(np.where(np.isnan(y), limits.min, y), limits.min, limits.max), dtype)

        attributes: dict[str, Attribute] | None = None if axis is None else {"axis": axis}
        inputs = [x, scale, zero_point]
        return self.emit("QuantizeLinear", Traits("T1", (0,), False), inputs, dtype, x.shape, attributes, fold)

    @legalised
    def DynamicQuantizeLinear(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """FLOAT ``x`` as UINT8, with scalar scale and zero point for the range of ``x`` and 0."""
        outputs = [(UINT8, x.shape), (x.dtype, ()), (UINT8, ())]
        y, scale, zero_point = self.nodes("DynamicQuantizeLinear", [x], outputs)
        return y, scale, zero_point

    @legalised
    def MatMulInteger(self, a: Tensor, b: Tensor, a_zero_point: Tensor, b_zero_point: Tensor) -> Tensor:
        """``(a - a_zero_point) x (b - b_zero_point)`` of 8-bit integers, in INT32.

        ``a_zero_point`` is a scalar; ``b_zero_point`` a scalar, a vector of columns of a matrix, or batches of one row.
        """
        shape = (*broadcast_shape(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
        inputs = [a, b, a_zero_point, b_zero_point]
        return self.emit("MatMulInteger", Traits("T1", (0, 2), False), inputs, INT32, shape)

    @legalised
    def ConvInteger(
        self, x: Tensor, w: Tensor, x_zero_point: Tensor, w_zero_point: Tensor, window: Window, group: int = 1
    ) -> Tensor:
        """``Conv`` of ``x - x_zero_point`` and ``w - w_zero_point``, both zero points scalars, in INT32.

        Padding adds nothing: it is the zero point.
        """
        attributes = window.attributes("ConvInteger", group)
        shape = (x.shape[0], w.shape[0], *window.output_sizes(x.shape[2:]))
        inputs = [x, w, x_zero_point, w_zero_point]
        return self.emit("ConvInteger", Traits("T1", (0, 2), False), inputs, INT32, shape, attributes)

    @legalised
    def QLinearConv(
        self, inputs: Sequence[Tensor], bias: Tensor | None, window: Window, group: int, dtype: DType
    ) -> Tensor:
        """Quantized convolution; ``inputs`` and bias (INT32) are those of ONNX."""
        x, w = inputs[0], inputs[3]
        shape = (x.shape[0], w.shape[0], *window.output_sizes(x.shape[2:]))
        operands = [*inputs, *([] if bias is None else [bias])]
        return self.nodes("QLinearConv", operands, [(dtype, shape)], window.attributes("QLinearConv", group))[0]

    @legalised
    def QLinearMatMul(self, inputs: Sequence[Tensor], dtype: DType) -> Tensor:
        """Quantized product of matrices; ``inputs`` are those of ONNX."""
        a, b = inputs[0], inputs[3]
        shape = (*broadcast_shape(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
        return self.nodes("QLinearMatMul", inputs, [(dtype, shape)])[0]

    @legalised
    def DequantizeLinear(
        self,
        x: Tensor,
        scale: Tensor,
        zero_point: Tensor,
        axis: int | None = None,
        *,
        keep: bool = False,
    ) -> Tensor:
        """``(x - zero_point) * scale`` in the type of ``scale``, with an exact difference.

        Both parameters are scalars, or vectors along ``axis``; the zero point of INT32 is 0, and stated, since
        ONNX Runtime Web's WebNN refuses models without it. ``keep`` disables folding.
        """

        def fold(a: np.ndarray, s: np.ndarray, z: np.ndarray) -> Array:
            difference = a.astype(np.int64) - _along(z, axis, a.ndim)
            return np.asarray(difference.astype(s.dtype) * _along(s, axis, a.ndim))

        # folding would enlarge a large constant
        folds = fold if x.size <= FOLDED_GROWTH_ELEMENTS and not keep else None
        if x.value is not None and folds is None and x.dtype == np.int8 and not keep:
            x, zero_point = self._as_unsigned(x, zero_point)
        attributes: dict[str, Attribute] | None = None if axis is None else {"axis": axis}
        inputs = [x, scale, zero_point]
        traits = Traits(self._dequantized_type(), (0,), False)
        result = self.emit("DequantizeLinear", traits, inputs, scale.dtype, x.shape, attributes, folds)
        if result.value is not None and axis in (None, 0):
            result.dequantized = _dequantized(x, scale, zero_point)
        return result

    def _as_unsigned(self, x: Tensor, zero_point: Tensor) -> tuple[Tensor, Tensor]:
        """Converts constant INT8 and its zero point to UINT8.

        Runtimes may compute readers in integers, and on some processors sums of UINT8 * INT8 saturate.
        """
        if zero_point.value is None:
            return x, zero_point
        return self.raised(x), self.raised(zero_point)

    @legalised
    def raised(self, x: Tensor) -> Tensor:
        """Converts INT8 to UINT8 by adding 128 modulo 256."""
        return self.Add(self.Cast(x, UINT8), self.constant(128, UINT8))

    @legalised
    def lowered(self, x: Tensor) -> Tensor:
        """Converts UINT8 to INT8 by subtracting 128, which modulo 256 is adding it."""
        return self.Cast(self.Add(x, self.constant(128, UINT8)), INT8)

    @legalised
    def scaled(self, x: Tensor, first: Tensor, second: Tensor) -> Tensor:
        """``x * (first * second)``, which folds constant scales."""
        return self.Mul(x, self.Mul(first, second))

    def stored_nibbles(self, x: Tensor, dtype: DType) -> Tensor:
        """Constant 4-bit integers, passed as one per byte, as FLOAT.

        The Cast is not folded, so the file stores half a byte for each.
        """
        stored = self.constant(np.ascontiguousarray(x.constant).view(dtype), label=x.label)
        return self.nodes("Cast", [stored], [(FLOAT, x.shape)], {"to": ELEMENT_TYPES[FLOAT][0]})[0]

    def _dequantized_type(self) -> str:
        return "T" if self.opset < 19 else "T1"


def _along(parameter: np.ndarray, axis: int | None, rank: int) -> np.ndarray:
    """Reshapes a vector to broadcast along ``axis`` of ``rank`` dimensions; returns a scalar unchanged."""
    return parameter if axis is None else parameter.reshape([-1, *[1] * (rank - axis - 1)])


def _dequantized(x: Tensor, scale: Tensor, zero_point: Tensor) -> Dequantized:
    """Records the integers and parameters (scalars or vectors) of a dequantized constant."""
    shape = () if scale.size == 1 else (scale.size,)
    points = np.broadcast_to(zero_point.constant.reshape(-1), (scale.size,)).reshape(shape)
    return Dequantized(x.constant, scale.constant.reshape(shape), points, x.label)
