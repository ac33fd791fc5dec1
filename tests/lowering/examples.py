"""The documentation's own examples, compiled and run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.testing.examples import examples
from tests.lowering.harness import check_case

if TYPE_CHECKING:
    from dml2onnx.testing.examples import Arrays


def run_examples(name: str, *, rtol: float = 0.0, atol: float = 0.0) -> int:
    """Compares every example of an operator with the reference and with what is printed; how many there are.

    Where the page contradicts itself, what is printed has to be something else.
    """
    found = [example for example in examples(name) if example.complete]
    for example in found:
        inputs = _by_key(example.inputs)
        model = check_case(example.operator, inputs=inputs)
        got = model.run({key: value.reshape(-1) for key, value in inputs.items()})
        same = all(
            np.allclose(got[key].reshape(want.shape), want, rtol=rtol, atol=atol, equal_nan=True)
            for key, want in _by_key(example.outputs).items()
        )
        assert same == (example.corrected or not example.suspect), got
    return len(found)


def _by_key(arrays: Arrays) -> dict[str, np.ndarray]:
    """By the names of ports: those of arrays of tensors have a number."""
    keyed: dict[str, np.ndarray] = {}
    for field, value in arrays.items():
        if isinstance(value, list):
            keyed.update((f"{field}[{index}]", item) for index, item in enumerate(value))
        else:
            keyed[field] = value
    return keyed
