"""Networks of some nodes as people port them; each mistake of the later sets is an edit of one of them."""

from __future__ import annotations


def conv(name: str, sizes: str, x: str, more: str, padding: str = "", strides: str = "[1, 1]") -> str:
    """A convolution in the native format that writes ``name``; its filter and ``more`` are given."""
    return f"""\
    {{
      "name": "{name}",
      "type": "CONVOLUTION",
      "desc": {{
        "OutputTensor": {{"DataType": "FLOAT32", "Sizes": {sizes}}},
        "Mode": "CROSS_CORRELATION", "Direction": "FORWARD",
        "Strides": {strides},
        "Dilations": [1, 1],
        {padding or '"StartPadding": [0, 0], "EndPadding": [0, 0],'}
        "OutputPadding": [0, 0],
        "GroupCount": {32 if name == "deep" else 1}
      }},
      "inputs": {{"InputTensor": "{x}", {more}}},
      "outputs": {{"OutputTensor": "{name}"}}
    }}"""


MOBILE = f"""\
{{
  "dml2onnx": 1,
  "feature_level": "5_0",
  "inputs": {{
    "x": {{"DataType": "FLOAT32", "Sizes": [1, 3, 32, 32]}}
  }},
  "constants": {{
    "stem.w": {{"DataType": "FLOAT32", "Sizes": [16, 3, 3, 3], "fill": 0.1}},
    "expand.w": {{"DataType": "FLOAT32", "Sizes": [32, 16, 1, 1], "fill": 0.1}},
    "deep.w": {{"DataType": "FLOAT32", "Sizes": [32, 1, 3, 3], "fill": 0.1}},
    "deep.b": {{"DataType": "FLOAT32", "Sizes": [1, 32, 1, 1], "fill": 0.1}},
    "project.w": {{"DataType": "FLOAT32", "Sizes": [16, 32, 1, 1], "fill": 0.1}},
    "head.w": {{"DataType": "FLOAT32", "Sizes": [1, 1, 10, 16], "fill": 0.1}},
    "head.b": {{"DataType": "FLOAT32", "Sizes": [1, 1, 1, 10], "fill": 0.1}}
  }},
  "nodes": [
{
    conv(
        "stem",
        "[1, 16, 16, 16]",
        "x",
        '"FilterTensor": "stem.w"',
        '''"StartPadding": [0, 0],
        "EndPadding": [1, 1],''',
        "[2, 2]",
    )
},
{conv("expand", "[1, 32, 16, 16]", "stem", '"FilterTensor": "expand.w"')},
{
    conv(
        "deep",
        "[1, 32, 16, 16]",
        "expand",
        '"FilterTensor": "deep.w", "BiasTensor": "deep.b"',
        '"StartPadding": [1, 1], "EndPadding": [1, 1],',
    )
},
{conv("project", "[1, 16, 16, 16]", "deep", '"FilterTensor": "project.w"')},
    {{
      "name": "residual",
      "type": "ELEMENT_WISE_ADD",
      "inputs": {{"ATensor": "stem", "BTensor": "project"}},
      "outputs": {{"OutputTensor": "sum"}}
    }},
    {{
      "name": "mean",
      "type": "AVERAGE_POOLING",
      "desc": {{
        "OutputTensor": {{"DataType": "FLOAT32", "Sizes": [1, 16, 1, 1]}},
        "Strides": [1, 1],
        "WindowSize": [16, 16],
        "StartPadding": [0, 0], "EndPadding": [0, 0], "IncludePadding": false
      }},
      "inputs": {{"InputTensor": "sum"}},
      "outputs": {{"OutputTensor": "mean"}}
    }},
    {{
      "name": "head",
      "type": "GEMM",
      "desc": {{
        "ATensor": {{"DataType": "FLOAT32", "Sizes": [1, 1, 1, 16]}},
        "OutputTensor": {{"DataType": "FLOAT32", "Sizes": [1, 1, 1, 10]}},
        "TransA": "NONE", "TransB": "TRANSPOSE", "Alpha": 1, "Beta": 1
      }},
      "inputs": {{"ATensor": "mean", "BTensor": "head.w", "CTensor": "head.b"}},
      "outputs": {{"OutputTensor": "y"}}
    }}
  ],
  "outputs": ["y"]
}}
"""
"""An inverted residual block between a stem and a classifier."""

