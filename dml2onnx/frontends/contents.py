"""Reads the contents of a buffer in the native format: a list of values, one repeated value, or a file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from dml2onnx.codes import reading as codes
from dml2onnx.diagnostics import Diagnostic, Edit, Remedy
from dml2onnx.frontends.files import FileError, MissingFileError, ModelFiles
from dml2onnx.frontends.findings import Findings, listing, quote, show
from dml2onnx.frontends.findings import pointer as pointer_of
from dml2onnx.frontends.members import Members
from dml2onnx.frontends.numbers import Bad, beyond_range, first_beyond_range, to_array, to_bytes, to_element
from dml2onnx.ir.data import ArrayData, Data, FileData, FillData, padded
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.lazy import lazy_module

if TYPE_CHECKING:
    import numpy as np

else:
    np = lazy_module("numpy")

SOURCES = ("values", "file", "fill")
MEMBERS = frozenset((*SOURCES, "offset", "length"))
SAMPLE_BYTES = 1 << 16
"""Bytes of a constant that are inspected to guess its data type."""


class BufferContents(NamedTuple):
    """A buffer's bytes and their descriptor."""

    desc: TensorDesc
    data: Data


def buffer_size(desc: TensorDesc) -> int:
    """Returns the size in bytes of the buffer of a declared tensor."""
    return max(desc.total_bytes, desc.minimum_bytes)


