"""Tensor descriptors against numpy on flat memory."""

from __future__ import annotations

import json
import math
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from dml2onnx import catalog
from dml2onnx.ir.tensor import MAX_ELEMENTS, DataType, TensorDesc, extent, packed_strides
from tests.ir.strategies import packed

TABLES: dict[str, Any] = json.loads((catalog.schemas_directory() / "tensors.json").read_text(encoding="utf-8"))
EXAMPLES = TABLES["examples"]


@st.composite
def descriptors(draw: st.DrawFn) -> TensorDesc:
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=5).filter(lambda s: prod(s) <= 300)))
    strides = list(packed_strides(sizes))
    kind = draw(st.sampled_from(["packed", "permuted", "any", "interleaved"]))
    if kind == "permuted":
        strides = draw(packed(sizes))
    elif kind == "any":
        strides = draw(st.lists(st.integers(0, 12), min_size=len(sizes), max_size=len(sizes)))
    elif kind == "interleaved":
        strides = [stride * draw(st.integers(1, 3)) for stride in strides]
    return TensorDesc(draw(st.sampled_from(DataType)), sizes, tuple(strides))


def positions(desc: TensorDesc) -> np.ndarray:
    """Where in memory every element lies, found by looking through the view at memory that counts."""
    memory = np.arange(desc.extent)
    return as_strided(memory, desc.sizes, [stride * memory.itemsize for stride in desc.effective_strides])


@settings(max_examples=400, deadline=None)
@given(descriptors())
def test_properties_are_those_of_the_memory(desc: TensorDesc) -> None:
    places = positions(desc)
    touched, counts = np.unique(places, return_counts=True)
    in_order = bool((places.reshape(-1) == np.arange(places.size)).all())
    tiles = touched.size == places.size == desc.extent
    assert desc.rank == places.ndim
    assert desc.element_count == places.size
    assert desc.extent == places.max() + 1
    assert desc.is_packed == in_order
    assert desc.is_dense == tiles
    assert desc.is_overlapping == bool((counts > 1).any())
    assert desc.is_broadcast == any(
        size > 1 and (places.take(0, axis) == places.take(1, axis)).all() for axis, size in enumerate(desc.sizes)
    )


@settings(max_examples=200, deadline=None)
@given(descriptors())
def test_bytes_are_those_of_the_formula(desc: TensorDesc) -> None:
    bits = int(positions(desc).max() + 1) * desc.data_type.bits
    assert desc.minimum_bytes == 4 * math.ceil(math.ceil(bits / 8) / 4)
    assert desc.total_bytes == desc.minimum_bytes
    assert TensorDesc(desc.data_type, desc.sizes, desc.strides, total_size=10_000).total_bytes == 10_000


@settings(max_examples=200, deadline=None)
@given(descriptors())
def test_packed_strides_are_no_strides(desc: TensorDesc) -> None:
    assert (desc.strides is None) == (desc.effective_strides == packed_strides(desc.sizes))
    packed = desc.packed()
    assert packed.strides is None
    assert packed.is_packed
    assert packed.is_dense
    assert packed == TensorDesc(desc.data_type, desc.sizes, packed_strides(desc.sizes))
    assert hash(packed) == hash(TensorDesc(desc.data_type, desc.sizes, packed_strides(desc.sizes)))
    assert packed_strides(desc.sizes) == tuple(np.array(np.empty(desc.sizes, np.uint8).strides))
    assert packed.extent == extent(desc.sizes, packed.effective_strides) == prod(desc.sizes)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda item: item["what"])
def test_documentation_examples(example: dict[str, Any]) -> None:
    strides = example["strides"]
    data_type = DataType[example["data_type"]]
    desc = TensorDesc(data_type, tuple(example["sizes"]), None if strides is None else tuple(strides))
    assert desc.minimum_bytes == example["minimum_bytes"]
    if "buffer" in example:
        seen = np.array(example["buffer"])[positions(desc)]
        assert seen.tolist() == example["values"]


