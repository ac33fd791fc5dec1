"""Tests ONNX Runtime's own tools on two networks, and the harness.

Other tools have another environment: ``scripts/onward.py`` runs them, and its results are checked in.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from dml2onnx.targets import NAMES
from tests.onward import judging, results
from tests.onward.__main__ import Expected, found, judged, make, prove, verdict
from tests.onward.differences import DIFFERENCES
from tests.onward.judging import BOUNDS, Made
from tests.onward.subjects import Arrays, Subject, fed, subjects
from tests.onward.worker import ORT, TOOLS

HERE = Path(sys.executable)
NETWORKS = ("digits", "training step (Adam)")
OWN = [name for name, tool in TOOLS.items() if tool.packages == ORT]


@cache
def networks() -> tuple[Subject, ...]:
    return tuple(item for item in subjects(None) if item.title in NETWORKS)


def digits() -> Subject:
    (found,) = [item for item in networks() if item.title == "digits"]
    return found


@pytest.mark.parametrize("name", OWN)
def test_tools_of_onnx_runtime(name: str) -> None:
    rows, fixed = prove(name, HERE, networks(), Expected())
    assert sorted(rows) == sorted(NETWORKS)
    for title, row in rows.items():
        assert row["right"] or row["cause"], (title, row)
        assert row["right"] != ("refused" in row), (title, row)
    assert not fixed


def test_optimizers_find_nothing_to_take_away() -> None:
    """No optimizer removes a node of a default model, by the checked-in results."""
    for name, item in results.read().items():
        if item["bound"] == "same":
            for title, row in item["networks"].items():
                assert row.get("nodes", row["before"]) <= row["before"], (name, title)


def test_networks_by_hand_are_the_same_networks() -> None:
    for item in networks():
        assert item.by_hand is not None
        mine = item.model.run({key: array.reshape(-1) for key, array in item.feeds.items()})
        assert judging.is_same(Expected().run(item.by_hand, fed(item.by_hand, item.feeds)), mine)


def test_a_wrong_model_is_not_the_same() -> None:
    item = digits()
    wanted = item.model.run({key: array.reshape(-1) for key, array in item.feeds.items()})
    for off, right in ((1e-5, True), (1e-3, False)):
        moved = {key: (array + off * np.abs(array).max()).astype(np.float32) for key, array in wanted.items()}
        assert judging.is_same(moved, wanted) is right
        assert judging.error(moved, wanted) == pytest.approx(off, rel=3)
    assert not judging.is_same({}, wanted)
    assert not judging.is_same({key: array.astype(np.float64) for key, array in wanted.items()}, wanted)
    assert not judging.is_same({key: array.reshape(-1)[:1] for key, array in wanted.items()}, wanted)
    assert judging.error({}, wanted) == float("inf")


def test_integers_are_the_same_to_the_bit() -> None:
    wanted = {"y": np.array([200, 3], np.uint8)}
    assert judging.is_same(wanted, wanted)
    assert not judging.is_same({"y": np.array([200, 4], np.uint8)}, wanted)


def test_float16_has_its_bounds() -> None:
    item = digits()
    wanted = item.model.run({key: array.reshape(-1) for key, array in item.feeds.items()})
    bounds = judging.half_results(item)
    assert judging.is_half(item, wanted, bounds)
    assert not judging.is_half(item, {key: array + np.float32(9) for key, array in wanted.items()}, bounds)
    assert not judging.is_half(item, {}, bounds)


def test_quantisation_may_cost_what_it_costs_by_hand() -> None:
    assert judging.is_like_by_hand(0.36, 0.36)
    assert judging.is_like_by_hand(0.0, 0.0)
    assert not judging.is_like_by_hand(0.06, 0.04)
    assert not judging.is_like_by_hand(float("inf"), 0.5)
    assert judging.is_like_by_hand(0.02, None)
    assert not judging.is_like_by_hand(0.06, None)


def test_what_no_entry_explains_has_no_cause() -> None:
    item = digits()
    for made in (Made("it broke"), Made(outputs={"probabilities": np.zeros((360, 10), np.float32)})):
        row = judged("onnxslim", item, made, Expected(), "00")
        assert verdict("onnxslim", item, row) == {"right": False, "cause": ""}


def test_tools_that_end_their_process_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The other models still run."""
    broken = tmp_path / "worker.py"
    broken.write_text(
        "import os, sys, pathlib, json\n"
        "for path in sorted(pathlib.Path(sys.argv[2]).glob('*.onnx')):\n"
        "    answer = path.with_suffix('.json')\n"
        "    if not answer.exists():\n"
        "        answer.write_text(json.dumps({'refused': 'it ends'}))\n"
        "        os._exit(3)\n"
    )
    monkeypatch.setattr("tests.onward.__main__.WORKER", broken)
    model: tuple[onnx.ModelProto, Arrays] = (digits().model.model_proto, {})
    made = make("onnxslim", HERE, {"a": model, "b": model})
    assert {key: item.refused for key, item in made.items()} == {"a": "it ends", "b": "it ends"}


