"""All kinds of findings, one module per stage, from ``unreadable`` to ``running``."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from dml2onnx.diagnostics import Code

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def all_codes() -> Mapping[str, Code]:
    """Returns every code by its number, in order."""
    from dml2onnx.codes import (
        building,
        checking,
        compiling,
        exporting,
        reading,
        recordings,
        running,
        sizing,
        unreadable,
    )

    modules = (unreadable, reading, recordings, checking, building, exporting, compiling, sizing, running)
    found = [value for module in modules for value in vars(module).values() if isinstance(value, Code)]
    codes = {code: code for code in found}
    assert len(codes) == len(found), "two codes have one number"
    return MappingProxyType(dict(sorted(codes.items())))


def known_code(number: str) -> Code:
    """Returns the code of a number, or, for numbers of other versions, a code without texts."""
    return all_codes().get(number) or Code(number, "", "")
