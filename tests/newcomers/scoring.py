"""How right the answers to newcomers' mistakes are: ``python -m tests.newcomers.scoring`` prints them all."""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import numpy as np

import dml2onnx
from dml2onnx.cli import main
from dml2onnx.diagnostics import DmlError
from tests.newcomers.case import HERE, THERE, Case, Command
from tests.newcomers.commands import COMMANDS
from tests.newcomers.eighteenth import EIGHTEENTH_COMMANDS, EIGHTEENTH_FILES, EIGHTEENTH_PROGRAMS
from tests.newcomers.eighth import EIGHTH_COMMANDS, EIGHTH_FILES, EIGHTH_PROGRAMS
from tests.newcomers.eleventh import ELEVENTH_COMMANDS, ELEVENTH_FILES, ELEVENTH_PROGRAMS
from tests.newcomers.fifteenth import FIFTEENTH_COMMANDS, FIFTEENTH_FILES, FIFTEENTH_PROGRAMS
from tests.newcomers.fifth import FIFTH_COMMANDS, FIFTH_FILES, FIFTH_PROGRAMS
from tests.newcomers.files import FILES, NETWORK
from tests.newcomers.fourteenth import FOURTEENTH_COMMANDS, FOURTEENTH_FILES, FOURTEENTH_PROGRAMS
from tests.newcomers.fourth import FOURTH_COMMANDS, FOURTH_FILES, FOURTH_PROGRAMS
from tests.newcomers.more_files import MORE_FILES
from tests.newcomers.more_programs import MORE_PROGRAMS
from tests.newcomers.nineteenth import NINETEENTH_COMMANDS, NINETEENTH_FILES
from tests.newcomers.ninth import NINTH_COMMANDS, NINTH_FILES, NINTH_PROGRAMS
from tests.newcomers.programs import PROGRAMS
from tests.newcomers.seventeenth import SEVENTEENTH_COMMANDS, SEVENTEENTH_FILES, SEVENTEENTH_PROGRAMS
from tests.newcomers.seventh import SEVENTH_COMMANDS, SEVENTH_FILES, SEVENTH_PROGRAMS
from tests.newcomers.sixteenth import SIXTEENTH_COMMANDS, SIXTEENTH_FILES, SIXTEENTH_PROGRAMS
from tests.newcomers.sixth import SIXTH_COMMANDS, SIXTH_FILES, SIXTH_PROGRAMS
from tests.newcomers.tenth import TENTH_COMMANDS, TENTH_FILES, TENTH_PROGRAMS
from tests.newcomers.third import THIRD_COMMANDS, THIRD_FILES, THIRD_PROGRAMS
from tests.newcomers.thirteenth import THIRTEENTH_COMMANDS, THIRTEENTH_FILES, THIRTEENTH_PROGRAMS
from tests.newcomers.twelfth import TWELFTH_COMMANDS, TWELFTH_FILES, TWELFTH_PROGRAMS
from tests.newcomers.twentieth import TWENTIETH_COMMANDS, TWENTIETH_FILES, TWENTIETH_PROGRAMS
from tests.newcomers.twentyfirst import TWENTYFIRST_COMMANDS, TWENTYFIRST_FILES, TWENTYFIRST_PROGRAMS

IN_FILES = (
    *FILES,
    *MORE_FILES,
    *THIRD_FILES,
    *FOURTH_FILES,
    *FIFTH_FILES,
    *SIXTH_FILES,
    *SEVENTH_FILES,
    *EIGHTH_FILES,
    *NINTH_FILES,
    *TENTH_FILES,
    *ELEVENTH_FILES,
    *TWELFTH_FILES,
    *THIRTEENTH_FILES,
    *FOURTEENTH_FILES,
    *FIFTEENTH_FILES,
    *SIXTEENTH_FILES,
    *SEVENTEENTH_FILES,
    *EIGHTEENTH_FILES,
    *NINETEENTH_FILES,
    *TWENTIETH_FILES,
    *TWENTYFIRST_FILES,
)
IN_PROGRAMS = (
    *PROGRAMS,
    *MORE_PROGRAMS,
    *THIRD_PROGRAMS,
    *FOURTH_PROGRAMS,
    *FIFTH_PROGRAMS,
    *SIXTH_PROGRAMS,
    *SEVENTH_PROGRAMS,
    *EIGHTH_PROGRAMS,
    *NINTH_PROGRAMS,
    *TENTH_PROGRAMS,
    *ELEVENTH_PROGRAMS,
    *TWELFTH_PROGRAMS,
    *THIRTEENTH_PROGRAMS,
    *FOURTEENTH_PROGRAMS,
    *FIFTEENTH_PROGRAMS,
    *SIXTEENTH_PROGRAMS,
    *SEVENTEENTH_PROGRAMS,
    *EIGHTEENTH_PROGRAMS,
    *TWENTIETH_PROGRAMS,
    *TWENTYFIRST_PROGRAMS,
)
IN_COMMANDS = (
    *COMMANDS,
    *THIRD_COMMANDS,
    *FOURTH_COMMANDS,
    *FIFTH_COMMANDS,
    *SIXTH_COMMANDS,
    *SEVENTH_COMMANDS,
    *EIGHTH_COMMANDS,
    *NINTH_COMMANDS,
    *TENTH_COMMANDS,
    *ELEVENTH_COMMANDS,
    *TWELFTH_COMMANDS,
    *THIRTEENTH_COMMANDS,
    *FOURTEENTH_COMMANDS,
    *FIFTEENTH_COMMANDS,
    *SIXTEENTH_COMMANDS,
    *SEVENTEENTH_COMMANDS,
    *EIGHTEENTH_COMMANDS,
    *NINETEENTH_COMMANDS,
    *TWENTIETH_COMMANDS,
    *TWENTYFIRST_COMMANDS,
)
CASES = (*IN_FILES, *IN_PROGRAMS, *IN_COMMANDS)


