"""DxDispatch models."""

from __future__ import annotations

from tests.frontends.models import REMOVE
from tests.newcomers.build import HERE, THERE, Renamed, case, edit, in_text
from tests.newcomers.networks import ADDITION, DISPATCHED, JOINED, PITCHED, QUANTIZED, RANKED

OPERATORS = (
    case(
        "GATHER: indices as FLOAT32",
        edit(RANKED, {"lookup/IndicesTensor/DataType": "FLOAT32"}),
        ["lookup", "IndicesTensor", "FLOAT32", "UINT32"],
    ),
    case(
        "GroupCount of 0", edit(DISPATCHED, {"conv/GroupCount": 0}), ["GroupCount", r"\b0\b", "(help|or): GroupCount 1"]
    ),
    case(
        "JOIN: InputCount too large",
        edit(JOINED, {"join/InputCount": 3}),
        ["InputCount", r"\b3\b", r"\b2\b", r"(help|or):.*\b2\b"],
    ),
    case(
        "ONNX model as a dispatchable",
        edit(ADDITION, {"dispatchables/net": {"type": "onnx", "sourcePath": "net.onnx"}}),
        ["ONNX model", "help:"],
    ),
    case(
        "PADDING: DimensionCount without batch and channels",
        edit(JOINED, {"pad/DimensionCount": 2}),
        ["DimensionCount", r"\b2\b", r"(help|or):.*\b4\b"],
    ),
    case(
        "TotalTensorSizeInBytes without the gaps",
        edit(PITCHED, {"pack/InputTensor/TotalTensorSizeInBytes": 48}),
        ["pack", "TotalTensorSizeInBytes", r"\b48\b", r"\b60\b"],
    ),
    case(
        "convolution: filter with inputs first",
        edit(DISPATCHED, {"conv/FilterTensor/Sizes": [3, 4, 3, 3]}),
        ["FilterTensor", r"(help|or): FilterTensor.*\[4, 3, 3, 3\]"],
    ),
    case(
        "convolution: output without padding",
        edit(DISPATCHED, {"conv/OutputTensor/Sizes": [1, 4, 6, 6]}),
        ["OutputTensor", r"\b6\b", r"\b8\b", r"(help|or):.*(\[1, 4, 8, 8\]|Padding \[0, 0\])"],
    ),
    case(
        "data type by its C name",
        edit(DISPATCHED, {"conv/InputTensor/DataType": "DML_TENSOR_DATA_TYPE_FLOAT"}),
        ["DataType", r"DML_TENSOR_DATA_TYPE_FLOAT\b", "FLOAT32"],
    ),
    case(
        "dataType instead of DataType",
        edit(DISPATCHED, {"conv/FilterTensor/DataType": Renamed("dataType")}),
        [r"\bdataType\b", r"\bDataType\b"],
    ),
    case(
        "flag DML_TENSOR_FLAGS_NONE",
        edit(DISPATCHED, {"conv/FilterTensor/Flags": "DML_TENSOR_FLAGS_NONE"}),
        ["DML_TENSOR_FLAGS_NONE", r"(mean|expected|help|or):?.*\b(DML_TENSOR_FLAG_)?NONE\b"],
    ),
    case(
        "operator called DML_OPERATOR_TYPE_CONVOLUTION",
        edit(DISPATCHED, {"dispatchables/conv/type": "DML_OPERATOR_TYPE_CONVOLUTION"}),
        ["DML_OPERATOR_TYPE_CONVOLUTION", r"(mean|expected|help|or):?.*\b(DML_OPERATOR_)?CONVOLUTION\b"],
    ),
    case(
        "scale of one element, as in ONNX",
        edit(QUANTIZED, {"quantize/ScaleTensor/Strides": REMOVE, "quantize/ScaleTensor/Sizes": [1, 1, 1, 1]}),
        ["quantize", "ScaleTensor", r"\[1, 1, 1, 1\]", r"\[1, 1, 2, 2\]", r"Strides \[0, 0, 0, 0\]|broadcast|repeat"],
    ),
    case(
        "shader as a dispatchable",
        edit(ADDITION, {"dispatchables/scale": {"type": "hlsl", "sourcePath": "scale.hlsl"}}),
        ["is a shader", "help: without it and its dispatches"],
    ),
)

