"""A twenty-second set of forty mistakes, in networks and programs of their own, written before answers were read."""

from __future__ import annotations

from tests.newcomers.case import Case, Command, edited
from tests.newcomers.more_networks import network, node, product, tensor

HEADS = """\
{
  "Nodes": [
    {"Type": "OPERATOR", "Name": "scores", "Desc": {"Operator": {"Type": "DML_OPERATOR_GEMM", "Desc": {
      "ATensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 10, 16], "TotalTensorSizeInBytes": 2560},
      "BTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 10, 16], "TotalTensorSizeInBytes": 2560},
      "CTensor": null,
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 10, 10], "TotalTensorSizeInBytes": 1600},
      "TransA": "DML_MATRIX_TRANSFORM_NONE",
      "TransB": "DML_MATRIX_TRANSFORM_TRANSPOSE",
      "Alpha": 0.25, "Beta": 0,
      "FusedActivation": null
    }}}},
    {"Type": "OPERATOR", "Name": "masked", "Desc": {"Operator": {"Type": "DML_OPERATOR_ELEMENT_WISE_ADD", "Desc": {
      "ATensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 10, 10], "TotalTensorSizeInBytes": 1600},
      "BTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 10, 10], "Strides": [0, 0, 10, 1],
        "TotalTensorSizeInBytes": 400},
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 10, 10], "TotalTensorSizeInBytes": 1600}
    }}}},
    {"Type": "OPERATOR", "Name": "weights", "Desc": {"Operator": {"Type": "DML_OPERATOR_ACTIVATION_SOFTMAX1", "Desc": {
      "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 10, 10], "TotalTensorSizeInBytes": 1600},
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 10, 10], "TotalTensorSizeInBytes": 1600},
      "AxisCount": 1,
      "Axes": [3]
    }}}},
    {"Type": "OPERATOR", "Name": "context", "Desc": {"Operator": {"Type": "DML_OPERATOR_GEMM", "Desc": {
      "ATensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 10, 10], "TotalTensorSizeInBytes": 1600},
      "BTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 10, 16], "TotalTensorSizeInBytes": 2560},
      "CTensor": null,
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 10, 16], "TotalTensorSizeInBytes": 2560},
      "TransA": "DML_MATRIX_TRANSFORM_NONE",
      "TransB": "DML_MATRIX_TRANSFORM_NONE",
      "Alpha": 1, "Beta": 0,
      "FusedActivation": null
    }}}},
    {"Type": "OPERATOR", "Name": "merge", "Desc": {"Operator": {"Type": "DML_OPERATOR_ELEMENT_WISE_IDENTITY", "Desc": {
      "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 10, 4, 16], "Strides": [640, 16, 160, 1],
        "TotalTensorSizeInBytes": 2560},
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 10, 4, 16], "TotalTensorSizeInBytes": 2560},
      "ScaleBias": null
    }}}}
  ],
  "InputEdges": [
    {"GraphInputIndex": 0, "ToNodeIndex": 0, "ToNodeInputIndex": 0, "Name": "query"},
    {"GraphInputIndex": 1, "ToNodeIndex": 0, "ToNodeInputIndex": 1, "Name": "key"},
    {"GraphInputIndex": 2, "ToNodeIndex": 1, "ToNodeInputIndex": 1, "Name": "mask"},
    {"GraphInputIndex": 3, "ToNodeIndex": 3, "ToNodeInputIndex": 1, "Name": "value"}
  ],
  "IntermediateEdges": [
    {"FromNodeIndex": 0, "FromNodeOutputIndex": 0, "ToNodeIndex": 1, "ToNodeInputIndex": 0},
    {"FromNodeIndex": 1, "FromNodeOutputIndex": 0, "ToNodeIndex": 2, "ToNodeInputIndex": 0},
    {"FromNodeIndex": 2, "FromNodeOutputIndex": 0, "ToNodeIndex": 3, "ToNodeInputIndex": 0},
    {"FromNodeIndex": 3, "FromNodeOutputIndex": 0, "ToNodeIndex": 4, "ToNodeInputIndex": 0}
  ],
  "OutputEdges": [
    {"GraphOutputIndex": 0, "FromNodeIndex": 4, "FromNodeOutputIndex": 0, "Name": "merged"}
  ]
}
"""
"""The attention of four heads to ten words under a mask, whose heads are put side by side again, as a graph of C++."""

