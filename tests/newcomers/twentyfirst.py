"""A twenty-first set of forty mistakes, many from public issues, written before answers were read."""

from __future__ import annotations

import base64

import numpy as np

from tests.newcomers.case import Case, Command, edited
from tests.newcomers.more_networks import TAGGER, filtered, network, node, product, tensor
from tests.newcomers.networks import DISPATCHED
from tests.newcomers.sixth import PYDIRECTML


def enlarged(name: str, sizes: list[int], x: str, strides: int, padding: int, more: int) -> str:
    """A transposed convolution in the native format that writes ``name``, with the filter of its name."""
    return node(
        name,
        "CONVOLUTION",
        {"InputTensor": x, "FilterTensor": f"{name}.w"},
        {
            "OutputTensor": tensor(sizes),
            "Mode": "CROSS_CORRELATION",
            "Direction": "BACKWARD",
            "Strides": [strides] * 2,
            "Dilations": [1, 1],
            "StartPadding": [padding] * 2,
            "EndPadding": [padding] * 2,
            "OutputPadding": [more] * 2,
            "GroupCount": 1,
        },
        {"OutputTensor": name},
    )


def cut(name: str, row: int, column: int) -> str:
    """Every second row and column of a picture, from those given on, in the native format."""
    return node(
        name,
        "SLICE1",
        {"InputTensor": "x"},
        {
            "OutputTensor": tensor([1, 3, 16, 16]),
            "InputWindowOffsets": [0, 0, row, column],
            "InputWindowSizes": [1, 3, 31, 31],
            "InputWindowStrides": [1, 1, 2, 2],
        },
        {"OutputTensor": name},
    )


def layer(name: str, sizes: list[int], x: str) -> str:
    """A fully connected layer in the native format that writes ``name``, with the weights and bias of its name."""
    return node(
        name,
        "GEMM",
        {"ATensor": x, "BTensor": f"{name}.w", "CTensor": f"{name}.b"},
        {
            "CTensor": tensor(sizes, strides=[0, 0, 0, 1]),
            "TransA": "NONE",
            "TransB": "NONE",
            "Alpha": 1,
            "OutputTensor": tensor(sizes),
            "Beta": 1,
        },
        {"OutputTensor": name},
    )


GENERATOR = network(
    {"z": tensor([1, 100, 1, 1])},
    {"first.w": tensor([100, 32, 4, 4]), "second.w": tensor([32, 16, 4, 4]), "third.w": tensor([16, 3, 3, 3])},
    [
        enlarged("first", [1, 32, 4, 4], "z", 1, 0, 0),
        enlarged("second", [1, 16, 8, 8], "first", 2, 1, 0),
        enlarged("third", [1, 3, 16, 16], "second", 2, 1, 1),
        node(
            "tanh",
            "ACTIVATION_TANH",
            {"InputTensor": "third"},
            {"OutputTensor": tensor([1, 3, 16, 16])},
            {"OutputTensor": "y"},
        ),
    ],
    "y",
)
"""A picture made of noise."""

FEED_FORWARD = network(
    {"words": tensor([1, 1, 16, 64])},
    {
        "wide.w": tensor([1, 1, 64, 256]),
        "wide.b": tensor([1, 1, 1, 256]),
        "narrow.w": tensor([1, 1, 256, 64]),
        "narrow.b": tensor([1, 1, 1, 64]),
    },
    [
        layer("wide", [1, 1, 16, 256], "words"),
        node(
            "gelu",
            "ACTIVATION_GELU",
            {"InputTensor": "wide"},
            {"OutputTensor": tensor([1, 1, 16, 256])},
            {"OutputTensor": "gelu"},
        ),
        layer("narrow", [1, 1, 16, 64], "gelu"),
        node(
            "residual",
            "ELEMENT_WISE_ADD",
            {"ATensor": "words", "BTensor": "narrow"},
            {"OutputTensor": tensor([1, 1, 16, 64])},
            {"OutputTensor": "y"},
        ),
    ],
    "y",
)
"""The second half of a layer of a transformer."""

