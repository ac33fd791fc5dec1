"""Writing files is atomic: all files are complete, or nothing has changed, whichever step fails."""

from __future__ import annotations

import os
import socket
import stat
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from dml2onnx import files, load
from dml2onnx.builder import GraphBuilder
from dml2onnx.compiler import CompiledModel, compile
from dml2onnx.diagnostics import DmlError, UnreadableError
from dml2onnx.exporters.files import write_files
from dml2onnx.files import FilePart, put
from dml2onnx.ir.data import ArrayData
from tests.refusals import refused
from tests.test_writer import product

STEPS = ("open", "write", "flush", "fsync", "chmod", "link", "replace")
"""System calls that write files."""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="files of POSIX systems")


class Faults:
    """Counts steps and raises an error at one of them, before or after executing it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int, error: BaseException, *, after: bool) -> None:
        self.at, self.error, self.after = at, error, after
        self.taken: list[str] = []
        for name in ("open", "fsync", "chmod", "link", "replace"):
            monkeypatch.setattr(os, name, self._failing(name, getattr(os, name)))
        real = os.fdopen

        def fdopen(*arguments: object) -> object:
            return _File(self, real(*arguments))  # type: ignore[call-overload]

        monkeypatch.setattr(os, "fdopen", fdopen)

    def _failing(self, name: str, real: Callable[..., object]) -> Callable[..., object]:
        def step(*arguments: object, **options: object) -> object:
            if not self.strikes(name) or self.after:
                result = real(*arguments, **options)
                if not self.strikes_now():
                    return result
                if name == "open":
                    os.close(result)  # type: ignore[arg-type]
            raise self.error

        return step

    def strikes(self, name: str) -> bool:
        self.taken.append(name)
        return self.strikes_now()

    def strikes_now(self) -> bool:
        return len(self.taken) == self.at + 1


class _File:
    def __init__(self, faults: Faults, file: object) -> None:
        self._faults, self._file = faults, file
        for name in ("write", "flush"):
            setattr(self, name, faults._failing(name, getattr(file, name)))

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()  # type: ignore[attr-defined]

    def fileno(self) -> int:
        return int(self._file.fileno())  # type: ignore[attr-defined]


def contents(directory: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(directory)): (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
        for path in directory.rglob("*")
        if path.is_file()
    }


MODEL = cache(product)


def save_inside(path: Path) -> None:
    MODEL().save(path, external_data=False)


def save_beside(path: Path) -> None:
    MODEL().save(path, external_data=True)


def export_beside(path: Path) -> None:
    data = ArrayData.of(np.arange(700, dtype=np.float32))
    write_files(path, b"text", {path.name + ".data": data, "w.bin": data})


OLD = b"""{
  "dml2onnx": 1,
  "constants": {
    "data": {"DataType": "UINT8", "Sizes": [1, 8], "file": "m.onnx.data"},
    "w": {"DataType": "UINT8", "Sizes": [1, 5], "file": "w.bin"}
  },
  "nodes": [
    {"type": "JOIN", "desc": {"Axis": 1}, "inputs": {"InputTensors": ["data", "w"]}, "outputs": {"OutputTensor": "y"}}
  ],
  "outputs": ["y"]
}"""
"""A model that names the files beside it, so that writing may replace them."""
NO_SPACE = OSError(28, "No space left on device")
WRITERS = [save_inside, save_beside, export_beside]
BEFORE: dict[str, dict[str, bytes]] = {
    "nothing": {},
    "a file": {"m.onnx": b"old"},
    "a pair": {"m.onnx": OLD, "m.onnx.data": b"old data", "w.bin": b"old w"},
}


def prepared(directory: Path, before: dict[str, bytes]) -> Path:
    for name, content in before.items():
        (directory / name).write_bytes(content)
        (directory / name).chmod(0o640)
    return directory / "m.onnx"


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("before", BEFORE)
def test_failed_writes_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: Callable[[Path], None], before: str
) -> None:
    """Each step fails once with a system error, and with an interruption before and after it."""
    fine = tmp_path / "fine"
    fine.mkdir()
    writer(tmp_path / "first.onnx")  # lazy imports open files too
    path = prepared(fine, BEFORE[before])
    with monkeypatch.context() as patch:
        faults = Faults(patch, -1, OSError(), after=False)
        writer(path)
    new, steps = contents(fine), faults.taken
    assert {"open", "write", "flush", "replace"} <= set(steps) <= set(STEPS)
    for index in range(len(steps)):
        for error, after in ((NO_SPACE, False), (KeyboardInterrupt(), True), (KeyboardInterrupt(), False)):
            directory = tmp_path / f"{index}-{type(error).__name__}-{after}"
            directory.mkdir()
            path = prepared(directory, BEFORE[before])
            old = contents(directory)
            with monkeypatch.context() as patch:
                Faults(patch, index, error, after=after)
                if steps[index] == "link" and error is NO_SPACE:  # some file systems have no links
                    writer(path)
                    assert contents(directory) == new
                    continue
                with pytest.raises(DmlError if error is NO_SPACE else KeyboardInterrupt):
                    writer(path)
            assert contents(directory) in (old, new), (index, steps[index], error, after)


def test_a_model_without_data_removes_the_old_data(tmp_path: Path) -> None:
    path, data = tmp_path / "m.onnx", tmp_path / "m.onnx.data"
    save_beside(path)
    assert data.exists()
    save_inside(path)
    assert list(tmp_path.iterdir()) == [path]
    data.write_bytes(b"somebody else's")
    save_inside(path)
    assert data.read_bytes() == b"somebody else's"


def test_unreadable_weights_leave_the_old_pair(tmp_path: Path) -> None:
    def short() -> Iterator[bytes]:
        yield b"new"
        raise OSError(5, "Input/output error")

    path = prepared(tmp_path, BEFORE["a pair"])
    old = contents(tmp_path)
    with pytest.raises(DmlError):
        put(path, [b"new"], {tmp_path / "m.onnx.data": short()})
    assert contents(tmp_path) == old


# --- Other files than regular ones ------------------------------------------------------------------------------------


def refuse(*arguments: object) -> int:
    raise OSError(18, "Invalid cross-device link")


def half(*arguments: int) -> int:
    """Copies only part of the requested bytes, as a system may, and fails after half of all."""
    source, target, count, offset = arguments
    if offset > 500_000:
        raise OSError(28, "No space left on device")
    return os.write(target, os.pread(source, min(count, 200_000), offset))


@pytest.mark.parametrize("copy", [None, refuse, half, lambda *arguments: 0], ids=["copied", "refused", "half", "none"])
def test_parts_of_other_files_are_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copy: Callable[..., int] | None
) -> None:
    if copy is not None:
        monkeypatch.setattr(os, "copy_file_range", copy, raising=False)
    content = np.random.default_rng(1).bytes(1 << 20)
    (tmp_path / "source").write_bytes(content)
    with (tmp_path / "source").open("rb") as stream:
        copied, few = FilePart(stream, 7, 1_000_000), FilePart(stream, 0, 3)
        put(tmp_path / "target", [b"head", copied, b"", few, memoryview(b"tail")])
    assert (tmp_path / "target").read_bytes() == b"head" + content[7:1_000_007] + content[:3] + b"tail"


def test_a_file_that_shrinks_while_it_is_copied(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(bytes(1000))
    (tmp_path / "target").write_bytes(b"old")
    with (tmp_path / "source").open("rb") as stream, pytest.raises(UnreadableError) as caught:
        put(tmp_path / "target", [FilePart(stream, 0, 1001)])
    assert caught.value.diagnostics[0].code == "DML1021"
    assert contents(tmp_path).keys() == {"source", "target"}
    assert (tmp_path / "target").read_bytes() == b"old"


def test_devices_stay_devices(tmp_path: Path) -> None:
    link = tmp_path / "null"
    link.symlink_to(os.devnull)
    for path in (Path(os.devnull), link):
        save_inside(path)
        assert stat.S_ISCHR(path.stat().st_mode)
    assert link.is_symlink()
    assert refused(save_beside, link) == ["DML3009"]
    assert list(tmp_path.iterdir()) == [link]


def test_pipes_get_the_bytes(tmp_path: Path) -> None:
    pipe, plain = tmp_path / "pipe", tmp_path / "plain.onnx"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    save_inside(pipe)
    reader.join(10)
    save_inside(plain)
    assert got == [plain.read_bytes()]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_pipes_wait_for_a_reader_with_a_timeout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    data = bytes(1 << 20)  # more than a pipe holds

    def read() -> None:
        time.sleep(0.2)
        got.append(pipe.read_bytes())

    reader = threading.Thread(target=read)
    reader.start()
    put(pipe, [data])
    reader.join(10)
    assert got == [data]
    monkeypatch.setattr(files, "READER_SECONDS", 0.1)
    with pytest.raises(DmlError) as caught:
        put(pipe, [b"x"])
    assert caught.value.diagnostics[0].code == "DML3009"
    assert "no process opened this pipe for reading within 0.1 seconds" in str(caught.value)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_sockets_are_refused_and_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        with pytest.raises(DmlError) as caught:
            put(Path("socket"), [b"x"])
    assert caught.value.diagnostics[0].code == "DML3009"
    assert stat.S_ISSOCK(Path("socket").stat().st_mode)


@pytest.mark.parametrize("exists", [True, False])
def test_links_are_followed_and_stay(tmp_path: Path, exists: bool) -> None:
    (tmp_path / "there").mkdir()
    real, link = tmp_path / "there" / "real.onnx", tmp_path / "link.onnx"
    if exists:
        real.write_bytes(b"old")
    link.symlink_to("there/real.onnx")
    put(link, [b"new"])
    assert (real.read_bytes(), link.is_symlink()) == (b"new", True)
    assert [item.name for item in real.parent.iterdir()] == ["real.onnx"]


@pytest.mark.parametrize("name", ["", ".", "..", "/", "a\0b", "x" * 300, "no/such", "loop", "a\ud800b"])
def test_impossible_names_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    for writer in WRITERS:
        with pytest.raises(DmlError) as caught:
            writer(Path(name))
        assert caught.value.diagnostics[0].code == "DML3009"
        assert len(str(caught.value)) < 300
    assert os.listdir() == ["loop"]


def test_long_names_work(tmp_path: Path) -> None:
    path = tmp_path / ("ä" * 125 + ".onnx")
    put(path, [b"new"])
    assert list(tmp_path.iterdir()) == [path]


def test_new_files_have_the_usual_permissions(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        put(tmp_path / "new", [b""])
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


# --- Killed processes -------------------------------------------------------------------------------------------------

KILLED = [name for name in ("replace", "link", "unlink", "fsync", "chmod") if hasattr(os, name)]


def killed_at(step: int, action: Callable[[], object]) -> bool:
    """Runs in a process that is killed at a step of the file system; returns whether it got that far."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    taken = 0

    def counted(function: Callable[..., object]) -> Callable[..., object]:
        def called(*arguments: object, **named: object) -> object:
            nonlocal taken
            taken += 1
            if taken > step:
                os._exit(9)
            return function(*arguments, **named)

        return called

    for name in KILLED:
        setattr(os, name, counted(getattr(os, name)))
    try:
        action()
    finally:
        os._exit(0)


