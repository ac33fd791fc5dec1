"""Sizes of other operators in the native format."""

from __future__ import annotations

from tests.frontends.models import REMOVE, f32
from tests.newcomers.build import HERE, THERE, case, edit, node, one, tensor
from tests.newcomers.networks import (
    AUTOENCODER,
    BEST,
    CROPPED,
    DETECTOR,
    KEYWORDS,
    MAP,
    MOBILE,
    NETWORK,
    SENTENCE,
    SMALL_NUMBERS,
    SOUND,
    SPEECH,
    UNET,
)

MATRICES = (
    case(
        "GEMM: bias of one row",
        one("GEMM", [1, 1, 4, 8], [1, 1, 8, 16], [1, 1, 1, 16], [1, 1, 4, 16], Beta=1),
        [r"help: CTensor repeated: Sizes \[1, 1, 4, 16\] with Strides \[0, 0, 0, 1\]"],
        "node/OutputTensor",
        also="inputs/CTensor",
        fixed=True,
    ),
    case(
        "GEMM: bias with Beta 0",
        one(
            "GEMM",
            [1, 1, 16, 256],
            [1, 1, 256, 64],
            [1, 1, 1, 64],
            [1, 1, 16, 64],
            name="narrow",
            CTensor=f32(1, 1, 16, 64, Strides=[0, 0, 0, 1]),
        ),
        [
            '"narrow"',
            "Beta",
            r"CTensor|narrow\.b|bias",
            r"Beta 1\b|ignored|no effect|not added|unused|never read|nothing",
        ],
        "narrow/Beta",
        severity="warning",
    ),
    case(
        "GEMM: bias with one class less",
        edit(MOBILE, {"constants/head.b/Sizes": [1, 1, 1, 9], "head/OutputTensor": HERE}),
        ["CTensor", r"\b9\b", r"\b10\b", r"(help|or): CTensor.*\[1, 1, 1, 10\]"],
    ),
    case(
        "GEMM: features not flattened",
        edit(MOBILE, {"head/ATensor": REMOVE, "nodes/head/inputs": HERE}),
        ["ATensor", r"\[1, 16, 1, 1\]", r"(help|or): ATensor.*\[1, 1, 1, 16\]"],
    ),
    case(
        "GEMM: keys not transposed",
        edit(SENTENCE, {"scores/TransB": "NONE", "nodes/scores/inputs": HERE}),
        ['"scores"', r"\b64\b", r"\b16\b", "(help|or): TransB TRANSPOSE"],
    ),
    case(
        "GEMM: one batch smaller",
        one("GEMM", [4, 8, 16, 32], [4, 1, 32, 16], None, [4, 8, 16, 16]),
        ["BTensor", r"help:.*Strides \[512, 0, 16, 1\]"],
        "nodes/node/inputs",
    ),
    case(
        "GEMM: operands swapped",
        edit(SENTENCE, {"nodes/mix/inputs/ATensor": "words", "nodes/mix/inputs/BTensor": "weights"}),
        ["ATensor", "BTensor", r"\b64\b", r"\b16\b", "(help|or):.*(swap|exchang|each other|the other way)"],
    ),
    case(
        "GEMM: values not broadcast over heads",
        one("GEMM", [1, 4, 1, 32], [1, 1, 32, 16], None, [1, 4, 1, 16], name="mix"),
        ['"mix"', r"\[1, 1, 32, 16\]", r"\b4\b", r"Strides \[\d+, 0, 16, 1\]|broadcast|repeat"],
        "nodes/mix/inputs",
    ),
    case(
        "GEMM: weights not transposed, as in PyTorch",
        edit(NETWORK, {"constants/dense/Sizes": [1, 1, 10, 2048], "nodes/classify/inputs": HERE}),
        ["TransB", "TRANSPOSE", "2048"],
    ),
    case(
        "GEMM: weights of another width",
        edit(SENTENCE, {"constants/key.w/Sizes": [1, 1, 64, 32], "key/OutputTensor": HERE}),
        ['"key"', r"\b32\b", r"\b64\b", r"(help|or): BTensor.*\[1, 1, 64, 64\]"],
    ),
    case(
        "GRU: last states instead of the sequence",
        edit(SPEECH, {"letters/ATensor/Sizes": [1, 1, 32, 20], "nodes/letters/inputs": HERE}),
        ['"letters"', r"\b20\b", r"\b32\b", r"(help|or): (ATensor.*\[1, 1, 20, 32\]|TransA TRANSPOSE)"],
    ),
    case(
        "constant smaller than its reader",
        edit(NETWORK, {"constants/dense/Sizes": [1, 1, 1024, 10], "nodes/classify/inputs": HERE}),
        ["BTensor|ATensor", r"\b1024\b", r"\b2048\b", r"(help|or):.*\[1, 1, 2048, 10\]"],
    ),
    case(
        "quantized GEMM: column scales down the rows",
        one(
            "QUANTIZED_LINEAR_MATRIX_MULTIPLY",
            tensor("UINT8", 1, 1, 3, 4),
            [1, 1, 1, 1],
            None,
            tensor("INT8", 1, 1, 4, 5),
            [1, 1, 5, 1],
            None,
            "AScaleTensor",
            OutputTensor=tensor("UINT8", 1, 1, 3, 5),
        ),
        ["BScaleTensor", r"help:.*\[1, 1, 1, 5\]"],
        "nodes/node/inputs",
    ),
)

