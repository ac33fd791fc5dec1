"""Sizes of recurrent operators and attention in the native format."""

from __future__ import annotations

from tests.frontends.models import f32
from tests.newcomers.build import HERE, activations, case, edit, one, tensor
from tests.newcomers.networks import DECODER, KEYWORDS, SPEECH, TAGGER

RECURRENT = (
    case(
        "GRU: initial state as wide as the input",
        edit(SPEECH, {"constants/h/Sizes": [1, 1, 1, 40], "nodes/gru/inputs": HERE}),
        ["HiddenInitTensor", r"\b40\b", r"\b32\b", r"(help|or): HiddenInitTensor.*\[1, 1, 1, 32\]"],
    ),
    case(
        "GRU: recurrence transposed",
        edit(SPEECH, {"constants/r/Sizes": [1, 1, 32, 96], "nodes/gru/inputs": HERE}),
        ["RecurrenceTensor", r"\b96\b", r"\b32\b", r"(help|or): RecurrenceTensor.*\[1, 1, 96, 32\]"],
    ),
    case(
        "GRU: states laid out like the input",
        edit(SPEECH, {"gru/OutputSequenceTensor/Sizes": [1, 20, 1, 32]}),
        ["OutputSequenceTensor", r"(help|or): OutputSequenceTensor.*\[20, 1, 1, 32\]"],
    ),
    case(
        "GRU: steps and batch swapped",
        edit(SPEECH, {"inputs/frames/Sizes": [1, 1, 20, 40], "nodes/gru/inputs": HERE}),
        ["InputTensor", r"\[1, 1, 20, 40\]|\b20\b", r"(help|or): InputTensor.*\[1, 20, 1, 40\]"],
    ),
    case(
        "GRU: weights of an LSTM",
        one("GRU", [1, 4, 2, 5], [1, 1, 32, 5], [1, 1, 32, 8], [1, 1, 1, 64], None, None, [4, 1, 2, 8]),
        [
            r"WeightTensor, RecurrenceTensor and BiasTensor have the sizes of LSTM: 4 \* hidden_size rows",
            r"GRU has 3 \* hidden_size",
        ],
        "nodes/node/inputs",
    ),
    case(
        "GRU: weights of another width",
        edit(SPEECH, {"constants/w/Sizes": [1, 1, 128, 40], "nodes/gru/inputs": HERE}),
        ["WeightTensor", r"\b128\b", r"\b96\b", r"(help|or): WeightTensor.*\[1, 1, 96, 40\]"],
    ),
    case(
        "LSTM: initial cells of one sentence for two",
        edit(TAGGER, {"constants/c/Sizes": [1, 2, 1, 16], "nodes/lstm/inputs": HERE}),
        ["CellMemInitTensor", r"\[1, 2, 1, 16\]", r"(help|or): CellMemInitTensor.*\[1, 2, 2, 16\]"],
    ),
    case(
        "LSTM: initial state with its sentences first",
        one(
            "LSTM",
            [1, 12, 2, 24],
            [1, 1, 64, 24],
            [1, 1, 64, 16],
            [1, 1, 1, 128],
            [1, 2, 1, 16],
            [1, 1, 2, 16],
            OutputSequenceTensor=f32(12, 1, 2, 16),
            name="lstm",
        ),
        ['"lstm"', "HiddenInitTensor", r"(help|or):.*\[1, 1, 2, 16\]"],
        "nodes/lstm/inputs",
    ),
    case(
        "LSTM: input with its batch first, as in PyTorch",
        one("LSTM", [1, 2, 6, 10], [1, 1, 64, 10], [1, 1, 64, 16], None, None, None, None, None, [6, 1, 2, 16]),
        ["InputTensor", "OutputSequenceTensor", r"help:.*\[1, 6, 2, 10\]|help:.*batch.*step|help:.*step.*batch"],
        "node/OutputSequenceTensor",
        also="inputs/InputTensor",
    ),
    case(
        "LSTM: one of two biases, as in PyTorch",
        edit(KEYWORDS, {"constants/lstm.b/Sizes": [1, 1, 1, 80], "nodes/lstm/inputs": HERE}),
        ['"lstm"', "BiasTensor", r"\b80\b", r"\b160\b", r"(help|or):.*\[1, 1, 1, 160\]"],
    ),
    case(
        "LSTM: states of both directions concatenated, as in PyTorch",
        edit(TAGGER, {"lstm/OutputSequenceTensor/Sizes": [12, 1, 2, 32]}),
        ["OutputSequenceTensor", r"\[12, 1, 2, 32\]|\b32\b", r"(help|or): OutputSequenceTensor.*\[12, 2, 2, 16\]"],
    ),
    case(
        "LSTM: states with their sentences first",
        one(
            "LSTM",
            [1, 12, 2, 24],
            [1, 1, 64, 24],
            [1, 1, 64, 16],
            [1, 1, 1, 128],
            [1, 1, 2, 16],
            [1, 1, 2, 16],
            OutputSequenceTensor=f32(2, 12, 1, 16),
            name="lstm",
        ),
        ['"lstm"', "OutputSequenceTensor", r"(help|or):.*\[12, 1, 2, 16\]"],
        "lstm/OutputSequenceTensor",
    ),
    case(
        "LSTM: weights and recurrence swapped",
        edit(TAGGER, {"nodes/lstm/inputs/WeightTensor": "r", "nodes/lstm/inputs/RecurrenceTensor": "w"}),
        ['"lstm"', r"\b24\b", r"\b16\b", r"swap|exchang|way round|each other|turned|WeightTensor.{1,20}\"w\""],
    ),
    case(
        "LSTM: weights of one direction for both",
        one(
            "LSTM",
            [1, 6, 2, 10],
            [1, 1, 64, 10],
            [1, 1, 64, 16],
            OutputSequenceTensor=f32(6, 1, 2, 16),
            Direction="BIDIRECTIONAL",
        ),
        ["BIDIRECTIONAL", "help:.*Direction.*FORWARD"],
        "nodes/node/inputs",
    ),
    case(
        "LSTM: weights transposed, as in Keras",
        edit(TAGGER, {"constants/w/Sizes": [1, 2, 24, 64], "nodes/lstm/inputs": HERE}),
        ['"lstm"', r"WeightTensor|\"w\"", r"\[1, 2, 64, 24\]"],
    ),
    case(
        "REVERSE_SUBSEQUENCES: one length per step",
        one("REVERSE_SUBSEQUENCES", [1, 4, 10, 16], tensor("UINT32", 1, 1, 10, 1), [1, 4, 10, 16], Axis=2),
        ["SequenceLengthsTensor", r"(help|or):.*SequenceLengthsTensor.*\[1, 4, 1, 16\]"],
        "nodes/node/inputs",
    ),
    case(
        "RNN: recurrence as wide as the input",
        one(
            "RNN",
            [1, 6, 2, 10],
            [1, 1, 16, 10],
            [1, 1, 16, 10],
            OutputSequenceTensor=f32(6, 1, 2, 16),
            ActivationDescs=activations("TANH"),
            Direction="FORWARD",
        ),
        ["RecurrenceTensor", r"(help|or):.*\[1, 1, 16, 16\]"],
        "nodes/node/inputs",
    ),
)

