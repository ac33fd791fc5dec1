"""Compiles a checked graph to a model that can be saved and run."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dml2onnx import arguments, passes, targets, writer
from dml2onnx.codes.compiling import UNKNOWN_OUTPUT
from dml2onnx.codes.running import NO_MEMORY
from dml2onnx.diagnostics import Diagnostic, DmlError, Severity, plural, quote, raise_errors, shortened
from dml2onnx.frontends import graph_of
from dml2onnx.gc_pause import gc_paused
from dml2onnx.ir.data import Data, MissingData
from dml2onnx.ir.graph import Graph, GraphOutput, some
from dml2onnx.ir.mapped import MappedFiles
from dml2onnx.lazy import lazy_method
from dml2onnx.legalise import LEGALISATION
from dml2onnx.lowering import lower
from dml2onnx.missing_kernels import fallbacks
from dml2onnx.onnx_model import Array, OnnxGraph, OnnxPort, Origin, logical
from dml2onnx.onnx_model import has_names as has_named_sizes
from dml2onnx.optimizer_barriers import PROTECTION
from dml2onnx.options import EXACT, CompileKeywords, CompileOptions, takes

if TYPE_CHECKING:
    import os
    from typing import BinaryIO, Unpack

    import numpy.typing as npt
    from onnx import ModelProto

    from dml2onnx.catalog import FeatureLevel
    from dml2onnx.providers.choice import ProviderLike
    from dml2onnx.runtime import Session

SERIALIZED_UP_TO = 1 << 28
"""Bytes of weights up to which the serialized model is passed to ONNX Runtime; more weights stay where they are."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CompiledModel:
    """An ONNX model made from a DirectML graph.

    ``inputs`` and ``outputs`` have the data types and memory-order shapes of the caller's buffers. ``warnings`` come
    from the checks. ``defaults`` are sample contents of inputs that came with the model.
    """

    name: str
    opset: int
    ir_version: int
    target: str
    lowered: OnnxGraph
    warnings: tuple[Diagnostic, ...] = ()
    defaults: Mapping[str, Data] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)
    passes: tuple[str, ...] = ()
    """Names of the passes applied."""
    shapes: bool = True
    """Whether the model states the type and shape of every value, not only of its inputs and outputs."""
    quant_format: str = targets.QOPERATOR
    """The form of quantized operators: "qdq" or "qoperator"."""
    exact: bool = False
    """Whether it keeps NaN, infinities, signs of zero and last digits, which other models leave open."""
    sources: tuple[Path, ...] = ()
    """The files that its graph was read from."""
    half: bool = False
    """Whether FLOAT32 is computed in FLOAT16 where possible."""
    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """The smallest and largest value of each named size."""
    _message: list[ModelProto] = field(default_factory=list, init=False)

    def __repr__(self) -> str:
        nodes = plural(self.node_count, "node")
        half = ", in FLOAT16" if self.half else ""
        return f"<CompiledModel {quote(self.name)}: {nodes}, opset {self.opset}, target {self.target}{half}>"

    _repr_html_ = lazy_method("dml2onnx.report.notebooks", "model_html")

    def __str__(self) -> str:
        """A summary: inputs, outputs, and counts of ONNX operators."""
        kinds = Counter(node.op_type for node in self.lowered.nodes)
        return "\n".join(
            [
                f"ONNX model {quote(self.name)}, opset {self.opset}, target {self.target}"
                f"{', in FLOAT16' if self.half else ''}",
                *some(f"  input  {_port(port)}" for port in self.inputs),
                *some(f"  output {_port(port)}" for port in self.outputs),
                f"  weights: {plural(self.weight_bytes, 'byte')}",
                f"  {plural(self.node_count, 'node')}",
                *some(f"  {count:>6,} {name}" for name, count in kinds.most_common()),
                *some(f"  {warning}" for warning in self.warnings),
            ]
        )

    @property
    def inputs(self) -> tuple[OnnxPort, ...]:
        """Inputs, in order."""
        return self.lowered.inputs

    @property
    def outputs(self) -> tuple[OnnxPort, ...]:
        """Outputs, in order."""
        return self.lowered.outputs

    @property
    def node_count(self) -> int:
        """Number of ONNX nodes."""
        return self.lowered.node_count

    @property
    def traces(self) -> tuple[Origin, ...]:
        """What each DirectML node became, and why."""
        return self.lowered.traces

    @property
    def stay_float32(self) -> tuple[str, ...]:
        """The DirectML nodes of a ``half`` model that are computed in FLOAT32; ``traces`` say why."""
        if not self.half:
            return ()
        from dml2onnx.half_precision import stays

        return tuple(origin.node for origin in self.traces if stays(origin))

    @property
    def weight_bytes(self) -> int:
        """Bytes of all initializers."""
        return self.lowered.weight_bytes

    @property
    def model_proto(self) -> ModelProto:
        """The model as a ``ModelProto``, made on first use; :class:`DmlError` (DML3008) above 2 GiB."""
        if not self._message:
            from onnx import ModelProto

            self._message.append(ModelProto.FromString(self.serialize()))
        return self._message[0]

    def serialize(self) -> bytes:
        """The bytes of :attr:`model_proto`; :class:`DmlError` (DML1021) if a weight file has become shorter."""
        self._mapped_files().require()
        return writer.model_bytes(self.lowered, self._header)

    def save(
        self, path: str | os.PathLike[str] | BinaryIO, *, external_data: bool | None = None, in_place: bool = False
    ) -> list[Path]:
        """Writes the model to a path or an open file, and returns the files written.

        ``external_data`` puts the weights into ``<path>.data``, or into ``<path>.2.data`` if the model at ``path`` uses
        the first; ``None`` does so above 1 GiB. Model and data are replaced together or not at all. Files that the
        graph was read from are never overwritten (:class:`DmlError`, DML3012). With ``in_place`` the model refers to
        the weights in their own files, if these are in its directory or below and store them as ONNX does; keep these
        files unchanged. :class:`DmlError` (DML3009) if there are no such files.
        """
        target = arguments.target_of(path)
        self._mapped_files().require()
        if external_data is not None:
            external_data = arguments.flag(external_data, "external_data")
        in_place = arguments.flag(in_place, "in_place")
        kept = self.sources
        return writer.save(self.lowered, target, self._header, external_data, in_place=in_place, kept=kept)

    def _mapped_files(self) -> MappedFiles:
        """The files that weights are mapped from."""
        return MappedFiles(self.lowered.initializers.values())

    @property
    def _header(self) -> writer.Header:
        return writer.Header(self.name, self.opset, self.ir_version, self.metadata, self.shapes)

    def session(
        self, provider: ProviderLike = "cpu", *, profile: bool = False, max_bytes: int | None = None
    ) -> Session:
        """An ONNX Runtime session, for running the model more than once.

        It maps weight files instead of reading them; keep these files while the session is in use.
        ``provider`` is an execution provider of ONNX Runtime by its short name (``"cpu"``, ``"dml"``, ``"openvino"``),
        ``"auto"``, several in order, or :class:`dml2onnx.Providers` with options and the number of a device.
        :class:`DmlError` (DML3020) if a run needs more than ``max_bytes`` at once (default: the memory of this
        machine).
        """
        from dml2onnx.providers.installed import require_providers
        from dml2onnx.runtime import Session, Weights, require_memory

        providers = require_providers(provider)
        profile = arguments.flag(profile, "profile")
        require_memory(self.lowered, None if max_bytes is None else arguments.whole_number(max_bytes, "max_bytes", 1))
        if self.weight_bytes <= SERIALIZED_UP_TO:
            return Session(self.serialize(), self.inputs, self.outputs, providers, profile=profile)
        weights = Weights.of(self.lowered.initializers)
        # numpy has no arrays of 4-bit weights, and other providers read files of models by themselves
        if providers.names != ("cpu",) or self.weight_bytes - weights.nbytes > SERIALIZED_UP_TO:
            with tempfile.TemporaryDirectory() as directory:
                path = Path(directory) / "model.onnx"
                self.save(path, external_data=True)
                return Session(path, self.inputs, self.outputs, providers, profile=profile)
        mapped_files = self._mapped_files()
        mapped_files.require()
        message = writer.model_bytes(self.lowered, self._header, weights.places)
        return Session(
            message, self.inputs, self.outputs, providers, weights=weights, profile=profile, mapped_files=mapped_files
        )

    def run(
        self,
        inputs: Mapping[str, npt.ArrayLike] | None = None,
        provider: ProviderLike = "cpu",
        *,
        max_bytes: int | None = None,
    ) -> dict[str, Array]:
        """Runs the model once.

        Inputs are arrays in memory order, of the port's shape or flat. Missing inputs get the sample contents that came
        with the model. Returns each output in the shape of its tensor. ``provider`` and ``max_bytes`` are as for
        :meth:`session`.
        """
        session = self.session(provider, max_bytes=max_bytes)
        return self.finish(session.run(self.complete(inputs)))

    def complete(self, inputs: Mapping[str, npt.ArrayLike] | None) -> dict[str, npt.ArrayLike]:
        """``inputs``, with sample contents for missing ones."""
        filled: dict[str, npt.ArrayLike] = {**arguments.arrays(inputs, names=[port.name for port in self.inputs])}
        for port in self.inputs:
            if port.name not in filled and port.name in self.defaults:
                length = port.dtype.itemsize
                for size in port.shape:
                    length *= size
                try:
                    raw = self.defaults[port.name].read(0, length)
                except MemoryError:
                    message = f"there is not enough memory for the {length} bytes of the input {quote(port.name)}"
                    raise DmlError(NO_MEMORY.at(message, found=length)) from None
                if len(raw) == length:
                    filled[port.name] = raw.view(port.dtype).reshape(port.shape)
        return filled

    def finish(self, results: Mapping[str, Array]) -> dict[str, Array]:
        """Memory-order outputs in the shapes of their tensors; :class:`DmlError` (DML3017) for a missing one."""
        results = arguments.arrays(results, "results")
        for port in self.outputs:
            sized = has_named_sizes(port.shape) or (
                port.name in results and results[port.name].size == prod(port.shape)
            )
            if port.name not in results or not sized:
                found = f"an array of {list(results[port.name].shape)}" if port.name in results else "missing"
                raise arguments.refusal_of(f"the result {quote(port.name)}", found, f"an array of {list(port.shape)}")
        return {port.name: logical(results[port.name], port) for port in self.outputs}


