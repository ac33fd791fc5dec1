"""``dml2onnx batch`` and ``dml2onnx.batch``: records, resuming from the journal, and failures of single models."""

from __future__ import annotations

import errno
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import onnx
import pytest

import dml2onnx
from dml2onnx import catalog
from dml2onnx.batching import JOURNAL, Batch
from dml2onnx.batching.driving import drive
from dml2onnx.batching.journal import Journal
from dml2onnx.batching.models import collect_models, with_unique_names
from dml2onnx.batching.summary import Summary
from dml2onnx.batching.work import BatchRequest, Task, perform
from dml2onnx.batching.workers import Workers
from dml2onnx.cli import main
from dml2onnx.codes import reading, running
from dml2onnx.report.batched import Record
from tests.batching import jobs
from tests.batching.graphs import BROKEN, native, record, write
from tests.refusals import refused

SCHEMA = json.loads((catalog.schemas_directory() / "journal.schema.json").read_text(encoding="utf-8"))
OUT = Path("out")
MAIN = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # our parent may ignore it
from dml2onnx.cli import main
sys.exit(main())
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class Here:
    """A pool that works in this process."""

    capacity = 1

    def __init__(self, call: Any = perform) -> None:
        self._call = call
        self._tasks: list[Task] = []

    def start(self, item: Task) -> None:
        self._tasks.append(item)

    def wait(self) -> tuple[Task, object]:
        task = self._tasks.pop()
        return task, self._call(task)

    def close(self) -> list[Task]:
        return []


def in_here(request: BatchRequest, *names: str, **how: bool) -> list[tuple[Record, bool]]:
    """Processes models here; returns their records, and whether they are resumed from an earlier call."""
    with Journal(OUT / JOURNAL, request.work()) as journal:
        return list(drive(with_unique_names(collect_models(names, OUT)), request, OUT, journal, Here(), **how))


def outcomes(records: list[tuple[Record, bool]]) -> dict[str, tuple[str, bool]]:
    return {Path(item.model).name: (item.status, is_resumed) for item, is_resumed in records}


def lines(path: Path = OUT / JOURNAL) -> list[dict[str, Any]]:
    """Returns all lines of a journal, which must be complete and match the schema."""
    values = [json.loads(line) for line in path.read_bytes().splitlines()]
    for value in values:
        jsonschema.validate(value, SCHEMA)
    return values


def a_few() -> None:
    """Writes a valid model, a broken, an unreadable and a foreign one, and a recording of two."""
    write(Path("models/good.json"), native())
    write(Path("models/broken.json"), BROKEN)
    write(Path("models/other.json"), {"name": "settings of a tool"})
    Path("models/torn.json").write_text('{"dml2onnx": 1,')
    record(Path("models/app"), ("net", "second"))


# --- Records ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("do", ["check", "compile", "verify", "report"])
def test_records_match_the_single_commands(do: str, capsys: pytest.CaptureFixture[str]) -> None:
    a_few()
    records = in_here(BatchRequest(do), "models")  # type: ignore[arg-type]
    statuses = {item.name.removeprefix("models" + os.sep): item.status for item, _ in records}
    assert statuses == {
        f"app{os.sep}recording.json: net": "passed",
        f"app{os.sep}recording.json: second": "passed",
        "broken.json": "errors",
        "good.json": "passed",
        "other.json": "other",
        "torn.json": "unreadable",
    }
    assert len(lines()) == 7
    for item, _ in records:
        if item.status == "other" or item.graph or do == "report":
            continue
        output = ["-o", "single.onnx"] if do == "compile" else []
        assert main([do, item.model, "--json", *output]) == {"passed": 0, "errors": 1, "unreadable": 2}[item.status]
        single = json.loads(capsys.readouterr().out)
        for part in ("files", "file_bytes", "seconds"):
            assert (part in single) == (part in item.answer)
            single.pop(part, None)
        assert single == {key: value for key, value in item.answer.items() if key in single}
    for item, _ in records:
        if do in ("compile", "report"):
            assert Path(item.output).is_file() == (item.status == "passed" or (do, item.status) == ("report", "errors"))


