"""From a file to decoded JSON: encoding, grammar, duplicate members, and what DxDispatch tolerates beyond JSON.

Everything that stops here is an :class:`~dml2onnx.diagnostics.UnreadableError`: without a root object there is nothing
to say more about.
"""

from __future__ import annotations

import codecs
import json
import re
import stat
from collections import Counter
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from dml2onnx.codes import unreadable
from dml2onnx.diagnostics import UnreadableError
from dml2onnx.frontends.files import lfs_pointer
from dml2onnx.frontends.findings import pointer, quote, show
from dml2onnx.frontends.members import Json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from dml2onnx.diagnostics import Code

_STRING = r'"(?:[^"\\]+|\\[\s\S])*+"?'
_COMMENT = re.compile(rf"{_STRING}|//[^\n]*|/\*(?:[\s\S]*?\*/|[\s\S]*)")
"""An unclosed comment goes on to the end, lest every further beginning of one be followed to there."""
_LAST_COMMA = re.compile(rf"{_STRING}|,(?=\s*[\]}}])")
_LITERAL = re.compile(rf"{_STRING}|(-?Infinity|NaN)")
_SURROGATE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|[\s\S])"
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_WORDS = MappingProxyType({"True": "true", "False": "false", "None": "null", "nan": '"nan"', "inf": '"inf"'})
"""What other languages write, and JSON."""
SERIALIZED_SUFFIX = ".bin"
"""Of serialized graphs, and of the files of their constants."""
_OFFSET_BYTES = 4
_LONG_NUMBER = 4000
"""Digits from which on Python refuses to convert decimal text to a whole number."""


@dataclass(frozen=True, slots=True)
class Document:
    """A decoded model file.

    Of members of one name the first is in ``root``; ``duplicates`` has all of them, by the identity of their object.
    """

    path: Path
    root: Json
    strict_error: UnreadableError | None = None
    """What is wrong with it as strict JSON, such as comments, trailing commas or a tail, which DxDispatch accepts."""
    commented_error: UnreadableError | None = None
    """What is wrong with it apart from comments, which the native format has as well."""
    duplicates: dict[int, list[tuple[str, object]]] = field(default_factory=dict)
    marked: bool = False
    """Whether the text starts with a byte order mark, which is skipped."""

    def repeated(self) -> Iterator[tuple[str, str]]:
        """(pointer, name) of every member that is given more than once."""
        pending: list[tuple[str, object]] = [("", self.root)] if self.duplicates else []
        while pending:
            place, value = pending.pop()
            if isinstance(value, dict):
                counts = Counter(name for name, _ in self.duplicates.get(id(value), ()))
                yield from ((place + pointer(name), name) for name, count in counts.items() if count > 1)
                pending.extend((place + pointer(name), item) for name, item in value.items() if _is_nested(item))
            elif isinstance(value, list):
                pending.extend((f"{place}/{index}", item) for index, item in enumerate(value) if _is_nested(item))


def _is_nested(value: object) -> bool:
    return isinstance(value, dict | list)


def read_document(path: Path, data: bytes) -> Document:
    """Decodes the contents of a file; :class:`UnreadableError` for all that does not hold a JSON object."""
    text, marked = _decode_text(path, data)
    shown = quote(str(path))
    duplicates: dict[int, list[tuple[str, object]]] = {}
    strict_error = commented_error = None
    try:
        root = _decode(shown, text, text, duplicates, whole=True)
    except UnreadableError as error:
        strict_error = error
        duplicates.clear()
        bare = without_comments(text)
        try:
            root = _decode(shown, bare, text, duplicates, whole=True)
        except UnreadableError as other:
            commented_error = other
            duplicates.clear()
            root = _decode(shown, _relax(bare), text, duplicates, whole=False)
    _refuse_surrogates(shown, text)
    if not isinstance(root, dict):
        if strict_error is not None:
            raise strict_error
        _refuse(
            unreadable.WRONG_ROOT, f"{shown} is {show(root)}, not an object", expected="an object", found=show(root)
        )
    return Document(path, root, strict_error, commented_error, duplicates, marked)


def _refuse(code: Code, message: str, expected: str = "", found: str = "") -> NoReturn:
    raise UnreadableError(code.at(message, expected=expected, found=found)) from None


