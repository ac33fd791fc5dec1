"""The opsets that the installed ONNX Runtime supports."""

from __future__ import annotations

import onnxruntime

from dml2onnx.targets import OPSETS

RELEASE = tuple(map(int, onnxruntime.__version__.split(".")[:2]))
LAST_OPSETS = {(1, 24): 25, (1, 31): 26, (1, 32): 28}
"""The latest opset of each ONNX Runtime release that supports a new one."""
RUNNABLE_OPSETS = [n for n in OPSETS if n <= max(last for first, last in LAST_OPSETS.items() if first <= RELEASE)]
