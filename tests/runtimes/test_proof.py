"""Tests the harness with ONNX Runtime."""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from tests.conftest import ROOT
from tests.lowering.harness import operator, t
from tests.lowering.test_convolution import convolution
from tests.runtimes import results
from tests.runtimes.__main__ import main, parse
from tests.runtimes.differences import DIFFERENCES
from tests.runtimes.proof import Job, Runtime, Worker
from tests.runtimes.samples import Drawn, Sample

CPU = Runtime("cpu", "cpu", Path(sys.executable))
ALSO_OURS = {
    "`MaxPool` over nothing but NaN, which stands for padding there, is refused.",
    "Chains of FLOAT16 are computed in FLOAT and rounded at their end.",
    "`MaxPool` begins with the lowest finite number.",
    "Linear `Resize` multiplies elements by 0, which makes NaN of infinities.",
}
"""Defects that ONNX Runtime's CPU provider shares, as quirks of its target."""


@pytest.fixture(scope="module")
def cpu():
    worker = Worker(CPU)
    worker.start()
    yield worker
    worker.stop()


def joined() -> Drawn:
    row = t("FLOAT32", (2, 3))
    return Drawn(operator("JOIN", InputTensors=[row, row], OutputTensor=t("FLOAT32", (2, 6)), Axis=1))


@pytest.mark.parametrize("item", DIFFERENCES, ids=lambda item: f"{item.runtime}: {item.title}")
def test_onnx_runtime_is_right_where_others_are_not(cpu, item):
    assert item.is_right(cpu.run(*item.example())) == (item.title not in ALSO_OURS)


@pytest.mark.parametrize("item", DIFFERENCES, ids=lambda item: f"{item.runtime}: {item.title}")
def test_what_is_right_does_not_show_a_difference(item):
    answer = list(item.outputs)
    assert item.is_right(answer)
    assert not item.shows(answer)
    other = [np.zeros_like(array) + 77 for array in answer]
    assert item.shows(other) == (not item.says)
    assert item.shows(f"it says: {item.says}") == bool(item.says)


def test_an_answer_that_agrees(cpu):
    drawn = joined()
    outcome = Job(drawn.sample("join"), drawn.compile("cpu")).run(cpu)
    assert (outcome.problem, outcome.refused) == (None, False)
    assert [node.op_type for node in outcome.nodes] == ["Concat"]


def test_an_answer_that_differs(cpu):
    drawn = joined()
    sample = drawn.sample("join")
    first, second = sample.inputs
    swapped = Sample("join", sample.compile, {first: sample.inputs[second], second: sample.inputs[first]}, sample.judge)
    outcome = Job(swapped, drawn.compile("cpu")).run(cpu)
    assert outcome.problem is not None
    assert "differ" in outcome.problem
    assert not outcome.refused


@pytest.mark.parametrize(("off", "fits"), [(0, None), (2, True), (200, False)])
def test_sums_of_halves(off, fits):
    op = convolution((1, 1, 2, 2), (1, 1, 2, 2), bias=False, data_type="FLOAT16")
    drawn = Drawn(op)
    job = Job(drawn.sample("sum"), drawn.compile("cpu"))

    class Off(Worker):
        def run(self, model, feeds, plain=False):
            answer = super().run(model, feeds, plain)
            return [array + np.float16(off) * np.spacing(np.abs(array)) for array in answer]

    worker = Off(Runtime("cpu", "cpu", Path(sys.executable)))
    outcome = job.run(worker)
    worker.stop()
    assert (None if outcome.problem is None else outcome.fits_half) is fits


@pytest.fixture
def proved(monkeypatch, tmp_path):
    """Runs the command on some samples and returns its results."""

    def run(samples, *arguments, code=0):
        monkeypatch.setattr(
            "tests.runtimes.__main__.drawn", lambda place, skipped_sources: [("few", s) for s in samples]
        )
        assert main([*arguments, "--results", str(tmp_path), "--jobs", "1"]) == code
        return json.loads((tmp_path / "cpu.json").read_text(encoding="utf-8"))

    return run


