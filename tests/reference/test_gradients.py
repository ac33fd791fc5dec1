"""Compares every gradient operator with central differences of its forward operator.

Both references get float64 arrays, which skips the last rounding, so that differences over small steps keep their
digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from dml2onnx import catalog
from dml2onnx.reference.registry import Inputs, Result, _references
from dml2onnx.test_cases.descriptors import describe

STEP = 2.0**-14


@dataclass(frozen=True)
class Pair:
    """The forward operator of a gradient operator."""

    forward: str
    inputs: Mapping[str, tuple[int, ...]]
    """Sizes of the forward operator's tensors."""
    output: tuple[int, ...]
    to: dict[str, str]
    """The output with the gradient of each input."""
    fields: Mapping[str, Any]
    forward_only: Mapping[str, Any] = field(default_factory=dict)
    backward_only: Mapping[str, Any] = field(default_factory=dict)
    given: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]] = lambda arrays: {}
    """Arrays that are computed from the random ones, or replace them."""


def computed(name, arrays, outputs, fields):
    """The unrounded results of one reference for float64 arrays."""
    narrow = {key: array if array.dtype == np.uint32 else array.astype(np.float32) for key, array in arrays.items()}
    op = describe(name, **narrow, **{key: np.zeros(sizes, np.float32) for key, sizes in outputs.items()}, **fields)
    results: Any = _references[name](op, Inputs({key: (array,) for key, array in arrays.items()}))
    assert all(isinstance(result, Result) for result in results.values())
    return {key: results[key].values.astype(np.float64) for key in outputs}


def statistics(arrays):
    axes = (0, 2, 3)
    x = arrays["InputTensor"]
    return {"MeanTensor": x.mean(axes, keepdims=True), "VarianceTensor": x.var(axes, keepdims=True)}


IMAGE, CHANNELS = (2, 3, 4, 5), (1, 3, 1, 1)
IMAGES = {"InputTensor": IMAGE}
ONE = {"InputTensor": "OutputGradientTensor"}
NORMALIZED = {**ONE, "ScaleTensor": "OutputScaleGradientTensor", "BiasTensor": "OutputBiasGradientTensor"}
WINDOW = {"Strides": (2, 1), "WindowSize": (2, 3), "StartPadding": (0, 1), "EndPadding": (0, 1)}
RESAMPLED = {"InterpolationMode": "LINEAR", "Scales": (1.0, 1.0, 1.5, 1.4)}
RESAMPLED1 = {**RESAMPLED, "RoundingDirection": "DECREASING"}
FORWARD_OFFSETS = {"InputPixelOffsets": (0.5,) * 4, "OutputPixelOffsets": (-0.5,) * 4}
BACKWARD_OFFSETS = {"InputPixelOffsets": (-0.5,) * 4, "OutputPixelOffsets": (0.5,) * 4}
UP = (2, 3, 6, 7)
REGIONS = np.array([[0.317, 0.622, 4.133, 3.271], [-0.213, 0.741, 2.159, 3.167]])
SAMPLED = {
    "ReductionFunction": "AVERAGE",
    "InterpolationMode": "LINEAR",
    "SpatialScaleX": 0.75,
    "SpatialScaleY": 1.25,
    "InputPixelOffset": 0.5,
    "OutputPixelOffset": -0.5,
    "MinimumSamplesPerOutput": 2,
    "MaximumSamplesPerOutput": 2,
    "AlignRegionsToCorners": False,
}
RESPONSE = {"CrossChannel": True, "LocalSize": 3, "Alpha": 0.5, "Beta": 0.75, "Bias": 1.5}

BOUNDS = {"Min": -0.5, "Max": 0.75}

