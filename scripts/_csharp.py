"""What compiles and runs C#, in ``.venv-csharp``: a compiler, and ONNX Runtime's package for .NET.

    python scripts/_csharp.py               makes what is missing or stale (needs npm)
    python scripts/_csharp.py --unpinned    takes packages whose hashes are not the pinned ones, and prints theirs

NuGet's packages are not asked for: .NET's runtime is in a wheel, Roslyn, the compiler, in an npm package that generates
C#, and the sources of ``Microsoft.ML.OnnxRuntime.dll`` in one for Unity. ``tests/docs/test_csharp.py`` compiles the
programs of the pages with all that.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from _environment import ROOT, filled, interpreter, packages, prepare_tool
from _npm import Package, archive, prepared

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
    """Makes the directory; False, and a line that says so, where its parts are not to be had."""
    if not prepare_tool("csharp"):
        return False
    made_of = f"{ROSLYN} {SOURCES} {COMPILER.read_text(encoding='utf-8')} {unpinned}"
    return filled(DIRECTORY, made_of, lambda: _fill(unpinned), "no C# was compiled")


def _fill(unpinned: bool) -> None:
    _unpack(ROSLYN, "Microsoft.CodeAnalysis", DIRECTORY, unpinned)
    _unpack(SOURCES, "Runtime/", DIRECTORY / "sources", unpinned)
    dotnet = packages(ENVIRONMENT) / "dnv" / "net" / "runtime" / ".net" / "dotnet"
    dotnet.chmod(0o755)
    sources = sorted((DIRECTORY / "sources").glob("*.cs"))
    compiler: list[str | Path] = [interpreter(ENVIRONMENT), COMPILER, LIBRARY]
    subprocess.run([*compiler, *sources], check=True, env={**os.environ, "PYTHONPATH": ""})


def _unpack(package: Package, inside: str, target: Path, unpinned: bool) -> None:
    """The assemblies and the sources of a package whose names begin with some text, side by side in a directory."""
    target.mkdir(parents=True, exist_ok=True)
    with archive(package, unpinned) as files:
        for item in files:
            name = item.name.removeprefix("package/")
            content = files.extractfile(item) if name.endswith((".dll", ".cs")) and name.startswith(inside) else None
            if content is not None:
                (target / name.removeprefix("Runtime/").replace("/", ".")).write_bytes(content.read())


if __name__ == "__main__":
    sys.exit(prepared("Fetches what compiles and runs C#.", fetch_csharp))
