"""Short examples for each code, right and wrong, from ``schemas/diagnostics.json``.

Mostly that is a model with one member that is wrong; else files and the commands that they are given to, or a program.
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
LONGEST_BYTES = 16
"""Of contents that are shown, and of the beginning of longer ones."""
_INNERMOST = re.compile(r"\[[^\[\]{}]*\]|\{(?:[^{}\[\]]|\[[^\[\]{}]*\])*\}")


@dataclass(frozen=True, slots=True)
class Example:
    """A model that is right, and the one member of it that makes it wrong."""

    model: Mapping[str, Any]
    pointer: str
    """The JSON pointer of that member."""
    wrong: object
    """Its value in the model that is wrong, where it is there."""
    page: str
    """The page that states the rule, if any does."""

    @property
    def right_model(self) -> dict[str, Any]:
        """The corrected model."""
        return copy.deepcopy(dict(self.model))

    @property
    def wrong_model(self) -> dict[str, Any]:
        """The model that gives the code."""
        model = self.right_model
        holder, key = _holder(model, self.pointer)
        if self.wrong is _ABSENT:
            del holder[key]
        else:
            holder[key] = self.wrong
        return model

    def lines(self) -> tuple[str, str]:
        """The member of an object that differs, in the model that is wrong and in the corrected one."""
        place = self.pointer
        while not isinstance(_holder(self.right_model, place)[0], dict):
            place = place.rpartition("/")[0]
        return _member(self.wrong_model, place), _member(self.right_model, place)


@dataclass(frozen=True, slots=True)
class Demonstration:
    """What gives a code that no single member of a model brings about."""

    files: Mapping[str, bytes]
    """What the commands are given; nothing for a program."""
    wrong: tuple[str, ...]
    """Commands, or the lines of a program in Python."""
    corrected: tuple[str, ...]
    is_program: bool

    def listed(self) -> Iterator[tuple[str, str]]:
        """The files with what is in them: as JSON or other text where it is short, else in a word."""
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
    """The object or array that a pointer leads into, and the name or number there."""
    *path, last = [unescape(token) for token in pointer.split("/")[1:]]
    for token in path:
        model = model[int(token)] if isinstance(model, list) else model[token]
    return model, int(last) if isinstance(model, list) else last


def _member(model: dict[str, Any], pointer: str) -> str:
    holder, key = _holder(model, pointer)
    return f"{json.dumps(key)}: {json.dumps(holder[key])}" if key in holder else f"no {json.dumps(key)}"


def text_of(model: dict[str, Any]) -> str:
    """A model as JSON, what is innermost on one line."""

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
    """The lines of a program: what all begin with, what some share, and its own; the imports that it needs first."""
    shared = [*raw["helpers"][item["with"]], ""] if "with" in item else []
    lines = [*raw["preamble"], "", *shared, *item[which]]
    rest = "\n".join(line for line in lines if not line.startswith(_IMPORTS)).strip("\n")
    imports = {line for line in lines if line.startswith(_IMPORTS) and re.search(rf"\b{line.split()[-1]}\b", rest)}
    return (*sorted(imports, key=_import_order), "", *re.sub(r"\n{4,}", "\n\n\n", rest).split("\n"))


def _import_order(line: str) -> tuple[bool, bool, str]:
    """As tools sort imports: those of Python first, whole modules before names of them."""
    return line.split()[1].partition(".")[0] not in sys.stdlib_module_names, line.startswith("from"), line


@cache
def undemonstrated() -> Mapping[str, str]:
    """What it takes for codes that nothing of some lines gives on every machine."""
    without: dict[str, str] = _read()["without"]
    return MappingProxyType(without)


@cache
def examples() -> Mapping[str, Example]:
    """The examples by their codes."""
    raw = _read()
    return MappingProxyType(
        {
            code: Example(raw["models"][item["model"]], item["at"], item.get("wrong", _ABSENT), item.get("page", ""))
            for code, item in raw["examples"].items()
        }
    )
