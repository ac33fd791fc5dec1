"""Selects the tests and generators affected by a change, nearest first, for ``scripts/test.py --fast``.

``scripts/test.py`` without options runs all tests except slow ones (``tests/slow.txt``) that a change does not affect.
"""

from __future__ import annotations

import argparse
import ast
import functools
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import grimp
from _environment import ROOT, run

TESTS = ROOT / "tests"
DURATIONS = ROOT / "build" / "durations.json"
"""Seconds that each test file took when it was last run, which ``tests/conftest.py`` keeps."""
SLOW = TESTS / "slow.txt"
"""Test functions that take more than ``LIMIT`` CPU seconds for all their cases, with these seconds.

A whole file is listed if a fixture takes the time, such as one that compiles a program.
"""
LEFT_OUT = ROOT / "build" / "left_out.txt"
"""The slow functions that the last run skipped."""
LIMIT = 1.5
UNKNOWN_SECONDS = 3.0
"""Assumed time of a test file that was never run here."""
PACKAGES = ("dml2onnx", "tests")
TEXTS = "scripts/generate_texts.py"
"""The generator that reads the texts of all files."""
FORMS = "scripts/generate_forms.py"
"""The generator that compiles every operator for every target."""
FINDINGS = "scripts/generate_findings.py"
"""The generator that writes the texts of codes and findings."""
FIRST = {
    "schemas/": ("tests/test_coverage.py", "tests/test_schemas.py"),
    "schemas/targets/": (FORMS, FINDINGS),
    "dml2onnx/codes/": (FINDINGS,),
}
"""Tests and generators that list what is missing after a change of these files, and so come before all others."""
COMPILING = ("emitter", "legalise", "lowering", "buffer_views", "optimizer_barriers", "passes")
"""Packages of the graph of imports."""
MOST_USERS = 12
"""Tests of importers count as affected if a changed module has at most this many importers."""
FEW = 3
"""Longest import chain from a generator to a changed module; longer ones connect everything."""


def changed_files(since: str | None = None) -> list[str]:
    """Files that differ from a commit, relative to the repository's root.

    Without a commit: uncommitted changes, or else those of the last commit.
    """
    if since is not None:
        return sorted({*_git("diff", "--name-only", since), *_untracked()})
    uncommitted = {*_git("diff", "--name-only", "HEAD"), *_untracked()}
    return sorted(uncommitted or _git("diff", "--name-only", "HEAD~1", "HEAD"))


def _untracked() -> list[str]:
    return _git("ls-files", "--others", "--exclude-standard")


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=True)
    return done.stdout.splitlines()


def test_files() -> list[str]:
    """All test files."""
    return sorted(path.relative_to(ROOT).as_posix() for path in TESTS.rglob("test_*.py"))


@functools.cache
def _imports() -> grimp.ImportGraph:
    return grimp.build_graph(*PACKAGES, cache_dir=str(ROOT / "build" / "grimp"))


def generators() -> list[str]:
    """All scripts that can compare their output with the existing files."""
    return sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "scripts").glob("generate_*.py"))


