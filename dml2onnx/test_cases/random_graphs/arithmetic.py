"""Random nodes that compute: element-wise, activations, padding, pooling, convolution, products, resampling."""

from __future__ import annotations

from collections.abc import Callable, Collection
from math import prod
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from dml2onnx import catalog
from dml2onnx.catalog import LATEST
from dml2onnx.ir.operator import OperatorDesc, Scalar, ScaleBias
from dml2onnx.ir.tensor import DataType
from dml2onnx.test_cases.descriptors import operator
from dml2onnx.test_cases.random_graphs.draft import FACTORS, MAX_ELEMENTS, POSITIVE, GraphDraft


def number(g: GraphDraft, data_type: DataType) -> float | int:
    """A small number of a data type."""
    if data_type.is_float:
        return g.draw(st.sampled_from([-1.5, 0.0, 0.25, 3.0]))
    return g.draw(st.integers(max(data_type.limits[0], -5), 5))


def attributes(g: GraphDraft, name: str, rank: int) -> dict[str, Any]:
    """Fields of an activation."""
    fields: dict[str, Any] = {}
    for item in catalog.operator(name).attribute_fields:
        if item.dimensions == "axes":
            fields[item.name] = g.draw(st.lists(st.integers(0, rank - 1), min_size=1, max_size=rank, unique=True))
        elif item.name == "Min":
            fields |= {"Min": -1.0, "Max": 2.5}
        elif item.type is catalog.FieldType.FLOAT and item.name != "Max":
            fields[item.name] = g.draw(POSITIVE if item.name in ("Steepness", "Alpha") else FACTORS)
    return fields


def activation(g: GraphDraft, host: str, rank: int) -> OperatorDesc | None:
    """A fused activation."""
    if not g.chance(3):
        return None
    name = g.draw(st.sampled_from(sorted(catalog.fused_activations(host)))).removeprefix("DML_OPERATOR_")
    return operator(name, **attributes(g, name, rank))


def is_plain(name: str) -> bool:
    """Whether all tensors of an operator share a data type, and its attributes have types that are drawn here."""
    schema = catalog.operator(name)
    rows = schema.rows_at(LATEST)
    types = {frozenset(support.data_types) for row in rows for support in row.tensors.values()}
    known = (catalog.FieldType.FLOAT, catalog.FieldType.SCALE_BIAS, catalog.FieldType.OPERATOR)
    attributes_known = all(item.type in known for item in schema.attribute_fields)
    return len(rows) == len(types) == len(schema.output_fields) == 1 and (attributes_known or name.endswith("CLIP1"))


def element_wise(g: GraphDraft, name: str) -> None:
    """Activations and element-wise operators, whose tensors have the same sizes."""
    schema = catalog.operator(name)
    first, *others = [item.name for item in schema.input_fields]
    (output,) = [item.name for item in schema.output_fields]
    desc, read = g.any_input(name, first)
    inputs = {first: (desc, read)} | {other: g.view(desc.data_type, desc.sizes) for other in others}
    fields: dict[str, Any] = {}
    if "ScaleBias" in schema.index and g.chance(2):
        fields["ScaleBias"] = ScaleBias(g.draw(FACTORS), g.draw(FACTORS))
    if name == "ELEMENT_WISE_ADD1":
        fields["FusedActivation"] = activation(g, name, desc.rank)
    elif "Min" in schema.index and "Max" not in schema.index:
        fields["Min"] = g.draw(FACTORS)
    elif name == "ELEMENT_WISE_CLIP":
        fields |= {"Min": -1.5, "Max": g.draw(st.sampled_from([-1.5, 0.5, 100.0]))}
    elif name == "ELEMENT_WISE_CLIP1":
        low, high = sorted((number(g, desc.data_type), number(g, desc.data_type)))
        fields |= {"Min": Scalar(desc.data_type, low), "Max": Scalar(desc.data_type, high)}
        fields["MinMaxDataType"] = desc.data_type.name
    else:
        fields |= attributes(g, name, desc.rank)
    g.add(name, inputs, {output: g.layout(desc.data_type, desc.sizes, output=True)}, **fields)


def join(g: GraphDraft, name: str) -> None:
    """A join of up to three tensors along any axis."""
    views = [g.any_input(name, "InputTensors")]
    desc, _ = views[0]
    axis = g.draw(st.integers(0, desc.rank - 1))
    sizes = list(desc.sizes)
    for _ in range(g.draw(st.integers(0, 2))):
        sizes[axis] = g.draw(st.integers(1, 3))
        views.append(g.view(desc.data_type, sizes))
    descs, reads = zip(*views, strict=True)
    sizes[axis] = sum(item.sizes[axis] for item in descs)
    output = g.layout(desc.data_type, sizes, output=True)
    op = operator(name, InputTensors=descs, OutputTensor=output, Axis=axis)
    g.add_node(op, {"InputTensors": reads}, {"OutputTensor": (output,)})


