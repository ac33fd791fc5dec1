"""Members, values and feature levels of the native format."""

from __future__ import annotations

from tests.frontends.models import REMOVE, f32
from tests.newcomers.build import HERE, Renamed, activations, case, edit, one, tensor
from tests.newcomers.networks import MAP, NETWORK, SOUND, TAGGER

MEMBERS = (
    case(
        "CAST: DataType as a field",
        one("CAST", [1, 4, 8, 8], DataType="FLOAT16"),
        ["it is a member of tensor descriptors", r'"OutputTensor": \{"DataType": "FLOAT16"\}'],
        "nodes/node/desc",
    ),
    case(
        "CAST: to, as in ONNX",
        one("CAST", [1, 4, 8, 8], to="FLOAT16"),
        ["DataType is a member of tensor descriptors", r'"OutputTensor": \{"DataType": "FLOAT16"\}'],
        "nodes/node/desc",
    ),
    case(
        "CUMULATIVE_SUMMATION: exclusive, as in ONNX",
        one("CUMULATIVE_SUMMATION", [1, 1, 4, 4], Axis=3, AxisDirection="INCREASING", exclusive=True),
        ['"?exclusive"?', 'did you mean "HasExclusiveSum"'],
        "nodes/node/desc",
    ),
    case(
        "DIAGONAL_MATRIX: Value missing",
        one("DIAGONAL_MATRIX", [1, 1, 4, 4], Offset=0),
        [r"\bValue\b", "missing", "number"],
        "nodes/node/desc",
    ),
    case(
        "LRN: K, as in PyTorch",
        one(
            "LOCAL_RESPONSE_NORMALIZATION",
            [1, 4, 8, 8],
            [1, 4, 8, 8],
            CrossChannel=True,
            LocalSize=5,
            Alpha=0.0001,
            Beta=0.75,
            K=1,
        ),
        ['"K"', 'did you mean "Bias"'],
        "node/K",
    ),
    case(
        "constant power: exponent as a tensor",
        edit(
            SOUND,
            {
                "constants/two": f32(1, 1, 1, 1, fill=2),
                "nodes/power/inputs/ExponentTensor": "two",
                "nodes/power/inputs": HERE,
            },
        ),
        ["ExponentTensor", r"ELEMENT_WISE_POW|Exponent\b"],
    ),
    case(
        "convolution: filter not connected",
        edit(NETWORK, {"nodes/conv/inputs/FilterTensor": REMOVE}),
        ["FilterTensor", '"conv"', '"filter"'],
    ),
    case(
        "field misspelt",
        edit(NETWORK, {"pool/WindowSize": Renamed("WindowsSize")}),
        ["did you mean.*WindowSize"],
        never=("missing",),
        fixed=True,
    ),
    case(
        "node: Input instead of InputTensor",
        edit(NETWORK, {"nodes/pool/inputs/InputTensor": Renamed("Input")}),
        ["did you mean.*InputTensor", '"pool"'],
        never=("missing",),
        fixed=True,
    ),
    case(
        "node: InputTensor instead of ATensor",
        edit(one("ELEMENT_WISE_ADD", [4], [4]), {"nodes/node/inputs/ATensor": Renamed("InputTensor")}),
        ['did you mean "ATensor"'],
        fixed=True,
    ),
    case(
        "node: all tensors without the suffix Tensor",
        edit(
            one("ELEMENT_WISE_ADD", [1, 3, 8, 8], [1, 3, 8, 8]),
            {
                "nodes/node/inputs/ATensor": Renamed("A"),
                "nodes/node/inputs/BTensor": Renamed("B"),
                "nodes/node/outputs/OutputTensor": Renamed("Output"),
                "nodes/node/outputs": HERE,
            },
        ),
        ['mean "ATensor"', 'mean "BTensor"', 'mean "OutputTensor"'],
        never=("is missing",),
        findings=3,
        fixed=True,
    ),
    case(
        "node: input instead of inputs",
        edit(NETWORK, {"nodes/pool/inputs": Renamed("input")}),
        ['did you mean.*"?inputs"?', '"pool"'],
        fixed=True,
    ),
    case(
        "node: inputs as a list",
        edit(NETWORK, {"nodes/pool/inputs": ["features"]}),
        [r'\{"InputTensor": "features"\}', '"pool"'],
    ),
    case(
        "operator abbreviated",
        edit(NETWORK, {"nodes/conv/type": "Conv"}),
        ["did you mean.*CONVOLUTION"],
        never=("unknown field|Mode",),
    ),
    case(
        "operator by its ONNX name",
        edit(NETWORK, {"nodes/softmax/type": "Softmax"}),
        ["did you mean.*ACTIVATION_SOFTMAX"],
    ),
    case("outputs as a string", edit(NETWORK, {"outputs": "probabilities"}), [r'\["probabilities"\]'], fixed=True),
    case(
        "pooling with FusedActivation",
        one(
            "MAX_POOLING",
            [1, 4, 8, 8],
            [1, 4, 4, 4],
            Strides=[2, 2],
            WindowSize=[2, 2],
            FusedActivation={"type": "ACTIVATION_RELU"},
        ),
        ["FusedActivation", "MAX_POOLING", "help:.*ACTIVATION_RELU"],
        "node/FusedActivation",
    ),
    case(
        "pooling: WindowSize missing",
        edit(NETWORK, {"pool/WindowSize": REMOVE}),
        ["WindowSize", '"pool"', "missing|needs|required"],
    ),
    case("pooling: field of a later version", edit(NETWORK, {"pool/Dilations": [2, 2]}), ["MAX_POOLING2", "Dilations"]),
    case(
        "pooling: kernel_shape, as in ONNX",
        one("AVERAGE_POOLING", [1, 4, 8, 8], Strides=[2, 2], kernel_shape=[2, 2]),
        ['did you mean "WindowSize"'],
        "nodes/node/desc",
        fixed=True,
    ),
    case(
        "pooling: pads, as in ONNX",
        edit(
            one("MAX_POOLING", [1, 4, 8, 8], Strides=[2, 2], WindowSize=[3, 3], pads=[1, 0, 1, 1]),
            {"node/StartPadding": REMOVE, "node/EndPadding": REMOVE},
        ),
        [r'"StartPadding": \[1, 0\], "EndPadding": \[1, 1\]'],
        fixed=True,
    ),
    case(
        "shape instead of Sizes",
        one(
            "PADDING",
            {"DataType": "FLOAT32", "shape": [1, 3, 8, 8]},
            [1, 3, 10, 10],
            PaddingMode="CONSTANT",
            PaddingValue=0,
            Padding=[0, 0, 1, 1],
        ),
        ['did you mean "Sizes"'],
        "inputs/InputTensor",
        never=("Sizes is missing",),
        fixed=True,
    ),
    case(
        "softmax: Axis instead of Axes",
        one("ACTIVATION_SOFTMAX1", [1, 4, 8, 8], Axis=3),
        [r'"Axes": \[3\]'],
        "nodes/node/desc",
        never=("is missing",),
        fixed=True,
    ),
)

