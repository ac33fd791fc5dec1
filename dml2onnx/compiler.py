"""Compiling: check, lower, and a model that can be saved and run."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dml2onnx import writer
from dml2onnx.codes.compiling import UNKNOWN_OPSET, UNKNOWN_OUTPUT
from dml2onnx.diagnostics import DmlError, raise_errors
from dml2onnx.lowering.driver import logical, lower
from dml2onnx.runtime import Session
from dml2onnx.targets import OPSETS

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt
    from onnx import ModelProto

    from dml2onnx.catalog import FeatureLevel
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.data import Data
    from dml2onnx.ir.graph import Graph, GraphOutput
    from dml2onnx.lowering.driver import LoweredGraph, Port, Trace
    from dml2onnx.lowering.emitter.core import Array

DEFAULT_OPSET = 21

SESSION_FROM_FILE_ABOVE = 1 << 28
"""Models with more bytes of weights go to ONNX Runtime as files, which it maps, instead of as one message."""


@dataclass(frozen=True, slots=True, eq=False)
class CompiledModel:
    """An ONNX model made from a DirectML graph.

    ``inputs`` and ``outputs`` say how the caller's buffers appear: their data types and memory-order shapes.
    ``warnings`` were found while checking. ``defaults`` are the sample contents of inputs that came with the model.
    """

    name: str
    opset: int
    target: str
    lowered: LoweredGraph = field(repr=False)
    warnings: tuple[Diagnostic, ...] = ()
    defaults: Mapping[str, Data] = field(default_factory=dict, repr=False)
    metadata: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def inputs(self) -> tuple[Port, ...]:
        """Graph inputs in order."""
        return self.lowered.inputs

    @property
    def outputs(self) -> tuple[Port, ...]:
        """Graph outputs in order."""
        return self.lowered.outputs

    @property
    def node_count(self) -> int:
        """Number of ONNX nodes."""
        return len(self.lowered.proto.node)

    @property
    def traces(self) -> tuple[Trace, ...]:
        """What each DirectML node became, when compiled with ``trace``."""
        return self.lowered.traces

    @property
    def weight_bytes(self) -> int:
        """Bytes of all initializers."""
        return writer.initializer_bytes(self.lowered)

    @property
    def model_proto(self) -> ModelProto:
        """The whole model as one message; :class:`DmlError` (DML3008) above 2 GiB."""
        return writer.model_proto(self.lowered, self.opset, self.name, self.metadata)

    def save(self, path: str | os.PathLike[str], *, external_data: bool | None = None) -> list[Path]:
        """Writes the model and returns the files written.

        ``external_data`` puts the weights into ``<path>.data``; ``None`` does so above 1 GiB. An existing file is
        replaced only by a complete new one.
        """
        target = Path(path)
        return writer.save(self.lowered, target, self.opset, self.name, self.metadata, external_data)

    def session(self, provider: str = "cpu", *, profile: bool = False) -> Session:
        """An ONNX Runtime session, for running the model more than once."""
        if self.weight_bytes <= SESSION_FROM_FILE_ABOVE:
            return Session(self.model_proto.SerializeToString(), self.inputs, self.outputs, provider, profile=profile)
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "model.onnx"
            self.save(path, external_data=True)
            return Session(path, self.inputs, self.outputs, provider, profile=profile)

    def run(self, inputs: Mapping[str, npt.ArrayLike] | None = None, provider: str = "cpu") -> dict[str, Array]:
        """Runs the model once.

        Inputs are arrays in memory order (of the port's shape, or flat); one that is left out takes the sample
        contents that came with the model. Returns each output in the shape of its tensor.
        """
        return self.finish(self.session(provider).run(self.complete(inputs or {})))

    def complete(self, inputs: Mapping[str, npt.ArrayLike]) -> dict[str, npt.ArrayLike]:
        """``inputs`` with sample contents for what they leave out."""
        filled: dict[str, npt.ArrayLike] = dict(inputs)
        for port in self.inputs:
            if port.name not in filled and port.name in self.defaults:
                length = port.dtype.itemsize
                for size in port.shape:
                    length *= size
                raw = self.defaults[port.name].read(0, length)
                if len(raw) == length:
                    filled[port.name] = raw.view(port.dtype).reshape(port.shape)
        return filled

    def finish(self, results: Mapping[str, Array]) -> dict[str, Array]:
        """Memory-order outputs in the shapes of their tensors."""
        return {port.name: logical(results[port.name], port) for port in self.outputs}


def compile(
    graph: Graph,
    *,
    outputs: Sequence[str] | None = None,
    opset: int = DEFAULT_OPSET,
    target: str = "cpu",
    feature_level: FeatureLevel | str | None = None,
    trace: bool = False,
) -> CompiledModel:
    """Compiles a graph to an ONNX model.

    ``outputs`` names what is wanted of ``graph.outputs`` and ``graph.results`` (default: ``graph.outputs``).
    ``target`` chooses whose kernels decide about element types: ``"cpu"`` or ``"dml"``. Raises :class:`DmlError`
    with every error that :func:`dml2onnx.check` finds, or that stands in the way of lowering.
    """
    if opset not in OPSETS:
        expected = f"{OPSETS[0]} to {OPSETS[-1]}"
        raise DmlError(UNKNOWN_OPSET.at(f"opset {opset} is not supported", expected=expected, found=opset))
    warnings = require_clean(graph, feature_level)
    return compile_outputs(graph, _select(graph, outputs), opset=opset, target=target, trace=trace, warnings=warnings)


def require_clean(graph: Graph, feature_level: FeatureLevel | str | None = None) -> tuple[Diagnostic, ...]:
    """The warnings about a graph; raises :class:`DmlError` with its errors where it has any."""
    from dml2onnx.checks import check

    findings = check(graph, feature_level)
    raise_errors(findings)
    return tuple(findings)


def compile_outputs(
    graph: Graph,
    outputs: Sequence[GraphOutput],
    *,
    opset: int = DEFAULT_OPSET,
    target: str = "cpu",
    trace: bool = False,
    warnings: Sequence[Diagnostic] = (),
) -> CompiledModel:
    """Compiles a checked graph for any of its values as outputs."""
    lowered = lower(graph, outputs, opset, target, trace=trace)
    defaults = {item.name: item.default for item in graph.inputs if item.default is not None}
    metadata = {"dml2onnx_source": graph.format, "dml2onnx_target": target}
    return CompiledModel(graph.name, opset, target, lowered, tuple(warnings), defaults, metadata)


def _select(graph: Graph, names: Sequence[str] | None) -> Sequence[GraphOutput]:
    if names is None:
        return graph.outputs
    available = {item.name: item for item in (*graph.results, *graph.outputs)}
    unknown = [name for name in names if name not in available]
    if unknown:
        known = ", ".join(available) or "none"
        raise DmlError(
            *(
                UNKNOWN_OUTPUT.at(f'the graph has no output "{name}"; it has: {known}', expected=known, found=name)
                for name in unknown
            )
        )
    return [available[name] for name in names]
