"""Runs ONNX models with ONNX Runtime Web in a headless Chromium: on WebAssembly, WebGPU, or WebNN.

Needs numpy, and Chromium and onnxruntime-web as installed by ``scripts/_web.py``. A page fetches one model after the
other from a server in this process. A browser that does not answer is killed and replaced.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

HERE = Path(__file__).resolve().parent
DIRECTORY = Path(os.environ.get("DML2ONNX_WEB") or HERE.parents[1] / ".venv-web")
"""Has ``chromium/chromium`` and onnxruntime-web's files in ``ort/``."""
SYSTEM = ("chromium", "chromium-browser", "google-chrome", "chrome")
"""Alternative browsers of the system."""
WEBNN = "--enable-features=WebMachineLearningNeuralNetwork"
SWIFTSHADER = ("--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader")
"""Enables WebGPU on the CPU."""
START = 60.0
"""Timeout for starting a browser and loading ONNX Runtime, in seconds."""
PATIENCE = 90.0
"""Timeout for a model in seconds; small graphs take milliseconds."""
AGE = 400
"""Number of models after which a browser is replaced, since WebAssembly never releases memory."""

Arrays = dict[str, np.ndarray]
Places = dict[str, dict[str, int]]
"""Number of nodes by provider and operator."""


@dataclass(frozen=True, slots=True)
class Backend:
    """One way to run models in a browser."""

    bundle: str
    """The module of onnxruntime-web."""
    provider: Any
    """An element of ``executionProviders``."""
    places: str
    """Its name in ONNX Runtime's log."""
    options: tuple[str, ...] = ()
    """Options of Chromium."""


BACKENDS = {
    "web": Backend("ort.wasm.min.mjs", "wasm", "CPUExecutionProvider"),
    "web-gpu": Backend("ort.jspi.min.mjs", "webgpu", "WebGpuExecutionProvider", SWIFTSHADER),
    "webnn": Backend("ort.min.mjs", {"name": "webnn", "deviceType": "cpu"}, "WebNNExecutionProvider", (WEBNN,)),
}
"""WebNN uses the only build that has all CPU kernels for its fallback."""


def executable(directory: Path = DIRECTORY) -> tuple[Path, dict[str, str]]:
    """Returns a Chromium and its environment; raises RuntimeError if there is none."""
    own = directory / "chromium" / "chromium"
    if own.exists():
        libraries = [str(own.parent), *(str(own.parent / name) for name in ("lib",) if (own.parent / name).is_dir())]
        paths = os.pathsep.join([*libraries, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
        return own, {**os.environ, "LD_LIBRARY_PATH": paths}
    for name in SYSTEM:
        if found := shutil.which(name):
            return Path(found), dict(os.environ)
    raise RuntimeError("no Chromium: python scripts/_web.py fetches one, for Linux on x86-64")


@dataclass(slots=True)
class Chromium:
    """A browser process that shows one page."""

    address: str
    options: tuple[str, ...]
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _profile: Any = field(default=None, init=False)
    _pipes: list[int] = field(default_factory=list, init=False)

    def start(self) -> None:
        """Starts the browser; it exits with this process, which closes its debugger pipe."""
        program, environment = executable()
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        command = [str(program), "--headless", "--no-sandbox", "--no-first-run", "--disable-dev-shm-usage"]
        command += [f"--user-data-dir={self._profile.name}", *self.options]
        if os.name == "posix":
            command = ["sh", "-c", 'exec 3<&0 4>/dev/null "$@"', "sh", *command, "--remote-debugging-pipe"]
        self._process = subprocess.Popen(
            [*command, self.address],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
        )

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stdin is not None:
                self._process.stdin.close()
            self._process = None
        if self._profile is not None:
            self._profile.cleanup()


class Server(http.server.ThreadingHTTPServer):
    """Serves the page, its files and jobs, and receives the answers."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.jobs: queue.Queue[bytes] = queue.Queue()
        self.answers: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server
    TYPES: ClassVar[dict[str, str]] = {".html": "text/html", ".mjs": "text/javascript", ".wasm": "application/wasm"}

    def log_message(self, *_: object) -> None:
        """Disables logging."""

    def _send(self, content: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self) -> None:
        name = urllib.parse.urlsplit(self.path).path.rpartition("/")[2]
        file = DIRECTORY / "ort" / name if self.path.startswith("/ort/") else HERE / "browser.html"
        if file.suffix in self.TYPES and file.exists():
            self._send(file.read_bytes(), self.TYPES[file.suffix])
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        self.server.answers.put(self.rfile.read(int(self.headers["Content-Length"])))
        with contextlib.suppress(OSError):  # the browser may be gone
            self._send(self.server.jobs.get(), "application/octet-stream")


class Page:
    """A browser that runs models on one backend, and is replaced after a crash or timeout."""

    def __init__(self, backend: Backend, patience: float = PATIENCE) -> None:
        self._backend, self._patience = backend, patience
        self._server: Server | None = None
        self._browser: Chromium | None = None
        self._count = 0
        self.about: dict[str, Any] = self._start()
        """The page's information about the browser."""

    def _start(self) -> dict[str, Any]:
        if not (DIRECTORY / "ort" / self._backend.bundle).exists():
            raise RuntimeError("no ONNX Runtime Web: python scripts/_web.py fetches it, with npm")
        self._server = Server()
        parameters = {
            "bundle": self._backend.bundle,
            "provider": json.dumps(self._backend.provider),
            "places": self._backend.places,
        }
        address = f"http://127.0.0.1:{self._server.server_port}/?{urllib.parse.urlencode(parameters)}"
        self._browser = Chromium(address, self._backend.options)
        self._browser.start()
        self._count = 0
        about, _ = self._answer(START)
        return about

    def close(self) -> None:
        if self._browser is not None and self._server is not None:
            self._browser.stop()
            self._server.shutdown()
            self._server.server_close()
        self._browser = self._server = None

    def _answer(self, seconds: float) -> tuple[dict[str, Any], bytes]:
        assert self._server is not None
        try:
            content = self._server.answers.get(timeout=seconds)
        except queue.Empty:
            self.close()
            raise RuntimeError(f"no answer within {seconds:.0f} s") from None
        header, _, data = content.partition(b"\n")
        return json.loads(header), data

    def run(self, model: bytes, feeds: Arrays, optimize: str = "all") -> tuple[list[np.ndarray], Places]:
        """Returns the outputs of a model and where its nodes ran; raises RuntimeError for an error or a timeout."""
        if self._browser is not None and self._count >= AGE:
            self.close()
        if self._browser is None:
            self._start()
        assert self._server is not None
        self._count += 1
        arrays = {name: np.asarray(array, order="C") for name, array in feeds.items()}
        inputs = [
            {"name": name, "type": array.dtype.name, "dims": array.shape, "size": array.nbytes}
            for name, array in arrays.items()
        ]
        header = json.dumps({"model": len(model), "inputs": inputs, "optimize": optimize}).encode()
        self._server.jobs.put(b"".join([header, b"\n", model, *(array.tobytes() for array in arrays.values())]))
        answer, data = self._answer(self._patience)
        if answer.get("over"):  # the page hangs or has trapped
            self.close()
        if "error" in answer:
            raise RuntimeError(answer["error"])
        outputs = []
        for item in answer["outputs"]:
            part, data = data[: item["size"]], data[item["size"] :]
            outputs.append(np.frombuffer(part, item["type"]).reshape(item["dims"]))
        return outputs, answer["places"]


def main() -> int:
    """Prints information about each backend."""
    for name, backend in BACKENDS.items():
        page = Page(backend)
        print(name, json.dumps(page.about))
        page.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
