"""Checks the inputs of a model before they are passed to ONNX Runtime."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx import arguments
from dml2onnx.catalog.likeness import nearest
from dml2onnx.codes.running import INPUT_SHAPE, INPUT_TYPE, MISSING_INPUT, UNKNOWN_INPUT
from dml2onnx.diagnostics import Diagnostic, DmlError, Remedy, quote, shortened, visible
from dml2onnx.ir.view import Layout
from dml2onnx.onnx_model import Array, NamedSize, OnnxPort

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt


def check_inputs(ports: Sequence[OnnxPort], supplied: Mapping[str, npt.ArrayLike]) -> dict[str, Array]:
    """Returns the feeds by ONNX name. Raises :class:`DmlError` with all errors in names, types and shapes.

    An array has the shape of the buffer in memory order, or is flat. An array with the Sizes of a permuted tensor is
    transposed to memory order.
    """
    arrays = arguments.arrays(supplied, names=[port.name for port in ports])
    feeds: dict[str, Array] = {}
    values = named_values(ports, arrays)
    for port in at_sizes(ports, values):
        array = arrays.get(port.name)
        if array is None or array.dtype != port.dtype:
            break
        if array.shape != port.shape:
            if (stored := _stored(port, array)) is None:
                break
            array = stored
        feeds[port.onnx_name] = array if array.flags.c_contiguous else np.ascontiguousarray(array)
    if not len(feeds) == len(ports) == len(arrays):
        raise DmlError(*_findings(ports, arrays))
    limits = next((size.limits for port in ports for size in _named(port)), None)  # the same for all
    if limits is not None and (problems := list(limits.problems(values))):
        raise DmlError(*problems)
    return feeds


def named_values(ports: Sequence[OnnxPort], arrays: Mapping[str, Array]) -> dict[str, int]:
    """Returns the value of each name in these arrays by public name, if it is in range.

    The first array with a dimension of that name determines it; other arrays have to match.
    """
    values: dict[str, int] = {}
    for port in ports:
        array = arrays.get(port.name)
        if array is not None and array.ndim == len(port.shape):
            for size, found in zip(port.shape, array.shape, strict=True):
                if isinstance(size, NamedSize) and size.text in size.limits.ranges:
                    low, high = size.limits.ranges[size.text]
                    if low <= found <= high:
                        values.setdefault(size.text, found)
    return values


def at_sizes(ports: Sequence[OnnxPort], values: Mapping[str, int]) -> Sequence[OnnxPort]:
    """Returns the ports with their named sizes replaced by numbers, as far as these values determine them."""
    if not values:
        return ports
    return [
        replace(port, shape=tuple(size.at(values) if isinstance(size, NamedSize) else size for size in port.shape))
        for port in ports
    ]


def _named(port: OnnxPort) -> list[NamedSize]:
    return [size for size in port.shape if isinstance(size, NamedSize)]


def _names_hint(port: OnnxPort, ports: Sequence[OnnxPort], arrays: Mapping[str, Array]) -> str:
    """The ranges of the names in a shape, or the other input that determines them."""
    notes = []
    limits = {symbol.name: size.limits for size in _named(port) for symbol in sorted(size.expr.symbols())}
    for name, limit in limits.items():
        first = next((item.name for item in ports if name in named_values([item], arrays)), None)
        if first is None:
            notes.append(limit.shown(name))
        elif first != port.name:
            notes.append(f"{name} is {named_values(ports, arrays)[name]} in {quote(first)}")
    return f"; {', '.join(notes)}" if notes else ""


def _stored(port: OnnxPort, array: Array) -> Array | None:
    """The array in memory order; ``None`` if it is not flat and does not have the tensor's Sizes."""
    if array.shape == (prod(port.shape),):
        return array.reshape(port.shape)
    desc = port.desc
    layout = Layout(desc.sizes, desc.effective_strides)
    if array.shape != desc.sizes or not layout.is_dense or prod(port.shape) != array.size:
        return None
    return array.transpose(layout.memory_order).reshape(port.shape)


def _layout_hint(port: OnnxPort, found: tuple[int, ...]) -> str:
    """How to convert an array to the shape of a port, if it looks like another image layout."""
    wanted = tuple(size for size in port.shape if isinstance(size, int))
    rank = len(wanted)
    if rank != len(port.shape) or rank < 3:
        return ""
    if found == wanted[1:] and wanted[0] == 1:
        return "; the first dimension is missing: numpy's array[None]"
    for title, order in (("N...C", (0, rank - 1, *range(1, rank - 1))), ("NC...", (0, *range(2, rank), 1))):
        name = title.replace("...", "DHW"[5 - rank :]) if rank <= 5 else title
        for stated, before in ((found, ""), ((1, *found), "array[None] and ")):
            if len(stated) == rank and tuple(stated[axis] for axis in order) == wanted:
                name = name.removeprefix("N") if before else name
                return f"; it looks like {name}: numpy's {before}transpose {order}"
    return ""


def _converted(port: OnnxPort, array: Array) -> tuple[Remedy, ...]:
    """How to convert an array to the type of a port, and what is lost."""
    if array.dtype.kind not in "fiub" or np.dtype(port.dtype).kind not in "fiub":
        return ()
    to_whole = array.dtype.kind == "f" and np.dtype(port.dtype).kind in "iu"
    odd = [float(item) for item in array[array != np.trunc(array)][:1]] if to_whole else []
    loss = f", which cuts off fractions such as that of {odd[0]:g}" if odd else ""
    return (Remedy(f'numpy\'s array.astype("{port.dtype}"){loss}'),)


def _findings(ports: Sequence[OnnxPort], arrays: Mapping[str, Array]) -> Iterator[Diagnostic]:
    names = shortened(", ".join(port.name for port in ports)) or "none"
    known = {port.name for port in ports}
    sized = at_sizes(ports, named_values(ports, arrays))
    missing = [port.name for port in ports if port.name not in arrays]
    unknown = [name for name in arrays if name not in known]
    similar: set[str] = set()
    for name in unknown:
        similar.update(missing if len(missing) == len(unknown) == 1 else nearest(name, missing))
        message = f"the model has no input {quote(name)}; its inputs are: {names}"
        yield UNKNOWN_INPUT.at(message, expected=names, found=name)
    for stated, port in zip(ports, sized, strict=True):
        if port.name in similar:
            continue
        if port.name not in arrays:
            expected = f"{port.dtype} {list(port.shape)}"
            how = Remedy(f"--input {visible(port.name)}=FILE.npy, or an array of that name among the inputs of run")
            message = f"the input {quote(port.name)} has no contents"
            yield MISSING_INPUT.at(message, expected=expected, remedies=(how,))
            continue
        array = arrays[port.name]
        if array.dtype != port.dtype:
            message = f"input {quote(port.name)} must be {port.dtype}, not {array.dtype}"
            remedies = _converted(port, array)
            yield INPUT_TYPE.at(message, expected=port.dtype, found=array.dtype, remedies=remedies)
        elif array.shape != port.shape and _stored(port, array) is None:
            wanted = f"shape {list(port.shape)} (or be flat)"
            hint = _layout_hint(port, array.shape) or _names_hint(stated, ports, arrays)
            message = f"input {quote(port.name)} must have {wanted}, not {list(array.shape)}{hint}"
            yield INPUT_SHAPE.at(message, expected=list(port.shape), found=list(array.shape))