FOCUS = network(
    {"x": tensor([1, 3, 32, 32])},
    {"stem.w": tensor([16, 12, 3, 3])},
    [
        cut("even", 0, 0),
        cut("below", 1, 0),
        cut("right", 0, 1),
        cut("odd", 1, 1),
        node(
            "join",
            "JOIN",
            {"InputTensors": ["even", "below", "right", "odd"]},
            {"OutputTensor": tensor([1, 12, 16, 16]), "Axis": 1},
            {"OutputTensor": "join"},
        ),
        filtered("stem", [1, 16, 16, 16], "join", [1, 1], [1, 1]),
    ],
    "stem",
)
"""The first layers of a YOLO: every second row and column of a picture as channels."""

INTERLEAVED = network(
    {"x": tensor([1, 3, 32, 32], strides=[3072, 1, 96, 3])},
    {"conv.w": tensor([8, 3, 3, 3])},
    [
        node(
            "conv",
            "CONVOLUTION",
            {"InputTensor": "x", "FilterTensor": "conv.w"},
            {
                "OutputTensor": tensor([1, 8, 32, 32], strides=[8192, 1, 256, 8]),
                "Mode": "CROSS_CORRELATION",
                "Direction": "FORWARD",
                "Strides": [1, 1],
                "Dilations": [2, 2],
                "StartPadding": [2, 2],
                "EndPadding": [2, 2],
                "OutputPadding": [0, 0],
                "GroupCount": 1,
            },
            {"OutputTensor": "conv"},
        ),
        node(
            "relu",
            "ACTIVATION_RELU",
            {"InputTensor": "conv"},
            {"OutputTensor": tensor([1, 8, 32, 32], strides=[8192, 1, 256, 8])},
            {"OutputTensor": "y"},
        ),
    ],
    "y",
)
"""A dilated convolution whose tensors lie in memory with their channels last."""

CACHE = network(
    {
        "past": tensor([1, 4, 31, 16]),
        "new": tensor([1, 4, 1, 16]),
        "query": tensor([1, 4, 1, 16]),
        "mask": tensor([1, 1, 1, 32]),
        "values": tensor([1, 1, 32, 16]),
    },
    {},
    [
        node(
            "keys",
            "JOIN",
            {"InputTensors": ["past", "new"]},
            {"OutputTensor": tensor([1, 4, 32, 16]), "Axis": 2},
            {"OutputTensor": "keys"},
        ),
        node(
            "scores",
            "GEMM",
            {"ATensor": "query", "BTensor": "keys"},
            {"OutputTensor": tensor([1, 4, 1, 32]), "TransA": "NONE", "TransB": "TRANSPOSE", "Alpha": 0.25, "Beta": 0},
            {"OutputTensor": "scores"},
        ),
        node(
            "masked",
            "ELEMENT_WISE_ADD",
            {"ATensor": "scores", "BTensor": "mask"},
            {"BTensor": tensor([1, 4, 1, 32], strides=[0, 0, 0, 1]), "OutputTensor": tensor([1, 4, 1, 32])},
            {"OutputTensor": "masked"},
        ),
        node(
            "softmax",
            "ACTIVATION_SOFTMAX1",
            {"InputTensor": "masked"},
            {"OutputTensor": tensor([1, 4, 1, 32]), "Axes": [3]},
            {"OutputTensor": "weights"},
        ),
        product("mix", [1, 4, 1, 16], "weights", "values", BTensor=tensor([1, 4, 32, 16], strides=[512, 0, 16, 1])),
    ],
    "mix",
)
"""One step of a decoder that keeps its keys, with one head of values for four of queries."""

