#!/usr/bin/env python3
"""Write and check ``tests/data/forms.txt``: the ONNX operators of every DirectML operator, on every target.

    scripts/generate_forms.py            write it
    scripts/generate_forms.py --check    fail when it differs from what would be written

A change of a lowering, a legalisation or a quirk shows in the difference which models become longer, shorter or other.
The tests compare numbers; they do not see that a short form is no longer chosen.

Each paragraph is a descriptor. Its first line has the form of the target ``onnx``, each further line another form and
the targets or options that have it. ``Mul*3`` are three nodes, ``+ 2`` is the number of initializers.
"""

from __future__ import annotations

import itertools
import sys
from random import Random
from typing import TYPE_CHECKING, Any

from _generated import ROOT, write_or_check

from dml2onnx.compiler import compile_outputs
from dml2onnx.diagnostics import DmlError
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.options import CompileOptions
from dml2onnx.targets import NAMES
from dml2onnx.test_cases import valid
from dml2onnx.test_cases.descriptors import plain, unary
from dml2onnx.test_cases.descriptors import sized as t
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.test_cases.variations import findings, of_each_layout, of_each_type

if TYPE_CHECKING:
    from collections.abc import Iterator

TARGET = ROOT / "tests" / "data" / "forms.txt"
GENERATOR = "scripts/generate_forms.py"
OPTIONS: dict[str, dict[str, Any]] = {
    **{name: {"target": name} for name in NAMES},
    "exact": {"exact": True, "target": "cpu"},
    "opset 17": {"opset": 17, "target": "cpu"},
    "portable opset 17": {"opset": 17, "target": "portable"},
    "opset 19": {"opset": 19, "target": "cpu"},
    "opset 25": {"opset": 25, "target": "cpu"},
    "-O0": {"optimize": 0},
    "-O2": {"optimize": 2},
    "qdq": {"quant_format": "qdq", "target": "cpu"},
}
ROIS = {"InputTensor": t(1, 1, 4, 4), "ROITensor": t(2, 4), "BatchIndicesTensor": t(2, type="UINT32")}
SPECIAL = [
    *(plain("SPLIT", InputTensor=t(2, parts), OutputTensors=(t(2, 1),) * parts, Axis=1) for parts in (7, 8)),
    *(
        plain(
            "CONVOLUTION", InputTensor=t(1, 6, 4, 5), FilterTensor=t(6, 4, 2, 3), OutputTensor=t(1, 12, *sizes),
            Direction="BACKWARD", Strides=(2, 2), Dilations=dilations, OutputPadding=padding, GroupCount=3,
        )
        for dilations, padding, sizes in (
            ((1, 1), (0, 1), (8, 12)), ((1, 1), (0, 2), (8, 13)), ((2, 3), (0, 0), (9, 15)), ((1, 3), (0, 2), (8, 17)),
        )
    ),
    *(
        plain(
            "ROI_ALIGN1", **ROIS, OutputTensor=t(2, 1, 2, 2), ReductionFunction="AVERAGE", InterpolationMode="LINEAR",
            SpatialScaleX=1.0, SpatialScaleY=1.0, InputPixelOffset=0.5, OutputPixelOffset=-0.5,
            OutOfBoundsInputValue=0.0, MinimumSamplesPerOutput=least, MaximumSamplesPerOutput=most,
            AlignRegionsToCorners=False,
        )
        for least, most in ((1, 2), (1, 1), (2, 8), (1, 100))
    ),
    *(
        plain("ELEMENT_WISE_BIT_XOR", ATensor=t(*sizes, type="UINT32"), BTensor=t(*sizes, type="UINT32"),
              OutputTensor=t(*sizes, type="UINT32"))
        for sizes in ((3,), (3, 1), (2, 3, 1), (2, 3))
    ),
    *(
        plain("ELEMENT_WISE_MAX", ATensor=t(*sizes, type="INT32"), BTensor=t(*sizes, type="INT32"),
              OutputTensor=t(*sizes, type="INT32"))
        for sizes in ((2, 1, 2, 1, 2), (2, 1, 2, 1, 2, 2))
    ),
    *(unary(name, t(size)) for name in ("ELEMENT_WISE_ATANH", "ACTIVATION_SOFTPLUS") for size in (4095, 4096)),
    *(unary("ELEMENT_WISE_CONSTANT_POW", t(2, 3), Exponent=exponent) for exponent in (-1.0, 0.0, 0.5, 1.0, 2.0, 3.0)),
    *(
        plain("AVERAGE_POOLING1", InputTensor=t(1, 1, 5, 6), OutputTensor=t(1, 1, *sizes), WindowSize=(2, 2),
              StartPadding=start, EndPadding=(0, 0), Dilations=dilations)
        for start, dilations, sizes in (((0, 0), (1, 1), (4, 5)), ((1, 0), (1, 1), (5, 5)), ((1, 1), (2, 1), (4, 6)))
    ),
]  # fmt: skip
"""Descriptors for forms that no variation of the valid ones has: bounds of quirks, groups, exponents, samples."""
LIMITS = [
    *(
        plain("PADDING", InputTensor=t(2, 3), OutputTensor=t(2, 3 + start + end), PaddingMode=mode, PaddingValue=0.0,
              StartPadding=(0, start), EndPadding=(0, end))
        for mode in ("EDGE", "REFLECTION", "SYMMETRIC", "WRAP") for start, end in ((2, 2), (0, 3), (3, 3), (4, 1))
        if mode != "REFLECTION" or max(start, end) < 3
    ),
    *(
        plain("GATHER", InputTensor=t(*sizes), IndicesTensor=t(*(1,) * (len(sizes) - 1), count, type="UINT32"),
              OutputTensor=t(*sizes[:axis], count, *sizes[axis + 1:]), Axis=axis, IndexDimensions=1)
        for sizes, axis, count in (
            ((2, 9), 1, 127), ((2, 9), 1, 128), ((1, 9), 1, 256), ((2, 9, 2), 1, 128), ((128, 128), 1, 128),
            ((128, 128), 1, 127), ((256, 128), 1, 64), ((256, 129), 1, 64), ((2, 8192), 1, 8192),
            ((1, 16384), 1, 16384),
        )
    ),
    *(
        plain("REDUCE", Function=function, InputTensor=t(*sizes), OutputTensor=t(1, *sizes[1:]), Axes=(0,))
        for function, several in (
            ("MAX", ((8, 2048), (14, 2048), (16, 1023), (16, 1024), (262, 64))),
            ("MULTIPLY", ((7, 2341), (8, 2048), (9, 2048))),
            ("AVERAGE", ((4096, 16), (4096, 15), (4097, 16))),
            ("SUM", ((1024, 16), (1023, 16))),
        )
        for sizes in several
    ),
    plain("REDUCE", Function="MAX", InputTensor=t(16, 1024, type="INT64"), OutputTensor=t(1, 1024, type="INT64"),
          Axes=(0,)),
]  # fmt: skip
"""Sizes at the limits of rules, which other data types and layouts have in common."""
MOST_TYPES = 4
"""Variants of a descriptor in other data types."""
MOST_LAYOUTS = 2
"""Variants of an operator's first descriptor in other layouts."""


