"""Checks fields one by one: required values, enumerators, array lengths, scalars, finite numbers, and tensors."""

from __future__ import annotations

from math import isclose, isfinite
from typing import TYPE_CHECKING

from dml2onnx import catalog
from dml2onnx.catalog import FieldSchema, FieldType, OperatorSchema
from dml2onnx.checks.doubts import doubtful_check
from dml2onnx.checks.tensors import tensor_findings
from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Diagnostic, below, plural
from dml2onnx.ir.operator import Scalar, ScaleBias
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.rules.expressions import evaluator
from dml2onnx.rules.subject import UnanswerableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dml2onnx.ir.operator import FieldValue
    from dml2onnx.rules.expressions import Evaluator
    from dml2onnx.rules.findings import Check
    from dml2onnx.rules.subject import Subject

_ARRAYS = frozenset(
    {
        FieldType.TENSOR_ARRAY,
        FieldType.UINT_ARRAY,
        FieldType.INT_ARRAY,
        FieldType.FLOAT_ARRAY,
        FieldType.OPERATOR_ARRAY,
    }
)

_FLOATS = frozenset({FieldType.FLOAT, FieldType.FLOAT_ARRAY, FieldType.SCALE_BIAS})

# Bounds and contents, for which infinity and NaN are ordinary values.
_MAY_BE_INFINITE = frozenset(
    {"Min", "Max", "PaddingValue", "OutOfBoundsInputValue", "MaskFilterValue", "ClipThreshold", "Value", "Exponent"}
)

AS_GIVEN = "it computes with this value"
"""What DirectML does with NaN and infinities."""

_PAGE = 1024
"""Entries of four bytes in a page of memory: reading beyond an array may crash one page later."""


def required_check(schema: OperatorSchema, *, tensors: bool = True) -> Check:
    """Checks that required fields are present; without ``tensors``, for a fused activation, only its attributes."""
    required = [
        (i, field) for i, field in enumerate(schema.fields) if not field.optional and (tensors or not field.is_tensor)
    ]

    def check(subject: Subject) -> Iterator[Diagnostic]:
        values = subject.values
        for i, field in required:
            if values[i] is None:
                kind = field.type.value.replace("_", " ")
                yield codes.MISSING_FIELD.of(field.name, f"{field.name} is null, but required.", kind, "null")

    return check


def tensors_check(schema: OperatorSchema) -> Check:
    """Checks every tensor descriptor by itself."""
    tensors = [
        (i, field.name, field.kind is catalog.FieldKind.OUTPUT_TENSOR)
        for i, field in enumerate(schema.fields)
        if field.is_tensor
    ]

    def check(subject: Subject) -> Iterator[Diagnostic]:
        for i, name, is_output in tensors:
            value = subject.values[i]
            if isinstance(value, TensorDesc):
                for finding in tensor_findings(value, is_output):
                    yield below(finding, name)
            elif isinstance(value, tuple):
                for j, tensor in enumerate(value):
                    if isinstance(tensor, TensorDesc):
                        for finding in tensor_findings(tensor, is_output):
                            yield below(finding, name, j)

    return check


def attribute_checks(schema: OperatorSchema) -> list[Check]:
    """The checks of values that follow from the types of the fields."""
    fields = list(enumerate(schema.fields))
    enums = [(i, field) for i, field in fields if field.type is FieldType.ENUM]
    counted = [(i, field) for i, field in fields if field.type in _ARRAYS and field.count is not None]
    checks = [_enumerators(enums)] if enums else []
    if {"Min", "Max"}.issubset(schema.index):
        checks.append(_bounds(schema))
    if {"InputTensor", "OutputTensor", "Scales"}.issubset(schema.index):
        checks.append(_scales)
    if (doubtful := doubtful_check(schema)) is not None:
        checks.append(doubtful)
    loose = catalog.loose_fields(schema)
    if counted:
        needed = {item.left: evaluator(item.right) for item in schema.constraints if item.left in loose and item.right}
        checks.append(_lengths([(i, schema.index[field.count or ""], field) for i, field in counted], loose, needed))
    for i, field in fields:
        if field.type is FieldType.SCALAR_UNION and field.scalar_type is not None:
            checks.append(_scalar(i, field, schema.index[field.scalar_type], loose.get(field.scalar_type, "")))
        if field.type in _FLOATS and field.name not in _MAY_BE_INFINITE:
            checks.append(_finite(i, field))
    return checks


def _enumerators(enums: list[tuple[int, FieldSchema]]) -> Check:
    tables = [(i, catalog.enum_schema(field.enum or "").values, field) for i, field in enums]

    def check(subject: Subject) -> Iterator[Diagnostic]:
        for i, known, field in tables:
            value = subject.values[i]
            if isinstance(value, str) and value not in known:
                wanted = ", ".join(known)
                message = f"{value} is not an enumerator of {field.enum}; it has {wanted}."
                yield codes.UNKNOWN_ENUMERATOR.of(field.name, message, wanted, value)

    return check


def _bounds(schema: OperatorSchema) -> Check:
    """Checks that Min is at most Max; otherwise DirectML returns Min for every element."""
    is_gradient = any(field.name == "OutputGradientTensor" for field in schema.fields)

    def check(subject: Subject) -> Iterator[Diagnostic]:
        least, most = subject.value("Min"), subject.value("Max")
        if least is None or most is None:
            return
        low, high = subject.number("Min"), subject.number("Max")
        if low > high:
            does = "the gradient is 0 everywhere" if is_gradient else f"every element is {low:g}"
            message = f"Min is {low:g}, above Max, which is {high:g}. DirectML accepts this: {does}."
            yield codes.MIN_ABOVE_MAX.of("Min", message, f"at most {high:g}", f"{low:g}", related=("Max",))

    return check


