"""Runs what the documents say: their commands, their programs, and the comparison with the output that they show.

    python scripts/run_docs.py [--python PYTHON] [PAGE.md ...]     (default: README.md and all of docs/)

PYTHON is the interpreter that has dml2onnx, this one by default; nothing else of the repository is needed. The blocks
of a page run from top to bottom, in a directory of the page's own:

    ```console       lines that begin with "$ " are commands of bash, "> " goes on with one; below is what it prints
    ```python        a program; a ```text block right after it, marked <!-- output -->, is what it prints
    ```text          a drawing, or an example of output; nothing happens
    any other        must be marked, on the line before

    <!-- file: NAME -->     the block is written to that file instead
    <!-- exit: 1 -->        the last command of the block has this exit code, not 0
    <!-- not run: WHY -->   the block needs what is not here

A command without output below it may print anything. In what is shown, a line "..." stands for any lines, "…" for
anything in a line, and trailing blanks do not count.
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
"""Seconds for one command."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    text: str
    mark: str
    """What stands before it, such as ``file: edges.json``; empty for nothing."""
    line: int

    def marked(self, name: str) -> str | None:
        """What a mark of that name says; None for no such mark."""
        key, _, value = self.mark.partition(":")
        return value.strip() if key == name else None


@dataclass(frozen=True)
class Command:
    """A command, and the output that is shown of it."""

    text: str
    shown: str
    exit_code: int


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(match[2], match[3], match[1] or "", text.count("\n", 0, match.start()) + 1)
        for match in BLOCK.finditer(text)
    ]


def commands(block: Block) -> list[Command]:
    """The commands of a console block."""
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


def agrees(shown: str, printed: str) -> bool:
    """Whether an output is the one that is shown, apart from what is left out there."""
    pattern = ""
    for line in shown.strip("\n").splitlines():
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(map(re.escape, line.rstrip().split("…"))) + r"[ \t]*\n"
    return re.fullmatch(pattern, printed.strip("\n").expandtabs() + "\n") is not None


def failures(page: Path, programs: Path) -> Iterator[str]:
    """What a page says that is not so; what comes after the first such block may only follow from it.

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
    return f"this {block.language or 'block'} is neither run nor written to a file, and no mark says why"


def _wrong(command: Command, directory: Path, programs: Path) -> str:
    """Why a command does not do what is said of it; empty when it does."""
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
    if command.shown.strip() and not agrees(command.shown, done.stdout):
        return f"$ {command.text}\nprints\n{done.stdout}\nand not\n{command.shown}"
    return ""


def pages() -> list[Path]:
    """The pages that people have written."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs what the documents say.")
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="the interpreter that has dml2onnx")
    parser.add_argument("pages", nargs="*", type=Path, metavar="PAGE.md", help="default: README.md and all of docs/")
    options = parser.parse_args()
    wrong = 0
    for page in options.pages or pages():
        started = time.perf_counter()
        # the interpreter is not resolved, since in an environment it is a link
        found = list(failures(page, options.python.absolute().parent))
        wrong += len(found)
        print(f"{page.name}: {len(found)} failures in {time.perf_counter() - started:.1f} s", *found, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
