"""Virtual environments with pinned packages, for the demo and the tests. Standard library only."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if sys.version_info < (3, 11):  # noqa: UP036 - whoever runs an older one should read this, not a traceback
    sys.exit(f"dml2onnx needs Python 3.11 or newer; this is {sys.version.split()[0]} ({sys.executable})")

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
PINS = ROOT / "scripts" / "requirements.txt"
BROWSER = ".venv-browser"
BROWSER_PINS = ROOT / "scripts" / "browser-requirements.txt"
STAMP = "dml2onnx-pins.sha256"


def prepare(name: str, replace: Mapping[str, str] | None = None) -> Path:
    """The interpreter of the environment ``name`` below the repository, made anew when it is missing or stale.

    It holds the pinned packages, those in ``replace`` (package to version) in another version, and the project itself,
    editable. A failure of pip ends the script.
    """
    pins = pinned(PINS.read_text(encoding="utf-8"), replace or {})
    digest = fingerprint(pins, (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    directory = ROOT / name
    if not _is_made(directory, digest):
        _install(directory, pins)
        # the build backend is pinned as well, so it is not fetched a second time in another version
        _pip(directory, "--no-build-isolation", "--no-deps", "--editable", str(ROOT))
        (directory / STAMP).write_text(digest, encoding="utf-8")
    return interpreter(directory)


def prepare_browser() -> bool:
    """Makes the environment with a headless Chromium; False, and a line that says so, where there is none to be had."""
    pins = BROWSER_PINS.read_text(encoding="utf-8")
    digest = fingerprint(pins, "")
    directory = ROOT / BROWSER
    if not _is_made(directory, digest):
        try:
            _install(directory, pins, "--no-deps")
        except SystemExit as failure:  # not every system has wheels of it
            print(f"no browser from the package index, whose tests need one of the system: {failure}", flush=True)
            return False
        (directory / STAMP).write_text(digest, encoding="utf-8")
    return True


def _is_made(directory: Path, digest: str) -> bool:
    stamp = directory / STAMP
    return interpreter(directory).exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == digest


def _install(directory: Path, pins: str, *options: str) -> None:
    print(f"preparing {directory} (once, about a minute)", flush=True)
    _create(directory)
    requirements = directory / "requirements.txt"
    requirements.write_text(pins, encoding="utf-8")
    _pip(directory, *options, "-r", str(requirements))


def pinned(pins: str, replace: Mapping[str, str]) -> str:
    """The requirements with other versions for some packages."""
    missing = dict(replace)
    lines = []
    for line in pins.splitlines():
        package, _, rest = line.partition("==")
        if package in missing:
            _, semicolon, marker = rest.partition(" ;")
            line = f"{package}=={missing.pop(package)}{semicolon}{marker}"
        lines.append(line)
    if missing:
        raise KeyError(f"{PINS.name} has no pin of {', '.join(missing)}")
    return "\n".join(lines) + "\n"


def fingerprint(pins: str, project: str) -> str:
    """Changes with anything that an environment was made from."""
    parts = (pins, project, sys.version, sys.platform, str(ROOT))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def interpreter(directory: Path) -> Path:
    """Where a virtual environment keeps Python."""
    return directory / "Scripts" / "python.exe" if os.name == "nt" else directory / "bin" / "python"


def run(command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> int:
    """Runs a command in the repository, its output shown as it comes, and returns its exit code."""
    sys.stdout.flush()
    return subprocess.run(
        [str(part) for part in command], cwd=ROOT, env={**os.environ, **(environment or {})}, check=False
    ).returncode


def _create(directory: Path) -> None:
    if not _has_ensurepip() and importlib.util.find_spec("pip") is None:
        sys.exit("neither ensurepip nor pip is there; on Debian and Ubuntu: apt install python3-venv")
    options = ["--clear"] if _has_ensurepip() else ["--clear", "--without-pip"]
    if run([sys.executable, "-m", "venv", *options, directory]) != 0:
        sys.exit(f"cannot make {directory}")


def _pip(directory: Path, *arguments: str) -> None:
    python = interpreter(directory)
    pip: list[str | Path] = (
        [python, "-m", "pip"] if _has_ensurepip() else [sys.executable, "-m", "pip", "--python", python]
    )
    environment = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
    code = run([*pip, "install", "--quiet", *arguments], environment)
    if code != 0:
        sys.exit(f"pip install {' '.join(arguments)} failed with exit code {code}")


def _has_ensurepip() -> bool:
    # Debian keeps it in a package of its own; the caller's pip can fill an environment just as well
    return importlib.util.find_spec("ensurepip") is not None
