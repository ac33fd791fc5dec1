"""The cost of small files in function calls, bytes of memory, findings and elements, not in seconds.

Graphs and programs with many nodes; ``test_costs.py`` has single operators.
"""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx import DmlError
from dml2onnx.cli import main, run
from dml2onnx.codes.checking import OVERLAPPING_WRITES
from dml2onnx.diagnostics import Severity
from dml2onnx.emitter.windows import Window
from dml2onnx.ir import collisions
from dml2onnx.ir.data import FillData
from dml2onnx.ir.graph import Constant, Graph, Read, Value
from dml2onnx.legalise.windows import PoolWindows
from dml2onnx.reference import require_computable
from dml2onnx.reference.cost import LARGEST_NODE
from dml2onnx.test_cases.single_node import single_node
from tests.costly import calls
from tests.frontends.models import f32, load_model, one_node
from tests.lowering.harness import operator, t


def node(kind: str, name: str, desc: dict[str, Any], inputs: Any, outputs: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "desc": desc, "inputs": inputs, "outputs": outputs}


def native(inputs: dict[str, Any], nodes: list[dict[str, Any]], outputs: list[str]) -> dict[str, Any]:
    return {"dml2onnx": 1, "inputs": inputs, "nodes": nodes, "outputs": outputs}


# --- Graphs that grow -------------------------------------------------------------------------------------------------


def check_and_compile(path: Path, most: int) -> None:
    """Checks and compiles a file with at most this many findings."""
    graph = dml2onnx.load(path)
    found = dml2onnx.check(graph)
    assert len(found) <= most
    if not any(item.severity is Severity.ERROR for item in found):
        dml2onnx.compile(graph)


def equal_nodes(count: int) -> dict[str, Any]:
    desc = {"InputTensor": f32(4), "OutputTensor": f32(4)}
    nodes = [
        node("ACTIVATION_RELU", f"n{i}", desc, {"InputTensor": "x"}, {"OutputTensor": f"y{i}"}) for i in range(count)
    ]
    return native({"x": f32(4)}, nodes, [f"y{i}" for i in range(count)])


def nodes_of_one_name(count: int) -> dict[str, Any]:
    desc = {"InputTensor": f32(4), "OutputTensor": f32(4)}
    one = node("ACTIVATION_RELU", "n", desc, {"InputTensor": "x"}, {"OutputTensor": "y"})
    return native({"x": f32(4)}, [one] * count, ["y"])


def one_value_joined(count: int) -> dict[str, Any]:
    desc = {"InputTensors": [f32(1)] * count, "OutputTensor": f32(count), "Axis": 0}
    return one_node("JOIN", desc, f32(1), inputs={"InputTensors": ["x"] * count})


def pieces(count: int) -> dict[str, Any]:
    desc = {"InputTensor": f32(count), "OutputTensors": [f32(1)] * count, "Axis": 0}
    names = [f"y{i}" for i in range(count)]
    return native({"x": f32(count)}, [node("SPLIT", "n", desc, {"InputTensor": "x"}, {"OutputTensors": names})], names)


def pieces_of_one_name(count: int) -> dict[str, Any]:
    desc = {"InputTensor": f32(count), "OutputTensors": [f32(1)] * count, "Axis": 0}
    return one_node("SPLIT", desc, f32(count), outputs={"OutputTensors": ["y"] * count})


