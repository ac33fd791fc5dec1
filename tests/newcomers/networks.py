"""Valid models that the cases edit."""

from __future__ import annotations

from tests.frontends.models import f32
from tests.newcomers.build import (
    activations,
    buffer,
    dispatch,
    dxdispatch,
    edit,
    graph,
    native,
    node,
    serialized,
    tensor,
)

NETWORK = native(
    {"image": [1, 3, 32, 32]},
    {"filter": [8, 3, 5, 5], "bias": [1, 8, 1, 1], "dense": [1, 1, 2048, 10]},
    node(
        "conv",
        "CONVOLUTION",
        "image filter bias -> features",
        [1, 8, 32, 32],
        FusedActivation={"type": "ACTIVATION_RELU"},
        Padding=[2, 2],
    ),
    node("pool", "MAX_POOLING", "features -> pooled", [1, 8, 16, 16], Strides=[2, 2], WindowSize=[2, 2]),
    node("classify", "GEMM", "pooled dense -> scores", [1, 1, 1, 10], ATensor=f32(1, 1, 1, 2048)),
    node("softmax", "ACTIVATION_SOFTMAX", "scores -> probabilities", [1, 1, 1, 10]),
)
"""A classifier of images; also ``net.json`` of the command lines."""

GRAPH = graph(
    serialized("sum", "ELEMENT_WISE_ADD", [1, 3, 8, 8], [1, 3, 8, 8], [1, 3, 8, 8]),
    serialized("relu", "ACTIVATION_RELU", [1, 3, 8, 8], [1, 3, 8, 8]),
    inputs=[(0, 0), (0, 1)],
    edges=[(0, 1, 0)],
    output=1,
)
"""A sum and its ReLU."""

ADDITION = dxdispatch(
    {"A": buffer(16), "B": buffer(16), "Out": buffer(16)},
    dispatch("add", "ELEMENT_WISE_ADD", "A B Out", [1, 1, 4, 4], [1, 1, 4, 4], [1, 1, 4, 4]),
)
"""A sum."""

MOBILE = native(
    {"x": [1, 3, 32, 32]},
    {
        "stem.w": [16, 3, 3, 3],
        "expand.w": [32, 16, 1, 1],
        "deep.w": [32, 1, 3, 3],
        "deep.b": [1, 32, 1, 1],
        "project.w": [16, 32, 1, 1],
        "head.w": [1, 1, 10, 16],
        "head.b": [1, 1, 1, 10],
    },
    node("stem", "CONVOLUTION", "x stem.w", [1, 16, 16, 16], Strides=[2, 2], EndPadding=[1, 1]),
    node("expand", "CONVOLUTION", "stem expand.w", [1, 32, 16, 16]),
    node("deep", "CONVOLUTION", "expand deep.w deep.b", [1, 32, 16, 16], GroupCount=32, Padding=[1, 1]),
    node("project", "CONVOLUTION", "deep project.w", [1, 16, 16, 16]),
    node("residual", "ELEMENT_WISE_ADD", "stem project -> sum"),
    node("mean", "AVERAGE_POOLING", "sum", [1, 16, 1, 1], Strides=[1, 1], WindowSize=[16, 16]),
    node(
        "head", "GEMM", "mean head.w head.b -> y", [1, 1, 1, 10], ATensor=f32(1, 1, 1, 16), TransB="TRANSPOSE", Beta=1
    ),
)
"""An inverted residual block between a stem and a classifier."""

UNET = native(
    {"x": [1, 1, 32, 32]},
    {"encode.w": [8, 1, 3, 3], "middle.w": [16, 8, 3, 3], "decode.w": [1, 24, 1, 1]},
    node("encode", "CONVOLUTION", "x encode.w", [1, 8, 32, 32], Padding=[1, 1]),
    node("pool", "MAX_POOLING", "encode", [1, 8, 16, 16], Strides=[2, 2], WindowSize=[2, 2]),
    node("middle", "CONVOLUTION", "pool middle.w", [1, 16, 16, 16], Padding=[1, 1]),
    node("up", "RESAMPLE", "middle", [1, 16, 32, 32], InterpolationMode="NEAREST_NEIGHBOR", Scales=[1, 1, 2, 2]),
    node("join", "JOIN", "up encode", [1, 24, 32, 32], Axis=1),
    node("decode", "CONVOLUTION", "join decode.w", [1, 1, 32, 32]),
)
"""An encoder and a decoder with a skip connection."""

