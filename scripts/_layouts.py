"""Convolutional networks in packed and NHWC memory, with the same weights in every layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import prod

import numpy as np
from _networks import Array, Network, parsed

import dml2onnx
from dml2onnx.builder import Expression, GraphBuilder, policies

MEMORIES = ("packed", "NHWC", "NHWC, rows")
"""Row-major NCHW; NHWC strides everywhere; NHWC strides with element-wise operators on flat views of the memory."""


@dataclass(slots=True)
class Canvas:
    """Builds a DirectML graph in one layout, and the text of the equivalent handwritten ONNX model."""

    memory: str
    g: GraphBuilder = field(init=False)
    weights: dict[str, Array] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    names: dict[Expression, str] = field(default_factory=dict)
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def __post_init__(self) -> None:
        policy = policies.packed if self.memory == "packed" else policies.interleaved_channel
        self.g = GraphBuilder(policy=policy)

    def line(self, y: Expression, text: str) -> Expression:
        """Adds the line of the handwritten model that computes ``y``."""
        name = self.names[y] = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return y

    def weight(self, *shape: int) -> tuple[str, Array]:
        array = (self.random.normal(size=shape) / np.sqrt(prod(shape[1:]))).astype(np.float32)
        self.weights[name := f"w{len(self.weights)}"] = array
        return name, array

    def input(self, sizes: tuple[int, int, int, int]) -> Expression:
        n, c, h, w = sizes
        if self.memory == "packed":
            x = self.g.input("picture", "FLOAT32", sizes)
            self.names[x] = "picture"
            return x
        lying = self.g.input("picture", "FLOAT32", (n, h, w, c))
        x = self.g.reinterpret(lying, sizes=sizes, strides=(c * h * w, 1, w * c, c))
        return self.line(x, "Transpose <perm = [0, 3, 1, 2]> (picture)")

    def convolution(self, x: Expression, filters: int, window: int, stride: int = 1) -> Expression:
        name, array = self.weight(filters, x.sizes[1], window, window)
        bias_name, bias = self.weight(filters)
        pads = [window // 2] * 2
        y = self.g.convolution(
            x,
            self.g.constant(array, name=name),
            self.g.constant(bias.reshape(1, -1, 1, 1), name=bias_name),
            strides=[stride] * 2,
            start_padding=pads,
            end_padding=pads,
        )
        attributes = f"strides = {[stride] * 2}, pads = {pads * 2}"
        return self.line(y, f"Conv <{attributes}> ({self.names[x]}, {name}, {bias_name})")

    def relu(self, x: Expression) -> Expression:
        y = self.element_wise(lambda a: self.g.activation_relu(a), x)
        return self.line(y, f"Relu ({self.names[x]})")

    def add(self, a: Expression, b: Expression) -> Expression:
        y = self.element_wise(lambda p, q: self.g.add(p, q), a, b)
        return self.line(y, f"Add ({self.names[a]}, {self.names[b]})")

    def element_wise(self, make: Callable[..., Expression], *items: Expression) -> Expression:
        if self.memory != "NHWC, rows":
            return make(*items)
        sizes, strides = items[0].sizes, items[0].desc.effective_strides
        with self.g.tensor_policy(policies.packed):
            row = make(*(self.g.reinterpret(item, sizes=(1, 1, 1, prod(sizes))) for item in items))
        return self.g.reinterpret(row, sizes=sizes, strides=strides)

    def largest(self, x: Expression, window: int, stride: int) -> Expression:
        y = self.g.max_pooling0(x, [window] * 2, [stride] * 2, [window // 2] * 2, [window // 2] * 2)
        attributes = f"kernel_shape = {[window] * 2}, strides = {[stride] * 2}, pads = {[window // 2] * 4}"
        return self.line(y, f"MaxPool <{attributes}> ({self.names[x]})")

    def joined(self, a: Expression, b: Expression) -> Expression:
        return self.line(self.g.join([a, b], 1), f"Concat <axis = 1> ({self.names[a]}, {self.names[b]})")

    def result(self, x: Expression) -> tuple[dml2onnx.Graph, str]:
        """The graph, and the declaration of its output in the handwritten model."""
        n, c, h, w = x.sizes
        if self.memory == "packed":
            self.lines.append(f"result = Identity ({self.names[x]})")
            return self.g.build({"result": x}), f"float[{n}, {c}, {h}, {w}] result"
        self.lines.append(f"result = Transpose <perm = [0, 2, 3, 1]> ({self.names[x]})")
        return self.g.build({"result": x}), f"float[{n}, {h}, {w}, {c}] result"


def _residual(d: Canvas) -> Expression:
    x = d.largest(d.relu(d.convolution(d.input((1, 3, 128, 128)), 32, 7, 2)), 3, 2)
    for filters, stride in ((32, 1), (64, 2), (128, 2)):
        for step in (stride, 1):
            y = d.convolution(d.relu(d.convolution(x, filters, 3, step)), filters, 3)
            x = d.relu(d.add(y, x if x.sizes == y.sizes else d.convolution(x, filters, 1, step)))
    return x


def _squeezing(d: Canvas) -> Expression:
    """SqueezeNet's fire modules: few channels, then convolutions with two window sizes, concatenated."""
    x = d.largest(d.relu(d.convolution(d.input((1, 3, 128, 128)), 64, 3, 2)), 3, 2)
    for few, filters in ((16, 64), (16, 64), (32, 128), (32, 128)):
        squeezed = d.relu(d.convolution(x, few, 1))
        x = d.joined(*(d.relu(d.convolution(squeezed, filters, window)) for window in (1, 3)))
    return x


def networks() -> Iterator[list[Network]]:
    """Yields each network in all layouts."""
    for name, draw in (("residual", _residual), ("squeezing", _squeezing)):
        yield [_network(name, draw, memory) for memory in MEMORIES]


def _network(name: str, draw: Callable[[Canvas], Expression], memory: str) -> Network:
    canvas = Canvas(memory)
    graph, declared = canvas.result(draw(canvas))
    sizes = (1, 3, 128, 128) if memory == "packed" else (1, 128, 128, 3)
    picture = np.random.default_rng(1).normal(size=(1, 3, 128, 128)).astype(np.float32)
    fed = picture if memory == "packed" else np.ascontiguousarray(picture.transpose(0, 2, 3, 1))
    body = "\n".join(canvas.lines)
    by_hand = parsed(f"g (float{list(sizes)} picture) => ({declared}) {{\n{body}\n}}", canvas.weights)
    return Network(f"{name}, {memory}", graph, by_hand, {"picture": fed}, canvas.weights, None)
