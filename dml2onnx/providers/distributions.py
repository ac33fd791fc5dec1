"""Finds the installed packages that contain ONNX Runtime or providers, without importing them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata
from importlib.util import find_spec

from dml2onnx.providers.table import TABLE, Provider

RUNTIME = "onnxruntime"
LISTS = {"RECORD": f"{RUNTIME}/__init__.py,", "top_level.txt": f"{RUNTIME}\n"}
"""Files that list what a distribution installed, with the prefix of lines for ONNX Runtime."""


def distributions() -> tuple[str, ...]:
    """The packages that have installed an ONNX Runtime, all into the same directory."""
    return tuple(sorted({item.name for item in metadata.distributions() if _has_runtime(item)}))


def _has_runtime(distribution: metadata.Distribution) -> bool:
    # metadata.packages_distributions() would create objects for all files of all packages
    text_of = distribution.read_text  # always UTF-8
    listed = ((f"\n{text_of(file) or ''}\n", line) for file, line in LISTS.items())
    return any(f"\n{line}" in text for text, line in listed)


def clash(found: Sequence[str]) -> str:
    """The problem of several installed distributions, which overwrite each other; empty if there is one."""
    return (
        f"{' and '.join(found)} are installed in the same directory and overwrite each other" if len(found) > 1 else ""
    )


def separated(found: Sequence[str], wanted: str) -> str:
    """The command that removes all distributions but one."""
    return f"pip uninstall --yes {' '.join(found)} && pip install {wanted}"


def remedy(provider: Provider, found: Sequence[str]) -> str:
    """The command that installs a provider, replacing the installed distributions or beside them."""
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