def _port(port: OnnxPort) -> str:
    return f"{shortened(port.name)}: {port.dtype} {list(port.shape)}"


@takes(CompileKeywords)
def compile(
    model: Graph | str | os.PathLike[str],
    *,
    graph: str | None = None,
    sizes: Mapping[str, Sequence[int | str]] | None = None,
    ranges: Mapping[str, tuple[int, int]] | None = None,
    outputs: Sequence[str] | None = None,
    progress: Callable[[str], object] | None = None,
    **keywords: Unpack[CompileKeywords],
) -> CompiledModel:
    """Compiles a graph, or the model file at a path, to an ONNX model.

    ``graph`` names the graph of a recording, as for :func:`load`. ``sizes`` are other sizes of inputs, as for
    :func:`dml2onnx.resize`. Names among them make one model for all sizes in their ``ranges``. ``outputs`` names
    some of the graph's ``outputs`` and ``results`` (default: its ``outputs``).

    ``target`` says where the model is to run: ``"onnx"`` (any runtime), ``"cpu"``, ``"dml"``, ``"openvino"``,
    ``"webgpu"``, ``"portable"`` or another of ``dml2onnx.targets.NAMES``. An ``exact`` model gives the same NaN,
    infinities, signs of zero and last digits as DirectML; other models do not promise these. ``optimize`` is 0 for
    no passes, 1 for passes that keep each bit of the results, and 2 for passes that round differently as well.
    ``without_passes`` leaves out passes by name; ``"propagate-layouts"`` turns off layout propagation, so that each
    node reads its inputs in the layout of its descriptor. ``quant_format`` is ``"qdq"`` for quantized operators as
    FLOAT ones between DequantizeLinear and QuantizeLinear, which accelerators use, or ``"qoperator"`` for integer
    ones (default: what suits the target). ``half`` computes FLOAT32 graphs in FLOAT16, with FLOAT16 weights,
    between casts of the inputs and outputs. Warnings (DML2012) name constants that FLOAT16 cannot hold; the nodes
    that read them stay FLOAT32. With ``shapes`` the model states the type and shape of every value. ``ir_version``
    replaces that of the opset. ``progress`` is called with a line about each step.

    Raises :class:`DmlError` with every error that :func:`dml2onnx.check` finds, or that prevents lowering. With
    ``documented`` that includes what DirectML accepts against its documentation.
    """
    options = CompileOptions.of(**keywords)
    tell = None if progress is None else arguments.function(progress, "progress")
    return compile_graph(at_sizes(graph_of(model, graph), sizes, ranges), options, outputs, tell)