def test_tools_are_found_where_their_packages_are() -> None:
    have = found([HERE])
    assert set(OWN) <= set(have)
    assert have["quantize_dynamic"] == (HERE, [f"onnxruntime {onnxruntime.__version__}"])


def test_what_is_said_of_tools() -> None:
    for name, tool in TOOLS.items():
        assert (tool.make or tool.run) is not None, name
        assert tool.bound in BOUNDS
        assert tool.target in NAMES


@pytest.mark.parametrize("item", DIFFERENCES, ids=lambda item: f"{item.tools[0]}: {item.title[:40]}")
def test_examples_are_models_that_onnx_runtime_runs(item) -> None:
    model = item.example()
    onnx.checker.check_model(model, full_check=True)
    assert Expected().run(model, {f"0/{key}": array for key, array in item.inputs.items()})
    assert set(item.tools) <= set(TOOLS)
    assert item.explains(item.tools[0], item.says, model)
    assert not item.explains(item.tools[0], "another thing" if not item.says else "", model)
    assert not item.explains("onnxslim", item.says, model)


class TestResults:
    """Tests the checked-in results."""

    def test_all_tools_have_some(self) -> None:
        assert set(TOOLS) - set(results.read()) <= {"tinygrad"}  # needs clang

    def test_all_is_right_or_explained(self) -> None:
        titles = {item.title for item in DIFFERENCES}
        for name, item in results.read().items():
            assert item["bound"] == TOOLS[name].bound
            for title, row in item["networks"].items():
                assert row["right"] or row["cause"] in titles, (name, title)

    def test_all_differences_are_of_networks(self) -> None:
        rows = [row for item in results.read().values() for row in item["networks"].values()]
        causes = {row["cause"] for row in rows if not row["right"]}
        assert causes <= {item.title for item in DIFFERENCES}
        assert causes >= {item.title for item in DIFFERENCES if not item.of_processor}

    def test_all_networks_are_there(self) -> None:
        titles = {item.title for item in subjects(None)} | {"SqueezeNet"}
        for name, item in results.read().items():
            assert set(item["networks"]) == titles, name


def test_cells() -> None:
    row = {"before": 12, "error": 1e-6, "right": True}
    assert results.cell(row) == "same"
    assert results.cell({**row, "nodes": 12}) == "12 nodes"
    assert results.cell({**row, "nodes": 40, "error": 0.02, "by_hand": 0.03}) == "12 → 40 nodes, 2 % (3 %)"
    assert results.cell({**row, "by_hand": "no"}) == "0.0001 % (refused)"
    assert results.cell({**row, "refused": "no"}) == "refused"
    assert results.cell({**row, "error": 0.25, "right": False}) == "25 %"
