"""Strides, and buffers smaller than their tensors, in the native format."""

from __future__ import annotations

from tests.frontends.models import REMOVE, f32
from tests.newcomers.build import HERE, case, edit, node, one, tensor
from tests.newcomers.networks import NETWORK, SMALL_NUMBERS

STRIDES = (
    case(
        "TotalTensorSizeInBytes counts elements",
        one("ACTIVATION_RELU", [1, 4, 8, 8], InputTensor=f32(1, 4, 8, 8, TotalTensorSizeInBytes=256)),
        [r"\b256\b", "1024", "elements"],
        "node/InputTensor",
        fixed=True,
    ),
    case(
        "TotalTensorSizeInBytes not rounded up",
        one("ACTIVATION_RELU", tensor("FLOAT16", 3), InputTensor=tensor("FLOAT16", 3, TotalTensorSizeInBytes=6)),
        ["TotalTensorSizeInBytes", r"\b6\b", r"\b8\b", r"\b4\b"],
        "node/InputTensor",
        fixed=True,
    ),
    case(
        "input with strides in bytes",
        edit(NETWORK, {"inputs/image/Strides": [12288, 4096, 128, 4]}),
        ["bytes", "elements", r"\[3072, 1024, 32, 1\]"],
        severity="warning",
    ),
    case(
        "output with NHWC strides in the order of NHWC",
        one(
            "CONVOLUTION",
            f32(1, 3, 32, 32, Strides=[3072, 1, 96, 3]),
            [8, 3, 3, 3],
            OutputTensor=f32(1, 8, 32, 32, Strides=[8192, 256, 8, 1]),
            name="conv",
            Dilations=[2, 2],
            Padding=[2, 2],
        ),
        [
            '"conv"',
            "Strides",
            "overlap|same (element|place|byte|memory|address|offset)|more than once|twice|several|one place",
            r"\[8192, 1, 256, 8\]",
        ],
        "conv/OutputTensor",
    ),
    case(
        "output with NHWC strides of three channels for four",
        one("ACTIVATION_RELU", [1, 4, 8, 8], f32(1, 4, 8, 8, Strides=[192, 1, 24, 3])),
        ["OutputTensor", "share memory|overlap", r"help:.*\[256, 1, 32, 4\]"],
        "node/OutputTensor",
    ),
    case(
        "output with strides of 0",
        one("ACTIVATION_RELU", [1, 4, 8, 8], f32(1, 4, 8, 8, Strides=[0, 0, 8, 1])),
        ["OutputTensor", "share memory", r"\[256, 64, 8, 1\]"],
        "node/OutputTensor",
    ),
)

BUFFERS = (
    case(
        "mask one key too short",
        one(
            "ELEMENT_WISE_ADD",
            [1, 4, 1, 32],
            [1, 1, 1, 31],
            [1, 4, 1, 32],
            name="masked",
            BTensor=f32(1, 4, 1, 32, Strides=[0, 0, 0, 1]),
        ),
        ['"masked"|"mask"', r"\b31\b|\b124\b", r"\b32\b|\b128\b", "(help|or):"],
        "masked/BTensor",
    ),
    case(
        "node copied from a larger layer",
        edit(
            NETWORK,
            {
                "nodes/softmax/inputs/InputTensor": "scaled",
                "nodes/-": node(
                    "scale", "ELEMENT_WISE_IDENTITY", "scores -> scaled", [1, 1, 1, 10], InputTensor=f32(1, 1, 1, 100)
                ),
                "scale/InputTensor": HERE,
            },
        ),
        ["InputTensor", r"\b100\b", r"\b10\b", r"(help|or): InputTensor.*\[1, 1, 1, 10\]"],
    ),
    case(
        "scale of one element read as large as its operand",
        edit(SMALL_NUMBERS, {"scaled/BTensor/Strides": REMOVE}),
        ["BTensor", '"s"|OutputScaleTensor', r"(help|or):.*Strides.*\[0, 0, 0, 0\]"],
    ),
    case(
        "strides in bytes, beyond the buffer",
        one("ACTIVATION_RELU", [1, 4, 8, 8], InputTensor=f32(1, 4, 8, 8, Strides=[1024, 256, 32, 4])),
        ["look like bytes", r"help: Strides \[256, 64, 8, 1\]"],
        "node/InputTensor",
    ),
)
