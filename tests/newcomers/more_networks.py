"""Further networks as people port them, with operators that the first ones do not have."""

from __future__ import annotations

import json


def tensor(sizes: list[int], data_type: str = "FLOAT32", strides: list[int] | None = None) -> dict[str, object]:
    """A tensor description in the native format."""
    return {"DataType": data_type, "Sizes": sizes, **({"Strides": strides} if strides else {})}


def node(name: str, kind: str, inputs: dict[str, object], desc: dict[str, object], outputs: dict[str, object]) -> str:
    """A node in the native format, each field of its desc, its inputs and its outputs on lines of their own."""
    fields = ",\n".join(f"        {json.dumps(field)}: {json.dumps(value)}" for field, value in desc.items())
    return f"""\
    {{
      "name": "{name}",
      "type": "{kind}",
      "desc": {{
{fields}
      }},
      "inputs": {json.dumps(inputs)},
      "outputs": {json.dumps(outputs)}
    }}"""


def network(inputs: dict[str, object], constants: dict[str, object], nodes: list[str], *outputs: str) -> str:
    """A file in the native format; constants are filled with 1."""
    given = ",\n".join(f"    {json.dumps(name)}: {json.dumps(item)}" for name, item in inputs.items())
    filled = ",\n".join(
        f'    {json.dumps(name)}: {json.dumps(item)[:-1]}, "fill": 1}}' for name, item in constants.items()
    )
    return f"""\
{{
  "dml2onnx": 1,
  "feature_level": "6_1",
  "inputs": {{
{given}
  }},
  "constants": {{
{filled}
  }},
  "nodes": [
{",".join(chr(10) + text for text in nodes).lstrip(chr(10))}
  ],
  "outputs": {json.dumps(outputs)}
}}
"""


def filtered(name: str, sizes: list[int], x: str, strides: list[int], padding: list[int]) -> str:
    """A convolution in the native format that writes ``name``, with the filter of its name."""
    return node(
        name,
        "CONVOLUTION",
        {"InputTensor": x, "FilterTensor": f"{name}.w"},
        {
            "OutputTensor": tensor(sizes),
            "Mode": "CROSS_CORRELATION",
            "Direction": "FORWARD",
            "Strides": strides,
            "Dilations": [1, 1],
            "StartPadding": padding,
            "EndPadding": padding,
            "OutputPadding": [0, 0],
            "GroupCount": 1,
        },
        {"OutputTensor": name},
    )