@functools.cache
def imported(generator: str) -> frozenset[str]:
    """Modules of the package that a script imports, or imports names from."""
    tree = ast.parse((ROOT / generator).read_text(encoding="utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    names = {f"{node.module}.{name.name}" for node in found for name in node.names}
    return frozenset((names | {str(node.module) for node in found}) & _imports().modules)


@functools.cache
def text_of(test: str) -> str:
    return (ROOT / test).read_text(encoding="utf-8")


@functools.cache
def taken_from(test: str, package: str) -> frozenset[str]:
    """Names that a test file imports from a package."""
    found = re.search(rf"^from {re.escape(package)} import (\([^)]*\)|.*)", text_of(test), re.MULTILINE)
    return frozenset(re.findall(r"\w+", found[1]) if found else ())


@functools.cache
def defined(module: str) -> frozenset[str]:
    """The public functions and classes of a module."""
    path = ROOT / module.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    nodes = ast.parse(file.read_text(encoding="utf-8")).body if file.exists() else []
    kinds = (ast.FunctionDef, ast.ClassDef)
    return frozenset(node.name for node in nodes if isinstance(node, kinds) and not node.name.startswith("_"))


def module_of(path: str) -> str:
    """The name of the module in a file."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def path_of(module: str) -> str:
    """The file of a module."""
    return module.replace(".", "/") + ".py"


class Nearness:
    """Test files by their distance from changed files."""

    def __init__(self, changed: Iterable[str]) -> None:
        self.changed = list(changed)
        self.tests = test_files()
        self.graph = _imports()

    def ranks(self) -> list[Callable[[str], Iterable[str]]]:
        """Test files that a changed file concerns: each function those of one nearness, the nearest first."""
        nearest = [self.itself, self.namesakes, self.importers, self.users]
        return [*nearest, self.writers, self.neighbours, self.dependents]

    def itself(self, path: str) -> Iterable[str]:
        """A changed test."""
        return [path]

    def namesakes(self, path: str) -> Iterable[str]:
        """``tests/lowering/test_pooling_quantized.py`` of ``dml2onnx/lowering/pooling.py``; those that name a file."""
        parts = Path(path).with_suffix("").parts
        first = [name for start, names in FIRST.items() if path.startswith(start) for name in names]
        if parts[0] not in PACKAGES:
            return [*first, *self._naming(Path(path))]
        mirrored = {"/".join(["tests", *parts[1:-1], f"test_{parts[-1].lstrip('_')}"])}
        if len(parts) > 2:
            mirrored.add(f"tests/{parts[1]}/test_{parts[-1].lstrip('_')}")
        return [*first, *(test for test in self.tests if test.startswith(tuple(mirrored)))]

    def _naming(self, path: Path) -> Iterator[str]:
        for test in self.tests:
            text = text_of(test)
            if path.name in text or (path.parts[0] == "scripts" and f'"{path.stem}"' in text):
                yield test

    def importers(self, path: str) -> Iterable[str]:
        """Tests that import a changed module, or one of its names from its package."""
        module = module_of(path)
        if module not in self.graph.modules:
            return []
        named = [test for test in self.tests if self._takes(test, module)]
        return sorted({*map(path_of, self.graph.find_modules_that_directly_import(module)), *named})

    def _takes(self, test: str, module: str) -> bool:
        return not defined(module).isdisjoint(taken_from(test, module.rpartition(".")[0]))

    def users(self, path: str) -> Iterable[str]:
        """Tests with the names of modules that import a changed one, if these are few, such as for shared helpers."""
        module = module_of(path)
        if module not in self.graph.modules:
            return []
        using = [name for name in self.graph.find_modules_that_directly_import(module) if name.startswith(PACKAGES[0])]
        return [] if len(using) > MOST_USERS else [test for name in using for test in self.namesakes(path_of(name))]

    def writers(self, path: str) -> Iterable[str]:
        """Generators that use a changed module, over few others, or whose data changed."""
        if not path.endswith(".py"):
            return generators() if path.startswith("schemas/") else []
        if path.startswith("scripts/"):
            return [path]
        module = module_of(path)
        if module not in self.graph.modules:
            return []
        readers = [TEXTS] if path.startswith(PACKAGES[0]) else []
        readers += [FORMS] if path.startswith(tuple(f"{PACKAGES[0]}/{name}/" for name in COMPILING)) else []
        return [name for name in generators() if any(self._leads(used, module) for used in imported(name))] + readers

    def _leads(self, used: str, module: str) -> bool:
        chain = (used,) if used == module else self.graph.find_shortest_chain(used, module)
        return chain is not None and len(chain) <= FEW

    def neighbours(self, path: str) -> Iterable[str]:
        """Tests of the same package."""
        parts = Path(path).parts
        if parts[0] == "schemas":  # of operators or targets
            return [test for test in self.tests if test.startswith(f"tests/{parts[1]}/")]
        if path.endswith(".md"):  # has commands and programs
            return [test for test in self.tests if test.startswith("tests/docs/")]
        if parts[0] not in PACKAGES or len(parts) < 3:
            return [f"tests/test_{Path(path).stem}.py"]
        return [test for test in self.tests if test.startswith(f"tests/{parts[1]}/")]

    def dependents(self, path: str) -> Iterable[str]:
        """Tests that import something that imports a changed module."""
        module = module_of(path)
        if module not in self.graph.modules:
            return []
        return map(path_of, self.graph.find_downstream_modules(module))


def affected(changed: Iterable[str]) -> list[str]:
    """Test files and generators affected by changed files, nearest first, then quickest."""
    near = Nearness(changed)
    known = {*near.tests, *generators()}
    seconds = durations()
    order: dict[str, None] = {}
    for rank in near.ranks():
        found = {test for path in near.changed for test in rank(path)} & known
        order |= dict.fromkeys(sorted(found, key=lambda test: (seconds.get(test, UNKNOWN_SECONDS), test)))
    return list(order)


def slow() -> dict[str, float]:
    """The slow functions with their seconds."""
    rows = (line.split(maxsplit=1) for line in SLOW.read_text(encoding="utf-8").splitlines())
    return {name: float(seconds) for seconds, name in rows}


def left_out(changed: Iterable[str], budget: float) -> list[str]:
    """The slow functions to skip: all but affected ones, nearest first, within a budget of CPU seconds."""
    seconds = slow()
    left = dict(seconds)
    for test in affected(changed):
        for name in sorted(seconds, key=seconds.__getitem__):
            if name.partition("::")[0] == test and seconds[name] <= budget:
                budget -= left.pop(name)
    return list(left)


def write_slow() -> None:
    """Updates the list of slow functions from the times recorded here."""
    before = slow()
    measured: dict[str, float] = {**before, **_known().get("functions", {})}
    files = {name for name in before if "::" not in name}
    rows = {name: seconds for name, seconds in measured.items() if name.partition("::")[0] not in files}
    for file in files:  # keep the old time if fixtures were cached
        rows[file] = max(before[file], sum(each for name, each in measured.items() if name.startswith(f"{file}::")))
    rows = {name: seconds for name, seconds in rows.items() if seconds > LIMIT and is_there(name)}
    lines = (f"{seconds:.1f} {name}\n" for name, seconds in sorted(rows.items()))
    SLOW.write_text("".join(lines), encoding="utf-8", newline="\n")


def is_there(name: str) -> bool:
    """Whether the file exists, and defines or assigns the function."""
    file, _, function = name.partition("::")
    forms = (f"def {function.rpartition('::')[2]}(", f"\n{function} = ")
    return (ROOT / file).exists() and (not function or any(form in text_of(file) for form in forms))


def durations() -> dict[str, float]:
    """Recorded seconds of test files and generators."""
    known = _known()
    return {**known.get("all", {}), **known.get("each", {}), **known.get("generators", {})}


def function_seconds() -> dict[str, float]:
    """Recorded CPU seconds of test functions, all cases together."""
    return _known().get("functions", {})


def _known() -> dict[str, dict[str, float]]:
    known: dict[str, dict[str, float]] = json.loads(DURATIONS.read_text(encoding="utf-8")) if DURATIONS.exists() else {}
    return known


def compare(generator: str) -> int:
    """Runs a generator with --check, and records its seconds."""
    started = time.perf_counter()
    code = run([sys.executable, generator, "--check"])
    known = _known()
    known["generators"] = {**known.get("generators", {}), generator: round(time.perf_counter() - started, 1)}
    DURATIONS.parent.mkdir(exist_ok=True)
    DURATIONS.write_text(json.dumps(known, indent=0, sort_keys=True), encoding="utf-8")
    return code


def within(tests: list[str], budget: float, workers: int) -> tuple[list[str], list[str]]:
    """The tests that fit into a budget of seconds on some processes, and the others."""
    seconds = durations()
    taken: list[str] = []
    left: list[str] = []
    total = 0.0
    for test in tests:
        expected = seconds.get(test, UNKNOWN_SECONDS) / workers
        if total + expected <= budget or not taken:
            taken.append(test)
            total += expected
        else:
            left.append(test)
    return taken, left


def beside(budget: float, chosen: Iterable[str]) -> float:
    """The rest of a budget after generators, at least a third of it."""
    seconds = durations()
    taken = sum(seconds.get(path, UNKNOWN_SECONDS) for path in chosen if path.startswith("scripts/"))
    return max(budget - taken, budget / 3)


def longer_than(seconds: float) -> list[str]:
    """Functions that take longer than these seconds."""
    return [name for name, each in slow().items() if each > seconds]


def leave_out(names: Iterable[str]) -> str:
    """The pytest option that skips functions.

    It is a single argument: pytest would take a separate path for a test path.
    """
    LEFT_OUT.parent.mkdir(exist_ok=True)
    LEFT_OUT.write_text("\n".join(names), encoding="utf-8")
    return f"--leave-out={LEFT_OUT}"


def run_quick(changed: list[str], budget: float, arguments: list[str]) -> int:
    """Runs all tests except slow ones that a change does not affect."""
    seconds, left = slow(), left_out(changed, budget)
    total = sum(seconds[name] for name in left)
    print(
        f"skipped {len(left)} of {len(seconds)} slow functions, which take {total:.0f} CPU seconds, not affected or"
        f" beyond the budget of {len(changed)} changed files: {LEFT_OUT.relative_to(ROOT)}; --all runs them",
        flush=True,
    )
    return run([sys.executable, "-m", "pytest", leave_out(left), *arguments])


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Runs the tests that a change affects, the nearest first.", allow_abbrev=False
    )
    parser.add_argument("--since", help="changes since a commit; default: uncommitted changes, or else the last commit")
    parser.add_argument("--seconds", type=float, default=40, help="the expected seconds of the selected tests (40)")
    parser.add_argument("--within", type=float, help="stop after this many seconds, and skip the rest")
    parser.add_argument("--workers", type=int, default=1, help="processes of pytest")
    parser.add_argument("--slow", type=float, help="all quick tests, and slow ones for this many CPU seconds")
    parser.add_argument("--write-slow", action="store_true", help="only update tests/slow.txt, and run nothing")
    options, arguments = parser.parse_known_args()
    if options.write_slow:
        write_slow()
        return 0
    changed = changed_files(options.since)
    if options.slow is not None:
        return run_quick(changed, options.slow, arguments)
    chosen, left = within(affected(changed), options.seconds, options.workers)
    tests = [path for path in chosen if path.startswith("tests/")]
    print(f"{len(changed)} changed files concern {len(chosen) + len(left)} files of tests and generators", end="")
    print(f"; {len(left)} are left out for time, the nearest {left[0]}" if left else "", flush=True)
    command = [sys.executable, "-m", "pytest", "--cases", "each", "-p", "no:cacheprovider", *arguments]
    if options.within is not None:  # whatever a file took when it was last run, if it ever was
        left_for_tests = beside(options.within, chosen)
        command += ["--within", str(left_for_tests), "-rs", leave_out(longer_than(left_for_tests / 2))]
    if options.workers > 1:
        command += ["-n", str(options.workers)]
    code = run([*command, *tests]) if tests else 0
    goes_on = code == 0 or "-x" not in arguments
    differ = [path for path in chosen if path not in tests and goes_on and compare(path)]
    return code or (1 if differ else 0)


if __name__ == "__main__":
    sys.exit(main())
