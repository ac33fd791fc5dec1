"""Runs ONNX models from a pipe on one runtime. Needs only numpy and that runtime.

    python worker.py NAME

Reads pickled triples: model bytes, inputs, and whether to disable the optimiser. Answers each with the outputs in order
and the places where nodes ran, or with an error message. The first answer is the runtime and its version.
"""

from __future__ import annotations

import json
import os
import pickle
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]
Runner = Callable[[bytes, Arrays, bool], list[np.ndarray]]
Places = dict[str, dict[str, int]]
"""Number of nodes by provider and operator; empty if a runtime does not report it."""

ONNXRUNTIME = {
    "cpu": "CPUExecutionProvider",
    "dml": "DmlExecutionProvider",
    "coreml": "CoreMLExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "webgpu": "WebGpuExecutionProvider",
}
"""Providers of ONNX Runtime by runtime."""


def openvino() -> tuple[str, Runner]:
    """OpenVINO's ONNX frontend and CPU plugin, in the model's precision."""
    import openvino as ov

    core = ov.Core()
    hints = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "PERFORMANCE_HINT": "LATENCY"}

    def run(model: bytes, feeds: Arrays, plain: bool) -> list[np.ndarray]:
        compiled = core.compile_model(core.read_model(model), "CPU", hints)
        # the compiler removes unused inputs
        ports = [(name, port) for port in compiled.inputs for name in port.names if name in feeds]
        results = compiled({port: ov.Tensor(np.ascontiguousarray(feeds[name])) for name, port in ports})
        return [np.array(results[output]) for output in compiled.outputs]

    return f"openvino {version('openvino')}", run


def evaluator() -> tuple[str, Runner]:
    from onnx.reference import ReferenceEvaluator

    def run(model: bytes, feeds: Arrays, plain: bool) -> list[np.ndarray]:
        session = ReferenceEvaluator(model)
        with np.errstate(all="ignore"):
            return list(session.run(None, feeds))

    return f"onnx {version('onnx')}", run


def onnxruntime(provider: str) -> tuple[str, Runner]:
    """ONNX Runtime with one provider and fallback to the CPU provider."""
    import onnxruntime as ort

    full_name = ONNXRUNTIME[provider]
    if full_name not in ort.get_available_providers():
        raise RuntimeError(f"onnxruntime {ort.__version__} has no {full_name}")
    ort.set_default_logger_severity(4)

    def run(model: bytes, feeds: Arrays, plain: bool) -> list[np.ndarray]:
        options = _options(ort, plain)
        if provider == "dml":
            options.enable_mem_pattern = False
            options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
        if plain:
            options.enable_profiling = True
            options.profile_file_prefix = os.path.join(tempfile.gettempdir(), f"profile{os.getpid()}")
        session = ort.InferenceSession(model, options, [full_name, ONNXRUNTIME["cpu"]])
        if full_name not in session.get_providers():
            raise RuntimeError(f"{full_name} could not be created")
        outputs = list(session.run(None, feeds))
        if plain:  # some providers report their nodes only in profiles
            PLACES.update(profiled(session.end_profiling()))
        return outputs

    return f"onnxruntime {ort.__version__}, {full_name}", run


NPU = {"backend_type": "htp", "soc_model": "60", "htp_arch": "73", "enable_htp_fp16_precision": "1"}
"""Emulates the NPU of Snapdragon X, which computes FLOAT in FLOAT16."""
PLACES: Places = {}
"""The places of the last model."""


def qnn() -> tuple[str, Runner]:
    """ONNX Runtime with Qualcomm's provider, which emulates the NPU on x86-64."""
    import onnxruntime as ort
    import onnxruntime_qnn

    name = onnxruntime_qnn.get_ep_name()
    ort.register_execution_provider_library(name, onnxruntime_qnn.get_library_path())
    ort.set_default_logger_severity(4)
    devices = [item for item in ort.get_ep_devices() if item.ep_name == name][:1]

    def run(model: bytes, feeds: Arrays, plain: bool) -> list[np.ndarray]:
        options = _options(ort, plain)
        options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        options.add_provider_for_devices(devices, NPU)
        session = ort.InferenceSession(model, options)
        PLACES.update(assigned(session))
        return list(session.run(None, feeds))

    return f"onnxruntime {ort.__version__}, {name} {onnxruntime_qnn.__version__}, emulated", run


def _options(ort: Any, plain: bool) -> Any:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if plain:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return options


