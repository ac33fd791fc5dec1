"""Runs models on OpenVINO, or on a provider of ONNX Runtime, for ``probe_target.py``: in a process that may die of it.

    python _probe_child.py openvino|webgpu|qnn-npu|webnn JOBS FIRST

JOBS is a pickled list of (model, feeds). Prints a line of JSON about each from FIRST on, when it is done: what it gave,
in base64, or the error. This file is run by interpreters that have neither dml2onnx nor onnx.
"""

from __future__ import annotations

import base64
import json
import pickle
import sys
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
PROVIDERS = {"webgpu": "WebGpuExecutionProvider"}


class ElsewhereError(Exception):
    """The provider left the node to the CPU."""


@cache
def _core() -> Any:
    import openvino as ov

    core = ov.Core()
    core.set_property("CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1})
    return core


def openvino(model: bytes, feeds: dict[str, Array]) -> list[Array]:
    """What OpenVINO's CPU device gives, which reads ONNX itself."""
    core = _core()
    compiled = core.compile_model(core.read_model(model), "CPU")
    results = compiled(dict(feeds))
    return [np.array(results[output]) for output in compiled.outputs]


def provider(name: str, model: bytes, feeds: dict[str, Array]) -> list[Array]:
    """What a provider of ONNX Runtime gives; :class:`ElsewhereError` where the node ran on the CPU."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.enable_profiling = True
    with tempfile.TemporaryDirectory() as directory:
        options.profile_file_prefix = f"{directory}/profile"
        session = ort.InferenceSession(model, options, providers=[name])
        results: list[Array] = session.run(None, feeds)
        events = json.loads(Path(session.end_profiling()).read_text(encoding="utf-8"))
    places = {event["args"].get("provider") for event in events if event["cat"] == "Node"}
    if name not in places:
        raise ElsewhereError("the node runs on the CPU")
    return results


NPU = {"backend_type": "htp", "soc_model": "60", "htp_arch": "73", "enable_htp_fp16_precision": "1"}
"""As in ``tests/runtimes/worker.py``."""


@cache
def _emulator() -> Any:
    import onnxruntime as ort
    import onnxruntime_qnn

    name = onnxruntime_qnn.get_ep_name()
    ort.register_execution_provider_library(name, onnxruntime_qnn.get_library_path())
    return [item for item in ort.get_ep_devices() if item.ep_name == name][:1]


def emulated(model: bytes, feeds: dict[str, Array]) -> list[Array]:
    """What Qualcomm's emulator of its NPU gives; :class:`ElsewhereError` where the node was left to the CPU."""
    import onnxruntime as ort

    devices = _emulator()
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    options.add_provider_for_devices(devices, NPU)
    session = ort.InferenceSession(model, options)
    if all(part.ep_name != devices[0].ep_name for part in session.get_provider_graph_assignment_info()):
        raise ElsewhereError("the node runs on the CPU")
    results: list[Array] = session.run(None, feeds)
    return results


@cache
def _page() -> Any:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "runtimes"))
    import browser  # type: ignore[import-not-found]  # of that directory

    return browser.Page(browser.BACKENDS["webnn"])


def webnn(model: bytes, feeds: dict[str, Array]) -> list[Array]:
    """What WebNN gives in Chromium; :class:`ElsewhereError` where the node ran on WebAssembly."""
    results: list[Array]
    results, places = _page().run(model, feeds, "disabled")
    if list(places) != ["WebNNExecutionProvider"]:
        raise ElsewhereError("the node runs on the CPU")
    return results


def runner(name: str) -> Callable[[bytes, dict[str, Array]], list[Array]]:
    """What runs models for a target."""
    own = {"openvino": openvino, "qnn-npu": emulated, "webnn": webnn}
    return own[name] if name in own else partial(provider, PROVIDERS[name])


def main() -> None:
    """The command line."""
    name, path, first = sys.argv[1:]
    run = runner(name)
    jobs = pickle.loads(Path(path).read_bytes())
    for number, (model, feeds) in enumerate(jobs[int(first) :], int(first)):
        answer: dict[str, Any]
        try:
            results = run(model, feeds)
            answer = {"results": [[base64.b64encode(x.tobytes()).decode(), x.dtype.name, x.shape] for x in results]}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps({"job": number, **answer}), flush=True)


if __name__ == "__main__":
    main()
