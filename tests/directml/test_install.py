"""The small decisions of ``scripts/directml.py``; all of it is run by whoever installs DirectML."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

SCRIPTS = str(Path(__file__).parent.parent.parent / "scripts")


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    yield importlib.import_module("_directml_packages")
    sys.modules.pop("_directml_packages")


def test_the_mirror_is_that_of_apt(packages, monkeypatch: pytest.MonkeyPatch) -> None:
    targets = [
        "https://packages.example/cloud",
        "http://mirror.example/debian/",
        "http://mirror.example/debian-security/",
    ]
    monkeypatch.setattr(packages, "_run", lambda *command: "\n".join(targets))
    assert packages.configured_mirror() == "http://mirror.example/debian/"
    del targets[1]
    with pytest.raises(packages.MissingError, match="--mirror"):
        packages.configured_mirror()


def test_a_library_is_marked_as_one_of_wine(packages) -> None:
    library = bytes(range(200))
    marked = packages._as_builtin(library)
    assert len(marked) == len(library)
    assert marked[64:96] == b"Wine builtin DLL" + bytes(16)
    assert (marked[:64], marked[96:]) == (library[:64], library[96:])


def test_what_is_missing_is_said(packages) -> None:
    with pytest.raises(packages.MissingError, match="there is no no-such-program on this machine"):
        packages._run("no-such-program")
    with pytest.raises(packages.MissingError, match="sh failed: because"):
        packages._run("sh", "-c", "echo because >&2; exit 3")


def test_a_root_that_is_there_is_used_again(packages, tmp_path: Path) -> None:
    (tmp_path / "packages.json").write_text('{"wine": "10.0"}', encoding="utf-8")
    assert packages.Debian(tmp_path, "http://nowhere.invalid/debian", "sid").make() == {"wine": "10.0"}


def test_versions_of_packages(packages) -> None:
    assert packages._name_and_version(Path("xvfb_2%3a21.1.25-2_amd64.deb")) == ("xvfb", "2:21.1.25-2")
