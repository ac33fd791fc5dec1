"""Virtual environments with pinned packages. Standard library only."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036 - users of an older one should get this instead of a traceback
    sys.exit(f"dml2onnx needs Python 3.11 or newer; this is {sys.version.split()[0]} ({sys.executable})")

from collections.abc import Callable, Mapping, Sequence
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # scripts import the package and its tests from this checkout
    sys.path.insert(0, str(ROOT))
REQUIREMENTS = ROOT / "scripts" / "requirements"
STAMP = "dml2onnx-pins.sha256"


def prepare(name: str, lock: str = "test", *options: str, project: bool = True) -> Path:
    """Returns the interpreter of the environment ``name`` in the repository, creating it if it is missing or stale.

    It has the packages of ``scripts/requirements/LOCK.txt``, checked against the hashes there, and the ``project``
    itself, editable; ``options`` are passed to pip. Exits if pip fails.
    """
    pins = (REQUIREMENTS / f"{lock}.txt").read_text(encoding="utf-8")
    digest = fingerprint(pins, (ROOT / "pyproject.toml").read_text(encoding="utf-8") if project else "")
    directory = ROOT / name
    stamp = directory / STAMP
    if interpreter(directory).exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == digest:
        return interpreter(directory)
    print(f"preparing {directory} (once, about a minute)", flush=True)
    create(directory, with_pip=project)
    pip(directory, "--require-hashes", *options, "-r", str(REQUIREMENTS / f"{lock}.txt"))
    if project:
        # the build backend is pinned and already installed
        pip(directory, "--no-build-isolation", "--no-deps", "--editable", str(ROOT))
    stamp.write_text(digest, encoding="utf-8")
    return interpreter(directory)


def prepare_runtime(lock: str) -> Path:
    """Returns the interpreter of an environment with another ONNX Runtime; all other packages come from ``.venv``."""
    python = prepare(f".venv-{lock}", lock, "--no-deps", project=False)
    # after its own packages; this also processes .venv's .pth files, such as the project's
    line = f"import site; site.addsitedir({str(packages(ROOT / '.venv'))!r})\n"
    (packages(ROOT / f".venv-{lock}") / "dml2onnx-rest.pth").write_text(line, encoding="utf-8")
    return python


TOOLS = {
    "browser": "no browser from the package index: tests need the system's",
    "cpp": "no C++ compiler from the package index: tests need the system's",
    "csharp": "no .NET runtime: C# is not tested",
    "openvino": "no OpenVINO: nothing is run on it",
    "webgpu": "no ONNX Runtime for WebGPU: nothing is run on it",
    "qnn": "no QNN provider of ONNX Runtime: nothing is run on it",
    "mutants": "no cosmic-ray: no mutants are made",
    "onward": "no downstream tools: no models are passed to them",
}
"""Environments that not every system has wheels for, and the message if they are missing."""


def prepare_tool(lock: str) -> bool:
    """Creates the environment ``.venv-LOCK`` of ``TOOLS``; prints a line and returns False if it is not available."""
    try:
        prepare(f".venv-{lock}", lock, "--no-deps", project=False)
    except SystemExit as failure:
        print(f"{TOOLS[lock]}: {failure}", flush=True)
        return False
    return True


def fill_directory(directory: Path, key: str, fill: Callable[[], None], missing: str) -> bool:
    """Calls ``fill`` unless the directory was filled with the same key; prints a line and returns False on failure."""
    stamp, digest = directory / STAMP, fingerprint(key, "")
    if stamp.exists() and stamp.read_text(encoding="utf-8") == digest:
        return True
    print(f"preparing {directory} (once, about a minute)", flush=True)
    shutil.rmtree(directory, ignore_errors=True)
    try:
        fill()
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"{missing}: {error}", flush=True)
        return False
    stamp.write_text(digest, encoding="utf-8")
    return True


def fingerprint(pins: str, project: str) -> str:
    """A digest of everything that an environment depends on."""
    parts = (pins, project, sys.version, sys.platform, str(ROOT))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def packages(directory: Path) -> Path:
    """The directory of packages of a virtual environment."""
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(directory), "platbase": str(directory)}))


def interpreter(directory: Path) -> Path:
    """The path of the interpreter of a virtual environment."""
    return directory / "Scripts" / "python.exe" if os.name == "nt" else directory / "bin" / "python"


def run(
    command: Sequence[str | Path], environment: Mapping[str, str] | None = None, output: IO[bytes] | None = None
) -> int:
    """Runs a command in the repository, with its output shown or written to a file; returns its exit code.

    Bytecode caching is always on: compiling numpy and ONNX takes longer than most processes run.
    """
    sys.stdout.flush()
    return subprocess.run(
        [str(part) for part in command],
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", **(environment or {})},
        stdout=output,
        stderr=None if output is None else subprocess.STDOUT,
        check=False,
    ).returncode


def create(directory: Path, *, with_pip: bool = False) -> None:
    """Creates an empty virtual environment; exits on failure.

    Replaces a symbolic link, but not its target, which belongs to another checkout. The caller's pip is used if the
    environment needs none of its own, which saves some seconds, or if Python comes without one.
    """
    has_ensurepip = importlib.util.find_spec("ensurepip") is not None  # Debian keeps it in a package of its own
    if not has_ensurepip and not _has_remote_pip():
        sys.exit("Python has neither ensurepip nor pip; on Debian and Ubuntu: apt install python3-venv")
    if directory.is_symlink():
        directory.unlink()
    gets_pip = has_ensurepip and (with_pip or not _has_remote_pip())
    options = ["--clear"] if gets_pip else ["--clear", "--without-pip"]
    if run([sys.executable, "-m", "venv", *options, directory]) != 0:
        sys.exit(f"cannot create {directory}")


def pip(directory: Path, *arguments: str) -> None:
    """Installs into a virtual environment; exits on failure."""
    python = interpreter(directory)
    own = (packages(directory) / "pip").exists()
    command: list[str | Path] = [python, "-m", "pip"] if own else [sys.executable, "-m", "pip", "--python", python]
    environment = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
    # compiling only modules that are imported takes a fraction of the time
    code = run([*command, "install", "--quiet", "--no-compile", *arguments], environment)
    if code != 0:
        sys.exit(f"pip install {' '.join(arguments)} failed with exit code {code}")


def _has_remote_pip() -> bool:
    """Whether the caller's pip can install into another environment, which needs version 22.3."""
    try:
        major, minor = version("pip").split(".")[:2]
    except PackageNotFoundError:
        return False
    return (int(major), int(minor)) >= (22, 3)
