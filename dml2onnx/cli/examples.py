"""For each code a small model that gives it, and the same one corrected, from ``schemas/diagnostics.json``."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from dml2onnx import catalog

if TYPE_CHECKING:
    from collections.abc import Mapping

_ABSENT = object()
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


def _holder(model: Any, pointer: str) -> tuple[Any, Any]:
    """The object or array that a pointer leads into, and the name or number there."""
    *path, last = [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]
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


@cache
def examples() -> Mapping[str, Example]:
    """The examples by their codes."""
    path = catalog.schemas_directory() / "diagnostics.json"
    raw = json.loads(path.read_text(encoding="utf-8"))
    return MappingProxyType(
        {
            code: Example(raw["models"][item["model"]], item["at"], item.get("wrong", _ABSENT), item.get("page", ""))
            for code, item in raw["examples"].items()
        }
    )