SENTENCE = native(
    {"tokens": tensor("UINT32", 1, 1, 1, 16)},
    {"table": [1, 1, 1000, 64], "query.w": [1, 1, 64, 64], "key.w": [1, 1, 64, 64]},
    node("embed", "GATHER", "table tokens -> words", [1, 1, 16, 64], Axis=2, IndexDimensions=1),
    node("query", "GEMM", "words query.w", [1, 1, 16, 64]),
    node("key", "GEMM", "words key.w", [1, 1, 16, 64]),
    node("scores", "GEMM", "query key", [1, 1, 16, 16], TransB="TRANSPOSE"),
    node("softmax", "ACTIVATION_SOFTMAX", "scores -> weights", [1, 1, 16, 16]),
    node("mix", "GEMM", "weights words", [1, 1, 16, 64]),
    node("mean", "REDUCE", "mix -> y", [1, 1, 1, 64], Function="AVERAGE", Axes=[2]),
)
"""An embedding, self-attention and the mean over all words."""

BYTES = native(
    {"x": tensor("UINT8", 1, 3, 16, 16)},
    {
        "w": tensor("INT8", 8, 3, 3, 3),
        "b": tensor("INT32", 1, 8, 1, 1),
        "x.s": [1, 1, 1, 1],
        "x.z": tensor("UINT8", 1, 1, 1, 1),
        "w.s": [1, 1, 1, 1],
        "w.z": tensor("INT8", 1, 1, 1, 1),
        "y.s": [1, 1, 1, 1],
        "y.z": tensor("UINT8", 1, 1, 1, 1),
    },
    node("conv", "QUANTIZED_LINEAR_CONVOLUTION", "x x.s x.z w w.s w.z b y.s y.z -> q", tensor("UINT8", 1, 8, 16, 16)),
    node(
        "real",
        "ELEMENT_WISE_DEQUANTIZE_LINEAR",
        "q y.s y.z -> y",
        [1, 8, 16, 16],
        ScaleTensor=f32(1, 8, 16, 16, Strides=[0, 0, 0, 0]),
        ZeroPointTensor=tensor("UINT8", 1, 8, 16, 16, Strides=[0, 0, 0, 0]),
    ),
)
"""A quantized convolution, dequantized."""

SPEECH = native(
    {"frames": [1, 20, 1, 40]},
    {"w": [1, 1, 96, 40], "r": [1, 1, 96, 32], "b": [1, 1, 1, 192], "h": [1, 1, 1, 32], "letters": [1, 1, 32, 30]},
    node("gru", "GRU", "frames w r b h -> states", [20, 1, 1, 32]),
    node("letters", "GEMM", "states letters -> scores", [1, 1, 20, 30], ATensor=f32(1, 1, 20, 32)),
    node("best", "ARGMAX", "scores -> y", tensor("UINT32", 1, 1, 20, 1), Axes=[3], AxisDirection="INCREASING"),
)
"""A GRU over frames of sound, and the letter of each frame."""

GRAPH_OF_FOUR = graph(
    serialized("conv", "CONVOLUTION", [1, 3, 16, 16], [8, 3, 3, 3], None, [1, 8, 16, 16], Padding=[1, 1]),
    serialized(
        "norm",
        "BATCH_NORMALIZATION",
        [1, 8, 16, 16],
        [1, 8, 1, 1],
        [1, 8, 1, 1],
        [1, 8, 1, 1],
        [1, 8, 1, 1],
        [1, 8, 16, 16],
    ),
    serialized("relu", "ACTIVATION_RELU", [1, 8, 16, 16], [1, 8, 16, 16]),
    serialized("pool", "AVERAGE_POOLING", [1, 8, 16, 16], [1, 8, 8, 8], Strides=[2, 2], WindowSize=[2, 2]),
    inputs=[(0, 0), (0, 1), (1, 1), (1, 2), (1, 3), (1, 4)],
    edges=[(0, 1, 0), (1, 2, 0), (2, 3, 0)],
    output=3,
)
"""A convolution, a batch normalization, a ReLU and a pool."""

