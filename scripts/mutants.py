"""Mutation testing: makes small changes to the package and counts how many of them a test detects.

    python scripts/mutants.py                  300 changes (an hour or two)
    python scripts/mutants.py --count 20       fewer
    python scripts/mutants.py --only passes    only in files whose path contains this text
    python scripts/mutants.py --again          retries the changes that no test detected
    python scripts/mutants.py --over           retries all, starting with the test that detected each

A change moves a bound by one, inverts a condition, drops a return value, or replaces a word of a message: the kinds of
``KINDS`` in turn. Longer files get more changes. ``KNOWN`` changes come first; then ``--seed`` determines the others.
Each is made in a clone of the last commit, where tests run for ``--seconds`` in forks of a process that has collected
all of them (``_warm_tests.py``). The test cases that run the changed line come first: ``_test_lines.py`` measures them
once, which takes about ten minutes, and keeps them in ``build/test_lines``.

Use a container, or an account that may not write outside of the checkout: changed code may replace files, as root even
``/dev/null``.

``build/mutants.json`` is the journal: an interrupted run continues where it stopped, also after later commits. Lines
that no longer exist are skipped. The output lists the changes that no test detected, and the share that tests detected.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tokenize
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from _environment import ROOT, interpreter, prepare, prepare_tool, run
from _test_lines import DATA
from generate_texts import texts_of

BOUNDS = (
    "NumberReplacer",
    "ReplaceBinaryOperator_Add_Sub",
    "ReplaceBinaryOperator_Sub_Add",
    "ReplaceBinaryOperator_Mul_Add",
    "ReplaceBinaryOperator_FloorDiv_Mul",
    "ReplaceComparisonOperator_Lt_LtE",
    "ReplaceComparisonOperator_LtE_Lt",
    "ReplaceComparisonOperator_Gt_GtE",
    "ReplaceComparisonOperator_GtE_Gt",
)
CONDITIONS = (
    "AddNot",
    "ReplaceAndWithOr",
    "ReplaceOrWithAnd",
    "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue",
    "ReplaceComparisonOperator_Eq_NotEq",
    "ReplaceComparisonOperator_NotEq_Eq",
    "ReplaceUnaryOperator_Delete_Not",
    "ReplaceUnaryOperator_Delete_USub",
)
RETURNS = ("Return", "ZeroIterationForLoop")
CODE = (*BOUNDS, *CONDITIONS, *RETURNS)
KINDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "bounds": (BOUNDS, ("dml2onnx/",)),
    "conditions": (CONDITIONS, ("dml2onnx/",)),
    "returns": (RETURNS, ("dml2onnx/",)),
    "rules": (CODE, ("dml2onnx/rules/", "dml2onnx/checks/", "dml2onnx/legalise/", "dml2onnx/optimizer_barriers/")),
    "passes": (CODE, ("dml2onnx/passes/",)),
    "texts": (("Text",), ("dml2onnx/",)),
}
"""Kinds of plausible mistakes: operators and the folders they apply to. Changes that break nearly any program are not
included, since they would only raise the share. All but two operators are cosmic-ray's."""
SKIPPED = ("dml2onnx/builder/operators/", "dml2onnx/test_cases/")
"""Generated code, where the generator's --check detects every change, and code that makes test cases."""
NO_EFFECT = re.compile(r"if (not )?TYPE_CHECKING|TypeAlias = .*|(strict|slots)=(True|False)")
"""Parts of a line whose change has no effect: for type checkers, equal lengths in zip, slots."""
JOURNAL = ROOT / "build" / "mutants.json"
EQUIVALENT = ROOT / "tests" / "data" / "equivalent_changes.json"
"""Changes that no test can detect, with reasons: no difference, or one of speed only. They do not count."""
TEXTS = "scripts/generate_texts.py"
"""The generator that lists all texts; it runs first for a changed text."""
NONSENSE = "umbrella"
"""Replaces the longest word of a message."""


