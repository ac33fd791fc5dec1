"""SLICE, SLICE1, SLICE_GRAD, SPLIT, TILE and REVERSE_SUBSEQUENCES against the reference."""

import numpy as np
import pytest

from tests.lowering.harness import check_case, operator, operators, t

SHAPE = (3, 4, 5)


def slice_(sizes=SHAPE, offsets=(0, 1, 2), counts=(2, 2, 2), steps=(1, 2, 1), strides=None):
    return operator(
        "SLICE",
        InputTensor=t("FLOAT32", sizes, strides),
        OutputTensor=t("FLOAT32", counts),
        Offsets=offsets,
        Sizes=counts,
        Strides=steps,
    )


def slice1(sizes=SHAPE, offsets=(0, 1, 0), windows=(3, 3, 5), steps=(1, -2, -1), counts=None, strides=None):
    natural = [1 + (window - 1) // abs(step) for window, step in zip(windows, steps, strict=True)]
    return operator(
        "SLICE1",
        InputTensor=t("FLOAT32", sizes, strides),
        OutputTensor=t("FLOAT32", counts or natural),
        InputWindowOffsets=offsets,
        InputWindowSizes=windows,
        InputWindowStrides=steps,
    )


def slice_grad(sizes=SHAPE, offsets=(0, 1, 0), windows=(3, 3, 5), steps=(1, -2, -1), counts=None, strides=None):
    """The gradient for an input of ``sizes``."""
    natural = [1 + (window - 1) // abs(step) for window, step in zip(windows, steps, strict=True)]
    return operator(
        "SLICE_GRAD",
        InputGradientTensor=t("FLOAT32", counts or natural, strides),
        OutputGradientTensor=t("FLOAT32", sizes),
        InputWindowOffsets=offsets,
        InputWindowSizes=windows,
        InputWindowStrides=steps,
    )


def split(sizes=SHAPE, axis=1, counts=(1, 3), strides=None, out=None):
    pieces = [t("FLOAT32", (*sizes[:axis], count, *sizes[axis + 1 :]), out) for count in counts]
    return operator("SPLIT", InputTensor=t("FLOAT32", sizes, strides), OutputTensors=pieces, Axis=axis)


def tile(sizes=SHAPE, repeats=(2, 1, 3), data_type="FLOAT32", strides=None):
    total = [size * count for size, count in zip(sizes, repeats, strict=True)]
    return operator("TILE", InputTensor=t(data_type, sizes, strides), OutputTensor=t(data_type, total), Repeats=repeats)


def reverse(sizes=SHAPE, axis=2, lengths=None, kind="UINT32"):
    """``lengths`` has the strides of SequenceLengthsTensor."""
    each = (*sizes[:axis], 1, *sizes[axis + 1 :])
    return operator(
        "REVERSE_SUBSEQUENCES",
        InputTensor=t("FLOAT32", sizes),
        SequenceLengthsTensor=t(kind, each, lengths),
        OutputTensor=t("FLOAT32", sizes),
        Axis=axis,
    )


# --- SLICE and SLICE1 ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        pytest.param(slice_(), ["Slice"], id="window"),
        pytest.param(slice_(offsets=(0, 0, 0), counts=SHAPE, steps=(1, 1, 1)), ["Identity"], id="everything"),
        pytest.param(slice_(offsets=(2, 0, 0), counts=(1, 4, 5), steps=(9, 1, 1)), ["Slice"], id="one-of-wide-steps"),
        pytest.param(slice_(strides=(0, 5, 1)), ["Slice", "Expand"], id="broadcast"),
        pytest.param(slice_(strides=(0, 0, 0)), ["Expand"], id="one-element"),
        pytest.param(slice_(strides=(1, 3, 12)), ["Transpose", "Slice"], id="permuted"),
        pytest.param(slice1(), ["Slice"], id="backwards"),
        pytest.param(slice1(steps=(-1, -1, -1)), ["Slice"], id="all-backwards"),
        pytest.param(slice1(counts=(3, 1, 3)), ["Slice"], id="fewer-than-the-window-gives"),
        pytest.param(slice1(offsets=(0, 0, 0), windows=SHAPE, steps=(-1, -1, -1)), ["Slice"], id="reversed"),
        pytest.param(slice1(offsets=(0, 0, 0), windows=SHAPE, steps=(1, 1, 1)), ["Identity"], id="everything-1"),
        pytest.param(slice1(strides=(0, 5, 1)), ["Slice", "Expand"], id="broadcast-1"),
        pytest.param(slice1(windows=(3, 1, 1), steps=(2, -(2**31), 2**31 - 1)), ["Slice"], id="one-of-widest-steps"),
    ],
)
def test_form_of_slices(op, expected):
    assert operators(check_case(op)) == expected
    assert operators(check_case(op, constants=["InputTensor"])) == ["Identity"]


# --- SPLIT -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        pytest.param(split(), ["Split"], id="two"),
        pytest.param(split(counts=(1, 1, 1, 1)), ["Split"], id="four"),
        pytest.param(split(counts=(4,)), ["Identity"], id="one"),
        pytest.param(split(strides=(0, 5, 1)), ["Split", "Expand", "Expand"], id="broadcast-elsewhere"),
        pytest.param(split(counts=(2, 2), strides=(5, 0, 1)), ["Expand", "Expand"], id="broadcast-along"),
        pytest.param(split(counts=(2, 2), out=(1, 3, 6)), ["Split", "Transpose", "Transpose"], id="into-strides"),
    ],
)
def test_form_of_split(op, expected):
    assert [item for item in operators(check_case(op)) if item != "Reshape"] == expected
    assert set(operators(check_case(op, constants=["InputTensor"]))) == {"Identity"}