UNET = f"""\
{{
  "dml2onnx": 1,
  "feature_level": "5_0",
  "inputs": {{
    "x": {{"DataType": "FLOAT32", "Sizes": [1, 1, 32, 32]}}
  }},
  "constants": {{
    "encode.w": {{"DataType": "FLOAT32", "Sizes": [8, 1, 3, 3], "fill": 0.1}},
    "middle.w": {{"DataType": "FLOAT32", "Sizes": [16, 8, 3, 3], "fill": 0.1}},
    "decode.w": {{"DataType": "FLOAT32", "Sizes": [1, 24, 1, 1], "fill": 0.1}}
  }},
  "nodes": [
{
    conv(
        "encode",
        "[1, 8, 32, 32]",
        "x",
        '"FilterTensor": "encode.w"',
        '"StartPadding": [1, 1], "EndPadding": [1, 1],',
    )
},
    {{
      "name": "pool",
      "type": "MAX_POOLING",
      "desc": {{
        "OutputTensor": {{"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16]}},
        "Strides": [2, 2], "WindowSize": [2, 2], "StartPadding": [0, 0], "EndPadding": [0, 0]
      }},
      "inputs": {{"InputTensor": "encode"}},
      "outputs": {{"OutputTensor": "pool"}}
    }},
{
    conv(
        "middle",
        "[1, 16, 16, 16]",
        "pool",
        '"FilterTensor": "middle.w"',
        '"StartPadding": [1, 1], "EndPadding": [1, 1],',
    )
},
    {{
      "name": "up",
      "type": "RESAMPLE",
      "desc": {{
        "OutputTensor": {{"DataType": "FLOAT32", "Sizes": [1, 16, 32, 32]}},
        "InterpolationMode": "NEAREST_NEIGHBOR",
        "Scales": [1, 1, 2, 2]
      }},
      "inputs": {{"InputTensor": "middle"}},
      "outputs": {{"OutputTensor": "up"}}
    }},
    {{
      "name": "join",
      "type": "JOIN",
      "desc": {{
        "OutputTensor": {{"DataType": "FLOAT32", "Sizes": [1, 24, 32, 32]}},
        "Axis": 1
      }},
      "inputs": {{"InputTensors": ["up", "encode"]}},
      "outputs": {{"OutputTensor": "join"}}
    }},
{conv("decode", "[1, 1, 32, 32]", "join", '"FilterTensor": "decode.w"')}
  ],
  "outputs": ["decode"]
}}
"""
"""A picture made smaller, made larger again, and joined with what it was."""


def product(name: str, sizes: str, a: str, b: str, transposed: str = "NONE") -> str:
    """A GEMM in the native format that writes ``name``."""
    return f"""\
    {{
      "name": "{name}",
      "type": "GEMM",
      "desc": {{
        "OutputTensor": {{"DataType": "FLOAT32", "Sizes": {sizes}}},
        "TransA": "NONE", "TransB": "{transposed}", "Alpha": 0.125, "Beta": 0
      }},
      "inputs": {{"ATensor": "{a}", "BTensor": "{b}"}},
      "outputs": {{"OutputTensor": "{name}"}}
    }}"""


SENTENCE = f"""\
{{
  "dml2onnx": 1,
  "feature_level": "5_0",
  "inputs": {{
    "tokens": {{"DataType": "UINT32", "Sizes": [1, 1, 1, 16]}}
  }},
  "constants": {{
    "table": {{"DataType": "FLOAT32", "Sizes": [1, 1, 1000, 64], "fill": 0.1}},
    "query.w": {{"DataType": "FLOAT32", "Sizes": [1, 1, 64, 64], "fill": 0.1}},
    "key.w": {{"DataType": "FLOAT32", "Sizes": [1, 1, 64, 64], "fill": 0.1}}
  }},
  "nodes": [
    {{
      "name": "embed",
      "type": "GATHER",
      "desc": {{
        "OutputTensor": {{"DataType": "FLOAT32", "Sizes": [1, 1, 16, 64]}},
        "Axis": 2,
        "IndexDimensions": 1
      }},
      "inputs": {{"InputTensor": "table", "IndicesTensor": "tokens"}},
      "outputs": {{"OutputTensor": "words"}}
    }},
{product("query", "[1, 1, 16, 64]", "words", "query.w")},
{product("key", "[1, 1, 16, 64]", "words", "key.w")},
{product("scores", "[1, 1, 16, 16]", "query", "key", "TRANSPOSE")},
    {{
      "name": "softmax",
      "type": "ACTIVATION_SOFTMAX",
      "desc": {{
        "OutputTensor": {{"DataType": "FLOAT32", "Sizes": [1, 1, 16, 16]}}
      }},
      "inputs": {{"InputTensor": "scores"}},
      "outputs": {{"OutputTensor": "weights"}}
    }},
{product("mix", "[1, 1, 16, 64]", "weights", "words")},
    {{
      "name": "mean",
      "type": "REDUCE",
      "desc": {{
        "Function": "AVERAGE",
        "OutputTensor": {{"DataType": "FLOAT32", "Sizes": [1, 1, 1, 64]}},
        "Axes": [2]
      }},
      "inputs": {{"InputTensor": "mix"}},
      "outputs": {{"OutputTensor": "y"}}
    }}
  ],
  "outputs": ["y"]
}}
"""
"""Words looked up in a table, their attention to each other, and the mean of all."""