HALVED = """\
{
  "Nodes": [
    {"Type": "OPERATOR", "Name": "stem", "Desc": {"Operator": {"Type": "CONVOLUTION", "Desc": {
      "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 64, 64]},
      "FilterTensor": {"DataType": "FLOAT32", "Sizes": [16, 3, 7, 7]},
      "BiasTensor": {"DataType": "FLOAT32", "Sizes": [1, 16, 1, 1]},
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 16, 32, 32]},
      "Mode": "CROSS_CORRELATION", "Direction": "FORWARD",
      "Strides": [2, 2],
      "Dilations": [1, 1],
      "StartPadding": [3, 3],
      "EndPadding": [3, 3],
      "OutputPadding": [0, 0],
      "GroupCount": 1
    }}}},
    {"Type": "OPERATOR", "Name": "pool", "Desc": {"Operator": {"Type": "MAX_POOLING", "Desc": {
      "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 16, 32, 32]},
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 16, 16, 16]},
      "Strides": [2, 2],
      "WindowSize": [3, 3],
      "StartPadding": [1, 1],
      "EndPadding": [1, 1]
    }}}},
    {"Type": "OPERATOR", "Name": "up", "Desc": {"Operator": {"Type": "CONVOLUTION", "Desc": {
      "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 16, 16, 16]},
      "FilterTensor": {"DataType": "FLOAT32", "Sizes": [16, 8, 3, 3]},
      "BiasTensor": null,
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 32, 32]},
      "Mode": "CROSS_CORRELATION", "Direction": "BACKWARD",
      "Strides": [2, 2],
      "Dilations": [1, 1],
      "StartPadding": [1, 1],
      "EndPadding": [1, 1],
      "OutputPadding": [1, 1],
      "GroupCount": 1
    }}}}
  ],
  "InputEdges": [
    {"GraphInputIndex": 0, "ToNodeIndex": 0, "ToNodeInputIndex": 0},
    {"GraphInputIndex": 1, "ToNodeIndex": 0, "ToNodeInputIndex": 1},
    {"GraphInputIndex": 2, "ToNodeIndex": 0, "ToNodeInputIndex": 2},
    {"GraphInputIndex": 3, "ToNodeIndex": 2, "ToNodeInputIndex": 1}
  ],
  "IntermediateEdges": [
    {"FromNodeIndex": 0, "FromNodeOutputIndex": 0, "ToNodeIndex": 1, "ToNodeInputIndex": 0},
    {"FromNodeIndex": 1, "FromNodeOutputIndex": 0, "ToNodeIndex": 2, "ToNodeInputIndex": 0}
  ],
  "OutputEdges": [
    {"GraphOutputIndex": 0, "FromNodeIndex": 2, "FromNodeOutputIndex": 0}
  ]
}
"""
"""The stem of a residual network and a transposed convolution, as a graph of C++."""

