"""The report of a model, as plain records that are written as JSON, HTML and SVG.

Records refer to each other by index: a node has the indices of its descriptor, values and diagnostics in the lists of
:class:`Report`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from dml2onnx.report.answers import FilesAnswer
from dml2onnx.report.form import ALWAYS, Json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dml2onnx.report.verified import Compared, Verified

LayoutKind: TypeAlias = Literal["packed", "permuted", "broadcast", "padded", "overlapping", "invalid"]
ValueKind: TypeAlias = Literal["input", "constant", "node", "unresolved"]
OnnxValueKind: TypeAlias = Literal["input", "initializer", "node"]

MARK = "<!-- dml2onnx report -->"
"""The beginning of pages and drawings, which identifies files that a later report may replace."""


@dataclass(frozen=True, slots=True)
class TensorRecord:
    """A tensor descriptor, which equal ones share."""

    data_type: str
    """DirectML's name, such as FLOAT32."""
    sizes: tuple[int, ...]
    """The number of elements in each dimension."""
    strides: tuple[int, ...]
    """The distance in memory between neighbouring elements of each dimension, in elements."""
    layout: LayoutKind
    """The layout of the elements in memory."""
    bytes: int = 0
    """TotalTensorSizeInBytes, or the minimum for the tensor; 0 if it is invalid."""
    owned_by_dml: bool = False
    """Whether the flag OWNED_BY_DML is set."""


@dataclass(frozen=True, slots=True)
class DescriptorRecord:
    """An operator with all of its attributes, which nodes with equal descriptors share."""

    operator: str
    """DirectML's name without its prefix."""
    family: str
    """The family of operators that are implemented together."""
    attributes: Mapping[str, Json]
    """The fields that are not tensors, as in the native format; unreadable ones are null."""
    documentation: str
    """The operator's page."""
    introduced: str
    """The feature level that introduced the operator."""
    left_open: tuple[str, ...]
    """What a default model does not promise for it, in sentences."""
    level: str | None = None
    """The lowest feature level that allows the descriptor; absent if none does."""
    level_reasons: tuple[Mapping[str, Json], ...] = ()
    """The errors of the descriptor one level lower: what would have to change for a lower level."""
    multiply_accumulates: int | None = None
    """The multiply-accumulates of a convolution, a matrix product or a recurrent layer; absent for other operators."""


@dataclass(frozen=True, slots=True)
class ValueRecord:
    """A version of a buffer of the DirectML graph."""

    name: str
    bytes: int
    kind: ValueKind
    """The source of its contents."""
    digest: str = ""
    """The BLAKE2b digest of up to 1 GiB of a constant, in reports that are compared."""


@dataclass(frozen=True, slots=True)
class Access:
    """A tensor of a node: the buffer that it reads or writes, and its descriptor."""

    field: str
    """The field, with its index in an array."""
    value: int
    """Index in values."""
    tensor: int | None = None
    """Index in tensors; absent if the descriptor is unreadable."""
    offset: int = 0
    """Bytes from the beginning of the buffer."""
    base: int | None = None
    """Index in values of the buffer before the write, which keeps its other bytes; absent if they are 0."""


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """A node of the DirectML graph."""

    name: str
    descriptor: int
    """Index in descriptors."""
    inputs: tuple[Access, ...] = ()
    outputs: tuple[Access, ...] = ()
    source: str = ""
    """Its location in the model: a JSON pointer or a call site."""
    is_live: bool = True
    """Whether any output of the graph needs it."""
    findings: tuple[int, ...] = ()
    """Indices in diagnostics."""
    onnx: tuple[int, ...] = ()
    """The indices of its ONNX nodes in onnx.nodes; empty if it was folded, forwarded, or not compiled."""
    notes: tuple[str, ...] = ()
    """The reasons for this form."""
    verified: tuple[Verified, ...] = ()
    microseconds: float | None = None
    """The time of its ONNX nodes in the profiled run; absent if none was measured."""


@dataclass(frozen=True, slots=True)
class Became:
    """The ONNX nodes of a DirectML node; in the JSON these are members of the node."""

    nodes: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    microseconds: float | None = None


