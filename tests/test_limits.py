"""Limits of models in all formats: no files outside their directory, no code, and no more memory than there is."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dml2onnx
from dml2onnx import DmlError, GraphBuilder
from dml2onnx.cli import main
from dml2onnx.onnx_model import UNKNOWN, peak
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.test_cases.valid import descriptors
from tests.frontends.models import DX, GRAPH, NATIVE, edited, f32
from tests.frontends.partitions import build
from tests.frontends.test_serialized_fuzz import MODEL as PARTITION
from tests.lowering.harness import operator, t
from tests.refusals import refusal

# --- Files ------------------------------------------------------------------------------------------------------------

OUTSIDE = {
    "..": "../outside.bin",
    "through a directory": "sub/../../outside.bin",
    "absolute": "/etc/hostname",
    "a drive": r"C:\outside.bin",
    "another drive's root": r"\outside.bin",
    "a link": "link.bin",
    "below a link": "links/outside.bin",
    "a device": "/dev/zero",
    "a device of Windows": r"\\.\PhysicalDrive0",
    "NUL": "NUL",
    "UNC": r"\\server\share\w.bin",
    "UNC with slashes": "//server/share/w.bin",
    "verbatim UNC": r"\\?\UNC\server\share\w.bin",
    "a pipe": "pipe",
    "a directory": "sub",
}


def native(name: str) -> bytes:
    return json.dumps(edited(NATIVE, ("/constants/w", f32(4, file=name)))).encode()


def dxdispatch(name: str) -> bytes:
    return json.dumps(edited(DX, ("/resources/x/initialValues", {"sourcePath": name}))).encode()


def dml_graph(name: str) -> bytes:
    return json.dumps(edited(GRAPH, ("/Nodes/1/Desc", {"Data": {"file": name}}))).encode()


def partition(name: str) -> bytes:
    return build(edited(PARTITION, ("/nodes/0/constant", name.removesuffix(".bin"))))  # the reader appends .bin


FORMATS: dict[str, Callable[[str], bytes]] = {
    "native": native,
    "dxdispatch": dxdispatch,
    "dml_graph": dml_graph,
    "serialized": partition,
}


class Audit:
    """Names of files opened, and of those written, moved or created, and events that run code, while it is on."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.written: list[str] = []
        self.ran: list[str] = []
        self.is_on = False

    def hook(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self.is_on:
            return
        if event == "open" and not isinstance(arguments[0], int):
            self.opened.append(str(arguments[0]))
            if int(str(arguments[2])) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                self.written.append(str(arguments[0]))
        elif event in ("os.mkdir", "os.rename", "os.link", "os.symlink", "os.remove", "os.truncate"):
            self.written += [str(name) for name in arguments[:2] if isinstance(name, (str, bytes, os.PathLike))]
        elif event in ("pickle.find_class", "os.system", "os.exec", "subprocess.Popen", "ctypes.dlopen"):
            self.ran.append(event)

    def during(self, function: Callable[[], object]) -> None:
        self.opened, self.written, self.ran, self.is_on = [], [], [], True
        try:
            function()
        finally:
            self.is_on = False


@pytest.fixture(scope="module")
def audit() -> Audit:
    """One for all tests, since Python cannot remove audit hooks."""
    audit = Audit()
    sys.addaudithook(audit.hook)
    return audit


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there, and pipes are no files")
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", OUTSIDE.values(), ids=OUTSIDE)
def test_models_of_all_formats_read_no_files_outside(tmp_path: Path, audit: Audit, format: str, name: str) -> None:
    directory = tmp_path / "model"
    for name_ in ("sub", "sub.bin"):
        (directory / name_).mkdir(parents=True)
    (tmp_path / "outside.bin").write_bytes(bytes(16))
    (directory / "link.bin").symlink_to(tmp_path / "outside.bin")
    (directory / "links").symlink_to(tmp_path)
    for name_ in ("pipe", "pipe.bin"):
        os.mkfifo(directory / name_)
    path = directory / ("Partition_0.bin" if format == "serialized" else "model.json")
    path.write_bytes(FORMATS[format](name))
    loaded: list[dml2onnx.Graph] = []
    audit.during(lambda: loaded.append(dml2onnx.load(path)))
    assert {item.code for item in loaded[0].findings} & {"DML1020", "DML1021", "DML1028"}
    allowed = (str(directory.resolve()), sys.prefix, sys.base_prefix, str(ROOT))
    assert [item for item in audit.opened if not item.startswith(allowed)] == []
    assert [item for item in audit.opened if Path(item).name in ("pipe", "pipe.bin", "link.bin")] == []


ROOT = Path(__file__).parent.parent


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
@pytest.mark.parametrize("name", OUTSIDE.values(), ids=OUTSIDE)
def test_programs_write_no_files_outside(tmp_path: Path, audit: Audit, name: str) -> None:
    """Nothing is written, created or moved except below the output directory."""
    directory = tmp_path / "out"
    (directory / "sub").mkdir(parents=True)
    (tmp_path / "outside.bin").write_bytes(bytes(16))
    (directory / "link.bin").symlink_to(tmp_path / "outside.bin")
    (directory / "links").symlink_to(tmp_path)
    path = tmp_path / "model.json"
    writing = {"type": "writeFile", "resource": "y", "targetPath": name}
    path.write_text(json.dumps(edited(DX, ("/commands/-", writing))), encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    audit.during(lambda: main(["run", str(path), "--output-dir", str(directory)]))
    inside = str(directory.resolve())
    assert [item for item in audit.written if not item.startswith(inside) and item != os.devnull] == []
    assert (tmp_path / "outside.bin").read_bytes() == bytes(16)
    assert sorted(tmp_path.iterdir()) == before


# --- Code -------------------------------------------------------------------------------------------------------------


class Attack:
    """Runs a command when it is unpickled."""

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("echo done > ran",)


def _npy(header: str, data: bytes) -> bytes:
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


ATTACKS = {
    "objects": _npy("{'descr': '|O', 'fortran_order': False, 'shape': (4,)}", pickle.dumps(Attack())),
    "a header that calls": _npy("{'descr': __import__('os').system('echo done > ran')}", bytes(16)),
    "only a pickle": pickle.dumps(Attack()),
}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("way", ["native", "dxdispatch", "--input", "--constant"])
def test_no_code_of_a_model_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, audit: Audit, attack: str, way: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("w.npy").write_bytes(ATTACKS[attack])
    Path("model.json").write_bytes(FORMATS[way]("w.npy") if way in FORMATS else json.dumps(NATIVE).encode())
    options = {"--input": ["--input", "x=w.npy"], "--constant": ["--constant", "w=w.npy"]}.get(way, [])
    codes: list[int] = []
    audit.during(lambda: codes.append(main(["run", "model.json", *options])))
    assert codes in ([1], [2])
    assert audit.ran == []
    assert not Path("ran").exists()


# --- Memory -----------------------------------------------------------------------------------------------------------


def wide(rows: int) -> dml2onnx.Graph:
    """Broadcasts a row and a column to a large square, and reduces that to a number."""
    g = GraphBuilder()
    row, column = g.input("row", "FLOAT32", [1, rows]), g.input("column", "FLOAT32", [rows, 1])
    across = g.reinterpret(row, sizes=[rows, rows], strides=[0, 1])
    down = g.reinterpret(column, sizes=[rows, rows], strides=[1, 0])
    square = g.add(across, down, name="square")
    return g.build({"y": g.reduce(g.activation_relu(square), "SUM", axes=[0, 1])})


def test_memory_is_estimated_before_a_run() -> None:
    found = peak(dml2onnx.compile(wide(1000)).lowered)
    assert 4_000_000 < found.nbytes < 4_100_000
    assert found.origin is not None
    assert found.origin.node == "square"


def test_shapes_of_the_same_memory_count_once() -> None:
    g = GraphBuilder()
    x = g.tanh(g.input("x", "FLOAT32", [100, 100]))
    y = g.tanh(g.reshape(g.tanh(g.reshape(x, [10000])), [50, 200]))
    assert peak(dml2onnx.compile(g.build({"y": y})).lowered).nbytes < 2 * 40_000 + 100


def test_reshapes_of_live_tensors_take_no_memory() -> None:
    g = GraphBuilder()
    x = g.tanh(g.input("x", "FLOAT32", [100, 100]))
    flat = g.reshape(x, [10_000])
    y = g.add(g.reshape(g.add(g.tanh(flat), flat), [100, 100]), x)
    model = dml2onnx.compile(g.build({"y": y}), optimize=0)
    assert "Reshape" in [node.op_type for node in model.lowered.nodes]
    assert peak(model.lowered).nbytes == 3 * 40_000 + model.weight_bytes  # the input, and two results


def test_tensors_of_unknown_size_are_not_counted() -> None:
    """The number of rows that an exact ROI_POOLING reads is only known at run time."""
    seen = 0
    for op in (*descriptors()["DML_OPERATOR_ROI_ALIGN"], *descriptors()["DML_OPERATOR_ROI_POOLING"], LARGE_ROI):
        model = dml2onnx.compile(single_node(op), exact=True)
        seen += any(UNKNOWN in value.shape for node in model.lowered.nodes for value in node.outputs if value)
        assert peak(model.lowered).nbytes < 1 << 20
    assert seen


LARGE_ROI = operator(
    "ROI_ALIGN",
    InputTensor=t("FLOAT16", [2, 4, 1, 2]),
    ROITensor=t("FLOAT16", [3, 4]),
    BatchIndicesTensor=t("UINT32", [3]),
    OutputTensor=t("FLOAT16", [3, 4, 3, 3]),
    ReductionFunction="AVERAGE",
    InterpolationMode="LINEAR",
    SpatialScaleX=0.5,
    SpatialScaleY=1.0,
    OutOfBoundsInputValue=0.0,
    MinimumSamplesPerOutput=2,
    MaximumSamplesPerOutput=2,
)


@pytest.mark.parametrize("rows", [1 << 14, 45_000])
def test_runs_that_need_too_much_memory_are_refused_early(rows: int) -> None:
    graph, model = wide(rows), dml2onnx.compile(wide(rows))
    feeds = {"row": np.zeros((1, rows), np.float32), "column": np.zeros((rows, 1), np.float32)}
    for run in (
        lambda: dml2onnx.run(graph, feeds, max_bytes=1 << 29),
        lambda: model.run(feeds, max_bytes=1 << 29),
        lambda: model.session(max_bytes=1 << 29),
    ):
        item = refusal(run)
        assert (item.code, item.node, item.expected) == ("DML3020", "square", f"at most {1 << 29} bytes")


def test_models_run_within_their_estimate() -> None:
    model = dml2onnx.compile(wide(100))
    feeds = {"row": np.zeros((1, 100), np.float32), "column": np.ones((100, 1), np.float32)}
    nbytes = peak(model.lowered).nbytes
    assert model.run(feeds, max_bytes=nbytes)["y"].reshape(()) == 10_000
    assert dml2onnx.verify(wide(100), rounds=1, max_bytes=1 << 20).passed
    with pytest.raises(DmlError, match="DML3020"):
        model.run(feeds, max_bytes=nbytes - 1)
    with pytest.raises(DmlError, match="DML3020"):
        dml2onnx.verify(wide(100), rounds=1, max_bytes=nbytes - 1)


def terabytes() -> dml2onnx.Graph:
    """300 tensors of 4 GiB, each alive to the end."""
    g = GraphBuilder()
    wide = g.reinterpret(g.input("x", "FLOAT32", [1, 1]), sizes=[1 << 15, 1 << 15], strides=[0, 0])
    first = g.add(wide, wide, name="n0")
    others = {f"v{index}": g.identity(first, name=f"n{index}") for index in range(1, 300)}
    return g.build({"v0": first, **others})


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are POSIX's")
@pytest.mark.parametrize(
    "command",
    [
        ["check"],
        ["compile", "-o", "out.onnx"],
        ["explain"],
        ["report", "--verify", "--profile", "-o", "out.html"],
        ["convert", "-o", "out.bin"],
        ["run", "--input", "x=x.npy"],
        ["verify"],
    ],
    ids=lambda item: item[0],
)
def test_terabytes_are_a_finding(tmp_path: Path, command: list[str]) -> None:
    """Within 2 GiB of address space, including Python and its libraries."""
    dml2onnx.convert(terabytes(), tmp_path / "model.json")
    np.save(tmp_path / "x.npy", np.zeros((1, 1), np.float32))
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30));"
        "from dml2onnx.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    arguments = [command[0], "model.json", *command[1:]]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    )
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    wanted = {"run": "DML3020", "verify": "DML3015", "report": "DML30"}.get(command[0], "")
    page = tmp_path / "out.html"
    assert wanted in done.stdout + done.stderr + (page.read_text(encoding="utf-8") if page.exists() else "")
    assert done.returncode == (1 if wanted else 0), done.stdout + done.stderr


