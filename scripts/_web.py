"""Chromium and ONNX Runtime Web, from the npm registry, in ``.venv-web``.

    python scripts/_web.py               makes the directory where it is missing or stale (needs npm)
    python scripts/_web.py --unpinned    takes packages whose hashes are not the pinned ones, and prints theirs

``@sparticuz/chromium`` is a headless Chromium for Linux on x86-64, with WebNN and the software driver SwiftShader for
WebGPU; elsewhere a Chromium or Chrome of the system does. Versions and hashes of the packages stand here and nowhere
else. A new version: change it, run with ``--unpinned``, and put the hash that it prints here; then run
``python -m tests.runtimes`` for ``web``, ``web-gpu`` and ``webnn``.
"""

from __future__ import annotations

import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from _environment import ROOT, filled
from _npm import Package, archive, prepared

DIRECTORY = ROOT / ".venv-web"
ORT = Package(
    "onnxruntime-web",
    "1.30.0",
    "sha512-q0y+JrrtukXSzsBWEMccVfqX25LRmosXHF+CaRJmg8pZClzcV7svNc4rKY3jL02Vb7QmRMDs1SigqR4CXAfKYQ==",
)
CHROMIUM = Package(
    "@sparticuz/chromium",
    "153.0.0",
    "sha512-jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==",
)
FILES = (
    *(f"ort.{build}.min.mjs" for build in ("wasm", "webgpu", "jspi")),
    "ort.min.mjs",
    *(f"ort-wasm-simd-threaded{kind}.{end}" for kind in ("", ".asyncify", ".jspi", ".jsep") for end in ("mjs", "wasm")),
)
"""Of onnxruntime-web: each build's module, and what it loads."""
DECODE = "process.stdout.write(require('zlib').brotliDecompressSync(require('fs').readFileSync(0)))"
"""A program for Node.js, which is there where npm is."""


def prepare_web(unpinned: bool = False) -> bool:
    """Makes the directory; False, and a line that says so, where npm or a browser is missing."""
    made_of = repr((ORT, CHROMIUM, unpinned)) + Path(__file__).read_text(encoding="utf-8")
    return filled(DIRECTORY, made_of, lambda: _fill(unpinned), "nothing was run in a browser")


def _fill(unpinned: bool) -> None:
    if shutil.which("npm") is None or shutil.which("node") is None:
        raise OSError("no npm, from whose registry ONNX Runtime Web comes")
    _unpack_ort(unpinned)
    if _has_package():
        _unpack_chromium(unpinned)


def _has_package() -> bool:
    return sys.platform == "linux" and platform.machine().lower() in ("x86_64", "amd64")


def _unpack_ort(unpinned: bool) -> None:
    target = DIRECTORY / "ort"
    target.mkdir(parents=True)
    files = archive(ORT, unpinned)
    for name in FILES:
        (target / name).write_bytes(_content(files, f"dist/{name}"))


def _unpack_chromium(unpinned: bool) -> None:
    target = DIRECTORY / "chromium"
    target.mkdir()
    files = archive(CHROMIUM, unpinned)
    program = target / "chromium"
    program.write_bytes(_decoded(files, "bin/chromium.br"))
    program.chmod(0o755)
    _tar(files, "bin/swiftshader.tar.br").extractall(target, filter="data")
    if not _starts(program, target):  # libraries that a desktop has, and a server may not have
        _tar(files, "bin/al2023.tar.br").extractall(target, filter="data")
        if not _starts(program, target, target / "lib"):
            raise OSError(f"{program} does not start: ldd says which libraries are missing")


def _starts(program: Path, *libraries: Path) -> bool:
    environment = {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(map(str, libraries))}
    return subprocess.run([program, "--version"], env=environment, capture_output=True, check=False).returncode == 0


def _content(files: tarfile.TarFile, name: str) -> bytes:
    found = files.extractfile(f"package/{name}")
    assert found is not None, name
    return found.read()


def _decoded(files: tarfile.TarFile, name: str) -> bytes:
    command = ["node", "-e", DECODE]
    return subprocess.run(command, input=_content(files, name), stdout=subprocess.PIPE, check=True).stdout


def _tar(files: tarfile.TarFile, name: str) -> tarfile.TarFile:
    return tarfile.open(fileobj=io.BytesIO(_decoded(files, name)))


if __name__ == "__main__":
    sys.exit(prepared("Fetches Chromium and ONNX Runtime Web.", prepare_web))
