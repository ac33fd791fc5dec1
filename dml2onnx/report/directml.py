"""The DirectML side of a report: nodes, and the distinct descriptors, tensors and values."""

from __future__ import annotations

from hashlib import blake2b
from math import prod
from typing import TYPE_CHECKING, Generic, TypeVar

from dml2onnx import catalog
from dml2onnx.catalog import FeatureLevel
from dml2onnx.catalog.left_open import LEFT_OPEN
from dml2onnx.checks.operators import findings_of
from dml2onnx.diagnostics import Diagnostic, DmlError
from dml2onnx.exporters.descriptors import fields
from dml2onnx.ir.operator import OperatorDesc, Unreadable
from dml2onnx.ir.tensor import MAX_ELEMENTS, TensorDesc
from dml2onnx.onnx_model import OnnxPort, size_names
from dml2onnx.report import records
from dml2onnx.report.products import multiply_accumulates

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from dml2onnx.ir.data import Data
    from dml2onnx.ir.graph import Graph, GraphInput, GraphOutput, Node, Read, Value, Write
    from dml2onnx.report.form import Json
    from dml2onnx.report.records import Access, DescriptorRecord, LayoutKind, TensorRecord, ValueKind
    from dml2onnx.report.verified import Verified

MOST_DIGESTED = 1 << 30
"""The limit for bytes of a constant in its digest: a small file can describe a huge constant."""
CHUNK = 1 << 24

K = TypeVar("K", bound="Hashable")
R = TypeVar("R")


class _Distinct(Generic[K, R]):
    """Records in the order in which they were first requested; equal keys share an index."""

    def __init__(self, make: Callable[[K], R]) -> None:
        self._make = make
        self._indices: dict[K, int] = {}
        self.records: list[R] = []

    def index(self, key: K) -> int:
        """The index of the record for ``key``, which is made if it is new."""
        index = self._indices.get(key)
        if index is None:
            index = self._indices[key] = len(self.records)
            self.records.append(self._make(key))
        return index


class Directml:
    """Makes the records of a graph. ``tensors``, ``values`` and ``descriptors`` are those of the records so far."""

    def __init__(self, graph: Graph, findings: Sequence[Diagnostic], *, digests: bool = False) -> None:
        """``findings`` are those of the report, by whose indices nodes refer to them."""
        self._graph = graph
        self._contents = {item.value: item.data for item in graph.constants} if digests else {}
        self._kinds: dict[Value, ValueKind] = {item.value: "constant" for item in graph.constants}
        self._kinds |= {item.value: "input" for item in graph.inputs}
        self._kinds |= {value: "node" for node in graph.nodes for value in node.targets}
        self._findings: dict[str, list[int]] = {}
        for place, finding in enumerate(findings):
            if finding.node:
                self._findings.setdefault(finding.node, []).append(place)
        self.tensors = _Distinct(_tensor)
        self.values = _Distinct(self._value)
        self.descriptors = _Distinct(_descriptor)

    def nodes(
        self,
        became: Mapping[Node, records.Became],
        verified: Mapping[str, Sequence[Verified]],
        live: frozenset[Node],
    ) -> tuple[records.NodeRecord, ...]:
        """The records of all nodes in the graph's order, with data from compiling, verifying, and profiling."""
        nothing = records.Became()
        return tuple(
            self._node(node, became.get(node, nothing), verified.get(node.name, ()), node in live)
            for node in self._graph.nodes
        )

    def _node(
        self, node: Node, became: records.Became, verified: Sequence[Verified], is_live: bool
    ) -> records.NodeRecord:
        return records.NodeRecord(
            name=node.name,
            descriptor=self.descriptors.index(node.operator),
            inputs=self._accesses(node, node.reads),
            outputs=self._accesses(node, node.writes),
            source=node.source,
            is_live=is_live,
            findings=tuple(self._findings.get(node.name, ())),
            onnx=became.nodes,
            notes=became.notes,
            verified=tuple(verified),
            microseconds=became.microseconds,
        )

    def _accesses(self, node: Node, ends: Mapping[str, tuple[Read | Write, ...]]) -> tuple[Access, ...]:
        found = []
        for name, items in ends.items():
            value = node.operator.get(name)
            is_array = isinstance(value, tuple)
            descs = value if isinstance(value, tuple) else (value,)
            for index, item in enumerate(items):
                desc = descs[index] if index < len(descs) else None
                tensor = self.tensors.index(desc) if isinstance(desc, TensorDesc) else None
                field = f"{name}[{index}]" if is_array else name
                base = getattr(item, "base", None)
                before = None if base is None else self.values.index(base)
                found.append(records.Access(field, self.values.index(item.value), tensor, item.offset, before))
        return tuple(found)

    def inputs(self, ports: Sequence[OnnxPort]) -> tuple[records.PortRecord, ...]:
        """The records of the inputs; ``ports`` are those of the ONNX model, if there is one."""
        by_name = {port.name: port for port in ports}
        descs = [
            by_name[item.name].desc if item.name in by_name and not item.sizes else item.desc
            for item in self._graph.inputs
        ]
        return tuple(self._port(item, desc, by_name) for item, desc in zip(self._graph.inputs, descs, strict=True))

    def outputs(self, ports: Sequence[OnnxPort]) -> tuple[records.PortRecord, ...]:
        """The records of the outputs; ``ports`` are those of the ONNX model, if there is one."""
        by_name = {port.name: port for port in ports}
        return tuple(self._port(item, item.desc, by_name) for item in self._graph.outputs)

    def _port(
        self, item: GraphInput | GraphOutput, desc: TensorDesc | None, ports: Mapping[str, OnnxPort]
    ) -> records.PortRecord:
        value = self.values.index(item.value)
        tensor = None if desc is None else self.tensors.index(desc)
        port = ports.get(item.name)
        if port is None:
            return records.PortRecord(item.name, value, tensor)
        return records.PortRecord(item.name, value, tensor, port.onnx_name, port.shape, size_names(port.shape))

    def _value(self, value: Value) -> records.ValueRecord:
        digest = _digest(self._contents[value]) if value in self._contents else ""
        return records.ValueRecord(value.name, value.nbytes, self._kinds.get(value, "unresolved"), digest)


