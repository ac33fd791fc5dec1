"""Graphs as DirectML serializes them."""

from __future__ import annotations

from base64 import b64encode

import numpy as np

from tests.frontends.models import REMOVE, f32, input_edge, output_edge
from tests.newcomers.build import HERE, THERE, case, edit, graph, serialized
from tests.newcomers.networks import GRAPH, GRAPH_OF_FOUR, GRAPH_OF_POOLS, GRAPH_OF_TWO, HALVED, HEADS, PERCEPTRON

FIELDS = (
    case(
        "TILE: Repeats of two dimensions",
        edit(GRAPH_OF_POOLS, {"tile/Repeats": [2, 2]}),
        ["Repeats", r"\b2\b", r"\b4\b", r"(help|or): Repeats \[1, 1, 2, 2\]"],
    ),
    case(
        "TRANSPOSED instead of TRANSPOSE",
        edit(HEADS, {"scores/TransB": "DML_MATRIX_TRANSFORM_TRANSPOSED"}),
        ['"scores"', "TransB", "TRANSPOSED", r"TRANSPOSE\b"],
        fixed=True,
    ),
    case(
        "TotalTensorSizeInBytes counted for FLOAT16",
        edit(HEADS, {"masked/BTensor/TotalTensorSizeInBytes": 200}),
        ['"masked"', "TotalTensorSizeInBytes", r"\b200\b", r"\b400\b"],
    ),
    case(
        "axes counted from 1",
        edit(HEADS, {"weights/Axes": [4]}),
        ['"weights"', "Axes", r"\b4\b", r"\b3\b|(?i:dimensions|rank|less than)"],
    ),
    case(
        "dilation of 0",
        edit(GRAPH_OF_FOUR, {"conv/Dilations": [0, 0]}),
        ["Dilations", r"\[0, 0\]|\b0\b", r"(help|or):.*\[1, 1\]"],
    ),
    case(
        "edge to a node by its name",
        edit(GRAPH, {"IntermediateEdges/0/FromNodeIndex": "sum"}),
        ["FromNodeIndex", '"sum"', r"(help|or):.*\b0\b"],
    ),
    case(
        "enumerator in C++ notation",
        edit(GRAPH, {"sum/BTensor/DataType": "dml::TensorDataType::Float32"}),
        ["DataType", 'did you mean "FLOAT32"'],
        fixed=True,
    ),
    case(
        "leaky ReLU without its slope",
        edit(GRAPH_OF_TWO, {"conv1/FusedActivation/Desc": REMOVE}),
        ['"conv1"', "FusedActivation|LEAKY_RELU", "Alpha", "missing|needs?|required|without|lacks|left out|give"],
    ),
    case(
        "operator as the type of a node",
        edit(GRAPH, {"Nodes/relu/Type": "ACTIVATION_RELU"}),
        [r'help: "Type": "OPERATOR", "Desc": \{"Operator": \{"Type": "ACTIVATION_RELU", "Desc": \{\.\.\.\}\}\}'],
    ),
    case(
        "operator without one of its underscores",
        edit(GRAPH, {"Nodes/sum/Desc/Operator/Type": "ELEMENTWISE_ADD"}),
        ["ELEMENTWISE_ADD", 'did you mean "ELEMENT_WISE_ADD"'],
        fixed=True,
    ),
    case(
        "strides and size in bytes",
        edit(HEADS, {"merge/InputTensor/Strides": [2560, 64, 640, 4]}),
        ['"merge"', r"\b2,?560\b", r"\b10,?2(28|40)\b|(?i:elements)|\[640, 16, 160, 1\]"],
    ),
    case(
        "strides in bytes",
        edit(GRAPH, {"sum/BTensor/Strides": [768, 256, 32, 4]}),
        ["look like bytes", r"\[192, 64, 8, 1\]"],
        severity="warning",
    ),
)

