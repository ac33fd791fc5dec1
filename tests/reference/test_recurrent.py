from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import allowed_error, disagreements, operator_results
from dml2onnx.testing.descriptors import describe

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
ACTIVATIONS = {"RNN": ["TANH"], "GRU": ["SIGMOID", "TANH"], "LSTM": ["SIGMOID", "TANH", "TANH"]}
ONNX_DIRECTIONS = {"FORWARD": "forward", "BACKWARD": "reverse", "BIDIRECTIONAL": "bidirectional"}
STATES = ("OutputSequenceTensor", "OutputSingleTensor", "OutputCellSingleTensor")
IDENTITY = describe("ACTIVATION_IDENTITY")
DOUBLE = describe("ACTIVATION_LINEAR", Alpha=2.0, Beta=0.0)


def arrays_of(name, *, steps=4, batch=3, features=2, hidden=5, directions=1, scale=0.5, dtype=np.float32, seed=0):
    """All input tensors but the lengths, random."""
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


def run(name, arrays, activations=None, *, direction="FORWARD", **attributes):
    """The results by field, every output wanted."""
    x, r = arrays["InputTensor"], arrays["RecurrenceTensor"]
    directions = r.shape[1]
    single = np.zeros((1, directions, x.shape[2], r.shape[3]), x.dtype)
    outputs = {"OutputSequenceTensor": np.repeat(single, x.shape[1], 0), "OutputSingleTensor": single}
    if name == "GRU":
        attributes = {"LinearBeforeReset": False, **attributes}
    if name == "LSTM":
        outputs["OutputCellSingleTensor"] = single
        attributes = {"UseClipThreshold": False, "ClipThreshold": 0.0, "CoupleInputForget": False, **attributes}
    if activations is None:
        activations = [describe(f"ACTIVATION_{item}") for item in ACTIVATIONS[name]] * directions
    op = describe(name, **arrays, **outputs, ActivationDescs=tuple(activations), Direction=direction, **attributes)
    return {field: result for field, (result,) in operator_results(op, arrays).items()}


def onnx_results(name, arrays, direction, **attributes):
    """The same by ONNX's own reference, in FLOAT64."""
    fields = ["InputTensor", "WeightTensor", "RecurrenceTensor", "BiasTensor", "", "HiddenInitTensor"]
    leading = {"BiasTensor": 2, "PeepholeTensor": 2}
    outputs = ["Y", "Y_h"]
    if name == "LSTM":
        fields += ["CellMemInitTensor", "PeepholeTensor"]
        outputs += ["Y_c"]
    feeds = {
        field: arrays[field].reshape(arrays[field].shape[leading.get(field, 1) :]).astype(np.float64)
        for field in fields
        if field in arrays
    }
    hidden = arrays["RecurrenceTensor"].shape[-1]
    names = [field if field in arrays else "" for field in fields]
    node = onnx.helper.make_node(name, names, outputs, hidden_size=hidden, direction=direction, **attributes)
    return dict(zip(STATES, ReferenceEvaluator(node).run(None, feeds), strict=False))


class TestIsOnnx:
    @pytest.mark.parametrize("direction", ONNX_DIRECTIONS)
    @pytest.mark.parametrize("given", [("BiasTensor", "HiddenInitTensor", "CellMemInitTensor", "PeepholeTensor"), ()])
    @pytest.mark.parametrize(
        ("name", "attributes", "onnx_attributes"),
        [
            ("RNN", {}, {}),
            ("GRU", {"LinearBeforeReset": False}, {"linear_before_reset": 0}),
            ("GRU", {"LinearBeforeReset": True}, {"linear_before_reset": 1}),
            ("LSTM", {}, {}),
        ],
    )
    def test_random_numbers(self, name, attributes, onnx_attributes, direction, given):
        arrays = arrays_of(name, directions=2 if direction == "BIDIRECTIONAL" else 1)
        needed = ("InputTensor", "WeightTensor", "RecurrenceTensor", *given)
        arrays = {field: array for field, array in arrays.items() if field in needed}
        got = run(name, arrays, direction=direction, **attributes)
        want = onnx_results(name, arrays, ONNX_DIRECTIONS[direction], **onnx_attributes)
        assert got.keys() == want.keys()
        for field, result in got.items():
            np.testing.assert_allclose(
                result.values.reshape(want[field].shape), want[field], rtol=2**-23, atol=2**-26, err_msg=field
            )


def by_hand(name, **arrays):
    """Tensors of one number each, or one for each gate, as numpy arrays in the right shapes."""
    leading = {"BiasTensor": (1, 1, 1, -1), "PeepholeTensor": (1, 1, 1, -1)}
    return {field: np.array(v, np.float32).reshape(leading.get(field, (1, 1, -1, 1))) for field, v in arrays.items()}