def test_results_mirror_the_tree_of_the_models() -> None:
    a_few()
    in_here(BatchRequest("compile"), "models")
    written = sorted(path.relative_to(OUT).as_posix() for path in OUT.rglob("*") if path.is_file())
    assert written == [JOURNAL, "models/app/net.onnx", "models/app/second.onnx", "models/good.onnx"]


def test_foreign_files_are_not_overwritten() -> None:
    """Results replace only earlier results."""
    write(Path("models/good.json"), native())
    result = OUT / "models" / "good.onnx"
    result.parent.mkdir(parents=True)
    result.write_bytes(b"mine")
    ((item, _),) = in_here(BatchRequest("compile"), "models")
    assert item.diagnostics[0].code == running.OUTPUT_UNWRITABLE.id
    assert result.read_bytes() == b"mine"
    result.unlink()
    data = result.with_name("good.onnx.data")
    data.write_bytes(b"mine too")
    ((item, _),) = in_here(BatchRequest("compile"), "models")
    assert (item.status, data.read_bytes()) == ("errors", b"mine too")
    data.unlink()
    ((item, resumed),) = in_here(BatchRequest("compile"), "models")  # after removing the obstacle
    assert (item.status, resumed) == ("passed", False)


def test_a_directory_of_a_result_may_be_a_file() -> None:
    write(Path("models/good.json"), native())
    OUT.mkdir()
    (OUT / "models").write_text("a file")
    ((item, _),) = in_here(BatchRequest("compile"), "models")
    assert [entry.code for entry in item.diagnostics] == [running.OUTPUT_UNWRITABLE.id]


def test_models_with_one_output_are_reported() -> None:
    write(Path("models/one.json"), native())
    dml2onnx.convert("models/one.json", "models/one.bin")
    records = in_here(BatchRequest("compile"), "models")
    assert outcomes(records) == {"one.bin": ("errors", False), "one.json": ("passed", False)}
    assert [entry.code for item, _ in records for entry in item.diagnostics] == [running.SAME_OUTPUT.id]


def test_weights_do_not_hide_a_model() -> None:
    """Zeros look like the start of a serialized graph."""
    write(Path("models/one.json"), native())
    Path("models/one.bin").write_bytes(bytes(64))
    assert outcomes(in_here(BatchRequest("compile"), "models")) == {
        "one.bin": ("other", False),
        "one.json": ("passed", False),
    }


def test_defects_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    write(Path("models/good.json"), native())

    def lost(*_: object, documented: bool) -> None:
        raise ZeroDivisionError("a slip")

    with monkeypatch.context() as patched:
        patched.setattr("dml2onnx.batching.work.check", lost)
        ((item, _),) = in_here(BatchRequest("check"), "models")
    assert item.status == "defect"
    assert str(item.answer["failure"]).startswith("ZeroDivisionError: a slip. This is a defect")
    lines()
    ((_, resumed),) = in_here(BatchRequest("check"), "models")
    assert resumed
    ((item, resumed),) = in_here(BatchRequest("check"), "models", retry_failed=True)
    assert (item.status, resumed) == ("passed", False)


# --- The journal ------------------------------------------------------------------------------------------------------


def test_finished_models_are_skipped() -> None:
    a_few()
    request = BatchRequest("compile")
    first = in_here(request, "models")
    before = (OUT / JOURNAL).read_bytes()
    second = in_here(request, "models")
    assert [resumed for _, resumed in second] == [True] * 6
    assert [item for item, _ in second] == [item for item, _ in first]
    assert (OUT / JOURNAL).read_bytes() == before
    assert not any(resumed for _, resumed in in_here(request, "models", again=True))
    assert not any(resumed for _, resumed in in_here(BatchRequest("compile", opset=20), "models"))
    assert all(resumed for _, resumed in in_here(request, "models"))


def test_another_version_repeats_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    write(Path("models/good.json"), native())
    in_here(BatchRequest("check"), "models")
    fields = BatchRequest("check").work()
    monkeypatch.setattr(type(fields).__init__, "__kwdefaults__", {"journal": 1, "producer": "dml2onnx 9.9.9"})
    assert outcomes(in_here(BatchRequest("check"), "models")) == {"good.json": ("passed", False)}


