"""Runs the cases: ``python -m tests.newcomers.scoring`` prints all answers."""

from __future__ import annotations

import contextlib
import importlib
import io
import pkgutil
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import dml2onnx
from dml2onnx.cli import main
from dml2onnx.diagnostics import DmlError
from tests.newcomers import __path__
from tests.newcomers.build import text_of
from tests.newcomers.case import Case, Command
from tests.newcomers.networks import NETWORK

if TYPE_CHECKING:
    from collections.abc import Iterator


def _cases() -> Iterator[tuple[str, Case | Command]]:
    for _, name, _ in pkgutil.iter_modules(__path__):
        for group in vars(importlib.import_module(f"tests.newcomers.{name}")).values():
            for case in group if isinstance(group, tuple) else ():
                if isinstance(case, Case | Command):
                    yield f"{name}: {case.name}", case


CASES = dict(_cases())
"""All cases by their modules and names."""


def answer_to_file(case: Case, folder: Path) -> tuple[int, str]:
    """Returns the number of findings of ``check`` for a file, and its output."""
    path = folder / "net.json"
    path.write_text(case.source, encoding="utf-8")
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        main(["check", str(path)])
    text = output.getvalue()
    return len(re.findall(r"^\s*DML\d+ (?:error|warning)|^(?:error|warning)\[", text, re.MULTILINE)), text


def answer_to_program(case: Case) -> tuple[int, str]:
    """Returns the number of findings of a program for the builder, and their text."""
    names: dict[str, Any] = {"g": dml2onnx.GraphBuilder(feature_level="5_0"), "np": np, "dml2onnx": dml2onnx}
    try:
        exec(compile(case.source, "net.py", "exec"), names)
    except DmlError as error:
        return len(error.diagnostics), str(error)
    except Exception as error:  # raised by Python, not by the builder
        line = error.__traceback__.tb_next.tb_lineno if error.__traceback__ and error.__traceback__.tb_next else 0
        return 1, f"net.py:{line} {type(error).__name__}: {error}"
    found = dml2onnx.check(names["graph"]) if "graph" in names else []
    return len(found), "\n".join(map(str, found))


def answer_to_command(case: Command, folder: Path) -> tuple[int, str]:
    """Returns the exit code of a command in a directory with the network and pictures for it, and its output."""
    (folder / "net.json").write_text(text_of(NETWORK), encoding="utf-8")
    (folder / "program.py").write_text(case.program, encoding="utf-8")
    np.save(folder / "image.npy", np.zeros((1, 3, 32, 32), np.float32))
    np.save(folder / "nhwc.npy", np.zeros((1, 32, 32, 3), np.float32))
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        for arguments in case.before:
            assert main(list(arguments)) == 0, arguments
    for name, text in case.files:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    output = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            code = main(list(case.arguments))
        except SystemExit as ended:
            code = int(ended.code or 0)
    return code, output.getvalue()


def answer(case: Case | Command, folder: Path) -> tuple[int, str]:
    """Returns the number of findings, or the exit code of a command, and the text."""
    if isinstance(case, Command):
        return answer_to_command(case, folder)
    return answer_to_program(case) if case.in_program else answer_to_file(case, folder)


def faults(case: Case | Command, folder: Path) -> list[str]:
    """Returns what is wrong with the answer to a case."""
    count, text = answer(case, folder)
    if isinstance(case, Command):
        found = ["exit code 0"] if count == 0 else []
        found += ["a traceback"] if "Traceback" in text and not case.program else []
        return found + [f"does not say {pattern}" for pattern in case.says if not re.search(pattern, text, re.DOTALL)]
    found = [] if count == case.findings else [f"{count} findings, not {case.findings}"]
    if case.severity not in text and not case.in_program:
        found.append(f"no {case.severity}")
    file = "net.py" if case.in_program else "net.json"
    for line in (case.here, case.there):
        if line is not None and not re.search(rf"{re.escape(file)}:{line}\b", text):
            found.append(f"line {line} is not named")
    found += [f"does not say {pattern}" for pattern in case.says if not re.search(pattern, text)]
    found += [f"says {pattern}" for pattern in case.never if re.search(pattern, text)]
    return found + not_fixed(folder) if case.fixed and not found else found


def not_fixed(folder: Path) -> list[str]:
    """Returns the findings that ``check --fix`` leaves."""
    path = folder / "net.json"
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        main(["check", "--fix", str(path)])
    return [f"after --fix: {item}" for item in dml2onnx.check(path)]


def show() -> None:
    """Prints every answer and what is wrong with it, and the number of right ones."""
    right = 0
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            _, text = answer(case, Path(first))
            found = faults(case, Path(second))
        right += not found
        print(f"=== {name}: {'; '.join(found) or 'right'}\n{text}")
    print(f"{right} of {len(CASES)} right")


if __name__ == "__main__":
    show()
