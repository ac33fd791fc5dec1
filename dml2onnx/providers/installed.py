"""Checks that the chosen providers are available: built in, or registered from their packages."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from dml2onnx.codes.running import MISSING_PROVIDER, PROVIDER_UNUSABLE
from dml2onnx.diagnostics import DmlError, shortened
from dml2onnx.providers.choice import Providers, chosen
from dml2onnx.providers.distributions import clash, distributions, plugin_packages, remedy
from dml2onnx.providers.table import AUTO, BY_NAME, SHORT_NAMES, Provider


@cache
def _registered(full_name: str, library: str) -> str:
    """Registers a plugin's library once per process, and returns the reason of a failure.

    It is registered under the provider's own name, because some providers take the registered name.
    """
    import onnxruntime

    try:
        onnxruntime.register_execution_provider_library(full_name, library)
    except Exception as error:  # ONNX Runtime raises a dozen unrelated classes
        return " ".join(str(error).split())
    return ""


def register(provider: Provider) -> str:
    """Registers the provider of an installed plugin package, and returns the reason of a failure."""
    if provider.full_name in builtin():
        return ""
    try:
        library = str(import_module(provider.module).get_library_path())
    except Exception as error:  # packages raise what they like
        return " ".join(str(error).split())
    return _registered(provider.full_name, library)


def devices_of(full_name: str) -> list[Any]:
    """The devices that ONNX Runtime lists for a provider, in its order."""
    import onnxruntime

    return [item for item in onnxruntime.get_ep_devices() if item.ep_name == full_name]


def plugin_devices(full_name: str) -> list[Any]:
    """The devices of a plugin's provider; empty for a built-in one."""
    return [] if full_name in builtin() else devices_of(full_name)


@cache
def builtin() -> tuple[str, ...]:
    """ONNX Runtime's names of its built-in providers, read before plugins are registered."""
    import onnxruntime

    return tuple(onnxruntime.get_available_providers())


def require_providers(stated: object) -> Providers:
    """The providers of an argument, all ready for a session.

    :class:`DmlError` for an invalid argument (DML3001, DML3022), a provider that is not installed (DML3002), and one
    that cannot be loaded or finds no device (DML3021).
    """
    providers = chosen(stated)
    if providers.first == AUTO:
        for provider in plugin_packages():
            register(provider)  # failures are ignored: the policy chooses among the others
        return providers
    for name in providers.names:
        _require(BY_NAME[name], providers)
    return providers


def _require(provider: Provider, providers: Providers) -> None:
    if provider.full_name in builtin():
        return
    if provider not in plugin_packages():
        raise _missing(provider)
    failure = register(provider)
    if failure:
        message = f"{provider.plugin} cannot be registered with ONNX Runtime: {shortened(failure, 300)}"
        raise DmlError(PROVIDER_UNUSABLE.at(message, expected=provider.full_name, found=failure))
    found = devices_of(provider.full_name)
    if not found:
        message = f"{provider.plugin} is installed, but its {provider.full_name} finds no device here"
        raise DmlError(PROVIDER_UNUSABLE.at(message, expected="a device", found="none", documentation=provider.page))
    number = providers.device if provider.name == providers.first else None
    if number is not None and number >= len(found):
        message = f"there is no device {number}; {provider.full_name} has {len(found)}, counted from 0"
        raise DmlError(PROVIDER_UNUSABLE.at(message, expected=f"0 to {len(found) - 1}", found=number))


def _missing(provider: Provider) -> DmlError:
    import onnxruntime

    found = distributions()
    names = [SHORT_NAMES.get(name, name) for name in builtin() if name != "AzureExecutionProvider"]
    message = (
        f"the installed ONNX Runtime ({onnxruntime.__version__}) has no {provider.full_name};"
        f" installed are {', '.join(names)}; to get it, {remedy(provider, found)}"
    )
    if wrong := clash(found):
        message += f"; note that {wrong}"
    return DmlError(
        MISSING_PROVIDER.at(message, expected=provider.full_name, found=", ".join(names), documentation=provider.page)
    )
