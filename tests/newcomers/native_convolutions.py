"""Sizes of convolutions, pooling, normalization and resampling in the native format."""

from __future__ import annotations

from tests.frontends.models import f32
from tests.newcomers.build import HERE, THERE, case, edit, one, tensor
from tests.newcomers.networks import AUTOENCODER, BYTES, ENLARGER, MOBILE, NETWORK, SOUND, UNET

CONVOLUTIONS = (
    case(
        "batch of 4 in the input only",
        edit(MOBILE, {"inputs/x/Sizes": [4, 3, 32, 32], "stem/OutputTensor": HERE}),
        ['"stem"', r"\b4\b", r"(help|or):.*(\[4, 16, 16, 16\]|\[1, 3, 32, 32\])"],
    ),
    case(
        "convolution: GroupCount does not divide the channels",
        edit(NETWORK, {"conv/GroupCount": 3}),
        ["GroupCount|group", r"\b3\b", r"\b8\b"],
    ),
    case(
        "convolution: GroupCount does not divide the filters",
        one("CONVOLUTION", [1, 3, 32, 32], [8, 3, 3, 3], None, [1, 8, 32, 32], GroupCount=3, Padding=[1, 1]),
        [r"GroupCount 1\b"],
        "nodes/node/inputs",
        never=(r"FilterTensor of sizes \[8, 1",),
    ),
    case(
        "convolution: ONNX pads read as pairs",
        edit(MOBILE, {"stem/StartPadding": [0, 1], "stem/EndPadding": [0, 1], "stem/OutputTensor": HERE}),
        ['"stem"', "OutputTensor", r"(help|or):.*(StartPadding|EndPadding) \[1, 1\]"],
    ),
    case(
        "convolution: bias in the last dimension",
        edit(MOBILE, {"constants/deep.b/Sizes": [1, 1, 1, 32], "nodes/deep/inputs": HERE}),
        ["BiasTensor", r"(help|or): BiasTensor.*\[1, 32, 1, 1\]"],
    ),
    case(
        "convolution: filter down the columns",
        edit(SOUND, {"constants/waves.w/Sizes": [16, 1, 32, 1]}),
        ["FilterTensor", r"\[16, 1, 32, 1\]|\b32\b", r"(help|or): FilterTensor.*\[16, 1, 1, 32\]"],
    ),
    case(
        "convolution: filter in HWIO order, 3x3 with 3 channels",
        one("CONVOLUTION", [1, 3, 32, 32], [3, 3, 3, 8], None, [1, 8, 32, 32], Padding=[1, 1]),
        ["looks like HWIO", r"\[8, 3, 3, 3\]"],
        "node/OutputTensor",
        also="inputs/FilterTensor",
        never=("OutputTensor of sizes",),
    ),
    case(
        "convolution: filter in HWIO order, as in TensorFlow",
        edit(NETWORK, {"constants/filter/Sizes": [5, 5, 3, 8], "nodes/conv/inputs": HERE, "constants/filter": THERE}),
        ["HWIO", r"\[8, 3, 5, 5\]", r"\[1, 8, 120, 24\]"],
    ),
    case(
        "convolution: filter without the skip connection",
        edit(UNET, {"constants/decode.w/Sizes": [1, 16, 1, 1], "nodes/decode/inputs": HERE}),
        ["FilterTensor", r"\b16\b", r"\b24\b", r"(help|or): FilterTensor.*\[1, 24, 1, 1\]"],
    ),
    case(
        "convolution: input in NHWC order",
        edit(NETWORK, {"inputs/image/Sizes": [1, 32, 32, 3], "nodes/conv/inputs": HERE, "inputs/image": THERE}),
        ["NHWC", r"\[1, 3, 32, 32\]", r"\[3072, 1, 96, 3\]"],
    ),
    case(
        "convolution: one-dimensional bias",
        edit(NETWORK, {"constants/bias/Sizes": [8], "nodes/conv/inputs": HERE}),
        [r"\[1, 8, 1, 1\]", r"\[8\]", "BiasTensor"],
        fixed=True,
    ),
    case(
        "convolution: padding forgotten",
        edit(NETWORK, {"conv/StartPadding": [0, 0], "conv/EndPadding": [0, 0], "conv/OutputTensor": HERE}),
        [r"\[1, 8, 28, 28\]", r"\[1, 8, 32, 32\]", '"conv"'],
    ),
    case(
        "convolution: padding of a smaller filter",
        edit(ENLARGER, {"first/StartPadding": [1, 1], "first/EndPadding": [1, 1], "first/OutputTensor": HERE}),
        ['"first"', r"\b24\b", r"\b22\b", r"(help|or):.*Padding \[2, 2\].*Padding \[2, 2\]"],
    ),
    case(
        "convolution: padding only at the start",
        one("CONVOLUTION", [1, 3, 32, 32], [8, 3, 3, 3], None, [1, 8, 32, 32], StartPadding=[1, 1]),
        [r"EndPadding \[1, 1\]", r"\[1, 8, 31, 31\]"],
        "node/OutputTensor",
        severity="warning",
    ),
    case(
        "convolution: stride forgotten",
        edit(MOBILE, {"stem/Strides": [1, 1], "stem/OutputTensor": HERE}),
        ['"stem"', "OutputTensor", r"(help|or): Strides \[2, 2\]"],
    ),
    case(
        "convolution: strides of height and width swapped",
        edit(SOUND, {"waves/Strides": [16, 1], "waves/OutputTensor": HERE}),
        ['"waves"', "OutputTensor", r"(help|or): Strides \[1, 16\]"],
    ),
    case(
        "depthwise convolution: GroupCount of 1",
        edit(MOBILE, {"constants/project.w/Sizes": [16, 2, 1, 1], "nodes/project/inputs": HERE}),
        ['"project"', "FilterTensor", r"(help|or): (GroupCount 16|FilterTensor.*\[16, 32, 1, 1\])"],
    ),
    case(
        "depthwise convolution: all channels in one group",
        one("CONVOLUTION", [1, 8, 16, 16], [8, 1, 3, 3], None, [1, 8, 16, 16], Padding=[1, 1]),
        ["FilterTensor|GroupCount", "(help|or): GroupCount 8"],
        "nodes/node/inputs",
        also="node/GroupCount",
    ),
    case(
        "depthwise convolution: channels in the filter's second dimension",
        edit(MOBILE, {"constants/deep.w/Sizes": [1, 32, 3, 3], "nodes/deep/inputs": HERE}),
        ["FilterTensor", r"\[1, 32, 3, 3\]", r"(help|or): FilterTensor.*\[32, 1, 3, 3\]"],
    ),
    case(
        "depthwise convolution: filter in HWIO order, as in TensorFlow",
        one("CONVOLUTION", [1, 8, 16, 16], [3, 3, 8, 1], None, [1, 8, 16, 16], GroupCount=8, Padding=[1, 1]),
        ["FilterTensor", r"(help|or):.*\[8, 1, 3, 3\]"],
        "nodes/node/inputs",
    ),
    case(
        "depthwise convolution: filter with all channels",
        one("CONVOLUTION", [1, 32, 28, 28], [32, 32, 3, 3], GroupCount=32, Padding=[1, 1]),
        [r"GroupCount 1\b", r"\[32, 1, 3, 3\]"],
        "nodes/node/inputs",
    ),
    case(
        "dilated convolution: padding of a dense one",
        one(
            "CONVOLUTION",
            f32(1, 3, 32, 32, Strides=[3072, 1, 96, 3]),
            [8, 3, 3, 3],
            OutputTensor=f32(1, 8, 32, 32, Strides=[8192, 1, 256, 8]),
            name="conv",
            Dilations=[2, 2],
            Padding=[1, 1],
        ),
        ['"conv"', r"\b32\b", r"\b30\b", r"(help|or):.*(Padding \[2, 2\]|Dilations \[1, 1\]|\[1, 8, 30, 30\])"],
        "conv/OutputTensor",
    ),
    case(
        "no mistake: transposed convolution with a larger output",
        one(
            "CONVOLUTION",
            [1, 16, 8, 8],
            [16, 3, 3, 3],
            OutputTensor=f32(1, 3, 16, 16),
            Direction="BACKWARD",
            Strides=[2, 2],
            Padding=[1, 1],
        ),
        ["no errors, no warnings"],
        "",
        findings=0,
        severity="",
    ),
    case(
        "quantized convolution: bias with input channels",
        edit(BYTES, {"constants/b/Sizes": [1, 3, 1, 1], "nodes/conv/inputs": HERE}),
        ["BiasTensor", r"\b3\b", r"\b8\b", r"(help|or): BiasTensor.*\[1, 8, 1, 1\]"],
    ),
    case(
        "quantized convolution: filter scales in the filter's dimension",
        one(
            "QUANTIZED_LINEAR_CONVOLUTION",
            tensor("UINT8", 1, 4, 8, 8),
            [1, 1, 1, 1],
            tensor("UINT8", 1, 1, 1, 1),
            tensor("INT8", 8, 4, 3, 3),
            [8, 1, 1, 1],
            None,
            tensor("INT32", 1, 8, 1, 1),
            "InputScaleTensor",
            "InputZeroPointTensor",
            tensor("UINT8", 1, 8, 8, 8),
        ),
        ["FilterScaleTensor", r"\[8, 1, 1, 1\]", r"help:.*\[1, 8, 1, 1\]"],
        "nodes/node/inputs",
    ),
    case(
        "transposed convolution: Direction FORWARD",
        edit(AUTOENCODER, {"up/Direction": "FORWARD", "up/OutputTensor": HERE}),
        ['"up"', "(help|or): Direction BACKWARD"],
    ),
    case(
        "transposed convolution: filter with outputs first",
        edit(AUTOENCODER, {"constants/up.w/Sizes": [4, 8, 2, 2], "nodes/up/inputs": HERE}),
        ["FilterTensor", r"\b4\b", r"\b8\b", r"(help|or): FilterTensor.*\[8, 4, 2, 2\]"],
    ),
    case(
        "transposed convolution: input in the last dimension",
        one("CONVOLUTION", [1, 1, 1, 100], [100, 32, 4, 4], None, [1, 32, 4, 4], name="first", Direction="BACKWARD"),
        ['"first"|"z"', r"\b100\b", r"\[1, 1, 1, 100\]|\b1\b", r"\[1, 100, 1, 1\]"],
        "nodes/first/inputs",
    ),
)

