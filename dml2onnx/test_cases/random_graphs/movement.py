"""Random nodes that move, select, sort and count elements, cast them, and fill tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from dml2onnx import catalog
from dml2onnx.catalog import LATEST
from dml2onnx.ir.operator import Scalar, Size2D
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.test_cases.descriptors import operator
from dml2onnx.test_cases.random_graphs.arithmetic import number
from dml2onnx.test_cases.random_graphs.draft import FACTORS, MAX_ELEMENTS, GraphDraft, View, of_latest

DIRECTIONS = st.sampled_from(["INCREASING", "DECREASING"])


def indices(g: GraphDraft, name: str, sizes: Sequence[int], size: int) -> View:
    """Indices into ``size`` elements, some of them negative if the type is signed."""
    data_type = g.data_type(name, "IndicesTensor")
    return g.integers(data_type, sizes, -size if data_type.is_signed else 0, size - 1)


def single(g: GraphDraft, name: str, view: View, sizes: Sequence[int], **fields: Any) -> None:
    """A node with one input and one output of the same data type."""
    assume(prod(sizes) <= 4 * MAX_ELEMENTS)
    g.add(name, {"InputTensor": view}, {"OutputTensor": g.layout(view[0].data_type, sizes, output=True)}, **fields)


def axis_of(g: GraphDraft, desc: TensorDesc) -> int:
    """Any dimension."""
    return g.draw(st.integers(0, desc.rank - 1))


def resized(desc: TensorDesc, axis: int, size: int) -> list[int]:
    """The sizes of a tensor with another one along an axis."""
    return [size if i == axis else n for i, n in enumerate(desc.sizes)]


def with_fillers(view: View, rank: int) -> View:
    """A view with leading dimensions of size 1."""
    desc, read = view
    strides = (0,) * (rank - desc.rank) + desc.effective_strides
    return TensorDesc(desc.data_type, filled(desc.sizes, rank), strides), read


def filled(sizes: Sequence[int], rank: int) -> tuple[int, ...]:
    """Sizes with leading ones."""
    return (1,) * (rank - len(sizes)) + tuple(sizes)


# --- Types, windows and blocks ------------------------------------------------------------------------------------


def cast(g: GraphDraft, name: str) -> None:
    """From any data type to any other."""
    desc, read = g.any_input(name)
    output = g.layout(g.data_type(name, "OutputTensor"), desc.sizes, output=True)
    g.add(name, {"InputTensor": (desc, read)}, {"OutputTensor": output})


def slicing(g: GraphDraft, name: str) -> None:
    """A window of any tensor, with positive or negative strides."""
    desc, read = g.any_input(name)
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
    single(g, name, (desc, read), sizes, **fields)


def split(g: GraphDraft, name: str) -> None:
    """Parts of any size along an axis."""
    desc, read = g.any_input(name)
    axis = axis_of(g, desc)
    parts, left = [], desc.sizes[axis]
    while left:
        parts.append(g.draw(st.integers(1, left)))
        left -= parts[-1]
    outputs = tuple([g.layout(desc.data_type, resized(desc, axis, part), output=True) for part in parts])
    op = operator(name, InputTensor=desc, OutputTensors=outputs, Axis=axis)
    g.add_node(op, {"InputTensor": (read,)}, {"OutputTensors": outputs})


def tile(g: GraphDraft, name: str) -> None:
    """Repetitions along every dimension."""
    desc, read = g.any_input(name)
    repeats = g.each(desc.rank, 1, 3 if desc.rank <= 4 else 2)
    single(g, name, (desc, read), [n * k for n, k in zip(desc.sizes, repeats, strict=True)], Repeats=repeats)


def blocks(g: GraphDraft, name: str) -> None:
    """Blocks of pixels to channels, and back."""
    block = g.draw(st.integers(1, 3))
    batch, channels, height, width = g.each(4, 1, 2)
    many = (batch, channels * block * block, height, width)
    wide = (batch, channels, height * block, width * block)
    sizes, result = (wide, many) if name.startswith("SPACE") else (many, wide)
    view = g.view(g.data_type(name, "InputTensor"), sizes)
    fields: dict[str, Any] = {"BlockSize": block}
    if name.endswith("1"):
        fields["Order"] = g.draw(st.sampled_from(["DEPTH_COLUMN_ROW", "COLUMN_ROW_DEPTH"]))
    single(g, name, view, result, **fields)


def images(g: GraphDraft, name: str) -> None:
    """Scaled and enlarged images."""
    if name == "VALUE_SCALE_2D":
        batch, height, width = g.each(3, 1, 3)
        sizes: tuple[int, ...] = (batch, g.draw(st.sampled_from([1, 3])), height, width)
        desc, read = g.view(g.data_type(name, "InputTensor"), sizes)
        bias = tuple(g.draw(FACTORS) for _ in range(desc.sizes[1]))
        single(g, name, (desc, read), desc.sizes, Scale=g.draw(FACTORS), Bias=bias)
        return
    desc, read = g.any_input(name)
    width, height = g.each(2, 1, 3)
    sizes = (*desc.sizes[:-2], desc.sizes[-2] * height, desc.sizes[-1] * width)
    mode = g.draw(st.sampled_from(["NEAREST_NEIGHBOR", "LINEAR"]))
    single(g, name, (desc, read), sizes, ScaleSize=Size2D(width, height), InterpolationMode=mode)


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
    fields = {"WindowSizes": windows, "Strides": strides, "Dilations": dilations}
    single(g, name, g.view(DataType.FLOAT32, sizes), result, **fields, StartPadding=starts, EndPadding=ends)


# --- Indices ------------------------------------------------------------------------------------------------------


def gather(g: GraphDraft, name: str) -> None:
    """Slices at indices along an axis."""
    desc, read = g.any_input(name)
    axis = axis_of(g, desc)
    assume(desc.rank < 8)
    count = g.draw(st.integers(1, 2))
    shape = g.each(count, 1, 3)
    sizes = (*desc.sizes[:axis], *shape, *desc.sizes[axis + 1 :])
    rank = max(len(sizes), desc.rank)
    assume(rank <= 8)
    at = indices(g, name, filled(shape, rank), desc.sizes[axis])
    # every tensor has the output's rank
    inputs = {"InputTensor": with_fillers((desc, read), rank), "IndicesTensor": at}
    output = g.layout(desc.data_type, filled(sizes, rank), output=True)
    g.add(name, inputs, {"OutputTensor": output}, Axis=axis + rank - desc.rank, IndexDimensions=count)


def gather_elements(g: GraphDraft, name: str) -> None:
    """Elements at indices along an axis."""
    desc, read = g.any_input(name)
    axis = axis_of(g, desc)
    sizes = resized(desc, axis, g.draw(st.integers(1, 4)))
    inputs = {"InputTensor": (desc, read), "IndicesTensor": indices(g, name, sizes, desc.sizes[axis])}
    g.add(name, inputs, {"OutputTensor": g.layout(desc.data_type, sizes, output=True)}, Axis=axis)


def gather_tuples(g: GraphDraft, name: str) -> None:
    """Slices at tuples of indices."""
    desc, read = g.any_input(name)
    batches = g.draw(st.integers(0, desc.rank - 1)) if name == "GATHER_ND1" else 0
    length = g.draw(st.integers(1, desc.rank - batches))
    lead = (*desc.sizes[:batches], *g.each(g.draw(st.integers(0, 1)), 1, 3))
    shape = (*lead, length)
    left = desc.sizes[batches + length :]
    rank = max(desc.rank, len(shape), len(lead) + len(left))
    assume(rank <= 8)
    at = indices(g, name, filled(shape, rank), min(desc.sizes[batches : batches + length]))
    inputs = {"InputTensor": with_fillers((desc, read), rank), "IndicesTensor": at}
    fields: dict[str, Any] = {"InputDimensionCount": desc.rank, "IndicesDimensionCount": len(shape)}
    if name == "GATHER_ND1":
        fields["BatchDimensionCount"] = batches
    output = g.layout(desc.data_type, filled((*lead, *left), rank), output=True)
    g.add(name, inputs, {"OutputTensor": output}, **fields)


def scatter(g: GraphDraft, name: str) -> None:
    """One update along the axis, since duplicate indices are unspecified."""
    desc, read = g.any_input(name)
    axis = axis_of(g, desc)
    sizes = resized(desc, axis, 1)
    inputs = {"InputTensor": (desc, read), "IndicesTensor": indices(g, name, sizes, desc.sizes[axis])}
    inputs["UpdatesTensor"] = g.view(desc.data_type, sizes)
    g.add(name, inputs, {"OutputTensor": g.layout(desc.data_type, desc.sizes, output=True)}, Axis=axis)


def one_hot(g: GraphDraft, name: str) -> None:
    """Two values by positions along an axis."""
    ranks, _ = of_latest(name, "OutputTensor")
    sizes = list(g.sizes(*ranks))
    axis = g.draw(st.integers(0, len(sizes) - 1))
    inputs = {"IndicesTensor": indices(g, name, [1 if i == axis else n for i, n in enumerate(sizes)], sizes[axis])}
    data_type = g.data_type(name, "ValuesTensor")
    inputs["ValuesTensor"] = g.view(data_type, filled((2,), len(sizes)))
    g.add(name, inputs, {"OutputTensor": g.layout(data_type, sizes, output=True)}, Axis=axis)


def reverse(g: GraphDraft, name: str) -> None:
    """The first elements along an axis in reverse order."""
    desc, read = g.any_input(name)
    axis = axis_of(g, desc)
    index_type = g.data_type(name, "SequenceLengthsTensor")
    lengths = g.integers(index_type, resized(desc, axis, 1), 0, desc.sizes[axis])
    inputs = {"InputTensor": (desc, read), "SequenceLengthsTensor": lengths}
    g.add(name, inputs, {"OutputTensor": g.layout(desc.data_type, desc.sizes, output=True)}, Axis=axis)


def nonzero(g: GraphDraft, name: str) -> None:
    """Coordinates of nonzero elements."""
    desc, read = g.any_input(name)
    count = TensorDesc(DataType.UINT32, (1,))
    coordinates = TensorDesc(DataType.UINT32, (desc.element_count, desc.rank))
    outputs = {"OutputCountTensor": count, "OutputCoordinatesTensor": coordinates}
    g.add(name, {"InputTensor": (desc, read)}, outputs)


# --- Along axes ---------------------------------------------------------------------------------------------------


def reduction(g: GraphDraft, name: str) -> None:
    """Reductions over any axes, with any function and the data types of its support row."""
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
    g.add(name, {"InputTensor": (desc, read)}, {"OutputTensor": g.layout(data_type, sizes, output=True)}, **fields)


def top(g: GraphDraft, name: str) -> None:
    """The largest or smallest elements along an axis."""
    desc, read = g.any_input(name)
    axis = axis_of(g, desc)
    k = g.draw(st.integers(1, desc.sizes[axis]))
    fields: dict[str, Any] = {"Axis": axis, "K": k}
    if name == "TOP_K1":
        fields["AxisDirection"] = g.draw(DIRECTIONS)
    sizes = resized(desc, axis, k)
    outputs = {"OutputValueTensor": g.layout(desc.data_type, sizes, output=True)}
    outputs["OutputIndexTensor"] = g.layout(g.data_type(name, "OutputIndexTensor"), sizes, output=True)
    g.add(name, {"InputTensor": (desc, read)}, outputs, **fields)


def cumulative(g: GraphDraft, name: str) -> None:
    """Running sums and products along an axis."""
    desc, read = g.any_input(name)
    exclusive = "HasExclusiveSum" if name == "CUMULATIVE_SUMMATION" else "HasExclusiveProduct"
    fields = {"Axis": axis_of(g, desc), "AxisDirection": g.draw(DIRECTIONS), exclusive: g.draw(st.booleans())}
    single(g, name, (desc, read), desc.sizes, **fields)


# --- Filling ------------------------------------------------------------------------------------------------------


def filling(g: GraphDraft, name: str) -> None:
    """Operators without inputs."""
    ranks, _ = of_latest(name, "OutputTensor")
    data_type = g.data_type(name, "OutputTensor")
    output = g.layout(data_type, g.sizes(*ranks), output=True)
    if name == "DIAGONAL_MATRIX":
        fields: dict[str, Any] = {"Offset": g.draw(st.integers(-2, 2)), "Value": float(number(g, data_type))}
    else:
        parts = ("Value",) if name == "FILL_VALUE_CONSTANT" else ("ValueStart", "ValueDelta")
        fields = {part: Scalar(data_type, number(g, data_type)) for part in parts}
        fields["ValueDataType"] = data_type.name
    g.add(name, {}, {"OutputTensor": output}, **fields)


def diagonals(g: GraphDraft, name: str) -> None:
    """A filled band of diagonals."""
    desc, read = g.any_input(name)
    begin, end = sorted(g.each(2, -3, 4))
    fields = {"ValueDataType": desc.data_type.name, "Value": Scalar(desc.data_type, number(g, desc.data_type))}
    single(g, name, (desc, read), desc.sizes, **fields, DiagonalFillBegin=begin, DiagonalFillEnd=end)


FAMILIES: dict[tuple[str, ...], Callable[[GraphDraft, str], None]] = {
    ("CAST",): cast,
    ("SLICE", "SLICE1"): slicing,
    ("SPLIT",): split,
    ("TILE",): tile,
    ("SPACE_TO_DEPTH", "SPACE_TO_DEPTH1", "DEPTH_TO_SPACE", "DEPTH_TO_SPACE1"): blocks,
    ("VALUE_SCALE_2D", "UPSAMPLE_2D"): images,
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
