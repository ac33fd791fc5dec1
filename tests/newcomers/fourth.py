"""Thirty more mistakes, in files of two formats, in programs and on the command line, as they were made."""

from __future__ import annotations

from tests.newcomers.case import Case, Command, edited

GRAPH = """\
{
  "Nodes": [
    {"Type": "OPERATOR", "Name": "sum", "Desc": {"Operator": {"Type": "ELEMENT_WISE_ADD", "Desc": {
      "ATensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]},
      "BTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]},
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]}
    }}}},
    {"Type": "OPERATOR", "Name": "relu", "Desc": {"Operator": {"Type": "ACTIVATION_RELU", "Desc": {
      "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]},
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]}
    }}}}
  ],
  "InputEdges": [
    {"GraphInputIndex": 0, "ToNodeIndex": 0, "ToNodeInputIndex": 0},
    {"GraphInputIndex": 1, "ToNodeIndex": 0, "ToNodeInputIndex": 1}
  ],
  "IntermediateEdges": [
    {"FromNodeIndex": 0, "FromNodeOutputIndex": 0, "ToNodeIndex": 1, "ToNodeInputIndex": 0}
  ],
  "OutputEdges": [
    {"GraphOutputIndex": 0, "FromNodeIndex": 1, "FromNodeOutputIndex": 0}
  ]
}
"""
"""A sum and a RELU of it, as a graph of C++."""
B = '"BTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]'
LAST = """"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]}
    }}}}
  ],"""
CONVOLUTION = """\
{
  "dml2onnx": 1,
  "feature_level": "5_0",
  "inputs": {"x": {"DataType": "FLOAT32", "Sizes": [1, 3, 32, 32]}},
  "constants": {
    "w": {"DataType": "FLOAT32", "Sizes": [8, 3, 3, 3], "fill": 0.1}
  },
  "nodes": [
    {
      "name": "conv",
      "type": "CONVOLUTION",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 32, 32]},
        "Mode": "CROSS_CORRELATION", "Direction": "FORWARD", "Strides": [1, 1], "Dilations": [1, 1],
        "StartPadding": [1, 1], "EndPadding": [1, 1], "OutputPadding": [0, 0],
        "GroupCount": 1
      },
      "inputs": {"InputTensor": "x", "FilterTensor": "w"},
      "outputs": {"OutputTensor": "y"}
    }
  ],
  "outputs": ["y"]
}
"""
OUTPUT = '"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 32, 32]},'
INPUTS = '"inputs": {"InputTensor": "x", "FilterTensor": "w"},'
MARK = "  // <- here"

