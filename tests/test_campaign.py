"""A small campaign: the trials of ``scripts/campaign.py`` with a few seeds each."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import dml2onnx
from dml2onnx.checks import check
from dml2onnx.compiler import CompiledModel, compile_outputs
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.ir.graph import GraphInput, Read
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.named_sizes.fitting import Fitting
from dml2onnx.reference import evaluate_results
from dml2onnx.sizes.named import NamedGraph
from dml2onnx.test_cases import batch, coverage, descriptor_trials, relations, sized_trials, trial, variations
from dml2onnx.test_cases.random_graphs import samples
from dml2onnx.test_cases.random_graphs.draft import Sample
from dml2onnx.test_cases.reduction import smallest
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.test_cases.valid import descriptors
from tests import mutations
from tests.lowering.harness import operator, t

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
    assert len({view for item in trials for _, _, view in coverage.cells(item.op)}) >= 3


@settings(deadline=None, derandomize=True, max_examples=25)
@given(sample=samples())
def test_relations(tmp_path_factory: pytest.TempPathFactory, sample: Sample) -> None:
    assume(not any(item.severity.value == "error" for item in check(sample.graph)))
    directory = tmp_path_factory.mktemp("relations")
    assert relations.relations(sample.graph, 0, random.Random(0), directory)[0] == []


@pytest.mark.parametrize("part", range(3))
def test_sizes_with_names(monkeypatch: pytest.MonkeyPatch, part: int) -> None:
    """Graphs, programs and operators in turn."""
    monkeypatch.syspath_prepend(ROOT / "scripts")
    monkeypatch.setattr("dml2onnx.test_cases.reduction.BATCH", 20)
    journal = import_module("_campaign_journal").Campaign(None, part, 0.0)
    import_module("_campaign_sizes").sizes(journal, iter([part]))
    assert journal.found == 0
    assert journal.counts["sizes, with names"] >= 3


@pytest.mark.parametrize("wrong", ["text", "form"])
def test_a_model_that_is_wrong_at_some_size_is_found(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    """One declares wrong sizes, and one has a form that is wrong at some sizes, with the check for that disabled."""
    g = dml2onnx.GraphBuilder()
    x = g.input("x", np.float32, [2, 3, 6])
    graph = g.build({"y": g.unfold(x, [2], [2], [1], [1], [0])})
    found = [sized_trials.trial(graph, seed) for seed in range(12)]
    assert not any(item.problem for item in found)
    if wrong == "form":
        monkeypatch.setattr(Fitting, "require", lambda self, node, place: None)
    else:
        monkeypatch.setattr(NamedGraph, "in_names", lambda self, expr: expr + expr if expr.symbol is None else expr)
    assert any(sized_trials.trial(graph, seed).problem for seed in range(12))


def test_a_finding_that_does_not_name_the_changed_field_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong size is related to the axis by the fields that rules read; without them findings do not name it."""
    named = variations.findings

    def unnamed(op: OperatorDesc) -> list[Diagnostic]:
        return [replace(item, related=()) for item in named(op)]

    joins = [op for op in BASES if op.type == "JOIN"]
    monkeypatch.setattr(descriptor_trials, "trials", lambda nodes: [""] * len(nodes))
    assert not any(descriptor_trials.walk(joins, seed).failures for seed in range(20))
    monkeypatch.setattr(descriptor_trials, "findings", unnamed)
    failures = [text for seed in range(20) for text in descriptor_trials.walk(joins, seed).failures]
    assert any(text.startswith("JOIN: Axis was changed, and DML1501 ") for text in failures)


# --- They can fail ----------------------------------------------------------------------------------------------------

ADD = operator("ELEMENT_WISE_ADD", **dict.fromkeys(("ATensor", "BTensor", "OutputTensor"), t("FLOAT32", [2, 3, 4])))


