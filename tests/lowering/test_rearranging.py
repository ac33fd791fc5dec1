"""SPACE_TO_DEPTH, DEPTH_TO_SPACE, UNFOLD and FOLD against the reference."""

from math import prod

import pytest

from dml2onnx.compiler import compile_outputs
from tests.lowering.harness import check_case, make_case, operator, operators, t

BLOCKS = ["SPACE_TO_DEPTH", "SPACE_TO_DEPTH1", "DEPTH_TO_SPACE", "DEPTH_TO_SPACE1"]
ORDERS = ["DEPTH_COLUMN_ROW", "COLUMN_ROW_DEPTH"]
WINDOWS = ["UNFOLD", "FOLD"]


def blocks(name, data_type="FLOAT32", order="DEPTH_COLUMN_ROW", space=(2, 3, 4, 6), block=2):
    n, c, height, width = space
    depth = (n, c * block**2, height // block, width // block)
    sizes = (space, depth) if name.startswith("SPACE") else (depth, space)
    fields = {"Order": order} if name.endswith("1") else {}
    return operator(
        name,
        InputTensor=t(data_type, sizes[0]),
        OutputTensor=t(data_type, sizes[1]),
        BlockSize=block,
        **fields,
    )


def windows(
    name,
    spatial=(5, 6),
    sizes=(3, 2),
    steps=None,
    dilations=None,
    start=None,
    end=None,
    images=(2, 3),
    leading=(),
):
    rank = len(spatial)
    steps, dilations = steps or (1,) * rank, dilations or (1,) * rank
    start, end = start or (0,) * rank, end or (0,) * rank
    every = zip(spatial, sizes, steps, dilations, start, end, strict=True)
    counts = [(n + a + b - dilation * (size - 1) - 1) // step + 1 for n, size, step, dilation, a, b in every]
    shapes = [(*leading, *images, *spatial), (*leading, images[0], images[1] * prod(sizes), prod(counts))]
    if name == "FOLD":
        shapes.reverse()
    return operator(
        name,
        InputTensor=t("FLOAT32", shapes[0]),
        OutputTensor=t("FLOAT32", shapes[1]),
        DimensionCount=rank,
        WindowSizes=sizes,
        Strides=steps,
        Dilations=dilations,
        StartPadding=start,
        EndPadding=end,
    )


def without_reshapes(model):
    return [name for name in operators(model) if name != "Reshape"]


# --- blocks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data_type", "order", "expected"),
    [
        ("SPACE_TO_DEPTH", "FLOAT32", "DEPTH_COLUMN_ROW", ["SpaceToDepth"]),
        ("SPACE_TO_DEPTH1", "FLOAT64", "DEPTH_COLUMN_ROW", ["SpaceToDepth"]),
        ("SPACE_TO_DEPTH1", "FLOAT32", "COLUMN_ROW_DEPTH", ["Transpose", "Transpose"]),
        ("SPACE_TO_DEPTH", "FLOAT16", "DEPTH_COLUMN_ROW", ["Transpose", "Transpose"]),
        ("SPACE_TO_DEPTH1", "INT64", "DEPTH_COLUMN_ROW", ["Transpose", "Transpose"]),
        ("DEPTH_TO_SPACE", "FLOAT32", "DEPTH_COLUMN_ROW", ["Transpose", "Transpose"]),
        ("DEPTH_TO_SPACE1", "UINT16", "COLUMN_ROW_DEPTH", ["Transpose", "Transpose"]),
        ("DEPTH_TO_SPACE1", "FLOAT64", "COLUMN_ROW_DEPTH", ["DepthToSpace"]),
        ("DEPTH_TO_SPACE", "FLOAT64", "DEPTH_COLUMN_ROW", ["DepthToSpace"]),
    ],
)
def test_form_of_blocks(name, data_type, order, expected):
    assert without_reshapes(check_case(blocks(name, data_type, order))) == expected


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("order", ORDERS)
def test_sizes_of_blocks(name, order):
    for data_type in ("FLOAT32", "FLOAT64", "UINT8"):
        assert operators(check_case(blocks(name, data_type, order, block=1))) == ["Identity"]
        check_case(blocks(name, data_type, order, (1, 1, 9, 6), 3))
        check_case(blocks(name, data_type, order, (2, 2, 4, 4), 4))
        check_case(blocks(name, data_type, order, (1, 5, 2, 8), 2))


@pytest.mark.parametrize("name", BLOCKS)
def test_constant_blocks_fold(name):
    for data_type in ("FLOAT32", "FLOAT64", "INT8"):
        for order in ORDERS:
            model = check_case(blocks(name, data_type, order), constants=["InputTensor"])
            assert operators(model) == ["Identity"]


# --- windows ---------------------------------------------------------------------------------------------------------

SLICES = ["Slice"] * 3 + ["Concat"]

FORMS = [
    ("row", {"spatial": (7,), "sizes": (3,)}, SLICES, ["Col2Im"]),
    ("image", {"sizes": (2, 3)}, [*SLICES, "Gather"], ["Col2Im"]),
    ("padded", {"sizes": (2, 3), "start": (1, 0), "end": (0, 2)}, ["Pad", *SLICES, "Gather"], ["Col2Im"]),
    ("dilated", {"sizes": (2, 3), "dilations": (3, 2)}, [*SLICES, "Gather"], ["Col2Im"]),
    ("dilated row", {"spatial": (7,), "sizes": (3,), "dilations": (3,)}, SLICES, ["Col2Im"]),
    ("padded row", {"spatial": (7,), "sizes": (3,), "start": (2,), "end": (1,)}, ["Pad", *SLICES], ["Col2Im"]),
    ("patches", {"spatial": (6, 6), "sizes": (2, 3), "steps": (2, 3)}, ["Transpose", "Gather"], ["Col2Im"]),
    ("patches, the rest cropped", {"sizes": (2, 4), "steps": (2, 4)}, ["Slice", "Transpose", "Gather"], ["Col2Im"]),
    ("one row high", {"spatial": (1, 6), "sizes": (1, 3)}, SLICES, ["Col2Im"]),
    ("the image", {"sizes": (1, 1)}, ["Gather"], ["Col2Im"]),
    ("volume", {"spatial": (3, 4, 5), "sizes": (2, 2, 3)}, [*SLICES, "Gather"], ["Expand", "ScatterElements"]),
    (
        "dilated and padded volume",
        {"spatial": (3, 4, 5), "sizes": (2, 2, 3), "dilations": (2, 1, 2), "start": (1, 0, 1), "end": (0, 1, 1)},
        ["Pad", *SLICES, "Gather"],
        ["Expand", "ScatterElements", "Slice"],
    ),
]


@pytest.mark.parametrize(("fields", "unfolded", "folded"), [pytest.param(*row[1:], id=row[0]) for row in FORMS])
def test_form_of_windows(fields, unfolded, folded):
    assert without_reshapes(check_case(windows("UNFOLD", **fields))) == unfolded
    assert without_reshapes(check_case(windows("FOLD", **fields))) == folded


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("rank", range(1, 7))
def test_every_rank(name, rank):
    spatial, sizes = (3, 2, 4, 2, 3, 2)[:rank], (2, 1, 2, 2, 1, 2)[:rank]
    check_case(windows(name, spatial, sizes, (2, 1, 1, 1, 2, 1)[:rank], start=(1,) * rank, images=(2, 2)))


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("fields", [row[1] for row in FORMS], ids=[row[0] for row in FORMS])
def test_constant_windows_fold(name, fields):
    assert operators(check_case(windows(name, **fields), constants=["InputTensor"])) == ["Identity"]


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16", "UINT32", "INT64"])
def test_kernels_of_directml(data_type):
    for name, kernel in (("SPACE_TO_DEPTH", "SpaceToDepth"), ("DEPTH_TO_SPACE1", "DepthToSpace")):
        case = make_case(blocks(name, data_type))
        assert operators(compile_outputs(case.graph, case.graph.outputs, target="dml")) == [kernel]


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("leading", range(6))
def test_leading_dimensions_of_size_1(name: str, leading: int) -> None:
    check_case(windows(name, (5,), (3,), start=(1,), leading=(1,) * leading))
