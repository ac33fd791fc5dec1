"""Every rule in code has a descriptor that breaks it and as few others as possible."""

from __future__ import annotations

import pytest

from dml2onnx.checks import check
from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Code
from dml2onnx.ir.operator import UNREADABLE, OperatorDesc, Size2D
from dml2onnx.rules.shapes import worded_rules
from dml2onnx.rules.subject import Subject, UnanswerableError
from dml2onnx.test_cases.valid_attention import attention
from tests.checks.build import one, op, t
from tests.checks.operator_cases import _conv
from tests.checks.test_cases import CASES

U32 = "UINT32"
ROIS = {"ROITensor": t(2, 4), "BatchIndicesTensor": t(2, type=U32), "ReductionFunction": "AVERAGE"}
FOLD = {"WindowSizes": (2, 2), "Strides": (2, 2)}
QUANTIZED = {"InputTensor": t(1, 1, 4, 8), "OutputTensor": t(1, 1, 4, 8, type="UINT8"), "QuantizationType": "SCALE"}
INTEGER = {"ATensor": t(1, 1, 2, 3, type="UINT8"), "BTensor": t(1, 1, 3, 4, type="UINT8")}
PRODUCT = {**INTEGER, "OutputTensor": t(1, 1, 2, 4, type="INT32")}
SCALED = {"AScaleTensor": t(1, 1, 1, 1), "BScaleTensor": t(1, 1, 1, 1)}
FLOAT_PRODUCT = {**INTEGER, **SCALED, "OutputTensor": t(1, 1, 2, 4)}
QUANTIZED_PRODUCT = {
    **INTEGER,
    **SCALED,
    "OutputScaleTensor": t(1, 1, 1, 1),
    "OutputTensor": t(1, 1, 2, 4, type="UINT8"),
}
INTEGER_CONVOLUTION = {
    "InputTensor": t(1, 2, 4, 4, type="UINT8"),
    "FilterTensor": t(3, 2, 3, 3, type="UINT8"),
    "Strides": (1, 1),
}
QUANTIZED_CONVOLUTION = {
    **INTEGER_CONVOLUTION,
    "InputScaleTensor": t(1, 1, 1, 1),
    "FilterScaleTensor": t(1, 1, 1, 1),
    "OutputScaleTensor": t(1, 1, 1, 1),
    "OutputTensor": t(1, 3, 2, 2, type="UINT8"),
}
QUANTIZED_POOLING = {
    "InputTensor": t(1, 3, 4, 4, type="UINT8"),
    "InputScaleTensor": t(1, 1, 1, 1),
    "OutputScaleTensor": t(1, 1, 1, 1),
    "OutputTensor": t(1, 3, 2, 2, type="UINT8"),
    "WindowSize": (2, 2),
    "Strides": (2, 2),
}
TOP = {"InputTensor": t(1, 1, 2, 5), "Axis": 3, "K": 3}
ND = {"InputTensor": t(3, 4), "InputDimensionCount": 2, "IndicesDimensionCount": 2}
WINDOW = {"InputWindowSizes": (4,), "InputWindowStrides": (2,)}

