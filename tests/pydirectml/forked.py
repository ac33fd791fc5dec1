"""``python -m dml2onnx`` in a process that has imported it before: imports are most of what a short program costs.

A server imports the package once, but not ONNX Runtime, whose threads no fork keeps, and forks for each call. What a
program may not find imported, and what a process does before it imports anything, is tested with processes of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SERVER = """
import json, os, runpy, sys

import dml2onnx, dml2onnx.cli.pydirectml, dml2onnx.compiler, dml2onnx.pydirectml
from dml2onnx.pydirectml import device, executable, functions, graph

for line in sys.stdin:
    asked = json.loads(line)
    process = os.fork()
    if not process:
        os.chdir(asked["cwd"])
        for number, name in enumerate((os.devnull, asked["stdout"], asked["stderr"])):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
        sys.path[0] = asked["cwd"]
        sys.argv[1:] = asked["arguments"]
        runpy.run_module("dml2onnx", run_name="__main__", alter_sys=True)
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
"""


@contextmanager
def server() -> Iterator[subprocess.Popen[str]]:
    """The process that forks."""
    environment = {**os.environ, "PYTHONUTF8": "1"}
    command = [sys.executable, "-c", SERVER]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment, **pipes) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def run(process: subprocess.Popen[str], arguments: Sequence[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """What ``subprocess.run`` gives of the same command, with its text captured."""
    assert process.stdin is not None
    assert process.stdout is not None
    files = [cwd.parent / f"{cwd.name}.{name}" for name in ("stdout", "stderr")]
    asked = {"arguments": arguments, "cwd": str(cwd), "stdout": str(files[0]), "stderr": str(files[1])}
    process.stdin.write(json.dumps(asked) + "\n")
    process.stdin.flush()
    code = int(process.stdout.readline())
    return subprocess.CompletedProcess(list(arguments), code, *[path.read_text(encoding="utf-8") for path in files])
