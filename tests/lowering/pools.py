"""Descriptors of pools."""

import numpy as np

from dml2onnx import catalog
from dml2onnx.ir.tensor import DataType
from tests.lowering.harness import check_case, operator, random_memory, t

DATA_TYPES = tuple(n for n, d in DataType.__members__.items() if d.bits > 4 and n != "FLOAT64")


def spelt_out(window, strides, dilations, start, end):
    """Returns strides, dilations and paddings with defaults filled in."""
    ones, zeros = (1,) * len(window), (0,) * len(window)
    return strides or ones, dilations or ones, start or zeros, end or zeros


def windows_of(sizes, window, strides, dilations, start, end, *, ceil):
    """Returns the sizes of an output with an element for each window; ``ceil`` rounds them up."""
    found = list(sizes[:2])
    for size, k, s, d, a, b in zip(sizes[2:], window, strides, dilations, start, end, strict=True):
        rest = size + a + b - ((k - 1) * d + 1)
        assert rest >= 0 or (ceil and rest + s > 0)
        found.append((-(-rest // s) if ceil else rest // s) + 1)
    return found


def pool(
    name,
    sizes,
    window,
    *,
    strides=None,
    start=None,
    end=None,
    dilations=None,
    ceil=False,
    data_type="FLOAT32",
    indices=None,
    include=None,
    p=None,
):
    """A descriptor; ``ceil`` rounds output sizes up, ``indices`` is a data type."""
    strides, dilations, start, end = spelt_out(window, strides, dilations, start, end)
    output = windows_of(sizes, window, strides, dilations, start, end, ceil=ceil)
    fields = {
        "InputTensor": t(data_type, sizes),
        "OutputTensor": t(data_type, output),
        "Strides": tuple(strides),
        "WindowSize": tuple(window),
        "StartPadding": tuple(start),
        "EndPadding": tuple(end),
    }
    if any(field.name == "Dilations" for field in catalog.operator(name).fields):
        fields["Dilations"] = tuple(dilations)
    else:
        assert set(dilations) == {1}
    if indices:
        fields["OutputIndicesTensor"] = t(indices, output)
    if include is not None:
        fields["IncludePadding"] = include
    if p is not None:
        fields["P"] = p
    return operator(name, **fields)


def maximum(sizes, window, **options):
    return pool("MAX_POOLING2", sizes, window, **options)


def mean(sizes, window, *, include, **options):
    return pool("AVERAGE_POOLING1", sizes, window, include=include, **options)


def norm(sizes, window, *, p, **options):
    return pool("LP_POOLING1", sizes, window, p=p, **options)


def check_extremes(op, *, seed=0, **options):
    """Checks an operator on inputs with extremes of the type."""
    x = random_memory(op.tensor("InputTensor"), np.random.default_rng(seed), extremes=True)
    return check_case(op, inputs={"InputTensor": x}, **options)
