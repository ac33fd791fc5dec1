"""Unknown sizes, and a known size equal to the number that represents them."""

from __future__ import annotations

import numpy as np
from onnx import ModelProto

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.tensor import broadcast_shape
from dml2onnx.onnx_model import FLOAT, INT64, UNKNOWN, OnnxGraph, has_unknown, is_unknown
from dml2onnx.writer import Header, model_bytes


def test_broadcasting_keeps_unknown_sizes() -> None:
    known = int(UNKNOWN)
    assert list(map(is_unknown, broadcast_shape((UNKNOWN, 1), (1, 3)))) == [True, False]
    assert list(map(is_unknown, broadcast_shape((2, 1, 1), (UNKNOWN, known)))) == [False, True, False]
    assert not has_unknown(broadcast_shape((known, 1), (known, 3)))
    assert str(UNKNOWN) == "UNKNOWN"


def test_an_equal_size_is_known() -> None:
    """It is written to the model; an unknown size is not."""
    e = Emitter()
    e.begin("node", "OPERATOR")
    e.Neg(Tensor("x", FLOAT, (int(UNKNOWN), 2)))
    e.Add(e.Unsqueeze(e.Range(Tensor("limit", INT64, ())), (1,)), e.constant(np.ones((1, 3)), INT64))
    graph = OnnxGraph((e.end(),), e.initializers, (), ())
    written = model_bytes(graph, Header("sizes", 21, 10, {}))

    values = ModelProto.FromString(written).graph.value_info
    shapes = [[axis.dim_value for axis in value.type.tensor_type.shape.dim] for value in values]
    assert shapes == [[int(UNKNOWN), 2], [0], [0, 1], [0, 3]]