TENSORS = (
    case(
        "GEMM: bias of one row",
        edit(PERCEPTRON, {"up/CTensor/Strides": REMOVE, "up/CTensor/Sizes": [1, 1, 1, 256], "up/OutputTensor": HERE}),
        ['"up"', "CTensor", r"\b32\b", r"(help|or):.*\[1, 1, 32, 256\].*Strides.*\[0, 0, 0, 1\]"],
    ),
    case(
        "GEMM: keys not transposed",
        edit(HEADS, {"scores/TransB": "DML_MATRIX_TRANSFORM_NONE", "scores/BTensor": HERE}),
        ['"scores"', r"\b16\b", r"\b10\b", r"(?i)(help|or|mean|set)\b.*TRANSPOSE"],
    ),
    case(
        "SPACE_TO_DEPTH1: output with the input's channels",
        edit(GRAPH_OF_POOLS, {"focus/OutputTensor/Sizes": [1, 3, 8, 8]}),
        ['"focus"', "OutputTensor", r"\b3\b", r"(help|or): OutputTensor.*\[1, 12, 8, 8\]"],
    ),
    case(
        "convolution: filter in HWIO order, as in TensorFlow",
        edit(HALVED, {"stem/FilterTensor/Sizes": [7, 7, 3, 16]}),
        ['"stem"', "FilterTensor", r"\b16\b|\b3\b", r"\b7\b", r"\[16, 3, 7, 7\]|HWIO"],
    ),
    case(
        "convolution: one-dimensional bias, as in PyTorch",
        edit(HALVED, {"stem/BiasTensor/Sizes": [16]}),
        ['"stem"', "BiasTensor", r"\[1, 16, 1, 1\]|\b4\b|(?i:four)"],
    ),
    case(
        "filter in FLOAT16",
        edit(GRAPH_OF_FOUR, {"conv/FilterTensor/DataType": "FLOAT16"}),
        ["FilterTensor", "FLOAT16", "(help|or):.*FLOAT32"],
    ),
    case(
        "filter with inputs first",
        edit(GRAPH_OF_FOUR, {"conv/FilterTensor/Sizes": [3, 8, 3, 3]}),
        ["FilterTensor", r"\[3, 8, 3, 3\]", r"(help|or): FilterTensor.*\[8, 3, 3, 3\]"],
    ),
    case(
        "mask in FLOAT16",
        edit(HEADS, {"masked/BTensor/DataType": "FLOAT16"}),
        ['"masked"', "BTensor", "FLOAT16", "FLOAT32"],
    ),
    case(
        "mask not broadcast over heads",
        edit(HEADS, {"masked/BTensor/Strides": REMOVE, "masked/BTensor/Sizes": [1, 1, 10, 10]}),
        ['"masked"', "BTensor", r"\b1\b", r"\b4\b", "(?i)strides|broadcast|repeat"],
    ),
    case(
        "mean of the convolution's input channels",
        edit(GRAPH_OF_FOUR, {"norm/MeanTensor/Sizes": [1, 3, 1, 1]}),
        ["MeanTensor", r"\b3\b", r"\b8\b", r"(help|or): MeanTensor.*\[1, 8, 1, 1\]"],
    ),
    case(
        "one-dimensional operand",
        edit(GRAPH, {"sum/BTensor/Sizes": [3]}),
        [r"Strides \[0, 1, 0, 0\]"],
        never=("reinterpret",),
    ),
    case(
        "output in another data type",
        edit(GRAPH, {"relu/OutputTensor/DataType": "FLOAT16"}),
        ["OutputTensor of data type FLOAT32", "CAST"],
        never=(r"cast\(",),
    ),
    case(
        "output with the sizes of another network",
        edit(GRAPH, {"sum/OutputTensor/Sizes": [1, 3, 16, 16], "sum/OutputTensor": THERE}),
        ["OutputTensor", r"\[1, 3, 16, 16\]", r"(help|or): OutputTensor.*\[1, 3, 8, 8\]"],
    ),
    case(
        "pooling window of another network",
        edit(GRAPH_OF_FOUR, {"pool/WindowSize": [4, 4], "pool/OutputTensor": HERE}),
        ["pool", r"(help|or):.*(WindowSize \[2, 2\]|Padding \[1, 1\]|\[1, 8, 7, 7\])"],
        severity="",
    ),
    case(
        "stride of 2, output not halved",
        edit(GRAPH_OF_FOUR, {"conv/Strides": [2, 2], "conv/OutputTensor": HERE}),
        ["conv", "OutputTensor", r"(help|or): (Strides \[1, 1\]|OutputTensor.*\[1, 8, 8, 8\])"],
    ),
    case(
        "transposed convolution: filter with outputs first",
        edit(HALVED, {"up/FilterTensor/Sizes": [8, 16, 3, 3]}),
        ['"up"', "FilterTensor", r"\b16\b", r"\b8\b", r"\[16, 8, 3, 3\]|(?i:direction|swap|order)"],
    ),
)

