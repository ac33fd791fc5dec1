"""``--suggest`` proposes operators of the level that compute the same as the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from dml2onnx.catalog import FeatureLevel
from dml2onnx.checks import check
from dml2onnx.checks.alternatives import alternative, nodes_above_level, nodes_at_the_top_level
from dml2onnx.ir.graph import Graph
from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import disagreements, evaluate_results
from tests.checks.build import CONVOLUTION, graph, node, one, op, t, unary, value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.ir.operator import OperatorDesc
    from dml2onnx.reference import Result

X = t(1, 1, 4, 4)
WIDE = t(2, 3, strides=(1, 2))
SHORT = t(3)
GEMM: dict[str, Any] = {"ATensor": X, "BTensor": X, "OutputTensor": X, "Alpha": 1.0, "Beta": 0.0}
POOL: dict[str, Any] = {"InputTensor": X, "OutputTensor": t(1, 1, 2, 2), "WindowSize": (2, 2), "Strides": (2, 2)}

MEAN: dict[str, Any] = {"InputTensor": t(2, 3, 4, 5), "OutputTensor": t(2, 3, 4, 5), "Epsilon": 0.1}
LARGER: dict[str, Any] = {
    "InputTensor": X,
    "OutputTensor": t(1, 1, 12, 8),
    "Scales": (1.0, 1.0, 3.0, 2.0),
    "InputPixelOffsets": (0.5,) * 4,
    "OutputPixelOffsets": (-0.5,) * 4,
}
DEPTH: dict[str, Any] = {"InputTensor": t(1, 8, 2, 3), "OutputTensor": t(1, 2, 4, 6), "BlockSize": 2}

CASES: dict[str, list[tuple[str, OperatorDesc]]] = {
    "1_0": [
        (
            "MEAN_VARIANCE_NORMALIZATION",
            op("MEAN_VARIANCE_NORMALIZATION1", **MEAN, Axes=(2, 3), NormalizeVariance=True),
        ),
        (
            "MEAN_VARIANCE_NORMALIZATION",
            op("MEAN_VARIANCE_NORMALIZATION2", **MEAN, Axes=(2, 3), UseMean=True, UseVariance=True),
        ),
        ("DEPTH_TO_SPACE", op("DEPTH_TO_SPACE1", **DEPTH, Order="DEPTH_COLUMN_ROW")),
        (
            "SPACE_TO_DEPTH",
            op(
                "SPACE_TO_DEPTH1",
                InputTensor=t(1, 2, 4, 6),
                OutputTensor=t(1, 8, 2, 3),
                BlockSize=2,
                Order="DEPTH_COLUMN_ROW",
            ),
        ),
        ("UPSAMPLE_2D", op("RESAMPLE1", **LARGER, InterpolationMode="NEAREST_NEIGHBOR")),
        ("UPSAMPLE_2D", op("RESAMPLE1", **LARGER, InterpolationMode="LINEAR")),
        (
            "UPSAMPLE_2D",
            op("RESAMPLE3", **LARGER, InterpolationMode="LINEAR", RoundingDirection="INCREASING", Antialiased=False),
        ),
        ("MAX_POOLING", op("MAX_POOLING2", **POOL, Dilations=(1, 1))),
        ("ELEMENT_WISE_ABS of 4 dimensions", unary("ELEMENT_WISE_ABS", SHORT)),
        ("ACTIVATION_RELU of 4 dimensions", unary("ACTIVATION_RELU", WIDE)),
        (
            "ELEMENT_WISE_ADD of 4 dimensions",
            op("ELEMENT_WISE_ADD", ATensor=WIDE, BTensor=t(2, 3, strides=(0, 1)), OutputTensor=t(2, 3)),
        ),
        (
            "SLICE of 4 dimensions",
            op("SLICE", InputTensor=t(5), OutputTensor=t(2), Offsets=(1,), Sizes=(2,), Strides=(2,)),
        ),
        ("JOIN of 4 dimensions", op("JOIN", InputTensors=(t(2, 3), t(1, 3)), OutputTensor=t(3, 3), Axis=0)),
        ("SPLIT of 4 dimensions", op("SPLIT", InputTensor=t(3, 3), OutputTensors=(t(2, 3), t(1, 3)), Axis=0)),
        ("TILE of 4 dimensions", op("TILE", InputTensor=t(2, 3), OutputTensor=t(4, 3), Repeats=(2, 1))),
        ("REDUCE of 4 dimensions", op("REDUCE", Function="SUM", InputTensor=t(2, 3), OutputTensor=t(2, 1), Axes=(1,))),
        (
            "PADDING of 4 dimensions",
            op(
                "PADDING",
                InputTensor=t(2, 3),
                OutputTensor=t(3, 5),
                PaddingMode="EDGE",
                StartPadding=(1, 0),
                EndPadding=(0, 2),
            ),
        ),
    ],
    "2_0": [
        (
            "MEAN_VARIANCE_NORMALIZATION",
            op("MEAN_VARIANCE_NORMALIZATION1", **MEAN, Axes=(3, 1, 2), NormalizeVariance=False),
        ),
        ("RESAMPLE", op("RESAMPLE1", **LARGER, InterpolationMode="NEAREST_NEIGHBOR")),
        (
            "ELEMENT_WISE_ADD of 4 dimensions, then ACTIVATION_SHRINK of 4 dimensions",
            op(
                "ELEMENT_WISE_ADD1",
                ATensor=SHORT,
                BTensor=SHORT,
                OutputTensor=SHORT,
                FusedActivation=op("ACTIVATION_SHRINK", Bias=0.5, Threshold=0.25),
            ),
        ),
    ],
    "6_2": [
        (
            "MEAN_VARIANCE_NORMALIZATION1",
            op("MEAN_VARIANCE_NORMALIZATION2", **MEAN, Axes=(0, 2, 3), UseMean=True, UseVariance=True),
        ),
    ],
    "5_0": [
        (
            "CONVOLUTION, then ELEMENT_WISE_CLIP",
            op("CONVOLUTION", **CONVOLUTION, FusedActivation=op("ELEMENT_WISE_CLIP", Min=0.0, Max=6.0)),
        ),
    ],
    "6_0": [
        ("GEMM, then ACTIVATION_SOFTMAX1", op("GEMM", **GEMM, FusedActivation=op("ACTIVATION_SOFTMAX1", Axes=(3,)))),
    ],
}
"""The alternative in words and the descriptor, by the level."""
ROWS = [(level, instead, desc) for level, rows in CASES.items() for instead, desc in rows]


def chained(steps: Sequence[OperatorDesc]) -> Graph:
    """A chain of nodes, of which the first reads the graph inputs."""
    first = one(steps[0])
    if len(steps) == 1:
        return first
    nodes, outputs = list(first.nodes), [(item.value, item.desc) for item in first.outputs]
    for number, step in enumerate(steps[1:], 1):
        desc = step.tensor("OutputTensor")
        result = value(f"result{number}", desc)
        nodes.append(node(step, {"InputTensor": [outputs[0][0]]}, {"OutputTensor": [result]}, f"step{number}"))
        outputs = [(result, desc)]
    return graph(nodes, [item.value for item in first.inputs], outputs)


def results(model: Graph) -> list[Result]:
    """The outputs for random inputs that depend on their order only."""
    random = np.random.default_rng(0)
    inputs = {item.name: random.normal(size=item.value.nbytes // 4).astype(np.float32) for item in model.inputs}
    return list(evaluate_results(model, inputs).values())


@pytest.mark.parametrize(("level", "instead", "desc"), ROWS, ids=[instead for _, instead, _ in ROWS])
def test_alternatives_compute_the_same(level: str, instead: str, desc: OperatorDesc) -> None:
    (above,) = nodes_above_level(one(desc), FeatureLevel(level))
    assert above.instead == instead
    model = chained(above.steps)
    assert check(one(desc), level) != []
    assert check(model, level) == []
    for want, got in zip(results(one(desc)), results(model), strict=True):
        values = got.values.reshape(want.values.shape)
        assert not disagreements(values, want, DataType.FLOAT32).any()
        if instead.partition(", then ")[2] in ("", "ELEMENT_WISE_CLIP"):  # the others see a rounded sum
            assert values.tobytes() == want.values.tobytes()


@pytest.mark.parametrize(
    ("name", "kind", "level"), [("TILE", "INT8", "1_0"), ("TILE", "UINT16", "2_0"), ("DEPTH_TO_SPACE", "INT16", "1_0")]
)
def test_narrow_integers_are_moved_as_floats(name: str, kind: str, level: str) -> None:
    more: dict[str, Any] = {"Repeats": (1, 1, 1, 2)} if name == "TILE" else {"BlockSize": 1}
    sizes = (1, 1, 2, 4) if name == "TILE" else (1, 1, 2, 2)
    desc = op(name, InputTensor=t(1, 1, 2, 2, type=kind), OutputTensor=t(*sizes, type=kind), **more)
    (item,) = nodes_above_level(one(desc), FeatureLevel(level))
    assert item.instead == f"CAST to FLOAT32, then {name}, then CAST to {kind}"
    assert check(chained(item.steps), level) == []
    contents = np.arange(4, dtype=kind.lower()) - np.array(1, kind.lower())
    (want,), (got,) = (
        list(evaluate_results(model, {model.inputs[0].name: contents}).values())
        for model in (one(desc), chained(item.steps))
    )
    assert got.values.reshape(want.values.shape).tobytes() == want.values.tobytes()


def test_nodes_that_need_the_highest_level() -> None:
    x, y = value("x", X), value("y", X)
    newer = op("ACTIVATION_SOFTMAX1", InputTensor=X, OutputTensor=X, Axes=(3,))
    nodes = [
        node(unary("ACTIVATION_RELU", X), {"InputTensor": [x]}, {"OutputTensor": [y]}, "old"),
        node(newer, {"InputTensor": [y]}, {"OutputTensor": [value("z", X)]}, "new"),
    ]
    (above,) = nodes_at_the_top_level(graph(nodes, [x], [(y, X)]))
    assert (above.node, above.needs.name) == ("new", "5_1")
    assert list(nodes_at_the_top_level(one(unary("ACTIVATION_RELU", X)))) == []


def test_the_reason_is_the_first_error() -> None:
    """Of two about the number of dimensions."""
    steps: dict[str, Any] = dict.fromkeys(("InputWindowOffsets", "InputWindowSizes", "InputWindowStrides"), (1, 1))
    model = one(op("SLICE1", InputTensor=t(2, 3), OutputTensor=t(1, 1), **steps))
    for (above,) in (nodes_above_level(model, FeatureLevel("2_1")), nodes_at_the_top_level(model)):
        assert above.reason == "DimensionCount 2 needs feature level 3_0; the target is 2_1, which has 4 to 5."


def test_no_alternative_that_rounds_or_has_another_meaning() -> None:
    half = t(1, 1, 4, 4, type="FLOAT16")
    fused = op("ELEMENT_WISE_CLIP", Min=0.0, Max=6.0)
    desc = op("GEMM", ATensor=half, BTensor=half, OutputTensor=half, Alpha=1.0, Beta=0.0, FusedActivation=fused)
    assert alternative(desc, FeatureLevel("5_0")) == ()
    assert alternative(unary("ACTIVATION_HARDMAX", t(2, 3)), FeatureLevel("1_0")) == ()
    dilated = op("MAX_POOLING2", **{**POOL, "OutputTensor": t(1, 1, 1, 1)}, Dilations=(2, 2))
    assert alternative(dilated, FeatureLevel("1_0")) == ()
