"""ONNX Runtime's execution providers: names, packages, and how their devices are numbered."""

from __future__ import annotations

from dataclasses import dataclass

PAGES = "https://onnxruntime.ai/docs/execution-providers"


@dataclass(frozen=True, slots=True)
class Provider:
    """An execution provider with a short name."""

    name: str
    full_name: str
    """ONNX Runtime's name for it."""
    page: str
    """Its documentation: options, devices, accuracy."""
    distribution: str = ""
    """The ONNX Runtime package that has it built in, and replaces any other."""
    plugin: str = ""
    """The plugin package that adds it to any ONNX Runtime from 1.24 on:
    https://onnxruntime.ai/docs/execution-providers/plugin-ep-libraries/packaging.html"""
    elsewhere: str = ""
    """Where to get it if no package on the index has it."""
    systems: tuple[str, ...] = ("Windows", "Linux", "Darwin")
    """Operating systems that it runs on, as ``platform.system`` names them."""
    device_option: tuple[str, str] | None = None
    """The provider option for the device number, and its value with ``{}`` for the number."""

    @property
    def module(self) -> str:
        """The plugin package's module, which has ``get_library_path``."""
        return self.plugin.replace("-", "_")


_PC = ("Windows", "Linux")

TABLE = (
    Provider("cpu", "CPUExecutionProvider", f"{PAGES}/", "onnxruntime"),
    Provider(
        "dml",
        "DmlExecutionProvider",
        f"{PAGES}/DirectML-ExecutionProvider.html",
        "onnxruntime-directml",
        systems=("Windows",),
        device_option=("device_id", "{}"),
    ),
    Provider(
        "cuda",
        "CUDAExecutionProvider",
        f"{PAGES}/CUDA-ExecutionProvider.html",
        "onnxruntime-gpu",
        systems=_PC,
        device_option=("device_id", "{}"),
    ),
    Provider(
        "tensorrt",
        "TensorrtExecutionProvider",
        f"{PAGES}/TensorRT-ExecutionProvider.html",
        "onnxruntime-gpu",
        systems=_PC,
        device_option=("device_id", "{}"),
    ),
    Provider(
        "nvtensorrtrtx",
        "NvTensorRTRTXExecutionProvider",
        f"{PAGES}/TensorRTRTX-ExecutionProvider.html",
        plugin="onnxruntime-ep-nv-tensorrt-rtx",
        systems=_PC,
        device_option=("device_id", "{}"),
    ),
    Provider(
        "openvino",
        "OpenVINOExecutionProvider",
        f"{PAGES}/OpenVINO-ExecutionProvider.html",
        "onnxruntime-openvino",
        "onnxruntime-ep-openvino",
        systems=_PC,
        device_option=("device_type", "GPU.{}"),
    ),
    Provider(
        "qnn",
        "QNNExecutionProvider",
        f"{PAGES}/QNN-ExecutionProvider.html",
        plugin="onnxruntime-qnn",
        systems=_PC,
        device_option=("device_id", "{}"),
    ),
    Provider(
        "vitisai",
        "VitisAIExecutionProvider",
        f"{PAGES}/Vitis-AI-ExecutionProvider.html",
        elsewhere="no package on the index has it; it comes with AMD's Ryzen AI Software"
        " (https://ryzenai.docs.amd.com) and with Windows ML",
        systems=_PC,
    ),
    Provider(
        "migraphx",
        "MIGraphXExecutionProvider",
        f"{PAGES}/MIGraphX-ExecutionProvider.html",
        "onnxruntime-migraphx",
        systems=("Linux",),
        device_option=("device_id", "{}"),
    ),
    Provider(
        "coreml",
        "CoreMLExecutionProvider",
        f"{PAGES}/CoreML-ExecutionProvider.html",
        "onnxruntime",
        systems=("Darwin",),
    ),
    Provider(
        "webgpu",
        "WebGpuExecutionProvider",
        f"{PAGES}/WebGPU-ExecutionProvider.html",
        "onnxruntime-webgpu",
        "onnxruntime-ep-webgpu",
    ),
    Provider(
        "xnnpack",
        "XnnpackExecutionProvider",
        f"{PAGES}/Xnnpack-ExecutionProvider.html",
        elsewhere="no package on the index has it; build ONNX Runtime with --use_xnnpack"
        " (https://onnxruntime.ai/docs/build/eps.html#xnnpack)",
    ),
)
"""https://onnxruntime.ai/docs/execution-providers, and the pages of the packages on the Python Package Index."""

AUTO = "auto"
CPU = "cpu"
"""The provider that leaves the choice of a device to ONNX Runtime's policy, as Windows ML does:
https://onnxruntime.ai/docs/execution-providers/plugin-ep-libraries/usage.html"""
POLICIES = (
    "DEFAULT",
    "PREFER_CPU",
    "PREFER_NPU",
    "PREFER_GPU",
    "MAX_PERFORMANCE",
    "MAX_EFFICIENCY",
    "MIN_OVERALL_POWER",
)
"""Members of ``onnxruntime.OrtExecutionProviderDevicePolicy``."""
POLICY, DEFAULT_POLICY = "policy", "MAX_PERFORMANCE"
"""The one option of ``auto``."""

BY_NAME = {item.name: item for item in TABLE}
SHORT_NAMES = {item.full_name: item.name for item in TABLE}
NAMES = (*BY_NAME, AUTO)
"""All short names."""