def compile_graph(
    graph: Graph,
    options: CompileOptions,
    outputs: Sequence[str] | None = None,
    progress: Callable[[str], object] | None = None,
) -> CompiledModel:
    """As :func:`compile`, with checked options."""
    if graph.named_sizes:
        return compile_named(graph, lambda fixed: _select(fixed, outputs), options, progress)
    warnings = require_clean(graph, options.feature_level, documented=options.documented)
    return compile_outputs(graph, _select(graph, outputs), options, warnings=warnings, progress=progress)


def compile_named(
    source: Graph,
    outputs: Callable[[Graph], Sequence[GraphOutput]],
    options: CompileOptions,
    progress: Callable[[str], object] | None,
) -> CompiledModel:
    """One model for all sizes, from models of several sizes that differ only in numbers."""
    from dml2onnx.checks import check
    from dml2onnx.checks.resizing import named
    from dml2onnx.named_sizes import Limits, one_model, ranges_of

    level, documented = options.feature_level, options.documented
    sizes, ranges = source.named_sizes, source.ranges
    source = source.without_names()

    def is_right(values: Mapping[str, int]) -> bool:
        found = check(graph.at(values), level, documented=documented)
        return all(item.severity is not Severity.ERROR for item in found)

    warnings = require_clean(source, level, documented=documented)
    graph = named(source, sizes)
    limits = Limits.of(graph, ranges_of(graph, ranges, is_right))

    def compiled(point: Mapping[str, int]) -> CompiledModel:
        fixed = graph.at(point)
        require_clean(fixed, level, documented=documented)
        return compile_outputs(fixed, outputs(fixed), options, progress=progress)

    model, one = one_model(graph, limits, compiled)
    metadata = {**model.metadata, "dml2onnx_sizes": str(limits)}
    is_in_range = all(low <= graph.old(name) <= high for name, (low, high) in limits.ranges.items())
    defaults = {
        item.name: item.default
        for item in source.inputs
        if item.default is not None and (is_in_range or item.name not in sizes)
    }
    return replace(
        model,
        lowered=one,
        warnings=(*warnings, *model.warnings),
        defaults=defaults,
        metadata=metadata,
        ranges=limits.ranges,
    )


