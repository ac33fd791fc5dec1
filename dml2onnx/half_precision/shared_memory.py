"""Nodes that read and write the same memory, and their data types."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dml2onnx.ir.graph import Graph, GraphOutput, Node, Value
from dml2onnx.ir.tensor import DataType


@dataclass(frozen=True, slots=True)
class BufferVersions:
    """Versions of buffers: a partial write creates a version from an earlier one."""

    buffers: Mapping[Value, Value]
    """The first version by value, for buffers with several versions."""
    mixed: frozenset[Value]
    """Values of buffers that are accessed as another type than FLOAT32."""
    writers: Mapping[Value, Sequence[Node]]
    """The writers of a buffer by its first version; a node may occur once per output."""

    @classmethod
    def of(cls, graph: Graph, nodes: Sequence[Node], outputs: Sequence[GraphOutput]) -> BufferVersions:
        """Analyzes the memory that ``nodes``, in topological order, and ``outputs`` access."""
        buffers: dict[Value, Value] = {}
        for node in nodes:
            for writes in node.writes.values():
                for write in writes:
                    if write.base is not None:
                        first = buffers.setdefault(write.base, write.base)
                        buffers[write.value] = first
        mixed: set[Value] = set()
        writers: defaultdict[Value, list[Node]] = defaultdict(list)
        for node in nodes:
            accesses = [(read.value, read.offset, desc) for _, _, read, desc in node.views_in()]
            accesses += [(write.value, write.offset, desc) for _, _, write, desc in node.views_out()]
            for value, offset, desc in accesses:
                if desc.data_type is not DataType.FLOAT32 or offset % 4:
                    mixed.add(buffers.get(value, value))
            for value in node.targets:
                writers[buffers.get(value, value)].append(node)
        for output in outputs:
            if output.desc.data_type is not DataType.FLOAT32:
                mixed.add(buffers.get(output.value, output.value))
        for item in graph.inputs:
            if item.desc is not None and item.desc.data_type is not DataType.FLOAT32:
                mixed.add(buffers.get(item.value, item.value))
        of_all = {value for value, first in buffers.items() if first in mixed}
        return cls(buffers, frozenset(mixed | of_all), writers)

    def shared(self) -> list[list[Node]]:
        """The distinct writers of each buffer that is written in parts."""
        return [list(dict.fromkeys(self.writers[first])) for first in dict.fromkeys(self.buffers.values())]
