"""``dml2onnx recorder`` writes the header and its example, and overwrites no other files."""

from __future__ import annotations

from pathlib import Path

import pytest

from dml2onnx import recorder
from dml2onnx.cli import main

FILES = (*recorder.HEADERS, *recorder.EXAMPLE)


def _files(directory: Path) -> list[str]:
    """Returns all files of a directory except Python's."""
    found = [path.relative_to(directory) for path in directory.rglob("*") if path.is_file()]
    return sorted(path.as_posix() for path in found if path.suffix not in (".py", ".pyc"))


def test_writes_the_header_and_an_example(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = tmp_path / "new" / "cpp"
    assert main(["recorder", "-o", str(directory)]) == 0
    assert _files(directory) == _files(Path(recorder.__file__).parent) == sorted(FILES)
    assert all((directory / name).read_bytes() == recorder.contents(name) for name in FILES)
    assert capsys.readouterr().out.count("wrote") == len(FILES)


def test_writes_here_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["recorder", "--quiet"]) == 0
    assert _files(tmp_path) == sorted(FILES)


def test_keeps_an_existing_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "main.cpp").write_text("mine")
    assert main(["recorder", "-o", str(tmp_path)]) == 0
    assert (tmp_path / "main.cpp").read_text() == "mine"
    assert f"kept {tmp_path / 'main.cpp'}" in capsys.readouterr().out.replace("\n", "")
    assert (tmp_path / "CMakeLists.txt").is_file()


def test_reports_another_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / recorder.HEADER).write_text("// older")
    assert main(["recorder", "-o", str(tmp_path)]) == 0
    assert "replaced another version of" in capsys.readouterr().out
    assert main(["recorder", "-o", str(tmp_path)]) == 0
    assert "replaced" not in capsys.readouterr().out


@pytest.mark.parametrize("name", ["a file", f"directory/{recorder.HEADER}"])
def test_reports_why_it_cannot_write(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    (tmp_path / "a file").write_text("in the way")
    (tmp_path / "directory" / recorder.HEADER).mkdir(parents=True)
    target = tmp_path / name if name == "a file" else (tmp_path / name).parent
    assert main(["recorder", "-o", str(target)]) == 1
    assert "DML3009" in capsys.readouterr().err
    assert not (target / "main.cpp").exists()
