"""The answers of the commands that compile, run or write a model."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from dml2onnx.onnx_model import OnnxPort, size_names
from dml2onnx.report.form import ALWAYS, Answer, Json
from dml2onnx.report.sizes import InputDimension

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from dml2onnx.compiler import CompiledModel
    from dml2onnx.ir.graph import Graph


@dataclass(frozen=True, slots=True)
class BufferRecord:
    """An input or output of a compiled model, as it is in the caller's memory."""

    name: str
    onnx_name: str
    """Name in the ONNX model."""
    data_type: str
    """numpy's name, such as float16."""
    shape: tuple[int, ...]
    """In memory order; for named sizes, the sizes in the model file."""
    names: tuple[str, ...] = ()
    """The shape in terms of named sizes, such as ``2*H``; empty if all are numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesAnswer(Answer):
    """An answer of a command that writes files."""

    files: tuple[str, ...] = field(default=(), metadata=ALWAYS)
    """The written files; empty for standard output."""
    file_bytes: Mapping[str, int] = field(default_factory=dict, metadata=ALWAYS)
    """The number of bytes of each regular file."""


# --- compile, explain, convert ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileAnswer(FilesAnswer):
    """The answer of ``compile``."""

    command: Literal["compile"] = field(default="compile", metadata=ALWAYS)
    directml_nodes: int
    onnx_nodes: int
    operators: Mapping[str, int]
    """The number of nodes of each ONNX operator, the most frequent first."""
    opset: int
    later_opset: int | None = None
    """An opset of the target with operators that replace several nodes here."""
    ir_version: int
    """The version of the file format, which a runtime has to support."""
    target: str
    """The target whose kernels determined data types and operators."""
    half: bool = False
    """Whether FLOAT32 is computed in FLOAT16."""
    stay_float32: tuple[str, ...] = ()
    """The DirectML nodes that still compute in FLOAT32; ``explain --half`` lists the reasons."""
    passes: tuple[str, ...]
    """The applied passes; empty with ``-O0``."""
    inputs: tuple[BufferRecord, ...]
    outputs: tuple[BufferRecord, ...]
    named_sizes: str = ""
    """The possible values of named sizes: ``N=1..64, H=2..128 in steps of 2``."""
    weight_bytes: int
    in_place: tuple[str, ...] = ()
    """Files that the model refers to instead of copying them, relative to its directory."""
    minimum_feature_level: str | None
    """The lowest feature level that allows the graph."""
    ships_with: str = ""
    """The first products with that level."""
    seconds: float
    """The time from reading to writing."""


@dataclass(frozen=True, slots=True)
class ExplainedNode:
    """The ONNX nodes of a DirectML node."""

    node: str
    operator: str
    onnx: tuple[str, ...] | None
    """The operators of the ONNX nodes; empty if it was folded or forwarded, null if it was not compiled."""
    notes: tuple[str, ...]
    """The reasons for this form, or for not compiling it."""


@dataclass(frozen=True, slots=True)
class SizedTensor:
    """A tensor of a node with its sizes in terms of named sizes."""

    node: str
    operator: str
    tensor: str
    """The field, with its index in an array: ``InputTensors[1]``."""
    sizes: tuple[str, ...]
    """Numbers and expressions: ``N``, ``2*H``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainAnswer(Answer):
    """The answer of ``explain MODEL``."""

    command: Literal["explain"] = field(default="explain", metadata=ALWAYS)
    nodes: tuple[ExplainedNode, ...]
    """The nodes that compile, in execution order, then the others; empty if ``--size`` has names."""
    opset: int
    target: str
    half: bool = False
    """Whether FLOAT32 is computed in FLOAT16, except in nodes whose notes say otherwise."""
    passes: tuple[str, ...]
    """The applied passes; empty with ``-O0``."""
    tensors: tuple[SizedTensor, ...] = ()
    """If ``--size`` has names, the sizes of all tensors in terms of them."""
    dimensions: tuple[InputDimension, ...] = ()
    """If ``--size`` has names, which sizes of its inputs are free, tied to others or fixed, by which nodes, and which
    sizes of other inputs follow from them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertAnswer(FilesAnswer):
    """The answer of ``convert``."""

    command: Literal["convert"] = field(default="convert", metadata=ALWAYS)
    source: str
    """The format of the input: native, dml_graph, dxdispatch or serialized."""
    directml_nodes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReduceAnswer(FilesAnswer):
    """The answer of ``reduce``."""

    command: Literal["reduce"] = field(default="reduce", metadata=ALWAYS)
    exit_code: int
    """The exit code of the command for the reduced graph, as for the whole one."""
    directml_nodes: int
    directml_nodes_before: int
    tests: int
    """The number of runs of the command."""
    seconds: float
    finished: bool
    """False if the search was interrupted; the graph is the smallest one found until then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecorderAnswer(FilesAnswer):
    """The answer of ``recorder``."""

    command: Literal["recorder"] = field(default="recorder", metadata=ALWAYS)
    replaced: tuple[str, ...] = ()
    """Written files that had other contents before."""
    kept: tuple[str, ...] = ()
    """Existing files of the example, which were not changed."""


