"""The documentation's own examples."""

from __future__ import annotations

import numpy as np
import pytest

from dml2onnx import catalog
from dml2onnx.reference import run_operator
from dml2onnx.testing.examples import Example, examples


def found() -> list[object]:
    # RANDOM_GENERATOR's example has a counter and no tensors, BIT_XOR's is that of BIT_NOT
    return [
        pytest.param(example, id=f"{example.operator.schema.short_name}-{number}")
        for name in catalog.operator_names()
        for number, example in enumerate(examples(name))
        if example.complete
    ]


@pytest.mark.parametrize("example", found())
def test_example(example: Example) -> None:
    got = run_operator(example.operator, example.inputs)
    same = all(
        np.array_equal(have, want)
        for field, wanted in example.outputs.items()
        for have, want in zip(got[field], wanted if isinstance(wanted, list) else [wanted], strict=True)
    )
    # a few results are printed that the page's own formula cannot give
    assert same == (example.corrected or not example.suspect), got
