"""The scripts that set up, check, demonstrate and measure the project."""

from __future__ import annotations

import ast
import gc
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import types
import typing
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from packaging.requirements import Requirement

import dml2onnx
from tests.test_environments import pins

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "scripts"


class TestHeaders:
    @pytest.fixture
    def module(self, script, monkeypatch, tmp_path):
        module = script("_cpp_headers")
        moved = [replace(item, directory=tmp_path / item.directory.name) for item in module.PACKAGES]
        monkeypatch.setattr(module, "PACKAGES", moved)
        return module

    @staticmethod
    def package(names):
        """Returns a Debian package of these files, each of which contains its own name."""
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w:xz") as archive:
            for name in names:
                item = tarfile.TarInfo(name)
                item.size = len(name)
                archive.addfile(item, io.BytesIO(name.encode()))
        members = {"debian-binary": b"2.0\n", "control.tar.xz": b"odd", "data.tar.xz": data.getvalue()}
        parts = [b"!<arch>\n"]
        for name, contents in members.items():
            parts.append(f"{name:<16}{0:<12}{0:<6}{0:<6}{0o100644:<8}{len(contents):<10}`\n".encode())
            parts += [contents, b"\n" * (len(contents) % 2)]
        return b"".join(parts)

    def test_only_the_headers_are_taken(self, module, tmp_path):
        package = self.package([f"{module.INSIDE}one.h", f"{module.INSIDE}deeper/two.h", "./usr/share/three.h"])
        digest = hashlib.sha256(package).hexdigest()
        replace(module.OLDER, directory=tmp_path / "out", sha256=digest).unpack(package)
        assert [path.name for path in (tmp_path / "out").iterdir()] == ["one.h"]
        assert (tmp_path / "out" / "one.h").read_text() == f"{module.INSIDE}one.h"

    def test_another_package_is_refused(self, module, tmp_path):
        with pytest.raises(ValueError, match="has the SHA-256"):
            replace(module.OLDER, directory=tmp_path / "out").unpack(self.package([]))
        assert not (tmp_path / "out").exists()


class TestMutants:
    BEFORE = """
LIMIT = 3

def outer(n):
    return (lambda m: m + 1)(n)

class Thing:
    def size(self):
        return LIMIT
"""

    def changed(self, module, old, new):
        codes = [compile(text, "changed.py", "exec") for text in (self.BEFORE, self.BEFORE.replace(old, new))]
        return codes[0], module.changed_functions(*codes)

    @pytest.mark.parametrize(
        ("old", "new", "answers"), [("m + 1", "m - 1", (0, 3)), ("return LIMIT", "return 4", (2, 4))]
    )
    def test_a_change_within_functions_replaces_their_code(self, script, old, new, answers):
        module = script("_warm_tests")
        names: dict[str, typing.Any] = {}
        before, functions = self.changed(module, old, new)
        exec(before, names)
        assert (names["outer"](1), names["Thing"]().size()) == (2, 3)
        known = module.functions_by_key("changed.py")
        gc.freeze()  # as the server does; the collector lists no frozen objects
        assert module.replace_code(known, functions)
        gc.unfreeze()
        assert (names["outer"](1), names["Thing"]().size()) == answers

    def test_changes_of_module_level_code_are_not(self, script):
        module = script("_warm_tests")
        assert self.changed(module, "LIMIT = 3", "LIMIT = 4")[1] is None
        assert self.changed(module, "n", "n")[1] == {}

    def test_cases_are_ordered_by_group_and_function(self, script):
        others = [f"near.py::c[{number}]" for number in range(9)]
        own = ["far.py::a[odd]", "far.py::a[owned]", "far.py::b", "near.py::c", "near.py::e", "near.py::none"]
        items = [types.SimpleNamespace(nodeid=name) for name in [*others, *own]]
        groups = [{"near.py::e"}, {"far.py::a[odd]", "far.py::a[owned]", "far.py::b", "near.py::c"}, others]
        order = [item.nodeid for item in script("_warm_tests").in_order(items, groups, [{"near.py"}], "in owned:")]
        assert order[:2] == ["near.py::e", "near.py::c"]
        assert order[2:] == ["far.py::a[owned]", "far.py::b", "far.py::a[odd]", *others]

    def test_the_lines_of_a_statement(self, script):
        text = "def f(x):\n    if (x or\n        not x):\n        return [\n            x\n        ]\n"
        statement_at = script("_test_lines").statement_at
        assert [tuple(statement_at(text, line)) for line in (1, 3, 5)] == [(1,), (2, 3), (4, 5, 6)]

    def test_invalid_python_is_no_change(self, script):
        is_code = script("mutants").is_code
        assert is_code("def double(x, *, by=2): return x * by")
        assert not is_code("def double(x, +, by=2): return x * by")

    def test_known_changes_are_of_lines_that_exist(self, script):
        known = script("mutants").KNOWN
        assert [item.path for item in known if item.made((ROOT / item.path).read_text(encoding="utf-8")) is None] == []

    def test_equivalent_changes_are_of_lines_that_exist(self):
        rows = json.loads((ROOT / "tests" / "data" / "equivalent_changes.json").read_text(encoding="utf-8"))
        assert rows == sorted(rows, key=lambda row: (row["path"], row["before"], row["after"]))
        for row in rows:
            lines = [line.strip() for line in (ROOT / row["path"]).read_text(encoding="utf-8").splitlines()]
            assert row["before"] in lines
            assert len(row["reason"]) > 20

    def test_lines_of_types_and_slots_are_skipped(self, script):
        same = script("mutants").NO_EFFECT
        assert same.sub("", "@dataclass(slots=True)") == same.sub("", "@dataclass(slots=False)")
        assert same.sub("", "@dataclass(frozen=True)") != same.sub("", "@dataclass(frozen=False)")


