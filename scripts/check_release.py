"""Builds the release and tests it in a clean environment.

    python scripts/check_release.py                   run the documentation with the wheel in a clean environment
    python scripts/check_release.py --lowest          with the lowest admitted versions of all packages
    python scripts/check_release.py --python 3.13     with another installed Python
    python scripts/check_release.py --newest          with the newest versions rather than the pinned ones
    python scripts/check_release.py --sdist           also run some tests from the source distribution
    python scripts/check_release.py --brief           only pages that use every command, as scripts/test.py does
    python scripts/check_release.py --keep dist       keep the built files if everything passes

The wheel is built from the source distribution, so that neither lacks files, and compared with one built from the
repository. The environment, the pages and the files that their commands write are in a temporary directory.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from _environment import REQUIREMENTS, ROOT, create, interpreter, pip, prepare

TESTS = ("tests/cli", "tests/test_api.py", "tests/test_runtime.py", "tests/test_samples.py", "tests/exporters")
"""Tests that depend on the project's dependencies; they take a minute."""
BRIEF = ("README.md", "docs/command-line.md", "docs/pydirectml.md", "docs/cpp.md")
"""Pages that use every command."""
PORTABLE = ("README.md", "docs/builder.md", "docs/formats.md", "docs/native-format.md", "docs/python.md")
"""Pages whose commands exist on Windows and whose output has no paths."""
TOOLS = ("pytest", "pytest-timeout", "hypothesis", "scipy", "jsonschema", "websocket-client")


def call(*command: str | Path, directory: Path) -> str:
    """Returns the output of a command; if it fails, prints the output and exits."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=directory,
        env={**environment, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"$ {' '.join(map(str, command))}\n{done.stdout}\nfailed with exit code {done.returncode}")
    return done.stdout


def build(python: Path, place: Path) -> tuple[Path, Path]:
    """Builds the wheel from the source distribution; returns it and the directory of the unpacked sources."""
    hatchling = (python, "-m", "hatchling", "build", "--directory")
    call(*hatchling, place / "here", directory=ROOT)
    (archive,) = (place / "here").glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(place / "source", filter="data")
    (source,) = (place / "source").iterdir()
    call(*hatchling, place / "dist", "--target", "wheel", directory=source)
    (wheel,) = (place / "dist").glob("*.whl")
    (other,) = (place / "here").glob("*.whl")
    if contents(wheel) != contents(other):
        changed = {name for name, _ in contents(wheel).items() ^ contents(other).items()}
        sys.exit(f"the wheel built from the source distribution differs in these files: {', '.join(sorted(changed))}")
    return wheel, source


def contents(wheel: Path) -> dict[str, int]:
    """The checksum of each file in a wheel."""
    with zipfile.ZipFile(wheel) as file:
        return {item.filename: item.CRC for item in file.infolist()}


def environment(uv: list[str | Path], place: Path, wheel: Path, options: argparse.Namespace) -> Path:
    """Creates an environment with the wheel and its dependencies; returns its interpreter."""
    if not (options.python or options.lowest or options.newest):
        create(place / "venv")
        pip(place / "venv", "--constraint", str(pins(place)), f"{wheel}[images,completion]")
        return interpreter(place / "venv")
    version = options.python or f"{sys.version_info.major}.{sys.version_info.minor}"
    call(*uv, "venv", "--quiet", "--python", version, "--no-python-downloads", place / "venv", directory=place)
    python = interpreter(place / "venv")
    how: list[str | Path] = ["--constraints", pins(place)]
    if options.lowest or options.newest:
        how = ["--resolution", "lowest-direct" if options.lowest else "highest"]
    install = [*uv, "pip", "install", "--quiet", "--python", python, *how]
    call(*install, f"{wheel}[images,completion]", directory=place)
    return python


def pins(place: Path, names: tuple[str, ...] = ()) -> Path:
    """Writes the pins of ``names``, or of all packages, without hashes, since the built wheel has no pinned hash."""
    text = (REQUIREMENTS / "test.txt").read_text(encoding="utf-8")
    lines = [line.rstrip(" \\") for line in text.splitlines() if "==" in line and not line.startswith((" ", "#"))]
    file = place / "constraints.txt"
    chosen = [line for line in lines if not names or line.partition("==")[0] in names]
    file.write_text("\n".join(chosen) + "\n", encoding="utf-8")
    return file


def documents(python: Path, place: Path, chosen: tuple[str, ...]) -> None:
    """Runs pages of the documentation in a copy without the rest of the repository."""
    pages = place / "pages"
    shutil.copytree(ROOT / "docs", pages / "docs", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    shutil.copyfile(ROOT / "README.md", pages / "README.md")
    (pages / "scripts").mkdir()
    shutil.copyfile(ROOT / "scripts" / "run_docs.py", pages / "scripts" / "run_docs.py")
    print(call(python, "-I", "scripts/run_docs.py", *chosen, directory=pages), end="")


def tests(uv: list[str | Path], python: Path, source: Path, place: Path) -> None:
    """Runs some tests in the unpacked source distribution."""
    install = [*uv, "pip", "install", "--quiet", "--python", python, "--constraints", pins(place, TOOLS)]
    call(*install, *TOOLS, directory=place)
    shown = call(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS, directory=source)
    print(shown.splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds the release and tests it in a clean environment.")
    parser.add_argument("--python", metavar="VERSION", help="the Python to use, such as 3.13 (default: this one)")
    versions = parser.add_mutually_exclusive_group()
    versions.add_argument("--lowest", action="store_true", help="with the lowest versions of all packages")
    versions.add_argument("--newest", action="store_true", help="with the newest versions of all packages")
    parser.add_argument("--sdist", action="store_true", help="run tests of the source distribution as well")
    parser.add_argument("--brief", action="store_true", help="only pages that use every command")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="copy the built files there if everything passes")
    options = parser.parse_args()
    tools = prepare(".venv")
    uv: list[str | Path] = [tools, "-m", "uv"]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        place = Path(name).resolve()
        wheel, source = build(tools, place)
        python = environment(uv, place, wheel, options)
        print(call(python, "-I", "-m", "dml2onnx", "doctor", directory=place), end="")
        documents(python, place, PORTABLE if os.name == "nt" else BRIEF if options.brief else ())
        if options.sdist:
            tests(uv, python, source, place)
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            for file in (place / "here").iterdir():
                shutil.copy(file, options.keep)
    return 0


if __name__ == "__main__":
    sys.exit(main())
