"""Memory of operators' outputs: a new buffer, or a part of an existing one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dml2onnx.builder.arguments import error_here
from dml2onnx.codes import building as codes
from dml2onnx.ir.graph import Value, Write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dml2onnx.builder.names import Names
    from dml2onnx.ir.operator import OperatorDesc
    from dml2onnx.ir.tensor import TensorDesc


@dataclass(frozen=True, slots=True)
class OutputLayout:
    """The requested memory of an output. Without ``field`` for all outputs, without ``index`` for all elements."""

    strides: tuple[int, ...] | None = None
    into: Value | None = None
    offset: int = 0
    owned_by_dml: bool = False
    total_size: int = 0
    alignment: int = 0
    buffer_bytes: int = 0
    field: str | None = None
    index: int | None = None

    def is_about(self, field: str, index: int) -> bool:
        """Whether it applies to an output."""
        return self.field in (None, field) and self.index in (None, index)


PLAIN = OutputLayout()


def layout_of(stated: Sequence[OutputLayout], field: str, index: int) -> OutputLayout:
    """The innermost layout that applies to an output."""
    return next((item for item in reversed(stated) if item.is_about(field, index)), PLAIN)


def with_layout(desc: TensorDesc, layout: OutputLayout) -> TensorDesc:
    """The descriptor of an output with its requested memory."""
    return replace(
        desc,
        strides=desc.strides if layout.strides is None else layout.strides,
        owned_by_dml=layout.owned_by_dml,
        total_size=layout.total_size,
        alignment=layout.alignment,
    )


def writes_of(
    desc: OperatorDesc, outputs: Mapping[str, object], node_name: str, names: Names, stated: Sequence[OutputLayout]
) -> dict[str, tuple[Write, ...]]:
    """The writes of a node; several writes into one buffer make successive versions of it."""
    versions: dict[Value, Value] = {}
    writes: dict[str, tuple[Write, ...]] = {}
    for field in outputs:
        tensors = desc.tensors(field)
        own_name = node_name if len(outputs) == 1 and len(tensors) == 1 else f"{node_name}.{field}"
        made = []
        for index, tensor in enumerate(tensors):
            layout = layout_of(stated, field, index)
            base = layout.into and versions.get(layout.into, layout.into)
            available = layout.buffer_bytes or (layout.offset + tensor.total_bytes if base is None else base.nbytes)
            check_fits(tensor, layout.offset, available)
            value = Value(names.take(own_name), available)
            if layout.into is not None:
                versions[layout.into] = value
            made.append(Write(value, layout.offset, base))
        writes[field] = tuple(made)
    return writes


def check_fits(desc: TensorDesc, offset: int, nbytes: int) -> None:
    """Refuses a view beyond its buffer (DML1806)."""
    if offset + desc.reach > nbytes:
        needed, there = f"{offset + desc.reach} bytes", f"{nbytes} bytes"
        raise error_here(codes.VIEW_TOO_LARGE, f"{desc} covers {needed} of {there}", expected=there, found=needed)