PARTS = (
    case(
        "JOIN: along the batch instead of the channels",
        one("JOIN", [f32(1, 4, 8, 8), f32(1, 4, 8, 8)], [1, 8, 8, 8], Axis=0),
        ["OutputTensor|Axis", "(help|or): Axis 1"],
        "node/OutputTensor",
        also="node/Axis",
    ),
    case(
        "JOIN: along the height instead of the channels",
        edit(CROPPED, {"stamp/Axis": 2, "nodes/stamp/inputs": HERE}),
        ['"stamp"', r"(help|or):.*Axis\W+(to )?1\b"],
    ),
    case(
        "JOIN: one tensor not resized",
        one("JOIN", [f32(1, 16, 32, 32), f32(1, 8, 31, 31)], [1, 24, 32, 32], Axis=1),
        ["InputTensors", r"\b31\b", r"\b32\b"],
        "nodes/node/inputs",
        also="inputs/InputTensors1",
    ),
    case(
        "JOIN: output without the skip connection",
        edit(UNET, {"join/OutputTensor/Sizes": [1, 16, 32, 32]}),
        ["OutputTensor", r"\b16\b", r"\b24\b", r"(help|or): OutputTensor.*\[1, 24, 32, 32\]"],
    ),
    case(
        "JOIN: sizes of the output along the batch",
        edit(UNET, {"join/Axis": 0, "nodes/join/inputs": HERE}),
        ['"join"', "Axis", "(help|or): Axis 1"],
    ),
    case(
        "JOIN: skip connection after pooling",
        edit(UNET, {"nodes/join/inputs/InputTensors": ["up", "pool"]}),
        ["InputTensors", r"\b16\b", r"\b32\b", '(help|or|mean):?.*"encode"'],
    ),
    case(
        "PADDING: last dimension first, as in PyTorch",
        one("PADDING", [1, 3, 8, 8], [1, 3, 10, 10], PaddingMode="CONSTANT", PaddingValue=0, Padding=[1, 1, 0, 0]),
        [
            "OutputTensor|StartPadding",
            r"(help|or):.*StartPadding:? (to )?\[0, 0, 1, 1\].*EndPadding:? (to )?\[0, 0, 1, 1\]",
        ],
        "node/OutputTensor",
        also="node/StartPadding",
    ),
    case(
        "PADDING: last dimension of StartPadding first",
        edit(CROPPED, {"frame/StartPadding": [1, 1, 0, 0], "frame/OutputTensor": HERE}),
        ['"frame"', r"\b18\b|\b17\b|\b4\b", r"(help|or):.*StartPadding\W+(to )?\[0, 0, 1, 1\]"],
    ),
    case(
        "PADDING: output with the padding of one end",
        edit(SOUND, {"mirror/OutputTensor/Sizes": [1, 1, 1, 408]}),
        ['"mirror"', "OutputTensor", r"\b408\b", r"(help|or): OutputTensor.*\[1, 1, 1, 416\]"],
    ),
    case(
        "SLICE1: end instead of size",
        edit(KEYWORDS, {"last/InputWindowSizes": [25, 1, 1, 20], "last/InputWindowOffsets": HERE}),
        ['"last"', "InputWindow", r"\b25\b", r"\b24\b|\b49\b|\b1\b"],
    ),
    case(
        "SLICE1: ends instead of sizes",
        one(
            "SLICE1",
            [1, 4, 8, 8],
            [1, 4, 6, 6],
            InputWindowOffsets=[0, 0, 2, 2],
            InputWindowSizes=[1, 4, 8, 8],
            InputWindowStrides=[1, 1, 1, 1],
        ),
        ["InputWindowSizes", r"\[1, 4, 6, 6\]"],
        "node/InputWindowSizes",
    ),
    case(
        "SLICE1: offsets in the first dimensions",
        edit(CROPPED, {"crop/InputWindowOffsets": [8, 8, 0, 0]}),
        ['"crop"', "InputWindowOffsets", r"\b8\b", r"(help|or):.*InputWindowOffsets.*\[0, 0, (8, 8|0, 0)\]"],
    ),
    case(
        "SLICE1: window as large as the output, with strides of 2",
        one(
            "SLICE1",
            [1, 3, 32, 32],
            [1, 3, 16, 16],
            name="odd",
            InputWindowOffsets=[0, 0, 1, 1],
            InputWindowSizes=[1, 3, 16, 16],
            InputWindowStrides=[1, 1, 2, 2],
        ),
        ['"odd"', r"\b16\b", r"\b8\b", r"(help|or):.*(InputWindowSizes.*31|InputWindowStrides|\[1, 3, 8, 8\])"],
        "odd/OutputTensor",
    ),
    case(
        "SLICE1: window beyond the end",
        one(
            "SLICE1",
            [1, 1, 10, 10],
            [1, 1, 4, 10],
            InputWindowOffsets=[0, 0, 8, 0],
            InputWindowSizes=[1, 1, 4, 10],
            InputWindowStrides=[1, 1, 1, 1],
        ),
        ["InputWindow(Offsets|Sizes)", r"\b12\b", r"\b10\b", r"(help|or):.*InputWindowOffsets \[0, 0, 6, 0\]"],
        "node/InputWindowOffsets",
    ),
    case(
        "SLICE_GRAD: gradients swapped",
        one(
            "SLICE_GRAD",
            [1, 1, 8, 8],
            [1, 1, 4, 4],
            InputWindowOffsets=[0, 0, 2, 2],
            InputWindowSizes=[1, 1, 4, 4],
            InputWindowStrides=[1, 1, 1, 1],
        ),
        ["OutputGradientTensor", "InputGradientTensor", "(help|or):.*swapped"],
        "node/OutputGradientTensor",
    ),
    case(
        "SPLIT: each part as large as the whole",
        edit(AUTOENCODER, {"halves/OutputTensors": 2 * [f32(1, 4, 32, 32)]}),
        ["OutputTensors", r"\b4\b", r"\b8\b", r"(help|or):.*\[1, 2, 32, 32\]"],
    ),
    case(
        "SPLIT: parts smaller than the whole",
        one("SPLIT", [1, 10, 8, 8], [f32(1, 4, 8, 8), f32(1, 4, 8, 8)], Axis=1),
        ["OutputTensors", r"\b8\b", r"\b10\b"],
        "node/OutputTensors",
    ),
    case(
        "SPLIT: wrong axis",
        one("SPLIT", [1, 6, 8, 8], [f32(1, 3, 8, 8), f32(1, 3, 8, 8)], Axis=2),
        ["OutputTensors|Axis", "(help|or): Axis 1"],
        "node/OutputTensors",
        also="node/Axis",
    ),
    case(
        "TILE: output sizes as Repeats",
        one("TILE", [1, 1, 2, 3], [1, 1, 4, 6], Repeats=[1, 1, 4, 6]),
        ["OutputTensor|Repeats", r"(help|or): Repeats \[1, 1, 2, 2\]"],
        "node/OutputTensor",
        also="node/Repeats",
    ),
    case(
        "enlargement between two nodes skipped",
        edit(UNET, {"nodes/join/inputs/InputTensors": ["middle", "encode"]}),
        ['"join"', '(help|or):.*"up"'],
    ),
)