NIBBLES = edited(
    network(
        {"x": tensor([1, 1, 1, 64])},
        {
            "w": tensor([1, 1, 32, 64], "UINT4"),
            "scales": tensor([1, 1, 32, 2]),
            "zeros": tensor([1, 1, 32, 2], "UINT4"),
        },
        [
            node(
                "weights",
                "DEQUANTIZE",
                {"InputTensor": "w", "QuantizationTensors": ["scales", "zeros"]},
                {"OutputTensor": tensor([1, 1, 32, 64]), "QuantizationType": "SCALE_ZERO_POINT"},
                {"OutputTensor": "weights"},
            ),
            node(
                "product",
                "GEMM",
                {"ATensor": "x", "BTensor": "weights"},
                {"OutputTensor": tensor([1, 1, 1, 32]), "TransA": "NONE", "TransB": "TRANSPOSE", "Alpha": 1, "Beta": 0},
                {"OutputTensor": "y"},
            ),
        ],
        "y",
    ),
    ('"6_1"', '"6_3"'),
)
"""A product with weights of four bits, in blocks of 32."""

MEAN = edited(
    network(
        {"words": tensor([1, 16, 64])},
        {},
        [
            node(
                "mean",
                "REDUCE",
                {"InputTensor": "words"},
                {"Function": "AVERAGE", "OutputTensor": tensor([1, 1, 64]), "Axes": [1]},
                {"OutputTensor": "y"},
            ),
        ],
        "y",
    ),
    ('"6_1"', '"3_0"'),
)
"""The mean of the words of a sentence, in three dimensions."""

STORED = """\
{
  "dml2onnx": 1,
  "feature_level": "5_0",
  "inputs": {
    "x": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 64]}
  },
  "constants": {
    "w": {
      "DataType": "FLOAT32", "Sizes": [1, 1, 64, 10],
      "file": "weights/classifier.bin"
    }
  },
  "nodes": [
    {
      "name": "classifier",
      "type": "GEMM",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 10]},
        "TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0
      },
      "inputs": {"ATensor": "x", "BTensor": "w"},
      "outputs": {"OutputTensor": "y"}
    }
  ],
  "outputs": ["y"]
}
"""
"""A classifier whose weights are in a file."""

QUANTIZED = """\
{
  "resources": {
    "X": {"initialValuesDataType": "FLOAT32", "initialValues": [0.5, 1, 1.5, 2]},
    "Scale": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 1, "value": 0.5}},
    "Zero": {"initialValuesDataType": "UINT8", "initialValues": {"valueCount": 1, "value": 128}},
    "Y": {"initialValuesDataType": "UINT8", "initialValues": {"valueCount": 4, "value": 0}}
  },
  "dispatchables": {
    "quantize": {
      "type": "DML_OPERATOR_ELEMENT_WISE_QUANTIZE_LINEAR",
      "desc": {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]},
        "ScaleTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2], "Strides": [0, 0, 0, 0]},
        "ZeroPointTensor": {"DataType": "UINT8", "Sizes": [1, 1, 2, 2], "Strides": [0, 0, 0, 0]},
        "OutputTensor": {"DataType": "UINT8", "Sizes": [1, 1, 2, 2]}
      }
    }
  },
  "commands": [
    {
      "type": "dispatch",
      "dispatchable": "quantize",
      "bindings": {
        "InputTensor": "X",
        "ScaleTensor": "Scale",
        "ZeroPointTensor": "Zero",
        "OutputTensor": "Y"
      }
    },
    {"type": "print", "resource": "Y"}
  ]
}
"""
"""Four numbers quantised in DxDispatch, by one scale."""

PITCHED = """\
{
  "resources": {
    "X": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 16, "valueStart": 0, "valueDelta": 1}},
    "Y": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 12, "value": 0}}
  },
  "dispatchables": {
    "pack": {
      "type": "DML_OPERATOR_ELEMENT_WISE_IDENTITY",
      "desc": {
        "InputTensor": {
          "DataType": "FLOAT32",
          "Sizes": [1, 1, 4, 3],
          "Strides": [16, 16, 4, 1],
          "TotalTensorSizeInBytes": 60
        },
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 3]}
      }
    }
  },
  "commands": [
    {"type": "dispatch", "dispatchable": "pack", "bindings": {"InputTensor": "X", "OutputTensor": "Y"}},
    {"type": "print", "resource": "Y"}
  ]
}
"""
"""Rows that end in a gap, packed by DxDispatch."""

