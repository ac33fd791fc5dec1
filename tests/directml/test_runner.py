"""Tests the runner with a fake program that may crash."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from dml2onnx.directml import installation
from dml2onnx.directml.cases import DIED, NOT_REACHED, BufferRange, Case, DeviceBuffer, Outcome, Step, decode
from dml2onnx.directml.installation import Installation
from dml2onnx.directml.runner import StartError, run
from dml2onnx.test_cases.descriptors import plain, sized

FOUR = sized(1, 1, 1, 4)
ABS = plain("ELEMENT_WISE_ABS", InputTensor=FOUR, OutputTensor=FOUR)
ANSWERS, REFUSES, DIES, LOSES, HANGS, NO_START, STOPS = range(7)


@pytest.fixture
def pretender(tmp_path: Path) -> Installation:
    program = Path(__file__).with_name("pretender.py")
    return Installation((sys.executable, str(program)), str(tmp_path), str(tmp_path), {})


def case(flags: int, step: Step = Step.CREATE, content: bytes = b"") -> Case:
    buffers = (DeviceBuffer(16, b"unread"), DeviceBuffer(16, content, wanted=True))
    return Case((ABS,), step, flags, buffers, (BufferRange(0, 16),), (BufferRange(1, 16),))


def test_outcomes_are_in_the_order_of_the_cases(pretender: Installation) -> None:
    cases = [case(ANSWERS), case(REFUSES), case(ANSWERS, Step.COMPILE), case(ANSWERS, Step.DISPATCH, b"abc")]
    created, refused, compiled, dispatched = run(cases, pretender)
    assert created == Outcome(0)
    assert refused == Outcome(0x80070057, step="CreateOperator")
    assert compiled == Outcome(0, 0)
    assert dispatched == Outcome(0, 0, 0, buffers=(b"abc".ljust(16, b"\0"),))
    assert compiled.dispatched == NOT_REACHED


def test_a_crash_does_not_affect_other_cases(pretender: Installation) -> None:
    kinds = [DIES, ANSWERS, DIES, DIES, REFUSES, LOSES, ANSWERS, DIES]
    outcomes = run([case(kind) for kind in kinds], pretender)
    created = [DIED, 0, DIED, DIED, 0x80070057, 0, 0, DIED]
    assert [outcome.created for outcome in outcomes] == created
    assert [outcome.died for outcome in outcomes] == [kind == DIES for kind in kinds]
    assert outcomes[0].step == "exception c0000005"
    assert outcomes[5].removed == 0x887A0005


def test_a_hanging_case_is_killed(pretender: Installation) -> None:
    start = time.monotonic()
    outcomes = run([case(ANSWERS), case(HANGS), case(ANSWERS)], pretender, patience=1.0)
    assert [outcome.died for outcome in outcomes] == [False, True, False]
    assert outcomes[1].step == "no answer"
    assert time.monotonic() - start < 30


def test_a_missing_result_does_not_affect_other_cases(pretender: Installation) -> None:
    outcomes = run([case(ANSWERS), case(STOPS), case(REFUSES)], pretender)
    assert [outcome.created for outcome in outcomes] == [0, DIED, 0x80070057]


def test_a_program_that_does_not_start(pretender: Installation) -> None:
    with pytest.raises(StartError, match="exit code 11: no device"):
        run([case(NO_START)], pretender)


def test_a_program_that_fails_at_once(tmp_path: Path) -> None:
    broken = Installation(("/bin/false",), str(tmp_path), str(tmp_path), {})
    with pytest.raises(StartError, match="exit code 1"):
        run([case(ANSWERS)], broken)


def test_no_cases_need_no_program(tmp_path: Path) -> None:
    assert run([], Installation(("/nowhere",), str(tmp_path), str(tmp_path), {})) == []


def test_files_are_removed(pretender: Installation) -> None:
    run([case(ANSWERS)], pretender)
    assert list(Path(pretender.runs).iterdir()) == []


def test_an_incomplete_result_is_skipped() -> None:
    whole = (0).to_bytes(4, "little") * 7
    assert [number for number, _ in decode(whole + whole[:-1])] == [0]


def test_manifests_are_written_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(installation.PLACE_VARIABLE, str(tmp_path))
    assert installation.find() is None
    written = Installation(("wine", "program.exe"), str(tmp_path), "../runs", {"wine": "10.0"})
    written.write(tmp_path)
    assert installation.find() == written
    manifest = tmp_path / installation.MANIFEST
    manifest.write_text(manifest.read_text().replace('"version": 1', '"version": 0'))
    assert installation.find() is None