INDICES = (
    case(
        "GATHER: along the width",
        edit(SENTENCE, {"embed/Axis": 3, "embed/OutputTensor": HERE}),
        ['"embed"', "(help|or): Axis 2"],
    ),
    case(
        "GATHER: output transposed",
        one("GATHER", [1, 1, 100, 16], tensor("UINT32", 1, 1, 1, 7), [1, 1, 16, 7], Axis=2, IndexDimensions=1),
        ["OutputTensor", r"(help|or):.*OutputTensor of sizes \[1, 1, 7, 16\]"],
        "node/OutputTensor",
    ),
    case(
        "GATHER: output with its width first",
        edit(SENTENCE, {"embed/OutputTensor/Sizes": [1, 1, 64, 16]}),
        ["OutputTensor", r"(help|or): OutputTensor.*\[1, 1, 16, 64\]"],
    ),
    case(
        "GATHER_ELEMENTS: indices of two dimensions",
        one("GATHER_ELEMENTS", [1, 1, 6, 8], tensor("INT32", 6, 2), [1, 1, 6, 2], Axis=3),
        ["IndicesTensor", r"\b2\b", r"\b4\b", r"(help|or): IndicesTensor of sizes \[1, 1, 6, 2\]"],
        "nodes/node/inputs",
    ),
    case(
        "ONE_HOT: classes last, as in numpy",
        edit(MAP, {"one of five/Axis": 3, "nodes/one of five/inputs": HERE}),
        ['"one of five"', "OutputTensor", "(help|or): Axis 1"],
    ),
    case(
        "ROI_ALIGN1: one batch index for all regions",
        edit(DETECTOR, {"inputs/pictures/Sizes": [1, 1, 1, 1], "nodes/align/inputs": HERE}),
        ["BatchIndicesTensor", r"\b1\b", r"\b10\b", r"(help|or):.*(\[1, 1, 1, 10\]|Strides \[0, 0, 0, 0\])"],
    ),
    case(
        "ROI_ALIGN1: output with its channels last",
        edit(DETECTOR, {"align/OutputTensor/Sizes": [10, 7, 7, 64]}),
        ['"align"', r"\b7\b", r"\b64\b", r"(help|or): OutputTensor.*\[10, 64, 7, 7\]"],
    ),
    case(
        "ROI_ALIGN: regions with batch index, as in torchvision",
        one(
            "ROI_ALIGN",
            [1, 4, 32, 32],
            [1, 1, 20, 5],
            tensor("UINT32", 1, 1, 1, 20),
            [20, 4, 7, 7],
            ReductionFunction="AVERAGE",
            InterpolationMode="LINEAR",
            SpatialScaleX=0.25,
            SpatialScaleY=0.25,
            OutOfBoundsInputValue=0,
            MinimumSamplesPerOutput=1,
            MaximumSamplesPerOutput=4,
        ),
        ["ROITensor", r"\b5\b", r"help:.*\[1, 1, 20, 4\]", "help:.*BatchIndicesTensor"],
        "nodes/node/inputs",
    ),
    case(
        "SCATTER: updates larger than the indices",
        one("SCATTER", [1, 1, 8, 8], tensor("UINT32", 1, 1, 2, 8), [1, 1, 8, 8], [1, 1, 8, 8], Axis=2),
        ["UpdatesTensor", "IndicesTensor", r"(help|or): UpdatesTensor of sizes \[1, 1, 2, 8\]"],
        "nodes/node/inputs",
    ),
    case(
        "SCATTER_ND: indices in columns, as from numpy.nonzero",
        one(
            "SCATTER_ND",
            [5, 4, 3],
            tensor("UINT32", 1, 2, 6),
            [1, 6, 3],
            [5, 4, 3],
            InputDimensionCount=3,
            IndicesDimensionCount=2,
        ),
        ["IndicesTensor", r"help:.*IndicesTensor.*\[1, 6, 2\]"],
        "nodes/node/inputs",
    ),
    case(
        "TOP_K1: outputs as large as the input",
        one(
            "TOP_K1",
            [1, 1, 4, 100],
            [1, 1, 4, 100],
            tensor("UINT32", 1, 1, 4, 100),
            Axis=3,
            K=5,
            AxisDirection="DECREASING",
        ),
        ["OutputValueTensor", "OutputIndexTensor", r"\[1, 1, 4, 5\]"],
        "node/OutputValueTensor",
    ),
    case(
        "TOP_K: K larger than the outputs",
        edit(BEST, {"best/K": 10, "best/OutputValueTensor": HERE}),
        ['"best"', r"\b10\b", r"\b5\b", "(help|or): K 5"],
    ),
    case(
        "TOP_K: along the rows",
        edit(BEST, {"best/Axis": 2, "best/OutputValueTensor": HERE}),
        ['"best"', "(help|or): Axis 3"],
    ),
)

