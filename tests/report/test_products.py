"""Multiply-accumulates, compared with a count of single products."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from dml2onnx.cli import main
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.report.products import multiply_accumulates
from tests.checks.build import op, t, unary

DIGITS = Path(__file__).parent.parent.parent / "samples" / "digits" / "model.json"


def convolution(direction: str, groups: int = 1) -> OperatorDesc:
    """A convolution of 2 pictures of 4 channels, 5 by 5, with a kernel of 3 by 2."""
    forward = direction == "FORWARD"
    filter_ = t(6, 4 // groups, 3, 2) if forward else t(4, 6 // groups, 3, 2)
    output = t(2, 6, 3, 4) if forward else t(2, 6, 7, 6)
    fields = {"InputTensor": t(2, 4, 5, 5), "FilterTensor": filter_, "OutputTensor": output}
    return op("CONVOLUTION", **fields, DimensionCount=2, Direction=direction, GroupCount=groups)


def one_by_one(groups: int, places: tuple[int, int]) -> int:
    """Counts the pairs of channels in a group, times places, times weights."""
    pairs = [(a, b) for a, b in itertools.product(range(4), range(6)) if a // (4 // groups) == b // (6 // groups)]
    return sum(1 for _ in itertools.product(range(2), pairs, range(places[0]), range(places[1]), range(3), range(2)))


@pytest.mark.parametrize("groups", [1, 2])
def test_convolutions(groups: int) -> None:
    assert multiply_accumulates(convolution("FORWARD", groups)) == one_by_one(groups, (3, 4))
    assert multiply_accumulates(convolution("BACKWARD", groups)) == one_by_one(groups, (5, 5))


@pytest.mark.parametrize("transposed", [False, True])
def test_matrices(transposed: bool) -> None:
    a = t(2, 3, 7, 5) if transposed else t(2, 3, 5, 7)
    fields = {"ATensor": a, "BTensor": t(2, 3, 7, 4), "OutputTensor": t(2, 3, 5, 4)}
    desc = op("GEMM", **fields, TransA="TRANSPOSE" if transposed else "NONE")
    assert multiply_accumulates(desc) == sum(1 for _ in itertools.product(*map(range, (2, 3, 5, 7, 4))))


def test_recurrent_layers() -> None:
    """3 steps of 2 sequences of 5 numbers, 4 hidden ones, 3 gates in each of 2 directions."""
    fields = {"InputTensor": t(1, 3, 2, 5), "WeightTensor": t(1, 2, 12, 5), "RecurrenceTensor": t(1, 2, 12, 4)}
    desc = op("GRU", **fields, Direction="BIDIRECTIONAL", ActivationDescs=())
    assert multiply_accumulates(desc) == 3 * 2 * 2 * (3 * 4) * (5 + 4)


def test_other_operators_have_none() -> None:
    assert multiply_accumulates(unary("ACTIVATION_RELU")) is None
    assert multiply_accumulates(op("GEMM")) is None


def test_counts_of_nodes_and_of_the_graph(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(DIGITS), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    counted = {
        node["name"]: report["descriptors"][node["descriptor"]].get("multiply_accumulates") for node in report["nodes"]
    }
    assert {name for name, count in counted.items() if count} == {"conv1", "conv2", "classify"}
    assert report["multiply_accumulates"] == sum(count or 0 for count in counted.values())