@dataclass
class Change:
    """A changed line, and the result."""

    path: str
    line: int
    before: str
    after: str
    kind: str = "known"
    seen: bool | None = None
    seconds: float = 0
    test: str = ""
    running: int = 0
    """Number of test cases that run the changed line; 0 also for lines that run on import."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line} ({self.kind})\n  - {self.before.strip()}\n  + {self.after.strip()}"

    @property
    def key(self) -> tuple[str, str, str]:
        """The path, the line and the changed line, as in ``EQUIVALENT``."""
        return self.path, self.before.strip(), self.after.strip()

    def made(self, text: str) -> str | None:
        """The text of the file with the change, at the nearest equal line; ``None`` if there is no such line."""
        lines = text.splitlines(keepends=True)
        places = [number for number, line in enumerate(lines) if line.rstrip("\r\n") == self.before]
        if not places:
            return None
        place = min(places, key=lambda number: abs(number + 1 - self.line))
        lines[place] = self.after + "\n"
        return "".join(lines)


KNOWN = (
    Change(
        "dml2onnx/reference/gemm.py",
        34,
        "    sums = products_result(a, b, total, lambda a, b: abs(alpha) * np.matmul(a, b), a.shape[-1] + 2, more)",
        "    sums = products_result(a, b, total, lambda a, b: abs(alpha) * np.matmul(a, b), a.shape[-1] + 2000, more)",
    ),
    Change("dml2onnx/passes/moves.py", 50, "    if draft.is_pinned(result):", "    if False:"),
    Change(
        "dml2onnx/onnx_model/peak_memory.py",
        68,
        "    return node.op_type in ALIASES and bool(node.inputs)",
        "    return False",
    ),
    Change(
        "dml2onnx/codes/checking.py",
        219,
        '    "tensors that need one data type have several",',
        f'    "tensors that need one {NONSENSE} type have several",',
    ),
)
"""Changes that no test detected in the past. ``moves._is_kept_apart`` is now the first line of ``_instead``."""


def equivalent() -> set[tuple[str, str, str]]:
    """The keys of the changes in ``EQUIVALENT``."""
    rows = json.loads(EQUIVALENT.read_text(encoding="utf-8"))
    return {(row["path"], row["before"], row["after"]) for row in rows}


def varied(text: str, operator: str, dice: random.Random) -> str | None:
    """The text with one change by a mutation operator at a random place; ``None`` if there is no place."""
    if operator in OWN:
        made = list(OWN[operator](text))
        return dice.choice(made) if made else None
    from cosmic_ray import plugins
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code

    change = plugins.get_operator(f"core/{operator}")()
    places = sum(1 for node in ast_nodes(get_ast(text)) for _ in change.mutation_positions(node))
    mutated: str | None = mutate_code(text, change, dice.randrange(places)) if places else None
    return mutated


def without_results(text: str) -> Iterator[str]:
    """The text with the result of one ``return`` dropped, for each that may return something true."""
    for found in re.finditer(r"^( +return) (?!(?:None|False|0|\(\)|\[\]|\{\})$)[^\n]*[^\n(\[{]$", text, re.MULTILINE):
        yield f"{text[: found.end(1)]} None{text[found.end() :]}"


def with_nonsense(text: str) -> Iterator[str]:
    """The text with the longest word of one string replaced, for each string of several words but docstrings."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        sentence = re.sub(r"\{[^}]*\}", lambda braces: "_" * len(braces[0]), token.string)
        words = list(re.finditer(r"(?<![\w\\])[A-Za-z]{3,}(?!\w)", sentence))
        if token.type == tokenize.STRING and before not in BEGINNINGS and len(words) > 2:
            word = max(words, key=lambda word: len(word[0]))
            start = starts[token.start[0] - 1] + token.start[1]
            yield text[: start + word.start()] + NONSENSE + text[start + word.end() :]
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            before = token.type


