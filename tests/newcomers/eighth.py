"""Forty mistakes of users of DirectML, DxDispatch, PyDirectML and ONNX Runtime, written before answers were read."""

from __future__ import annotations

from tests.newcomers.case import Case, Command, edited
from tests.newcomers.fourth import GRAPH
from tests.newcomers.sixth import changed, graph

PICTURE = '    "x": {"DataType": "FLOAT32", "Sizes": [1, 4, 8, 8]}'

EIGHTH_FILES = (
    # --- Quantisation ---
    Case(
        "scales of one dimension, as ONNX has them for each channel",
        graph(
            PICTURE,
            """\
      "type": "ELEMENT_WISE_QUANTIZE_LINEAR",
      "desc": {"OutputTensor": {"DataType": "UINT8", "Sizes": [1, 4, 8, 8]}},
      "inputs": {
        "InputTensor": "x",
        "ScaleTensor": "s", // <- here
        "ZeroPointTensor": "z"
      },
      "outputs": {"OutputTensor": "y"}""",
            """
    "s": {"DataType": "FLOAT32", "Sizes": [4], "fill": 0.1},
    "z": {"DataType": "UINT8", "Sizes": [4], "fill": 128}
  """,
        ),
        (r"ScaleTensor.*ZeroPointTensor|ZeroPointTensor.*ScaleTensor", r"\[1, 4, 1, 1\]|Strides \[0, 1, 0, 0\]"),
    ),
    Case(
        "a zero point of another type than the quantised tensor",
        graph(
            PICTURE,
            """\
      "type": "ELEMENT_WISE_QUANTIZE_LINEAR",
      "desc": {"OutputTensor": {"DataType": "INT8", "Sizes": [1, 4, 8, 8]}},
      "inputs": {
        "InputTensor": "x",
        "ScaleTensor": {"value": "s"},
        "ZeroPointTensor": {"value": "z"} // <- here
      },
      "outputs": {"OutputTensor": "y"}""",
            """
    "s": {"DataType": "FLOAT32", "Sizes": [1, 4, 8, 8], "fill": 0.1},
    "z": {"DataType": "UINT8", "Sizes": [1, 4, 8, 8], "fill": 128}
  """,
        ),
        (r"ZeroPointTensor", r"OutputTensor", r"UINT8", r"INT8", r"help:"),
    ),
    Case(
        "zero points as PyTorch keeps them",
        graph(
            '    "x": {"DataType": "UINT8", "Sizes": [1, 4, 8, 8]}',
            """\
      "type": "ELEMENT_WISE_DEQUANTIZE_LINEAR",
      "desc": {"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 8, 8]}},
      "inputs": {
        "InputTensor": "x",
        "ScaleTensor": "s",
        "ZeroPointTensor": "z" // <- here
      },
      "outputs": {"OutputTensor": "y"}""",
            """
    "s": {"DataType": "FLOAT32", "Sizes": [1, 4, 8, 8], "fill": 0.1},
    "z": {"DataType": "INT32", "Sizes": [1, 4, 8, 8], "fill": 128}
  """,
        ),
        (r"ZeroPointTensor", r"INT32", r"UINT8", r"help:.*(CAST|UINT8)"),
    ),
    # --- Attention ---
    Case(
        "a mask beside the mask type NONE",
        graph(
            """\
    "q": {"DataType": "FLOAT32", "Sizes": [2, 10, 64]},
    "mask": {"DataType": "INT32", "Sizes": [2, 10]}""",
            """\
      "type": "MULTIHEAD_ATTENTION",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 10, 64]},
        "Scale": 0.125,
        "MaskFilterValue": -10000,
        "HeadCount": 8,
        "MaskType": "NONE"
      },
      "inputs": {
        "QueryTensor": "q",
        "KeyTensor": "q",
        "ValueTensor": "q",
        "MaskTensor": "mask" // <- here
      },
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"MaskTensor", r"MaskType", r"NONE", r"MaskTensor left out"),
    ),
    Case(
        "an additive mask of fractions as a mask of BOOLEAN",
        graph(
            """\
    "q": {"DataType": "FLOAT32", "Sizes": [2, 10, 64]},
    "mask": {"DataType": "FLOAT32", "Sizes": [2, 8, 10, 10]}""",
            """\
      "type": "MULTIHEAD_ATTENTION",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 10, 64]},
        "Scale": 0.125,
        "MaskFilterValue": -10000,
        "HeadCount": 8,
        "MaskType": "BOOLEAN"
      },
      "inputs": {
        "QueryTensor": "q",
        "KeyTensor": "q",
        "ValueTensor": "q",
        "MaskTensor": "mask" // <- here
      },
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"MaskTensor", r"INT32", r"RelativePositionBiasTensor"),
    ),
    Case(
        "a heads-first query as PyTorch's attention takes it",
        graph(
            '    "q": {"DataType": "FLOAT32", "Sizes": [2, 8, 10, 16]} // <- here',
            """\
      "type": "MULTIHEAD_ATTENTION",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 10, 128]},
        "Scale": 0.25,
        "MaskFilterValue": -10000,
        "HeadCount": 8,
        "MaskType": "NONE"
      },
      "inputs": {
        "QueryTensor": "q",
        "KeyTensor": "q",
        "ValueTensor": "q"
      },
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"help: QueryTensor.* of sizes \[2, 10, 128\]; it looks like heads first",),
    ),
    # --- Copied from C++ ---
    Case(
        "sizes in the braces of C++",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": {1, 4, 8, 8}} // <- here',
            """\
      "type": "ACTIVATION_RELU",
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"\[1, 4, 8, 8\]|\[ and \]|square brackets|brackets \[", r"\{1"),
    ),
    Case(
        "nullptr",
        graph(
            PICTURE,
            """\
      "type": "ELEMENT_WISE_IDENTITY",
      "desc": {
        "ScaleBias": nullptr // <- here
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"nullptr", r"\bnull\b"),
    ),
    Case(
        "a size in elements where bytes are meant",
        graph(
            PICTURE,
            """\
      "type": "ACTIVATION_RELU",
      "desc": {
        "InputTensor": {
          "DataType": "FLOAT32",
          "Sizes": [1, 4, 8, 8],
          "TotalTensorSizeInBytes": 256 // <- here
        }
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"\b256\b", r"1024", r"elements"),
        fixed=True,
    ),
    Case(
        "an enumerator of another operator's enumeration",
        graph(
            PICTURE,
            """\
      "type": "REDUCE",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 1, 1]},
        "Function": "DML_REDUCE_FUNCTION_MEAN", // <- here
        "Axes": [2, 3]
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r'did you mean "AVERAGE"',),
        fixed=True,
    ),
    Case(
        "ends of a slice where sizes are meant",
        graph(
            PICTURE,
            """\
      "type": "SLICE1",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 6, 6]},
        "InputWindowOffsets": [0, 0, 2, 2],
        "InputWindowSizes": [1, 4, 8, 8], // <- here
        "InputWindowStrides": [1, 1, 1, 1]
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"InputWindowSizes", r"\[1, 4, 6, 6\]"),
    ),
    Case(
        "sizes where scales are meant",
        graph(
            PICTURE,
            """\
      "type": "RESAMPLE",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 16, 16]},
        "InterpolationMode": "LINEAR",
        "Scales": [1, 4, 16, 16] // <- here
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"Scales \[1, 1, 2, 2\]",),
        severity="warning",
    ),
    Case(
        "a filter of a forward convolution in a backward one",
        graph(
            PICTURE,
            """\
      "type": "CONVOLUTION",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 6, 16, 16]},
        "Mode": "CROSS_CORRELATION", "Direction": "BACKWARD", "Strides": [2, 2], "Dilations": [1, 1],
        "StartPadding": [0, 0], "EndPadding": [0, 0], "OutputPadding": [0, 0],
        "GroupCount": 1
      },
      "inputs": {"InputTensor": "x", "FilterTensor": "w"}, // <- here
      "outputs": {"OutputTensor": "y"}""",
            """
    "w": {"DataType": "FLOAT32", "Sizes": [6, 4, 2, 2], "fill": 0.1}
  """,
        ),
        (r"FilterTensor", r"\[4, 6, 2, 2\]"),
    ),
    # --- Strides and types ---
    Case(
        "a row read backwards, as numpy's views are",
        graph(
            PICTURE,
            """\
      "type": "ACTIVATION_RELU",
      "desc": {
        "InputTensor": {
          "DataType": "FLOAT32",
          "Sizes": [1, 4, 8, 8],
          "Strides": [256, 64, 8, -1] // <- here
        }
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"-1", r"SLICE1", r"InputWindowStrides"),
    ),
    Case(
        "an output that is written several times to one place",
        graph(
            PICTURE,
            """\
      "type": "ACTIVATION_RELU",
      "desc": {
        "OutputTensor": {
          "DataType": "FLOAT32",
          "Sizes": [1, 4, 8, 8],
          "Strides": [0, 0, 8, 1] // <- here
        }
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"OutputTensor", r"share memory", r"\[256, 64, 8, 1\]"),
    ),
    Case(
        "a condition of fractions",
        graph(
            '    "c": {"DataType": "FLOAT32", "Sizes": [4]}, "x": {"DataType": "FLOAT32", "Sizes": [4]}',
            """\
      "type": "ELEMENT_WISE_IF",
      "inputs": {
        "ConditionTensor": "c", // <- here
        "ATensor": "x",
        "BTensor": "x"
      },
      "outputs": {"OutputTensor": "y"}""",
        ),
        (r"ConditionTensor", r"UINT8", r"CAST|LOGICAL_"),
    ),
    # --- Wiring of C++ and DxDispatch ---
    Case(
        "nodes counted from 1",
        edited(
            GRAPH,
            (
                '"ToNodeIndex": 1, "ToNodeInputIndex": 0}',
                '"$comment": "<- here", "ToNodeIndex": 2, "ToNodeInputIndex": 0}',
            ),
        ),
        (r"ToNodeIndex", r"\b2\b", r"0 (to|or|and) 1|2 nodes"),
    ),
    Case(
        "an output that the operator does not have",
        edited(
            GRAPH,
            (
                '{"GraphOutputIndex": 0, "FromNodeIndex": 1, "FromNodeOutputIndex": 0}',
                '{"GraphOutputIndex": 0, "FromNodeIndex": 1, "FromNodeOutputIndex": 1, "$comment": "<- here"}',
            ),
        ),
        (r"FromNodeOutputIndex|output 1", r"ACTIVATION_RELU|\"relu\"", r"OutputTensor|1 output"),
    ),
    Case(
        "values of half the width",
        changed(
            (
                '"A": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 16, "value": 1}},',
                '"A": {"initialValuesDataType": "FLOAT16", '
                '"initialValues": {"valueCount": 16, "value": 1}}, // <- there',
            ),
            (
                '"ATensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]},',
                '"ATensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]}, // <- here',
            ),
        ),
        (r'"A" has 32 bytes', r"64 bytes", r"FLOAT16", r"FLOAT32"),
    ),
    Case(
        "a dispatch of a misspelt operator",
        changed(('"dispatchable": "add",', '"dispatchable": "Add", // <- here')),
        (r'did you mean "add"',),
        fixed=True,
    ),
    Case(
        "a model of ONNX in DxDispatch",
        changed(
            (
                '  "dispatchables": {\n',
                '  "dispatchables": {\n    "net": {\n      "type": "onnx", // <- here\n'
                '      "sourcePath": "net.onnx"\n    },\n',
            )
        ),
        (r"ONNX model", r"help:"),
    ),
)

EIGHTH_PROGRAMS = (
    Case(
        "whole numbers of two widths",
        """\
        a = g.input("a", np.int8, [4])
        b = g.input("b", np.int32, [4])
        y = a + b  # <- here
        """,
        (r"INT8", r"INT32", r"cast\("),
    ),
    Case(
        "a method of PyTorch on a tensor",
        """\
        x = g.input("x", np.float32, [1, 3, 8, 8])
        y = x.permute(0, 2, 3, 1)  # <- here
        """,
        (r"transpose|reinterpret",),
    ),
    Case(
        "one axis of a reduction",
        """\
        x = g.input("x", np.float32, [1, 3, 8, 8])
        y = g.reduce(x, "AVERAGE", axis=1)  # <- here
        """,
        (r"axes",),
    ),
    Case(
        "concatenation as PyTorch names it",
        """\
        a, b = g.input("a", np.float32, [1, 3]), g.input("b", np.float32, [1, 3])
        y = g.cat([a, b], dim=1)  # <- here
        """,
        (r"\bjoin\b",),
    ),
    Case(
        "concatenation by numpy",
        """\
        a, b = g.input("a", np.float32, [1, 3]), g.input("b", np.float32, [1, 3])
        y = np.concatenate([a, b], axis=1)  # <- here
        """,
        (r"\bjoin\b",),
    ),
    Case(
        "an element that is assigned",
        """\
        x = g.input("x", np.float32, [4])
        x[0] = 1.0  # <- here
        """,
        (r"assign", r"join|scatter|if_"),
    ),
    Case(
        "numbers of a tensor before it is computed",
        """\
        x = g.input("x", np.float32, [4])
        y = g.activation_relu(x)
        print(y.numpy())  # <- here
        """,
        (r"compile", r"run"),
    ),
    Case(
        "padding as TensorFlow says it",
        """\
        x = g.input("x", np.float32, [1, 3, 8, 8])
        y = g.convolution(x, np.ones((4, 3, 3, 3), np.float32), start_padding="SAME")  # <- here
        """,
        (r"StartPadding", r"SAME", r"\[1, 1\]"),
    ),
    Case(
        "an array where inputs by name are meant",
        """\
        x = g.input("x", np.float32, [4])
        model = dml2onnx.compile(g.build({"y": g.activation_relu(x)}))
        model.run(np.zeros(4, np.float32))
        """,
        (r'\{"x": ',),
    ),
)

LFS = """\
version https://git-lfs.github.com/spec/v1
oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
size 12345
"""
IR = """\
<?xml version="1.0"?>
<net name="net" version="11">
  <layers/>
</net>
"""

EIGHTH_COMMANDS = (
    Command("a Windows without its release", ("check", "net.json", "--windows", "11"), (r"11-2\dH2", r"--windows")),
    Command("a pointer of Git LFS", ("compile", "big.json"), (r"Git LFS", r"git lfs pull"), files=(("big.json", LFS),)),
    Command("a network of OpenVINO", ("check", "net.xml"), (r"XML", r"OpenVINO"), files=(("net.xml", IR),)),
    Command(
        "a JSON file of another tool",
        ("check", "package.json"),
        (r'"dml2onnx": 1|no graph', r"formats|Nodes|native"),
        files=(("package.json", '{"name": "app", "version": "1.0.0", "dependencies": {"left-pad": "1"}}'),),
    ),
    Command(
        "a notebook in the place of a program",
        ("pydirectml", "net.ipynb"),
        (r"notebook", r"nbconvert|\.py"),
        files=(("net.ipynb", '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'),),
    ),
    Command("a device as PyTorch has it", ("run", "net.json", "--device", "cuda"), (r"--provider",)),
    Command(
        "a range from its end",
        ("compile", "net.json", "--size", "image=N,3,32,32", "--range", "N=8..1"),
        (r"N=1\.\.8",),
    ),
)
