"""Valid models that the cases edit."""

from __future__ import annotations

from tests.frontends.models import f32
from tests.newcomers.build import (
    activations,
    buffer,
    dispatchable,
    dxdispatch,
    edit,
    graph,
    native,
    node,
    serialized,
    tensor,
)

NETWORK = native(
    {"image": f32(1, 3, 32, 32)},
    {"filter": f32(8, 3, 5, 5), "bias": f32(1, 8, 1, 1), "dense": f32(1, 1, 2048, 10)},
    node(
        "conv",
        "CONVOLUTION",
        "image filter bias",
        "features",
        OutputTensor=f32(1, 8, 32, 32),
        FusedActivation={"type": "ACTIVATION_RELU"},
        Padding=[2, 2],
    ),
    node(
        "pool", "MAX_POOLING", "features", "pooled", OutputTensor=f32(1, 8, 16, 16), Strides=[2, 2], WindowSize=[2, 2]
    ),
    node("classify", "GEMM", "pooled dense", "scores", ATensor=f32(1, 1, 1, 2048), OutputTensor=f32(1, 1, 1, 10)),
    node("softmax", "ACTIVATION_SOFTMAX", "scores", "probabilities", OutputTensor=f32(1, 1, 1, 10)),
    outputs=["probabilities"],
)

GRAPH = graph(
    serialized("sum", "ELEMENT_WISE_ADD", [1, 3, 8, 8], [1, 3, 8, 8], [1, 3, 8, 8]),
    serialized("relu", "ACTIVATION_RELU", [1, 3, 8, 8], [1, 3, 8, 8]),
    inputs=[(0, 0), (0, 1)],
    edges=[(0, 1, 0)],
    output=1,
)

ADDITION = dxdispatch(
    {"A": buffer(16), "B": buffer(16), "Out": buffer(16)},
    {
        "add": (
            dispatchable("ELEMENT_WISE_ADD", [1, 1, 4, 4], [1, 1, 4, 4], [1, 1, 4, 4]),
            {"ATensor": "A", "BTensor": "B", "OutputTensor": "Out"},
        )
    },
    "Out",
)

MOBILE = native(
    {"x": f32(1, 3, 32, 32)},
    {
        "stem.w": f32(16, 3, 3, 3),
        "expand.w": f32(32, 16, 1, 1),
        "deep.w": f32(32, 1, 3, 3),
        "deep.b": f32(1, 32, 1, 1),
        "project.w": f32(16, 32, 1, 1),
        "head.w": f32(1, 1, 10, 16),
        "head.b": f32(1, 1, 1, 10),
    },
    node("stem", "CONVOLUTION", "x stem.w", OutputTensor=f32(1, 16, 16, 16), Strides=[2, 2], EndPadding=[1, 1]),
    node("expand", "CONVOLUTION", "stem expand.w", OutputTensor=f32(1, 32, 16, 16)),
    node("deep", "CONVOLUTION", "expand deep.w deep.b", OutputTensor=f32(1, 32, 16, 16), GroupCount=32, Padding=[1, 1]),
    node("project", "CONVOLUTION", "deep project.w", OutputTensor=f32(1, 16, 16, 16)),
    node("residual", "ELEMENT_WISE_ADD", "stem project", "sum"),
    node("mean", "AVERAGE_POOLING", "sum", OutputTensor=f32(1, 16, 1, 1), Strides=[1, 1], WindowSize=[16, 16]),
    node(
        "head",
        "GEMM",
        "mean head.w head.b",
        "y",
        ATensor=f32(1, 1, 1, 16),
        OutputTensor=f32(1, 1, 1, 10),
        TransB="TRANSPOSE",
        Beta=1,
    ),
    outputs=["y"],
)