def test_a_wrong_operator_is_found_and_reduced(monkeypatch: pytest.MonkeyPatch) -> None:
    """All elements of a sum but the first are wrong, so the smallest example has two."""
    evaluated = evaluate_results

    def wrong(graph: dml2onnx.Graph, feeds: dict[str, np.ndarray], *, exact: bool) -> dict[str, Any]:
        results = evaluated(graph, feeds, exact=exact)
        for result in results.values():
            values: np.ndarray = result.values
            values.reshape(-1)[1:] += 1
        return results

    monkeypatch.setattr(trial, "evaluate_results", wrong)
    problem = trial.trial(single_node(ADD), 0)
    assert "(23 of 24)" in problem
    op, smallest = descriptor_trials.reduced(ADD, 0, problem)
    assert op.tensor("OutputTensor").element_count == 2
    assert "(1 of 2)" in smallest


def test_walks_start_in_any_cell() -> None:
    """One in sixty cells, and those with the views that take longest to find."""
    known = list(coverage.all_cells())
    rare = [cell for cell in known if cell[0] in ("DIAGONAL_MATRIX1", "RANDOM_GENERATOR", "MULTIHEAD_ATTENTION1")]
    for seed, cell in enumerate([*known[::60], *rare]):
        op = descriptor_trials.start_in(cell, BASES, seed)
        assert op is not None, cell
        assert cell in coverage.cells(op)
        assert check(single_node(op)) == []


def test_a_relation_that_does_not_hold_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = operator("ELEMENT_WISE_SUBTRACT", **dict(zip(ADD.schema.index, ADD.values, strict=True)))
    monkeypatch.setattr(relations, "renamed", lambda graph, chance: single_node(other))
    found, tried = relations.relations(single_node(ADD), 0, random.Random(0), tmp_path)
    assert {"renamed", "identity", "permuted", "serialized"} <= set(tried)
    assert found == ["renamed: different numbers in OutputTensor0"]