def test_changed_models_are_processed_again() -> None:
    """The model, the contents of its tensors, or the result."""
    weights = {"w": {"DataType": "FLOAT32", "Sizes": [4], "file": "w.bin"}}
    write(Path("models/good.json"), native())
    write(Path("models/weighty.json"), {**native(), "inputs": {}, "constants": weights} | _reading("w"))
    Path("models/w.bin").write_bytes(b"\2" * 16)
    request = BatchRequest("compile")
    assert set(outcomes(in_here(request, "models")).values()) == {("passed", False)}
    Path("models/w.bin").write_bytes(b"\1" * 16)
    assert outcomes(in_here(request, "models")) == {"good.json": ("passed", True), "weighty.json": ("passed", False)}
    write(Path("models/good.json"), native(5))
    assert outcomes(in_here(request, "models")) == {"good.json": ("passed", False), "weighty.json": ("passed", True)}
    (OUT / "models" / "weighty.onnx").unlink()
    assert outcomes(in_here(request, "models")) == {"good.json": ("passed", True), "weighty.json": ("passed", False)}


def _reading(name: str) -> dict[str, object]:
    graph: Any = native()
    graph["nodes"][0]["inputs"] = {"InputTensor": name}
    return {"nodes": graph["nodes"]}


def test_missing_files_that_appear_are_read() -> None:
    weights = {"w": {"DataType": "FLOAT32", "Sizes": [4], "file": "w.bin"}}
    write(Path("models/weighty.json"), {**native(), "inputs": {}, "constants": weights} | _reading("w"))
    ((item, _),) = in_here(BatchRequest("compile"), "models")
    assert [entry.code for entry in item.diagnostics] == [reading.FILE_UNREADABLE.id]
    Path("models/w.bin").write_bytes(b"\1" * 16)
    assert outcomes(in_here(BatchRequest("compile"), "models")) == {"weighty.json": ("passed", False)}


def test_a_model_that_disappears_has_no_digest() -> None:
    listed = with_unique_names(collect_models([write(Path("models/good.json"), native())], OUT))
    Path("models/good.json").unlink()
    with Journal(OUT / JOURNAL, BatchRequest("check").work()) as journal:
        ((item, _),) = drive(listed, BatchRequest("check"), OUT, journal, Here())
    assert (item.status, [source.digest for source in item.sources]) == ("unreadable", [""])


def test_constants_apply_to_every_model() -> None:
    """Changes of a file's contents, or of the files in a directory, repeat the work."""
    write(Path("models/one.json"), native())
    write(Path("models/two.json"), native(kind="ACTIVATION_TANH"))
    Path("weights").mkdir()
    np.savez("several.npz", x=np.full(4, 7, np.float32), y=np.zeros(3))
    named = BatchRequest("compile", constants=(("x", "several.npz:x"),))
    assert outcomes(in_here(named, "models")) == dict.fromkeys(("one.json", "two.json"), ("passed", False))
    assert not onnx.load("out/models/one.onnx").graph.input
    assert {resumed for _, resumed in in_here(named, "models")} == {True}
    np.savez("several.npz", x=np.full(4, 8, np.float32), y=np.zeros(3))
    assert {resumed for _, resumed in in_here(named, "models")} == {False}
    found = BatchRequest("compile", constant_directories=("weights",))
    assert {resumed for _, resumed in in_here(found, "models")} == {False}
    assert onnx.load("out/models/one.onnx").graph.input
    assert {resumed for _, resumed in in_here(found, "models")} == {True}
    np.save("weights/x.npy", np.ones(4, np.float32))
    assert {resumed for _, resumed in in_here(found, "models")} == {False}
    assert not onnx.load("out/models/one.onnx").graph.input
    wrong = BatchRequest("compile", constants=(("nobody", "several.npz:x"),))
    assert {item.status for item, _ in in_here(wrong, "models")} == {"errors"}


def test_constants_from_python() -> None:
    write(Path("models/one.json"), native())
    np.save("x.npy", np.ones(4, np.float32))
    (record,) = dml2onnx.batch("models", "compile", OUT, jobs=1, constants={"x": Path("x.npy")})
    assert record.status == "passed"
    assert not onnx.load("out/models/one.onnx").graph.input
    for wrong in ({"x": np.ones(4)}, {1: "x.npy"}, "x"):
        with pytest.raises(dml2onnx.DmlError):
            dml2onnx.batch("models", constants=wrong)  # type: ignore[arg-type]


