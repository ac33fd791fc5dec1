"""SPACE_TO_DEPTH, DEPTH_TO_SPACE, UNFOLD and FOLD compiled, run, and compared with the reference."""

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dml2onnx.compiler import compile_outputs
from tests.lowering.examples import run_examples
from tests.lowering.harness import check_case, make_case, operator, operators, t, type_cases

BLOCKS = ["SPACE_TO_DEPTH", "SPACE_TO_DEPTH1", "DEPTH_TO_SPACE", "DEPTH_TO_SPACE1"]
ORDERS = ["DEPTH_COLUMN_ROW", "COLUMN_ROW_DEPTH"]
WINDOWS = ["UNFOLD", "FOLD"]


def blocks(name, data_type="FLOAT32", order="DEPTH_COLUMN_ROW", space=(2, 3, 4, 6), block=2, strides=None, out=None):
    n, c, height, width = space
    depth = (n, c * block**2, height // block, width // block)
    sizes = (space, depth) if name.startswith("SPACE") else (depth, space)
    fields = {"Order": order} if name.endswith("1") else {}
    return operator(
        name,
        InputTensor=t(data_type, sizes[0], strides),
        OutputTensor=t(data_type, sizes[1], out),
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
    strides=None,
    out=None,
    data_type="FLOAT32",
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
        InputTensor=t(data_type, shapes[0], strides),
        OutputTensor=t(data_type, shapes[1], out),
        DimensionCount=rank,
        WindowSizes=sizes,
        Strides=steps,
        Dilations=dilations,
        StartPadding=start,
        EndPadding=end,
    )


def moves(model):
    return [name for name in operators(model) if name != "Reshape"]


# --- blocks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data_type"),
    [pytest.param(name, case.values[0], id=case.id) for name in BLOCKS for case in type_cases(name)],
)
def test_every_data_type(name, data_type):
    for order in ORDERS:
        check_case(blocks(name, data_type, order), extremes=True)


@pytest.mark.parametrize("name", [*BLOCKS, *WINDOWS])
def test_documentation_examples(name):
    assert run_examples(name) > 0


@pytest.mark.parametrize("opset", range(17, 24))
@pytest.mark.parametrize("data_type", ["FLOAT64", "FLOAT16", "INT8", "UINT64"])
def test_blocks_in_every_opset(data_type, opset):
    for name in BLOCKS:
        for order in ORDERS:
            check_case(blocks(name, data_type, order), opset=opset)


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
    assert moves(check_case(blocks(name, data_type, order))) == expected


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("order", ORDERS)
def test_sizes_of_blocks(name, order):
    for data_type in ("FLOAT32", "FLOAT64", "UINT8"):
        assert operators(check_case(blocks(name, data_type, order, block=1))) == ["Identity"]
        check_case(blocks(name, data_type, order, (1, 1, 9, 6), 3))
        check_case(blocks(name, data_type, order, (2, 2, 4, 4), 4))
        check_case(blocks(name, data_type, order, (1, 5, 2, 8), 2))


@pytest.mark.parametrize("name", BLOCKS)
def test_layouts_of_blocks(name):
    space, depth = (2, 3, 4, 6), (2, 12, 2, 3)
    first, last = (space, depth) if name.startswith("SPACE") else (depth, space)
    for data_type in ("FLOAT32", "UINT16"):
        for order in ORDERS:
            channels_last = (prod(first[1:]), 1, first[1] * first[3], first[1])
            check_case(blocks(name, data_type, order, strides=channels_last))
            check_case(blocks(name, data_type, order, strides=(0, 1, 0, first[1])))
            check_case(blocks(name, data_type, order, out=(400, 60, 14, 2) if last == space else (400, 25, 11, 3)))


@pytest.mark.parametrize("name", BLOCKS)
def test_constant_blocks_fold(name):
    for data_type in ("FLOAT32", "FLOAT64", "INT8"):
        for order in ORDERS:
            model = check_case(blocks(name, data_type, order), constants=["InputTensor"])
            assert operators(model) == ["Identity"]


def test_nothing_happens_to_signalling_nans():
    bits = np.resize(np.array([0x7D01, 0xFE01, 0x8001, 0x3C00], np.uint16), (2, 3, 4, 6)).view(np.float16)
    for name in BLOCKS[:2]:
        op = blocks(name, "FLOAT16")
        got = check_case(op, inputs={"InputTensor": bits}).run({"InputTensor": bits.reshape(-1)})["OutputTensor"]
        assert sorted(got.view(np.uint16).reshape(-1)) == sorted(bits.view(np.uint16).reshape(-1))


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
    ("patches, the rest cut off", {"sizes": (2, 4), "steps": (2, 4)}, ["Slice", "Transpose", "Gather"], ["Col2Im"]),
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
    assert moves(check_case(windows("UNFOLD", **fields))) == unfolded
    assert moves(check_case(windows("FOLD", **fields))) == folded


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("rank", range(1, 7))
def test_every_rank(name, rank):
    spatial, sizes = (3, 2, 4, 2, 3, 2)[:rank], (2, 1, 2, 2, 1, 2)[:rank]
    check_case(windows(name, spatial, sizes, (2, 1, 1, 1, 2, 1)[:rank], start=(1,) * rank, images=(2, 2)))


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("opset", range(17, 24))
def test_windows_in_every_opset(name, opset):
    check_case(windows(name, (7,), (3,), (2,)), opset=opset)
    check_case(windows(name, start=(1, 2), end=(2, 0), steps=(2, 1), dilations=(1, 2)), opset=opset)
    model = check_case(windows(name, (3, 4, 3), (2, 2, 2), start=(0, 1, 1)), opset=opset)
    assert "Col2Im" not in operators(model)
    for exact in (True, False):
        check_case(windows(name, start=(1, 2), end=(2, 0), data_type="FLOAT16"), opset=opset, exact=exact)


