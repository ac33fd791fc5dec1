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
    """Every code by its number, in order; two codes of one number are a defect."""
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

    codes: dict[str, Code] = {}
    for module in (unreadable, reading, recordings, checking, building, exporting, compiling, sizing, running):
        for value in vars(module).values():
            if isinstance(value, Code):
                assert value not in codes, f"{value} is used twice"
                codes[value] = value
    return MappingProxyType(dict(sorted(codes.items())))


def known_code(number: str) -> Code:
    """The code of a number; of one that another version has written, what is known of it."""
    return all_codes().get(number) or Code(number, "", "")
