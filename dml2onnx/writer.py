"""ModelProto and files: metadata, external data, and replacing a file only by a complete one.

Initializers stay numpy arrays (often memory-mapped files) until this module streams them out, so a model needs
no more memory than its largest tensor that had to be rearranged.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from onnx import ModelProto, OperatorSetIdProto, StringStringEntryProto, TensorProto

from dml2onnx.codes.running import OUTPUT_UNWRITABLE, TOO_LARGE
from dml2onnx.diagnostics import DmlError
from dml2onnx.lowering.emitter.core import ELEMENT_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import BinaryIO

    from dml2onnx.lowering.driver import LoweredGraph
    from dml2onnx.lowering.emitter.core import Array

IR_VERSION = 10
MESSAGE_LIMIT = (1 << 31) - 1
EXTERNAL_ABOVE = 1 << 30
"""Models with more bytes of initializers are saved with external data unless told otherwise."""
EXTERNAL_MINIMUM = 1024
"""Tensors smaller than this stay in the model file: they are shapes and axes that shape inference wants to see."""
PAGE = 4096
CHUNK = 1 << 24


def initializer_bytes(lowered: LoweredGraph) -> int:
    """Bytes of all initializers."""
    return sum(array.nbytes for array in lowered.initializers.values())


def model_proto(lowered: LoweredGraph, opset: int, name: str, metadata: Mapping[str, str]) -> ModelProto:
    """The whole model as one message; :class:`DmlError` when it would pass 2 GiB."""
    size = initializer_bytes(lowered) + lowered.proto.ByteSize()
    if size > MESSAGE_LIMIT:
        raise DmlError(
            TOO_LARGE.at(
                f"the model has {size} bytes", expected=f"at most {MESSAGE_LIMIT} bytes", found=f"{size} bytes"
            )
        )
    model = _without_data(lowered, opset, name, metadata)
    for label, array in lowered.initializers.items():
        model.graph.initializer.append(_header(label, array))
        model.graph.initializer[-1].raw_data = _little_endian(array).tobytes()
    return model


def save(
    lowered: LoweredGraph,
    path: Path,
    opset: int,
    name: str,
    metadata: Mapping[str, str],
    external_data: bool | None = None,
) -> list[Path]:
    """Writes the model, and ``<file>.data`` beside it where data is external. Returns the files written.

    Both are written under temporary names in the same directory and then put in place, the data first, so that
    whoever reads ``path`` finds the old model or the new one.
    """
    external = initializer_bytes(lowered) > EXTERNAL_ABOVE if external_data is None else external_data
    if not external:
        _replace(path, [model_proto(lowered, opset, name, metadata).SerializeToString(deterministic=True)])
        return [path]
    data_path = path.with_name(path.name + ".data")
    model = _without_data(lowered, opset, name, metadata)
    offset = 0
    outside: list[tuple[int, Array]] = []
    for label, array in lowered.initializers.items():
        tensor = _header(label, array)
        if array.nbytes < EXTERNAL_MINIMUM:
            tensor.raw_data = _little_endian(array).tobytes()
        else:
            offset = -(-offset // PAGE) * PAGE
            tensor.data_location = TensorProto.EXTERNAL
            for key, value in (("location", data_path.name), ("offset", str(offset)), ("length", str(array.nbytes))):
                tensor.external_data.append(StringStringEntryProto(key=key, value=value))
            outside.append((offset, array))
            offset += array.nbytes
        model.graph.initializer.append(tensor)
    _replace(data_path, _chunks(outside))
    _replace(path, [model.SerializeToString(deterministic=True)])
    return [path, data_path]


def _without_data(lowered: LoweredGraph, opset: int, name: str, metadata: Mapping[str, str]) -> ModelProto:
    from dml2onnx import __version__

    model = ModelProto(ir_version=IR_VERSION, producer_name="dml2onnx", producer_version=__version__)
    model.opset_import.append(OperatorSetIdProto(domain="", version=opset))
    model.graph.CopyFrom(lowered.proto)
    model.graph.name = name
    for key, value in sorted(metadata.items()):
        model.metadata_props.append(StringStringEntryProto(key=key, value=value))
    return model


def _header(name: str, array: Array) -> TensorProto:
    return TensorProto(name=name, data_type=ELEMENT_TYPES[array.dtype][0], dims=array.shape)


def _little_endian(array: Array) -> Array:
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<"))


def _chunks(items: Iterable[tuple[int, Array]]) -> Iterable[memoryview | bytes]:
    """The bytes of a data file, arrays at their offsets, never more than one chunk of a mapped file at a time."""
    position = 0
    for offset, array in items:
        yield bytes(offset - position)
        flat = _little_endian(array).reshape(-1).view(np.uint8)
        for start in range(0, flat.size, CHUNK):
            yield flat[start : start + CHUNK].data
        position = offset + array.nbytes


def _replace(path: Path, parts: Iterable[memoryview | bytes]) -> None:
    def write(file: BinaryIO) -> None:
        for part in parts:
            file.write(part)

    replace_file(path, write)


def check_target(path: Path) -> None:
    """Refuses a path that no file can have."""
    if path.is_dir():
        raise DmlError(OUTPUT_UNWRITABLE.at(f"{path} is a directory", expected="a file name", found=str(path)))
    if not path.parent.is_dir():
        message = f"the directory {path.parent} does not exist"
        raise DmlError(OUTPUT_UNWRITABLE.at(message, expected="an existing directory", found=str(path)))


def replace_file(path: Path, write: object) -> None:
    """Calls ``write`` with a new file and puts that in the place of ``path`` when it is complete."""
    assert callable(write)
    check_target(path)
    temporary = ""
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent)
        with os.fdopen(descriptor, "wb") as file:
            write(file)
        os.chmod(temporary, _mode(path))
        os.replace(temporary, path)
    except OSError as error:
        message = f"cannot write {path}: {error.strerror or error}"
        raise DmlError(OUTPUT_UNWRITABLE.at(message, found=str(path))) from None
    finally:
        if temporary and os.path.exists(temporary):
            with suppress(OSError):
                os.remove(temporary)


def _mode(path: Path) -> int:
    """The permissions of the file that is replaced, or those of a new file; ``mkstemp`` makes private ones."""
    with suppress(OSError):
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