DISPATCHED = dxdispatch(
    {"X": buffer(192), "W": buffer(108), "Y": buffer(256)},
    dispatch(
        "conv", "CONVOLUTION", "X W Y", [1, 3, 8, 8], [4, 3, 3, 3], None, [1, 4, 8, 8], DimensionCount=2, Padding=[1, 1]
    ),
)
"""A convolution."""

AUTOENCODER = native(
    {"x": [1, 3, 32, 32]},
    {
        "down.w": [8, 3, 2, 2],
        "up.w": [8, 4, 2, 2],
        "mean": [1, 4, 1, 1],
        "variance": [1, 4, 1, 1],
        "scale": [1, 4, 1, 1],
        "shift": [1, 4, 1, 1],
    },
    node("down", "CONVOLUTION", "x down.w", [1, 8, 16, 16], Strides=[2, 2]),
    node("up", "CONVOLUTION", "down up.w", [1, 4, 32, 32], Direction="BACKWARD", Strides=[2, 2]),
    node("norm", "BATCH_NORMALIZATION", "up mean variance scale shift", [1, 4, 32, 32]),
    node("halves", "SPLIT", "norm -> a b", [f32(1, 2, 32, 32), f32(1, 2, 32, 32)], Axis=1),
)
"""A convolution and its inverse, normalized and split."""

BEST = native(
    {"scores": [1, 1, 8, 100]},
    {},
    node("softmax", "ACTIVATION_SOFTMAX", "scores -> likely"),
    node("best", "TOP_K", "likely -> values places", [1, 1, 8, 5], tensor("UINT32", 1, 1, 8, 5), Axis=3, K=5),
)
"""The five likeliest of a hundred classes."""

ENLARGER = native(
    {"x": [1, 1, 24, 24]},
    {"first.w": [16, 1, 5, 5], "slope": [1, 16, 1, 1], "second.w": [9, 16, 3, 3]},
    node("first", "CONVOLUTION", "x first.w", [1, 16, 24, 24], Padding=[2, 2]),
    node(
        "prelu",
        "ACTIVATION_PARAMETERIZED_RELU",
        "first slope",
        [1, 16, 24, 24],
        SlopeTensor=f32(1, 16, 24, 24, Strides=[0, 1, 0, 0]),
    ),
    node("second", "CONVOLUTION", "prelu second.w", [1, 9, 24, 24], Padding=[1, 1]),
    node("shuffle", "DEPTH_TO_SPACE1", "second", [1, 1, 72, 72], BlockSize=3, Order="COLUMN_ROW_DEPTH"),
    node("clip", "ELEMENT_WISE_CLIP", "shuffle -> y", [1, 1, 72, 72], Min=0, Max=1),
    level="6_1",
)
"""Superresolution: an image three times as large."""

DETECTOR = native(
    {"features": [1, 64, 16, 16], "regions": [1, 1, 10, 4], "pictures": tensor("UINT32", 1, 1, 1, 10)},
    {"head.w": [1, 1, 3136, 100]},
    node(
        "align",
        "ROI_ALIGN1",
        "features regions pictures",
        [10, 64, 7, 7],
        ReductionFunction="AVERAGE",
        InterpolationMode="LINEAR",
        SpatialScaleX=0.0625,
        SpatialScaleY=0.0625,
        InputPixelOffset=0.5,
        OutputPixelOffset=-0.5,
        OutOfBoundsInputValue=0,
        MinimumSamplesPerOutput=1,
        MaximumSamplesPerOutput=4,
        AlignRegionsToCorners=False,
    ),
    node("head", "GEMM", "align head.w", [1, 1, 10, 100], ATensor=f32(1, 1, 10, 3136)),
    node("parts", "SPLIT", "head -> scores boxes", [f32(1, 1, 10, 20), f32(1, 1, 10, 80)], Axis=3),
    node("softmax", "ACTIVATION_SOFTMAX1", "scores -> likely", [1, 1, 10, 20], Axes=[3]),
    level="6_1",
)
"""The class probabilities and boxes of regions."""

