"""Running programs: results, values that they print and write, and paths of files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dml2onnx.builder import GraphBuilder
from dml2onnx.compiler import compile
from dml2onnx.diagnostics import DmlError
from dml2onnx.execution import execute, run, write_effect
from dml2onnx.frontends import load
from dml2onnx.ir.graph import Effect, GraphOutput, Value
from dml2onnx.options import CompileOptions
from dml2onnx.passes import LAYOUT_PROPAGATION
from tests.buffer_views.test_layout_propagation import between, with_bias
from tests.frontends.models import DX, NATIVE, edited, f32
from tests.lowering.harness import t
from tests.refusals import refusal, refused

DISPATCH: dict[str, Any] = {"type": "dispatch", "dispatchable": "double", "bindings": {"ATensor": "x", "BTensor": "x"}}


def saved(directory: Path, model: dict[str, Any]) -> Path:
    path = directory / "model.json"
    path.write_text(json.dumps(model), encoding="utf-8")
    return path


def doubling(*commands: dict[str, Any], into: str = "y") -> dict[str, Any]:
    """A program over ``x`` = 1, 2, 3, 4 and ``y``; ``{"type": "double"}`` writes ``x + x``."""
    bound = {**DISPATCH, "bindings": {**DISPATCH["bindings"], "OutputTensor": into}}
    return {
        "resources": {
            "x": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 4]},
            "y": {"initialValuesDataType": "FLOAT32", "initialValues": [5, 6, 7, 8]},
        },
        "dispatchables": {
            "double": {
                "type": "ELEMENT_WISE_ADD",
                "desc": {"ATensor": f32(4), "BTensor": f32(4), "OutputTensor": f32(4)},
            }
        },
        "commands": [bound if command["type"] == "double" else command for command in commands],
    }


DOUBLE = {"type": "double"}


def show(resource: str) -> dict[str, Any]:
    return {"type": "print", "resource": resource}


# --- Results ------------------------------------------------------------------------------------------------------


def test_a_program_runs_on_its_own_values(tmp_path: Path) -> None:
    path = saved(tmp_path, DX)
    for model in (path, str(path), load(path)):
        got = run(model)
        np.testing.assert_array_equal(got["y"], [3, 0, 5, 0])
        assert list(got) == ["y"]


def test_inputs_replace_initial_values(tmp_path: Path) -> None:
    got = run(saved(tmp_path, DX), {"x": np.array([1, 1, 1, -9], np.float32)})
    np.testing.assert_array_equal(got["y"], [3, 3, 3, 0])


def test_in_place_programs(tmp_path: Path) -> None:
    """Input and output are one resource; the caller sees one name."""
    path = saved(tmp_path, doubling(DOUBLE, DOUBLE, into="x"))
    np.testing.assert_array_equal(run(path)["x"], [4, 8, 12, 16])
    np.testing.assert_array_equal(run(path, {"x": np.array([0, 1, 0, -1], np.float32)})["x"], [0, 4, 0, -4])


def test_all_errors_of_a_program(tmp_path: Path) -> None:
    path = saved(tmp_path, edited(DX, ("/dispatchables/add/desc/ATensor/Sizes", [5])))
    with pytest.raises(DmlError) as caught:
        run(path)
    assert all(item.severity.value == "error" for item in caught.value.diagnostics)
    native = saved(tmp_path, NATIVE)
    with pytest.raises(DmlError) as caught:
        run(native, {})
    assert caught.value.diagnostics


# --- Effects ------------------------------------------------------------------------------------------------------


def test_effects_have_the_values_of_their_moment(tmp_path: Path) -> None:
    graph = load(saved(tmp_path, doubling(show("x"), DOUBLE, show("x"), DOUBLE, show("x"), show("y"), into="x")))
    execution = execute(graph, {})
    assert [effect.output.name for effect, _ in execution.shown] == ["x", "x", "x", "y"]
    shown = [array.tolist() for _, array in execution.shown]
    assert shown == [[1, 2, 3, 4], [2, 4, 6, 8], [4, 8, 12, 16], [5, 6, 7, 8]]
    assert list(execution.results) == ["x"]
    np.testing.assert_array_equal(execution.results["x"], [4, 8, 12, 16])


def test_effects_follow_the_inputs(tmp_path: Path) -> None:
    graph = load(saved(tmp_path, doubling(show("x"), DOUBLE, show("y"))))
    execution = execute(graph, {"x": np.array([0, 1, 2, -1], np.float32)})
    assert [array.tolist() for _, array in execution.shown] == [[0, 1, 2, -1], [0, 2, 4, -2]]


def test_the_same_value_shown_twice_is_computed_once(tmp_path: Path) -> None:
    graph = load(saved(tmp_path, doubling(show("x"), show("x"), DOUBLE, show("y"), show("y"))))
    execution = execute(graph, {})
    assert [array.tolist() for _, array in execution.shown] == [[1, 2, 3, 4]] * 2 + [[2, 4, 6, 8]] * 2
    assert execution.model.node_count <= 2


def test_nibbles_are_shown_two_to_a_byte(tmp_path: Path) -> None:
    """Files get the bytes of a buffer, not unpacked."""
    program = doubling(DOUBLE, show("nibbles"))
    (tmp_path / "data.bin").write_bytes(bytes([0x21, 0xF3]))
    contents = {"initialValuesDataType": "INT4", "initialValues": {"sourcePath": "data.bin"}}
    program["resources"]["nibbles"] = contents
    ((_, array),) = execute(load(saved(tmp_path, program)), {}).shown
    assert array.tolist() == [0x21, 0xF3]


def test_profiles(tmp_path: Path) -> None:
    graph = load(saved(tmp_path, doubling(DOUBLE)))
    assert execute(graph, {}).times == ()
    times = execute(graph, {}, profile=True).times
    assert [item.operator for item in times] == ["Add"]


def test_every_pass_can_be_disabled_in_a_run() -> None:
    """Including layout propagation, which runs before the passes on the model."""
    graph = between(with_bias)
    x = {"x": np.ones((2, 4, 5, 3), np.float32)}
    ran = [
        execute(graph, x, options=CompileOptions.of(target="cpu", without_passes=disabled))
        for disabled in ([], [LAYOUT_PROPAGATION])
    ]
    made = [[node.op_type for node in item.model.lowered.nodes] for item in ran]
    assert made[0] != made[1]
    assert made[1] == [node.op_type for node in compile(graph, without_passes=[LAYOUT_PROPAGATION]).lowered.nodes]


def test_runs_report_progress() -> None:
    g = GraphBuilder()
    reported: list[str] = []
    graph = g.build({"y": g.activation_relu(g.input("x", "FLOAT32", [3]))})
    execute(graph, {"x": np.zeros(3, np.float32)}, progress=reported.append)
    assert reported == ["compiling, 0 of 1 nodes", "loading 1 ONNX node", "running 1 ONNX node"]


# --- Files --------------------------------------------------------------------------------------------------------


def effect(path: str, *dimensions: int, data_type: str = "FLOAT32", count: int = 12) -> Effect:
    output = GraphOutput("y", Value("y", 4 * count), t(data_type, [count]))
    return Effect("writeFile", output, path, dimensions)


NUMBERS = np.linspace(-0.5, 1.5, 12, dtype=np.float32)


def test_npy_files_have_the_dimensions_of_the_command(tmp_path: Path) -> None:
    path = write_effect(effect("y.npy", 1, 3, 2, 2), NUMBERS, tmp_path)
    assert path == tmp_path / "y.npy"
    np.testing.assert_array_equal(np.load(path), NUMBERS.reshape(1, 3, 2, 2))
    np.testing.assert_array_equal(np.load(write_effect(effect("flat.NPY"), NUMBERS, tmp_path)), NUMBERS)


def test_npy_files_may_leave_out_the_end_of_the_buffer(tmp_path: Path) -> None:
    """Three FLOAT16 numbers need a buffer of 8 bytes."""
    path = write_effect(effect("y.npy", 2, 3), NUMBERS, tmp_path)
    np.testing.assert_array_equal(np.load(path), NUMBERS[:6].reshape(2, 3))


@pytest.mark.parametrize("name", ["y.bin", "y.dat", "y", "y.json", "y.jpeg"])
def test_other_files_are_the_bytes(tmp_path: Path, name: str) -> None:
    assert write_effect(effect(name), NUMBERS, tmp_path).read_bytes() == NUMBERS.tobytes()


def test_directories_are_made_and_files_replaced(tmp_path: Path) -> None:
    for values in (NUMBERS, NUMBERS + 1):
        path = write_effect(effect("a/b/y.bin"), values, tmp_path)
        assert path.read_bytes() == values.tobytes()
    assert [item.name for item in (tmp_path / "a" / "b").iterdir()] == ["y.bin"]


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_png_files(tmp_path: Path, channels: int) -> None:
    image = pytest.importorskip("PIL.Image")
    values = np.resize(np.array([-1, 0, 0.25, 0.999, 1, 2, np.nan, np.inf], np.float32), channels * 6)
    levels = np.resize([0, 0, 63, 254, 255, 255, 0, 255], channels * 6).reshape(channels, 2, 3)
    path = write_effect(effect("y.png", 1, channels, 2, 3), values, tmp_path)
    with image.open(path) as picture:
        assert picture.size == (3, 2)
        got = np.asarray(picture).reshape(2, 3, channels)
    np.testing.assert_array_equal(got, levels.transpose(1, 2, 0))


def test_jpeg_files(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    with image.open(write_effect(effect("y.jpg", 1, 3, 2, 2), NUMBERS, tmp_path)) as picture:
        assert (picture.format, picture.size, picture.mode) == ("JPEG", (2, 2), "RGB")


@pytest.mark.parametrize("dimensions", [(12,), (1, 2, 2, 3), (2, 3, 1, 2), (3, 2, 2)])
def test_pictures_need_one_to_four_channels(tmp_path: Path, dimensions: tuple[int, ...]) -> None:
    assert refused(write_effect, effect("y.png", *dimensions), NUMBERS, tmp_path) == ["DML3009"]
    assert not (tmp_path / "y.png").exists()


def test_dimensions_that_do_not_fit(tmp_path: Path) -> None:
    item = refusal(write_effect, effect("y.npy", 5, 5), NUMBERS, tmp_path)
    assert (item.code, item.expected, item.found) == ("DML3009", "[5, 5]", "12")


@pytest.mark.parametrize("name", ["a", "."])
def test_a_directory_instead_of_a_file(tmp_path: Path, name: str) -> None:
    (tmp_path / "a").mkdir()
    assert refused(write_effect, effect(name), NUMBERS, tmp_path) == ["DML3009"]
