"""Runs ONNX models that come through a pipe on one runtime. Needs numpy and that runtime, and nothing of this project.

    python worker.py NAME

reads pickled pairs of a model's bytes and its inputs, and answers each with the outputs in order, or with the text of
what the runtime refused it with. The first answer says what ran: the runtime and its version.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]
Runner = Callable[[bytes, Arrays], list[np.ndarray]]

ONNXRUNTIME = {
    "cpu": "CPUExecutionProvider",
    "dml": "DmlExecutionProvider",
    "coreml": "CoreMLExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "webgpu": "WebGpuExecutionProvider",
}
"""Runtimes that are ONNX Runtime with one of its providers."""


def openvino() -> tuple[str, Runner]:
    """OpenVINO's own reader of ONNX and its CPU plugin, in the precision that the model states."""
    import openvino as ov

    core = ov.Core()
    hints = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "PERFORMANCE_HINT": "LATENCY"}

    def run(model: bytes, feeds: Arrays) -> list[np.ndarray]:
        compiled = core.compile_model(core.read_model(model), "CPU", hints)
        # an input that nothing reads any more is gone
        ports = [(name, port) for port in compiled.inputs for name in port.names if name in feeds]
        results = compiled({port: ov.Tensor(np.ascontiguousarray(feeds[name])) for name, port in ports})
        return [np.array(results[output]) for output in compiled.outputs]

    return f"openvino {version('openvino')}", run


def evaluator() -> tuple[str, Runner]:
    """ONNX's reference evaluator."""
    from onnx.reference import ReferenceEvaluator

    def run(model: bytes, feeds: Arrays) -> list[np.ndarray]:
        session = ReferenceEvaluator(model)
        with np.errstate(all="ignore"):
            return list(session.run(None, feeds))

    return f"onnx {version('onnx')}", run


def onnxruntime(provider: str) -> tuple[str, Runner]:
    """ONNX Runtime with one provider, which leaves to the CPU provider what it has no kernels for."""
    import onnxruntime as ort

    full_name = ONNXRUNTIME[provider]
    if full_name not in ort.get_available_providers():
        raise RuntimeError(f"onnxruntime {ort.__version__} has no {full_name}")
    ort.set_default_logger_severity(4)

    def run(model: bytes, feeds: Arrays) -> list[np.ndarray]:
        options = ort.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        if provider == "dml":
            options.enable_mem_pattern = False
            options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
        session = ort.InferenceSession(model, options, [full_name, ONNXRUNTIME["cpu"]])
        if full_name not in session.get_providers():
            raise RuntimeError(f"{full_name} could not be made")
        return list(session.run(None, feeds))

    return f"onnxruntime {ort.__version__}, {full_name}", run


def main(name: str) -> None:
    # what a runtime prints must not get between the answers
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    own = {"openvino": openvino, "evaluator": evaluator}
    title, run = own[name]() if name in own else onnxruntime(name)

    def answer(value: Any) -> None:
        pickle.dump(value, answers)
        answers.flush()

    answer(title)
    while True:
        try:
            model, feeds = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer([np.ascontiguousarray(array) for array in run(model, feeds)])
        except Exception as error:  # each runtime has classes of its own
            answer(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main(sys.argv[1])