RANKED = """\
{
  "resources": {
    "table": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 400, "value": 0.5}},
    "tokens": {"initialValuesDataType": "UINT32", "initialValues": [3, 1, 4, 1, 5, 9]},
    "words": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 48, "value": 0}},
    "W": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 32, "value": 0.25}},
    "b": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 4]},
    "scores": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 24, "value": 0}},
    "best": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 12, "value": 0}},
    "places": {"initialValuesDataType": "UINT32", "initialValues": {"valueCount": 12, "value": 0}}
  },
  "dispatchables": {
    "lookup": {
      "type": "DML_OPERATOR_GATHER",
      "desc": {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 50, 8]},
        "IndicesTensor": {"DataType": "UINT32", "Sizes": [1, 1, 1, 6]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 6, 8]},
        "Axis": 2,
        "IndexDimensions": 1
      }
    },
    "dense": {
      "type": "DML_OPERATOR_GEMM",
      "desc": {
        "ATensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 6, 8]},
        "BTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 8, 4]},
        "CTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 6, 4], "Strides": [0, 0, 0, 1]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 6, 4]},
        "TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 1
      }
    },
    "rank": {
      "type": "DML_OPERATOR_TOP_K",
      "desc": {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 6, 4]},
        "OutputValueTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 6, 2]},
        "OutputIndexTensor": {"DataType": "UINT32", "Sizes": [1, 1, 6, 2]},
        "Axis": 3,
        "K": 2
      }
    }
  },
  "commands": [
    {
      "type": "dispatch",
      "dispatchable": "lookup",
      "bindings": {"InputTensor": "table", "IndicesTensor": "tokens", "OutputTensor": "words"}
    },
    {
      "type": "dispatch",
      "dispatchable": "dense",
      "bindings": {"ATensor": "words", "BTensor": "W", "CTensor": "b", "OutputTensor": "scores"}
    },
    {
      "type": "dispatch",
      "dispatchable": "rank",
      "bindings": {"InputTensor": "scores", "OutputValueTensor": "best", "OutputIndexTensor": "places"}
    },
    {"type": "print", "resource": "places"}
  ]
}
"""
"""Words looked up, their classes scored, and the best two classes of each, in DxDispatch."""

KEYWORDS = network(
    {"frames": tensor([1, 25, 1, 13])},
    {
        "lstm.w": tensor([1, 1, 80, 13]),
        "lstm.r": tensor([1, 1, 80, 20]),
        "lstm.b": tensor([1, 1, 1, 160]),
        "classes.w": tensor([1, 1, 20, 6]),
    },
    [
        node(
            "lstm",
            "LSTM",
            {
                "InputTensor": "frames",
                "WeightTensor": "lstm.w",
                "RecurrenceTensor": "lstm.r",
                "BiasTensor": "lstm.b",
            },
            {
                "OutputSequenceTensor": tensor([25, 1, 1, 20]),
                "ActivationDescs": [{"type": f"ACTIVATION_{name}"} for name in ("SIGMOID", "TANH", "TANH")],
                "Direction": "FORWARD",
                "ClipThreshold": 0,
                "UseClipThreshold": False,
                "CoupleInputForget": False,
            },
            {"OutputSequenceTensor": "states"},
        ),
        node(
            "last",
            "SLICE1",
            {"InputTensor": "states"},
            {
                "OutputTensor": tensor([1, 1, 1, 20]),
                "InputWindowOffsets": [24, 0, 0, 0],
                "InputWindowSizes": [1, 1, 1, 20],
                "InputWindowStrides": [1, 1, 1, 1],
            },
            {"OutputTensor": "last_state"},
        ),
        product("classes", [1, 1, 1, 6], "last_state", "classes.w"),
    ],
    "classes",
)
"""Which of six words was spoken in twenty-five frames of sound."""

SMALL_BYTES = network(
    {"x": tensor([1, 6, 4, 4])},
    {"s": tensor([1, 6, 1, 1]), "z": tensor([1, 6, 1, 1], "UINT8")},
    [
        node(
            "pack",
            "ELEMENT_WISE_QUANTIZE_LINEAR",
            {"InputTensor": "x", "ScaleTensor": "s", "ZeroPointTensor": "z"},
            {
                "ScaleTensor": tensor([1, 6, 4, 4], strides=[0, 1, 0, 0]),
                "ZeroPointTensor": tensor([1, 6, 4, 4], "UINT8", strides=[0, 1, 0, 0]),
                "OutputTensor": tensor([1, 6, 4, 4], "UINT8"),
            },
            {"OutputTensor": "q"},
        )
    ],
    "q",
)
"""A picture as bytes, with a scale for each channel."""

