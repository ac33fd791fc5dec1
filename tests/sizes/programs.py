"""Random programs that can be written for any batch, height and width."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

import dml2onnx
from dml2onnx.builder import GraphBuilder
from dml2onnx.builder.expression import Expression

Step = Callable[[GraphBuilder, Expression, "Draws"], Expression]


@dataclass
class Draws:
    """The random numbers of a step, the same at all sizes."""

    numbers: tuple[int, ...]

    def of(self, position: int, *choices: int) -> int:
        return choices[self.numbers[position] % len(choices)]


def _weights(*sizes: int) -> np.ndarray:
    return np.random.default_rng(sum(sizes)).standard_normal(sizes).astype(np.float32)


def _convolution(g: GraphBuilder, x: Expression, d: Draws) -> Expression:
    kernel = d.of(0, 1, 3)
    return g.convolution(
        x,
        _weights(d.of(1, 3, 4), x.sizes[1], kernel, kernel),
        strides=[d.of(2, 1, 2)] * 2,
        start_padding=[kernel // 2] * 2,
        end_padding=[kernel // 2] * 2,
    )


def _transposed_convolution(g: GraphBuilder, x: Expression, d: Draws) -> Expression:
    return g.convolution(x, _weights(x.sizes[1], 3, 2, 2), direction="BACKWARD", strides=[2, 2])


def _pooling(g: GraphBuilder, x: Expression, d: Draws) -> Expression:
    return g.average_pooling(x, [d.of(0, 1, 2)] * 2, [2, 2], [0, 0], [1, 1])


def _residual(g: GraphBuilder, x: Expression, d: Draws) -> Expression:
    return g.add(
        x,
        g.activation_relu(
            g.convolution(x, _weights(x.sizes[1], x.sizes[1], 3, 3), start_padding=[1, 1], end_padding=[1, 1])
        ),
    )


def _statistics(g: GraphBuilder, x: Expression, d: Draws) -> Expression:
    return x - g.reduce(x, "AVERAGE", [d.of(0, 1, 2, 3)])


def _bias(g: GraphBuilder, x: Expression, d: Draws) -> Expression:
    return x * _weights(1, x.sizes[1], 1, 1) + 1.0


def _normalized(g: GraphBuilder, x: Expression, d: Draws) -> Expression:
    return g.mean_variance_normalization(x, None, None, [2, 3], True, True, 1e-5)


def _padding(g: GraphBuilder, x: Expression, d: Draws) -> Expression:
    return g.padding(x, "CONSTANT", 0.0, [0, 0, d.of(0, 0, 1), 1], [0, 0, 2, d.of(1, 0, 3)])


def _upsampled(g: GraphBuilder, x: Expression, d: Draws) -> Expression:
    n, c, h, w = x.sizes
    return g.resample(x, [n, c, h * 2, w * d.of(0, 1, 3)], "NEAREST_NEIGHBOR")


def _flipped(g: GraphBuilder, x: Expression, d: Draws) -> Expression:
    """A window over all elements, and one over the first rows."""
    n, c, h, w = x.sizes
    return g.slice1(x, [0, 0, 0, 0], [n, c, min(h, 2), w], [1, 1, 1, -1])


def _joined(g: GraphBuilder, x: Expression, d: Draws) -> Expression:
    return g.join([x, x], d.of(0, 0, 1, 2, 3))


def _transposed(g: GraphBuilder, x: Expression, d: Draws) -> Expression:
    """Height and width are exchanged by strides."""
    n, c, h, w = x.sizes
    return g.activation_identity(g.reinterpret(x, sizes=[n, c, w, h], strides=[c * h * w, h * w, 1, w]))


def _rows(g: GraphBuilder, x: Expression, d: Draws) -> Expression:
    """A product over rows of channels; the pixels are merged into one dimension and split again."""
    n, c, h, w = x.sizes
    rows = g.reinterpret(x, sizes=[n, 1, h * w, c], strides=[c * h * w, c * h * w, 1, h * w])
    product = g.gemm(rows, g.broadcast(g.constant(_weights(1, 1, c, c)), [n, 1, c, c]))
    return g.activation_identity(g.reinterpret(product, sizes=[n, c, h, w], strides=[c * h * w, 1, w * c, c]))


def _attention(g: GraphBuilder, x: Expression, d: Draws) -> Expression:
    """Softmax over all pixels, which are one dimension."""
    n, c, h, w = x.sizes
    rows = g.reinterpret(x, sizes=[1, n, c, h * w])
    return g.reinterpret(g.activation_softmax(rows, [3]), sizes=[n, c, h, w])


def _flattened(g: GraphBuilder, x: Expression, d: Draws) -> Expression:
    """Batch and channels in one dimension."""
    n, c, h, w = x.sizes
    return g.reinterpret(g.activation_sigmoid(g.reinterpret(x, sizes=[1, n * c, h, w])), sizes=[n, c, h, w])


def _filled(g: GraphBuilder, x: Expression, d: Draws) -> Expression:
    return g.add(x, g.fill_value_constant(list(x.sizes), "FLOAT32", 0.5))


def _repeated(g: GraphBuilder, x: Expression, d: Draws) -> Expression:
    return g.tile(x, [1, 1, d.of(0, 1, 2), 2])


def _blocks(g: GraphBuilder, x: Expression, d: Draws) -> Expression:
    wide = g.convolution(x, _weights(4, x.sizes[1], 1, 1))
    return g.depth_to_space(wide, 2)


def _halves(g: GraphBuilder, x: Expression, d: Draws) -> Expression:
    """The two halves of a join."""
    axis = d.of(0, 0, 2, 3)
    a, b = g.split(g.join([x, x + 1.0], axis), axis, [x.sizes[axis]] * 2)
    return g.subtract(a, b)


def _masked(g: GraphBuilder, x: Expression, d: Draws) -> Expression:
    """One row of every image is repeated over the others by a stride of 0."""
    n, c, h, w = x.sizes
    return g.multiply(x, g.reinterpret(x, sizes=[n, c, h, w], strides=[c * h * w, h * w, 0, 1]))


STEPS: tuple[Step, ...] = (
    _convolution, _transposed_convolution, _pooling, _residual, _statistics, _bias, _normalized, _padding, _upsampled,
    _flipped, _joined, _transposed, _rows, _attention, _flattened, _filled, _repeated, _blocks, _halves, _masked,
)  # fmt: skip


@dataclass(frozen=True)
class Program:
    """A chain of steps."""

    steps: tuple[tuple[int, tuple[int, ...]], ...]

    def at(self, n: int, h: int, w: int) -> dml2onnx.Graph:
        """The program, written for these sizes."""
        g = GraphBuilder()
        x = g.input("x", np.float32, [n, 3, h, w])
        for step, numbers in self.steps:
            x = STEPS[step](g, x, Draws(numbers))
        return g.build({"y": x})

    def __repr__(self) -> str:
        return " -> ".join(f"{STEPS[step].__name__}{numbers}" for step, numbers in self.steps)


def programs(most: int = 4) -> st.SearchStrategy[Program]:
    """A chain of up to ``most`` steps."""
    step = st.tuples(st.integers(0, len(STEPS) - 1), st.tuples(*[st.integers(0, 11)] * 3))
    return st.lists(step, min_size=1, max_size=most).map(lambda steps: Program(tuple(steps)))