BYTES = """\
{
  "dml2onnx": 1,
  "feature_level": "5_0",
  "inputs": {
    "x": {"DataType": "UINT8", "Sizes": [1, 3, 16, 16]}
  },
  "constants": {
    "w": {"DataType": "INT8", "Sizes": [8, 3, 3, 3], "fill": 1},
    "b": {"DataType": "INT32", "Sizes": [1, 8, 1, 1], "fill": 1},
    "x.s": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1], "fill": 0.1},
    "x.z": {"DataType": "UINT8", "Sizes": [1, 1, 1, 1], "fill": 128},
    "w.s": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1], "fill": 0.1},
    "w.z": {"DataType": "INT8", "Sizes": [1, 1, 1, 1], "fill": 0},
    "y.s": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1], "fill": 0.1},
    "y.z": {"DataType": "UINT8", "Sizes": [1, 1, 1, 1], "fill": 128}
  },
  "nodes": [
    {
      "name": "conv",
      "type": "QUANTIZED_LINEAR_CONVOLUTION",
      "desc": {
        "OutputTensor": {"DataType": "UINT8", "Sizes": [1, 8, 16, 16]},
        "Strides": [1, 1], "Dilations": [1, 1], "StartPadding": [1, 1], "EndPadding": [1, 1], "GroupCount": 1
      },
      "inputs": {
        "InputTensor": "x", "InputScaleTensor": "x.s", "InputZeroPointTensor": "x.z",
        "FilterTensor": "w", "FilterScaleTensor": "w.s", "FilterZeroPointTensor": "w.z",
        "BiasTensor": "b", "OutputScaleTensor": "y.s", "OutputZeroPointTensor": "y.z"
      },
      "outputs": {"OutputTensor": "q"}
    },
    {
      "name": "real",
      "type": "ELEMENT_WISE_DEQUANTIZE_LINEAR",
      "desc": {
        "ScaleTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16], "Strides": [0, 0, 0, 0]},
        "ZeroPointTensor": {"DataType": "UINT8", "Sizes": [1, 8, 16, 16], "Strides": [0, 0, 0, 0]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16]}
      },
      "inputs": {"InputTensor": "q", "ScaleTensor": "y.s", "ZeroPointTensor": "y.z"},
      "outputs": {"OutputTensor": "y"}
    }
  ],
  "outputs": ["y"]
}
"""
"""A quantised convolution, and its result as fractions."""

SPEECH = """\
{
  "dml2onnx": 1,
  "feature_level": "5_0",
  "inputs": {
    "frames": {"DataType": "FLOAT32", "Sizes": [1, 20, 1, 40]}
  },
  "constants": {
    "w": {"DataType": "FLOAT32", "Sizes": [1, 1, 96, 40], "fill": 0.1},
    "r": {"DataType": "FLOAT32", "Sizes": [1, 1, 96, 32], "fill": 0.1},
    "b": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 192], "fill": 0.1},
    "h": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 32], "fill": 0},
    "letters": {"DataType": "FLOAT32", "Sizes": [1, 1, 32, 30], "fill": 0.1}
  },
  "nodes": [
    {
      "name": "gru",
      "type": "GRU",
      "desc": {
        "OutputSequenceTensor": {"DataType": "FLOAT32", "Sizes": [20, 1, 1, 32]},
        "ActivationDescs": [{"type": "ACTIVATION_SIGMOID"}, {"type": "ACTIVATION_TANH"}],
        "Direction": "FORWARD", "LinearBeforeReset": true
      },
      "inputs": {
        "InputTensor": "frames", "WeightTensor": "w", "RecurrenceTensor": "r", "BiasTensor": "b",
        "HiddenInitTensor": "h"
      },
      "outputs": {"OutputSequenceTensor": "states"}
    },
    {
      "name": "letters",
      "type": "GEMM",
      "desc": {
        "ATensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 20, 32]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 20, 30]},
        "TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0
      },
      "inputs": {"ATensor": "states", "BTensor": "letters"},
      "outputs": {"OutputTensor": "scores"}
    },
    {
      "name": "best",
      "type": "ARGMAX",
      "desc": {
        "OutputTensor": {"DataType": "UINT32", "Sizes": [1, 1, 20, 1]},
        "Axes": [3],
        "AxisDirection": "INCREASING"
      },
      "inputs": {"InputTensor": "scores"},
      "outputs": {"OutputTensor": "y"}
    }
  ],
  "outputs": ["y"]
}
"""
"""A recurrent network over frames of sound, and the letter of each."""

