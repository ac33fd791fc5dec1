"""ONNX Runtime's execution providers: names, packages, and how their devices are numbered."""

from __future__ import annotations

from dataclasses import dataclass

PAGES = "https://onnxruntime.ai/docs/execution-providers"


@dataclass(frozen=True, slots=True)
class Provider:
    """An execution provider that can be asked for by a short name."""

    name: str
    full_name: str
    """ONNX Runtime's own name of it."""
    page: str
    """Its documentation: options, devices, accuracy."""
    distribution: str = ""
    """The ONNX Runtime on the package index that has it built in, in the place of every other one."""
    plugin: str = ""
    """The package that brings it to any ONNX Runtime from 1.24 on, as a library that is registered:
    https://onnxruntime.ai/docs/execution-providers/plugin-ep-libraries/packaging.html"""
    elsewhere: str = ""
    """Where it comes from when no package on the index has it."""
    systems: tuple[str, ...] = ("Windows", "Linux", "Darwin")
    """What ``platform.system`` calls the systems that it runs on."""
    device_option: tuple[str, str] | None = None
    """The provider option that takes the number of a device, and its value with ``{}`` for the number."""

    @property
    def module(self) -> str:
        """The module of the package that brings it as a plugin, which has ``get_library_path``."""
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
"""What leaves the choice of a device to ONNX Runtime's policy, as Windows ML does:
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
"""All that can be asked for."""
