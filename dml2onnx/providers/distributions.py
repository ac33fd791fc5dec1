"""Finds the installed packages that contain ONNX Runtime or providers, without importing them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata
from importlib.util import find_spec

from dml2onnx.providers.table import TABLE, Provider

RUNTIME = "onnxruntime"
LISTS = {"RECORD": f"{RUNTIME}/__init__.py,", "top_level.txt": f"{RUNTIME}\n"}
"""The files in which a distribution says what it has installed, each with what starts a line there for a runtime."""


def distributions() -> tuple[str, ...]:
    """The packages that have put an ONNX Runtime into the one directory that all of them use."""
    return tuple(sorted({item.name for item in metadata.distributions() if _has_runtime(item)}))


def _has_runtime(distribution: metadata.Distribution) -> bool:
    # not metadata.packages_distributions(), which makes objects of all files of all packages
    text_of = distribution.read_text  # in UTF-8, whatever the machine's own encoding
    listed = ((f"\n{text_of(file) or ''}\n", line) for file, line in LISTS.items())
    return any(f"\n{line}" in text for text, line in listed)


def clash(found: Sequence[str]) -> str:
    """What is wrong where several distributions lie over each other; empty where nothing is."""
    return f"{' and '.join(found)} lie in one directory and overwrite each other" if len(found) > 1 else ""


def separated(found: Sequence[str], wanted: str) -> str:
    """The command that leaves one distribution of several."""
    return f"pip uninstall --yes {' '.join(found)} && pip install {wanted}"


def remedy(provider: Provider, found: Sequence[str]) -> str:
    """What brings a provider, in the place of the distributions that are installed or beside them."""
    lines = [f"pip install {provider.plugin}"] if provider.plugin else []
    if provider.distribution:
        others = [name for name in found if name != provider.distribution]
        again = provider.distribution in found and others
        remove = [*others, provider.distribution] if again else others
        lines.append(separated(remove, provider.distribution) if remove else f"pip install {provider.distribution}")
    text = ", or: ".join(lines) or provider.elsewhere
    systems = " and ".join({"Darwin": "macOS"}.get(item, item) for item in provider.systems)
    return f"on {systems}: {text}" if len(provider.systems) < 3 else text


def plugin_packages() -> tuple[Provider, ...]:
    """The providers whose plugin packages are installed."""
    return tuple(item for item in TABLE if item.plugin and find_spec(item.module) is not None)