HALVES = base64.b64encode(np.full(8, 0.5, np.float32).tobytes()).decode()
"""Eight biases as a graph of C++ has them."""

DOUBLES = base64.b64encode(np.full(8, 0.5).tobytes()).decode()
"""The same numbers as numpy makes them."""

GRAPH_OF_TWO = f"""\
{{
  "Nodes": [
    {{"Type": "OPERATOR", "Name": "conv1", "Desc": {{"Operator": {{"Type": "CONVOLUTION", "Desc": {{
      "InputTensor": {{"DataType": "FLOAT32", "Sizes": [1, 3, 16, 16]}},
      "FilterTensor": {{"DataType": "FLOAT32", "Sizes": [8, 3, 3, 3]}},
      "BiasTensor": {{"DataType": "FLOAT32", "Sizes": [1, 8, 1, 1]}},
      "OutputTensor": {{"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16]}},
      "Mode": "CROSS_CORRELATION", "Direction": "FORWARD",
      "Strides": [1, 1],
      "Dilations": [1, 1],
      "StartPadding": [1, 1],
      "EndPadding": [1, 1],
      "OutputPadding": [0, 0],
      "GroupCount": 1,
      "FusedActivation": {{"Type": "ACTIVATION_LEAKY_RELU", "Desc": {{"Alpha": 0.1}}}}
    }}}}}}}},
    {{"Type": "OPERATOR", "Name": "conv2", "Desc": {{"Operator": {{"Type": "CONVOLUTION", "Desc": {{
      "InputTensor": {{"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16]}},
      "FilterTensor": {{"DataType": "FLOAT32", "Sizes": [16, 8, 3, 3]}},
      "BiasTensor": null,
      "OutputTensor": {{"DataType": "FLOAT32", "Sizes": [1, 16, 16, 16]}},
      "Mode": "CROSS_CORRELATION", "Direction": "FORWARD",
      "Strides": [1, 1],
      "Dilations": [1, 1],
      "StartPadding": [1, 1],
      "EndPadding": [1, 1],
      "OutputPadding": [0, 0],
      "GroupCount": 1
    }}}}}}}},
    {{"Type": "CONSTANT", "Desc": {{"Name": "bias", "DataSize": 32, "Data": "{HALVES}"}}}}
  ],
  "InputEdges": [
    {{"GraphInputIndex": 0, "ToNodeIndex": 0, "ToNodeInputIndex": 0}},
    {{"GraphInputIndex": 1, "ToNodeIndex": 0, "ToNodeInputIndex": 1}},
    {{"GraphInputIndex": 2, "ToNodeIndex": 1, "ToNodeInputIndex": 1}}
  ],
  "IntermediateEdges": [
    {{"FromNodeIndex": 2, "FromNodeOutputIndex": 0, "ToNodeIndex": 0, "ToNodeInputIndex": 2}},
    {{"FromNodeIndex": 0, "FromNodeOutputIndex": 0, "ToNodeIndex": 1, "ToNodeInputIndex": 0}}
  ],
  "OutputEdges": [
    {{"GraphOutputIndex": 0, "FromNodeIndex": 1, "FromNodeOutputIndex": 0}}
  ]
}}
"""
"""Two convolutions as a graph of C++, the first with a bias that is known."""

BASES = (
    GENERATOR,
    FEED_FORWARD,
    FOCUS,
    INTERLEAVED,
    CACHE,
    NIBBLES,
    MEAN,
    STORED,
    QUANTIZED,
    PITCHED,
    GRAPH_OF_TWO,
)
"""The networks of this set, without a mistake."""