def test_texts_exclude_docstrings_and_types(script):
    says = 'print(f"seven {x} eight " "nine", "two words")'
    code = f'def say(x: "one two three") -> None:\n    """Four five six."""\n    {says}'
    assert list(script("generate_texts").texts_of(ast.parse(code))) == ["seven _ eight nine"]


class TestTest:
    def test_all_steps_run_despite_failures(self, script, capfd):
        module = script("test")
        good, bad = [sys.executable, "-c", ""], [sys.executable, "-c", "raise SystemExit(3)"]
        outcomes = module.perform([module.Step("one", good), module.Step("two", bad), module.Step("three", good)])
        assert [outcome.passed for outcome in outcomes] == [True, False, True]
        output = capfd.readouterr().out
        assert "two: FAILED with exit code 3" in output
        assert "three: passed" in output

    @pytest.fixture
    def bare(self, script, monkeypatch, tmp_path):
        """The script with existing environments and passing steps, and the list of its steps."""
        module = script("test")
        monkeypatch.setattr(module, "RUNS", tmp_path / "runs")  # the current run may be recording into the real one
        steps: list = []

        def perform(*parts):
            done = [step for part in parts for step in part]
            steps.extend(done)
            return [module.Outcome(step.title, True, 1.5) for step in done]

        monkeypatch.setattr(module, "prepare", lambda *names, **options: Path(sys.executable))
        monkeypatch.setattr(module, "prepare_tool", lambda lock: True)
        monkeypatch.setattr(module, "fetch", lambda: True)
        monkeypatch.setattr(module, "_has_vulkan", lambda: False)
        monkeypatch.setattr(module, "perform", perform)
        return module, steps

    @pytest.mark.parametrize(("failed", "code", "line"), [([], 0, "steps passed"), (["mypy"], 1, "FAILED: mypy (1 of")])
    def test_the_exit_code_and_the_last_line_show_the_outcome(self, bare, monkeypatch, capsys, failed, code, line):
        module, _ = bare

        def perform(*parts):
            return [module.Outcome(step.title, step.title not in failed, 2.25) for part in parts for step in part]

        monkeypatch.setattr(module, "perform", perform)
        monkeypatch.setattr(sys, "argv", ["test.py"])
        assert module.main() == code
        output = capsys.readouterr().out
        assert line in output.splitlines()[-1]
        assert "     2.2  mypy tests" in output
        assert ("mypy  FAILED" in output) == bool(failed)

    @pytest.mark.parametrize("arguments", [[], ["--fast"], ["--all"], ["--exhaustive"]])
    def test_steps_of_each_option(self, bare, monkeypatch, arguments):
        module, steps = bare
        monkeypatch.setattr(sys, "argv", ["test.py", *arguments])
        assert module.main() == 0
        titles = {step.title for step in steps}
        thorough = arguments in (["--all"], ["--exhaustive"])
        assert ("tests that the change concerns" in titles) == (arguments == ["--fast"])
        assert ("check_release.py" in titles) == thorough
        assert ("models on other runtimes" in titles) == thorough
        for which in ("oldest", "newest"):
            assert (f"pytest with the {which} onnxruntime" in titles) == (sys.platform == "linux" and thorough)
        one_in = {str(step.command[step.command.index("--one-in") + 1]) for step in steps if "--one-in" in step.command}
        if sys.platform == "linux":
            assert one_in == ({"3", "4"} if arguments == ["--all"] else {"1"} if thorough else set())
        cases = "all" if arguments == ["--exhaustive"] else "each"
        found = [(step.command[-1], "--slow" in step.command) for step in steps if step.title == "pytest"]
        assert found == ([] if arguments == ["--fast"] else [(cases, not thorough)])
        skipped = [arg for step in steps for arg in step.command if str(arg).startswith("tests/docs/test_pages.py::")]
        # check_release.py runs them, except on Windows
        assert skipped == (list(module.TESTS_OF_PAGES) if thorough and os.name != "nt" else [])

    def test_pages_of_the_release_exist(self, script):
        test = "tests/docs/test_pages.py::test_what_a_page_says_is_so"
        assert set(script("test").TESTS_OF_PAGES) < {f"{test}[{page.stem}]" for page in script("run_docs").pages()}

    def test_its_files_exist(self, script):
        module = script("test")
        named = [*module.SOURCES, *module.RUNTIME_TESTS]
        assert [name for name in named if not (ROOT / name).exists()] == []

    def test_every_generator_compares(self, script):
        titles = {step.title for part in script("test").sources(Path(sys.executable)) for step in part}
        generators = {path.name for path in SCRIPTS.glob("generate_*.py")} | {"make_samples.py"}
        assert {f"{name} --check" for name in generators} <= titles