PAIRS = {
    "ACTIVATION_RELU_GRAD": Pair("ACTIVATION_RELU", IMAGES, IMAGE, ONE, {}),
    "AVERAGE_POOLING_GRAD": Pair("AVERAGE_POOLING", IMAGES, (2, 3, 2, 5), ONE, {**WINDOW, "IncludePadding": False}),
    "BATCH_NORMALIZATION_GRAD": Pair(
        "BATCH_NORMALIZATION",
        {**IMAGES, **dict.fromkeys(("MeanTensor", "VarianceTensor", "ScaleTensor", "BiasTensor"), CHANNELS)},
        IMAGE,
        NORMALIZED,
        {"Epsilon": 0.125},
        {"Spatial": True},
        given=lambda arrays: {"VarianceTensor": np.abs(arrays["VarianceTensor"]) + 0.5},
    ),
    "BATCH_NORMALIZATION_TRAINING_GRAD": Pair(
        "BATCH_NORMALIZATION_TRAINING",
        {**IMAGES, "ScaleTensor": CHANNELS, "BiasTensor": CHANNELS},
        IMAGE,
        NORMALIZED,
        {"Epsilon": 0.125},
        given=statistics,
    ),
    "ELEMENT_WISE_CLIP_GRAD": Pair("ELEMENT_WISE_CLIP", IMAGES, IMAGE, ONE, BOUNDS),
    "ELEMENT_WISE_CLIP_GRAD1": Pair("ELEMENT_WISE_CLIP1", IMAGES, IMAGE, ONE, {"MinMaxDataType": "FLOAT32", **BOUNDS}),
    "LOCAL_RESPONSE_NORMALIZATION_GRAD": Pair("LOCAL_RESPONSE_NORMALIZATION", IMAGES, IMAGE, ONE, RESPONSE),
    "MAX_POOLING_GRAD": Pair("MAX_POOLING2", IMAGES, (2, 3, 2, 5), ONE, {**WINDOW, "Dilations": (1, 1)}),
    "RESAMPLE_GRAD": Pair("RESAMPLE1", IMAGES, UP, ONE, RESAMPLED, FORWARD_OFFSETS, BACKWARD_OFFSETS),
    "RESAMPLE_GRAD1": Pair("RESAMPLE2", IMAGES, UP, ONE, RESAMPLED1, FORWARD_OFFSETS, BACKWARD_OFFSETS),
    "ROI_ALIGN_GRAD": Pair(
        "ROI_ALIGN1",
        {**IMAGES, "ROITensor": REGIONS.shape, "BatchIndicesTensor": (2,)},
        (2, 3, 2, 3),
        ONE,  # DirectML's gradient of corners differs from differences (decisions O13, O17)
        SAMPLED,
        {"OutOfBoundsInputValue": 0.0},
        given=lambda arrays: {"ROITensor": REGIONS, "BatchIndicesTensor": np.array([1, 0], np.uint32)},
    ),
    "SLICE_GRAD": Pair(
        "SLICE1",
        IMAGES,
        (1, 2, 2, 3),
        ONE,
        {"InputWindowOffsets": (1, 0, 1, 0), "InputWindowSizes": (1, 3, 2, 5), "InputWindowStrides": (1, 2, -1, 2)},
    ),
}


def test_every_gradient_operator_has_a_pair():
    names = {name.removeprefix("DML_OPERATOR_") for name in catalog.operator_names()}
    assert {name for name in names if "_GRAD" in name} == PAIRS.keys()


@pytest.mark.parametrize("name", PAIRS)
def test_gradients_match_differences(name):
    pair, rng = PAIRS[name], np.random.default_rng(5)
    arrays = {key: rng.normal(size=sizes) for key, sizes in pair.inputs.items()}
    known = {**arrays, **pair.given(arrays)}
    g = rng.normal(size=pair.output)
    forward = {key: known[key] for key in pair.inputs}
    fields = {**pair.fields, **pair.forward_only}
    extra = {"OutputMeanTensor": CHANNELS, "OutputVarianceTensor": CHANNELS} if "TRAINING" in name else {}

    def loss(changed):
        results = computed(pair.forward, changed, {"OutputTensor": pair.output, **extra}, fields)
        return (results["OutputTensor"] * g).sum()

    schema = catalog.operator(name)
    backward = {item.name: known[item.name] for item in schema.input_fields if item.name in known}
    outputs = {output: forward[source].shape for source, output in pair.to.items()}
    got = computed(name, {**backward, "InputGradientTensor": g}, outputs, {**pair.fields, **pair.backward_only})
    for source, output in pair.to.items():
        want = np.zeros(forward[source].shape)
        for place in np.ndindex(want.shape):
            ends = []
            for step in (STEP, -STEP):
                moved = forward[source].copy()
                moved[place] += step
                ends.append(loss({**forward, source: moved}))
            want[place] = (ends[0] - ends[1]) / (2 * STEP)
        np.testing.assert_allclose(got[output], want, rtol=1e-5, atol=1e-6, err_msg=f"{output} of {name}")