def line_of(source: str, mark: str) -> int | None:
    """The line of a text that has a mark, counted from 1."""
    for number, line in enumerate(source.splitlines(), 1):
        if mark in line:
            return number
    return None


def answer_to_file(case: Case, folder: Path) -> tuple[int, str]:
    """How many findings ``check`` has for a file, and what it writes."""
    path = folder / "net.json"
    path.write_text(case.source, encoding="utf-8")
    written = io.StringIO()
    with contextlib.redirect_stdout(written), contextlib.redirect_stderr(written):
        main(["check", str(path)])
    text = written.getvalue()
    return len(re.findall(r"^\s*DML\d+ (?:error|warning)|^(?:error|warning)\[", text, re.MULTILINE)), text


def answer_to_program(case: Case) -> tuple[int, str]:
    """How many findings a program for the builder gets, and their text."""
    source = textwrap.dedent(case.source)
    names: dict[str, Any] = {"g": dml2onnx.GraphBuilder(feature_level="5_0"), "np": np, "dml2onnx": dml2onnx}
    try:
        exec(compile(source, "net.py", "exec"), names)
    except DmlError as error:
        return len(error.diagnostics), str(error)
    except Exception as error:  # an answer of Python, not of the builder
        line = error.__traceback__.tb_next.tb_lineno if error.__traceback__ and error.__traceback__.tb_next else 0
        return 1, f"net.py:{line} {type(error).__name__}: {error}"
    found = dml2onnx.check(names["graph"]) if "graph" in names else []
    return len(found), "\n".join(map(str, found))


def answer_to_command(case: Command, folder: Path) -> tuple[int, str]:
    """The exit code of a command in a directory with the network and pictures for it, and what it writes."""
    (folder / "net.json").write_text(NETWORK, encoding="utf-8")
    (folder / "program.py").write_text(case.program, encoding="utf-8")
    np.save(folder / "image.npy", np.zeros((1, 3, 32, 32), np.float32))
    np.save(folder / "nhwc.npy", np.zeros((1, 32, 32, 3), np.float32))
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        for arguments in case.before:
            assert main(list(arguments)) == 0, arguments
    for name, text in case.files:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    written = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(written), contextlib.redirect_stderr(written):
        try:
            code = main(list(case.arguments))
        except SystemExit as ended:
            code = int(ended.code or 0)
    return code, written.getvalue()


def faults_of_command(case: Command, folder: Path) -> list[str]:
    """What is not right about the answer to a mistake on the command line."""
    code, text = answer_to_command(case, folder)
    found = ["exit code 0"] if code == 0 else []
    found += ["a traceback"] if "Traceback" in text and not case.program else []
    return found + [f"does not say {pattern}" for pattern in case.says if not re.search(pattern, text, re.DOTALL)]


def faults(case: Case | Command, folder: Path) -> list[str]:
    """What is not right about the answer to a mistake; empty where it is fully right."""
    if isinstance(case, Command):
        return faults_of_command(case, folder)
    in_file = case in IN_FILES
    count, text = answer_to_file(case, folder) if in_file else answer_to_program(case)
    source = case.source if in_file else textwrap.dedent(case.source)
    name = "net.json" if in_file else "net.py"
    found = []
    if count != case.findings:
        found.append(f"{count} findings, not {case.findings}")
    if case.severity not in text and in_file:
        found.append(f"no {case.severity}")
    for mark in (HERE, THERE):
        line = line_of(source, mark)
        if line is not None and not re.search(rf"{re.escape(name)}:{line}\b", text):
            found.append(f"line {line} is not named ({mark})")
    found += [f"does not say {pattern}" for pattern in case.says if not re.search(pattern, text)]
    found += [f"says {pattern}" for pattern in case.never if re.search(pattern, text)]
    if case.fixed and not found:
        found += not_fixed(folder)
    return found


def not_fixed(folder: Path) -> list[str]:
    """What ``check --fix`` leaves of a file."""
    path = folder / "net.json"
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        main(["check", "--fix", str(path)])
    left = dml2onnx.check(path)
    return [f"after --fix: {item}" for item in left]


def answer(case: Case | Command, folder: Path) -> str:
    """The text that a mistake is answered with."""
    if isinstance(case, Command):
        return answer_to_command(case, folder)[1]
    return answer_to_file(case, folder)[1] if case in IN_FILES else answer_to_program(case)[1]


def show() -> None:
    """Prints every answer, what is not right about it, and how many are."""
    right = 0
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            text = answer(case, Path(folder))
            found = faults(case, Path(folder))
        right += not found
        print(f"=== {case.name}: {'right' if not found else '; '.join(found)}\n{text}")
    print(f"{right} of {len(CASES)} fully right")


if __name__ == "__main__":
    show()