BEGINNINGS = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
"""Tokens that precede a docstring."""
OWN: dict[str, Callable[[str], Iterable[str]]] = {"Return": without_results, "Text": with_nonsense}


def draw(count: int, seed: int, only: str) -> Iterator[Change]:
    """Random changes of the files written by hand, weighted by their length; each kind in turn."""
    dice = random.Random(seed)
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in sources(only)}
    drawn: set[tuple[str, int, str]] = set()
    skipped = equivalent()
    kinds = {kind: [path for path in texts if path.startswith(where)] for kind, (_, where) in KINDS.items()}
    while len(drawn) < count:
        kind = [kind for kind in KINDS if kinds[kind]][len(drawn) % sum(map(bool, kinds.values()))]
        (path,) = dice.choices(kinds[kind], [texts[path].count("\n") for path in kinds[kind]])
        lines = texts[path].splitlines()
        text = varied(texts[path], dice.choice(KINDS[kind][0]), dice) or texts[path]
        made = text.splitlines() if is_code(text) else lines
        differ = [number for number, pair in enumerate(zip(lines, made, strict=False)) if pair[0] != pair[1]]
        if (
            len(made) != len(lines)
            or len(differ) != 1
            or (kind == "texts" and strings_of(text) == strings_of(texts[path]))
        ):
            continue
        before, after = lines[differ[0]], made[differ[0]]
        change = Change(path, differ[0] + 1, before, after, kind)
        is_new = (path, differ[0], after) not in drawn and change.key not in skipped
        if is_new and NO_EFFECT.sub("", before) != NO_EFFECT.sub("", after):
            drawn.add((path, differ[0], after))
            yield change


def strings_of(text: str) -> list[str]:
    """The texts in some code, without quoted types."""
    return list(texts_of(ast.parse(text)))


