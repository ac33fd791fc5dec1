"""Graphs recorded from public C++ programs, and the same networks as handwritten ONNX.

The recordings have no weights: tensors owned by DirectML become random constants. The ONNX side does not depend on the
compiler: a table has the ONNX equivalent of each operator, as exporters of training frameworks write it, with channels
first and a Transpose at either end for other layouts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from _networks import OPSET, Array, Network
from onnx import helper, numpy_helper

import dml2onnx
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Constant, Graph, Node, Value
from dml2onnx.ir.inputs import input_descs
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc

RECORDED: Mapping[str, tuple[str, tuple[int, ...] | None, str]] = {
    "super-resolution NCHW, FLOAT16": ("superres_nchw.json", (1, 3, 54, 96), ""),
    "super-resolution NHWC, FLOAT16": ("superres_nhwc.json", (1, 3, 54, 96), ""),
    "yolov4": ("yolov4.json", None, "Softplus"),
}
"""For each network: its file, smaller picture sizes if the recording's are too slow on a CPU, and slow kernels."""


def recorded(directory: Path, only: str = "") -> Iterator[Network]:
    for name, (file, sizes, slow) in RECORDED.items():
        if only in name:
            yield _network(name, dml2onnx.load(directory / file), sizes, slow)


def squeezenet(path: Path) -> Network:
    """SqueezeNet as a DxDispatch program, with its weights in adjacent files."""
    graph = dml2onnx.load(path, dml2onnx.LoadOptions(freeze=True, inputs=frozenset({"data"})))
    (port,) = graph.inputs
    (desc,) = input_descs(graph.inputs, graph.nodes, graph.outputs)
    types = {read.value: item.data_type.dtype for node in graph.nodes for _, _, read, item in node.views_in()}
    weights = {item.value: np.frombuffer(item.data.read(), types[item.value]) for item in graph.constants}
    x = np.random.default_rng(1).uniform(0, 1, _in_memory(desc)).astype(desc.data_type.dtype)
    return Network("SqueezeNet", graph, _ByHand(graph, weights, desc).model(), {port.name: x}, {}, None)


def _network(name: str, graph: Graph, sizes: tuple[int, ...] | None, slow: str) -> Network:
    (picture,) = [item for item in graph.inputs if not _is_owned(graph, item.value)]
    if sizes is not None:
        graph = dml2onnx.resize(graph, {picture.name: sizes})
    weights = dict(_weights(graph))
    inputs = tuple(item for item in graph.inputs if item.value not in weights)
    constants = tuple(Constant(value, ArrayData.of(array)) for value, array in weights.items())
    whole = replace(graph, inputs=inputs, constants=(*graph.constants, *constants))
    (desc,) = input_descs(whole.inputs, whole.nodes, whole.outputs)
    x = np.random.default_rng(1).uniform(0, 1, _in_memory(desc)).astype(desc.data_type.dtype)
    is_half = x.dtype == np.float16
    by_hand = _ByHand(whole, weights, desc).model()
    return Network(name, whole, by_hand, {whole.inputs[0].name: x}, {}, None, 1e-2 if is_half else 1e-3, slow)


def _is_owned(graph: Graph, value: Value) -> bool:
    return any(desc.owned_by_dml for node in graph.nodes for _, _, read, desc in node.views_in() if read.value is value)


def _weights(graph: Graph) -> Iterator[tuple[Value, Array]]:
    """Yields random weights in memory order that preserve magnitudes from layer to layer."""
    rng = np.random.default_rng(0)
    for node in graph.nodes:
        for name, _, read, desc in node.views_in():
            if desc.owned_by_dml:
                spread = 1 / np.sqrt(np.prod(desc.sizes[1:])) if name == "FilterTensor" else 0.1
                yield read.value, rng.normal(0, spread, desc.element_count).astype(desc.data_type.dtype)


def _order(desc: TensorDesc) -> list[int]:
    """The axes by decreasing stride."""
    return sorted(range(desc.rank), key=lambda axis: (-desc.effective_strides[axis], axis))


def _in_memory(desc: TensorDesc) -> tuple[int, ...]:
    return tuple(desc.sizes[axis] for axis in _order(desc))


