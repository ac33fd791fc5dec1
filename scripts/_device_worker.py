"""Runs ONNX models on one runtime for ``device_figures.py``. Needs only that runtime and numpy.

    python _device_worker.py NAME DIRECTORY

NAME is onnxruntime, ort-format, tinygrad, iree or mnn. DIRECTORY has models ``NUMBER.onnx`` and their inputs
``NUMBER.npz``; outputs are written to ``NUMBER.out.npz``. Prints JSON: the version, and the errors of refused models by
number.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

Arrays = dict[str, Any]


def onnxruntime(path: Path, feeds: Arrays) -> Arrays:
    ort = import_module("onnxruntime")
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [item.name for item in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds), strict=True))


def ort_format(path: Path, feeds: Arrays) -> Arrays:
    """Writes and reads the format of ONNX Runtime's mobile packages."""
    ort = import_module("onnxruntime")
    made = path.with_suffix(".ort")
    options = ort.SessionOptions()
    options.optimized_model_filepath = str(made)
    options.add_session_config_entry("session.save_model_format", "ORT")
    ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return onnxruntime(made, feeds)


def tinygrad(path: Path, feeds: Arrays) -> Arrays:
    tensor = import_module("tinygrad").Tensor
    answers = import_module("tinygrad.nn.onnx").OnnxRunner(path)({k: tensor(v) for k, v in feeds.items()})
    return {name: value.numpy() for name, value in answers.items()}


def iree(path: Path, feeds: Arrays) -> Arrays:
    made = path.with_suffix(".mlir")
    command = [sys.executable, "-m", "iree.compiler.tools.import_onnx", str(path), "-o", str(made)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    binary = import_module("iree.compiler").compile_file(
        str(made), target_backends=["llvm-cpu"], input_type="onnx", extra_args=["--iree-llvmcpu-target-cpu=host"]
    )
    runtime = import_module("iree.runtime")
    config = runtime.Config("local-task")
    module = runtime.load_vm_modules(runtime.VmModule.copy_buffer(config.vm_instance, binary), config=config)[-1]
    model = import_module("onnx").load(path)
    names = [name for name in module.vm_module.function_names if not name.startswith("__") and "$" not in name]
    function = module[names[0]]  # the other functions are asynchronous variants
    answers = function(*[feeds[item.name] for item in model.graph.input])
    several = answers if isinstance(answers, (tuple, list)) else [answers]
    made_of = zip(model.graph.output, several, strict=True)
    return {item.name: _typed(value.to_host(), item.type.tensor_type.elem_type) for item, value in made_of}


def _typed(array: Any, element: int) -> Any:
    """Restores the model's integer type, since IREE and MNN return signed integers."""
    wanted = import_module("onnx").helper.tensor_dtype_to_np_dtype(element)
    return array.view(wanted) if array.dtype.kind in "iu" and array.itemsize == wanted.itemsize else array


def mnn(path: Path, feeds: Arrays) -> Arrays:
    made, module = path.with_suffix(".mnn"), import_module("MNN")
    # the command mnnconvert does the same, but first installs packages with pip, and sends usage reports
    program = "import sys, MNN, _tools; _tools.mnnconvert(sys.argv)"
    options = ["-f", "ONNX", "--modelFile", str(path), "--MNNModel", str(made), "--bizCode", "x"]
    done = subprocess.run([sys.executable, "-c", program, *options], check=False, capture_output=True, text=True)
    if not made.exists():
        lines = [line.partition("]")[2] or line for line in done.stdout.splitlines() if "Not Support" in line]
        raise RuntimeError(lines[0].lstrip(" :0123456789") if lines else f"the converter exits with {done.returncode}")
    expression = module.expr
    wanted = import_module("onnx").load(path).graph.output
    net = module.nn.load_module_from_file(str(made), list(feeds), [item.name for item in wanted])
    given = [
        expression.const(np.ascontiguousarray(v), list(v.shape), expression.NCHW, _mnn_type(v)) for v in feeds.values()
    ]
    several = zip(wanted, net.onForward(given), strict=True)
    return {item.name: _typed(np.array(value.read()), item.type.tensor_type.elem_type) for item, value in several}


def _mnn_type(array: Any) -> Any:
    expression = import_module("MNN").expr
    return {"float32": expression.float, "int32": expression.int, "uint8": expression.uint8}[array.dtype.name]


RUNNERS = {"onnxruntime": onnxruntime, "ort-format": ort_format, "tinygrad": tinygrad, "iree": iree, "mnn": mnn}
PACKAGES = {
    "onnxruntime": "onnxruntime",
    "ort-format": "onnxruntime",
    "tinygrad": "tinygrad",
    "iree": "iree-base-compiler",
    "mnn": "MNN",
}


def reason(text: str) -> str:
    """The first line that names an error, or else the first line, without paths."""
    lines = [line for line in text.strip().splitlines() if not line.startswith("WARNING")] or ["no message"]
    named = [line for line in lines if "error" in line.lower() and "/lib/" not in line]
    return " ".join((named or lines)[0].replace(str(Path(sys.argv[2])), "").split())


def main() -> None:
    name, directory = sys.argv[1], Path(sys.argv[2])
    refused: dict[str, str] = {}
    for path in sorted(directory.glob("*.onnx")):
        with np.load(path.with_suffix(".npz")) as loaded:
            feeds = dict(loaded)
        try:
            np.savez(path.with_suffix(".out.npz"), **RUNNERS[name](path, feeds))
        except Exception as error:  # each runtime has its own exceptions
            refused[path.stem] = reason(str(getattr(error, "stderr", None) or error) or type(error).__name__)
    print(json.dumps({"version": version(PACKAGES[name]), "refused": refused}))


if __name__ == "__main__":
    main()
