"""Compiles DirectML operator graphs to standard ONNX and runs them on ONNX Runtime.

>>> import dml2onnx
>>> graph = dml2onnx.load("model.json")
>>> dml2onnx.check(graph, feature_level="5_0")
[]
>>> dml2onnx.compile(graph).save("model.onnx")
"""

from __future__ import annotations

from dml2onnx.lazy import lazy_names

TYPE_CHECKING = False  # typing is not imported, see below
if TYPE_CHECKING:
    from dml2onnx.batching import batch
    from dml2onnx.builder import Activation, GraphBuilder
    from dml2onnx.catalog import FeatureLevel
    from dml2onnx.checks import check, minimum_feature_level
    from dml2onnx.checks.resizing import resize
    from dml2onnx.compiler import CompiledModel, compile
    from dml2onnx.diagnostics import Diagnostic, DmlError, UnreadableError
    from dml2onnx.execution import run
    from dml2onnx.exporters import convert
    from dml2onnx.frontends import LoadOptions, load
    from dml2onnx.ir.graph import Graph
    from dml2onnx.providers.choice import Providers
    from dml2onnx.verification import verify

__version__ = "0.1.0"

__all__ = [
    "Activation",
    "CompiledModel",
    "Diagnostic",
    "DmlError",
    "FeatureLevel",
    "Graph",
    "GraphBuilder",
    "LoadOptions",
    "Providers",
    "UnreadableError",
    "batch",
    "check",
    "compile",
    "convert",
    "load",
    "minimum_feature_level",
    "resize",
    "run",
    "verify",
]

_HOMES = {
    "Activation": "builder",
    "CompiledModel": "compiler",
    "Diagnostic": "diagnostics",
    "DmlError": "diagnostics",
    "FeatureLevel": "catalog",
    "Graph": "ir.graph",
    "GraphBuilder": "builder",
    "LoadOptions": "frontends",
    "Providers": "providers.choice",
    "UnreadableError": "diagnostics",
    "batch": "batching",
    "check": "checks",
    "compile": "compiler",
    "convert": "exporters",
    "load": "frontends",
    "minimum_feature_level": "checks",
    "resize": "checks.resizing",
    "run": "execution",
    "verify": "verification",
}
__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
