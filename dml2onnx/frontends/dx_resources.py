"""Reads DxDispatch resources: buffers and their initial contents.

The kind of initial values is detected as the tool does: a string, an array, then the members of an object in the order
``value``, ``valueStart``, ``sourcePath``.
"""

from __future__ import annotations

import marshal
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dml2onnx.codes import reading as codes
from dml2onnx.diagnostics import Edit, Remedy, shortened
from dml2onnx.frontends.contents import fraction_remedies
from dml2onnx.frontends.dialects import data_types, enumerators
from dml2onnx.frontends.files import FileError, ModelFiles
from dml2onnx.frontends.findings import Findings, listing, quote, show
from dml2onnx.frontends.members import UINT32, Json, Members, wrong_kind
from dml2onnx.frontends.numbers import Bad, beyond_range, first_beyond_range, to_array, to_bytes, to_element, to_half
from dml2onnx.frontends.unresolved import UNBOUNDED
from dml2onnx.ir.data import ArrayData, Data, FileData, FillData, PaddedData, padded
from dml2onnx.ir.tensor import DataType, TensorDesc

if TYPE_CHECKING:
    import numpy.typing as npt

    from dml2onnx.frontends.dx_dispatchables import BoundResource

MAX_MATERIALIZED_BYTES = 1 << 28
"""The most bytes of sequences and images of one model; these are in memory, unlike fills and files."""

MAX_PIXELS = 1 << 26
"""The most pixels of an image, which takes 4 bytes per pixel before it is scaled."""
_IMAGE_FORMATS = ("PNG", "JPEG")
"""The formats of DxDispatch; Pillow would try all its decoders."""

MEMBERS = (
    "initialValues",
    "initialValuesDataType",
    "sizeInBytes",
    "initialValuesOffsetInBytes",
    "resampleSize",
    "resampleMode",
    "type",
)


_FILL = frozenset({"value", "valueCount"})


class Resource(NamedTuple):
    """A buffer; ``data`` is ``None`` if its contents could not be read, which has been reported."""

    name: str
    data_type: DataType | None
    nbytes: int
    initial_bytes: int
    """The size of the initial values; ``print`` does not show the padding after them."""
    data: Data | None
    file: str = ""
    """The name of the file with the contents as raw bytes."""

    @property
    def element_size(self) -> int:
        """Bytes of one element; 0 without a data type, or for one of less than a byte."""
        return self.data_type.bits // 8 if self.data_type else 0


class UnusedResources:
    """The resources that are not bound and that no command names."""

    def __init__(
        self, resources: Mapping[str, Resource], owned: Iterable[tuple[BoundResource, ...]], commands: object
    ) -> None:
        named = {source.resource.name for sources in owned for source in sources}
        pending = [commands]
        while pending:
            item = pending.pop()
            if isinstance(item, str):
                named.add(item)
            elif isinstance(item, (list, dict)):
                pending.extend(item.values() if isinstance(item, dict) else item)
        self._resources = [item for name, item in resources.items() if name not in named]

    def as_binding(self, place: str, descs: Sequence[TensorDesc]) -> tuple[Remedy, ...]:
        """Suggests the only resource with the size of a tensor for its missing binding."""
        sizes = {desc.total_bytes for desc in descs}
        names = [item.name for item in self._resources if not sizes.isdisjoint((item.nbytes, item.initial_bytes))]
        if len(names) != 1 or len(descs) != 1:
            return ()
        return (Remedy(f"{quote(names[0])}, which nothing is bound to", (Edit(place, names[0]),)),)


def _data_type_place(place: str) -> str:
    """The pointer of the data type of initial values."""
    return f"{place.rpartition('/')[0]}/initialValuesDataType"


