"""Differences of ONNX Runtime Web in a browser, on WebGPU and on WebNN."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnxruntime

from tests.runtimes.difference import Difference, both, floats, has, shown_by
from tests.runtimes.narrowing import rounded_otherwise, stated
from tests.runtimes.proof import Outcome

FIXED = {"CLIP_SPELLS_OUT_INFINITY"}
"""Quirks of the target ``webgpu`` that ONNX Runtime Web has fixed."""


def _lacks_kernels(outcome: Outcome) -> bool:
    """No provider has a kernel for a node."""
    return outcome.refused and "IsNodeCompatibleWithProvider" in (outcome.problem or "")


def _loses_subnormals(outcome: Outcome) -> bool:
    """Results match the CPU provider, except that subnormal FLOAT is flushed to 0."""
    if outcome.run is None:
        return False
    session = onnxruntime.InferenceSession(outcome.run.model, providers=["CPUExecutionProvider"])
    smallest = np.finfo(np.float32).tiny
    return all(
        np.all((have == want) | ((have == 0) & (np.abs(want) < smallest)) | ((have != have) & (want != want)))
        for have, want in zip(outcome.run.answer, session.run(None, outcome.run.feeds), strict=True)
    )


def in_browser(items: tuple[Difference, ...]) -> tuple[Difference, ...]:
    """Differences of ONNX Runtime's WebGPU provider that also occur in a browser."""
    return tuple(replace(item, runtime="web-gpu") for item in items if item.explains not in FIXED)


def missing_kernels(runtime: str) -> Difference:
    """Missing CPU kernels in the builds of ONNX Runtime Web with WebGPU and WebNN."""
    return Difference(
        runtime,
        "Nodes of DOUBLE, INT16 or UINT16, and some of UINT8, INT8 and UINT32, that the device does not take are "
        "refused: this build has no kernels of them for the CPU.",
        _lacks_kernels,
        "(double[1] x) => (double[1] y) { y = Relu (x) }",
        (np.array([-1.0]),),
        (np.array([0.0]),),
        "IsNodeCompatibleWithProvider",
    )


WEB_GPU = (
    missing_kernels("web-gpu"),
    *shown_by("web-gpu", "SPLIT_GIVES_FEW_PARTS"),
    Difference(
        "web-gpu",
        "Subnormal FLOAT may become 0, as WGSL lets devices do.",
        _loses_subnormals,
        "(float[1] x) => (float[1] y) { y = Mul (x, x) }",
        (floats(2.0**-65),),
        (floats(2.0**-130),),
        of_device=True,
    ),
)
"""Differences that occur only in browsers."""


def _joins_uint64(outcome: Outcome) -> bool:
    """The model is refused, and has a Concat or Split of UINT64."""
    return (
        outcome.refused
        and "Failed to allocate tensors" in (outcome.problem or "")
        and any(
            node.op_type in ("Concat", "Split") and any(v is not None and v.dtype == np.uint64 for v in node.outputs)
            for node in outcome.nodes
        )
    )


WEBNN = (
    *shown_by(
        "webnn",
        "GATHERS_BY_CONSTANTS",
        "TRANSPOSED_CONVOLUTION_IS_PLAIN",
        "EDGES_ARE_NOT_PADDED",
        "REDUCES_SIX_DIMENSIONS",
        "POOLS_ARE_NOT_DILATED",
        "LP_POOL_PADS_WITH_MEANS",
        "AVERAGE_POOL_COUNTS_ALL_PADDING",
        "RESIZE_LOOKS_AT_CENTRES",
        "TRUTH_HAS_OTHER_BYTES",
        "GRU_RESETS_NO_BIAS",
    ),
    Difference(
        "webnn",
        "Subnormal FLOAT is 0.",
        _loses_subnormals,
        "(float[1] x) => (float[1] y) { y = Neg (x) }",
        (floats(2.0**-130),),
        (floats(-(2.0**-130)),),
    ),
    Difference(
        "webnn",
        "`BatchNormalization` is off by last digits.",
        both(has("BatchNormalization"), rounded_otherwise(stated)),
        """(float[1,1,1,1] x) => (float[1,1,1,1] y)
             <float[1] s = {1.75}, float[1] b = {0}, float[1] m = {0}, float[1] v = {0.99999}>
             { y = BatchNormalization <epsilon = 0.00001> (x, s, b, m, v) }""",
        (floats(1, shape=(1, 1, 1, 1)),),
        (floats(1.75, shape=(1, 1, 1, 1)),),
        of_device=True,  # depends on fused multiply-add
    ),
    Difference(
        "webnn",
        "`Concat` and `Split` of UINT64 are refused.",
        _joins_uint64,
        "(uint64[1] x) => (uint64[2] y) { y = Concat <axis = 0> (x, x) }",
        (np.array([3], np.uint64),),
        (np.array([3, 3], np.uint64),),
        "Failed to allocate tensors",
    ),
)
"""WebNN of Chromium on Linux: LiteRT with XNNPACK."""
