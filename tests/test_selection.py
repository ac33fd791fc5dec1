"""The selection of cases of a test, and of tests that a change affects."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.selection import FEW, each_value_once, without

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

_affected = importlib.import_module("_affected")

CASES = st.lists(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("0123456"))), max_size=40)


@given(CASES)
def test_every_value_is_covered(cases):
    places = each_value_once(cases)
    assert places == sorted(set(places))
    assert {pair for place in places for pair in cases[place]} == {pair for case in cases for pair in case}


def test_a_table_of_operators_and_types_keeps_a_case_of_each():
    cases = [[("operator", str(o)), ("data_type", str(t))] for o, t in product(range(60), range(10))]
    assert len(each_value_once(cases)) == 60


def test_few_cases_are_all_kept():
    assert each_value_once([[("a", "1")]] * FEW) == list(range(FEW))


def test_equal_cases_run_once():
    assert each_value_once([[("a", "1")]] * (FEW + 1)) == [0]


PROGRAM = """
import pytest
from hypothesis import given, settings, strategies as st

@pytest.mark.parametrize("data_type", ["INT8", "INT16", "FLOAT32"])
@pytest.mark.parametrize("operator", ["ADD", "MULTIPLY", "RELU"])
def test_numbers(operator, data_type):
    pass

@pytest.mark.parametrize("fields", [{"Axis": n} for n in range(9)])
def test_fields(fields):
    pass

def test_alone():
    pass

@pytest.mark.parametrize("level", range(5))
@pytest.mark.parametrize("fields", [{"Axis": n} for n in range(6)])
def test_product(fields, level):
    pass

@pytest.mark.parametrize("level", range(4))
@pytest.mark.parametrize("fields", [{"Axis": n} for n in range(6)])
def test_small_product(fields, level):
    pass

drawn = []

@settings(max_examples=250)
@given(st.integers())
def test_random(number):
    drawn.append(number)

def test_drawn():
    print(f"{len(drawn)} were drawn")
