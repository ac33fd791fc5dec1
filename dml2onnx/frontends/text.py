"""Decodes files to JSON: encoding, grammar, duplicate members, and DxDispatch's extensions of JSON.

All errors are :class:`~dml2onnx.diagnostics.UnreadableError`, since nothing else can be checked without a root object.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import stat
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

from dml2onnx.catalog.likeness import nearest, question
from dml2onnx.codes import unreadable
from dml2onnx.diagnostics import LONGEST_QUOTE, Code, Location, UnreadableError, plural, shortened, visible
from dml2onnx.frontends import foreign
from dml2onnx.frontends.files import lfs_pointer
from dml2onnx.frontends.findings import pointer, quote, show
from dml2onnx.frontends.members import Json

_STRING = r'"(?:[^"\\]+|\\[\s\S])*+"?'
_COMMENT = re.compile(rf"{_STRING}|//[^\n]*|/\*(?:[\s\S]*?\*/|[\s\S]*)")
"""An unclosed comment extends to the end; otherwise each further start of one would be searched to the end, too."""
_LAST_COMMA = re.compile(rf"{_STRING}|,(?=\s*[\]}}])")
_LITERAL = re.compile(rf"{_STRING}|(-?Infinity|NaN)")
_SURROGATE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|[\s\S])"
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_WORDS = MappingProxyType(
    {
        "True": "true",
        "False": "false",
        "TRUE": "true",
        "FALSE": "false",
        "None": "null",
        "NULL": "null",
        "nullptr": "null",
        "nan": '"nan"',
        "inf": '"inf"',
    }
)
"""Literals of other languages, in JSON."""
_BARE_NUMBER = re.compile(r"(?P<sign>[-+]?)(?=\.?\d)(?P<whole>\d*)(?P<rest>\.\d+(?:[eE][-+]?\d+)?)?")
"""A number that is invalid in JSON: without a digit before the point, or with a plus sign."""
_END_OF_NUMBER = re.compile(r"(-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)[ \t]*\Z")
_CPP_SUFFIX = re.compile(r"[fFuUlL]{1,3}\b")
_HEXADECIMAL = re.compile(r"0[xX]([0-9a-fA-F]{1,16})[uUlL]{0,3}\b")
_TERM = re.compile(r"\d{1,9}(?:\s*(?:\*|<<|\+|-)\s*\d{1,9}){1,7}(?!\w|\s*[*/+<(.-])")
_BRACES = re.compile(r"\{(\s*-?\d[\d\s,.eE+-]*)\}")
_WORD_START = re.compile(r"(?<!\w)(?:null|true|false)\Z")
_WORD_REST = re.compile(r"\w+")
MAX_NUMBER_LENGTH = 40
"""The most characters of a C++ number: the text before an error may be megabytes of digits."""
_CLOSING = MappingProxyType({"{": "}", "[": "]"})
_BRACKET = re.compile(rf"{_STRING}|[{{}}\[\]]")
_TOKEN = re.compile(rf"{_STRING}|[\w.+-]+|\S")
LONGEST_LINE = 160
"""The most characters of an excerpt: a model may be a single line of millions."""
MAX_NEIGHBOURS = 1000
"""The most files of a directory that are searched for a similar name."""
_SLIP = 0.8
SERIALIZED_SUFFIX = ".bin"
"""The suffix of serialized graphs and of the files of their constants."""
_OFFSET_BYTES = 4
_MAX_PARSED_DIGITS = 4000
"""Whole numbers of more digits are parsed as floats, since Python limits the digits of integers."""


@dataclass(frozen=True, slots=True)
class Document:
    """A decoded model file.

    ``root`` has the first of several members with one name; ``duplicates`` has all, by the ``id`` of their object.
    """

    path: Path
    root: Json
    strict_error: UnreadableError | None = None
    """The first violation of strict JSON, such as a comment, a trailing comma or a tail, which DxDispatch accepts."""
    commented_error: UnreadableError | None = None
    """The first violation apart from comments, which the native format accepts."""
    duplicates: dict[int, list[tuple[str, object]]] = field(default_factory=dict)
    marked: bool = False
    """Whether the text starts with a byte order mark, which is skipped."""

    def repeated(self) -> Iterator[tuple[str, str]]:
        """Yields (pointer, name) of every repeated member."""
        pending: list[tuple[str, object]] = [("", self.root)] if self.duplicates else []
        while pending:
            place, value = pending.pop()
            if isinstance(value, dict):
                counts = Counter(name for name, _ in self.duplicates.get(id(value), ()))
                yield from ((place + pointer(name), name) for name, count in counts.items() if count > 1)
                pending.extend((place + pointer(name), item) for name, item in value.items() if _is_container(item))
            elif isinstance(value, list):
                pending.extend((f"{place}/{index}", item) for index, item in enumerate(value) if _is_container(item))


def _is_container(value: object) -> bool:
    return isinstance(value, dict | list)


def read_document(path: Path, data: bytes) -> Document:
    """Decodes the contents of a file; raises :class:`UnreadableError` unless it is a JSON object."""
    text, marked = _decode_text(path, data)
    shown = quote(str(path))
    duplicates: dict[int, list[tuple[str, object]]] = {}
    strict_error = commented_error = None
    try:
        root = _decode(path, text, text, duplicates, whole=True)
    except UnreadableError as error:
        strict_error = error
        duplicates.clear()
        bare = without_comments(text)
        try:
            root = _decode(path, bare, text, duplicates, whole=True)
        except UnreadableError as other:
            commented_error = other
            duplicates.clear()
            root = _decode(path, _blank_trailing_commas(bare), text, duplicates, whole=False)
    _reject_surrogates(path, text)
    if not isinstance(root, dict):
        if strict_error is not None:
            raise strict_error
        _reject(
            unreadable.WRONG_ROOT, f"{shown} is {show(root)}, not an object", expected="an object", found=show(root)
        )
    return Document(path, root, strict_error, commented_error, duplicates, marked)


def _reject(code: Code, message: str, expected: str = "", found: str = "") -> NoReturn:
    raise UnreadableError(code.at(message, expected=expected, found=found)) from None


def _reject_at(
    path: Path, text: str, span: tuple[int, int], code: Code, message: str, expected: str = "", found: str = ""
) -> NoReturn:
    """Rejects a file because of an error at a position of its text."""
    finding = code.at(message, expected=expected, found=found)
    raise UnreadableError(replace(finding, file=str(path), **location(text, *span)._asdict())) from None


def line_starts(text: str) -> list[int]:
    """Returns the start of each line, and of one more after the end."""
    return [0, *(match.end() for match in re.finditer("\n", text)), len(text) + 1]


def location(text: str, start: int, end: int, starts: Sequence[int] | None = None) -> Location:
    """Returns the line and columns of a range of text; if it spans several lines, of the first.

    Callers with many positions compute ``starts`` once by :func:`line_starts`.
    """
    starts = line_starts(text) if starts is None else starts
    line = bisect_right(starts, start, hi=len(starts) - 1)
    first, last = starts[line - 1], starts[line] - 1
    if text.endswith("\r", first, last):
        last -= 1
    offset = start - first
    begin = max(0, min(offset - LONGEST_LINE // 3, last - first - LONGEST_LINE))
    excerpt = text[first + begin : min(first + begin + LONGEST_LINE, last)]
    before = "".join(char if char == "\t" else " " for char in excerpt[: offset - begin])
    length = min(end, last) - first - offset
    marker = before + "^" * max(min(length, len(excerpt) - len(before)), 1)
    return Location(line, offset + 1, offset + length + 1, excerpt, marker)


def neighbour(path: Path, *, directories: bool = False) -> str:
    """Suggests a file, or also a directory, with a similar name in the same directory."""
    try:
        with os.scandir(path.parent) as entries:
            names = [entry.name for entry in islice(entries, MAX_NEIGHBOURS) if directories or entry.is_file()]
    except (OSError, ValueError):
        return ""
    close = nearest(path.name, names, _SLIP)
    return question([quote(str(path.with_name(name))) for name in close])


def _pattern_hint(path: Path) -> str:
    """Explains a glob pattern that the shell did not expand; empty for other names."""
    if not re.search(r"[*?]", path.name):
        return ""
    names = sorted(item.name for item in islice(path.parent.glob(path.name), MAX_NEIGHBOURS))
    found = f"{plural(len(names), 'file')}, such as {quote(names[0])}" if names else "nothing"
    return f"; it is a pattern, which the shell has not expanded, and matches {found} in {quote(str(path.parent))}"


def read_file(path: Path, max_bytes: int) -> bytes:
    """Reads a model file of at most ``max_bytes``; raises :class:`UnreadableError`."""
    shown = quote(str(path))
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            if stat.S_ISDIR(status.st_mode):
                _reject_directory(path)
            _reject(unreadable.NOT_A_FILE, f"{shown} is not a regular file", "a file", "not a regular file")
        if status.st_size > max_bytes:
            found = f"{status.st_size} bytes"
            _reject(unreadable.FILE_TOO_LARGE, f"{shown} has {found}", f"at most {max_bytes} bytes of text", found)
        data = path.read_bytes()
    except FileNotFoundError:
        _reject(unreadable.NO_SUCH_FILE, f"{shown} does not exist{_pattern_hint(path) or neighbour(path)}", "a file")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        _reject(unreadable.CANNOT_READ, f"{shown} cannot be read: {reason}", found=reason)
    pointer = lfs_pointer(shown, data)
    if pointer is not None:
        _reject(pointer.code, str(pointer), pointer.expected, pointer.found)
    return data


def _reject_directory(path: Path) -> NoReturn:
    """Rejects a directory that is not a recording, and names a model in it."""
    models = [item.name for item in sorted(path.iterdir()) if item.suffix in _MODELS and item.is_file()]
    expected = f"a file, such as {quote(str(path / models[0]))}" if models else _RECORDING
    message = f"{quote(str(path))} is a directory without recording.json"
    _reject(unreadable.NOT_A_FILE, message, expected, "a directory")


_MODELS = (".json", ".bin")
_RECORDING = "a file, or the directory that a program has written which runs with dml2onnx_recorder.h"

_IN_CPP = "a C++ program", "its graphs are recorded with the header that dml2onnx recorder writes"
_PROGRAMS = MappingProxyType(
    {
        ".py": ("a Python program", "run it with Python, or with dml2onnx pydirectml"),
        **dict.fromkeys((".cpp", ".cc", ".cxx", ".h"), _IN_CPP),
    }
)
"""Source files, and how to get graphs from them."""


def _decode_text(path: Path, data: bytes) -> tuple[str, bool]:
    """Decodes a file; returns its text without a byte order mark, and whether it has one."""
    shown = quote(str(path))
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        _reject(unreadable.BYTE_ORDER_MARK, f"{shown} is UTF-16 text", "UTF-8", "a UTF-16 byte order mark")
    if b"\0" in (data[:1], data[1:2]) and data[:4].count(b"\0") == 2 and b"{" in data[:2]:
        _reject(unreadable.BYTE_ORDER_MARK, f"{shown} is UTF-16 text", "UTF-8", "UTF-16 without a byte order mark")
    if _is_onnx(path, data):
        made_of = [name for suffix in _MODELS if (name := path.with_suffix(suffix)).is_file()]
        such_as = f", such as {quote(str(made_of[0]))}" if made_of else ", which options such as --half take"
        expected = f"the DirectML graph that it was made of{such_as}"
        _reject(unreadable.ONNX_MODEL, f"{shown} is an ONNX model already", expected, "an ONNX model")
    other = foreign.recognize_bytes(data)
    if other is not None:
        _reject(unreadable.NOT_JSON, f"{shown} {other.what}", other.instead, other.what.partition(",")[0][3:])
    if path.suffix in _PROGRAMS and not data.lstrip().startswith(b"{"):
        what, instead = _PROGRAMS[path.suffix]
        _reject(unreadable.NOT_JSON, f"{shown} is {what}", f"a graph; {instead}", "a program")
    marked = data.startswith(codecs.BOM_UTF8)
    if marked:
        data = data[len(codecs.BOM_UTF8) :]
    if not data.strip():
        _reject(unreadable.NOT_JSON, f"{shown} is empty", "a JSON object", "nothing")
    try:
        return data.decode("utf-8"), marked
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{data[error.start]:02x} at offset {error.start}"
        _reject(unreadable.NOT_UTF8, f"{shown} is not UTF-8 text: {found} (line {line})", "UTF-8", found)


def _is_onnx(path: Path, data: bytes) -> bool:
    """Whether the bytes are a serialized ``onnx.ModelProto``, which starts with its version."""
    return (
        data.startswith(b"\x08")
        or is_ort(data)
        or (path.suffix.lower() == ".onnx" and not data.lstrip().startswith(b"{"))
    )


def is_ort(data: bytes) -> bool:
    """Whether the bytes are an ONNX model in ONNX Runtime's format, by the FlatBuffers file identifier."""
    return data[4:8] == b"ORTM"


