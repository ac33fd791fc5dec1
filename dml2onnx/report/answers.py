"""Answers of the commands that compile, run or write a model; ``check`` and ``verify`` have modules of their own."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from dml2onnx.onnx_model import Node, Port, size_names
from dml2onnx.report.form import ALWAYS, Answer, Json
from dml2onnx.report.sizes import InputDimension

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from dml2onnx.compiler import CompiledModel
    from dml2onnx.ir.graph import Graph


@dataclass(frozen=True, slots=True)
class Buffer:
    """An input or output of a compiled model, as the caller's memory holds it."""

    name: str
    onnx_name: str
    """Name in the ONNX model."""
    data_type: str
    """numpy's name, such as float16."""
    shape: tuple[int, ...]
    """In the order of memory; where sizes have names, those at which the graph was written."""
    names: tuple[str, ...] = ()
    """The same in the names that sizes have, as ``2*H``; empty where all are numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written(Answer):
    """An answer of a command that writes files."""

    files: tuple[str, ...] = field(default=(), metadata=ALWAYS)
    """What has been written; nothing where it went to standard output."""
    file_bytes: Mapping[str, int] = field(default_factory=dict, metadata=ALWAYS)
    """How many bytes each file has that is an ordinary one."""


# --- compile, explain, convert ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileAnswer(Written):
    """What ``compile`` says of the model that it has written."""

    command: Literal["compile"] = field(default="compile", metadata=ALWAYS)
    directml_nodes: int
    onnx_nodes: int
    operators: Mapping[str, int]
    """How many nodes there are of each ONNX operator, the most frequent first."""
    opset: int
    later_opset: int | None = None
    """One in which ONNX has operators for what takes many nodes here, and which the target runs."""
    ir_version: int
    """The layout of the file, which a runtime has to know."""
    target: str
    """Whose kernels decided about data types."""
    half: bool = False
    """Whether FLOAT32 is FLOAT16 inside."""
    stay_float32: tuple[str, ...] = ()
    """The DirectML nodes that are computed in FLOAT32 all the same; ``explain --half`` says why."""
    passes: tuple[str, ...]
    """The passes that were applied; none with ``-O0``."""
    inputs: tuple[Buffer, ...]
    outputs: tuple[Buffer, ...]
    weight_bytes: int
    in_place: tuple[str, ...] = ()
    """Files that the model refers to where they lie, as seen from its directory."""
    minimum_feature_level: str | None
    """The lowest feature level that admits the graph."""
    ships_with: str = ""
    """The products that first have that level."""
    seconds: float
    """From reading to writing."""


@dataclass(frozen=True, slots=True)
class ExplainedNode:
    """What a node of the DirectML graph became."""

    node: str
    operator: str
    onnx: tuple[str, ...] | None
    """The operators of the ONNX nodes; none where it was folded or passed on, null where it was not compiled."""
    notes: tuple[str, ...]
    """Why it became these, or why it was not compiled."""


@dataclass(frozen=True, slots=True)
class SizedTensor:
    """A tensor of a node in sizes that have names."""

    node: str
    operator: str
    tensor: str
    """Its field, and which of an array: ``InputTensors[1]``."""
    sizes: tuple[str, ...]
    """Numbers and expressions: ``N``, ``2*H``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainAnswer(Answer):
    """What ``explain MODEL`` says."""

    command: Literal["explain"] = field(default="explain", metadata=ALWAYS)
    nodes: tuple[ExplainedNode, ...]
    """Those that can be compiled, in the order in which they run, and then the others."""
    opset: int
    target: str
    half: bool = False
    """Whether FLOAT32 is FLOAT16 inside, but for the nodes that say that they stay FLOAT32."""
    passes: tuple[str, ...]
    """The passes that were applied; none with ``-O0``."""
    tensors: tuple[SizedTensor, ...] = ()
    """Where ``--size`` has names: the sizes of all tensors in these; what nodes become is another question then."""
    dimensions: tuple[InputDimension, ...] = ()
    """Where ``--size`` has names: which sizes of the inputs that it names are free, tied to others or fixed, by whom,
    and which sizes of other inputs follow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertAnswer(Written):
    """What ``convert`` says of the model that it has written."""

    command: Literal["convert"] = field(default="convert", metadata=ALWAYS)
    source: str
    """The format that was read: native, dml_graph, dxdispatch or serialized."""
    directml_nodes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReduceAnswer(Written):
    """What ``reduce`` says of the graph that it has written."""

    command: Literal["reduce"] = field(default="reduce", metadata=ALWAYS)
    exit_code: int
    """With which the command ends for the graph, as for the whole one."""
    directml_nodes: int
    directml_nodes_before: int
    tests: int
    """How often the command was run."""
    seconds: float
    finished: bool
    """False where the search was interrupted: the graph is the smallest one until then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecorderAnswer(Written):
    """What ``recorder`` says of the files that it has written for C++ programs."""

    command: Literal["recorder"] = field(default="recorder", metadata=ALWAYS)
    replaced: tuple[str, ...] = ()
    """Those that were there with other contents."""
    kept: tuple[str, ...] = ()
    """Files of the example that were there, and are as they were."""