BROKEN: dict[Code, list[tuple[str, OperatorDesc]]] = {
    codes.REQUIRED_HERE: [
        ("MaskTensor", attention(MaskType="BOOLEAN")),
    ],
    codes.WRONG_SIZE: [
        (
            "OutputTensor/Sizes",
            op("UPSAMPLE_2D", InputTensor=t(1, 1, 2, 2), OutputTensor=t(1, 1, 4, 4), ScaleSize=Size2D(2, 3)),
        ),
        (
            "InputGradientTensor/Sizes/2",
            op(
                "AVERAGE_POOLING_GRAD",
                InputGradientTensor=t(1, 1, 3, 2),
                OutputGradientTensor=t(1, 1, 4, 4),
                WindowSize=(2, 2),
                Strides=(2, 2),
            ),
        ),
        (
            "InputGradientTensor/Sizes/3",
            op(
                "MAX_POOLING_GRAD",
                InputTensor=t(1, 1, 4, 4),
                InputGradientTensor=t(1, 1, 2, 3),
                OutputGradientTensor=t(1, 1, 4, 4),
                WindowSize=(2, 2),
                Strides=(2, 2),
            ),
        ),
        *(
            (
                f"{name}/Sizes",
                op(
                    "QUANTIZED_LINEAR_AVERAGE_POOLING",
                    **{**QUANTIZED_POOLING, **scale, name: t(1, 1, 1, 3, type=data_type)},
                ),
            )
            for name, data_type, scale in (
                ("InputScaleTensor", "FLOAT32", {}),
                ("InputZeroPointTensor", "UINT8", {"InputScaleTensor": t(1, 1, 1, 3)}),
                ("OutputScaleTensor", "FLOAT32", {}),
                ("OutputZeroPointTensor", "UINT8", {"OutputScaleTensor": t(1, 1, 1, 3)}),
            )
        ),
        (
            "FilterZeroPointTensor/Sizes",
            op(
                "CONVOLUTION_INTEGER",
                **INTEGER_CONVOLUTION,
                OutputTensor=t(1, 3, 2, 2, type="INT32"),
                FilterZeroPointTensor=t(1, 2, 1, 1, type="UINT8"),
            ),
        ),
        (
            "FilterScaleTensor/Sizes",
            op("QUANTIZED_LINEAR_CONVOLUTION", **{**QUANTIZED_CONVOLUTION, "FilterScaleTensor": t(1, 1, 1, 3)}),
        ),
        (
            "BiasTensor/Sizes",
            op("QUANTIZED_LINEAR_CONVOLUTION", **QUANTIZED_CONVOLUTION, BiasTensor=t(1, 1, 1, 1, type="INT32")),
        ),
        (
            "AZeroPointTensor/Sizes",
            op("MATRIX_MULTIPLY_INTEGER", **PRODUCT, AZeroPointTensor=t(1, 1, 1, 2, type="UINT8")),
        ),
        (
            "BZeroPointTensor/Sizes",
            op("MATRIX_MULTIPLY_INTEGER", **PRODUCT, BZeroPointTensor=t(1, 1, 4, 1, type="UINT8")),
        ),
        (
            "AScaleTensor/Sizes",
            op("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", **{**FLOAT_PRODUCT, "AScaleTensor": t(1, 1, 3, 1)}),
        ),
        (
            "BScaleTensor/Sizes",
            op("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", **{**FLOAT_PRODUCT, "BScaleTensor": t(1, 1, 1, 3)}),
        ),
        (
            "OutputScaleTensor/Sizes",
            op("QUANTIZED_LINEAR_MATRIX_MULTIPLY", **{**QUANTIZED_PRODUCT, "OutputScaleTensor": t(1, 1, 1, 4)}),
        ),
        (
            "OutputZeroPointTensor/Sizes",
            op(
                "QUANTIZED_LINEAR_MATRIX_MULTIPLY",
                **QUANTIZED_PRODUCT,
                OutputZeroPointTensor=t(1, 1, 1, 4, type="UINT8"),
            ),
        ),
        (
            "OutputValueTensor/Sizes/3",
            op("TOP_K", **TOP, OutputValueTensor=t(1, 1, 2, 5), OutputIndexTensor=t(1, 1, 2, 3, type=U32)),
        ),
        (
            "OutputIndexTensor/Sizes/2",
            op("TOP_K", **TOP, OutputValueTensor=t(1, 1, 2, 3), OutputIndexTensor=t(1, 1, 1, 3, type=U32)),
        ),
        (
            "OutputTensor/Sizes",
            op("SLICE", InputTensor=t(8), OutputTensor=t(3), Offsets=(0,), Sizes=(4,), Strides=(1,)),
        ),
        (
            "InputGradientTensor/Sizes/0",
            op("SLICE_GRAD", **WINDOW, InputGradientTensor=t(3), OutputGradientTensor=t(9), InputWindowOffsets=(0,)),
        ),
        ("OutputTensor/Sizes/1", op("TILE", InputTensor=t(2, 3), OutputTensor=t(2, 8), Repeats=(1, 3))),
        (
            "OutputTensor/Sizes",
            op("DEPTH_TO_SPACE1", InputTensor=t(1, 8, 2, 2), OutputTensor=t(1, 2, 4, 2), BlockSize=2),
        ),
        (
            "OutputTensor/Sizes",
            op("SPACE_TO_DEPTH1", InputTensor=t(1, 1, 4, 4), OutputTensor=t(1, 4, 2, 4), BlockSize=2),
        ),
        (
            "SequenceLengthsTensor/Sizes",
            op(
                "REVERSE_SUBSEQUENCES",
                InputTensor=t(1, 1, 2, 5),
                SequenceLengthsTensor=t(1, 1, 2, 2, type=U32),
                OutputTensor=t(1, 1, 2, 5),
                Axis=3,
            ),
        ),
        (
            "InputStateTensor/Sizes",
            op("RANDOM_GENERATOR", InputStateTensor=t(1, 1, 1, 4, type=U32), OutputTensor=t(1, 1, 2, 2, type=U32)),
        ),
        ("InputTensor/Sizes", op("FOLD", **FOLD, InputTensor=t(1, 4, 5), OutputTensor=t(1, 1, 4, 4))),
        (
            "IndicesTensor/Sizes/0",
            op(
                "GATHER",
                InputTensor=t(3, 2),
                IndicesTensor=t(2, 2, type=U32),
                OutputTensor=t(2, 2),
                Axis=0,
                IndexDimensions=1,
            ),
        ),
        (
            "IndicesTensor/Sizes/1",
            op("GATHER_ELEMENTS", InputTensor=t(3, 2), IndicesTensor=t(5, 1, type=U32), OutputTensor=t(5, 1), Axis=0),
        ),
        (
            "IndicesTensor/Sizes",
            op("ONE_HOT", IndicesTensor=t(2, 3, type=U32), ValuesTensor=t(1, 2), OutputTensor=t(2, 3), Axis=1),
        ),
        (
            "OutputCoordinatesTensor/Sizes",
            op(
                "NONZERO_COORDINATES",
                InputTensor=t(2, 3),
                OutputCountTensor=t(1, type=U32),
                OutputCoordinatesTensor=t(6, 1, type=U32),
            ),
        ),
        ("OutputTensor/Sizes", op("GATHER_ND", **ND, IndicesTensor=t(5, 1, type=U32), OutputTensor=t(5, 3))),
        ("IndicesTensor/Sizes/1", op("GATHER_ND", **ND, IndicesTensor=t(5, 3, type=U32), OutputTensor=t(1, 5))),
        (
            "OutputTensor/Sizes",
            op("GATHER_ND1", **ND, BatchDimensionCount=1, IndicesTensor=t(3, 1, type=U32), OutputTensor=t(1, 4)),
        ),
        (
            "IndicesTensor/Sizes/0",
            op("GATHER_ND1", **ND, BatchDimensionCount=1, IndicesTensor=t(2, 1, type=U32), OutputTensor=t(1, 2)),
        ),
        (
            "UpdatesTensor/Sizes",
            op("SCATTER_ND", **ND, IndicesTensor=t(5, 2, type=U32), UpdatesTensor=t(1, 4), OutputTensor=t(3, 4)),
        ),
        (
            "IndicesTensor/Sizes/1",
            op("SCATTER_ND", **ND, IndicesTensor=t(5, 3, type=U32), UpdatesTensor=t(1, 5), OutputTensor=t(3, 4)),
        ),
        (
            "IndicesTensor/Sizes/1",
            op("GATHER_ND1", **ND, BatchDimensionCount=1, IndicesTensor=t(3, 2, type=U32), OutputTensor=t(1, 3)),
        ),
        *(
            (
                "InputTensor/Sizes/0",
                op(
                    operator,
                    InputTensor=t(2, 3, 4),
                    InputDimensionCount=2,
                    IndicesTensor=t(1, 5, 1, type=U32),
                    IndicesDimensionCount=2,
                    **more,
                ),
            )
            for operator, more in (
                ("GATHER_ND", {"OutputTensor": t(1, 5, 4)}),
                ("SCATTER_ND", {"UpdatesTensor": t(1, 5, 4), "OutputTensor": t(2, 3, 4)}),
            )
        ),
        (
            "IndicesTensor/Sizes/0",
            op(
                "GATHER_ND1",
                InputTensor=t(1, 5, 4),
                InputDimensionCount=2,
                IndicesTensor=t(2, 5, 1, type=U32),
                IndicesDimensionCount=2,
                BatchDimensionCount=0,
                OutputTensor=t(1, 5, 4),
            ),
        ),
        (
            "VarianceTensor/Sizes/3",
            op(
                "BATCH_NORMALIZATION",
                InputTensor=t(1, 2, 4, 4),
                MeanTensor=t(1, 2, 4, 4),
                VarianceTensor=t(1, 2, 4, 1),
                ScaleTensor=t(1, 2, 1, 1),
                BiasTensor=t(1, 2, 1, 1),
                OutputTensor=t(1, 2, 4, 4),
                Spatial=False,
            ),
        ),
        (
            "BiasTensor/Sizes/1",
            op(
                "MEAN_VARIANCE_NORMALIZATION1",
                InputTensor=t(1, 2, 4, 4),
                ScaleTensor=t(1, 2, 1, 1),
                BiasTensor=t(1, 1, 1, 1),
                OutputTensor=t(1, 2, 4, 4),
                Axes=(2, 3),
            ),
        ),
        ("OutputTensor/Sizes/1", op("ROI_ALIGN", **ROIS, InputTensor=t(1, 3, 4, 4), OutputTensor=t(2, 1, 2, 2))),
        (
            "ROITensor/Sizes",
            op("ROI_ALIGN1", **{**ROIS, "ROITensor": t(2, 5)}, InputTensor=t(1, 3, 4, 4), OutputTensor=t(2, 3, 2, 2)),
        ),
        (
            "BatchIndicesTensor/Sizes",
            op(
                "ROI_ALIGN",
                **{**ROIS, "BatchIndicesTensor": t(3, type=U32)},
                InputTensor=t(1, 3, 4, 4),
                OutputTensor=t(2, 3, 2, 2),
            ),
        ),
        (
            "InputGradientTensor/Sizes/0",
            op("ROI_ALIGN_GRAD", **ROIS, InputGradientTensor=t(3, 1, 2, 2), OutputGradientTensor=t(1, 1, 4, 4)),
        ),
        (
            "OutputTensor/Sizes",
            op(
                "ROI_POOLING",
                InputTensor=t(1, 3, 4, 4),
                ROITensor=t(1, 1, 2, 5),
                OutputTensor=t(2, 3, 2, 3),
                PooledSize=Size2D(2, 2),
            ),
        ),
        (
            "ROITensor/Sizes",
            op(
                "ROI_POOLING",
                InputTensor=t(1, 3, 4, 4),
                ROITensor=t(1, 1, 2, 4),
                OutputTensor=t(2, 3, 2, 2),
                PooledSize=Size2D(2, 2),
            ),
        ),
    ],
    codes.OUT_OF_WINDOW: [
        ("Offsets/0", op("SLICE", InputTensor=t(8), OutputTensor=t(4), Offsets=(2,), Sizes=(4,), Strides=(2,))),
        (
            "InputWindowOffsets/0",
            op("SLICE_GRAD", **WINDOW, InputGradientTensor=t(2), OutputGradientTensor=t(4), InputWindowOffsets=(1,)),
        ),
        (
            "InputWindowSizes/0",
            op("SLICE1", InputTensor=t(4), OutputTensor=t(1), InputWindowOffsets=(0,), InputWindowSizes=(0,)),
        ),
    ],
    codes.OUT_OF_RANGE: [
        (
            "OutputPadding/1",
            op(
                "CONVOLUTION",
                InputTensor=t(1, 2, 4, 4),
                FilterTensor=t(3, 2, 3, 3),
                OutputTensor=t(1, 3, 2, 2),
                Direction="FORWARD",
                Strides=(1, 1),
                OutputPadding=(0, 2),
            ),
        ),
        (
            "BatchDimensionCount",
            op(
                "GATHER_ND1",
                InputTensor=t(3, 1, 4),
                InputDimensionCount=3,
                IndicesTensor=t(1, 3, 1, type=U32),
                IndicesDimensionCount=2,
                BatchDimensionCount=2,
                OutputTensor=t(1, 1, 3),
            ),
        ),
    ],
    codes.EXACTLY_ONE: [
        ("MaskTensor", attention(MaskTensor=t(1, 2, type="INT32"))),
    ],
    codes.INDIVISIBLE: [
        (
            "InputTensor/Sizes/3",
            op("SPACE_TO_DEPTH", InputTensor=t(1, 1, 4, 5), OutputTensor=t(1, 4, 2, 2), BlockSize=2),
        ),
        ("QuantizationTensors/0/Sizes/3", op("QUANTIZE", **QUANTIZED, QuantizationTensors=(t(1, 1, 4, 3),))),
    ],
    codes.WRONG_DIMENSION_COUNT: [
        ("InputTensor/Sizes", op("FOLD", **FOLD, InputTensor=t(2, 1, 4, 4), OutputTensor=t(1, 1, 4, 4))),
        ("OutputTensor/Sizes", op("UNFOLD", **FOLD, InputTensor=t(1, 1, 4, 4), OutputTensor=t(2, 1, 4, 4))),
        (
            "OutputTensor/Sizes",
            op(
                "GATHER",
                InputTensor=t(3, 2),
                IndicesTensor=t(1, 2, type=U32),
                OutputTensor=t(1, 2),
                Axis=1,
                IndexDimensions=2,
            ),
        ),
        *(
            (
                f"{field}/Sizes",
                op(
                    operator,
                    InputTensor=t(3, 4, 2),
                    InputDimensionCount=3,
                    IndicesTensor=t(1, 5, 1, type=U32),
                    IndicesDimensionCount=3,
                    **more,
                ),
            )
            for operator, field, more in (
                ("GATHER_ND", "OutputTensor", {"OutputTensor": t(5, 4, 2)}),
                ("SCATTER_ND", "UpdatesTensor", {"UpdatesTensor": t(5, 4, 2), "OutputTensor": t(3, 4, 2)}),
            )
        ),
    ],
    codes.WINDOW_TOO_LARGE: [
        ("WindowSizes/1", op("UNFOLD", **FOLD, InputTensor=t(1, 1, 4, 1), OutputTensor=t(1, 4, 2))),
    ],
    codes.DIFFERENT_DATA_TYPES: [
        (
            "QuantizationTensors/0/DataType",
            op("QUANTIZE", **QUANTIZED, QuantizationTensors=(t(1, 1, 1, 1, type="FLOAT16"),)),
        ),
        (
            "QuantizationTensors/1/DataType",
            op(
                "DEQUANTIZE",
                InputTensor=t(1, 1, 4, 8, type="UINT8"),
                QuantizationType="SCALE_ZERO_POINT",
                QuantizationTensors=(t(1, 1, 1, 1), t(1, 1, 1, 1, type="INT8")),
                OutputTensor=t(1, 1, 4, 8),
            ),
        ),
    ],
}
ROWS = [(code, path, desc) for code, rows in BROKEN.items() for path, desc in rows]
BROADCAST_LATER = ("BATCH_NORMALIZATION", "MEAN_VARIANCE_NORMALIZATION1")
"""Operators that broadcast the wrong tensor after feature level 3_1."""


