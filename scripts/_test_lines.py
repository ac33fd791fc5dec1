"""Measures once with pytest-cov which test cases run each line of the package, for lookups by ``mutants.py``.

python scripts/_test_lines.py       measures again: about ten minutes on two cores
"""

from __future__ import annotations

import ast
import difflib
import sqlite3
import subprocess
import sys

from _environment import ROOT, run

DATA = ROOT / "build" / "test_lines" / "coverage"
COMMIT = DATA.with_name("commit")
"""The commit that was measured."""
LONGEST = 30
"""Test functions that take more CPU seconds are not measured."""


def measure() -> None:
    """Runs the tests under coverage.py and saves the lines that each case runs in ``DATA``."""
    from _affected import leave_out, longer_than  # needs packages that the environment of mutants.py lacks

    DATA.parent.mkdir(parents=True, exist_ok=True)
    new = DATA.with_name("new")
    options = ["--cov=dml2onnx", "--cov-context=test", "--cov-report=", "--cases=each", "-q", "-n", "auto"]
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment = {"COVERAGE_FILE": str(new), "HYPOTHESIS_PROFILE": "hurry", **threads}
    commit = git("rev-parse", "HEAD")
    run([sys.executable, "-m", "pytest", *options, leave_out(longer_than(LONGEST)), "tests"], environment)
    new.replace(DATA)
    COMMIT.write_text(commit, encoding="utf-8")


class TestLines:
    """Looks up test cases by line numbers in the current text of a file."""

    def __init__(self) -> None:
        from coverage.numbits import register_sqlite_functions

        self._commit = COMMIT.read_text(encoding="utf-8")
        self._data = sqlite3.connect(f"file:{DATA}?mode=ro", uri=True)
        register_sqlite_functions(self._data)

    def cases(self, path: str, text: str, line: int | None) -> set[tuple[str, str]]:
        """Returns the test cases that run the statement at ``line`` of a file with this text, each with the phase.

        Without a line, returns the cases that run any line of the file. Empty if the measured commit lacks the
        statement.
        """
        from coverage.numbits import nums_to_numbits

        numbers = None if line is None else self._measured_lines(path, text, statement_at(text, line))
        query = (
            "select context.context from line_bits join file on file.id = file_id join context on context.id ="
            " context_id where file.path = ?"
        )
        arguments: list[object] = [path]
        if numbers is not None:
            query += " and numbits_any_intersection(numbits, ?)"
            arguments.append(nums_to_numbits(numbers))
        rows = (context.rpartition("|") for (context,) in self._data.execute(query, arguments))
        return {(case, phase) for case, _, phase in rows if case}

    def _measured_lines(self, path: str, text: str, lines: range) -> list[int]:
        """Returns the numbers of lines in the measured commit."""
        before = git("show", f"{self._commit}:{path}").splitlines()
        matcher = difflib.SequenceMatcher(None, before, text.splitlines(), autojunk=False)
        return [
            block.a + line - 1 - block.b + 1
            for block in matcher.get_matching_blocks()
            for line in lines
            if block.b <= line - 1 < block.b + block.size
        ]


def statement_at(text: str, line: int) -> range:
    """Returns the lines of the innermost statement at a line, without the body of a compound statement."""
    found = range(line, line + 1)
    for node in ast.walk(ast.parse(text)):  # parents before children
        if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            start = node.pattern.lineno if isinstance(node, ast.match_case) else node.lineno
            body = getattr(node, "body", None)
            end = max(start, body[0].lineno - 1) if body else getattr(node, "end_lineno", start)
            if start <= line <= end:
                found = range(start, end + 1)
    return found


def git(*arguments: str) -> str:
    """Returns the output of git, or ``""`` if it fails."""
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, cwd=ROOT, check=False)
    return done.stdout.rstrip("\n")


if __name__ == "__main__":
    measure()