POOLING = (
    case(
        "LP_POOLING: output not halved in one dimension",
        one("LP_POOLING", [1, 4, 8, 8], [1, 4, 4, 8], Strides=[2, 2], WindowSize=[2, 2], P=2, Padding=[0, 0]),
        ["OutputTensor", r"\b8\b", r"(help|or):.*(\[1, 4, 4, 4\]|Strides \[2, 1\])"],
        "node/OutputTensor",
    ),
    case(
        "MAX_UNPOOLING: indices as large as the output",
        one("MAX_UNPOOLING", [1, 4, 4, 4], tensor("UINT32", 1, 4, 8, 8), [1, 4, 8, 8]),
        ["IndicesTensor", r"\[1, 4, 8, 8\]", r"(help|or): IndicesTensor of sizes \[1, 4, 4, 4\]"],
        "nodes/node/inputs",
    ),
    case(
        "ROI_POOLING: regions without batch index, as for ROI_ALIGN",
        one(
            "ROI_POOLING",
            [1, 16, 32, 32],
            [1, 1, 7, 4],
            [7, 16, 5, 5],
            SpatialScale=0.0625,
            PooledSize={"Width": 5, "Height": 5},
        ),
        ["ROITensor", r"\b5\b", r"\b4\b", "[Bb]atch|x1"],
        "nodes/node/inputs",
    ),
    case(
        "pooling gradients swapped",
        one(
            "AVERAGE_POOLING_GRAD",
            [1, 4, 8, 8],
            [1, 4, 4, 4],
            Strides=[2, 2],
            WindowSize=[2, 2],
            IncludePadding=False,
            Padding=[0, 0],
        ),
        [
            "InputGradientTensor",
            "OutputGradientTensor",
            r"(help|or):.*(InputGradientTensor of sizes \[1, 4, 2, 2\]|"
            r"OutputGradientTensor of sizes \[1, 4, 16, 16\]|swapped)",
        ],
        "node/OutputGradientTensor",
    ),
    case(
        "pooling: output one too small",
        edit(NETWORK, {"pool/OutputTensor/Sizes": [1, 8, 15, 15]}),
        [r"\[1, 8, 16, 16\]", r"\[1, 8, 15, 15\]", '"pool"'],
        fixed=True,
    ),
    case(
        "pooling: window of another resolution",
        edit(MOBILE, {"mean/WindowSize": [8, 8], "mean/OutputTensor": HERE}),
        ['"mean"', r"(help|or): WindowSize \[16, 16\]"],
    ),
)