UNET = native(
    {"x": f32(1, 1, 32, 32)},
    {"encode.w": f32(8, 1, 3, 3), "middle.w": f32(16, 8, 3, 3), "decode.w": f32(1, 24, 1, 1)},
    node("encode", "CONVOLUTION", "x encode.w", OutputTensor=f32(1, 8, 32, 32), Padding=[1, 1]),
    node("pool", "MAX_POOLING", "encode", OutputTensor=f32(1, 8, 16, 16), Strides=[2, 2], WindowSize=[2, 2]),
    node("middle", "CONVOLUTION", "pool middle.w", OutputTensor=f32(1, 16, 16, 16), Padding=[1, 1]),
    node(
        "up",
        "RESAMPLE",
        "middle",
        OutputTensor=f32(1, 16, 32, 32),
        InterpolationMode="NEAREST_NEIGHBOR",
        Scales=[1, 1, 2, 2],
    ),
    node("join", "JOIN", "up encode", OutputTensor=f32(1, 24, 32, 32), Axis=1),
    node("decode", "CONVOLUTION", "join decode.w", OutputTensor=f32(1, 1, 32, 32)),
    outputs=["decode"],
)

SENTENCE = native(
    {"tokens": tensor("UINT32", 1, 1, 1, 16)},
    {"table": f32(1, 1, 1000, 64), "query.w": f32(1, 1, 64, 64), "key.w": f32(1, 1, 64, 64)},
    node("embed", "GATHER", "table tokens", "words", OutputTensor=f32(1, 1, 16, 64), Axis=2, IndexDimensions=1),
    node("query", "GEMM", "words query.w", OutputTensor=f32(1, 1, 16, 64)),
    node("key", "GEMM", "words key.w", OutputTensor=f32(1, 1, 16, 64)),
    node("scores", "GEMM", "query key", OutputTensor=f32(1, 1, 16, 16), TransB="TRANSPOSE"),
    node("softmax", "ACTIVATION_SOFTMAX", "scores", "weights", OutputTensor=f32(1, 1, 16, 16)),
    node("mix", "GEMM", "weights words", OutputTensor=f32(1, 1, 16, 64)),
    node("mean", "REDUCE", "mix", "y", Function="AVERAGE", OutputTensor=f32(1, 1, 1, 64), Axes=[2]),
    outputs=["y"],
)

BYTES = native(
    {"x": tensor("UINT8", 1, 3, 16, 16)},
    {
        "w": tensor("INT8", 8, 3, 3, 3),
        "b": tensor("INT32", 1, 8, 1, 1),
        "x.s": f32(1, 1, 1, 1),
        "x.z": tensor("UINT8", 1, 1, 1, 1),
        "w.s": f32(1, 1, 1, 1),
        "w.z": tensor("INT8", 1, 1, 1, 1),
        "y.s": f32(1, 1, 1, 1),
        "y.z": tensor("UINT8", 1, 1, 1, 1),
    },
    node(
        "conv",
        "QUANTIZED_LINEAR_CONVOLUTION",
        "x x.s x.z w w.s w.z b y.s y.z",
        "q",
        OutputTensor=tensor("UINT8", 1, 8, 16, 16),
    ),
    node(
        "real",
        "ELEMENT_WISE_DEQUANTIZE_LINEAR",
        "q y.s y.z",
        "y",
        ScaleTensor=f32(1, 8, 16, 16, Strides=[0, 0, 0, 0]),
        ZeroPointTensor=tensor("UINT8", 1, 8, 16, 16, Strides=[0, 0, 0, 0]),
        OutputTensor=f32(1, 8, 16, 16),
    ),
    outputs=["y"],
)

