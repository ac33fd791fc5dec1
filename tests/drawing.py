"""Random descriptors of every operator: well-formed, but their tensors need not match."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable

from dml2onnx import catalog
from dml2onnx.catalog import FieldSchema, FieldType, OperatorSchema
from dml2onnx.frontends.numbers import round_to_float32
from dml2onnx.ir.operator import FieldValue, OperatorDesc, Scalar, ScaleBias, Size2D
from dml2onnx.ir.tensor import DataType, TensorDesc

SINGLES = tuple(
    round_to_float32(value)
    for value in (0.0, -0.0, 1.0, -1.5, 0.1, math.pi, 1e10, -3e-5, 1e-45, 2.0**-126, 3.4028235e38, 2.0**24, 123456789.0)
)
SPECIALS = (math.inf, -math.inf, math.nan)
ACTIVATIONS = tuple(name for name in catalog.operator_names() if name.startswith("DML_OPERATOR_ACTIVATION_"))
SCALARS = tuple(item for item in DataType if not item.is_packed_nibbles)


class Draw:
    """Draws descriptors, reproducibly for each seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def operator(self, schema: OperatorSchema, optional: Callable[[], bool], *, nested: bool = False) -> OperatorDesc:
        """Draws a descriptor; ``optional`` returns for each optional field whether to include it."""
        counts = {field.count: self._random.randint(1, 6) for field in schema.fields if field.count is not None}
        types = {field.scalar_type: self._random.choice(SCALARS) for field in schema.fields if field.scalar_type}
        values: list[FieldValue] = []
        for field in schema.fields:
            if (nested and field.is_tensor) or (field.optional and not optional()):
                values.append(None)
            elif field.name in counts:
                values.append(counts[field.name])
            elif field.name in types:
                values.append(types[field.name].name)
            elif field.type is FieldType.SCALAR_UNION:
                assert field.scalar_type is not None
                values.append(self.scalar(types[field.scalar_type]))
            elif field.count is not None:
                values.append(self._several(field, counts[field.count]))
            else:
                values.append(self._one(field))
        return OperatorDesc(schema, tuple(values))

    def tensor(self) -> TensorDesc:
        pick = self._random
        rank = pick.randint(1, 8)
        sizes = tuple(self.uint() for _ in range(rank))
        strides = tuple(self.uint() for _ in range(rank)) if pick.random() < 0.5 else None
        total = pick.choice((4, pick.randint(1, 2**20), pick.randint(2**32, 2**63)))
        return TensorDesc(
            pick.choice(tuple(DataType)), sizes, strides, pick.random() < 0.5, total, pick.choice((0, 16, 2**31))
        )

    def coin(self) -> bool:
        return self._random.random() < 0.5

    def uint(self) -> int:
        return self._random.choice((0, 1, self._random.randint(2, 9), self._random.randint(10, 2**32 - 1), 2**32 - 1))

    def single(self) -> float:
        value: float = struct.unpack("<f", struct.pack("<I", self._random.getrandbits(32)))[0]
        return self._random.choice((*SINGLES, *SPECIALS, *(() if math.isnan(value) else (value,) * 10)))

    def scalar(self, data_type: DataType) -> Scalar:
        if data_type is DataType.FLOAT32:
            return Scalar(data_type, self.single())
        if data_type.is_float:
            layout, bits = ("<e", 16) if data_type is DataType.FLOAT16 else ("<d", 64)
            raw = self._random.getrandbits(bits).to_bytes(bits // 8, "little")
            value: float = struct.unpack(layout, raw)[0]
            return Scalar(data_type, -math.inf if math.isnan(value) else value)
        low, high = data_type.limits
        return Scalar(data_type, self._random.choice((low, high, self._random.randint(low, high))))

    def _several(self, field: FieldSchema, count: int) -> FieldValue:
        readers: dict[FieldType, Callable[[], object]] = {
            FieldType.TENSOR_ARRAY: self.tensor,
            FieldType.UINT_ARRAY: self.uint,
            FieldType.INT_ARRAY: self._int,
            FieldType.FLOAT_ARRAY: self.single,
            FieldType.OPERATOR_ARRAY: self._activation,
        }
        return tuple([readers[field.type]() for _ in range(count)])  # type: ignore[return-value]  # of one kind

    def _one(self, field: FieldSchema) -> FieldValue:
        if field.type is FieldType.ENUM:
            assert field.enum is not None
            values = catalog.enum_schema(field.enum).values.values()
            return self._random.choice([value.name for value in values if value.alias_of is None])
        drawn: dict[FieldType, Callable[[], FieldValue]] = {
            FieldType.TENSOR: self.tensor,
            FieldType.UINT: self.uint,
            FieldType.INT: self._int,
            FieldType.FLOAT: self.single,
            FieldType.BOOL: lambda: self._random.random() < 0.5,
            FieldType.SCALE_BIAS: lambda: ScaleBias(self.single(), self.single()),
            FieldType.SIZE_2D: lambda: Size2D(self.uint(), self.uint()),
            FieldType.OPERATOR: self._activation,
        }
        return drawn[field.type]()

    def _int(self) -> int:
        return self._random.choice((0, -1, -(2**31), 2**31 - 1, self._random.randint(-9, 9)))

    def _activation(self) -> OperatorDesc:
        schema = catalog.operator(self._random.choice(ACTIVATIONS))
        return self.operator(schema, lambda: True, nested=True)
