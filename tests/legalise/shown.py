"""Models that demonstrate quirks, as ONNX models with arrays."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper, parser

from dml2onnx.legalise.rules import Shown


def model_of(shown: Shown) -> onnx.ModelProto:
    """Parses the model from ONNX's text format."""
    versions = f'<ir_version: 10, opset_import: ["": {shown.opset}]>'
    parsed = parser.parse_model(f"{versions} g {' '.join(shown.model.split())}")
    onnx.checker.check_model(parsed, full_check=True)
    return parsed


def arrays(shown: Shown) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """Returns the inputs and the expected outputs."""
    graph = model_of(shown).graph

    def array(items: tuple[float | int | bool, ...], port: onnx.ValueInfoProto) -> np.ndarray:
        desc = port.type.tensor_type
        dtype = helper.tensor_dtype_to_np_dtype(desc.elem_type)
        return np.array(items, dtype).reshape([axis.dim_value for axis in desc.shape.dim])

    return tuple(map(array, shown.inputs, graph.input)), tuple(map(array, shown.outputs, graph.output))