def read_file(path: Path, max_bytes: int) -> bytes:
    """The contents of a model file of at most ``max_bytes``; :class:`UnreadableError` when there are none to be had."""
    shown = quote(str(path))
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            what = "a directory" if stat.S_ISDIR(status.st_mode) else "not a regular file"
            _refuse(unreadable.NOT_A_FILE, f"{shown} is {what}", "a file", what)
        if status.st_size > max_bytes:
            _refuse(
                unreadable.FILE_TOO_LARGE,
                f"{shown} has {status.st_size} bytes",
                f"at most {max_bytes} bytes of text",
                f"{status.st_size} bytes",
            )
        data = path.read_bytes()
    except FileNotFoundError:
        _refuse(unreadable.NO_SUCH_FILE, f"{shown} does not exist", "a file")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        _refuse(unreadable.CANNOT_READ, f"{shown} cannot be read: {reason}", found=reason)
    pointer = lfs_pointer(shown, data)
    if pointer is not None:
        _refuse(pointer.code, str(pointer), pointer.expected, pointer.found)
    return data


def _decode_text(path: Path, data: bytes) -> tuple[str, bool]:
    """The text of a file, and whether it starts with a byte order mark, which is left out."""
    shown = quote(str(path))
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        _refuse(unreadable.BYTE_ORDER_MARK, f"{shown} is UTF-16 text", "UTF-8", "a UTF-16 byte order mark")
    if b"\0" in (data[:1], data[1:2]) and data[:4].count(b"\0") == 2 and b"{" in data[:2]:
        _refuse(unreadable.BYTE_ORDER_MARK, f"{shown} is UTF-16 text", "UTF-8", "UTF-16 without a byte order mark")
    if _is_onnx(path, data):
        _refuse(unreadable.ONNX_MODEL, f"{shown} is an ONNX model already", "a DirectML graph as JSON", "an ONNX model")
    marked = data.startswith(codecs.BOM_UTF8)
    if marked:
        data = data[len(codecs.BOM_UTF8) :]
    if not data.strip():
        _refuse(unreadable.NOT_JSON, f"{shown} is empty", "a JSON object", "nothing")
    try:
        return data.decode("utf-8"), marked
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{data[error.start]:02x} at offset {error.start}"
        _refuse(unreadable.NOT_UTF8, f"{shown} is not UTF-8 text: {found} (line {line})", "UTF-8", found)


def _is_onnx(path: Path, data: bytes) -> bool:
    """Whether the bytes are a serialized ``onnx.ModelProto``: its version, a small number, comes first of all."""
    return (
        data.startswith(b"\x08")
        or is_ort(data)
        or (path.suffix.lower() == ".onnx" and not data.lstrip().startswith(b"{"))
    )


def is_ort(data: bytes) -> bool:
    """Whether the bytes are an ONNX model in ONNX Runtime's own format, by the identifier of that FlatBuffers file."""
    return data[4:8] == b"ORTM"


def is_serialized(path: Path, data: bytes) -> bool:
    """Whether the contents of a file are meant to be a serialized graph.

    There is no magic number. A file starts with the offset of its root, a small multiple of 4, so that one of the first
    bytes is zero, which no text has. ONNX models start with a version that is not 0. By its suffix a file is told when
    even that is damaged.
    """
    start = data[:_OFFSET_BYTES]
    if (start[:1] == b"\x08" and start[1:2] != b"\0") or is_ort(data):
        return False
    root = int.from_bytes(start, "little")
    if 0 in start and not root % _OFFSET_BYTES and root + _OFFSET_BYTES <= len(data):
        return True
    if path.suffix.lower() != SERIALIZED_SUFFIX or start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return False
    try:
        return bool(data) and not data.decode("utf-8").lstrip("\ufeff \t\r\n").startswith(("{", "[", '"', "/"))
    except UnicodeDecodeError:
        return True