EDGES = (
    case(
        "constant in FLOAT64, as numpy makes it",
        edit(
            GRAPH_OF_TWO,
            {"Nodes/2/Desc/DataSize": 64, "Nodes/2/Desc/Data": b64encode(np.full(8, 0.5).tobytes()).decode()},
        ),
        ['"bias"|BiasTensor|DataSize|"conv1"', r"\b64\b", r"\b32\b"],
    ),
    case(
        "edge between two nodes forgotten",
        edit(GRAPH, {"IntermediateEdges/0": REMOVE, "relu/InputTensor": HERE}),
        ["InputTensor", "relu", "sum", "IntermediateEdges|edge"],
    ),
    case(
        "edge does not count an absent tensor",
        graph(
            serialized(
                "rnn",
                "LSTM",
                [1, 6, 2, 10],
                [1, 1, 64, 10],
                [1, 1, 64, 16],
                None,
                [1, 1, 2, 16],
                OutputSequenceTensor=f32(6, 1, 2, 16),
            ),
            inputs=[(0, 0), (0, 1), (0, 2), (0, 3)],
            edges=[],
            output=0,
        ),
        ["BiasTensor", "HiddenInitTensor", r"ToNodeInputIndex.*\b4\b"],
        "InputEdges/3",
        fixed=True,
    ),
    case(
        "edge from a node to itself",
        edit(GRAPH, {"IntermediateEdges/0/FromNodeIndex": 1}),
        ['"relu"', "itself|own output|cycle", r"help:.*FromNodeIndex.*\b0\b"],
    ),
    case(
        "edge from an absent output",
        edit(GRAPH_OF_POOLS, {"pool/OutputIndicesTensor": None, "IntermediateEdges/2": HERE}),
        ["OutputIndicesTensor|FromNodeOutputIndex", '"pool"'],
    ),
    case(
        "edge from an output counted from 1",
        edit(GRAPH, {"OutputEdges/0/FromNodeOutputIndex": 1}),
        [
            "FromNodeOutputIndex|output 1",
            r"ACTIVATION_RELU|\"relu\"",
            "OutputTensor|1 output",
            r"(help|or|did you mean):?.*\b0\b",
        ],
    ),
    case(
        "edge of the bias forgotten",
        edit(PERCEPTRON, {"InputEdges/5": REMOVE, "down/CTensor": HERE}),
        [
            '"down"',
            "CTensor",
            r"(help|or):.*(ToNodeIndex\W+2.*ToNodeInputIndex\W+2|[Ee]dge.*(CTensor|down|2)|CTensor.*null|null.*CTensor)",
        ],
    ),
    case(
        "edge reversed",
        edit(GRAPH, {"IntermediateEdges/0/FromNodeIndex": 1, "IntermediateEdges/0/ToNodeIndex": 0}),
        [r"help:.*FromNodeIndex.*\b0\b", r"help:.*ToNodeIndex.*\b1\b"],
    ),
    case(
        "edge to a node counted from 1",
        edit(GRAPH, {"IntermediateEdges/0/ToNodeIndex": 2}),
        ["ToNodeIndex", r"\b2\b", "0 (to|or|and) 1|2 nodes", r"(help|or):.*(\b1\b|relu)"],
    ),
    case(
        "edge to an input of a node that has one",
        edit(GRAPH, {"InputEdges/-": input_edge(1, 1, 0)}),
        ["another edge leads to input 0", "the first edge to it"],
    ),
    case(
        "edge to the first input instead of the second",
        edit(HEADS, {"InputEdges/3/ToNodeInputIndex": 0}),
        ['"context"|ToNodeIndex.{0,5}3|node 3', "ATensor|BTensor|ToNodeInputIndex|input 0|input 1"],
    ),
    case(
        "edges count the inputs of a node without the one from a node",
        edit(GRAPH_OF_FOUR, {f"InputEdges/{edge}/ToNodeInputIndex": edge - 2 for edge in range(2, 6)}),
        ["already|two edges|another edge", "BiasTensor"],
    ),
    case(
        "graph inputs numbered with a gap",
        edit(GRAPH, {"InputEdges/1/GraphInputIndex": 2}),
        ["nothing is connected to graph input 1", "numbered from 0 on"],
        severity="warning",
    ),
    case(
        "graph outputs counted from 1",
        edit(GRAPH, {"OutputEdges/0/GraphOutputIndex": 1}),
        ["output 0|GraphOutputIndex", r"numbered from 0|\b0\b"],
    ),
    case(
        "one filter for two convolutions",
        edit(GRAPH_OF_TWO, {"InputEdges/2/GraphInputIndex": 1}),
        ['"conv2"|FilterTensor|/InputEdges/', r"\[8, 3, 3, 3\]|\b864\b|\b216\b", r"\[16, 8, 3, 3\]|\b4608\b|\b1152\b"],
        severity="warning",
    ),
    case(
        "output edge and inner edge swapped",
        edit(GRAPH_OF_FOUR, {"IntermediateEdges/1/FromNodeIndex": 0, "Nodes/norm/Desc/Operator/Desc": HERE}),
        ['"norm"', '(help|or):.*"(relu|norm)"'],
    ),
    case(
        "output edge not moved to the new last node",
        edit(GRAPH_OF_FOUR, {"OutputEdges/0/FromNodeIndex": 2, "Nodes/pool/Desc/Operator/Desc": HERE}),
        ['"pool"', "OutputEdges|output edge|FromNodeIndex|output of the graph"],
        severity="warning",
    ),
    case(
        "pooling in FLOAT16 after FLOAT32",
        edit(GRAPH_OF_FOUR, {"pool/InputTensor/DataType": "FLOAT16", "pool/OutputTensor/DataType": "FLOAT16"}),
        ["InputTensor", '"?relu"?', "FLOAT16", "(help|or):.*(CAST|FLOAT32)"],
    ),
    case(
        "reader larger than the producer",
        edit(GRAPH, {"relu/InputTensor/Sizes": [1, 3, 8, 9], "IntermediateEdges/0": HERE}),
        ["the output has 768 bytes, and InputTensor reads 864"],
        never=("OutputTensor of sizes",),
    ),
    case(
        "second edge from the first output of a pool",
        edit(GRAPH_OF_POOLS, {"IntermediateEdges/2/FromNodeOutputIndex": 0, "unpool/IndicesTensor": HERE}),
        ["IndicesTensor", "FLOAT32", "UINT32", "(help|or|mean):?.*(FromNodeOutputIndex 1|OutputIndicesTensor)"],
    ),
    case(
        "two edges to one graph output",
        edit(GRAPH, {"OutputEdges/-": output_edge(0, 0, 0), "OutputEdges/0": THERE}),
        ["output 0 already", "a number of its own"],
    ),
    case(
        "two graph inputs lead to one input of a node",
        edit(GRAPH, {"InputEdges/1/ToNodeInputIndex": 0}),
        ["ATensor|input 0", r"(help|or):.*ToNodeInputIndex.*\b1\b"],
    ),
)