def product(name: str, sizes: list[int], a: str, b: str, **desc: object) -> str:
    """A GEMM in the native format that writes ``name``."""
    plain = {"TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0}
    inputs: dict[str, object] = {"ATensor": a, "BTensor": b}
    return node(name, "GEMM", inputs, {**desc, "OutputTensor": tensor(sizes), **plain}, {"OutputTensor": name})


ENLARGER = network(
    {"x": tensor([1, 1, 24, 24])},
    {
        "first.w": tensor([16, 1, 5, 5]),
        "slope": tensor([1, 16, 1, 1]),
        "second.w": tensor([9, 16, 3, 3]),
    },
    [
        filtered("first", [1, 16, 24, 24], "x", [1, 1], [2, 2]),
        node(
            "prelu",
            "ACTIVATION_PARAMETERIZED_RELU",
            {"InputTensor": "first", "SlopeTensor": "slope"},
            {"SlopeTensor": tensor([1, 16, 24, 24], strides=[0, 1, 0, 0]), "OutputTensor": tensor([1, 16, 24, 24])},
            {"OutputTensor": "prelu"},
        ),
        filtered("second", [1, 9, 24, 24], "prelu", [1, 1], [1, 1]),
        node(
            "shuffle",
            "DEPTH_TO_SPACE1",
            {"InputTensor": "second"},
            {"OutputTensor": tensor([1, 1, 72, 72]), "BlockSize": 3, "Order": "COLUMN_ROW_DEPTH"},
            {"OutputTensor": "shuffle"},
        ),
        node(
            "clip",
            "ELEMENT_WISE_CLIP",
            {"InputTensor": "shuffle"},
            {"OutputTensor": tensor([1, 1, 72, 72]), "Min": 0, "Max": 1},
            {"OutputTensor": "y"},
        ),
    ],
    "y",
)
"""A picture made three times as large by the channels of a convolution."""

DETECTOR = network(
    {
        "features": tensor([1, 64, 16, 16]),
        "regions": tensor([1, 1, 10, 4]),
        "pictures": tensor([1, 1, 1, 10], "UINT32"),
    },
    {"head.w": tensor([1, 1, 3136, 100])},
    [
        node(
            "align",
            "ROI_ALIGN1",
            {"InputTensor": "features", "ROITensor": "regions", "BatchIndicesTensor": "pictures"},
            {
                "OutputTensor": tensor([10, 64, 7, 7]),
                "ReductionFunction": "AVERAGE",
                "InterpolationMode": "LINEAR",
                "SpatialScaleX": 0.0625,
                "SpatialScaleY": 0.0625,
                "InputPixelOffset": 0.5,
                "OutputPixelOffset": -0.5,
                "OutOfBoundsInputValue": 0,
                "MinimumSamplesPerOutput": 1,
                "MaximumSamplesPerOutput": 4,
                "AlignRegionsToCorners": False,
            },
            {"OutputTensor": "align"},
        ),
        product("head", [1, 1, 10, 100], "align", "head.w", ATensor=tensor([1, 1, 10, 3136])),
        node(
            "parts",
            "SPLIT",
            {"InputTensor": "head"},
            {"OutputTensors": [tensor([1, 1, 10, 20]), tensor([1, 1, 10, 80])], "Axis": 3},
            {"OutputTensors": ["scores", "boxes"]},
        ),
        node(
            "softmax",
            "ACTIVATION_SOFTMAX1",
            {"InputTensor": "scores"},
            {"OutputTensor": tensor([1, 1, 10, 20]), "Axes": [3]},
            {"OutputTensor": "likely"},
        ),
    ],
    "likely",
    "boxes",
)
"""Regions of a picture, the likelihoods of their classes and their boxes."""

DECODER = network(
    {"words": tensor([1, 16, 64])},
    {"gain": tensor([1, 1, 64]), "shift": tensor([1, 1, 64])},
    [
        node(
            "norm",
            "MEAN_VARIANCE_NORMALIZATION1",
            {"InputTensor": "words", "ScaleTensor": "gain", "BiasTensor": "shift"},
            {
                "ScaleTensor": tensor([1, 16, 64], strides=[0, 0, 1]),
                "BiasTensor": tensor([1, 16, 64], strides=[0, 0, 1]),
                "OutputTensor": tensor([1, 16, 64]),
                "Axes": [2],
                "NormalizeVariance": True,
                "Epsilon": 1e-5,
            },
            {"OutputTensor": "norm"},
        ),
        node(
            "attention",
            "MULTIHEAD_ATTENTION",
            {"QueryTensor": "norm", "KeyTensor": "norm", "ValueTensor": "norm"},
            {
                "OutputTensor": tensor([1, 16, 64]),
                "Scale": 0.25,
                "MaskFilterValue": -1000,
                "HeadCount": 4,
                "MaskType": "NONE",
            },
            {"OutputTensor": "attention"},
        ),
        node(
            "residual",
            "ELEMENT_WISE_ADD",
            {"ATensor": "words", "BTensor": "attention"},
            {"OutputTensor": tensor([1, 16, 64])},
            {"OutputTensor": "y"},
        ),
    ],
    "y",
)
"""The first half of a layer of a transformer."""

TAGGER = network(
    {"words": tensor([1, 12, 2, 24]), "lengths": tensor([1, 1, 1, 2], "UINT32")},
    {
        "w": tensor([1, 2, 64, 24]),
        "r": tensor([1, 2, 64, 16]),
        "b": tensor([1, 1, 2, 128]),
        "h": tensor([1, 2, 2, 16]),
        "c": tensor([1, 2, 2, 16]),
    },
    [
        node(
            "lstm",
            "LSTM",
            {
                "InputTensor": "words",
                "WeightTensor": "w",
                "RecurrenceTensor": "r",
                "BiasTensor": "b",
                "HiddenInitTensor": "h",
                "CellMemInitTensor": "c",
                "SequenceLengthsTensor": "lengths",
            },
            {
                "OutputSequenceTensor": tensor([12, 2, 2, 16]),
                "ActivationDescs": [
                    {"type": f"ACTIVATION_{name}"} for name in ("SIGMOID", "TANH", "TANH", "SIGMOID", "TANH", "TANH")
                ],
                "Direction": "BIDIRECTIONAL",
                "ClipThreshold": 0,
                "UseClipThreshold": False,
                "CoupleInputForget": False,
            },
            {"OutputSequenceTensor": "states"},
        )
    ],
    "states",
)
"""A recurrent network in both directions over two sentences."""

SOUND = network(
    {"sound": tensor([1, 1, 1, 400])},
    {"waves.w": tensor([16, 1, 1, 32])},
    [
        node(
            "mirror",
            "PADDING",
            {"InputTensor": "sound"},
            {
                "OutputTensor": tensor([1, 1, 1, 416]),
                "PaddingMode": "REFLECTION",
                "PaddingValue": 0,
                "StartPadding": [0, 0, 0, 8],
                "EndPadding": [0, 0, 0, 8],
            },
            {"OutputTensor": "mirror"},
        ),
        filtered("waves", [1, 16, 1, 25], "mirror", [1, 16], [0, 0]),
        node(
            "power",
            "ELEMENT_WISE_CONSTANT_POW",
            {"InputTensor": "waves"},
            {"OutputTensor": tensor([1, 16, 1, 25]), "Exponent": 2},
            {"OutputTensor": "power"},
        ),
        node(
            "sum",
            "CUMULATIVE_SUMMATION",
            {"InputTensor": "power"},
            {
                "OutputTensor": tensor([1, 16, 1, 25]),
                "Axis": 3,
                "AxisDirection": "INCREASING",
                "HasExclusiveSum": False,
            },
            {"OutputTensor": "y"},
        ),
    ],
    "y",
)
"""The strength of sixteen tones in windows of sound, added up over time."""

SMALL_NUMBERS = network(
    {"x": tensor([1, 1, 8, 64])},
    {"w": tensor([1, 1, 64, 32], "INT8")},
    [
        node(
            "bytes",
            "DYNAMIC_QUANTIZE_LINEAR",
            {"InputTensor": "x"},
            {
                "OutputTensor": tensor([1, 1, 8, 64], "UINT8"),
                "OutputScaleTensor": tensor([1, 1, 1, 1]),
                "OutputZeroPointTensor": tensor([1, 1, 1, 1], "UINT8"),
            },
            {"OutputTensor": "q", "OutputScaleTensor": "s", "OutputZeroPointTensor": "z"},
        ),
        node(
            "product",
            "MATRIX_MULTIPLY_INTEGER",
            {"ATensor": "q", "AZeroPointTensor": "z", "BTensor": "w"},
            {"OutputTensor": tensor([1, 1, 8, 32], "INT32")},
            {"OutputTensor": "sums"},
        ),
        node(
            "cast", "CAST", {"InputTensor": "sums"}, {"OutputTensor": tensor([1, 1, 8, 32])}, {"OutputTensor": "reals"}
        ),
        node(
            "scaled",
            "ELEMENT_WISE_MULTIPLY",
            {"ATensor": "reals", "BTensor": "s"},
            {"BTensor": tensor([1, 1, 8, 32], strides=[0, 0, 0, 0]), "OutputTensor": tensor([1, 1, 8, 32])},
            {"OutputTensor": "y"},
        ),
    ],
    "y",
)
"""A product of matrices in bytes that are found out from what comes in."""

MAP = network(
    {"classes": tensor([1, 1, 8, 8], "UINT32")},
    {"off and on": tensor([1, 1, 1, 2])},
    [
        node(
            "one of five",
            "ONE_HOT",
            {"IndicesTensor": "classes", "ValuesTensor": "off and on"},
            {"OutputTensor": tensor([1, 5, 8, 8]), "Axis": 1},
            {"OutputTensor": "planes"},
        ),
        node(
            "larger",
            "RESAMPLE1",
            {"InputTensor": "planes"},
            {
                "OutputTensor": tensor([1, 5, 16, 16]),
                "InterpolationMode": "LINEAR",
                "Scales": [1, 1, 2, 2],
                "InputPixelOffsets": [0.5, 0.5, 0.5, 0.5],
                "OutputPixelOffsets": [-0.5, -0.5, -0.5, -0.5],
            },
            {"OutputTensor": "large"},
        ),
        node(
            "columns",
            "FILL_VALUE_SEQUENCE",
            {},
            {"OutputTensor": tensor([1, 1, 1, 16]), "ValueDataType": "FLOAT32", "ValueStart": 0, "ValueDelta": 1},
            {"OutputTensor": "columns"},
        ),
        node(
            "moved",
            "ELEMENT_WISE_MULTIPLY",
            {"ATensor": "large", "BTensor": "columns"},
            {
                "BTensor": tensor([1, 5, 16, 16], strides=[0, 0, 0, 1]),
                "OutputTensor": tensor([1, 5, 16, 16]),
            },
            {"OutputTensor": "y"},
        ),
    ],
    "y",
)
"""A map of classes as a plane for each of them, made larger and weighed by its columns."""

GRAPH_OF_POOLS = """\
{
  "Nodes": [
    {"Type": "OPERATOR", "Name": "focus", "Desc": {"Operator": {"Type": "SPACE_TO_DEPTH1", "Desc": {
      "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 16, 16]},
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 12, 8, 8]},
      "BlockSize": 2, "Order": "DEPTH_COLUMN_ROW"
    }}}},
    {"Type": "OPERATOR", "Name": "pool", "Desc": {"Operator": {"Type": "MAX_POOLING2", "Desc": {
      "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 12, 8, 8]},
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 12, 4, 4]},
      "OutputIndicesTensor": {"DataType": "UINT32", "Sizes": [1, 12, 4, 4]},
      "DimensionCount": 2,
      "Strides": [2, 2],
      "WindowSize": [2, 2],
      "StartPadding": [0, 0],
      "EndPadding": [0, 0],
      "Dilations": [1, 1]
    }}}},
    {"Type": "OPERATOR", "Name": "unpool", "Desc": {"Operator": {"Type": "MAX_UNPOOLING", "Desc": {
      "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 12, 4, 4]},
      "IndicesTensor": {"DataType": "UINT32", "Sizes": [1, 12, 4, 4]},
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 12, 8, 8]}
    }}}},
    {"Type": "OPERATOR", "Name": "tile", "Desc": {"Operator": {"Type": "TILE", "Desc": {
      "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 12, 8, 8]},
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 12, 16, 16]},
      "Repeats": [1, 1, 2, 2]
    }}}}
  ],
  "InputEdges": [
    {"GraphInputIndex": 0, "ToNodeIndex": 0, "ToNodeInputIndex": 0}
  ],
  "IntermediateEdges": [
    {"FromNodeIndex": 0, "FromNodeOutputIndex": 0, "ToNodeIndex": 1, "ToNodeInputIndex": 0},
    {"FromNodeIndex": 1, "FromNodeOutputIndex": 0, "ToNodeIndex": 2, "ToNodeInputIndex": 0},
    {"FromNodeIndex": 1, "FromNodeOutputIndex": 1, "ToNodeIndex": 2, "ToNodeInputIndex": 1},
    {"FromNodeIndex": 2, "FromNodeOutputIndex": 0, "ToNodeIndex": 3, "ToNodeInputIndex": 0}
  ],
  "OutputEdges": [
    {"GraphOutputIndex": 0, "FromNodeIndex": 3, "FromNodeOutputIndex": 0}
  ]
}
"""
"""A pool that is undone with its indices, as a graph of C++."""

JOINED = """\
{
  "resources": {
    "A": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 32, "value": 1}},
    "B": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 16, "value": 2}},
    "AB": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 48, "value": 0}},
    "Y": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 108, "value": 0}}
  },
  "dispatchables": {
    "join": {
      "type": "DML_OPERATOR_JOIN",
      "desc": {
        "InputCount": 2,
        "InputTensors": [
          {"DataType": "FLOAT32", "Sizes": [1, 2, 4, 4]},
          {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]}
        ],
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 4, 4]},
        "Axis": 1
      }
    },
    "pad": {
      "type": "DML_OPERATOR_PADDING",
      "desc": {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 4, 4]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 6, 6]},
        "PaddingMode": "EDGE",
        "PaddingValue": 0,
        "DimensionCount": 4,
        "StartPadding": [0, 0, 1, 1],
        "EndPadding": [0, 0, 1, 1]
      }
    }
  },
  "commands": [
    {
      "type": "dispatch",
      "dispatchable": "join",
      "bindings": {
        "InputTensors": ["A", "B"],
        "OutputTensor": "AB"
      }
    },
    {
      "type": "dispatch",
      "dispatchable": "pad",
      "bindings": {
        "InputTensor": "AB",
        "OutputTensor": "Y"
      }
    },
    {"type": "print", "resource": "Y"}
  ]
}
"""
"""Two tensors joined and the whole padded, in DxDispatch."""
