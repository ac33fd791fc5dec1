"""ONNX Runtime sessions: providers by name, inputs that are checked before they get there."""

from __future__ import annotations

import json
import os
import re
import tempfile
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dml2onnx import arguments
from dml2onnx.codes.running import (
    INPUT_SHAPE,
    INPUT_TYPE,
    MISSING_INPUT,
    MISSING_PROVIDER,
    RUNTIME_FAILURE,
    TOO_MUCH_MEMORY,
    UNKNOWN_INPUT,
    UNKNOWN_PROVIDER,
)
from dml2onnx.diagnostics import Diagnostic, DmlError, quote, shortened
from dml2onnx.model import peak
from dml2onnx.model.types import stored_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from dml2onnx.model import Array, OnnxGraph, Port

PROVIDERS = {"cpu": "CPUExecutionProvider", "dml": "DmlExecutionProvider"}
ASSUMED_BYTES = 16 << 30
"""Memory of a machine that does not say how much it has. Windows does not promise more than it has anyway."""


@dataclass(frozen=True, slots=True)
class NodeTime:
    """How long one ONNX node took, in microseconds, as ONNX Runtime's profiler saw it."""

    name: str
    operator: str
    microseconds: float
    provider: str = ""
    """ONNX Runtime's name of the execution provider that ran it."""


def require_provider(name: str) -> str:
    """ONNX Runtime's name of a provider; :class:`DmlError` when there is none such or it is not installed."""
    import onnxruntime

    expected = ", ".join(PROVIDERS)
    full_name = PROVIDERS.get(arguments.text(name, "provider", f"one of {expected}"))
    if full_name is None:
        message = f"there is no provider {quote(name)}; the providers are {expected}"
        raise DmlError(UNKNOWN_PROVIDER.at(message, expected=expected, found=name))
    if full_name not in onnxruntime.get_available_providers():
        message = (
            f"the installed ONNX Runtime ({onnxruntime.__version__}) has no {full_name}; on 64-bit Windows:"
            " pip uninstall --yes onnxruntime && pip install onnxruntime-directml"
        )
        raise DmlError(MISSING_PROVIDER.at(message, expected=full_name))
    return full_name


