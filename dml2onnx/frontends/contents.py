"""Contents of a buffer in the native format: values written out, one value repeated, or a file."""

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
MOST_LOOKED_AT = 1 << 16
"""Bytes that say what the numbers of a constant look like."""


class Contents(NamedTuple):
    """A buffer's bytes and the descriptor under which they are declared."""

    desc: TensorDesc
    data: Data


def buffer_size(desc: TensorDesc) -> int:
    """Bytes of the buffer that a declared tensor has."""
    return max(desc.total_bytes, desc.minimum_bytes)


@lru_cache(maxsize=1 << 12)
def longest_file(desc: TensorDesc) -> int:
    """Bytes of a file that holds the tensor's buffer, and the gap behind its last element where it has gaps."""
    steps = [stride for size, stride in zip(desc.sizes, desc.effective_strides, strict=True) if size > 1 and stride]
    step = min(steps, default=1)
    return max(buffer_size(desc), -(-desc.data_type.bytes_for(-(-desc.extent // step) * step) // 4) * 4)


def looks_wider(data: Data, own: DataType) -> bool:
    """Whether numbers look like those of twice the bits, as far as a beginning tells.

    Of floats the upper halves have a usual size then, and no lower one. Of integers the upper halves are signs.
    """
    numbers = data.read(0, MOST_LOOKED_AT).view(own.dtype)
    lower, upper = numbers[::2], numbers[1::2]
    if own.is_float:
        with np.errstate(invalid="ignore"):  # which NaN is there does not matter
            sizes = [np.abs(half.astype(np.float64)) for half in (lower, upper)]
        of_lower, of_upper = ((size > 1e-6) & (size < 1e6) for size in sizes)
        return bool(of_upper.all() and not of_lower.any())
    signs = np.array([0, -1]).astype(own.dtype)
    return bool(np.isin(upper, signs).all() and data.read(data.nbytes // 2).any())  # and no padding


def is_npy(members: Members) -> bool:
    """Whether the contents lie in a file that describes them."""
    return str(members.raw.get("file", "")).lower().endswith(".npy")


def read_contents(
    members: Members, desc: TensorDesc | None, nbytes: int | None, files: ModelFiles, findings: Findings
) -> Contents | None:
    """The contents that ``members`` give for a tensor; only a ``.npy`` file can do without ``desc``.

    They end with zeros up to ``nbytes``, or to the size of the tensor's own buffer.
    """
    present = [name for name in SOURCES if name in members.raw]
    if len(present) != 1:
        what = " and ".join(present) if present else "none"
        message = f"exactly one of {listing(SOURCES)} has to hold the contents; found: {what}"
        findings.say(codes.DATA_SOURCE, message, members.place, expected=f"one of {listing(SOURCES)}", found=what)
        return None
    for name in ("offset", "length"):
        if name in members.raw and present != ["file"]:
            message = f"{quote(name)} says which bytes of a file are meant, and there is no file"
            findings.say(codes.UNKNOWN_KEY, message, members.at(name))
    if present == ["file"]:
        found = _read_file(members, desc, nbytes, files, findings)
    elif desc is None or not _fits(members, desc, nbytes, findings):
        return None
    else:
        data = (
            _read_fill(members, desc, nbytes, findings) if "fill" in present else _read_values(members, desc, findings)
        )
        found = None if data is None else Contents(desc, data)
    if found is None:
        return None
    return Contents(found.desc, padded(found.data, buffer_size(found.desc) if nbytes is None else nbytes))


def _fits(members: Members, desc: TensorDesc, nbytes: int | None, findings: Findings) -> bool:
    wanted = desc.data_type.bytes_for(desc.extent)
    if nbytes is None or wanted <= nbytes:
        return True
    message = f"{desc} has {wanted} bytes, but the buffer has {nbytes}"
    findings.say(codes.WRONG_VALUE_COUNT, message, members.at("bytes"), expected=f"{wanted} or more", found=nbytes)
    return False


def _read_fill(members: Members, desc: TensorDesc, nbytes: int | None, findings: Findings) -> Data | None:
    value = to_element(members.raw["fill"], desc.data_type, truncate=False)
    if isinstance(value, Bad):
        raw, place = members.raw["fill"], members.at("fill")
        if isinstance(raw, list):
            findings.add(_values_as_fill(raw, desc, value, place))
        else:
            remedies = of_fractions(raw, desc.data_type, members.at("DataType"))
            findings.bad("fill", value, place, remedies, code=codes.BAD_VALUE)
        return None
    bad = beyond_range(members.raw["fill"], value, desc.data_type)
    if bad is not None:
        findings.bad("fill", bad, members.at("fill"))
    elements = 2 if desc.data_type.is_packed_nibbles else 1
    pattern = to_bytes(np.full(elements, value, desc.data_type.dtype), desc.data_type).tobytes()
    return FillData(pattern, desc.minimum_bytes if nbytes is None else min(desc.minimum_bytes, nbytes))


def _values_as_fill(raw: list[object], desc: TensorDesc, bad: Bad, place: str) -> Diagnostic:
    """Numbers for each element, under the name of the one that all of them have."""
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
        found = _nesting(values) if flat is None else f"{len(flat)} values"
        message = f"{found}, but {desc} has {desc.extent} elements in memory"
        findings.say(codes.WRONG_VALUE_COUNT, message, place, expected=expected, found=found)
        return None
    array = to_array(flat, desc.data_type, truncate=False)
    if isinstance(array, tuple):
        index, bad = array
        path = _unravel(index, sizes)
        remedies = of_fractions(flat[index], desc.data_type, members.at("DataType"))
        findings.bad(_entry(path), bad, place + pointer_of(*path), remedies, code=codes.BAD_VALUE)
        return None
    beyond = first_beyond_range(flat, array, desc.data_type)
    if beyond is not None:
        index, bad = beyond
        path = _unravel(index, sizes)
        findings.bad(_entry(path), bad, place + pointer_of(*path))
    return ArrayData(to_bytes(array, desc.data_type))


def _flatten(values: list[object], desc: TensorDesc) -> tuple[list[object] | None, Sequence[int]]:
    """The values in a row, with the sizes that they were nested by; ``None`` when these are not the tensor's.

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


def _nesting(values: list[object]) -> str:
    """Nested arrays by their sizes, in words."""
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
) -> Contents | None:
    name = members.text("file")
    offset, length = members.uint("offset"), members.uint("length")
    if name is None:
        return None
    try:
        if is_npy(members):
            found = _read_npy(members, name, desc, files, findings)
            return found if found is None or _fits(members, found.desc, nbytes, findings) else None
        if desc is None or not _fits(members, desc, nbytes, findings):
            return None
        wanted = desc.data_type.bytes_for(desc.extent)
        if length is not None and length < wanted:
            message = f"{length} bytes do not hold {desc}, which has {wanted}"
            raise FileError(codes.FILE_TOO_SHORT, message, f"{wanted} bytes", f"{length} bytes")
        most = buffer_size(desc) if nbytes is None else nbytes
        if members.raw.keys().isdisjoint(("offset", "length")):
            whole = files.tensor(name, wanted, max(most, longest_file(desc)))
            return Contents(desc, FileData(whole.path, 0, min(whole.nbytes, most)))
        return Contents(desc, files.raw(name, offset or 0, wanted if length is None else min(length, most)))
    except FileError as error:
        finding = error.code.at(str(error), pointer=members.at("file"), expected=error.expected, found=error.found)
        if isinstance(error, MissingFileError):
            findings.once("file", name, finding)
        else:
            findings.add(finding)
        return None


def _read_npy(
    members: Members, name: str, desc: TensorDesc | None, files: ModelFiles, findings: Findings
) -> Contents | None:
    for member in ("offset", "length"):
        if member in members.raw:
            message = f"{quote(member)} is for raw files; a .npy file says itself where its data is"
            findings.say(codes.UNKNOWN_KEY, message, members.at(member))
    file = files.npy(name)
    own = TensorDesc(file.data_type, file.shape or (1,))
    if desc is None and ("DataType" in members.raw or "Sizes" in members.raw):
        return None  # what was given in the file's stead could not be read, and has been reported
    desc = desc or own
    if (desc.data_type, desc.extent) != (own.data_type, own.element_count):
        message = f"{quote(name)} holds {own}, not {desc}"
        findings.say(codes.WRONG_VALUE_COUNT, message, members.at("file"), expected=desc, found=own)
        return None
    if file.nbytes == 0:
        findings.say(codes.NO_DATA, f"{quote(name)} has no elements", members.at("file"), found=own)
        return None
    if file.data.nbytes < file.nbytes:
        message = f"{quote(name)} ends after {file.data.nbytes} of {file.nbytes} bytes"
        raise FileError(codes.FILE_TOO_SHORT, message, f"{file.nbytes} bytes", f"{file.data.nbytes} bytes")
    if file.data.nbytes > file.nbytes:
        message = f"{quote(name)} goes on for {file.data.nbytes - file.nbytes} bytes behind its elements"
        raise FileError(codes.FILE_TOO_LONG, message, f"{file.nbytes} bytes", f"{file.data.nbytes} bytes")
    data = type(file.data)(file.data.path, file.data.offset, file.nbytes)
    return Contents(desc, data)


def _entry(path: Sequence[int]) -> str:
    return "values" + "".join(f"[{item}]" for item in path)


def of_fractions(value: object, data_type: DataType, place: str) -> tuple[Remedy, ...]:
    """The data type, stated at ``place``, that a fraction among whole numbers has."""
    if data_type.is_float or type(value) is not float:
        return ()
    return (Remedy(f"{place.rpartition('/')[2]} FLOAT32", (Edit(place, "FLOAT32"),)),)
