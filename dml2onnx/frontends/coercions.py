"""Converts values of the wrong kind to the value that is obviously meant, for remedies."""

from __future__ import annotations

import math
import re

from dml2onnx.diagnostics import Member
from dml2onnx.frontends.numbers import round_to_float32
from dml2onnx.ir.tensor import MAX_DIMENSIONS

_NUMBER = re.compile(r"[-+]?(\d{1,20}(\.\d{0,20})?|\.\d{1,20})([eE][-+]?\d{1,3})?", re.ASCII)


def parse_bool(raw: object) -> bool | None:
    """Returns the bool that a text or a number means, if it is clear."""
    if type(raw) is int:
        return raw == 1 if raw in (0, 1) else None
    return {"true": True, "false": False}.get(raw.strip().lower()) if isinstance(raw, str) else None


def parse_number(raw: object) -> float | None:
    """Returns the number that a text consists of, if any."""
    text = raw.strip() if isinstance(raw, str) else ""
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def repeat_number(array: tuple[object, ...], count: int) -> list[Member] | None:
    """Returns ``count`` copies of the number that all elements of an array equal, if they do."""
    if not array or any(item != array[0] for item in array) or not 1 <= count <= MAX_DIMENSIONS:
        return None
    number = array[0]
    if isinstance(number, float):
        texts = (f"{number:.{digits}g}" for digits in range(1, 10))
        number = next((float(text) for text in texts if round_to_float32(float(text)) == number), number)
    return [number] * count if isinstance(number, (int, float)) else None
