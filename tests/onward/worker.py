"""Runs tools on ONNX models. Needs only a tool, ONNX Runtime and numpy.

    python worker.py                    prints the tools of this interpreter as JSON
    python worker.py TOOL DIRECTORY

TOOL is a name of ``TOOLS``. DIRECTORY has models ``NAME.onnx`` and several feeds each in ``NAME.npz``, named
``NUMBER/INPUT``. The tool converts or runs each model; outputs for the first feeds are written to ``NAME.out.npz``, and
the result to ``NAME.json``. Models with a result are skipped.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

SECONDS = 120
"""Timeout for one model in seconds."""
Arrays = dict[str, Any]
Feeds = Sequence[Arrays]


class Tool(NamedTuple):
    """A tool and how to use it."""

    packages: tuple[str, ...]
    """Required packages."""
    bound: str
    """The permitted error, one of ``judging.BOUNDS``."""
    make: Callable[[Path, Path, Feeds], Path | None] | None = None
    """Converts a model, given the source, the target and feeds for calibration; returns the path if it is another."""
    run: Callable[[Path, Arrays], Arrays] | None = None
    """Runs a model; by default ONNX Runtime's CPU provider."""
    target: str = "onnx"
    opset: int = 21
    program: str = ""
    """A required program."""


class Reader:
    """ONNX Runtime's interface for calibration data."""

    def __init__(self, feeds: Feeds) -> None:
        self.feeds = feeds
        self.rewind()

    def get_next(self) -> Arrays | None:
        return next(self.rest, None)

    def rewind(self) -> None:
        self.rest = iter(self.feeds)

    def __len__(self) -> int:
        return len(self.feeds)


# --- ONNX Runtime ----------------------------------------------------------------------------------------------------


def run(path: Path, feeds: Arrays) -> Arrays:
    """Runs a model on ONNX Runtime's CPU provider."""
    ort = import_module("onnxruntime")
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    # without this option 8-bit products saturate on some processors
    options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime has its own exceptions
        # with this option it refuses INT8 weights that two nodes share; unoptimised QDQ nodes compute in FLOAT
        if "AddInitializerWithOrtValue" not in str(error):
            raise
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [item.name for item in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds), strict=True))


def pre_process(path: Path, made: Path, feeds: Feeds) -> None:
    """Preparation for quantisation: shape inference and ONNX Runtime's optimizer."""
    process = import_module("onnxruntime.quantization.shape_inference").quant_pre_process
    process(str(path), str(made), skip_symbolic_shape=not has_sympy())


def has_sympy() -> bool:
    """Whether sympy is installed, which symbolic shape inference needs but ONNX Runtime does not require."""
    return import_module("importlib.util").find_spec("sympy") is not None


def static(path: Path, made: Path, feeds: Feeds) -> None:
    """8-bit QDQ for ONNX Runtime's CPU provider: UINT8 activations, INT8 weights per channel."""
    quantization = import_module("onnxruntime.quantization")
    prepared = path.with_suffix(".prepared")
    pre_process(path, prepared, feeds)
    kinds = quantization.QuantType
    quantization.quantize_static(
        str(prepared), str(made), Reader(feeds), activation_type=kinds.QUInt8, weight_type=kinds.QInt8, per_channel=True
    )


def qnn_pre_process(path: Path, made: Path, feeds: Feeds) -> None:
    """ONNX Runtime's preparation of models for QNN."""
    process = import_module("onnxruntime.quantization.execution_providers.qnn").qnn_preprocess_model
    if not process(str(path), str(made)):  # unchanged
        made.write_bytes(path.read_bytes())


def static_for_npu(path: Path, made: Path, feeds: Feeds) -> None:
    """ONNX Runtime's QDQ for QNN: 16-bit activations, 8-bit weights."""
    onnx, quantization = import_module("onnx"), import_module("onnxruntime.quantization")
    model = onnx.load(path)
    del model.metadata_props[:]  # qnn_preprocess_model fails with metadata: differences.py
    prepared = path.with_suffix(".prepared")
    onnx.save(model, path.with_suffix(".bare"))
    qnn_pre_process(path.with_suffix(".bare"), prepared, feeds)
    qnn = import_module("onnxruntime.quantization.execution_providers.qnn")
    kinds = quantization.QuantType
    how = qnn.get_qnn_qdq_config(str(prepared), Reader(feeds), activation_type=kinds.QUInt16, weight_type=kinds.QUInt8)
    quantization.quantize(str(prepared), str(made), how)


def dynamic(path: Path, made: Path, feeds: Feeds) -> None:
    """8-bit weights and dynamically quantised activations."""
    quantization = import_module("onnxruntime.quantization")
    quantization.quantize_dynamic(str(path), str(made), weight_type=quantization.QuantType.QInt8)


