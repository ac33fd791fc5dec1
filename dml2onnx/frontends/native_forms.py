"""Reads the parts of native nodes that do not depend on their values, once for all equal nodes."""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from dml2onnx.catalog import FieldKind, FieldType, OperatorSchema
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.ir.operator import UNREADABLE, OperatorDesc
from dml2onnx.ir.tensor import TensorDesc

if TYPE_CHECKING:
    from dml2onnx.frontends.descriptors import DescriptorReader, SuppliedFields
    from dml2onnx.frontends.members import Json

INFER = "infer"
"""The placeholder for sizes to infer; they may also be left out."""


class Tensors(NamedTuple):
    """A valid tensor field."""

    field: str
    is_output: bool
    is_stated: bool
    descs: tuple[TensorDesc, ...]


class ReadForm(NamedTuple):
    """An operator with the descriptors that are inherited from the values it reads."""

    operator: OperatorDesc
    problems: tuple[Diagnostic, ...]
    tensors: tuple[Tensors, ...]


class NativeForm:
    """The operator of a node, its ``desc``, and its connected fields."""

    __slots__ = (
        "_cache",
        "_read",
        "fields",
        "has_only_own_fields",
        "inputs",
        "is_complete",
        "outputs",
        "schema",
        "undescribed",
    )

    def __init__(
        self,
        descriptors: DescriptorReader,
        schema: OperatorSchema,
        fields: Json,
        inputs: Iterable[str],
        outputs: Iterable[str],
        *,
        is_too_deep: bool = False,
    ) -> None:
        single = _single_tensors(schema)
        self._read = descriptors.operator if is_too_deep else descriptors.read
        self._cache: dict[object, ReadForm] = {}
        self.schema = schema
        self.fields = fields
        self.has_only_own_fields = schema.index.keys() >= {*fields, *inputs, *outputs}
        """Whether the operator has all named fields."""
        self.inputs = {name: fields.get(name) is not None for name in inputs if single.get(name) is False}
        """The connected inputs of a single tensor, and whether ``desc`` has their descriptor."""
        self.outputs: Mapping[str, TensorDesc | None] = {
            name: _described(fields.get(name), descriptors) for name in outputs if single.get(name) is True
        }
        """The connected outputs of a single tensor, with the descriptor in ``desc``."""
        self.undescribed = tuple([name for name in _required_inputs(schema) if fields.get(name) is None])
        """The required inputs without a descriptor."""
        self.is_complete = all(_has_sizes(fields.get(name)) for name, is_output in single.items() if is_output)
        """Whether all outputs of a single tensor have sizes, so that nothing needs to be inferred."""

    def read_with(self, stated: SuppliedFields) -> ReadForm:
        """Reads the operator with the inherited fields ``stated``."""
        key = tuple(stated.items())
        known = self._cache.get(key)
        if known is None:
            operator, problems = self._read(self.schema, self.fields, stated)
            known = self._cache[key] = ReadForm(operator, problems, _tensors(operator))
        return known


class Forms:
    """Caches the forms of one model."""

    def __init__(self, descriptors: DescriptorReader) -> None:
        self._descriptors = descriptors
        self._known: dict[object, NativeForm] = {}

    def of(self, schema: OperatorSchema, fields: Json, inputs: object, outputs: object) -> NativeForm:
        """Returns the form of a node with these fields and connections."""
        reads = tuple(inputs) if type(inputs) is dict else ()
        writes = tuple(outputs) if type(outputs) is dict else ()
        try:
            key = (schema, marshal.dumps(fields, 2), reads, writes)
        except ValueError:  # nested too deep, which is reported when the operator is read
            return NativeForm(self._descriptors, schema, fields, reads, writes, is_too_deep=True)
        form = self._known.get(key)
        if form is None:
            form = self._known[key] = NativeForm(self._descriptors, schema, fields, reads, writes)
        return form


def _has_sizes(raw: object) -> bool:
    return type(raw) is dict and ("Desc" in raw or type(raw.get("Sizes")) is list)


def _described(raw: object, descriptors: DescriptorReader) -> TensorDesc | None:
    found = descriptors.tensor(raw, {}, [])
    return found if isinstance(found, TensorDesc) else None


def _tensors(operator: OperatorDesc) -> tuple[Tensors, ...]:
    tensors = []
    for name, position, is_output in _positions(operator.schema):
        value = operator.values[position]
        if isinstance(value, TensorDesc):
            tensors.append(Tensors(name, is_output, True, (value,)))
        elif value is not UNREADABLE:
            tensors.append(Tensors(name, is_output, value is not None, operator.tensors(name)))
    return tuple(tensors)


@cache
def _positions(schema: OperatorSchema) -> tuple[tuple[str, int, bool], ...]:
    """The tensor fields: name, position among all fields, and whether it is an output."""
    fields = schema.tensor_fields
    return tuple((item.name, schema.index[item.name], item.kind is FieldKind.OUTPUT_TENSOR) for item in fields)


@cache
def _single_tensors(schema: OperatorSchema) -> Mapping[str, bool]:
    """The fields of a single tensor, and whether each is an output."""
    single = [field for field in schema.tensor_fields if field.type is FieldType.TENSOR]
    return {field.name: field.kind is FieldKind.OUTPUT_TENSOR for field in single}


@cache
def _required_inputs(schema: OperatorSchema) -> tuple[str, ...]:
    return tuple(field.name for field in schema.input_fields if not field.optional)


@cache
def needs_desc(schema: OperatorSchema) -> bool:
    """Whether an operator has required fields that only ``desc`` can state."""
    counts = {item.count for item in schema.fields}
    return any(not item.optional and item.name not in counts for item in schema.attribute_fields) or any(
        item.type is FieldType.TENSOR_ARRAY for item in schema.output_fields
    )