TWENTYFIRST_FILES = (
    # --- A picture made of noise ---
    Case(
        "PyTorch's output_padding left out of a transposed convolution",
        edited(GENERATOR, ('"OutputPadding": [1, 1]', '"OutputPadding": [0, 0]')),
        (r"no errors, no warnings",),  # no mistake: DirectML computes a larger output so, as PyTorch does
        findings=0,
        severity="",
    ),
    Case(
        "noise as a row of numbers",
        edited(
            GENERATOR,
            (
                '"z": {"DataType": "FLOAT32", "Sizes": [1, 100, 1, 1]}',
                '"z": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 100]}',
            ),
        ),
        (r'"first"|"z"', r"\b100\b", r"\[1, 1, 1, 100\]|\b1\b", r"\[1, 100, 1, 1\]"),
    ),
    # --- A transformer ---
    Case(
        "a bias that is multiplied by 0",
        edited(
            FEED_FORWARD,
            (
                '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 16, 64]},\n        "Beta": 1',
                '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 16, 64]},\n        "Beta": 0',
            ),
        ),
        (
            r'"narrow"',
            r"Beta",
            r"CTensor|narrow\.b|bias",
            r"Beta 1\b|ignored|no effect|not added|unused|never read|nothing",
        ),
        severity="warning",
    ),
    Case(
        "a mask as long as the keys of the past",
        edited(
            CACHE,
            (
                '"mask": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 32]}',
                '"mask": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 31]}',
            ),
        ),
        (r'"masked"|"mask"', r"\b31\b|\b124\b", r"\b32\b|\b128\b", r"(help|or):"),
    ),
    Case(
        "one head of values for four of queries, without strides that repeat it",
        edited(
            CACHE,
            (
                '        "BTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 32, 16], "Strides": [512, 0, 16, 1]},\n',
                "",
            ),
        ),
        (r'"mix"', r"\[1, 1, 32, 16\]", r"\b4\b", r"Strides \[\d+, 0, 16, 1\]|broadcast|repeat"),
    ),
    Case(
        "zero points for rows beside scales for blocks",
        edited(
            NIBBLES,
            (
                '"zeros": {"DataType": "UINT4", "Sizes": [1, 1, 32, 2]',
                '"zeros": {"DataType": "UINT4", "Sizes": [1, 1, 32, 1]',
            ),
        ),
        (r'"weights"|"zeros"', r"QuantizationTensors|zero", r"\[1, 1, 32, 1\]", r"\[1, 1, 32, 2\]"),
    ),
    Case(
        "three dimensions on a level that has four",
        edited(MEAN, ('"3_0"', '"2_0"')),
        (r'"mean"', r"2_0", r"3_0", r"\b4\b|leading|\[1, 1, 16, 64\]"),
    ),
    # --- Recurrent layers ---
    Case(
        "weights and recurrence of an LSTM in each other's place",
        edited(
            TAGGER,
            (
                '"WeightTensor": "w", "RecurrenceTensor": "r"',
                '"WeightTensor": "r", "RecurrenceTensor": "w"',
            ),
        ),
        (
            r'"lstm"',
            r"\b24\b",
            r"\b16\b",
            r"swap|exchang|way round|each other|turned|WeightTensor.{1,20}\"w\"",
        ),
    ),
    Case(
        "the kernel of an LSTM as Keras has it",
        edited(
            TAGGER,
            (
                '"w": {"DataType": "FLOAT32", "Sizes": [1, 2, 64, 24]',
                '"w": {"DataType": "FLOAT32", "Sizes": [1, 2, 24, 64]',
            ),
        ),
        (r'"lstm"', r"WeightTensor|\"w\"", r"\[1, 2, 64, 24\]"),
    ),
    # --- Pictures ---
    Case(
        "a window as large as what is taken from it, in steps of two",
        edited(
            FOCUS,
            (
                '"InputWindowOffsets": [0, 0, 1, 1],\n        "InputWindowSizes": [1, 3, 31, 31],',
                '"InputWindowOffsets": [0, 0, 1, 1],\n        "InputWindowSizes": [1, 3, 16, 16],',
            ),
        ),
        (
            r'"odd"',
            r"\b16\b",
            r"\b8\b",
            r"(help|or):.*(InputWindowSizes.*31|InputWindowStrides|\[1, 3, 8, 8\])",
        ),
    ),
    Case(
        "a field that was pasted a second time",
        edited(
            FOCUS,
            ('"OutputPadding": [0, 0],', '"OutputPadding": [0, 0],\n        "Strides": [2, 2],'),
        ),
        (r"Strides", r"twice|\btwo\b|again|already|[Dd]uplicate|second|more than once"),
    ),
    Case(
        "strides of NHWC in the order of NHWC",
        edited(
            INTERLEAVED,
            (
                '"Strides": [8192, 1, 256, 8]},\n        "Mode"',
                '"Strides": [8192, 256, 8, 1]},  // <- here\n        "Mode"',
            ),
        ),
        (
            r'"conv"',
            r"Strides",
            r"overlap|same (element|place|byte|memory|address|offset)|more than once|twice|several|one place",
            r"\[8192, 1, 256, 8\]",
        ),
    ),
    Case(
        "a dilated filter with the padding of a dense one",
        edited(
            INTERLEAVED,
            (
                '"StartPadding": [2, 2],\n        "EndPadding": [2, 2],',
                '"StartPadding": [1, 1],\n        "EndPadding": [1, 1],',
            ),
        ),
        (
            r'"conv"',
            r"\b32\b",
            r"\b30\b",
            r"(help|or):.*(Padding \[2, 2\]|Dilations \[1, 1\]|\[1, 8, 30, 30\])",
        ),
    ),
    # --- Files ---
    Case(
        "a path as Windows writes it",
        edited(
            STORED,
            ('"file": "weights/classifier.bin"', '"file": "weights\\classifier.bin"  // <- here'),
        ),
        (
            r"\\|backslash|escape",
            r"weights/classifier\.bin|weights\\\\classifier\.bin|doubled?\b|slash|\"/\"|\\\\\\\\",
        ),
    ),
    # --- DxDispatch ---
    Case(
        "a scale of one element as ONNX has it",
        edited(
            QUANTIZED,
            (
                '"ScaleTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2], "Strides": [0, 0, 0, 0]},',
                '"ScaleTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1]},  // <- here',
            ),
        ),
        (
            r"quantize",
            r"ScaleTensor",
            r"\[1, 1, 1, 1\]",
            r"\[1, 1, 2, 2\]",
            r"Strides \[0, 0, 0, 0\]|broadcast|repeat",
        ),
    ),
    Case(
        "a field of a tensor in the case of resources",
        edited(
            DISPATCHED,
            (
                '"FilterTensor": {"DataType": "FLOAT32", "Sizes": [4, 3, 3, 3]},',
                '"FilterTensor": {"dataType": "FLOAT32", "Sizes": [4, 3, 3, 3]},  // <- here',
            ),
        ),
        (r"\bdataType\b", r"\bDataType\b"),
    ),
    Case(
        "a flag by the name of the flags",
        edited(
            DISPATCHED,
            (
                '"FilterTensor": {"DataType": "FLOAT32", "Sizes": [4, 3, 3, 3]},',
                '"FilterTensor": {"DataType": "FLOAT32", "Sizes": [4, 3, 3, 3], '
                '"Flags": "DML_TENSOR_FLAGS_NONE"},  // <- here',
            ),
        ),
        (r"DML_TENSOR_FLAGS_NONE", r"(mean|expected|help|or):?.*\b(DML_TENSOR_FLAG_)?NONE\b"),
    ),
    Case(
        "an operator by the name of its type",
        edited(
            DISPATCHED,
            ('"type": "DML_OPERATOR_CONVOLUTION",', '"type": "DML_OPERATOR_TYPE_CONVOLUTION",  // <- here'),
        ),
        (r"DML_OPERATOR_TYPE_CONVOLUTION", r"(mean|expected|help|or):?.*\b(DML_OPERATOR_)?CONVOLUTION\b"),
    ),
    Case(
        "a size in bytes that leaves out the gaps",
        edited(PITCHED, ('"TotalTensorSizeInBytes": 60', '"TotalTensorSizeInBytes": 48  // <- here')),
        (r"pack", r"TotalTensorSizeInBytes", r"\b48\b", r"\b60\b"),
    ),
    # --- Graphs of C++ ---
    Case(
        "the first filter for both convolutions",
        edited(
            GRAPH_OF_TWO,
            (
                '{"GraphInputIndex": 2, "ToNodeIndex": 1, "ToNodeInputIndex": 1}',
                '{"GraphInputIndex": 1, "ToNodeIndex": 1, "ToNodeInputIndex": 1}',
            ),
        ),
        (
            r'"conv2"|FilterTensor|/InputEdges/',
            r"\[8, 3, 3, 3\]|\b864\b|\b216\b",
            r"\[16, 8, 3, 3\]|\b4608\b|\b1152\b",
        ),
        severity="warning",
    ),
    Case(
        "constants of a graph as numpy makes them",
        edited(GRAPH_OF_TWO, (f'"DataSize": 32, "Data": "{HALVES}"', f'"DataSize": 64, "Data": "{DOUBLES}"')),
        (r'"bias"|BiasTensor|DataSize|"conv1"', r"\b64\b", r"\b32\b"),
    ),
    Case(
        "a leaky ReLU without its slope",
        edited(
            GRAPH_OF_TWO,
            ('{"Type": "ACTIVATION_LEAKY_RELU", "Desc": {"Alpha": 0.1}}', '{"Type": "ACTIVATION_LEAKY_RELU"}'),
        ),
        (r'"conv1"', r"FusedActivation|LEAKY_RELU", r"Alpha", r"missing|needs?|required|without|lacks|left out|give"),
    ),
)

