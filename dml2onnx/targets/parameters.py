"""Type variables of ONNX operators' inputs and outputs, from ``schemas/onnx_parameters.json``.

The compiler needs them to find the kernel of a node, and importing the onnx package takes a tenth of a second.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache

from dml2onnx.catalog import schemas_directory

FIXED = "-"
"""Marks a parameter without a type variable, such as the INT64 shape of Reshape."""
REST = "..."
"""Suffix of the last type variable of variadic operators."""


@cache
def _written() -> Mapping[str, Mapping[str, str]]:
    text = (schemas_directory() / "onnx_parameters.json").read_text(encoding="utf-8")
    found: Mapping[str, Mapping[str, str]] = json.loads(text)["operators"]
    return found


@cache
def _parameters(op: str, opset: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    versions = _written().get(op, {})
    version = max((number for number in map(int, versions) if number <= opset), default=None)
    if version is None:
        return (), ()
    inputs, outputs = versions[str(version)].split("->")
    return tuple(inputs.split()), tuple(outputs.split())


def bound(op: str, opset: int, inputs: Sequence[str | None], outputs: Sequence[str | None]) -> dict[str, str]:
    """The type variables of ``op``, in order, bound to the element types of a node's inputs and outputs."""
    found: dict[str, str] = {}
    for names, stated in zip(_parameters(op, opset), (inputs, outputs), strict=True):
        for number, element_type in enumerate(stated):
            name = names[min(number, len(names) - 1)] if names else FIXED
            if element_type is not None and name != FIXED and name != REST:
                found.setdefault(name.removesuffix(REST), element_type)
    return found