NORMALIZATION = (
    case(
        "batch normalization training: mean as large as the input",
        one(
            "BATCH_NORMALIZATION_TRAINING",
            [1, 4, 8, 8],
            [1, 4, 1, 1],
            [1, 4, 1, 1],
            OutputTensor=f32(1, 4, 8, 8),
            OutputMeanTensor=f32(1, 4, 8, 8),
            OutputVarianceTensor=f32(1, 4, 1, 1),
            Epsilon=1e-05,
        ),
        ["OutputMeanTensor", r"(help|or): OutputMeanTensor of sizes \[1, 4, 1, 1\]"],
        "node/OutputMeanTensor",
    ),
    case(
        "batch normalization: all statistics in the last dimension",
        one("BATCH_NORMALIZATION", [1, 4, 8, 8], [1, 1, 1, 4], "MeanTensor", "MeanTensor", "MeanTensor", [1, 4, 8, 8]),
        [r"help: MeanTensor, VarianceTensor, ScaleTensor, BiasTensor of sizes \[1, 4, 1, 1\]"],
        "nodes/node/inputs",
        also="inputs/MeanTensor",
        never=(r"\n +or:",),
        fixed=True,
    ),
    case(
        "batch normalization: mean in the last dimension",
        edit(AUTOENCODER, {"constants/mean/Sizes": [1, 1, 1, 4], "nodes/norm/inputs": HERE}),
        ["MeanTensor", r"(help|or): MeanTensor.*\[1, 4, 1, 1\]"],
    ),
    case(
        "batch normalization: one-dimensional mean, as in PyTorch",
        edit(AUTOENCODER, {"constants/mean/Sizes": [4], "nodes/norm/inputs": HERE}),
        ['"norm"', "MeanTensor", r"(help|or):.*\[1, 4, 1, 1\]"],
    ),
    case(
        "batch normalization: one-dimensional statistics",
        one("BATCH_NORMALIZATION", [1, 8, 16, 16], [8], [8], [8], [8], [1, 8, 16, 16]),
        [
            "MeanTensor, VarianceTensor, ScaleTensor and BiasTensor have 1 dimension and InputTensor has 4",
            r"\[1, 8, 1, 1\]",
        ],
        "nodes/node/inputs",
        never=("repeated",),
    ),
    case(
        "batch normalization: scale of the previous layer",
        edit(AUTOENCODER, {"constants/scale/Sizes": [1, 8, 1, 1], "nodes/norm/inputs": HERE}),
        ["ScaleTensor", r"\b8\b", r"\b4\b", r"(help|or): ScaleTensor.*\[1, 4, 1, 1\]"],
    ),
    case(
        "layer normalization: one-dimensional scale and bias",
        one("MEAN_VARIANCE_NORMALIZATION1", [1, 1, 16, 64], [64], [64], [1, 1, 16, 64], Axes=[3]),
        ["ScaleTensor", "BiasTensor", r"help:.*(\[1, 1, 1, 64\]|Strides \[0, 0, 0, 1\])"],
        "nodes/node/inputs",
    ),
)

