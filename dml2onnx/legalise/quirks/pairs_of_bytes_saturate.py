"""Products of UINT8 with INT8 are added in pairs of 16 bits, where they saturate, on processors without VNNI.

On the others they take less than half the time of products of UINT8 with UINT8. So the pass ``sign-weights`` has models
ask for it when they are loaded.
https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html
"""

from dml2onnx.legalise.rules import Kind, Quirk

QUIRK = Quirk(Kind.SPEED)
