#!/usr/bin/env python3
"""Passes compiled networks to downstream tools and checks the models that these tools produce.

    python scripts/onward.py                               all available tools, about ten minutes
    python scripts/onward.py --torch REQUIREMENT           also tools that need PyTorch (a CPU build)
    python scripts/onward.py --only onnxslim --results tests/onward/results.json

Creates ``.venv-onward`` with pinned tools and ``.venv-qnn`` for the compiler of Qualcomm's NPU. ``--torch`` names what
to install into the first without dependencies: a file, or ``torch==2.13.0`` if the index has CPU builds. All other
options are passed to ``python -m tests.onward``. The exit code is 0 if every number is within its bounds or the
difference is listed in ``tests/onward/differences.py``. ``scripts/generate_runtimes.py`` writes the tables of results
in docs/devices.md.
"""

from __future__ import annotations

import argparse
import platform
import sys

from _environment import ROOT, interpreter, pip, prepare, prepare_tool, run


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--torch", metavar="REQUIREMENT", help="the requirement of PyTorch for pip")
    options, rest = parser.parse_known_args()
    interpreters = []
    if prepare_tool("onward"):
        interpreters.append(interpreter(ROOT / ".venv-onward"))
        if options.torch:
            pip(ROOT / ".venv-onward", "--no-deps", options.torch)
    if platform.machine().lower() in ("x86_64", "amd64") and prepare_tool("qnn"):
        interpreters.append(interpreter(ROOT / ".venv-qnn"))
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return run([prepare(".venv"), "-m", "tests.onward", *interpreters, *rest], threads)


if __name__ == "__main__":
    sys.exit(main())