def is_serialized(path: Path, data: bytes) -> bool:
    """Whether a file is a serialized graph.

    There is no magic number. A file starts with the offset of its root, a small multiple of 4, so one of the first
    bytes is zero, unlike in text. ONNX models start with a version that is not 0. The suffix decides for damaged files.
    """
    start = data[:_OFFSET_BYTES]
    if (start[:1] == b"\x08" and start[1:2] != b"\0") or is_ort(data) or data[4:8] == foreign.TFLITE:
        return False
    root = int.from_bytes(start, "little")
    if 0 in start and not root % _OFFSET_BYTES and root + _OFFSET_BYTES <= len(data):
        return True
    if foreign.recognize_bytes(data) is not None:
        return False
    if path.suffix.lower() != SERIALIZED_SUFFIX or start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return False
    try:
        return bool(data) and not data.decode("utf-8").lstrip("\ufeff \t\r\n").startswith(("{", "[", '"', "/"))
    except UnicodeDecodeError:
        return True


def _decode(
    path: Path, text: str, original: str, duplicates: dict[int, list[tuple[str, object]]], *, whole: bool
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
        # If the number of members equals the number of colons, no object has duplicates. Collecting all pairs would
        # take half as long as parsing itself.
        if kept == text.count(":") or kept == _max_members(text):
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
            # Python rejects integers of thousands of digits; these exceed every integer type and are read as doubles.
            duplicates.clear()
            return decoded(lambda digits: float(digits) if len(digits) > _MAX_PARSED_DIGITS else int(digits))
    except _LiteralError:
        place = next((match for match in _LITERAL.finditer(text) if match[1]), None)
        literal = place[1] if place else "NaN"
        span = place.span() if place else (0, 1)
        expected = 'a number, or "nan", "inf" or "-inf" in quotes'
        _reject_at(path, original, span, unreadable.NOT_A_NUMBER_LITERAL, f"{literal} is not JSON", expected, literal)
    except json.JSONDecodeError as error:
        span, reason, expected, found = _syntax(error, text, original)
        _reject_at(path, original, span, unreadable.NOT_JSON, reason, expected, found)
    except RecursionError:
        _reject(unreadable.TOO_DEEP, f"{quote(str(path))}: arrays or objects are nested hundreds of levels deep")


def _syntax(error: json.JSONDecodeError, bare: str, text: str) -> tuple[tuple[int, int], str, str, str]:
    """Explains a syntax error: its span, the reason, the expected text and the text found."""
    start = error.pos
    rest, before = text[start:], text[:start].rstrip()
    token = _TOKEN.match(rest)
    found = token[0] if token else ""
    span = (start, start + max(len(found), 1))
    if rest.startswith(("//", "/*")):
        reason = "a comment starts here, which only native and DxDispatch models may have"
        return (start, start + 2), reason, "JSON without comments", rest[:2]
    if start >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        reason, expected = _truncated(bare, start, is_text=start < len(text.rstrip()))
        end = len(text.rstrip())
        return (max(end - 1, 0), end) if start >= end else span, reason, expected, "the end of the file"
    if error.msg.startswith("Illegal trailing comma"):  # newer releases of Python report the comma
        return span, "a trailing comma before a closing bracket", "no comma after the last member", ","
    if found in ("}", "]") and before.endswith(","):
        span = len(before) - 1, len(before)
        return span, "a trailing comma before a closing bracket", "no comma after the last member", ","
    if rest.startswith("'"):
        quoted = re.match(r"'[^'\n]*'?", rest)
        found = quoted[0] if quoted else "'"
        reason = f"{found} is in single quotes"
        return (start, start + len(found)), reason, f'text in double quotes: "{found.strip(chr(39))}"', found
    if rest.startswith("#"):
        return span, '"#" does not start a comment', "// to start a comment, or JSON", found
    number = _BARE_NUMBER.match(rest)
    if number is not None and error.msg.startswith("Expecting value"):
        meant = f"{number['sign'].replace('+', '')}{number['whole'] or 0}{number['rest'] or ''}"
        return (start, start + len(number[0])), f"{number[0]} is no number of JSON", meant, number[0]
    if error.msg.startswith("Expecting property name") and (braces := _BRACES.match(bare, start - 1)) is not None:
        return braces.span(), f"{braces[0]} is in the braces of C++", f"[{braces[1].strip()}]", braces[0]
    word = _WORD.match(rest)
    if word is not None and error.msg.startswith(("Expecting value", "Expecting property name")):
        expected = _WORDS.get(word[0], f'text in double quotes: "{word[0]}"')
        return (start, start + len(word[0])), f"{quote(word[0])} is not in quotes", expected, word[0]
    if error.msg.startswith("Invalid \\escape"):
        reason = "a backslash in text escapes nothing"
        return (start, start + 2), reason, r"two backslashes for one, as in C:\\models", text[start : start + 2]
    if error.msg.startswith("Invalid control character"):
        reason = "a string contains a line break or a tab"
        return (start, start + 1), reason, r"\n or \t in its place", ""
    if error.msg == "Expecting ',' delimiter" and (parts := _cpp_literal(bare, start)) is not None:
        (begin, end), what, meant = parts
        return (begin, end), f"{bare[begin:end]} {what}", meant, bare[begin:end]
    if error.msg == "Expecting ',' delimiter":
        return span, *_missing_delimiter(bare, start, found), found
    if error.msg == "Expecting ':' delimiter":
        return span, f"{_shown(found)} found in place of a colon after the name of a member", "a colon", found
    if error.msg.startswith("Extra data"):
        return span, f"{_shown(found)} follows the end of the model", "nothing more", found
    return span, f"{_shown(found)} found where {_EXPECTED.get(error.msg, error.msg)}", "JSON", found


_EXPECTED = MappingProxyType(
    {
        "Expecting value": "a value is expected: a number, a text in double quotes, true, false, null, { or [",
        "Expecting property name enclosed in double quotes": "the name of a member in double quotes is expected",
    }
)


def _cpp_literal(text: str, start: int) -> tuple[tuple[int, int], str, str] | None:
    """Recognizes C++ such as 0.5f, 0x10, 2 * 3 or nullptr after a JSON value: its span, kind, and JSON equivalent."""
    first = max(start - MAX_NUMBER_LENGTH, 0)
    word = _WORD_START.search(text, first, start)
    if word is not None and (rest := _WORD_REST.match(text, start)) is not None:
        whole = word[0] + rest[0]
        return (word.start(), rest.end()), "is a word of C++", _WORDS.get(whole, f'text in double quotes: "{whole}"')
    number = _END_OF_NUMBER.search(text[first:start])
    if number is None:
        return None
    begin = first + number.start(1)
    if (suffix := _CPP_SUFFIX.match(text, start)) is not None:
        return (begin, suffix.end()), "is a number of C++", number[1]
    if (hexadecimal := _HEXADECIMAL.match(text, begin)) is not None:
        return hexadecimal.span(), "is a number of C++", str(int(hexadecimal[1], 16))
    if (term := _TERM.match(text, begin)) is not None:
        value = _evaluate(term[0])
        return None if value is None else (term.span(), "is a term of C++", str(value))
    return None


def _evaluate(term: str) -> int | None:
    """Evaluates an expression of whole numbers with ``*``, ``+``, ``-`` or one ``<<``; ``None`` beyond 63 bits."""
    left, shift, right = term.partition("<<")
    if shift:
        is_plain = left.strip().isdigit() and right.strip().isdigit() and int(right) < 32
        return int(left) << int(right) if is_plain else None
    value = 0
    for sign, product in re.findall(r"([+-]?)\s*(\d+(?:\s*\*\s*\d+)*)", term):
        value += prod(map(int, re.findall(r"\d+", product))) * (-1 if sign == "-" else 1)
    return value if 0 <= value < 1 << 63 else None


def _shown(token: str) -> str:
    return visible(shortened(token, LONGEST_QUOTE)) if token.startswith('"') else quote(token)


def _open_brackets(text: str, end: int) -> list[tuple[str, int]]:
    """Returns the open brackets before ``end``, with their positions."""
    found: list[tuple[str, int]] = []
    for match in _BRACKET.finditer(text, 0, end):
        if match[0] in "{[":
            found.append((match[0], match.start()))
        elif match[0] in "}]" and found:
            found.pop()
    return found


def _missing_delimiter(text: str, start: int, found: str) -> tuple[str, str]:
    """Explains a missing comma or closing bracket: the reason and the expected text."""
    above = _open_brackets(text, start)
    closing = _CLOSING[above[-1][0]] if above else "}"
    if found in ("}", "]") and above:
        bracket, at = above[-1]
        line, column = _line_and_column(text, at)
        reason = f'{_shown(found)} found where "{closing}" must close the "{bracket}" of line {line}, column {column}'
        return reason, closing
    last = len(text[:start].rstrip())
    where = f" after line {_line_and_column(text, last)[0]}" if "\n" in text[last:start] else ""
    return f"{_shown(found)} found where a comma is missing{where}", f'a comma, or "{closing}"'


def _truncated(text: str, start: int, *, is_text: bool) -> tuple[str, str]:
    """Explains a text that ends too early: the reason and the expected text."""
    above = _open_brackets(text, start)
    if is_text or not above:
        return "the text ends in the middle of the model; is the file truncated?", "the rest of the model"
    line, column = _line_and_column(text, above[-1][1])
    closing = "".join(_CLOSING[bracket] for bracket, _ in reversed(above))
    reason = f'the text ends inside of the "{above[-1][0]}" of line {line}, column {column}; is the file truncated?'
    return reason, f"the rest of the model, up to {closing}"


def _max_members(text: str) -> int:
    """Returns the likely number of members: the colons after quotes or blanks, of which strings have few."""
    return sum(text.count(f"{before}:") for before in '" \t\r\n')


class _LiteralError(ValueError):
    """A literal that Python's JSON parser accepts although JSON does not have it."""


def _line_and_column(text: str, position: int) -> tuple[int, int]:
    """Returns the line and column, from 1."""
    return text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)


