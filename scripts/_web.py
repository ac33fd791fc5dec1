"""Prepares ``.venv-web``: Chromium and ONNX Runtime Web from the npm registry.

    python scripts/_web.py               creates the directory if it is missing or stale (needs npm)
    python scripts/_web.py --unpinned    accepts packages with other hashes and prints them

``@sparticuz/chromium`` is a headless Chromium for Linux on x86-64, with WebNN and the software driver SwiftShader for
WebGPU; other systems use their own Chromium or Chrome. To update a version, change it here, run with ``--unpinned``,
copy the printed hash, and run ``python -m tests.runtimes`` for ``web``, ``web-gpu`` and ``webnn``.
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

from _environment import ROOT, fill_directory
from _npm import Package, archive, prepare_command

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
"""Files of onnxruntime-web: the module of each build, and what it loads."""
DECODE = "process.stdout.write(require('zlib').brotliDecompressSync(require('fs').readFileSync(0)))"
"""A program for Node.js, which comes with npm."""


def prepare_web(unpinned: bool = False) -> bool:
    """Fills the directory; prints a line and returns False if npm or a browser is missing."""
    key = repr((ORT, CHROMIUM, unpinned)) + Path(__file__).read_text(encoding="utf-8")
    return fill_directory(DIRECTORY, key, lambda: _fill(unpinned), "nothing is run in a browser")


def _fill(unpinned: bool) -> None:
    if shutil.which("npm") is None or shutil.which("node") is None:
        raise OSError("no npm, which downloads ONNX Runtime Web")
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
    if not _starts(program, target):  # a server may lack libraries that a desktop has
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
    sys.exit(prepare_command("Fetches Chromium and ONNX Runtime Web.", prepare_web))
