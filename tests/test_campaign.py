"""The campaign in small: the same trials as ``scripts/campaign.py``, a few seeds of each."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings

import dml2onnx
from dml2onnx.checks import check
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.verification import batch, descriptor_trials, trial, variations
from dml2onnx.verification.lone import lone_node
from tests.checks.valid import descriptors
from tests.lowering.harness import operator, t
from tests.random_graphs import samples
from tests.random_graphs.growing import Sample

ROOT = Path(__file__).parent.parent
BASES = [descriptor_trials.normal(op) for several in descriptors().values() for op in several]


@pytest.mark.parametrize("part", range(4))
def test_descriptors(part: int) -> None:
    walks = [descriptor_trials.walk(BASES, seed) for seed in range(25 * part, 25 * (part + 1))]
    trials = [item for walk in walks for item in walk.trials]
    assert [(item.op, item.problem) for item in trials if item.problem] == []
    assert [failure for walk in walks for failure in walk.failures] == []
    assert len({item.op for item in trials}) > 100
    assert len({item.op.type for item in trials}) > 15
    mutants = sum((walk.mutants for walk in walks), Counter())
    assert min(mutants["still valid"], mutants["refused by name"]) > 30
    assert len({view for item in trials for *_, view in variations.support_cells(item.op)}) >= 3


@settings(deadline=None, derandomize=True, max_examples=25)
@given(sample=samples())
def test_relations(tmp_path_factory: pytest.TempPathFactory, sample: Sample) -> None:
    assume(not any(item.severity.value == "error" for item in check(sample.graph)))
    directory = tmp_path_factory.mktemp("relations")
    assert trial.relations(sample.graph, 0, random.Random(0), directory) == []


# --- They can fail ----------------------------------------------------------------------------------------------------

ADD = operator("ELEMENT_WISE_ADD", **dict.fromkeys(("ATensor", "BTensor", "OutputTensor"), t("FLOAT32", [2, 3, 4])))


def test_a_wrong_operator_is_found_and_reduced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is done to a sum, it stays wrong in each of its elements but the first: two are the least."""
    evaluated = trial.evaluate_results

    def wrong(graph: dml2onnx.Graph, feeds: dict[str, np.ndarray]) -> dict[str, object]:
        results = evaluated(graph, feeds)
        for result in results.values():
            result.values.reshape(-1)[1:] += 1
        return results  # type: ignore[return-value]

    monkeypatch.setattr(trial, "evaluate_results", wrong)
    problem = trial.trial(lone_node(ADD), 0)
    assert "(23 of 24)" in problem
    op, smallest = descriptor_trials.reduced(ADD, 0, problem)
    assert op.tensor("OutputTensor").element_count == 2
    assert "(1 of 2)" in smallest


def test_a_relation_that_does_not_hold_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = operator("ELEMENT_WISE_SUBTRACT", **dict(zip(ADD.schema.index, ADD.values, strict=True)))
    monkeypatch.setattr(trial, "renamed", lambda graph, chance: lone_node(other))
    found = trial.relations(lone_node(ADD), 0, random.Random(0), tmp_path)
    assert found == ["renamed: other numbers in OutputTensor0"]


def test_changes_are_of_the_field_that_they_name() -> None:
    chance = random.Random(0)
    for _ in range(300):
        op = chance.choice(BASES)
        changed, names = variations.changed_field(op, chance)
        differing = {item.name for (item, old), new in zip(op.items(), changed.values, strict=True) if old != new}
        assert differing <= set(names)


def test_one_wrong_among_many_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it is only wrong beside the others."""
    subtract = operator("ELEMENT_WISE_SUBTRACT", **dict(zip(ADD.schema.index, ADD.values, strict=True)))
    cases = [(lone_node(op), seed) for seed, op in enumerate((ADD, subtract, ADD))]
    assert batch.trials(cases) == ["", "", ""]
    compiled = batch.compile_outputs

    def wrong(graph: dml2onnx.Graph, *arguments: Any, **options: Any) -> dml2onnx.CompiledModel:
        other = replace(graph.nodes[1], operator=ADD)
        return compiled(replace(graph, nodes=(graph.nodes[0], other, *graph.nodes[2:])), *arguments, **options)

    monkeypatch.setattr(batch, "compile_outputs", wrong)
    first, second, third = batch.trials(cases)
    assert (first, third) == ("", "")
    assert second.startswith("only beside others: 1/OutputTensor0[0, 0, 0] is ")
    monkeypatch.setattr(batch, "trial", lambda graph, seed, opset: "wrong" if seed == 1 else "")
    assert batch.trials(cases) == ["", "wrong", ""]


def test_smaller_descriptors_come_to_an_end() -> None:
    op: OperatorDesc | None = ADD
    steps = 0
    while op is not None:
        smaller = [item for item in variations.smaller(op) if variations.weight(item) < variations.weight(op)]
        op = smaller[0] if smaller else None
        steps += 1
    assert 2 < steps < 50


def test_the_script(tmp_path: Path) -> None:
    journal = tmp_path / "found.jsonl"
    command = [sys.executable, ROOT / "scripts" / "campaign.py", "descriptors", "files", "--count", "20", "--seed", "5"]
    done = subprocess.run([*command, "--journal", journal], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "findings: 0" in done.stdout
    (figures,) = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    assert (figures["seed"], figures["found"]) == (5, 0)
    counts = figures["counts"]
    assert sum(count for name, count in counts.items() if name.startswith("files")) == 20
