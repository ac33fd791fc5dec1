"""Writes files that belong together: all of them, or none.

Regular files are written under a temporary name in the same directory and then renamed. Devices and pipes are written
to directly; a named pipe needs a reader. Symbolic links are followed.
"""

from __future__ import annotations

import errno
import mmap
import os
import re
import stat
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from dml2onnx.codes.reading import FILE_UNREADABLE
from dml2onnx.codes.running import OUTPUT_IS_SOURCE, OUTPUT_UNWRITABLE
from dml2onnx.diagnostics import DmlError, UnreadableError, quote

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # a module is no None

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    Parts: TypeAlias = "Iterable[bytes | memoryview | FilePart]"

Destination: TypeAlias = Path | BinaryIO
"""Where output goes: a path, or an open file."""

RANDOM_BYTES = 6
COPIED = 1 << 26
"""Bytes per call of copy_file_range; signals are handled between two calls."""
READ = 1 << 20
"""Bytes per read where copy_file_range is not available."""
LONGEST_STEM = 40
"""Characters of a file's name that its temporary name starts with, to stay below the limit for names."""

READER_SECONDS = 10.0
"""How long to wait for the reader of a named pipe, which may start later."""
READER_SLICE = 0.02

MOST_ENTRIES = 1 << 12
"""Directory entries searched for temporary files of killed processes; the search costs little beside writing."""
ABANDONED_SECONDS = 86400.0
"""Age at which a temporary file counts as abandoned, on systems without file locks."""