TWENTYSECOND_FILES = (
    # --- Attention of C++ ---
    Case(
        "keys that are not transposed",
        edited(HEADS, ('"TransB": "DML_MATRIX_TRANSFORM_TRANSPOSE"', '"TransB": "DML_MATRIX_TRANSFORM_NONE"')),
        (r'"scores"', r"\b16\b", r"\b10\b", r"(?i)(help|or|mean|set)\b.*TRANSPOSE"),
    ),
    Case(
        "a mask whose bytes were counted for FLOAT16",
        edited(HEADS, ('"TotalTensorSizeInBytes": 400}', '"TotalTensorSizeInBytes": 200}')),
        (r'"masked"', r"TotalTensorSizeInBytes", r"\b200\b", r"\b400\b"),
    ),
    Case(
        "strides in bytes",
        edited(HEADS, ('"Strides": [640, 16, 160, 1]', '"Strides": [2560, 64, 640, 4]')),
        (r'"merge"', r"\b2,?560\b", r"\b10,?2(28|40)\b|(?i:elements)|\[640, 16, 160, 1\]"),
    ),
    Case(
        "the values of the attention at the input of its weights",
        edited(
            HEADS,
            (
                '{"GraphInputIndex": 3, "ToNodeIndex": 3, "ToNodeInputIndex": 1, "Name": "value"}',
                '{"GraphInputIndex": 3, "ToNodeIndex": 3, "ToNodeInputIndex": 0, "Name": "value"}',
            ),
        ),
        (r'"context"|ToNodeIndex.{0,5}3|node 3', r"ATensor|BTensor|ToNodeInputIndex|input 0|input 1"),
    ),
    Case(
        "an output counted from one",
        edited(
            HEADS,
            (
                '{"GraphOutputIndex": 0, "FromNodeIndex": 4, "FromNodeOutputIndex": 0, "Name": "merged"}',
                '{"GraphOutputIndex": 0, "FromNodeIndex": 4, "FromNodeOutputIndex": 1, "Name": "merged"}',
            ),
        ),
        (
            r'"merge"|node 4',
            r"FromNodeOutputIndex|output 1|output index",
            r"(?i)\b(one|1|only)\b.{0,30}output|\b0\b|OutputTensor",
        ),
    ),
    Case(
        "axes counted from one",
        edited(HEADS, ('"Axes": [3]', '"Axes": [4]')),
        (r'"weights"', r"Axes", r"\b4\b", r"\b3\b|(?i:dimensions|rank|less than)"),
    ),
    Case(
        "a mask in FLOAT16 for scores in FLOAT32",
        edited(
            HEADS,
            (
                '"BTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 10, 10], "Strides": [0, 0, 10, 1],',
                '"BTensor": {"DataType": "FLOAT16", "Sizes": [1, 4, 10, 10], "Strides": [0, 0, 10, 1],',
            ),
        ),
        (r'"masked"', r"BTensor", r"FLOAT16", r"FLOAT32"),
    ),
    Case(
        "a transform that is called transposed",
        edited(HEADS, ("DML_MATRIX_TRANSFORM_TRANSPOSE", "DML_MATRIX_TRANSFORM_TRANSPOSED")),
        (r'"scores"', r"TransB", r"TRANSPOSED", r"TRANSPOSE\b"),
        fixed=True,
    ),
    Case(
        "a mask for all heads that is not repeated",
        edited(HEADS, ('"Sizes": [1, 4, 10, 10], "Strides": [0, 0, 10, 1],', '"Sizes": [1, 1, 10, 10],')),
        (r'"masked"', r"BTensor", r"\b1\b", r"\b4\b", r"(?i)strides|broadcast|repeat"),
    ),
    # --- A stem of C++ ---
    Case(
        "a bias in one dimension, as PyTorch has it",
        edited(HALVED, ('"Sizes": [1, 16, 1, 1]', '"Sizes": [16]')),
        (r'"stem"', r"BiasTensor", r"\[1, 16, 1, 1\]|\b4\b|(?i:four)"),
    ),
    Case(
        "a transposed convolution with the filter of a plain one",
        edited(
            HALVED,
            (
                '"FilterTensor": {"DataType": "FLOAT32", "Sizes": [16, 8, 3, 3]}',
                '"FilterTensor": {"DataType": "FLOAT32", "Sizes": [8, 16, 3, 3]}',
            ),
        ),
        (r'"up"', r"FilterTensor", r"\b16\b", r"\b8\b", r"\[16, 8, 3, 3\]|(?i:direction|swap|order)"),
    ),
    Case(
        "filters in the order of TensorFlow",
        edited(HALVED, ("[16, 3, 7, 7]", "[7, 7, 3, 16]")),
        (r'"stem"', r"FilterTensor", r"\b16\b|\b3\b", r"\b7\b", r"\[16, 3, 7, 7\]|HWIO"),
    ),
    # --- DxDispatch ---
    Case(
        "a bias bound under the name of ONNX",
        edited(RANKED, ('"BTensor": "W", "CTensor": "b"', '"BTensor": "W", "BiasTensor": "b"')),
        (r"dense", r"BiasTensor", r"CTensor"),
    ),
    Case(
        "a bias that is not repeated",
        edited(RANKED, ('[1, 1, 6, 4], "Strides": [0, 0, 0, 1]}', "[1, 1, 6, 4]}")),
        (r"CTensor", r"\b96\b|\b24\b", r"\b16\b|\b4\b", r"Strides|\[0, 0, 0, 1\]|valueCount|\b96\b"),
    ),
    Case(
        "indices that are fractions",
        edited(
            RANKED,
            (
                '"IndicesTensor": {"DataType": "UINT32", "Sizes": [1, 1, 1, 6]}',
                '"IndicesTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 6]}',
            ),
        ),
        (r"lookup", r"IndicesTensor", r"FLOAT32", r"UINT32"),
    ),
    Case(
        "a dispatch of what is called otherwise",
        edited(RANKED, ('"dispatchable": "rank"', '"dispatchable": "ranks"')),
        (r"\branks\b", r"\brank\b"),
    ),
    Case(
        "a comma forgotten between two resources",
        edited(
            RANKED,
            (
                '"initialValues": {"valueCount": 48, "value": 0}},',
                '"initialValues": {"valueCount": 48, "value": 0}}',
            ),
        ),
        (r":(5|6):\d+", r"(?i)comma|','|\",\"|`,`"),
    ),
    # --- Native ---
    Case(
        "one bias of PyTorch where two are joined",
        edited(
            KEYWORDS,
            (
                '"lstm.b": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 160]',
                '"lstm.b": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 80]',
            ),
        ),
        (r'"lstm"', r"BiasTensor", r"\b80\b", r"\b160\b"),
    ),
    Case(
        "frames with the batch first",
        edited(KEYWORDS, ('"Sizes": [1, 25, 1, 13]', '"Sizes": [1, 1, 25, 13]')),
        (r'"lstm"', r"\b25\b", r"\b1\b", r"\[1, 25, 1, 13\]|\[1, 1, 25, 20\]|(?i:sequence|batch)"),
    ),
    Case(
        "the end of a window of a slice in place of its size",
        edited(KEYWORDS, ('"InputWindowSizes": [1, 1, 1, 20]', '"InputWindowSizes": [25, 1, 1, 20]')),
        (r'"last"', r"InputWindow", r"\b25\b", r"\b24\b|\b49\b|\b1\b"),
    ),
    Case(
        "a name with a dash for an underscore",
        edited(KEYWORDS, ('"ATensor": "last_state"', '"ATensor": "last-state"')),
        (r'"classes"', r'"last-state"', r'"last_state"'),
    ),
    Case(
        "a zero point with a sign for bytes without",
        edited(
            SMALL_BYTES,
            ('"z": {"DataType": "UINT8"', '"z": {"DataType": "INT8"'),
            (
                '"ZeroPointTensor": {"DataType": "UINT8"',
                '"ZeroPointTensor": {"DataType": "INT8"',
            ),
        ),
        (r'"pack"', r"ZeroPointTensor|OutputTensor", r"\bINT8\b", r"UINT8"),
    ),
)

