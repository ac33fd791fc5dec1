"""Convolutions and pooling whose output is larger or smaller than the formula.

DirectML computes as many windows as the output has, over an input with unlimited padding on all sides;
``probes.jsonl`` has some of its results (decisions C9, P3 and P10). These tests run many more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

import dml2onnx
from dml2onnx.catalog import LATEST
from dml2onnx.checks.operators import findings_of
from dml2onnx.diagnostics import DmlError
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.test_cases.directml_trials import compare
from dml2onnx.test_cases.single_node import single_node
from tests.directml.live import installed, needs_directml
from tests.lowering.harness import check_case, operator, t

KINDS = [
    "CONVOLUTION", "CONVOLUTION BACKWARD", "CONVOLUTION_INTEGER", "QUANTIZED_LINEAR_CONVOLUTION",
    "MAX_POOLING", "MAX_POOLING1", "MAX_POOLING2", "AVERAGE_POOLING", "AVERAGE_POOLING1", "LP_POOLING", "LP_POOLING1",
    "QUANTIZED_LINEAR_AVERAGE_POOLING",
]  # fmt: skip

POOLING = [kind for kind in KINDS if "POOLING" in kind]


def over_all(kind: str, seed: int) -> OperatorDesc:
    """A random descriptor whose window covers its input, without padding."""
    op = drawn(kind, seed)
    spatial = op.tensor("InputTensor").sizes[2:]
    none = (0,) * len(spatial)
    changes: dict[str, Any] = {"WindowSize": spatial, "StartPadding": none, "EndPadding": none}
    for name, value in (("Dilations", (1,) * len(spatial)), ("OutputIndicesTensor", None)):
        if op.has(name):
            changes[name] = value
    return OperatorDesc(op.schema, tuple(changes.get(item.name, value) for item, value in op.items()))


@pytest.mark.parametrize("kind", POOLING)
def test_a_window_over_the_whole_input_has_one_position(kind: str) -> None:
    """DirectML accepts other outputs, but its results match no window, so these are not compiled."""
    odd = 0
    for seed in range(24):
        op = over_all(kind, seed)
        if set(op.tensor("OutputTensor").sizes[2:]) == {1}:
            assert not findings_of(op, LATEST)
            continue
        odd += 1
        assert [item.compiled for item in findings_of(op, LATEST) if item.path.startswith("OutputTensor")] == [False]
        with pytest.raises(DmlError) as caught:
            dml2onnx.compile(single_node(op))
        assert {item.code for item in caught.value.diagnostics} == {"DML2010"}
    assert odd > 8


@dataclass
class Geometry:
    """Random sizes of two or three dimensions, and an output that differs from the formula."""

    random: Random
    rank: int
    size: tuple[int, ...] = field(init=False)
    window: tuple[int, ...] = field(init=False)
    strides: tuple[int, ...] = field(init=False)
    dilations: tuple[int, ...] = field(init=False)
    start: tuple[int, ...] = field(init=False)
    end: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        for name, low, high in (
            ("size", 1, 7), ("window", 1, 4), ("strides", 1, 3), ("dilations", 1, 2), ("start", 0, 4), ("end", 0, 2)
        ):  # fmt: skip
            setattr(self, name, tuple(self.random.randint(low, high) for _ in range(self.rank)))

    def output(self, *, dilated: bool = True, backward: bool = False) -> tuple[int, ...]:
        """The size of the formula, or a few elements more or less."""
        dilations = self.dilations if dilated else (1,) * self.rank
        axes = zip(self.size, self.window, self.strides, dilations, self.start, self.end, strict=True)
        natural = [
            (n - 1) * s + (k - 1) * d + 1 - a - b if backward else (n + a + b - (k - 1) * d - 1) // s + 1
            for n, k, s, d, a, b in axes
        ]
        return tuple(max(1, n + self.random.choice([-3, -2, -1, 0, 1, 2, 3, 6])) for n in natural)


def drawn(kind: str, seed: int) -> OperatorDesc:
    random = Random(f"{kind} {seed}")
    is_integer = "INTEGER" in kind or "QUANTIZED" in kind
    g = Geometry(random, 2 if is_integer else random.choice([2, 2, 3]))
    batch, channels, groups = random.randint(1, 2), random.randint(1, 3), 1
    fields: dict[str, Any] = {
        "DimensionCount": g.rank, "Strides": g.strides, "StartPadding": g.start, "EndPadding": g.end
    }  # fmt: skip
    data_type = "UINT8" if is_integer else random.choice(["FLOAT32", "FLOAT32", "FLOAT16"])
    fields["InputTensor"] = t(data_type, (batch, channels, *g.size))
    scale, zero = t("FLOAT32", (1, 1, 1, 1)), t("UINT8", (1, 1, 1, 1))
    if kind.startswith("QUANTIZED"):
        fields |= {"InputScaleTensor": scale, "OutputScaleTensor": scale, "OutputZeroPointTensor": zero}
    if is_integer:
        fields["InputZeroPointTensor"] = zero if random.random() < 0.7 else None
    if "CONVOLUTION" in kind:
        is_backward = kind.endswith("BACKWARD")
        if not is_integer:
            groups = random.choice([1, channels])
        each = random.randint(1, 2)
        counts = (channels, each) if is_backward else (each * groups, channels // groups)
        after = each * groups
        output = g.output(backward=is_backward)
        fields |= {"Dilations": g.dilations, "GroupCount": groups}
        fields["FilterTensor"] = t("INT8" if is_integer else data_type, (*counts, *g.window))
        if is_integer:
            fields["FilterZeroPointTensor"] = None
            if kind.startswith("QUANTIZED"):
                fields |= {"FilterScaleTensor": scale, "BiasTensor": None}
        else:
            bias = t(data_type, (1, after, *(1,) * g.rank)) if random.random() < 0.5 else None
            fields |= {"BiasTensor": bias, "Mode": "CROSS_CORRELATION", "FusedActivation": None}
            fields["Direction"] = "BACKWARD" if is_backward else "FORWARD"
            fields["OutputPadding"] = (0,) * g.rank
    else:
        is_dilated = kind in ("MAX_POOLING2", "AVERAGE_POOLING1", "LP_POOLING1", "QUANTIZED_LINEAR_AVERAGE_POOLING")
        after, output = channels, g.output(dilated=is_dilated)
        fields["WindowSize"] = g.window
        if is_dilated:
            fields["Dilations"] = g.dilations
        if "AVERAGE" in kind:
            fields["IncludePadding"] = random.random() < 0.5
        if kind.startswith("LP"):
            fields["P"] = random.choice([1, 2, 3])
        if kind in ("MAX_POOLING1", "MAX_POOLING2"):
            fields["OutputIndicesTensor"] = t("UINT32", (batch, after, *output)) if random.random() < 0.5 else None
    written = "INT32" if kind == "CONVOLUTION_INTEGER" else data_type
    fields["OutputTensor"] = t(written, (batch, after, *output))
    return operator(kind.partition(" ")[0], **fields)


@pytest.mark.parametrize("kind", KINDS)
def test_compiled_models_match_the_reference(kind: str) -> None:
    odd = 0
    for seed in range(24):
        op = drawn(kind, seed)
        found = findings_of(op, LATEST)
        assert all(item.accepted and item.compiled for item in found), (op, found)
        odd += bool(found)
        exact = seed % 2 == 1  # other models leave NaN and infinities open
        check_case(op, opset=(17, 18, 19, 21, 23)[seed % 5], seed=seed, exact=exact, extremes=seed % 4 == 1)
    assert odd > (0 if kind.endswith("BACKWARD") else 15)


@needs_directml
@pytest.mark.parametrize("kind", KINDS)
def test_compiled_models_match_directml(kind: str, is_exhaustive: bool) -> None:
    for answer in compare([drawn(kind, seed) for seed in range(100, 160 if is_exhaustive else 130)], 0, installed()):
        assert answer.problem == "", answer.op
        assert answer.outcome.dispatched == 0