def machine_bytes() -> int:
    """The memory of this machine, where the system says it as POSIX does; elsewhere what many machines have."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return ASSUMED_BYTES


def require_memory(graph: OnnxGraph, max_bytes: int | None = None) -> None:
    """Refuses a model whose run has to hold more at once than it may: :class:`DmlError` (DML3020)."""
    most = machine_bytes() if max_bytes is None else max_bytes
    found = peak(graph)
    if found.nbytes <= most:
        return
    limit = "--max-bytes" if max_bytes is not None else "the memory of this machine"
    message = f"a run holds {found.nbytes} bytes at once; {limit} is {most}"
    origin = found.origin
    if origin is None and graph.inputs:
        port = max(graph.inputs, key=lambda item: stored_size(item.dtype, prod(item.shape)))
        message += f'; the largest input is "{port.name}"'
    raise DmlError(
        TOO_MUCH_MEMORY.at(
            message,
            expected=f"at most {most} bytes",
            found=f"{found.nbytes} bytes",
            node=origin.node if origin else "",
            operator=origin.operator if origin else "",
        )
    )


class Session:
    """An ONNX Runtime session of a compiled model.

    DirectML requires sequential execution and no memory pattern:
    https://onnxruntime.ai/docs/execution-providers/DirectML-ExecutionProvider.html#configuration-options
    """

    def __init__(
        self, model: bytes | Path, inputs: Sequence[Port], outputs: Sequence[Port], provider: str = "cpu",
        *, profile: bool = False,
    ) -> None:  # fmt: skip
        self._profile_directory = tempfile.TemporaryDirectory() if profile else None
        self._inputs = inputs
        self._outputs = outputs
        directory = None if self._profile_directory is None else Path(self._profile_directory.name)
        self._session = open_session(model, provider, directory)

    def run(self, inputs: Mapping[str, npt.ArrayLike], wanted: Sequence[str] | None = None) -> dict[str, Array]:
        """The outputs (those ``wanted``, or all), by public name, in memory order, of inputs by public name."""
        feeds = check_inputs(self._inputs, inputs)
        outputs = [port for port in self._outputs if wanted is None or port.name in wanted]
        if not outputs:
            return {}
        try:
            results: list[Any] = self._session.run([port.onnx_name for port in outputs], feeds)
        except Exception as error:
            raise DmlError(_failure(error)) from error
        return {port.name: np.asarray(array) for port, array in zip(outputs, results, strict=True)}

    def end_profile(self) -> list[NodeTime]:
        """What every node cost in all runs so far; the session must have been made with ``profile``."""
        assert self._profile_directory is not None
        text = Path(self._session.end_profiling()).read_text(encoding="utf-8", errors="replace")
        self._profile_directory.cleanup()
        times: dict[tuple[str, str, str], float] = {}
        for name, details, microseconds in _kernel_times(text):
            key = (name, details["op_name"], details.get("provider", ""))
            times[key] = times.get(key, 0.0) + microseconds
        return [NodeTime(name, operator, spent, provider) for (name, operator, provider), spent in times.items()]


_KERNEL_TIME = re.compile(
    r'^\{"cat" : "Node",.*?"dur" :(\d+),.*?"name" :"((?:.|\n)*?)_kernel_time","args" : (\{.*\})\},?$', re.MULTILINE
)


def _kernel_times(text: str) -> Iterator[tuple[str, dict[str, Any], float]]:
    """(node, details, microseconds) of each kernel in a profile."""
    try:
        events = json.loads(text)
    except ValueError:  # older versions write names as they are, quotes and all
        for duration, name, details in _KERNEL_TIME.findall(text):
            yield name, json.loads(details), float(duration)
        return
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
            yield event["name"].removesuffix("_kernel_time"), event["args"], float(event["dur"])


def open_session(model: bytes | Path, provider: str = "cpu", profile: Path | None = None) -> Any:
    """An ``onnxruntime.InferenceSession`` of any ONNX model, which writes a profile into a directory when asked to.

    :class:`DmlError` (DML3011) where ONNX Runtime refuses the model.
    """
    import onnxruntime

    full_name = require_provider(provider)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # what goes wrong arrives as an exception too
    if provider == "dml":
        options.enable_mem_pattern = False
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    if profile is not None:
        options.enable_profiling = True
        options.profile_file_prefix = str(profile / "profile")
    providers = [full_name] if provider == "cpu" else [full_name, PROVIDERS["cpu"]]
    source = str(model) if isinstance(model, Path) else model
    try:
        return onnxruntime.InferenceSession(source, options, providers=providers)
    except Exception as error:  # ONNX Runtime raises a dozen unrelated classes
        raise DmlError(_failure(error)) from error


def _failure(error: Exception) -> Diagnostic:
    return RUNTIME_FAILURE.at(f"ONNX Runtime: {' '.join(str(error).split())}")


def check_inputs(ports: Sequence[Port], given: Mapping[str, npt.ArrayLike]) -> dict[str, Array]:
    """ONNX feeds; all that is wrong with names, types and shapes is reported at once.

    An array has the shape of the buffer in memory order, or is flat.
    """
    arrays = arguments.arrays(given)
    findings: list[Diagnostic] = []
    feeds: dict[str, Array] = {}
    names = shortened(", ".join(port.name for port in ports)) or "none"
    known = {port.name for port in ports}
    for name in arrays:
        if name not in known:
            message = f"the model has no input {quote(name)}; its inputs are: {names}"
            findings.append(UNKNOWN_INPUT.at(message, expected=names, found=name))
    for port in ports:
        if port.name not in arrays:
            expected = f"{port.dtype} {list(port.shape)}"
            findings.append(MISSING_INPUT.at(f"nothing was given for input {quote(port.name)}", expected=expected))
            continue
        array = arrays[port.name]
        if array.dtype != port.dtype:
            message = f"input {quote(port.name)} must be {port.dtype}, not {array.dtype}"
            findings.append(INPUT_TYPE.at(message, expected=port.dtype, found=array.dtype))
        elif array.shape != port.shape and array.shape != (int(np.prod(port.shape)),):
            wanted = f"shape {list(port.shape)} (or be flat)"
            message = f"input {quote(port.name)} must have {wanted}, not {list(array.shape)}"
            findings.append(INPUT_SHAPE.at(message, expected=list(port.shape), found=list(array.shape)))
        else:
            feeds[port.onnx_name] = np.ascontiguousarray(array).reshape(port.shape)
    if findings:
        raise DmlError(*findings)
    return feeds
