"""Mistakes in programs for the builder, as people write them who come from ONNX, PyTorch, TensorFlow or numpy."""

from __future__ import annotations

from tests.newcomers.case import Case

PROGRAMS = (
    Case(
        "picture as TensorFlow has it",
        """
        x = g.input("x", np.float32, [1, 224, 224, 3])  # <- there
        w = np.ones((64, 3, 7, 7), np.float32)
        y = g.convolution(x, w, strides=2)  # <- here
        g.build({"y": y})
        """,
        (r"NHWC", r"\[1, 3, 224, 224\]", r"\[150528, 1, 672, 3\]"),
    ),
    Case(
        "filter as TensorFlow has it",
        """
        x = g.input("x", np.float32, [1, 3, 224, 224])
        w = g.constant(np.ones((7, 7, 3, 64), np.float32), name="w")  # <- there
        y = g.convolution(x, w, strides=2)  # <- here
        g.build({"y": y})
        """,
        (r"HWIO", r"\[64, 3, 7, 7\]", r"transpose|Strides"),
    ),
    Case(
        "padding as PyTorch names it",
        """
        x = g.input("x", np.float32, [1, 3, 32, 32])
        y = g.convolution(x, np.ones((8, 3, 3, 3)), padding=1)  # <- here
        g.build({"y": y})
        """,
        (r"start_padding", r"end_padding"),
    ),
    Case(
        "method as PyTorch names it",
        """
        x = g.input("x", np.float32, [1, 3, 32, 32])
        y = g.conv2d(x, np.ones((8, 3, 3, 3)))  # <- here
        """,
        (r"convolution",),
    ),
    Case(
        "three strides for two dimensions",
        """
        x = g.input("x", np.float32, [1, 3, 32, 32])
        y = g.max_pooling(x, [2, 2], strides=[1, 2, 2])  # <- here
        """,
        (r"strides|Strides", r"\b2\b", r"\b3\b|\[1, 2, 2\]"),
    ),
    Case(
        "sum of different sizes",
        """
        x = g.input("x", np.float32, [1, 8, 32, 32])
        y = g.max_pooling(x, 2, strides=2).values  # <- there
        z = x + y  # <- here
        """,
        (r"\[1, 8, 32, 32\]", r"\[1, 8, 16, 16\]"),
    ),
    Case(
        "outputs taken for one",
        """
        x = g.input("x", np.float32, [1, 8, 32, 32])
        y = g.activation_relu(g.max_pooling(x, 2, strides=2))  # <- here
        """,
        (r"\.values",),
    ),
    Case(
        "weights of a matrix as PyTorch has them",
        """
        x = g.input("x", np.float32, [1, 1, 1, 512])
        w = g.constant(np.ones((1, 1, 10, 512), np.float32), name="w")  # <- there
        y = g.gemm(x, w)  # <- here
        """,
        (r"trans_?[bB]", r"TRANSPOSE", r"\b512\b", r"\b10\b"),
    ),
    Case(
        "reduction as numpy names it",
        """
        x = g.input("x", np.float32, [1, 8, 32, 32])
        y = g.reduce(x, "MEAN", [2, 3])  # <- here
        """,
        (r"AVERAGE", r"MEAN"),
    ),
    Case(
        "method as PyTorch names another",
        """
        x = g.input("x", np.float32, [1, 8, 2, 2])
        y = g.flatten(x)  # <- here
        """,
        (r"reshape|reinterpret",),
    ),
    Case(
        "mixed precision",
        """
        x = g.input("x", np.float16, [1, 4])
        w = g.constant(np.ones((1, 4), np.float32))  # <- there
        y = x * w  # <- here
        """,
        (r"FLOAT16", r"FLOAT32", r"cast"),
    ),
    Case(
        "joined parts that do not fit",
        """
        a = g.input("a", np.float32, [1, 8, 16, 16])
        b = g.input("b", np.float32, [1, 8, 8, 8])  # <- there
        y = g.join([a, b], 1)  # <- here
        """,
        (r"\[1, 8, 16, 16\]|\b16\b", r"\[1, 8, 8, 8\]", r"axis|Axis"),
    ),
    Case(
        "bounds the wrong way round",
        """
        x = g.input("x", np.float32, [4])
        y = g.clip(x, 6.0, 0.0)  # <- here
        graph = g.build({"y": y})
        """,
        (r"\b6", r"\b0", r"[Mm]in", r"[Mm]ax"),
        severity="warning",
    ),
    Case(
        "groups that the filter does not fit",
        """
        x = g.input("x", np.float32, [1, 32, 16, 16])
        w = g.constant(np.ones((32, 32, 3, 3), np.float32), name="w")  # <- there
        y = g.convolution(x, w, group_count=32)  # <- here
        """,
        (r"\[32, 1, 3, 3\]", r"32", r"group_?[cC]ount|GroupCount"),
    ),
)