REDUCTIONS = (
    case(
        "ARGMAX: output without the reduced dimension",
        one("ARGMAX", [1, 1, 8, 10], tensor("UINT32", 1, 1, 8), Axes=[3], AxisDirection="INCREASING"),
        ["OutputTensor", r"(help|or):.*\[1, 1, 8, 1\]"],
        "node/OutputTensor",
    ),
    case(
        "ARGMAX: wrong axis in the output",
        edit(SPEECH, {"best/Axes": [2], "best/OutputTensor": HERE}),
        ['"best"', "OutputTensor", r"(help|or): Axes \[3\]"],
    ),
    case(
        "REDUCE: axis of the columns for the mean of rows",
        one("REDUCE", [1, 1, 16, 64], [1, 1, 16, 1], Function="AVERAGE", Axes=[2]),
        ["OutputTensor", r"help:.*Axes \[3\]"],
        "node/OutputTensor",
        also="node/Axes",
    ),
    case(
        "REDUCE: output without the channels",
        one("REDUCE", [1, 8, 16, 16], [1, 16, 16], Function="AVERAGE", Axes=[1]),
        ["OutputTensor", r"(help|or):.*\[1, 1, 16, 16\]"],
        "node/OutputTensor",
    ),
    case(
        "REDUCE: output without the reduced dimension",
        edit(SENTENCE, {"mean/OutputTensor/Sizes": [1, 1, 64]}),
        ["OutputTensor", r"\b3\b", r"\b4\b", r"(help|or): OutputTensor.*\[1, 1, 1, 64\]"],
    ),
    case(
        "REDUCE: wrong axis",
        edit(SENTENCE, {"mean/Axes": [1], "mean/OutputTensor": HERE}),
        ['"mean"', "OutputTensor", r"(help|or): Axes \[2\]"],
    ),
    case(
        "softmax: along a dimension of size 1",
        edit(DETECTOR, {"softmax/Axes": [1]}),
        ['"softmax"', "Axes", r"\b1\b", r"(help|or): Axes \[3\]|\bone\b|always"],
        severity="warning",
    ),
    case(
        "softmax: output sizes of its neighbor",
        edit(SENTENCE, {"softmax/OutputTensor/Sizes": [1, 1, 16, 64]}),
        ["OutputTensor", r"\b64\b", r"\b16\b", r"(help|or): OutputTensor.*\[1, 1, 16, 16\]"],
    ),
)