def is_code(text: str) -> bool:
    """Whether Python can parse it: an operator may have replaced the star among parameters."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def sources(only: str) -> list[str]:
    """The files of the package written by hand."""
    found = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "dml2onnx").rglob("*.py"))]
    return [path for path in found if only in path and not path.startswith(SKIPPED)]


class Copy:
    """A clone of the last commit, in which a test server makes and reverts changes."""

    def __init__(self, directory: Path, python: Path, seconds: float) -> None:
        self.root = directory / "copy"
        self.failing: list[str] = []
        """Test functions that fail without any change."""
        self._seconds = seconds
        subprocess.run(["git", "clone", "-q", ROOT, self.root], check=True)
        for name in (".venv-cpp",):
            if (ROOT / name).exists():
                (self.root / name).symlink_to((ROOT / name).resolve())
        JOURNAL.parent.mkdir(exist_ok=True)
        (self.root / "build").mkdir()
        (self.root / "build" / DATA.parent.name).symlink_to(DATA.parent)
        if (ROOT / "build" / "durations.json").exists():
            shutil.copy(ROOT / "build" / "durations.json", self.root / "build")
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "HYPOTHESIS_PROFILE": "hurry"}
        places = {"PYTHONPATH": str(self.root), "DML2ONNX_SHARED": str(ROOT.parent / "shared")}
        places["DML2ONNX_DIRECTML"] = os.devnull  # starting it takes longer than a change may
        self._server = subprocess.Popen(
            [python, "scripts/_warm_tests.py"],
            cwd=self.root,
            env={**os.environ, **threads, **places},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def perform(self, change: Change) -> None:
        """Runs tests on a change and records the result in it."""
        file = self.root / change.path
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        made = change.made(text)
        if made is None:
            change.seen = None
            return
        request = {"path": change.path, "before": text, "after": made, "seconds": self._seconds}
        request["first"] = change.test or (TEXTS if change.kind == "texts" else "")
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        answer = json.loads(self._server.stdout.readline())
        change.seen, change.test, change.seconds = answer["seen"], answer["test"], answer["seconds"]
        change.running = answer["running"]
        self.failing = answer["failing"]

    def close(self) -> None:
        """Stops the test server."""
        self._server.communicate()


class Journal:
    """The changes of a run and their results, in a file."""

    def __init__(self, count: int, seed: int, only: str) -> None:
        self._key = {"count": count, "seed": seed, "only": only}
        kept = json.loads(JOURNAL.read_text(encoding="utf-8")) if JOURNAL.exists() else {}
        if {name: kept.get(name) for name in self._key} == self._key:
            skipped = equivalent()
            changes = [Change(**change) for change in kept["changes"]]
            self.changes = [change for change in changes if change.key not in skipped]
        else:
            known = [replace(change) for change in KNOWN if only in change.path][:count]
            self.changes = [*known, *draw(count - len(known), seed, only)]

    def write(self) -> None:
        """Saves the results so far."""
        text = json.dumps({**self._key, "changes": [asdict(change) for change in self.changes]}, indent=1)
        JOURNAL.with_suffix(".new").write_text(text, encoding="utf-8")
        JOURNAL.with_suffix(".new").replace(JOURNAL)

    def summary(self) -> str:
        """The changes that no test detected, and the numbers of detected ones, in total and of each kind."""
        tried = [change for change in self.changes if change.seen is not None]
        lines = [f"NOT DETECTED {change}" for change in tried if not change.seen]
        for kind in ("known", *KINDS):
            those = [change.seen for change in tried if change.kind == kind]
            lines.append(f"{sum(map(bool, those)):5} of {len(those):3}  {kind}")
        seen = sum(map(bool, (change.seen for change in tried)))
        return "\n".join([*lines, f"{seen} of {len(tried)} changes were detected, {self.share():.1%}"])

    def share(self) -> float:
        """The share of tried changes that a test detected."""
        tried = [change.seen for change in self.changes if change.seen is not None]
        return sum(map(bool, tried)) / max(1, len(tried))


def perform(options: argparse.Namespace) -> int:
    """Tries changes one by one; exit code 0 if tests detected at least the requested share."""
    python = prepare(".venv")
    if not DATA.exists():
        run([python, "scripts/_test_lines.py"])
    journal = Journal(options.count, options.seed, options.only)
    todo = [change for change in journal.changes if options.over or change.seen is (False if options.again else None)]
    with tempfile.TemporaryDirectory() as directory:
        copy = Copy(Path(directory), python, options.seconds)
        for change in todo:
            was = change.seen
            copy.perform(change)
            missed = "NO LONGER DETECTED" if was else "NOT DETECTED"
            result = {True: f"detected by {change.test}", False: missed, None: "no longer exists"}[change.seen]
            print(f"{change}\n  {result}, {change.running} cases run it, {change.seconds:.0f} s", flush=True)
            journal.write()
        copy.close()
    print(journal.summary())
    if copy.failing:
        print(f"failing without any change: {', '.join(copy.failing)}")
    return 0 if journal.share() >= options.least else 1


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes small changes and counts how many of them tests detect.")
    parser.add_argument("--count", type=int, default=300, help="the number of changes (300)")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the random changes")
    parser.add_argument("--only", default="", help="only files whose path contains this text")
    parser.add_argument("--again", action="store_true", help="retry the changes that no test detected")
    parser.add_argument("--over", action="store_true", help="retry all, starting with the test that detected each")
    parser.add_argument("--seconds", type=float, default=40, help="CPU seconds of tests for each change (40)")
    parser.add_argument("--least", type=float, default=0.97, help="the required share of detected changes (0.97)")
    options = parser.parse_args()
    own = interpreter(ROOT / ".venv-mutants")
    if not prepare_tool("mutants"):
        return 2
    if Path(sys.prefix) != own.parent.parent:
        return subprocess.run([own, *sys.argv], check=False).returncode
    return perform(options)


if __name__ == "__main__":
    sys.exit(main())
