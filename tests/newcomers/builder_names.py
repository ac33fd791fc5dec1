"""Programs for the builder with the names of ONNX, PyTorch, TensorFlow or numpy, or missing arguments."""

from __future__ import annotations

from tests.newcomers.build import program

CASES = (
    program("assignment to an element", "x[0] = 1.0", ["assign", "join|scatter|if_"], x=[4]),
    program(
        "batch_normalization: statistics missing",
        "y = g.batch_normalization(x, scale=np.ones(3, np.float32), bias=np.zeros(3, np.float32))",
        [r"\bmean\b", r"\bvariance\b"],
        x=[1, 3, 8, 8],
    ),
    program("cast to half, as in PyTorch", 'y = g.cast(x, "half")', ['"half"', "FLOAT16"], x=[1, 8, 4, 4]),
    program("cat, as in PyTorch", "y = g.cat([a, b], dim=1)", [r"\bjoin\b"], a=[1, 3], b=[1, 3]),
    program("clip: only a lower bound", "y = g.clip(x, 0)", ["clip", r"\bmax\b"], x=[1, 8, 4, 4]),
    program(
        "concat, as in TensorFlow",
        "y = g.concat([a, b], axis=1)",
        ["concat", r"\bjoin\b"],
        a=[1, 2, 8, 8],
        b=[1, 6, 8, 8],
    ),
    program(
        "constant: name first",
        'w = g.constant("w", np.zeros(3, np.float32))',
        ["constant takes values by place", "name="],
    ),
    program("conv2d, as in PyTorch", "y = g.conv2d(x, np.ones((8, 3, 3, 3)))", ["convolution"], x=[1, 3, 32, 32]),
    program(
        "convolution: dilation, as in PyTorch",
        "y = g.convolution(x, np.ones((8, 3, 3, 3)), dilation=2)",
        [r"\bdilation\b", r"\bdilations\b"],
        x=[1, 3, 32, 32],
    ),
    program(
        "convolution: filter in HWIO order, as in TensorFlow",
        'w = g.constant(np.ones((7, 7, 3, 64), np.float32), name="w")\ny = g.convolution(x, w, strides=2)',
        ["HWIO", r"\[64, 3, 7, 7\]", "transpose|Strides"],
        also=2,
        x=[1, 3, 224, 224],
    ),
    program(
        "convolution: input in NHWC order, as in TensorFlow",
        "w = np.ones((64, 3, 7, 7), np.float32)\ny = g.convolution(x, w, strides=2)",
        ["NHWC", r"\[1, 3, 224, 224\]", r"\[150528, 1, 672, 3\]"],
        also=1,
        x=[1, 224, 224, 3],
    ),
    program(
        "convolution: padding, as in PyTorch",
        "y = g.convolution(x, np.ones((8, 3, 3, 3)), padding=1)",
        ["start_padding", "end_padding"],
        x=[1, 3, 32, 32],
    ),
    program(
        "convolution: pads, as in ONNX",
        "y = g.convolution(x, np.ones((8, 3, 3, 3)), pads=[1, 1, 1, 1])",
        ["start_padding", "end_padding"],
        x=[1, 3, 32, 32],
    ),
    program(
        "depth_to_space: upscale_factor, as in PyTorch",
        "y = g.depth_to_space(x, upscale_factor=2)",
        ["upscale_factor", "block_size"],
        x=[1, 8, 4, 4],
    ),
    program("flatten, as in PyTorch", "y = g.flatten(x)", ["reshape|reinterpret"], x=[1, 8, 2, 2]),
    program(
        "gather: index_dimensions missing",
        "y = g.gather(x, np.array([3, 1, 4], np.int32), axis=2)",
        ["index_dimensions"],
        x=[1, 1, 100, 16],
    ),
    program(
        "gemm: two-dimensional weights, as in PyTorch",
        "y = g.gemm(x, np.ones((16, 8), np.float32))",
        ["K = 8", "columns of 16", "trans_b='TRANSPOSE'"],
        never=("dimension count",),
        x=[1, 1, 4, 8],
    ),
    program(
        "gemm: weights not transposed, as in PyTorch",
        'w = g.constant(np.ones((1, 1, 10, 512), np.float32), name="w")\ny = g.gemm(x, w)',
        ["trans_?[bB]", "TRANSPOSE", r"\b512\b", r"\b10\b"],
        also=2,
        x=[1, 1, 1, 512],
    ),
    program(
        "interpolate, as in PyTorch",
        'y = g.interpolate(x, scale_factor=2, mode="nearest")',
        ["interpolate", r"\b(resample|upsample_2d)\b"],
        x=[1, 8, 16, 16],
    ),
    program(
        "join: tensors without a list",
        "y = g.join(a, b, axis=1)",
        [r"join takes its tensors as a list: join\(\[a, b\], \.\.\.\)"],
        a=[1, 3],
        b=[1, 3],
    ),
    program(
        "layer_norm, as in PyTorch",
        "y = g.layer_norm(x)",
        ["layer_norm", "mean_variance_normalization"],
        x=[1, 3, 32, 32],
    ),
    program(
        "leaky ReLU: negative_slope, as in PyTorch",
        "y = g.activation_leaky_relu(x, negative_slope=0.1)",
        ["negative_slope", "alpha"],
        x=[1, 3, 8, 8],
    ),
    program(
        "lstm: three dimensions, as in ONNX",
        """
        w = g.constant(np.ones((1, 1, 64, 24), np.float32))
        r = g.constant(np.ones((1, 1, 64, 16), np.float32))
        y = g.lstm(x, w, r, ["SIGMOID", "TANH", "TANH"], "FORWARD", 0.0, False, False)
        """,
        [r"InputTensor|\binput\b|\bx\b", r"\[12, 1, 24\]|\b3\b", r"\[1, 12, 1, 24\]|\b4\b"],
        also=1,
        x=[12, 1, 24],
    ),
    program(
        "normalization: eps, as in PyTorch",
        "y = g.mean_variance_normalization(x, axes=[2, 3], eps=1e-3)",
        [r"\beps\b", r"\bepsilon\b"],
        x=[1, 8, 16, 16],
    ),
    program("numpy.array of a tensor", "y = g.activation_relu(x)\nprint(y.numpy())", ["compile", "run"], x=[4]),
    program("numpy.concatenate", "y = np.concatenate([a, b], axis=1)", [r"\bjoin\b"], a=[1, 3], b=[1, 3]),
    program("numpy.maximum of a tensor", "y = np.maximum(x, 0)", [r"g\.max\b|\bmax\(|activation_relu"], x=[4]),
    program(
        "one_hot: depth, as in ONNX",
        "y = g.one_hot(labels, depth=10)",
        ["depth", "output_length"],
        labels="np.uint32, [1, 1, 8, 1]",
    ),
    program(
        "padding: mode REFLECT, as in numpy",
        'y = g.padding(x, "REFLECT", 0, [0, 0, 1, 1], [0, 0, 1, 1])',
        ["PaddingMode", 'did you mean "REFLECTION"'],
        x=[1, 3, 8, 8],
    ),
    program(
        'padding="SAME", as in TensorFlow',
        'y = g.convolution(x, np.ones((4, 3, 3, 3), np.float32), start_padding="SAME")',
        ["StartPadding", "SAME", r"\[1, 1\]"],
        x=[1, 3, 8, 8],
    ),
    program(
        "permute, as in PyTorch",
        "y = g.transpose(x, [0, 2, 3, 1])",
        ["transpose", "[Ss]trides|reinterpret"],
        x=[1, 8, 4, 4],
    ),
    program(
        "pooling: window missing",
        "y = g.average_pooling(x, 32)",
        ["average_pooling needs 'window_sizes'", "its arguments are input, strides, window_sizes, "],
        x=[1, 3, 32, 32],
    ),
    program("reduce: MEAN, as in numpy", 'y = g.reduce(x, "MEAN", [2, 3])', ["AVERAGE", "MEAN"], x=[1, 8, 32, 32]),
    program("reduce: axis instead of axes", 'y = g.reduce(x, "AVERAGE", axis=1)', ["axes"], x=[1, 3, 8, 8]),
    program(
        "reduce: keepdims, as in numpy",
        'y = g.reduce(x, "AVERAGE", [2, 3], keepdims=False)',
        ["keepdims", r"size 1|sizes? of 1|keeps?\b|stays?\b|reshape|reinterpret"],
        x=[1, 8, 32, 32],
    ),
    program(
        "reinterpret: size -1, as in numpy",
        'y = g.reinterpret(x, "FLOAT32", [1, 1, 1, -1])',
        ["-1", r"\b128\b"],
        x=[1, 8, 4, 4],
    ),
    program("relu without its family", "y = g.relu(x)", ["relu", "activation_relu"], x=[1, 8, 4, 4]),
    program("softmax, as in PyTorch", "y = g.softmax(x, dim=1)", ["activation_softmax"], x=[1, 10]),
    program(
        "softmax: axis=-1, as in numpy",
        "y = g.activation_softmax(x, axis=-1)",
        [r"\baxes\b", r"\[-1\]|\[3\]"],
        x=[1, 1, 8, 10],
    ),
    program("tensor.flatten(), as in PyTorch", "y = x.flatten(1)", ["reinterpret", "192"], x=[1, 3, 8, 8]),
    program("tensor.relu(), as in PyTorch", "y = x.permute(0, 2, 3, 1)", ["transpose|reinterpret"], x=[1, 3, 8, 8]),
    program("tensor.sum(), as in numpy", "y = x.sum(axis=1)", [r"\breduce\(.*SUM"], x=[1, 3, 8, 8]),
    program(
        "truth value of a tensor",
        """
        if x > 0:
            y = x
        """,
        ["if_"],
        at=1,
        x=[4],
    ),
)