class TestByHand:
    """One step, one sequence, one feature, one hidden element."""

    def test_rnn(self):
        arrays = by_hand(
            "RNN", InputTensor=2, WeightTensor=3, RecurrenceTensor=5, BiasTensor=[7, 11], HiddenInitTensor=13
        )
        assert run("RNN", arrays, [DOUBLE])["OutputSingleTensor"].values == 2 * (2 * 3 + 13 * 5 + 7 + 11)

    @pytest.mark.parametrize(
        ("linear_before_reset", "candidate"),
        [(False, 2 + 1 + (2 * 5) * 3 + 10), (True, 2 + 1 + 2 * (5 * 3 + 10))],
    )
    def test_gru(self, linear_before_reset, candidate):
        arrays = by_hand(
            "GRU",
            InputTensor=2,
            WeightTensor=[2, 1, 1],
            RecurrenceTensor=[0, 0, 3],
            BiasTensor=[0, 0, 1, 0, 0, 10],
            HiddenInitTensor=5,
        )
        got = run("GRU", arrays, [IDENTITY] * 2, LinearBeforeReset=linear_before_reset)
        assert got["OutputSingleTensor"].values == (1 - 4) * candidate + 4 * 5

    @pytest.mark.parametrize(
        ("attributes", "cell", "hidden"),
        [
            # i = 1 + 10, f = 3 + 10, c = 2 * 4, o = 2 + C, H = o * 2C
            ({}, 13 * 10 + 11 * 8, 220 * 436),
            ({"CoupleInputForget": True}, (1 - 11) * 10 + 11 * 8, (2 - 12) * -24),
            # i = f = 5, o = 5; what h() sees is not limited
            ({"UseClipThreshold": True, "ClipThreshold": 5.0}, 5 * 10 + 5 * 8, 5 * 180),
            ({"UseClipThreshold": False, "ClipThreshold": 5.0}, 13 * 10 + 11 * 8, 220 * 436),
        ],
    )
    def test_lstm(self, attributes, cell, hidden):
        arrays = by_hand(
            "LSTM",
            InputTensor=1,
            WeightTensor=[1, 2, 3, 4],
            RecurrenceTensor=[0, 0, 0, 0],
            CellMemInitTensor=10,
            PeepholeTensor=[1, 1, 1],
        )
        got = run("LSTM", arrays, [IDENTITY, DOUBLE, DOUBLE], **attributes)
        assert got["OutputCellSingleTensor"].values == cell
        assert got["OutputSingleTensor"].values == hidden
        assert got["OutputSequenceTensor"].values == hidden


@pytest.mark.parametrize("direction", ONNX_DIRECTIONS)
@pytest.mark.parametrize("name", GATES)
class TestSequenceLengths:
    def test_each_sequence_is_as_if_it_were_alone(self, name, direction):
        arrays = arrays_of(name, batch=6, directions=2 if direction == "BIDIRECTIONAL" else 1)
        lengths = np.array([4, 0, 1, 3, 9, 2], np.uint32)
        got = run(name, arrays | {"SequenceLengthsTensor": lengths.reshape(1, 1, 1, 6)}, direction=direction)
        for item, length in enumerate(np.minimum(lengths, 4)):
            if length == 0:
                self.check_nothing(arrays, got, item, direction)
                continue
            part = arrays | {"InputTensor": arrays["InputTensor"][:, :length, item : item + 1]}
            for field in {"HiddenInitTensor", "CellMemInitTensor"} & arrays.keys():
                part[field] = arrays[field][:, :, item : item + 1]
            want = run(name, part, direction=direction)
            for field, result in got.items():
                own = result.values[:, :, item]
                if field == "OutputSequenceTensor":
                    assert not own[length:].any()
                    own = own[:length]
                if field == "OutputSingleTensor" and lengths[item] > 4 and direction != "BACKWARD":
                    assert not own[:, 0].any()  # decision L8
                    own, want[field].values[:, 0, 0] = own[:, 1:], 0
                    np.testing.assert_allclose(own, want[field].values[:, 1:, 0], rtol=2**-23)
                    continue
                np.testing.assert_allclose(own, want[field].values[:, :, 0], rtol=2**-23, err_msg=field)

    def check_nothing(self, arrays, got, item, direction):
        """Without a step backward states stay; forward only the cell has made one [decision L7]."""
        assert not got["OutputSequenceTensor"].values[:, :, item].any()
        backward = slice({"FORWARD": 1, "BACKWARD": 0, "BIDIRECTIONAL": 1}[direction], None)
        states = {"OutputSingleTensor": "HiddenInitTensor", "OutputCellSingleTensor": "CellMemInitTensor"}
        for field in states.keys() & got.keys():
            before = arrays[states[field]][:, :, item] if states[field] in arrays else 0 * got[field].values[:, :, item]
            np.testing.assert_array_equal(got[field].values[:, backward, item], before[:, backward])
            assert got[field].open[:, :, item].all()
        if direction != "BACKWARD":
            assert not got["OutputSingleTensor"].values[0, 0, item].any()
            if "OutputCellSingleTensor" in got:
                assert got["OutputCellSingleTensor"].values[0, 0, item].any()

    def test_what_stands_behind_the_end_is_not_looked_at(self, name, direction):
        arrays = arrays_of(name, batch=2, directions=2 if direction == "BIDIRECTIONAL" else 1)
        arrays["SequenceLengthsTensor"] = np.array([2, 4], np.uint32).reshape(1, 1, 1, 2)
        want = run(name, arrays, direction=direction)
        arrays["InputTensor"][0, 2:, 0] = np.nan
        for field, result in run(name, arrays, direction=direction).items():
            np.testing.assert_array_equal(result.values, want[field].values)
            assert result.unspecified is not None
            assert not result.unspecified.any()


