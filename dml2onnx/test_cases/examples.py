"""The examples of the documentation, as descriptors and arrays."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from dml2onnx import catalog
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.onnx_model import Array
from dml2onnx.test_cases.descriptors import plain

Arrays = Mapping[str, Array | list[Array]]
"""The array of each field, or a list for an array of tensors."""

CORRECTIONS: Mapping[tuple[str, int], Mapping[str, Any]] = MappingProxyType(
    {
        ("DIAGONAL_MATRIX1", 0): {"attributes": {"Value": 1}},
        ("FILL_VALUE_SEQUENCE", 1): {"attributes": {"ValueDelta": 254}},
        ("GATHER", 2): {"attributes": {"IndexDimensions": 1}},
        ("GATHER_ELEMENTS", 0): {"outputs": {"OutputTensor": {"data_type": "FLOAT32"}}},
        ("SCATTER", 0): {},  # the later update of a duplicate index is printed
        ("SCATTER", 1): {"inputs": {"InputTensor": {"sizes": [3, 3]}}},
        ("SCATTER_ND", 0): {
            "inputs": {
                "InputTensor": {"sizes": [1, 8]},
                "IndicesTensor": {"data_type": "UINT32"},
                "UpdatesTensor": {"sizes": [1, 4]},
            },
            "outputs": {"OutputTensor": {"sizes": [1, 8]}},
        },
    }
)
"""Corrections of examples that contradict their own page; the catalogue explains each contradiction."""


class DocumentedExample(NamedTuple):
    """An example of an operator in its documentation."""

    operator: OperatorDesc
    """Attributes that the page omits are neutral."""
    printed_inputs: Mapping[str, Any]
    """In the form of the catalogue."""
    printed_outputs: Mapping[str, Any]
    suspect: bool
    """Whether the catalogue says that the page contradicts itself."""
    corrected: bool
    """Whether ``CORRECTIONS`` has an entry."""
    complete: bool
    """Whether it has outputs, and no tensors other than those of the operator."""

    @property
    def inputs(self) -> Arrays:
        """Raises :class:`ValueError` if a misprint has the wrong number of values."""
        return _arrays(self.printed_inputs)

    @property
    def outputs(self) -> Arrays:
        """Raises :class:`ValueError` like :attr:`inputs`."""
        return _arrays(self.printed_outputs)


@cache
def examples(name: str, *, as_printed: bool = False) -> tuple[DocumentedExample, ...]:
    """The examples of an operator, in the page's order; ``as_printed`` skips corrections."""
    schema = catalog.operator(name)
    found = []
    for number, printed in enumerate(schema.examples()):
        correction = None if as_printed else CORRECTIONS.get((schema.short_name, number))
        raw = _corrected(printed, correction or {})
        tensors = {**raw.get("inputs", {}), **raw.get("outputs", {})}
        attributes = {**raw.get("assumed_attributes", {}), **raw.get("attributes", {})}
        fields: dict[str, Any] = {key: _described(value) for key, value in tensors.items() if value is not None}
        fields.update((key, value) for key, value in attributes.items() if value is not None)
        known = {key: value for key, value in fields.items() if key in schema.index}
        found.append(
            DocumentedExample(
                plain(name, **known),
                raw.get("inputs", {}),
                raw.get("outputs", {}),
                "suspect" in printed,
                correction is not None,
                bool(raw.get("outputs")) and tensors.keys() <= schema.index.keys(),
            )
        )
    return tuple(found)


def _corrected(printed: Any, correction: Any) -> Any:
    if not isinstance(printed, dict):
        return correction
    return {**printed, **{key: _corrected(printed.get(key), value) for key, value in correction.items()}}


def _described(raw: Any) -> Any:
    if isinstance(raw, list):
        return [_described(item) for item in raw]
    strides = raw.get("strides")
    return TensorDesc(DataType[raw["data_type"]], tuple(raw["sizes"]), None if strides is None else tuple(strides))


def _arrays(tensors: Mapping[str, Any]) -> Arrays:
    def array(raw: Any) -> Array:
        return np.array(raw["values"], DataType[raw["data_type"]].dtype).reshape(raw["sizes"])

    return {
        name: [array(item) for item in raw] if isinstance(raw, list) else array(raw)
        for name, raw in tensors.items()
        if raw is not None
    }