@dataclass(frozen=True, slots=True)
class PortRecord:
    """An input or output of the graph, and of the ONNX model if there is one."""

    name: str
    value: int
    """Index in values."""
    tensor: int | None = None
    """The index of the caller's view of the buffer in tensors; absent if unknown."""
    onnx_name: str = ""
    """Name in the ONNX model; empty if there is none."""
    shape: tuple[int, ...] = ()
    """Shape in memory and in the ONNX model; for named sizes, the sizes in the model file."""
    names: tuple[str, ...] = ()
    """The shape in terms of named sizes, such as ``2*H``; empty if all are numbers."""


@dataclass(frozen=True, slots=True)
class OnnxValueRecord:
    """A value of the ONNX model."""

    name: str
    data_type: str
    """ONNX's name, such as float16."""
    shape: tuple[int, ...]
    kind: OnnxValueKind
    """The source of its contents."""
    names: tuple[str, ...] = ()
    """The shape in terms of named sizes, such as ``2*H``; empty if all are numbers."""


@dataclass(frozen=True, slots=True)
class OnnxNodeRecord:
    """A node of the ONNX model."""

    name: str
    operator: str
    inputs: tuple[int | None, ...] = ()
    """Indices in onnx.values; null for an omitted optional input."""
    outputs: tuple[int | None, ...] = ()
    attributes: Mapping[str, Json] | None = None
    """The attributes; a graph is the list of its operators."""
    node: int | None = None
    """The index of the DirectML node that it was made for; absent if it was made for an output."""
    microseconds: float | None = None
    """The time in the profiled run; absent if ONNX Runtime merged it into another node."""
    provider: str = ""
    """The execution provider that ran it, by itself or merged into another node."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The kernels of a target for the model, according to the target's table."""

    target: str
    without_kernel: int = 0
    """The number of ONNX nodes without a kernel; the whole model runs there if it is 0."""
    when_compiled: int | None = None
    """The same if the model is compiled for the target; absent if that was not tried."""


@dataclass(frozen=True, slots=True)
class Onnx:
    """The ONNX model."""

    opset: int
    target: str
    """The target whose kernels determined data types and operators."""
    passes: tuple[str, ...]
    """The applied passes; empty with ``-O0``."""
    weight_bytes: int
    nodes: tuple[OnnxNodeRecord, ...]
    """In execution order."""
    values: tuple[OnnxValueRecord, ...]
    outputs: tuple[int, ...]
    """The indices of the graph's outputs in values, in order."""
    half: bool = False
    """Whether FLOAT32 is computed in FLOAT16."""
    coverage: tuple[Coverage, ...] = ()
    """One for each execution provider that has a table and supports the opset."""


@dataclass(frozen=True, slots=True)
class VerificationRecord:
    """The comparison of the model's outputs with the reference."""

    passed: bool
    """Whether every element of every output and every node agreed, in at least one whole round."""
    rounds: int
    """The number of requested rounds."""
    finished: int
    """The number of rounds within the time limit."""
    outputs: tuple[Compared, ...]
    """Each output in each round."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The times of the model in ONNX Runtime's profiler."""

    provider: str
    microseconds: float
    """The sum of all nodes."""
    unplaced: float
    """The part of it in nodes that ONNX Runtime added."""


@dataclass(frozen=True, slots=True)
class Level:
    """A feature level and its first products."""

    name: str
    ships_with: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(FilesAnswer):
    """The report of a model. The last diagnostics are the errors of compiling, verifying or profiling."""

    command: Literal["report"] = field(default="report", metadata=ALWAYS)
    name: str
    """The name of the graph."""
    format: str
    """native, dml_graph, dxdispatch, serialized; empty for a graph that was built in Python."""
    feature_level: str
    """The checked feature level."""
    levels: tuple[Level, ...]
    """All feature levels, lowest first."""
    nodes: tuple[NodeRecord, ...]
    descriptors: tuple[DescriptorRecord, ...]
    tensors: tuple[TensorRecord, ...]
    values: tuple[ValueRecord, ...]
    inputs: tuple[PortRecord, ...]
    outputs: tuple[PortRecord, ...]
    minimum_feature_level: str | None = None
    """The lowest feature level that allows the graph; absent if none does."""
    multiply_accumulates: int = 0
    """The sum for all nodes that outputs need; attention is not counted."""
    onnx: Onnx | None = None
    """Absent if the graph cannot be compiled."""
    verification: VerificationRecord | None = None
    """Absent if not requested, or not possible."""
    profile: Profile | None = None
    """Absent if not requested, or not possible."""
