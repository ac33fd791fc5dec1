"""The variables of a program for inputs and constants, and views of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dml2onnx.diagnostics import DmlError
from dml2onnx.ir.data import Data, MissingData, padded
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.source_code.contents import ArrayExpression, ProgramArrays, memory_shape, unrepeated
from dml2onnx.source_code.text import Keyword, Part, Ref, Text, call, numbers, string

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dml2onnx.builder.expression import Expression
    from dml2onnx.ir.graph import Constant, GraphInput, Value
    from dml2onnx.source_code.trial import TrialBuilder


@dataclass(frozen=True, slots=True)
class BufferView:
    """A tensor in a buffer."""

    value: Value
    desc: TensorDesc
    offset: int = 0


@dataclass(frozen=True, slots=True)
class BoundExpression:
    """The expression of a value, usually a variable, and the tensor that the expression has."""

    part: Part
    home: BufferView
    array: ArrayExpression | None = None
    """The contents, if the value is a constant that methods accept as an array."""


def keywords(desc: TensorDesc) -> list[Part]:
    """The arguments for the members of a tensor besides its data type, sizes and strides."""
    found: list[Part] = [Keyword("owned_by_dml", Text("True"))] if desc.owned_by_dml else []
    found += [
        Keyword(name, Text(str(getattr(desc, name)))) for name in ("total_size", "alignment") if getattr(desc, name)
    ]
    return found


def viewed(bound: BoundExpression, target: BufferView, trial: TrialBuilder, *, broadcasts: bool = False) -> Part:
    """An expression for another tensor in the buffer of ``bound``.

    ``broadcasts`` says that the operator broadcasts its operands by itself.
    """
    home, desc = bound.home, target.desc
    if home.desc == desc and home.desc.alignment == desc.alignment and home.offset == target.offset:
        return bound.part
    if home.offset == target.offset and not desc.alignment:
        source = trial.of(home.value, home.desc, home.offset)
        if _returns(desc, lambda: trial.broadcast(source, desc.sizes)):
            return bound.part if broadcasts else call("g.broadcast", (bound.part, numbers(desc.sizes)))
        if home.desc.strides is None and _returns(desc, lambda: trial.reshape(source, desc.sizes)):
            return call("g.reshape", (bound.part, numbers(desc.sizes)))
    arguments: list[Part] = [bound.part]
    has_other_type = home.desc.data_type is not desc.data_type
    if has_other_type:
        arguments.append(Text(string(desc.data_type.name)))
    if (home.desc.sizes, home.desc.strides) != (desc.sizes, desc.strides):
        sizes = numbers(desc.sizes)
        arguments.append(sizes if has_other_type else Keyword("sizes", sizes))
        if desc.strides is not None:
            arguments.append(Keyword("strides", numbers(desc.strides)))
    if home.offset != target.offset:
        arguments.append(Keyword("offset", Text(str(target.offset))))
    return call("g.reinterpret", (*arguments, *keywords(desc)))


def _returns(desc: TensorDesc, view: Callable[[], Expression]) -> bool:
    try:
        return view().desc == desc
    except DmlError:
        return False


# --- Inputs and constants ---------------------------------------------------------------------------------------------


def bound_input(
    item: GraphInput, views: Sequence[BufferView], contents: ProgramArrays, trial: TrialBuilder
) -> tuple[Part, BoundExpression]:
    """Returns the expression that creates an input, and its variable."""
    value, desc = item.value, item.desc
    if desc is None:
        buffer = _untyped_input(item, views, contents)
        first = next((view for view in views if not view.offset), buffer.home)
        return viewed(buffer, first, trial), BoundExpression(Ref(value), first)
    parts: list[Part] = [Text(string(item.name)), Text(string(desc.data_type.name)), numbers(desc.sizes)]
    if desc.strides is not None:
        parts.append(Keyword("strides", numbers(desc.strides)))
    parts += keywords(desc)
    if value.nbytes != desc.total_bytes:
        parts.append(Keyword("buffer_bytes", Text(str(value.nbytes))))
    if item.default is not None:
        shape = memory_shape(desc) or (desc.extent,)
        data = padded(item.default, desc.reach)
        parts.append(Keyword("contents", contents.array(item.name, data, desc.data_type, shape).part))
    return call("g.input", parts), BoundExpression(Ref(value), BufferView(value, desc))


def _untyped_input(item: GraphInput, views: Sequence[BufferView], contents: ProgramArrays) -> BoundExpression:
    """An input without a tensor descriptor of its own."""
    value = item.value
    arguments: list[Part] = [Text(string(item.name)), Text(str(value.nbytes))]
    if item.default is not None:
        row = _row(views, value.nbytes)
        array = contents.array(item.name, padded(item.default, value.nbytes), row.data_type, row.sizes)
        arguments.append(Keyword("contents", array.part))
    return BoundExpression(call("g.buffer", arguments), BufferView(value, TensorDesc(DataType.UINT8, (value.nbytes,))))


def _row(views: Iterable[BufferView], nbytes: int) -> TensorDesc:
    """The bytes as a row of elements of the first reader's data type that divides them, otherwise of UINT8."""
    kinds = [view.desc.data_type for view in views if not view.desc.data_type.is_packed_nibbles]
    kind = next((item for item in kinds if nbytes % item.itemsize == 0), DataType.UINT8)
    return TensorDesc(kind, (nbytes // kind.itemsize,))


def bound_constant(
    item: Constant, views: Sequence[BufferView], contents: ProgramArrays, name: str
) -> tuple[Part, BoundExpression]:
    """Returns the expression that creates a constant, and its variable."""
    value = item.value
    data = item.data if isinstance(item.data, MissingData) else padded(item.data, value.nbytes)
    for view in views:
        found = _as_tensor(data, view)
        if found is None:
            continue
        desc, shape, options = found
        array = contents.array(name, data, desc.data_type, shape)
        arguments: list[Part] = [array.part]
        if desc.data_type.is_packed_nibbles:
            arguments.append(Keyword("data_type", Text(string(desc.data_type.name))))
        arguments += options
        is_plain = not options and not desc.data_type.is_packed_nibbles
        return call("g.constant", arguments), BoundExpression(
            Ref(value), BufferView(value, desc), array if is_plain else None
        )
    row = _row(views, value.nbytes)
    arguments = [contents.array(name, data, row.data_type, row.sizes).part]
    if value.nbytes != row.total_bytes:
        arguments.append(Keyword("buffer_bytes", Text(str(value.nbytes))))
    return call("g.constant", arguments), BoundExpression(Ref(value), BufferView(value, row))


def _as_tensor(data: Data, view: BufferView) -> tuple[TensorDesc, tuple[int, ...], list[Part]] | None:
    """The tensor, the shape of the array and the other arguments of a constant with the contents of a view.

    ``None`` if the view does not cover all contents of the buffer.
    """
    desc, nbytes = view.desc, view.value.nbytes
    if view.offset or desc.total_bytes != nbytes or not _covers(desc, data, nbytes):
        return None
    options = keywords(desc)
    once = None if options else unrepeated(desc)
    if once is not None and once.total_bytes == nbytes:
        return once, once.sizes, []
    shape = memory_shape(desc)
    if shape is None or desc.data_type.is_packed_nibbles:
        shape = (desc.extent,) if desc.strides is not None else desc.sizes
    if desc.strides is not None:
        options = [Keyword("sizes", numbers(desc.sizes)), Keyword("strides", numbers(desc.strides)), *options]
    return desc, shape, options


def _covers(desc: TensorDesc, data: Data, nbytes: int) -> bool:
    """Whether the data has all elements of a tensor, followed by zeros only."""
    if isinstance(data, MissingData):
        return desc.reach == nbytes
    half = 1 if desc.extent * desc.data_type.bits % 8 else 0  # a byte of which an element has one half
    rest = data.read(desc.reach - half, nbytes - desc.reach + half)
    return data.nbytes >= desc.reach and not (rest[:half] >> 4).any() and not rest[half:].any()
