"""Named sizes in the builder, in native models, and in commands."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import dml2onnx
from dml2onnx.checks.resizing import check_names
from dml2onnx.cli import main
from dml2onnx.diagnostics import Code, DmlError, Severity
from dml2onnx.ir.size_names import own_size
from tests.sizes.networks import ROOT

RANGES = {"N": (1, 8), "H": (4, 64)}


def built(ranges: dict[str, tuple[int, int]] | None = None, channels: int = 3) -> dml2onnx.Graph:
    """A convolution, and a softmax over rows of pixels."""
    rng = np.random.default_rng(4)
    g = dml2onnx.GraphBuilder(ranges=RANGES if ranges is None else ranges)
    x = g.input("x", np.float32, ["N", channels, "H", 6])
    n, _, h, w = x.sizes
    y = g.convolution(x, rng.normal(0, 1, (4, 3, 3, 3)), start_padding=1, end_padding=1, name="conv")
    rows = g.activation_softmax(g.reinterpret(y, sizes=["N", 1, 4, h * w]), [3])
    return g.build({"y": g.activation_identity(g.reinterpret(rows, sizes=[n, 4, h, w]))})


def _at(n: int, h: int) -> np.ndarray:
    return np.random.default_rng(5).standard_normal((n, 3, h, 6)).astype(np.float32)


def _wanted(n: int, h: int) -> np.ndarray:
    x = _at(n, h)
    return dml2onnx.run(built(), {"x": x}, sizes={"x": x.shape})["y"]


def test_the_builder_accepts_names() -> None:
    graph = built()
    assert graph.named_sizes == {"x": ("N", 3, "H", 6)}
    assert graph.inputs[0].desc is not None
    assert graph.inputs[0].desc.sizes == (8, 3, 64, 6)
    assert not dml2onnx.check(graph)
    model = dml2onnx.compile(graph)
    assert [str(size) for size in model.outputs[0].shape] == ["N", "4", "H", "6"]
    assert model.metadata["dml2onnx_sizes"] == "N=1..8, H=4..64"
    for n, h in ((1, 4), (3, 9), (8, 64)):
        np.testing.assert_array_equal(model.run({"x": _at(n, h)})["y"], _wanted(n, h))


def test_a_graph_with_names_runs_at_any_size() -> None:
    np.testing.assert_array_equal(dml2onnx.run(built(), {"x": _at(2, 7)})["y"], _wanted(2, 7))
    with pytest.raises(DmlError, match="shape"):
        dml2onnx.run(built(), {"x": _at(9, 7)})


def test_numbers_replace_names() -> None:
    model = dml2onnx.compile(built(), sizes={"x": (2, 3, 7, 6)})
    assert model.inputs[0].shape == (2, 3, 7, 6)
    assert dml2onnx.resize(built(), {"x": (2, 3, 7, 6)}).named_sizes == {}


def test_a_graph_with_names_is_verified_over_their_ranges() -> None:
    found = dml2onnx.verify(built(), rounds=2)
    assert found.passed
    assert list(dict.fromkeys(item.round for item in found.comparisons)) == ["at N=1, H=4", "at N=8, H=64"]


def test_the_native_format_has_names(tmp_path: Path) -> None:
    path = tmp_path / "net.json"
    dml2onnx.convert(built(), path)
    document = json.loads(path.read_text())
    assert document["names"] == {"N": {"size": 8, "range": [1, 8]}, "H": {"size": 64, "range": [4, 64]}}
    assert document["inputs"]["x"]["Sizes"] == ["N", 3, "H", 6]
    graph = dml2onnx.load(path)
    assert (graph.named_sizes, graph.ranges) == ({"x": ("N", 3, "H", 6)}, RANGES)
    np.testing.assert_array_equal(dml2onnx.run(graph, {"x": _at(3, 5)})["y"], _wanted(3, 5))


def _written(tmp_path: Path, names: object, sizes: object = ("N", 3, 4, 4)) -> Path:
    path = tmp_path / "model.json"
    tensor = {"DataType": "FLOAT32", "Sizes": list(sizes) if isinstance(sizes, tuple) else sizes}
    node = {
        "type": "ELEMENT_WISE_ABS",
        "desc": {"OutputTensor": tensor},
        "inputs": {"InputTensor": "x"},
        "outputs": {"OutputTensor": "y"},
    }
    model = {"dml2onnx": 1, "names": names, "inputs": {"x": tensor}, "nodes": [node], "outputs": ["y"]}
    path.write_text(json.dumps(model))
    return path


def test_names_in_nodes(tmp_path: Path) -> None:
    graph = dml2onnx.load(_written(tmp_path, {"N": {"range": [1, 5]}}))
    assert not dml2onnx.check(graph)
    assert graph.nodes[0].operator.tensor("OutputTensor").sizes == (4, 3, 4, 4)
    assert dml2onnx.run(graph, {"x": np.ones((5, 3, 4, 4), np.float32)})["y"].shape == (5, 3, 4, 4)


@pytest.mark.parametrize(
    ("names", "pointer"),
    [
        ({"N": {"range": [5, 1]}}, "/names/N/range"),
        ({"N": {"range": [0, 4]}}, "/names/N/range"),
        ({"N": {"size": 0}}, "/names/N/size"),
        ({"N": {"sizes": 3}}, "/names/N/sizes"),
        ({"N": 4}, "/names/N"),
        ({"N": {}, "2H": {}}, "/names/2H"),
        ({"M": {}}, "/inputs/x/Sizes/0"),
        ([], "/names"),
    ],
)
def test_invalid_names(tmp_path: Path, names: object, pointer: str) -> None:
    found = dml2onnx.check(_written(tmp_path, names))
    assert pointer in [item.pointer for item in found if item.severity.value == "error"]


@pytest.mark.parametrize(
    ("first", "last", "size"),
    [(1, 64, 64), (16, 480, 256), (5, 7, 6), (7, 7, 7), (1, 1, 1), (33, 63, 48)],
)
def test_the_size_of_a_name_can_be_halved(first: int, last: int, size: int) -> None:
    assert own_size("N", {"N": (first, last)}) == size
    assert own_size("M", {}) == 16


def test_sizes_fixed_by_weights_are_found_by_check() -> None:
    g = dml2onnx.GraphBuilder()
    x = g.input("x", np.float32, [1, 1, 4, "K"])
    y = g.gemm(x, np.zeros((1, 1, 16, 2), np.float32), name="fc")
    (finding,) = dml2onnx.check(g.build({"y": y}))
    assert (finding.code, finding.node) == ("DML2102", "fc")


def test_warnings_are_about_the_graphs_own_sizes_only() -> None:
    """Their texts contain sizes, and would differ at each end of a range."""
    odd = Code("DML1", "odd", "", Severity.WARNING)

    def one(graph: dml2onnx.Graph) -> list[dml2onnx.Diagnostic]:
        return [odd.at(f"of {graph.inputs[0].value.nbytes} bytes")]

    graph = built({"N": (1, 4)})
    assert check_names(graph, one) == one(graph.without_names())


def test_ranges_of_the_builder() -> None:
    with pytest.raises(DmlError, match="ranges has"):
        built({**RANGES, "B": (1, 2)})
    for ranges in ({"N": (2, 1)}, {"N": (0, 1)}, {"N": (1,)}):
        with pytest.raises(DmlError, match="range of"):
            dml2onnx.GraphBuilder(ranges=ranges)  # type: ignore[arg-type]
    assert built({**RANGES, "N": (4, 4)}).ranges["N"] == (4, 4)
    g = dml2onnx.GraphBuilder()
    x = g.input("x", np.float32, ["N", 3])
    with pytest.raises(DmlError, match="not the name of an input's size"):
        g.reinterpret(x, sizes=["M", 3])
    with pytest.raises(DmlError, match="cannot be the name of a size"):
        g.input("y", np.float32, ["2N", 3])


def test_commands_take_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = str(ROOT / "samples/picture/model.json")
    options = ["--size", "picture=N,3,H,W", "--range", "N=1..2", "--range", "H=8..64", "--range", "W=8..64"]
    page = tmp_path / "page.html"
    assert main(["report", picture, *options, "-o", str(page)]) == 0
    assert '["N","3","4*H","4*W"]' in page.read_text().replace(" ", "")
    native = tmp_path / "picture.json"
    assert main(["convert", picture, *options, "-o", str(native)]) == 0
    assert main(["check", str(native)]) == 0
    x = np.random.default_rng(1).random((1, 3, 16, 24), np.float32)
    np.save(tmp_path / "x.npy", x)
    assert main(["run", str(native), "--input", f"picture={tmp_path / 'x.npy'}", "--output-dir", str(tmp_path)]) == 0
    capsys.readouterr()
    assert main(["compile", picture, *options, "-o", str(tmp_path / "picture.onnx")]) == 0
    assert "N=1..2, H=8..64 in steps of 8, W=8..64 in steps of 8\n" in capsys.readouterr().out
    wanted = dml2onnx.run(picture, {"picture": x}, sizes={"picture": x.shape})["result"]
    np.testing.assert_array_equal(np.load(tmp_path / "result.npy"), wanted)
    assert main(["sizes", picture, *options]) == 2
    assert "DML2101" in capsys.readouterr().err


def test_convert_changes_the_numbers_beside_names(tmp_path: Path) -> None:
    g = dml2onnx.GraphBuilder()
    dml2onnx.convert(g.build({"y": g.activation_relu(g.input("x", np.float32, (2, 4)))}), tmp_path / "net.json")
    for columns in (4, 7):
        arguments = [str(tmp_path / "net.json"), "--size", f"x=N,{columns}", "-o", str(tmp_path / "new.json")]
        assert main(["convert", *arguments]) == 0
        graph = dml2onnx.load(tmp_path / "new.json")
        assert graph.named_sizes == {"x": ("N", columns)}
        assert graph.outputs[0].desc.sizes == (2, columns)


def test_batch_compiles_models_with_names(tmp_path: Path) -> None:
    dml2onnx.convert(built(), tmp_path / "net.json")
    (record,) = list(dml2onnx.batch([tmp_path], do="compile", output=tmp_path / "out"))
    assert record.status == "passed"
    (names,) = [item["names"] for item in record.answer["inputs"]]  # type: ignore[index, union-attr, call-overload]
    assert names == ["N", "3", "H", "6"]
