"""The variables of a program for inputs and constants, and the views of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dml2onnx.diagnostics import DmlError
from dml2onnx.ir.data import Data, MissingData, padded
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.source_code.contents import Contents, Shown, memory_shape, unrepeated
from dml2onnx.source_code.text import Keyword, Part, Ref, Text, call, numbers, string

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dml2onnx.builder.expression import Expression
    from dml2onnx.ir.graph import Constant, GraphInput, Value
    from dml2onnx.source_code.trial import Trial


@dataclass(frozen=True, slots=True)
class View:
    """A tensor in a buffer."""

    value: Value
    desc: TensorDesc
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Bound:
    """A value of the graph in the program: what the program says for it, and which tensor that is."""

    part: Part
    home: View
    shown: Shown | None = None
    """The array, where it is a constant that a method takes as it is."""


def keywords(desc: TensorDesc) -> list[Part]:
    """The arguments for what is said of memory beside sizes and strides."""
    found: list[Part] = []
    if desc.owned_by_dml:
        found.append(Keyword("owned_by_dml", Text("True")))
    found += [
        Keyword(name, Text(str(getattr(desc, name)))) for name in ("total_size", "alignment") if getattr(desc, name)
    ]
    return found


def seen(bound: Bound, wanted: View, trial: Trial, *, broadcasts: bool = False) -> Part:
    """A tensor through the variable of its buffer; ``broadcasts`` where zero strides come by themselves."""
    home = bound.home
    if home.desc == wanted.desc and home.desc.alignment == wanted.desc.alignment and home.offset == wanted.offset:
        return bound.part
    if home.offset == wanted.offset and not wanted.desc.alignment:
        source = trial.of(home.value, home.desc, home.offset)
        if _gives(wanted, lambda: trial.broadcast(source, wanted.desc.sizes)):
            return bound.part if broadcasts else call("g.broadcast", (bound.part, numbers(wanted.desc.sizes)))
        if home.desc.strides is None and _gives(wanted, lambda: trial.reshape(source, wanted.desc.sizes)):
            return call("g.reshape", (bound.part, numbers(wanted.desc.sizes)))
    arguments: list[Part] = [bound.part]
    other_type = home.desc.data_type is not wanted.desc.data_type
    if other_type:
        arguments.append(Text(string(wanted.desc.data_type.name)))
    is_alike = (home.desc.sizes, home.desc.strides) == (wanted.desc.sizes, wanted.desc.strides)
    if not is_alike:
        sizes = numbers(wanted.desc.sizes)
        arguments.append(sizes if other_type else Keyword("sizes", sizes))
    if wanted.desc.strides is not None and not is_alike:
        arguments.append(Keyword("strides", numbers(wanted.desc.strides)))
    if home.offset != wanted.offset:
        arguments.append(Keyword("offset", Text(str(wanted.offset))))
    return call("g.reinterpret", (*arguments, *keywords(wanted.desc)))


def _gives(wanted: View, view: object) -> bool:
    try:
        found: Expression = view()  # type: ignore[operator]  # a call without arguments
    except DmlError:
        return False
    return found.desc == wanted.desc


# --- Inputs and constants ---------------------------------------------------------------------------------------------


def bound_input(item: GraphInput, views: Sequence[View], contents: Contents, trial: Trial) -> tuple[Part, Bound]:
    """How an input is made, and as what its variable is seen."""
    value, desc = item.value, item.desc
    if desc is None:
        made, home = _bytes_to_bind(item, views, contents)
        first = next((view for view in views if not view.offset), home)
        return seen(Bound(made, home), first, trial), Bound(Ref(value), first)
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
    return call("g.input", parts), Bound(Ref(value), View(value, desc))


def _bytes_to_bind(item: GraphInput, views: Sequence[View], contents: Contents) -> tuple[Part, View]:
    """An input that is described by those who read it."""
    value = item.value
    arguments: list[Part] = [Text(string(item.name)), Text(str(value.nbytes))]
    if item.default is not None:
        kind = _row_of(views, value.nbytes)
        shape = (value.nbytes // kind.itemsize,)
        arguments.append(
            Keyword("contents", contents.array(item.name, padded(item.default, value.nbytes), kind, shape).part)
        )
    return call("g.buffer", arguments), View(value, TensorDesc(DataType.UINT8, (value.nbytes,)))


def _row_of(views: Iterable[View], nbytes: int) -> DataType:
    """The type of the first reader of a buffer that so many bytes are a row of; else bytes."""
    kinds = [view.desc.data_type for view in views if not view.desc.data_type.is_packed_nibbles]
    return next((item for item in kinds if nbytes % item.itemsize == 0), DataType.UINT8)


def bound_constant(item: Constant, views: Sequence[View], contents: Contents, name: str) -> tuple[Part, Bound]:
    """How a constant is made, and as what its variable is seen."""
    value = item.value
    data = item.data if isinstance(item.data, MissingData) else padded(item.data, value.nbytes)
    for view in views:
        found = _as_tensor(data, view)
        if found is None:
            continue
        desc, shape, said = found
        shown = contents.array(name, data, desc.data_type, shape)
        arguments: list[Part] = [shown.part]
        if desc.data_type.is_packed_nibbles:
            arguments.append(Keyword("data_type", Text(string(desc.data_type.name))))
        arguments += said
        plain = not said and not desc.data_type.is_packed_nibbles
        return call("g.constant", arguments), Bound(Ref(value), View(value, desc), shown if plain else None)
    return _as_bytes(value, data, views, contents, name)


def _as_tensor(data: Data, view: View) -> tuple[TensorDesc, tuple[int, ...], list[Part]] | None:
    """The tensor that has all that there is in a constant, the shape of its array, and what is said beside it."""
    desc, nbytes = view.desc, view.value.nbytes
    if view.offset or desc.total_bytes != nbytes or not _ends(data, desc, nbytes):
        return None
    said = keywords(desc)
    once = None if said else unrepeated(desc)
    if once is not None and once.total_bytes == nbytes:
        return once, once.sizes, []
    shape = memory_shape(desc)
    if shape is None or desc.data_type.is_packed_nibbles:
        shape = (desc.extent,) if desc.strides is not None else desc.sizes
    if desc.strides is None:
        return desc, shape, said
    said = [Keyword("sizes", numbers(desc.sizes)), Keyword("strides", numbers(desc.strides)), *said]
    return desc, shape, said


def _ends(data: Data, desc: TensorDesc, nbytes: int) -> bool:
    """Whether nothing follows the elements; what is missing in the data reads as 0."""
    if isinstance(data, MissingData):
        return desc.reach == nbytes
    if desc.extent * desc.data_type.bits % 8:
        last = data.read(desc.reach - 1, 1)
        if last.size and last[0] >> 4:
            return False
    return data.nbytes >= desc.reach and not data.read(desc.reach, max(0, nbytes - desc.reach)).any()


def _as_bytes(value: Value, data: Data, views: Iterable[View], contents: Contents, name: str) -> tuple[Part, Bound]:
    """A constant as a row of elements of the type of its first reader, or of bytes."""
    kind = _row_of(views, value.nbytes)
    desc = TensorDesc(kind, (value.nbytes // kind.itemsize,))
    arguments = [contents.array(name, data, kind, desc.sizes).part]
    if value.nbytes != desc.total_bytes:
        arguments.append(Keyword("buffer_bytes", Text(str(value.nbytes))))
    return call("g.constant", arguments), Bound(Ref(value), View(value, desc))