def with_bodies(graph):
    """Yields the nodes of a graph, and those of the graphs in their attributes."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from with_bodies(attribute.g)


class TestBenchmark:
    def test_the_floor_builds_the_same_model(self, script, tmp_path):
        bench = script("bench_compile")
        seconds, _ = bench.pipeline(bench.write_model(100, tmp_path), tmp_path / "ours.onnx")
        assert set(seconds) == set(bench.STAGES)
        ours = onnx.load(tmp_path / "ours.onnx")
        for node in with_bodies(ours.graph):
            node.attribute.sort(key=lambda attribute: attribute.name)
        bench.with_helper(ours, tmp_path / "helper.onnx", metadata=True)()
        assert onnx.load(tmp_path / "helper.onnx").graph == ours.graph
        bench.with_helper(ours, tmp_path / "helper.onnx", metadata=False)()
        for node in with_bodies(ours.graph):
            del node.metadata_props[:]
        assert onnx.load(tmp_path / "helper.onnx").graph == ours.graph


def test_the_wheel_works_without_the_repository(tmp_path):
    build = "from hatchling.build import build_wheel; import sys; print(build_wheel(sys.argv[1]))"
    made = subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    wheel = tmp_path / made.stdout.split()[-1]
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        archive.extractall(tmp_path / "unpacked")
    for path in (ROOT / "schemas").rglob("*.json"):
        assert f"dml2onnx/schemas/{path.relative_to(ROOT / 'schemas').as_posix()}" in names
    for path in (ROOT / "dml2onnx" / "report" / "assets").iterdir():
        assert f"dml2onnx/report/assets/{path.name}" in names
    assert "dml2onnx/py.typed" in names
    # -P and the extracted package first, so that the wheel is imported rather than the checkout
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import dml2onnx; from pathlib import Path;"
        "assert Path(dml2onnx.__file__).is_relative_to(sys.argv[1]);"
        "model = dml2onnx.compile(dml2onnx.load(sys.argv[2])); print(model.node_count)"
    )
    model = ROOT / "samples" / "digits" / "model.json"
    command = [sys.executable, "-P", "-c", program, str(tmp_path / "unpacked"), str(model)]
    assert int(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout) > 0


class TestNetworks:
    def test_they_match_onnx_written_by_hand(self, script):
        """Handwritten models are an independent oracle."""
        bench = script("bench_networks")
        for network in bench.networks():
            compiled = bench.in_session(dml2onnx.compile(network.graph).serialize(), network.feeds)()
            bench.compare(network, {"compiled": compiled})
            first, array = next((name, item.numpy()) for name, item in compiled.items())
            wrong = onnxruntime.OrtValue.ortvalue_from_numpy(array + np.float32(3))
            with pytest.raises(AssertionError, match="differs by"):
                bench.compare(network, {"compiled": {**compiled, first: wrong}})

    def test_recordings_are_no_larger_than_by_hand(self, script, shared):
        """yolov4 is not run, since it has 64 million weights."""
        bench = script("bench_networks")
        for network in bench.recorded(shared / "models" / "recorded"):
            model = dml2onnx.compile(network.graph)
            assert model.node_count <= 1.02 * len(network.by_hand.graph.node), network.name
            if network.name != "yolov4":
                bench.compare(network, {"compiled": bench.in_session(model.serialize(), network.feeds)()})


class TestLayouts:
    def test_nhwc_costs_only_ports_and_gives_the_same_results(self, script):
        bench = script("bench_layouts")
        for several in bench.networks():
            sides = bench.sides_of(several)
            bench.require_equal(sides)
            for name, (_, nodes) in sides.items():
                assert nodes <= sides.get(f"{name}, by hand", (None, nodes))[1]
            name, (run, nodes) = list(sides.items())[-1]
            ((output, value),) = run().items()
            wrong = {output: onnxruntime.OrtValue.ortvalue_from_numpy(value.numpy() + np.float32(3))}
            with pytest.raises(AssertionError, match="differs by"):
                bench.require_equal({**sides, name: (lambda wrong=wrong: wrong, nodes)})


class TestRelease:
    def test_versions_agree(self):
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
        assert cited is not None
        assert project["version"] == dml2onnx.__version__ == cited[1]
        changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
        headings = re.findall(r"^## (\S+)", changes, re.MULTILINE)
        assert headings[0] in ("Unreleased", project["version"])

    def test_supported_pythons_are_tested(self):
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        named = [item.rpartition(" :: ")[2] for item in project["classifiers"] if " :: Python :: " in item]
        workflow = (ROOT / ".github" / "workflows" / "check.yml").read_text(encoding="utf-8")
        assert f"python: {json.dumps(named)}" in workflow
        assert project["requires-python"] == f">={named[0]}"

    def test_the_tests_of_a_release_exist(self, script):
        check = script("check_release")
        assert [path for path in (*check.TESTS, *check.PORTABLE, *check.BRIEF) if not (ROOT / path).exists()] == []

    def test_pins_of_the_release(self, script, tmp_path):
        check = script("check_release")
        lines = check.pins(tmp_path).read_text(encoding="utf-8").splitlines()
        assert {Requirement(line).name for line in lines} == {pin.name for pin in pins()}
        lines = check.pins(tmp_path, check.TOOLS).read_text(encoding="utf-8").splitlines()
        assert {Requirement(line).name for line in lines} == set(check.TOOLS)

    def test_every_command_is_used_in_the_documents(self, script):
        from dml2onnx.cli.commands import COMMANDS

        text = "".join((ROOT / page).read_text(encoding="utf-8") for page in script("check_release").BRIEF)
        used = set(re.findall(r"^\$ dml2onnx (\w+)", text, re.MULTILINE))
        assert used == set(COMMANDS)


def test_actions_are_pinned_by_commit():
    """A compromised action could move its tag to another commit."""
    lines = [line for file in (ROOT / ".github" / "workflows").glob("*.yml") for line in file.read_text().splitlines()]
    used = [line for line in lines if re.search(r"\buses:", line)]
    assert len(used) > 10
    assert [line for line in used if not re.search(r"uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line)] == []


def test_no_host_of_a_registry_is_named():
    """Packages come from the configured sources of pip, npm and apt."""
    hosts = re.compile("|".join(["pypi" + r"\.org", "registry" + r"\.npmjs", "python" + "hosted", "deb" + r"\.debian"]))
    folders = [ROOT / name for name in ("dml2onnx", "scripts", "tests", ".github", "docs", "schemas", "samples")]
    files = [
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.suffix in (".py", ".yml", ".txt", ".in", ".toml", ".md", ".json", ".sh")
    ]
    assert len(files) > 300
    assert [str(path) for path in files if hosts.search(path.read_text(encoding="utf-8", errors="replace"))] == []
