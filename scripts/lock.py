"""Pins what the environments of the scripts hold: all packages, in one version, with the hashes of their files.

    python scripts/lock.py               newest versions only where a pin is missing or no longer fits
    python scripts/lock.py --upgrade     newest versions of all

``scripts/requirements/NAME.in`` has what is asked for, ``NAME.txt`` what that comes to, on all systems and versions of
Python that the project supports. The hashes are those that the index states which this machine is set up for.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
from collections.abc import Sequence

from _environment import REQUIREMENTS, ROOT, prepare

PROJECT = ("pyproject.toml", "--all-extras")
LOCKS: dict[str, tuple[str, ...]] = {
    "test": (*PROJECT, "scripts/requirements/test.in"),
    "ort124": ("--no-deps", "scripts/requirements/ort124.in"),
    "ort132": ("--no-deps", "scripts/requirements/ort132.in"),
    "browser": ("--no-deps", "scripts/requirements/browser.in"),
    "docs": ("scripts/requirements/docs.in",),
    "cpp": ("--no-deps", "scripts/requirements/cpp.in"),
    "csharp": ("scripts/requirements/csharp.in",),
    "openvino": ("--no-deps", "scripts/requirements/openvino.in"),
    "webgpu": ("scripts/requirements/webgpu.in",),
    "winml": ("--no-deps", "scripts/requirements/winml.in"),
    "qnn": ("scripts/requirements/qnn.in",),
    "mutants": ("scripts/requirements/mutants.in",),
    "onward": ("--no-deps", "scripts/requirements/onward.in"),
}


def command(name: str, options: Sequence[str]) -> list[str]:
    """What writes a lock."""
    output = (REQUIREMENTS / f"{name}.txt").relative_to(ROOT).as_posix()
    how = ["--universal", "--python-version", "3.11", "--fork-strategy", "fewest", "--generate-hashes", "--no-annotate"]
    says = ["--custom-compile-command", "python scripts/lock.py", "--quiet"]
    return ["-m", "uv", "pip", "compile", *LOCKS[name], *how, *says, *options, "--output-file", output]


def as_configured() -> dict[str, str]:
    """What tells uv, which reads none of pip's configuration, of the index and the certificates that pip uses.

    Not of further indexes and directories: what they have of a package may be files for this machine alone.
    """
    line = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(line, capture_output=True, text=True, check=False).stdout
    found: dict[str, str] = {}
    for key, _, value in (item.partition("=") for item in listed.splitlines()):
        variable = {"index-url": "UV_DEFAULT_INDEX", "cert": "SSL_CERT_FILE"}.get(key.rpartition(".")[2])
        # of the places that pip reads the environment comes first
        if variable is not None and (key.startswith(":env:") or variable not in found):
            found[variable] = str(ast.literal_eval(value))
    return {variable: value for variable, value in found.items() if value}


def main() -> int:
    parser = argparse.ArgumentParser(description="Pins what the environments of the scripts hold.")
    parser.add_argument("--upgrade", action="store_true", help="take the newest version of everything")
    chosen = parser.parse_args()
    python = prepare(".venv")
    outside = {**as_configured(), **os.environ}
    for name in LOCKS:
        line = [str(python), *command(name, ["--upgrade"] if chosen.upgrade else [])]
        if subprocess.run(line, cwd=ROOT, env=outside, check=False).returncode != 0:
            sys.exit(f"cannot lock {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