def transformers_half(path: Path, made: Path, feeds: Feeds) -> None:
    """FLOAT16 by onnxruntime.transformers, with unchanged inputs and outputs."""
    convert = import_module("onnxruntime.transformers.float16").convert_float_to_float16
    onnx = import_module("onnx")
    onnx.save(convert(onnx.load(path), keep_io_types=True), made)


def ort_format(path: Path, made: Path, feeds: Feeds) -> Path:
    """The format of mobile packages, by ONNX Runtime's documented command."""
    command = ["-m", "onnxruntime.tools.convert_onnx_models_to_ort", str(path), "--optimization_style", "Fixed"]
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(
            [sys.executable, *command, "--output_dir", directory], check=True, capture_output=True, text=True
        )
        (found,) = Path(directory).glob("*.ort")
        return found.replace(made.with_suffix(".ort"))


NPU = {"backend_type": "htp", "soc_model": "60", "htp_arch": "73", "enable_htp_fp16_precision": "1"}
"""The NPU of Snapdragon X, as in ``tests/runtimes/worker.py``."""


def _for_npu() -> Any:
    ort, qnn = import_module("onnxruntime"), import_module("onnxruntime_qnn")
    name = qnn.get_ep_name()
    if not any(item.ep_name == name for item in ort.get_ep_devices()):
        ort.register_execution_provider_library(name, qnn.get_library_path())
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.add_provider_for_devices([item for item in ort.get_ep_devices() if item.ep_name == name][:1], NPU)
    return options


def context(path: Path, made: Path, feeds: Feeds) -> None:
    """A compiled NPU program in an ONNX model, as ``winml compile`` writes it on a machine with this NPU."""
    compiler = import_module("onnxruntime").ModelCompiler(_for_npu(), str(path), embed_compiled_data_into_model=True)
    compiler.compile_to_file(str(made))


def run_context(path: Path, feeds: Arrays) -> Arrays:
    """Runs a compiled NPU program on the emulator."""
    session = import_module("onnxruntime").InferenceSession(str(path), _for_npu())
    names = [item.name for item in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds), strict=True))


# --- optimizers ------------------------------------------------------------------------------------------------------


def onnxslim(path: Path, made: Path, feeds: Feeds) -> None:
    import_module("onnxslim").slim(str(path), str(made))


def onnxsim(path: Path, made: Path, feeds: Feeds) -> None:
    """Default options, without its own check."""
    onnx = import_module("onnx")
    simple, _ = import_module("onnxsim").simplify(onnx.load(path))
    onnx.save(simple, made)


def onnxscript(path: Path, made: Path, feeds: Feeds) -> None:
    """onnxscript's optimizer with its rewrite rules, on onnx-ir."""
    ir = import_module("onnx_ir")
    model = ir.load(path)
    import_module("onnxscript.optimizer").optimize(model)
    ir.save(import_module("onnxscript.rewriter").rewrite(model), made)


def onnxoptimizer(path: Path, made: Path, feeds: Feeds) -> None:
    """Its fusion and elimination passes."""
    onnx = import_module("onnx")
    onnx.save(import_module("onnxoptimizer").optimize(onnx.load(path)), made)


def common_half(path: Path, made: Path, feeds: Feeds) -> None:
    """FLOAT16 by onnxconverter-common, with unchanged inputs and outputs."""
    onnx = import_module("onnx")
    convert = import_module("onnxconverter_common.float16").convert_float_to_float16
    onnx.save(convert(onnx.load(path), keep_io_types=True), made)


# --- Olive and winml -------------------------------------------------------------------------------------------------


def olive(kind: str, **options: Any) -> Callable[[Path, Path, Feeds], None]:
    """A pass of Olive."""

    def make(path: Path, made: Path, feeds: Feeds) -> None:
        onnx = import_module("onnx")
        known = import_module("olive.package_config").OlivePackageConfig.load_default_config()
        chosen = known.import_pass_module(kind)
        how = dict(options)
        if chosen.__name__.startswith("OnnxStatic"):
            how["data_config"] = _olive_data(feeds)
        step = import_module("olive.passes.olive_pass").create_pass_from_dict(chosen, how, disable_search=True)
        handler = import_module("olive.model").ONNXModelHandler(str(path))
        with tempfile.TemporaryDirectory() as directory:
            answer = step.run(handler, str(Path(directory, "made.onnx")))
            onnx.save(onnx.load(answer.model_path), made)

    return make


