"""Programs that use PyDirectML."""

from __future__ import annotations

from tests.newcomers.build import pydirectml

CASES = (
    pydirectml("GraphBuilder without a device", "dml.GraphBuilder()", ["[Dd]evice"]),
    pydirectml(
        "TensorDesc: flags after the sizes",
        "dml.TensorDesc(dml.TensorDataType.FLOAT32, [1, 1, 1, 1], dml.TensorFlags.OWNED_BY_DML)",
        ["[Ff]lags", "sizes"],
    ),
    pydirectml(
        "all outputs of a pool as one",
        "dml.activation_relu(dml.max_pooling(x, [2, 2], strides=[2, 2]))",
        [r"take one of its outputs: \.values\."],
    ),
    pydirectml(
        "array instead of a binding",
        """
        y = dml.activation_relu(x)
        model = graph.build(dml.ExecutionFlags.NONE, [y])
        device.compute(model, [np.zeros((1, 1, 4, 4), np.float32)], [y])
        """,
        ["Binding"],
    ),
    pydirectml(
        "binding with too few elements",
        """
        y = dml.convolution(x, w)
        model = graph.build(dml.ExecutionFlags.NONE, [y])
        device.compute(model, [dml.Binding(x, np.ones(12, np.float32)), dml.Binding(w, np.ones(9, np.float32))], [y])
        """,
        [r"\b48\b.*\b64\b|\b64\b.*\b48\b|\b12\b.*\b16\b|\b16\b.*\b12\b"],
    ),
    pydirectml(
        "binding with too many elements",
        """
        y = dml.convolution(x, w)
        model = graph.build(dml.ExecutionFlags.NONE, [y])
        device.compute(model, [dml.Binding(x, np.ones(16, np.float32)), dml.Binding(w, np.ones(25, np.float32))], [y])
        """,
        [r"\b25\b|\b100\b|5, 5", r"\b9\b|\b36\b|3, 3", r"TensorDesc|\[1, 1, [35], [35]\]|\(1, 1, [35], [35]\)"],
    ),
    pydirectml(
        "build: outputs without a list",
        "y = dml.activation_relu(x)\nmodel = graph.build(dml.ExecutionFlags.NONE, y)",
        [r"list|sequence|\[", "outputs|Expression"],
    ),
    pydirectml(
        "convolution: input of two dimensions",
        """
        p = dml.input_tensor(graph, 2, dml.TensorDesc(dml.TensorDataType.FLOAT32, [4, 4]))
        y = dml.convolution(p, w)
        """,
        ["input", r"\[4, 4\]", r"\b4 or 5\b"],
    ),
    pydirectml(
        "convolution: padding, as in PyTorch",
        "y = dml.convolution(x, w, padding=[1, 1])",
        [r"no argument padding; did you mean start_padding and end_padding\?"],
    ),
    pydirectml(
        "convolution: pads in one list, as in ONNX",
        "y = dml.convolution(x, w, start_padding=[1, 1, 1, 1])",
        ["(?i)start_?padding", r"(?i)\b(4|four)\b|\[1, 1, 1, 1\]", r"(?i)\b(2|two)\b|\[1, 1\]"],
    ),
    pydirectml(
        "data type as a string",
        'z = dml.input_tensor(graph, 2, dml.TensorDesc("float32", [1, 1, 4, 4]))',
        [r"did you mean dml\.TensorDataType\.FLOAT32\?"],
    ),
    pydirectml(
        "filter of another layer",
        """
        f = dml.input_tensor(graph, 2, dml.TensorDesc(dml.TensorDataType.FLOAT32, [8, 16, 3, 3]))
        y = dml.convolution(x, f)
        """,
        ["FilterTensor", r"\[8, 16, 3, 3\]", r"\b16\b", r"\[8, 1, 3, 3\]"],
    ),
    pydirectml("gather: axis out of range", "y = dml.gather(x, w, 7, 1)", ["axis|Axis", r"\b7\b"]),
    pydirectml("gemm: inner sizes differ", "y = dml.gemm(x, w)", ["ATensor|BTensor", r"\b4\b", r"\b3\b"]),
    pydirectml(
        "gemm: weights not transposed, as in PyTorch",
        """
        v = dml.input_tensor(graph, 2, dml.TensorDesc(dml.TensorDataType.FLOAT32, [1, 1, 6, 4]))
        y = dml.gemm(x, v)
        """,
        ["BTensor", "TransB.*TRANSPOSE|trans_b.*TRANSPOSE"],
    ),
    pydirectml("join: axis -1", "y = dml.join([x, x], -1)", ["axis|Axis", "-1", r"\b3\b"]),
    pydirectml(
        "sizes before the data type",
        "dml.TensorDesc([1, 1, 4, 4], dml.TensorDataType.FLOAT32)",
        ["data.?type", "sizes|order"],
    ),
    pydirectml("slice: strides missing", "y = dml.slice(x, [0, 0, 0, 0], [1, 1, 2, 2])", ["strides"]),
    pydirectml("softmax, as in PyTorch", "y = dml.softmax(x)", ["Did you mean: 'activation_soft_max'"]),
    pydirectml("sum of different sizes", "z = x + w", [r"\[1, 1, 4, 4\]", r"\[1, 1, 3, 3\]"]),
    pydirectml(
        "up_sample_2d: scale as a number",
        "y = dml.up_sample_2d(x, 2, dml.InterpolationMode.NEAREST_NEIGHBOR)",
        ["Size2D"],
    ),
    pydirectml(
        "weights not bound",
        """
        y = dml.convolution(x, w)
        model = graph.build(dml.ExecutionFlags.NONE, [y])
        device.compute(model, [dml.Binding(x, np.ones(16, np.float32))], [y])
        """,
        ["2 inputs, but 1 was given", "input 1 of 36 bytes"],
    ),
)
