"""The executable specification: every operator in plain numpy, written from its documented semantics.

It is slow and obvious, and shares no code with the lowerings that are compared with it. FLOAT16 and FLOAT32 are
evaluated in ``float64`` and rounded once; integers are exact; undefined results are marked as unspecified. The ``doc``
field of ``schemas/operators/*.json`` links to the page that documents an operator.
"""

from __future__ import annotations

from dml2onnx.reference import (  # noqa: F401  # registers the functions
    activation,
    adam,
    attention,
    cast,
    convolution,
    element_wise,
    element_wise_logic,
    element_wise_math,
    filling,
    gathering,
    gemm,
    integer_products,
    join,
    memory,
    normalization,
    normalization_training,
    ordering,
    padding,
    pooling,
    pooling_gradients,
    quantization,
    rearranging,
    recurrent,
    reduction,
    resample,
    resample_gradients,
    roi,
    roi_gradients,
    slicing,
)
from dml2onnx.reference.cost import require_computable
from dml2onnx.reference.interpreter import evaluate, evaluate_results, operator_results, run_operator
from dml2onnx.reference.registry import Inputs, Outputs, Result, reference, run
from dml2onnx.reference.tolerance import allowed_error, disagreements

__all__ = [
    "Inputs",
    "Outputs",
    "Result",
    "allowed_error",
    "disagreements",
    "evaluate",
    "evaluate_results",
    "memory",
    "operator_results",
    "reference",
    "require_computable",
    "run",
    "run_operator",
]