class _ByHand:
    """Builds the handwritten ONNX model of a graph."""

    def __init__(self, graph: Graph, weights: Mapping[Value, Array], desc: TensorDesc) -> None:
        self._graph = graph
        self._weights = weights
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[tuple[object, ...], onnx.TensorProto] = {}
        self._made: dict[Value, tuple[str, TensorDesc]] = {}
        """The name of each value, and its tensor in logical order."""
        (port,) = graph.inputs
        self._kind = helper.np_dtype_to_tensor_dtype(desc.data_type.dtype)
        self._inputs = [helper.make_tensor_value_info(port.name, self._kind, _in_memory(desc))]
        self._made[port.value] = (self._transposed(port.name, np.argsort(_order(desc)).tolist()), desc)

    def model(self) -> onnx.ModelProto:
        for node in self._graph.nodes:
            self._write(node)
        outputs = []
        for item in self._graph.outputs:
            name = self._transposed(self._made[item.value][0], _order(item.desc))
            (maker,) = [node for node in self._nodes if name in node.output]
            maker.output[list(maker.output).index(name)] = item.name
            outputs.append(helper.make_tensor_value_info(item.name, self._kind, _in_memory(item.desc)))
        graph = helper.make_graph(self._nodes, "by_hand", self._inputs, outputs, list(self._constants.values()))
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
        onnx.checker.check_model(made, full_check=True)
        return made

    def node(self, op: str, inputs: Sequence[str], count: int = 1, **attributes: Any) -> list[str]:
        """Adds a node; returns the names of its outputs."""
        names = [f"t{len(self._nodes)}" if index == 0 else f"t{len(self._nodes)}_{index}" for index in range(count)]
        self._nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names

    def constant(self, array: Array) -> str:
        """Adds an initializer, shared if it is small; returns its name."""
        key = (array.dtype, array.shape, array.tobytes() if array.nbytes < 4096 else len(self._constants))
        if key not in self._constants:
            self._constants[key] = numpy_helper.from_array(array, f"c{len(self._constants)}")
        return self._constants[key].name

    def _transposed(self, name: str, perm: Sequence[int]) -> str:
        return name if list(perm) == sorted(perm) else self.node("Transpose", [name], perm=list(perm))[0]

    def weight(self, value: Value, desc: TensorDesc) -> Array:
        """A weight in logical order."""
        return np.ascontiguousarray(self._weights[value].reshape(_in_memory(desc)).transpose(np.argsort(_order(desc))))

    def _write(self, node: Node) -> None:
        views = list(node.views_out())
        inputs = [self._read(read.value, desc) for _, _, read, desc in node.views_in()]
        if node.operator.type == "CONVOLUTION":
            name = _convolution(self, node, inputs[0])
            names = [_activated(self, name, node.operator)]
        else:
            names = _FORMS[node.operator.type](self, node.operator, inputs)
        for name, (_, _, write, desc) in zip(names, views, strict=True):
            self._made[write.value] = (name, desc)

    def _read(self, value: Value, desc: TensorDesc) -> str:
        """The name of a value, reshaped, transposed or converted for the view of a node."""
        if value in self._weights:
            return ""
        name, made = self._made[value]
        if made.data_type != desc.data_type:  # an index reinterpreted as FLOAT: looked up in a table
            (size,) = [item.sizes[1] for node in self._graph.nodes for _, _, w, d in node.views_out()
                       if w.value is value for _, _, _, item in node.views_in()]  # fmt: skip
            table = np.arange(size, dtype=made.data_type.dtype).view(desc.data_type.dtype)
            return self.node("Gather", [self.constant(table), name])[0]
        is_turned = made.sizes == desc.sizes or not (made.is_packed and desc.is_packed)
        if is_turned and made.effective_strides != desc.effective_strides and sorted(made.sizes) == sorted(desc.sizes):
            places = [made.effective_strides.index(stride) for stride in desc.effective_strides]
            return self._transposed(name, places)
        if made.sizes != desc.sizes:
            return self.node("Reshape", [name, self.constant(np.array(desc.sizes))])[0]
        return name


def _convolution(m: _ByHand, node: Node, x: str) -> str:
    op = node.operator
    inputs = [x]
    for field in ("FilterTensor", "BiasTensor"):
        if field in node.reads:
            array = m.weight(node.reads[field][0].value, op.tensor(field))
            inputs.append(m.constant(array.reshape(-1) if field == "BiasTensor" else array))
    (name,) = m.node(
        "Conv",
        inputs,
        kernel_shape=list(op.tensor("FilterTensor").sizes[2:]),
        strides=list(op.uints("Strides")),
        dilations=list(op.uints("Dilations")),
        pads=[*op.uints("StartPadding"), *op.uints("EndPadding")],
        group=op.uint("GroupCount"),
    )
    return name