def model_with_weights(value: float) -> CompiledModel:
    g = GraphBuilder()
    x = g.input("x", "FLOAT32", (1, 1, 1, 1024))
    weights = g.constant(np.full((1, 1, 1, 1024), value, np.float32))
    return compile(g.build({"y": g.add(x, weights)}))


def weight_in(path: Path) -> float:
    """Returns the number that a saved model adds."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (y,) = session.run(None, {"x": np.zeros((1, 1, 1, 1024), np.float32)})
    assert np.unique(y).size == 1
    return float(y.flat[0])


def test_killed_saves_leave_a_consistent_model(tmp_path: Path) -> None:
    """At every step: the old model with the old weights, or the new one with the new; the next call cleans up."""
    step, found = 0, set()
    old, new = model_with_weights(1), model_with_weights(2)
    while True:
        directory = tmp_path / str(step)
        directory.mkdir()
        path, others = directory / "m.onnx", directory / ".n.onnx.0123456789ab.partial"
        others.touch()
        for model in (old, model_with_weights(0), old):  # with either of the two names of the data file
            model.save(path, external_data=True)
            if step % 2:
                break
        if not killed_at(step, lambda path=path: new.save(path, external_data=True)):  # type: ignore[misc]  # a lambda with a default
            break
        found.add(weight_in(path))
        new.save(path, external_data=True)
        assert weight_in(path) == 2
        names = {item.name for item in directory.iterdir()}
        assert [name for name in names if name.endswith(".partial")] == [others.name], (step, names)
        assert len([name for name in names if name.endswith(".data")]) <= 2
        step += 1
    assert found == {1, 2}
    assert step >= 4


def test_unfinished_files_of_other_writers_stay(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    inside: list[Path] = []

    def parts() -> Iterator[bytes]:
        yield b"first"
        put(path, [b"second"])
        inside.extend(tmp_path.glob(".*.partial"))
        yield b" of two"

    put(path, parts())
    assert len(inside) == 1
    assert path.read_bytes() == b"first of two"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("beside", [False, True])
def test_saving_refuses_to_overwrite_its_source(tmp_path: Path, beside: bool) -> None:
    model = tmp_path / ("n.json" if beside else "m.onnx")
    model.write_bytes(OLD)
    (tmp_path / "m.onnx.data").write_bytes(b"old data")
    (tmp_path / "w.bin").write_bytes(b"old w")
    compiled = compile(load(model))
    before = contents(tmp_path)
    for name in ("n.json" if beside else "m.onnx", "m.onnx", "w.bin"):
        for external in (False, True):
            assert refused(compiled.save, tmp_path / name, external_data=external) == ["DML3012"]
    assert contents(tmp_path) == before
    compiled.save(tmp_path / "other.onnx")
