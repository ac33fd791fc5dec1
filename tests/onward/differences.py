"""Known defects of tools, each with a minimal model that is not written by this project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import parser

HALVES = ("onnxruntime.transformers.float16", "Olive OnnxFloatToFloat16", "winml quantize -p fp16")


@dataclass(frozen=True, slots=True)
class Difference:
    """A defect or limit of tools."""

    tools: tuple[str, ...]
    """Names of ``worker.py``."""
    title: str
    """The defect and a workaround, in sentences."""
    says: str
    """Part of the error message; empty if results are wrong."""
    operators: tuple[str, ...]
    """Affected models have one of these operators; empty if any model may be affected."""
    model: str
    """A minimal model in ONNX's text format."""
    inputs: Mapping[str, np.ndarray] = field(default_factory=lambda: {"x": np.ones((1, 4), np.float32)})
    metadata: bool = False
    """Whether the example needs an entry in its metadata."""
    opset: int = 21
    of_processor: bool = False
    """Whether other processors may pass the example."""

    def example(self) -> onnx.ModelProto:
        text = f'<ir_version: 10, opset_import: ["": {self.opset}]> g {" ".join(self.model.split())}'
        model = parser.parse_model(text)
        onnx.checker.check_model(model, full_check=True)
        if self.metadata:
            model.metadata_props.add(key="made", value="here")
        return model

    def explains(self, tool: str, refused: str, model: onnx.ModelProto) -> bool:
        """Whether the defect may have caused a refusal or wrong results of a model."""
        if tool not in self.tools or bool(self.says) != bool(refused) or self.says not in refused:
            return False
        return not self.operators or any(node.op_type in self.operators for node in model.graph.node)


def _image(*sizes: int, dtype: type = np.float32) -> np.ndarray:
    return (np.arange(np.prod(sizes)) % 7).astype(dtype).reshape(sizes)


QUANTISED = """(uint8[1,1,4,4] x) => (uint8[1,1,3,3] y)
<float s = {0.5}, uint8 z = {1}, uint8[1,1,2,2] w = {1, 2, 3, 4}> {
    y = QLinearConv (x, s, z, w, s, z, s, z)
}"""
POOLED = """(uint8[1,1,4,4] x) => (uint8[1,1,1,1] y)
<float s = {0.5}, uint8 z = {1}, uint8[1,1,2,2] w = {1, 2, 3, 4}> {
    a = QLinearConv (x, s, z, w, s, z, s, z)
    b = MaxPool <kernel_shape = [2, 2]> (a)
    y = QLinearConv (b, s, z, w, s, z, s, z)
}"""
QDQ = """(uint8[1,1,4,4] x) => (float[1,1,3,3] y)
<float s = {0.5}, uint8 z = {1}, uint8[1,1,2,2] w = {1, 2, 3, 4}> {
    a = DequantizeLinear (x, s, z)
    b = DequantizeLinear (w, s, z)
    y = Conv (a, b)
}"""
LSTM = """(float[2,1,2] x) => (float[2,1,1,1] y)
<float[1,4,2] w = {1, 2, 3, 4, 5, 6, 7, 8}, float[1,4,1] r = {1, 2, 3, 4}> {
    y = LSTM <hidden_size = 1> (x, w, r)
}"""
REGIONS = """(float[1,1,8,8] x) => (float[1,1,2,2] y) <float[1,4] r = {0, 0, 5, 6}, int64[1] b = {0}> {
    y = RoiAlign <output_height = 2, output_width = 2, sampling_ratio = 2> (x, r, b)
}"""
BIASED = """(uint8[1,1,4,4] x) => (float[1,1,3,3] y)
<float s = {0.5}, uint8 z = {1}, uint8[1,1,2,2] w = {1, 2, 3, 4}, int32[1] c = {5}> {
    a = DequantizeLinear (x, s, z)
    b = DequantizeLinear (w, s, z)
    d = DequantizeLinear (c, s)
    y = Conv (a, b, d)
}"""
BRIGHT = """(uint8[1,2,1,1] x) => (uint8[1,1,1,1] y)
<float s = {1}, float t = {512}, uint8 z = {0}, int8[1,2,1,1] w = {127, 127}, int8 n = {0}> {
    a = DequantizeLinear (x, s, z)
    b = DequantizeLinear (w, s, n)
    c = Conv (a, b)
    y = QuantizeLinear (c, t, z)
}"""
PIXELS = {"x": _image(1, 1, 4, 4, dtype=np.uint8)}
SEQUENCE = {"x": _image(2, 1, 2)}
PICTURE = {"x": _image(1, 1, 8, 8) ** 2}