_UNFINISHED = re.compile(rf"\.(.+)\.[0-9a-f]{{{2 * RANDOM_BYTES}}}\.partial", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FilePart:
    """Bytes to copy from another file."""

    stream: BinaryIO
    """The other file, open for reading."""
    offset: int
    nbytes: int


def make_directory(directory: Path) -> None:
    """Makes a directory and its parents if needed; :class:`DmlError` (DML3009) on failure."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        taken = next((item for item in (directory, *directory.parents) if item.is_file()), None)
        why = error.strerror if taken is None else f"{quote(str(taken))} is a file"
        message = f"cannot make the directory {quote(str(directory))}: {why}"
        raise DmlError(OUTPUT_UNWRITABLE.at(message, expected="a directory", found=str(directory))) from None


def put(
    target: Destination, parts: Parts, beside: Mapping[Path, Parts] | None = None, stale: Collection[Path] = ()
) -> list[Path]:
    """Writes a file and those ``beside`` it and removes the ``stale`` ones, all or nothing.

    Returns the files written, ``target`` first. Readers of ``target`` see the old or the new file, never a part.
    :class:`DmlError` (DML3009) if something cannot be written.
    """
    others = dict(beside or {})
    if not isinstance(target, Path):
        assert not others, "output without a name has no files beside it"
        _write_into(target, parts)
        return []
    if is_special(target):
        if others:
            message = f"{quote(str(target))} is not a regular file, so no other file can be beside it"
            raise DmlError(OUTPUT_UNWRITABLE.at(message, expected="a regular file", found=str(target)))
        with _diagnosed(target), open(_opened(target), "wb") as file:
            _write(file, parts)
        return [target]
    for path in (target, *others):
        check_target(path)
    change = _Change(is_single=not others and not stale)
    try:
        for path, contents in (*others.items(), (target, parts)):
            with _diagnosed(path):
                change.stage(path, contents)
        change.commit()
        for path in stale:
            with _diagnosed(path):
                change.remove(path)
    except BaseException:
        change.undo()
        raise
    finally:
        change.sweep()
    _remove_abandoned([target, *others, *stale])
    return [target, *others]


def _opened(path: Path) -> int:
    """A file descriptor of a device or pipe. Opening a named pipe without a reader would block for ever."""
    flags = os.O_WRONLY | getattr(os, "O_NOCTTY", 0)
    at_once = getattr(os, "O_NONBLOCK", 0)
    if not at_once or not stat.S_ISFIFO(path.stat().st_mode):
        return os.open(path, flags)
    deadline = time.monotonic() + READER_SECONDS
    while True:
        try:
            pipe = os.open(path, flags | at_once)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() >= deadline:
                raise OSError(
                    errno.ENXIO, f"no process opened this pipe for reading within {READER_SECONDS:g} seconds"
                ) from None
            time.sleep(READER_SLICE)
        else:
            os.set_blocking(pipe, True)
            return pipe


class _Change:
    """A set of file changes. Each step is recorded before it is done, so that an interruption leaves nothing behind."""

    def __init__(self, *, is_single: bool) -> None:
        self._is_single = is_single
        self._staged: list[tuple[Path, Path, Path]] = []
        """(path as named, resolved path, temporary file)"""
        self._undo: list[tuple[Path, Path | None]] = []
        """(file, backup of its old contents or ``None``)"""
        self._litter: list[Path] = []
        self._locks: list[int] = []
        """Open descriptors of locked temporary files; closing them, or the end of the process, releases the locks."""

    def stage(self, path: Path, parts: Parts) -> None:
        """Writes the new contents of ``path`` beside it."""
        real = Path(os.path.realpath(path))
        new = self._spare_name(real)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        mode = stat.S_IMODE(real.stat().st_mode) if real.exists() else None
        with os.fdopen(os.open(new, flags, 0o666), "wb") as file:
            self._hold(file)
            _write(file, parts)
            if mode is not None:
                os.fsync(file.fileno())  # before the old contents are lost
        if mode is not None:
            os.chmod(new, mode)
        self._staged.append((path, real, new))

    def commit(self) -> None:
        """Renames all temporary files to their final names."""
        for path, real, new in self._staged:
            with _diagnosed(path):
                if not self._is_single:
                    self._keep(real)
                os.replace(new, real)

    def _keep(self, real: Path) -> None:
        """Links the old contents to a backup name; the original name stays until the new file replaces it."""
        if not real.exists():
            self._undo.append((real, None))
            return
        old = self._spare_name(real)
        self._undo.append((real, old))
        try:
            os.link(real, old)
        except OSError:  # not every file system has links
            os.replace(real, old)

    def _hold(self, file: BinaryIO) -> None:
        """Locks a temporary file, if the system has file locks, so that no other process removes it as abandoned."""
        if fcntl is None:
            return
        with suppress(OSError):
            self._locks.append(locked := os.dup(file.fileno()))
            fcntl.flock(locked, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def remove(self, path: Path) -> None:
        """Moves a file to a backup name, which :meth:`undo` can restore."""
        old = self._spare_name(path)
        self._undo.append((path, old))
        os.replace(path, old)

    def undo(self) -> None:
        """Restores the old state."""
        for real, old in reversed(self._undo):
            try:
                if old is None:
                    real.unlink(missing_ok=True)
                elif old.exists():
                    os.replace(old, real)
            except OSError:
                if old is not None:
                    self._litter.remove(old)  # the only copy of the old contents

    def sweep(self) -> None:
        """Removes temporary and backup files."""
        for path in self._litter:
            with suppress(OSError):
                path.unlink(missing_ok=True)
        while self._locks:
            os.close(self._locks.pop())

    def _spare_name(self, path: Path) -> Path:
        spare = path.with_name(f".{path.name[:LONGEST_STEM]}.{os.urandom(RANDOM_BYTES).hex()}.partial")
        self._litter.append(spare)
        return spare


def _unfinished(directory: Path, stems: Collection[str], most: int | None = None) -> list[Path]:
    """Temporary files of these stems, among the first ``most`` entries of a directory (default: all)."""
    with suppress(OSError), os.scandir(directory) as entries:
        matches = ((entry, _UNFINISHED.fullmatch(entry.name)) for entry in islice(entries, most))
        return [Path(entry.path) for entry, found in matches if found is not None and found[1] in stems]
    return []


def remove_unfinished(path: Path) -> None:
    """Removes temporary files of a terminated process that alone was writing ``path``."""
    for unfinished in _unfinished(path.parent, {path.name[:LONGEST_STEM]}):
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def remove_left_over(paths: Iterable[Path], before: float) -> None:
    """Removes temporary files of these paths that are older than ``before`` (seconds since 1970).

    Younger ones may belong to a running process.
    """
    stems: dict[Path, set[str]] = {}
    for path in paths:
        stems.setdefault(path.parent, set()).add(path.name[:LONGEST_STEM])
    for directory, expected in stems.items():
        for unfinished in _unfinished(directory, expected):
            with suppress(OSError):
                if unfinished.stat().st_mtime < before:
                    unfinished.unlink()


def _remove_abandoned(paths: Iterable[Path]) -> None:
    """Removes unlocked temporary files that killed processes have left beside these paths."""
    for path in paths:
        real = Path(os.path.realpath(path))
        for unfinished in _unfinished(real.parent, {real.name[:LONGEST_STEM]}, MOST_ENTRIES):
            with suppress(OSError):
                _remove_if_abandoned(unfinished)


def _remove_if_abandoned(path: Path) -> None:
    if fcntl is None:
        if path.stat().st_mtime < time.time() - ABANDONED_SECONDS:
            path.unlink()
        return
    locked = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(locked, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()
    finally:
        os.close(locked)


def _write(file: BinaryIO, parts: Parts) -> None:
    for part in parts:
        if isinstance(part, FilePart):
            _append(file, part)
        else:
            file.write(part)
    file.flush()


def _append(file: BinaryIO, part: FilePart) -> None:
    """Copies bytes of another file, within the kernel where possible, which may share blocks."""
    done = 0
    if sys.platform == "linux":
        file.flush()
        done = _copied(part, file.fileno())
        if done:
            file.seek(0, os.SEEK_CUR)  # the buffer does not know of the bytes copied
    part.stream.seek(part.offset + done)
    while done < part.nbytes:
        block = part.stream.read(min(READ, part.nbytes - done))
        if not block:
            message = f"{quote(str(part.stream.name))} has become shorter while it was copied"
            raise UnreadableError(FILE_UNREADABLE.at(message, expected="the file as it was", found="fewer bytes"))
        file.write(block)
        done += len(block)


def _copied(part: FilePart, target: int) -> int:
    """The number of bytes that the kernel copied; errors recur when the rest is written."""
    done = 0
    with suppress(OSError):
        # allocating in advance halves the time
        os.posix_fallocate(target, os.lseek(target, 0, os.SEEK_CUR), part.nbytes)
    with suppress(OSError):
        source = part.stream.fileno()
        while done < part.nbytes:
            count = os.copy_file_range(source, target, min(COPIED, part.nbytes - done), part.offset + done)
            if not count:
                break
            done += count
    return done


def _write_into(file: BinaryIO, parts: Parts) -> None:
    try:
        _write(file, parts)
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        message = f"cannot write the output: {getattr(error, 'strerror', None) or error}"
        raise DmlError(OUTPUT_UNWRITABLE.at(message)) from None


@contextmanager
def _diagnosed(path: Path) -> Iterator[None]:
    """Turns errors of the system into a finding about ``path``."""
    try:
        yield
    except (OSError, ValueError) as error:
        message = f"cannot write {quote(str(path))}: {getattr(error, 'strerror', None) or error}"
        raise DmlError(OUTPUT_UNWRITABLE.at(message, found=str(path))) from None


def is_special(path: Path) -> bool:
    """Whether ``path`` exists and is neither a regular file nor a directory."""
    with suppress(OSError, ValueError):
        mode = path.stat().st_mode
        return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)
    return False


def is_standard_output(path: Path) -> bool:
    """Whether ``path`` names the same file as standard output."""
    with suppress(OSError, ValueError):
        return os.path.samestat(path.stat(), os.fstat(1))
    return False


def check_target(path: Path) -> None:
    """Refuses a path that cannot be written as a file."""
    shown = quote(str(path))
    with _diagnosed(path):
        if path.is_dir() or not path.name:
            raise DmlError(OUTPUT_UNWRITABLE.at(f"{shown} is a directory", expected="a file name", found=str(path)))
        real = Path(os.path.realpath(path))
        if real.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if not real.parent.is_dir():
            message = f"the directory {quote(str(path.parent))} does not exist"
            raise DmlError(OUTPUT_UNWRITABLE.at(message, expected="an existing directory", found=str(path)))


def spare(targets: Iterable[Destination], sources: Iterable[Path]) -> None:
    """Refuses to overwrite a source file (DML3012)."""
    kept = list(sources)
    for target in targets:
        if isinstance(target, Path) and any(_is_same(target, source) for source in kept):
            message = f"{quote(str(target))} is one of the files that this is made from; choose another to write"
            raise DmlError(OUTPUT_IS_SOURCE.at(message, found=str(target)))


def _is_same(one: Path, other: Path) -> bool:
    with suppress(OSError, ValueError):
        return not is_special(one) and one.samefile(other)
    return False


def names(path: Path, other: Path) -> bool:
    """Whether the bytes of ``path`` contain the name of ``other``, as a model contains that of its weights."""
    with suppress(OSError, ValueError), path.open("rb") as file:
        if other.is_file():
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
                return text.find(other.name.encode()) >= 0
    return False
