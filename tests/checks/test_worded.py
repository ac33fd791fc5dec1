"""Every rule stated in code is broken by a descriptor, each by one that breaks as little else as possible."""

from __future__ import annotations

import pytest

from dml2onnx.checks import check
from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Code
from dml2onnx.ir.operator import UNREADABLE, OperatorDesc, Size2D
from dml2onnx.rules.shapes import worded_rules
from dml2onnx.rules.subject import Subject, UnanswerableError
from dml2onnx.testing.valid_attention import attention
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

# (descriptor, code, path, feature level)
BROKEN: list[tuple[OperatorDesc, Code, str, str | None]] = [
    (attention(MaskType="BOOLEAN"), codes.REQUIRED_HERE, "MaskTensor", None),
    (
        op("UPSAMPLE_2D", InputTensor=t(1, 1, 2, 2), OutputTensor=t(1, 1, 4, 4), ScaleSize=Size2D(2, 3)),
        codes.WRONG_SIZE,
        "OutputTensor/Sizes",
        None,
    ),
    (
        op(
            "AVERAGE_POOLING_GRAD",
            InputGradientTensor=t(1, 1, 3, 2),
            OutputGradientTensor=t(1, 1, 4, 4),
            WindowSize=(2, 2),
            Strides=(2, 2),
        ),
        codes.WRONG_SIZE,
        "InputGradientTensor/Sizes/2",
        None,
    ),
    (
        op(
            "MAX_POOLING_GRAD",
            InputTensor=t(1, 1, 4, 4),
            InputGradientTensor=t(1, 1, 2, 3),
            OutputGradientTensor=t(1, 1, 4, 4),
            WindowSize=(2, 2),
            Strides=(2, 2),
        ),
        codes.WRONG_SIZE,
        "InputGradientTensor/Sizes/3",
        None,
    ),
    *(
        (
            op(
                "QUANTIZED_LINEAR_AVERAGE_POOLING",
                **{**QUANTIZED_POOLING, **scale, name: t(1, 1, 1, 3, type=data_type)},
            ),
            codes.WRONG_SIZE,
            f"{name}/Sizes",
            None,
        )
        for name, data_type, scale in (
            ("InputScaleTensor", "FLOAT32", {}),
            ("InputZeroPointTensor", "UINT8", {"InputScaleTensor": t(1, 1, 1, 3)}),
            ("OutputScaleTensor", "FLOAT32", {}),
            ("OutputZeroPointTensor", "UINT8", {"OutputScaleTensor": t(1, 1, 1, 3)}),
        )
    ),
    (
        op(
            "CONVOLUTION_INTEGER",
            **INTEGER_CONVOLUTION,
            OutputTensor=t(1, 3, 2, 2, type="INT32"),
            FilterZeroPointTensor=t(1, 2, 1, 1, type="UINT8"),
        ),
        codes.WRONG_SIZE,
        "FilterZeroPointTensor/Sizes",
        None,
    ),
    (
        op("QUANTIZED_LINEAR_CONVOLUTION", **{**QUANTIZED_CONVOLUTION, "FilterScaleTensor": t(1, 1, 1, 3)}),
        codes.WRONG_SIZE,
        "FilterScaleTensor/Sizes",
        None,
    ),
    (
        op("QUANTIZED_LINEAR_CONVOLUTION", **QUANTIZED_CONVOLUTION, BiasTensor=t(1, 1, 1, 1, type="INT32")),
        codes.WRONG_SIZE,
        "BiasTensor/Sizes",
        None,
    ),
    (
        op("MATRIX_MULTIPLY_INTEGER", **PRODUCT, AZeroPointTensor=t(1, 1, 1, 2, type="UINT8")),
        codes.WRONG_SIZE,
        "AZeroPointTensor/Sizes",
        None,
    ),
    (
        op("MATRIX_MULTIPLY_INTEGER", **PRODUCT, BZeroPointTensor=t(1, 1, 4, 1, type="UINT8")),
        codes.WRONG_SIZE,
        "BZeroPointTensor/Sizes",
        None,
    ),
    (
        op("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", **{**FLOAT_PRODUCT, "AScaleTensor": t(1, 1, 3, 1)}),
        codes.WRONG_SIZE,
        "AScaleTensor/Sizes",
        None,
    ),
    (
        op("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", **{**FLOAT_PRODUCT, "BScaleTensor": t(1, 1, 1, 3)}),
        codes.WRONG_SIZE,
        "BScaleTensor/Sizes",
        None,
    ),
    (
        op("QUANTIZED_LINEAR_MATRIX_MULTIPLY", **{**QUANTIZED_PRODUCT, "OutputScaleTensor": t(1, 1, 1, 4)}),
        codes.WRONG_SIZE,
        "OutputScaleTensor/Sizes",
        None,
    ),
    (
        op("QUANTIZED_LINEAR_MATRIX_MULTIPLY", **QUANTIZED_PRODUCT, OutputZeroPointTensor=t(1, 1, 1, 4, type="UINT8")),
        codes.WRONG_SIZE,
        "OutputZeroPointTensor/Sizes",
        None,
    ),
    (
        op("TOP_K", **TOP, OutputValueTensor=t(1, 1, 2, 5), OutputIndexTensor=t(1, 1, 2, 3, type=U32)),
        codes.WRONG_SIZE,
        "OutputValueTensor/Sizes/3",
        None,
    ),
    (
        op("TOP_K", **TOP, OutputValueTensor=t(1, 1, 2, 3), OutputIndexTensor=t(1, 1, 1, 3, type=U32)),
        codes.WRONG_SIZE,
        "OutputIndexTensor/Sizes/2",
        None,
    ),
    (
        op("SLICE", InputTensor=t(8), OutputTensor=t(3), Offsets=(0,), Sizes=(4,), Strides=(1,)),
        codes.WRONG_SIZE,
        "OutputTensor/Sizes",
        None,
    ),
    (
        op("SLICE", InputTensor=t(8), OutputTensor=t(4), Offsets=(2,), Sizes=(4,), Strides=(2,)),
        codes.OUT_OF_WINDOW,
        "Offsets/0",
        None,
    ),
    (
        op("SLICE_GRAD", **WINDOW, InputGradientTensor=t(2), OutputGradientTensor=t(4), InputWindowOffsets=(1,)),
        codes.OUT_OF_WINDOW,
        "InputWindowOffsets/0",
        None,
    ),
    (
        op("SLICE_GRAD", **WINDOW, InputGradientTensor=t(3), OutputGradientTensor=t(9), InputWindowOffsets=(0,)),
        codes.WRONG_SIZE,
        "InputGradientTensor/Sizes/0",
        None,
    ),
    (
        op(
            "CONVOLUTION",
            InputTensor=t(1, 2, 4, 4),
            FilterTensor=t(3, 2, 3, 3),
            OutputTensor=t(1, 3, 2, 2),
            Direction="FORWARD",
            Strides=(1, 1),
            OutputPadding=(0, 2),
        ),
        codes.OUT_OF_RANGE,
        "OutputPadding/1",
        None,
    ),
    (
        attention(MaskTensor=t(1, 2, type="INT32")),
        codes.EXACTLY_ONE,
        "MaskTensor",
        None,
    ),
    (
        op("SLICE1", InputTensor=t(4), OutputTensor=t(1), InputWindowOffsets=(0,), InputWindowSizes=(0,)),
        codes.OUT_OF_WINDOW,
        "InputWindowSizes/0",
        None,
    ),
    (
        op("TILE", InputTensor=t(2, 3), OutputTensor=t(2, 8), Repeats=(1, 3)),
        codes.WRONG_SIZE,
        "OutputTensor/Sizes/1",
        None,
    ),
    (
        op("DEPTH_TO_SPACE1", InputTensor=t(1, 8, 2, 2), OutputTensor=t(1, 2, 4, 2), BlockSize=2),
        codes.WRONG_SIZE,
        "OutputTensor/Sizes",
        None,
    ),
    (
        op("SPACE_TO_DEPTH1", InputTensor=t(1, 1, 4, 4), OutputTensor=t(1, 4, 2, 4), BlockSize=2),
        codes.WRONG_SIZE,
        "OutputTensor/Sizes",
        None,
    ),
    (
        op("SPACE_TO_DEPTH", InputTensor=t(1, 1, 4, 5), OutputTensor=t(1, 4, 2, 2), BlockSize=2),
        codes.INDIVISIBLE,
        "InputTensor/Sizes/3",
        None,
    ),
    (
        op(
            "REVERSE_SUBSEQUENCES",
            InputTensor=t(1, 1, 2, 5),
            SequenceLengthsTensor=t(1, 1, 2, 2, type=U32),
            OutputTensor=t(1, 1, 2, 5),
            Axis=3,
        ),
        codes.WRONG_SIZE,
        "SequenceLengthsTensor/Sizes",
        None,
    ),
    (
        op("RANDOM_GENERATOR", InputStateTensor=t(1, 1, 1, 4, type=U32), OutputTensor=t(1, 1, 2, 2, type=U32)),
        codes.WRONG_SIZE,
        "InputStateTensor/Sizes",
        None,
    ),
    (
        op("FOLD", **FOLD, InputTensor=t(2, 1, 4, 4), OutputTensor=t(1, 1, 4, 4)),
        codes.WRONG_DIMENSION_COUNT,
        "InputTensor/Sizes",
        None,
    ),
    (
        op("FOLD", **FOLD, InputTensor=t(1, 4, 5), OutputTensor=t(1, 1, 4, 4)),
        codes.WRONG_SIZE,
        "InputTensor/Sizes",
        None,
    ),
    (
        op("UNFOLD", **FOLD, InputTensor=t(1, 1, 4, 4), OutputTensor=t(2, 1, 4, 4)),
        codes.WRONG_DIMENSION_COUNT,
        "OutputTensor/Sizes",
        None,
    ),
    (
        op("UNFOLD", **FOLD, InputTensor=t(1, 1, 4, 1), OutputTensor=t(1, 4, 2)),
        codes.WINDOW_TOO_LARGE,
        "WindowSizes/1",
        None,
    ),
    (
        op(
            "GATHER",
            InputTensor=t(3, 2),
            IndicesTensor=t(1, 2, type=U32),
            OutputTensor=t(1, 2),
            Axis=1,
            IndexDimensions=2,
        ),
        codes.WRONG_DIMENSION_COUNT,
        "OutputTensor/Sizes",
        None,
    ),
    (
        op(
            "GATHER",
            InputTensor=t(3, 2),
            IndicesTensor=t(2, 2, type=U32),
            OutputTensor=t(2, 2),
            Axis=0,
            IndexDimensions=1,
        ),
        codes.WRONG_SIZE,
        "IndicesTensor/Sizes/0",
        None,
    ),
    (
        op("GATHER_ELEMENTS", InputTensor=t(3, 2), IndicesTensor=t(5, 1, type=U32), OutputTensor=t(5, 1), Axis=0),
        codes.WRONG_SIZE,
        "IndicesTensor/Sizes/1",
        None,
    ),
    (
        op("ONE_HOT", IndicesTensor=t(2, 3, type=U32), ValuesTensor=t(1, 2), OutputTensor=t(2, 3), Axis=1),
        codes.WRONG_SIZE,
        "IndicesTensor/Sizes",
        None,
    ),
    (
        op(
            "NONZERO_COORDINATES",
            InputTensor=t(2, 3),
            OutputCountTensor=t(1, type=U32),
            OutputCoordinatesTensor=t(6, 1, type=U32),
        ),
        codes.WRONG_SIZE,
        "OutputCoordinatesTensor/Sizes",
        None,
    ),
    (
        op("GATHER_ND", **ND, IndicesTensor=t(5, 1, type=U32), OutputTensor=t(5, 3)),
        codes.WRONG_SIZE,
        "OutputTensor/Sizes",
        None,
    ),
    (
        op("GATHER_ND", **ND, IndicesTensor=t(5, 3, type=U32), OutputTensor=t(1, 5)),
        codes.WRONG_SIZE,
        "IndicesTensor/Sizes/1",
        None,
    ),
    (
        op("GATHER_ND1", **ND, BatchDimensionCount=1, IndicesTensor=t(3, 1, type=U32), OutputTensor=t(1, 4)),
        codes.WRONG_SIZE,
        "OutputTensor/Sizes",
        None,
    ),
    (
        op("GATHER_ND1", **ND, BatchDimensionCount=1, IndicesTensor=t(2, 1, type=U32), OutputTensor=t(1, 2)),
        codes.WRONG_SIZE,
        "IndicesTensor/Sizes/0",
        None,
    ),
    (
        op("SCATTER_ND", **ND, IndicesTensor=t(5, 2, type=U32), UpdatesTensor=t(1, 4), OutputTensor=t(3, 4)),
        codes.WRONG_SIZE,
        "UpdatesTensor/Sizes",
        None,
    ),
    *(
        (
            op(
                operator,
                InputTensor=t(3, 4, 2),
                InputDimensionCount=3,
                IndicesTensor=t(1, 5, 1, type=U32),
                IndicesDimensionCount=3,
                **more,
            ),
            codes.WRONG_DIMENSION_COUNT,
            f"{field}/Sizes",
            None,
        )
        for operator, field, more in (
            ("GATHER_ND", "OutputTensor", {"OutputTensor": t(5, 4, 2)}),
            ("SCATTER_ND", "UpdatesTensor", {"UpdatesTensor": t(5, 4, 2), "OutputTensor": t(3, 4, 2)}),
        )
    ),
    (
        op("SCATTER_ND", **ND, IndicesTensor=t(5, 3, type=U32), UpdatesTensor=t(1, 5), OutputTensor=t(3, 4)),
        codes.WRONG_SIZE,
        "IndicesTensor/Sizes/1",
        None,
    ),
    (
        op("GATHER_ND1", **ND, BatchDimensionCount=1, IndicesTensor=t(3, 2, type=U32), OutputTensor=t(1, 3)),
        codes.WRONG_SIZE,
        "IndicesTensor/Sizes/1",
        None,
    ),
    (
        op(
            "GATHER_ND1",
            InputTensor=t(3, 1, 4),
            InputDimensionCount=3,
            IndicesTensor=t(1, 3, 1, type=U32),
            IndicesDimensionCount=2,
            BatchDimensionCount=2,
            OutputTensor=t(1, 1, 3),
        ),
        codes.OUT_OF_RANGE,
        "BatchDimensionCount",
        None,
    ),
    *(
        (
            op(
                operator,
                InputTensor=t(2, 3, 4),
                InputDimensionCount=2,
                IndicesTensor=t(1, 5, 1, type=U32),
                IndicesDimensionCount=2,
                **more,
            ),
            codes.WRONG_SIZE,
            "InputTensor/Sizes/0",
            None,
        )
        for operator, more in (
            ("GATHER_ND", {"OutputTensor": t(1, 5, 4)}),
            ("SCATTER_ND", {"UpdatesTensor": t(1, 5, 4), "OutputTensor": t(2, 3, 4)}),
        )
    ),
    (
        op(
            "GATHER_ND1",
            InputTensor=t(1, 5, 4),
            InputDimensionCount=2,
            IndicesTensor=t(2, 5, 1, type=U32),
            IndicesDimensionCount=2,
            BatchDimensionCount=0,
            OutputTensor=t(1, 5, 4),
        ),
        codes.WRONG_SIZE,
        "IndicesTensor/Sizes/0",
        None,
    ),
    (
        op("QUANTIZE", **QUANTIZED, QuantizationTensors=(t(1, 1, 4, 3),)),
        codes.INDIVISIBLE,
        "QuantizationTensors/0/Sizes/3",
        None,
    ),
    (
        op("QUANTIZE", **QUANTIZED, QuantizationTensors=(t(1, 1, 1, 1, type="FLOAT16"),)),
        codes.DIFFERENT_DATA_TYPES,
        "QuantizationTensors/0/DataType",
        None,
    ),
    (
        op(
            "DEQUANTIZE",
            InputTensor=t(1, 1, 4, 8, type="UINT8"),
            QuantizationType="SCALE_ZERO_POINT",
            QuantizationTensors=(t(1, 1, 1, 1), t(1, 1, 1, 1, type="INT8")),
            OutputTensor=t(1, 1, 4, 8),
        ),
        codes.DIFFERENT_DATA_TYPES,
        "QuantizationTensors/1/DataType",
        None,
    ),
    (
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
        codes.WRONG_SIZE,
        "VarianceTensor/Sizes/3",
        "3_1",
    ),
    (
        op(
            "MEAN_VARIANCE_NORMALIZATION1",
            InputTensor=t(1, 2, 4, 4),
            ScaleTensor=t(1, 2, 1, 1),
            BiasTensor=t(1, 1, 1, 1),
            OutputTensor=t(1, 2, 4, 4),
            Axes=(2, 3),
        ),
        codes.WRONG_SIZE,
        "BiasTensor/Sizes/1",
        "3_1",
    ),
    (
        op("ROI_ALIGN", **ROIS, InputTensor=t(1, 3, 4, 4), OutputTensor=t(2, 1, 2, 2)),
        codes.WRONG_SIZE,
        "OutputTensor/Sizes/1",
        None,
    ),
    (
        op("ROI_ALIGN1", **{**ROIS, "ROITensor": t(2, 5)}, InputTensor=t(1, 3, 4, 4), OutputTensor=t(2, 3, 2, 2)),
        codes.WRONG_SIZE,
        "ROITensor/Sizes",
        None,
    ),
    (
        op(
            "ROI_ALIGN",
            **{**ROIS, "BatchIndicesTensor": t(3, type=U32)},
            InputTensor=t(1, 3, 4, 4),
            OutputTensor=t(2, 3, 2, 2),
        ),
        codes.WRONG_SIZE,
        "BatchIndicesTensor/Sizes",
        None,
    ),
    (
        op("ROI_ALIGN_GRAD", **ROIS, InputGradientTensor=t(3, 1, 2, 2), OutputGradientTensor=t(1, 1, 4, 4)),
        codes.WRONG_SIZE,
        "InputGradientTensor/Sizes/0",
        None,
    ),
    (
        op(
            "ROI_POOLING",
            InputTensor=t(1, 3, 4, 4),
            ROITensor=t(1, 1, 2, 5),
            OutputTensor=t(2, 3, 2, 3),
            PooledSize=Size2D(2, 2),
        ),
        codes.WRONG_SIZE,
        "OutputTensor/Sizes",
        None,
    ),
    (
        op(
            "ROI_POOLING",
            InputTensor=t(1, 3, 4, 4),
            ROITensor=t(1, 1, 2, 4),
            OutputTensor=t(2, 3, 2, 2),
            PooledSize=Size2D(2, 2),
        ),
        codes.WRONG_SIZE,
        "ROITensor/Sizes",
        None,
    ),
]


@pytest.mark.parametrize(
    ("desc", "code", "path", "level"), BROKEN, ids=[f"{item[0].type}-{item[2]}" for item in BROKEN]
)
def test_broken(desc: OperatorDesc, code: Code, path: str, level: str | None) -> None:
    found = {(item.code, item.pointer) for item in check(one(desc), level, documented=True)}
    assert (code.id, f"/nodes/0/desc/{path}") in found
    # Tensors that have to be like the wrong one differ from it.
    assert {code for code, _ in found} <= {code.id, codes.DIFFERENT_SIZES.id}


def test_every_function_is_broken() -> None:
    descriptors = [item[0] for item in BROKEN]
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


def test_a_finding_names_the_fields_that_its_rule_has_read() -> None:
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
