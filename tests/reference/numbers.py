"""Integers of every type, and operators on one or two tensors of numbers."""

from __future__ import annotations

from hypothesis import strategies as st

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import operator_results
from dml2onnx.testing.descriptors import describe

INTEGERS = [t for t in DataType if not t.is_float and t.bits >= 8]


def integers(data_type):
    low, high = data_type.limits
    return st.one_of(st.integers(low, high), st.sampled_from([low, high, 0, 1]))


def wrapped(value, data_type):
    low = data_type.limits[0]
    return (value - low) % 2**data_type.bits + low


def binary(name, a, b, **values):
    op = describe(name, ATensor=a, BTensor=b, OutputTensor=a, **values)
    return operator_results(op, {"ATensor": a, "BTensor": b})["OutputTensor"][0]


def unary(name, x, **values):
    return operator_results(describe(name, InputTensor=x, OutputTensor=x, **values), {"InputTensor": x})[
        "OutputTensor"
    ][0]