def descriptors(own: list[OperatorDesc]) -> Iterator[OperatorDesc]:
    """An operator's valid descriptors, each in some data types and layouts."""
    for op in own:
        others = sorted(filter(is_right, {*of_each_type(op)} - {op}), key=str)
        yield from (op, *others[:: max(1, len(others) // MOST_TYPES)][:MOST_TYPES])
    yield from itertools.islice(filter(is_right, of_each_layout(own[0], Random(1))), MOST_LAYOUTS)


def is_right(op: OperatorDesc) -> bool:
    return not any(item.is_error for item in findings(op))


def title(op: OperatorDesc) -> str:
    """A descriptor in a line, its tensors as ``FLOAT32 [2, 3]``."""
    fields = [f"{item.name}={shown(value)}" for item, value in op.items() if value is not None]
    return f"{op.type}: {', '.join(fields)}"


def shown(value: object) -> str:
    if isinstance(value, OperatorDesc):
        return f"({title(value)})"
    return f"({', '.join(map(shown, value))})" if isinstance(value, tuple) else str(value)


def form(op: OperatorDesc, options: CompileOptions) -> str:
    """The operators of a model in order, or the code of the diagnostic if there is no model."""
    graph = single_node(op)
    try:
        model = compile_outputs(graph, graph.outputs, options)
    except DmlError as error:
        return str(error.diagnostics[0].code)
    names = [(name, len([*same])) for name, same in itertools.groupby(node.op_type for node in model.lowered.nodes)]
    listed = " ".join(f"{name}*{count}" if count > 1 else name for name, count in names)
    return f"{listed or 'nothing'} + {len(model.lowered.initializers)}"


def content() -> str:
    options = {name: CompileOptions.of(**keywords) for name, keywords in OPTIONS.items()}
    lines = [f"{GENERATOR} wrote this file."]
    varied = (descriptors(own) for own in (*valid.descriptors().values(), *([op] for op in SPECIAL)))
    for several in (*varied, LIMITS):
        for op in dict.fromkeys(several):
            forms: dict[str, list[str]] = {}
            for name, how in options.items():
                forms.setdefault(form(op, how), []).append(name)
            usual, *others = forms
            lines += ["", title(op), f"    {usual}", *(f"    {made}: {', '.join(forms[made])}" for made in others)]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(write_or_check(__doc__, lambda: {TARGET: content()}))
