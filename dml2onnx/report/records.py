"""The report value: everything that is known of one model, as plain records that JSON, HTML and SVG render.

Lists refer to one another by position: a node names its descriptor, its values and its diagnostics by their places in
:class:`Report`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from dml2onnx.report.answers import Written
from dml2onnx.report.form import ALWAYS, Json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dml2onnx.report.verified import Compared, Verified

LayoutKind: TypeAlias = Literal["packed", "permuted", "broadcast", "padded", "overlapping", "invalid"]
ValueKind: TypeAlias = Literal["input", "constant", "node", "unresolved"]
OnnxValueKind: TypeAlias = Literal["input", "initializer", "node"]

MARK = "<!-- dml2onnx report -->"
"""Begins pages and drawings, so that a later report knows what it may replace."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor descriptor; equal ones are one."""

    data_type: str
    """DirectML's name, such as FLOAT32."""
    sizes: tuple[int, ...]
    """Elements along each dimension."""
    strides: tuple[int, ...]
    """Elements of memory from one to the next along each dimension."""
    layout: LayoutKind
    """How the elements lie in memory."""
    bytes: int = 0
    """TotalTensorSizeInBytes, or the smallest that holds the tensor; 0 of an invalid one."""
    owned_by_dml: bool = False
    """Whether the flag OWNED_BY_DML is set."""


@dataclass(frozen=True, slots=True)
class Descriptor:
    """An operator with all of its attributes; nodes with equal descriptors share one."""

    operator: str
    """DirectML's name without its prefix."""
    family: str
    """The word that the operator shares with those that are checked, compiled and computed alike."""
    attributes: Mapping[str, Json]
    """The fields that are no tensors, as the native format writes them; null is what could not be read."""
    documentation: str
    """The operator's page."""
    introduced: str
    """The feature level that brought the operator."""
    left_open: tuple[str, ...]
    """What a model that is not exact does not promise of it, in sentences."""
    level: str | None = None
    """The lowest feature level that admits the descriptor; absent where none does."""
    level_reasons: tuple[Mapping[str, Json], ...] = ()
    """What is said of the descriptor one level lower: what would have to change for it to do with less."""
    multiply_accumulates: int | None = None
    """Products that a convolution, a matrix product or a recurrent layer adds up; absent of all other operators."""


@dataclass(frozen=True, slots=True)
class Value:
    """One version of one buffer of the DirectML graph."""

    name: str
    bytes: int
    kind: ValueKind
    """Where its contents come from."""
    digest: str = ""
    """Of a constant in a report that is compared with another: BLAKE2b of its bytes, of the first GiB of them."""


@dataclass(frozen=True, slots=True)
class Access:
    """A tensor of a node: which buffer it reads or writes, and under which descriptor."""

    field: str
    """The field, with its index where the field is an array."""
    value: int
    """Place in values."""
    tensor: int | None = None
    """Place in tensors; absent where the descriptor could not be read."""
    offset: int = 0
    """Bytes into the buffer."""
    base: int | None = None
    """Place in values of the version before the write, whose other bytes stay; absent where they are 0."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the DirectML graph."""

    name: str
    descriptor: int
    """Place in descriptors."""
    inputs: tuple[Access, ...] = ()
    outputs: tuple[Access, ...] = ()
    source: str = ""
    """Where it stands in the model: a JSON pointer or a call site."""
    is_live: bool = True
    """Whether any output of the graph needs it."""
    findings: tuple[int, ...] = ()
    """Places in diagnostics."""
    onnx: tuple[int, ...] = ()
    """The ONNX nodes that it became, as places in onnx.nodes; none where it was folded, passed on, or not compiled."""
    notes: tuple[str, ...] = ()
    """Why it became these."""
    verified: tuple[Verified, ...] = ()
    microseconds: float | None = None
    """What its ONNX nodes cost in the profiled run; absent where none was seen in it."""


