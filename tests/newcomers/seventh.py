"""The mistakes of a seventh set that were answered less than fully right."""

from __future__ import annotations

from tests.newcomers.case import Case, Command
from tests.newcomers.sixth import PYDIRECTML, graph

SEVENTH_FILES = (
    Case(
        "a node of a graph that is its operator",
        """\
{
  "Nodes": [
    {
      "Type": "ACTIVATION_RELU", // <- here
      "Name": "relu",
      "Desc": {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4]}
      }
    }
  ],
  "InputEdges": [{"GraphInputIndex": 0, "ToNodeIndex": 0, "ToNodeInputIndex": 0}],
  "OutputEdges": [{"FromNodeIndex": 0, "FromNodeOutputIndex": 0, "GraphOutputIndex": 0}]
}
""".replace(" // <- here", ""),
        (
            r"net\.json:4:",
            r'help: "Type": "OPERATOR", "Desc": \{"Operator": \{"Type": "ACTIVATION_RELU", "Desc": \{\.\.\.\}\}\}',
        ),
    ),
    Case(
        "numbers for each channel at the end",
        graph(
            '    "x": {"DataType": "FLOAT32", "Sizes": [1, 4, 8, 8]}',
            """\
      "type": "BATCH_NORMALIZATION",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 8, 8]},
        "Spatial": true,
        "Epsilon": 0.00001
      },
      "inputs": {
        "InputTensor": "x",
        "MeanTensor": "n", // <- here
        "VarianceTensor": "n",
        "ScaleTensor": "n",
        "BiasTensor": "n"
      },
      "outputs": {"OutputTensor": "y"}""",
            """
    "n": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 4], "fill": 1} // <- there
  """,
        ),
        (r"help: MeanTensor, VarianceTensor, ScaleTensor, BiasTensor of sizes \[1, 4, 1, 1\]",),
        never=(r"\n +or:",),
        fixed=True,
    ),
)

SEVENTH_PROGRAMS = (
    Case(
        "a fraction beside whole numbers",
        """\
        x = g.input("x", np.int32, [4])
        y = x + 0.5  # <- here
        """,
        (r"0\.5 is beside a tensor of INT32", r'help: cast\(\.\.\., "FLOAT32"\) of the tensor first'),
    ),
    Case(
        "scales of height and width",
        """\
        x = g.input("x", np.float32, [1, 3, 8, 8])
        y = g.resample(x, scales=[2, 2])  # <- here
        """,
        (r"2 scales for 4 dimensions", r"help: scales=\[1, 1, 2, 2\]"),
    ),
    Case(
        "tensors to be joined one by one",
        """\
        a, b = g.input("a", np.float32, [1, 3]), g.input("b", np.float32, [1, 3])
        y = g.join(a, b, axis=1)  # <- here
        """,
        (r"join takes its tensors as a list: join\(\[a, b\], \.\.\.\)",),
    ),
    Case(
        "tensors to be joined one by one, the axis behind them",
        """\
        a, b = g.input("a", np.float32, [1, 3]), g.input("b", np.float32, [1, 3])
        y = g.join(a, b, 1)  # <- here
        """,
        (r"join takes its tensors as a list: join\(\[a, b\], \.\.\.\)",),
    ),
    Case(
        "a graph to be saved",
        """\
        built = g.build({"y": g.activation_relu(g.input("x", np.float32, [4]))})
        built.save("net.json")  # <- here
        """,
        (r"a Graph has no save; dml2onnx\.convert\(graph, FILE\)", r"dml2onnx\.compile\(graph\)\.save\(FILE\)"),
    ),
    Case(
        "an array that was copied in part",
        """\
        import pathlib, tempfile

        file = pathlib.Path(tempfile.mkdtemp(), "x.npy")
        np.save(file, np.zeros(64, np.float32))
        file.write_bytes(file.read_bytes()[:200])
        from dml2onnx.frontends.array_files import read_array

        read_array(file)
        """,
        (r'x\.npy" is cut off: its array has 256 bytes, of which 72 are there',),
    ),
)

SEVENTH_COMMANDS = (
    Command(
        "a data type of PyDirectML as text",
        ("pydirectml", "program.py"),
        (r"did you mean dml\.TensorDataType\.FLOAT32\?", r"line 7"),
        PYDIRECTML + 'z = dml.input_tensor(graph, 2, dml.TensorDesc("float32", [1, 1, 4, 4]))\n',
    ),
    Command(
        "a directory misspelt",
        ("batch", "modles", "--do", "check", "-o", "out"),
        (r'did you mean "models"\?',),
        files=(("models/a.json", "{}"),),
    ),
    Command("a code that there is not", ("check", "net.json", "--select", "9999"), (r'no code begins with "9999"',)),
)
