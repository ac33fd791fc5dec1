"""Inferred outputs are what the checks require, for every operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dml2onnx
from dml2onnx import catalog
from dml2onnx.catalog import LATEST, FieldType
from dml2onnx.checks.operators import findings_of
from dml2onnx.codes import checking as codes
from dml2onnx.ir.operator import UNREADABLE, OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.rules.inference import Inferred, infer_outputs, inferable
from dml2onnx.test_cases.valid import descriptors
from dml2onnx.test_cases.valid_attention import LENGTHS, grouped
from tests.checks.build import op, t
from tests.checks.test_random import descriptors as random_descriptors

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

UNSTATED: dict[str, tuple[str, ...]] = {
    "ARGMAX": ("OutputTensor.DataType",),
    "ARGMIN": ("OutputTensor.DataType",),
    "AVERAGE_POOLING_GRAD": ("OutputGradientTensor.Sizes",),
    "CAST": ("OutputTensor.DataType",),
    "DIAGONAL_MATRIX": ("OutputTensor.DataType", "OutputTensor.Sizes"),
    "DIAGONAL_MATRIX1": ("OutputTensor.Sizes",),
    "DYNAMIC_QUANTIZE_LINEAR": ("OutputTensor.DataType", "OutputZeroPointTensor.DataType"),
    "ELEMENT_WISE_BIT_COUNT": ("OutputTensor.DataType",),
    "ELEMENT_WISE_IS_NAN": ("OutputTensor.DataType",),
    "ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL": ("OutputTensor.DataType",),
    "ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL": ("OutputTensor.DataType",),
    "ELEMENT_WISE_QUANTIZED_LINEAR_ADD": ("OutputTensor.DataType",),
    "FILL_VALUE_CONSTANT": ("OutputTensor.Sizes",),
    "FILL_VALUE_SEQUENCE": ("OutputTensor.Sizes",),
    "FOLD": ("OutputTensor.Sizes",),
    "MAX_UNPOOLING": ("OutputTensor.Sizes",),
    "MULTIHEAD_ATTENTION1": ("OutputPresentKeyTensor.Sizes", "OutputPresentValueTensor.Sizes"),
    "ONE_HOT": ("OutputTensor.Sizes",),
    "QUANTIZE": ("OutputTensor.DataType",),
    "QUANTIZED_LINEAR_CONVOLUTION": ("OutputTensor.DataType",),
    "QUANTIZED_LINEAR_MATRIX_MULTIPLY": ("OutputTensor.DataType",),
    "RANDOM_GENERATOR": ("OutputTensor.Sizes",),
    "RESAMPLE": ("OutputTensor.Sizes",),
    "RESAMPLE1": ("OutputTensor.Sizes",),
    "RESAMPLE2": ("OutputTensor.Sizes",),
    "RESAMPLE3": ("OutputTensor.Sizes",),
    "RESAMPLE_GRAD": ("OutputGradientTensor.Sizes",),
    "RESAMPLE_GRAD1": ("OutputGradientTensor.Sizes",),
    "ROI_ALIGN": ("OutputTensor.Sizes",),
    "ROI_ALIGN1": ("OutputTensor.Sizes",),
    "ROI_ALIGN_GRAD": ("OutputGradientTensor.Sizes",),
    "SLICE_GRAD": ("OutputGradientTensor.Sizes",),
}
"""Properties of outputs that have to be stated, at least for some descriptors; SPLIT's array is not inferred."""