TWENTYSECOND_PROGRAMS = (
    Case(
        "the padding of PyTorch",
        """\
import numpy as np
import dml2onnx

g = dml2onnx.GraphBuilder()
x = g.input("x", np.float32, [1, 3, 16, 16])
w = np.ones((8, 3, 3, 3), np.float32)
y = g.convolution(x, w, padding=1)
graph = g.build({"y": y})
""",
        (r"padding", r"start_padding", r"end_padding"),
    ),
    Case(
        "tensors concatenated",
        """\
import numpy as np
import dml2onnx

g = dml2onnx.GraphBuilder()
a = g.input("a", np.float32, [1, 2, 8, 8])
b = g.input("b", np.float32, [1, 6, 8, 8])
y = g.concat([a, b], axis=1)
graph = g.build({"y": y})
""",
        (r"concat", r"\bjoin\b"),
    ),
    Case(
        "a shortcut that is not halved with the rest",
        """\
import numpy as np
import dml2onnx

g = dml2onnx.GraphBuilder()
x = g.input("x", np.float32, [1, 8, 32, 32])
w = np.ones((8, 8, 3, 3), np.float32)
y = g.convolution(x, w, strides=2, start_padding=1, end_padding=1)
y = y + x
graph = g.build({"y": y})
""",
        (r"\b32\b", r"\b16\b", r"(?i)add|sizes|shape|broadcast"),
    ),
    Case(
        "the weights of a linear layer of PyTorch",
        """\
import numpy as np
import dml2onnx

g = dml2onnx.GraphBuilder()
x = g.input("x", np.float32, [1, 1, 4, 64])
w = np.ones((1, 1, 10, 64), np.float32)
y = g.gemm(x, w, name="linear")
graph = g.build({"y": y})
""",
        (r"linear|gemm|GEMM", r"\b64\b", r"\b10\b", r"(?i)trans_?b|transpose"),
    ),
    Case(
        "sizes before the data type",
        """\
import numpy as np
import dml2onnx

g = dml2onnx.GraphBuilder()
x = g.input("x", [1, 3, 16, 16], np.float32)
y = g.activation_relu(x)
graph = g.build({"y": y})
""",
        (r"\[1, 3, 16, 16\]|sizes", r"(?i)data[ _]?type"),
    ),
)

