"""Builds models from emitters."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from dml2onnx import writer
from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.onnx_model import OnnxGraph, OnnxPort
from dml2onnx.targets import IR_VERSIONS


def model_of(e: Emitter, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> onnx.ModelProto:
    """Returns the emitted nodes as a checked model."""
    e.end()
    first, last = (
        tuple(OnnxPort(x.name, x.name, x.dtype, x.shape, TensorDesc(DataType.FLOAT32, x.shape)) for x in several)
        for several in (inputs, outputs)
    )
    graph = OnnxGraph(tuple(e.origins), e.initializers, first, last)
    model = onnx.ModelProto.FromString(
        writer.model_bytes(graph, writer.Header("test", e.opset, IR_VERSIONS[e.opset], {}))
    )
    onnx.checker.check_model(model, full_check=True)
    return model