FOURTH_FILES = (
    Case(
        "strides in bytes of a graph in C++",
        edited(
            GRAPH,
            (B, B + ', "Strides": [768, 256, 32, 4], "$comment": "<- here"'),
        ),
        (
            r"look like bytes",
            r"\[192, 64, 8, 1\]",
        ),
        severity="warning",
    ),
    Case(
        "a bias of one dimension in C++",
        edited(GRAPH, (B, '"BTensor": {"DataType": "FLOAT32", "Sizes": [3], "$comment": "<- here"')),
        (r"Strides \[0, 1, 0, 0\]",),
        never=("reinterpret",),
    ),
    Case(
        "an output of another data type in C++",
        edited(
            GRAPH,
            (
                LAST,
                """"OutputTensor": {"DataType": "FLOAT16", "$comment": "<- here", "Sizes": [1, 3, 8, 8]}
    }}}}
  ],""",
            ),
        ),
        (
            r"OutputTensor of data type FLOAT32",
            r"CAST",
        ),
        never=("cast\\(",),
    ),
    Case(
        "two edges to one output of the graph",
        edited(
            GRAPH,
            (
                """"FromNodeIndex": 1, "FromNodeOutputIndex": 0}
""",
                """"FromNodeIndex": 1, "FromNodeOutputIndex": 0, "$comment": "<- there"},
    {"GraphOutputIndex": 0, "FromNodeIndex": 0, "FromNodeOutputIndex": 0, "$comment": "<- here"}
""",
            ),
        ),
        (
            r"output 0 already",
            r"a number of its own",
        ),
    ),
    Case(
        "inputs of a graph numbered with a gap",
        edited(GRAPH, ('"GraphInputIndex": 1,', '"GraphInputIndex": 2, "$comment": "<- here",')),
        (
            r"nothing is connected to graph input 1",
            r"numbered from 0 on",
        ),
        severity="warning",
    ),
    Case(
        "two edges to one input of a node",
        edited(
            GRAPH,
            (
                '"ToNodeInputIndex": 1}',
                """"ToNodeInputIndex": 1},
    {"GraphInputIndex": 1, "ToNodeIndex": 1, "ToNodeInputIndex": 0, "$comment": "<- here"}""",
            ),
        ),
        (
            r"another edge leads to input 0",
            r"the first edge to it",
        ),
    ),
    Case(
        "a reader that sees more than was written",
        edited(
            GRAPH,
            (
                '"InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]}',
                '"InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 9]}',
            ),
            ('{"FromNodeIndex": 0,', '{"$comment": "<- here", "FromNodeIndex": 0,'),
        ),
        (r"the output has 768 bytes, and InputTensor reads 864",),
        never=("OutputTensor of sizes",),
    ),
    Case(
        "padding of two dimensions",
        """\
{
  "dml2onnx": 1,
  "feature_level": "5_0",
  "inputs": {"x": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]}},
  "nodes": [
    {
      "name": "border",
      "type": "PADDING",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 10, 10]},
        "PaddingMode": "CONSTANT",
        "PaddingValue": 0,
        "StartPadding": [1, 1],  // <- here
        "EndPadding": [1, 1]
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}
    }
  ],
  "outputs": ["y"]
}
""",
        (r"StartPadding \[0, 0, 1, 1\] and EndPadding \[0, 0, 1, 1\]",),
        fixed=True,
    ),
    Case(
        "a shape instead of sizes",
        """\
{
  "dml2onnx": 1,
  "feature_level": "5_0",
  "inputs": {"x": {"DataType": "FLOAT32", "shape": [1, 3, 8, 8]}},  // <- here
  "nodes": [
    {
      "name": "border",
      "type": "PADDING",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 10, 10]},
        "PaddingMode": "CONSTANT",
        "PaddingValue": 0,
        "StartPadding": [0, 0, 1, 1],
        "EndPadding": [0, 0, 1, 1]
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}
    }
  ],
  "outputs": ["y"]
}
""",
        (r'did you mean "Sizes"',),
        never=("Sizes is missing",),
        fixed=True,
    ),
    Case(
        "padding at the beginning only",
        edited(CONVOLUTION, (OUTPUT, OUTPUT + MARK), ('"EndPadding": [1, 1]', '"EndPadding": [0, 0]')),
        (
            r"EndPadding \[1, 1\]",
            r"\[1, 8, 31, 31\]",
        ),
        severity="warning",
    ),
    Case(
        "filters as HWIO that are as high as they are deep",
        edited(
            CONVOLUTION,
            ('[8, 3, 3, 3], "fill": 0.1}', '[3, 3, 3, 8], "fill": 0.1}  // <- there'),
            (OUTPUT, OUTPUT + MARK),
        ),
        (
            r"looks like HWIO",
            r"\[8, 3, 3, 3\]",
        ),
        never=("OutputTensor of sizes",),
    ),
    Case(
        "weights as numpy makes them",
        edited(
            CONVOLUTION,
            (
                '"FLOAT32", "Sizes": [8, 3, 3, 3], "fill": 0.1}',
                '"FLOAT64", "Sizes": [8, 3, 3, 3], "fill": 0.1}  // <- there',
            ),
            (INPUTS, INPUTS + MARK),
        ),
        (
            r"FLOAT64",
            r"CAST",
        ),
    ),
    Case(
        "a picture of bytes",
        edited(CONVOLUTION, ('"x": {"DataType": "FLOAT32"', '"x": {"DataType": "UINT8"'), (INPUTS, INPUTS + MARK)),
        (
            r"UINT8",
            r"a CAST node makes FLOAT32",
        ),
    ),
    Case(
        "groups that eight filters do not make",
        edited(CONVOLUTION, ('"GroupCount": 1', '"GroupCount": 3'), (INPUTS, INPUTS + MARK)),
        (r"GroupCount 1\b",),
        never=("FilterTensor of sizes \\[8, 1",),
    ),
    Case(
        "scales of the older resampling for two dimensions",
        """\
{
  "dml2onnx": 1,
  "feature_level": "5_0",
  "inputs": {"x": {"DataType": "FLOAT32", "Sizes": [1, 3, 8, 8]}},
  "nodes": [
    {
      "name": "up",
      "type": "RESAMPLE",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 16, 16]},
        "InterpolationMode": "LINEAR",
        "Scales": [2, 2]  // <- here
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}
    }
  ],
  "outputs": ["y"]
}
""",
        (r"Scales \[1, 1, 2, 2\], one for each dimension",),
        fixed=True,
    ),
    Case(
        "an axis where axes are wanted",
        """\
{
  "dml2onnx": 1,
  "feature_level": "5_1",
  "inputs": {"x": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 10]}},
  "nodes": [
    {
      "name": "shares",
      "type": "ACTIVATION_SOFTMAX1",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 10]},
        "Axis": 3  // <- here
      },
      "inputs": {"InputTensor": "x"},
      "outputs": {"OutputTensor": "y"}
    }
  ],
  "outputs": ["y"]
}
""",
        (r'did you mean "Axes"',),
        never=("is missing",),
    ),
    Case(
        "statistics of one dimension",
        """\
{
  "dml2onnx": 1,
  "feature_level": "5_0",
  "inputs": {"x": {"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16]}},
  "constants": {
    "mean": {"DataType": "FLOAT32", "Sizes": [8], "fill": 0},
    "variance": {"DataType": "FLOAT32", "Sizes": [8], "fill": 1},
    "scale": {"DataType": "FLOAT32", "Sizes": [8], "fill": 1},
    "bias": {"DataType": "FLOAT32", "Sizes": [8], "fill": 0}
  },
  "nodes": [
    {
      "name": "norm",
      "type": "BATCH_NORMALIZATION",
      "desc": {"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16]}, "Spatial": true, "Epsilon": 1e-5},
      "inputs": {
        "InputTensor": "x",
        "MeanTensor": "mean",  // <- here
        "VarianceTensor": "variance",
        "ScaleTensor": "scale",
        "BiasTensor": "bias"
      },
      "outputs": {"OutputTensor": "y"}
    }
  ],
  "outputs": ["y"]
}
""",
        (
            r"MeanTensor, VarianceTensor, ScaleTensor and BiasTensor have 1 dimension and InputTensor has 4",
            r"\[1, 8, 1, 1\]",
        ),
        never=("repeated",),
    ),
)