SPEECH = native(
    {"frames": f32(1, 20, 1, 40)},
    {
        "w": f32(1, 1, 96, 40),
        "r": f32(1, 1, 96, 32),
        "b": f32(1, 1, 1, 192),
        "h": f32(1, 1, 1, 32),
        "letters": f32(1, 1, 32, 30),
    },
    node("gru", "GRU", "frames w r b h", "states", OutputSequenceTensor=f32(20, 1, 1, 32)),
    node("letters", "GEMM", "states letters", "scores", ATensor=f32(1, 1, 20, 32), OutputTensor=f32(1, 1, 20, 30)),
    node(
        "best",
        "ARGMAX",
        "scores",
        "y",
        OutputTensor=tensor("UINT32", 1, 1, 20, 1),
        Axes=[3],
        AxisDirection="INCREASING",
    ),
    outputs=["y"],
)

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

DISPATCHED = dxdispatch(
    {"X": buffer(192), "W": buffer(108), "Y": buffer(256)},
    {
        "conv": (
            dispatchable(
                "CONVOLUTION", [1, 3, 8, 8], [4, 3, 3, 3], None, [1, 4, 8, 8], DimensionCount=2, Padding=[1, 1]
            ),
            {"InputTensor": "X", "FilterTensor": "W", "OutputTensor": "Y"},
        )
    },
    "Y",
)

AUTOENCODER = native(
    {"x": f32(1, 3, 32, 32)},
    {
        "down.w": f32(8, 3, 2, 2),
        "up.w": f32(8, 4, 2, 2),
        "mean": f32(1, 4, 1, 1),
        "variance": f32(1, 4, 1, 1),
        "scale": f32(1, 4, 1, 1),
        "shift": f32(1, 4, 1, 1),
    },
    node("down", "CONVOLUTION", "x down.w", OutputTensor=f32(1, 8, 16, 16), Strides=[2, 2]),
    node("up", "CONVOLUTION", "down up.w", OutputTensor=f32(1, 4, 32, 32), Direction="BACKWARD", Strides=[2, 2]),
    node("norm", "BATCH_NORMALIZATION", "up mean variance scale shift", OutputTensor=f32(1, 4, 32, 32)),
    node("halves", "SPLIT", "norm", "a b", OutputTensors=[f32(1, 2, 32, 32), f32(1, 2, 32, 32)], Axis=1),
    outputs=["a", "b"],
)

BEST = native(
    {"scores": f32(1, 1, 8, 100)},
    {},
    node("softmax", "ACTIVATION_SOFTMAX", "scores", "likely"),
    node(
        "best",
        "TOP_K",
        "likely",
        "values places",
        OutputValueTensor=f32(1, 1, 8, 5),
        OutputIndexTensor=tensor("UINT32", 1, 1, 8, 5),
        Axis=3,
        K=5,
    ),
    outputs=["values", "places"],
)

ENLARGER = native(
    {"x": f32(1, 1, 24, 24)},
    {"first.w": f32(16, 1, 5, 5), "slope": f32(1, 16, 1, 1), "second.w": f32(9, 16, 3, 3)},
    node("first", "CONVOLUTION", "x first.w", OutputTensor=f32(1, 16, 24, 24), Padding=[2, 2]),
    node(
        "prelu",
        "ACTIVATION_PARAMETERIZED_RELU",
        "first slope",
        SlopeTensor=f32(1, 16, 24, 24, Strides=[0, 1, 0, 0]),
        OutputTensor=f32(1, 16, 24, 24),
    ),
    node("second", "CONVOLUTION", "prelu second.w", OutputTensor=f32(1, 9, 24, 24), Padding=[1, 1]),
    node("shuffle", "DEPTH_TO_SPACE1", "second", OutputTensor=f32(1, 1, 72, 72), BlockSize=3, Order="COLUMN_ROW_DEPTH"),
    node("clip", "ELEMENT_WISE_CLIP", "shuffle", "y", OutputTensor=f32(1, 1, 72, 72), Min=0, Max=1),
    outputs=["y"],
    level="6_1",
)