class TestActivations:
    def test_each_direction_has_its_own_in_order(self):
        both = [describe(f"ACTIVATION_{item}") for item in ("SIGMOID", "TANH", "SOFTSIGN", "RELU")]
        arrays = arrays_of("GRU", directions=2)
        got = run("GRU", arrays, both, direction="BIDIRECTIONAL")
        for index, direction in enumerate(("FORWARD", "BACKWARD")):
            own = {
                field: np.take(array, [index], 2 if field == "BiasTensor" else 1) if field != "InputTensor" else array
                for field, array in arrays.items()
            }
            alone = run("GRU", own, both[2 * index : 2 * index + 2], direction=direction)
            for field, result in got.items():
                np.testing.assert_array_equal(result.values[:, index], alone[field].values[:, 0])

    @pytest.mark.parametrize(
        ("activation", "axis"),
        [
            (describe("ACTIVATION_SOFTMAX"), -1),
            (describe("ACTIVATION_SOFTMAX1", Axes=(3,)), -1),
            (describe("ACTIVATION_SOFTMAX1", Axes=(2,)), -2),
        ],
    )
    def test_slices_of_the_hidden_state_or_the_batch(self, activation, axis):
        arrays = arrays_of("RNN", steps=1)
        linear = run("RNN", arrays, [IDENTITY])["OutputSingleTensor"].values.astype(np.float64)
        exponentials = np.exp(linear)
        got = run("RNN", arrays, [activation])["OutputSingleTensor"]
        want = exponentials / exponentials.sum(axis, keepdims=True)
        np.testing.assert_allclose(got.values, want, rtol=1e-6)

    def test_hardmax(self):
        arrays = arrays_of("RNN", steps=1)
        linear = run("RNN", arrays, [IDENTITY])["OutputSingleTensor"].values
        got = run("RNN", arrays, [describe("ACTIVATION_HARDMAX")])["OutputSingleTensor"]
        np.testing.assert_array_equal(got.values, linear == linear.max(-1, keepdims=True))
        np.testing.assert_array_equal(got.error, 0)

    def test_hardmax_of_sums_that_come_too_near(self):
        arrays = {
            "InputTensor": np.array([[[[1, 1]]]], np.float32),
            "WeightTensor": np.array([[[[0.1, 0.2], [0.3, 0], [0.1, 0]]]], np.float32),
            "RecurrenceTensor": np.zeros((1, 1, 3, 3), np.float32),
        }
        got = run("RNN", arrays, [describe("ACTIVATION_HARDMAX")])["OutputSingleTensor"]
        np.testing.assert_array_equal(np.round(allowed_error(got, DataType.FLOAT32)), [[[[1, 1, 0]]]])


def in_float32(arrays, linear_before_reset):
    """GRU forward, with every operation in FLOAT32."""
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
    @pytest.mark.parametrize("seed", range(20))
    def test_bounds_hold_and_are_near(self, seed, linear_before_reset):
        arrays = arrays_of("GRU", seed=seed, hidden=8)
        got = run("GRU", arrays, LinearBeforeReset=linear_before_reset)["OutputSequenceTensor"]
        assert not disagreements(in_float32(arrays, linear_before_reset), got, DataType.FLOAT32).any()
        assert allowed_error(got, DataType.FLOAT32).max() < 5e-4

    def test_errors_grow_as_the_weights_make_them(self):
        arrays = arrays_of("RNN", steps=2, batch=1, hidden=1)
        arrays["RecurrenceTensor"][...] = 1000
        first, second = run("RNN", arrays, [IDENTITY])["OutputSequenceTensor"].error.reshape(-1)
        assert first > 0
        assert second > 1000 * first

    def test_a_wrong_gate_does_not_slip_through(self):
        arrays = arrays_of("GRU")
        got = run("GRU", arrays)["OutputSequenceTensor"]
        wrong = run("GRU", arrays, LinearBeforeReset=True)["OutputSequenceTensor"]
        assert disagreements(wrong.values, got, DataType.FLOAT32).mean() > 0.9

    @pytest.mark.parametrize("name", GATES)
    def test_float16_is_rounded_at_the_end(self, name):
        halves = arrays_of(name, dtype=np.float16)
        got = run(name, halves)
        want = run(name, {field: array.astype(np.float32) for field, array in halves.items()})
        for field, result in got.items():
            assert result.values.dtype == np.float16
            difference = np.abs(result.values.astype(np.float64) - want[field].values)
            assert (difference <= np.spacing(np.abs(result.values)).astype(np.float64) * 0.5001).all()