def _scales(subject: Subject) -> Iterator[Diagnostic]:
    """Scales that are the sizes of the output, or are inverted, permuted or far from the ratio of the sizes."""
    sizes, wanted = subject.sizes("InputTensor"), subject.sizes("OutputTensor")
    scales = subject.numbers("Scales")
    if len(sizes) != len(wanted) or len(scales) != len(sizes) or not all(sizes) or not all(wanted):
        return
    ratios = [made / size for size, made in zip(sizes, wanted, strict=True)]
    if ratios == list(scales):
        return
    meant, found = (f"[{', '.join(f'{number:g}' for number in numbers)}]" for numbers in (ratios, scales))
    if tuple(scales) == wanted and any(size > 1 for size in sizes):
        message = f"Scales are the sizes of OutputTensor, {list(wanted)}; those of the tensors make Scales {meant}."
        yield codes.SCALES_ARE_SIZES.of("Scales", message, meant, list(wanted))
    elif all(isclose(ratio * scale, 1, rel_tol=1e-6) for ratio, scale in zip(ratios, scales, strict=True)):
        message = f"Scales {found} scale OutputTensor to InputTensor; from the input to the output they are {meant}."
        yield codes.SCALES_ARE_SIZES.of("Scales", message, meant, found)
    elif sorted(scales) == sorted(ratios):
        message = f"Scales {found} are in another order than the dimensions, whose sizes make {meant}."
        yield codes.SCALES_ARE_SIZES.of("Scales", message, meant, found)
    elif any(not 0.5 < scale / ratio < 2 for ratio, scale in zip(ratios, scales, strict=True)) and not _is_moved(
        subject
    ):
        message = (
            f"Scales {found} are off by a factor of 2 or more; the sizes of InputTensor and OutputTensor make {meant}."
        )
        yield codes.SCALES_ARE_SIZES.of("Scales", message, meant, found)


def _is_moved(subject: Subject) -> bool:
    """Whether offsets other than the pixel centers select a part of the image on purpose."""
    names = [name for name in ("InputPixelOffsets", "OutputPixelOffsets") if name in subject.index]
    return any(abs(number) != 0.5 for name in names for number in subject.numbers(name))


def _lengths(
    counted: list[tuple[int, int, FieldSchema]], loose: Mapping[str, str], needed: Mapping[str | None, Evaluator]
) -> Check:
    """Checks array lengths: equal to the count, or, where DirectML ignores the count, enough for the tensors."""

    def is_short(subject: Subject, count: str, length: int) -> bool:
        try:
            least = needed[count](subject)
        except UnanswerableError:
            return False
        return isinstance(least, int) and length < least

    def check(subject: Subject) -> Iterator[Diagnostic]:
        values = subject.values
        for i, count_position, field in counted:
            value, count = values[i], values[count_position]
            if isinstance(value, tuple) and isinstance(count, int) and len(value) != count:
                message = f"{field.name} has {plural(len(value), 'entry')}; {field.count} is {count}."
                accepted = loose.get(field.count or "", "")
                far = count - len(value) > _PAGE
                if accepted and (far or is_short(subject, field.count or "", len(value))):
                    accepted = ""  # it would read what lies behind the array
                yield codes.ARRAY_LENGTH.of(field.name, message, count, len(value), accepted=accepted)
        yield from all_short(subject)

    def all_short(subject: Subject) -> Iterator[Diagnostic]:
        """Arrays that have what the count says, and not what the tensors need: all are read beyond their ends."""
        for name in loose:
            arrays = [(field.name, subject.values[i]) for i, _, field in counted if field.count == name]
            lengths = {len(value) for _, value in arrays if isinstance(value, tuple)}
            if lengths == {subject.value(name)} and is_short(subject, name, max(lengths)):
                message = f"{arrays[0][0]} has {plural(max(lengths), 'entry')}, fewer than the tensors need."
                yield codes.ARRAY_LENGTH.of(arrays[0][0], message, found=max(lengths))

    return check


def _scalar(position: int, field: FieldSchema, type_position: int, accepted: str) -> Check:
    def check(subject: Subject) -> Iterator[Diagnostic]:
        value, wanted = subject.values[position], subject.values[type_position]
        if isinstance(value, Scalar) and isinstance(wanted, str) and value.data_type.name != wanted:
            found = value.data_type.name
            message = f"{field.name} is a {found} value; {field.scalar_type} is {wanted}."
            yield codes.SCALAR_TYPE.of(field.name, message, wanted, found, accepted=accepted)

    return check


def _finite(position: int, field: FieldSchema) -> Check:
    def check(subject: Subject) -> Iterator[Diagnostic]:
        for path, value in _floats(field.name, subject.values[position]):
            if not isfinite(value):
                message = f"{path} is {value}."
                yield codes.NOT_FINITE.of(path, message, "a finite number", value, accepted=AS_GIVEN)

    return check


def _floats(name: str, value: FieldValue) -> Iterator[tuple[str, float]]:
    if isinstance(value, float):
        yield name, value
    elif isinstance(value, ScaleBias):
        yield f"{name}/Scale", value.scale
        yield f"{name}/Bias", value.bias
    elif isinstance(value, tuple):
        for i, item in enumerate(value):
            if isinstance(item, float):
                yield f"{name}/{i}", item