@pytest.mark.parametrize(("code", "path", "desc"), ROWS, ids=[f"{desc.type}-{path}" for _, path, desc in ROWS])
def test_broken(code: Code, path: str, desc: OperatorDesc) -> None:
    level = "3_1" if desc.type in BROADCAST_LATER else None
    found = {(item.code, item.pointer) for item in check(one(desc), level, documented=True)}
    assert (code.id, f"/nodes/0/desc/{path}") in found
    # Tensors that must have the sizes of the wrong one mismatch it.
    assert {code for code, _ in found} <= {code.id, codes.DIFFERENT_SIZES.id}


def test_every_rule_is_broken() -> None:
    descriptors = [desc for _, _, desc in ROWS]
    descriptors.extend(node.operator for case in CASES for node in case.graph.nodes)
    silent = []
    for rule in worded_rules():
        stems = {item.partition("/")[0] for item in rule.constraints}
        if not any(desc.schema.stem in stems and _breaks(rule.check, desc) for desc in descriptors):
            silent.append(rule.check)
    assert silent == []


def _breaks(rule: object, desc: OperatorDesc) -> bool:
    try:
        return bool(list(rule(Subject(desc))))  # type: ignore[operator]
    except UnanswerableError:
        return False


def test_related_fields_are_those_that_the_rule_read() -> None:
    """The size may be right, and the axis wrong; what other tensors hold has no say in whether a type is supported."""
    join = op("JOIN", InputTensors=(t(1, 2, 3), t(1, 2, 3)), OutputTensor=t(1, 2, 6), Axis=1)
    assert {(item.field, item.related) for item in check(one(join))} == {("OutputTensor", ("InputTensors", "Axis"))}
    chosen = op("ELEMENT_WISE_IF", ConditionTensor=t(2), ATensor=t(2), BTensor=t(2), OutputTensor=t(2))
    assert {(item.field, item.related) for item in check(one(chosen))} == {("ConditionTensor", ())}


