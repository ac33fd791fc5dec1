"""A random graph under construction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from hypothesis import assume
from hypothesis import strategies as st

from dml2onnx import catalog
from dml2onnx.catalog import LATEST
from dml2onnx.ir.data import ArrayData, FillData
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc, packed_strides
from dml2onnx.test_cases.descriptors import operator

MAX_ELEMENTS = 600
FACTORS = st.sampled_from([0.5, 1.0, 1.25, 2.0, 0.0, -0.75])
POSITIVE = st.sampled_from([0.25, 1.0, 1.5])

View: TypeAlias = tuple[TensorDesc, Read]
"""A tensor descriptor, and the buffer and offset that it reads."""


def of_latest(name: str, tensor: str) -> tuple[tuple[int, int], list[str]]:
    """(smallest, largest rank) and data types of a tensor in the newest support row of an operator."""
    (row,) = catalog.operator(name).rows_at(LATEST)
    support = row.tensors[tensor]
    return support.dimension_counts, sorted(support.data_types)


@dataclass
class GraphDraft:
    """A graph under construction: nodes are added one by one, and read existing or new buffers."""

    draw: st.DrawFn
    values: list[tuple[Value, TensorDesc]] = field(default_factory=list)
    inputs: list[GraphInput] = field(default_factory=list)
    constants: list[Constant] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    written: list[tuple[Value, TensorDesc]] = field(default_factory=list)
    replaced: set[Value] = field(default_factory=set)

    def chance(self, one_in: int) -> bool:
        return self.draw(st.integers(0, one_in - 1)) == one_in - 1

    def each(self, count: int, low: int, high: int) -> tuple[int, ...]:
        return tuple(self.draw(st.lists(st.integers(low, high), min_size=count, max_size=count)))

    def data_type(self, name: str, tensor: str) -> DataType:
        """A data type that an operator supports for a tensor."""
        return DataType[self.draw(st.sampled_from(of_latest(name, tensor)[1]))]

    def sizes(self, low: int, high: int) -> tuple[int, ...]:
        rank = self.draw(st.integers(low, high if self.chance(8) else min(high, 5)))
        sizes = self.each(rank, 1, 4 if rank <= 4 else 2)
        return sizes if prod(sizes) <= MAX_ELEMENTS else (1,) * rank

    def layout(self, data_type: DataType, sizes: Sequence[int], *, output: bool) -> TensorDesc:
        """A packed, permuted or padded descriptor; inputs may be broadcast."""
        if not self.chance(3):
            return TensorDesc(data_type, tuple(sizes))
        order = self.draw(st.permutations(range(len(sizes))))
        strides, step = [0] * len(sizes), 1
        gaps = self.chance(3)
        for axis in reversed(order):
            step *= self.draw(st.sampled_from([1, 1, 2])) if gaps else 1
            strides[axis] = step
            if not output and self.chance(4):
                strides[axis] = 0
            else:
                step *= sizes[axis] + (self.draw(st.integers(0, 1)) if gaps else 0)
        return TensorDesc(data_type, tuple(sizes), tuple(strides))

    # --- Reading ------------------------------------------------------------------------------------------------

    def new(self, desc: TensorDesc) -> Read:
        """A new input or constant, sometimes larger than its tensor."""
        offset = 16 if self.chance(10) else 0
        value = Value(f"source{len(self.inputs) + len(self.constants)}", offset + desc.minimum_bytes)
        if self.chance(3):
            self.constants.append(Constant(value, self.contents(value.nbytes, desc.data_type)))
        else:
            stated = desc if self.draw(st.booleans()) and not offset else None
            self.inputs.append(GraphInput(value.name, value, desc=stated))
        self.values.append((value, desc if not offset else TensorDesc(desc.data_type, (desc.extent,))))
        return Read(value, offset)

    def contents(self, nbytes: int, data_type: DataType) -> ArrayData | FillData:
        rng = np.random.default_rng(self.draw(st.integers(0, 5)))
        count = nbytes // data_type.itemsize
        if data_type.is_float:
            elements = rng.normal(0, 2, count).astype(data_type.dtype)
        else:
            elements = rng.integers(max(data_type.limits[0], -9), 10, count).astype(data_type.dtype)
        if self.chance(4):
            return FillData(elements[:1].tobytes(), nbytes)
        return ArrayData(np.resize(elements.view(np.uint8), nbytes))

    def constant(self, elements: npt.NDArray[Any]) -> Read:
        """A constant with these elements."""
        raw = np.zeros((elements.nbytes + 3) // 4 * 4, np.uint8)
        raw[: elements.nbytes] = elements.view(np.uint8)
        value = Value(f"constant{len(self.constants)}", raw.nbytes)
        self.constants.append(Constant(value, ArrayData(raw)))
        return Read(value)

    def integers(self, data_type: DataType, sizes: Sequence[int], low: int, high: int) -> View:
        """A constant of integers from ``low`` to ``high``, such as indices or lengths."""
        desc = TensorDesc(data_type, tuple(sizes))
        rng = np.random.default_rng(self.draw(st.integers(0, 9)))
        return desc, self.constant(rng.integers(low, high + 1, desc.element_count).astype(data_type.dtype))

    def existing(self, data_types: Collection[str]) -> list[tuple[Value, TensorDesc]]:
        return [item for item in self.values if item[1].data_type.name in data_types]

    def any_input(self, name: str, tensor: str = "InputTensor") -> View:
        """Any tensor that an operator accepts."""
        ranks, data_types = of_latest(name, tensor)
        return self.any_view(data_types, ranks)

    def any_view(self, data_types: Collection[str], ranks: tuple[int, int]) -> View:
        """A tensor of any of the data types: as it was written, another view of its buffer, or a new one."""
        found = self.existing(data_types)
        if found and not self.chance(4):
            value, desc = self.draw(st.sampled_from(found))
            if ranks[0] <= desc.rank <= ranks[1] and not self.chance(3):
                return desc, Read(value)
            return self.view_of(value, desc.data_type, self.sizes(*ranks))
        data_type = DataType[self.draw(st.sampled_from(sorted(data_types)))]
        desc = self.layout(data_type, self.sizes(*ranks), output=False)
        return desc, self.new(desc)

    def view_of(self, value: Value, data_type: DataType, sizes: tuple[int, ...]) -> View:
        """A view inside a buffer: packed, strided or overlapping, and broadcast if it is too large."""
        offset = self.draw(st.integers(0, (value.nbytes - 1) // 16)) * 16 if self.chance(3) else 0
        space = (value.nbytes - offset) // 4 * 4 // data_type.itemsize
        if self.chance(2):
            strides = list(packed_strides(sizes))
        else:
            strides = list(self.each(len(sizes), 0, 6))
        for axis in range(len(sizes)):
            desc = TensorDesc(data_type, sizes, tuple(strides))
            if desc.extent <= space and offset + desc.minimum_bytes <= value.nbytes:
                break
            strides[axis] = 0
        desc = TensorDesc(data_type, sizes, tuple(strides))
        assume(offset + desc.minimum_bytes <= value.nbytes)
        return desc, Read(value, offset)

    def view(self, data_type: DataType, sizes: Sequence[int]) -> View:
        """A tensor of a data type and sizes."""
        found = self.existing([data_type.name])
        same = [(value, desc) for value, desc in found if desc.sizes == tuple(sizes)]
        if same and self.chance(2):
            value, desc = self.draw(st.sampled_from(same))
            return desc, Read(value)
        if found and self.chance(3):
            value, _ = self.draw(st.sampled_from(found))
            return self.view_of(value, data_type, tuple(sizes))
        desc = self.layout(data_type, sizes, output=False)
        return desc, self.new(desc)

    # --- Writing ------------------------------------------------------------------------------------------------

    def add(self, name: str, inputs: Mapping[str, View], outputs: Mapping[str, TensorDesc], **fields: Any) -> None:
        """Adds a node with one tensor in each of these fields."""
        op = operator(name, **{field: desc for field, (desc, _) in inputs.items()}, **outputs, **fields)
        reads = {field: (read,) for field, (_, read) in inputs.items()}
        self.add_node(op, reads, {field: (desc,) for field, desc in outputs.items()})

    def add_node(
        self, op: OperatorDesc, reads: Mapping[str, tuple[Read, ...]], outputs: Mapping[str, tuple[TensorDesc, ...]]
    ) -> None:
        """Adds a node that writes to new buffers or over a part of an older one."""
        writes = {output: tuple([self.write(output, desc) for desc in descs]) for output, descs in outputs.items()}
        self.nodes.append(Node(f"node{len(self.nodes)}", op, reads, writes, f"/nodes/{len(self.nodes)}/desc"))

    def write(self, output: str, desc: TensorDesc) -> Write:
        base, offset = self.older(desc)
        nbytes = desc.minimum_bytes if base is None else base.nbytes
        value = Value(f"made{len(self.written)}.{output}", nbytes)
        whole = desc if not offset else TensorDesc(desc.data_type, (nbytes // desc.data_type.itemsize,))
        self.values.append((value, whole))
        self.written.append((value, whole))
        if base is not None:
            self.values = [item for item in self.values if item[0] is not base]
        return Write(value, offset, base)

    def older(self, desc: TensorDesc) -> tuple[Value | None, int]:
        """A buffer to overwrite in part, and the offset."""
        fitting = [v for v, d in self.values if v.nbytes >= desc.minimum_bytes and d.data_type is desc.data_type]
        if not fitting or not self.chance(5):
            return None, 0
        base = self.draw(st.sampled_from(fitting))
        return base, self.draw(st.integers(0, (base.nbytes - desc.minimum_bytes) // 16)) * 16

    def graph(self) -> Graph:
        read = {read.value for node in self.nodes for reads in node.reads.values() for read in reads}
        read |= {w.base for node in self.nodes for writes in node.writes.values() for w in writes if w.base is not None}
        chosen = [item for item in self.written if item[0] not in read or self.chance(3)]
        if self.chance(12):
            chosen += self.values[:1]
        outputs = [GraphOutput(f"out{index}", *item) for index, item in enumerate(chosen)]
        if self.chance(8):
            outputs.append(GraphOutput("again", outputs[0].value, outputs[0].desc))
        return Graph(tuple(self.nodes), tuple(self.inputs), tuple(outputs), tuple(self.constants))


class Sample:
    """A graph with a short representation for counterexamples."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def __repr__(self) -> str:
        lines = [f"  constant {item.value.name}: {item.value.nbytes} bytes" for item in self.graph.constants]
        lines += [f"  input {item.name}: {item.value.nbytes} bytes, {item.desc}" for item in self.graph.inputs]
        for node in self.graph.nodes:
            lines.append(f"  {node.name}: {node.operator.type}")
            lines += [f"    {name}[{i}] {r.value.name}+{r.offset}: {desc}" for name, i, r, desc in node.views_in()]
            for name, _, write, desc in node.views_out():
                base = "" if write.base is None else f" over {write.base.name}"
                lines.append(f"    {name} -> {write.value.name}+{write.offset}{base}: {desc}")
            fields = [(item.name, value) for item, value in node.operator.items() if not item.is_tensor]
            lines += [f"    {name} = {_shown(value)}" for name, value in fields if value is not None]
        lines += [f"  output {item.name} = {item.value.name}: {item.desc}" for item in self.graph.outputs]
        return "\n".join(["", *lines])


def _shown(value: object) -> object:
    if not isinstance(value, OperatorDesc):
        return value
    return f"{value.type} {[item for item in value.values if item is not None]}"
