"""Reads ``DML_BUFFER_TENSOR_DESC`` from decoded JSON.

https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_buffer_tensor_desc
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

from dml2onnx.catalog.familiar import meant_enumerator
from dml2onnx.codes import reading as codes
from dml2onnx.diagnostics import Diagnostic, Member, Steps, below, plural
from dml2onnx.frontends.dialects import DATA_TYPE_ALIASES, DATA_TYPE_PREFIX, Dialect, data_types, enumerators
from dml2onnx.frontends.findings import listing, quote, show, suggestion
from dml2onnx.frontends.members import UINT32, UINT64, Json
from dml2onnx.ir.operator import UNREADABLE, Unreadable
from dml2onnx.ir.tensor import DataType, TensorDesc

MAX_SIZES = 64
"""Longer lists are rejected here; the checks report those of more than 8 dimensions."""

_NAMESPACE = re.compile(r"^\w+(::|\.)(\w+(::|\.))*", re.ASCII)
"""Namespaces of C++ and Python."""
_MAX_NUMBER_LENGTH = 12
"""Characters of a number in quotes."""

BUFFER_MEMBERS = (
    "Type",
    "Desc",
    "DataType",
    "Sizes",
    "Strides",
    "DimensionCount",
    "Flags",
    "TotalTensorSizeInBytes",
    "GuaranteedBaseOffsetAlignment",
)
_INNER_MEMBERS = frozenset(BUFFER_MEMBERS[2:])
"""All members of a descriptor, in its long or short form."""
_FULL_NAMES = tuple(DATA_TYPE_PREFIX + name for name in DataType.__members__)


def wrong_kind(expected: str, raw: object, *path: str | int) -> Diagnostic:
    """Reports a value of the wrong kind."""
    return codes.FIELD_KIND.of(path, f"is {show(raw)}, not {expected}", expected, show(raw))


def unknown_enumerator(raw: object, names: Collection[str], what: str, *path: str | int) -> Diagnostic:
    """Reports a value that is none of the accepted names."""
    message = f"is {show(raw)}, which is no {what}"
    if isinstance(raw, bool) and (chosen := _enumerator_of_bool(raw, names)):
        message += suggestion([chosen])
        return codes.ENUMERATOR.of(path, message, listing(names), show(raw), instead=chosen)
    meant = meant_enumerator(raw.removeprefix(f"{what}_"), names) if isinstance(raw, str) else ""
    ending = next((name for name in names if isinstance(raw, str) and raw.endswith(f"_{name}")), "")
    guess = (meant or ending or raw, names) if isinstance(raw, str) else None
    return codes.ENUMERATOR.of(path, message, listing(names), show(raw), guess=guess)


def _enumerator_of_bool(is_meant: bool, names: Collection[str]) -> str:
    """Returns the enumerator that a bool means, if the enumerators are NONE and one other."""
    short = [name for name in names if not name.startswith("DML_")]
    others = [name for name in short if name != "NONE"]
    return ("NONE", others[0])[is_meant] if len(short) == 2 and len(others) == 1 else ""


def unknown_data_type(raw: object, names: Collection[str], *path: str | int) -> Diagnostic:
    """Reports a value that is no data type, and translates names of types in other languages."""
    problem = unknown_enumerator(raw, names, "data type", *path)
    word = _NAMESPACE.sub("", raw).removeprefix(DATA_TYPE_PREFIX) if isinstance(raw, str) else ""
    alias = DATA_TYPE_ALIASES.get(word.lower())
    wanted = word.upper() if alias is None else alias.name
    meant = next((name for name in names if name.removeprefix(DATA_TYPE_PREFIX) == wanted), None)
    if meant is None:
        return problem
    return replace(problem, message=problem.message + suggestion([meant]), guess=None, instead=meant)


def read_uint(raw: object, limit: int, problems: list[Diagnostic], *path: str | int) -> int | Unreadable:
    """Reads an unsigned number below ``limit``."""
    if type(raw) is int and 0 <= raw < limit:
        return raw
    expected = f"a whole number from 0 to {limit - 1}"
    if type(raw) is int:
        backwards = "; a SLICE1 of negative InputWindowStrides reads backwards" if raw < 0 and "Strides" in path else ""
        message = f"is {show(raw)}, not {expected}{backwards}"
        problems.append(codes.FIELD_RANGE.of(path, message, expected, show(raw)))
    else:
        problems.append(replace(wrong_kind(expected, raw, *path), instead=_as_number(raw, limit)))
    return UNREADABLE


def _as_number(raw: object, limit: int) -> int | None:
    """Returns the number that a text, a float or a list of one element means, if any."""
    if isinstance(raw, list) and len(raw) == 1:
        raw = raw[0]
    if type(raw) is int:
        return raw if 0 <= raw < limit else None
    if isinstance(raw, float):
        return int(raw) if raw.is_integer() and 0 <= raw < limit else None
    if isinstance(raw, str) and raw.isascii() and raw.strip().isdigit() and len(raw) < _MAX_NUMBER_LENGTH:
        return int(raw) if int(raw) < limit else None
    return None


def read_uints(raw: object, problems: list[Diagnostic], *path: str | int) -> tuple[int, ...] | Unreadable:
    """Reads an array of UINT."""
    if type(raw) is not list:
        problems.append(wrong_kind("an array of whole numbers", raw, *path))
        return UNREADABLE
    for item in raw:
        if type(item) is not int or not 0 <= item < UINT32:
            break
    else:
        return tuple(raw)
    found: list[Diagnostic] = []
    for index, item in enumerate(raw):
        read_uint(item, UINT32, found, *path, index)
    problems.extend(found if len(found) == 1 else [_wrong_numbers(raw, found, path)])
    return UNREADABLE


def _wrong_numbers(raw: list[object], found: list[Diagnostic], path: Steps) -> Diagnostic:
    """Reports several invalid elements of an array as one problem."""
    code = codes.FIELD_KIND if any(problem.code is codes.FIELD_KIND for problem in found) else codes.FIELD_RANGE
    wrong = list(dict.fromkeys(problem.found for problem in found))
    message = f"has {len(found)} elements that are no whole numbers from 0 to {UINT32 - 1}: {listing(wrong)}"
    meant: list[Member] = [
        item if type(item) is int and 0 <= item < UINT32 else _as_number(item, UINT32) for item in raw
    ]
    instead: Member = None if None in meant else meant
    return code.of(path, message, "" if instead is None else str(meant), listing(wrong), instead=instead)


def unknown_members(
    known: Collection[str], raw: Mapping[str, object], dialect: Dialect, what: str, also: Collection[str] = ()
) -> list[Diagnostic]:
    """Reports each member that is neither in ``known`` nor in ``also``."""
    return [
        dialect.unknown_field.of(
            (name,), f"is no member of {what}", listing(known), quote(name), guess=(name, known), contents=value
        )
        for name, value in raw.items()
        if name not in known and name not in also
    ]


def read_tensor(raw: object, dialect: Dialect, problems: list[Diagnostic]) -> TensorDesc | Unreadable:
    """Reads a tensor descriptor in its long (``Type`` and ``Desc``) or short form."""
    if type(raw) is not dict:
        problems.append(wrong_kind("a tensor descriptor (an object)", raw))
        return UNREADABLE
    if "Type" in raw:
        _read_type(raw["Type"], dialect, problems)
    if "Desc" not in raw:
        return _read_buffer(raw, dialect, problems, ())
    problems.extend(unknown_members(BUFFER_MEMBERS[:2], raw, dialect, "a tensor descriptor with Desc"))
    inner = raw["Desc"]
    if type(inner) is not dict:
        problems.append(wrong_kind("a buffer tensor descriptor (an object)", inner, "Desc"))
        return UNREADABLE
    return _read_buffer(inner, dialect, problems, ("Desc",))


def _read_type(raw: object, dialect: Dialect, problems: list[Diagnostic]) -> None:
    table = enumerators("DML_TENSOR_TYPE", dialect.numbers_for_enums)
    if type(raw) in (str, int) and table.get(raw) == "BUFFER":
        return
    problems.append(unknown_enumerator(raw, ("BUFFER",), "type of tensors", "Type"))


def _read_buffer(raw: Json, dialect: Dialect, problems: list[Diagnostic], path: Steps) -> TensorDesc | Unreadable:
    for name in raw:
        if name not in _INNER_MEMBERS and not (name == "Type" and not path):
            problems.extend(
                below(problem, *path)
                for problem in unknown_members(BUFFER_MEMBERS[2:], {name: raw[name]}, dialect, "a tensor descriptor")
            )
    before = len(problems)
    data_type = _read_data_type(raw, dialect, problems, path)
    sizes = _read_sizes(raw, problems, path)
    strides = _read_strides(raw, sizes, dialect, problems, path)
    count = raw.get("DimensionCount")
    if "DimensionCount" in raw:
        read_uint(count, UINT32, problems, *path, "DimensionCount")
        if type(count) is int and isinstance(sizes, tuple) and count != len(sizes):
            message, rank = f"is {show(count)}, but Sizes has {plural(len(sizes), 'element')}", len(sizes)
            place, related = (*path, "DimensionCount"), ((*path, "Sizes"),)
            problems.append(
                codes.COUNT_MISMATCH.of(place, message, str(rank), show(count), related=related, instead=rank)
            )
    owned = _read_flags(raw["Flags"], dialect, problems, path) if "Flags" in raw else False
    total = read_uint(raw.get("TotalTensorSizeInBytes", 0), UINT64, problems, *path, "TotalTensorSizeInBytes")
    if total == 0 and "TotalTensorSizeInBytes" in raw and not dialect.zero_size_is_absent:
        message = "is 0; leave it out for the smallest size that holds the tensor"
        place = (*path, "TotalTensorSizeInBytes")
        problems.append(codes.FIELD_RANGE.of(place, message, "the bytes of the tensor", "0"))
    alignment = read_uint(
        raw.get("GuaranteedBaseOffsetAlignment", 0), UINT32, problems, *path, "GuaranteedBaseOffsetAlignment"
    )
    if len(problems) > before:
        return UNREADABLE
    assert isinstance(data_type, DataType)
    assert isinstance(sizes, tuple)
    assert isinstance(total, int)
    assert isinstance(alignment, int)
    return TensorDesc(data_type, sizes, strides or None, owned, total, alignment)


def _read_data_type(raw: Json, dialect: Dialect, problems: list[Diagnostic], path: Steps) -> DataType | None:
    if "DataType" not in raw:
        problems.append(codes.MISSING_FIELD.of((*path, "DataType"), "is missing", "a data type"))
        return None
    text = raw["DataType"]
    table = data_types(dialect.numbers_for_enums)
    data_type = table.get(text) if type(text) in (str, int) else None
    if dialect.full_names and text not in _FULL_NAMES:
        data_type = None
    if data_type is None:
        problems.append(
            unknown_data_type(text, _FULL_NAMES if dialect.full_names else DataType.__members__, *path, "DataType")
        )
    return data_type


def _read_sizes(raw: Json, problems: list[Diagnostic], path: Steps) -> tuple[int, ...] | Unreadable:
    if "Sizes" not in raw:
        problems.append(codes.MISSING_FIELD.of((*path, "Sizes"), "is missing", "an array of whole numbers"))
        return UNREADABLE
    sizes = raw["Sizes"]
    if type(sizes) is list and len(sizes) > MAX_SIZES:
        problems.append(
            codes.TOO_MANY_SIZES.of(
                (*path, "Sizes"), f"has {len(sizes)} dimensions", "1 to 8 dimensions", f"{len(sizes)} dimensions"
            )
        )
        return UNREADABLE
    return read_uints(sizes, problems, *path, "Sizes")


def _read_strides(
    raw: Json, sizes: tuple[int, ...] | Unreadable, dialect: Dialect, problems: list[Diagnostic], path: Steps
) -> tuple[int, ...] | None:
    if "Strides" not in raw:
        return None
    stated = raw["Strides"]
    if stated is None:
        if not dialect.null_is_absent:
            message = "is null; leave it out for a packed tensor"
            problems.append(codes.NULL_FIELD.of((*path, "Strides"), message, "an array of whole numbers", "null"))
        return None
    strides = read_uints(stated, problems, *path, "Strides")
    if isinstance(strides, Unreadable):
        return None
    if strides and isinstance(sizes, tuple) and len(strides) != len(sizes):
        message = f"has {plural(len(strides), 'element')}, but Sizes has {len(sizes)}"
        expected, found = plural(len(sizes), "element"), plural(len(strides), "element")
        related = ((*path, "Sizes"),)
        problems.append(codes.COUNT_MISMATCH.of((*path, "Strides"), message, expected, found, related=related))
    return strides


def _read_flags(raw: object, dialect: Dialect, problems: list[Diagnostic], path: Steps) -> bool:
    table = enumerators("DML_TENSOR_FLAGS", dialect.numbers_for_enums)
    items = raw if type(raw) is list else [raw]
    owned = False
    for index, item in enumerate(items):
        name = table.get(item) if type(item) in (str, int) else None
        if name is None:
            place = (*path, "Flags", index) if items is raw else (*path, "Flags")
            problems.append(unknown_enumerator(item, ("NONE", "OWNED_BY_DML"), "tensor flag", *place))
        owned |= name == "OWNED_BY_DML"
    return owned