def test_other_orders_cost_only_transposes_of_ports(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two nodes and four ports: nothing is transposed between the nodes unless one gets an order of its own."""
    strides = dict.fromkeys(("ATensor", "BTensor"), t("FLOAT32", [2, 3, 4], strides=(1, 2, 6)))
    graph = batch.beside(
        [
            single_node(ADD),
            single_node(operator("ELEMENT_WISE_ADD", **strides, OutputTensor=ADD.tensor("OutputTensor"))),
        ]
    )
    count = compile_outputs(graph, graph.outputs).node_count
    allowed: dict[bool, set[int]] = {False: set(), True: set()}
    for seed, together in itertools.product(range(10), allowed):
        other = relations.permuted(graph, random.Random(seed), together=together)
        assert other is not None
        assert [item.value for item in other.inputs] == [item.value for item in graph.inputs]
        most = relations.transposed(graph, other)
        allowed[together].add(most)
        assert abs(compile_outputs(other, other.outputs).node_count - count) <= most
    assert max(allowed[True]) == 7
    assert max(allowed[False]) > 7 + relations.LONGEST_WAY
    monkeypatch.setattr(relations, "transposed", lambda graph, other: -1)
    found, tried = relations.relations(single_node(ADD), 0, random.Random(0), tmp_path)
    assert "permuted together" in tried
    assert any(item.startswith("permuted together: ") for item in found)


@pytest.mark.parametrize(
    ("name", "units", "wrong"), [("permuted", 1, False), ("permuted", 1 << 14, True), ("renamed", 1, True)]
)
def test_another_order_may_round_differently(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, units: int, wrong: bool
) -> None:
    """Within the reference's tolerance, because another kernel may compute the last elements of a row."""
    sizes = t("FLOAT32", [3, 4])
    graph = single_node(operator("ACTIVATION_SIGMOID", InputTensor=sizes, OutputTensor=sizes))
    run, runs = CompiledModel.run, itertools.count()

    def run_inexactly(model: CompiledModel, *args: Any) -> dict[str, Any]:
        """The second model's last element is wrong by ``units`` in the last place."""
        results = run(model, *args)
        if next(runs) == 1:
            for array in results.values():
                array.reshape(-1).view(np.int32)[-1] += units
        return results

    monkeypatch.setattr(CompiledModel, "run", run_inexactly)
    monkeypatch.setattr(relations, "_same", lambda *_: iter([(name, graph, None)]))
    monkeypatch.setattr(relations, "_other_numbers", lambda *_: iter(()))
    found, _ = relations.relations(graph, 0, random.Random(0), tmp_path)
    assert [item.startswith(f"{name}: different numbers") for item in found] == [True] * wrong


def test_an_identity_may_give_an_input_another_shape(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An input without a shape takes that of its first reader; other readers reshape it, or need not any more."""
    wide, tall = t("FLOAT32", [2, 4]), t("FLOAT32", [4, 2])
    nodes = [
        operator("ELEMENT_WISE_ADD", ATensor=wide, BTensor=replace(wide, strides=(1, 2)), OutputTensor=wide),
        operator("ACTIVATION_SIGMOID", InputTensor=tall, OutputTensor=tall),
    ]
    graph = batch.beside([single_node(op) for op in nodes])
    x = graph.inputs[0].value
    reading = tuple(replace(node, reads=dict.fromkeys(node.reads, (Read(x),))) for node in graph.nodes)
    graph = replace(graph, nodes=reading, inputs=(GraphInput("x", x),))
    monkeypatch.setattr(relations, "with_identity", partial(_with_first_identity, relations.with_identity))
    assert relations.relations(graph, 0, random.Random(0), tmp_path)[0] == []
    monkeypatch.setattr(relations, "_reshapes", lambda graph: 0)
    assert any(item.startswith("identity: ") for item in relations.relations(graph, 0, random.Random(0), tmp_path)[0])


def _with_first_identity(with_identity: Any, graph: dml2onnx.Graph, _: random.Random) -> dml2onnx.Graph | None:
    made: dml2onnx.Graph | None = with_identity(graph, random.Random(0))
    return made


def test_changes_are_of_the_field_that_they_name() -> None:
    chance = random.Random(0)
    for _ in range(300):
        op = chance.choice(BASES)
        changed, names = variations.changed_field(op, chance)
        differing = {item.name for (item, old), new in zip(op.items(), changed.values, strict=True) if old != new}
        assert differing <= set(names)


def test_a_wrong_operator_in_a_batch_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if it is only wrong beside the others."""
    subtract = operator("ELEMENT_WISE_SUBTRACT", **dict(zip(ADD.schema.index, ADD.values, strict=True)))
    cases = [(single_node(op), seed) for seed, op in enumerate((ADD, subtract, ADD))]
    assert batch.trials(cases) == ["", "", ""]
    compiled = compile_outputs

    def wrong(graph: dml2onnx.Graph, *arguments: Any, **options: Any) -> dml2onnx.CompiledModel:
        other = replace(graph.nodes[1], operator=ADD)
        return compiled(replace(graph, nodes=(graph.nodes[0], other, *graph.nodes[2:])), *arguments, **options)

    monkeypatch.setattr(batch, "compile_outputs", wrong)
    first, second, third = batch.trials(cases)
    assert (first, third) == ("", "")
    assert second.startswith("only together with others: 1/OutputTensor0[0, 0, 0] is ")
    monkeypatch.setattr(batch, "trial", lambda graph, seed, opset: "wrong" if seed == 1 else "")
    assert batch.trials(cases) == ["", "wrong", ""]


def test_reduction_ends() -> None:
    op: OperatorDesc | None = ADD
    steps = 0
    while op is not None:
        smaller = [item for item in variations.smaller(op) if variations.weight(item) < variations.weight(op)]
        op = smaller[0] if smaller else None
        steps += 1
    assert 2 < steps < 50


def test_the_script(tmp_path: Path) -> None:
    journal = tmp_path / "found.jsonl"
    command = [sys.executable, str(ROOT / "scripts" / "campaign.py"), "descriptors", "files", "--count", "20"]
    command += ["--seed", "5", "--journal", str(journal)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "findings: 0" in done.stdout
    assert "files: 20 in " in done.stdout
    assert "not reached: JOIN, 1_0: " in done.stdout
    (figures,) = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    assert (figures["seed"], figures["found"]) == (5, 0)
    assert figures["counts"]["files, run"] == 20
    assert figures["counts"]["descriptors, run"] > 60
    assert figures["cells_missing"] > 0


@pytest.mark.parametrize("need_all", [False, True])
def test_the_script_can_require_full_coverage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], need_all: bool
) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    monkeypatch.setattr(sys, "argv", ["campaign.py", "descriptors", "--count", "1", *["--need-all"] * need_all])
    assert import_module("campaign").main() == need_all
    assert "findings: 0" in capsys.readouterr().out


# --- Coverage ---------------------------------------------------------------------------------------------------------


def test_cells_of_a_descriptor() -> None:
    desc = t("INT8", [2, 3])
    op = operator(
        "JOIN",
        InputTensors=[replace(desc, strides=(1, 2)), replace(desc, strides=(0, 1)), desc],
        OutputTensor=t("INT8", [2, 9], strides=(12, 1)),
        Axis=1,
    )
    rows = op.schema.support
    fitting = {number for number, row in enumerate(rows) if "INT8" in row.tensors["OutputTensor"].data_types}
    fitting = {number for number in fitting if rows[number].tensors["OutputTensor"].dimension_counts[0] <= 2}
    views = ("packed", "permuted", "padded", "broadcast")
    assert set(coverage.cells(op)) == {("JOIN", number, view) for number in fitting for view in views}
    assert set(coverage.cells(op)) <= set(coverage.all_cells())


def test_the_table_lists_missing_cells() -> None:
    known = set(coverage.all_cells())
    assert coverage.unreached(known) == []
    whole = coverage.table(dict.fromkeys(known, 1))
    assert not any("not reached" in line for line in whole)
    assert len([line for line in whole if "cannot be reached" in line]) == 3
    gap = ("JOIN", 0, "padded")
    lines = coverage.table(dict.fromkeys(known - {gap}, 1))
    assert lines[0].endswith(f"{len(known) - 1} of {len(known)} reached")
    assert lines[-1] == "  not reached: JOIN, 4_1: padded"
    assert coverage.unreached(known - {gap}) == [gap]


# --- Files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", mutations.FORMATS)
def test_fuzzing_starts_from_models_that_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str) -> None:
    """The corpus and the structural mutations for atheris, without running it."""
    monkeypatch.syspath_prepend(ROOT / "scripts")
    fuzzing = import_module("_campaign_files")
    corpus = fuzzing.write_corpus(tmp_path / "corpus", format)
    assert corpus == fuzzing.write_corpus(tmp_path / "corpus", format)
    target = fuzzing.Target(format)
    right = 0
    for number, path in enumerate(corpus[:40]):
        data = path.read_bytes()
        target(data)
        path.with_suffix(".bin" if format == "serialized" else ".json").write_bytes(data)
        graph = dml2onnx.load(path.with_suffix(".bin" if format == "serialized" else ".json"))
        right += not any(item.severity.value == "error" for item in check(graph))
        made = {fuzzing.restructured(data, 10 * number + seed) for seed in range(4)}
        assert len(made) > 1
        for item in made:
            target(item)
    assert right > min(len(corpus), 40) // 2
    assert fuzzing.restructured(b"", 0) == b"{}"


# --- Shrinking --------------------------------------------------------------------------------------------------------


def test_shrinking_respects_its_time_limit() -> None:
    numbers = st.lists(st.integers(0, 9), min_size=1, max_size=40)

    def check(seed: int, drawn: list[int]) -> str:
        return "wrong" if sum(drawn) > 3 else ""

    found = smallest(0, numbers, check, len, 60)
    assert found is not None
    assert found[0] is not None
    assert (len(found[0]), found[1]) == (1, "wrong")
    cut_short = smallest(0, numbers, check, len, 0)
    assert cut_short is not None
    assert cut_short[1] == "wrong"
    assert smallest(0, numbers, lambda seed, drawn: "", len, 60) is None
    empty: dict[str, str] = {}
    undrawn = smallest(0, numbers, lambda seed, drawn: empty["x"], len, 60)
    assert undrawn is not None
    assert "KeyError" in undrawn[1]
    op, problem = descriptor_trials.reduced(ADD, 0, "wrong", seconds=0)
    assert (op, problem) == (ADD, "wrong")