VALUES = (
    case(
        "3-D convolution: strides of two dimensions",
        one(
            "CONVOLUTION",
            [1, 2, 8, 16, 16],
            [4, 2, 3, 3, 3],
            OutputTensor=f32(1, 4, 8, 16, 16),
            Dilations=[1, 1, 1],
            OutputPadding=[0, 0, 0],
            Padding=[1, 1, 1],
        ),
        ["Strides", r"\b2\b", r"\b3\b", r"(help|or):.*\[1, 1, 1\]"],
        "node/Strides",
    ),
    case(
        "CUMULATIVE_SUMMATION: AxisDirection FORWARD",
        edit(SOUND, {"sum/AxisDirection": "FORWARD"}),
        ["AxisDirection", "FORWARD", "INCREASING"],
    ),
    case(
        "FILL_VALUE_SEQUENCE: INT32 for FLOAT32",
        edit(MAP, {"columns/ValueDataType": "INT32"}),
        ["ValueDataType", r"\bINT32", "(help|or): ValueDataType FLOAT32"],
    ),
    case(
        "GRU: one activation",
        one(
            "GRU",
            [1, 6, 2, 10],
            [1, 1, 48, 10],
            [1, 1, 48, 16],
            OutputSequenceTensor=f32(6, 1, 2, 16),
            ActivationDescs=activations("SIGMOID"),
        ),
        ["ActivationDescs?", r"\b2\b", r"\b1\b", "help:.*TANH"],
        "node/ActivationDescs",
    ),
    case(
        "JOIN: axis -3",
        one("JOIN", [f32(1, 3, 8, 8), f32(1, 3, 8, 8)], Axis=-3),
        ["where that is 1 of 4"],
        "node/Axis",
        fixed=True,
    ),
    case(
        "LSTM: activations of one direction for both",
        edit(TAGGER, {"lstm/ActivationDescs": activations("SIGMOID", "TANH", "TANH")}),
        ["ActivationDescs", r"\b3\b", r"\b6\b", "BIDIRECTIONAL"],
    ),
    case(
        "PADDING: two dimensions",
        one("PADDING", [1, 3, 8, 8], [1, 3, 10, 10], PaddingMode="CONSTANT", PaddingValue=0, Padding=[1, 1]),
        [r"StartPadding \[0, 0, 1, 1\] and EndPadding \[0, 0, 1, 1\]"],
        "node/StartPadding",
        fixed=True,
    ),
    case(
        "REDUCE: axis -1 and an output without it",
        one("REDUCE", [2, 1024], [2], Function="SUM", Axes=[-1]),
        ["where that is 1 of 2", "needs? one dimension count|need one dimension count"],
        "node/Axes",
        findings=2,
        fixed=True,
    ),
    case(
        "RESAMPLE1: scales of two dimensions",
        one("RESAMPLE1", [1, 3, 8, 8], [1, 3, 16, 16], Scales=[2, 2]),
        ["4 elements, one for each dimension", r"\[1, 1, "],
        "node/Scales",
    ),
    case(
        "RESAMPLE: scales of two dimensions",
        one("RESAMPLE", [1, 3, 8, 8], [1, 3, 16, 16], InterpolationMode="LINEAR", Scales=[2, 2]),
        [r"Scales \[1, 1, 2, 2\], one for each dimension"],
        "node/Scales",
        fixed=True,
    ),
    case(
        "VALUE_SCALE_2D: one bias for three channels",
        one("VALUE_SCALE_2D", [1, 3, 8, 8], [1, 3, 8, 8], Scale=0.00392, ChannelCount=3, Bias=[-0.5]),
        ["Bias", r"\b3\b", r"\b1\b", r"(help|or):.*\[-0\.5, -0\.5, -0\.5\]"],
        "node/Bias",
    ),
    case(
        "data type BFLOAT16", edit(NETWORK, {"inputs/image/DataType": "BFLOAT16"}), ["BFLOAT16", "FLOAT16", "FLOAT32"]
    ),
    case(
        "data type FLOAT, as in ONNX",
        edit(NETWORK, {"inputs/image/DataType": "FLOAT"}),
        ["did you mean.*FLOAT32", '"FLOAT"'],
    ),
    case(
        "data type in lower case, as in numpy",
        edit(NETWORK, {"inputs/image/DataType": "float32"}),
        ["did you mean.*FLOAT32", "float32"],
        fixed=True,
    ),
    case(
        "data type with two letters swapped",
        one("ACTIVATION_RELU", tensor("FLAOT32", 1, 4, 8, 8)),
        ["FLAOT32", 'did you mean "FLOAT32"'],
        "inputs/InputTensor",
        fixed=True,
    ),
    case(
        "enumerator misspelt",
        edit(NETWORK, {"conv/Mode": "CROSS_CORELATION"}),
        ["did you mean.*CROSS_CORRELATION", '"Mode": "CROSS_CORELATION"|/Mode'],
        fixed=True,
    ),
    case("fractional stride", edit(NETWORK, {"pool/Strides": [2, 1.5]}), ["Strides", r"1\.5", "whole|integer|UINT"]),
    case(
        "fused activation as a string",
        edit(NETWORK, {"conv/FusedActivation": "RELU"}),
        [r'\{"type": "ACTIVATION_RELU"\}|\{"type": "RELU"\}', "FusedActivation"],
    ),
    case(
        "interpolation BILINEAR, as in PyTorch",
        edit(MAP, {"larger/InterpolationMode": "BILINEAR"}),
        ["InterpolationMode", "BILINEAR", r"\bLINEAR", r"(help|or|mean|expected):?.*\bLINEAR\b"],
    ),
    case("negative padding", edit(NETWORK, {"conv/StartPadding": [-2, 2]}), ["StartPadding", "-2"]),
    case(
        "negative stride, as in a numpy view",
        one("ACTIVATION_RELU", [1, 4, 8, 8], InputTensor=f32(1, 4, 8, 8, Strides=[256, 64, 8, -1])),
        ["-1", "SLICE1", "InputWindowStrides"],
        "node/InputTensor",
    ),
    case(
        "normalization: one axis too many",
        one("MEAN_VARIANCE_NORMALIZATION1", [1, 4, 8, 8], None, None, [1, 4, 8, 8], Axes=[2, 3, 4]),
        ["Axes", r"\b4\b", r"(help|or): Axes (\[2, 3\]|\[1, 2, 3\])"],
        "node/Axes",
    ),
    case(
        "pooling: window as one number",
        edit(NETWORK, {"pool/WindowSize": 2}),
        ["WindowSize", r"(help|or):.*\[2, 2\]"],
        fixed=True,
    ),
    case(
        "quoted boolean",
        one("AVERAGE_POOLING", [1, 4, 8, 8], [1, 4, 4, 4], Strides=[2, 2], WindowSize=[2, 2], IncludePadding="false"),
        ["IncludePadding", '"false"', "(help|or):.*false"],
        "node/IncludePadding",
        fixed=True,
    ),
    case(
        "reduction called MEAN",
        one("REDUCE", [1, 4, 8, 8], [1, 4, 1, 1], Function="DML_REDUCE_FUNCTION_MEAN", Axes=[2, 3]),
        ['did you mean "AVERAGE"'],
        "node/Function",
        fixed=True,
    ),
    case(
        "sizes in quotes",
        edit(NETWORK, {"inputs/image/Sizes": [1, 3, "32", "32"]}),
        [r"\[1, 3, 32, 32\]", '"32"'],
        fixed=True,
    ),
    case(
        "sizes of -1",
        edit(NETWORK, {"pool/OutputTensor/Sizes": [-1, -1, -1, -1]}),
        ["-1", "infer", r"\[1, 8, 16, 16\]"],
        fixed=True,
    ),
    case(
        "softmax over axis -1",
        one("ACTIVATION_SOFTMAX1", [1, 1, 16, 10], [1, 1, 16, 10], Axes=[-1]),
        ["Axes", "-1", r"help:.*\b3\b"],
        "node/Axes",
    ),
    case(
        "softmax: axis out of range",
        edit(NETWORK, {"softmax/Axes": [4], "nodes/softmax/type": "ACTIVATION_SOFTMAX1", "feature_level": "5_1"}),
        ["Axes", r"\b4\b", r"\b3\b"],
    ),
)

