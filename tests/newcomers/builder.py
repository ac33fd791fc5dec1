"""Programs for the builder: tensors that do not match, and the use of graphs."""

from __future__ import annotations

from tests.newcomers.build import program

TENSOR = """\
class Tensor:
    def __init__(self, values):
        self.values = values
    def detach(self):
        return self
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
"""
"""A tensor of PyTorch."""

TENSORS = (
    program("INT8 and INT32 operands", "y = a + b", ["INT8", "INT32", r"cast\("], a="np.int8, [4]", b="np.int32, [4]"),
    program(
        "all outputs of a pool as one",
        "y = g.activation_relu(g.max_pooling(x, 2, strides=2))",
        [r"\.values"],
        x=[1, 8, 32, 32],
    ),
    program(
        "bias with input channels",
        "y = g.convolution(x, np.ones((4, 3, 3, 3), np.float32), np.zeros(3, np.float32))",
        ["BiasTensor", r"\b3\b", r"\b4\b"],
        x=[1, 3, 8, 8],
    ),
    program(
        "clip: bounds swapped",
        'y = g.clip(x, 6.0, 0.0)\ngraph = g.build({"y": y})',
        [r"\b6", r"\b0", "[Mm]in", "[Mm]ax"],
        severity="warning",
        at=1,
        x=[4],
    ),
    program(
        "convolution: PyTorch parameter as a filter",
        TENSOR + 'x = g.input("x", np.float32, [1, 4, 8, 8])\ny = g.convolution(x, Tensor(np.ones((8, 4, 3, 3))))',
        ["FilterTensor is a Tensor", r"help: an array of numpy, which its \.detach\(\)\.cpu\(\)\.numpy\(\) gives"],
    ),
    program(
        "convolution: filter in HWIO order, 3x3 with 3 channels",
        "y = g.convolution(x, np.zeros((3, 3, 3, 16), np.float32))",
        ["looks like HWIO", r"transpose \(3, 2, 0, 1\)"],
        x=[1, 3, 8, 8],
    ),
    program("data type by its C name", 'x = g.input("x", "float", [1, 3, 8, 8])', [r"float\b", "FLOAT32"]),
    program(
        "depthwise convolution: filter with all channels",
        """
        w = g.constant(np.ones((32, 32, 3, 3), np.float32), name="w")
        y = g.convolution(x, w, group_count=32)
        """,
        [r"\[32, 1, 3, 3\]", "32", "group_?[cC]ount|GroupCount"],
        also=2,
        x=[1, 32, 16, 16],
    ),
    program(
        "element-wise product instead of a matrix product",
        "y = a * b",
        [r"\[1, 1, 4, 8\]", r"\[1, 1, 8, 4\]", "@|gemm"],
        a=[1, 1, 4, 8],
        b=[1, 1, 8, 4],
    ),
    program(
        "fill_value_constant: value before its type",
        'y = g.fill_value_constant([1, 1, 4, 4], 1.0, "FLOAT32")',
        ["value_data_type|ValueDataType|data type", "FLOAT32"],
    ),
    program(
        "fraction added to INT32",
        "y = x + 0.5",
        [r"0\.5 is beside a tensor of INT32", r'help: cast\(\.\.\., "FLOAT32"\) of the tensor first'],
        x="np.int32, [4]",
    ),
    program(
        "gather: FLOAT32 indices",
        "y = g.gather(x, i, axis=0, index_dimensions=1)",
        ["FLOAT32", "UINT32", "cast"],
        also=2,
        x=[10, 4],
        i=[1, 3],
    ),
    program(
        "gather: indices as a list",
        "y = g.gather(x, [3, 1, 4], axis=2, index_dimensions=1)",
        ["IndicesTensor", r"\[3, 1, 4\]", r"numpy\.array"],
        x=[1, 1, 100, 16],
    ),
    program(
        "gemm of an image and a matrix",
        "y = g.gemm(x, np.ones((128, 10), np.float32))",
        ["ATensor", "BTensor", r"\[1, 8, 4, 4\]", r"\[1, 1, 1, 128\].*reinterpret"],
        x=[1, 8, 4, 4],
    ),
    program(
        "gemm: trans_b=True",
        "y = g.gemm(a, b, trans_b=True)",
        ["TransB", "true", 'did you mean "TRANSPOSE"'],
        a=[1, 1, 4, 8],
        b=[1, 1, 6, 8],
    ),
    program(
        "gemm: two-dimensional operand to transpose",
        "y = g.gemm(x, w)",
        [r"reinterpret\(\.\.\., sizes=\[1, 1, 16, 8\]\), and trans_b='TRANSPOSE'"],
        x=[1, 1, 4, 8],
        w=[16, 8],
    ),
    program(
        "helper with its own builder",
        """
        def backbone():
            other = dml2onnx.GraphBuilder()
            return other.activation_relu(other.input("x", np.float32, [1, 3, 32, 32]))
        y = g.reduce(backbone(), "AVERAGE", [2, 3])
        """,
        ["another GraphBuilder", "one GraphBuilder for the whole graph"],
    ),
    program(
        "input name used twice",
        """
        a = g.input("x", np.float32, [1, 8])
        b = g.input("x", np.float32, [1, 8])
        y = a + b
        """,
        [r"\bx\b", r"already|taken|twice|\btwo\b|second|unique|another|exists"],
        at=2,
    ),
    program(
        "join after halving and doubling an odd size",
        """
        small = g.max_pooling(x, 2, strides=2).values
        large = g.resample(small, scales=[1, 1, 2, 2])
        y = g.join([x, large], 1)
        """,
        [r"\b33\b", r"\b32\b", "[Aa]xis|[Jj]oin|JOIN"],
        x=[1, 8, 33, 33],
    ),
    program(
        "join: sizes do not match",
        "y = g.join([a, b], 1)",
        [r"\[1, 8, 16, 16\]|\b16\b", r"\[1, 8, 8, 8\]", "axis|Axis", r"(?i)resample|(help|or):.*\[1, 8, 16, 16\]"],
        also=2,
        a=[1, 8, 16, 16],
        b=[1, 8, 8, 8],
    ),
    program(
        "matrix product: inner sizes differ",
        "y = a @ b",
        [r"\b8\b", r"\b4\b", "[tT]rans"],
        also=2,
        a=[1, 1, 4, 8],
        b=[1, 1, 4, 8],
    ),
    program(
        "max_pooling: three strides for two dimensions",
        "y = g.max_pooling(x, [2, 2], strides=[1, 2, 2])",
        ["strides|Strides", r"\b2\b", r"\b3\b|\[1, 2, 2\]"],
        x=[1, 3, 32, 32],
    ),
    program(
        "new builder in each block",
        """
        def block(x):
            return dml2onnx.GraphBuilder().activation_relu(x)
        x = g.input("x", np.float32, [1, 3, 32, 32])
        y = block(x)
        """,
        ["another GraphBuilder", '"x"'],
        at=2,
    ),
    program(
        "no mistake: shape of a tensor",
        "y = g.reshape(x, [1, 1, 1, 4 * x.shape[1]])",
        [],
        findings=0,
        at=-1,
        x=[1, 8, 2, 2],
    ),
    program(
        "operator newer than the builder's feature level",
        "y = g.activation_gelu(x)",
        ["GELU", "5_0", "5_1", "feature_level"],
        x=[1, 8, 16, 16],
    ),
    program(
        "pooling: window of one dimension",
        "y = g.average_pooling(x, window_sizes=[2], strides=[2])",
        [r"window_sizes|WindowSize|\bstrides\b", r"\[2, 2\]|2 dimensions"],
        x=[1, 8, 16, 16],
    ),
    program(
        "product of FLOAT16 and FLOAT32",
        "w = g.constant(np.ones((1, 4), np.float32))\ny = x * w",
        ["FLOAT16", "FLOAT32", "cast"],
        also=2,
        x="np.float16, [1, 4]",
    ),
    program(
        "product with a PyTorch parameter",
        TENSOR + 'x = g.input("x", np.float32, [1, 4, 8, 8])\ny = x * Tensor(np.ones((8, 8)))',
        ["is a Tensor", r"\.detach\(\)\.cpu\(\)\.numpy\(\)"],
        never=("RuntimeError",),
    ),
    program("reduce: axis out of range", 'y = g.reduce(x, "SUM", [2])', [r"\b2\b", "Axes|axes", "0.*1"], x=[2, 8]),
    program(
        "resample: scales of two dimensions",
        "y = g.resample(x, scales=[2, 2])",
        ["2 scales for 4 dimensions", r"help: scales=\[1, 1, 2, 2\]"],
        x=[1, 3, 8, 8],
    ),
    program(
        "reshape to another element count", "y = g.reshape(x, [1, 1, 1, 100])", [r"\b128\b", r"\b100\b"], x=[1, 8, 4, 4]
    ),
    program(
        "residual of other channels",
        """
        y = g.convolution(x, np.ones((16, 8, 3, 3), np.float32), start_padding=[1, 1], end_padding=[1, 1])
        z = x + y
        """,
        [r"\[1, 8, 16, 16\]", r"\[1, 16, 16, 16\]"],
        x=[1, 8, 16, 16],
    ),
    program(
        "sizes before the data type",
        'x = g.input("x", [1, 3, 32, 32], np.float32)',
        ["data_?[ ]?type", "sizes", "order|first|before|turn"],
    ),
    program(
        "sizes of None",
        'x = g.input("x", np.float32, [1, 3, None, None])',
        ["None", "sizes|Sizes", "--size|sizes=|named|names"],
    ),
    program(
        "slice: two dimensions",
        "y = g.slice(x, [2, 2], [4, 4], [1, 1])",
        ["InputWindowOffsets", r"\b2\b", r"\[0, 0, 2, 2\]"],
        x=[1, 3, 8, 8],
    ),
    program(
        "split: count instead of sizes", "y = g.split(x, 1, 2)", ["output_axis_sizes", r"\[3, 3\]"], x=[1, 6, 8, 8]
    ),
    program(
        "split: parts smaller than the whole",
        "y, z = g.split(x, axis=1, output_axis_sizes=[3, 3])",
        [r"\b6\b", r"\b8\b", "OutputTensors|output_axis_sizes"],
        x=[1, 8, 4, 4],
    ),
    program(
        "sum of different sizes",
        "y = g.max_pooling(x, 2, strides=2).values\nz = x + y",
        [r"\[1, 8, 32, 32\]", r"\[1, 8, 16, 16\]"],
        also=2,
        x=[1, 8, 32, 32],
    ),
    program(
        "sum with a one-dimensional bias",
        "b = g.constant(np.zeros(16, np.float32))\ny = g.add(x, b)",
        ["1 dimension and ATensor has 4", r"reinterpret\(.*strides=\[0, 1, 0, 0\]"],
        x=[1, 16, 8, 8],
    ),
    program(
        "sum with one value per channel",
        "y = x + np.zeros(3, np.float32)",
        ["do not broadcast", r"sizes \[3, 1, 1\]"],
        x=[1, 3, 8, 8],
    ),
    program(
        "tensors of two builders",
        """
        other = type(g)(feature_level="5_0")
        a = g.input("a", np.float32, [4])
        b = other.input("b", np.float32, [4])
        y = g.add(a, b)
        """,
        [r"\bb\b|\"b\"", "another|other|different"],
    ),
    program(
        "tile: repeats of two dimensions",
        "y = g.tile(x, [2, 2])",
        ["[Rr]epeats", r"\b2\b", r"\b4\b", r"\[1, 1, 2, 2\]"],
        x=[1, 8, 4, 4],
    ),
)

