"""A tagger: a bidirectional LSTM over sequences of several lengths, and a score per step and tag."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import dml2onnx
from dml2onnx.builder import GraphBuilder

Floats = npt.NDArray[Any]

STEPS, BATCH, WORDS, SIZE, HIDDEN, TAGS = 6, 4, 20, 5, 3, 4
LENGTHS = np.array([6, 3, 1, 5], np.uint32)
GATES = {"i": 0, "o": 1, "f": 2, "c": 3}


def arrays(data_type: str) -> dict[str, Floats]:
    rng = np.random.default_rng(11)
    shapes = {
        "table": (1, 1, WORDS, SIZE),
        "weight": (1, 2, 4 * HIDDEN, SIZE),
        "recurrence": (1, 2, 4 * HIDDEN, HIDDEN),
        "bias": (1, 1, 2, 8 * HIDDEN),
        "judge": (1, 1, 2 * HIDDEN, TAGS),
    }
    made = {name: rng.normal(0, 0.8, shape).astype(data_type) for name, shape in shapes.items()}
    words = rng.integers(0, WORDS, (1, 1, 1, STEPS * BATCH)).astype(np.int32)
    return {**made, "words": words, "lengths": LENGTHS.reshape(1, 1, 1, BATCH)}


def tagger(given: dict[str, Floats]) -> dml2onnx.Graph:
    """Words by number, embedded, read in both directions, judged step by step."""
    g = GraphBuilder()
    x = {name: g.input(name, str(array.dtype).upper(), array.shape) for name, array in given.items()}
    embedded = g.gather(x["table"], x["words"], 2, 1)
    sequence = g.reinterpret(embedded, sizes=[1, STEPS, BATCH, SIZE])
    read = g.lstm(
        sequence,
        x["weight"],
        x["recurrence"],
        ["ACTIVATION_SIGMOID", "ACTIVATION_TANH", "ACTIVATION_TANH"] * 2,
        "BIDIRECTIONAL",
        0.0,
        False,
        False,
        bias=x["bias"],
        sequence_lengths=x["lengths"],
        output_single=False,
        output_cell_single=False,
    )
    states = read.sequence  # steps, directions, batch, hidden
    assert states is not None
    forward, backward = states[:, 0:1], states[:, 1:2]
    both = g.join([forward, backward], axis=3)
    scores = g.reinterpret(both, sizes=[1, 1, STEPS * BATCH, 2 * HIDDEN]) @ x["judge"]
    probabilities = g.activation_softmax(scores)
    return g.build({"tags": g.argmax(probabilities, "UINT32", [3], "INCREASING"), "probabilities": probabilities})


def by_numpy(given: dict[str, Floats]) -> Floats:
    """Sequence by sequence, each only as far as it goes: (steps, batch, tags)."""
    w = {name: array.astype(np.float64) for name, array in given.items()}
    words = given["words"].reshape(STEPS, BATCH)

    def sigmoid(x: Floats) -> Floats:
        return np.asarray(1 / (1 + np.exp(-x)))

    scores = np.zeros((STEPS, BATCH, TAGS))
    for item, length in enumerate(LENGTHS.tolist()):
        found = np.zeros((STEPS, 2, HIDDEN))
        for direction, order in enumerate((range(length), reversed(range(length)))):
            hidden, cell = np.zeros(HIDDEN), np.zeros(HIDDEN)
            of_input, of_state = w["bias"][0, 0, direction].reshape(2, 4 * HIDDEN)
            for step in order:
                x = w["table"][0, 0, words[step, item]]
                gates = w["weight"][0, direction] @ x + w["recurrence"][0, direction] @ hidden + of_input + of_state
                i, o, f, c = gates.reshape(4, HIDDEN)
                cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(c)
                hidden = sigmoid(o) * np.tanh(cell)
                found[step, direction] = hidden
        scores[:, item] = found.reshape(STEPS, -1) @ w["judge"][0, 0]
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


@pytest.mark.parametrize(("data_type", "tolerance"), [("float32", 1e-5), ("float16", 4e-3)])
def test_tags_of_sequences_of_several_lengths(data_type: str, tolerance: float) -> None:
    given = arrays(data_type)
    graph = tagger(given)
    assert dml2onnx.check(graph) == []
    got: dict[str, np.ndarray] = dml2onnx.compile(graph).run(given)
    want = by_numpy(given)
    np.testing.assert_allclose(got["probabilities"].reshape(want.shape), want, rtol=0, atol=tolerance)
    inside = np.arange(STEPS)[:, None] < LENGTHS
    clear = np.sort(want, -1)[..., -1] - np.sort(want, -1)[..., -2] > 2 * tolerance
    chosen = inside & clear
    assert chosen.sum() >= LENGTHS.sum() - 2
    np.testing.assert_array_equal(got["tags"].reshape(STEPS, BATCH)[chosen], want.argmax(-1)[chosen])


def test_what_stands_behind_the_end_does_not_matter() -> None:
    given = arrays("float32")
    model = dml2onnx.compile(tagger(given))
    words = given["words"].reshape(STEPS, BATCH).copy()
    words[np.arange(STEPS)[:, None] >= LENGTHS] = 7
    other = model.run({**given, "words": words.reshape(given["words"].shape)})
    np.testing.assert_array_equal(other["probabilities"], model.run(given)["probabilities"])
