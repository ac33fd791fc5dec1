"""``compile``: options, refusals, and the properties of the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import onnx
import pytest

import dml2onnx
from dml2onnx.codes import compiling
from dml2onnx.compiler import CompiledModel, compile, require_clean
from dml2onnx.diagnostics import Code, Diagnostic, DmlError, Severity
from dml2onnx.emitter import Emitter
from dml2onnx.ir.data import ArrayData, FillData
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference import evaluate, interpreter
from dml2onnx.targets import DEFAULT_OPSET, OPSETS
from dml2onnx.test_cases.runnable import RUNNABLE_OPSETS
from tests.emitter.test_budget import padded
from tests.lowering.harness import make_case, operator, operators, t
from tests.refusals import refusal, refused

FOUR = t("FLOAT32", [4])
RELU = operator("ACTIVATION_RELU", InputTensor=FOUR, OutputTensor=FOUR)
ADD = operator("ELEMENT_WISE_ADD", ATensor=FOUR, BTensor=FOUR, OutputTensor=FOUR)
X = np.array([-2, -1, 1, 2], np.float32)


def node(name: str, op: OperatorDesc, target: Value, **sources: Value) -> Node:
    reads = {field: (Read(value),) for field, value in sources.items()}
    return Node(name, op, reads, {"OutputTensor": (Write(target),)}, f"/nodes/{name}/desc")


def sample() -> Graph:
    """``y = relu(x + w)``, and ``h = x + w`` among the results."""
    x, w, h, y = (Value(name, 16) for name in "xwhy")
    return Graph(
        (node("add", ADD, h, ATensor=x, BTensor=w), node("relu", RELU, y, InputTensor=h)),
        (GraphInput("x", x),),
        (GraphOutput("y", y, FOUR),),
        (Constant(w, ArrayData.of(np.array([1, 1, 1, 1], np.float32))),),
        results=(GraphOutput("h", h, FOUR), GraphOutput("y", y, FOUR)),
        name="sample",
        format="native",
    )


# --- Outputs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "made"),
    [
        (None, ["Add", "Relu"]),
        (["y"], ["Add", "Relu"]),
        (["h"], ["Add"]),
        (["h", "y"], ["Add", "Relu"]),
        (["y", "h"], ["Add", "Relu"]),
    ],
)
def test_selected_outputs(wanted: list[str] | None, made: list[str]) -> None:
    model = compile(sample(), outputs=wanted)
    assert [port.name for port in model.outputs] == (wanted or ["y"])
    assert operators(model) == made
    got = model.run({"x": X})
    want = {"h": X + 1, "y": np.maximum(X + 1, 0)}
    for name, array in got.items():
        np.testing.assert_array_equal(array, want[name])


def test_unknown_outputs_are_all_named() -> None:
    with pytest.raises(DmlError) as caught:
        compile(sample(), outputs=["z", "y", "H"])
    found = [(item.code, item.found, item.expected) for item in caught.value.diagnostics]
    assert found == [("DML2005", "z", "h, y"), ("DML2005", "H", "h, y")]


# --- Opsets and targets -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("opset", OPSETS)
def test_every_opset(opset: int) -> None:
    model = compile(sample(), opset=opset)
    (entry,) = model.model_proto.opset_import
    assert (entry.domain, entry.version) == ("", opset)
    onnx.checker.check_model(model.model_proto, full_check=True)
    if opset in RUNNABLE_OPSETS:
        np.testing.assert_array_equal(model.run({"x": X})["y"], [0, 0, 2, 3])


@pytest.mark.parametrize("opset", [0, 16, 29, -1, 100])
def test_other_opsets_are_refused(opset: int) -> None:
    item = refusal(compile, sample(), opset=opset)
    assert (item.code, item.found, item.expected) == ("DML2003", str(opset), "17 to 28")


def test_opset_21_is_the_default() -> None:
    assert compile(sample()).opset == DEFAULT_OPSET == 21


ABSOLUTE = operator("ELEMENT_WISE_ABS", InputTensor=t("INT64", [2]), OutputTensor=t("INT64", [2]))
BITS = operator("ELEMENT_WISE_BIT_COUNT", InputTensor=t("FLOAT32", [2]), OutputTensor=t("UINT32", [2]))
ODD = operator(
    "MAX_POOLING",
    InputTensor=t("FLOAT32", [1, 1, 8, 8]),
    OutputTensor=t("FLOAT32", [1, 1, 3, 4]),
    Strides=(0, 2),
    WindowSize=(2, 2),
    StartPadding=(0, 0),
    EndPadding=(0, 0),
)
FAR = operator(
    "PADDING",
    InputTensor=t("FLOAT32", [1, 1, 1, 4]),
    OutputTensor=t("FLOAT32", [1, 1, 1, 5]),
    PaddingMode="CONSTANT",
    PaddingValue=-1e9,
    StartPadding=(0, 0, 0, 1),
    EndPadding=(0, 0, 0, 0),
)
REASONS: dict[Code, Callable[[], CompiledModel]] = {
    compiling.UNKNOWN_OPSET: lambda: compile(sample(), opset=16),
    compiling.ILLEGAL_IR_VERSION: lambda: compile(sample(), ir_version=7),
    compiling.UNKNOWN_OUTPUT: lambda: compile(sample(), outputs=["z"]),
    compiling.UNKNOWN_TARGET: lambda: compile(sample(), target="cuda"),
    compiling.TOO_MANY_CONSTANTS: lambda: compile(padded("REFLECTION", 1 << 30)),
    compiling.NOT_COMPILED_AS_ACCEPTED: lambda: compile(make_case(ODD).graph),
    compiling.FALLS_BACK: lambda: compile(make_case(ABSOLUTE).graph, target="webgpu"),
    compiling.HALF_MISFIT: lambda: compile(make_case(FAR).graph, half=True),
    compiling.HALF_WITHOUT_EFFECT: lambda: compile(make_case(ABSOLUTE).graph, half=True),
    compiling.LOSES_NUMBERS: lambda: compile(make_case(BITS).graph, target="qnn-npu"),
}


@pytest.mark.parametrize("code", [item for item in vars(compiling).values() if isinstance(item, Code)])
def test_every_reason_not_to_compile_is_reported(code: Code, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler itself reports each code, without the checks."""
    if code is not compiling.NOT_COMPILED_AS_ACCEPTED:  # which depends on the checks
        monkeypatch.setattr("dml2onnx.compiler.require_clean", lambda graph, feature_level, documented: ())
    if code.severity is Severity.ERROR:
        with pytest.raises(DmlError) as caught:
            REASONS[code]()
        found = caught.value.diagnostics
    else:
        found = REASONS[code]().warnings
    assert {item.code for item in found} - {compiling.FALLS_BACK.id} == {code.id} - {compiling.FALLS_BACK.id}
    assert code.id in {item.code for item in found}


