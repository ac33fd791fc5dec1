"""The process that times one model.

It reads commands from standard input and answers on standard output, each a line of JSON. The output of libraries goes
to standard error.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from dml2onnx.codes.running import RUNTIME_FAILURE
from dml2onnx.diagnostics import DmlError
from dml2onnx.providers.choice import Providers
from dml2onnx.runtime import open_session


def main() -> int:
    """Answers commands until the end of standard input."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def answer(value: dict[str, Any]) -> None:
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    session, feeds = None, None
    for line in sys.stdin:
        command = json.loads(line)
        if command["do"] == "open":
            try:
                session, feeds, opened = _opened(command)
            except DmlError as error:
                answer({"failure": error.diagnostics[0].message})
                return 1
            answer(opened)
        elif command["do"] == "run":
            answer(_times(session, feeds, command["seconds"], command["least"], command["most"]))
        else:
            answer({"memory": peak_memory()})
    return 0


def _opened(command: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """A session, its feeds, and the answer: the times to open it and to run it once."""
    with np.load(command["feeds"]) as archive:
        feeds = {name: archive[str(number)] for number, name in enumerate(command["names"])}
    before = peak_memory()
    provider = Providers.of_texts(command["provider"], command["options"], command["device"])
    start = time.perf_counter()
    session = open_session(Path(command["model"]), provider)
    opened = time.perf_counter()
    try:
        results = session.run(None, feeds)
    except Exception as error:  # ONNX Runtime raises a dozen unrelated classes
        message = f"ONNX Runtime: {' '.join(str(error).split())}"
        raise DmlError(RUNTIME_FAILURE.at(message)) from error
    first = time.perf_counter()
    np.savez(command["results"], **{str(number): array for number, array in enumerate(results)})
    return (
        session,
        feeds,
        {
            "outputs": [item.name for item in session.get_outputs()],
            "providers": session.get_providers(),
            "before": before,
            "session": opened - start,
            "first": first - opened,
        },
    )


def _times(session: Any, feeds: Any, seconds: float, least: int, most: int) -> dict[str, Any]:
    """Times runs for ``seconds``, between ``least`` and ``most`` times."""
    times: list[float] = []
    busy = time.process_time()
    start = now = time.perf_counter()
    while len(times) < most and (len(times) < least or now - start < seconds):
        before = time.perf_counter()
        session.run(None, feeds)
        now = time.perf_counter()
        times.append(now - before)
    return {"times": times, "busy": time.process_time() - busy, "wall": now - start}


def peak_memory() -> int:
    """The largest memory of this process so far, in bytes, or 0 if unknown."""
    if sys.platform == "win32":
        return _peak_working_set()
    try:  # getrusage would include the memory of the process before exec
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def _peak_working_set() -> int:
    """https://learn.microsoft.com/windows/win32/api/psapi/ns-psapi-process_memory_counters"""
    counters = (ctypes.c_size_t * 10)()
    counters[0] = ctypes.sizeof(counters)
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009  # other systems lack it
    found = kernel.K32GetProcessMemoryInfo(kernel.GetCurrentProcess(), counters, ctypes.sizeof(counters))
    return int(counters[1]) if found else 0


if __name__ == "__main__":
    sys.exit(main())
