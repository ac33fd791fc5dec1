"""What a lowering sees of a node: its descriptor and its tensors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.ir.graph import Node, Read, Value
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.lowering.moving import moved_fields, moved_type
from dml2onnx.memory.buffers import Buffers
from dml2onnx.onnx_model import FLOAT, FLOAT16, DType


class Operands:
    """The tensors of one node, read through its views when asked for.

    Those that it only moves are read as what memory holds, floats or integers of the same width.
    """

    __slots__ = ("_buffers", "_e", "_moved", "_moved_type", "_node", "op")

    def __init__(
        self, node: Node, buffers: Buffers, emitter: Emitter, wanted_as_bits: frozenset[Value] = frozenset()
    ) -> None:
        self._node = node
        self._buffers = buffers
        self._e = emitter
        self._moved = moved_fields(node)
        self._moved_type = moved_type(node, buffers, wanted_as_bits) if self._moved else None
        self.op: OperatorDesc = node.operator

    def tensor(self, field: str) -> Tensor:
        """An input in the shape of its Sizes."""
        return self._read(field, 0, False)

    def broadcastable(self, field: str) -> Tensor:
        """An input whose zero-stride dimensions have size 1: for ONNX operators that broadcast on their own."""
        return self._read(field, 0, True)

    def optional(self, field: str) -> Tensor | None:
        """An input, or ``None`` where the descriptor leaves it out."""
        return self._read(field, 0, False) if field in self._node.reads else None

    def array(self, field: str, *, units: bool = False) -> list[Tensor]:
        """All tensors of an array field; with ``units`` as :meth:`broadcastable` gives them."""
        return [self._read(field, index, units) for index in range(len(self._node.reads[field]))]

    def bits(self, field: str) -> Tensor:
        """:meth:`broadcastable`, floats as the unsigned integers of their bits."""
        desc = self.op.tensor(field)
        read: Read = self._node.reads[field][0]
        if desc.data_type.is_float:
            desc = replace(desc, data_type=DataType[f"UINT{desc.data_type.bits}"])
        return self._buffers.read(read.value, read.offset, desc, units=True)

    def previous(self, field: str) -> Tensor | None:
        """What an output that the operator updates holds before, or ``None`` where nobody can tell."""
        (write,) = self._node.writes[field]
        base = self._node.before(write)
        return None if base is None else self._buffers.before(base, write, self.op.tensor(field))

    def as_moved(self, value: int | float) -> np.generic:
        """A value of the output's type that stands among moved elements, as what these are read as."""
        data_type = self.output().data_type
        with np.errstate(over="ignore"):
            array = np.array([value], data_type.dtype)
        moved: np.generic = array.view((self._moved_type or data_type).dtype)[0]
        return moved

    def moves_bits_of_floats(self) -> bool:
        """Whether what is moved is held as floats and read as integers, to which each bit counts."""
        return self._moved_type is not None and self._moved_type.is_float and not self.output().data_type.is_float

    def output(self, field: str = "OutputTensor") -> TensorDesc:
        """The descriptor of an output."""
        return self.op.tensor(field)

    def has_output(self, field: str) -> bool:
        """Whether an optional output is wanted."""
        return field in self._node.writes

    def widened(self, x: Tensor) -> Tensor:
        """``x`` in the type in which floating-point arithmetic is done.

        FLOAT16 stays FLOAT16, or is computed in FLOAT32 and rounded once at the end [decision G5]: lowerings return
        the wide result, and the driver rounds it to the output's type.
        """
        wide = self.compute_type(x.dtype)
        if wide != x.dtype:
            self._e.note("FLOAT16 is computed in FLOAT32 and rounded once at the end")
        return self._e.Cast(x, wide)

    def matrices(self, field: str) -> Tensor:
        """An operand of a product, :meth:`widened`: broadcast batches have size 1, the matrices are whole."""
        x = self.widened(self.broadcastable(field))
        return self._e.Expand(x, (*x.shape[:-2], *self.op.tensor(field).sizes[-2:]))

    def in_float(self, field: str) -> Tensor:
        """An input, FLOAT16 as FLOAT in any model.

        For formulas in which squares and sums would soon overflow, and an Epsilon would vanish.
        """
        x = self.tensor(field)
        return self._e.Cast(x, FLOAT) if x.dtype == FLOAT16 else x

    def compute_type(self, dtype: DType) -> DType:
        """See :meth:`widened`."""
        return self._e.compute_type(dtype)

    def _read(self, field: str, index: int, units: bool) -> Tensor:
        read: Read = self._node.reads[field][index]
        desc = self.op.tensors(field)[index]
        if self._moved_type not in (None, desc.data_type) and field in self._moved:
            desc = replace(desc, data_type=self._moved_type)
        return self._buffers.read(read.value, read.offset, desc, units=units)
