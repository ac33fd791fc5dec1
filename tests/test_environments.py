"""The environments of the project: pinned packages and installation."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "scripts"
LOCKS = (
    *("test", "ort124", "ort132", "browser", "docs", "cpp", "csharp", "openvino", "webgpu", "winml", "qnn"),
    *("mutants", "onward"),
)


def lines_of(name: str) -> list[str]:
    """Returns the logical lines of a requirements file, without comments."""
    text = (SCRIPTS / "requirements" / name).read_text(encoding="utf-8").replace("\\\n", " ")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def pins(lock: str = "test") -> list[Requirement]:
    return [Requirement(line.partition(" --hash")[0]) for line in lines_of(f"{lock}.txt")]


class TestPins:
    @pytest.mark.parametrize("lock", LOCKS)
    def test_every_pin_is_one_exact_version_with_hashes(self, lock):
        assert all(re.fullmatch(r"==[\w.]+", str(pin.specifier)) for pin in pins(lock))
        assert all(re.search(r" --hash=sha256:[0-9a-f]{64}\b", line) for line in lines_of(f"{lock}.txt"))

    @pytest.mark.parametrize("lock", LOCKS)
    def test_no_package_is_pinned_twice(self, lock):
        names = [canonicalize_name(pin.name) for pin in pins(lock)]
        assert len(names) == len(set(names))

    @pytest.mark.parametrize("lock", LOCKS)
    def test_all_requirements_are_pinned(self, lock, script):
        sources = [Path(item).name for item in script("lock").LOCKS[lock] if item.endswith(".in")]
        pinned = {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in pins(lock)}
        for requirement in (Requirement(line) for name in sources for line in lines_of(name)):
            assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)]), requirement

    def test_every_file_of_requirements_is_locked(self, script):
        files = {path.stem for path in (SCRIPTS / "requirements").iterdir()}
        assert files == set(LOCKS) == set(script("lock").LOCKS)

    @pytest.mark.parametrize("in_environment", [False, True])
    def test_locks_use_the_index_of_pips_configuration(self, script, monkeypatch, tmp_path, in_environment):
        """Including its files, which uv does not read. Extra indexes are ignored: they may be local to one machine."""
        configuration = tmp_path / "pip.conf"
        lines = ["[global]", "index-url = https://in-file.invalid/simple", "extra-index-url = file:///more"]
        configuration.write_text("\n".join([*lines, f"cert = {configuration}"]), encoding="utf-8")
        for name in ("PIP_INDEX_URL", "PIP_CERT", "UV_DEFAULT_INDEX", "SSL_CERT_FILE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("PIP_CONFIG_FILE", str(configuration))
        if in_environment:
            monkeypatch.setenv("PIP_INDEX_URL", "https://in-environment.invalid/simple")
        where = "environment" if in_environment else "file"
        found = script("lock").pip_configuration()
        assert found == {"UV_DEFAULT_INDEX": f"https://in-{where}.invalid/simple", "SSL_CERT_FILE": str(configuration)}

    def test_the_project_accepts_the_pins(self):
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        pinned = {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in pins()}
        extras = [item for several in project["project"]["optional-dependencies"].values() for item in several]
        for text in (*project["build-system"]["requires"], *project["project"]["dependencies"], *extras):
            requirement = Requirement(text)
            assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)]), text

    @pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
    @pytest.mark.parametrize("machine", ["x86_64", "AMD64", "arm64"])
    def test_exactly_one_onnxruntime_is_chosen(self, platform, machine):
        where = {"sys_platform": platform, "platform_machine": machine}
        runtimes = [
            pin
            for pin in pins()
            if pin.name.startswith("onnxruntime") and pin.marker is not None and pin.marker.evaluate(where)
        ]
        assert len(runtimes) == 1

    @pytest.mark.parametrize(("lock", "end", "steps"), [("ort124", ">=", 0), ("ort132", "<", 1)])
    def test_the_other_runtimes_are_the_ends_of_the_accepted_range(self, lock, end, steps):
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        (requirement,) = (Requirement(text) for text in project["project"]["dependencies"] if "onnxruntime>" in text)
        major, minor = next(str(item.version) for item in requirement.specifier if item.operator == end).split(".")
        (pinned,) = (str(pin.specifier) for pin in pins(lock) if pin.name == "onnxruntime")
        assert pinned.startswith(f"=={major}.{int(minor) - steps}.")

    @pytest.mark.parametrize("lock", ["ort124", "ort132"])
    def test_nothing_else_differs_with_it(self, lock):
        assert [pin.name for pin in pins(lock)] == ["onnxruntime"]


class TestEnvironment:
    def test_the_fingerprint_depends_on_pins_and_project(self, script):
        fingerprint = script("_environment").fingerprint
        assert len({fingerprint("a==1", "p"), fingerprint("a==2", "p"), fingerprint("a==1", "q")}) == 3

    @pytest.fixture
    def project(self, script, monkeypatch, tmp_path):
        """An empty project, and the commands that were run in it."""
        module = script("_environment")
        (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
        commands = []

        def run(command, environment=None, output=None):
            commands.append([str(part) for part in command])
            if "venv" in commands[-1]:
                python = module.interpreter(Path(command[-1]))
                python.parent.mkdir(parents=True, exist_ok=True)
                python.touch()
            return 1 if "fail" in os.environ.get("PREPARE", "") and "pip" in commands[-1] else 0

        monkeypatch.setattr(module, "ROOT", tmp_path)
        monkeypatch.setattr(module, "run", run)
        return module, commands

    def test_a_missing_environment_is_created_once(self, project):
        module, commands = project
        python = module.prepare(".venv")
        assert python.exists()
        assert ["venv" in command for command in commands] == [True, False, False]
        assert commands[1][-3:] == ["--require-hashes", "-r", str(SCRIPTS / "requirements" / "test.txt")]
        assert commands[2][-2:] == ["--editable", str(module.ROOT)]
        commands.clear()
        assert module.prepare(".venv") == python
        assert commands == []

    def test_linked_environments_of_other_checkouts_are_not_changed(self, project):
        """A new environment replaces the link."""
        module, commands = project
        other = module.ROOT / "other"
        theirs = module.interpreter(other)
        theirs.parent.mkdir(parents=True)
        theirs.write_text("theirs", encoding="utf-8")
        (module.ROOT / ".venv").symlink_to(other, target_is_directory=True)
        python = module.prepare(".venv")
        assert "--clear" in commands[0]
        assert not (module.ROOT / ".venv").is_symlink()
        assert (theirs.read_text(encoding="utf-8"), python.read_text(encoding="utf-8")) == ("theirs", "")

    def test_other_pins_create_a_new_environment(self, project):
        module, commands = project
        module.prepare(".venv")
        commands.clear()
        module.prepare(".venv", "docs")
        assert len(commands) == 3
        assert commands[1][-1] == str(SCRIPTS / "requirements" / "docs.txt")

    def test_another_runtime_shares_the_rest_of_the_first_environment(self, script, monkeypatch, tmp_path):
        """Its own packages come first; paths in ``.pth`` files of the first environment count too."""
        module = script("_environment")
        monkeypatch.setattr(module, "ROOT", tmp_path)
        monkeypatch.setattr(module, "pip", lambda *_: None)
        for name in (".venv", ".venv-ort124"):
            module.create(tmp_path / name)
        monkeypatch.setattr(module, "create", lambda *_, **__: None)
        first, own = module.packages(tmp_path / ".venv"), module.packages(tmp_path / ".venv-ort124")
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        (first / "editable.pth").write_text(f"{elsewhere}\n", encoding="utf-8")
        for place, names in ((first, ("both", "rest")), (elsewhere, ("project",)), (own, ("both",))):
            for name in names:
                (place / f"{name}.py").write_text(f"place = {place.name!r}, {str(place)!r}\n", encoding="utf-8")
        python = module.prepare_runtime("ort124")
        code = "import both, rest, project; print(both.place[1], rest.place[1], project.place[1], sep='\\n')"
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.split("\n")[:3] == [str(own), str(first), str(elsewhere)]

    def test_failed_installations_are_repeated(self, project, monkeypatch):
        module, commands = project
        monkeypatch.setenv("PREPARE", "fail")
        with pytest.raises(SystemExit, match="pip install"):
            module.prepare(".venv")
        monkeypatch.delenv("PREPARE")
        commands.clear()
        module.prepare(".venv")
        assert len(commands) == 3

    @pytest.mark.parametrize("tool", [False, True])
    def test_the_callers_pip_is_used_if_possible(self, project, monkeypatch, tool):
        """If Python comes without pip, and for tools."""
        module, commands = project
        find_spec = importlib.util.find_spec
        if not tool:
            monkeypatch.setattr(
                importlib.util, "find_spec", lambda name: None if name == "ensurepip" else find_spec(name)
            )
        monkeypatch.setattr(module, "version", lambda _: "22.3")
        module.prepare(".venv", project=not tool)
        assert "--without-pip" in commands[0]
        assert commands[1][:4] == [sys.executable, "-m", "pip", "--python"]

    def test_a_tool_is_created_once_without_dependencies(self, project):
        module, commands = project
        assert module.prepare_tool("browser")
        assert ["venv" in command for command in commands] == [True, False]
        assert "--no-deps" in commands[1]
        commands.clear()
        assert module.prepare_tool("browser")
        assert commands == []

    def test_a_missing_tool_is_no_error(self, project, monkeypatch, capsys):
        module, _ = project
        monkeypatch.setenv("PREPARE", "fail")
        assert not module.prepare_tool("browser")
        assert "pip install --require-hashes --no-deps" in capsys.readouterr().out

    def test_a_directory_is_filled_again_if_its_inputs_change(self, project, tmp_path, capsys):
        module, _ = project
        directory, filled = tmp_path / "made", []

        def fill():
            directory.mkdir()
            filled.append(1)

        assert [module.fill_directory(directory, text, fill, "nothing") for text in ("a", "a", "b")] == [True] * 3
        assert len(filled) == 2

        def fail():
            raise OSError("no network")

        assert not module.fill_directory(directory, "c", fail, "nothing was made")
        assert "nothing was made: no network" in capsys.readouterr().out
        assert module.fill_directory(directory, "c", fill, "nothing")

    def test_an_old_pip_installs_only_into_its_own_environment(self, project, monkeypatch):
        module, commands = project
        monkeypatch.setattr(module, "version", lambda _: "22.2.2")
        module.prepare(".venv", project=False)
        assert "--without-pip" not in commands[0]

    def test_without_any_pip_it_names_the_package_to_install(self, project, monkeypatch):
        module, _ = project

        def missing(name):
            raise importlib.metadata.PackageNotFoundError(name)

        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
        monkeypatch.setattr(module, "version", missing)
        with pytest.raises(SystemExit, match="python3-venv"):
            module.prepare(".venv")