@lru_cache(maxsize=1 << 12)
def max_file_bytes(desc: TensorDesc) -> int:
    """Returns the size in bytes of the largest file for a tensor: its buffer, and the gap after its last element."""
    steps = [stride for size, stride in zip(desc.sizes, desc.effective_strides, strict=True) if size > 1 and stride]
    step = min(steps, default=1)
    return max(buffer_size(desc), -(-desc.data_type.bytes_for(-(-desc.extent // step) * step) // 4) * 4)


def looks_wider(data: Data, own: DataType) -> bool:
    """Whether the first numbers of ``data`` look like numbers of twice the bits of type ``own``.

    Floats do if all upper halves, but no lower half, have a common magnitude; integers if all upper halves are signs.
    """
    numbers = data.read(0, SAMPLE_BYTES).view(own.dtype)
    lower, upper = numbers[::2], numbers[1::2]
    if own.is_float:
        with np.errstate(invalid="ignore"):  # signaling NaN
            magnitudes = [np.abs(half.astype(np.float64)) for half in (lower, upper)]
        is_common_lower, is_common_upper = ((size > 1e-6) & (size < 1e6) for size in magnitudes)
        return bool(is_common_upper.all() and not is_common_lower.any())
    signs = np.array([0, -1]).astype(own.dtype)
    return bool(np.isin(upper, signs).all() and data.read(data.nbytes // 2).any())  # the second half is no padding


def is_npy(members: Members) -> bool:
    """Whether the contents are in a ``.npy`` file, which states their type and shape."""
    return str(members.raw.get("file", "")).lower().endswith(".npy")


def read_contents(
    members: Members, desc: TensorDesc | None, nbytes: int | None, files: ModelFiles, findings: Findings
) -> BufferContents | None:
    """Reads the contents of a tensor, padded with zeros to ``nbytes``, or to the size of the tensor's own buffer.

    ``desc`` may be ``None`` only for a ``.npy`` file. Returns ``None``, with findings, for invalid contents.
    """
    present = [name for name in SOURCES if name in members.raw]
    if len(present) != 1:
        what = " and ".join(present) if present else "none"
        message = f"exactly one of {listing(SOURCES)} must have the contents; found: {what}"
        findings.report(codes.DATA_SOURCE, message, members.place, expected=f"one of {listing(SOURCES)}", found=what)
        return None
    for name in ("offset", "length"):
        if name in members.raw and present != ["file"]:
            message = f"{quote(name)} selects bytes of a file, but there is no file"
            findings.report(codes.UNKNOWN_KEY, message, members.at(name))
    if present == ["file"]:
        found = _read_file(members, desc, nbytes, files, findings)
    elif desc is None or not _fits_buffer(members, desc, nbytes, findings):
        return None
    else:
        is_fill = "fill" in present
        data = _read_fill(members, desc, nbytes, findings) if is_fill else _read_values(members, desc, findings)
        found = None if data is None else BufferContents(desc, data)
    if found is None:
        return None
    return BufferContents(found.desc, padded(found.data, buffer_size(found.desc) if nbytes is None else nbytes))


def _fits_buffer(members: Members, desc: TensorDesc, nbytes: int | None, findings: Findings) -> bool:
    wanted = desc.data_type.bytes_for(desc.extent)
    if nbytes is None or wanted <= nbytes:
        return True
    message = f"{desc} has {wanted} bytes, but the buffer has {nbytes}"
    findings.report(codes.WRONG_VALUE_COUNT, message, members.at("bytes"), expected=f"{wanted} or more", found=nbytes)
    return False


def _read_fill(members: Members, desc: TensorDesc, nbytes: int | None, findings: Findings) -> Data | None:
    value = to_element(members.raw["fill"], desc.data_type, truncate=False)
    if isinstance(value, Bad):
        raw, place = members.raw["fill"], members.at("fill")
        if isinstance(raw, list):
            findings.add(_report_values_as_fill(raw, desc, value, place))
        else:
            remedies = fraction_remedies(raw, desc.data_type, members.at("DataType"))
            findings.report_number("fill", value, place, remedies, code=codes.BAD_VALUE)
        return None
    bad = beyond_range(members.raw["fill"], value, desc.data_type)
    if bad is not None:
        findings.report_number("fill", bad, members.at("fill"))
    elements = 2 if desc.data_type.is_packed_nibbles else 1
    pattern = to_bytes(np.full(elements, value, desc.data_type.dtype), desc.data_type).tobytes()
    return FillData(pattern, desc.minimum_bytes if nbytes is None else min(desc.minimum_bytes, nbytes))


def _report_values_as_fill(raw: list[object], desc: TensorDesc, bad: Bad, place: str) -> Diagnostic:
    """A list of values written as ``fill``."""
    message = f'fill is one number for all elements, and this is {show(raw)}; "values" has one for each'
    edits = (Edit(place, "values", renamed=True),)
    remedies = (Remedy('"values"', edits, is_certain=True),) if len(raw) == desc.extent else ()
    return codes.BAD_VALUE.at(message, pointer=place, expected=bad.expected, found=bad.found, remedies=remedies)


def _read_values(members: Members, desc: TensorDesc, findings: Findings) -> Data | None:
    values = members.array("values")
    if values is None:
        return None
    place = members.at("values")
    flat, sizes = _flatten(values, desc)
    if flat is None or len(flat) != desc.extent:
        expected = f"{desc.extent} values" + (f", or arrays nested as {list(desc.sizes)}" if desc.is_packed else "")
        found = _nesting_in_words(values) if flat is None else f"{len(flat)} values"
        message = f"{found}, but {desc} has {desc.extent} elements in memory"
        findings.report(codes.WRONG_VALUE_COUNT, message, place, expected=expected, found=found)
        return None
    array = to_array(flat, desc.data_type, truncate=False)
    if isinstance(array, tuple):
        index, bad = array
        path = _unravel(index, sizes)
        remedies = fraction_remedies(flat[index], desc.data_type, members.at("DataType"))
        findings.report_number(_element_name(path), bad, place + pointer_of(*path), remedies, code=codes.BAD_VALUE)
        return None
    beyond = first_beyond_range(flat, array, desc.data_type)
    if beyond is not None:
        index, bad = beyond
        path = _unravel(index, sizes)
        findings.report_number(_element_name(path), bad, place + pointer_of(*path))
    return ArrayData(to_bytes(array, desc.data_type))


def _flatten(values: list[object], desc: TensorDesc) -> tuple[list[object] | None, Sequence[int]]:
    """Flattens nested values. Returns them with their sizes, or ``None`` if these differ from the tensor's.

    Leading sizes of 1 may be left out.
    """
    if not any(isinstance(item, list) for item in values):
        return values, (len(values),)
    if not desc.is_packed:
        return None, ()
    depth, item = 0, values
    while isinstance(item, list) and item:
        depth, item = depth + 1, item[0]  # type: ignore[assignment]  # a number ends the loop
    fillers = max(len(desc.sizes) - depth, 0)
    sizes = desc.sizes[fillers:]
    if any(size != 1 for size in desc.sizes[:fillers]) or not sizes or len(values) != sizes[0]:
        return None, ()
    for size in sizes[1:]:
        if not all(isinstance(item, list) and len(item) == size for item in values):
            return None, ()
        values = list(chain.from_iterable(values))  # type: ignore[arg-type]  # all items are lists
    return values, sizes


def _nesting_in_words(values: list[object]) -> str:
    sizes = [len(values)]
    while any(isinstance(item, list) for item in values):
        lengths = {len(item) if isinstance(item, list) else -1 for item in values}
        if len(lengths) != 1:
            return "unevenly nested arrays"
        sizes.append(*lengths)
        values = list(chain.from_iterable(values))  # type: ignore[arg-type]  # all items are lists
    return f"arrays nested as {sizes}"


def _unravel(index: int, sizes: Sequence[int]) -> tuple[int, ...]:
    path: list[int] = []
    for size in reversed(sizes[1:]):
        index, rest = divmod(index, size)
        path.append(rest)
    return (index, *reversed(path))


def _read_file(
    members: Members, desc: TensorDesc | None, nbytes: int | None, files: ModelFiles, findings: Findings
) -> BufferContents | None:
    name = members.text("file")
    offset, length = members.uint("offset"), members.uint("length")
    if name is None:
        return None
    try:
        if is_npy(members):
            found = _read_npy(members, name, desc, files, findings)
            return found if found is None or _fits_buffer(members, found.desc, nbytes, findings) else None
        if desc is None or not _fits_buffer(members, desc, nbytes, findings):
            return None
        wanted = desc.data_type.bytes_for(desc.extent)
        if length is not None and length < wanted:
            message = f"{length} bytes do not hold {desc}, which has {wanted}"
            raise FileError(codes.FILE_TOO_SHORT, message, f"{wanted} bytes", f"{length} bytes")
        most = buffer_size(desc) if nbytes is None else nbytes
        if members.raw.keys().isdisjoint(("offset", "length")):
            whole = files.tensor(name, wanted, max(most, max_file_bytes(desc)))
            return BufferContents(desc, FileData(whole.path, 0, min(whole.nbytes, most)))
        return BufferContents(desc, files.raw(name, offset or 0, wanted if length is None else min(length, most)))
    except FileError as error:
        finding = error.code.at(str(error), pointer=members.at("file"), expected=error.expected, found=error.found)
        if isinstance(error, MissingFileError):
            findings.report_once("file", name, finding)
        else:
            findings.add(finding)
        return None


def _read_npy(
    members: Members, name: str, desc: TensorDesc | None, files: ModelFiles, findings: Findings
) -> BufferContents | None:
    for member in ("offset", "length"):
        if member in members.raw:
            message = f"{quote(member)} is for raw files; a .npy file describes its own data"
            findings.report(codes.UNKNOWN_KEY, message, members.at(member))
    file = files.npy(name)
    own = TensorDesc(file.data_type, file.shape or (1,))
    if desc is None and ("DataType" in members.raw or "Sizes" in members.raw):
        return None  # the stated descriptor is invalid, which has been reported
    desc = desc or own
    if (desc.data_type, desc.extent) != (own.data_type, own.element_count):
        message = f"{quote(name)} holds {own}, not {desc}"
        findings.report(codes.WRONG_VALUE_COUNT, message, members.at("file"), expected=desc, found=own)
        return None
    if file.nbytes == 0:
        findings.report(codes.NO_DATA, f"{quote(name)} has no elements", members.at("file"), found=own)
        return None
    if file.data.nbytes < file.nbytes:
        message = f"{quote(name)} ends after {file.data.nbytes} of {file.nbytes} bytes"
        raise FileError(codes.FILE_TOO_SHORT, message, f"{file.nbytes} bytes", f"{file.data.nbytes} bytes")
    if file.data.nbytes > file.nbytes:
        message = f"{quote(name)} has {file.data.nbytes - file.nbytes} more bytes after its elements"
        raise FileError(codes.FILE_TOO_LONG, message, f"{file.nbytes} bytes", f"{file.data.nbytes} bytes")
    data = type(file.data)(file.data.path, file.data.offset, file.nbytes)
    return BufferContents(desc, data)


def _element_name(path: Sequence[int]) -> str:
    return "values" + "".join(f"[{item}]" for item in path)


def fraction_remedies(value: object, data_type: DataType, place: str) -> tuple[Remedy, ...]:
    """Suggests FLOAT32 at ``place`` for a fraction where ``data_type`` is an integer type."""
    if data_type.is_float or type(value) is not float:
        return ()
    return (Remedy(f"{place.rpartition('/')[2]} FLOAT32", (Edit(place, "FLOAT32"),)),)
