"""How many small changes to the package the tests see.

    python scripts/mutants.py                  300 changes, each with the tests nearest to it (some hours)
    python scripts/mutants.py --count 20       fewer
    python scripts/mutants.py --only passes    only in files whose path has this text
    python scripts/mutants.py --survivors F    tries those again that an earlier run wrote into a file

A change is one of cosmic-ray's: a number one more or less, a comparison with or without its bound, ``and`` for ``or``,
``not`` added, a loop without a turn. Files are drawn by their lines and changes in them at random, the same ones for
the same ``--seed``. Each is made in a copy of the last commit, in which the tests run that ``scripts/test.py --fast``
would run. Those that no test sees are printed with their lines, and ``build/mutants.json`` has all.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from _environment import ROOT, interpreter, prepare, prepare_mutants

OPERATORS = (
    "AddNot",
    "NumberReplacer",
    "ReplaceAndWithOr",
    "ReplaceOrWithAnd",
    "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue",
    "ReplaceBinaryOperator_Add_Sub",
    "ReplaceBinaryOperator_Sub_Add",
    "ReplaceBinaryOperator_Mul_Add",
    "ReplaceBinaryOperator_FloorDiv_Mul",
    "ReplaceComparisonOperator_Eq_NotEq",
    "ReplaceComparisonOperator_NotEq_Eq",
    "ReplaceComparisonOperator_Lt_LtE",
    "ReplaceComparisonOperator_LtE_Lt",
    "ReplaceComparisonOperator_Gt_GtE",
    "ReplaceComparisonOperator_GtE_Gt",
    "ReplaceUnaryOperator_Delete_Not",
    "ReplaceUnaryOperator_Delete_USub",
    "ZeroIterationForLoop",
)
"""Changes that a hand might make by mistake; those that hardly any program survives would only raise the share."""
GENERATED = ("dml2onnx/builder/operators/",)
"""Code that is written by generators, whose comparison sees every change."""
RESULTS = ROOT / "build" / "mutants.json"


@dataclass(frozen=True)
class Mutant:
    """One change: which of the places in a file at which an operator of cosmic-ray applies."""

    path: str
    operator: str
    occurrence: int


@dataclass(frozen=True)
class Trial:
    """What came of a change."""

    mutant: Mutant
    seen: bool
    seconds: float
    difference: str


def changed(source: str, operator: str, occurrence: int) -> str | None:
    """The text of a file with one change, or ``None`` where there are fewer places for it."""
    from cosmic_ray import plugins
    from cosmic_ray.mutating import mutate_code

    made: str | None = mutate_code(source, plugins.get_operator(f"core/{operator}")(), occurrence)
    return made


def places(source: str, operator: str) -> int:
    """At how many places of a file an operator applies."""
    from cosmic_ray import plugins
    from cosmic_ray.ast import ast_nodes, get_ast

    positions = plugins.get_operator(f"core/{operator}")().mutation_positions
    return sum(1 for node in ast_nodes(get_ast(source)) for _ in positions(node))


def draw(files: list[Path], count: int, seed: int) -> Iterator[Mutant]:
    """Changes at random places of files, more of those that are longer."""
    dice = random.Random(seed)
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    lines = [text.count("\n") for text in texts.values()]
    drawn: set[Mutant] = set()
    while len(drawn) < count:
        (file,) = dice.choices(files, lines)
        operator = dice.choice(OPERATORS)
        number = places(texts[file], operator)
        if number:
            mutant = Mutant(file.relative_to(ROOT).as_posix(), operator, dice.randrange(number))
            if mutant not in drawn and changed(texts[file], operator, mutant.occurrence) != texts[file]:
                drawn.add(mutant)
                yield mutant


def sources(only: str) -> list[Path]:
    """The files of the package that are written by hand."""
    found = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "dml2onnx").rglob("*.py"))]
    return [ROOT / path for path in found if only in path and not path.startswith(GENERATED)]


def tried(mutant: Mutant, copy: Path, python: Path, seconds: float) -> Trial:
    """Makes a change in a copy of the repository, runs the tests that it concerns, and takes it back."""
    file = copy / mutant.path
    before = file.read_text(encoding="utf-8")
    after = changed(before, mutant.operator, mutant.occurrence)
    assert after is not None, mutant
    difference = "\n".join(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0))
    started = time.perf_counter()
    file.write_text(after, encoding="utf-8")
    try:
        tests: list[str | Path] = [
            copy / "scripts" / "_affected.py",
            "--seconds",
            str(seconds),
            "-x",
            "--timeout",
            "120",
        ]
        code, said = _run([python, *tests], copy)
    finally:
        file.write_text(before, encoding="utf-8")
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+::.*?)(?: - .*)?$", said, re.MULTILINE)
    if failed and _run([python, "-m", "pytest", "-p", "no:cacheprovider", failed[0]], copy)[0] != 0:
        sys.exit(f"{failed[0]} fails without any change")
    return Trial(mutant, code != 0, time.perf_counter() - started, difference)


def _run(command: list[str | Path], copy: Path) -> tuple[int, str]:
    done = subprocess.run(
        command, cwd=copy, capture_output=True, env=_environment(copy), check=False, text=True, encoding="utf-8"
    )
    return done.returncode, done.stdout


def _environment(copy: Path) -> dict[str, str]:
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return {**os.environ, **threads, "PYTHONPATH": str(copy), "DML2ONNX_SHARED": str(ROOT.parent / "shared")}


def wanted(options: argparse.Namespace) -> list[Mutant]:
    """The changes to try: those of a file, or drawn ones."""
    if options.survivors:
        trials: list[dict[str, Any]] = json.loads(options.survivors.read_text(encoding="utf-8"))
        return [Mutant(**trial["mutant"]) for trial in trials if not trial["seen"]]
    return list(draw(sources(options.only), options.count, options.seed))


def perform(options: argparse.Namespace) -> int:
    """Tries changes one by one; the exit code is 0 when so many of them were seen as is asked for."""
    python = prepare(".venv")
    trials: list[Trial] = []
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory) / "copy"
        subprocess.run(["git", "clone", "-q", ROOT, copy], check=True)
        for name in ("durations.json", "grimp"):
            if (ROOT / "build" / name).exists():
                (copy / "build").mkdir(exist_ok=True)
                (copy / "build" / name).symlink_to(ROOT / "build" / name)
        for mutant in wanted(options):
            trials.append(tried(mutant, copy, python, options.seconds))
            said = "seen" if trials[-1].seen else f"NOT SEEN\n{trials[-1].difference}"
            print(f"{len(trials):4} {mutant.path} {mutant.operator} {trials[-1].seconds:.0f} s: {said}", flush=True)
            RESULTS.parent.mkdir(exist_ok=True)
            RESULTS.write_text(json.dumps([asdict(trial) for trial in trials], indent=1), encoding="utf-8")
    seen = sum(trial.seen for trial in trials)
    share = seen / len(trials)
    print(f"{seen} of {len(trials)} changes were seen, {share:.1%}")
    return 0 if share >= options.least else 1


def main() -> int:
    parser = argparse.ArgumentParser(description="Changes code in small ways and counts how often tests see it.")
    parser.add_argument("--count", type=int, default=300, help="how many changes (300)")
    parser.add_argument("--seed", type=int, default=0, help="which changes are drawn")
    parser.add_argument("--only", default="", help="only files whose path has this text")
    parser.add_argument("--survivors", type=Path, help="a file of results: those that were not seen are tried again")
    parser.add_argument("--seconds", type=float, default=40, help="seconds of tests for each change (40)")
    parser.add_argument("--least", type=float, default=0.97, help="the share that has to be seen (0.97)")
    options = parser.parse_args()
    own = interpreter(ROOT / ".venv-mutants")
    if not prepare_mutants():
        return 2
    if Path(sys.prefix) != own.parent.parent:
        return subprocess.run([own, *sys.argv], check=False).returncode
    return perform(options)


if __name__ == "__main__":
    sys.exit(main())
