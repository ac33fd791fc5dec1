"""Scans, whose bodies may use outer values, and recurrent operators."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnxruntime
import pytest

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.recurrent import GateActivation
from dml2onnx.targets import target
from tests.emitter.models import model_of

States = Sequence[Tensor | None]


def emitter(opset: int = 21) -> Emitter:
    e = Emitter(target("cpu", opset))
    e.begin("node", "TEST")
    return e


def computed(name: str, *shape: int) -> Tensor:
    return Tensor(name, np.dtype(np.float32), shape)


def run(e: Emitter, feeds: dict[str, np.ndarray], outputs: list[Tensor]) -> list[np.ndarray]:
    """Checks and runs the emitted nodes as a model."""
    model = model_of(e, [computed(key, *value.shape) for key, value in feeds.items()], outputs)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run([item.name for item in outputs], feeds)


@pytest.mark.parametrize("opset", [17, 21, 23])
@pytest.mark.parametrize("backward", [False, True])
def test_a_running_sum(backward: bool, opset: int) -> None:
    e = emitter(opset)
    x = computed("x", 4, 2)

    def step(states: States, elements: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        assert states[0] is not None
        return [e.Add(states[0], elements[0])], [e.Add(states[0], elements[0])]

    (total,), (sums,) = e.Scan(step, [e.constant(np.zeros(2, np.float32))], [x], backward=backward)
    values = np.arange(8, dtype=np.float32).reshape(4, 2)
    got = run(e, {"x": values}, [total, sums])
    running = np.cumsum(values[::-1], 0)[::-1] if backward else np.cumsum(values, 0)
    np.testing.assert_array_equal(got[0], values.sum(0))
    np.testing.assert_array_equal(got[1], running)


def test_body_outputs_are_distinct_values_of_the_body() -> None:
    """Unchanged states, outer tensors, constants and repeated results are copied."""
    e = emitter()
    x, outside = computed("x", 3, 2), computed("outside", 2)
    one = e.constant(np.ones(2, np.float32))

    def step(states: States, elements: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        (state,), (element,) = states, elements
        assert state is not None
        product = e.Mul(element, outside)
        return [state], [product, product, outside, one, element]

    last, given = e.Scan(step, [computed("first", 2)], [x])
    values = np.arange(6, dtype=np.float32).reshape(3, 2)
    feeds = {"x": values, "outside": np.array([2, 3], np.float32), "first": np.array([5, 7], np.float32)}
    got = run(e, feeds, [*last, *given])
    np.testing.assert_array_equal(got[0], feeds["first"])
    expected = [values * feeds["outside"]] * 2 + [np.tile(feeds["outside"], (3, 1)), np.ones((3, 2)), values]
    for have, want in zip(got[1:], expected, strict=True):
        np.testing.assert_array_equal(have, want)


def test_nodes_after_a_failed_body_are_not_part_of_it() -> None:
    e = emitter()

    def step(states: States, elements: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        e.Scan(step, [computed("first", 2)], [computed("x", 3, 2)])
    e.Neg(computed("x", 3, 2))
    assert [node.op_type for node in e.emitted] == ["Neg"]


def test_unwanted_outputs_have_no_name() -> None:
    e = emitter()
    tensors = (computed("x", 4, 2, 3), computed("w", 1, 15, 3), computed("r", 1, 15, 5))
    activations = [GateActivation("Sigmoid"), GateActivation("Affine", 2.0, 0.5)]
    for wanted, names in (((True, True), [True, True]), ((True, False), [True]), ((False, True), [False, True])):
        results = e.GRU([*tensors, None, None, None], activations=activations, direction="forward", wanted=wanted)
        node = e.emitted[-1]
        assert [item is not None for item in node.outputs] == names
        assert list(node.inputs) == list(tensors)
        assert [item is not None for item in results] == list(wanted)
    shapes = [None if item is None else item.shape for item in results]
    assert shapes == [None, (1, 2, 5)]