def resource(count: int) -> dict[str, Any]:
    return {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": count, "value": 1}}


def dispatch(name: str, **bindings: Any) -> dict[str, Any]:
    return {"type": "dispatch", "dispatchable": name, "bindings": bindings}


def part(name: str, offset: int, count: int) -> dict[str, Any]:
    return {"name": name, "elementOffset": offset, "elementCount": count, "elementSizeInBytes": 4}


def overlapping_pieces(count: int, step: int = 4) -> dict[str, Any]:
    """Each shares bytes with nearly all others."""
    desc = {"InputTensor": f32(count * 64), "OutputTensors": [f32(64)] * count, "Axis": 0}
    places = [part("y", step * index, 64) for index in range(count)]
    return {
        "resources": {"x": resource(count * 64), "y": resource(count * step + 64)},
        "dispatchables": {"s": {"type": "DML_OPERATOR_SPLIT", "desc": desc}},
        "commands": [dispatch("s", InputTensor="x", OutputTensors=places), {"type": "print", "resource": "y"}],
    }


def separate_pieces(count: int) -> dict[str, Any]:
    return overlapping_pieces(count, 64)


def parts_of_one_buffer(count: int) -> dict[str, Any]:
    relu = {"type": "DML_OPERATOR_ACTIVATION_RELU", "desc": {"InputTensor": f32(64), "OutputTensor": f32(64)}}
    return {
        "resources": {"x": resource(64), "y": resource(4 * count + 64)},
        "dispatchables": {"r": relu},
        "commands": [dispatch("r", InputTensor="x", OutputTensor=[part("y", 4 * i, 64)]) for i in range(count)],
    }


SCALED: list[Callable[[int], dict[str, Any]]] = [
    equal_nodes, nodes_of_one_name, one_value_joined, pieces, pieces_of_one_name, overlapping_pieces,
    separate_pieces, parts_of_one_buffer,
]  # fmt: skip


@pytest.mark.parametrize("make", SCALED, ids=lambda make: make.__name__)
def test_checking_and_compiling_take_linear_time(make: Callable[[int], dict[str, Any]], tmp_path: Path) -> None:
    """A file four times as large takes at most five times as many calls; so nothing is done for each pair."""
    counted = []
    for count in (50, 150, 600):
        path = tmp_path / f"{count}.json"
        path.write_text(json.dumps(make(count)), encoding="utf-8")
        counted.append(calls(partial(check_and_compile, path, 4 * count + 10)))
    assert counted[2] <= 5 * counted[1]


def test_each_overlapping_output_is_named_once(tmp_path: Path) -> None:
    findings = dml2onnx.check(load_model(tmp_path, overlapping_pieces(100)))
    found = [item.pointer for item in findings if item.code == OVERLAPPING_WRITES.id]
    assert len(found) == len(set(found)) == 99


# --- Views ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(30))
def test_views_are_judged_in_bounded_memory(seed: int) -> None:
    random = np.random.default_rng(seed)
    rank = int(random.integers(3, 9))
    sizes = [int(random.choice([2, 3, 5, 7, 13, 29, 61, 127, 251, 509, 1009])) for _ in range(rank)]
    strides = [int(2 ** random.uniform(0, 29)) for _ in range(rank)]
    collisions.collides([2, 2], [3, 2])  # for lazy imports
    tracemalloc.start()
    try:
        collisions.collides(sizes, strides)
        assert tracemalloc.get_traced_memory()[1] < 24 << 20
    finally:
        tracemalloc.stop()


# --- Windows ----------------------------------------------------------------------------------------------------------


def test_elements_inside_windows_are_counted_by_arithmetic() -> None:
    random = np.random.default_rng(0)
    for _ in range(300):
        shape, stride, dilation, start, size, output = (int(n) for n in random.integers(1, 8, 6))
        pool = PoolWindows(Window((shape,), (stride,), (dilation,), (start,), (0,)), (size,), (output,))
        places = pool.places(0)
        assert pool.inside().tolist() == ((places >= 0) & (places < size)).sum(1).tolist()


def refusal(graph: Graph, *, exact: bool = False) -> tuple[str, int]:
    """Compiles, and returns the code of the refusal or ``""``, and the peak of allocated bytes."""
    code = ""
    tracemalloc.start()
    try:
        dml2onnx.compile(graph, exact=exact)
    except DmlError as error:
        (item,) = error.diagnostics
        code = item.code
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return code, peak


def pooling(kind: str, window: int) -> Graph:
    """Pooling of one element in windows that are nearly all padding."""
    return single_node(
        operator(
            kind,
            InputTensor=t("FLOAT32", (1, 1, 1, 1)),
            OutputTensor=t("FLOAT32", (1, 1, 2, 2)),
            DimensionCount=2,
            Strides=(1, 1),
            WindowSize=(window, window),
            StartPadding=(window // 2, window // 2),
            EndPadding=(window // 2, window // 2),
            **({"P": 2} if kind == "LP_POOLING" else {}),
        )
    )


@pytest.mark.parametrize("window", [1 << 14, 1 << 20, 1 << 28, 1 << 30])
@pytest.mark.parametrize("kind", ["LP_POOLING", "MAX_POOLING"])
@pytest.mark.parametrize("exact", [False, True])
def test_windows_of_padding_cost_no_more_than_tensors(kind: str, window: int, exact: bool) -> None:
    """A model within a MiB or an early finding; the reference refuses to read each element."""
    graph = pooling(kind, window)
    dml2onnx.compile(pooling(kind, 8), exact=exact)  # for one-time costs
    code, peak = refusal(graph, exact=exact)
    assert code in ("", "DML2007")
    assert peak < 1 << 21
    with pytest.raises(DmlError, match="DML3015"):
        require_computable(graph, graph.outputs)


@pytest.mark.parametrize("window", [1 << 14, 1 << 30])
@pytest.mark.parametrize("end", [0, 1])
def test_overhanging_windows_of_gradients_cost_no_more_than_tensors(window: int, end: int) -> None:
    """The gradient is shared among the elements of a window in the padded input."""
    op = operator(
        "AVERAGE_POOLING_GRAD",
        InputGradientTensor=t("FLOAT32", (1, 1, 1, 2)),
        OutputGradientTensor=t("FLOAT32", (1, 1, 1, 2)),
        Strides=(1, window),
        WindowSize=(1, window),
        StartPadding=(0, window - 1),
        EndPadding=(0, end),
        IncludePadding=True,
    )
    code, peak = refusal(single_node(op))
    assert code in ("", "DML2007")
    assert peak < 1 << 21


# --- Constants of a few numbers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("data_type", ["UINT8", "FLOAT16", "FLOAT32", "INT64"])
def test_repeated_elements_count_as_the_widest_type(data_type: str, tmp_path: Path) -> None:
    """With eight overlapping dimensions, a hundred numbers can be a tensor of any size; casts widen narrow types."""
    for size, wanted in ((4, ""), (10, "DML2007")):
        sizes = [size] * 8
        seen = {"DataType": data_type, "Sizes": sizes, "Strides": [1] * 8}
        desc = {"InputTensor": seen, "OutputTensor": {"DataType": "FLOAT32", "Sizes": sizes}}
        constant = {"DataType": data_type, "Sizes": [100], "values": [*range(100)]}
        model = {**one_node("CAST", desc, {}, inputs={"InputTensor": "c"}), "inputs": {}, "constants": {"c": constant}}
        code, peak = refusal(load_model(tmp_path, model))
        assert code == wanted
        assert peak < 1 << 24


@pytest.mark.parametrize(("count", "wanted"), [(1 << 10, ""), (1 << 25, ""), ((1 << 25) + 1, "DML2007")])
def test_sequences_do_not_count_as_bytes_of_the_model(count: int, wanted: str, tmp_path: Path) -> None:
    """Three numbers define them, so they are limited, and do not raise the limit of other constants."""
    x = {"DataType": "FLOAT32", "Sizes": [count], "Flags": "DML_TENSOR_FLAG_OWNED_BY_DML"}
    resources = {"x": resource(count), "y": resource(count)}
    resources["x"]["initialValues"] = {"valueStart": 0, "valueDelta": 1, "valueCount": count}
    relu = {"type": "DML_OPERATOR_ACTIVATION_RELU", "desc": {"InputTensor": x, "OutputTensor": f32(count)}}
    program = {
        "resources": resources,
        "dispatchables": {"r": relu},
        "commands": [dispatch("r", InputTensor="x", OutputTensor="y")],
    }
    assert refusal(load_model(tmp_path, program))[0] == wanted


@pytest.mark.parametrize(("size", "window"), [(60010, 60000), (8191, 4096), (60010, 100)])
def test_long_windows_become_few_nodes(size: int, window: int) -> None:
    """Not one for each element."""
    blocks = size - window + 1
    fields = {"WindowSizes": (1, window), "Strides": (1, 1), "Dilations": (1, 1)}
    padding = {"StartPadding": (0, 0), "EndPadding": (0, 0)}
    x, y = t("FLOAT32", (1, 1, 1, size)), t("FLOAT32", (1, window, blocks))
    graph = single_node(operator("UNFOLD", InputTensor=x, OutputTensor=y, **fields, **padding))
    assert len(dml2onnx.compile(graph).model_proto.graph.node) < 40


# --- Fills ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nbytes", [1 << 28, 1 << 34, 1 << 42])
def test_filled_constants_count_in_full(nbytes: int) -> None:
    """Even if only one element is read."""
    graph = single_node(operator("ACTIVATION_RELU", InputTensor=t("FLOAT32", (1,)), OutputTensor=t("FLOAT32", (1,))))
    (made,) = graph.nodes
    value = Value("w", nbytes)
    changed = replace(made, reads={"InputTensor": (Read(value),)})
    filled = Graph((changed,), (), graph.outputs, (Constant(value, FillData(b"\0\0\x80?", nbytes)),))
    for compute in (lambda: require_computable(filled, filled.outputs), lambda: dml2onnx.verify(filled, rounds=1)):
        with pytest.raises(DmlError) as caught:
            compute()
        (item,) = caught.value.diagnostics
        assert (item.code, item.expected) == ("DML3015", f"at most {LARGEST_NODE}")


@pytest.mark.parametrize("verbose", [False, True])
def test_a_run_prints_a_limited_number_of_elements(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, verbose: bool
) -> None:
    monkeypatch.setattr(run, "MOST_PRINTED", 10)
    desc = {"InputTensor": f32(4), "OutputTensor": f32(4)}
    show = {"type": "print", "resource": "y", "verbose": verbose}
    program = {
        "resources": {"x": resource(4), "y": resource(4)},
        "dispatchables": {"r": {"type": "DML_OPERATOR_ACTIVATION_RELU", "desc": desc}},
        "commands": [dispatch("r", InputTensor="x", OutputTensor="y"), *[show] * 4],
    }
    path = tmp_path / "model.json"
    path.write_text(json.dumps(program), encoding="utf-8")
    assert main(["run", str(path)]) == 0
    output = capsys.readouterr().out
    assert output.count("... and 2 more elements") == 1
    assert output.count("... and 4 more elements") == 1
    assert main(["run", str(path), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)["printed"]
    assert [(len(item["values"]), item.get("left_out", 0)) for item in printed] == [(4, 0), (4, 0), (2, 2), (0, 4)]