DETECTOR = native(
    {"features": f32(1, 64, 16, 16), "regions": f32(1, 1, 10, 4), "pictures": tensor("UINT32", 1, 1, 1, 10)},
    {"head.w": f32(1, 1, 3136, 100)},
    node(
        "align",
        "ROI_ALIGN1",
        "features regions pictures",
        OutputTensor=f32(10, 64, 7, 7),
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
    node("head", "GEMM", "align head.w", ATensor=f32(1, 1, 10, 3136), OutputTensor=f32(1, 1, 10, 100)),
    node("parts", "SPLIT", "head", "scores boxes", OutputTensors=[f32(1, 1, 10, 20), f32(1, 1, 10, 80)], Axis=3),
    node("softmax", "ACTIVATION_SOFTMAX1", "scores", "likely", OutputTensor=f32(1, 1, 10, 20), Axes=[3]),
    outputs=["likely", "boxes"],
    level="6_1",
)

DECODER = native(
    {"words": f32(1, 16, 64)},
    {"gain": f32(1, 1, 64), "shift": f32(1, 1, 64)},
    node(
        "norm",
        "MEAN_VARIANCE_NORMALIZATION1",
        "words gain shift",
        ScaleTensor=f32(1, 16, 64, Strides=[0, 0, 1]),
        BiasTensor=f32(1, 16, 64, Strides=[0, 0, 1]),
        OutputTensor=f32(1, 16, 64),
        Axes=[2],
    ),
    node("attention", "MULTIHEAD_ATTENTION", "norm norm norm", OutputTensor=f32(1, 16, 64), HeadCount=4),
    node("residual", "ELEMENT_WISE_ADD", "words attention", "y", OutputTensor=f32(1, 16, 64)),
    outputs=["y"],
    level="6_1",
)

TAGGER = native(
    {"words": f32(1, 12, 2, 24), "lengths": tensor("UINT32", 1, 1, 1, 2)},
    {
        "w": f32(1, 2, 64, 24),
        "r": f32(1, 2, 64, 16),
        "b": f32(1, 1, 2, 128),
        "h": f32(1, 2, 2, 16),
        "c": f32(1, 2, 2, 16),
    },
    node(
        "lstm",
        "LSTM",
        "words w r b h c lengths",
        "states",
        OutputSequenceTensor=f32(12, 2, 2, 16),
        ActivationDescs=2 * activations("SIGMOID", "TANH", "TANH"),
        Direction="BIDIRECTIONAL",
    ),
    outputs=["states"],
    level="6_1",
)

SOUND = native(
    {"sound": f32(1, 1, 1, 400)},
    {"waves.w": f32(16, 1, 1, 32)},
    node(
        "mirror",
        "PADDING",
        "sound",
        OutputTensor=f32(1, 1, 1, 416),
        PaddingMode="REFLECTION",
        PaddingValue=0,
        Padding=[0, 0, 0, 8],
    ),
    node("waves", "CONVOLUTION", "mirror waves.w", OutputTensor=f32(1, 16, 1, 25), Strides=[1, 16]),
    node("power", "ELEMENT_WISE_CONSTANT_POW", "waves", OutputTensor=f32(1, 16, 1, 25), Exponent=2),
    node(
        "sum",
        "CUMULATIVE_SUMMATION",
        "power",
        "y",
        OutputTensor=f32(1, 16, 1, 25),
        Axis=3,
        AxisDirection="INCREASING",
        HasExclusiveSum=False,
    ),
    outputs=["y"],
    level="6_1",
)

SMALL_NUMBERS = native(
    {"x": f32(1, 1, 8, 64)},
    {"w": tensor("INT8", 1, 1, 64, 32)},
    node(
        "bytes",
        "DYNAMIC_QUANTIZE_LINEAR",
        "x",
        "q s z",
        OutputTensor=tensor("UINT8", 1, 1, 8, 64),
        OutputScaleTensor=f32(1, 1, 1, 1),
        OutputZeroPointTensor=tensor("UINT8", 1, 1, 1, 1),
    ),
    node("product", "MATRIX_MULTIPLY_INTEGER", "q z w", "sums", OutputTensor=tensor("INT32", 1, 1, 8, 32)),
    node("cast", "CAST", "sums", "reals", OutputTensor=f32(1, 1, 8, 32)),
    node(
        "scaled",
        "ELEMENT_WISE_MULTIPLY",
        "reals s",
        "y",
        BTensor=f32(1, 1, 8, 32, Strides=[0, 0, 0, 0]),
        OutputTensor=f32(1, 1, 8, 32),
    ),
    outputs=["y"],
    level="6_1",
)

MAP = native(
    {"classes": tensor("UINT32", 1, 1, 8, 8)},
    {"off_on": f32(1, 1, 1, 2)},
    node("one of five", "ONE_HOT", "classes off_on", "planes", OutputTensor=f32(1, 5, 8, 8), Axis=1),
    node("larger", "RESAMPLE1", "planes", "large", OutputTensor=f32(1, 5, 16, 16), Scales=[1, 1, 2, 2]),
    node(
        "columns",
        "FILL_VALUE_SEQUENCE",
        "",
        OutputTensor=f32(1, 1, 1, 16),
        ValueDataType="FLOAT32",
        ValueStart=0,
        ValueDelta=1,
    ),
    node(
        "moved",
        "ELEMENT_WISE_MULTIPLY",
        "large columns",
        "y",
        BTensor=f32(1, 5, 16, 16, Strides=[0, 0, 0, 1]),
        OutputTensor=f32(1, 5, 16, 16),
    ),
    outputs=["y"],
    level="6_1",
)

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

JOINED = dxdispatch(
    {"A": buffer(32), "B": buffer(16), "AB": buffer(48), "Y": buffer(108)},
    {
        "join": (
            dispatchable("JOIN", [f32(1, 2, 4, 4), f32(1, 1, 4, 4)], [1, 3, 4, 4], InputCount=2, Axis=1),
            {"InputTensors": ["A", "B"], "OutputTensor": "AB"},
        ),
        "pad": (
            dispatchable(
                "PADDING",
                [1, 3, 4, 4],
                [1, 3, 6, 6],
                PaddingMode="EDGE",
                PaddingValue=0,
                DimensionCount=4,
                Padding=[0, 0, 1, 1],
            ),
            {"InputTensor": "AB", "OutputTensor": "Y"},
        ),
    },
    "Y",
)

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

RANKED = dxdispatch(
    {
        "table": buffer(400),
        "tokens": {"initialValuesDataType": "UINT32", "initialValues": [3, 1, 4, 1, 5, 9]},
        "words": buffer(48),
        "W": buffer(32),
        "b": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 4]},
        "scores": buffer(24),
        "best": buffer(12),
        "places": buffer(12, "UINT32"),
    },
    {
        "lookup": (
            dispatchable(
                "GATHER", [1, 1, 50, 8], tensor("UINT32", 1, 1, 1, 6), [1, 1, 6, 8], Axis=2, IndexDimensions=1
            ),
            {"InputTensor": "table", "IndicesTensor": "tokens", "OutputTensor": "words"},
        ),
        "dense": (
            dispatchable(
                "GEMM", [1, 1, 6, 8], [1, 1, 8, 4], f32(1, 1, 6, 4, Strides=[0, 0, 0, 1]), [1, 1, 6, 4], Beta=1
            ),
            {"ATensor": "words", "BTensor": "W", "CTensor": "b", "OutputTensor": "scores"},
        ),
        "rank": (
            dispatchable("TOP_K", [1, 1, 6, 4], [1, 1, 6, 2], tensor("UINT32", 1, 1, 6, 2), Axis=3, K=2),
            {"InputTensor": "scores", "OutputValueTensor": "best", "OutputIndexTensor": "places"},
        ),
    },
    "places",
)