ELEMENTS = (
    case(
        "DEQUANTIZE: zero points per row, scales per block",
        one(
            "DEQUANTIZE",
            tensor("UINT4", 1, 1, 32, 64),
            [f32(1, 1, 32, 2), tensor("UINT4", 1, 1, 32, 1)],
            [1, 1, 32, 64],
            name="weights",
            QuantizationType="SCALE_ZERO_POINT",
        ),
        ['"weights"|"zeros"', "QuantizationTensors|zero", r"\[1, 1, 32, 1\]", r"\[1, 1, 32, 2\]"],
        "nodes/weights/inputs",
    ),
    case(
        "ReLU gradient: flattened gradient",
        one("ACTIVATION_RELU_GRAD", [1, 3, 8, 8], [1, 1, 1, 192], [1, 3, 8, 8]),
        ["InputGradientTensor", r"help:.*InputGradientTensor.*\[1, 3, 8, 8\]"],
        "nodes/node/inputs",
    ),
    case(
        "dequantization: output as UINT8",
        one(
            "ELEMENT_WISE_DEQUANTIZE_LINEAR",
            tensor("UINT8", 1, 4, 8, 8),
            [1, 1, 1, 1],
            tensor("UINT8", 1, 1, 1, 1),
            tensor("UINT8", 1, 4, 8, 8),
        ),
        ["OutputTensor", "UINT8", "help:.*FLOAT32", r"help: ScaleTensor, ZeroPointTensor repeated.*\[0, 0, 0, 0\]"],
        "node/OutputTensor",
        findings=2,
    ),
    case(
        "dynamic quantization: scale per row",
        edit(SMALL_NUMBERS, {"bytes/OutputScaleTensor/Sizes": [1, 1, 8, 1]}),
        ["OutputScaleTensor", r"\[1, 1, 8, 1\]|\b8\b", r"(help|or): OutputScaleTensor.*\[1, 1, 1, 1\]"],
    ),
    case(
        "parametric ReLU: slopes in the last dimension",
        one("ACTIVATION_PARAMETERIZED_RELU", [1, 8, 16, 16], [1, 1, 1, 8], [1, 8, 16, 16]),
        ["SlopeTensor", r"(help|or):.*(Strides \[0, 1, 0, 0\]|\[1, 8, 1, 1\])"],
        "nodes/node/inputs",
    ),
    case(
        "quantization: one-dimensional scales, as in ONNX",
        one("ELEMENT_WISE_QUANTIZE_LINEAR", [1, 4, 8, 8], [4], tensor("UINT8", 4), tensor("UINT8", 1, 4, 8, 8)),
        ["ScaleTensor.*ZeroPointTensor|ZeroPointTensor.*ScaleTensor", r"\[1, 4, 1, 1\]|Strides \[0, 1, 0, 0\]"],
        "nodes/node/inputs",
    ),
    case(
        "random generator: state of four elements",
        one("RANDOM_GENERATOR", tensor("UINT32", 1, 1, 1, 4), tensor("UINT32", 1, 1, 1, 16), Type="PHILOX_4X32_10"),
        ["InputStateTensor", r"\b4\b", r"\b6\b"],
        "nodes/node/inputs",
    ),
    case(
        "residual of another width",
        edit(MOBILE, {"nodes/residual/inputs/BTensor": "expand"}),
        [r"\[1, 32, 16, 16\]", r"\[1, 16, 16, 16\]", '(help|or|mean):?.*"project"'],
    ),
    case(
        "scalar operand not broadcast",
        edit(
            NETWORK,
            {
                "nodes/softmax": node("softmax", "ELEMENT_WISE_ADD", "scores offset -> probabilities", [1, 1, 1, 10]),
                "constants/offset": f32(1, 1, 1, 1, fill=3),
                "nodes/softmax/inputs": HERE,
                "constants/offset/Sizes": THERE,
            },
        ),
        [r"\[1, 1, 1, 10\]", "Strides", r"\[0, 0, 0, 0\]"],
    ),
)