# --- Metadata -----------------------------------------------------------------------------------------------------


def test_metadata() -> None:
    model = compile(sample())
    proto = model.model_proto
    assert (proto.graph.name, proto.producer_name) == ("sample", "dml2onnx")
    assert proto.producer_version == dml2onnx.__version__
    metadata = {item.key: item.value for item in proto.metadata_props}
    assert metadata == {"dml2onnx_source": "native", "dml2onnx_target": "onnx"}
    assert model.node_count == 2
    assert model.weight_bytes == 16


# --- Findings -----------------------------------------------------------------------------------------------------


def with_dead_node() -> Graph:
    graph = sample()
    extra = node("dead", RELU, Value("z", 16), InputTensor=graph.inputs[0].value)
    return replace(graph, nodes=(*graph.nodes, extra))


def test_warnings_pass_through() -> None:
    model = compile(with_dead_node())
    (item,) = model.warnings
    assert (item.severity, item.node, item.code) == (Severity.WARNING, "dead", "DML1216")
    assert operators(model) == ["Add", "Relu"]
    assert compile(sample()).warnings == ()


def test_findings_of_reading_count() -> None:
    warning = Diagnostic(Code("DML9998", "odd", "", Severity.WARNING), "odd", Severity.WARNING)
    assert compile(replace(sample(), findings=(warning,))).warnings == (warning,)
    error = Diagnostic(Code("DML9999", "wrong", ""), "wrong")
    with pytest.raises(DmlError) as caught:
        compile(replace(sample(), findings=(warning, error)))
    assert caught.value.diagnostics == (error,)