def test_some_samples_alone(proved):
    samples = [joined().sample(name) for name in ("a1", "b2")]
    assert proved(samples, "cpu", "--all", "--only", "b[0-9]")["samples"]["few"]["drawn"] == 1


def test_opsets_that_a_target_does_not_have(proved):
    """The target portable ends at opset 23."""
    samples = [Drawn(joined().op, opset).sample(f"in {opset}") for opset in (21, 26)]
    assert proved(samples, "cpu:portable", "--all")["samples"]["few"]["drawn"] == 1


def test_a_model_that_is_refused(cpu):
    answer = cpu.run(b"no model", {})
    assert isinstance(answer, str)
    assert "Exception" in answer or "Error" in answer or "Invalid" in answer


def test_a_process_that_ends(cpu):
    worker = Worker(CPU)
    worker.start()
    assert worker._process is not None
    worker._process.kill()
    model, inputs = DIFFERENCES[0].example()
    answer = worker.run(model, inputs)
    assert isinstance(answer, str)
    assert answer.startswith("the process ended with code")
    assert isinstance(worker.run(model, inputs), list)
    worker.stop()


def test_a_runtime_that_is_not_there():
    with pytest.raises(RuntimeError, match="no CUDAExecutionProvider"):
        Worker(Runtime("cuda", "cpu", Path(sys.executable))).start()
    assert main(["cuda"]) == 1


def test_what_the_checker_sees():
    drawn = joined()
    job = Job(drawn.sample("join"), drawn.compile("cpu"))
    assert job.check().problem is None
    job.model.model_proto.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 7
    assert "join" not in str(job.check().problem)
    assert job.check().problem is not None


def test_the_kind_of_a_model():
    """Kinds differ by operators, types and attributes, not by sizes."""
    wide = t("FLOAT32", (4, 3))
    other = Drawn(operator("JOIN", InputTensors=[wide, wide], OutputTensor=t("FLOAT32", (8, 3)), Axis=0))
    whole = t("INT32", (4, 3))
    third = Drawn(operator("JOIN", InputTensors=[whole, whole], OutputTensor=t("INT32", (8, 3)), Axis=0))
    kinds = [Job(drawn.sample(""), drawn.compile("cpu")).kind for drawn in (joined(), other, third)]
    assert kinds[0] == kinds[1] != kinds[2]


def test_runtimes_on_the_command_line():
    runtime = parse("openvino:portable=/usr/bin/python3")
    assert (runtime.name, runtime.target, runtime.python) == ("openvino", "portable", Path("/usr/bin/python3"))
    assert (parse("evaluator").target, parse("evaluator").python) == ("cpu", Path(sys.executable))


def test_a_proof_and_its_results(proved, capsys):
    """Runs what ``scripts/test.py --provider`` runs, with two samples."""
    right = joined().sample("right")
    wrong = replace(right, name="wrong", judge=lambda model, outputs, **_: "it is wrong")
    written = proved([right, wrong], "cpu", "--all", code=1)
    assert written["samples"] == {
        "few": {"drawn": 2, "run": 2, "agree": 1, "different": 1, "refused": 0, "unexplained": 1}
    }
    assert written["unexplained"] == [{"sample": "wrong", "problem": "it is wrong"}]
    assert written["version"] == f"onnxruntime {onnxruntime.__version__}, CPUExecutionProvider"
    assert "UNEXPLAINED wrong: it is wrong" in capsys.readouterr().out
    assert proved([right, wrong], "cpu")["samples"]["few"]["run"] == 1


def test_what_is_wrong_now_and_then(proved, capsys):
    """A sample that passes in a second process is recorded with its first problem."""
    judged = []

    def judge(model, outputs, **_):
        judged.append(model)
        return "wrong at first" if len(judged) <= 2 else None  # once for each kind of FLOAT16 accumulation

    written = proved([replace(joined().sample("flaky"), judge=judge)], "cpu", "--all")
    assert (written["samples"]["few"]["agree"], written["samples"]["few"]["unsteady"]) == (1, 1)
    assert written["unsteady"] == [{"sample": "flaky", "problem": "wrong at first"}]
    assert "passes only in a new process: flaky: wrong at first" in capsys.readouterr().out


