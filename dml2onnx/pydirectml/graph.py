"""GraphBuilder, and functions that make expressions without an operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dml2onnx.builder.recorder import Recorder
from dml2onnx.pydirectml import settings
from dml2onnx.pydirectml.arguments import Integers, instance, instances, integer, integers, public
from dml2onnx.pydirectml.device import Device
from dml2onnx.pydirectml.enums import ExecutionFlags, TensorDataType, TensorFlags
from dml2onnx.pydirectml.executable import Model
from dml2onnx.pydirectml.expression import Expression, TensorView
from dml2onnx.pydirectml.settings import InputSlot
from dml2onnx.pydirectml.tensors import TensorDesc, data_type_of, minimum_bytes

if TYPE_CHECKING:
    from dml2onnx.builder.expression import Expression as Recorded


class GraphBuilder:
    """Collects the operators of a graph, in order of creation."""

    __slots__ = ("inputs", "recorder")

    @public
    def __init__(self, device: Device) -> None:
        instance("device", device, Device)
        self.recorder = Recorder(settings.current().name, feature_level=settings.current().feature_level)
        self.inputs: list[InputSlot] = []

    @public
    def build(self, flags: ExecutionFlags, outputs: Sequence[Expression], /) -> Model:
        """Builds a model that computes ``outputs``; may be called again for others.

        Flags do not change the results. Raises ``ValueError`` for an output that is a (reinterpreted) graph input, and
        for input indices beyond the number of inputs.
        """
        instance("flags", flags, ExecutionFlags)
        wanted = instances("outputs", outputs, Expression)
        nodes = [None if item.is_null else item.node() for item in wanted]
        for i, node in enumerate(nodes):
            if node is not None and node.is_input:
                raise ValueError(f"build(): output {i} is a graph input; it has to come from an operator")
        for slot in self.inputs:
            if slot.index >= len(self.inputs):
                count = len(self.inputs)
                raise ValueError(f"build(): input_index {slot.index} is used, but there are only {count} input tensors")
        named: dict[str, Recorded] = {f"output{i}": node.source for i, node in enumerate(nodes) if node is not None}
        names = [None if node is None else f"output{i}" for i, node in enumerate(nodes)]
        return Model.of(self.recorder.build(named), self.inputs, names)


@public
def input_tensor(scope: GraphBuilder, input_index: int, tensor_desc: TensorDesc) -> Expression:
    """Makes a graph input: a buffer to which ``compute`` binds element ``input_index`` of its list."""
    builder = instance("scope", scope, GraphBuilder)
    index = integer("input_index", input_index)
    desc = instance("tensor_desc", tensor_desc, TensorDesc)
    kind = data_type_of(desc.data_type)
    if kind is None:
        raise ValueError(f"input_tensor(): input {index} has data type {desc.data_type.name}")
    taken = {slot.name for slot in builder.inputs}
    name = f"input{index}"
    while name in taken:
        name += "_again"
    owned = desc.flags == TensorFlags.OWNED_BY_DML
    total, alignment = desc.total_tensor_size_in_bytes, desc.guaranteed_base_offset_alignment
    record = builder.recorder
    if total > minimum_bytes(desc.data_type, desc.sizes, desc.strides) and total % kind.itemsize == 0:
        # reinterpreting can reach the bytes after the tensor, so the whole buffer is the input
        source = record.input(name, kind, [total // kind.itemsize], owned_by_dml=owned, alignment=alignment)
        view = _copy_ownership(source, record.reinterpret(source, kind, desc.sizes, desc.strides))
    else:
        source = view = record.input(
            name, kind, desc.sizes, desc.strides, owned_by_dml=owned, total_size=total, alignment=alignment
        )
    builder.inputs.append(InputSlot(index, name, owned, source.value.nbytes))
    return Expression.of(TensorView(builder, source, view, desc, True))


@public
def reinterpret(
    input: Expression, new_type: TensorDataType, new_size: Integers, new_strides: Integers | None
) -> Expression:
    """Views the same bytes through another descriptor, with the input's flags, total bytes and alignment; no operator.

    Raises :class:`~dml2onnx.diagnostics.DmlError` (DML1806) if the new sizes and strides exceed the buffer.
    """
    node = instance("input", input, Expression).node()
    data_type = instance("new_type", new_type, TensorDataType)
    sizes = integers("new_size", new_size)
    strides = None if new_strides is None else integers("new_strides", new_strides)
    kind = data_type_of(data_type)
    if kind is None:
        raise ValueError("reinterpret(): new_type is UNKNOWN")
    old = node.desc
    desc = TensorDesc.of(
        data_type, sizes, strides, old.flags, old.total_tensor_size_in_bytes, old.guaranteed_base_offset_alignment
    )
    view = _copy_ownership(node.view, node.builder.recorder.reinterpret(node.source, kind, sizes, strides))
    return Expression.of(TensorView(node.builder, node.source, view, desc, node.is_input))


def _copy_ownership(original: Recorded, view: Recorded) -> Recorded:
    """Copies the flag OWNED_BY_DML of the original to a view."""
    view.desc = replace(view.desc, owned_by_dml=original.desc.owned_by_dml)
    return view
