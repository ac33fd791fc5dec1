"""ONNX models as plain records, between lowering and protobuf.

Lowering creates these records, the writer serializes them, and the runtime, ``explain``, reports and tests read them.
They are independent of DirectML's operators and of protobuf.
"""

from dml2onnx.onnx_model.peak_memory import Peak, peak
from dml2onnx.onnx_model.records import (
    CONTROL_FLOW,
    UNKNOWN,
    Body,
    Dequantized,
    NamedSize,
    Node,
    OnnxGraph,
    Origin,
    Port,
    Value,
    bodies,
    has_names,
    has_unknown,
    is_unknown,
    logical,
    size_names,
    with_bodies,
)
from dml2onnx.onnx_model.types import (
    BOOL,
    DOUBLE,
    ELEMENT_TYPES,
    FLOAT,
    FLOAT16,
    INT4,
    INT64,
    UINT4,
    Array,
    DType,
    stored_size,
)

__all__ = [
    "BOOL",
    "CONTROL_FLOW",
    "DOUBLE",
    "ELEMENT_TYPES",
    "FLOAT",
    "FLOAT16",
    "INT4",
    "INT64",
    "UINT4",
    "UNKNOWN",
    "Array",
    "Body",
    "DType",
    "Dequantized",
    "NamedSize",
    "Node",
    "OnnxGraph",
    "Origin",
    "Peak",
    "Port",
    "Value",
    "bodies",
    "has_names",
    "has_unknown",
    "is_unknown",
    "logical",
    "peak",
    "size_names",
    "stored_size",
    "with_bodies",
]
