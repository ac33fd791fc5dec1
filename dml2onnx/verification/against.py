"""Compares another ONNX model instead of the compiled one.

Its inputs and outputs match those of the graph by name or by order. An input may have the shape of the buffer in memory
order or the tensor's Sizes, with or without dimensions of 1.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from dml2onnx.codes.running import OTHER_DOES_NOT_FIT, OTHER_UNREADABLE, RUNTIME_FAILURE
from dml2onnx.diagnostics import Diagnostic, DmlError, UnreadableError, quote, shortened
from dml2onnx.onnx_model import Array, OnnxPort, logical
from dml2onnx.providers.choice import ProviderLike
from dml2onnx.runtime import open_session

Shape: TypeAlias = "tuple[int | None, ...]"

_TYPES = {
    "tensor(float)": "float32",
    "tensor(double)": "float64",
    "tensor(float16)": "float16",
    **{f"tensor({sign}int{bits})": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
"""ONNX Runtime's type names, for types that numpy has."""


@dataclass(frozen=True, slots=True)
class _Tensor:
    """An input or output of the other model; dynamic sizes are ``None``."""

    name: str
    dtype: str
    shape: Shape

    @classmethod
    def of(cls, argument: Any) -> _Tensor:
        shape = tuple(size if isinstance(size, int) else None for size in argument.shape)
        return cls(argument.name, _TYPES.get(argument.type, argument.type), shape)

    def accepts(self, shape: Sequence[int]) -> bool:
        return len(shape) == len(self.shape) and all(
            wanted in (None, size) for wanted, size in zip(self.shape, shape, strict=True)
        )


class OtherModel:
    """A model file to compare with a graph of these ``inputs`` and ``outputs``.

    Raises :class:`UnreadableError` (DML3018) if it is not a model, :class:`DmlError` (DML3019) with every mismatch.
    """

    def __init__(
        self, path: Path, inputs: Sequence[OnnxPort], outputs: Sequence[OnnxPort], provider: ProviderLike = "cpu"
    ) -> None:
        self._path = path
        self._session = _opened(path, provider)
        self.providers: tuple[str, ...] = tuple(self._session.get_providers())
        findings: list[Diagnostic] = []
        self._inputs = _matched("input", inputs, [_Tensor.of(item) for item in self._session.get_inputs()], findings)
        self._outputs = _matched(
            "output", outputs, [_Tensor.of(item) for item in self._session.get_outputs()], findings
        )
        for port, tensor in self._inputs:
            if tensor.dtype == str(port.dtype) and _form(port, tensor) is None:
                findings.append(_no_shape("input", port, tensor.name, tensor.shape))
        if findings:
            raise DmlError(*findings)

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs in the shapes of their tensors, for inputs in memory order."""
        names = [tensor.name for _, tensor in self._outputs]
        try:
            results = self._session.run(names, self.feeds(feeds))
        except Exception as error:  # ONNX Runtime raises a dozen unrelated classes
            message = f"ONNX Runtime, with {quote(str(self._path))}: {shortened(str(error), 400)}"
            raise DmlError(RUNTIME_FAILURE.at(message)) from error
        return self.outputs(dict(zip(names, results, strict=True)))

    def feeds(self, supplied: Mapping[str, Array]) -> dict[str, Array]:
        """The file's feeds by its own names, from inputs in memory order."""
        return {tensor.name: _fed(supplied[port.name], port, tensor) for port, tensor in self._inputs}

    def outputs(self, results: Mapping[str, Array]) -> dict[str, Array]:
        """The graph's outputs in the shapes of their tensors, from the file's results by its own names."""
        return {port.name: _got(np.asarray(results[tensor.name]), port, tensor) for port, tensor in self._outputs}


def _opened(path: Path, provider: ProviderLike) -> Any:
    shown = quote(str(path))
    try:
        reason = "" if stat.S_ISREG(path.stat().st_mode) else "it is not a file"
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
    if reason:
        message = f"{shown} cannot be read: {reason}"
        raise UnreadableError(OTHER_UNREADABLE.at(message, expected="an ONNX model", found=str(path)))
    try:
        return open_session(path, provider)
    except DmlError as error:
        reason = _other_format(path) or f"{shown} cannot be loaded: {error.diagnostics[0].message}"
        message = f"{reason}; --against takes an ONNX model, as compile writes it"
        raise UnreadableError(OTHER_UNREADABLE.at(message, expected="an ONNX model", found=str(path))) from error


