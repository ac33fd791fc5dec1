"""Forms that other runtimes than ONNX Runtime need: exact everywhere, and taken for their targets only."""

from __future__ import annotations

import pytest

from dml2onnx.targets import legal_type, target
from tests.lowering.harness import check_case, operator, operators, t


@pytest.mark.parametrize(("name", "rank"), [("cpu", 4), ("openvino", 0), ("portable", 0)])
def test_the_rank_of_a_condition(name, rank):
    """A maximum whose form is chosen by what the input holds."""
    op = operator(
        "MAX_POOLING",
        InputTensor=t("FLOAT32", (1, 1, 4, 4)),
        OutputTensor=t("FLOAT32", (1, 1, 3, 3)),
        Strides=(1, 1),
        WindowSize=(2, 2),
        StartPadding=(0, 0),
        EndPadding=(0, 0),
    )
    model = check_case(op, target=name, extremes=True)
    (condition,) = [node.inputs[0] for node in model.lowered.nodes if node.op_type == "If"]
    assert condition is not None
    assert len(condition.shape) == rank


@pytest.mark.parametrize("data_type", ["INT8", "UINT8"])
def test_sums_of_bytes_go_round(data_type):
    sizes = t(data_type, (300,))
    op = operator("ELEMENT_WISE_ADD", ATensor=sizes, BTensor=sizes, OutputTensor=sizes)
    assert operators(check_case(op, extremes=True)) == ["Add"]
    assert operators(check_case(op, target="openvino", extremes=True)) == ["Cast", "Cast", "Add", "Cast"]


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul"])
def test_types_in_which_bytes_go_round(op):
    for name in ("int8", "uint8"):
        assert legal_type(target("cpu"), op, 21, "T", name, modular=True) == name
        assert legal_type(target("openvino"), op, 21, "T", name, modular=True) not in ("int8", "uint8", None)
        assert legal_type(target("openvino"), op, 21, "T", name) == name