DECODER = native(
    {"words": [1, 16, 64]},
    {"gain": [1, 1, 64], "shift": [1, 1, 64]},
    node(
        "norm",
        "MEAN_VARIANCE_NORMALIZATION1",
        "words gain shift",
        [1, 16, 64],
        ScaleTensor=f32(1, 16, 64, Strides=[0, 0, 1]),
        BiasTensor=f32(1, 16, 64, Strides=[0, 0, 1]),
        Axes=[2],
    ),
    node("attention", "MULTIHEAD_ATTENTION", "norm norm norm", [1, 16, 64], HeadCount=4),
    node("residual", "ELEMENT_WISE_ADD", "words attention -> y", [1, 16, 64]),
    level="6_1",
)
"""A layer normalization, self-attention and a residual."""

TAGGER = native(
    {"words": [1, 12, 2, 24], "lengths": tensor("UINT32", 1, 1, 1, 2)},
    {"w": [1, 2, 64, 24], "r": [1, 2, 64, 16], "b": [1, 1, 2, 128], "h": [1, 2, 2, 16], "c": [1, 2, 2, 16]},
    node(
        "lstm",
        "LSTM",
        "words w r b h c lengths -> states",
        [12, 2, 2, 16],
        ActivationDescs=2 * activations("SIGMOID", "TANH", "TANH"),
        Direction="BIDIRECTIONAL",
    ),
    level="6_1",
)
"""A bidirectional LSTM over two sentences."""

SOUND = native(
    {"sound": [1, 1, 1, 400]},
    {"waves.w": [16, 1, 1, 32]},
    node("mirror", "PADDING", "sound", [1, 1, 1, 416], PaddingMode="REFLECTION", PaddingValue=0, Padding=[0, 0, 0, 8]),
    node("waves", "CONVOLUTION", "mirror waves.w", [1, 16, 1, 25], Strides=[1, 16]),
    node("power", "ELEMENT_WISE_CONSTANT_POW", "waves", [1, 16, 1, 25], Exponent=2),
    node(
        "sum",
        "CUMULATIVE_SUMMATION",
        "power -> y",
        [1, 16, 1, 25],
        Axis=3,
        AxisDirection="INCREASING",
        HasExclusiveSum=False,
    ),
    level="6_1",
)
"""The energy of sixteen tones, accumulated over time."""

SMALL_NUMBERS = native(
    {"x": [1, 1, 8, 64]},
    {"w": tensor("INT8", 1, 1, 64, 32)},
    node(
        "bytes",
        "DYNAMIC_QUANTIZE_LINEAR",
        "x -> q s z",
        tensor("UINT8", 1, 1, 8, 64),
        [1, 1, 1, 1],
        tensor("UINT8", 1, 1, 1, 1),
    ),
    node("product", "MATRIX_MULTIPLY_INTEGER", "q z w -> sums", tensor("INT32", 1, 1, 8, 32)),
    node("cast", "CAST", "sums -> reals", [1, 1, 8, 32]),
    node(
        "scaled", "ELEMENT_WISE_MULTIPLY", "reals s -> y", [1, 1, 8, 32], BTensor=f32(1, 1, 8, 32, Strides=[0, 0, 0, 0])
    ),
    level="6_1",
)
"""A dynamically quantized matrix product."""

