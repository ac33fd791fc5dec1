"""The kernels of execution providers, from ``schemas/targets/*.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from dml2onnx.catalog import schemas_directory
from dml2onnx.codes.compiling import UNKNOWN_OPSET, UNKNOWN_TARGET
from dml2onnx.diagnostics import DmlError, InternalError, quote
from dml2onnx.targets.opsets import DEFAULT_OPSET

Alternative = Mapping[str, frozenset[str]]
"""The element types of each type variable, all combinations of which a kernel accepts."""

DEVICES = ("qnn-npu", "qnn-gpu", "openvino-npu", "openvino-gpu", "tensorrt-rtx")
"""Processors that Windows ML has providers for."""
NAMES = ("onnx", "cpu", "dml", "openvino", "webgpu", "webnn", "portable", *DEVICES, "windows-ml")
"""ONNX itself, the execution providers of ONNX Runtime, OpenVINO by itself, WebNN, what runs on all but that; NPUs."""
PLACES = ("cpu", "dml", "openvino", "webgpu", "webnn", *DEVICES)
"""Those that are one place each: neither ONNX itself, nor what several of them share."""
DEFAULT_TARGET = "onnx"
EXACT_TARGET = "cpu"
"""What an exact model is made for where nothing else is named: only there is every bit known."""
QDQ, QOPERATOR = QUANT_FORMATS = ("qdq", "qoperator")
"""Whether quantised operators are FLOAT ones between DequantizeLinear and QuantizeLinear, or integer ones."""


class UnknownTargetError(DmlError):
    """A target was named that there is no table for."""

    def __init__(self, name: str) -> None:
        expected = ", ".join(NAMES)
        message = f"there is no target {quote(name)}; the targets are {expected}"
        super().__init__(UNKNOWN_TARGET.at(message, expected=expected, found=name))


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A place where models of an opset run, as far as its kernels go: which there are, and what is odd about them."""

    name: str
    """One of :data:`NAMES`."""
    opset: int
    """That of the models."""
    source: str
    """Where the table is from."""
    opsets: range
    """All opsets of which it runs models."""
    falls_back: bool
    """Whether nodes without a kernel run on the CPU, as in a session of ONNX Runtime; if not, nothing runs them."""
    quirks: tuple[str, ...]
    """What its kernels do otherwise than ONNX says, or slowly, by the names that ``legalise`` knows."""
    exact: bool
    """Whether models promise all that the reference does, and not only what every runtime computes alike."""
    quant_format: str
    """One of :data:`QUANT_FORMATS`."""
    _kernels: Mapping[str, Mapping[str, list[dict[str, str]]]] = field(repr=False)
    """The file: operator, version of the operator, alternatives with their types separated by spaces."""
    _alternatives: dict[str, tuple[Alternative, ...]] = field(default_factory=dict, repr=False)
    """What has been looked up, by operator."""

    def at(self, opset: int) -> Target:
        """The same place for models of another opset; :class:`DmlError` where it runs none of these."""
        return self if opset == self.opset else _target(self.name, opset, self.exact, self.quant_format)

    def has(self, quirk: str) -> bool:
        """Whether that can be said of its kernels."""
        return quirk in self.quirks

    def has_kernel(self, op: str, types: Mapping[str, str]) -> bool:
        """Whether a kernel runs ``op`` with these element types of its type variables.

        ``types`` names the variables as the ONNX operator does (``{"T": "float16"}``, ``{"T1": "int8", "T2":
        "float"}``); a variable that it leaves out may have any type.
        """
        rows = self._alternatives.get(op)
        if rows is None:
            rows = self._look_up(op)
        try:
            for row in rows:
                for variable, element_type in types.items():
                    if element_type not in row[variable]:
                        break
                else:
                    return True
        except KeyError as error:
            raise InternalError(op, f"opset {self.opset} has no type variable {error} of this operator") from None
        return False

    def _look_up(self, op: str) -> tuple[Alternative, ...]:
        versions = self._kernels.get(op, {})
        version = max((number for number in map(int, versions) if number <= self.opset), default=None)
        alternatives = versions[str(version)] if version is not None else []
        rows = tuple({name: frozenset(types.split()) for name, types in row.items()} for row in alternatives)
        self._alternatives[op] = rows
        return rows


def target(name: str, opset: int = DEFAULT_OPSET, *, exact: bool = True, quant_format: str | None = None) -> Target:
    """The target of that name for models of an opset; its table is read when it is first asked for.

    ONNX says nothing of NaN, infinities and last digits, so an ``exact`` model for it is one for the CPU provider.
    Without a ``quant_format`` it is what suits the target; an exact model has integers, which alone are exact.
    """
    if name not in NAMES:
        raise UnknownTargetError(name)
    if exact and name == DEFAULT_TARGET:
        name = EXACT_TARGET
    return _target(name, opset, exact, QOPERATOR if exact else quant_format or _table(name)["quant_format"])


@cache
def _target(name: str, opset: int, exact: bool, quant_format: str) -> Target:
    content = _table(name)
    first, last = content["opsets"]
    if not first <= opset <= last:
        expected = f"{first} to {last}"
        message = f"{name} is known to run models of opsets {expected}, and not of opset {opset}"
        raise DmlError(UNKNOWN_OPSET.at(message, expected=expected, found=opset))
    # what is not exact leaves FLOAT16 to the casts of sessions, as models of ONNX itself do
    kernels = _table(DEFAULT_TARGET if name == EXACT_TARGET and not exact else name)["kernels"]
    return Target(
        name,
        opset,
        content["source"],
        range(first, last + 1),
        content["falls_back"],
        tuple(content["quirks"]),
        exact,
        quant_format,
        kernels,
    )


@cache
def _table(name: str) -> Mapping[str, Any]:
    path = schemas_directory() / "targets" / f"{name}.json"
    content: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content
