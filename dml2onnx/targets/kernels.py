"""Kernels of execution providers, from ``schemas/targets/*.json``."""

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
"""Element types by type variable; a kernel accepts all combinations."""

DEVICES = ("qnn-npu", "qnn-gpu", "openvino-npu", "openvino-gpu", "tensorrt-rtx")
"""Processors with providers in Windows ML."""
NAMES = ("onnx", "cpu", "dml", "openvino", "webgpu", "webnn", "portable", *DEVICES, "windows-ml")
"""ONNX itself, ONNX Runtime's providers, OpenVINO, WebNN, the common part of all but WebNN, and NPUs."""
PLACES = ("cpu", "dml", "openvino", "webgpu", "webnn", *DEVICES)
"""Single places to run: neither ONNX itself nor a common part of several targets."""
DEFAULT_TARGET = "onnx"
EXACT_TARGET = "cpu"
"""The default target of exact models: only there is every bit known."""
QDQ, QOPERATOR = QUANT_FORMATS = ("qdq", "qoperator")
"""FLOAT operators between DequantizeLinear and QuantizeLinear, or integer operators."""


class UnknownTargetError(DmlError):
    """There is no target of this name."""

    def __init__(self, name: str) -> None:
        expected = ", ".join(NAMES)
        message = f"there is no target {quote(name)}; the targets are {expected}"
        super().__init__(UNKNOWN_TARGET.at(message, expected=expected, found=name))


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """The kernels and quirks of a place where models of an opset run."""

    name: str
    """One of :data:`NAMES`."""
    opset: int
    """The opset of the models."""
    source: str
    """The origin of the table."""
    opsets: range
    """The supported opsets."""
    falls_back: bool
    """Whether nodes without a kernel run on the CPU, as in ONNX Runtime; otherwise they do not run."""
    quirks: tuple[str, ...]
    """Names of quirks in ``legalise.quirks``."""
    exact: bool
    """Whether models keep all promises of the reference, not only those that all runtimes keep."""
    quant_format: str
    """One of :data:`QUANT_FORMATS`."""
    _kernels: Mapping[str, Mapping[str, list[dict[str, str]]]] = field(repr=False)
    """The file: operator, version of the operator, alternatives with their types separated by spaces."""
    _alternatives: dict[str, tuple[Alternative, ...]] = field(default_factory=dict, repr=False)
    """Cache by operator."""

    def at(self, opset: int) -> Target:
        """The target for another opset; raises :class:`DmlError` if it is not supported."""
        return self if opset == self.opset else _target(self.name, opset, self.exact, self.quant_format)

    def has(self, quirk: str) -> bool:
        """Whether the target has a quirk."""
        return quirk in self.quirks

    def has_kernel(self, op: str, types: Mapping[str, str]) -> bool:
        """Whether a kernel runs ``op`` with these element types of its type variables.

        ``types`` has the variables of the ONNX operator (``{"T": "float16"}``, ``{"T1": "int8", "T2":
        "float"}``); absent variables may have any type.
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
    """Returns the target of a name for models of an opset; tables are loaded lazily.

    ONNX does not define NaN, infinities and last digits, so ``exact`` models for it are for the CPU provider. The
    default ``quant_format`` is that of the target; exact models always use integer operators, which are exact.
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
        message = f"{name} supports opsets {expected}, not opset {opset}"
        raise DmlError(UNKNOWN_OPSET.at(message, expected=expected, found=opset))
    # default models leave FLOAT16 to the casts of sessions, as models for ONNX itself do
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