def test_partial_files_of_killed_calls_are_removed() -> None:
    """But not files that may be in use, nor foreign ones."""
    write(Path("models/good.json"), native())
    (OUT / "models").mkdir(parents=True)
    left, beside = (OUT / "models" / f".good.onnx{more}.0123456789ab.partial" for more in ("", ".data"))
    fresh = OUT / "models" / ".good.onnx.ba9876543210.partial"
    others = OUT / "models" / ".better.onnx.0123456789ab.partial"
    for path in (left, beside, fresh, others):
        path.write_bytes(b"half")
        os.utime(path, (1, 1))
    os.utime(fresh, (time.time() + 100, time.time() + 100))
    with fresh.open("rb") as locked:
        if sys.platform != "win32":  # writers lock their files
            import fcntl

            fcntl.flock(locked, fcntl.LOCK_EX)
        assert outcomes(in_here(BatchRequest("compile"), "models")) == {"good.json": ("passed", False)}
    assert {path.name for path in (OUT / "models").iterdir()} == {"good.onnx", fresh.name, others.name}


@pytest.mark.parametrize("kept", [1, 40, -3])
def test_a_torn_line_is_skipped(kept: int) -> None:
    """Torn at any place; all other lines are unchanged."""
    write(Path("models/a.json"), native())
    write(Path("models/b.json"), native())
    in_here(BatchRequest("check"), "models")
    journal = OUT / JOURNAL
    *whole, last = journal.read_bytes().splitlines(keepends=True)
    torn = b"".join(whole) + last[:kept]
    journal.write_bytes(torn)
    assert outcomes(in_here(BatchRequest("check"), "models")) == {
        "a.json": ("passed", True),
        "b.json": ("passed", False),
    }
    assert journal.read_bytes().startswith(torn + b"\n")
    assert all(resumed for _, resumed in in_here(BatchRequest("check"), "models"))


def test_a_torn_first_line_is_skipped() -> None:
    write(Path("models/a.json"), native())
    OUT.mkdir()
    (OUT / JOURNAL).write_bytes(b'{"jour')
    assert outcomes(in_here(BatchRequest("check"), "models")) == {"a.json": ("passed", False)}
    assert outcomes(in_here(BatchRequest("check"), "models")) == {"a.json": ("passed", True)}


@pytest.mark.parametrize("contents", [b"my notes\n", b'{"journal": 2, "work": ""}\n', b'{"models": 2}\n', b"\0\0"])
def test_other_files_are_no_journals(contents: bytes) -> None:
    write(Path("models/a.json"), native())
    Path("notes").write_bytes(contents)
    with pytest.raises(dml2onnx.UnreadableError) as caught:
        list(dml2onnx.batch("models", journal="notes", jobs=1))
    assert [item.code for item in caught.value.diagnostics] == [running.BAD_JOURNAL.id]
    assert Path("notes").read_bytes() == contents
    assert main(["batch", "models", "--journal", "notes"]) == 2


def test_a_journal_that_cannot_be_written() -> None:
    write(Path("models/a.json"), native())
    assert refused(list, dml2onnx.batch("models", journal="models", jobs=1)) == [running.OUTPUT_UNWRITABLE.id]


@pytest.mark.skipif(os.name == "nt", reason="devices and pipes as POSIX has them")
@pytest.mark.timeout(60)
def test_a_journal_that_is_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("models/a.json"), native())
    os.mkfifo("pipe")
    for name in ("pipe", os.devnull):
        assert main(["batch", "models", "--journal", name]) == 2
        assert running.BAD_JOURNAL.id in capsys.readouterr().err


def test_one_batch_at_a_time_for_a_journal(capsys: pytest.CaptureFixture[str]) -> None:
    for name in "ab":
        write(Path(f"models/{name}.json"), native())
    first = dml2onnx.batch("models", do="compile", output="out", jobs=1)
    assert next(first).status == "passed"
    before = (OUT / JOURNAL).read_bytes()
    assert main(["batch", "models", "--do", "compile", "-o", "out"]) == 2
    assert running.JOURNAL_IN_USE.id in capsys.readouterr().err
    assert (OUT / JOURNAL).read_bytes() == before
    assert main(["batch", "models", "--do", "compile", "-o", "other", "--jobs", "1"]) == 0
    first.close()  # type: ignore[attr-defined]  # as iterators of generators have it
    assert set(outcomes(in_here(BatchRequest("compile"), "models")).values()) == {("passed", True), ("passed", False)}


