"""Reads operator descriptors from decoded JSON, by the catalogue.

Each operator has a plan: its fields in struct order, each with the function that reads it. Plans are cached, and so are
descriptors. The cache key is the decoded JSON as bytes of ``marshal``, which differ for 1, 1.0 and true; hashes of the
values do not.
"""

from __future__ import annotations

import marshal
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from dml2onnx import catalog
from dml2onnx.catalog import FieldSchema, FieldType, OperatorSchema
from dml2onnx.codes import reading as codes
from dml2onnx.diagnostics import Diagnostic, below, plural
from dml2onnx.frontends.coercions import parse_bool, parse_number, repeat_number
from dml2onnx.frontends.dialects import Dialect, data_types, enumerators, operators_by_name, operators_by_number
from dml2onnx.frontends.findings import listing, quote, show
from dml2onnx.frontends.members import UINT32, Json
from dml2onnx.frontends.numbers import Bad, beyond_range, round_to_float32, to_double, to_element
from dml2onnx.frontends.problems import MISSING, activation_as_text, form_of, operator_form, unknown_activation
from dml2onnx.frontends.tensors import (
    read_tensor,
    read_uint,
    read_uints,
    unknown_enumerator,
    unknown_members,
    wrong_kind,
)
from dml2onnx.ir.operator import UNREADABLE, FieldValue, OperatorDesc, Scalar, ScaleBias, Size2D, Unreadable
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.lazy import lazy_module

if TYPE_CHECKING:
    import numpy as np

else:
    np = lazy_module("numpy")

Reader = Callable[[object, Json, list[Diagnostic]], FieldValue]
"""Reads a field's value, given its enclosing object, and appends problems."""

SuppliedFields = Mapping[str, FieldValue]
"""Values of fields that are known from elsewhere."""

NO_FIELDS: SuppliedFields = MappingProxyType({})
_MAX_NESTING = 4
_INT32 = DataType.INT32


class _Field(NamedTuple):
    name: str
    read: Reader
    optional: bool
    is_count: bool
    """Whether the field is the length of arrays."""
    is_tensor: bool
    form: str
    """Its kind of value, for messages."""


@dataclass(frozen=True, slots=True)
class _Plan:
    schema: OperatorSchema
    fields: tuple[_Field, ...]
    names: frozenset[str]
    counts: tuple[tuple[int, tuple[int, ...]], ...]
    """Positions of each count field and of its arrays."""


class DescriptorReading(NamedTuple):
    """A descriptor, with ``UNREADABLE`` for invalid fields, and its problems."""

    operator: OperatorDesc
    problems: tuple[Diagnostic, ...]


