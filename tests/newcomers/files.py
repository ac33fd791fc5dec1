"""Mistakes in files: a small network in the native format, with one thing wrong in each."""

from __future__ import annotations

import re

from tests.newcomers.case import Case, edited

NETWORK = """\
{
  "dml2onnx": 1,
  "name": "digits",
  "feature_level": "5_0",
  "inputs": {
    "image": {"DataType": "FLOAT32", "Sizes": [1, 3, 32, 32]}
  },
  "constants": {
    "filter": {"DataType": "FLOAT32", "Sizes": [8, 3, 5, 5], "fill": 0.1},
    "bias": {"DataType": "FLOAT32", "Sizes": [1, 8, 1, 1], "fill": 0.5},
    "dense": {"DataType": "FLOAT32", "Sizes": [1, 1, 2048, 10], "fill": 0.01}
  },
  "nodes": [
    {
      "name": "conv",
      "type": "CONVOLUTION",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 32, 32]},
        "Mode": "CROSS_CORRELATION",
        "Direction": "FORWARD",
        "Strides": [1, 1],
        "Dilations": [1, 1],
        "StartPadding": [2, 2],
        "EndPadding": [2, 2],
        "OutputPadding": [0, 0],
        "GroupCount": 1,
        "FusedActivation": {"type": "ACTIVATION_RELU"}
      },
      "inputs": {"InputTensor": "image", "FilterTensor": "filter", "BiasTensor": "bias"},
      "outputs": {"OutputTensor": "features"}
    },
    {
      "name": "pool",
      "type": "MAX_POOLING",
      "desc": {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 16, 16]},
        "Strides": [2, 2],
        "WindowSize": [2, 2],
        "StartPadding": [0, 0],
        "EndPadding": [0, 0]
      },
      "inputs": {"InputTensor": "features"},
      "outputs": {"OutputTensor": "pooled"}
    },
    {
      "name": "classify",
      "type": "GEMM",
      "desc": {
        "ATensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 2048]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 10]},
        "TransA": "NONE",
        "TransB": "NONE",
        "Alpha": 1,
        "Beta": 0
      },
      "inputs": {"ATensor": "pooled", "BTensor": "dense"},
      "outputs": {"OutputTensor": "scores"}
    },
    {
      "name": "softmax",
      "type": "ACTIVATION_SOFTMAX",
      "desc": {"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 10]}},
      "inputs": {"InputTensor": "scores"},
      "outputs": {"OutputTensor": "probabilities"}
    }
  ],
  "outputs": ["probabilities"]
}
"""


def changed(*edits: tuple[str, str]) -> str:
    """The network with texts replaced, each of which it has exactly once; marks go to the ends of their lines."""
    return re.sub(r" *(// <- (?:here|there))(.+)", r"\2 \1", edited(NETWORK, *edits))


SOFTMAX = '"type": "ACTIVATION_SOFTMAX",'

