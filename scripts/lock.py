"""Pins what the environments of the scripts hold: all packages, in one version, with the hashes of their files.

    python scripts/lock.py               newest versions only where a pin is missing or no longer fits
    python scripts/lock.py --upgrade     newest versions of all

``scripts/requirements/NAME.in`` has what is asked for, ``NAME.txt`` what that comes to, on all systems and versions of
Python that the project supports. The hashes are those that the index states which this machine is set up for.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from _environment import REQUIREMENTS, ROOT, prepare

if TYPE_CHECKING:
    from collections.abc import Sequence

PROJECT = ("pyproject.toml", "--all-extras")
LOCKS: dict[str, tuple[str, ...]] = {
    "test": (*PROJECT, "scripts/requirements/test.in"),
    "ort124": (*PROJECT, "scripts/requirements/test.in", "scripts/requirements/ort124.in"),
    "browser": ("--no-deps", "scripts/requirements/browser.in"),
    "docs": ("scripts/requirements/docs.in",),
    "cpp": ("--no-deps", "scripts/requirements/cpp.in"),
    "openvino": ("--no-deps", "scripts/requirements/openvino.in"),
    "webgpu": ("scripts/requirements/webgpu.in",),
}


def command(name: str, options: Sequence[str]) -> list[str]:
    """What writes a lock."""
    output = (REQUIREMENTS / f"{name}.txt").relative_to(ROOT).as_posix()
    how = ["--universal", "--python-version", "3.11", "--fork-strategy", "fewest", "--generate-hashes", "--no-annotate"]
    says = ["--custom-compile-command", "python scripts/lock.py", "--quiet"]
    return ["-m", "uv", "pip", "compile", *LOCKS[name], *how, *says, *options, "--output-file", output]


def main() -> int:
    parser = argparse.ArgumentParser(description="Pins what the environments of the scripts hold.")
    parser.add_argument("--upgrade", action="store_true", help="take the newest version of everything")
    chosen = parser.parse_args()
    python = prepare(".venv")
    # the index is the one that pip is set up for; what is written has no address in it
    outside = dict(os.environ)
    if "PIP_INDEX_URL" in outside:
        outside.setdefault("UV_DEFAULT_INDEX", outside["PIP_INDEX_URL"])
    for name in LOCKS:
        line = [str(python), *command(name, ["--upgrade"] if chosen.upgrade else [])]
        if subprocess.run(line, cwd=ROOT, env=outside, check=False).returncode != 0:
            sys.exit(f"cannot lock {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
