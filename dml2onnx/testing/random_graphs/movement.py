"""Random nodes that move, select, order and count elements, change their type, and fill tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from dml2onnx import catalog
from dml2onnx.catalog import LATEST
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Constant, Read, Value
from dml2onnx.ir.operator import Scalar, Size2D
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.testing.descriptors import operator
from dml2onnx.testing.random_graphs.arithmetic import number
from dml2onnx.testing.random_graphs.draft import FACTORS, MAX_ELEMENTS, GraphDraft, of_latest

DIRECTIONS = st.sampled_from(["INCREASING", "DECREASING"])


def chosen_type(g: GraphDraft, name: str, tensor: str) -> DataType:
    """One of the data types that a tensor of an operator admits."""
    return DataType[g.draw(st.sampled_from(of_latest(name, tensor)[1]))]


def counted(g: GraphDraft, data_type: DataType, sizes: Sequence[int], low: int, high: int) -> tuple[TensorDesc, Read]:
    """A constant of whole numbers from ``low`` to ``high``: what an index, a length or a position may be."""
    desc = TensorDesc(data_type, tuple(sizes))
    rng = np.random.default_rng(g.draw(st.integers(0, 9)))
    numbers = rng.integers(low, high + 1, desc.element_count).astype(data_type.dtype)
    raw = np.zeros(desc.minimum_bytes, np.uint8)
    raw[: numbers.nbytes] = numbers.view(np.uint8)
    value = Value(f"indices{len(g.constants)}", desc.minimum_bytes)
    g.constants.append(Constant(value, ArrayData(raw)))
    return desc, Read(value)


def indices(g: GraphDraft, name: str, sizes: Sequence[int], size: int) -> tuple[TensorDesc, Read]:
    """Indices into ``size`` elements, some of them counted from the end where the type has a sign."""
    data_type = chosen_type(g, name, "IndicesTensor")
    return counted(g, data_type, sizes, -size if data_type.is_signed else 0, size - 1)


def single(g: GraphDraft, name: str, read: Read, desc: TensorDesc, sizes: Sequence[int], **fields: Any) -> None:
    """A node from one tensor to another of its data type."""
    assume(prod(sizes) <= 4 * MAX_ELEMENTS)
    output = g.layout(desc.data_type, sizes, output=True)
    g.add(name, {"InputTensor": (read,)}, ["OutputTensor"], InputTensor=desc, OutputTensor=output, **fields)


def any_input(g: GraphDraft, name: str, tensor: str = "InputTensor") -> tuple[TensorDesc, Read]:
    """Any tensor that an operator takes."""
    ranks, data_types = of_latest(name, tensor)
    return g.any_view(data_types, ranks)


def axis_of(g: GraphDraft, desc: TensorDesc) -> int:
    """One of the dimensions."""
    return g.draw(st.integers(0, desc.rank - 1))


# --- Types, windows and blocks ------------------------------------------------------------------------------------


def cast(g: GraphDraft, name: str) -> None:
    """From any data type to any other."""
    desc, read = any_input(g, name)
    output = g.layout(chosen_type(g, name, "OutputTensor"), desc.sizes, output=True)
    g.add(name, {"InputTensor": (read,)}, ["OutputTensor"], InputTensor=desc, OutputTensor=output)


def slicing(g: GraphDraft, name: str) -> None:
    """A window of any tensor, with steps, also backwards."""
    desc, read = any_input(g, name)
    signed = name == "SLICE1"
    offsets, windows, strides, sizes = [], [], [], []
    for size in desc.sizes:
        offset = g.draw(st.integers(0, size - 1))
        window = g.draw(st.integers(1, size - offset))
        stride = g.draw(st.sampled_from([1, 1, 2, -1, -2] if signed else [1, 1, 2]))
        offsets.append(offset)
        windows.append(window)
        strides.append(stride)
        sizes.append(1 + (window - 1) // abs(stride))
    if signed:
        fields = {"InputWindowOffsets": offsets, "InputWindowSizes": windows, "InputWindowStrides": strides}
    else:
        fields = {"Offsets": offsets, "Sizes": sizes, "Strides": strides}
    single(g, name, read, desc, sizes, **fields)


def split(g: GraphDraft, name: str) -> None:
    """Parts of any sizes along an axis."""
    ranks, data_types = of_latest(name, "InputTensor")
    desc, read = g.any_view(data_types, ranks)
    axis = axis_of(g, desc)
    parts, left = [], desc.sizes[axis]
    while left:
        parts.append(g.draw(st.integers(1, left)))
        left -= parts[-1]
    outputs = []
    for part in parts:
        sizes = list(desc.sizes)
        sizes[axis] = part
        outputs.append(g.layout(desc.data_type, sizes, output=True))
    op = operator(name, InputTensor=desc, OutputTensors=outputs, Axis=axis)
    g.add_node(op, {"InputTensor": (read,)}, {"OutputTensors": tuple(outputs)})


def tile(g: GraphDraft, name: str) -> None:
    """Repetitions along every dimension."""
    desc, read = any_input(g, name)
    repeats = g.each(desc.rank, 1, 3 if desc.rank <= 4 else 2)
    single(g, name, read, desc, [n * k for n, k in zip(desc.sizes, repeats, strict=True)], Repeats=repeats)


def blocks(g: GraphDraft, name: str) -> None:
    """Blocks of pixels to channels, and back."""
    _, data_types = of_latest(name, "InputTensor")
    block = g.draw(st.integers(1, 3))
    batch, channels, height, width = g.each(4, 1, 2)
    many = (batch, channels * block * block, height, width)
    wide = (batch, channels, height * block, width * block)
    sizes, result = (wide, many) if name.startswith("SPACE") else (many, wide)
    desc, read = g.view(DataType[g.draw(st.sampled_from(data_types))], sizes)
    fields: dict[str, Any] = {"BlockSize": block}
    if name.endswith("1"):
        fields["Order"] = g.draw(st.sampled_from(["DEPTH_COLUMN_ROW", "COLUMN_ROW_DEPTH"]))
    single(g, name, read, desc, result, **fields)


def pictures(g: GraphDraft, name: str) -> None:
    """Scaled and enlarged pictures."""
    if name == "VALUE_SCALE_2D":
        batch, height, width = g.each(3, 1, 3)
        sizes: tuple[int, ...] = (batch, g.draw(st.sampled_from([1, 3])), height, width)
        desc, read = g.view(chosen_type(g, name, "InputTensor"), sizes)
        bias = tuple(g.draw(FACTORS) for _ in range(desc.sizes[1]))
        single(g, name, read, desc, desc.sizes, Scale=g.draw(FACTORS), Bias=bias)
        return
    desc, read = any_input(g, name)
    width, height = g.each(2, 1, 3)
    sizes = (*desc.sizes[:-2], desc.sizes[-2] * height, desc.sizes[-1] * width)
    mode = g.draw(st.sampled_from(["NEAREST_NEIGHBOR", "LINEAR"]))
    single(g, name, read, desc, sizes, ScaleSize=Size2D(width, height), InterpolationMode=mode)


def folding(g: GraphDraft, name: str) -> None:
    """Windows to columns, and back."""
    count = g.draw(st.integers(1, 2))
    windows, strides, dilations = g.each(count, 1, 2), g.each(count, 1, 2), g.each(count, 1, 2)
    starts, ends, space = g.each(count, 0, 1), g.each(count, 0, 1), g.each(count, 1, 4)
    reach = [(k - 1) * d + 1 for k, d in zip(windows, dilations, strict=True)]
    image = [max(n, r - a - b, 1) for n, r, a, b in zip(space, reach, starts, ends, strict=True)]
    positions = [(n + a + b - r) // s + 1 for n, a, b, r, s in zip(image, starts, ends, reach, strides, strict=True)]
    batch, channels = g.each(2, 1, 2)
    columns = (batch, channels * prod(windows), prod(positions))
    whole = (batch, channels, *image)
    sizes, result = (columns, whole) if name == "FOLD" else (whole, columns)
    desc, read = g.view(DataType.FLOAT32, sizes)
    fields = {"WindowSizes": windows, "Strides": strides, "Dilations": dilations}
    single(g, name, read, desc, result, **fields, StartPadding=starts, EndPadding=ends)


# --- Indices ------------------------------------------------------------------------------------------------------


def gather(g: GraphDraft, name: str) -> None:
    """Slices at indices along an axis."""
    desc, read = any_input(g, name)
    axis = axis_of(g, desc)
    assume(desc.rank < 8)
    count = g.draw(st.integers(1, 2))
    shape = g.each(count, 1, 3)
    sizes = (*desc.sizes[:axis], *shape, *desc.sizes[axis + 1 :])
    rank = max(len(sizes), desc.rank)
    assume(rank <= 8)

    def filled(supplied: Sequence[int]) -> tuple[int, ...]:
        return (1,) * (rank - len(supplied)) + tuple(supplied)

    found, at = indices(g, name, filled(shape), desc.sizes[axis])
    # every tensor has the output's rank: fillers stand in front
    data = TensorDesc(desc.data_type, filled(desc.sizes), (0,) * (rank - desc.rank) + desc.effective_strides)
    output = g.layout(desc.data_type, filled(sizes), output=True)
    g.add(
        name,
        {"InputTensor": (read,), "IndicesTensor": (at,)},
        ["OutputTensor"],
        InputTensor=data,
        IndicesTensor=found,
        OutputTensor=output,
        Axis=axis + rank - desc.rank,
        IndexDimensions=count,
    )


def gather_elements(g: GraphDraft, name: str) -> None:
    """Elements at indices along an axis."""
    desc, read = any_input(g, name)
    axis = axis_of(g, desc)
    sizes = list(desc.sizes)
    sizes[axis] = g.draw(st.integers(1, 4))
    found, at = indices(g, name, sizes, desc.sizes[axis])
    output = g.layout(desc.data_type, sizes, output=True)
    fields = {"InputTensor": desc, "IndicesTensor": found, "OutputTensor": output}
    g.add(name, {"InputTensor": (read,), "IndicesTensor": (at,)}, ["OutputTensor"], **fields, Axis=axis)


def gather_tuples(g: GraphDraft, name: str) -> None:
    """Slices at tuples of indices."""
    desc, read = any_input(g, name)
    batches = g.draw(st.integers(0, desc.rank - 1)) if name == "GATHER_ND1" else 0
    length = g.draw(st.integers(1, desc.rank - batches))
    lead = (*desc.sizes[:batches], *g.each(g.draw(st.integers(0, 1)), 1, 3))
    shape = (*lead, length)
    left = desc.sizes[batches + length :]
    rank = max(desc.rank, len(shape), len(lead) + len(left))
    assume(rank <= 8)

    def filled(supplied: Sequence[int]) -> tuple[int, ...]:
        return (1,) * (rank - len(supplied)) + tuple(supplied)

    smallest = min(desc.sizes[batches : batches + length])
    found, at = indices(g, name, filled(shape), smallest)
    data = TensorDesc(desc.data_type, filled(desc.sizes), (0,) * (rank - desc.rank) + desc.effective_strides)
    fields: dict[str, Any] = {"InputDimensionCount": desc.rank, "IndicesDimensionCount": len(shape)}
    if name == "GATHER_ND1":
        fields["BatchDimensionCount"] = batches
    output = g.layout(desc.data_type, filled((*lead, *left)), output=True)
    fields |= {"InputTensor": data, "IndicesTensor": found, "OutputTensor": output}
    g.add(name, {"InputTensor": (read,), "IndicesTensor": (at,)}, ["OutputTensor"], **fields)


def scatter(g: GraphDraft, name: str) -> None:
    """One update along the axis, so that no two write one element, which DirectML leaves open."""
    desc, read = any_input(g, name)
    axis = axis_of(g, desc)
    sizes = list(desc.sizes)
    sizes[axis] = 1
    found, at = indices(g, name, sizes, desc.sizes[axis])
    updates, source = g.view(desc.data_type, sizes)
    output = g.layout(desc.data_type, desc.sizes, output=True)
    fields = {"InputTensor": desc, "IndicesTensor": found, "UpdatesTensor": updates, "OutputTensor": output}
    reads: dict[str, tuple[Read, ...]] = {
        "InputTensor": (read,),
        "IndicesTensor": (at,),
        "UpdatesTensor": (source,),
    }
    g.add(name, reads, ["OutputTensor"], **fields, Axis=axis)


def one_hot(g: GraphDraft, name: str) -> None:
    """Two values by positions along an axis."""
    ranks, _ = of_latest(name, "OutputTensor")
    sizes = list(g.sizes(*ranks))
    axis = g.draw(st.integers(0, len(sizes) - 1))
    length = sizes[axis]
    found, at = indices(g, name, [1 if i == axis else n for i, n in enumerate(sizes)], length)
    data_type = chosen_type(g, name, "ValuesTensor")
    values, source = g.view(data_type, (*(1,) * (len(sizes) - 1), 2))
    output = g.layout(data_type, sizes, output=True)
    fields = {"IndicesTensor": found, "ValuesTensor": values, "OutputTensor": output}
    g.add(name, {"IndicesTensor": (at,), "ValuesTensor": (source,)}, ["OutputTensor"], **fields, Axis=axis)


def reverse(g: GraphDraft, name: str) -> None:
    """The first elements along an axis, in the other order."""
    desc, read = any_input(g, name)
    axis = axis_of(g, desc)
    sizes = [1 if i == axis else n for i, n in enumerate(desc.sizes)]
    lengths, at = counted(g, chosen_type(g, name, "SequenceLengthsTensor"), sizes, 0, desc.sizes[axis])
    output = g.layout(desc.data_type, desc.sizes, output=True)
    fields = {"InputTensor": desc, "SequenceLengthsTensor": lengths, "OutputTensor": output}
    g.add(name, {"InputTensor": (read,), "SequenceLengthsTensor": (at,)}, ["OutputTensor"], **fields, Axis=axis)


def nonzero(g: GraphDraft, name: str) -> None:
    """Where a tensor is not zero."""
    desc, read = any_input(g, name)
    count = TensorDesc(DataType.UINT32, (1,))
    coordinates = TensorDesc(DataType.UINT32, (desc.element_count, desc.rank))
    fields = {"InputTensor": desc, "OutputCountTensor": count, "OutputCoordinatesTensor": coordinates}
    g.add(name, {"InputTensor": (read,)}, ["OutputCountTensor", "OutputCoordinatesTensor"], **fields)


# --- Along axes ---------------------------------------------------------------------------------------------------


def reduction(g: GraphDraft, name: str) -> None:
    """Over any axes; of REDUCE any function with the types of its own rows."""
    rows = catalog.operator(name).rows_at(LATEST)
    row = g.draw(st.sampled_from(rows))
    ranks = row.tensors["InputTensor"].dimension_counts
    desc, read = g.any_view(sorted(row.tensors["InputTensor"].data_types), ranks)
    axes = g.draw(st.lists(st.integers(0, desc.rank - 1), min_size=1, max_size=desc.rank, unique=True))
    fields: dict[str, Any] = {"Axes": axes}
    data_type = desc.data_type
    if name == "REDUCE":
        fields["Function"] = g.draw(st.sampled_from(row.functions))
    else:
        fields["AxisDirection"] = g.draw(DIRECTIONS)
    results = sorted(row.tensors["OutputTensor"].data_types)
    if data_type.name not in results or name != "REDUCE":
        data_type = DataType[g.draw(st.sampled_from(results))]
    sizes = [1 if i in axes else n for i, n in enumerate(desc.sizes)]
    output = g.layout(data_type, sizes, output=True)
    g.add(name, {"InputTensor": (read,)}, ["OutputTensor"], InputTensor=desc, OutputTensor=output, **fields)


def top(g: GraphDraft, name: str) -> None:
    """The largest or smallest elements along an axis."""
    desc, read = any_input(g, name)
    axis = axis_of(g, desc)
    sizes = list(desc.sizes)
    sizes[axis] = k = g.draw(st.integers(1, sizes[axis]))
    fields: dict[str, Any] = {"Axis": axis, "K": k}
    if name == "TOP_K1":
        fields["AxisDirection"] = g.draw(DIRECTIONS)
    values = g.layout(desc.data_type, sizes, output=True)
    positions = g.layout(chosen_type(g, name, "OutputIndexTensor"), sizes, output=True)
    fields |= {"InputTensor": desc, "OutputValueTensor": values, "OutputIndexTensor": positions}
    g.add(name, {"InputTensor": (read,)}, ["OutputValueTensor", "OutputIndexTensor"], **fields)


def cumulative(g: GraphDraft, name: str) -> None:
    """Running sums and products along an axis."""
    desc, read = any_input(g, name)
    exclusive = "HasExclusiveSum" if name == "CUMULATIVE_SUMMATION" else "HasExclusiveProduct"
    fields = {"Axis": axis_of(g, desc), "AxisDirection": g.draw(DIRECTIONS), exclusive: g.draw(st.booleans())}
    single(g, name, read, desc, desc.sizes, **fields)


# --- Filling ------------------------------------------------------------------------------------------------------


def filling(g: GraphDraft, name: str) -> None:
    """Tensors made of nothing."""
    ranks, _ = of_latest(name, "OutputTensor")
    data_type = chosen_type(g, name, "OutputTensor")
    sizes = g.sizes(*ranks)
    fields: dict[str, Any] = {"OutputTensor": g.layout(data_type, sizes, output=True)}
    if name == "DIAGONAL_MATRIX":
        fields |= {"Offset": g.draw(st.integers(-2, 2)), "Value": float(number(g, data_type))}
    else:
        fields["ValueDataType"] = data_type.name
        parts = ("Value",) if name == "FILL_VALUE_CONSTANT" else ("ValueStart", "ValueDelta")
        fields |= {part: Scalar(data_type, number(g, data_type)) for part in parts}
    g.add(name, {}, ["OutputTensor"], **fields)


def diagonals(g: GraphDraft, name: str) -> None:
    """A band of diagonals that is filled."""
    desc, read = any_input(g, name)
    begin, end = sorted(g.each(2, -3, 4))
    fields = {"ValueDataType": desc.data_type.name, "Value": Scalar(desc.data_type, number(g, desc.data_type))}
    single(g, name, read, desc, desc.sizes, **fields, DiagonalFillBegin=begin, DiagonalFillEnd=end)


FAMILIES: dict[tuple[str, ...], Callable[[GraphDraft, str], None]] = {
    ("CAST",): cast,
    ("SLICE", "SLICE1"): slicing,
    ("SPLIT",): split,
    ("TILE",): tile,
    ("SPACE_TO_DEPTH", "SPACE_TO_DEPTH1", "DEPTH_TO_SPACE", "DEPTH_TO_SPACE1"): blocks,
    ("VALUE_SCALE_2D", "UPSAMPLE_2D"): pictures,
    ("FOLD", "UNFOLD"): folding,
    ("GATHER",): gather,
    ("GATHER_ELEMENTS",): gather_elements,
    ("GATHER_ND", "GATHER_ND1"): gather_tuples,
    ("SCATTER",): scatter,
    ("ONE_HOT",): one_hot,
    ("REVERSE_SUBSEQUENCES",): reverse,
    ("NONZERO_COORDINATES",): nonzero,
    ("REDUCE", "ARGMIN", "ARGMAX"): reduction,
    ("TOP_K", "TOP_K1"): top,
    ("CUMULATIVE_SUMMATION", "CUMULATIVE_PRODUCT"): cumulative,
    ("FILL_VALUE_CONSTANT", "FILL_VALUE_SEQUENCE", "DIAGONAL_MATRIX"): filling,
    ("DIAGONAL_MATRIX1",): diagonals,
}