GRAPH_OF_FOUR = """\
{
  "Nodes": [
    {"Type": "OPERATOR", "Name": "conv", "Desc": {"Operator": {"Type": "CONVOLUTION", "Desc": {
      "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 16, 16]},
      "FilterTensor": {"DataType": "FLOAT32", "Sizes": [8, 3, 3, 3]},
      "BiasTensor": null,
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16]},
      "Mode": "CROSS_CORRELATION", "Direction": "FORWARD",
      "Strides": [1, 1],
      "Dilations": [1, 1],
      "StartPadding": [1, 1],
      "EndPadding": [1, 1],
      "OutputPadding": [0, 0],
      "GroupCount": 1
    }}}},
    {"Type": "OPERATOR", "Name": "norm", "Desc": {"Operator": {"Type": "BATCH_NORMALIZATION", "Desc": {
      "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16]},
      "MeanTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 1, 1]},
      "VarianceTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 1, 1]},
      "ScaleTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 1, 1]},
      "BiasTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 1, 1]},
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16]},
      "Spatial": true, "Epsilon": 1e-5
    }}}},
    {"Type": "OPERATOR", "Name": "relu", "Desc": {"Operator": {"Type": "ACTIVATION_RELU", "Desc": {
      "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16]},
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16]}
    }}}},
    {"Type": "OPERATOR", "Name": "pool", "Desc": {"Operator": {"Type": "AVERAGE_POOLING", "Desc": {
      "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16]},
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 8, 8]},
      "Strides": [2, 2],
      "WindowSize": [2, 2],
      "StartPadding": [0, 0],
      "EndPadding": [0, 0],
      "IncludePadding": false
    }}}}
  ],
  "InputEdges": [
    {"GraphInputIndex": 0, "ToNodeIndex": 0, "ToNodeInputIndex": 0},
    {"GraphInputIndex": 1, "ToNodeIndex": 0, "ToNodeInputIndex": 1},
    {"GraphInputIndex": 2, "ToNodeIndex": 1, "ToNodeInputIndex": 1},
    {"GraphInputIndex": 3, "ToNodeIndex": 1, "ToNodeInputIndex": 2},
    {"GraphInputIndex": 4, "ToNodeIndex": 1, "ToNodeInputIndex": 3},
    {"GraphInputIndex": 5, "ToNodeIndex": 1, "ToNodeInputIndex": 4}
  ],
  "IntermediateEdges": [
    {"FromNodeIndex": 0, "FromNodeOutputIndex": 0, "ToNodeIndex": 1, "ToNodeInputIndex": 0},
    {"FromNodeIndex": 1, "FromNodeOutputIndex": 0, "ToNodeIndex": 2, "ToNodeInputIndex": 0},
    {"FromNodeIndex": 2, "FromNodeOutputIndex": 0, "ToNodeIndex": 3, "ToNodeInputIndex": 0}
  ],
  "OutputEdges": [
    {"GraphOutputIndex": 0, "FromNodeIndex": 3, "FromNodeOutputIndex": 0}
  ]
}
"""
"""A convolution, a batch normalisation, a RELU and a pool, as a graph of C++."""