def without_comments(text: str) -> str:
    """Replaces comments by blanks; all other characters keep their positions."""

    def blank(match: re.Match[str]) -> str:
        token = match[0]
        is_open = token.startswith("/*") and (len(token) < 4 or not token.endswith("*/"))
        return token if token[0] == '"' or is_open else re.sub(r"[^\n]", " ", token)

    return _COMMENT.sub(blank, text)


def _blank_trailing_commas(bare: str) -> str:
    """Replaces single trailing commas by blanks in a text without comments; other characters keep their positions."""

    def comma(match: re.Match[str]) -> str:
        if match[0] != ",":
            return match[0]
        before = match.start() - 1
        while before >= 0 and bare[before] in " \t\r\n":
            before -= 1
        return " " if before >= 0 and bare[before] not in "[{,:" else ","

    return _LAST_COMMA.sub(comma, bare)


def _reject_surrogates(path: Path, text: str) -> None:
    if "\\" not in text or "\\u" not in text:  # searching for a single character is much faster
        return
    for match in _SURROGATE.finditer(text):
        if match[1]:
            escape = f"\\{match[1]}"
            message, expected = f"{escape} is half of a surrogate pair", "a pair of surrogates or the character itself"
            _reject_at(path, text, match.span(), unreadable.LONE_SURROGATE, message, expected, escape)
