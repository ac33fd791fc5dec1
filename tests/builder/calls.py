"""Calls methods of the builder with the values of descriptors."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from dml2onnx.builder import Activation, Expression, GraphBuilder
from dml2onnx.catalog import FieldKind, FieldType
from dml2onnx.frontends.numbers import round_to_float32
from dml2onnx.ir.operator import FieldValue, OperatorDesc, Scalar
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.rules.inference import inferable

SCRIPTS = Path(__file__).parent.parent.parent / "scripts"


def _script(name: str) -> ModuleType:
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


signatures = _script("_builder_signatures")
generator = _script("generate_builder")


def builder_for(desc: OperatorDesc) -> GraphBuilder:
    """A builder whose policy has the strides of the descriptor's outputs."""
    layouts = {
        (tensor.data_type, tensor.sizes): tensor.strides
        for field in desc.schema.output_fields
        for tensor in desc.tensors(field.name)
    }
    return GraphBuilder(policy=lambda data_type, sizes: layouts.get((data_type, sizes)))


def arguments(g: GraphBuilder, desc: OperatorDesc, stated: bool) -> dict[str, Any]:
    """Keyword arguments for the operator's method; ``stated`` includes optional ones of outputs."""
    schema = desc.schema
    parameters = inspect.signature(getattr(g, generator.method_name(schema))).parameters
    counts = {field.count for field in schema.fields}
    result: dict[str, Any] = {}
    for field in schema.input_fields:
        inputs = tuple(_input(g, f"{field.name}{i}", item) for i, item in enumerate(desc.tensors(field.name)))
        is_array = field.type is FieldType.TENSOR_ARRAY
        value: Any = list(inputs) if is_array else next(iter(inputs), None)
        result[signatures.parameter_name(schema.short_name, field.name)] = value
    for field in schema.attribute_fields:
        if field.name not in counts:
            value = python_value(desc.get(field.name))
            # the documentation has numbers for some flags
            value = bool(value) if field.type is FieldType.BOOL else value
            result[signatures.parameter_name(schema.short_name, field.name)] = value
    for field in schema.output_fields:
        stem = signatures.snake(field.name.removesuffix("Tensors").removesuffix("Tensor"))
        tensors = desc.tensors(field.name)
        values: dict[str, Any] = {}
        if field.type is FieldType.TENSOR_ARRAY:
            values[f"{stem}_sizes"] = [item.sizes for item in tensors]
        elif tensors:
            values[f"{stem}_sizes"] = tensors[0].sizes
            type_name = signatures.parameter_name(schema.short_name, f"{stem}_data_type")
            values[type_name] = tensors[0].data_type
        for name, value in values.items():
            # a default other than None is a value, and does not mean inference
            is_required = field.name not in inferable(schema).sizes and name.endswith("_sizes")
            if name in parameters and (stated or is_required or parameters[name].default is not None):
                result[name] = value
        if field.optional:
            result[stem] = bool(tensors)
    return result


def _input(g: GraphBuilder, name: str, tensor: TensorDesc) -> Expression:
    return g.input(
        name,
        tensor.data_type,
        tensor.sizes,
        tensor.strides,
        owned_by_dml=tensor.owned_by_dml,
        total_size=tensor.total_size,
        alignment=tensor.alignment,
    )


def python_value(value: Any) -> Any:
    """The argument for the value of a field."""
    if isinstance(value, OperatorDesc):
        fields = {field.name: python_value(item) for field, item in value.items() if item is not None}
        return Activation(value.type, **fields)
    if isinstance(value, Scalar):
        return value.value
    if isinstance(value, tuple):
        return [python_value(item) for item in value]
    return value


def as_read(desc: OperatorDesc) -> OperatorDesc:
    """The descriptor that a builder records: with FLOAT32 numbers and outputs of minimal size."""
    values: list[FieldValue] = []
    for field, value in desc.items():
        if field.kind is FieldKind.OUTPUT_TENSOR and value is not None:
            outputs = tuple(TensorDesc(item.data_type, item.sizes, item.strides) for item in desc.tensors(field.name))
            values.append(outputs if field.type is FieldType.TENSOR_ARRAY else outputs[0])
        elif field.type is FieldType.FLOAT_ARRAY and isinstance(value, tuple):
            values.append(tuple(round_to_float32(float(item)) for item in desc.floats(field.name)))
        elif isinstance(value, float):
            values.append(round_to_float32(value))
        else:
            values.append(value)
    return OperatorDesc(desc.schema, tuple(values))


def call(g: GraphBuilder, desc: OperatorDesc, stated: bool = True) -> Any:
    return getattr(g, generator.method_name(desc.schema))(**arguments(g, desc, stated))


def results(returned: Any) -> tuple[Expression, ...]:
    """The expressions in the result of a method."""
    items = returned if isinstance(returned, tuple) else (returned,)
    return tuple(item for item in items if item is not None)


def recorded(g: GraphBuilder, returned: Any) -> OperatorDesc:
    """The descriptor of the last operator."""
    return g.build(results(returned)).nodes[-1].operator
