"""The table of benchmarks in README.md: figures with their targets, the machine and the date."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
sys.path.insert(0, str(SCRIPTS))

generate: Any = importlib.import_module("generate_benchmarks")
figures: Any = importlib.import_module("_figures")
Figure, Run, keep, read, report = figures.Figure, figures.Run, figures.keep, figures.read, figures.report
FAST = Figure("one", 1.25, "times cp", most=1.3, reason="never said")
SLOW = Figure("two", 1.75, "times cp", most=1.3, reason="the disk takes 1.5")


def test_figures_show_their_targets_and_causes() -> None:
    assert str(FAST) == "one: 1.25 times cp (target: at most 1.3, met)"
    assert str(SLOW) == "two: 1.75 times cp (target: at most 1.3, missed: the disk takes 1.5)"
    assert str(Figure("check", 9, "times", least=10)) == "check: 9.00 times (target: at least 10, missed)"
    assert str(Figure("run", 12345.6, "MiB")) == "run: 12,346 MiB"


def test_figures_of_other_scripts_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "figures.json"
    keep(file, "bench_size.py", Run((SLOW,), "2026-01-01", "a machine", {"Python": "3.11"}, 1.5))
    monkeypatch.setattr(sys, "argv", ["scripts/bench_batch.py"])
    assert report([FAST], file) == 0
    assert report([FAST, SLOW], file) == 1
    runs = read(file)
    assert list(runs) == ["bench_batch.py", "bench_size.py"]
    assert runs["bench_size.py"] == Run((SLOW,), "2026-01-01", "a machine", {"Python": "3.11"}, 1.5)
    assert runs["bench_batch.py"].figures == (FAST, SLOW)
    assert runs["bench_batch.py"].versions["numpy"] in json.dumps(json.loads(file.read_text()))


def test_the_table_has_ranges_and_missed_targets() -> None:
    run = Run((FAST, SLOW, Figure("run", 3, "MiB", 4)), "2026-01-01", "a machine", {"Python": "3.11"}, 1.5)
    rows = generate.table({"bench_size.py": run}).splitlines()
    assert rows[2].endswith(
        "| 1.25 to 1.75 times cp, target: at most 1.3, 1 of 2 met; missed by two: 1.75 (the disk takes 1.5); "
        "run: 3.00 MiB (target: at most 4, met) | 2026-01-01, load 1.5 |"
    )
    assert rows[-1] == "a machine; Python 3.11."
    text = "before\n<!-- made by scripts/generate_benchmarks.py -->\nold\n<!-- end -->\nafter"
    made = generate.updated(text, {"bench_size.py": run})
    assert made.startswith("before\n")
    assert made.endswith("\nafter")
    assert "old" not in made
    assert generate.updated(made, {"bench_size.py": run}) == made


def test_every_benchmark_with_a_target_has_its_figures_in_the_table() -> None:
    assert set(read(generate.FIGURES)) == set(generate.benchmarks())
    assert len(generate.benchmarks()) >= 8


def test_a_benchmark_keeps_its_figures(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    command = [sys.executable, str(SCRIPTS / "bench_startup.py"), "--repeat", "0", "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = read(file)["bench_startup.py"].figures
    assert done.returncode == (0 if all(item.is_met for item in found) else 1), done.stderr
    assert done.stdout.splitlines()[-len(found) :] == [str(item) for item in found]
