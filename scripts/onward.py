#!/usr/bin/env python3
"""Hands compiled networks to the tools that models go on to, and checks what these make of them.

    python scripts/onward.py                               all tools that are to be had, some ten minutes
    python scripts/onward.py --torch REQUIREMENT           those that need PyTorch as well: a build for the CPU
    python scripts/onward.py --only onnxslim --results tests/onward/results.json

Makes ``.venv-onward`` with pinned tools first, and ``.venv-qnn`` for the compiler of Qualcomm's NPU. ``--torch`` is
installed into the first without what it depends on: a file, or ``torch==2.13.0`` where the index has builds for the
CPU. The rest of the command line is that of ``python -m tests.onward``. The exit code is 0 where every number is
within the bounds, or what is different is in ``tests/onward/differences.py``. ``scripts/generate_runtimes.py`` makes
tables of results for docs/devices.md.
"""

from __future__ import annotations

import argparse
import platform
import sys

from _environment import ROOT, interpreter, pip, prepare, prepare_tool, run


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--torch", metavar="REQUIREMENT", help="what pip installs PyTorch from")
    options, rest = parser.parse_known_args()
    places = []
    if prepare_tool("onward"):
        places.append(interpreter(ROOT / ".venv-onward"))
        if options.torch:
            pip(ROOT / ".venv-onward", "--no-deps", options.torch)
    if platform.machine().lower() in ("x86_64", "amd64") and prepare_tool("qnn"):
        places.append(interpreter(ROOT / ".venv-qnn"))
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return run([prepare(".venv"), "-m", "tests.onward", *places, *rest], threads)


if __name__ == "__main__":
    sys.exit(main())
