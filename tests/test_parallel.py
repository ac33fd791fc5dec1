"""Tests in processes that fork: each runs once and is reported as it would be, whatever becomes of its process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")

ROOT = Path(__file__).parent.parent
CONFTEST = """
import sys; sys.path.insert(0, {root!r})
import os, pytest
from tests import parallel

def pytest_configure(config):
    config.pluginmanager.register(parallel.Forks(config, 2, {{"test_slow.py::test_one": 9.0}}))

@pytest.fixture
def ran(request):
    with open({place!r}, "a") as file:
        file.write(f"{{os.environ[parallel.NAME]}} {{request.node.nodeid}}\\n")
"""


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., tuple[str, list[tuple[str, str]]]]:
    """Runs files of tests; what pytest says, and the process and the name of each test that ran, in order."""

    def start(*options: str, **files: str) -> tuple[str, list[tuple[str, str]]]:
        place = tmp_path / "ran.txt"
        (tmp_path / "conftest.py").write_text(CONFTEST.format(root=str(ROOT), place=str(place)), encoding="utf-8")
        for name, text in files.items():
            path = tmp_path / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"import os, sys, time, warnings, pytest\n{text}\n", encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", *options]
        said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False)
        rows = [line.split(maxsplit=1) for line in place.read_text(encoding="utf-8").splitlines()]
        return said.stdout + said.stderr, [(process, name) for process, name in rows]

    return start


MIXED = """
@pytest.fixture(scope="module")
def made():
    open("made.txt", "a").write("made ")
    yield
    open("made.txt", "a").write("taken down ")

def test_passes(ran, made): print("said")
def test_fails(ran, made): assert 1 == 2
def test_is_skipped(ran): pytest.skip("for a reason")
@pytest.mark.xfail
def test_is_expected(ran): assert 0
@pytest.mark.parametrize("n", range(5))
def test_cases(ran, made, n): pass
def test_warns(ran): warnings.warn("beware")
@pytest.fixture
def broken(): raise ValueError("in a fixture")
def test_error(ran, broken): pass
"""


def test_all_is_reported_as_without(run, tmp_path: Path) -> None:
    said, ran = run(test_mixed=MIXED, test_more="def test_more(ran): pass")
    assert "1 failed, 8 passed, 1 skipped, 1 xfailed, 1 warning, 1 error" in said
    assert "assert 1 == 2" in said
    assert "ValueError: in a fixture" in said
    assert "for a reason" in said
    assert "beware" in said
    assert (tmp_path / "made.txt").read_text(encoding="utf-8") == "made taken down "
    assert len({name for _, name in ran}) == len(ran) == 12
    assert {process for process, _ in ran} == {"fork0", "fork1"}


def test_a_file_is_run_by_one_process_and_the_slowest_first(run) -> None:
    wait = "def test_one(ran): time.sleep(0.5)\n"
    files = {f"test_{name}": wait + "def test_two(ran): pass" for name in ("a", "b", "slow")}
    _, ran = run(**files)
    processes = {name.partition("::")[0]: {p for p, other in ran if other[:8] == name[:8]} for _, name in ran}
    assert all(len(found) == 1 for found in processes.values())
    assert "test_slow.py::test_one" in {name for _, name in ran[:2]}


def test_what_shares_a_fixture_of_a_session_is_one_piece(run) -> None:
    conftest = '@pytest.fixture(scope="session")\ndef shared(): time.sleep(0.2)'
    use = "def test_it(ran, shared): time.sleep(0.2)"
    other = "def test_other(ran): time.sleep(0.8)"
    _, ran = run(a__in__conftest=conftest, a__in__test_a=use, a__in__test_b=use, test_other=other)
    assert len({process for process, name in ran if name.startswith("a/in/")}) == 1


@pytest.mark.parametrize("end", ["os._exit(3)", "os.kill(os.getpid(), 9)"])
def test_a_process_that_dies_costs_its_test_and_no_other(run, end: str) -> None:
    text = f"def test_before(ran): pass\ndef test_dies(ran): {end}\ndef test_after(ran): pass"
    said, ran = run(test_a=text, test_b="def test_b(ran): pass")
    assert "1 failed, 3 passed" in said
    assert f"the process ended with {'3' if 'exit' in end else '-9'} while it ran test_a.py::test_dies" in said
    assert sorted(name for _, name in ran) == [
        "test_a.py::test_after",
        "test_a.py::test_before",
        "test_a.py::test_dies",
        "test_b.py::test_b",
    ]


def test_what_breaks_a_process_is_shown(run) -> None:
    broken = 'def pytest_runtest_protocol(item):\n    if item.name == "test_it": raise RuntimeError("from inside")'
    said, _ = run(conftest_of__conftest=broken, conftest_of__test_a="def test_it(ran): pass\ndef test_after(ran): pass")
    assert "1 failed, 1 passed" in said
    assert "RuntimeError: from inside" in said


def test_a_process_that_dies_without_a_test_is_an_error(run, tmp_path: Path) -> None:
    """No test is left out unseen."""
    (tmp_path / "ran.txt").touch()
    dies = 'def pytest_plugin_registered(plugin):\n    if type(plugin).__name__ == "_Runner": os._exit(4)'
    said, ran = run("-p", "dying", dying=dies, test_a="def test_it(ran): pass")
    assert "RuntimeError: a process ended with 4 and ran no test" in said
    assert "passed" not in said
    assert ran == []


def test_it_stops_at_the_first_failure_if_asked_to(run) -> None:
    later = "\n".join(f"def test_{n}(ran): time.sleep(0.2)" for n in range(50))
    said, ran = run("-x", test_a="def test_fails(ran): assert 0", test_b=later)
    assert "1 failed" in said
    assert "stopping after 1 failures" in said
    assert len(ran) < 30


def test_a_test_that_takes_too_long_ends_alone(run) -> None:
    said, _ = run("--timeout=1", test_a="def test_hangs(ran): time.sleep(60)\ndef test_after(ran): pass")
    assert "1 failed, 1 passed" in said
    assert "Timeout" in said
