"""The broken sample: a model with common mistakes."""

from __future__ import annotations

from typing import TypeAlias

Json: TypeAlias = dict[str, object]


def model() -> Json:
    """Targets level 3_0, misspells a field and a value, ignores padding in a size, and uses later features."""
    return {
        "dml2onnx": 1,
        "name": "broken",
        "feature_level": "3_0",
        "inputs": {"picture": _tensor("FLOAT32", 1, 3, 32, 32), "mask": _tensor("INT8", 1, 1, 16, 16)},
        "constants": {"weights": {**_tensor("FLOAT32", 8, 3, 3, 3), "fill": 0.1}},
        "nodes": _nodes(),
        "outputs": ["smaller", "larger_mask"],
    }


def _nodes() -> list[Json]:
    return [
        {
            "name": "border",
            "type": "PADDING",
            "desc": {
                "OutputTensor": _tensor("FLOAT32", 1, 3, 34, 34),
                "PaddingMode": "REFLECT",
                "PaddingValue": 0,
                "StartPadding": [0, 0, 1, 1],
                "EndPadding": [0, 0, 1, 1],
            },
            "inputs": {"InputTensor": "picture"},
            "outputs": {"OutputTensor": "bordered"},
        },
        {
            "name": "features",
            "type": "CONVOLUTION",
            "desc": {
                "OutputTensor": _tensor("FLOAT32", 1, 8, 34, 34),
                "Mode": "CROSS_CORRELATION",
                "Direction": "FORWARD",
                "Strides": [1, 1],
                "Dilation": [1, 1],
                "StartPadding": [0, 0],
                "EndPadding": [0, 0],
                "OutputPadding": [0, 0],
                "GroupCount": 1,
                "FusedActivation": {"type": "ACTIVATION_SOFTMAX"},
            },
            "inputs": {"InputTensor": "bordered", "FilterTensor": "weights"},
            "outputs": {"OutputTensor": "features"},
        },
        {
            "name": "smaller",
            "type": "MAX_POOLING",
            "desc": {
                "OutputTensor": _tensor("FLOAT32", 1, 8, 17, 17),
                "Strides": [2, 2],
                "WindowSize": [3, 3],
                "StartPadding": [0, 0],
                "EndPadding": [0, 0],
            },
            "inputs": {"InputTensor": "feature"},
            "outputs": {"OutputTensor": "smaller"},
        },
        {
            "name": "larger_mask",
            "type": "RESAMPLE1",
            "desc": {
                "OutputTensor": _tensor("INT8", 1, 1, 32, 32),
                "InterpolationMode": "NEAREST_NEIGHBOR",
                "Scales": [1, 1, 2, 2],
                "InputPixelOffsets": [0.5, 0.5, 0.5, 0.5],
                "OutputPixelOffsets": [-0.5, -0.5, -0.5, -0.5],
            },
            "inputs": {"InputTensor": "mask"},
            "outputs": {"OutputTensor": "larger_mask"},
        },
    ]


def _tensor(data_type: str, *sizes: int) -> Json:
    return {"DataType": data_type, "Sizes": list(sizes)}