PICTURE = """\
import numpy as np
import pydirectml as dml

FLOAT32 = dml.TensorDataType.FLOAT32
picture = np.ones((1, 1, 6, 6), np.float32)
kernel = np.ones((1, 1, 3, 3), np.float32)

device = dml.Device()
graph = dml.GraphBuilder(device)
x = dml.input_tensor(graph, 0, dml.TensorDesc(FLOAT32, [1, 1, 6, 6]))
w = dml.input_tensor(graph, 1, dml.TensorDesc(FLOAT32, dml.TensorFlags.OWNED_BY_DML, [1, 1, 3, 3]))
y = dml.convolution(x, w, start_padding=[1, 1], end_padding=[1, 1])
y = dml.max_pooling(y, [2, 2], strides=[2, 2]).values
model = graph.build(dml.ExecutionFlags.NONE, [y])
[result] = device.compute(model, [dml.Binding(x, picture), dml.Binding(w, kernel)], [y])
print(np.array(result).reshape(3, 3))
"""
"""A filter and a pool, in PyDirectML."""

SMALL = """\
{
  "dml2onnx": 1,
  "inputs": {"picture": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]}},
  "constants": {
    "mean": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 3], "file": "kernel.bin"}
  },
  "nodes": [
    {
      "name": "blur",
      "type": "CONVOLUTION",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]},
        "Mode": "CROSS_CORRELATION", "Direction": "FORWARD",
        "Strides": [1, 1], "Dilations": [1, 1],
        "StartPadding": [1, 1], "EndPadding": [1, 1], "OutputPadding": [0, 0],
        "GroupCount": 1
      },
      "inputs": {"InputTensor": "picture", "FilterTensor": "mean"},
      "outputs": {"OutputTensor": "blurred"}
    }
  ],
  "outputs": ["blurred"]
}
"""
"""A filter, whose weights are in a file."""

FOUR_BYTES = "0000"
"""A number of FLOAT32, as text."""

