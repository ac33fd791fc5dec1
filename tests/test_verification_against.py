"""``verify`` of a foreign model, its time limit and its progress."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import onnx.parser
import pytest

import dml2onnx
from dml2onnx import DmlError, Graph, GraphBuilder
from dml2onnx.cli import main
from dml2onnx.diagnostics import UnreadableError
from dml2onnx.verification.against import _with_ones

WEIGHTS = np.random.default_rng(0).normal(0, 1, (4, 3, 3, 3)).astype(np.float32)


def network(*, channels_last: bool = False) -> Graph:
    g = GraphBuilder(feature_level="5_0")
    strides = [75, 1, 15, 3] if channels_last else None
    x = g.input("x", "FLOAT32", [1, 3, 5, 5], strides=strides)
    return g.build({"y": g.tanh(g.convolution(x, g.constant(WEIGHTS), name="convolution"))})


def onnx_file(
    path: Path,
    *,
    weights: np.ndarray = WEIGHTS,
    names: tuple[str, str] = ("x", "y"),
    shape: tuple[int | str, ...] = (1, 3, 5, 5),
    data_type: str = "float",
) -> Path:
    """Writes the same network by hand."""
    x, y = names
    x4 = "Unsqueeze(floats, axes)" if len(shape) == 3 else "Identity(floats)"
    model = onnx.parser.parse_model(f"""<ir_version: 10, opset_import: ["": 21]>
        g ({data_type}[{", ".join(map(str, shape))}] {x}) => (float {y}) <int64[1] axes = {{0}}> {{
            floats = Cast<to = 1>({x})
            x4 = {x4}
            h = Conv(x4, w)
            {y} = Tanh(h)
        }}""")
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    onnx.save(model, path)
    return path


@pytest.mark.parametrize("names", [("x", "y"), ("data", "result")])
@pytest.mark.parametrize("shape", [(1, 3, 5, 5), (3, 5, 5), ("N", 3, "H", "W")])
@pytest.mark.parametrize("channels_last", [False, True])
def test_foreign_models(
    tmp_path: Path, names: tuple[str, str], shape: tuple[int | str, ...], channels_last: bool
) -> None:
    path = onnx_file(tmp_path / "other.onnx", names=names, shape=shape)
    found = dml2onnx.verify(network(channels_last=channels_last), against=path)
    assert found.passed
    assert len(found.comparisons) == 3
    assert found.nodes == ()


def test_compiled_models_match(tmp_path: Path) -> None:
    graph = network(channels_last=True)
    dml2onnx.compile(graph).save(tmp_path / "y.onnx")
    assert dml2onnx.verify(graph, against=tmp_path / "y.onnx").passed


def test_another_weight_is_found(tmp_path: Path) -> None:
    wrong = WEIGHTS.copy()
    wrong[2, 1, 0, 2] *= 1.01
    found = dml2onnx.verify(network(), against=onnx_file(tmp_path / "other.onnx", weights=wrong))
    assert not found.passed
    assert {item.first_wrong[1] for item in found.comparisons if item.wrong} == {2}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": ("x", "z")}, None),
        ({"data_type": "double"}, 'input "x" is float32, but "x" of the other model is float64'),
        (
            {"shape": (1, 3, 6, 5)},
            'input "x" has the shape [1, 3, 5, 5] (memory order), but "x" of the other model has [1, 3, 6, 5]',
        ),
    ],
)
def test_mismatched_ports(tmp_path: Path, options: dict[str, object], message: str | None) -> None:
    path = onnx_file(tmp_path / "other.onnx", **options)  # type: ignore[arg-type]
    if message is None:  # the only outputs match, whatever their names
        assert dml2onnx.verify(network(), against=path).passed
        return
    with pytest.raises(DmlError) as caught:
        dml2onnx.verify(network(), against=path)
    assert caught.value.diagnostics[0].code == "DML3019"
    assert caught.value.diagnostics[0].message == message


def test_mismatched_names_and_counts(tmp_path: Path) -> None:
    g = GraphBuilder()
    a, b = g.input("a", "FLOAT32", [3]), g.input("b", "FLOAT32", [3])
    graph = g.build({"y": a + b})
    path = onnx_file(tmp_path / "other.onnx")
    with pytest.raises(DmlError) as caught:
        dml2onnx.verify(graph, against=path)
    assert [item.message for item in caught.value.diagnostics] == [
        'the other model has no input "a"; its inputs are: x',
        'the other model has no input "b"; its inputs are: x',
        'the graph has no input "x", which the other model requires',
    ]


@pytest.mark.parametrize("content", [None, b"", b"no model at all"])
def test_files_that_are_no_models(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "other.onnx"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UnreadableError) as caught:
        dml2onnx.verify(network(), against=path)
    assert [item.code for item in caught.value.diagnostics] == ["DML3018"]


@pytest.mark.parametrize(
    ("shape", "wanted", "made"),
    [
        ((1, 3, 5), (3, 5), (3, 5)),
        ((3, 5), (1, 3, 1, 5), (1, 3, 1, 5)),
        ((1, 3, 5), (None, None), (3, 5)),
        ((1, 3), (None, 3), (1, 3)),
        ((3, 5), (5, 3), None),
        ((3, 5), (15,), None),
        ((1, 1), (None,), (1,)),
    ],
)
def test_dimensions_of_one(
    shape: tuple[int, ...], wanted: tuple[int | None, ...], made: tuple[int, ...] | None
) -> None:
    assert _with_ones(shape, wanted) == made


# --- Time and progress ------------------------------------------------------------------------------------------------


def test_time_limit() -> None:
    found = dml2onnx.verify(network(), rounds=10**6, time_limit=0.3)
    assert 0 < found.finished < 10**6
    assert len(found.comparisons) == found.finished
    assert found.passed


def test_without_time_nothing_passes() -> None:
    found = dml2onnx.verify(network(), time_limit=1e-9)
    assert (found.finished, found.comparisons, found.passed) == (0, (), False)


def test_progress_counts_nodes() -> None:
    reported: list[str] = []
    dml2onnx.verify(network(), rounds=2, progress=reported.append)
    assert reported[0] == "round 1 of 2, node by node: node 1 of 2"
    assert reported[-1] == "round 2 of 2, as a whole: node 2 of 2"
    assert len(reported) == 8


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    dml2onnx.convert(network(), tmp_path / "model.json", format="native")
    np.save(tmp_path / "x.npy", np.zeros((1, 3, 5, 5), np.float32))
    arguments = ["verify", str(tmp_path / "model.json"), "--input", f"x={tmp_path / 'x.npy'}", "--cases", "2"]
    assert main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["cases"] == {"seed": 0, "asked": 2, "finished": 2}
    convolution = document["nodes"][0]
    assert convolution["node"] == "convolution"
    assert convolution["worst_difference"] == 0  # of zeros
    assert main([*arguments, "--nodes"]) == 0
    shown = capsys.readouterr().out
    assert "arithmetic and rounding" in shown
    assert "time limit" not in shown
    assert main([*arguments[:-1], "1000000", "--time-limit", "0.2"]) == 0
    assert re.search(r"the time limit ended after \d+ of 1000000 rounds", capsys.readouterr().out)
    other = onnx_file(tmp_path / "other.onnx", weights=WEIGHTS + 1)
    assert main(["verify", str(tmp_path / "model.json"), "--against", str(other)]) == 1
    assert "differs from the reference" in capsys.readouterr().out
    assert main(["verify", str(tmp_path / "model.json"), "--against", str(tmp_path / "none.onnx")]) == 2
    assert main(["verify", str(tmp_path / "model.json"), "--input", "z=nothing.npy"]) == 2
    assert main(["verify", str(tmp_path / "model.json"), "--time-limit", "0"]) == 2