TWENTYFIRST_PROGRAMS = (
    Case(
        "a mean without its dimensions, as numpy and PyTorch leave them out",
        """
        x = g.input("x", np.float32, [1, 8, 32, 32])
        y = g.reduce(x, "AVERAGE", [2, 3], keepdims=False)  # <- here
        """,
        (r"keepdims", r"size 1|sizes? of 1|keeps?\b|stays?\b|reshape|reinterpret"),
    ),
    Case(
        "a dilation as PyTorch names it",
        """
        x = g.input("x", np.float32, [1, 3, 32, 32])
        y = g.convolution(x, np.ones((8, 3, 3, 3)), dilation=2)  # <- here
        """,
        (r"\bdilation\b", r"\bdilations\b"),
    ),
    Case(
        "steps of a recurrent layer in three dimensions, as ONNX has them",
        """
        x = g.input("x", np.float32, [12, 1, 24])  # <- there
        w = g.constant(np.ones((1, 1, 64, 24), np.float32))
        r = g.constant(np.ones((1, 1, 64, 16), np.float32))
        y = g.lstm(x, w, r, ["SIGMOID", "TANH", "TANH"], "FORWARD", 0.0, False, False)  # <- here
        """,
        (r"InputTensor|\binput\b|\bx\b", r"\[12, 1, 24\]|\b3\b", r"\[1, 12, 1, 24\]|\b4\b"),
    ),
    Case(
        "a picture of odd size made smaller, made larger and joined with what it was",
        """
        x = g.input("x", np.float32, [1, 8, 33, 33])
        small = g.max_pooling(x, 2, strides=2).values
        large = g.resample(small, scales=[1, 1, 2, 2])
        y = g.join([x, large], 1)  # <- here
        """,
        (r"\b33\b", r"\b32\b", r"[Aa]xis|[Jj]oin|JOIN"),
    ),
    Case(
        "an input that was copied with its name",
        """
        a = g.input("x", np.float32, [1, 8])
        b = g.input("x", np.float32, [1, 8])  # <- here
        y = a + b
        """,
        (r"\bx\b", r"already|taken|twice|\btwo\b|second|unique|another|exists"),
    ),
    Case(
        "a shape",
        """
        x = g.input("x", np.float32, [1, 8, 2, 2])
        y = g.reshape(x, [1, 1, 1, 4 * x.shape[1]])
        """,
        findings=0,  # no mistake: expressions have it as another name of their sizes
    ),
)