def _olive_data(feeds: Feeds) -> Any:
    """Calibration data for Olive: pairs of inputs and a label."""
    registry = import_module("olive.data.registry").Registry
    registry.register_dataloader("onward")(lambda *_, **__: [(one, 0) for one in feeds])
    config = import_module("olive.data.config")
    loader = config.DataComponentConfig(type="onward")
    dataset = config.DataComponentConfig(type="dummy_dataset", params={"input_shapes": [[1]]})
    return config.DataConfig(
        name="onward", type="DummyDataContainer", load_dataset_config=dataset, dataloader_config=loader
    )


def winml_optimize(path: Path, made: Path, feeds: Feeds) -> None:
    """``winml optimize`` with default options."""
    _winml("optimize", "-m", str(path), "-o", str(made))


def winml_quantize(*precision: str) -> Callable[[Path, Path, Feeds], None]:
    """``winml quantize``, by its API, since the command calibrates with random data."""

    def make(path: Path, made: Path, feeds: Feeds) -> None:
        quant = import_module("winml.modelkit.quant")
        config = quant.WinMLQuantizationConfig(mode=precision[0], calibration_data=Reader(feeds))
        for name, value in zip(("weight_type", "activation_type"), precision[1:], strict=False):
            setattr(config, name, value)
        answer = quant.quantize_onnx(str(path), output_path=made, config=config)
        if not answer.success:
            raise RuntimeError("; ".join(answer.errors))

    return make


def winml_compile(path: Path, made: Path, feeds: Feeds) -> None:
    """``winml compile`` for the CPU, the only device on Linux."""
    with tempfile.TemporaryDirectory() as directory:
        _winml("compile", "-m", str(path), "--output-dir", directory, "--device", "cpu", "--ep", "cpu")
        (found,) = Path(directory).glob("*.onnx")
        found.replace(made)


def _winml(*arguments: str) -> None:
    command = [sys.executable, "-m", "winml.modelkit", *arguments, "--overwrite", "--no-color"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)


# --- other runtimes --------------------------------------------------------------------------------------------------


def onnx2torch(path: Path, feeds: Arrays) -> Arrays:
    """PyTorch, by onnx2torch."""
    _without_torchvision()
    torch = import_module("torch")
    onnx = import_module("onnx")
    model = onnx.load(path)
    network = import_module("onnx2torch").convert(model)
    with torch.no_grad():
        answers = network(*[torch.from_numpy(feeds[item.name].copy()) for item in model.graph.input])
    several = [answers] if torch.is_tensor(answers) else answers
    return {item.name: value.numpy() for item, value in zip(model.graph.output, several, strict=True)}


def _without_torchvision() -> None:
    """Replaces torchvision, which onnx2torch imports for two operators, but which has no CPU build."""
    types = import_module("types")
    for name in ("torchvision", "torchvision.ops"):
        if name not in sys.modules:
            sys.modules[name] = types.ModuleType(name)
    sys.modules["torchvision.ops"].roi_align = None  # type: ignore[attr-defined]


def tvm(path: Path, feeds: Arrays) -> Arrays:
    """TVM's ONNX importer and CPU code generator."""
    onnx, module = import_module("onnx"), import_module("tvm")
    relax = import_module("tvm.relax")
    model = onnx.load(path)
    imported = import_module("tvm.relax.frontend.onnx").from_onnx(model, keep_params_in_input=False)
    imported = relax.transform.DecomposeOpsForInference()(imported)
    machine = relax.VirtualMachine(module.compile(imported, "llvm"), module.cpu())
    inputs = [module.runtime.tensor(feeds[item.name]) for item in model.graph.input]
    answers = machine["main"](*inputs)
    several = [answers] if hasattr(answers, "numpy") else list(answers)
    return {item.name: value.numpy() for item, value in zip(model.graph.output, several, strict=True)}


def tinygrad(path: Path, feeds: Arrays) -> Arrays:
    """tinygrad's ONNX importer; CPU code is compiled by clang or CC."""
    tensor = import_module("tinygrad").Tensor
    answers = import_module("tinygrad.nn.onnx").OnnxRunner(path)({k: tensor(v) for k, v in feeds.items()})
    return {name: value.numpy() for name, value in answers.items()}


