from __future__ import annotations

import numpy as np
import pytest

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import allowed_error, disagreements
from dml2onnx.test_cases.descriptors import describe
from tests.reference.numbers import marks, results_of

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
ACTIVATIONS = {"RNN": ["TANH"], "GRU": ["SIGMOID", "TANH"], "LSTM": ["SIGMOID", "TANH", "TANH"]}

IDENTITY = describe("ACTIVATION_IDENTITY")


def arrays_of(name, *, steps=4, batch=3, features=2, hidden=5, directions=1, scale=0.5, dtype=np.float32, seed=0):
    """Random arrays for all inputs except the lengths."""
    random = np.random.default_rng(seed)
    sizes = {
        "InputTensor": (1, steps, batch, features),
        "WeightTensor": (1, directions, GATES[name] * hidden, features),
        "RecurrenceTensor": (1, directions, GATES[name] * hidden, hidden),
        "BiasTensor": (1, 1, directions, 2 * GATES[name] * hidden),
        "HiddenInitTensor": (1, directions, batch, hidden),
    }
    if name == "LSTM":
        sizes["CellMemInitTensor"] = sizes["HiddenInitTensor"]
        sizes["PeepholeTensor"] = (1, 1, directions, 3 * hidden)
    return {field: random.normal(0, scale, shape).astype(dtype) for field, shape in sizes.items()}


def run(name, arrays, activations=None, **attributes):
    """The results of all outputs by field."""
    x, r = arrays["InputTensor"], arrays["RecurrenceTensor"]
    single = np.zeros((1, r.shape[1], x.shape[2], r.shape[3]), x.dtype)
    outputs = {"OutputSequenceTensor": np.repeat(single, x.shape[1], 0), "OutputSingleTensor": single}
    if name == "LSTM":
        outputs["OutputCellSingleTensor"] = single
    if activations is None:
        activations = [describe(f"ACTIVATION_{item}") for item in ACTIVATIONS[name]] * r.shape[1]
    return results_of(name, **arrays, **outputs, ActivationDescs=tuple(activations), **attributes)


@pytest.mark.parametrize("direction", ["FORWARD", "BACKWARD", "BIDIRECTIONAL"])
@pytest.mark.parametrize("name", GATES)
def test_steps_after_the_end_are_ignored(name, direction):
    arrays = arrays_of(name, batch=2, directions=2 if direction == "BIDIRECTIONAL" else 1)
    arrays["SequenceLengthsTensor"] = np.array([2, 4], np.uint32).reshape(1, 1, 1, 2)
    want = run(name, arrays, Direction=direction)
    arrays["InputTensor"][0, 2:, 0] = np.nan
    for field, result in run(name, arrays, Direction=direction).items():
        np.testing.assert_array_equal(result.values, want[field].values)
        assert not any(marks(result))


def test_hardmax_of_several_rows():
    arrays = arrays_of("RNN", steps=1)
    linear = run("RNN", arrays, [IDENTITY])["OutputSingleTensor"].values
    got = run("RNN", arrays, [describe("ACTIVATION_HARDMAX")])["OutputSingleTensor"]
    np.testing.assert_array_equal(got.values, linear == linear.max(-1, keepdims=True))
    np.testing.assert_array_equal(got.error, 0)


def test_hardmax_of_nearly_equal_sums():
    arrays = {
        "InputTensor": np.array([[[[1, 1]]]], np.float32),
        "WeightTensor": np.array([[[[0.1, 0.2], [0.3, 0], [0.1, 0]]]], np.float32),
        "RecurrenceTensor": np.zeros((1, 1, 3, 3), np.float32),
    }
    got = run("RNN", arrays, [describe("ACTIVATION_HARDMAX")])["OutputSingleTensor"]
    np.testing.assert_array_equal(np.round(allowed_error(got, DataType.FLOAT32)), [[[[1, 1, 0]]]])


