"""``explain`` of HRESULTs by number, name and text, and how to find the cause."""

from __future__ import annotations

import pytest

from dml2onnx.cli import main
from dml2onnx.codes.results import HRESULTS, HResult, hresult_of


@pytest.mark.parametrize("item", HRESULTS, ids=lambda item: item.name)
def test_numbers_names_and_texts(item: HResult, capsys: pytest.CaptureFixture[str]) -> None:
    signed = item.number - (1 << 32)
    plain = f"{item.number:08x}"
    for text in (plain, plain.upper(), f"0x{plain}", f"0X{plain.upper()}L", item.name, item.name.lower(), str(signed)):
        assert hresult_of(text) is item, text
    for text in (item.text, item.text.rstrip("."), item.text.upper(), f"  {item.text} "):
        assert hresult_of(text) is item, text
    assert item.number >> 31 == 1, "a failure"
    assert main(["explain", plain]) == 0
    output = capsys.readouterr().out
    assert item.name in output
    assert all(step.split()[0] in output for step in item.steps)


def test_results_are_unique() -> None:
    for field in ("name", "number", "text"):
        assert len({getattr(item, field) for item in HRESULTS}) == len(HRESULTS)


@pytest.mark.parametrize("text", ["", "80070058", "0", "1602", "DML1602", "E_", "-5", "0x", "the parameter", "GEMM"])
def test_other_words_are_no_hresults(text: str) -> None:
    assert hresult_of(text) is None


def test_steps_name_existing_commands(capsys: pytest.CaptureFixture[str]) -> None:
    steps = " ".join(step for item in HRESULTS for step in item.steps)
    commands = {words.split()[0] for words in steps.split("dml2onnx ")[1:]}
    assert commands >= {"check", "recorder", "pydirectml", "report"}
    for command in commands:
        assert main([command, "--help"]) == 0