CHOICES = frozenset(
    {
        "OutputTensor.Sizes of AVERAGE_POOLING",
        "OutputTensor.Sizes of AVERAGE_POOLING1",
        "OutputTensor.Sizes of CONVOLUTION",
        "OutputTensor.Sizes of LP_POOLING",
        "OutputTensor.Sizes of LP_POOLING1",
        "OutputTensor.Sizes of MAX_POOLING",
        "OutputTensor.Sizes of MAX_POOLING1",
        "OutputTensor.Sizes of MAX_POOLING2",
        "OutputIndicesTensor.Sizes of MAX_POOLING1",
        "OutputIndicesTensor.Sizes of MAX_POOLING2",
        "OutputTensor.Sizes of QUANTIZED_LINEAR_AVERAGE_POOLING",
        "OutputTensor.Sizes of SLICE1",
        "OutputCountTensor.Sizes of NONZERO_COORDINATES",
        "OutputCoordinatesTensor.Sizes of NONZERO_COORDINATES",
        "OutputTensor.DataType of ELEMENT_WISE_LOGICAL_EQUALS",
        "OutputTensor.DataType of ELEMENT_WISE_LOGICAL_GREATER_THAN",
        "OutputTensor.DataType of ELEMENT_WISE_LOGICAL_LESS_THAN",
        "OutputTensor.DataType of REDUCE",
        "OutputIndicesTensor.DataType of MAX_POOLING1",
        "OutputIndicesTensor.DataType of MAX_POOLING2",
        "OutputIndexTensor.DataType of TOP_K",
        "OutputIndexTensor.DataType of TOP_K1",
    }
)
"""Properties of outputs of which several are valid."""


def outputs_of(desc: OperatorDesc) -> list[str]:
    """The outputs of a descriptor, except SPLIT's array."""
    fields = (field for field in desc.schema.output_fields if field.type is FieldType.TENSOR)
    return [field.name for field in fields if desc.get(field.name) is not None]


def without(desc: OperatorDesc, names: Collection[str]) -> OperatorDesc:
    return OperatorDesc(desc.schema, tuple(None if field.name in names else value for field, value in desc.items()))


def completed(desc: OperatorDesc, found: Inferred) -> OperatorDesc:
    made = {name: TensorDesc(*known) for name, known in found.outputs.items()}
    return OperatorDesc(desc.schema, tuple(made.get(field.name, value) for field, value in desc.items()))


def inferred(desc: OperatorDesc) -> tuple[Inferred, Inferred]:
    """The outputs inferred for a descriptor without them, and again with the missing properties stated."""
    wanted = outputs_of(desc)
    partial = without(desc, wanted)
    alone = infer_outputs(partial, {}, {}, wanted)
    sizes = {field: desc.tensor(field).sizes for field in wanted if f"{field}.Sizes" in alone.missing}
    types = {field: desc.tensor(field).data_type for field in wanted if f"{field}.DataType" in alone.missing}
    return alone, infer_outputs(partial, sizes, types, wanted)


def differences(desc: OperatorDesc, found: Inferred) -> Iterator[str]:
    for field, (data_type, sizes) in found.outputs.items():
        if sizes != desc.tensor(field).sizes:
            yield f"{field}.Sizes of {desc.type}"
        if data_type is not desc.tensor(field).data_type:
            yield f"{field}.DataType of {desc.type}"


def wrongs(desc: OperatorDesc) -> Iterator[str]:
    """The errors of inference for a valid descriptor."""
    alone, found = inferred(desc)
    yield from (
        f"{item} of {desc.type} is missing" for item in alone.missing if item not in UNSTATED.get(desc.type, ())
    )
    if found.missing or found.findings or found.outputs.keys() != set(outputs_of(desc)):
        yield f"{desc.type}: {found}"
    yield from (f"{item} differs" for item in differences(desc, found) if item not in CHOICES)
    before = findings_of(desc, LATEST)
    yield from (f"{desc.type}: {item}" for item in findings_of(completed(desc, found), LATEST) if item not in before)


@pytest.mark.parametrize("name", catalog.operator_names())
def test_operator(name: str) -> None:
    found = descriptors()[name]
    assert found
    for desc in found:
        assert findings_of(desc, LATEST) == ()
        assert list(wrongs(desc)) == []


def test_choices_are_made() -> None:
    made = {item for found in descriptors().values() for desc in found for item in differences(desc, inferred(desc)[1])}
    assert made == CHOICES


def test_vectors(corpus: Path) -> None:
    models = sorted(corpus.glob("*/model.json"))
    assert len(models) == 2748
    seen = {node.operator for model in models for node in dml2onnx.load(model).nodes}
    assert len({desc.type for desc in seen}) > 100
    assert [wrong for desc in seen for wrong in wrongs(desc)] == []


# --- What has to be stated ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", catalog.operator_names())
def test_inferable(name: str) -> None:
    schema = catalog.operator(name)
    known = inferable(schema)
    unknown = set()
    for field in schema.output_fields:
        if field.type is FieldType.TENSOR:
            unknown |= {f"{field.name}.Sizes"} if field.name not in known.sizes else set()
            unknown |= {f"{field.name}.DataType"} if field.name not in known.data_types else set()
        else:
            assert field.name not in known.sizes | known.data_types
    assert unknown == set(UNSTATED.get(schema.short_name, ()))


