"""Values that nodes read and write, and the contents of constants, in the native format."""

from __future__ import annotations

from tests.frontends.models import REMOVE, f32
from tests.newcomers.build import HERE, THERE, case, edit, one, tensor
from tests.newcomers.networks import KEYWORDS, MOBILE, NETWORK, SENTENCE

VALUES = (
    case(
        "GEMM reads the skip connection",
        edit(MOBILE, {"nodes/head/inputs/ATensor": "sum", "nodes/mean/desc": HERE}),
        ['"head"|"mean"', '(help|or):.*"mean"'],
        severity="",
    ),
    case(
        "constant never read",
        edit(NETWORK, {"nodes/conv/inputs/BiasTensor": REMOVE, "constants/bias": HERE}),
        ['"bias"'],
        severity="warning",
    ),
    case(
        "graph output misspelt",
        edit(NETWORK, {"outputs": ["probability"]}),
        ['did you mean.*"probabilities"'],
        fixed=True,
    ),
    case("input never read", edit(NETWORK, {"inputs/mask": tensor("UINT8", 4)}), ['"mask"'], severity="warning"),
    case(
        "node copied, output not renamed",
        edit(
            NETWORK,
            {
                "nodes/pool/outputs/OutputTensor": "features",
                "nodes/classify/inputs/ATensor": "features",
                "nodes/conv/outputs": THERE,
            },
        ),
        ['"features"', '"pool"', '"conv"'],
    ),
    case(
        "node reads a value made of its own output",
        edit(NETWORK, {"nodes/pool/inputs/InputTensor": "scores"}),
        ["cycle|circle|loop", '"pool"', '"classify"', '"scores"'],
    ),
    case(
        "node reads its own output",
        one("ACTIVATION_RELU", "OutputTensor"),
        ["cycle", "which this node writes itself"],
        "nodes/node/inputs",
    ),
    case(
        "softmax skipped",
        edit(SENTENCE, {"nodes/mix/inputs/ATensor": "scores", "nodes/softmax/desc": HERE}),
        ['"softmax"', '(help|or):.*"weights"'],
        severity="warning",
    ),
    case(
        "sum that the next layer skips",
        edit(MOBILE, {"nodes/mean/inputs/InputTensor": "project", "nodes/residual/desc": HERE}),
        ['"residual"', '(help|or):.*"sum"'],
        severity="warning",
    ),
    case("two nodes with one name", edit(NETWORK, {"nodes/1/name": "conv", "nodes/0/name": THERE}), ['"conv"']),
    case(
        "value called by the name of its node",
        edit(NETWORK, {"nodes/pool/inputs/InputTensor": "conv"}),
        [r'node "conv" writes "features"'],
        fixed=True,
    ),
    case(
        "value misspelt",
        edit(NETWORK, {"nodes/pool/inputs/InputTensor": "feature"}),
        ['did you mean.*"features"', '"pool"'],
        fixed=True,
    ),
    case(
        "value of a removed node",
        edit(NETWORK, {"nodes/pool/inputs/InputTensor": "normalized"}),
        ['"normalized"', '"features"'],
    ),
    case(
        "value with a dash instead of an underscore",
        edit(KEYWORDS, {"nodes/classes/inputs/ATensor": "last-state"}),
        ['"classes"', '"last-state"', '"last_state"'],
    ),
)

CONSTANTS = (
    case(
        "constant: fill with an array",
        one(
            "ELEMENT_WISE_MULTIPLY",
            [1, 4, 8, 8],
            f32(1, 4, 1, 1, fill=[0.5, 1, 1, 2]),
            BTensor=f32(1, 4, 8, 8, Strides=[0, 1, 0, 0]),
        ),
        ["fill", "(help|or|did you mean):?.*values"],
        "constants/BTensor",
    ),
    case(
        "constant: nested rows of different lengths",
        edit(NETWORK, {"constants/bias/values": [[1, 2, 3, 4], [5, 6, 7]], "constants/bias/fill": REMOVE}),
        ['"?bias"?', r"\b8\b", r"\b7\b|\b3\b|nested|flat|one list"],
    ),
    case(
        "constant: one value too few",
        edit(NETWORK, {"constants/bias/fill": REMOVE, "constants/bias/values": [1, 2, 3, 4, 5, 6, 7]}),
        [r"\b7\b", r"\b8\b", '"bias"|/bias'],
    ),
    case(
        "constant: value too large for UINT8",
        one("ELEMENT_WISE_ADD", tensor("UINT8", 3), tensor("UINT8", 3, values=[0, 128, 256])),
        [r"\b256\b", "UINT8", r"\b255\b"],
        "constants/BTensor",
    ),
    case(
        "weights file not copied",
        edit(
            NETWORK,
            {
                "constants/filter": f32(8, 3, 5, 5, file="weights.bin"),
                "constants/bias": f32(1, 8, 1, 1, file="weights.bin", offset=2400),
                "constants/dense": f32(1, 1, 2048, 10, file="weights.bin", offset=2432),
            },
        ),
        [r"weights\.bin", '"bias"', '"dense"'],
    ),
)