@pytest.mark.parametrize(("count", "severity"), [(3, "warning"), (2**32 - 1, "error")])
def test_an_array_is_not_read_far_beyond_its_end(count: int, severity: str) -> None:
    """DirectML copies all entries that the count says: it dies where there is no memory any more."""
    named = dict.fromkeys(("Strides", "Dilations"), (1, 1)) | dict.fromkeys(("StartPadding", "EndPadding"), (0, 0))
    image, filters = t(1, 1, 4, 4, type="UINT8"), t(1, 1, 2, 2, type="UINT8")
    tensors = {"InputTensor": image, "FilterTensor": filters, "OutputTensor": t(1, 1, 3, 3, type="INT32")}
    found = check(one(op("CONVOLUTION_INTEGER", **tensors, DimensionCount=count, **named)))
    assert {item.severity.value for item in found if item.field == "Strides"} == {severity}


@pytest.mark.parametrize(("count", "entries", "severity"), [(2, 3, "warning"), (3, 2, "error"), (2, 2, "error")])
def test_arrays_have_as_many_entries_as_the_tensors_need(count: int, entries: int, severity: str) -> None:
    """DirectML reads three of them here, whatever the count says, and what lies behind a shorter array."""
    arrays = dict.fromkeys(("Strides", "Dilations"), (1,) * entries)
    paddings = dict.fromkeys(("StartPadding", "EndPadding", "OutputPadding"), (0,) * entries)
    desc = op(
        "CONVOLUTION",
        InputTensor=t(1, 1, 4, 4, 4),
        FilterTensor=t(1, 1, 2, 2, 2),
        OutputTensor=t(1, 1, 3, 3, 3),
        Direction="FORWARD",
        DimensionCount=count,
        **arrays,
        **paddings,
    )
    found = [item for item in check(one(desc)) if item.code in (codes.ARRAY_LENGTH.id, codes.ACCEPTED_VALUE.id)]
    assert found
    assert any(item.is_error for item in found) == (severity == "error")


def test_arrays_of_a_tensor_that_cannot_be_read_are_not_too_short() -> None:
    desc = _conv(Strides=(1,)).with_values({"InputTensor": UNREADABLE})
    assert [item.code for item in check(one(desc))] == [codes.ACCEPTED_VALUE.id]