def in_float32(arrays, linear_before_reset):
    """A forward GRU in FLOAT32."""
    x, w, r = (arrays[field][0] for field in ("InputTensor", "WeightTensor", "RecurrenceTensor"))
    (wz, wr, wh), (rz, rr, rh) = np.split(w[0], 3), np.split(r[0], 3)
    bz, br, bh, cz, cr, ch = np.split(arrays["BiasTensor"][0, 0, 0], 6)
    state, one = arrays["HiddenInitTensor"][0, 0], np.float32(1)
    states = []
    for step in x:
        z, r = (
            one / (one + np.exp(-(step @ a.T + (state @ b.T + (c + d)))))
            for a, b, c, d in ((wz, rz, bz, cz), (wr, rr, br, cr))
        )
        inner = r * (state @ rh.T + ch) if linear_before_reset else (r * state) @ rh.T + ch
        state = (one - z) * np.tanh(step @ wh.T + inner + bh) + z * state
        states.append(state)
    assert state.dtype == np.float32
    return np.array(states)[:, None]


class TestErrors:
    @pytest.mark.parametrize("linear_before_reset", [False, True])
    @pytest.mark.parametrize("seed", range(5))
    def test_bounds_hold_and_are_tight(self, seed, linear_before_reset):
        arrays = arrays_of("GRU", seed=seed, hidden=8)
        got = run("GRU", arrays, LinearBeforeReset=linear_before_reset)["OutputSequenceTensor"]
        assert not disagreements(in_float32(arrays, linear_before_reset), got, DataType.FLOAT32).any()
        assert allowed_error(got, DataType.FLOAT32).max() < 5e-4

    def test_errors_grow_with_the_weights(self):
        arrays = arrays_of("RNN", steps=2, batch=1, hidden=1)
        arrays["RecurrenceTensor"][...] = 1000
        first, second = run("RNN", arrays, [IDENTITY])["OutputSequenceTensor"].error.reshape(-1)
        assert first > 0
        assert second > 1000 * first

    def test_a_wrong_gate_exceeds_the_error(self):
        arrays = arrays_of("GRU")
        got = run("GRU", arrays)["OutputSequenceTensor"]
        wrong = run("GRU", arrays, LinearBeforeReset=True)["OutputSequenceTensor"]
        assert disagreements(wrong.values, got, DataType.FLOAT32).mean() > 0.9


@pytest.mark.parametrize("name", GATES)
class TestUnspecified:
    """Decision L15."""

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    @pytest.mark.parametrize("direction", ["FORWARD", "BACKWARD"])
    def test_results_of_non_finite_inputs_are_specified(self, name, direction, value):
        arrays = arrays_of(name)
        arrays["InputTensor"][0, 2, 1] = value
        got = run(name, arrays, Direction=direction)
        assert not any(result.unspecified.any() for result in got.values())
        assert np.isnan(got["OutputSingleTensor"].values[0, 0, 1]).all() == (name == "GRU")

    def test_a_state_that_may_be_0_times_an_infinite_weight(self, name):
        arrays = arrays_of(name, steps=2, batch=1, features=1, hidden=1, scale=0.0)
        arrays["RecurrenceTensor"][...] = np.inf
        arrays["HiddenInitTensor"][...] = 1e-39
        assert all(result.unspecified.all() for result in run(name, arrays).values())

    def test_overflow_propagates_to_later_steps(self, name):
        arrays = arrays_of(name, steps=2)
        arrays["InputTensor"][0, 0, 0] = 3e38
        arrays["WeightTensor"][..., 0], arrays["WeightTensor"][..., 1] = 2, -2  # they cancel out
        for field, result in run(name, arrays).items():
            assert np.isfinite(result.values).all()
            assert result.unspecified[:, :, 0].all(), field
            assert not result.unspecified[:, :, 1:].any(), field


@pytest.mark.parametrize("name", ["GRU", "LSTM"])
def test_states_that_overflow_are_unspecified(name):
    arrays = arrays_of(name, steps=2)
    arrays["InputTensor"][...] = 1e30  # a gate multiplies another
    got = run(name, arrays, [IDENTITY] * len(ACTIVATIONS[name]))["OutputSequenceTensor"]
    assert all(marks(got))


def test_float16_overflow_is_unspecified():
    """A clipped gate becomes FLOAT16's largest number or infinity (decision G5)."""
    arrays = arrays_of("RNN", steps=1, batch=1, features=1, hidden=1, dtype=np.float16)
    arrays["InputTensor"] = np.full_like(arrays["InputTensor"], np.inf)
    assert run("RNN", arrays, [IDENTITY])["OutputSingleTensor"].unspecified.all()