MAP = native(
    {"classes": tensor("UINT32", 1, 1, 8, 8)},
    {"off_on": [1, 1, 1, 2]},
    node("one of five", "ONE_HOT", "classes off_on -> planes", [1, 5, 8, 8], Axis=1),
    node("larger", "RESAMPLE1", "planes -> large", [1, 5, 16, 16], Scales=[1, 1, 2, 2]),
    node("columns", "FILL_VALUE_SEQUENCE", "", [1, 1, 1, 16], ValueDataType="FLOAT32", ValueStart=0, ValueDelta=1),
    node(
        "moved",
        "ELEMENT_WISE_MULTIPLY",
        "large columns -> y",
        [1, 5, 16, 16],
        BTensor=f32(1, 5, 16, 16, Strides=[0, 0, 0, 1]),
    ),
    level="6_1",
)
"""A plane for each class of a map, enlarged and weighted by its columns."""

GRAPH_OF_POOLS = edit(
    graph(
        serialized("focus", "SPACE_TO_DEPTH1", [1, 3, 16, 16], [1, 12, 8, 8], BlockSize=2, Order="DEPTH_COLUMN_ROW"),
        serialized(
            "pool",
            "MAX_POOLING2",
            [1, 12, 8, 8],
            [1, 12, 4, 4],
            tensor("UINT32", 1, 12, 4, 4),
            DimensionCount=2,
            Strides=[2, 2],
            WindowSize=[2, 2],
        ),
        serialized("unpool", "MAX_UNPOOLING", [1, 12, 4, 4], tensor("UINT32", 1, 12, 4, 4), [1, 12, 8, 8]),
        serialized("tile", "TILE", [1, 12, 8, 8], [1, 12, 16, 16], Repeats=[1, 1, 2, 2]),
        inputs=[(0, 0)],
        edges=[(0, 1, 0), (1, 2, 0), (1, 2, 1), (2, 3, 0)],
        output=3,
    ),
    {"IntermediateEdges/2/FromNodeOutputIndex": 1},
).model
"""A pool and its inverse."""

JOINED = dxdispatch(
    {"A": buffer(32), "B": buffer(16), "AB": buffer(48), "Y": buffer(108)},
    dispatch("join", "JOIN", "A B AB", [f32(1, 2, 4, 4), f32(1, 1, 4, 4)], [1, 3, 4, 4], InputCount=2, Axis=1),
    dispatch(
        "pad",
        "PADDING",
        "AB Y",
        [1, 3, 4, 4],
        [1, 3, 6, 6],
        PaddingMode="EDGE",
        PaddingValue=0,
        DimensionCount=4,
        Padding=[0, 0, 1, 1],
    ),
)
"""Two tensors joined and padded."""

GRAPH_OF_TWO = graph(
    serialized(
        "conv1",
        "CONVOLUTION",
        [1, 3, 16, 16],
        [8, 3, 3, 3],
        [1, 8, 1, 1],
        [1, 8, 16, 16],
        FusedActivation={"Type": "ACTIVATION_LEAKY_RELU", "Desc": {"Alpha": 0.1}},
        Padding=[1, 1],
    ),
    serialized("conv2", "CONVOLUTION", [1, 8, 16, 16], [16, 8, 3, 3], None, [1, 16, 16, 16], Padding=[1, 1]),
    {
        "Type": "CONSTANT",
        "Desc": {"Name": "bias", "DataSize": 32, "Data": "AAAAPwAAAD8AAAA/AAAAPwAAAD8AAAA/AAAAPwAAAD8="},
    },
    inputs=[(0, 0), (0, 1), (1, 1)],
    edges=[(2, 0, 2), (0, 1, 0)],
    output=1,
)
"""Two convolutions, the first with a constant bias."""

