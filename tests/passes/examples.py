"""For each pass the smallest graphs on which it fires, and how many ONNX nodes there are without it and with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dml2onnx.builder import Expression, GraphBuilder
from dml2onnx.ir.graph import Graph


@dataclass(frozen=True)
class Example:
    """A graph for one pass, and the nodes of the model without any pass and with this one."""

    name: str
    build: Callable[[], Graph]
    before: dict[str, int]
    after: dict[str, int]

    def __str__(self) -> str:
        return f"{self.name}-{self.build.__name__}"


def transposed(g: GraphBuilder, x: Expression) -> Expression:
    """The last two axes of a tensor exchanged by its strides."""
    *outer, rows, columns = x.sizes
    *steps, row, column = x.desc.effective_strides
    return g.reinterpret(x, sizes=(*outer, columns, rows), strides=(*steps, column, row))


def read_twice() -> Graph:
    """A computed tensor that two nodes read transposed."""
    g = GraphBuilder()
    x = g.activation_relu(g.input("x", "FLOAT32", (2, 3, 4)))
    return g.build({"y": g.multiply(g.abs(transposed(g, x)), g.sqrt(transposed(g, x)))})


EXAMPLES = [
    Example(
        "share-moves",
        read_twice,
        {"Relu": 1, "Transpose": 2, "Abs": 1, "Sqrt": 1, "Mul": 1},
        {"Relu": 1, "Transpose": 1, "Abs": 1, "Sqrt": 1, "Mul": 1},
    ),
]
