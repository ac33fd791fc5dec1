"""DxDispatch resources: every initializer, with every mistake."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dml2onnx.codes import reading as codes
from dml2onnx.frontends import LoadOptions
from dml2onnx.frontends.numbers import to_half
from dml2onnx.ir.graph import Graph, GraphInput, GraphOutput
from dml2onnx.ir.tensor import DataType

from .models import DX, REMOVE, Model, edited, load_model
from .rejections import changes_of, rejecting

X = "/resources/x"

changed, x = changes_of(DX), changes_of(DX, X)


def typed(data_type: str, values: object, **more: object) -> Model:
    return {"initialValuesDataType": data_type, "initialValues": values, **more}


IMAGE = typed("FLOAT32", {"sourcePath": "a.png"}, resampleSize=[1, 3, 2, 2])

REJECTED = [
    changed(codes.MISSING_KEY, ("/commands", REMOVE)),
    changed(codes.WRONG_KIND, ("/commands", {})),
    changed(codes.IGNORED_KEY, ("/command", [])),
    x(codes.WRONG_KIND, ("", 1)),
    x(codes.IGNORED_KEY, ("/sizeInByte", 16)),
    x(codes.MISSING_KEY, ("/initialValues", REMOVE)),
    x(codes.WRONG_KIND, ("/initialValues", 1)),
    x(codes.DEFERRED_RESOURCE, ("/initialValues", "deferred")),
    x(codes.ENUMERATOR, ("/initialValuesDataType", "FLOAT31")),
    x(codes.ENUMERATOR, ("/initialValuesDataType", 1)),
    x(codes.BAD_VALUE, ("/initialValuesDataType", "UINT4"), at="/initialValues"),
    x(codes.BAD_VALUE, ("/initialValues/1", None)),
    x(codes.BAD_VALUE, ("", typed("INT8", [128], sizeInBytes=16)), at="/initialValues/0"),
    x(codes.NO_DATA, ("/initialValues", []), ("/sizeInBytes", 16)),
    x(codes.NO_DATA, ("/initialValues", {"value": 1, "valueCount": 0}), ("/sizeInBytes", 16)),
    x(codes.BAD_VALUE, ("", {"initialValues": [{"type": "FLOAT16", "value": 1}]}), at="/initialValues/0/type"),
    x(codes.ENUMERATOR, ("", {"initialValues": [{"type": "HALF", "value": 1}]}), at="/initialValues/0/type"),
    x(codes.BAD_VALUE, ("", {"initialValues": [{"type": "UINT8", "value": -1}]}), at="/initialValues/0/value"),
    x(codes.MISSING_KEY, ("", {"initialValues": [{"value": -1}]}), at="/initialValues/0/type"),
    x(codes.WRONG_KIND, ("", {"initialValues": [{"type": "INT32", "value": 1}, 1]}), at="/initialValues/1"),
    x(codes.MISSING_KEY, ("", {"initialValues": [1]}), at="/initialValuesDataType"),
    x(codes.DATA_SOURCE, ("/initialValues", {"value": 1, "valueCount": 4, "sourcePath": "a.npy"})),
    x(codes.MISSING_KEY, ("/initialValues", {"value": 1}), at="/initialValues/valueCount"),
    x(codes.BAD_VALUE, ("/initialValues", {"value": "one", "valueCount": 1}), at="/initialValues/value"),
    x(codes.MISSING_KEY, ("", {"initialValues": {"value": 1, "valueCount": 4}}), at="/initialValuesDataType"),
    x(codes.DATA_SOURCE, ("/initialValues", {"count": 4})),
    x(codes.MISSING_KEY, ("/initialValues", {"valueStart": 1, "valueCount": 4}), at="/initialValues/valueDelta"),
    x(codes.TOO_MUCH_DATA, ("/initialValues", {"valueStart": 0, "valueDelta": 1, "valueCount": 2**32 - 1})),
    x(
        codes.SEQUENCE_OVERFLOW,
        ("", typed("INT32", {"valueStart": 2**31 - 3, "valueDelta": 1, "valueCount": 4})),
        at="/initialValues",
    ),
    x(
        codes.FILE_PARTLY_READ,
        ("", typed("FLOAT32", {"sourcePath": "more.bin"})),
        at="/initialValues/sourcePath",
    ),
    x(codes.FILE_PARTLY_READ, ("", {"initialValues": {"sourcePath": "trailing.npy"}}), at="/initialValues/sourcePath"),
    x(codes.FILE_PARTLY_READ, ("", {"initialValues": {"sourcePath": "cut.npy"}}), at="/initialValues/sourcePath"),
    x(codes.RESOURCE_TOO_SMALL, ("/sizeInBytes", 15)),
    x(codes.RESOURCE_TOO_SMALL, ("/sizeInBytes", 24), ("/initialValuesOffsetInBytes", 9)),
    x(
        codes.OFFSET_WITHOUT_EFFECT,
        ("/sizeInBytes", 32),
        ("/initialValuesOffsetInBytes", 16),
        at="/initialValuesOffsetInBytes",
    ),
    x(codes.WRONG_KIND, ("/sizeInBytes", None)),
    x(codes.FILE_OUTSIDE, ("/initialValues", {"sourcePath": "../outside.bin"})),
    x(codes.MISSING_KEY, ("", {"initialValues": {"sourcePath": "data.bin"}}), at="/initialValues"),
    x(codes.BAD_NPY, ("", typed("FLOAT32", {"sourcePath": "i32.npy"})), at="/initialValues"),
    x(codes.BAD_IMAGE, ("", IMAGE | {"initialValuesDataType": "UINT8"}), at="/initialValuesDataType"),
    x(codes.BAD_IMAGE, ("", typed("FLOAT32", {"sourcePath": "a.png"})), at="/resampleSize"),
    x(codes.BAD_IMAGE, ("", IMAGE | {"resampleMode": "crop"}), at="/resampleMode"),
    x(codes.BEYOND_RANGE, ("", typed("FLOAT32", [1, 1e39, 2, -1e39])), at="/initialValues/1"),
    x(
        codes.BEYOND_RANGE,
        ("", typed("FLOAT32", {"value": -1e39, "valueCount": 4})),
        at="/initialValues/value",
    ),
    changed(codes.UNKNOWN_OPTION_NAME, at="", options=LoadOptions(inputs=frozenset({"z"}))),
]


test_rejected = rejecting(REJECTED)


def test_missing_pillow(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    (directory / "a.png").write_bytes(b"")
    (finding,) = load_model(directory, edited(DX, (X, IMAGE))).findings
    assert finding.code == codes.NO_PILLOW.id
    assert 'pip install "dml2onnx[images]"' in finding.message


# --- What is accepted -------------------------------------------------------------------------------------------------


def contents(directory: Path, resource: Model) -> tuple[bytes, Graph]:
    """Returns the initial contents of ``x``, which a dispatch reads, and the graph."""
    model = edited(DX, (X, resource))
    model["dispatchables"]["add"]["desc"]["ATensor"] = {"DataType": "UINT8", "Sizes": [1]}
    graph = load_model(directory, model)
    assert {item.code for item in graph.findings} <= {codes.BEYOND_RANGE.id, codes.FILE_PARTLY_READ.id}
    (x,) = graph.inputs
    assert x.default is not None
    assert x.default.nbytes == x.value.nbytes
    return x.default.read().tobytes(), graph


def halves(*bits: int) -> bytes:
    return np.array(bits, np.uint16).tobytes()


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        (typed("FLOAT32", [1, 2.5, "INF"]), np.array([1, 2.5, np.inf], np.float32).tobytes()),
        (typed("DML_TENSOR_DATA_TYPE_FLOAT16", [1.2, 3.4]), halves(0x3CCC, 0x42CC)),
        (typed("FLOAT16", [1.2, 3.4, "-inf", 65536]), halves(0x3CCC, 0x42CC, 0xFC00, 0x7C00)),
        (typed("FLOAT64", [1e300]), np.float64(1e300).tobytes()),
        (typed("INT8", [-128, 127, 1]), bytes([0x80, 0x7F, 1, 0])),
        (typed("UINT64", [2**64 - 1]), b"\xff" * 8),
        (typed("INT8", [1, 2], sizeInBytes=2), bytes([1, 2])),
        (typed("INT8", [1, 2], sizeInBytes=7), bytes([1, 2, 0, 0, 0, 0, 0])),
        (typed("UINT16", {"valueCount": 3, "value": 258}), bytes([2, 1] * 3 + [0, 0])),
        (typed("FLOAT32", {"valueCount": 2, "value": "nan"}), np.full(2, np.nan, np.float32).tobytes()),
        (typed("FLOAT16", {"valueCount": 2, "value": 1.2}), halves(0x3CCC, 0x3CCC)),
        (typed("INT32", {"valueStart": 3, "valueDelta": 2, "valueCount": 3}), np.array([3, 5, 7], np.int32).tobytes()),
        (typed("UINT8", {"valueStart": 254, "valueDelta": 1, "valueCount": 4}), bytes([254, 255, 0, 1])),
        (typed("INT8", {"valueStart": 127, "valueDelta": 1, "valueCount": 4}), bytes([127, 128, 129, 130])),
        (typed("UINT8", {"valueStart": 1, "valueDelta": 255, "valueCount": 4}), bytes([1, 0, 255, 254])),
        (
            typed("UINT8", {"valueStart": 1, "valueDelta": 1, "valueCount": 1, "sourcePath": "none"}),
            bytes([1, 0, 0, 0]),
        ),
        (
            {
                "initialValues": [
                    {"name": "a", "type": "FLOAT32", "value": 1},
                    {"type": "UINT8", "value": 7},
                    {"type": "INT16", "value": -2},
                    {"type": "FLOAT32", "value": "inf"},
                ]
            },
            np.float32(1).tobytes() + bytes([7, 0xFE, 0xFF]) + np.float32(np.inf).tobytes() + b"\0",
        ),
        (typed("UNKNOWN", [{"type": "INT32", "value": 1}], type="buffer"), bytes([1, 0, 0, 0])),
        (typed("UINT4", {"sourcePath": "data.bin"}), bytes(range(16))),
        (typed("FLOAT32", {"sourcePath": "sub/../data.bin"}), bytes(range(16))),
        (typed("FLOAT32", {"sourcePath": "f32.npy"}), np.arange(4, dtype=np.float32).tobytes()),
        ({"initialValues": {"sourcePath": "i32.npy"}}, np.arange(4, dtype=np.int32).tobytes()),
        ({"initialValues": {"sourcePath": "cut.npy"}}, np.arange(4, dtype=np.float32).tobytes()),
        ({"initialValues": {"sourcePath": "more.npy"}}, np.arange(4, dtype=np.float32).tobytes() + bytes(4)),
        (typed("INT8", {"sourcePath": "bool.npy"}), bytes([1, 0, 0, 0])),
        (
            typed("INT32", {"valueStart": 2**31 - 4, "valueDelta": 1, "valueCount": 4}),
            np.arange(2**31 - 4, 2**31).astype(np.int32).tobytes(),
        ),
        (
            typed("INT32", {"valueStart": 3 - 2**31, "valueDelta": -1, "valueCount": 4}),
            np.arange(3 - 2**31, -1 - 2**31, -1).astype(np.int32).tobytes(),
        ),
        (
            typed("UINT32", {"valueStart": 2**32 - 1, "valueDelta": 1, "valueCount": 4}),
            np.array([2**32 - 1, 0, 1, 2], np.uint32).tobytes(),
        ),
    ],
)
def test_initial_values(resource: Model, expected: bytes, directory: Path) -> None:
    (directory / "more.npy").write_bytes((directory / "f32.npy").read_bytes() + bytes(4))
    np.save(directory / "bool.npy", np.array([True]))
    found, _ = contents(directory, resource)
    # cut.npy lacks the last byte of 3.0, which becomes zero.
    assert found == (expected[:-1] + b"\0" if resource["initialValues"] == {"sourcePath": "cut.npy"} else expected)


@pytest.mark.parametrize(
    ("data_type", "step"), [("FLOAT32", 0.1), ("FLOAT64", 0.1), ("FLOAT16", 0.1), ("FLOAT16", -3.7)]
)
def test_sequences_round_at_every_step(data_type: str, step: float, directory: Path) -> None:
    count = 3000
    found, _ = contents(directory, typed(data_type, {"valueStart": 1, "valueDelta": step, "valueCount": count}))
    dtype = DataType[data_type].dtype
    value, delta = np.array(1, dtype), np.array(step, dtype)
    if data_type == "FLOAT16":
        delta = to_half(np.array([step]), truncate=True)[0]
    expected = []
    for _ in range(count):
        expected.append(value)
        value = value + delta
        if data_type == "FLOAT16":
            value = to_half(np.array([float(expected[-1]) + float(delta)]), truncate=True)[0]
    np.testing.assert_array_equal(np.frombuffer(found, dtype), np.array(expected, dtype))


@pytest.mark.parametrize(
    ("start", "step", "last"),
    [(0, 1, 2048), (60000, 100, float("inf")), (0, "inf", float("inf")), ("inf", "-inf", None)],
)
def test_sequences_of_halves_end(start: object, step: object, last: float | None, directory: Path) -> None:
    """A sequence is constant once a step no longer changes the sum."""
    found, _ = contents(directory, typed("FLOAT16", {"valueStart": start, "valueDelta": step, "valueCount": 10**6}))
    values = np.frombuffer(found, np.float16)
    assert np.isnan(values[-1]) if last is None else values[-1] == last


def test_fills_are_not_materialized(directory: Path) -> None:
    model = edited(DX, (X, typed("FLOAT64", {"valueCount": 2**32 - 1, "value": 1})))
    graph = load_model(directory, model)
    assert graph.findings == ()
    assert graph.inputs[0].value.nbytes == 8 * (2**32 - 1)


def test_padding_is_not_materialized(directory: Path) -> None:
    graph = load_model(directory, edited(DX, (X + "/sizeInBytes", 2**40)))
    assert graph.findings == ()
    data = graph.inputs[0].default
    assert data is not None
    assert data.nbytes == 2**40
    assert data.read(12, 8).view(np.float32).tolist() == [-4, 0]


def test_the_limit_of_materialized_data_is_for_all_resources(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dml2onnx.frontends.dx_resources.MAX_MATERIALIZED_BYTES", 30)
    sequence = typed("INT32", {"valueStart": 0, "valueDelta": 1, "valueCount": 4})
    graph = load_model(directory, edited(DX, (X, sequence), ("/resources/y", sequence)))
    assert [(item.code, item.pointer) for item in graph.findings] == [
        (codes.TOO_MUCH_DATA.id, "/resources/y/initialValues")
    ]


def test_the_limit_of_sequences(directory: Path) -> None:
    """A sequence is materialized, and a file of 150 bytes can describe a large one."""
    for count, codes_found in ((1 << 16, []), ((1 << 26) + 1, [codes.TOO_MUCH_DATA.id])):
        sequence = typed("FLOAT32", {"valueStart": 0, "valueDelta": 0.5, "valueCount": count})
        graph = load_model(directory, edited(DX, (X, sequence)))
        assert [item.code for item in graph.findings] == codes_found


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
@pytest.mark.parametrize("channels", [3, 4])
def test_images(data_type: str, channels: int, directory: Path) -> None:
    pixels = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4) * 10
    pixels[..., 3] = 255
    Image.fromarray(pixels, "RGBA").save(directory / "a.PNG")
    resource = typed(data_type, {"sourcePath": "a.PNG"}, resampleSize=[1, channels, 2, 3], resampleMode="scale")
    found, _ = contents(directory, resource)
    expected = np.moveaxis(pixels[..., :channels], 2, 0).astype(np.float32) / np.float32(255)
    values = np.frombuffer(found, DataType[data_type].dtype).reshape(channels, 2, 3)
    if data_type == "FLOAT32":
        np.testing.assert_array_equal(values, expected)
    else:
        np.testing.assert_array_equal(values, to_half(expected.astype(np.float64), truncate=True))


def test_images_are_scaled(directory: Path) -> None:
    Image.new("RGB", (5, 7), (255, 0, 51)).save(directory / "a.png")
    found, _ = contents(directory, typed("FLOAT32", {"sourcePath": "a.png"}, resampleSize=[1, 3, 2, 4]))
    values = np.frombuffer(found, np.float32).reshape(3, 2, 4)
    np.testing.assert_array_equal(values, np.broadcast_to(np.array([1, 0, 0.2], np.float32)[:, None, None], (3, 2, 4)))


def test_a_damaged_image(directory: Path) -> None:
    (directory / "a.png").write_bytes(b"not an image")
    (finding,) = load_model(directory, edited(DX, (X, IMAGE))).findings
    assert (finding.code, finding.pointer) == (codes.BAD_IMAGE.id, X + "/initialValues")


def test_equal_fills_are_different_buffers(tmp_path: Path) -> None:
    """Each has its own findings."""
    fill, large = (typed("FLOAT32", {"value": value, "valueCount": 4}) for value in (1, 1e39))
    changes = [("/resources/x", fill), ("/resources/y", fill), ("/resources/a", large), ("/resources/b", large)]
    graph = load_model(tmp_path, edited(DX, *changes))
    places = [item.pointer for item in graph.findings if item.code == codes.BEYOND_RANGE.id]
    assert places == [f"/resources/{name}/initialValues/value" for name in "ab"]
    assert [item.name for item in graph.inputs][:1] == ["x"]
    ends: tuple[GraphInput | GraphOutput, ...] = (*graph.inputs, *graph.results)
    assert len({item.value for item in ends}) == len(ends)