HEADS = graph(
    serialized(
        "scores", "GEMM", [1, 4, 10, 16], [1, 4, 10, 16], None, [1, 4, 10, 10], TransB="DML_MATRIX_TRANSFORM_TRANSPOSE"
    ),
    serialized(
        "masked",
        "ELEMENT_WISE_ADD",
        [1, 4, 10, 10],
        f32(1, 4, 10, 10, Strides=[0, 0, 10, 1], TotalTensorSizeInBytes=400),
        [1, 4, 10, 10],
    ),
    serialized("weights", "ACTIVATION_SOFTMAX1", [1, 4, 10, 10], [1, 4, 10, 10], AxisCount=1, Axes=[3]),
    serialized("context", "GEMM", [1, 4, 10, 10], [1, 4, 10, 16], None, [1, 4, 10, 16]),
    serialized(
        "merge",
        "ELEMENT_WISE_IDENTITY",
        f32(1, 10, 4, 16, Strides=[640, 16, 160, 1], TotalTensorSizeInBytes=2560),
        [1, 10, 4, 16],
        ScaleBias=None,
    ),
    inputs=[(0, 0), (0, 1), (1, 1), (3, 1)],
    edges=[(0, 1, 0), (1, 2, 0), (2, 3, 0), (3, 4, 0)],
    output=4,
    names="query key mask value",
)
"""Attention of four heads under a mask."""

HALVED = graph(
    serialized(
        "stem",
        "CONVOLUTION",
        [1, 3, 64, 64],
        [16, 3, 7, 7],
        [1, 16, 1, 1],
        [1, 16, 32, 32],
        Strides=[2, 2],
        Padding=[3, 3],
    ),
    serialized(
        "pool", "MAX_POOLING", [1, 16, 32, 32], [1, 16, 16, 16], Strides=[2, 2], WindowSize=[3, 3], Padding=[1, 1]
    ),
    serialized(
        "up",
        "CONVOLUTION",
        [1, 16, 16, 16],
        [16, 8, 3, 3],
        None,
        [1, 8, 32, 32],
        Direction="BACKWARD",
        Strides=[2, 2],
        OutputPadding=[1, 1],
        Padding=[1, 1],
    ),
    inputs=[(0, 0), (0, 1), (0, 2), (2, 1)],
    edges=[(0, 1, 0), (1, 2, 0)],
    output=2,
)
"""The stem of a ResNet, and a transposed convolution."""

RANKED = dxdispatch(
    {
        "table": buffer(400),
        "tokens": buffer(6, "UINT32"),
        "words": buffer(48),
        "W": buffer(32),
        "b": buffer(4),
        "scores": buffer(24),
        "best": buffer(12),
        "places": buffer(12, "UINT32"),
    },
    dispatch(
        "lookup",
        "GATHER",
        "table tokens words",
        [1, 1, 50, 8],
        tensor("UINT32", 1, 1, 1, 6),
        [1, 1, 6, 8],
        Axis=2,
        IndexDimensions=1,
    ),
    dispatch(
        "dense",
        "GEMM",
        "words W b scores",
        [1, 1, 6, 8],
        [1, 1, 8, 4],
        f32(1, 1, 6, 4, Strides=[0, 0, 0, 1]),
        [1, 1, 6, 4],
        Beta=1,
    ),
    dispatch(
        "rank", "TOP_K", "scores best places", [1, 1, 6, 4], [1, 1, 6, 2], tensor("UINT32", 1, 1, 6, 2), Axis=3, K=2
    ),
)
"""An embedding, a classifier, and the best two classes of each word."""

KEYWORDS = native(
    {"frames": [1, 25, 1, 13]},
    {"lstm.w": [1, 1, 80, 13], "lstm.r": [1, 1, 80, 20], "lstm.b": [1, 1, 1, 160], "classes.w": [1, 1, 20, 6]},
    node("lstm", "LSTM", "frames lstm.w lstm.r lstm.b -> states", [25, 1, 1, 20]),
    node(
        "last",
        "SLICE1",
        "states -> last_state",
        [1, 1, 1, 20],
        InputWindowOffsets=[24, 0, 0, 0],
        InputWindowSizes=[1, 1, 1, 20],
        InputWindowStrides=[1, 1, 1, 1],
    ),
    node("classes", "GEMM", "last_state classes.w", [1, 1, 1, 6]),
    level="6_1",
)
"""Which of six words was spoken."""