def _optional_dropped(desc: OperatorDesc) -> Iterator[OperatorDesc]:
    """The descriptor without each of its optional inputs, and without all of them, if that is valid."""
    optional = [f.name for f in desc.schema.input_fields if f.optional and desc.get(f.name) is not None]
    for dropped in (*([name] for name in optional), optional):
        fewer = without(desc, dropped)
        if dropped and not findings_of(fewer, LATEST):
            yield fewer


def test_inferable_without_optional_inputs() -> None:
    fewer = [item for found in descriptors().values() for desc in found for item in _optional_dropped(desc)]
    assert len(fewer) > 30
    for desc in fewer:
        assert set(inferred(desc)[0].missing) <= set(UNSTATED.get(desc.type, ())), desc


def test_uninferable_properties_are_missing_for_some_descriptor() -> None:
    silent = {name: set(items) for name, items in UNSTATED.items()}
    for whole in (desc for found in descriptors().values() for desc in found):
        for desc in (whole, *_optional_dropped(whole)):
            silent.get(desc.type, set()).difference_update(inferred(desc)[0].missing)
    assert {name: items for name, items in silent.items() if items} == {}


# --- Formulas -------------------------------------------------------------------------------------------------------

_BACKWARD: dict[str, Any] = {"InputTensor": t(2, 4, 5, 6), "FilterTensor": t(4, 3, 3, 2), "Direction": "BACKWARD"}
_POOL = {"InputTensor": t(2, 3, 8, 8), "WindowSize": (3, 2), "Strides": (2, 3), "StartPadding": (1, 0)}

