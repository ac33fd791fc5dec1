"""The documentation's own examples, compiled and run."""

from __future__ import annotations

import numpy as np

from dml2onnx import catalog
from tests.lowering.harness import check_case, single
from tests.reference.describe import describe
from tests.reference.test_examples import CORRECTIONS, arrays, corrected


def run_examples(name: str) -> int:
    """Compares every example of an operator with the reference and with what is printed; how many there are."""
    examples = catalog.operator(name).examples()
    for number, printed in enumerate(examples):
        example = corrected(printed, CORRECTIONS.get((name, number), {}))
        inputs, outputs = arrays(example["inputs"]), arrays(example["outputs"])
        op = describe(name, **example["attributes"], **example.get("assumed_attributes", {}), **inputs, **outputs)
        model = check_case(op, inputs=inputs)
        got = model.run({key: value.reshape(-1) for key, value in inputs.items()})
        for field, expected in outputs.items():
            several = [expected] if single(op, field) else expected
            keys = [field] if single(op, field) else [f"{field}[{index}]" for index in range(len(several))]
            for key, want in zip(keys, several, strict=True):
                np.testing.assert_array_equal(got[key].reshape(want.shape), want)
    return len(examples)
