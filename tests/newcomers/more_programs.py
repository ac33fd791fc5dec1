"""Eleven more mistakes in programs for the builder, written down before the answers to them were read."""

from __future__ import annotations

from tests.newcomers.case import Case

MORE_PROGRAMS = (
    Case(
        "sizes that are not known",
        """
        x = g.input("x", np.float32, [1, 3, None, None])  # <- here
        """,
        (r"None", r"sizes|Sizes", r"--size|sizes=|named|names"),
    ),
    Case(
        "sizes before the data type",
        """
        x = g.input("x", [1, 3, 32, 32], np.float32)  # <- here
        """,
        (r"data_?[ ]?type", r"sizes", r"order|first|before|turn"),
    ),
    Case(
        "padding as ONNX names it",
        """
        x = g.input("x", np.float32, [1, 3, 32, 32])
        y = g.convolution(x, np.ones((8, 3, 3, 3)), pads=[1, 1, 1, 1])  # <- here
        """,
        (r"start_padding", r"end_padding"),
    ),
    Case(
        "built with names and tensors the wrong way round",
        """
        x = g.input("x", np.float32, [4])
        graph = g.build({g.activation_relu(x): "y"})  # <- here
        """,
        (r"name", r"Expression"),
    ),
    Case(
        "tensors of two builders",
        """
        other = type(g)(feature_level="5_0")
        a = g.input("a", np.float32, [4])
        b = other.input("b", np.float32, [4])
        y = g.add(a, b)  # <- here
        """,
        (r"\bb\b|\"b\"", r"another|other|different"),
    ),
    Case(
        "asked whether it is true",
        """
        x = g.input("x", np.float32, [4])
        if x > 0:  # <- here
            y = x
        """,
        (r"if_",),
    ),
    Case(
        "function of numpy",
        """
        x = g.input("x", np.float32, [4])
        y = np.maximum(x, 0)  # <- here
        """,
        (r"g\.max\b|\bmax\(|activation_relu",),
    ),
    Case(
        "softmax as PyTorch has it",
        """
        x = g.input("x", np.float32, [1, 10])
        y = g.softmax(x, dim=1)  # <- here
        """,
        (r"activation_softmax",),
    ),
    Case(
        "elements that do not fit",
        """
        x = g.input("x", np.float32, [1, 8, 4, 4])
        y = g.reshape(x, [1, 1, 1, 100])  # <- here
        """,
        (r"\b128\b", r"\b100\b"),
    ),
    Case(
        "indices that are fractions",
        """
        x = g.input("x", np.float32, [10, 4])
        i = g.input("i", np.float32, [1, 3])  # <- there
        y = g.gather(x, i, axis=0, index_dimensions=1)  # <- here
        """,
        (r"FLOAT32", r"UINT32", r"cast"),
    ),
    Case(
        "matrices that do not fit",
        """
        a = g.input("a", np.float32, [1, 1, 4, 8])
        b = g.input("b", np.float32, [1, 1, 4, 8])  # <- there
        y = a @ b  # <- here
        """,
        (r"\b8\b", r"\b4\b", r"[tT]rans"),
    ),
)