def test_the_command_line_sets_the_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.json"
    dml2onnx.convert(wide(500), path, format="native")
    size = path.stat().st_size
    for given in ("1M", "1MiB", "1m", "1000000"):
        assert main(["verify", str(path), "--cases", "1", "--max-bytes", given]) == 1
        assert "DML3020" in capsys.readouterr().err
    assert main(["verify", str(path), "--cases", "1", "--max-bytes", "1G"]) == 0
    for command in (["check"], ["compile", "-o", str(tmp_path / "y.onnx")], ["explain"]):
        assert main([command[0], str(path), *command[1:], "--max-bytes", str(size)]) == 0
        assert main([command[0], str(path), *command[1:], "--max-bytes", str(size - 1)]) == 2
        assert f"at most {size - 1} bytes" in "".join(capsys.readouterr())
    for given in ("0", "-1", "1X", "G", "1.5G", "٣"):
        assert main(["check", str(path), f"--max-bytes={given}"]) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="no such limits there")
def test_the_limit_of_the_process_counts() -> None:
    code = (
        "import resource; from dml2onnx.runtime import machine_bytes; resource.setrlimit(resource.RLIMIT_AS, (3 << 30,"
        " resource.RLIM_INFINITY)); print(machine_bytes() == min(3 << 30, resource.getrlimit(resource.RLIMIT_AS)[0]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
