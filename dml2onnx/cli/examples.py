"""A wrong and a corrected example of each code, from ``schemas/diagnostics.json``.

Most are a model with one wrong member. The others are commands with their files, or a program.
"""

from __future__ import annotations

import base64
import copy
import json
import re
import sys
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from dml2onnx import catalog
from dml2onnx.diagnostics import unescape

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_ABSENT = object()
_IMPORTS = ("import ", "from ")
LONGEST_TEXT = 2000
"""Characters of a file up to which it is shown whole."""
LONGEST_BYTES = 16
"""Characters or bytes that are shown of other files."""
_INNERMOST = re.compile(r"\[[^\[\]{}]*\]|\{(?:[^{}\[\]]|\[[^\[\]{}]*\])*\}")


@dataclass(frozen=True, slots=True)
class WrongModelExample:
    """A correct model, and the one member that differs in the wrong model."""

    model: Mapping[str, Any]
    pointer: str
    """The JSON pointer of that member."""
    wrong: object
    """Its value in the wrong model, or ``_ABSENT``."""
    page: str
    """The page that states the rule, if any does."""

    @property
    def right_model(self) -> dict[str, Any]:
        """The corrected model."""
        return copy.deepcopy(dict(self.model))

    @property
    def wrong_model(self) -> dict[str, Any]:
        """The model with the code's finding."""
        model = self.right_model
        holder, key = _holder(model, self.pointer)
        if self.wrong is _ABSENT:
            del holder[key]
        else:
            holder[key] = self.wrong
        return model

    def lines(self) -> tuple[str, str]:
        """The object member that differs, in the wrong and in the corrected model."""
        pointer = self.pointer
        while not isinstance(_holder(self.right_model, pointer)[0], dict):
            pointer = pointer.rpartition("/")[0]
        return _member(self.wrong_model, pointer), _member(self.right_model, pointer)


@dataclass(frozen=True, slots=True)
class Demonstration:
    """An example of a code that does not depend on one member of a model."""

    files: Mapping[str, bytes]
    """The files that the commands read; empty for a program."""
    wrong: tuple[str, ...]
    """Commands, or the lines of a Python program."""
    corrected: tuple[str, ...]
    is_program: bool

    def listed(self) -> Iterator[tuple[str, str]]:
        """Yields each file with its text, or a summary of long or binary contents."""
        for name, data in self.files.items():
            yield name, _shown(data)


def _shown(data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if not text or "\0" in text:
        return f"{len(data)} bytes" if not any(data) else f"{len(data)} bytes, {data[:LONGEST_BYTES].hex(' ')} ..."
    if len(text) > LONGEST_TEXT:
        return f"{text[:LONGEST_BYTES]} ... ({len(text)} characters)"
    return text.rstrip("\n").replace("\ufeff", "\\ufeff")


def _holder(model: Any, pointer: str) -> tuple[Any, Any]:
    """The object or array that contains the target of a pointer, and its key or index."""
    *path, last = [unescape(token) for token in pointer.split("/")[1:]]
    for token in path:
        model = model[int(token)] if isinstance(model, list) else model[token]
    return model, int(last) if isinstance(model, list) else last


def _member(model: dict[str, Any], pointer: str) -> str:
    holder, key = _holder(model, pointer)
    return f"{json.dumps(key)}: {json.dumps(holder[key])}" if key in holder else f"no {json.dumps(key)}"


def text_of(model: dict[str, Any]) -> str:
    """A model as JSON, with each innermost array or object on one line."""

    def joined(match: re.Match[str]) -> str:
        line = re.sub(r"\s*\n\s*", " ", match[0])
        return line.replace("[ ", "[").replace(" ]", "]").replace("{ ", "{").replace(" }", "}")

    return _INNERMOST.sub(joined, json.dumps(model, indent=2, ensure_ascii=False))


def _read() -> dict[str, Any]:
    raw: dict[str, Any] = json.loads((catalog.schemas_directory() / "diagnostics.json").read_text(encoding="utf-8"))
    return raw


def _contents(raw: str | dict[str, Any]) -> bytes:
    if isinstance(raw, str):
        return raw.encode()
    return base64.b64decode(raw["base64"]) if "base64" in raw else (raw["repeated"] * raw["times"]).encode()


@cache
def demonstrations() -> Mapping[str, Demonstration]:
    """The demonstrations by their codes."""
    raw = _read()
    commands = {
        code: Demonstration(
            {name: _contents(stated) for name, stated in item["files"].items()},
            tuple(item["wrong"]),
            tuple(item["corrected"]),
            is_program=False,
        )
        for code, item in raw["commands"].items()
    }
    programs = {
        code: Demonstration({}, _program(raw, item, "wrong"), _program(raw, item, "corrected"), is_program=True)
        for code, item in raw["programs"].items()
    }
    return MappingProxyType({**commands, **programs})


def _program(raw: dict[str, Any], item: dict[str, Any], which: str) -> tuple[str, ...]:
    """The lines of a program: the imports that it uses, the common preamble, shared helpers, and its own lines."""
    shared = [*raw["helpers"][item["with"]], ""] if "with" in item else []
    lines = [*raw["preamble"], "", *shared, *item[which]]
    rest = "\n".join(line for line in lines if not line.startswith(_IMPORTS)).strip("\n")
    imports = {line for line in lines if line.startswith(_IMPORTS) and re.search(rf"\b{line.split()[-1]}\b", rest)}
    return (*sorted(imports, key=_import_order), "", *re.sub(r"\n{4,}", "\n\n\n", rest).split("\n"))


def _import_order(line: str) -> tuple[bool, bool, str]:
    """The sort key of isort: the standard library first, ``import`` before ``from``."""
    return line.split()[1].partition(".")[0] not in sys.stdlib_module_names, line.startswith("from"), line


@cache
def undemonstrated() -> Mapping[str, str]:
    """Descriptions of when codes occur that no short example reproduces on every machine."""
    without: dict[str, str] = _read()["without"]
    return MappingProxyType(without)


@cache
def examples() -> Mapping[str, WrongModelExample]:
    """The examples by their codes."""
    raw = _read()
    return MappingProxyType(
        {
            code: WrongModelExample(
                raw["models"][item["model"]], item["at"], item.get("wrong", _ABSENT), item.get("page", "")
            )
            for code, item in raw["examples"].items()
        }
    )