def profiled(file: str) -> Places:
    """Where nodes ran, from a profile, which is deleted."""
    events = json.loads(Path(file).read_text(encoding="utf-8"))
    Path(file).unlink()
    found: dict[str, Counter[str]] = {}
    for event in events:
        if event["cat"] == "Node" and "provider" in event["args"]:
            found.setdefault(event["args"]["provider"], Counter())[event["args"]["op_name"]] += 1
    return {name: dict(nodes) for name, nodes in found.items()}


def assigned(session: Any) -> Places:
    """Where the nodes of a session run, except folded constants."""
    found: Places = {}
    for part in session.get_provider_graph_assignment_info():
        mine = found.setdefault(part.ep_name, {})
        for node in part.get_nodes():
            mine[node.op_type] = mine.get(node.op_type, 0) + 1
    return found


def web(name: str) -> tuple[str, Runner]:
    """ONNX Runtime Web in Chromium, by ``browser.py`` in this directory."""
    import browser  # type: ignore[import-not-found]  # in this directory

    backend = browser.BACKENDS[name]
    page = browser.Page(backend)
    if name == "webnn" and not page.about["ml"]:
        raise RuntimeError("this browser has no WebNN")
    if name == "web-gpu" and not page.about["adapter"]:
        raise RuntimeError("this browser has no WebGPU adapter")

    def run(model: bytes, feeds: Arrays, plain: bool) -> list[np.ndarray]:
        outputs, places = page.run(model, feeds, "disabled" if plain else "all")
        if name != "web":  # its provider is the CPU
            PLACES.update(places)
        return outputs

    about = page.about
    where = f" on {about['adapter']}" if about["adapter"] else ""
    return f"onnxruntime-web {about['version']}, {backend.places}{where}, {about['browser']}", run


COMMAND = "DML2ONNX_PROVIDER"
"""Environment variable with the command, as JSON, of the program that runs models (directml_models.exe in Wine)."""
ELEMENTS = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
}
"""ONNX's numbers of numpy's data types."""


class Program:
    """A process of ``scripts/directml/provider/main.cpp``, connected by pipes."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        version = self._answer()
        self.title = f"onnxruntime {version}, {ONNXRUNTIME['dml']} in Wine"

    def run(self, model: bytes, feeds: Arrays, plain: bool) -> list[np.ndarray]:
        numbers = {np.dtype(name): number for number, name in ELEMENTS.items()}
        parts = [struct.pack("<Q", len(model)), model, struct.pack("<I", len(feeds))]
        for name, array in feeds.items():
            encoded, dims = name.encode(), array.shape
            parts += [struct.pack("<I", len(encoded)), encoded]
            parts += [struct.pack(f"<II{len(dims)}q", numbers[array.dtype], len(dims), *dims)]
            parts += [struct.pack("<Q", array.nbytes), np.ascontiguousarray(array).tobytes()]
        assert self._process.stdin is not None
        self._process.stdin.write(b"".join(parts))
        self._process.stdin.flush()
        answer = self._answer()
        if isinstance(answer, str):
            raise RuntimeError(answer)
        return answer

    def _answer(self) -> list[np.ndarray] | str:
        if self._number("I"):
            return self._bytes(self._number("I")).decode(errors="replace")
        return [self._array() for _ in range(self._number("I"))]

    def _array(self) -> np.ndarray:
        kind, rank = self._number("I"), self._number("I")
        shape = [self._number("q") for _ in range(rank)]
        return np.frombuffer(self._bytes(self._number("Q")), ELEMENTS[kind]).reshape(shape)

    def _number(self, layout: str) -> int:
        value: int = struct.unpack(f"<{layout}", self._bytes(struct.calcsize(f"<{layout}")))[0]
        return value

    def _bytes(self, size: int) -> bytes:
        assert self._process.stdout is not None
        content = self._process.stdout.read(size)
        if len(content) < size:
            os._exit(3)  # the caller restarts this process
        return content


def _runner(name: str) -> tuple[str, Runner]:
    if name == "dml" and COMMAND in os.environ:
        program = Program(json.loads(os.environ[COMMAND]))
        return program.title, program.run
    if name.startswith("web") and name not in ONNXRUNTIME:
        return web(name)
    own = {"openvino": openvino, "evaluator": evaluator, "qnn": qnn}
    return own[name]() if name in own else onnxruntime(name)


def main(name: str) -> None:
    # output of the runtime must not mix with answers
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    title, run = _runner(name)

    def answer(value: Any) -> None:
        pickle.dump(value, answers)
        answers.flush()

    answer(title)
    while True:
        try:
            model, feeds, plain = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        PLACES.clear()
        try:
            answer(([np.ascontiguousarray(array) for array in run(model, feeds, plain)], dict(PLACES)))
        except Exception as error:  # each runtime has its own exceptions
            answer(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main(sys.argv[1])