@pytest.mark.parametrize("name", WINDOWS)
def test_leading_dimensions(name):
    check_case(windows(name, leading=(1,)))
    check_case(windows(name, (7,), (3,), leading=(1, 1, 1)))


@pytest.mark.parametrize("name", WINDOWS)
def test_layouts_of_windows(name):
    shape = windows(name).tensor("InputTensor").sizes
    packed = [prod(shape[i + 1 :]) for i in range(len(shape))]
    for strides in ([2 * n for n in packed], [0, *packed[1:]], [*packed[:-1], 0], [0] * len(shape)):
        check_case(windows(name, strides=strides))
    wanted = windows(name).tensor("OutputTensor").sizes
    check_case(windows(name, out=[3 * prod(wanted[i + 1 :]) for i in range(len(wanted))]))


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("fields", [row[1] for row in FORMS], ids=[row[0] for row in FORMS])
def test_constant_windows_fold(name, fields):
    assert operators(check_case(windows(name, **fields), constants=["InputTensor"])) == ["Identity"]


def test_infinities_and_nans_stay_in_their_windows():
    x = np.zeros((1, 1, 5, 5), np.float32)
    x[0, 0, 1, 3], x[0, 0, 4, 0] = np.inf, np.nan
    unfolding = windows("UNFOLD", (5, 5), (3, 3), start=(1, 1), end=(1, 1), images=(1, 1))
    columns = check_case(unfolding, inputs={"InputTensor": x}).run({"InputTensor": x.reshape(-1)})["OutputTensor"]
    assert (np.isinf(columns).sum(), np.isnan(columns).sum()) == (9, 4)
    folding = windows("FOLD", (5, 5), (3, 3), start=(1, 1), end=(1, 1), images=(1, 1))
    for opset in (17, 21):
        model = check_case(folding, inputs={"InputTensor": columns}, opset=opset)
        image = model.run({"InputTensor": columns.reshape(-1)})["OutputTensor"]
        np.testing.assert_array_equal(np.isfinite(image), np.isfinite(x))


# --- generated descriptors -------------------------------------------------------------------------------------------


@st.composite
def block_descriptors(draw):
    n, c, h, w = (draw(st.integers(1, 3)) for _ in range(4))
    block = draw(st.integers(1, 4))
    data_type = draw(st.sampled_from(["FLOAT32", "FLOAT64", "FLOAT16", "INT8", "INT64", "UINT16"]))
    name, order = draw(st.sampled_from(BLOCKS)), draw(st.sampled_from(ORDERS))
    return blocks(name, data_type, order, (n, c, h * block, w * block), block)


@st.composite
def window_descriptors(draw):
    rank = draw(st.integers(1, 4))
    each = st.integers(1, 3)
    sizes, steps, dilations = (draw(st.lists(each, min_size=rank, max_size=rank)) for _ in range(3))
    start, end, more = (draw(st.lists(st.integers(0, 2), min_size=rank, max_size=rank)) for _ in range(3))
    every = zip(sizes, dilations, start, end, more, strict=True)
    spatial = [max(1, dilation * (size - 1) + 1 - a - b) + extra for size, dilation, a, b, extra in every]
    images = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    return windows(draw(st.sampled_from(WINDOWS)), spatial, sizes, steps, dilations, start, end, images)


@settings(max_examples=300, deadline=None)
@given(
    op=st.one_of(block_descriptors(), window_descriptors()),
    opset=st.integers(17, 23),
    constant=st.booleans(),
    seed=st.integers(0, 99),
)
def test_lowered_equals_reference(op, opset, constant, seed):
    check_case(op, opset=opset, constants=["InputTensor"] if constant else [], seed=seed)


@pytest.mark.parametrize("name", [*BLOCKS, *WINDOWS])
def test_target_dml(name):
    check_case(windows(name, start=(1, 1)) if name in WINDOWS else blocks(name), target="dml")


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16", "UINT32", "INT64"])
def test_directml_has_kernels_of_its_own(data_type):
    for name, kernel in (("SPACE_TO_DEPTH", "SpaceToDepth"), ("DEPTH_TO_SPACE1", "DepthToSpace")):
        case = make_case(blocks(name, data_type))
        assert operators(compile_outputs(case.graph, case.graph.outputs, target="dml")) == [kernel]


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("leading", range(6))
def test_windows_behind_leading_ones(name: str, leading: int) -> None:
    check_case(windows(name, (5,), (3,), start=(1,), leading=(1,) * leading))