"""


# --one-in 4 keeps three cases of nine, one of three, two of six, six of 24, and all functions without cases
@pytest.mark.parametrize(
    ("options", "count", "left"),
    [
        ([], 9 + 9 + 30 + 24 + 3, ""),
        (["--cases", "each"], 3 + 9 + 6 + 24 + 3, "30 cases are left out"),
        (["--cases", "each", "--one-in", "4"], 1 + 3 + 2 + 6 + 3, "30 deselected"),
    ],
)
def test_cases_that_pytest_runs(tmp_path, options, count, left):
    (tmp_path / "conftest.py").write_text(
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from tests.conftest import pytest_addoption, pytest_collection_modifyitems, pytest_generate_tests\n"
        "from tests.conftest import pytest_report_collectionfinish\n",
        encoding="utf-8",
    )
    (tmp_path / "test_program.py").write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-s", *options]
    output = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=True).stdout
    assert f"{50 if options else 250} were drawn" in output
    assert f"{count} passed" in output
    assert ("left out" in output) == bool(options)
    assert left in output


class TestAffected:
    @pytest.mark.parametrize(
        ("changed", "first"),
        [
            ("tests/lowering/test_pooling.py", "tests/lowering/test_pooling.py"),
            ("dml2onnx/lowering/pooling.py", "tests/lowering/test_pooling"),
            ("dml2onnx/wire.py", "tests/test_wire.py"),
            ("dml2onnx/checks/structure.py", "tests/test_mistakes.py"),  # imports it
            ("dml2onnx/onnx_model/peak_memory.py", "tests/test_limits.py"),  # imports peak from the package
            ("dml2onnx/legalise/quirks/reductions.py", "tests/legalise/"),
            ("schemas/decisions.md", "tests/"),
        ],
    )
    def test_the_nearest_come_first(self, changed, first, monkeypatch):
        monkeypatch.setattr(_affected, "durations", dict)
        nearest = _affected.affected([changed])[:2]
        assert any(item.startswith(first) for item in nearest)

    @pytest.mark.parametrize(
        ("changed", "concerned"),
        [
            ("schemas/operators/gemm.json", {"tests/test_schemas.py", "tests/test_coverage.py"}),
            ("schemas/operators/of_today.json", {"tests/test_schemas.py", "tests/test_coverage.py"}),
            ("schemas/targets/copy.json", {"scripts/generate_forms.py", "scripts/generate_findings.py"}),
            ("dml2onnx/codes/checking.py", {"scripts/generate_findings.py"}),
        ],
    )
    def test_what_lists_the_missing_parts_is_within_the_budget(self, changed, concerned, monkeypatch):
        monkeypatch.setattr(_affected, "durations", lambda: {"tests/test_coverage.py": 9.0})
        assert concerned <= set(_affected.within(_affected.affected([changed]), 40, 1)[0])

    def test_changes_of_targets_run_their_tests(self):
        assert "tests/targets/test_kernels.py" in _affected.affected(["schemas/targets/qnn-npu.json"])

    @pytest.mark.parametrize(
        ("changed", "generator"),
        [
            ("dml2onnx/reference/gemm.py", "scripts/generate_bounds.py"),
            ("dml2onnx/codes/checking.py", "scripts/generate_findings.py"),
            ("dml2onnx/legalise/resizing.py", "scripts/generate_texts.py"),
            ("schemas/operators/gemm.json", "scripts/generate_operator_index.py"),
            ("tests/passes/test_moves.py", None),
        ],
    )
    def test_generated_files_are_compared_if_a_change_may_affect_them(self, changed, generator):
        found = [path for path in _affected.affected([changed]) if path.startswith("scripts/")]
        assert generator in found if generator else not found

    @pytest.mark.parametrize("package", sorted(path.name for path in Path(_affected.ROOT, "dml2onnx").iterdir()))
    def test_every_package_has_tests_that_concern_it(self, package, monkeypatch):
        monkeypatch.setattr(_affected, "durations", dict)
        files = sorted(Path(_affected.ROOT, "dml2onnx", package).rglob("*.py"))
        if files:
            changed = [file.relative_to(_affected.ROOT).as_posix() for file in files]
            assert _affected.affected(changed)

    def test_only_the_nearest_exceeds_the_budget(self, monkeypatch):
        monkeypatch.setattr(_affected, "durations", lambda: {"a": 50.0, "b": 9.0, "c": 30.0})
        assert _affected.within(["a", "b", "c"], 40, 1) == (["a"], ["b", "c"])
        assert _affected.within(["b", "c", "a"], 40, 1) == (["b", "c"], ["a"])
        assert _affected.within(["a", "b", "c"], 40, 2) == (["a", "b"], ["c"])


class TestSlow:
    @pytest.fixture
    def table(self, monkeypatch, tmp_path):
        rows = {
            "tests/passes/test_folding.py::test_a": 30.0,
            "tests/passes/test_folding.py::test_b": 2.0,
            "tests/passes/test_signed_weights.py": 10.0,
            "tests/test_squeezenet.py::TestRun::test_c": 3.0,
            "tests/cli/test_check.py::test_d": 4.0,
        }
        monkeypatch.setattr(_affected, "SLOW", tmp_path / "slow.txt")
        monkeypatch.setattr(_affected, "DURATIONS", tmp_path / "durations.json")
        (tmp_path / "slow.txt").write_text("".join(f"{seconds} {name}\n" for name, seconds in rows.items()))

    def test_a_change_runs_the_nearest_that_fit(self, table):
        left = _affected.left_out(["dml2onnx/passes/signed_weights.py"], 13)
        assert "tests/passes/test_signed_weights.py" not in left  # comes first, since it has the same name
        assert "tests/passes/test_folding.py::test_b" not in left
        assert "tests/passes/test_folding.py::test_a" in left

    def test_unaffected_tests_are_left_out(self, table):
        assert _affected.left_out(["CITATION.cff"], 1000) == list(_affected.slow())

    def test_it_is_written_from_measured_times(self, table):
        folding, weights = _affected.TESTS / "passes" / "test_folding.py", "tests/passes/test_signed_weights.py"
        name = next(line[4:].partition("(")[0] for line in folding.read_text().splitlines() if line.startswith("def "))
        measured = {f"tests/passes/test_folding.py::{name}": 9.0, f"{weights}::test_x": 6.0, f"{weights}::test_y": 7.0}
        _affected.DURATIONS.write_text(json.dumps({"functions": {**measured, "tests/test_wire.py::test_none": 9.0}}))
        _affected.write_slow()
        assert _affected.slow() == {f"tests/passes/test_folding.py::{name}": 9.0, weights: 13.0}

    def test_its_tests_exist(self):
        names = _affected.slow()
        assert [name for name in names if not _affected.is_there(name)] == []
        assert [name for name in names if "::" in name and name.partition("::")[0] in names] == []
        assert list(names) == sorted(names)

    def test_pytest_leaves_functions_and_files_out(self):
        items: list[Any] = [
            SimpleNamespace(nodeid=name) for name in ("a.py::f[1]", "a.py::f[2]", "a.py::f2", "b.py::T::g", "c.py::f")
        ]
        kept, left = without(items, frozenset({"a.py::f", "b.py"}))
        assert [item.nodeid for item in kept] == ["a.py::f2", "c.py::f"]
        assert [item.nodeid for item in left] == ["a.py::f[1]", "a.py::f[2]", "b.py::T::g"]