RESAMPLING = (
    case(
        "DEPTH_TO_SPACE for SPACE_TO_DEPTH",
        one("DEPTH_TO_SPACE1", [1, 3, 8, 8], [1, 12, 4, 4], BlockSize=2, Order="DEPTH_COLUMN_ROW"),
        ["InputTensor", "BlockSize", "SPACE_TO_DEPTH"],
        "nodes/node/inputs",
    ),
    case(
        "DEPTH_TO_SPACE1: BlockSize too small",
        edit(ENLARGER, {"shuffle/BlockSize": 2, "nodes/shuffle/inputs": HERE}),
        ['"shuffle"', r"\b72\b|\b9\b", "(help|or): BlockSize 3"],
    ),
    case(
        "DEPTH_TO_SPACE1: filters for another BlockSize",
        edit(
            ENLARGER,
            {
                "constants/second.w/Sizes": [4, 16, 3, 3],
                "second/OutputTensor/Sizes": [1, 4, 24, 24],
                "nodes/shuffle/inputs": HERE,
            },
        ),
        ['"shuffle"', r"\b4\b", r"\b9\b|BlockSize", r"(help|or):.*(\[1, 9, 24, 24\]|BlockSize 2|\[9, 16, 3, 3\])"],
    ),
    case(
        "RESAMPLE1: reciprocal scales",
        one("RESAMPLE1", [1, 4, 8, 8], [1, 4, 16, 16], Scales=[1, 1, 0.5, 0.5]),
        ["Scales", r"\[1, 1, 2, 2\]"],
        "node/Scales",
        severity="warning",
    ),
    case(
        "RESAMPLE1: scales in NHWC order",
        one("RESAMPLE1", [1, 3, 16, 16], [1, 3, 32, 32], Scales=[1, 2, 2, 1]),
        ["Scales", r"(help|or):.*Scales \[1, 1, 2, 2\]"],
        "node/Scales",
        severity="warning",
    ),
    case(
        "RESAMPLE: scales of another output",
        edit(UNET, {"up/Scales": [1, 1, 4, 4]}),
        ['"up"', r"(help|or): Scales \[1, 1, 2, 2\]"],
    ),
    case(
        "RESAMPLE: sizes instead of scales",
        one("RESAMPLE", [1, 4, 8, 8], [1, 4, 16, 16], InterpolationMode="LINEAR", Scales=[1, 4, 16, 16]),
        [r"Scales \[1, 1, 2, 2\]"],
        "node/Scales",
        severity="warning",
    ),
    case(
        "SPACE_TO_DEPTH for DEPTH_TO_SPACE",
        edit(ENLARGER, {"nodes/shuffle/type": "SPACE_TO_DEPTH1", "shuffle/OutputTensor": HERE}),
        ['"shuffle"', r"(help|or|mean):?.*DEPTH_TO_SPACE1?\b"],
    ),
    case(
        "UPSAMPLE_2D: output not enlarged",
        one(
            "UPSAMPLE_2D",
            [1, 4, 8, 8],
            [1, 4, 8, 8],
            ScaleSize={"Width": 2, "Height": 2},
            InterpolationMode="NEAREST_NEIGHBOR",
        ),
        ["OutputTensor", r"(help|or):.*\[1, 4, 16, 16\]"],
        "node/OutputTensor",
    ),
)
