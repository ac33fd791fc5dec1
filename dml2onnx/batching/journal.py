"""The journal of a batch: JSON lines that are only appended, so that the next call can continue.

Each line is written at once. A killed program leaves whole lines and at most one partial line, which the next call
skips. ``dml2onnx schema journal`` prints the JSON Schema of a line.

A call locks its journal, to keep others from doing the same work; the system releases the lock with the process.
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
from dml2onnx.report.batched import JOURNAL_VERSION, Record, SourceFile, Work
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
"""The work that a power failure may lose; killing the program loses none."""
LOCKED = (1 << 31) - 2
"""The locked byte on Windows, where others cannot read locked bytes: the largest offset of msvcrt.locking."""
_START = b'{"journal": '


class Journal:
    """An open journal, with the earlier records of the same work by model and graph."""

    def __init__(self, path: Path, work: Work) -> None:
        """Raises :class:`DmlError` for a file that is not a journal (DML3035), or that another call uses (DML3037)."""
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
            message = f"{quote(str(self._path))} is not a regular file, so it cannot be read later"
            raise UnreadableError(BAD_JOURNAL.at(message, expected="a journal, or no file", found="a device or a pipe"))
        if not _lock(self._file):
            message = f"another batch uses the journal {quote(str(self._path))}"
            raise UnreadableError(JOURNAL_IN_USE.at(message, expected="one batch at a time", found=str(self._path)))

    def _read(self, work: Work) -> None:
        is_known = False
        last = b"\n"
        with open(os.dup(self._file), "rb") as lines:
            for number, line in enumerate(lines):
                if not number and not _is_beginning(line.rstrip(b"\n")):
                    message = f"{quote(str(self._path))} exists and is not a journal of a batch"
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
            message = f"{quote(str(self._path))} is a journal of version {version}, which this dml2onnx cannot read"
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


def _lock(file: int) -> bool:
    """Locks the file, if its file system supports locks; returns False if another process has locked it."""
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
        return error.errno not in (errno.EAGAIN, errno.EACCES)
    return True


def encoded(line: dict[str, Json]) -> bytes:
    """A line of the journal."""
    return json.dumps(line, allow_nan=False).encode() + b"\n"


def _is_beginning(line: bytes) -> bool:
    """Whether this is the first line of a journal, or a part of it."""
    return line.startswith(_START) or (line != b"" and _START.startswith(line))


def _parsed(line: bytes) -> dict[str, Json] | None:
    """The members of a line, or ``None`` if it is partial or not from us."""
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) and "work" in value else None


def _record(line: dict[str, Json]) -> Record | None:
    """The record in a line, or ``None`` if somebody has changed it."""
    texts = [*(line.get(name) for name in ("model", "work", "status")), line.get("graph", ""), line.get("output", "")]
    has_types = isinstance(line.get("answer"), dict) and isinstance(line.get("seconds"), (int, float))
    try:
        record = record_of(line)
        texts += [text for source in record.sources for text in (source.path, source.digest)]
        texts += [item.message for item in record.diagnostics]
    except (AssertionError, AttributeError, LookupError, TypeError, ValueError):  # other members or forms
        return None
    return record if has_types and all(isinstance(text, str) for text in texts) else None


def record_of(line: dict[str, Json]) -> Record:
    """The record in a line; raises various errors if somebody has changed it."""
    members = dict(line)
    sources = members.pop("sources", [])
    assert isinstance(sources, list)
    found = tuple(SourceFile(**item) for item in sources)  # type: ignore[arg-type]  # as written by SourceFile
    return Record(sources=found, **members)  # type: ignore[arg-type]  # as written by Record


def _unwritable(path: Path, error: OSError) -> DmlError:
    message = f"cannot write {quote(str(path))}: {error.strerror}"
    return DmlError(OUTPUT_UNWRITABLE.at(message, found=str(path)))
