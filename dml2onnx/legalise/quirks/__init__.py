"""Quirks of runtimes and their rules, one module per group of operators."""

from __future__ import annotations

from collections.abc import Mapping

from dml2onnx.legalise.quirks import (
    convolutions,
    extremes,
    functions,
    indices,
    movements,
    normalizations,
    pools,
    products,
    quantizations,
    recurrent,
    reductions,
    resizing,
    types,
)
from dml2onnx.legalise.rules import Quirk

MODULES = (
    convolutions,
    extremes,
    functions,
    indices,
    movements,
    normalizations,
    pools,
    products,
    quantizations,
    recurrent,
    reductions,
    resizing,
    types,
)
QUIRKS: Mapping[str, Quirk] = {
    name: item for module in MODULES for name, item in vars(module).items() if isinstance(item, Quirk)
}
"""By their names in ``schemas/targets/*.json``."""