ATTENTION = (
    case(
        "attention: HeadCount does not divide the query",
        one("MULTIHEAD_ATTENTION", [2, 10, 64], [2, 10, 64], [2, 10, 64], OutputTensor=f32(2, 10, 64), HeadCount=6),
        ["not a multiple of HeadCount, 6", r"help: HeadCount 4\n +or: HeadCount 8"],
        "nodes/node/inputs",
        also="node/HeadCount",
    ),
    case(
        "attention: keys transposed",
        one("MULTIHEAD_ATTENTION", [2, 10, 64], [2, 64, 12], [2, 12, 64], OutputTensor=f32(2, 10, 64)),
        ["KeyTensor", r"help:.*KeyTensor.*\[2, 12, 64\]"],
        "nodes/node/inputs",
        also="inputs/KeyTensor",
    ),
    case(
        "attention: mask with MaskType NONE",
        one(
            "MULTIHEAD_ATTENTION",
            [2, 10, 64],
            "QueryTensor",
            "QueryTensor",
            None,
            None,
            None,
            None,
            tensor("INT32", 2, 10),
            OutputTensor=f32(2, 10, 64),
        ),
        ["MaskTensor", "MaskType", "NONE", "MaskTensor left out"],
        "nodes/node/inputs",
    ),
    case(
        "attention: output with separate heads",
        edit(DECODER, {"attention/OutputTensor/Sizes": [1, 16, 4, 16]}),
        ["OutputTensor", r"\[1, 16, 4, 16\]|\b4\b", r"(help|or): OutputTensor.*\[1, 16, 64\]"],
    ),
    case(
        "attention: query with its heads first, as in PyTorch",
        one("MULTIHEAD_ATTENTION", [2, 8, 10, 16], "QueryTensor", "QueryTensor", OutputTensor=f32(2, 10, 128)),
        [r"help: QueryTensor.* of sizes \[2, 10, 128\]; it looks like heads first"],
        "inputs/QueryTensor",
    ),
    case(
        "attention: stacked QKV before the heads",
        one("MULTIHEAD_ATTENTION", None, None, None, None, None, [2, 10, 3, 8, 16], OutputTensor=f32(2, 10, 128)),
        ["StackedQueryKeyValueTensor", r"help:.*\[2, 10, 8, 3, 16\]"],
        "nodes/node/inputs",
    ),
)
