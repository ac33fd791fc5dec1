"""Builds what is released, and uses it as somebody does who has nothing else.

    python scripts/check_release.py                   the wheel in a clean environment: all that the documents say
    python scripts/check_release.py --lowest          with the lowest versions of all packages that it admits
    python scripts/check_release.py --python 3.13     with another Python, which has to be on this machine
    python scripts/check_release.py --newest          with the newest, not those that the tests have seen
    python scripts/check_release.py --sdist           with a part of the tests, from the source distribution
    python scripts/check_release.py --brief           only pages that use every command, as scripts/test.py does
    python scripts/check_release.py --keep dist       keeps what was built, if all is well

The wheel is built from the source distribution, so that neither lacks anything, and compared with one that is built
here. Everything happens in a directory outside of the repository: environment, pages of the documents, and what their
commands write.
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
"""What depends on the packages that the project uses, and takes a minute."""
BRIEF = ("README.md", "docs/command-line.md", "docs/pydirectml.md", "docs/cpp.md")
"""Pages that use every command."""
PORTABLE = ("README.md", "docs/builder.md", "docs/formats.md", "docs/native-format.md", "docs/python.md")
"""Pages without commands that Windows lacks, and without paths in what is printed."""
TOOLS = ("pytest", "pytest-timeout", "hypothesis", "scipy", "jsonschema", "websocket-client")


def call(*command: str | Path, directory: Path) -> str:
    """Runs a command, whose output is shown when it fails and ends this script."""
    outside = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=directory,
        env={**outside, "OMP_NUM_THREADS": "1"},
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
    """The wheel, made of the source distribution, and the directory into which that one is unpacked."""
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
        sys.exit(f"the source distribution makes another wheel; these files differ: {', '.join(sorted(changed))}")
    return wheel, source


def contents(wheel: Path) -> dict[str, int]:
    """The files of a wheel, with a sum of each one's contents."""
    with zipfile.ZipFile(wheel) as file:
        return {item.filename: item.CRC for item in file.infolist()}


def environment(uv: list[str | Path], place: Path, wheel: Path, options: argparse.Namespace) -> Path:
    """A new environment that holds the wheel, and what comes with it."""
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
    """The pins of ``names``, or of all packages, without hashes, which no constraints for a wheel of one's own have."""
    text = (REQUIREMENTS / "test.txt").read_text(encoding="utf-8")
    lines = [line.rstrip(" \\") for line in text.splitlines() if "==" in line and not line.startswith((" ", "#"))]
    file = place / "constraints.txt"
    chosen = [line for line in lines if not names or line.partition("==")[0] in names]
    file.write_text("\n".join(chosen) + "\n", encoding="utf-8")
    return file


def documents(python: Path, place: Path, chosen: tuple[str, ...]) -> None:
    """All that the documents say, where there is nothing of the repository but its pages."""
    pages = place / "pages"
    shutil.copytree(ROOT / "docs", pages / "docs", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    shutil.copyfile(ROOT / "README.md", pages / "README.md")
    (pages / "scripts").mkdir()
    shutil.copyfile(ROOT / "scripts" / "run_docs.py", pages / "scripts" / "run_docs.py")
    print(call(python, "-I", "scripts/run_docs.py", *chosen, directory=pages), end="")


def tests(uv: list[str | Path], python: Path, source: Path, place: Path) -> None:
    """A part of the tests, in the unpacked source distribution."""
    install = [*uv, "pip", "install", "--quiet", "--python", python, "--constraints", pins(place, TOOLS)]
    call(*install, *TOOLS, directory=place)
    shown = call(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS, directory=source)
    print(shown.splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds what is released, and uses it as somebody does.")
    parser.add_argument("--python", metavar="VERSION", help="the Python to use, such as 3.13 (default: this one)")
    versions = parser.add_mutually_exclusive_group()
    versions.add_argument("--lowest", action="store_true", help="with the lowest versions of all packages")
    versions.add_argument("--newest", action="store_true", help="with the newest versions of all packages")
    parser.add_argument("--sdist", action="store_true", help="run tests of the source distribution as well")
    parser.add_argument("--brief", action="store_true", help="only pages that use every command")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="put what was built there, if all is well")
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