# --- run --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OutputContents:
    """The contents of an output."""

    name: str
    data_type: str
    """numpy's name, such as float16."""
    shape: tuple[int, ...]
    values: tuple[Json, ...] | None
    """All elements in row-major order, infinities and NaN as strings; null if there are more than 65,536."""
    first: tuple[Json, ...]
    """The first few elements."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A resource that the program printed."""

    resource: str
    data_type: str
    values: tuple[Json, ...]
    """Its elements, infinities and NaN as strings."""
    bits: tuple[str, ...] = ()
    """The bits of each element in hexadecimal, if the program prints them."""
    left_out: int = 0
    """Further elements: a run shows the first 1,048,576 of all that it prints."""


@dataclass(frozen=True, slots=True)
class NodeCost:
    """The time of an ONNX node."""

    name: str
    operator: str
    microseconds: float
    provider: str = ""
    """The execution provider that ran it."""


@dataclass(frozen=True, slots=True)
class NodePlace:
    """The provider of an ONNX node."""

    name: str
    operator: str
    provider: str
    """ONNX Runtime's name of the execution provider; empty for a node that it folded or merged into another."""
    node: str
    """The DirectML node that it was made for; empty if it was made for an output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAnswer(FilesAnswer):
    """The answer of ``run``.

    The diagnostics are warnings of the model, errors of writing files and, with ``--no-fallback``, nodes that ran on
    another provider.
    """

    command: Literal["run"] = field(default="run", metadata=ALWAYS)
    provider: str
    """The requested providers in order, separated by commas."""
    opset: int
    target: str
    passes: tuple[str, ...]
    """The applied passes; empty with ``-O0``."""
    outputs: tuple[OutputContents, ...]
    printed: tuple[Printed, ...]
    """The resources that the program printed, in order."""
    left_out: tuple[str, ...] = ()
    """Files of the program's writeFile commands, which need ``--output-dir``."""
    profile: tuple[NodeCost, ...]
    """With ``--profile``, the time of every ONNX node."""
    assignment: tuple[NodePlace, ...] = ()
    """With ``--assignment``, the provider of every ONNX node."""


# --- Parts ------------------------------------------------------------------------------------------------------------


def buffers(ports: Iterable[OnnxPort]) -> tuple[BufferRecord, ...]:
    """The records of inputs or outputs of a compiled model."""
    return tuple(
        BufferRecord(port.name, port.onnx_name, str(port.dtype), port.shape, size_names(port.shape)) for port in ports
    )


def sizes_of(files: Sequence[Path]) -> dict[str, int]:
    """The number of bytes of each regular file."""
    return {str(path): path.stat().st_size for path in files if path.is_file()}


def compiled(
    graph: Graph, model: CompiledModel, files: Sequence[Path], seconds: float, in_place: Sequence[str] = ()
) -> CompileAnswer:
    """The answer of ``compile`` for a ``graph`` whose ``model`` is in ``files``."""
    from dml2onnx.checks import minimum_feature_level

    minimum = minimum_feature_level(graph)
    return CompileAnswer(
        diagnostics=tuple(model.warnings),
        files=tuple(map(str, files)),
        file_bytes=sizes_of(files),
        directml_nodes=len(graph.nodes),
        onnx_nodes=model.node_count,
        operators=dict(Counter(node.op_type for node in model.lowered.nodes).most_common()),
        opset=model.opset,
        later_opset=model.lowered.later_opset,
        ir_version=model.ir_version,
        target=model.target,
        half=model.half,
        stay_float32=model.stay_float32,
        passes=model.passes,
        inputs=buffers(model.inputs),
        outputs=buffers(model.outputs),
        named_sizes=model.metadata.get("dml2onnx_sizes", ""),
        weight_bytes=model.weight_bytes,
        in_place=tuple(in_place),
        minimum_feature_level=None if minimum is None else minimum.name,
        ships_with="" if minimum is None else minimum.info.ships_with,
        seconds=round(seconds, 4),
    )
