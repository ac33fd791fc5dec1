"""Twenty-two more mistakes in files, written down before the answers to them were read."""

from __future__ import annotations

from tests.newcomers.case import Case
from tests.newcomers.files import SOFTMAX, changed

IMAGE = '"image": {"DataType": "FLOAT32",'
FILTER = '"Sizes": [8, 3, 5, 5], "fill": 0.1}'
BIAS = '"Sizes": [1, 8, 1, 1], "fill": 0.5}'
POOL = '"inputs": {"InputTensor": "features"},'
ACTIVATION = '"FusedActivation": {"type": "ACTIVATION_RELU"}'

MORE_FILES = (
    Case(
        "data type as numpy names it",
        changed((IMAGE, '"image": {"DataType": "float32", // <- here\n   ')),
        (r"did you mean.*FLOAT32", r"float32"),
        fixed=True,
    ),
    Case(
        "data type as ONNX names it",
        changed((IMAGE, '"image": {"DataType": "FLOAT", // <- here\n   ')),
        (r"did you mean.*FLOAT32", r'"FLOAT"'),
    ),
    Case(
        "data type that DirectML does not have",
        changed((IMAGE, '"image": {"DataType": "BFLOAT16", // <- here\n   ')),
        (r"BFLOAT16", r"FLOAT16", r"FLOAT32"),
    ),
    Case(
        "operator as ONNX names it",
        changed((SOFTMAX, '"type": "Softmax", // <- here')),
        (r"did you mean.*ACTIVATION_SOFTMAX",),
    ),
    Case(
        "operator by an abbreviation",
        changed(('"type": "CONVOLUTION",', '"type": "Conv", // <- here')),
        (r"did you mean.*CONVOLUTION",),
        never=(r"unknown field|Mode",),
    ),
    Case(
        "inputs of a node in the singular",
        changed((POOL, '"input": {"InputTensor": "features"}, // <- here')),
        (r'did you mean.*"?inputs"?', r'"pool"'),
        fixed=True,
    ),
    Case(
        "inputs of a node as a list",
        changed((POOL, '"inputs": ["features"], // <- here')),
        (r'\{"InputTensor": "features"\}', r'"pool"'),
    ),
    Case(
        "tensor without its suffix",
        changed((POOL, '"inputs": {"Input": "features"}, // <- here')),
        (r"did you mean.*InputTensor", r'"pool"'),
        never=(r"missing",),
        fixed=True,
    ),
    Case(
        "filter not connected",
        changed(('"FilterTensor": "filter", ', "")),
        (r"FilterTensor", r'"conv"', r'"filter"'),
    ),
    Case(
        "field left out",
        changed(('        "WindowSize": [2, 2],\n', "")),
        (r"WindowSize", r'"pool"', r"missing|needs|required"),
    ),
    Case(
        "field of a later version",
        changed(('"WindowSize": [2, 2],', '"WindowSize": [2, 2], "Dilations": [2, 2], // <- here')),
        (r"MAX_POOLING2", r"Dilations"),
    ),
    Case(
        "two nodes of one name",
        changed(
            ('"name": "conv",', '"name": "conv", // <- there'),
            ('"name": "pool",', '"name": "conv", // <- here'),
        ),
        (r'"conv"',),
    ),
    Case(
        "output one too small",
        changed(('"Sizes": [1, 8, 16, 16]},', '"Sizes": [1, 8, 15, 15]}, // <- here')),
        (r"\[1, 8, 16, 16\]", r"\[1, 8, 15, 15\]", r'"pool"'),
        fixed=True,
    ),
    Case(
        "groups that do not divide the channels",
        changed(('"GroupCount": 1,', '"GroupCount": 3, // <- here')),
        (r"GroupCount|group", r"\b3\b", r"\b8\b"),
    ),
    Case(
        "padding below zero",
        changed(('"StartPadding": [2, 2],', '"StartPadding": [-2, 2], // <- here')),
        (r"StartPadding", r"-2"),
    ),
    Case(
        "half a stride",
        changed(('"Strides": [2, 2],', '"Strides": [2, 1.5], // <- here')),
        (r"Strides", r"1\.5", r"whole|integer|UINT"),
    ),
    Case(
        "fused activation by its name alone",
        changed((ACTIVATION, '"FusedActivation": "RELU" // <- here')),
        (r'\{"type": "ACTIVATION_RELU"\}|\{"type": "RELU"\}', r"FusedActivation"),
    ),
    Case(
        "activation that cannot be fused",
        changed((ACTIVATION, '"FusedActivation": {"type": "ACTIVATION_SOFTMAX"} // <- here')),
        (r"SOFTMAX", r"FusedActivation", r"node of its own|own node|separate node"),
    ),
    Case(
        "one value too few",
        changed((BIAS, '"Sizes": [1, 8, 1, 1], "values": [1, 2, 3, 4, 5, 6, 7]} // <- here')),
        (r"\b7\b", r"\b8\b", r'"bias"|/bias'),
    ),
    Case(
        "fraction without its zero",
        changed(('"fill": 0.01', '"fill": .01 // <- here\n   ')),
        (r"0\.01|digit|zero",),
    ),
    Case(
        "one output without brackets",
        changed(('"outputs": ["probabilities"]', '"outputs": "probabilities" // <- here')),
        (r'\["probabilities"\]',),
        fixed=True,
    ),
    Case(
        "feature level of the future",
        changed(('"feature_level": "5_0",', '"feature_level": "7_0", // <- here')),
        (r"7_0", r"6_4"),
    ),
)