LOCK_JOURNAL = """
import sys, time
from pathlib import Path
from dml2onnx.batching.journal import Journal
from dml2onnx.batching.work import BatchRequest
with Journal(Path("out/journal.jsonl"), BatchRequest("compile").work()):
    print("locked", flush=True)
    time.sleep(600)
"""


def test_a_killed_batch_releases_the_journal() -> None:
    write(Path("models/a.json"), native())
    process = subprocess.Popen([sys.executable, "-c", LOCK_JOURNAL], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        assert refused(in_here, BatchRequest("compile"), "models") == [running.JOURNAL_IN_USE.id]
    finally:
        process.kill()
        process.communicate()
    assert outcomes(in_here(BatchRequest("compile"), "models")) == {"a.json": ("passed", False)}


def test_a_file_system_without_locks_works(monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")

    def flock(file: int, how: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)
    write(Path("models/a.json"), native())
    assert outcomes(in_here(BatchRequest("compile"), "models")) == {"a.json": ("passed", False)}


# --- Failures ---------------------------------------------------------------------------------------------------------


def test_failures_do_not_stop_other_models() -> None:
    for name in ("a", "dies", "exits", "hangs", "leaves", "z"):
        write(Path(f"models/{name}.json"), native())
    request = BatchRequest("compile")
    pool: Workers[Task] = Workers(jobs.by_name, 2, timeout=3.0)
    with Journal(OUT / JOURNAL, request.work()) as journal:
        records = list(drive(collect_models(["models"], OUT), request, OUT, journal, pool))
    assert outcomes(records) == {
        "a.json": ("passed", False),
        "dies.json": ("died", False),
        "exits.json": ("died", False),
        "hangs.json": ("timeout", False),
        "leaves.json": ("died", False),
        "z.json": ("passed", False),
    }
    by_name = {Path(item.model).stem: item for item, _ in records}
    assert by_name["exits"].diagnostics[0].code == running.WORKER_DIED.id
    assert "two workers died while they processed this model" in by_name["exits"].diagnostics[0].message
    assert by_name["exits"].diagnostics[0].found == "with exit code 3"
    assert by_name["hangs"].diagnostics[0].code == running.MODEL_TIMEOUT.id
    assert by_name["hangs"].seconds >= 3
    assert sorted(path.name for path in (OUT / "models").iterdir()) == ["a.onnx", "z.onnx"]
    assert len(lines()) == 7
    Path("models/dies.json").rename("models/lives.json")
    again = in_here(request, "models", retry_failed=False)
    assert {name for name, (_, resumed) in outcomes(again).items() if not resumed} == {"lives.json"}
    retried = in_here(request, "models", retry_failed=True)  # with a job that ignores names
    assert {item.status for item, _ in retried} == {"passed"}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process as we need it")
def test_a_model_that_needs_too_much_memory() -> None:
    write(Path("models/small.json"), native())
    values = {"w": {"DataType": "FLOAT32", "Sizes": [1 << 19], "values": [0.125] * (1 << 19)}}
    write(Path("models/wide.json"), native(constants=values))
    records = list(dml2onnx.batch("models", jobs=1, max_bytes=8 << 20))
    assert {Path(item.model).stem: item.status for item in records} == {"small": "passed", "wide": "memory"}
    assert [entry.code for item in records for entry in item.diagnostics] == [running.NO_MEMORY.id]


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
def test_an_interrupted_batch_can_be_resumed() -> None:
    for number in range(300):
        write(Path(f"models/{number:03}.json"), native(number + 1))
    command = [sys.executable, "-c", MAIN, "batch", "models", "--do", "compile", "-o", "out", "--jobs", "2"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    journal = OUT / JOURNAL
    while not (journal.exists() and journal.read_bytes().count(b"\n") > 3):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "error: interrupted\n"
    assert "of 300" in out
    done = {line["model"] for line in lines() if "model" in line}
    assert 3 <= len(done) < 300
    assert not list(OUT.rglob("*.partial"))
    written = {path.stem for path in OUT.rglob("*.onnx")}
    assert {Path(name).stem for name in done} <= written
    Path("list").write_text("\n".join([*sorted(done), "models/299.json"]))
    again = in_here(BatchRequest("compile"), "list")
    assert {item.model for item, resumed in again if resumed} >= done
    assert {item.status for item, _ in again} == {"passed"}


# --- The command and the function -------------------------------------------------------------------------------------


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    a_few()
    write(Path("models/more.json"), BROKEN)
    command = ["batch", "models", "--do", "compile", "-o", "out", "--jobs", "2"]
    assert main(command) == 1
    text = capsys.readouterr().out
    assert "compile: 7 models: 3 passed, 2 with errors, 1 not models, 1 unreadable\n" in text
    assert main([*command, "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    jsonschema.validate(answer, json.loads((catalog.schemas_directory() / "report.schema.json").read_text()))
    assert (answer["asked"], answer["done"], answer["resumed"]) == (7, 7, 7)
    assert answer["statuses"] == {"passed": 3, "errors": 2, "unreadable": 1, "other": 1}
    first = answer["codes"][0]
    assert (first["models"], first["examples"]) == (2, ["models/broken.json", "models/more.json"])
    assert main(["batch", "models/good.json"]) == 0
    assert "check: 1 model: 1 passed" in capsys.readouterr().out
    assert main(["batch", "models/good.json", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_the_summary_does_not_depend_on_the_order() -> None:
    for number in range(5):
        write(Path(f"models/{number}.json"), BROKEN)
    Path("models/nothing.bin").write_bytes(b"")
    records = [record for record, _ in in_here(BatchRequest("check"), "models")]
    records[1] = replace(records[1], status="died")
    records[3] = replace(records[3], status="timeout")
    texts = set()
    for order in (records, records[::-1], records[3:] + records[:3]):
        summary = Summary()
        for item in order:
            summary.add(item, is_resumed=False)
        texts.add(str(summary.answer("check", len(records), None, 0.0)))
    assert len(texts) == 1
    answer = summary.answer("check", len(records), None, 0.0)
    assert answer.codes[0].examples == ("models/0.json", "models/1.json", "models/2.json")
    assert [item.model for item in answer.failures] == ["models/1.json", "models/3.json"]


def test_invalid_command_lines(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("models/good.json"), native())
    assert main(["batch", "models", "--do", "compile"]) == 2
    assert "choose their directory with -o OUTDIR" in capsys.readouterr().err
    assert main(["batch", "models", "--again", "--retry-failed"]) == 2
    assert main(["batch", "models", "--model-timeout", "0"]) == 2
    assert main(["batch", "nowhere"]) == 2
    assert "DML3034" in capsys.readouterr().err


def test_the_function() -> None:
    a_few()
    records = dml2onnx.batch(["models"], "verify", jobs=1, cases=1)
    first = next(records)
    assert isinstance(first, Record)
    assert pickle.loads(pickle.dumps(first)) == first
    assert isinstance(records, Generator)
    records.close()
    assert list(dml2onnx.batch([], jobs=1)) == []
    wrongs: list[dict[str, Any]] = [{"do": "eat"}, {"do": "compile"}, {"jobs": 0}, {"model_timeout": -1}, {"opset": 3}]
    for wrong in wrongs:
        with pytest.raises(dml2onnx.DmlError):
            dml2onnx.batch("models", **wrong)
    batch = Batch((), BatchRequest("check"), None, None, 1)
    assert batch == pickle.loads(pickle.dumps(batch))


def test_the_command_reports_models_with_one_output(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("models/one.json"), native())
    dml2onnx.convert("models/one.json", "models/one.bin")
    assert main(["batch", "models", "--do", "compile", "-o", str(OUT), "--jobs", "1"]) == 1
    output = capsys.readouterr().out
    assert running.SAME_OUTPUT.id in output
    assert "2 models: " in output
    assert main(["batch", "models", "--jobs", "1"]) == 0  # checking writes nothing
