"""One case for each rule about nodes, values and buffers."""

from __future__ import annotations

from dataclasses import replace

from dml2onnx.codes import checking as codes
from dml2onnx.ir.graph import Graph, GraphInput, Read, Value, Write
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType
from tests.checks.build import graph, node, op, t, unary, value
from tests.checks.cases import Case, case

X = t(1, 1, 4, 4)
RELU = unary("ACTIVATION_RELU", X)
FUSED = op("ELEMENT_WISE_ADD1", ATensor=X, BTensor=X, OutputTensor=X, FusedActivation=op("ACTIVATION_RELU"))
SOFTMAX = unary("ACTIVATION_SOFTMAX1", X, Axes=(3,))
PLACES = replace(t(1, 1, 2, 2), data_type=DataType.UINT32)


def reading(read: Read, desc: OperatorDesc = RELU) -> Graph:
    """A graph with a node that reads a graph input in this way."""
    y = value("y", X)
    return graph([node(desc, {"InputTensor": [read]}, {"OutputTensor": [y]})], [read.value], [(y, X)])


def _chain(*links: tuple[Value, Value, str], inputs: list[Value], output: Value) -> Graph:
    nodes = [
        node(RELU, {"InputTensor": [source]}, {"OutputTensor": [target]}, name, f"/nodes/{i}/desc")
        for i, (source, target, name) in enumerate(links)
    ]
    return graph(nodes, inputs, [(output, X)])


def _two(first: OperatorDesc, second: OperatorDesc) -> Graph:
    """A node that reads the result of another."""
    reads = {field.name: [a] for field in first.schema.input_fields if first.find(field.name) is not None}
    links = [(first, reads, b), (second, {"InputTensor": [b]}, c)]
    nodes = [
        node(desc, read, {"OutputTensor": [target]}, target.name, f"/nodes/{i}/desc")
        for i, (desc, read, target) in enumerate(links)
    ]
    return graph(nodes, [a], [(c, X)])


def _ring(count: int) -> Graph:
    """Nodes in a cycle."""
    ring = [value(f"v{index}", X) for index in range(count)]
    links = [(ring[index - 1], ring[index], f"n{index}") for index in range(count)]
    return _chain(*links, inputs=[], output=ring[-1])


def _misread_input() -> Graph:
    """Two sums read an input of a size that is valid for neither."""
    other, x = t(1, 1, 4, 5), value("x", t(1, 1, 4, 5))
    desc = op("ELEMENT_WISE_ADD", ATensor=X, BTensor=other, OutputTensor=X)
    sides = [value("a", X), value("b", X)]
    sums = [value("s", X), value("t", X)]
    nodes = [
        node(desc, {"ATensor": [side], "BTensor": [x]}, {"OutputTensor": [total]}, total.name)
        for side, total in zip(sides, sums, strict=True)
    ]
    made = graph(nodes, sides, [(total, X) for total in sums])
    return replace(made, inputs=(*made.inputs, GraphInput("x", x, None, other, "/inputs/x")))


def _places_from_values(*, offset: int = 0) -> Graph:
    """Indices are read from the values of a pool, whose input begins at an offset."""
    desc = op(
        "MAX_POOLING2",
        InputTensor=X,
        OutputTensor=t(1, 1, 2, 2),
        OutputIndicesTensor=PLACES,
        Strides=(2, 2),
        WindowSize=(2, 2),
        StartPadding=(0, 0),
        EndPadding=(0, 0),
        Dilations=(1, 1),
    )
    undone = op(
        "MAX_UNPOOLING",
        InputTensor=t(1, 1, 2, 2),
        IndicesTensor=PLACES,
        OutputTensor=X,
    )
    x, most, places, y = Value("x", 64 + offset), value("m", t(1, 1, 2, 2)), value("p", t(1, 1, 2, 2)), value("y", X)
    pool = node(
        desc, {"InputTensor": [Read(x, offset)]}, {"OutputTensor": [most], "OutputIndicesTensor": [places]}, "pool"
    )
    unpool = node(
        undone, {"InputTensor": [most], "IndicesTensor": [most]}, {"OutputTensor": [y]}, "undone", "/nodes/1/desc"
    )
    return graph([pool, unpool], [x], [(y, X)])