ORT, HALF_TOOL = ("onnxruntime",), ("onnxconverter-common",)
OLIVE, WINML, QNN = ("olive-ai", "torch"), ("winml-cli",), ("onnxruntime", "onnxruntime-qnn")
TOOLS: dict[str, Tool] = {
    "quant_pre_process": Tool(ORT, "same", pre_process),
    "qnn_preprocess_model": Tool(ORT, "same", qnn_pre_process),
    "convert_onnx_models_to_ort": Tool(ORT, "same", ort_format),
    "onnxslim": Tool(("onnxslim",), "same", onnxslim),
    "onnxsim": Tool(("onnxsim",), "same", onnxsim),
    "onnxscript optimizer and rewriter": Tool(("onnxscript", "onnx-ir"), "same", onnxscript),
    "onnxoptimizer": Tool(("onnxoptimizer",), "same", onnxoptimizer),
    "Olive OnnxPeepholeOptimizer": Tool(OLIVE, "same", olive("OnnxPeepholeOptimizer")),
    "winml optimize": Tool(WINML, "same", winml_optimize),
    "winml compile": Tool(WINML, "same", winml_compile),
    "onnxruntime.transformers.float16": Tool(ORT, "half", transformers_half),
    "onnxconverter-common float16": Tool(HALF_TOOL, "half", common_half),
    "Olive OnnxFloatToFloat16": Tool(OLIVE, "half", olive("OnnxFloatToFloat16", keep_io_types=True)),
    "winml quantize -p fp16": Tool(WINML, "half", winml_quantize("fp16")),
    "ModelCompiler for QNN's NPU": Tool(QNN, "half", context, run_context, target="qnn-npu"),
    "quantize_static": Tool(ORT, "bits", static),
    "quantize_static for QNN": Tool(ORT, "bits", static_for_npu),
    "quantize_dynamic": Tool(ORT, "bits", dynamic),
    "Olive OnnxStaticQuantization": Tool(OLIVE, "bits", olive("OnnxStaticQuantization", quant_format="QDQ")),
    "Olive OnnxDynamicQuantization": Tool(OLIVE, "bits", olive("OnnxDynamicQuantization")),
    "winml quantize -p int8": Tool(WINML, "bits", winml_quantize("static", "uint8", "uint8")),
    "winml quantize -p w8a16": Tool(WINML, "bits", winml_quantize("static", "uint8", "uint16")),
    "winml quantize -p dynamic": Tool(WINML, "bits", winml_quantize("dynamic")),
    "onnx2torch": Tool(("onnx2torch", "torch"), "same", run=onnx2torch, opset=17),
    "TVM": Tool(("apache-tvm",), "same", run=tvm),
    "tinygrad": Tool(("tinygrad",), "same", run=tinygrad, program="clang"),
}


def here() -> dict[str, list[str]]:
    """The tools that this interpreter has, with the versions of their packages."""
    found = {}
    for name, tool in TOOLS.items():
        with contextlib.suppress(PackageNotFoundError):
            versions = [f"{package} {version(package)}" for package in tool.packages]
            if not tool.program or shutil.which(tool.program):
                found[name] = versions
    return found


def one(tool: Tool, path: Path) -> dict[str, Any]:
    """Runs a tool on one model and writes the outputs."""
    with np.load(path.with_suffix(".npz")) as loaded:
        count = 1 + max(int(key.partition("/")[0]) for key in loaded)
        feeds = [
            {key.partition("/")[2]: loaded[key] for key in loaded if key.startswith(f"{number}/")}
            for number in range(count)
        ]
    made = path
    if tool.make is not None:
        made = path.with_suffix(".made")
        made = tool.make(path, made, feeds) or made
    np.savez(path.with_suffix(".out.npz"), **(tool.run or run)(made, feeds[0]))
    return {"made": made.name}


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Discards what tools print and log."""
    logging.disable(logging.ERROR)
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


def reason(error: BaseException, directory: Path) -> str:
    """The main line of an error message, without paths."""
    text = str(getattr(error, "stderr", None) or error) or type(error).__name__
    lines = [line.strip() for line in text.replace(f"{directory}{os.sep}", "").splitlines() if line.strip()]
    wanted = [line for line in lines if "rror" in line and "site-packages" not in line]
    return f"{type(error).__name__}: {' '.join((wanted or lines)[-1].split())[:300]}"


def main() -> None:
    """Processes all models of the directory without a result; without arguments, prints the installed tools."""
    if len(sys.argv) == 1:
        print(json.dumps(here()))
        return
    tool, directory = TOOLS[sys.argv[1]], Path(sys.argv[2])
    for path in sorted(directory.glob("*.onnx")):
        answer = path.with_suffix(".json")
        if answer.exists():
            continue
        answer.write_text(json.dumps({"refused": f"it ends the process, or takes more than {SECONDS} s"}))
        if hasattr(signal, "alarm"):
            signal.alarm(SECONDS)  # which ends the process
        with quiet():
            try:
                said = one(tool, path)
            except Exception as error:  # each tool has classes of its own
                said = {"refused": reason(error, directory)}
        answer.write_text(json.dumps(said))


if __name__ == "__main__":
    main()