DIFFERENCES = (
    Difference(
        ("qnn_preprocess_model",),
        "It fails where a model has metadata, as compiled models have: `del model.metadata_props[:]` first.",
        "cannot convert dictionary update sequence",
        (),
        "(float[1,4] x) => (float[1,4] y) { y = Relu (x) }",
        metadata=True,
    ),
    Difference(
        ("convert_onnx_models_to_ort",),
        "It turns QDQ nodes into ones whose 8-bit sums saturate on x86 processors without VNNI, whatever sessions ask "
        "for later. A session with `session.x64quantprecision` that saves the ORT format itself writes exact ones.",
        "",
        ("DequantizeLinear",),
        BRIGHT,
        {"x": np.full((1, 2, 1, 1), 255, np.uint8)},
        of_processor=True,
    ),
    Difference(
        ("onnxconverter-common float16",),
        "With `keep_io_types` an output that another node reads as well gets two types.",
        "does not match expected type (tensor(float))",
        (),
        """(float[1,4] x) => (float[1,4] y, float[4,1] z) {
            y = Relu (x)
            z = Transpose (y)
        }""",
    ),
    Difference(
        (*HALVES, "onnxconverter-common float16"),
        "Scales of QLinearConv become FLOAT16, which no opset has; `--quant-format qdq` has none.",
        "of operator (QLinearConv)",
        ("QLinearConv",),
        QUANTISED,
        PIXELS,
    ),
    Difference(
        ("quantize_dynamic", "winml quantize -p dynamic"),
        "A Conv whose bias comes from DequantizeLinear is refused: the model is quantised already.",
        "to be an initializer",
        ("DequantizeLinear",),
        BIASED,
        PIXELS,
    ),
    Difference(
        ("Olive OnnxDynamicQuantization",),
        "It refuses such a Conv as well, and says less.",
        "quantize_dynamic failed",
        ("DequantizeLinear",),
        BIASED,
        PIXELS,
    ),
    Difference(
        ("Olive OnnxStaticQuantization",),
        "Where nothing is left to be quantised, it asks for the ranges of no values, and fails.",
        "At least one output should be requested",
        ("QLinearConv",),
        POOLED,
        PIXELS,
    ),
    Difference(
        ("onnx2torch",),
        "It has no recurrent operators.",
        "operation_type='LSTM'",
        ("LSTM",),
        LSTM,
        SEQUENCE,
        opset=17,
    ),
    Difference(
        ("onnx2torch",),
        "It has no operators on quantised numbers.",
        "operation_type='QLinearConv'",
        ("QLinearConv",),
        QUANTISED,
        PIXELS,
        opset=17,
    ),
    Difference(
        ("onnx2torch",),
        "It has no operators that quantise, or undo that.",
        "operation_type='DequantizeLinear'",
        ("DequantizeLinear",),
        QDQ,
        PIXELS,
        opset=17,
    ),
    Difference(
        ("onnx2torch",),
        "RoiAlign needs torchvision, of which the package index has no build without CUDA.",
        "'NoneType' object is not callable",
        ("RoiAlign",),
        REGIONS.replace(
            "sampling_ratio = 2", 'sampling_ratio = 2, coordinate_transformation_mode = "output_half_pixel"'
        ),
        PICTURE,
        opset=17,
    ),
    Difference(
        ("TVM",),
        "Its importer has no LSTM.",
        "not supported for frontend ONNX: LSTM",
        ("LSTM",),
        LSTM,
        SEQUENCE,
    ),
    Difference(
        ("TVM",),
        "Its importer has no QLinearConv; `--quant-format qdq` runs.",
        "not supported for frontend ONNX: QLinearConv",
        ("QLinearConv",),
        QUANTISED,
        PIXELS,
    ),
    Difference(
        ("TVM",),
        "RoiAlign with a `spatial_scale` gives other numbers.",
        "",
        ("RoiAlign",),
        REGIONS.replace("0, 0, 5, 6", "4, 4, 20, 20").replace("ratio = 2", "ratio = 2, spatial_scale = 0.25"),
        PICTURE,
    ),
    Difference(
        ("tinygrad",),
        "It has no LSTM.",
        "op='LSTM' is not supported",
        ("LSTM",),
        LSTM,
        SEQUENCE,
    ),
    Difference(
        ("tinygrad",),
        "It has no RoiAlign.",
        "op='RoiAlign' is not supported",
        ("RoiAlign",),
        REGIONS,
        PICTURE,
    ),
    Difference(
        ("winml compile",),
        "It compiles for NPUs and GPUs, of which it finds none on Linux.",
        "does not support EPContext compilation",
        (),
        "(float[1,4] x) => (float[1,4] y) { y = Relu (x) }",
    ),
)