LEVELS = (
    case(
        "GRU: initial state of three dimensions, as in PyTorch",
        one("GRU", [1, 6, 2, 10], [1, 1, 48, 10], [1, 1, 48, 16], None, [1, 2, 16], None, [6, 1, 2, 16]),
        ["HiddenInitTensor", r"help:.*\[1, 1, 2, 16\]"],
        "nodes/node/inputs",
    ),
    case(
        "activation that cannot be fused",
        edit(NETWORK, {"conv/FusedActivation/type": "ACTIVATION_SOFTMAX"}),
        ["SOFTMAX", "FusedActivation", "node of its own|own node|separate node"],
    ),
    case("feature level that does not exist", edit(NETWORK, {"feature_level": "7_0"}), ["7_0", "6_4"]),
    case(
        "operator newer than the feature level",
        edit(NETWORK, {"nodes/softmax/type": "ACTIVATION_GELU"}),
        ["5_1", "5_0", r"Windows|Microsoft\.AI\.DirectML", "GELU"],
    ),
    case(
        "three dimensions below feature level 3_0",
        edit(
            one("REDUCE", [1, 16, 64], [1, 1, 64], name="mean", Function="AVERAGE", Axes=[1]),
            {"feature_level": "2_0", "nodes/mean/inputs": HERE},
        ),
        ['"mean"', "2_0", "3_0", r"\b4\b|leading|\[1, 1, 16, 64\]"],
    ),
)