# (descriptor without outputs, sizes of its outputs)
SIZES: dict[str, tuple[OperatorDesc, dict[str, tuple[int, ...]]]] = {
    "natural size of a transposed convolution": (
        op(
            "CONVOLUTION",
            **_BACKWARD,
            Strides=(2, 3),
            Dilations=(2, 1),
            OutputPadding=(1, 0),
            StartPadding=(1, 0),
            EndPadding=(0, 2),
            GroupCount=2,
        ),
        {"OutputTensor": (2, 6, 13, 15)},
    ),
    "windows that fit": (op("MAX_POOLING1", **_POOL, EndPadding=(0, 0)), {"OutputTensor": (2, 3, 4, 3)}),
    "indices of a maximum": (
        op("MAX_POOLING2", **_POOL, Dilations=(2, 4), EndPadding=(1, 3)),
        {"OutputTensor": (2, 3, 3, 3), "OutputIndicesTensor": (2, 3, 3, 3)},
    ),
    "all of a slice": (
        op("SLICE1", InputTensor=t(9, 9), InputWindowSizes=(7, 8), InputWindowStrides=(-2, 3)),
        {"OutputTensor": (4, 3)},
    ),
    "an axis that is not the last": (
        op("TOP_K1", InputTensor=t(1, 5, 2), Axis=1, K=3),
        {"OutputValueTensor": (1, 3, 2), "OutputIndexTensor": (1, 3, 2)},
    ),
    "gathered, right-aligned": (
        op("GATHER", InputTensor=t(1, 1, 6, 5), IndicesTensor=t(1, 1, 3, 4, type="INT32"), Axis=2, IndexDimensions=2),
        {"OutputTensor": (1, 3, 4, 5)},
    ),
    "gathered, with ones in front": (
        op("GATHER", InputTensor=t(2, 6, 5), IndicesTensor=t(1, 1, 4, type="INT32"), Axis=1, IndexDimensions=0),
        {"OutputTensor": (1, 2, 5)},
    ),
    "gathered tuples": (
        op(
            "GATHER_ND1",
            InputTensor=t(1, 2, 6, 5, 4),
            IndicesTensor=t(1, 1, 2, 3, 2, type="INT32"),
            InputDimensionCount=4,
            IndicesDimensionCount=3,
            BatchDimensionCount=1,
        ),
        {"OutputTensor": (1, 1, 2, 3, 4)},
    ),
    "coordinates": (
        op("NONZERO_COORDINATES", InputTensor=t(1, 2, 4)),
        {"OutputCountTensor": (1,), "OutputCoordinatesTensor": (8, 3)},
    ),
    "positions of a window": (
        op(
            "UNFOLD",
            InputTensor=t(2, 3, 6, 5),
            WindowSizes=(2, 3),
            Strides=(2, 1),
            StartPadding=(0, 1),
            EndPadding=(0, 0),
        ),
        {"OutputTensor": (2, 18, 12)},
    ),
    "joined": (op("JOIN", InputTensors=(t(2, 3), t(2, 1), t(2, 5)), Axis=1), {"OutputTensor": (2, 9)}),
    "a single scale": (
        op("DYNAMIC_QUANTIZE_LINEAR", InputTensor=t(2, 3, 4)),
        {"OutputScaleTensor": (1, 1, 1), "OutputZeroPointTensor": (1, 1, 1), "OutputTensor": (2, 3, 4)},
    ),
    "the state of a generator": (
        op("RANDOM_GENERATOR", InputStateTensor=t(1, 1, 1, 6, type="UINT32")),
        {"OutputStateTensor": (1, 1, 1, 6)},
    ),
    "statistics of a batch": (
        op(
            "BATCH_NORMALIZATION_TRAINING",
            InputTensor=t(2, 3, 4, 5),
            ScaleTensor=t(1, 3, 1, 1),
            BiasTensor=t(1, 3, 1, 1),
        ),
        {"OutputTensor": (2, 3, 4, 5), "OutputMeanTensor": (1, 3, 1, 1), "OutputVarianceTensor": (1, 3, 1, 1)},
    ),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes(name: str) -> None:
    desc, wanted = SIZES[name]
    types = dict.fromkeys(wanted, DataType.FLOAT32)
    found = infer_outputs(desc, {}, types, wanted)
    assert (found.missing, found.findings) == ((), ())
    assert {field: sizes for field, (_, sizes) in found.outputs.items()} == wanted


# --- Data types -----------------------------------------------------------------------------------------------------

_HALF = t(2, 3, type="FLOAT16")
_BYTES = t(2, 3, type="UINT8")

# (descriptor without outputs, data types of its outputs)
TYPES = {
    "that of an input": (op("ELEMENT_WISE_ABS", InputTensor=_HALF), {"OutputTensor": "FLOAT16"}),
    "that of the first of an array": (op("JOIN", InputTensors=(_HALF, _HALF), Axis=0), {"OutputTensor": "FLOAT16"}),
    "that of a scale": (
        op(
            "DEQUANTIZE",
            InputTensor=_BYTES,
            QuantizationTensors=(t(1, 1, type="FLOAT16"),),
            QuantizationType="SCALE",
        ),
        {"OutputTensor": "FLOAT16"},
    ),
    "that of a zero point": (
        op("QUANTIZE", InputTensor=_HALF, QuantizationTensors=(t(1, 1, type="FLOAT16"), t(1, 1, type="INT4"))),
        {"OutputTensor": "INT4"},
    ),
    "that of an attribute": (
        op("FILL_VALUE_CONSTANT", ValueDataType="INT16"),
        {"OutputTensor": "INT16"},
    ),
    "the only one": (op("CONVOLUTION_INTEGER", InputTensor=_BYTES, Strides=()), {"OutputTensor": "INT32"}),
    "the one of all feature levels": (op("TOP_K", InputTensor=_HALF), {"OutputIndexTensor": "UINT32"}),
    "that of a function": (op("REDUCE", InputTensor=_HALF, Function="ARGMAX", Axes=()), {"OutputTensor": "UINT32"}),
    "that of another function": (op("REDUCE", InputTensor=_HALF, Function="MAX", Axes=()), {"OutputTensor": "FLOAT16"}),
    "that of whichever query there is": (
        op("MULTIHEAD_ATTENTION", StackedQueryKeyValueTensor=_HALF, MaskType="NONE"),
        {"OutputTensor": "FLOAT16", "OutputPresentKeyTensor": "FLOAT16"},
    ),
}


@pytest.mark.parametrize("name", TYPES)
def test_data_types(name: str) -> None:
    desc, wanted = TYPES[name]
    found = infer_outputs(desc, dict.fromkeys(wanted, (2, 3)), {}, wanted)
    assert found.missing == ()
    assert {field: data_type.name for field, (data_type, _) in found.outputs.items()} == wanted


# --- What is stated, and what is broken -----------------------------------------------------------------------------


def test_stated_outputs_win() -> None:
    desc = op("ELEMENT_WISE_ABS", InputTensor=_HALF)
    found = infer_outputs(desc, {"OutputTensor": [7]}, {"OutputTensor": DataType.INT8}, ["OutputTensor"])
    assert found == ({"OutputTensor": (DataType.INT8, (7,))}, (), ())


def test_outputs_follow_from_a_stated_one() -> None:
    desc = op("MAX_POOLING2", **_POOL, Dilations=(1, 1), EndPadding=(0, 0))
    found = infer_outputs(desc, {"OutputTensor": (2, 3, 4, 4)}, {}, ["OutputIndicesTensor"])
    assert found.outputs == {"OutputIndicesTensor": (DataType.UINT32, (2, 3, 4, 4))}
    desc = op("DYNAMIC_QUANTIZE_LINEAR", InputTensor=t(2, 3))
    found = infer_outputs(desc, {}, {"OutputTensor": DataType.INT8}, ["OutputZeroPointTensor"])
    assert found.outputs == {"OutputZeroPointTensor": (DataType.INT8, (1, 1))}


def test_present_keys_of_unknown_length() -> None:
    desc = without(grouped(**LENGTHS), outputs_of(grouped(**LENGTHS)))
    found = infer_outputs(desc, {}, {}, ["OutputTensor", "OutputPresentKeyTensor"])
    assert found.missing == ("OutputPresentKeyTensor.Sizes",)
    assert found.outputs == {"OutputTensor": (DataType.FLOAT32, (2, 3, 12))}


def test_windows_that_do_not_fit() -> None:
    desc = op("MAX_POOLING", InputTensor=t(1, 1, 2, 2), WindowSize=(3, 2), Strides=(1, 1))
    found = infer_outputs(desc, {}, {}, ["OutputTensor"])
    assert found.outputs == {}
    assert found.missing == ("OutputTensor.Sizes",)
    assert [(item.code, item.path) for item in found.findings] == [(codes.WINDOW_TOO_LARGE, "WindowSize/0")]


@pytest.mark.parametrize("field", ["InputTensor", "Strides", "EndPadding"])
def test_broken_fields_leave_sizes_unknown(field: str) -> None:
    desc = op("MAX_POOLING", **_POOL, EndPadding=(0, 0))
    values = [UNREADABLE if item.name == field else value for item, value in desc.items()]
    found = infer_outputs(OperatorDesc(desc.schema, tuple(values)), {}, {}, ["OutputTensor"])
    assert "OutputTensor.Sizes" in found.missing


@settings(max_examples=300, deadline=None)
@given(random_descriptors(), st.data())
def test_every_requested_output_is_inferred_or_missing(desc: OperatorDesc, data: st.DataObject) -> None:
    fields = [field.name for field in desc.schema.output_fields if field.type is FieldType.TENSOR]
    wanted = data.draw(st.lists(st.sampled_from(fields), unique=True)) if fields else []
    found = infer_outputs(without(desc, fields), {}, {}, wanted)
    assert found.outputs.keys() | {item.partition(".")[0] for item in found.missing} == set(wanted)


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("window", [2, 3, 4, 5, 6])
def test_windows_that_hang_over_the_end(window: int, stride: int) -> None:
    """Rounded up, (3 - window) / stride + 1 is 1 as long as less than a stride is missing, and 1 is a size."""
    both = {"WindowSize": (window, window), "Strides": (stride, stride)}
    desc = op("MAX_POOLING", InputTensor=t(1, 1, 3, 3), StartPadding=(0, 0), EndPadding=(0, 0), **both)
    found = infer_outputs(desc, {}, {}, ["OutputTensor"])
    if window - 3 < stride:
        natural = max((3 - window) // stride + 1, 1)
        assert found.outputs == {"OutputTensor": (DataType.FLOAT32, (1, 1, natural, natural))}
    else:
        assert {item.code for item in found.findings} == {codes.WINDOW_TOO_LARGE}
