"""The journal of a batch: JSON lines that are only appended, so that the next call can continue.

A line is written at once, behind all others; whatever ends the program leaves whole lines and at most one torn one,
which the next call passes over. ``dml2onnx schema journal`` prints the JSON Schema of a line.

A call locks its journal, lest another one should do the same work: the system takes the lock away with the process.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
import time
from typing import TYPE_CHECKING

from dml2onnx.codes.running import BAD_JOURNAL, JOURNAL_IN_USE, OUTPUT_UNWRITABLE
from dml2onnx.diagnostics import DmlError, UnreadableError, quote
from dml2onnx.files import make_directory
from dml2onnx.report.batched import JOURNAL_VERSION, Record, Source, Work
from dml2onnx.report.form import Json, as_json

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self

SYNC_SECONDS = 1.0
"""What a power failure may cost; whatever ends only the program costs nothing."""
LOCKED = (1 << 31) - 2
"""The byte of the journal that is locked on Windows, where others cannot read what is; its lock has 31 bits for it."""
_START = b'{"journal": '


class Journal:
    """A journal that is open for one kind of work."""

    def __init__(self, path: Path, work: Work) -> None:
        """Reads the records of the same work, by model and graph.

        :class:`DmlError` for a file that is no journal (DML3035), and for one that another call works with (DML3037).
        """
        self.records: dict[tuple[str, str], Record] = {}
        self._path = path
        self._synced = time.monotonic()
        try:
            make_directory(path.parent)
            self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        except OSError as error:
            raise _unwritable(path, error) from None
        try:
            self._lock()
            self._read(work)
        except BaseException:
            os.close(self._file)
            raise

    def _lock(self) -> None:
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            message = f"{quote(str(self._path))} is no regular file, and nothing can be read of it again"
            raise UnreadableError(BAD_JOURNAL.at(message, expected="a journal, or no file", found="a device or a pipe"))
        if _is_taken(self._file):
            message = f"another batch is at work with the journal {quote(str(self._path))}"
            raise UnreadableError(JOURNAL_IN_USE.at(message, expected="one batch at a time", found=str(self._path)))

    def _read(self, work: Work) -> None:
        is_known = False
        last = b"\n"
        with open(os.dup(self._file), "rb") as lines:
            for number, line in enumerate(lines):
                if not number and not _is_beginning(line.rstrip(b"\n")):
                    message = f"{quote(str(self._path))} exists and is no journal of a batch"
                    raise UnreadableError(BAD_JOURNAL.at(message, expected="a journal, or no file", found="other text"))
                last = line
                value = _parsed(line)
                if value is None:
                    continue
                if "journal" in value:
                    self._require_version(value["journal"])
                    is_known = is_known or value["work"] == work.work
                elif value["work"] == work.work and (record := _record(value)) is not None:
                    self.records[record.model, record.graph] = record
        if not last.endswith(b"\n"):
            self._write(b"\n")
        if not is_known:
            self._write(encoded(as_json(work)))

    def _require_version(self, version: object) -> None:
        if version != JOURNAL_VERSION:
            message = f"{quote(str(self._path))} is a journal of version {version}, which this dml2onnx does not know"
            raise UnreadableError(BAD_JOURNAL.at(message, expected=str(JOURNAL_VERSION), found=str(version)))

    def add(self, line: bytes) -> None:
        """Writes the line of a record."""
        self._write(line)
        if time.monotonic() - self._synced > SYNC_SECONDS:
            os.fsync(self._file)
            self._synced = time.monotonic()

    def _write(self, line: bytes) -> None:
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            raise _unwritable(self._path, error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.fsync(self._file)
        os.close(self._file)


def _is_taken(file: int) -> bool:
    """Whether somebody else has locked the file; else we have, where its file system knows locks."""
    try:
        if sys.platform == "win32":
            os.lseek(file, LOCKED, os.SEEK_SET)
            try:
                msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
            finally:
                os.lseek(file, 0, os.SEEK_SET)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in (errno.EAGAIN, errno.EACCES)
    return False


def encoded(line: dict[str, Json]) -> bytes:
    """A line as it stands in the journal."""
    return json.dumps(line, allow_nan=False).encode() + b"\n"


def _is_beginning(line: bytes) -> bool:
    """Whether a journal begins with this, be it torn."""
    return line.startswith(_START) or (line != b"" and _START.startswith(line))


def _parsed(line: bytes) -> dict[str, Json] | None:
    """What a line says; nothing where it is torn, or of somebody else."""
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) and "work" in value else None


_TEXTS = ("model", "work", "status")


def _record(line: dict[str, Json]) -> Record | None:
    """The record that a line holds; nothing where somebody has changed what we have written."""
    sources, answer = line.get("sources", []), line.get("answer")
    texts = all(isinstance(line.get(name), str) for name in _TEXTS)
    texts = texts and all(isinstance(line.get(name, ""), str) for name in ("graph", "output"))
    if not texts or not isinstance(answer, dict) or not isinstance(line.get("seconds"), (int, float)):
        return None
    listed = isinstance(sources, list) and all(
        isinstance(item, dict) and {"path", "digest"} == item.keys() and all(isinstance(x, str) for x in item.values())
        for item in sources
    )
    try:
        record = record_of(line) if listed else None
        return (
            None if record is None or any(not isinstance(item.message, str) for item in record.diagnostics) else record
        )
    except (AttributeError, LookupError, TypeError, ValueError):  # other members, or findings of another form
        return None


def record_of(line: dict[str, Json]) -> Record:
    """The record that a line holds."""
    members = dict(line)
    sources = members.pop("sources", [])
    assert isinstance(sources, list)
    found = tuple(Source(**item) for item in sources)  # type: ignore[arg-type]  # as Source has written them
    return Record(sources=found, **members)  # type: ignore[arg-type]  # as Record has written them


def _unwritable(path: Path, error: OSError) -> DmlError:
    message = f"cannot write {quote(str(path))}: {error.strerror}"
    return DmlError(OUTPUT_UNWRITABLE.at(message, found=str(path)))