@dataclass(frozen=True, slots=True)
class Became:
    """What one DirectML node became; not in the JSON, where these are members of the node."""

    nodes: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    microseconds: float | None = None


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output of the graph, and of the ONNX model where there is one."""

    name: str
    value: int
    """Place in values."""
    tensor: int | None = None
    """How the caller sees the buffer: place in tensors; absent where nothing says."""
    onnx_name: str = ""
    """Name in the ONNX model; empty where there is none."""
    shape: tuple[int, ...] = ()
    """Shape in memory, which is the shape in the ONNX model; where sizes have names, at those of the graph itself."""
    names: tuple[str, ...] = ()
    """The same in the names that sizes have, as ``2*H``; empty where all are numbers."""


@dataclass(frozen=True, slots=True)
class OnnxValue:
    """A value of the ONNX model."""

    name: str
    data_type: str
    """ONNX's name, such as float16."""
    shape: tuple[int, ...]
    kind: OnnxValueKind
    """Where its contents come from."""
    names: tuple[str, ...] = ()
    """The same in the names that sizes have, as ``2*H``; empty where all are numbers."""


@dataclass(frozen=True, slots=True)
class OnnxNode:
    """A node of the ONNX model."""

    name: str
    operator: str
    inputs: tuple[int | None, ...] = ()
    """Places in onnx.values; null where an optional input is left out."""
    outputs: tuple[int | None, ...] = ()
    attributes: Mapping[str, Json] | None = None
    """A graph stands as the list of its operators."""
    node: int | None = None
    """The DirectML node that it comes from; absent where outputs need it besides."""
    microseconds: float | None = None
    """What it cost in the profiled run; absent where ONNX Runtime merged it into another."""
    provider: str = ""
    """The execution provider that ran it, by itself or merged into another node."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a target has kernels for, by the target's table."""

    target: str
    without_kernel: int = 0
    """Nodes of the ONNX model that it does not run; with 0 the model runs wholly there."""
    when_compiled: int | None = None
    """The same of the model that is compiled for it; absent where that was not asked, since nothing is missing."""


@dataclass(frozen=True, slots=True)
class Onnx:
    """The ONNX model."""

    opset: int
    target: str
    """Whose kernels decided about data types."""
    passes: tuple[str, ...]
    """The passes that were applied; none with ``-O0``."""
    weight_bytes: int
    nodes: tuple[OnnxNode, ...]
    """In the order in which they run."""
    values: tuple[OnnxValue, ...]
    outputs: tuple[int, ...]
    """Places in values of the outputs of the graph, in its order."""
    half: bool = False
    """Whether FLOAT32 is FLOAT16 inside."""
    coverage: tuple[Coverage, ...] = ()
    """For each execution provider that has a table; those that run no models of this opset are left out."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The outputs of the whole model against the reference."""

    passed: bool
    """Whether every element of every output and every node agreed, in at least one whole round."""
    rounds: int
    """As many were asked for."""
    finished: int
    """As many have been made before the time was up."""
    outputs: tuple[Compared, ...]
    """Each output in each round."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One run of the model under ONNX Runtime's profiler."""

    provider: str
    microseconds: float
    """Sum over all nodes."""
    unplaced: float
    """The part of it spent in nodes that ONNX Runtime made itself, so that no node of the model has it."""


@dataclass(frozen=True, slots=True)
class Level:
    """A feature level and where it first shipped."""

    name: str
    ships_with: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Written):
    """All that is known of one model. What prevents compiling, verifying or profiling comes last in the diagnostics."""

    command: Literal["report"] = field(default="report", metadata=ALWAYS)
    name: str
    """The graph's own."""
    format: str
    """native, dml_graph, dxdispatch, serialized; empty of a graph built in Python."""
    feature_level: str
    """The feature level that was checked."""
    levels: tuple[Level, ...]
    """All feature levels, lowest first."""
    nodes: tuple[Node, ...]
    descriptors: tuple[Descriptor, ...]
    tensors: tuple[Tensor, ...]
    values: tuple[Value, ...]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    minimum_feature_level: str | None = None
    """The lowest feature level that admits the graph; absent where none does."""
    multiply_accumulates: int = 0
    """Of all nodes that outputs need; attention is not counted."""
    onnx: Onnx | None = None
    """Absent where the graph cannot be compiled."""
    verification: Verification | None = None
    """Absent where it was not asked for, or could not be done."""
    profile: Profile | None = None
    """Absent where it was not asked for, or could not be done."""
