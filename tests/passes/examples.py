"""Small graphs for each pass, with the ONNX nodes before and after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dml2onnx.builder import Expression, GraphBuilder
from dml2onnx.ir.graph import Graph
from tests.passes import folding


@dataclass(frozen=True)
class Example:
    """A graph for one pass, and the nodes of the model without passes and with this one."""

    name: str
    build: Callable[[], Graph]
    before: dict[str, int]
    after: dict[str, int]
    exact: bool = False
    """Whether the pass changes exact models only."""

    def __str__(self) -> str:
        return f"{self.name}-{self.build.__name__}"


def transposed(g: GraphBuilder, x: Expression) -> Expression:
    """Swaps the last two axes by strides."""
    *outer, rows, columns = x.sizes
    *steps, row, column = x.desc.effective_strides
    return g.reinterpret(x, sizes=(*outer, columns, rows), strides=(*steps, column, row))


def transposed_twice() -> Graph:
    """A computed tensor that two nodes read transposed."""
    g = GraphBuilder()
    x = g.activation_relu(g.input("x", "FLOAT32", (2, 3, 4)))
    return g.build({"y": g.multiply(g.abs(transposed(g, x)), g.sqrt(transposed(g, x)))})


EXAMPLES = [
    Example(
        "share-moves",
        transposed_twice,
        {"Relu": 1, "Transpose": 2, "Abs": 1, "Sqrt": 1, "Mul": 1},
        {"Relu": 1, "Transpose": 1, "Abs": 1, "Sqrt": 1, "Mul": 1},
    ),
    Example("turn-parts", folding.directions_joined, {"Slice": 2, "Concat": 1}, {"Transpose": 1, "Reshape": 1}),
    Example("turn-parts", folding.split_and_joined, {"Split": 1, "Concat": 1}, {"Transpose": 1, "Reshape": 1}),
    Example("fold-pads", folding.padded_convolution, {"Pad": 1, "Conv": 2}, {"Conv": 2}),
    Example("fold-pads", folding.padded_half_convolution, {"Pad": 1, "Conv": 1}, {"Conv": 1}),
    Example(
        "fold-pads",
        folding.padded_half_convolution,
        {"Concat": 2, "Cast": 2, "Conv": 1},
        {"Cast": 2, "Conv": 1},
        exact=True,
    ),
    Example("fold-pads", folding.padded_integer_convolution, {"Pad": 1, "ConvInteger": 1}, {"ConvInteger": 1}),
    Example("fold-pads", folding.padded_average, {"Pad": 1, "Reshape": 1, "AveragePool": 1}, {"AveragePool": 1}),
    Example("fold-pads", folding.padded_maximum, {"Pad": 2, "Cast": 2, "MaxPool": 2}, {"Cast": 2, "MaxPool": 2}),
    Example("merge-moves", folding.padded_twice, {"Pad": 2, "Abs": 1}, {"Pad": 1, "Abs": 1}),
    Example("merge-moves", folding.transposed_back, {"Abs": 1, "Transpose": 2, "Sqrt": 1}, {"Abs": 1, "Sqrt": 1}),
    Example("merge-moves", folding.sliced_twice, {"Slice": 2}, {"Slice": 1}),
    Example("merge-moves", folding.joined_twice, {"Concat": 3}, {"Concat": 1}),
    Example("merge-moves", folding.cast_twice, {"BitwiseNot": 2, "Cast": 6}, {"BitwiseNot": 2, "Cast": 2}),
    Example("merge-activations", folding.clipped_twice, {"Clip": 4}, {"Clip": 2}),
    Example(
        "merge-activations",
        folding.repeated_activations,
        {"Relu": 2, "Floor": 2, "Sqrt": 1, "BitwiseNot": 2, "Abs": 1},
        {"Relu": 1, "Floor": 1, "Sqrt": 1, "BitwiseNot": 2, "Abs": 1},
    ),
    Example(
        "keep-bytes",
        folding.quantised_layers,
        {"QLinearConv": 2, "Cast": 4, "MaxPool": 2, "Reshape": 1, "QLinearMatMul": 1},
        {"QLinearConv": 2, "MaxPool": 2, "Reshape": 1, "QLinearMatMul": 1},
    ),
    Example(
        "keep-bytes",
        folding.quantised_signed_layers,
        {"QLinearConv": 2, "Add": 6, "Cast": 10, "MaxPool": 2, "Reshape": 1, "QLinearMatMul": 1},
        {"QLinearConv": 2, "Add": 4, "Cast": 4, "MaxPool": 2, "Reshape": 1, "QLinearMatMul": 1},
    ),
    Example(
        "sign-weights",
        folding.quantised_small_layers,
        {"QLinearConv": 2, "Cast": 4, "MaxPool": 2, "Reshape": 1, "QLinearMatMul": 1},
        {"QLinearConv": 2, "Cast": 4, "MaxPool": 2, "Reshape": 1, "QLinearMatMul": 1},
    ),
    Example(
        "drop-reshapes",
        folding.products_and_sums,
        {"Reshape": 8, "Gemm": 4, "Mul": 2, "Clip": 2, "Add": 2},
        {"Reshape": 3, "Gemm": 4, "Mul": 2, "Clip": 2, "Add": 2},
    ),
    Example(
        "sign-weights",
        folding.dequantised_weights,
        {"DequantizeLinear": 4, "Conv": 1, "Reshape": 1, "MatMul": 1, "QuantizeLinear": 2},
        {"DequantizeLinear": 2, "Conv": 1, "Reshape": 1, "QuantizeLinear": 2}
        | {"MatMul": 1, "MatMulInteger": 1, "ReduceMin": 1, "Equal": 1, "Cast": 2, "Add": 2, "If": 2},
        exact=True,
    ),
]