PERCEPTRON = edit(
    graph(
        serialized(
            "up",
            "GEMM",
            [1, 1, 32, 64],
            [1, 1, 256, 64],
            f32(1, 1, 32, 256, Strides=[0, 0, 0, 1]),
            [1, 1, 32, 256],
            TransB="TRANSPOSE",
            Beta=1,
        ),
        serialized("gelu", "ACTIVATION_GELU", [1, 1, 32, 256], [1, 1, 32, 256]),
        serialized(
            "down",
            "GEMM",
            [1, 1, 32, 256],
            [1, 1, 256, 64],
            f32(1, 1, 32, 64, Strides=[0, 0, 0, 1]),
            [1, 1, 32, 64],
            Beta=1,
        ),
        serialized("residual", "ELEMENT_WISE_ADD", [1, 1, 32, 64], [1, 1, 32, 64], [1, 1, 32, 64]),
        inputs=[(0, 0), (0, 1), (0, 2), (2, 1), (3, 0), (2, 2)],
        edges=[(0, 1, 0), (1, 2, 0), (2, 3, 1)],
        output=3,
    ),
    {"InputEdges/4/GraphInputIndex": 0, "InputEdges/5/GraphInputIndex": 4},
).model
"""The feed-forward part of a transformer layer."""

CROPPED = native(
    {"x": [1, 3, 32, 32]},
    {"step": [1, 1, 1, 1], "zero": tensor("UINT8", 1, 1, 1, 1), "logo": [1, 1, 18, 18]},
    node(
        "crop",
        "SLICE1",
        "x -> cropped",
        [1, 3, 16, 16],
        InputWindowOffsets=[0, 0, 8, 8],
        InputWindowSizes=[1, 3, 16, 16],
        InputWindowStrides=[1, 1, 1, 1],
    ),
    node(
        "frame",
        "PADDING",
        "cropped -> framed",
        [1, 3, 18, 18],
        PaddingMode="CONSTANT",
        PaddingValue=0,
        Padding=[0, 0, 1, 1],
    ),
    node("stamp", "JOIN", "framed logo -> stamped", [1, 4, 18, 18], Axis=1),
    node("large", "RESAMPLE1", "stamped", [1, 4, 36, 36], Scales=[1, 1, 2, 2]),
    node("brightness", "REDUCE", "large", [1, 4, 1, 1], Function="AVERAGE", Axes=[2, 3]),
    node(
        "bytes",
        "ELEMENT_WISE_QUANTIZE_LINEAR",
        "brightness step zero -> y",
        tensor("UINT8", 1, 4, 1, 1),
        ScaleTensor=f32(1, 4, 1, 1, Strides=[0, 0, 0, 0]),
        ZeroPointTensor=tensor("UINT8", 1, 4, 1, 1, Strides=[0, 0, 0, 0]),
    ),
    level="6_1",
)
"""An image cropped, padded, joined with another one and enlarged; its brightness."""

QUANTIZED = dxdispatch(
    {"X": buffer(4), "Scale": buffer(1), "Zero": buffer(1, "UINT8"), "Y": buffer(4, "UINT8")},
    dispatch(
        "quantize",
        "ELEMENT_WISE_QUANTIZE_LINEAR",
        "X Scale Zero Y",
        [1, 1, 2, 2],
        f32(1, 1, 2, 2, Strides=[0, 0, 0, 0]),
        tensor("UINT8", 1, 1, 2, 2, Strides=[0, 0, 0, 0]),
        tensor("UINT8", 1, 1, 2, 2),
    ),
)
"""A quantization."""

PITCHED = dxdispatch(
    {"X": buffer(16), "Y": buffer(12)},
    dispatch(
        "pack",
        "ELEMENT_WISE_IDENTITY",
        "X Y",
        f32(1, 1, 4, 3, Strides=[16, 16, 4, 1], TotalTensorSizeInBytes=60),
        [1, 1, 4, 3],
    ),
)
"""Rows with gaps, packed."""