RESOURCES = (
    case(
        "DxDispatch: sizeInBytes counts elements",
        edit(
            ADDITION,
            {
                "resources/Out/initialValues/valueCount": 4,
                "resources/Out/sizeInBytes": 16,
                "add/OutputTensor": HERE,
                "resources/Out": THERE,
            },
        ),
        ['"Out"', "OutputTensor", r"\b16\b", r"\b64\b"],
        never=("Out#",),
    ),
    case(
        "bias not broadcast",
        edit(RANKED, {"dense/CTensor/Strides": REMOVE}),
        ["CTensor", r"\b96\b|\b24\b", r"\b16\b|\b4\b", r"Strides|\[0, 0, 0, 1\]|valueCount|\b96\b"],
    ),
    case(
        "elementOffset counts bytes",
        edit(
            ADDITION,
            {
                "commands/0/bindings/ATensor": {
                    "name": "A",
                    "elementCount": 16,
                    "elementSizeInBytes": 4,
                    "elementOffset": 64,
                }
            },
        ),
        ["ATensor", '"A"', r"\b64\b", "elementOffset|offset"],
    ),
    case(
        "file of values not found",
        edit(ADDITION, {"resources/A/initialValues": {"sourcePath": "a.npy"}}),
        [r"a\.npy", "[Nn]o such file|not there|does not exist|no file|not found"],
    ),
    case(
        "resource for one channel",
        edit(DISPATCHED, {"resources/X/initialValues/valueCount": 64, "conv/InputTensor": HERE}),
        ["InputTensor", '"X"', r"\b192\b|\b768\b", r"(help|or):.*\b192\b"],
    ),
    case(
        "resource in FLOAT16 for a FLOAT32 tensor",
        edit(ADDITION, {"resources/B/initialValuesDataType": "FLOAT16", "add/BTensor": HERE, "resources/B": THERE}),
        ["BTensor", '"B"', r"FLOAT16|\b32\b", r"FLOAT32|\b64\b", '"B" has 32 bytes', "64 bytes"],
    ),
    case(
        "resource too short",
        edit(ADDITION, {"resources/A/initialValues/valueCount": 12, "add/ATensor": HERE, "resources/A": THERE}),
        ['"A" has 48 bytes', "64 bytes or more"],
    ),
    case(
        "resource without its data type",
        edit(ADDITION, {"resources/A/initialValuesDataType": REMOVE}),
        ["initialValuesDataType", 'help:.*"?FLOAT32"?'],
    ),
    case(
        "resource: numpy's start and step",
        edit(ADDITION, {"resources/A/initialValues": {"valueCount": 16, "start": 0, "step": 1}}),
        ['"?(step|start)"?', "valueStart|valueDelta"],
    ),
)

COMMANDS = (
    case(
        "BiasTensor bound instead of CTensor",
        edit(RANKED, {"commands/1/bindings/CTensor": Renamed("BiasTensor")}),
        ["dense", "BiasTensor", "CTensor"],
    ),
    case(
        "JOIN: one resource for a list",
        edit(JOINED, {"commands/0/bindings/InputTensors": "A"}),
        ["InputTensors", r"\b(1|one)\b|\ba list\b|\[", r"\b(2|two)\b"],
    ),
    case(
        "binding of a tensor that the operator does not have",
        edit(ADDITION, {"commands/0/bindings/CTensor": "B"}),
        ["CTensor", r"ELEMENT_WISE_ADD|\"add\"", "ATensor"],
    ),
    case(
        "binding under its ONNX name",
        edit(RANKED, {"commands/0/bindings/IndicesTensor": Renamed("indices")}),
        ["indices", "(help|or|mean):?.*IndicesTensor"],
    ),
    case(
        "binding under the name of another operator's tensor",
        edit(ADDITION, {"commands/0/bindings/ATensor": Renamed("InputTensor")}),
        ['nothing is bound to ATensor; is "InputTensor" meant for it'],
    ),
    case(
        "bindings without the suffix Tensor",
        edit(ADDITION, {"commands/0/bindings": {"A": "A", "B": "B", "Output": "Out"}}),
        ['is "A" meant', 'is "Output" meant'],
        never=("has no tensor",),
        findings=3,
        fixed=True,
    ),
    in_text("comma forgotten", RANKED, '},\n    "W"', '}\n    "W"', ["(?i)comma|','|\\\",\\\"|`,`"]),
    case(
        "command type misspelt",
        edit(ADDITION, {"commands/1/type": "prnt"}),
        ['"prnt"', 'did you mean "print"'],
        fixed=True,
    ),
    case(
        "dispatchable misspelt", edit(ADDITION, {"commands/0/dispatchable": "Add"}), ['did you mean "add"'], fixed=True
    ),
    case(
        "operator type as the name of a dispatchable",
        edit(ADDITION, {"commands/0/dispatchable": "DML_OPERATOR_ELEMENT_WISE_ADD"}),
        ['"DML_OPERATOR_ELEMENT_WISE_ADD"', '"add"'],
    ),
    case(
        "print of an unknown resource",
        edit(ADDITION, {"commands/1/resource": "out"}),
        ['"out"', 'did you mean "Out"'],
        fixed=True,
    ),
    case("weights not bound", edit(DISPATCHED, {"commands/0/bindings/FilterTensor": REMOVE}), ["FilterTensor", '"W"']),
)
