"""Small graphs in one call."""

from __future__ import annotations

import numpy as np

import dml2onnx.pydirectml as dml

F = dml.TensorDataType.FLOAT32
DEVICE = dml.Device()


def start(*descs):
    """Returns a builder, and an input tensor for each descriptor or list of FLOAT32 sizes."""
    graph = dml.GraphBuilder(DEVICE)
    full = [dml.TensorDesc(F, item) if isinstance(item, list) else item for item in descs]
    return graph, *(dml.input_tensor(graph, i, desc) for i, desc in enumerate(full))


def compute(graph, inputs, data, *outputs):
    """Builds and computes a model; returns the float32 arrays of the outputs."""
    model = graph.build(dml.ExecutionFlags.NONE, list(outputs))
    bindings = [dml.Binding(item, array) for item, array in zip(inputs, data, strict=True)]
    return [np.array(item) for item in DEVICE.compute(model, bindings, list(outputs))]


def nodes(graph, *outputs):
    """Returns the descriptors of the recorded operators."""
    return [node.operator for node in graph.build(dml.ExecutionFlags.NONE, list(outputs)).graph.nodes]