def padding(g: GraphDraft, name: str) -> None:
    """Any padding around any tensor, in every mode."""
    desc, read = g.any_input(name)
    most = 3 if desc.rank <= 3 else 1
    start, end = g.each(desc.rank, 0, most), g.each(desc.rank, 0, most)
    sizes = [n + a + b for n, a, b in zip(desc.sizes, start, end, strict=True)]
    assume(prod(sizes) <= 4 * MAX_ELEMENTS)
    fields: dict[str, Any] = {"PaddingMode": g.draw(st.sampled_from(sorted(modes(name))))}
    if name == "PADDING":
        fields["PaddingValue"] = g.draw(FACTORS)
    else:
        fields["PaddingValueDataType"] = desc.data_type.name
        fields["PaddingValue"] = Scalar(desc.data_type, number(g, desc.data_type))
    fields |= {"StartPadding": start, "EndPadding": end}
    g.add(name, {"InputTensor": (desc, read)}, {"OutputTensor": g.layout(desc.data_type, sizes, output=True)}, **fields)


def modes(name: str) -> Collection[str]:
    """The padding modes of an operator."""
    item = catalog.operator(name).fields_by_name["PaddingMode"]
    assert item.enum is not None
    return catalog.enum_schema(item.enum).values


def pooling(g: GraphDraft, name: str) -> None:
    """Windows of any shape over any tensor, with indices if the operator has them."""
    desc, read = g.any_input(name)
    schema, n = catalog.operator(name), desc.rank - 2
    window, strides, start, end = g.each(n, 1, 3), g.each(n, 1, 3), g.each(n, 0, 1), g.each(n, 0, 1)
    dilations = g.each(n, 1, 2) if "Dilations" in schema.index else (1,) * n
    reach = [(k - 1) * d + 1 for k, d in zip(window, dilations, strict=True)]
    end = tuple(max(b, r - s - a) for b, r, s, a in zip(end, reach, desc.sizes[2:], start, strict=True))
    space = [s + a + b - r for s, a, b, r in zip(desc.sizes[2:], start, end, reach, strict=True)]
    up = g.draw(st.booleans())
    spatial = [(-(-r // s) if up else r // s) + 1 for r, s in zip(space, strides, strict=True)]
    sizes = (*desc.sizes[:2], *spatial)
    fields: dict[str, Any] = {"Strides": strides, "WindowSize": window, "StartPadding": start, "EndPadding": end}
    if "Dilations" in schema.index:
        fields["Dilations"] = dilations
    if "IncludePadding" in schema.index:
        fields["IncludePadding"] = g.draw(st.booleans())
    outputs = {"OutputTensor": g.layout(desc.data_type, sizes, output=True)}
    if "OutputIndicesTensor" in schema.index and g.chance(2):
        outputs["OutputIndicesTensor"] = g.layout(g.data_type(name, "OutputIndicesTensor"), sizes, output=True)
    g.add(name, {"InputTensor": (desc, read)}, outputs, **fields)


def convolution(g: GraphDraft, name: str) -> None:
    """Convolutions in both directions, with groups, padding, dilation, bias and activation."""
    desc, read = g.any_input(name)
    n = desc.rank - 2
    forward = g.draw(st.booleans())
    groups = g.draw(st.sampled_from([k for k in range(1, desc.sizes[1] + 1) if desc.sizes[1] % k == 0]))
    inner, outer = desc.sizes[1] // groups, g.draw(st.integers(1, 3))
    kernel, strides, dilations = g.each(n, 1, 3), g.each(n, 1, 2), g.each(n, 1, 2)
    start, end, blank = g.each(n, 0, 2), g.each(n, 0, 2), (0,) * n
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    if forward:
        end = tuple(max(b, r - s - a) for b, r, s, a in zip(end, reach, desc.sizes[2:], start, strict=True))
        spatial = [
            (s + a + b - r) // k + 1 for s, a, b, r, k in zip(desc.sizes[2:], start, end, reach, strides, strict=True)
        ]
        filter_sizes = (outer * groups, inner, *kernel)
    else:
        blank = g.each(n, 0, 1)
        full = [(s - 1) * k + r for s, k, r in zip(desc.sizes[2:], strides, reach, strict=True)]
        start = tuple(min(a, f - 1) for a, f in zip(start, full, strict=True))
        end = tuple(min(b, f - 1 - a) for a, b, f in zip(start, end, full, strict=True))
        spatial = [f + o - a - b for f, o, a, b in zip(full, blank, start, end, strict=True)]
        filter_sizes = (inner * groups, outer, *kernel)
    inputs = {"InputTensor": (desc, read), "FilterTensor": g.view(desc.data_type, filter_sizes)}
    if g.chance(2):
        inputs["BiasTensor"] = g.view(desc.data_type, (1, outer * groups, *(1,) * n))
    g.add(
        name,
        inputs,
        {"OutputTensor": g.layout(desc.data_type, (desc.sizes[0], outer * groups, *spatial), output=True)},
        Mode=g.draw(st.sampled_from(["CROSS_CORRELATION", "CONVOLUTION"])),
        Direction="FORWARD" if forward else "BACKWARD",
        Strides=strides,
        Dilations=dilations,
        StartPadding=start,
        EndPadding=end,
        OutputPadding=blank,
        GroupCount=groups,
        FusedActivation=activation(g, name, desc.rank),
    )


def gemm(g: GraphDraft, name: str) -> None:
    """Products of matrices, transposed or not, with an optional addend."""
    a, read = g.any_input(name, "ATensor")
    flip_a, flip_b = g.draw(st.booleans()), g.draw(st.booleans())
    m, k = a.sizes[:-3:-1] if flip_a else a.sizes[-2:]
    n = g.draw(st.integers(1, 4))
    b = g.view(a.data_type, (*a.sizes[:-2], *((n, k) if flip_b else (k, n))))
    inputs, sizes = {"ATensor": (a, read), "BTensor": b}, (*a.sizes[:-2], m, n)
    if g.chance(2):
        inputs["CTensor"] = g.view(a.data_type, sizes)
    g.add(
        name,
        inputs,
        {"OutputTensor": g.layout(a.data_type, sizes, output=True)},
        TransA="TRANSPOSE" if flip_a else "NONE",
        TransB="TRANSPOSE" if flip_b else "NONE",
        Alpha=g.draw(FACTORS),
        Beta=g.draw(FACTORS),
        FusedActivation=activation(g, name, a.rank),
    )


def resample(g: GraphDraft, name: str) -> None:
    """Sizes that grow and shrink, with any pixel offsets."""
    desc, read = g.any_input(name)
    index, rank = catalog.operator(name).index, desc.rank
    sizes = tuple(g.draw(st.sampled_from([n, n, 2 * n, 3 * n, max(n // 2, 1), 5])) for n in desc.sizes)
    assume(prod(sizes) <= 4 * MAX_ELEMENTS)
    fields: dict[str, Any] = {
        "InterpolationMode": g.draw(st.sampled_from(["NEAREST_NEIGHBOR", "LINEAR"])),
        "Scales": tuple(o / n for o, n in zip(sizes, desc.sizes, strict=True)),
    }
    outputs = {"OutputTensor": g.layout(desc.data_type, sizes, output=True)}
    offset = st.sampled_from([0.0, 0.5, -0.5, 0.25])
    for item in ("InputPixelOffsets", "OutputPixelOffsets"):
        if item in index:
            centre = 0.5 if item.startswith("I") else -0.5
            fields[item] = tuple(g.draw(offset) for _ in range(rank)) if g.chance(2) else (centre,) * rank
    if "RoundingDirection" in index:
        fields["RoundingDirection"] = g.draw(st.sampled_from(["INCREASING", "DECREASING"]))
    if "Antialiased" in index:
        fields["Antialiased"] = g.draw(st.booleans())
    g.add(name, {"InputTensor": (desc, read)}, outputs, **fields)


_NAMES = sorted(name.removeprefix("DML_OPERATOR_") for name in catalog.operator_names())

FAMILIES: dict[tuple[str, ...], Callable[[GraphDraft, str], None]] = {
    tuple(name for name in _NAMES if name.startswith("ACTIVATION_")): element_wise,
    tuple(name for name in _NAMES if name.startswith("ELEMENT_WISE_") and is_plain(name)): element_wise,
    ("JOIN",): join,
    ("PADDING", "PADDING1"): padding,
    ("AVERAGE_POOLING", "AVERAGE_POOLING1"): pooling,
    ("MAX_POOLING", "MAX_POOLING1", "MAX_POOLING2"): pooling,
    ("CONVOLUTION",): convolution,
    ("GEMM",): gemm,
    ("RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3"): resample,
}
"""Drawn by group, since most operators are activations or element-wise."""