def test_what_agreed_is_not_run_again(tmp_path, monkeypatch):
    """Most jobs with the same model, inputs and version of the runtime are skipped."""
    ran = []

    class Counted(Worker):
        def run(self, model, feeds, plain=False):
            ran.append(model)
            return super().run(model, feeds, plain)

    rows = [(n, t("FLOAT32", (2, n))) for n in range(1, 25)]
    ops = [operator("JOIN", InputTensors=[row, row], OutputTensor=t("FLOAT32", (4, n)), Axis=0) for n, row in rows]
    samples = [("few", Drawn(op).sample(str(number))) for number, op in enumerate(ops)]
    monkeypatch.setattr("tests.runtimes.__main__.drawn", lambda place, skipped_sources: samples)
    monkeypatch.setattr("tests.runtimes.proof.Worker", Counted)
    monkeypatch.setattr(results, "DIRECTORY", tmp_path)

    def runs(*options):
        ran.clear()
        assert main(["cpu", "--all", "--jobs", "1", *options]) == 0
        return len(ran)

    assert runs("--changed") == len(samples)  # no earlier results
    assert runs("--results", str(tmp_path)) == len(samples)
    again = runs("--changed")
    assert 0 < again < len(samples) / 2
    other = dict(samples[0][1].inputs)
    other[next(iter(other))] = other[next(iter(other))] + 1
    samples.append(("few", replace(samples[0][1], name="other", inputs=other, judge=lambda *_, **__: None)))
    assert runs("--changed") == again + 1
    path = tmp_path / "cpu.json"
    path.write_text(path.read_text().replace(onnxruntime.__version__, "1.0.0"))
    assert runs("--changed") == len(samples)
    with pytest.raises(SystemExit):
        main(["cpu", "--changed", "--results", str(tmp_path)])


def test_what_was_not_the_first_of_its_kind_is_not_compiled_again(tmp_path, monkeypatch):
    """Most of them are skipped, unless the samples have changed."""
    compiled = []

    def sample(n):
        drawn = Drawn(
            operator("JOIN", InputTensors=[t("FLOAT32", (2, n))] * 2, OutputTensor=t("FLOAT32", (4, n)), Axis=0)
        )

        def compiles(target):
            compiled.append(n)
            return drawn.compile(target)

        return replace(drawn.sample(f"joined, {n} wide"), compile=compiles)

    samples = [("few", sample(n)) for n in range(1, 25)]
    monkeypatch.setattr("tests.runtimes.__main__.drawn", lambda place, skipped_sources: samples)
    monkeypatch.setattr(results, "DIRECTORY", tmp_path)

    def compiled_with(*options):
        compiled.clear()
        assert main(["cpu", "--jobs", "1", *options]) == 0
        return list(compiled)

    everything = list(range(1, 25))
    assert compiled_with("--results", str(tmp_path)) == everything
    again = compiled_with("--changed")
    assert again[0] == 1  # the first of its kind
    assert 1 < len(again) < len(everything) / 2
    samples.append(("few", sample(25)))
    assert compiled_with("--changed") == [*everything, 25]


def test_results_that_are_checked_in():
    """All outcomes are counted and explained."""
    found = results.read_all()
    titles = {item.title for item in DIFFERENCES}
    for item in found:
        assert set(item["explained"]) <= titles
        for tally in item["samples"].values():
            assert tally["run"] == tally["agree"] + tally["different"] + tally["refused"] > 0
            assert tally["unexplained"] == 0


def test_pages_have_the_figures_of_the_results(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    generator = importlib.import_module("generate_runtimes")
    assert all(path.read_text(encoding="utf-8") == text for path, text in generator.pages().items())
    found = results.read_all()
    run, agree = results.provider_share(found)
    assert results.provider_list(found).startswith(f"Of {run:,} models, one of each kind, {agree:,} agree")
    (row,) = (line for line in results.summary_table(found).splitlines() if "DmlExecutionProvider" in line)
    assert f"| `dml` | {agree:,} of {run:,} | {run - agree:,} |" in row
