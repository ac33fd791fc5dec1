"""Large constants: few of their bytes are in memory at once, and no incomplete file remains.

Each test measures the memory of its own process; contents are sparse files, which take no space on disk.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="peak memory is measured with POSIX functions")

ROOT = Path(__file__).parent.parent

PROLOGUE = """
import json, os, resource, sys
from pathlib import Path
import numpy as np
import dml2onnx

MIB = 1 << 20
SIZE = 1 << 11  # rows and columns of a weight of 16 MiB


def growth(call):
    # of the peak memory of the process, in MiB; macOS counts in bytes
    unit = 1 if sys.platform == "darwin" else 1024
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    call()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit - before) / MIB


def model(path, count, data_type="FLOAT32", stored=None, strides=None, transposed="NONE"):
    # a chain of products, each with a file of weights
    width = np.dtype(data_type.lower()).itemsize
    tensor = lambda sizes: {"DataType": data_type, "Sizes": sizes}
    weight = tensor([1, 1, SIZE, SIZE]) | ({} if strides is None else {"Strides": strides})
    for i in range(count):
        with open(path.with_name(f"w{i}.bin"), "wb") as file:
            file.write(np.full(1000, i + 1, data_type.lower()).tobytes())
            file.truncate(SIZE * SIZE * width)
    row = tensor([1, 1, 1, SIZE])
    nodes = [
        {
            "name": f"product{i}",
            "type": "GEMM",
            "desc": {"OutputTensor": row, "TransA": "NONE", "TransB": transposed, "Alpha": 1.0, "Beta": 0.0},
            "inputs": {"ATensor": f"y{i - 1}" if i else "x", "BTensor": f"w{i}"},
            "outputs": {"OutputTensor": f"y{i}"},
        }
        for i in range(count)
    ]
    constants = {f"w{i}": weight | {"file": f"w{i}.bin"} for i in range(count)}
    document = {"dml2onnx": 1, "inputs": {"x": row}, "constants": constants, "nodes": nodes}
    document["outputs"] = [f"y{count - 1}"]
    path.write_text(json.dumps(document))


def warm_up(directory):
    # one-time costs: modules, tables of kernels
    (directory / "small").mkdir()
    global SIZE
    whole, SIZE = SIZE, 4
    model(directory / "small" / "model.json", 1)
    SIZE = whole
    dml2onnx.compile(directory / "small" / "model.json").run({"x": np.zeros((1, 1, 1, 4), np.float32)})

directory = Path(sys.argv[1])
warm_up(directory)
"""


def run(code: str, *arguments: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROLOGUE + code, *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_constants_pass_through_few_mebibytes(tmp_path: Path) -> None:
    """128 MiB of weights, in every format that names files."""
    code = """
model(directory / "model.json", 8)
graph = dml2onnx.load(directory / "model.json")
found = {"compile": growth(lambda: dml2onnx.compile(graph).save("/dev/null"))}
found["check"] = growth(lambda: dml2onnx.check(graph))
for format in ("native", "dml_graph", "serialized", "dxdispatch"):
    path = directory / format / ("model.bin" if format == "serialized" else "model.json")
    path.parent.mkdir()
    found[f"convert to {format}"] = growth(lambda: dml2onnx.convert(graph, path, format))
    found[f"compile {format}"] = growth(lambda: dml2onnx.compile(path).save("/dev/null"))
    assert dml2onnx.compile(path).weight_bytes >= 128 * MIB
    for file in path.parent.iterdir():
        file.unlink()
assert max(found.values()) < 40, found
"""
    run(code, tmp_path)


@pytest.mark.parametrize(
    "how", ["strides=[0, 0, 1, SIZE]", 'transposed="TRANSPOSE"', 'data_type="FLOAT16"'], ids=lambda item: item[:10]
)
def test_constants_in_another_order_or_type_too(tmp_path: Path, how: str) -> None:
    code = f"""
model(directory / "model.json", 8, {how})
graph = dml2onnx.load(directory / "model.json")
found = growth(lambda: dml2onnx.compile(graph).save("/dev/null"))
assert found < 80, found
assert dml2onnx.compile(graph).weight_bytes >= 64 * MIB
"""
    run(code, tmp_path)


def test_the_same_bytes_are_written_in_another_order(tmp_path: Path) -> None:
    code = """