TWENTYFIRST_COMMANDS = (
    Command(
        "a builder of PyDirectML without a device",
        ("pydirectml", "program.py"),
        (r"[Dd]evice", r"line 4\b"),
        edited(PYDIRECTML, ("dml.GraphBuilder(dml.Device())", "dml.GraphBuilder()")),
    ),
    Command(
        "flags of PyDirectML after the sizes",
        ("pydirectml", "program.py"),
        (r"[Ff]lags", r"sizes", r"line 7\b"),
        PYDIRECTML
        + "b = dml.input_tensor(graph, 2, dml.TensorDesc("
        + "dml.TensorDataType.FLOAT32, [1, 1, 1, 1], dml.TensorFlags.OWNED_BY_DML))\n",
    ),
    Command("a run without its picture", ("run", "net.json"), (r"image", r"--input image=")),
    Command(
        "an array by another name than its archive has",
        ("run", "net.json", "--input", "image=pictures.npz:image"),
        (r"pictures\.npz", r"image", r"arr_0"),
        "import numpy as np\n\nnp.savez('pictures.npz', np.zeros((1, 3, 32, 32), np.float32))\n",
        before=(("pydirectml", "program.py"),),
    ),
    Command(
        "a batch of eight for a network of one picture",
        ("run", "net.json", "--input", "image=batch.npy"),
        (r"8\D+3\D+32\D+32", r"1\D+3\D+32\D+32", r"--size"),
        "import numpy as np\n\nnp.save('batch.npy', np.zeros((8, 3, 32, 32), np.float32))\n",
        before=(("pydirectml", "program.py"),),
    ),
    Command(
        "the bytes of a picture where fractions are read",
        ("run", "net.json", "--input", "image=picture.raw"),
        (r"3,?072\b", r"12,?288\b", r"UINT8|uint8|bytes?|FLOAT32|float32"),
        files=(("picture.raw", "".join(chr(number % 128) for number in range(3 * 32 * 32))),),
    ),
    Command(
        "an input and its file with a space between them",
        ("run", "net.json", "--input", "image", "image.npy"),
        (r"NAME=FILE|image=image\.npy",),
    ),
    Command(
        "an option of run for compile",
        ("compile", "net.json", "--output-dir", "out"),
        (r"--output-dir", r"(^|[\s\"'`(])(-o|--output)\b(?!-)"),
    ),
    Command(
        "two models to be compared, one after the other",
        ("verify", "net.json", "net.onnx"),
        (r"net\.onnx", r"--against"),
        before=(("compile", "net.json", "-o", "net.onnx"),),
    ),
    Command(
        "a pattern of names that the shell of Windows leaves as it is",
        ("check", "models/*.json"),
        (r"models/\*\.json", r"wildcard|pattern|glob|expand|shell|quot|directory|check models\b"),
        files=(("models/a.json", "{}"),),
    ),
    Command(
        "a range with a dash",
        ("compile", "net.json", "--size", "image=N,3,32,32", "--range", "N=1-8"),
        (r"1-8", r"N=1\.\.\d+|FIRST\.\.LAST"),
    ),
    Command("half precision as trtexec names it", ("compile", "net.json", "--fp16"), (r"--fp16", r"--half")),
)
