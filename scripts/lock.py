"""Pins the packages of the scripts' environments: one version of each, with the hashes of its files.

    python scripts/lock.py               keep pins that still satisfy the requirements
    python scripts/lock.py --upgrade     take the newest version of every package

``scripts/requirements/NAME.in`` lists requirements; ``NAME.txt`` is their resolution for all supported systems and
Python versions. Hashes come from the package index that this machine is configured for.
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
    output = (REQUIREMENTS / f"{name}.txt").relative_to(ROOT).as_posix()
    how = ["--universal", "--python-version", "3.11", "--fork-strategy", "fewest", "--generate-hashes", "--no-annotate"]
    header = ["--custom-compile-command", "python scripts/lock.py", "--quiet"]
    return ["-m", "uv", "pip", "compile", *LOCKS[name], *how, *header, *options, "--output-file", output]


def pip_configuration() -> dict[str, str]:
    """Environment variables that pass pip's index and certificates to uv, which ignores pip's configuration.

    Extra indexes and directories are not passed on: they may have files for this machine only.
    """
    line = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(line, capture_output=True, text=True, check=False).stdout
    found: dict[str, str] = {}
    for key, _, value in (item.partition("=") for item in listed.splitlines()):
        variable = {"index-url": "UV_DEFAULT_INDEX", "cert": "SSL_CERT_FILE"}.get(key.rpartition(".")[2])
        # pip gives the environment precedence over its files
        if variable is not None and (key.startswith(":env:") or variable not in found):
            found[variable] = str(ast.literal_eval(value))
    return {variable: value for variable, value in found.items() if value}


def main() -> int:
    parser = argparse.ArgumentParser(description="Pins the packages of the scripts' environments.")
    parser.add_argument("--upgrade", action="store_true", help="take the newest version of everything")
    chosen = parser.parse_args()
    python = prepare(".venv")
    environment = {**pip_configuration(), **os.environ}
    for name in LOCKS:
        line = [str(python), *command(name, ["--upgrade"] if chosen.upgrade else [])]
        if subprocess.run(line, cwd=ROOT, env=environment, check=False).returncode != 0:
            sys.exit(f"cannot lock {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
