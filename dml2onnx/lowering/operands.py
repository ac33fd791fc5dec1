"""The operands of a lowering: a node's descriptor and its tensors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dml2onnx.buffer_views.buffers import Buffers
from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.ir.graph import Node, Read, Value
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.lowering.moving import moved_fields, moved_type
from dml2onnx.onnx_model import FLOAT, FLOAT16, DType


class Operands:
    """The tensors of one node, read lazily through its views.

    Inputs that the node only moves are read in the type that memory has, float or integer of the same width.
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
        """Returns an input in the shape of its Sizes."""
        return self._read(field)

    def broadcastable(self, field: str) -> Tensor:
        """Returns an input whose zero-stride dimensions have size 1, for ONNX operators that broadcast."""
        return self._read(field, units=True)

    def optional(self, field: str) -> Tensor | None:
        """Returns an input, or ``None`` if the descriptor omits it."""
        return self._read(field) if field in self._node.reads else None

    def array(self, field: str, *, units: bool = False) -> list[Tensor]:
        """Returns all tensors of an array field; with ``units``, as :meth:`broadcastable` does."""
        return [self._read(field, index, units=units) for index in range(len(self._node.reads[field]))]

    def bits(self, field: str) -> Tensor:
        """Returns an input as :meth:`broadcastable` does, with floats as unsigned integers that have their bits."""
        data_type = self.op.tensor(field).data_type
        return self._read(field, units=True, read_as=DataType[f"UINT{data_type.bits}"] if data_type.is_float else None)

    def previous(self, field: str) -> Tensor | None:
        """Returns the previous contents of an output that the operator updates, or ``None`` if they are unknown."""
        (write,) = self._node.writes[field]
        base = self._node.before(write)
        return None if base is None else self._buffers.before(base, write, self.op.tensor(field))

    def as_moved(self, value: int | float) -> np.generic:
        """Converts a fill value of the output's type to the type in which the moved elements are read."""
        data_type = self.output().data_type
        with np.errstate(over="ignore"):
            array = np.array([value], data_type.dtype)
        moved: np.generic = array.view((self._moved_type or data_type).dtype)[0]
        return moved

    def moves_bits_of_floats(self) -> bool:
        """Whether the moved elements are stored as floats but read as integers, so that each bit matters."""
        return self._moved_type is not None and self._moved_type.is_float and not self.output().data_type.is_float

    def output(self, field: str = "OutputTensor") -> TensorDesc:
        """Returns the descriptor of an output."""
        return self.op.tensor(field)

    def has_output(self, field: str) -> bool:
        """Whether the node has an optional output."""
        return field in self._node.writes

    def widened(self, x: Tensor) -> Tensor:
        """Casts ``x`` to the type for floating-point arithmetic.

        FLOAT16 stays FLOAT16, or is computed in FLOAT32 and rounded once at the end [decision G5]: lowerings return
        the wide result, and the driver rounds it to the output's type.
        """
        wide = self.compute_type(x.dtype)
        if wide != x.dtype:
            self._e.note("FLOAT16 is computed in FLOAT32 and rounded once at the end")
        return self._e.Cast(x, wide)

    def matrices(self, field: str) -> Tensor:
        """Returns an operand of a matrix product, :meth:`widened`; only broadcast batch dimensions have size 1."""
        x = self.widened(self.broadcastable(field))
        return self._e.Expand(x, (*x.shape[:-2], *self.op.tensor(field).sizes[-2:]))

    def in_float(self, field: str) -> Tensor:
        """Returns an input, with FLOAT16 always cast to FLOAT.

        Use it for formulas in which squares and sums would overflow in FLOAT16, or an Epsilon would round to 0.
        """
        x = self.tensor(field)
        return self._e.Cast(x, FLOAT) if x.dtype == FLOAT16 else x

    def compute_type(self, dtype: DType) -> DType:
        """Returns the type that :meth:`widened` casts to."""
        return self._e.compute_type(dtype)

    def _read(self, field: str, index: int = 0, *, units: bool = False, read_as: DataType | None = None) -> Tensor:
        read: Read = self._node.reads[field][index]
        desc = self.op.tensors(field)[index]
        read_as = self._moved_type if field in self._moved else read_as
        if read_as not in (None, desc.data_type):
            desc = replace(desc, data_type=read_as)
        return self._buffers.read(read.value, read.offset, desc, units=units)
