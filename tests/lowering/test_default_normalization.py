"""Default forms of normalisations: ONNX's operator where possible."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lowering.default_forms import check_default
from tests.lowering.harness import operator, operators, t
from tests.lowering.normalizations import CHANNELS, PARAMETERS, RELU, SHAPE, VERSIONS, batch, lp, lrn, mvn, statistics

TYPES = ["FLOAT32", "FLOAT16"]
FIRST, SECOND, THIRD = VERSIONS
LAYER = {"sizes": (2, 5, 8), "axes": (2,)}
GROUPS = {"sizes": (2, 3, 4, 5, 6), "axes": (2, 3, 4)}


@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize(
    ("activation", "expected"), [(None, ["BatchNormalization"]), (RELU, ["BatchNormalization", "Relu"])]
)
@pytest.mark.parametrize("constants", [(), PARAMETERS])
def test_batch_normalization(data_type, activation, expected, constants):
    op = batch(data_type=data_type, activation=activation)
    check_default(op, expected, inputs=statistics(op), constants=constants)


@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        pytest.param(FIRST, {}, ["InstanceNormalization"], id="images"),
        pytest.param(FIRST, {"scale": CHANNELS, "bias": CHANNELS}, ["InstanceNormalization"], id="channels"),
        pytest.param(SECOND, {**LAYER, "scale": (1, 1, 8), "bias": (1, 1, 8)}, ["LayerNormalization"], id="layer"),
        pytest.param(SECOND, {**LAYER, "scale": (1, 1, 8)}, ["LayerNormalization"], id="layer-without-bias"),
        pytest.param(
            SECOND, {**GROUPS, "scale": (1, 3, 4, 1, 1), "bias": (1, 3, 4, 1, 1)}, ["GroupNormalization"], id="groups"
        ),
    ],
)
def test_mean_variance_normalization(data_type, name, options, expected):
    check_default(mvn(name, data_type=data_type, **options), expected)


@pytest.mark.parametrize("data_type", TYPES)
def test_root_mean_square(data_type):
    op = mvn(THIRD, **LAYER, scale=(1, 1, 8), mean=False, data_type=data_type)
    check_default(op, ["RMSNormalization"], opset=23)


@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("axis", [1, 3])
def test_lp_normalization(data_type, p, axis):
    check_default(lp(axis=axis, p=p, epsilon=0.0, data_type=data_type), ["LpNormalization"])


@pytest.mark.parametrize("p", [1, 2])
def test_lp_normalization_with_epsilon(p):
    square = ["Abs", "ReduceSum", "Mul"] if p == 1 else ["Mul", "ReduceSum"]
    check_default(lp(p=p, epsilon=1e-3), [*square, "Add", "Sqrt", "Div"])


@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize("size", [3, 5])
def test_local_response_normalization(data_type, size):
    check_default(lrn(size=size, data_type=data_type), ["LRN"])


def test_no_guard_without_a_negative_sum():
    """With an Alpha of 0 the sum is the Bias; a whole Beta alone needs no guard."""
    assert "Where" not in operators(check_default(lrn(alpha=0.0, beta=1.0), None))


def test_small_elements_keep_their_digits_next_to_large_ones():
    """The kernel of LRN loses them, which matters for a small Bias."""
    x = np.array([1.5, 0.0029851, 2], np.float32).reshape(1, 3, 1, 1)
    model = check_default(lrn((1, 3, 1, 1), 1, alpha=1.0, beta=1.0, bias=0.0), None, inputs={"InputTensor": x})
    assert "LRN" not in operators(model)
    got = model.run({"InputTensor": x.reshape(-1)})["OutputTensor"]
    np.testing.assert_allclose(got.reshape(-1), 1 / x.reshape(-1).astype(np.float64), rtol=1e-5)


def test_a_power_of_a_negative_number_is_nan():
    """As in exact models; usual networks have no negative Alpha or Bias [decision N14]."""
    model = check_default(lrn(size=1, alpha=-1.0, beta=1.0), ["Mul", "Mul", "Add", "Div", "Less", "Where"])
    x = np.full(SHAPE, 2, np.float32)
    assert np.isnan(model.run({"InputTensor": x.reshape(-1)})["OutputTensor"]).all()


def test_gradients_have_no_control_flow():
    names = ("InputTensor", "InputGradientTensor")
    op = operator(
        "LOCAL_RESPONSE_NORMALIZATION_GRAD",
        **{name: t("FLOAT32", SHAPE) for name in (*names, "OutputGradientTensor")},
        CrossChannel=True,
        LocalSize=1,
        Alpha=1.0,
        Beta=1.0,
        Bias=1.0,
    )
    check_default(op, ["Mul", "Add", "Div", "Mul", "Div", "Mul", "Mul", "Sub"])