# --- run --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Contents:
    """What an output holds."""

    name: str
    data_type: str
    """numpy's name, such as float16."""
    shape: tuple[int, ...]
    values: tuple[Json, ...] | None
    """All elements in row-major order, infinities and NaN as strings; null where there are more than 65,536."""
    first: tuple[Json, ...]
    """The first few of them, however many there are."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A resource that the program printed."""

    resource: str
    data_type: str
    values: tuple[Json, ...]
    """Its elements, infinities and NaN as strings."""
    bits: tuple[str, ...] = ()
    """Where the program asked for them, the bits of each of these in hexadecimal."""
    left_out: int = 0
    """Elements behind these: of all that a run prints the first 1,048,576 are shown."""


@dataclass(frozen=True, slots=True)
class NodeCost:
    """What an ONNX node cost."""

    name: str
    operator: str
    microseconds: float
    provider: str = ""
    """The execution provider that ran it."""


@dataclass(frozen=True, slots=True)
class NodePlace:
    """Where an ONNX node ran."""

    name: str
    operator: str
    provider: str
    """ONNX Runtime's name of the execution provider; empty for a node that it folded or merged into another."""
    node: str
    """The DirectML node that it was made for; empty where outputs need it besides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAnswer(Written):
    """What ``run`` says of one run.

    The diagnostics are warnings of the model, why files were not written and, with ``--no-fallback``, which nodes ran
    on another provider.
    """

    command: Literal["run"] = field(default="run", metadata=ALWAYS)
    provider: str
    """What was asked for: names in order, with commas between them."""
    opset: int
    target: str
    passes: tuple[str, ...]
    """The passes that were applied; none with ``-O0``."""
    outputs: tuple[Contents, ...]
    printed: tuple[Printed, ...]
    """What the program printed, in its order."""
    left_out: tuple[str, ...] = ()
    """Files that the program would write, and that were not written for want of ``--output-dir``."""
    profile: tuple[NodeCost, ...]
    """With ``--profile``, what every ONNX node cost."""
    assignment: tuple[NodePlace, ...] = ()
    """With ``--assignment``, where every ONNX node ran."""


# --- Parts ------------------------------------------------------------------------------------------------------------


def buffers(ports: Iterable[Port]) -> tuple[Buffer, ...]:
    """Inputs or outputs of a compiled model."""
    return tuple(
        Buffer(port.name, port.onnx_name, str(port.dtype), port.shape, size_names(port.shape)) for port in ports
    )


def operators_of(nodes: Iterable[Node]) -> dict[str, int]:
    """How many nodes there are of each ONNX operator, the most frequent first."""
    return dict(Counter(node.op_type for node in nodes).most_common())


def sizes_of(files: Sequence[Path]) -> dict[str, int]:
    """How many bytes each file has; what is no ordinary file has none."""
    return {str(path): path.stat().st_size for path in files if path.is_file()}


def compiled(
    graph: Graph, model: CompiledModel, files: Sequence[Path], seconds: float, in_place: Sequence[str] = ()
) -> CompileAnswer:
    """What is said of a ``graph`` that has become a ``model``, which is in these ``files``."""
    from dml2onnx.checks import minimum_feature_level

    minimum = minimum_feature_level(graph)
    return CompileAnswer(
        diagnostics=tuple(model.warnings),
        files=tuple(map(str, files)),
        file_bytes=sizes_of(files),
        directml_nodes=len(graph.nodes),
        onnx_nodes=model.node_count,
        operators=operators_of(model.lowered.nodes),
        opset=model.opset,
        later_opset=model.lowered.later_opset,
        ir_version=model.ir_version,
        target=model.target,
        half=model.half,
        stay_float32=model.stay_float32,
        passes=model.passes,
        inputs=buffers(model.inputs),
        outputs=buffers(model.outputs),
        weight_bytes=model.weight_bytes,
        in_place=tuple(in_place),
        minimum_feature_level=None if minimum is None else minimum.name,
        ships_with="" if minimum is None else minimum.info.ships_with,
        seconds=round(seconds, 4),
    )