FOURTH_PROGRAMS = (
    Case(
        "inputs where ONNX Runtime has them",
        """
        x = g.input("x", np.float32, [1, 3, 4, 4])
        session = dml2onnx.compile(g.build({"y": g.activation_relu(x)})).session()
        session.run(None, {"x": np.ones((1, 3, 4, 4), np.float32)})
        """,
        (r"inputs come first: run\(\{\.\.\.\}", r"DML3017"),
        never=("no contents",),
    ),
    Case(
        "indices as fractions",
        """
        table, ids = g.input("table", np.float32, [1, 1, 10, 4]), g.input("ids", np.int32, [1, 1, 1, 3])
        model = dml2onnx.compile(g.build({"y": g.gather(table, ids, 2, 1)}))
        model.run({"table": np.zeros((1, 1, 10, 4), np.float32), "ids": np.float32([[[[0, 1.5, 2]]]])})
        """,
        (r"must be int32, not float32", r'astype\("int32"\), which cuts off fractions such as that of 1\.5'),
    ),
    Case(
        "a partition that was copied in part",
        """
        import pathlib, tempfile

        x = g.input("x", np.float32, [1, 3, 4, 4])
        file = pathlib.Path(tempfile.mkdtemp(), "Partition_0.bin")
        dml2onnx.convert(g.build({"y": g.activation_relu(x)}), file)
        file.write_bytes(file.read_bytes()[:200])
        dml2onnx.load(file)
        """,
        (r"DML0015", r"cut off, so write or copy it again"),
    ),
    Case(
        "weights of PyTorch as a graph",
        """
        import pathlib, tempfile

        file = pathlib.Path(tempfile.mkdtemp(), "net.pt")
        file.write_bytes(b"PK\x03\x04" + bytes(60))
        dml2onnx.load(file)
        """,
        (r"DML0007", r"is a ZIP archive, as \.pt"),
    ),
    Case(
        "a name of an input in capitals",
        """
        x = g.input("x", np.float32, [1, 3, 4, 4])
        model = dml2onnx.compile(g.build({"y": g.activation_relu(x)}))
        model.run({"X": np.ones((1, 3, 4, 4), np.float32)})
        """,
        (r'no input "X"; its inputs are: x',),
    ),
    Case(
        "a part of the graph that makes its own builder",
        """
        def backbone():
            other = dml2onnx.GraphBuilder()
            return other.activation_relu(other.input("x", np.float32, [1, 3, 32, 32]))

        y = g.reduce(backbone(), "AVERAGE", [2, 3])  # <- here
        """,
        (r"another GraphBuilder", r"one GraphBuilder for the whole graph"),
    ),
)

FOURTH_COMMANDS = (
    Command(
        "a provider as the target", ("compile", "net.json", "--target", "cuda"), (r"--provider cuda", r"not a target")
    ),
    Command(
        "a range for no size", ("compile", "net.json", "--range", "N=1..8"), (r"--size image=N,", r"stands for no size")
    ),
    Command(
        "a file behind a blank", ("run", "net.json", "--input", "image", "image.npy"), (r"--input takes NAME=FILE",)
    ),
    Command(
        "a provider by the name of its class",
        ("run", "net.json", "--provider", "CUDAExecutionProvider"),
        (r"did you mean cuda",),
    ),
    Command(
        "an ONNX model from the wrong command", ("convert", "net.json", "-o", "net.onnx"), (r"dml2onnx compile writes",)
    ),
    Command(
        "sizes of two dimensions", ("compile", "net.json", "--size", "image=64,64"), (r"4 sizes, such as 1,3,64,64",)
    ),
    Command("a failure with a word too many", ("explain", "E_INVALID_ARG"), (r"did you mean E_INVALIDARG",)),
)