def _activated(m: _ByHand, name: str, op: OperatorDesc) -> str:
    activation = op.activation()
    if activation is None:
        return name
    if activation.type == "ACTIVATION_LEAKY_RELU":
        return m.node("LeakyRelu", [name], alpha=activation.float("Alpha"))[0]
    assert activation.type == "ACTIVATION_RELU"
    return m.node("Relu", [name])[0]


_Form = Callable[[_ByHand, OperatorDesc, list[str]], list[str]]


def _plain(name: str) -> _Form:
    return lambda m, op, inputs: m.node(name, inputs)


def _upsampled(m: _ByHand, op: OperatorDesc, inputs: list[str]) -> list[str]:
    size = op.size_2d("ScaleSize")
    scales = m.constant(np.array([1, 1, size.height, size.width], np.float32))
    how = "asymmetric"
    return m.node(
        "Resize", [inputs[0], "", scales], mode="nearest", coordinate_transformation_mode=how, nearest_mode="floor"
    )


def _resampled(m: _ByHand, op: OperatorDesc, inputs: list[str]) -> list[str]:
    """LINEAR with offsets of half a pixel, ONNX's default."""
    assert op.enum("InterpolationMode") == "LINEAR"
    assert set(op.floats("InputPixelOffsets")) == {0.5}
    sizes = m.constant(np.array(op.tensor("OutputTensor").sizes))
    return m.node("Resize", [inputs[0], "", "", sizes], mode="linear", coordinate_transformation_mode="half_pixel")


def _pooled(m: _ByHand, op: OperatorDesc, inputs: list[str]) -> list[str]:
    pads = [*op.uints("StartPadding"), *op.uints("EndPadding")]
    return m.node(
        "MaxPool", inputs, kernel_shape=list(op.uints("WindowSize")), strides=list(op.uints("Strides")), pads=pads
    )


def _averaged(m: _ByHand, op: OperatorDesc, inputs: list[str]) -> list[str]:
    assert op.uints("WindowSize") == op.tensor("InputTensor").sizes[2:]
    return m.node("GlobalAveragePool", inputs)


def _reduced(m: _ByHand, op: OperatorDesc, inputs: list[str]) -> list[str]:
    (axis,) = op.uints("Axes")
    if op.enum("Function") == "ARGMAX":
        return m.node("ArgMax", inputs, axis=axis)
    assert op.enum("Function") == "MAX"
    return m.node("ReduceMax", [*inputs, m.constant(np.array([axis]))])


def _split(m: _ByHand, op: OperatorDesc, inputs: list[str]) -> list[str]:
    axis = op.uint("Axis")
    sizes = [desc.sizes[axis] for desc in op.tensors("OutputTensors")]
    return m.node("Split", [*inputs, m.constant(np.array(sizes))], len(sizes), axis=axis)


_FORMS: Mapping[str, _Form] = {
    "ACTIVATION_SIGMOID": _plain("Sigmoid"),
    "ACTIVATION_SOFTPLUS": _plain("Softplus"),
    "ACTIVATION_TANH": _plain("Tanh"),
    "ELEMENT_WISE_ADD": _plain("Add"),
    "ELEMENT_WISE_EXP": _plain("Exp"),
    "ELEMENT_WISE_IDENTITY": lambda m, op, inputs: inputs,
    "ELEMENT_WISE_MULTIPLY": _plain("Mul"),
    "ACTIVATION_IDENTITY": lambda m, op, inputs: inputs,
    "ACTIVATION_SOFTMAX": lambda m, op, inputs: m.node("Softmax", inputs, axis=-1),
    "AVERAGE_POOLING": _averaged,
    "MAX_POOLING": _pooled,
    "JOIN": lambda m, op, inputs: m.node("Concat", inputs, axis=op.uint("Axis")),
    "MAX_POOLING2": _pooled,
    "REDUCE": _reduced,
    "RESAMPLE3": _resampled,
    "SPLIT": _split,
    "UPSAMPLE_2D": _upsampled,
}
"""The ONNX equivalent of each operator except CONVOLUTION."""
