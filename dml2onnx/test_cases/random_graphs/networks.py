"""Random nodes of networks: normalisations and recurrent layers."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from hypothesis import strategies as st

from dml2onnx import catalog
from dml2onnx.catalog import FieldType
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType
from dml2onnx.test_cases.descriptors import operator
from dml2onnx.test_cases.random_graphs.arithmetic import activation, attributes
from dml2onnx.test_cases.random_graphs.draft import POSITIVE, GraphDraft

GATES = ["RELU", "LEAKY_RELU", "TANH", "SIGMOID", "HARD_SIGMOID", "ELU", "SOFTSIGN", "LINEAR"]


def normalization(g: GraphDraft, name: str) -> None:
    """Normalization over any axes, with optional parameters that broadcast in any dimensions."""
    desc, read = g.any_input(name)
    schema = catalog.operator(name)
    fields: dict[str, Any] = {"Epsilon": g.draw(st.sampled_from([1e-5, 0.1]))}
    inputs = {"InputTensor": (desc, read)}
    for item in schema.input_fields[1:]:
        if not item.optional or g.chance(2):
            inputs[item.name] = g.view(desc.data_type, [size if g.chance(2) else 1 for size in desc.sizes])
    for item in schema.attribute_fields:
        if item.dimensions == "axes":
            numbers = st.lists(st.integers(0, desc.rank - 1), min_size=1, max_size=desc.rank, unique=True)
            fields[item.name] = g.draw(numbers)
    fields |= {item.name: g.draw(st.booleans()) for item in schema.attribute_fields if item.type is FieldType.BOOL}
    outputs = {"OutputTensor": g.layout(desc.data_type, desc.sizes, output=True)}
    g.add(name, inputs, outputs, **fields, FusedActivation=activation(g, name, desc.rank))


def local_response(g: GraphDraft, name: str) -> None:
    """Local response normalization across channels or within them."""
    desc, read = g.any_input(name)
    g.add(
        name,
        {"InputTensor": (desc, read)},
        {"OutputTensor": g.layout(desc.data_type, desc.sizes, output=True)},
        CrossChannel=g.draw(st.booleans()),
        LocalSize=g.draw(st.integers(1, 5)),
        Alpha=g.draw(POSITIVE),
        Beta=g.draw(st.sampled_from([0.5, 0.75, 1.0])),
        Bias=g.draw(POSITIVE),
    )


def recurrence(g: GraphDraft, name: str) -> None:
    """Recurrent layers with any direction, activations and outputs."""
    schema = catalog.operator(name)
    direction = g.draw(st.sampled_from(["FORWARD", "BACKWARD", "BIDIRECTIONAL"]))
    directions = 2 if direction == "BIDIRECTIONAL" else 1
    known = {"num_directions": directions}
    known |= dict(zip(("seq_length", "batch_size", "input_size", "hidden_size"), g.each(4, 1, 3), strict=True))

    def sizes(shape: str | None) -> tuple[int, ...]:
        assert shape is not None
        terms = shape.strip("{} ").split(",")
        return tuple(prod(known.get(part.strip()) or int(part) for part in term.split("*")) for term in terms)

    data_type = g.data_type(name, "InputTensor")
    fields: dict[str, Any] = {"Direction": direction}
    inputs = {}
    for item in schema.input_fields:
        if item.optional and not g.chance(2):
            continue
        if item.name == "SequenceLengthsTensor":
            inputs[item.name] = g.integers(DataType.UINT32, sizes(item.shape), 0, known["seq_length"])
        else:
            inputs[item.name] = g.view(data_type, sizes(item.shape))
    chosen = [item for item in schema.output_fields if g.chance(2)] or schema.output_fields[:1]
    outputs = {item.name: g.layout(data_type, sizes(item.shape), output=True) for item in chosen}
    gates = {"RNN": 1, "GRU": 2, "LSTM": 3}[name] * directions
    fields["ActivationDescs"] = [gate(g) for _ in range(gates)]
    fields |= {item.name: g.draw(st.booleans()) for item in schema.attribute_fields if item.type is FieldType.BOOL}
    if "ClipThreshold" in schema.index:
        fields["ClipThreshold"] = g.draw(st.sampled_from([0.5, 3.0]))
    g.add(name, inputs, outputs, **fields)


def gate(g: GraphDraft) -> OperatorDesc:
    """An activation of a recurrent network."""
    name = f"ACTIVATION_{g.draw(st.sampled_from(GATES))}"
    return operator(name, **attributes(g, name, 4))


FAMILIES: dict[tuple[str, ...], Callable[[GraphDraft, str], None]] = {
    ("BATCH_NORMALIZATION",): normalization,
    tuple(f"MEAN_VARIANCE_NORMALIZATION{version}" for version in ("", "1", "2")): normalization,
    ("LOCAL_RESPONSE_NORMALIZATION",): local_response,
    ("RNN", "GRU", "LSTM"): recurrence,
}