def _in_place(desc: OperatorDesc, read_offset: int, write_offset: int, nbytes: int = 256) -> Graph:
    before, after = Value("buffer", nbytes), Value("buffer", nbytes)
    return graph(
        [
            node(
                desc,
                {"InputTensor": [Read(before, read_offset)]},
                {"OutputTensor": [Write(after, write_offset, before)]},
            )
        ],
        [before],
        [(after, X)],
    )


def _two_outputs(*, keeps: bool = True) -> Graph:
    """Both outputs in one buffer; ``keeps`` says whether the first one keeps the rest of it."""
    values, indices = t(1, 1, 4, 4), t(1, 1, 4, 4, type="UINT32")
    desc = op("TOP_K", InputTensor=X, OutputValueTensor=values, OutputIndexTensor=indices, Axis=3, K=4)
    x, old = value("x", X), Value("buffer", 256)
    first, second = Value("buffer", 256), Value("buffer", 256)
    writes = {
        "OutputValueTensor": [Write(first, 0, old if keeps else None)],
        "OutputIndexTensor": [Write(second, 32, first)],
    }
    return graph([node(desc, {"InputTensor": [x]}, writes)], [x], [(second, values)], [old] if keeps else [])


a, b, c, d = (value(name, X) for name in "abcd")

CASES: list[Case] = [
    case("unknown value", _chain((a, b, "one"), inputs=[], output=b), codes.UNKNOWN_VALUE, "InputTensor"),
    case("output without source", graph([], [a], [(a, X), (b, X)]), codes.OUTPUT_WITHOUT_SOURCE, None),
    case(
        "cycle of two",
        _chain((b, a, "one"), (a, b, "two"), inputs=[], output=b),
        codes.CYCLE,
        "/nodes/0/desc/InputTensor",
    ),
    case("cycle of twelve", _ring(12), codes.CYCLE, "/nodes/0/desc/InputTensor"),
    case("cycle of thirteen", _ring(13), codes.CYCLE, "/nodes/0/desc/InputTensor"),
    case(
        "indices from values",
        _places_from_values(),
        codes.READ_AS_OTHER_TYPE,
        "/nodes/1/desc/IndicesTensor",
    ),
    case(
        "indices from values of a pool with an offset",
        _places_from_values(offset=16),
        codes.READ_AS_OTHER_TYPE,
        "/nodes/1/desc/IndicesTensor",
    ),
    case("graph input of wrong sizes", _misread_input(), codes.WRONG_INPUT_SIZES, "/inputs/x/Sizes"),
    case("cycle of one", _chain((a, a, "one"), inputs=[], output=a), codes.CYCLE, "/nodes/0/desc/InputTensor"),
    case(
        "value written twice",
        _chain((a, b, "one"), (a, b, "two"), inputs=[a], output=b),
        codes.VALUE_WRITTEN_TWICE,
        "/nodes/1/desc/OutputTensor",
    ),
    case(
        "graph input written",
        _chain((a, b, "one"), (b, a, "two"), inputs=[a], output=b),
        codes.VALUE_WRITTEN_TWICE,
        "/nodes/1/desc/OutputTensor",
    ),
    case(
        "duplicate node name",
        _chain((a, b, "one"), (b, c, "one"), inputs=[a], output=c),
        codes.DUPLICATE_NODE_NAME,
        "/nodes/1/name",
    ),
    case("duplicate input name", graph([], [a, value("a", X)], [(a, X)]), codes.DUPLICATE_BINDING_NAME, None),
    case("duplicate output name", graph([], [a], [(a, X), (a, X)]), codes.DUPLICATE_BINDING_NAME, None),
    case("read beyond the buffer", reading(Read(Value("x", 60))), codes.OUT_OF_BOUNDS, "InputTensor"),
    case("read beyond by its offset", reading(Read(Value("x", 64), 16)), codes.OUT_OF_BOUNDS, "InputTensor"),
    case(
        "read beyond by its total size",
        reading(Read(Value("x", 64)), op("ACTIVATION_RELU", InputTensor=t(1, 1, 4, 4, total=80), OutputTensor=X)),
        codes.OUT_OF_BOUNDS,
        "InputTensor",
    ),
    case("output view beyond the buffer", graph([], [a], [(a, t(1, 1, 4, 5))]), codes.OUT_OF_BOUNDS, None),
    case("misaligned offset", reading(Read(Value("x", 96), 8)), codes.MISALIGNED_OFFSET, "InputTensor"),
    case(
        "broken promise",
        reading(
            Read(Value("x", 96), 16), op("ACTIVATION_RELU", InputTensor=t(1, 1, 4, 4, alignment=32), OutputTensor=X)
        ),
        codes.BROKEN_ALIGNMENT_PROMISE,
        "InputTensor",
    ),
    case(
        "unbound input",
        graph([node(RELU, {}, {"OutputTensor": [b]})], [], [(b, X)]),
        codes.UNBOUND_TENSOR,
        "InputTensor",
    ),
    case(
        "unbound part of an array",
        graph(
            [
                node(
                    op("JOIN", InputTensors=(t(1, 1, 4, 2), t(1, 1, 4, 2)), OutputTensor=X, Axis=3),
                    {"InputTensors": [a]},
                    {"OutputTensor": [b]},
                )
            ],
            [a],
            [(b, X)],
        ),
        codes.UNBOUND_TENSOR,
        "InputTensors/1",
    ),
    case(
        "bound to an absent tensor",
        graph(
            [
                node(
                    op("GEMM", ATensor=X, BTensor=X, OutputTensor=X),
                    {"ATensor": [a], "BTensor": [a], "CTensor": [a]},
                    {"OutputTensor": [b]},
                )
            ],
            [a],
            [(b, X)],
        ),
        codes.BOUND_WITHOUT_TENSOR,
        "CTensor",
    ),
    case(
        "bound to no tensor at all",
        graph([node(RELU, {"InputTensor": [a], "Input": [a]}, {"OutputTensor": [b]})], [a], [(b, X)]),
        codes.BOUND_WITHOUT_TENSOR,
        "Input",
    ),
    case("partial overlap", _in_place(RELU, 0, 32), codes.PARTIAL_OVERLAP, "OutputTensor"),
    case("overlapping outputs", _two_outputs(), codes.OVERLAPPING_WRITES, "OutputIndexTensor"),
    case(
        "overlapping outputs, the first over nothing",
        _two_outputs(keeps=False),
        codes.OVERLAPPING_WRITES,
        "OutputIndexTensor",
    ),
    case(
        "not an in-place operator",
        _in_place(unary("PADDING", X, StartPadding=(0,) * 4, EndPadding=(0,) * 4), 0, 0),
        codes.NOT_IN_PLACE,
        "OutputTensor",
    ),
    case(
        "in place in another layout",
        _in_place(op("ACTIVATION_RELU", InputTensor=t(1, 1, 4, 4, strides=(16, 16, 1, 4)), OutputTensor=X), 0, 0),
        codes.NOT_IN_PLACE,
        "OutputTensor",
    ),
    case(
        "owned and computed",
        graph(
            [
                node(
                    op("ACTIVATION_RELU", InputTensor=t(1, 1, 4, 4, owned=True), OutputTensor=X),
                    {"InputTensor": [b]},
                    {"OutputTensor": [c]},
                ),
                node(RELU, {"InputTensor": [a]}, {"OutputTensor": [b]}, "first"),
            ],
            [a],
            [(c, X)],
        ),
        codes.OWNED_INTERMEDIATE,
        "InputTensor/Flags",
    ),
    case("dead node", _chain((a, b, "one"), inputs=[a], output=a), codes.DEAD_NODE),
    case(
        "dead node of a DML_GRAPH_DESC",
        replace(_chain((a, b, "one"), inputs=[a], output=a), format="dml_graph"),
        codes.DEAD_NODE_REFUSED,
    ),
    case("fused activation repeated", _two(FUSED, RELU), codes.NO_EFFECT, "/nodes/1/desc/InputTensor"),
    case("softmax repeated", _two(SOFTMAX, SOFTMAX), codes.NO_EFFECT, "/nodes/1/desc/InputTensor"),
    case("no outputs", graph([], [a]), codes.NO_OUTPUTS, None),
    case("unread input", graph([], [a, b], [(a, X)]), codes.UNREAD_INPUT, None),
    case("unread constant", graph([], [a], [(a, X)], [b]), codes.UNREAD_CONSTANT, None),
    case(
        "strides in bytes",
        op("ACTIVATION_RELU", InputTensor=t(1, 2, 3, 4, strides=(96, 48, 16, 4)), OutputTensor=t(1, 2, 3, 4)),
        codes.STRIDES_IN_BYTES,
        "InputTensor/Strides",
    ),
]