USE = (
    program(
        "array file truncated",
        """
        import pathlib, tempfile

        file = pathlib.Path(tempfile.mkdtemp(), "x.npy")
        np.save(file, np.zeros(64, np.float32))
        file.write_bytes(file.read_bytes()[:200])
        from dml2onnx.frontends.array_files import read_array

        read_array(file)
        """,
        [r'x\.npy" is cut off: its array has 256 bytes, of which 72 are there'],
        at=-1,
    ),
    program(
        "build: PyTorch tensor as an output",
        TENSOR + 'x = g.input("x", np.float32, [1, 4, 8, 8])\ngraph = g.build({"y": Tensor(np.ones((8, 8)))})',
        ["y is a Tensor, not an Expression", r"constant\(\.\.\.\.detach\(\)\.cpu\(\)\.numpy\(\)\) of the GraphBuilder"],
    ),
    program(
        "build: names and tensors swapped",
        'graph = g.build({g.activation_relu(x): "y"})',
        ["name", "Expression"],
        x=[4],
    ),
    program(
        "check: builder instead of a graph",
        'y = g.activation_relu(g.input("x", np.float32, [4]))\ndml2onnx.check(g)',
        ["a GraphBuilder, not a Graph", r'build\(\{"y": y\}\)'],
        at=-1,
    ),
    program(
        "compile: PyTorch weights instead of a graph",
        """
        import pathlib, tempfile

        file = pathlib.Path(tempfile.mkdtemp(), "net.pt")
        file.write_bytes(b"PK" + bytes(60))
        dml2onnx.load(file)
        """,
        ["DML0007", r"is a ZIP archive, as \.pt"],
        at=-1,
    ),
    program(
        "compile: expression instead of a graph",
        'y = g.activation_relu(g.input("x", np.float32, [4]))\ndml2onnx.compile(y)',
        ["an Expression, not a Graph", 'GraphBuilder\\\'s build\\(\\{"y": y\\}\\)'],
        at=-1,
    ),
    program(
        "graph.save",
        'built = g.build({"y": g.activation_relu(g.input("x", np.float32, [4]))})\nbuilt.save("net.json")',
        [r"a Graph has no save; dml2onnx\.convert\(graph, FILE\)", r"dml2onnx\.compile\(graph\)\.save\(FILE\)"],
    ),
    program(
        "run: FLOAT32 indices",
        """
        table, ids = g.input("table", np.float32, [1, 1, 10, 4]), g.input("ids", np.int32, [1, 1, 1, 3])
        model = dml2onnx.compile(g.build({"y": g.gather(table, ids, 2, 1)}))
        model.run({"table": np.zeros((1, 1, 10, 4), np.float32), "ids": np.float32([[[[0, 1.5, 2]]]])})
        """,
        ["must be int32, not float32", r'astype\("int32"\), which cuts off fractions such as that of 1\.5'],
        at=-1,
    ),
    program(
        "run: array instead of a dict",
        'model = dml2onnx.compile(g.build({"y": g.activation_relu(x)}))\nmodel.run(np.zeros(4, np.float32))',
        [r'\{"x": '],
        at=-1,
        x=[4],
    ),
    program(
        "run: input name in capitals",
        """
        model = dml2onnx.compile(g.build({"y": g.activation_relu(x)}))
        model.run({"X": np.ones((1, 3, 4, 4), np.float32)})
        """,
        ['no input "X"; its inputs are: x'],
        at=-1,
        x=[1, 3, 4, 4],
    ),
    program(
        "run: output names first, as in ONNX Runtime",
        """
        session = dml2onnx.compile(g.build({"y": g.activation_relu(x)})).session()
        session.run(None, {"x": np.ones((1, 3, 4, 4), np.float32)})
        """,
        [r"inputs come first: run\(\{\.\.\.\}", "DML3017"],
        never=("no contents",),
        at=-1,
        x=[1, 3, 4, 4],
    ),
    program(
        "serialized partition truncated",
        """
        import pathlib, tempfile

        x = g.input("x", np.float32, [1, 3, 4, 4])
        file = pathlib.Path(tempfile.mkdtemp(), "Partition_0.bin")
        dml2onnx.convert(g.build({"y": g.activation_relu(x)}), file)
        file.write_bytes(file.read_bytes()[:200])
        dml2onnx.load(file)
        """,
        ["DML0015", "cut off, so write or copy it again"],
        at=-1,
    ),
)
