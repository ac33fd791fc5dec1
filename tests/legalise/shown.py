"""Models that show quirks, as ONNX and its arrays."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper, parser

from dml2onnx.legalise.rules import Shown


def model_of(shown: Shown) -> onnx.ModelProto:
    """The model, read from ONNX's text form."""
    versions = f'<ir_version: 10, opset_import: ["": {shown.opset}]>'
    parsed = parser.parse_model(f"{versions} g {' '.join(shown.model.split())}")
    onnx.checker.check_model(parsed, full_check=True)
    return parsed


def arrays(shown: Shown) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """The inputs and the outputs."""
    graph = model_of(shown).graph

    def of(
        values: tuple[tuple[float | int | bool, ...], ...], ports: list[onnx.ValueInfoProto]
    ) -> tuple[np.ndarray, ...]:
        made = []
        for items, port in zip(values, ports, strict=True):
            described = port.type.tensor_type
            dtype = helper.tensor_dtype_to_np_dtype(described.elem_type)
            made.append(np.array(items, dtype).reshape([axis.dim_value for axis in described.shape.dim]))
        return tuple(made)

    return of(shown.inputs, list(graph.input)), of(shown.outputs, list(graph.output))
