"""PyDirectML on any operating system: runs programs with ``import pydirectml as dml`` unchanged.

>>> import numpy as np
>>> import dml2onnx.pydirectml as dml
>>> device = dml.Device()
>>> graph = dml.GraphBuilder(device)
>>> x = dml.input_tensor(graph, 0, dml.TensorDesc(dml.FLOAT32, [1, 1, 2, 2]))
>>> y = dml.activation_relu(x)
>>> model = graph.build(dml.NONE, [y])
>>> [result] = device.compute(model, [dml.Binding(x, [-1, 0, 1, 2])], [y])
>>> np.array(result).tolist()
[[[[0.0, 0.0], [1.0, 2.0]]]]

To run an unchanged program: ``dml2onnx pydirectml PROGRAM.py``.
"""

from typing import NoReturn

from dml2onnx.pydirectml.arguments import suggest_members
from dml2onnx.pydirectml.device import Binding, Device, TensorData
from dml2onnx.pydirectml.enums import (
    ConvolutionDirection,
    ConvolutionMode,
    ExecutionFlags,
    InterpolationMode,
    MatrixTransform,
    OperatorType,
    OutputOptions,
    PaddingMode,
    RecurrentNetworkDirection,
    TensorDataType,
    TensorFlags,
    module_constants,
)
from dml2onnx.pydirectml.executable import Model
from dml2onnx.pydirectml.expression import Expression
from dml2onnx.pydirectml.functions import (
    GRUOutputs,
    MaxPoolingOutputs,
    activation_identity,
    activation_linear,
    activation_relu,
    activation_sigmoid,
    activation_soft_max,
    activation_tanh,
    add,
    average_pooling,
    batch_normalization,
    convolution,
    divide,
    gather,
    gemm,
    gru,
    join,
    local_response_normalization,
    max_pooling,
    mean_variance_normalization,
    multiply,
    padding,
    slice,
    subtract,
    up_sample_2d,
    value_scale_2d,
)
from dml2onnx.pydirectml.graph import GraphBuilder, input_tensor, reinterpret
from dml2onnx.pydirectml.tensors import Dimensions, FusedActivation, Size2D, TensorDesc, TensorPolicy

__all__ = [
    "Binding",
    "ConvolutionDirection",
    "ConvolutionMode",
    "Device",
    "Dimensions",
    "ExecutionFlags",
    "Expression",
    "FusedActivation",
    "GRUOutputs",
    "GraphBuilder",
    "InterpolationMode",
    "MatrixTransform",
    "MaxPoolingOutputs",
    "Model",
    "OperatorType",
    "OutputOptions",
    "PaddingMode",
    "RecurrentNetworkDirection",
    "Size2D",
    "TensorData",
    "TensorDataType",
    "TensorDesc",
    "TensorFlags",
    "TensorPolicy",
    "activation_identity",
    "activation_linear",
    "activation_relu",
    "activation_sigmoid",
    "activation_soft_max",
    "activation_tanh",
    "add",
    "average_pooling",
    "batch_normalization",
    "convolution",
    "divide",
    "gather",
    "gemm",
    "gru",
    "input_tensor",
    "join",
    "local_response_normalization",
    "max_pooling",
    "mean_variance_normalization",
    "multiply",
    "padding",
    "reinterpret",
    "slice",
    "subtract",
    "up_sample_2d",
    "value_scale_2d",
]


def __getattr__(name: str) -> NoReturn:
    """Reports unknown names as those of the module ``pydirectml``."""
    close = suggest_members(name, __all__)
    hint = f". Did you mean: {close[0]!r}?" if close else ""
    raise AttributeError(f"module 'pydirectml' has no attribute {name!r}{hint}", name=name)


globals().update(module_constants())
__all__.extend(module_constants())  # for ``from pydirectml import *``
