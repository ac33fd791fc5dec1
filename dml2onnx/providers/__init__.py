"""Execution providers of ONNX Runtime: their names, and whether the one that is asked for is installed."""

from __future__ import annotations

from dml2onnx import arguments
from dml2onnx.codes.running import MISSING_PROVIDER, UNKNOWN_PROVIDER
from dml2onnx.diagnostics import DmlError, quote

PROVIDERS = {"cpu": "CPUExecutionProvider", "dml": "DmlExecutionProvider"}


def require_provider(name: str) -> str:
    """ONNX Runtime's name of a provider; :class:`DmlError` when there is none such or it is not installed."""
    import onnxruntime

    expected = ", ".join(PROVIDERS)
    full_name = PROVIDERS.get(arguments.text(name, "provider", f"one of {expected}"))
    if full_name is None:
        message = f"there is no provider {quote(name)}; the providers are {expected}"
        raise DmlError(UNKNOWN_PROVIDER.at(message, expected=expected, found=name))
    if full_name not in onnxruntime.get_available_providers():
        message = (
            f"the installed ONNX Runtime ({onnxruntime.__version__}) has no {full_name}; on 64-bit Windows:"
            " pip uninstall --yes onnxruntime && pip install onnxruntime-directml"
        )
        raise DmlError(MISSING_PROVIDER.at(message, expected=full_name))
    return full_name
