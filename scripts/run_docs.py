"""Runs the commands and programs of the documentation, and compares their output with the pages.

    python scripts/run_docs.py [--python PYTHON] [PAGE.md ...]     (default: README.md and all of docs/)

PYTHON is the interpreter that has dml2onnx (default: this one); nothing else of the repository is needed. The blocks of
a page run in order, in a new directory for each page:

    ```console       "$ " starts a bash command, "> " continues it; the following lines are its output
    ```python        a program; a ```text block right after it, marked <!-- output -->, is its output
    ```text          a drawing or an example of output; ignored
    any other        must be marked on the line before

    <!-- file: NAME -->     write the block to that file instead
    <!-- exit: 1 -->        the expected exit code of the block's last command, if not 0
    <!-- not run: WHY -->   skip the block

A command without output in the page may print anything. In the page's output, a line "..." matches any lines, "…"
matches any text in a line, and trailing blanks are ignored.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^(?:<!-- ([^\n]*?) -->\n)?^```([\w{}-]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LIMIT = 120
"""Timeout of a command in seconds."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    text: str
    mark: str
    """The mark on the line before, such as ``file: edges.json``, or an empty text."""
    line: int

    def marked(self, name: str) -> str | None:
        """The value of the mark, or None if the block has no mark of that name."""
        key, _, value = self.mark.partition(":")
        return value.strip() if key == name else None


@dataclass(frozen=True)
class Command:
    """A command with its output in the page and its expected exit code."""

    text: str
    shown: str
    exit_code: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(match[2], match[3], match[1] or "", text.count("\n", 0, match.start()) + 1)
        for match in BLOCK.finditer(text)
    ]


def commands(block: Block) -> list[Command]:
    found: list[tuple[list[str], list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append(([line[2:]], []))
        elif line.startswith("> ") and found and not found[-1][1]:
            found[-1][0].append(line[2:])
        elif found:
            found[-1][1].append(line)
        elif line.strip():
            raise ValueError(f"line {block.line}: a console block begins with a command, which begins with '$ '")
    last = int(block.marked("exit") or 0)
    codes = [0] * (len(found) - 1) + [last]
    return [Command("\n".join(text), "\n".join(shown), code) for (text, shown), code in zip(found, codes, strict=True)]


def matches(shown: str, printed: str) -> bool:
    """Whether an output matches the one in the page, where "..." and "…" are wildcards."""
    pattern = ""
    for line in shown.strip("\n").splitlines():
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(map(re.escape, line.rstrip().split("…"))) + r"[ \t]*\n"
    return re.fullmatch(pattern, printed.strip("\n").expandtabs() + "\n") is not None


def failures(page: Path, programs: Path) -> Iterator[str]:
    """Yields the failing blocks of a page; later ones may be consequences of the first.

    ``programs`` is the directory of the programs ``python`` and ``dml2onnx``.
    """
    found = blocks(page)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        for block, following in zip(found, [*found, None][1:], strict=True):
            wrong = _failure(block, following, directory, programs)
            if wrong:
                yield f"{page.name}:{block.line}: {wrong}"


def _failure(block: Block, following: Block | None, directory: Path, programs: Path) -> str:
    file = block.marked("file")
    if file is not None:
        path = directory / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8", newline="\n")
        return ""
    if block.marked("not run"):
        return ""
    if block.language == "console":
        wrong = (_wrong(command, directory, programs) for command in commands(block))
        return next(filter(None, wrong), "")
    if block.language == "python":
        shown = following.text if following is not None and following.mark == "output" else ""
        return _wrong(Command(f"python -P - <<'END'\n{block.text}END", shown, 0), directory, programs)
    if block.language == "text" or block.language.startswith("{"):
        return ""
    return f"this {block.language or 'block'} is neither run nor written to a file, and has no mark"


def _wrong(command: Command, directory: Path, programs: Path) -> str:
    """Describes how a command differs from the page; empty if it does not."""
    path = os.pathsep.join([str(programs), os.environ.get("PATH", "")])
    settings = {"PATH": path, "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [shutil.which("bash") or "bash", "-o", "pipefail", "-c", command.text],
        cwd=directory,
        env={**{name: value for name, value in os.environ.items() if name != "COLUMNS"}, **settings},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=LIMIT,
        check=False,
    )
    if done.returncode != command.exit_code:
        return f"$ {command.text}\nexit code {done.returncode}, not {command.exit_code}:\n{done.stdout}"
    if command.shown.strip() and not matches(command.shown, done.stdout):
        return f"$ {command.text}\nprints\n{done.stdout}\ninstead of\n{command.shown}"
    return ""


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs the commands and programs of the documentation.")
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="the interpreter that has dml2onnx")
    parser.add_argument("pages", nargs="*", type=Path, metavar="PAGE.md", help="default: README.md and all of docs/")
    options = parser.parse_args()
    wrong = 0
    for page in options.pages or pages():
        started = time.perf_counter()
        # not resolved, since the interpreter of an environment is a link
        found = list(failures(page, options.python.absolute().parent))
        wrong += len(found)
        print(f"{page.name}: {len(found)} failures in {time.perf_counter() - started:.1f} s", *found, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
