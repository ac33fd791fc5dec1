"""The arithmetic of each provider, which determines error bounds.

The first row of a provider whose option has one of the values, or that names no option, applies. Without documentation,
and for ``auto``, accelerators are assumed to use their least accurate arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dml2onnx.providers.choice import Providers
from dml2onnx.providers.table import AUTO, BY_NAME, PAGES, SHORT_NAMES
from dml2onnx.reference.arithmetic import BFLOAT16, FLOAT16, FLOAT32, TF32, WGSL, Arithmetic

NVIDIA = "https://docs.nvidia.com/deeplearning/tensorrt/latest/inference-library/precision-control.html"
RYZEN = "https://ryzenai.docs.amd.com/en/latest/modelrun.html"
CORE_ML = "https://apple.github.io/coremltools/docs-guides/source/typed-execution.html"
ON = ("1", "true")


@dataclass(frozen=True, slots=True)
class Computes:
    """A provider's arithmetic for FLOAT32, and whether it accumulates FLOAT16 in FLOAT16."""

    provider: str
    arithmetic: Arithmetic
    source: str
    """The page that documents it."""
    option: str = ""
    values: tuple[str, ...] = ()
    """In lower case; ``""`` matches a missing option."""
    half_accumulation: bool = True

    def applies(self, options: dict[str, str]) -> bool:
        """Whether the row applies with these options."""
        return not self.option or options.get(self.option, "").lower() in self.values


TABLE = (
    Computes("cpu", FLOAT32, f"{PAGES}/", half_accumulation=False),
    Computes("dml", FLOAT32, "https://learn.microsoft.com/windows/ai/directml/dml"),
    Computes("cuda", FLOAT32, BY_NAME["cuda"].page, "use_tf32", ("0", "false")),
    Computes("cuda", TF32, BY_NAME["cuda"].page),
    Computes("tensorrt", FLOAT16, BY_NAME["tensorrt"].page, "trt_fp16_enable", ON),
    Computes("tensorrt", BFLOAT16, BY_NAME["tensorrt"].page, "trt_bf16_enable", ON),
    Computes("tensorrt", TF32, NVIDIA),
    Computes("nvtensorrtrtx", TF32, NVIDIA),
    Computes("openvino", FLOAT32, BY_NAME["openvino"].page, "precision", ("fp32", "accuracy")),
    Computes("openvino", FLOAT32, BY_NAME["openvino"].page, "device_type", ("", "cpu")),
    Computes("openvino", FLOAT16, BY_NAME["openvino"].page),
    Computes("qnn", FLOAT32, BY_NAME["qnn"].page, "backend_type", ("cpu",)),
    Computes("qnn", FLOAT32, BY_NAME["qnn"].page, "enable_htp_fp16_precision", ("0",)),
    Computes("qnn", FLOAT16, BY_NAME["qnn"].page),
    Computes("vitisai", BFLOAT16, RYZEN),
    Computes("migraphx", FLOAT16, BY_NAME["migraphx"].page, "migraphx_fp16_enable", ON),
    Computes("migraphx", BFLOAT16, BY_NAME["migraphx"].page, "migraphx_bf16_enable", ON),
    Computes("migraphx", FLOAT32, BY_NAME["migraphx"].page),
    Computes("coreml", FLOAT32, CORE_ML, "MLComputeUnits", ("cpuonly",)),
    Computes("coreml", FLOAT16, CORE_ML),
    Computes("webgpu", WGSL, WGSL.page),
    Computes("xnnpack", FLOAT32, BY_NAME["xnnpack"].page, half_accumulation=False),
)


def computes(providers: Providers, loaded: Sequence[str] = ()) -> Computes:
    """The row of the least accurate of the requested providers.

    ``loaded`` are ONNX Runtime's names of the providers in the session, which ``auto`` has chosen.
    """
    names = providers.names
    if providers.first == AUTO:
        names = tuple(SHORT_NAMES[name] for name in loaded if name in SHORT_NAMES) or ("cpu",)
    found = [_row(name, providers) for name in names]
    return max(found, key=_laxness)


def in_half(row: Computes) -> Computes:
    """The row for a FLOAT32 graph that is compiled to FLOAT16."""
    arithmetic = row.arithmetic
    is_coarser = arithmetic.roundoff > FLOAT16.roundoff and not arithmetic.products_only
    return row if is_coarser else replace(row, arithmetic=FLOAT16, source=FLOAT16.page, half_accumulation=True)


def _laxness(row: Computes) -> tuple[bool, float, bool, bool]:
    """A sort key: rounding of all numbers counts more than the accuracy of factors."""
    arithmetic = row.arithmetic
    rounds_all = arithmetic.roundoff > FLOAT32.roundoff and not arithmetic.products_only
    return rounds_all, arithmetic.roundoff, arithmetic.functions is not None, row.half_accumulation


def _row(name: str, providers: Providers) -> Computes:
    options = providers.options_of(name)
    return next(row for row in TABLE if row.provider == name and row.applies(options))