def test_feature_levels() -> None:
    """The level of the call overrides that of the graph, which overrides the newest."""
    integers = t("INT8", [4])
    op = operator("ACTIVATION_RELU", InputTensor=integers, OutputTensor=integers)
    x, y = Value("x", 4), Value("y", 4)
    graph = Graph((node("a", op, y, InputTensor=x),), (GraphInput("x", x),), (GraphOutput("y", y, integers),))
    compile(graph)
    assert require_clean(graph, "5_1") == ()
    with pytest.raises(DmlError) as caught:
        compile(graph, feature_level="4_0")
    assert {item.since for item in caught.value.diagnostics} == {"5_1"}
    old = replace(graph, feature_level="4_0")
    with pytest.raises(DmlError):
        compile(old)
    compile(old, feature_level="6_4")


# --- Running ------------------------------------------------------------------------------------------------------


def test_sample_contents_of_another_length_are_not_used() -> None:
    graph = sample()
    short = GraphInput("x", graph.inputs[0].value, default=ArrayData.of(X[:2]))
    assert refused(compile(replace(graph, inputs=(short,))).run) == ["DML3004"]
    long = GraphInput("x", graph.inputs[0].value, default=ArrayData.of(np.tile(X, 2)))
    np.testing.assert_array_equal(compile(replace(graph, inputs=(long,))).run()["y"], [0, 0, 2, 3])


# --- Memory -----------------------------------------------------------------------------------------------------------


def exhaust_memory(*_: object) -> np.ndarray:
    return np.ones(1 << 60, np.uint8)


@pytest.mark.parametrize(
    ("owner", "function", "call"),
    [
        (Emitter, "emit", lambda: compile(sample())),
        (interpreter, "run", lambda: evaluate(sample(), {"x": X})),
    ],
    ids=["lowering", "reference"],
)
def test_exhausted_memory_names_the_node(
    monkeypatch: pytest.MonkeyPatch, owner: object, function: str, call: Callable[[], object]
) -> None:
    monkeypatch.setattr(owner, function, exhaust_memory)
    item = refusal(call)
    assert (item.code, item.node, item.operator) == ("DML3016", "add", "ELEMENT_WISE_ADD")
    assert item.pointer == "/nodes/add/desc"


def test_sample_contents_beyond_the_memory_name_the_input() -> None:
    """The file has one byte for all of 2**58; compiling it takes no memory, running it does."""
    wide = t("UINT8", [1 << 30, 1 << 28])
    x, y = Value("x", wide.total_bytes), Value("y", 16)
    first = t("UINT8", [16])
    copy = operator("ELEMENT_WISE_IDENTITY", InputTensor=first, OutputTensor=first)
    default = FillData(b"\1", x.nbytes)
    graph = Graph(
        (node("copy", copy, y, InputTensor=x),), (GraphInput("x", x, default, wide),), (GraphOutput("y", y, first),)
    )
    model = compile(graph)
    item = refusal(model.run, max_bytes=1 << 62)
    assert item.code == "DML3016"
    assert '"x"' in item.message
    assert item.found == str(x.nbytes)
    with pytest.raises(DmlError, match='largest input is "x"') as caught:
        model.run()
    assert [item.code for item in caught.value.diagnostics] == ["DML3020"]


def test_progress_is_reported_in_nodes() -> None:
    g = dml2onnx.GraphBuilder()
    x = g.input("x", "FLOAT32", [4])
    for _ in range(130):
        x = g.sin(x)
    reported: list[str] = []
    dml2onnx.compile(g.build({"y": x}), progress=reported.append)
    assert reported == ["0 of 130 nodes", "64 of 130 nodes", "128 of 130 nodes"]
    with pytest.raises(dml2onnx.DmlError):
        dml2onnx.compile(g.build({"y": x}), progress="aloud")  # type: ignore[arg-type]  # nothing to call
