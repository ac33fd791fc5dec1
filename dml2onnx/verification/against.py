"""Compares another ONNX model instead of the compiled one.

Its inputs and outputs are those of the graph, by name or in order. Of an input's buffer it takes the shape in memory
order or the tensor's own sizes, whichever it has; dimensions of 1 may be there or not.
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
from dml2onnx.onnx_model import Array, Port, logical
from dml2onnx.providers.choice import ProviderLike
from dml2onnx.runtime import open_session

Shape: TypeAlias = "tuple[int | None, ...]"

_TYPES = {
    "tensor(float)": "float32",
    "tensor(double)": "float64",
    "tensor(float16)": "float16",
    **{f"tensor({sign}int{bits})": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
"""ONNX Runtime's names of the types that numpy knows as well."""


@dataclass(frozen=True, slots=True)
class _Tensor:
    """An input or output of the other model; sizes that are not fixed are ``None``."""

    name: str
    dtype: str
    shape: Shape

    @classmethod
    def of(cls, argument: Any) -> _Tensor:
        shape = tuple(size if isinstance(size, int) else None for size in argument.shape)
        return cls(argument.name, _TYPES.get(argument.type, argument.type), shape)

    def takes(self, shape: Sequence[int]) -> bool:
        return len(shape) == len(self.shape) and all(
            wanted in (None, size) for wanted, size in zip(self.shape, shape, strict=True)
        )


class OtherModel:
    """A model file that is to compute what a graph does, whose ``inputs`` and ``outputs`` the caller sees.

    :class:`UnreadableError` (DML3018) for what is no model, :class:`DmlError` (DML3019) for all that does not fit.
    """

    def __init__(
        self, path: Path, inputs: Sequence[Port], outputs: Sequence[Port], provider: ProviderLike = "cpu"
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
        """The outputs, each in the shape of its tensor, of inputs in memory order."""
        names = [tensor.name for _, tensor in self._outputs]
        try:
            results = self._session.run(names, self.feeds(feeds))
        except Exception as error:  # ONNX Runtime raises a dozen unrelated classes
            message = f"ONNX Runtime, with {quote(str(self._path))}: {shortened(str(error), 400)}"
            raise DmlError(RUNTIME_FAILURE.at(message)) from error
        return self.outputs(dict(zip(names, results, strict=True)))

    def feeds(self, supplied: Mapping[str, Array]) -> dict[str, Array]:
        """What the file is given, by its names, of inputs in memory order."""
        return {tensor.name: _fed(supplied[port.name], port, tensor) for port, tensor in self._inputs}

    def outputs(self, results: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs of the graph, each in the shape of its tensor, of what the file gives by its names."""
        return {port.name: _got(np.asarray(results[tensor.name]), port, tensor) for port, tensor in self._outputs}


def _opened(path: Path, provider: ProviderLike) -> Any:
    shown = quote(str(path))
    try:
        reason = "" if stat.S_ISREG(path.stat().st_mode) else "it is no file"
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
    if reason:
        message = f"{shown} cannot be read: {reason}"
        raise UnreadableError(OTHER_UNREADABLE.at(message, expected="an ONNX model", found=str(path)))
    try:
        return open_session(path, provider)
    except DmlError as error:
        reason = _no_onnx(path) or f"{shown} cannot be loaded: {error.diagnostics[0].message}"
        message = f"{reason}; --against takes an ONNX model, as compile writes it"
        raise UnreadableError(OTHER_UNREADABLE.at(message, expected="an ONNX model", found=str(path))) from error


def _no_onnx(path: Path) -> str:
    """What a file is instead of an ONNX model, in words, where its beginning says it."""
    with path.open("rb") as file:
        start = file.read(256).lstrip(b"\xef\xbb\xbf \t\r\n")
    kinds = {b"{": "JSON", b"PK\x03\x04": "a ZIP archive", b"\x93NUMPY": "an array of numpy", b"<": "XML"}
    kind = next((kind for first, kind in kinds.items() if start.startswith(first)), "")
    return f"{quote(str(path))} is {kind}, not an ONNX model" if kind else ""


def _matched(
    kind: str, ports: Sequence[Port], tensors: Sequence[_Tensor], findings: list[Diagnostic]
) -> list[tuple[Port, _Tensor]]:
    """Each port with its tensor: by name where any name agrees, else in order."""
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
            message = f"{kind} {quote(port.name)} is {port.dtype}, and {quote(tensor.name)} of the other model"
            message += f" {tensor.dtype}"
            findings.append(OTHER_DOES_NOT_FIT.at(message, expected=port.dtype, found=tensor.dtype))
        pairs.append((port, tensor))
    taken = {tensor.name for _, tensor in pairs}
    if kind == "input":  # outputs that nobody asks for do no harm
        for name in (name for name in named if name not in taken):
            message = f"the graph has nothing for input {quote(name)} of the other model"
            ours = shortened(", ".join(port.name for port in ports)) or "none"
            findings.append(OTHER_DOES_NOT_FIT.at(message, expected=ours, found=name))
    return pairs


def _form(port: Port, tensor: _Tensor) -> tuple[bool, tuple[int, ...]] | None:
    """Whether the other model takes the tensor's elements in logical order, and in which shape."""
    for in_order, shape in ((False, port.shape), (True, port.desc.sizes)):
        if tensor.takes(shape):
            return in_order, shape
    if port.desc.data_type.is_packed_nibbles:
        return None
    for in_order, shape in ((False, port.shape), (True, port.desc.sizes)):
        fitting = _with_ones(shape, tensor.shape)
        if fitting is not None:
            return in_order, fitting
    return None


def _with_ones(shape: Sequence[int], wanted: Shape) -> tuple[int, ...] | None:
    """``shape`` with dimensions of 1 put in or left out so that it is ``wanted``; ``None`` where that is impossible."""
    rest = [size for size in shape if size != 1]
    made = []
    for position, size in enumerate(wanted):
        fixed = sum(item not in (None, 1) for item in wanted[position + 1 :])
        if size == 1 or (size is None and len(rest) <= fixed):
            made.append(1)
        elif rest and size in (None, rest[0]):
            made.append(rest.pop(0))
        else:
            return None
    return None if rest else tuple(made)


def _fed(array: Array, port: Port, tensor: _Tensor) -> Array:
    form = _form(port, tensor)
    assert form is not None
    in_order, shape = form
    return np.ascontiguousarray((logical(array, port) if in_order else array).reshape(shape))


def _got(array: Array, port: Port, tensor: _Tensor) -> Array:
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


def _no_shape(kind: str, port: Port, name: str, shape: Shape) -> Diagnostic:
    theirs = f"[{', '.join('any' if size is None else str(size) for size in shape)}]"
    expected = f"{list(port.shape)} (memory order)"
    if port.desc.sizes != port.shape:
        expected += f" or {list(port.desc.sizes)} (Sizes)"
    message = f"{kind} {quote(port.name)} has the shape {expected}, and {quote(name)} of the other model {theirs}"
    return OTHER_DOES_NOT_FIT.at(message, expected=expected, found=theirs)
