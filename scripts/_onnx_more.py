"""Rows of ``_onnx_rows.py`` for operators with many operands: recurrent, quantised, attention, regions, resizing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from _onnx_rows import Given, Made, Row

    from dml2onnx import GraphBuilder
    from dml2onnx.builder import Expression

_DIRECTIONS = {"forward": "FORWARD", "reverse": "BACKWARD", "bidirectional": "BIDIRECTIONAL"}


def _operand(n: Given, index: int, *front: int) -> Expression | None:
    """An input with leading sizes ``front``, or None if it is absent."""
    return n.x(index, (*front, *n.array(index).shape)) if n.has(index) else None


def _recurrent(name: str, functions: tuple[str, ...], states: int) -> Row:
    def row(g: GraphBuilder, n: Given) -> Made:
        if n.get("layout", 0) or n.get("clip") is not None or n.get("activations") is not None:
            return None
        if n.has(4):
            n.feed_as(4, np.uint32)
        direction = _DIRECTIONS[n.get("direction", "forward")]
        counts = 2 if direction == "BIDIRECTIONAL" else 1
        operands: dict[str, Any] = {
            "bias": _operand(n, 3, 1, 1),
            "hidden_init": _operand(n, 5, 1),
            "sequence_lengths": _operand(n, 4, 1, 1, 1),
        }
        if name == "lstm":
            operands |= {"cell_mem_init": _operand(n, 6, 1), "peephole": _operand(n, 7, 1, 1)}
            operands |= {"clip_threshold": 0.0, "use_clip_threshold": False}
            operands["couple_input_forget"] = bool(n.get("input_forget", 0))
        if name == "gru":
            operands["linear_before_reset"] = bool(n.get("linear_before_reset", 0))
        made = getattr(g, name)(
            _operand(n, 0, 1), _operand(n, 1, 1), _operand(n, 2, 1), direction=direction,
            activation_descs=[f"ACTIVATION_{item}" for item in functions] * counts, **operands,
        )  # fmt: skip
        results = (made.sequence, made.single, *([made.cell_single] if states > 1 else []))
        return [value for output, value in zip(n.outputs, results, strict=False) if output]

    return row


def _convolution_integer(g: GraphBuilder, n: Given) -> Made:
    window, rank = n.window(n.array(1).shape[2:]), n.rank
    if window is None or (n.has(3) and n.array(3).size > 1):
        return None
    points = [n.x(i, [1] * rank) if n.has(i) else None for i in (2, 3)]
    return g.convolution_integer(n.x(0), points[0], n.x(1), points[1], group_count=n.get("group", 1), **window)  # type: ignore[arg-type]


def _quantized_convolution(g: GraphBuilder, n: Given) -> Made:
    window, rank = n.window(n.array(3).shape[2:]), n.rank
    if window is None:
        return None
    channel = (1, -1, *[1] * (rank - 2))
    points = {i: n.x(i, np.reshape(n.array(i), channel).shape) for i in (1, 2, 4, 5, 6, 7)}
    bias = n.x(8, np.reshape(n.array(8), channel).shape) if n.has(8) else None
    kind = n.array(7).dtype.name.upper()
    return g.quantized_linear_convolution(
        n.x(0), points[1], points[2], n.x(3), points[4], points[5], bias, points[6], points[7], kind,
        group_count=n.get("group", 1), **window,  # type: ignore[arg-type]
    )  # fmt: skip


def _quantized_product(g: GraphBuilder, n: Given) -> Made:
    if any(n.array(i).size > 1 for i in (1, 2, 4, 5, 6, 7)) or n.array(1).dtype != np.float32:
        return None
    a, b = (n.x(i, [*[1] * (4 - n.array(i).ndim), *n.array(i).shape]) for i in (0, 3))
    one = {i: n.x(i, (1, 1, 1, 1)) for i in (1, 2, 4, 5, 6, 7)}
    kind = n.array(7).dtype.name.upper()
    return g.quantized_linear_matrix_multiply(a, one[1], b, one[4], one[6], kind, one[2], one[5], one[7])


def _attention(g: GraphBuilder, n: Given) -> Made:
    """Three-dimensional attention with an additive mask and as many heads of keys as of queries."""
    heads = n.get("q_num_heads")
    unsupported = ("is_causal", "softcap", "qk_matmul_output_mode", "left_window_size", "right_window_size")
    if (
        heads is None
        or n.get("kv_num_heads") != heads
        or any(n.get(name) for name in unsupported)
        or len(n.outputs) > 3
    ):
        return None
    query, key = n.array(0), n.array(1)
    bias, has_past = None, n.has(4)
    if n.has(3):
        if n.array(3).dtype != query.dtype:
            return None
        total = key.shape[1] + (n.array(4).shape[2] if has_past else 0)
        bias = n.broadcast(3, (query.shape[0], heads, query.shape[1], total))
    scale = n.get("scale", (query.shape[2] // heads) ** -0.5)
    past = (n.x(4), n.x(5)) if has_past else (None, None)
    made = g.multihead_attention(
        scale, -1e4, heads, "NONE", n.x(0), n.x(1), n.x(2), relative_position_bias=bias,
        past_key=past[0], past_value=past[1],
        output_present_key=len(n.outputs) > 1, output_present_value=len(n.outputs) > 1,
    )  # fmt: skip
    return made.output, *((made.present_key, made.present_value) if len(n.outputs) > 1 else ())


def _regions(g: GraphBuilder, n: Given) -> Made:
    n.feed_as(2, np.uint32)
    ratio, scale = n.get("sampling_ratio", 0), n.get("spatial_scale", 1.0)
    size = n.get("output_height", 1), n.get("output_width", 1)
    kind = {"avg": "AVERAGE", "max": "MAX"}[n.get("mode", "avg")]
    # ONNX takes the maximum of products, DirectML of samples; without half pixels ONNX enlarges regions to 1
    if ratio == 0 or kind == "MAX" or n.get("coordinate_transformation_mode", "half_pixel") != "half_pixel":
        return None
    return g.roi_align(
        n.x(0), n.x(1), n.x(2), kind, "LINEAR", scale, scale, 0.5, -0.5, 0.0, ratio, ratio, False, *size  # type: ignore[arg-type]
    )  # fmt: skip


def _resized(g: GraphBuilder, n: Given) -> Made:
    unsupported = ("antialias", "exclude_outside", "axes", "keep_aspect_ratio_policy")
    mode = n.get("coordinate_transformation_mode", "half_pixel")
    offsets = {"half_pixel": 0.5, "asymmetric": 0.0}
    if n.get("mode", "nearest") != "linear" or any(n.get(name) for name in unsupported) or mode not in offsets:
        return None
    sizes = n.array(0).shape
    scales = n.array(2).astype(float).tolist() if n.has(2) and n.array(2).size else None
    if scales is None:
        after = n.ints(3)
        scales = [b / a for a, b in zip(sizes, after, strict=True)]
    else:
        after = tuple(int(np.floor(a * s)) for a, s in zip(sizes, scales, strict=True))
    half = offsets[mode]
    return g.resample2(
        n.x(0),
        after,
        "LINEAR",
        scales=scales,
        input_pixel_offsets=[half] * n.rank,
        output_pixel_offsets=[-half] * n.rank,
    )


def _lp_normalization(g: GraphBuilder, n: Given) -> Made:
    """Without Epsilon, zero divided by a norm of zero is 0 in ONNX and NaN in DirectML."""
    axis = n.axis(-1)
    return g.lp_normalization(n.x(), axis, 0.0, n.get("p", 2)) if n.array(0).any(axis).all() else None


def _max_unpool(g: GraphBuilder, n: Given) -> Made:
    window = n.window(n.get("kernel_shape"))
    if window is None or any(window["start_padding"] + window["end_padding"]) or n.has(2):
        return None
    spatial = [
        (size - 1) * stride + kernel
        for size, stride, kernel in zip(n.array(0).shape[2:], window["strides"], n.get("kernel_shape"), strict=True)
    ]
    n.feed_as(1, np.uint64)
    return g.max_unpooling(n.x(0), n.x(1), output_sizes=[*n.array(0).shape[:2], *spatial])


def _reverse_sequence(g: GraphBuilder, n: Given) -> Made:
    time, batch = n.axis(0, "time_axis"), n.axis(1, "batch_axis")
    n.feed_as(1, np.uint32)
    sizes = [1 if axis == time else size for axis, size in enumerate(n.array(0).shape)]
    lengths = n.x(1, [size if axis == batch else 1 for axis, size in enumerate(sizes)])
    return g.reverse_subsequences(n.x(0), g.broadcast(lengths, sizes), axis=time)


def _col2im(g: GraphBuilder, n: Given) -> Made:
    image, block = n.ints(1), list(n.ints(2))
    window = n.window(block)
    if window is None:
        return None
    batch, columns = n.array(0).shape[:2]
    sizes = [batch, columns // int(np.prod(block)), *image]
    strides, dilations, start, end = window.values()
    return g.fold(n.x(0), sizes, block, strides, dilations, start, end)


MORE: Mapping[str, Row] = {
    "Col2Im": _col2im,
    "MaxUnpool": _max_unpool,
    "ReverseSequence": _reverse_sequence,
    "Attention": _attention,
    "ConvInteger": _convolution_integer,
    "GRU": _recurrent("gru", ("SIGMOID", "TANH"), 1),
    "LSTM": _recurrent("lstm", ("SIGMOID", "TANH", "TANH"), 2),
    "LpNormalization": _lp_normalization,
    "MeanVarianceNormalization": lambda g, n: g.mean_variance_normalization2(
        n.x(), None, None, axes=list(n.get("axes", (0, 2, 3))), use_mean=True, use_variance=True, epsilon=1e-9
    ),
    "QLinearConv": _quantized_convolution,
    "QLinearMatMul": _quantized_product,
    "RNN": _recurrent("rnn", ("TANH",), 1),
    "Resize": _resized,
    "RoiAlign": _regions,
}