def _digest(data: Data) -> str:
    """A digest of contents; empty if their file cannot be read."""
    digest = blake2b(digest_size=8)
    try:
        for start in range(0, min(data.nbytes, MOST_DIGESTED), CHUNK):
            digest.update(data.read(start, min(CHUNK, data.nbytes - start)).tobytes())
    except DmlError:
        return ""
    return digest.hexdigest()


def _tensor(desc: TensorDesc) -> TensorRecord:
    strides = desc.effective_strides
    layout = _layout(desc, strides)
    size = 0 if layout == "invalid" else desc.total_bytes
    return records.TensorRecord(desc.data_type.name, desc.sizes, strides, layout, size, desc.owned_by_dml)


def _layout(desc: TensorDesc, strides: tuple[int, ...]) -> LayoutKind:
    is_valid = len(strides) == len(desc.sizes) and min(desc.sizes, default=1) > 0 and min(strides, default=0) >= 0
    if not is_valid or prod(desc.sizes) > MAX_ELEMENTS or desc.extent > MAX_ELEMENTS:
        return "invalid"
    if desc.is_packed:
        return "packed"
    if desc.is_broadcast:
        return "broadcast"
    if desc.is_dense:
        return "permuted"
    return "overlapping" if desc.is_overlapping else "padded"


# --- Descriptors ------------------------------------------------------------------------------------------------------


def _descriptor(desc: OperatorDesc) -> DescriptorRecord:
    schema = desc.schema
    level, level_reasons = _level(desc)
    return records.DescriptorRecord(
        operator=schema.short_name,
        family=schema.family,
        attributes=_attributes(desc),
        documentation=schema.doc,
        introduced=schema.introduced.name,
        left_open=tuple(LEFT_OPEN[word] for word in schema.left_open),
        level=None if level is None else level.name,
        level_reasons=tuple(_members(item) for item in level_reasons),
        multiply_accumulates=multiply_accumulates(desc),
    )


def _attributes(desc: OperatorDesc) -> dict[str, Json]:
    tensors = {item.name for item in desc.schema.tensor_fields}
    try:
        return {name: _plain(value) for name, value in fields(desc, tensors).items()}
    except DmlError:  # a NaN with unusual bits, which the native format cannot represent
        return {item.name: str(value) for item, value in desc.items() if item.name not in tensors and value is not None}


def _plain(value: object) -> Json:
    """The value of a field, with null for unreadable parts."""
    if isinstance(value, Unreadable):
        return None
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    assert isinstance(value, (bool, int, float, str)), value
    return value


def _level(desc: OperatorDesc) -> tuple[FeatureLevel | None, Sequence[Diagnostic]]:
    """The lowest level without errors, and the errors at the level below it."""
    if not desc.is_readable:
        return None, ()
    below: Sequence[Diagnostic] = ()
    for level in catalog.feature_levels():
        if level < desc.schema.introduced:
            continue
        errors = [item for item in findings_of(desc, level) if item.is_error]
        if not errors:
            return level, below
        below = errors
    return None, ()


def _members(finding: Diagnostic) -> dict[str, Json]:
    members = {
        "code": finding.code,
        "field": finding.path,
        "message": finding.message,
        "expected": finding.expected,
        "found": finding.found,
        "since": finding.since,
    }
    return {name: text for name, text in members.items() if text}