DISPATCHED = """\
{
  "resources": {
    "X": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 192, "value": 1}},
    "W": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 108, "value": 0.5}},
    "Y": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 256, "value": 0}}
  },
  "dispatchables": {
    "conv": {
      "type": "DML_OPERATOR_CONVOLUTION",
      "desc": {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]},
        "FilterTensor": {"DataType": "FLOAT32", "Sizes": [4, 3, 3, 3]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 8, 8]},
        "Mode": "CROSS_CORRELATION",
        "Direction": "FORWARD",
        "DimensionCount": 2,
        "Strides": [1, 1],
        "Dilations": [1, 1],
        "StartPadding": [1, 1],
        "EndPadding": [1, 1],
        "OutputPadding": [0, 0],
        "GroupCount": 1
      }
    }
  },
  "commands": [
    {
      "type": "dispatch",
      "dispatchable": "conv",
      "bindings": {
        "InputTensor": "X",
        "FilterTensor": "W",
        "OutputTensor": "Y"
      }
    },
    {"type": "print", "resource": "Y"}
  ]
}
"""
"""A convolution of DxDispatch."""

AUTOENCODER = f"""\
{{
  "dml2onnx": 1,
  "feature_level": "5_0",
  "inputs": {{
    "x": {{"DataType": "FLOAT32", "Sizes": [1, 3, 32, 32]}}
  }},
  "constants": {{
    "down.w": {{"DataType": "FLOAT32", "Sizes": [8, 3, 2, 2], "fill": 0.1}},
    "up.w": {{"DataType": "FLOAT32", "Sizes": [8, 4, 2, 2], "fill": 0.1}},
    "mean": {{"DataType": "FLOAT32", "Sizes": [1, 4, 1, 1], "fill": 0}},
    "variance": {{"DataType": "FLOAT32", "Sizes": [1, 4, 1, 1], "fill": 1}},
    "scale": {{"DataType": "FLOAT32", "Sizes": [1, 4, 1, 1], "fill": 1}},
    "shift": {{"DataType": "FLOAT32", "Sizes": [1, 4, 1, 1], "fill": 0}}
  }},
  "nodes": [
{conv("down", "[1, 8, 16, 16]", "x", '"FilterTensor": "down.w"', "", "[2, 2]")},
    {{
      "name": "up",
      "type": "CONVOLUTION",
      "desc": {{
        "OutputTensor": {{"DataType": "FLOAT32", "Sizes": [1, 4, 32, 32]}},
        "Mode": "CROSS_CORRELATION",
        "Direction": "BACKWARD",
        "Strides": [2, 2], "Dilations": [1, 1],
        "StartPadding": [0, 0], "EndPadding": [0, 0], "OutputPadding": [0, 0],
        "GroupCount": 1
      }},
      "inputs": {{"InputTensor": "down", "FilterTensor": "up.w"}},
      "outputs": {{"OutputTensor": "up"}}
    }},
    {{
      "name": "norm",
      "type": "BATCH_NORMALIZATION",
      "desc": {{
        "OutputTensor": {{"DataType": "FLOAT32", "Sizes": [1, 4, 32, 32]}},
        "Spatial": true, "Epsilon": 1e-5
      }},
      "inputs": {{
        "InputTensor": "up", "MeanTensor": "mean", "VarianceTensor": "variance", "ScaleTensor": "scale",
        "BiasTensor": "shift"
      }},
      "outputs": {{"OutputTensor": "norm"}}
    }},
    {{
      "name": "halves",
      "type": "SPLIT",
      "desc": {{
        "OutputTensors": [
          {{"DataType": "FLOAT32", "Sizes": [1, 2, 32, 32]}},
          {{"DataType": "FLOAT32", "Sizes": [1, 2, 32, 32]}}
        ],
        "Axis": 1
      }},
      "inputs": {{"InputTensor": "norm"}},
      "outputs": {{"OutputTensors": ["a", "b"]}}
    }}
  ],
  "outputs": ["a", "b"]
}}
"""
"""A picture made smaller and larger again, normalised and cut into two."""

BEST = """\
{
  "dml2onnx": 1,
  "feature_level": "5_0",
  "inputs": {
    "scores": {"DataType": "FLOAT32", "Sizes": [1, 1, 8, 100]}
  },
  "nodes": [
    {
      "name": "softmax",
      "type": "ACTIVATION_SOFTMAX",
      "inputs": {"InputTensor": "scores"},
      "outputs": {"OutputTensor": "likely"}
    },
    {
      "name": "best",
      "type": "TOP_K",
      "desc": {
        "OutputValueTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 8, 5]},
        "OutputIndexTensor": {"DataType": "UINT32", "Sizes": [1, 1, 8, 5]},
        "Axis": 3, "K": 5
      },
      "inputs": {"InputTensor": "likely"},
      "outputs": {"OutputValueTensor": "values", "OutputIndexTensor": "places"}
    }
  ],
  "outputs": ["values", "places"]
}
"""
"""The five likeliest of a hundred classes, for each of eight pictures."""
