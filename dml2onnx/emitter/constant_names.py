"""Default names of constants."""

from collections.abc import Mapping, Sequence

_COMPARISONS = ("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Min")

NAMES: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("Add", "Sub"), ("term", "term")),
    "BitShift": ("", "bits"),
    **dict.fromkeys(("BitwiseAnd", "BitwiseOr", "BitwiseXor"), ("mask", "mask")),
    "Clip": ("", "min", "max"),
    "Col2Im": ("", "image_shape", "block_shape"),
    "Concat": ("part", "part", "part"),
    **dict.fromkeys(("Conv", "ConvTranspose"), ("", "weights", "bias")),
    "ConvInteger": ("", "weights", "zero_point", "zero_point"),
    "CumSum": ("", "axis"),
    **dict.fromkeys(("DequantizeLinear", "QuantizeLinear"), ("", "scale", "zero_point")),
    "Div": ("dividend", "divisor"),
    "Equal": ("value", "value"),
    "Expand": ("value", "shape"),
    **dict.fromkeys(("Gather", "GatherElements", "GatherND"), ("table", "indices")),
    "Gemm": ("matrix", "matrix", "bias"),
    "Identity": ("value",),
    **dict.fromkeys(_COMPARISONS, ("limit", "limit")),
    "MatMul": ("matrix", "matrix"),
    "MatMulInteger": ("", "", "zero_point", "zero_point"),
    "Mod": ("", "divisor"),
    "Mul": ("factor", "factor"),
    "OneHot": ("", "depth", "values"),
    "Pad": ("", "pads", "value"),
    "Pow": ("base", "exponent"),
    "QLinearConv": ("", "scale", "zero_point", "weights", "scale", "zero_point", "scale", "zero_point", "bias"),
    "QLinearMatMul": ("", "scale", "zero_point", "matrix", "scale", "zero_point", "scale", "zero_point"),
    **dict.fromkeys(("ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum", "Unsqueeze"), ("", "axes")),
    "Reshape": ("", "shape"),
    "Resize": ("", "", "scales", "sizes"),
    **dict.fromkeys(("ScatterElements", "ScatterND"), ("data", "indices", "updates")),
    "Slice": ("", "starts", "ends", "axes", "steps"),
    "Split": ("", "sizes"),
    "Tile": ("", "repeats"),
    "TopK": ("", "count"),
    "Where": ("condition", "value", "value"),
}
"""The role of a constant in the first node that reads it, by the node's operator and the input's index."""
