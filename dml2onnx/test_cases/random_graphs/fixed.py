"""Nodes of a few valid descriptors in any layout: integer products, quantisation, gradients, Lp and others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from dml2onnx.ir.graph import Read
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.test_cases.descriptors import operator
from dml2onnx.test_cases.random_graphs.draft import GraphDraft, View
from dml2onnx.test_cases.valid import descriptors

INDICES = {"MAX_UNPOOLING": "IndicesTensor", "SCATTER_ND": "IndicesTensor"}
"""Inputs that contain indices; 0 and 1 are always valid."""


def fixed(g: GraphDraft, name: str) -> None:
    """A node of a valid descriptor with inputs and outputs in any layout."""
    op = g.draw(st.sampled_from(descriptors()[f"DML_OPERATOR_{name}"]))
    fields: dict[str, Any] = {item.name: value for item, value in op.items() if value is not None}
    reads: dict[str, tuple[Read, ...]] = {}
    for item in op.schema.input_fields:
        if op.has(item.name):
            found = [source(g, name, item.name, desc) for desc in op.tensors(item.name)]
            descs = tuple(desc for desc, _ in found)
            fields[item.name] = descs[0] if isinstance(fields[item.name], TensorDesc) else descs
            reads[item.name] = tuple(read for _, read in found)
    outputs: dict[str, tuple[TensorDesc, ...]] = {}
    for item in op.schema.output_fields:
        if op.has(item.name):
            desc = op.tensor(item.name)
            if not desc.data_type.is_packed_nibbles:
                desc = g.layout(desc.data_type, desc.sizes, output=True)
            fields[item.name], outputs[item.name] = desc, (desc,)
    g.add_node(operator(name, **fields), reads, outputs)


def source(g: GraphDraft, name: str, field: str, desc: TensorDesc) -> View:
    """A tensor with suitable contents for a field."""
    if INDICES.get(name) == field:
        return g.integers(desc.data_type, desc.sizes, 0, 1)
    if desc.data_type.is_packed_nibbles:
        rng = np.random.default_rng(g.draw(st.integers(0, 9)))
        return desc, g.constant(rng.integers(0, 256, desc.minimum_bytes, np.uint8))
    if "Scale" in field or (field == "QuantizationTensors" and desc.data_type.is_float):
        return scales(g, desc)
    return g.view(desc.data_type, desc.sizes)


def scales(g: GraphDraft, desc: TensorDesc) -> View:
    """Powers of 2, which scale without rounding."""
    packed = desc.packed()
    choices = g.draw(st.lists(st.sampled_from([0.25, 0.5, 1, 2]), min_size=1, max_size=3))
    return packed, g.constant(np.resize(np.array(choices, packed.data_type.dtype), packed.element_count))


FAMILIES: dict[tuple[str, ...], Callable[[GraphDraft, str], None]] = {
    (
        "CONVOLUTION_INTEGER",
        "MATRIX_MULTIPLY_INTEGER",
        "MATRIX_MULTIPLY_INTEGER_TO_FLOAT",
        "QUANTIZED_LINEAR_AVERAGE_POOLING",
        "QUANTIZED_LINEAR_CONVOLUTION",
        "QUANTIZED_LINEAR_MATRIX_MULTIPLY",
    ): fixed,
    (
        "DEQUANTIZE",
        "DYNAMIC_QUANTIZE_LINEAR",
        "ELEMENT_WISE_DEQUANTIZE_LINEAR",
        "ELEMENT_WISE_QUANTIZED_LINEAR_ADD",
        "ELEMENT_WISE_QUANTIZE_LINEAR",
        "QUANTIZE",
    ): fixed,
    (
        "AVERAGE_POOLING_GRAD",
        "BATCH_NORMALIZATION_GRAD",
        "BATCH_NORMALIZATION_TRAINING",
        "BATCH_NORMALIZATION_TRAINING_GRAD",
        "ELEMENT_WISE_CLIP_GRAD1",
        "LOCAL_RESPONSE_NORMALIZATION_GRAD",
        "MAX_POOLING_GRAD",
        "RESAMPLE_GRAD",
        "RESAMPLE_GRAD1",
        "SLICE_GRAD",
    ): fixed,
    ("LP_NORMALIZATION", "LP_POOLING", "LP_POOLING1", "MAX_UNPOOLING", "RANDOM_GENERATOR", "SCATTER_ND"): fixed,
    (
        "ELEMENT_WISE_BIT_COUNT",
        "ELEMENT_WISE_IF",
        "ELEMENT_WISE_IS_INFINITY",
        "ELEMENT_WISE_IS_NAN",
        "ELEMENT_WISE_LOGICAL_EQUALS",
        "ELEMENT_WISE_LOGICAL_GREATER_THAN",
        "ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL",
        "ELEMENT_WISE_LOGICAL_LESS_THAN",
        "ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL",
        "ELEMENT_WISE_ROUND",
    ): fixed,
}
