"""The quirks, in modules by the operators that they are about."""

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
"""By the names that ``schemas/targets/*.json`` give them."""