def _decode(
    shown: str, text: str, original: str, duplicates: dict[int, list[tuple[str, object]]], *, whole: bool
) -> object:
    def members(pairs: list[tuple[str, object]]) -> Json:
        made = dict(pairs)
        if len(made) != len(pairs):
            made.clear()
            for name, value in pairs:
                made.setdefault(name, value)
            duplicates[id(made)] = pairs
        return made

    def constant(literal: str) -> NoReturn:
        raise _LiteralError(literal)

    def run(hook: Callable[..., object], name: str, parse_int: Callable[[str], int | float] | None) -> object:
        hooks: dict[str, Any] = {name: hook, "parse_constant": constant, "parse_int": parse_int}
        engine = json.JSONDecoder(**hooks)
        if whole:
            return engine.decode(text)
        return engine.raw_decode(text, len(text) - len(text.lstrip(" \t\r\n")))[0]

    def decoded(parse_int: Callable[[str], int | float] | None = None) -> object:
        kept = 0

        def count(made: Json) -> Json:
            nonlocal kept
            kept += len(made)
            return made

        root = run(count, "object_hook", parse_int)
        # Where as many members are kept as there are colons, no object has two of one name. To be told of all names in
        # their order would take half as long as the reading itself.
        if kept == text.count(":") or kept == _most_members(text):
            return root
        return run(members, "object_pairs_hook", parse_int)

    try:
        try:
            return decoded()
        except json.JSONDecodeError:
            raise
        except ValueError as error:
            if isinstance(error, _LiteralError):
                raise
            # Python refuses whole numbers of thousands of digits; beyond every integer type, they are read as doubles.
            duplicates.clear()
            return decoded(lambda digits: float(digits) if len(digits) > _LONG_NUMBER else int(digits))
    except _LiteralError:
        place = next((match for match in _LITERAL.finditer(text) if match[1]), None)
        line, column = _place(original, place.start() if place else 0)
        literal = place[1] if place else "NaN"
        _refuse(
            unreadable.NOT_A_NUMBER_LITERAL,
            f"{shown}, line {line}, column {column}: {literal} is not JSON",
            'a number, or "nan", "inf" or "-inf" in quotes',
            literal,
        )
    except json.JSONDecodeError as error:
        line, column = _place(original, error.pos)
        reason, expected = _syntax(error, original)
        _refuse(unreadable.NOT_JSON, f"{shown}, line {line}, column {column}: {reason}", expected, reason)
    except RecursionError:
        _refuse(unreadable.TOO_DEEP, f"{shown}: arrays or objects are nested hundreds of levels deep")


def _syntax(error: json.JSONDecodeError, text: str) -> tuple[str, str]:
    """What breaks the grammar, and what would not."""
    if text.startswith(("//", "/*"), error.pos):
        return "a comment starts here, which only native and DxDispatch models may have", "JSON without comments"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return "the text ends in the middle of the model; is the file truncated?", "the rest of the model"
    rest, before = text[error.pos :], text[: error.pos].rstrip()
    if (rest[:1] in ("}", "]") and before.endswith(",")) or error.msg.startswith("Illegal trailing comma"):
        return "a comma stands in front of a closing bracket", "no comma behind the last member"
    if rest.startswith("'"):
        return "a single quote begins a text here", "text in double quotes"
    word = _WORD.match(rest)
    if word is not None and error.msg.startswith(("Expecting value", "Expecting property name")):
        return f"{quote(word[0])} stands here without quotes", _WORDS.get(word[0], "text in double quotes")
    if error.msg.startswith("Invalid \\escape"):
        return "a backslash stands in text that escapes nothing", r"two backslashes for one, as in C:\\models"
    if error.msg.startswith("Invalid control character"):
        return "a line ends, or a tab stands, in the middle of a text", r"\n or \t in its place"
    if error.msg == "Expecting ',' delimiter":
        return "something else stands where a comma or a closing bracket is expected", "a comma or a closing bracket"
    reason = error.msg[0].lower() + error.msg[1:]
    return reason, "JSON"


def _most_members(text: str) -> int:
    """As many members as objects can have in a text: its colons behind quotes or blanks, of which strings have few."""
    return sum(text.count(f"{before}:") for before in '" \t\r\n')


class _LiteralError(ValueError):
    """One of the literals that Python's reader accepts and JSON does not have."""


def _place(text: str, position: int) -> tuple[int, int]:
    """Line and column, both counted from 1."""
    return text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)


def without_comments(text: str) -> str:
    """Blanks out comments; every other character keeps its place."""

    def blank(match: re.Match[str]) -> str:
        token = match[0]
        is_open = token.startswith("/*") and (len(token) < 4 or not token.endswith("*/"))
        return token if token[0] == '"' or is_open else re.sub(r"[^\n]", " ", token)

    return _COMMENT.sub(blank, text)


def _relax(bare: str) -> str:
    """Blanks out single trailing commas of a text without comments; every other character keeps its place."""

    def comma(match: re.Match[str]) -> str:
        if match[0] != ",":
            return match[0]
        before = match.start() - 1
        while before >= 0 and bare[before] in " \t\r\n":
            before -= 1
        return " " if before >= 0 and bare[before] not in "[{,:" else ","

    return _LAST_COMMA.sub(comma, bare)


def _refuse_surrogates(shown: str, text: str) -> None:
    if "\\" not in text or "\\u" not in text:  # a single character is found much faster
        return
    for match in _SURROGATE.finditer(text):
        if match[1]:
            line, column = _place(text, match.start())
            escape = f"\\{match[1]}"
            _refuse(
                unreadable.LONE_SURROGATE,
                f"{shown}, line {line}, column {column}: {escape} is half of a surrogate pair",
                "a pair of surrogates or the character itself",
                escape,
            )
