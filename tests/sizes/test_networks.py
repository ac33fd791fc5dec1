"""Networks at other sizes."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

import dml2onnx
from dml2onnx.ir.graph import Graph
from tests.sizes.networks import CASES, SMALL, digits

BATCH = 3


def _feeds(graph: Graph) -> dict[str, np.ndarray]:
    random = np.random.default_rng(3)
    return {
        port.name: random.integers(0, 200, port.shape).astype(port.dtype)
        if port.dtype.kind in "iu"
        else random.standard_normal(port.shape).astype(port.dtype)
        for port in dml2onnx.compile(graph).inputs
    }


@pytest.mark.parametrize("name", SMALL)
def test_a_batch_equals_its_items(name: str) -> None:
    case = CASES[name]
    graph = case.graph()
    one, several = (dml2onnx.resize(graph, case.sized({"N": n, **SMALL[name]})) for n in (1, BATCH))
    assert not [item for item in dml2onnx.check(several) if item.severity.value == "error"]
    feeds = _feeds(several)
    together = dml2onnx.run(several, feeds)
    for i in range(BATCH):
        own = {name: array.reshape(BATCH, -1)[i].reshape(-1) for name, array in feeds.items()}
        for output, alone in dml2onnx.run(one, own).items():
            part = together[output].reshape(BATCH, prod(alone.shape))[i]
            np.testing.assert_allclose(part, alone.reshape(-1), rtol=1e-3, atol=1e-5, err_msg=output)


@pytest.mark.parametrize("name", [name for name in SMALL if name not in ("YOLOv4", "SqueezeNet")])
def test_other_sizes_match_the_reference(name: str) -> None:
    """Without the networks for which the reference takes minutes."""
    found = dml2onnx.verify(CASES[name].graph(), sizes=CASES[name].sized({"N": BATCH, **SMALL[name]}), rounds=1)
    assert found.comparisons
    assert not any(item.wrong for item in found.comparisons)


def test_weights_fix_sizes() -> None:
    """Two poolings round to the same four elements at sizes 8 and 9."""
    graph = digits()
    assert not dml2onnx.check(graph, sizes={"images": (7, 1, 9, 8)})
    (finding,) = dml2onnx.check(graph, sizes={"images": (7, 1, 16, 16)})
    assert (finding.code, finding.node) == ("DML2104", "classify")