BESIDE_IT = (("blur.json", SMALL), ("kernel.bin", FOUR_BYTES * 9), ("lake.bin", FOUR_BYTES * 16))

TWENTYSECOND_COMMANDS = (
    # --- PyDirectML ---
    Command(
        "the padding of ONNX, begin and end in one",
        ("pydirectml", "program.py"),
        (r"(?i)start_?padding", r"(?i)\b(4|four)\b|\[1, 1, 1, 1\]", r"(?i)\b(2|two)\b|\[1, 1\]"),
        program=edited(PICTURE, ("start_padding=[1, 1], end_padding=[1, 1]", "start_padding=[1, 1, 1, 1]")),
    ),
    Command(
        "a picture smaller than the tensor that it is bound to",
        ("pydirectml", "program.py"),
        (r"(?i)bind|bound|input", r"\b64\b|\b16\b|\[1, 1, 4, 4\]|\(1, 1, 4, 4\)", r"\b144\b|\b36\b|\[1, 1, 6, 6\]"),
        program=edited(PICTURE, ("np.ones((1, 1, 6, 6)", "np.ones((1, 1, 4, 4)")),
    ),
    Command(
        "an output that is in no list",
        ("pydirectml", "program.py"),
        (r"(?i)build|outputs", r"(?i)list|sequence|iter|\[y\]"),
        program=edited(
            PICTURE, ("graph.build(dml.ExecutionFlags.NONE, [y])", "graph.build(dml.ExecutionFlags.NONE, y)")
        ),
    ),
    # --- Commands and their files ---
    Command(
        "an input called as in another network",
        ("run", "blur.json", "--input", "image=lake.bin"),
        (r"\bimage\b", r"\bpicture\b"),
        files=BESIDE_IT,
    ),
    Command(
        "a picture of three rows for one of four",
        ("run", "blur.json", "--input", "picture=pond.bin"),
        (r"picture", r"\b48\b|\b12\b", r"\b64\b|\b16\b"),
        files=(*BESIDE_IT, ("pond.bin", FOUR_BYTES * 12)),
    ),
    Command(
        "the name of a picture misspelt",
        ("run", "blur.json", "--input", "picture=laek.bin"),
        (r"laek\.bin", r"(?i)no such file|not exist|not found|cannot|missing|there is no|no file|did you mean"),
        files=BESIDE_IT,
    ),
    Command(
        "DirectML as a target by its full name",
        ("compile", "blur.json", "--target", "directml"),
        (r"directml", r"\bdml\b"),
        files=BESIDE_IT,
    ),
    Command(
        "an opset of long ago",
        ("compile", "blur.json", "--opset", "13"),
        (r"\b13\b", r"\b17\b"),
        files=BESIDE_IT,
    ),
    Command(
        "an option with an underscore",
        ("check", "blur.json", "--feature_level", "5_0"),
        (r"--feature_level", r"--feature-level"),
        files=BESIDE_IT,
    ),
    Command(
        "a feature level that was never made",
        ("check", "blur.json", "--feature-level", "7_0"),
        (r"7_0", r"6_4"),
        files=BESIDE_IT,
    ),
    Command(
        "sizes without the batch",
        ("compile", "blur.json", "--size", "picture=1,8,8"),
        (r"picture", r"(?i)\b(3|three)\b|1,8,8|\[1, 8, 8\]", r"(?i)\b(4|four)\b|\[1, 1, 4, 4\]"),
        files=BESIDE_IT,
    ),
    Command(
        "a range with a dash",
        ("compile", "blur.json", "--size", "picture=N,1,4,4", "--range", "N=1-8"),
        (r"N=1-8|\b1-8\b", r"\.\."),
        files=BESIDE_IT,
    ),
    Command(
        "weights that numpy saved as float64",
        ("compile", "blur.json"),
        (r"kernel\.bin", r"\b72\b|\b18\b|(?i:float64)", r"\b36\b|\b9\b"),
        files=(("blur.json", SMALL), ("kernel.bin", FOUR_BYTES * 18)),
    ),
)