class DescriptorReader:
    """Reads the descriptors of one model, in one dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self._plans: dict[OperatorSchema, _Plan] = {}
        self._operators: dict[object, DescriptorReading] = {}
        self._tensors: dict[bytes, tuple[TensorDesc | Unreadable, tuple[Diagnostic, ...]]] = {}
        self._interned: dict[TensorDesc, TensorDesc] = {}
        self._activations: dict[
            tuple[OperatorSchema, bytes], tuple[OperatorDesc | Unreadable, tuple[Diagnostic, ...]]
        ] = {}
        self._schemas: dict[object, OperatorSchema] = {}
        self._depth = 0

    def schema(self, name: object) -> OperatorSchema | None:
        """Looks up an operator by name, or by number if the dialect accepts numbers; ``None`` if there is none."""
        if type(name) is str:
            cached = self._schemas.get(name)
            if cached is not None:
                return cached
            full_name = operators_by_name().get(name)
            if self.dialect.full_names and full_name != name:
                return None
        elif type(name) is int and self.dialect.numbers_for_enums:
            full_name = operators_by_number().get(name)
        else:
            return None
        if full_name is None:
            return None
        schema = self._schemas[name] = catalog.operator(full_name)
        return schema

    def operator(
        self, schema: OperatorSchema, raw: Json, supplied: SuppliedFields = NO_FIELDS, extra: tuple[str, ...] = ()
    ) -> DescriptorReading:
        """Reads the fields of an operator.

        ``supplied`` fields may be missing from ``raw``; ``extra`` names allowed members that are not fields.
        """
        try:
            key = (schema, marshal.dumps(raw, 2), tuple(supplied.items()) if supplied else None, extra)
        except ValueError:
            operator = OperatorDesc(schema, (UNREADABLE,) * len(schema.fields))
            return DescriptorReading(operator, (wrong_kind("an object of this depth", raw),))
        cached = self._operators.get(key)
        if cached is None:
            cached = self._operators[key] = self.read(schema, raw, supplied, extra)
        return cached

    def read(
        self, schema: OperatorSchema, raw: Json, supplied: SuppliedFields = NO_FIELDS, extra: tuple[str, ...] = ()
    ) -> DescriptorReading:
        """Reads the fields without caching; the nesting of ``raw`` must be known not to be too deep."""
        problems: list[Diagnostic] = []
        operator = OperatorDesc(schema, self._read_fields(self._plan(schema), raw, supplied, extra, problems))
        return _add_remedies(operator, problems, self.dialect) if problems else DescriptorReading(operator, ())

    def tensor(self, raw: object, owner: Json, problems: list[Diagnostic]) -> TensorDesc | Unreadable:
        try:
            key = marshal.dumps(raw, 2)  # type: ignore[arg-type]  # decoded JSON
        except ValueError:
            problems.append(wrong_kind("an object of this depth", raw))
            return UNREADABLE
        cached = self._tensors.get(key)
        if cached is None:
            found: list[Diagnostic] = []
            desc = read_tensor(raw, self.dialect, found)
            if isinstance(desc, TensorDesc):
                desc = self._interned.setdefault(desc, desc)
            cached = self._tensors[key] = desc, tuple(found)
        if cached[1]:
            problems.extend(cached[1])
        return cached[0]

    # --- Plans --------------------------------------------------------------------------------------------------------

    def _plan(self, schema: OperatorSchema) -> _Plan:
        plan = self._plans.get(schema)
        if plan is None:
            arrays_of: dict[str, list[int]] = {}
            for position, item in enumerate(schema.fields):
                if item.count is not None:
                    arrays_of.setdefault(item.count, []).append(position)
            plan = self._plans[schema] = _Plan(
                schema,
                tuple(
                    _Field(
                        item.name,
                        self._reader(item, schema),
                        item.optional,
                        item.name in arrays_of,
                        item.is_tensor,
                        form_of(item),
                    )
                    for item in schema.fields
                ),
                frozenset(schema.index),
                tuple((schema.index[name], tuple(arrays)) for name, arrays in arrays_of.items()),
            )
        return plan

    def _reader(self, item: FieldSchema, host: OperatorSchema) -> Reader:
        nested = partial(self._read_nested, host)
        readers: dict[FieldType, Reader] = {
            FieldType.TENSOR: self.tensor,
            FieldType.TENSOR_ARRAY: self._array_of(self.tensor, "tensor descriptors"),
            FieldType.UINT: _read_uint,
            FieldType.INT: _read_int,
            FieldType.FLOAT: _read_float,
            FieldType.BOOL: self._read_bool,
            FieldType.UINT_ARRAY: lambda raw, _, problems: read_uints(raw, problems),
            FieldType.INT_ARRAY: self._array_of(_read_int, "whole numbers"),
            FieldType.FLOAT_ARRAY: self._array_of(_read_float, "numbers"),
            FieldType.SCALE_BIAS: self._read_scale_bias,
            FieldType.SIZE_2D: self._read_size_2d,
            FieldType.OPERATOR: nested,
            FieldType.OPERATOR_ARRAY: self._array_of(nested, "operator descriptors"),
        }
        if item.type is FieldType.ENUM:
            assert item.enum is not None
            return self._enum_reader(item.enum)
        if item.type is FieldType.SCALAR_UNION:
            assert item.scalar_type is not None
            return self._scalar_reader(item.scalar_type)
        return readers[item.type]

    # --- Fields -------------------------------------------------------------------------------------------------------

    def _read_fields(
        self, plan: _Plan, raw: Json, supplied: SuppliedFields, extra: tuple[str, ...], problems: list[Diagnostic]
    ) -> tuple[FieldValue, ...]:
        if not plan.names.issuperset(raw):
            names = tuple(item.name for item in plan.fields)
            problems.extend(unknown_members(names, raw, self.dialect, plan.schema.short_name, extra))
        values: list[FieldValue] = []
        before = len(problems)
        for item in plan.fields:
            name = item.name
            value = raw.get(name, MISSING)
            if value is MISSING:
                values.append(supplied[name] if name in supplied else self._absent(item, problems))
            elif value is None:
                values.append(self._null(item, supplied, problems))
            else:
                values.append(item.read(value, raw, problems))
                if len(problems) > before:
                    problems[before:] = [below(problem, name) for problem in problems[before:]]
            before = len(problems)
        for count, arrays in plan.counts:
            is_loose = not self.dialect.counts_required and plan.fields[count].name in catalog.loose_fields(plan.schema)
            if is_loose and isinstance(values[count], int):
                continue  # DirectML accepts other lengths; the checks report what it does with them
            self._compare_count(plan, values, count, arrays, problems)
        return tuple(values)

    def _absent(self, item: _Field, problems: list[Diagnostic]) -> FieldValue:
        if item.optional:
            return None
        if item.is_count and not self.dialect.counts_required:
            return None
        problems.append(codes.MISSING_FIELD.of((item.name,), "is missing", item.form))
        return UNREADABLE

    def _null(self, item: _Field, supplied: SuppliedFields, problems: list[Diagnostic]) -> FieldValue:
        if self.dialect.null_is_absent:
            if item.name in supplied:
                return supplied[item.name]
            if item.optional or item.is_count:
                return None
        remedy = "; leave it out where it is absent" if item.optional else ""
        problems.append(codes.NULL_FIELD.of((item.name,), f"is null{remedy}", "a value", "null"))
        return UNREADABLE

    def _compare_count(
        self, plan: _Plan, values: list[FieldValue], count: int, arrays: tuple[int, ...], problems: list[Diagnostic]
    ) -> None:
        stated = values[count]
        if isinstance(stated, Unreadable):
            return
        lengths = [len(array) for position in arrays if isinstance(array := values[position], tuple)]
        if lengths and lengths.count(lengths[0]) == len(lengths) and stated in (None, lengths[0]):
            values[count] = lengths[0]
            return
        expected = stated if isinstance(stated, int) else _likely_length(lengths, values) if lengths else None
        is_counted = len(lengths) > 1 or plan.fields[arrays[0]].is_tensor  # an extra tensor is unlikely
        if is_counted and len(set(lengths)) == 1 and stated not in (None, lengths[0]):
            counted = listing([plan.fields[position].name for position in arrays])
            has = "have" if len(arrays) > 1 else "has"
            message = f"is {stated}, but {counted} {has} {plural(lengths[0], 'element')}"
            others = tuple([(plan.fields[position].name,) for position in arrays])
            place, expected = (plan.fields[count].name,), lengths[0]
            problems.append(codes.COUNT_MISMATCH.of(place, message, expected, stated, related=others, instead=expected))
        for position in arrays:
            array = values[position]
            if not isinstance(array, tuple):
                continue
            if expected is not None and len(array) != expected:
                name, counter = plan.fields[position].name, plan.fields[count].name
                derived = values[count] is None
                reason = f"the others of {counter} have {expected}" if derived else f"{counter} is {expected}"
                problems.append(
                    codes.COUNT_MISMATCH.of(
                        (name,),
                        f"has {plural(len(array), 'element')}, but {reason}",
                        plural(expected, "element"),
                        plural(len(array), "element"),
                        related=tuple([(plan.fields[other].name,) for other in (count, *arrays) if other != position]),
                        instead=repeat_number(array, expected),
                    )
                )
                values[position] = UNREADABLE
        values[count] = UNREADABLE if expected is None else expected

    # --- Readers ------------------------------------------------------------------------------------------------------

    def _array_of(self, read: Callable[[object, Json, list[Diagnostic]], FieldValue], what: str) -> Reader:
        def read_array(raw: object, owner: Json, problems: list[Diagnostic]) -> FieldValue:
            if type(raw) is not list:
                problems.append(wrong_kind(f"an array of {what}", raw))
                return UNREADABLE
            values: list[FieldValue] = []
            for index, item in enumerate(raw):
                before = len(problems)
                values.append(read(item, owner, problems))
                if len(problems) > before:
                    problems[before:] = [below(problem, index) for problem in problems[before:]]
            if any(value is UNREADABLE for value in values):
                return UNREADABLE
            return tuple(values)  # type: ignore[return-value]  # all elements are of the kind that ``read`` gives

        return read_array

    def _read_bool(self, raw: object, _: Json, problems: list[Diagnostic]) -> FieldValue:
        if type(raw) is bool:
            return raw
        if self.dialect.numbers_for_enums and type(raw) is int and raw in (0, 1):
            return raw == 1
        problems.append(replace(wrong_kind("true or false", raw), instead=parse_bool(raw)))
        return UNREADABLE

    def _enum_reader(self, enum: str) -> Reader:
        table = enumerators(enum, self.dialect.numbers_for_enums)
        schema = catalog.enum_schema(enum)
        newer = {name for name, value in schema.values.items() if value.full_name in self.dialect.newer}

        def read_enum(raw: object, _: Json, problems: list[Diagnostic]) -> FieldValue:
            name = table.get(raw) if type(raw) is str or type(raw) is int else None
            if name is None:
                problems.append(unknown_enumerator(raw, schema.values, enum))
                return UNREADABLE
            if name in newer:
                message = f"is {name}, which the released DxDispatch does not support"
                problems.append(codes.NEWER_THAN_DXDISPATCH.of((), message, found=name))
            return name

        return read_enum

    def _read_scale_bias(self, raw: object, _: Json, problems: list[Diagnostic]) -> FieldValue:
        scale, bias = self._members(raw, ("Scale", "Bias"), _read_float, problems)
        if isinstance(scale, float) and isinstance(bias, float):
            return ScaleBias(scale, bias)
        return UNREADABLE

    def _read_size_2d(self, raw: object, _: Json, problems: list[Diagnostic]) -> FieldValue:
        width, height = self._members(raw, ("Width", "Height"), _read_uint, problems)
        if isinstance(width, int) and isinstance(height, int):
            return Size2D(width, height)
        return UNREADABLE

    def _members(
        self, raw: object, names: tuple[str, str], read: Reader, problems: list[Diagnostic]
    ) -> tuple[FieldValue, FieldValue]:
        """Reads both members of a small structure."""
        if type(raw) is not dict:
            problems.append(wrong_kind(f"an object with {' and '.join(names)}", raw))
            return UNREADABLE, UNREADABLE
        problems.extend(unknown_members(names, raw, self.dialect, "the structure"))
        values: list[FieldValue] = []
        for name in names:
            found: list[Diagnostic] = []
            if name in raw:
                values.append(read(raw[name], raw, found))
            else:
                found.append(codes.MISSING_FIELD.of((), "is missing"))
                values.append(UNREADABLE)
            problems.extend(below(problem, name) for problem in found)
        return values[0], values[1]

    def _scalar_reader(self, sibling: str) -> Reader:
        table = data_types(self.dialect.numbers_for_enums)
        names = enumerators("DML_TENSOR_DATA_TYPE", self.dialect.numbers_for_enums)

        def read_scalar(raw: object, owner: Json, problems: list[Diagnostic]) -> FieldValue:
            text = owner.get(sibling)
            data_type = table.get(text) if type(text) in (str, int) else None
            if data_type is None:
                # An invalid data type has been reported with the sibling, which accepts UNKNOWN.
                if type(text) in (str, int) and names.get(text) == "UNKNOWN":
                    problems.append(codes.FIELD_KIND.of((), f"cannot be read as {sibling} {text}"))
                return UNREADABLE
            if data_type.is_packed_nibbles:
                message = f"cannot be read as {data_type.name}: a scalar has at least 8 bits"
                problems.append(codes.FIELD_KIND.of((), message, "a data type of 8 bits or more", data_type.name))
                return UNREADABLE
            if type(raw) is dict:
                return self._read_union(raw, data_type, problems)
            return self._read_element(raw, data_type, self.dialect.scalar_strings, problems)

        return read_scalar

    def _read_union(self, raw: Json, data_type: DataType, problems: list[Diagnostic]) -> FieldValue:
        member = UNION_MEMBERS[data_type]
        if self.dialect.union_bytes and "Bytes" in raw:
            return self._read_union_bytes(raw, data_type, problems)
        if member not in raw:
            note = " with the bit pattern" if data_type is DataType.FLOAT16 else ""
            message = f"has no member {member}{note}, to be read as {data_type.name}"
            problems.append(codes.SCALAR_MEMBER.of((), message, member, listing([quote(name) for name in raw])))
            return UNREADABLE
        problems.extend(unknown_members((member,), raw, self.dialect, f"a {data_type.name} scalar"))
        before = len(problems)
        if data_type is DataType.FLOAT16:
            bits = self._read_element(raw[member], DataType.UINT16, False, problems)
            value: FieldValue = UNREADABLE
            if isinstance(bits, Scalar):
                assert isinstance(bits.value, int)
                value = Scalar(data_type, half_from_bits(bits.value))
        else:
            value = self._read_element(raw[member], data_type, True, problems)
        problems[before:] = [below(problem, member) for problem in problems[before:]]
        return value

    def _read_union_bytes(self, raw: Json, data_type: DataType, problems: list[Diagnostic]) -> FieldValue:
        """Reads the bytes of the union, whose first ones are the scalar; another member must match them."""
        found: list[Diagnostic] = []
        supplied = raw["Bytes"]
        if type(supplied) is not list:
            found.append(wrong_kind("an array of bytes", supplied, "Bytes"))
        elif len(supplied) not in (data_type.itemsize, UNION_BYTES):
            sizes = " or ".join(map(str, sorted({data_type.itemsize, UNION_BYTES})))
            message = f"has {plural(len(supplied), 'byte')}, and {data_type.name} takes {sizes}"
            found.append(codes.SCALAR_MEMBER.of(("Bytes",), message, f"{sizes} bytes", str(len(supplied))))
        else:
            for index, item in enumerate(supplied):
                read_uint(item, 1 << 8, found, "Bytes", index)
        problems.extend(found)
        if found:
            return UNREADABLE
        own = supplied[: data_type.itemsize]  # type: ignore[index]  # a list of bytes, as checked above
        scalar = Scalar(data_type, np.frombuffer(bytes(own), data_type.dtype)[0].item())
        others = {name: item for name, item in raw.items() if name != "Bytes"}
        other = self._read_union(others, data_type, problems) if others else scalar
        if isinstance(other, Scalar) and not _same_bits(other, scalar):
            message = f"is {show(other.value)}, but Bytes has {show(scalar.value)}"
            place = (UNION_MEMBERS[data_type],)
            problems.append(codes.SCALAR_MEMBER.of(place, message, show(scalar.value), show(other.value)))
        return scalar

    def _read_element(self, raw: object, data_type: DataType, strings: bool, problems: list[Diagnostic]) -> FieldValue:
        value = to_element(raw, data_type, truncate=self.dialect.truncates_halves, strings=strings)
        if isinstance(value, Bad):
            wrapped = _wrap_negative(raw, data_type)
            if wrapped is None:
                problems.append(_problem_from(value))
                return UNREADABLE
            message = f"is {raw}, which {data_type.name} reads as {wrapped}"
            problems.append(codes.NEGATIVE_SCALAR.of((), message, value.expected, str(raw)))
            value = wrapped
        beyond = beyond_range(raw, value, data_type)
        if beyond is not None:
            problems.append(_problem_from(beyond))
        return Scalar(data_type, value)

    def _read_nested(self, host: OperatorSchema, raw: object, _: Json, problems: list[Diagnostic]) -> FieldValue:
        """Reads an activation: a descriptor without tensors."""
        if type(raw) is not dict:
            problems.append(activation_as_text(raw))
            return UNREADABLE
        if self._depth >= _MAX_NESTING:
            problems.append(codes.NESTED_TOO_DEEP.of((), "is an activation of an activation of an activation"))
            return UNREADABLE
        key = host, marshal.dumps(raw, 2)
        cached = self._activations.get(key)
        if cached is None:
            found: list[Diagnostic] = []
            self._depth += 1
            try:
                activation = self._read_activation(host, raw, found)
            finally:
                self._depth -= 1
            cached = activation, tuple(found)
            if not self._depth:
                self._activations[key] = cached
        problems.extend(cached[1])
        return cached[0]

    def _read_activation(
        self, host: OperatorSchema, raw: Json, problems: list[Diagnostic]
    ) -> OperatorDesc | Unreadable:
        form = operator_form(raw)
        schema = self.schema(form.type)
        if schema is None:
            problems.append(unknown_activation(form, host, raw))
            return UNREADABLE
        if type(form.fields) is not dict:
            problems.append(wrong_kind("an object with the fields of the operator", form.fields, *form.fields_path))
            return UNREADABLE
        if form.fields_path:
            names = ("Type", "type", "Desc", "desc")
            problems.extend(unknown_members(names, raw, self.dialect, "an operator descriptor"))
        plan = self._plan(schema)
        tensors = [item.name for item in plan.fields if item.is_tensor]
        fields = {name: value for name, value in form.fields.items() if name not in tensors}
        found: list[Diagnostic] = [
            self.dialect.nested_tensor.of((name,), "belongs to a nested activation, whose tensors are absent")
            for name in tensors
            if form.fields.get(name) is not None
        ]
        values = self._read_fields(plan, fields, dict.fromkeys(tensors), form.extra, found)
        problems.extend(below(problem, *form.fields_path) for problem in found)
        return OperatorDesc(schema, values)


def _add_remedies(operator: OperatorDesc, problems: list[Diagnostic], dialect: Dialect) -> DescriptorReading:
    """Adds remedies, which need the rules of the checks; most models do not need to import these."""
    remediable = (codes.MISSING_FIELD, codes.FIELD_RANGE, codes.FIELD_KIND, codes.COUNT_MISMATCH)
    if not any(problem.code in remediable for problem in problems):
        return DescriptorReading(operator, tuple(problems))
    from dml2onnx.frontends.remedies import with_remedies

    return DescriptorReading(operator, with_remedies(operator, tuple(problems), infers=dialect.infers_sizes))


def _wrap_negative(raw: object, data_type: DataType) -> int | None:
    """Reinterprets a negative number as an unsigned member of the union."""
    if type(raw) is int and not data_type.is_signed and -(1 << (data_type.bits - 1)) <= raw < 0:
        return raw + (1 << data_type.bits)
    return None


def _problem_from(bad: Bad) -> Diagnostic:
    return bad.code.of((), bad.message, bad.expected, bad.found)


def _read_uint(raw: object, _: Json, problems: list[Diagnostic]) -> FieldValue:
    return raw if type(raw) is int and 0 <= raw < UINT32 else read_uint(raw, UINT32, problems)


def _read_int(raw: object, _: Json, problems: list[Diagnostic]) -> FieldValue:
    value = to_element(raw, _INT32, truncate=False)
    if isinstance(value, Bad):
        problems.append(_problem_from(value))
        return UNREADABLE
    return value


def _read_float(raw: object, _: Json, problems: list[Diagnostic]) -> FieldValue:
    value = to_double(raw)
    if isinstance(value, Bad):
        problems.append(replace(_problem_from(value), instead=parse_number(raw)))
        return UNREADABLE
    single = round_to_float32(value)
    if single - single != 0:  # infinity or NaN
        beyond = beyond_range(raw, single, DataType.FLOAT32)
        if beyond is not None:
            problems.append(_problem_from(beyond))
    return single


def _likely_length(lengths: list[int], values: list[FieldValue]) -> int:
    """The most common length of the arrays of one count; ties go to the length that fits the first tensor's rank."""
    if lengths.count(lengths[0]) == len(lengths):
        return lengths[0]
    times = {length: lengths.count(length) for length in lengths}
    likely = [length for length in times if times[length] == max(times.values())]
    rank = next((value.rank for value in values if isinstance(value, TensorDesc)), 0)
    return next((length for length in (rank, rank - 2) if length in likely), likely[0])


def _same_bits(one: Scalar, other: Scalar) -> bool:
    """Whether two scalars of one type have the same bits, where all NaN are equal."""
    dtype = one.data_type.dtype
    first, second = np.array([one.value], dtype), np.array([other.value], dtype)
    return first.tobytes() == second.tobytes() or (one.value != one.value and other.value != other.value)


def half_from_bits(bits: int) -> float:
    """Converts a FLOAT16 bit pattern to its value."""
    value: float = struct.unpack("<e", bits.to_bytes(2, "little"))[0]
    return value


UNION_BYTES = 8
"""The size in bytes of a ``DML_SCALAR_UNION``."""
UNION_MEMBERS = MappingProxyType(
    {
        data_type: "UInt16"
        if data_type is DataType.FLOAT16
        else data_type.name.replace("UINT", "UInt").replace("INT", "Int").replace("FLOAT", "Float")
        for data_type in DataType
        if not data_type.is_packed_nibbles
    }
)