KEYWORDS = native(
    {"frames": f32(1, 25, 1, 13)},
    {
        "lstm.w": f32(1, 1, 80, 13),
        "lstm.r": f32(1, 1, 80, 20),
        "lstm.b": f32(1, 1, 1, 160),
        "classes.w": f32(1, 1, 20, 6),
    },
    node("lstm", "LSTM", "frames lstm.w lstm.r lstm.b", "states", OutputSequenceTensor=f32(25, 1, 1, 20)),
    node(
        "last",
        "SLICE1",
        "states",
        "last_state",
        OutputTensor=f32(1, 1, 1, 20),
        InputWindowOffsets=[24, 0, 0, 0],
        InputWindowSizes=[1, 1, 1, 20],
        InputWindowStrides=[1, 1, 1, 1],
    ),
    node("classes", "GEMM", "last_state classes.w", OutputTensor=f32(1, 1, 1, 6)),
    outputs=["classes"],
    level="6_1",
)

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

CROPPED = native(
    {"x": f32(1, 3, 32, 32)},
    {"step": f32(1, 1, 1, 1), "zero": tensor("UINT8", 1, 1, 1, 1), "logo": f32(1, 1, 18, 18)},
    node(
        "crop",
        "SLICE1",
        "x",
        "cropped",
        OutputTensor=f32(1, 3, 16, 16),
        InputWindowOffsets=[0, 0, 8, 8],
        InputWindowSizes=[1, 3, 16, 16],
        InputWindowStrides=[1, 1, 1, 1],
    ),
    node(
        "frame",
        "PADDING",
        "cropped",
        "framed",
        OutputTensor=f32(1, 3, 18, 18),
        PaddingMode="CONSTANT",
        PaddingValue=0,
        Padding=[0, 0, 1, 1],
    ),
    node("stamp", "JOIN", "framed logo", "stamped", OutputTensor=f32(1, 4, 18, 18), Axis=1),
    node("large", "RESAMPLE1", "stamped", OutputTensor=f32(1, 4, 36, 36), Scales=[1, 1, 2, 2]),
    node("brightness", "REDUCE", "large", Function="AVERAGE", OutputTensor=f32(1, 4, 1, 1), Axes=[2, 3]),
    node(
        "bytes",
        "ELEMENT_WISE_QUANTIZE_LINEAR",
        "brightness step zero",
        "y",
        ScaleTensor=f32(1, 4, 1, 1, Strides=[0, 0, 0, 0]),
        ZeroPointTensor=tensor("UINT8", 1, 4, 1, 1, Strides=[0, 0, 0, 0]),
        OutputTensor=tensor("UINT8", 1, 4, 1, 1),
    ),
    outputs=["y"],
    level="6_1",
)

QUANTIZED = dxdispatch(
    {"X": buffer(4), "Scale": buffer(1), "Zero": buffer(1, "UINT8"), "Y": buffer(4, "UINT8")},
    {
        "quantize": (
            dispatchable(
                "ELEMENT_WISE_QUANTIZE_LINEAR",
                [1, 1, 2, 2],
                f32(1, 1, 2, 2, Strides=[0, 0, 0, 0]),
                tensor("UINT8", 1, 1, 2, 2, Strides=[0, 0, 0, 0]),
                tensor("UINT8", 1, 1, 2, 2),
            ),
            {"InputTensor": "X", "ScaleTensor": "Scale", "ZeroPointTensor": "Zero", "OutputTensor": "Y"},
        )
    },
    "Y",
)

PITCHED = dxdispatch(
    {"X": buffer(16), "Y": buffer(12)},
    {
        "pack": (
            dispatchable(
                "ELEMENT_WISE_IDENTITY",
                f32(1, 1, 4, 3, Strides=[16, 16, 4, 1], TotalTensorSizeInBytes=60),
                [1, 1, 4, 3],
            ),
            {"InputTensor": "X", "OutputTensor": "Y"},
        )
    },
    "Y",
)