# --- TILE ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        pytest.param(tile(data_type="INT64"), ["Tile"], id="blocks"),
        pytest.param(tile(), ["Reshape", "Expand", "Reshape"], id="tiny-blocks"),
        pytest.param(tile(data_type="FLOAT16"), ["Reshape", "Expand", "Reshape"], id="no-kernel"),
        pytest.param(tile((3, 1, 5), (1, 4, 1)), ["Expand"], id="single-elements"),
        pytest.param(tile((3, 1, 8), (2, 4, 1)), ["Tile"], id="both"),
        pytest.param(tile(repeats=(1, 1, 1)), ["Identity"], id="once"),
        pytest.param(tile(strides=(0, 0, 0)), ["Expand"], id="broadcast"),
        pytest.param(tile((3, 4, 8), strides=(0, 8, 1)), ["Tile"], id="broadcast-elsewhere"),
    ],
)
def test_form_of_tile(op, expected):
    assert operators(check_case(op)) == expected
    assert operators(check_case(op, constants=["InputTensor"])) == ["Identity"]


# --- REVERSE_SUBSEQUENCES --------------------------------------------------------------------------------------------


LENGTHS = ["Clip", "Cast"]


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        pytest.param(reverse(), [*LENGTHS, "ReverseSequence"], id="last"),
        pytest.param(reverse(axis=0), [*LENGTHS, "ReverseSequence"], id="first"),
        pytest.param(reverse(axis=1), [*LENGTHS, "Transpose", "ReverseSequence", "Transpose"], id="middle"),
        pytest.param(reverse(axis=1, lengths=(1, 1, 0)), [*LENGTHS, "ReverseSequence"], id="rows"),
        pytest.param(reverse(axis=1, lengths=(0, 0, 0)), [*LENGTHS, "Expand", "ReverseSequence"], id="one-length"),
        pytest.param(reverse((1, 4, 5), 1), [*LENGTHS, "ReverseSequence"], id="first-but-for-ones"),
        pytest.param(reverse(axis=0, lengths=(0, 1, 0)), [*LENGTHS, "ReverseSequence"], id="first-of-rows"),
        pytest.param(
            reverse(axis=0, lengths=(0, 0, 1)), [*LENGTHS, "Transpose", "ReverseSequence", "Transpose"], id="columns"
        ),
        pytest.param(reverse((3, 1, 5), 1), [], id="single-elements"),
    ],
)
@pytest.mark.parametrize("kind", ["UINT32", "UINT64"])
def test_form_of_reversal(op, expected, kind):
    desc = op.tensor("SequenceLengthsTensor")
    lengths = np.random.default_rng(0).integers(0, 7, desc.extent).astype(kind.lower())
    lengths[-1] = np.iinfo(lengths.dtype).max
    fields = {field.name: value for field, value in op.items()}
    fields["SequenceLengthsTensor"] = t(kind, desc.sizes, desc.strides)
    op = operator("REVERSE_SUBSEQUENCES", **fields)
    model = check_case(op, inputs={"SequenceLengthsTensor": lengths})
    if expected:
        forms = {"GatherElements", "Reshape", "ReverseSequence", "Transpose"}
        assert forms & {*operators(model)} == {"GatherElements"}
        lengths = np.minimum(lengths, lengths.dtype.type(op.tensor("InputTensor").sizes[op.uint("Axis")]))
        known = check_case(op, inputs={"SequenceLengthsTensor": lengths}, constants=["SequenceLengthsTensor"])
        assert [item for item in operators(known) if item != "Reshape"] == [
            item for item in expected if item not in {*LENGTHS, "Expand"}
        ]
    both = check_case(op, inputs={"SequenceLengthsTensor": lengths}, constants=["InputTensor", "SequenceLengthsTensor"])
    assert operators(both) == ["Identity"]


def test_lengths_beyond_the_axis():
    lengths = np.array([0, 1, 3, 4, 5, 2**32 - 1], np.uint32)
    op = reverse((6, 4), 1)
    x = np.arange(24, dtype=np.float32).reshape(6, 4)
    check_case(op, inputs={"InputTensor": x, "SequenceLengthsTensor": lengths})


# --- SLICE_GRAD ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        pytest.param(slice_grad(steps=(1, 1, 1)), ["Pad"], id="window"),
        pytest.param(slice_grad(offsets=(0, 0, 0), windows=SHAPE, steps=(1, 1, 1)), ["Identity"], id="everything"),
        pytest.param(slice_grad(offsets=(0, 0, 0), windows=SHAPE, steps=(-1, -1, -1)), ["Slice"], id="reversed"),
        pytest.param(slice_grad(steps=(1, -1, -1)), ["Slice", "Pad"], id="backwards"),
        pytest.param(slice_grad((9, 8), (1, 0), (8, 8), (2, 4)), ["Reshape", "Pad", "Reshape", "Pad"], id="steps"),
        pytest.param(
            slice_grad((9, 8), (0, 1), (9, 7), (2, 3)), ["Reshape", "Pad", "Reshape", "Slice", "Pad"], id="steps-to-end"
        ),
        pytest.param(slice_grad((8,), (1,), (6,), (-2,)), ["Slice", "Reshape", "Pad", "Reshape", "Pad"], id="both"),
        pytest.param(
            slice_grad(windows=(3, 1, 1), steps=(2, -(2**31), 2**31 - 1), counts=(1, 1, 1)), ["Pad"], id="one"
        ),
        pytest.param(slice_grad(steps=(1, 1, 1), strides=(0, 5, 1)), ["Expand", "Pad"], id="broadcast"),
    ],
)
def test_form_of_slice_gradients(op, expected):
    assert operators(check_case(op)) == expected
    assert operators(check_case(op, constants=["InputGradientTensor"])) == ["Identity"]