def at_sizes(
    graph: Graph,
    sizes: Mapping[str, Sequence[int | str]] | None,
    ranges: Mapping[str, tuple[int, int]] | None = None,
) -> Graph:
    """The graph with inputs of these sizes."""
    if sizes is None and not ranges:
        return graph
    from dml2onnx.checks.resizing import sized  # rarely needed

    return sized(graph, sizes, ranges)


def at_values(graph: Graph, values: Mapping[str, int]) -> Graph:
    """A graph with named sizes at these values; other names keep the size at which the graph was written."""
    from dml2onnx.checks.resizing import named

    sized = named(graph.without_names(), graph.named_sizes)
    return sized.at({name: values.get(name, sized.old(name)) for name in sized.names})


def require_clean(
    graph: Graph, feature_level: FeatureLevel | str | None = None, *, documented: bool = False
) -> tuple[Diagnostic, ...]:
    """The warnings about a graph; raises :class:`DmlError` for errors and for constants whose files are missing.

    What DirectML accepts but cannot be compiled is an error as well.
    """
    from dml2onnx.checks import check, level_of, uncompiled

    findings = check(graph, feature_level, documented=documented)
    missing = {item.data.path: item.data for item in graph.constants if isinstance(item.data, MissingData)}
    unknown = uncompiled(graph, findings, level_of(graph, feature_level))
    raise_errors([*findings, *unknown, *(data.problem() for data in missing.values())])
    return tuple(findings)


@gc_paused()
def compile_outputs(
    graph: Graph,
    outputs: Sequence[GraphOutput],
    options: CompileOptions = EXACT,
    *,
    warnings: Sequence[Diagnostic] = (),
    progress: Callable[[str], object] | None = None,
    **changes: Any,
) -> CompiledModel:
    """Compiles a checked graph for any of its values as outputs; ``changes`` replace fields of ``options``."""
    options = replace(options, **changes)
    target = targets.target(options.target, options.opset, exact=options.exact, quant_format=options.quant_format)
    if options.half:
        from dml2onnx.half_precision import explained, halved  # rarely needed

        made = halved(graph, outputs)
        literal = explained(lower(made.graph, made.outputs, target, progress, propagate=options.propagate), made)
        warnings = (*warnings, *made.findings)
    else:
        literal = lower(graph, outputs, target, progress, propagate=options.propagate)
    lowered = passes.apply(literal, (*passes.ALWAYS, *options.passes, LEGALISATION, PROTECTION), target)
    defaults = {item.name: item.default for item in graph.inputs if item.default is not None}
    names = tuple(item.name for item in options.passes)
    metadata = {"dml2onnx_source": graph.format, "dml2onnx_target": target.name}
    if options.half:
        metadata["dml2onnx_half"] = "true"
    version = arguments.ir_version(options.ir_version, target.opset)
    found = (*warnings, *fallbacks(lowered, target))
    return CompiledModel(
        graph.name,
        target.opset,
        version,
        target.name,
        lowered,
        found,
        defaults,
        metadata,
        names,
        options.shapes,
        target.quant_format,
        options.exact,
        graph.sources,
        options.half,
    )


def _select(graph: Graph, names: Sequence[str] | None) -> Sequence[GraphOutput]:
    if names is None:
        return graph.outputs
    names = arguments.names(names, "outputs")
    available = {item.name: item for item in (*graph.results, *graph.outputs)}
    known = shortened(", ".join(available)) or "none"
    raise_errors(
        UNKNOWN_OUTPUT.at(f"the graph has no output {quote(name)}; it has: {known}", expected=known, found=name)
        for name in names
        if name not in available
    )
    return [available[name] for name in names]
