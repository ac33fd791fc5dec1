"""Models as bytes and files: metadata and external data.

Initializers stay numpy arrays (often memory-mapped files) until this module streams them out block by block, in another
order where that was asked for: a model of any size is written with some dozens of MiB.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx import files, wire
from dml2onnx.codes.running import OUTPUT_UNWRITABLE, TOO_LARGE
from dml2onnx.diagnostics import DmlError
from dml2onnx.gc_pause import gc_paused
from dml2onnx.ir.mapped import BLOCK, FileMap, blocks, file_of, file_place, mapping
from dml2onnx.onnx_model import INT4, UINT4, Array, NamedSize, OnnxGraph, is_unknown, stored_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from dml2onnx.files import Destination, FilePart, Parts

PRODUCER = "dml2onnx"
MESSAGE_LIMIT = (1 << 31) - 1
EXTERNAL_ABOVE = 1 << 30
"""Models with more bytes of initializers are saved with external data by default."""
EXTERNAL_MINIMUM = 1024
"""Smaller tensors stay in the model file: shape inference reads shapes and axes."""
COPIED_FROM = 1 << 20
"""Size from which opening a file again is cheap compared with copying."""
PAGE = 4096


@dataclass(frozen=True, slots=True)
class Header:
    """The fields of a ``ModelProto`` besides its graph, and of the graph besides its nodes."""

    name: str
    opset: int
    ir_version: int
    metadata: Mapping[str, str]
    shapes: bool = True
    """Whether types and shapes of intermediate values are stated."""


def model_bytes(graph: OnnxGraph, header: Header, external: Mapping[str, Mapping[str, str]] | None = None) -> bytes:
    """The serialized model; :class:`DmlError` above 2 GiB.

    ``external`` has the entries of ``TensorProto.external_data``, by initializer, of those stored elsewhere.
    """
    parts = _complete(graph, header, external)
    return b"".join(chain.from_iterable(blocks(part) if isinstance(part, np.ndarray) else (part,) for part in parts))


def _complete(
    graph: OnnxGraph, header: Header, external: Mapping[str, Mapping[str, str]] | None = None
) -> list[bytes | Array]:
    """The whole model as one message, in parts."""
    parts = _message(graph, header, external)
    size = sum(part.nbytes if isinstance(part, np.ndarray) else len(part) for part in parts)
    if size > MESSAGE_LIMIT:
        raise DmlError(
            TOO_LARGE.at(
                f"the model has {size} bytes", expected=f"at most {MESSAGE_LIMIT} bytes", found=f"{size} bytes"
            )
        )
    return parts


def _streamed(parts: Iterable[bytes | Array]) -> Parts:
    for part in parts:
        if isinstance(part, np.ndarray):
            yield from _parts(part)
        else:
            yield part


def _parts(array: Array) -> Iterator[memoryview | FilePart]:
    """The bytes of an array: the place of its file where they lie as they are to be written, or blocks of them."""
    found = mapping(array)
    is_as_written = array.flags.c_contiguous and array.dtype.newbyteorder("<") == array.dtype
    if isinstance(found, FileMap) and is_as_written and array.nbytes >= COPIED_FROM:
        place = file_place(array)
        assert place is not None
        with found.opened() as stream:
            if stream is not None:
                yield files.FilePart(stream, place, array.nbytes)
                return
    yield from blocks(array)


def save(
    graph: OnnxGraph,
    target: Destination,
    header: Header,
    external_data: bool | None = None,
    *,
    in_place: bool = False,
    kept: Iterable[Path] = (),
) -> list[Path]:
    """Writes the model, and ``<file>.data`` beside it where data is external. Returns the files written.

    Where the model that is there has a data file of that name, the new one gets another (:func:`data_paths`): whenever
    this ends, each model has its own weights. The data file of the model that is replaced goes with it. With
    ``in_place`` the model refers to the files in which its weights lie already, where these are :func:`places_of` them.
    The files to be ``kept`` are never written over.
    """
    if isinstance(target, Path) and target.name:
        files.spare([target, *data_paths(target)], kept)
    path = target if isinstance(target, Path) and not files.is_special(target) else None
    if path is None and (external_data or in_place):
        message = "external data is written beside the model, and this output is not a regular file"
        raise DmlError(OUTPUT_UNWRITABLE.at(message, expected="a regular file"))
    lying = places_of(graph, path) if path is not None and in_place else {}
    if in_place and not lying:
        message = "no weights of 1024 bytes or more are in files beside the output or below it"
        expected = "an output in the directory of the weights, or above it"
        raise DmlError(OUTPUT_UNWRITABLE.at(message, expected=expected, found=str(path)))
    large = graph.weight_bytes - sum(int(place["length"]) for place in lying.values()) > EXTERNAL_ABOVE
    if path is None or not (large if external_data is None else external_data):
        return files.put(target, _streamed(_complete(graph, header, lying)), stale=_data_of(path))
    files.check_target(path)
    old = _data_of(path)
    data_path = next((item for item in data_paths(path) if item not in old), data_paths(path)[0])
    offset = 0
    outside: dict[str, tuple[int, Array]] = {}
    for label, array in graph.initializers.items():
        size = stored_size(array.dtype, array.size)
        if size >= EXTERNAL_MINIMUM and label not in lying:
            offset = -(-offset // PAGE) * PAGE
            outside[label] = (offset, array)
            offset += size
    places = {
        label: {
            "location": data_path.name,
            "offset": str(start),
            "length": str(stored_size(array.dtype, array.size)),
        }
        for label, (start, array) in outside.items()
    }
    parts = _message(graph, header, {**places, **lying})
    return files.put(
        path,
        _streamed(parts),
        {data_path: _chunks(outside.values())},
        stale=[item for item in old if item != data_path],
    )


def places_of(graph: OnnxGraph, path: Path) -> dict[str, dict[str, str]]:
    """The external data entries of weights in files that a model at this path can refer to.

    ONNX allows files in the model's directory or below: https://onnx.ai/onnx/repo-docs/ExternalData.html. The model's
    own data files are excluded, since saving replaces them.
    """
    directory = Path(os.path.realpath(path.parent))
    own = [Path(os.path.realpath(item)) for item in data_paths(path)]
    places = {}
    for label, array in graph.initializers.items():
        if array.dtype in (INT4, UINT4) or array.nbytes < EXTERNAL_MINIMUM:
            continue
        file = file_of(array)
        if file is not None and file not in own and file.is_relative_to(directory):
            location = file.relative_to(directory).as_posix()
            places[label] = {"location": location, "offset": str(file_place(array)), "length": str(array.nbytes)}
    return places


def data_paths(path: Path) -> tuple[Path, Path]:
    """The data files of a model; it uses the second if the model that it replaces uses the first."""
    return path.with_name(path.name + ".data"), path.with_name(path.name + ".2.data")


def is_compiled(path: Path) -> bool:
    """Whether :func:`save` wrote a file, by the producer name at its start."""
    try:
        with path.open("rb") as file:
            return PRODUCER.encode() in file.read(64)
    except OSError:
        return False


def _data_of(path: Path | None) -> list[Path]:
    """The data files that the existing model at this path uses."""
    if path is None or not path.name:
        return []
    return [data for data in data_paths(path) if files.names(path, data)]


@gc_paused()
def _message(
    graph: OnnxGraph, header: Header, external: Mapping[str, Mapping[str, str]] | None = None
) -> list[bytes | Array]:
    """The bytes of a ``ModelProto``, in parts; initializers that are not ``external`` are arrays."""
    from dml2onnx import __version__

    nodes, written = list[bytes](), wire.Nodes()
    for origin in graph.origins:
        nodes += written.messages(origin.nodes, wire.origin(origin.node, origin.operator))
    parts: list[bytes | Array] = [b"".join(nodes), wire.graph_name(header.name)]
    for label, array in graph.initializers.items():
        place = external.get(label) if external else None
        parts.append(wire.tensor(label, array.dtype, array.shape, place))
        if place is None:
            parts.append(_packed(array))
    for number, ports in ((11, graph.inputs), (12, graph.outputs)):
        parts += [wire.value_info(number, port.onnx_name, port.dtype, _written(port.shape)) for port in ports]
    if header.shapes:
        outputs = {port.onnx_name for port in graph.outputs}
        values = [
            wire.value_info(13, value.name, value.dtype, _written(value.shape))
            for origin in graph.origins
            for node in origin.nodes
            for value in node.outputs
            if value is not None and value.name not in outputs
        ]
        parts.append(b"".join(values))
    size = sum(part.nbytes if isinstance(part, np.ndarray) else len(part) for part in parts)
    head, tail = wire.model(header.ir_version, (PRODUCER, __version__), size, header.opset, header.metadata)
    return [head, *parts, tail]


def _written(shape: tuple[int, ...]) -> tuple[int | str | None, ...]:
    """A shape for ``value_info``: named sizes are names, sizes known only at run time are ``None``."""
    if all(type(size) is int for size in shape):
        return shape
    return tuple([_dimension(size) for size in shape])


def _dimension(size: int) -> int | str | None:
    if is_unknown(size):
        return None
    return size.text if isinstance(size, NamedSize) else int(size)


def _packed(array: Array) -> Array:
    """4-bit elements packed two to a byte, the first in the low half; other arrays unchanged."""
    if array.dtype not in (INT4, UINT4):
        return array
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8) & 15
    octets = flat[0::2].copy()
    octets[: flat.size // 2] |= flat[1::2] << 4
    return octets


def _chunks(items: Iterable[tuple[int, Array]]) -> Parts:
    """The bytes of a data file, with arrays at their offsets; only a few blocks of a mapped file are in memory."""
    position = 0
    for offset, array in items:
        yield bytes(offset - position)
        yield from _blocks(array)
        position = offset + stored_size(array.dtype, array.size)


def _blocks(array: Array) -> Iterator[memoryview | FilePart]:
    if array.dtype not in (INT4, UINT4):
        yield from _parts(array)
        return
    flat = array.reshape(-1)
    for start in range(0, flat.size, 2 * BLOCK):
        yield _packed(flat[start : start + 2 * BLOCK]).data
