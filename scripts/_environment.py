"""Virtual environments with pinned packages, for the demo and the tests. Standard library only."""

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

if sys.version_info < (3, 11):  # noqa: UP036 - whoever runs an older one should read this, not a traceback
    sys.exit(f"dml2onnx needs Python 3.11 or newer; this is {sys.version.split()[0]} ({sys.executable})")

from collections.abc import Callable, Mapping, Sequence
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # scripts import the package and its tests from this checkout
    sys.path.insert(0, str(ROOT))
REQUIREMENTS = ROOT / "scripts" / "requirements"
STAMP = "dml2onnx-pins.sha256"


def prepare(name: str, lock: str = "test", *options: str, project: bool = True) -> Path:
    """The interpreter of the environment ``name`` below the repository, made anew when it is missing or stale.

    It holds the packages of ``scripts/requirements/LOCK.txt``, whose files must have the hashes that stand there, and
    the ``project`` itself, editable; ``options`` are pip's. A failure of pip ends the script.
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
        # the build backend is pinned as well, so it is not fetched a second time in another version
        pip(directory, "--no-build-isolation", "--no-deps", "--editable", str(ROOT))
    stamp.write_text(digest, encoding="utf-8")
    return interpreter(directory)


def prepare_runtime(lock: str) -> Path:
    """The interpreter of an environment with another ONNX Runtime, which has all else that ``.venv`` has from there."""
    python = prepare(f".venv-{lock}", lock, "--no-deps", project=False)
    # behind its own packages; what .venv leads to, such as the project, is then there as well
    line = f"import site; site.addsitedir({str(packages(ROOT / '.venv'))!r})\n"
    (packages(ROOT / f".venv-{lock}") / "dml2onnx-rest.pth").write_text(line, encoding="utf-8")
    return python


TOOLS = {
    "browser": "no browser from the package index, whose tests need one of the system",
    "cpp": "no C++ compiler from the package index, whose tests need one of the system",
    "csharp": "no runtime of .NET, so no C# was compiled",
    "openvino": "no OpenVINO, on which nothing was run",
    "webgpu": "no ONNX Runtime for WebGPU, on which nothing was run",
    "qnn": "no QNN provider of ONNX Runtime, on which nothing was run",
    "mutants": "no cosmic-ray, without which no code is changed",
    "onward": "none of the tools that models go on to, which nothing was given to",
}
"""Environments that not every system has wheels for, and what is said then."""


def prepare_tool(lock: str) -> bool:
    """Makes the environment ``.venv-LOCK`` of ``TOOLS``; False, and a line that says so, where it is not to be had."""
    try:
        prepare(f".venv-{lock}", lock, "--no-deps", project=False)
    except SystemExit as failure:
        print(f"{TOOLS[lock]}: {failure}", flush=True)
        return False
    return True


def filled(directory: Path, made_of: str, fill: Callable[[], None], missing: str) -> bool:
    """Fills a directory anew, unless it was made of the same; False, and a line that says so, where that cannot be."""
    stamp, digest = directory / STAMP, fingerprint(made_of, "")
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
    """Changes with anything that an environment was made from."""
    parts = (pins, project, sys.version, sys.platform, str(ROOT))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def packages(directory: Path) -> Path:
    """Where a virtual environment keeps packages."""
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(directory), "platbase": str(directory)}))


def interpreter(directory: Path) -> Path:
    """Where a virtual environment keeps Python."""
    return directory / "Scripts" / "python.exe" if os.name == "nt" else directory / "bin" / "python"


def run(
    command: Sequence[str | Path], environment: Mapping[str, str] | None = None, output: IO[bytes] | None = None
) -> int:
    """Runs a command in the repository, its output shown as it comes or put into a file; returns its exit code.

    It and what it starts keep compiled modules, whatever the caller's environment says: to compile numpy and ONNX anew
    takes each process longer than most of them run.
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
    """Makes an empty virtual environment; ends the script where that cannot be.

    A link goes, and what it leads to stays: that is the environment of another checkout. One that has no need of a pip
    of its own is filled by the caller's, which saves some seconds, and so is any where Python comes without one.
    """
    has_ensurepip = importlib.util.find_spec("ensurepip") is not None  # Debian keeps it in a package of its own
    if not has_ensurepip and not _fills_others():
        sys.exit("neither ensurepip nor pip is there; on Debian and Ubuntu: apt install python3-venv")
    if directory.is_symlink():
        directory.unlink()
    gets_pip = has_ensurepip and (with_pip or not _fills_others())
    options = ["--clear"] if gets_pip else ["--clear", "--without-pip"]
    if run([sys.executable, "-m", "venv", *options, directory]) != 0:
        sys.exit(f"cannot make {directory}")


def pip(directory: Path, *arguments: str) -> None:
    """Installs into a virtual environment; ends the script when that fails."""
    python = interpreter(directory)
    own = (packages(directory) / "pip").exists()
    command: list[str | Path] = [python, "-m", "pip"] if own else [sys.executable, "-m", "pip", "--python", python]
    environment = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
    # to compile what is imported when it is imported takes a fraction of what compiling all of it does
    code = run([*command, "install", "--quiet", "--no-compile", *arguments], environment)
    if code != 0:
        sys.exit(f"pip install {' '.join(arguments)} failed with exit code {code}")


def _fills_others() -> bool:
    """Whether the caller's pip can fill an environment that has none, as it can from 22.3."""
    try:
        major, minor = version("pip").split(".")[:2]
    except PackageNotFoundError:
        return False
    return (int(major), int(minor)) >= (22, 3)
