"""ONNX Runtime sessions of compiled models."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dml2onnx.codes.running import RUNTIME_FAILURE
from dml2onnx.diagnostics import Diagnostic, DmlError
from dml2onnx.providers import PROVIDERS, require_provider
from dml2onnx.runtime.feeds import check_inputs
from dml2onnx.runtime.profiles import NodeTime, node_times

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from dml2onnx.model import Array, Port


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
        return node_times(text)


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
