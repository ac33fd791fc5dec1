"""Unit tests of ``scripts/directml.py``; an installation of DirectML runs all of it."""

from __future__ import annotations

import importlib
import shutil
import sys
from pathlib import Path

import pytest

SCRIPTS = str(Path(__file__).parent.parent.parent / "scripts")


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    yield importlib.import_module("_directml_packages")
    sys.modules.pop("_directml_packages")


def test_the_mirror_is_apts(packages, monkeypatch: pytest.MonkeyPatch) -> None:
    """The output of apt without package lists, which container images lack."""
    files = [
        "'https://packages.example/cloud/dists/cloud-sdk/InRelease' packages.example_cloud_InRelease 0 ",
        "'http://mirror.example/debian/dists/bookworm/InRelease' mirror.example_debian_InRelease 0 ",
        "'http://mirror.example/debian-security/dists/bookworm-security/InRelease' mirror.example_security 0 ",
    ]
    monkeypatch.setattr(packages, "_run", lambda *command: "\n".join(files))
    assert packages.configured_mirror() == "http://mirror.example/debian"
    del files[1]
    with pytest.raises(packages.MissingError, match="--mirror"):
        packages.configured_mirror()


@pytest.mark.skipif(shutil.which("apt-get") is None, reason="apt is not here")
def test_a_mirror_is_found_without_package_lists(packages, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "lists/partial").mkdir(parents=True)
    (tmp_path / "sources.list").write_text("deb [trusted=yes] http://mirror.example/debian sid main\n")
    settings = {"State::lists": "lists", "Etc::SourceList": "sources.list", "Etc::SourceParts": "none"}
    configuration = tmp_path / "apt.conf"
    configuration.write_text("".join(f'Dir::{name} "{tmp_path / path}";\n' for name, path in settings.items()))
    monkeypatch.setenv("APT_CONFIG", str(configuration))
    assert packages.configured_mirror() == "http://mirror.example/debian"


def test_a_failed_download_is_retried(packages, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    debian = packages.Debian(tmp_path, "http://nowhere.invalid/debian", "sid")

    def fail(self, *arguments: str, directory: Path) -> None:
        raise packages.MissingError("no network")

    monkeypatch.setattr(packages.Debian, "_apt", fail)
    with pytest.raises(packages.MissingError):
        debian.unpacked("headers")
    commands = []

    def download(self, *arguments: str, directory: Path) -> None:
        commands.append(arguments)
        (directory / "headers_1_all.deb").touch()

    monkeypatch.setattr(packages.Debian, "_apt", download)
    monkeypatch.setattr(packages, "_run", lambda *command: None)
    assert [debian.unpacked("headers"), debian.unpacked("headers")] == [tmp_path / "headers"] * 2
    assert commands == [("download", "headers")]


def test_a_library_is_marked_as_builtin(packages) -> None:
    library = bytes(range(200))
    marked = packages._as_builtin(library)
    assert len(marked) == len(library)
    assert marked[64:96] == b"Wine builtin DLL" + bytes(16)
    assert (marked[:64], marked[96:]) == (library[:64], library[96:])


def test_missing_programs_and_failures_are_reported(packages) -> None:
    with pytest.raises(packages.MissingError, match="no-such-program is not installed"):
        packages._run("no-such-program")
    with pytest.raises(packages.MissingError, match="sh failed: because"):
        packages._run("sh", "-c", "echo because >&2; exit 3")


def test_an_existing_root_is_reused(packages, tmp_path: Path) -> None:
    (tmp_path / "packages.json").write_text('{"wine": "10.0"}', encoding="utf-8")
    assert packages.Debian(tmp_path, "http://nowhere.invalid/debian", "sid").make() == {"wine": "10.0"}


def test_versions_of_packages(packages) -> None:
    assert packages._name_and_version(Path("xvfb_2%3a21.1.25-2_amd64.deb")) == ("xvfb", "2:21.1.25-2")


def test_downloads_use_their_own_package_lists(packages, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The lists are updated once, in a directory that needs no privileges."""
    commands = []

    def run(*command: str, directory: Path | None = None) -> str:
        commands.append(command)
        if "download" in command:
            assert directory is not None
            (directory / "one_1.0_amd64.deb").touch()
        return ""

    monkeypatch.setattr(packages, "_run", run)
    debian = packages.Debian(tmp_path / "place", "http://nowhere.invalid/debian/", "trixie")
    assert debian.downloaded("one=1.0").name == "one_1.0_amd64.deb"
    assert [command[-1] for command in commands] == ["update", "one=1.0"]
    for command in commands:
        assert f"Dir::State::lists={tmp_path / 'place/apt/lists'}" in command
    sources = (tmp_path / "place/apt/sources.list").read_text(encoding="utf-8")
    assert sources == "deb http://nowhere.invalid/debian/ trixie main\n"


def test_a_command_that_hangs_is_an_error(packages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "SECONDS", 0.1)
    with pytest.raises(packages.MissingError, match="sleep timed out"):
        packages._run("sleep", "5")