FILES = (
    Case(
        "comma forgotten",
        changed(
            ('"Strides": [1, 1],', '"Strides": [1, 1]'), ('"Dilations": [1, 1],', '"Dilations": [1, 1], // <- here')
        ),
        (r"comma|','", r'"Dilations"'),
    ),
    Case(
        "quoted as in Python",
        changed(('"name": "conv",', "'name': 'conv', // <- here")),
        (r'"name"|double quotes', r"'name'"),
    ),
    Case(
        "True as in Python",
        changed(('"GroupCount": 1,', '"GroupCount": True, // <- here')),
        (r"\btrue\b", r"\bTrue\b"),
    ),
    Case(
        "bracket not closed",
        changed(('"Sizes": [1, 8, 16, 16]},', '"Sizes": [1, 8, 16, 16},  // <- here')),
        (r"\]", r"\["),
    ),
    Case(
        "file cut off",
        NETWORK[: NETWORK.index('      "inputs": {"ATensor"')] + "// <- here\n",
        (r"end", r"net\.json:\d+"),
    ),
    Case(
        "node copied, its output not renamed",
        changed(
            ('"outputs": {"OutputTensor": "features"}', '"outputs": {"OutputTensor": "features"} // <- there'),
            ('"outputs": {"OutputTensor": "pooled"}', '"outputs": {"OutputTensor": "features"} // <- here'),
            ('"ATensor": "pooled"', '"ATensor": "features"'),
        ),
        (r'"features"', r'"pool"', r'"conv"'),
    ),
    Case(
        "value misspelt",
        changed(('{"InputTensor": "features"}', '{"InputTensor": "feature"} // <- here')),
        (r'did you mean.*"features"', r'"pool"'),
        fixed=True,
    ),
    Case(
        "reads what is made of its own output",
        changed(('{"InputTensor": "features"}', '{"InputTensor": "scores"} // <- here')),
        (r"cycle|circle|loop", r'"pool"', r'"classify"', r'"scores"'),
    ),
    Case(
        "output misspelt",
        changed(('"outputs": ["probabilities"]', '"outputs": ["probability"] // <- here')),
        (r'did you mean.*"probabilities"',),
        fixed=True,
    ),
    Case(
        "weights not copied along",
        changed(
            ('"Sizes": [8, 3, 5, 5], "fill": 0.1}', '"Sizes": [8, 3, 5, 5], "file": "weights.bin"} // <- here'),
            ('"Sizes": [1, 8, 1, 1], "fill": 0.5}', '"Sizes": [1, 8, 1, 1], "file": "weights.bin", "offset": 2400}'),
            ('"fill": 0.01', '"file": "weights.bin", "offset": 2432'),
        ),
        (r"weights\.bin", r'"bias"', r'"dense"'),
    ),
    Case(
        "constant that nobody reads",
        changed((', "BiasTensor": "bias"', ""), ('"fill": 0.5},', '"fill": 0.5}, // <- here')),
        (r'"bias"',),
        severity="warning",
    ),
    Case(
        "input that nobody reads",
        changed(
            (
                '"inputs": {\n    "image"',
                '"inputs": {\n    "mask": {"DataType": "UINT8", "Sizes": [4]}, // <- here\n    "image"',
            )
        ),
        (r'"mask"',),
        severity="warning",
    ),
    Case(
        "enumerator misspelt",
        changed(('"CROSS_CORRELATION",', '"CROSS_CORELATION", // <- here')),
        (r"did you mean.*CROSS_CORRELATION", r'"Mode": "CROSS_CORELATION"|/Mode'),
        fixed=True,
    ),
    Case(
        "field misspelt",
        changed(('"WindowSize": [2, 2],', '"WindowsSize": [2, 2], // <- here')),
        (r"did you mean.*WindowSize",),
        never=(r"missing",),
        fixed=True,
    ),
    Case(
        "filter as TensorFlow has it",
        changed(('"Sizes": [8, 3, 5, 5], "fill": 0.1}', '"Sizes": [5, 5, 3, 8], "fill": 0.1} // <- there')),
        (r"HWIO", r"\[8, 3, 5, 5\]", r"\[1, 8, 120, 24\]"),
    ),
    Case(
        "picture as it lies in memory",
        changed(('"Sizes": [1, 3, 32, 32]}', '"Sizes": [1, 32, 32, 3]} // <- there')),
        (r"NHWC", r"\[1, 3, 32, 32\]", r"\[3072, 1, 96, 3\]"),
    ),
    Case(
        "strides in bytes",
        changed(('"Sizes": [1, 3, 32, 32]}', '"Sizes": [1, 3, 32, 32], "Strides": [12288, 4096, 128, 4]} // <- here')),
        (r"bytes", r"elements", r"\[3072, 1024, 32, 1\]"),
        severity="warning",
    ),
    Case(
        "bias of one dimension",
        changed(('"Sizes": [1, 8, 1, 1]', '"Sizes": [8]')),
        (r"\[1, 8, 1, 1\]", r"\[8\]", r"BiasTensor"),
        fixed=True,
    ),
    Case(
        "term that does not repeat on its own",
        changed(
            (SOFTMAX, '"type": "ELEMENT_WISE_ADD",'),
            ('"inputs": {"InputTensor": "scores"}', '"inputs": {"ATensor": "scores", "BTensor": "offset"} // <- here'),
            (
                '"fill": 0.01}',
                '"fill": 0.01},\n    "offset": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1], "fill": 3} // <- there',
            ),
        ),
        (r"\[1, 1, 1, 10\]", r"Strides", r"\[0, 0, 0, 0\]"),
    ),
    Case(
        "padding forgotten",
        changed(
            (
                '"StartPadding": [2, 2],\n        "EndPadding": [2, 2]',
                '"StartPadding": [0, 0],\n        "EndPadding": [0, 0]',
            )
        ),
        (r"\[1, 8, 28, 28\]", r"\[1, 8, 32, 32\]", r'"conv"'),
    ),
    Case(
        "weights as PyTorch has them",
        changed(('"Sizes": [1, 1, 2048, 10], "fill"', '"Sizes": [1, 1, 10, 2048], "fill"')),
        (r"TransB", r"TRANSPOSE", r"2048"),
    ),
    Case(
        "weights in half precision",
        changed(('"filter": {"DataType": "FLOAT32",', '"filter": {"DataType": "FLOAT16",')),
        (r"FLOAT16", r"FLOAT32", r"CAST|Cast", r"FilterTensor"),
    ),
    Case(
        "operator newer than the level",
        changed(
            (SOFTMAX, '"type": "ACTIVATION_GELU", // <- here'),
        ),
        (r"5_1", r"5_0", r"Windows|Microsoft\.AI\.DirectML", r"GELU"),
    ),
    Case(
        "sizes left to be found",
        changed(('"Sizes": [1, 8, 16, 16]},', '"Sizes": [-1, -1, -1, -1]}, // <- here')),
        (r"-1", r"infer", r"\[1, 8, 16, 16\]"),
        fixed=True,
    ),
    Case(
        "sizes in quotes",
        changed(('"Sizes": [1, 3, 32, 32]}', '"Sizes": [1, 3, "32", "32"]} // <- here')),
        (r"\[1, 3, 32, 32\]", r'"32"'),
        fixed=True,
    ),
    Case(
        "axis behind the last",
        changed(
            (SOFTMAX, '"type": "ACTIVATION_SOFTMAX1",'),
            (
                '"desc": {"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 10]}},\n'
                '      "inputs": {"InputTensor": "scores"}',
                '"desc": {"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 10]}, "Axes": [4]}, // <- here\n'
                '      "inputs": {"InputTensor": "scores"}',
            ),
            ('"feature_level": "5_0"', '"feature_level": "5_1"'),
        ),
        (r"Axes", r"\b4\b", r"\b3\b"),
    ),
)
