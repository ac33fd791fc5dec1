"""Building graphs in Python, in the vocabulary of DirectMLX.

>>> import dml2onnx
>>> g = dml2onnx.GraphBuilder()
>>> x = g.input("x", "FLOAT32", [1, 3, 224, 224])
>>> y = g.max_pooling(g.activation_relu(x * 2 - 1), [2, 2], strides=[2, 2]).values
>>> dml2onnx.compile(g.build({"y": y})).save("model.onnx")
"""

from dml2onnx.builder.attributes import Activation, ActivationLike, DataTypeLike
from dml2onnx.builder.expression import Expression
from dml2onnx.builder.graph_builder import GraphBuilder
from dml2onnx.builder.policies import TensorPolicy, interleaved_channel, packed
from dml2onnx.ir.operator import ScaleBias, Size2D

__all__ = [
    "Activation",
    "ActivationLike",
    "DataTypeLike",
    "Expression",
    "GraphBuilder",
    "ScaleBias",
    "Size2D",
    "TensorPolicy",
    "interleaved_channel",
    "packed",
]