@pytest.mark.parametrize("name", GATES)
class TestUnspecified:
    """[decision L15]."""

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    @pytest.mark.parametrize("direction", ["FORWARD", "BACKWARD"])
    def test_what_is_not_a_number_leaves_nothing_open(self, name, direction, value):
        arrays = arrays_of(name)
        arrays["InputTensor"][0, 2, 1] = value
        got = run(name, arrays, direction=direction)
        assert not any(result.unspecified.any() for result in got.values())
        assert np.isnan(got["OutputSingleTensor"].values[0, 0, 1]).all() == (name == "GRU")

    def test_what_may_be_0_before_an_infinite_weight(self, name):
        """An output that rounding may have made what it is becomes either infinity, or NaN."""
        arrays = arrays_of(name, steps=2, batch=1, features=1, hidden=1, scale=0.0)
        arrays["RecurrenceTensor"][...] = np.inf
        arrays["HiddenInitTensor"][...] = 1e-39
        assert all(result.unspecified.all() for result in run(name, arrays).values())

    def test_sums_that_may_overflow_reach_later_steps(self, name):
        arrays = arrays_of(name, steps=2)
        arrays["InputTensor"][0, 0, 0] = 3e38
        arrays["WeightTensor"][..., 0], arrays["WeightTensor"][..., 1] = 2, -2  # they cancel out
        for field, result in run(name, arrays).items():
            assert np.isfinite(result.values).all()
            assert result.unspecified is not None
            assert result.unspecified[:, :, 0].all(), field
            assert not result.unspecified[:, :, 1:].any(), field


@pytest.mark.parametrize("name", ["GRU", "LSTM"])
def test_states_that_overflow_are_unspecified(name):
    arrays = arrays_of(name, steps=2)
    arrays["InputTensor"][...] = 1e30  # a gate multiplies another
    got = run(name, arrays, [IDENTITY] * len(ACTIVATIONS[name]))["OutputSequenceTensor"]
    assert got.unspecified is not None
    assert got.unspecified.all()


@pytest.mark.parametrize(("name", "want"), [("RNN", -1.0), ("GRU", np.nan)])
def test_nan_in_a_gate(name, want):
    """RNN and LSTM limit what they activate, which gives the lowest number for NaN; GRU does not [decision L15]."""
    arrays = arrays_of(name, steps=1, batch=1, features=1, hidden=1)
    arrays["InputTensor"] = np.full_like(arrays["InputTensor"], np.nan)
    got = run(name, arrays)["OutputSequenceTensor"]
    np.testing.assert_array_equal(got.values.reshape(-1), [want])
    assert not got.unspecified.any()


@pytest.mark.parametrize("name", GATES)
@pytest.mark.parametrize("given", [False, True])
def test_a_state_that_is_not_there_is_multiplied_by_nothing(name, given):
    """At the first step, whatever the weights are; a state of zeros is, and infinite weights make NaN of it."""
    arrays = arrays_of(name, steps=1, batch=1, features=1, hidden=1)
    arrays["RecurrenceTensor"][...] = np.inf
    for field in ("HiddenInitTensor", "CellMemInitTensor", "PeepholeTensor"):
        if field in arrays:
            arrays[field][...] = 0
            if not given:
                del arrays[field]
    got = run(name, arrays)["OutputSingleTensor"].values
    for field in ("HiddenInitTensor", "CellMemInitTensor"):
        arrays.pop(field, None)
    arrays["RecurrenceTensor"][...] = 0
    assert (got == run(name, arrays)["OutputSingleTensor"].values).all() != given


def test_float16_does_not_hold_the_largest_numbers():
    """What a gate that is limited gives is rounded to it, or to infinity: the driver chooses [decision G5]."""
    arrays = arrays_of("RNN", steps=1, batch=1, features=1, hidden=1, dtype=np.float16)
    arrays["InputTensor"] = np.full_like(arrays["InputTensor"], np.inf)
    assert run("RNN", arrays, [IDENTITY])["OutputSingleTensor"].unspecified.all()