@pytest.mark.parametrize("row", TABLES["data_types"], ids=lambda row: row["data_type"])
def test_data_types_agree_with_the_catalogue(row: dict[str, Any]) -> None:
    data_type = DataType[row["data_type"]]
    assert data_type.bits == row["bits"]
    assert data_type.is_packed_nibbles == (row["bits"] == 4)
    if row["numpy"] is not None:
        assert data_type.dtype == np.dtype(row["numpy"])
        assert data_type.itemsize == row["bytes"] == data_type.dtype.itemsize
        assert data_type.is_float == (data_type.dtype.kind == "f")
        assert data_type.is_signed == (data_type.dtype.kind != "u")
    if not data_type.is_float:
        expected = (-(2 ** (row["bits"] - 1)), 2 ** (row["bits"] - 1) - 1)
        assert data_type.limits == (expected if data_type.is_signed else (0, 2 ** row["bits"] - 1))


def test_the_catalogue_names_every_data_type() -> None:
    assert [row["data_type"] for row in TABLES["data_types"]] == list(DataType.__members__)


@pytest.mark.parametrize(
    ("elements", "nbytes", "minimum"), [(1, 1, 4), (2, 1, 4), (5, 3, 4), (8, 4, 4), (9, 5, 8), (16, 8, 8)]
)
@pytest.mark.parametrize("name", ["UINT4", "INT4"])
def test_nibbles(name: str, elements: int, nbytes: int, minimum: int) -> None:
    data_type = DataType[name]
    assert data_type.bytes_for(elements) == nbytes
    assert TensorDesc(data_type, (elements,)).minimum_bytes == minimum
    assert TensorDesc(data_type, (2, elements), (elements + 1, 1)).extent == 2 * elements + 1
    assert data_type.dtype.itemsize == 1


def test_huge_descriptors_cost_nothing() -> None:
    desc = TensorDesc(DataType.FLOAT32, (65536, 65535), (65535, 1))
    assert desc.strides is None
    assert desc.element_count == MAX_ELEMENTS - 65535
    assert desc.minimum_bytes == 4 * 65536 * 65535
    padded = TensorDesc(DataType.UINT8, (1 << 16, 1 << 15), (1 << 16, 1))
    assert not padded.is_dense
    assert not padded.is_overlapping
    assert TensorDesc(DataType.UINT8, (1 << 13, 1 << 13), (3, 2)).is_overlapping


def test_descriptors_compare_by_what_they_say() -> None:
    desc = TensorDesc(DataType.FLOAT32, (2, 3))
    assert desc == TensorDesc(DataType.FLOAT32, (2, 3), (3, 1))
    for other in (
        TensorDesc(DataType.INT32, (2, 3)),
        TensorDesc(DataType.FLOAT32, (3, 2)),
        TensorDesc(DataType.FLOAT32, (2, 3), (1, 2)),
        TensorDesc(DataType.FLOAT32, (2, 3), owned_by_dml=True),
        TensorDesc(DataType.FLOAT32, (2, 3), total_size=64),
        TensorDesc(DataType.FLOAT32, (2, 3), alignment=16),
    ):
        assert desc != other


@pytest.mark.parametrize(
    ("desc", "text"),
    [
        (TensorDesc(DataType.FLOAT32, (2, 3)), "FLOAT32 [2, 3]"),
        (TensorDesc(DataType.UINT4, (2, 3), (1, 2)), "UINT4 [2, 3] strides [1, 2]"),
    ],
)
def test_text(desc: TensorDesc, text: str) -> None:
    assert str(desc) == text


def test_broken_descriptors_can_be_represented() -> None:
    """They are constructed; the checks report what is wrong with them."""
    assert TensorDesc(DataType.FLOAT32, ()).element_count == 1
    assert TensorDesc(DataType.FLOAT32, (0, 3)).element_count == 0
    assert TensorDesc(DataType.FLOAT32, (2, 3), (1,)).strides == (1,)
