"""Fast ``dml2onnx`` and ``python`` programs that fork from a server, since imports dominate short programs.

The server imports the package once, but not ONNX Runtime, whose threads do not survive a fork. The programs send it
their streams, directory, environment and arguments, and exit like the fork that it makes for them; so shells can run
them like any program. Tests of imports, of startup and of signals start real processes.
"""

from __future__ import annotations

import ast
import atexit
import contextlib
import functools
import gc
import importlib
import io
import os
import pkgutil
import runpy
import select
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import dml2onnx
import dml2onnx.cli

PROGRAM = """\
#!{python} -IS
import _socket, array, os, sys

given = {{"what": {what!r}, "arguments": sys.argv[1:], "environment": dict(os.environ)}}
streams = []
for number in range(3):
    try:
        os.fstat(number)
        streams.append(number)
    except OSError:
        pass
text = repr({{**given, "streams": streams}}).encode(errors="surrogateescape")
server = _socket.socket(_socket.AF_UNIX)
server.connect({address!r})
descriptors = array.array("i", [*streams, os.open(".", os.O_RDONLY)])
server.sendmsg([len(text).to_bytes(4, "little")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, descriptors)])
server.sendall(text)
for number in streams:
    os.close(number)
code = int(server.recv(16) or b"-9")
if code < 0:
    import signal

    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
"""
"""A program that has the server run it. A stream that is closed here is closed there."""

CAN = hasattr(os, "fork")


@functools.cache
def programs() -> Path:
    """Returns a directory with the programs, whose server runs until this process ends."""
    place = tempfile.TemporaryDirectory(prefix="forked")
    atexit.register(place.cleanup)
    directory = Path(place.name)
    address = str(directory / "server")
    for what in ("dml2onnx", "python"):
        program = directory / what
        program.write_text(PROGRAM.format(python=sys.executable, what=what, address=address), encoding="utf-8")
        program.chmod(0o755)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        listener.set_inheritable(True)
        number = listener.fileno()
        server = subprocess.Popen(
            [sys.executable, "-P", __file__, str(number)],
            env={**os.environ, "PYTHONUTF8": "1", "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            pass_fds=[number],
        )
    atexit.register(server.communicate)
    return directory


def run(arguments: Sequence[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs ``dml2onnx`` and captures its text, like ``subprocess.run``."""
    line = [str(programs() / "dml2onnx"), *arguments]
    return subprocess.run(line, capture_output=True, text=True, encoding="utf-8", cwd=cwd, check=False)


# --- The server -------------------------------------------------------------------------------------------------------


def serve(listener: socket.socket) -> NoReturn:
    """Forks a waiting process and the program itself for each connection, until standard input is closed."""
    while True:
        if sys.stdin in select.select([listener, sys.stdin], [], [])[0]:
            sys.exit()
        connection, _ = listener.accept()
        if os.fork():
            connection.close()
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:  # reap finished children
                    pass
            continue
        listener.close()
        size, descriptors, _, _ = socket.recv_fds(connection, 4, 4)
        with connection.makefile("rb") as file:
            text = file.read(int.from_bytes(size, "little")).decode(errors="surrogateescape")
        request = ast.literal_eval(text)
        program = os.fork()
        if not program:
            connection.close()
            become(request["streams"], descriptors, request["environment"])
            end(functools.partial(start, request["what"], request["arguments"]))
        for descriptor in descriptors:
            os.close(descriptor)
        code = os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])
        with contextlib.suppress(BrokenPipeError):
            connection.sendall(str(code).encode())
        os._exit(0)


def become(streams: Sequence[int], descriptors: Sequence[int], environment: Mapping[str, str]) -> None:
    """Takes over the streams, the directory and the environment of a program."""
    *files, directory = descriptors
    os.fchdir(directory)
    os.close(directory)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if number not in streams:
            os.close(number)
            setattr(sys, name, None)
            continue
        os.dup2(files[streams.index(number)], number)
        file = open(number, "rb" if name == "stdin" else "wb", closefd=False)  # noqa: SIM115  # open until we exit
        errors = "backslashreplace" if name == "stderr" else "strict"
        setattr(sys, name, io.TextIOWrapper(file, "utf-8", errors, line_buffering=name == "stderr"))
    for descriptor in files:
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(environment)


def end(program: Callable[[], None]) -> NoReturn:
    """Runs a program and exits as Python does, but without tearing down the server's modules."""
    code = 0
    try:
        program()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if not isinstance(ended.code, int | None):
            print(ended.code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(code)


def start(what: str, arguments: list[str]) -> None:
    """Runs ``dml2onnx``, or a program as Python would."""
    if what == "dml2onnx":
        sys.argv = [what, *arguments]
        sys.path.insert(0, str(Path(sys.executable).parent))
        sys.exit(dml2onnx.cli.main())
    isolated = arguments[0] == "-P"
    first, *rest = arguments[isolated:]
    if first == "-c":
        text, rest = rest[0], rest[1:]
    elif first == "-":
        text = sys.stdin.read()
    else:
        sys.argv = [first, *rest]
        sys.path.insert(0, str(Path(first).resolve().parent))
        runpy.run_path(first, run_name="__main__")
        return
    sys.argv = [first, *rest]
    sys.path[:0] = [] if isolated else [""]
    module = ModuleType("__main__")
    sys.modules["__main__"] = module
    exec(compile(text, "<stdin>" if first == "-" else "<string>", "exec"), module.__dict__)


def prepare() -> None:
    """Imports what programs import, except ONNX Runtime."""
    import onnx.helper  # noqa: F401

    for module in pkgutil.walk_packages(dml2onnx.__path__, "dml2onnx."):
        if not module.name.startswith(NOT_IMPORTED):
            importlib.import_module(module.name)
    assert "onnxruntime" not in sys.modules
    gc.collect()
    gc.freeze()  # or the first collection in each fork would copy all of it


NOT_IMPORTED = ("dml2onnx.__main__", "dml2onnx.batching.cluster", "dml2onnx.test_cases")
"""A program, and modules that need test packages."""


if __name__ == "__main__":
    prepare()
    serve(socket.socket(fileno=int(sys.argv[1])))