class ResourceReader:
    """Reads the resources of one model."""

    def __init__(self, files: ModelFiles, findings: Findings) -> None:
        self._files = files
        self._findings = findings
        self._budget = MAX_MATERIALIZED_BYTES
        self._fills: dict[bytes, tuple[Any, ...]] = {}
        """Cached buffers with one value in all elements, without their names: programs repeat them."""

    def read(self, name: str, raw: object, place: str) -> Resource:
        if type(raw) is not dict:
            wrong_kind(self._findings, quote(name), "an object", raw, place)
            return Resource(name, None, UNBOUNDED, 0, None)
        values = raw.get("initialValues")
        if type(values) is not dict or values.keys() != _FILL:
            return self._read(name, raw, place)
        try:
            key = marshal.dumps(raw, 2)
        except ValueError:  # nested too deep
            return self._read(name, raw, place)
        known = self._fills.get(key)
        if known is not None:
            return Resource(name, *known)
        before = len(self._findings)
        resource = self._read(name, raw, place)
        if isinstance(resource.data, FillData | PaddedData) and len(self._findings) == before:
            self._fills[key] = resource[1:]
        return resource

    def _read(self, name: str, raw: Json, place: str) -> Resource:
        members = Members(raw, place, self._findings)
        members.hint(MEMBERS, "a resource")
        data_type, known = self._read_data_type(members)
        size, offset = members.uint("sizeInBytes"), members.uint("initialValuesOffsetInBytes") or 0
        data = None
        if known:
            try:
                data, data_type = self._read_values(members, data_type)
            except FileError as error:
                place = members.at("initialValues")
                self._findings.report(error.code, str(error), place, expected=error.expected, found=error.found)
        if data is None:
            return Resource(name, data_type, UNBOUNDED, 0, None)
        if data.nbytes == 0:
            message = "the initial values have zero bytes"
            self._findings.report(codes.NO_DATA, message, members.at("initialValues"), expected="one byte or more")
        nbytes = size if "sizeInBytes" in members.raw and size is not None else -(-data.nbytes // 4) * 4
        if offset + data.nbytes > nbytes:
            what = f"{data.nbytes} bytes of initial values" + (f" from byte {offset}" if offset else "")
            message = f"{what} do not fit into {nbytes} bytes"
            needed = f"at least {offset + data.nbytes}"
            place = members.at("sizeInBytes")
            self._findings.report(codes.RESOURCE_TOO_SMALL, message, place, expected=needed, found=nbytes)
            return Resource(name, data_type, UNBOUNDED, data.nbytes, None)
        if offset:
            message = f"initialValuesOffsetInBytes is {offset}, but the values are written at byte 0"
            self._findings.report(
                codes.OFFSET_WITHOUT_EFFECT, message, members.at("initialValuesOffsetInBytes"), expected=0, found=offset
            )
        file = data.path.name if isinstance(data, FileData) and data.path.suffix.lower() != ".npy" else ""
        return Resource(name, data_type, nbytes, data.nbytes, padded(data, nbytes), file)

    def _read_data_type(self, members: Members) -> tuple[DataType | None, bool]:
        """Returns the data type, ``None`` for UNKNOWN, and whether it is valid."""
        if "initialValuesDataType" not in members.raw:
            return None, True
        text = members.raw["initialValuesDataType"]
        if isinstance(text, str):
            if text in ("UNKNOWN", "DML_TENSOR_DATA_TYPE_UNKNOWN"):
                return None, True
            data_type = data_types(False).get(text)
            if data_type is not None:
                return data_type, True
        self._bad_data_type(text, members.at("initialValuesDataType"))
        return None, False

    def _bad_data_type(self, text: object, place: str) -> None:
        names = list(enumerators("DML_TENSOR_DATA_TYPE", False).values())
        guess = self._findings.did_you_mean(text, names) if isinstance(text, str) else ""
        message = f"{show(text)} is no data type{guess}"
        self._findings.report(
            codes.ENUMERATOR, message, place, expected=listing(list(dict.fromkeys(names))), found=show(text)
        )

    def _read_values(self, members: Members, data_type: DataType | None) -> tuple[Data | None, DataType | None]:
        values = members.required("initialValues", 'an array, an object or "deferred"')
        place = members.at("initialValues")
        if isinstance(values, list):
            return (self._read_list if data_type is None else self._read_array)(values, data_type, place), data_type
        if isinstance(values, dict):
            inner = Members(values, place, self._findings)
            if "value" in values:
                return self._read_constant(inner, data_type), data_type
            if "valueStart" in values:
                return self._read_sequence(inner, data_type), data_type
            if "sourcePath" in values:
                return self._read_file(inner, members, data_type)
            names = ("value", "valueStart", "sourcePath")
            message = f"the object needs one of the members {listing(names)}"
            found = listing([quote(key) for key in values])
            self._findings.report(codes.DATA_SOURCE, message, place, expected=listing(names), found=found)
        elif values == "deferred":
            message = "a deferred buffer, which ONNX Runtime allocates, cannot be compiled"
            self._findings.report(codes.DEFERRED_RESOURCE, message, place, found='"deferred"')
        elif "initialValues" in members.raw:
            wrong_kind(self._findings, "initialValues", 'an array, an object or "deferred"', values, place)
        return None, data_type

    # --- Arrays -------------------------------------------------------------------------------------------------------

    def _element_type(self, data_type: DataType | None, place: str) -> DataType | None:
        """Returns the data type if its values can be written as numbers, else reports."""
        if data_type is None:
            message = "these initial values need initialValuesDataType"
            expected = "the data type of the values, such as FLOAT32"
            remedies = (Remedy('"initialValuesDataType": "FLOAT32", or as the tensors that are bound to it have it'),)
            self._findings.report(
                codes.MISSING_KEY, message, _data_type_place(place), expected=expected, remedies=remedies
            )
        elif data_type.is_packed_nibbles:
            message = f"values cannot be written as {data_type.name}; declare such data as UINT8"
            self._findings.report(
                codes.BAD_VALUE, message, place, expected="a data type of 8 bits or more", found=data_type.name
            )
            return None
        return data_type

    def _read_array(self, values: list[object], data_type: DataType | None, place: str) -> Data | None:
        known = self._element_type(data_type, place)
        if known is None:
            return None
        array = to_array(values, known, truncate=True)
        if isinstance(array, tuple):
            index, bad = array
            self._findings.report_number(f"initialValues[{index}]", bad, f"{place}/{index}", code=codes.BAD_VALUE)
            return None
        beyond = first_beyond_range(values, array, known)
        if beyond is not None:
            index, bad = beyond
            self._findings.report_number(f"initialValues[{index}]", bad, f"{place}/{index}")
        return ArrayData(to_bytes(array, known))

    def _read_list(self, values: list[object], _: DataType | None, place: str) -> Data | None:
        if values and not any(type(item) is dict for item in values):
            expected = "a data type, or values that are objects with type and value"
            message = "these initial values need initialValuesDataType"
            self._findings.report(codes.MISSING_KEY, message, _data_type_place(place), expected=expected)
            return None
        parts: list[bytes] = []
        complete = True
        for index, item in enumerate(values):
            part = self._read_listed(item, f"{place}/{index}", index)
            if part is None:
                complete = False
            else:
                parts.append(part)
        return ArrayData(np.frombuffer(b"".join(parts), np.uint8)) if complete else None

    def _read_listed(self, item: object, place: str, index: int) -> bytes | None:
        what = f"initialValues[{index}]"
        if type(item) is not dict:
            expected = "an object with type and value, since there is no initialValuesDataType"
            wrong_kind(self._findings, what, expected, item, place)
            return None
        members = Members(item, place, self._findings)
        text, raw = members.required("type", "a data type"), members.required("value", "a number")
        if "type" not in item or "value" not in item:
            return None
        data_type = data_types(False).get(text) if isinstance(text, str) else None
        if data_type is None:
            self._bad_data_type(text, members.at("type"))
            return None
        if data_type is DataType.FLOAT16 or data_type.is_packed_nibbles:
            message = f"{what} cannot be written as {data_type.name} in a list of typed values"
            place = members.at("type")
            self._findings.report(codes.BAD_VALUE, message, place, expected="another type", found=data_type.name)
            return None
        value = to_element(raw, data_type, truncate=True)
        if isinstance(value, Bad):
            self._findings.report_number(what, value, members.at("value"), code=codes.BAD_VALUE)
            return None
        self._check_range(what, raw, value, data_type, members.at("value"))
        return np.array(value, data_type.dtype).tobytes()

    # --- Patterns -----------------------------------------------------------------------------------------------------

    def _read_constant(self, members: Members, data_type: DataType | None) -> Data | None:
        members.hint(("value", "valueCount"), "a constant initializer")
        others = [name for name in ("valueStart", "sourcePath") if name in members.raw]
        if others:
            message = f"value and {listing(others)} cannot be given together"
            self._findings.report(codes.DATA_SOURCE, message, members.place, expected="value", found=listing(others))
            return None
        count = members.uint("valueCount", UINT32, required=True)
        known = self._element_type(data_type, members.place)
        if known is None:
            return None
        value = self._member_value(members, "value", known)
        if value is None or count is None:
            return None
        return FillData(np.array(value, known.dtype).tobytes(), count * known.itemsize)

    def _read_sequence(self, members: Members, data_type: DataType | None) -> Data | None:
        members.hint(("valueStart", "valueDelta", "valueCount"), "a sequence initializer")
        count = members.uint("valueCount", UINT32, required=True)
        known = self._element_type(data_type, members.place)
        if known is None:
            return None
        start, delta = (self._member_value(members, name, known) for name in ("valueStart", "valueDelta"))
        if start is None or delta is None or count is None or not self._spend(count * known.itemsize, members.place):
            return None
        if not known.is_float:
            low, high = known.limits
            last = int(start) + int(delta) * (count - 1)
            if known.is_signed and known.bits >= 32 and not low <= last <= high:
                message = f"the sequence ends at {last}, which {known.name} cannot hold; it wraps"
                self._findings.report(
                    codes.SEQUENCE_OVERFLOW, message, members.place, expected=f"{low} to {high}", found=last
                )
        return replace(ArrayData.of(sequence(start, delta, count, known)), is_made=True)

    def _member_value(self, members: Members, name: str, data_type: DataType) -> int | float | None:
        raw = members.required(name, "a number")
        if name not in members.raw:
            return None
        value = to_element(raw, data_type, truncate=True)
        if isinstance(value, Bad):
            remedies = fraction_remedies(raw, data_type, _data_type_place(members.place))
            self._findings.report_number(name, value, members.at(name), remedies, code=codes.BAD_VALUE)
            return None
        self._check_range(name, raw, value, data_type, members.at(name))
        return value

    def _spend(self, nbytes: int, place: str) -> bool:
        if nbytes <= self._budget:
            self._budget -= nbytes
            return True
        message = f"{nbytes} bytes are needed in memory, beyond the limit of {MAX_MATERIALIZED_BYTES} for one model"
        self._findings.report(codes.TOO_MUCH_DATA, message, place, expected=MAX_MATERIALIZED_BYTES, found=nbytes)
        return False

    def _check_range(self, what: str, raw: object, value: float, data_type: DataType, place: str) -> None:
        bad = beyond_range(raw, value, data_type)
        if bad is not None:
            self._findings.report_number(what, bad, place)

    # --- Files --------------------------------------------------------------------------------------------------------

    def _read_file(
        self, members: Members, resource: Members, data_type: DataType | None
    ) -> tuple[Data | None, DataType | None]:
        name = members.text("sourcePath")
        if name is None:
            return None, data_type
        suffix = PurePosixPath(name.replace("\\", "/")).suffix.lower()
        if suffix == ".npy":
            return self._read_npy(name, data_type, members.at("sourcePath"))
        if data_type is None:
            message = f"{quote(name)} is read as raw bytes, which need initialValuesDataType"
            self._findings.report(codes.MISSING_KEY, message, members.place, expected="initialValuesDataType")
            return None, None
        if suffix in (".jpg", ".png"):
            return self._read_image(name, resource, data_type), data_type
        return self._files.raw(name), data_type

    def _read_npy(self, name: str, data_type: DataType | None, place: str) -> tuple[Data, DataType]:
        file = self._files.npy(name)
        own = DataType.INT8 if file.is_signed_bool else file.data_type
        if data_type is not None and data_type is not own:
            message = f"{quote(name)} holds {own.name}, but initialValuesDataType is {data_type.name}"
            raise FileError(codes.BAD_NPY, message, data_type.name, own.name)
        present, wanted = file.data.nbytes, file.nbytes
        if present != wanted:
            message = f"{quote(name)} has {present} bytes after its header, which states {wanted}"
            expected, found = f"{wanted} bytes", f"{present} bytes"
            self._findings.report(codes.FILE_PARTLY_READ, message, place, expected=expected, found=found)
        return padded(file.data, wanted), own

    def _read_image(self, name: str, resource: Members, data_type: DataType) -> Data | None:
        sizes = resource.array("resampleSize") if "resampleSize" in resource.raw else None
        place = resource.at("resampleSize")
        mode = resource.text("resampleMode", "scale")
        if data_type not in (DataType.FLOAT32, DataType.FLOAT16):
            message = f"an image cannot be read as {data_type.name}"
            self._findings.report(
                codes.BAD_IMAGE, message, resource.at("initialValuesDataType"), expected="FLOAT32 or FLOAT16"
            )
            return None
        if mode != "scale":
            message = f"resampleMode is {show(mode)}, not scale"
            place = resource.at("resampleMode")
            self._findings.report(codes.BAD_IMAGE, message, place, expected="scale", found=show(mode))
            return None
        good = sizes is not None and len(sizes) == 4
        if sizes is None or not good or not all(type(size) is int and 0 < size < 1 << 16 for size in sizes):
            message = "an image needs resampleSize: N, C, H and W, each from 1 to 65535"
            self._findings.report(codes.BAD_IMAGE, message, place, expected="an array of 4 whole numbers")
            return None
        _, channels, height, width = (int(size) for size in sizes)  # type: ignore[call-overload]  # all are int
        channels = 3 if channels == 3 else 4
        if not self._spend(channels * height * width * 8, place):
            return None
        return ArrayData.of(_decode_image(self._files.find(name), name, (channels, height, width), data_type))


def sequence(start: float, delta: float, count: int, data_type: DataType) -> npt.NDArray[np.generic]:
    """Returns ``start``, ``start + delta``, ..., rounded, truncated or wrapped to the data type at every step."""
    if data_type is DataType.FLOAT16:
        return _half_sequence(start, delta, count)
    width = data_type.dtype if data_type.is_float else np.dtype(f"u{data_type.itemsize}")
    mask = (1 << data_type.bits) - 1
    first, step = (start, delta) if data_type.is_float else (int(start) & mask, int(delta) & mask)
    values = np.full(count, step, width)
    values[:1] = first
    with np.errstate(over="ignore", invalid="ignore"):
        np.add.accumulate(values, dtype=width, out=values)
    return values.view(data_type.dtype)


def _half_sequence(start: float, delta: float, count: int) -> npt.NDArray[np.float16]:
    """Accumulates step by step, since every sum is truncated, until the sum is constant (at most 65,536 steps)."""
    values = np.empty(count, np.float16)
    step, value = np.float16(delta), np.float16(start)
    for index in range(count):
        values[index] = value
        with np.errstate(over="ignore", invalid="ignore"):
            following = to_half(np.array([float(value) + float(step)]), truncate=True)[0]
        if following == value or np.isnan(following):
            values[index + 1 :] = following
            break
        value = following
    return values


def _decode_image(path: Path, name: str, sizes: tuple[int, int, int], data_type: DataType) -> npt.NDArray[np.generic]:
    """Decodes an image, scaled to (channels, height, width), as planes of values from 0 to 1."""
    try:
        from PIL import Image
    except ImportError:
        message = f'{quote(name)} is an image, and reading it needs Pillow: pip install "dml2onnx[images]"'
        raise FileError(codes.NO_PILLOW, message, "Pillow") from None
    channels, height, width = sizes
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # oddities that do not change the pixels
            with Image.open(path, formats=_IMAGE_FORMATS) as image:
                if image.width * image.height > MAX_PIXELS:
                    message = f"{quote(name)} has {image.width} by {image.height} pixels"
                    raise FileError(codes.BAD_IMAGE, message, f"at most {MAX_PIXELS} pixels")
                pixels = image.convert("RGB" if channels == 3 else "RGBA")
                scaled = np.asarray(pixels.resize((width, height), Image.Resampling.BICUBIC), np.float32)
    except FileError:
        raise
    except Exception as error:  # Pillow raises many kinds for damaged files
        message = f"{quote(name)} cannot be decoded: {shortened(str(error))}"
        raise FileError(codes.BAD_IMAGE, message, "a PNG or JPEG image") from None
    planes = np.ascontiguousarray(np.moveaxis(scaled, 2, 0)) / np.float32(255)
    return to_half(planes.astype(np.float64), truncate=True) if data_type is DataType.FLOAT16 else planes
