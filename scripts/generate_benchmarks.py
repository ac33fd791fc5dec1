"""Writes the table of benchmarks in README.md from scripts/benchmarks.json, the figures of the last runs.

python scripts/generate_benchmarks.py                     writes the table
python scripts/generate_benchmarks.py --check             fails if the table is out of date
python scripts/generate_benchmarks.py --measure [NAME]    runs all or the named benchmarks first
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from _figures import Figure, Run, number, read
from _generated import with_section

SCRIPTS = Path(__file__).resolve().parent
README = SCRIPTS.parent / "README.md"
FIGURES = SCRIPTS / "benchmarks.json"


def benchmarks() -> list[str]:
    """The scripts that can write their figures as JSON."""
    return sorted(path.name for path in SCRIPTS.glob("bench_*.py") if "--json FILE" in _documented(path))


def _documented(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def table(runs: dict[str, Run]) -> str:
    """A row for each script, followed by the machines and versions."""
    lines = ["| script | measures | last figures | when |", "|---|---|---|---|"]
    for name, run in runs.items():
        measures = _documented(SCRIPTS / name).partition("\n")[0].replace("``", "`").rstrip(".")
        figures = "; ".join(summaries(run.figures))
        load = "" if run.load is None else f", load {run.load:g}"
        lines.append(f"| `{name}` | {measures} | {figures} | {run.day}{load} |")
    places: dict[str, list[str]] = {}
    for name, run in runs.items():
        versions = ", ".join(f"{package} {version}" for package, version in run.versions.items())
        places.setdefault(f"{run.machine}; {versions}", []).append(f"`{name}`")
    lines.append("")
    lines += [f"{', '.join(names)}: {place}." if len(places) > 1 else f"{place}." for place, names in places.items()]
    return "\n".join(lines)


def summaries(figures: Sequence[Figure]) -> Iterator[str]:
    """Yields the range of figures with the same unit and target, and each figure that misses its target."""
    kinds: dict[tuple[object, ...], list[Figure]] = {}
    for item in figures:
        kinds.setdefault((item.unit, item.most, item.least), []).append(item)
    for several in kinds.values():
        first, missed = several[0], [item for item in several if not item.is_met]
        if len(several) == 1:
            yield str(first)
            continue
        low, high = (number(choose(item.value for item in several)) for choose in (min, max))
        goal = f", target: {first.goal}, {len(several) - len(missed)} of {len(several)} met" if first.goal else ""
        yield f"{low if low == high else f'{low} to {high}'} {first.unit}{goal}"
        for item in missed:
            yield f"missed by {item.what}: {number(item.value)}{f' ({item.reason})' if item.reason else ''}"


def updated(text: str, runs: dict[str, Run]) -> str:
    return with_section(text, "scripts/generate_benchmarks.py", f"{table(runs)}\n")


def measure(names: list[str]) -> None:
    """Runs benchmarks one after the other; missed targets are recorded, and other failures exit."""
    for name in names:
        print(f"== {name}", flush=True)
        code = subprocess.run([sys.executable, str(SCRIPTS / name), "--json", str(FIGURES)], check=False).returncode
        if code not in (0, 1):
            sys.exit(f"{name} failed with exit code {code}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes the table of benchmarks in README.md.")
    parser.add_argument("--check", action="store_true", help="only compare")
    parser.add_argument("--measure", nargs="*", choices=benchmarks(), metavar="NAME", help="run these first, or all")
    options = parser.parse_args()
    if options.measure is not None:
        measure(options.measure or benchmarks())
    before = README.read_text(encoding="utf-8")
    after = updated(before, read(FIGURES))
    if options.check:
        if before != after:
            print("README.md is out of date: python scripts/generate_benchmarks.py")
        return int(before != after)
    README.write_text(after, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