from dml2onnx.ir import mapped
model(directory / "model.json", 1, strides=[0, 0, 1, SIZE])
dml2onnx.compile(directory / "model.json").save(directory / "out.onnx", external_data=True)
whole = np.fromfile(directory / "w0.bin", np.float32).reshape(SIZE, SIZE)
assert np.array_equal(np.fromfile(directory / "out.onnx.data", np.float32).reshape(SIZE, SIZE), whole.T)
"""
    run(code, tmp_path)


def test_the_same_bytes_are_copied_from_file_to_file(tmp_path: Path) -> None:
    """Also inside the model, and if a file has been replaced since it was read."""
    code = """
model(directory / "model.json", 3)
compiled = dml2onnx.compile(directory / "model.json")
contents = b"".join((directory / f"w{i}.bin").read_bytes() for i in range(3))
compiled.save(directory / "out.onnx", external_data=True)
assert (directory / "out.onnx.data").read_bytes() == contents
compiled.save(directory / "whole.onnx")
assert (directory / "whole.onnx").read_bytes() == compiled.serialize()
(directory / "w1.bin").unlink()
(directory / "w1.bin").write_bytes(bytes(SIZE * SIZE * 4))
assert compiled.save(directory / "out.onnx", external_data=True)[1] == directory / "out.onnx.2.data"
assert (directory / "out.onnx.2.data").read_bytes() == contents
assert not (directory / "out.onnx.data").exists()
"""
    run(code, tmp_path)


def test_more_files_than_descriptors(tmp_path: Path) -> None:
    code = """
tensor = {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 64]}
sums = [
    {
        "type": "ELEMENT_WISE_ADD",
        "desc": {"OutputTensor": tensor},
        "inputs": {"ATensor": f"y{i - 1}" if i else "x", "BTensor": f"c{i}"},
        "outputs": {"OutputTensor": f"y{i}"},
    }
    for i in range(200)
]
for i in range(200):
    (directory / f"c{i}.bin").write_bytes(np.full(64, i, np.float32).tobytes())
constants = {f"c{i}": tensor | {"file": f"c{i}.bin"} for i in range(200)}
document = {"dml2onnx": 1, "inputs": {"x": tensor}, "constants": constants, "nodes": sums, "outputs": ["y199"]}
(directory / "model.json").write_text(json.dumps(document))
resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
compiled = dml2onnx.compile(directory / "model.json")
compiled.save(directory / "out.onnx")
assert (compiled.run({"x": np.zeros((1, 1, 1, 64), np.float32)})["y199"] == 199 * 100).all()
"""
    run(code, tmp_path)


def test_mapped_arrays_of_a_builder_stay_in_their_files(tmp_path: Path) -> None:
    code = """
np.lib.format.open_memmap(directory / "w.npy", "w+", np.float32, (1, 1, 8 * SIZE, SIZE))
weights = np.load(directory / "w.npy", mmap_mode="r")

def build():
    g = dml2onnx.GraphBuilder()
    y = g.gemm(g.input("x", "FLOAT32", [1, 1, 1, 8 * SIZE]), g.constant(weights))
    dml2onnx.compile(g.build({"y": y})).save("/dev/null")

found = growth(build)
assert found < 40, found
"""
    run(code, tmp_path)


def test_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    """A limit on the size of files stands in for a full disk."""
    code = """
model(directory / "model.json", 2)
old = directory / "out.onnx"
dml2onnx.compile(directory / "small" / "model.json").save(old, external_data=True)
before = {path.name: path.stat().st_size for path in directory.iterdir()}
content = old.read_bytes()
resource.setrlimit(resource.RLIMIT_FSIZE, (24 * MIB, 24 * MIB))
from dml2onnx.cli import main
for command in (
    ["compile", "model.json", "-o", "out.onnx", "--external-data"],
    ["compile", "model.json", "-o", "out.onnx"],
    ["convert", "model.json", "-o", "converted.json"],
):
    os.chdir(directory)
    assert main(command) != 0
    assert {path.name: path.stat().st_size for path in directory.iterdir()} == before, command
assert old.read_bytes() == content
"""
    run(code, tmp_path)
