"""``verify`` passes correct models, and names wrong elements."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dml2onnx.builder import GraphBuilder
from dml2onnx.compiler import compile
from dml2onnx.diagnostics import DmlError
from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.lowering import driver
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import Lowering, lowerings
from dml2onnx.onnx_model import OnnxPort
from dml2onnx.reference import Result
from dml2onnx.verification import compare, random_array, verify
from tests.frontends.models import DX, edited
from tests.lowering.harness import make_case, operator, t
from tests.refusals import refused

SIZES = t("FLOAT32", [2, 3, 4])
ADD = operator("ELEMENT_WISE_ADD", ATensor=SIZES, BTensor=SIZES, OutputTensor=SIZES)


def wrong_at(index: tuple[int, ...], by: float) -> Lowering:
    """Returns a lowering of ELEMENT_WISE_ADD with one wrong element."""

    def lowering(node: Operands, e: Emitter) -> Tensor:
        right = e.Add(node.tensor("ATensor"), node.tensor("BTensor"))
        offset = np.zeros(right.shape, np.float32)
        offset[index] = by
        return e.Add(right, e.constant(offset))

    return lowering


def replace_lowering(monkeypatch: pytest.MonkeyPatch, name: str, lowering: object) -> None:
    table = {**lowerings(), name: lowering}
    monkeypatch.setattr(driver, "lowering", lambda schema: table[schema.short_name])


def test_right_models_pass() -> None:
    found = verify(make_case(ADD).graph, rounds=4)
    assert found.passed
    assert [item.round for item in found.comparisons] == [
        "1 (ordinary values)",
        "2 (structured values)",
        "3 (extreme values)",
        "4 (ordinary values)",
    ]
    for item in found.comparisons:
        assert (item.output, item.elements, item.wrong, item.first_wrong) == ("OutputTensor", 24, 0, ())


@pytest.mark.parametrize("index", [(0, 0, 0), (1, 2, 3), (0, 1, 2)])
def test_the_wrong_element_of_a_lowering_is_found(monkeypatch: pytest.MonkeyPatch, index: tuple[int, ...]) -> None:
    replace_lowering(monkeypatch, "ELEMENT_WISE_ADD", wrong_at(index, 0.5))
    found = verify(make_case(ADD).graph, rounds=1)
    assert not found.passed
    (item,) = found.comparisons
    assert (item.output, item.wrong, item.first_wrong) == ("OutputTensor", 1, index)
    assert item.worst == pytest.approx(0.5)


def test_one_unit_in_the_last_place_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    half = np.full(24, 0.5, np.float32)
    feeds = {"ATensor": half, "BTensor": half}
    ulp = float(np.spacing(np.float32(1)))
    for units, passed in ((1, True), (4, False)):
        replace_lowering(monkeypatch, "ELEMENT_WISE_ADD", wrong_at((0, 0, 0), units * ulp))
        assert verify(make_case(ADD).graph, feeds, rounds=1).passed == passed


def test_measures_of_a_node(monkeypatch: pytest.MonkeyPatch) -> None:
    """The roots are exact, and a constant is added: 0.5 to the second element, 0.25 to the third."""
    four = t("FLOAT32", [4])
    graph = make_case(operator("ELEMENT_WISE_SQRT", InputTensor=four, OutputTensor=four)).graph
    off = np.array([0, 0.5, 0.25, 0], np.float32)

    def measured(*rows: list[float]) -> Any:
        (item,) = verify(graph, cases=[{"InputTensor": np.array(row, np.float32)} for row in rows]).nodes
        return item

    large, small = [0, 4, 16, np.inf], [0, 1, 1, np.inf]
    right = measured(large)
    assert (right.worst, right.worst_of_bound, right.arithmetic, right.rounding) == (0, 0, 0, 0)
    replace_lowering(
        monkeypatch, "ELEMENT_WISE_SQRT", lambda node, e: e.Add(e.Sqrt(node.tensor("InputTensor")), e.constant(off))
    )
    first, second = measured(large), measured(small)
    both, other = measured(large, small), measured(small, large)
    for item, ulps, relative in ((first, 2**21, 0.25), (second, 2**22, 0.5), (both, 2**22, 0.5), (other, 2**22, 0.5)):
        assert (item.worst, item.worst_relative, item.worst_ulps) == (0.5, relative, ulps)
        assert item.worst_of_bound * (item.arithmetic + item.rounding) == pytest.approx(0.5)
        assert min(item.arithmetic, item.rounding) > 0
    assert first.bound == first.arithmetic + first.rounding
    assert first.worst_of_bound < second.worst_of_bound == both.worst_of_bound == other.worst_of_bound
    assert (both.elements, both.wrong, both.unspecified, both.exact) == (8, 4, 2, False)
    assert (both.round, both.first_wrong, both.expected, both.got, both.bound) == ("case 1", (1,), 2, 2.5, first.bound)


def test_measures_of_exact_and_unspecified_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    """A number beyond INT32 is cast to another one than expected, and 3 to 5."""
    graph = make_case(operator("CAST", InputTensor=t("FLOAT32", [2]), OutputTensor=t("INT32", [2]))).graph
    off = np.array([-8, 2], np.int32)
    replace_lowering(
        monkeypatch, "CAST", lambda node, e: e.Add(e.Cast(node.tensor("InputTensor"), off.dtype), e.constant(off))
    )
    (item,) = verify(graph, {"InputTensor": np.array([1e20, 3], np.float32)}, rounds=1).nodes
    assert (item.wrong, item.unspecified, item.first_wrong, item.exact) == (1, 1, (1,), True)
    assert (item.worst, item.worst_relative, item.worst_ulps, item.worst_of_bound) == (2, 2 / 3, 2, 0)


def test_data_movement_compares_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    op = operator("JOIN", InputTensors=[SIZES], OutputTensor=SIZES, Axis=0)
    tiny = float(np.finfo(np.float32).smallest_subnormal)

    def off(node: Operands, e: Emitter) -> Tensor:
        return e.Add(node.array("InputTensors")[0], e.constant(np.full((2, 3, 4), tiny, np.float32)))

    assert verify(make_case(op).graph).passed
    replace_lowering(monkeypatch, "JOIN", off)
    zeros = {"InputTensors[0]": np.zeros(24, np.float32)}
    found = verify(make_case(op).graph, zeros, rounds=1)
    assert found.comparisons[0].wrong == 24


def test_integers_compare_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    integers = t("INT32", [2, 3, 4])
    op = operator("ELEMENT_WISE_ADD", ATensor=integers, BTensor=integers, OutputTensor=integers)

    def off(node: Operands, e: Emitter) -> Tensor:
        return e.Add(e.Add(node.tensor("ATensor"), node.tensor("BTensor")), e.constant(1, np.int32))

    replace_lowering(monkeypatch, "ELEMENT_WISE_ADD", off)
    assert verify(make_case(op).graph, rounds=1).comparisons[0].wrong == 24


def test_outputs_are_compared_separately(monkeypatch: pytest.MonkeyPatch) -> None:
    first, last = make_case(ADD), operator("ACTIVATION_RELU", InputTensor=SIZES, OutputTensor=SIZES)
    y = Value("y", 96)
    (made,) = first.graph.outputs
    relu = Node("relu", last, {"InputTensor": (Read(first.graph.inputs[0].value),)}, {"OutputTensor": (Write(y),)})
    graph = Graph((*first.graph.nodes, relu), first.graph.inputs, (made, GraphOutput("y", y, SIZES)))
    replace_lowering(monkeypatch, "ELEMENT_WISE_ADD", wrong_at((1, 1, 1), 2))
    wrong = {item.output: item.wrong for item in verify(graph, rounds=1).comparisons}
    assert wrong == {"OutputTensor": 1, "y": 0}


def test_given_inputs_are_used_in_every_round() -> None:
    case = make_case(ADD)
    feeds = {"ATensor": np.zeros(24, np.float32), "BTensor": np.full(24, np.inf, np.float32)}
    assert verify(case.graph, feeds, rounds=3).passed
    assert refused(verify, case.graph, {"ATensor": np.zeros(24), "BTensor": np.zeros(24)}) == ["DML3005", "DML3005"]


def test_sample_contents_are_used_in_the_first_round(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(ADD)
    sample = ArrayData.of(np.full(24, 7, np.float32))
    inputs = tuple(GraphInput(item.name, item.value, sample, item.desc) for item in case.graph.inputs)
    seen: list[np.ndarray] = []

    def compare_and_record(port: OnnxPort, got: np.ndarray, *rest: Any) -> Any:
        seen.append(got)
        return compare(port, got, *rest)

    monkeypatch.setattr("dml2onnx.verification.whole.compare", compare_and_record)
    assert verify(Graph(case.graph.nodes, inputs, case.graph.outputs), rounds=2).passed
    assert (seen[0] == 14).all()
    assert not (seen[1] == 14).all()


def test_without_inputs_one_round_is_enough() -> None:
    case = make_case(ADD, constants=["ATensor", "BTensor"])
    assert len(verify(case.graph, rounds=5).comparisons) == 1


def test_seeds_repeat() -> None:
    graph = make_case(operator("ACTIVATION_TANH", InputTensor=SIZES, OutputTensor=SIZES)).graph
    assert verify(graph, seed=3) == verify(graph, seed=3)
    assert len({verify(graph, seed=seed) for seed in range(12)}) > 1


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(DX), encoding="utf-8")
    assert verify(path).passed
    path.write_text(json.dumps(edited(DX, ("/dispatchables/add/desc/ATensor/Sizes", [5]))), encoding="utf-8")
    with pytest.raises(DmlError):
        verify(path)


def test_comparisons_count_unspecified_elements() -> None:
    (port,) = compile(make_case(ADD).graph).outputs
    want = Result(np.zeros((2, 3, 4), np.float32), np.zeros((2, 3, 4)), np.ones((2, 3, 4), np.bool_))
    item = compare(port, np.full((2, 3, 4), 9, np.float32), want, "round")
    assert (item.wrong, item.unspecified, item.worst) == (0, 24, 0)


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16", "INT8", "UINT64", "INT64"])
def test_random_inputs_reach_the_extremes(data_type: str) -> None:
    desc = t(data_type, [1000])
    op = operator("JOIN", InputTensors=[desc], OutputTensor=desc, Axis=0)
    (port,) = compile(make_case(op).graph).inputs
    plain = random_array(port, np.random.default_rng(0))
    extreme: np.ndarray = random_array(port, np.random.default_rng(0), extremes=True)
    assert plain.dtype == extreme.dtype == desc.data_type.dtype
    assert plain.shape == extreme.shape == (1000,)
    if desc.data_type.is_float:
        assert np.isfinite(plain).all()
        assert np.isnan(extreme).any()
        assert np.isinf(extreme).any()
        assert (np.abs(extreme[np.isfinite(extreme)]) < np.finfo(extreme.dtype).max / 2).all()
        assert ((extreme == 0) & np.signbit(extreme)).any()
    else:
        assert (np.abs(plain.astype(float)) <= 100).all()
        assert {int(extreme.min()), int(extreme.max())} == set(desc.data_type.limits)


def test_cases_are_the_rounds() -> None:
    """Each round has the inputs of its case and the common ones, and random numbers for the rest."""
    g = GraphBuilder()
    a, b, c = (g.input(name, np.float32, [2]) for name in "abc")
    graph = g.build({"y": a / b + c})
    one, two = np.array([1, 2], np.float32), np.array([0, -1], np.float32)
    checked = verify(graph, {"b": one}, cases=[{"a": one}, {"a": two, "c": one}, {"b": two}])
    assert checked.passed
    assert [item.round for item in checked.comparisons] == ["case 1", "case 2", "case 3"]
    assert (checked.rounds, checked.finished) == (3, 3)
    with pytest.raises(DmlError, match="one case or several"):
        verify(graph, cases=[])
    with pytest.raises(DmlError, match=r"cases is 3, not a list with the inputs of each case, .*; rounds= is the"):
        verify(graph, cases=3)  # type: ignore[arg-type]
    with pytest.raises(DmlError):
        verify(graph, cases=[{"d": one}])