def _other_format(path: Path) -> str:
    """A message that names the format of a file that is not an ONNX model, if its first bytes show it."""
    with path.open("rb") as file:
        start = file.read(256).lstrip(b"\xef\xbb\xbf \t\r\n")
    kinds = {b"{": "JSON", b"PK\x03\x04": "a ZIP archive", b"\x93NUMPY": "an array of numpy", b"<": "XML"}
    kind = next((kind for first, kind in kinds.items() if start.startswith(first)), "")
    return f"{quote(str(path))} is {kind}, not an ONNX model" if kind else ""


def _matched(
    kind: str, ports: Sequence[OnnxPort], tensors: Sequence[_Tensor], findings: list[Diagnostic]
) -> list[tuple[OnnxPort, _Tensor]]:
    """Pairs ports with tensors: by name if any name matches, else by order."""
    named = {tensor.name: tensor for tensor in tensors}
    of_port = {port.name: named.get(port.name, named.get(port.onnx_name)) for port in ports}
    theirs = shortened(", ".join(named)) or "none"
    if not any(of_port.values()) and len(ports) == len(tensors):
        of_port = {port.name: tensor for port, tensor in zip(ports, tensors, strict=True)}
    pairs = []
    for port in ports:
        tensor = of_port[port.name]
        if tensor is None:
            message = f"the other model has no {kind} {quote(port.name)}; its {kind}s are: {theirs}"
            findings.append(OTHER_DOES_NOT_FIT.at(message, expected=port.name, found=theirs))
            continue
        if tensor.dtype != str(port.dtype):
            message = f"{kind} {quote(port.name)} is {port.dtype}, but {quote(tensor.name)} of the other model"
            message += f" is {tensor.dtype}"
            findings.append(OTHER_DOES_NOT_FIT.at(message, expected=port.dtype, found=tensor.dtype))
        pairs.append((port, tensor))
    taken = {tensor.name for _, tensor in pairs}
    if kind == "input":  # extra outputs are harmless
        for name in (name for name in named if name not in taken):
            message = f"the graph has no input {quote(name)}, which the other model requires"
            ours = shortened(", ".join(port.name for port in ports)) or "none"
            findings.append(OTHER_DOES_NOT_FIT.at(message, expected=ours, found=name))
    return pairs


def _form(port: OnnxPort, tensor: _Tensor) -> tuple[bool, tuple[int, ...]] | None:
    """Whether the other model expects logical order, and the shape that it expects; ``None`` if no shape matches."""
    for in_order, shape in ((False, port.shape), (True, port.desc.sizes)):
        if tensor.accepts(shape):
            return in_order, shape
    if port.desc.data_type.is_packed_nibbles:
        return None
    for in_order, shape in ((False, port.shape), (True, port.desc.sizes)):
        matching = _with_ones(shape, tensor.shape)
        if matching is not None:
            return in_order, matching
    return None


def _with_ones(shape: Sequence[int], wanted: Shape) -> tuple[int, ...] | None:
    """``shape`` with dimensions of 1 added or removed to match ``wanted``; ``None`` if that is impossible."""
    rest = [size for size in shape if size != 1]
    result = []
    for position, size in enumerate(wanted):
        fixed = sum(item not in (None, 1) for item in wanted[position + 1 :])
        if size == 1 or (size is None and len(rest) <= fixed):
            result.append(1)
        elif rest and size in (None, rest[0]):
            result.append(rest.pop(0))
        else:
            return None
    return None if rest else tuple(result)


def _fed(array: Array, port: OnnxPort, tensor: _Tensor) -> Array:
    form = _form(port, tensor)
    assert form is not None
    in_order, shape = form
    return np.ascontiguousarray((logical(array, port) if in_order else array).reshape(shape))


def _got(array: Array, port: OnnxPort, tensor: _Tensor) -> Array:
    """An output of the other model in the shape of the graph's tensor."""
    if array.shape == port.shape:
        return logical(array, port)
    if array.shape == port.desc.sizes:
        return array
    if prod(array.shape) == prod(port.shape) and _with_ones(port.shape, array.shape) is not None:
        return logical(array.reshape(port.shape), port)
    if _with_ones(port.desc.sizes, array.shape) is not None:
        return array.reshape(port.desc.sizes)
    raise DmlError(_no_shape("output", port, tensor.name, array.shape))


def _no_shape(kind: str, port: OnnxPort, name: str, shape: Shape) -> Diagnostic:
    theirs = f"[{', '.join('any' if size is None else str(size) for size in shape)}]"
    expected = f"{list(port.shape)} (memory order)"
    if port.desc.sizes != port.shape:
        expected += f" or {list(port.desc.sizes)} (Sizes)"
    message = f"{kind} {quote(port.name)} has the shape {expected}, but {quote(name)} of the other model has {theirs}"
    return OTHER_DOES_NOT_FIT.at(message, expected=expected, found=theirs)
