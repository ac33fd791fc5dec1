"""ONNX Runtime's headers for C++, which its wheels leave out, from Debian's packages, by apt. Standard library only.

The packages are of their releases of Debian whatever the machine runs: apt keeps lists for it in a directory of ours,
so that neither ``apt-get update`` nor the machine's own release matter. Programs that run here are compiled with the
older headers: a program asks the library for their version, which may not be above its own. The newer ones have what
docs/windows-ml.md calls, which is compiled and not run.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple

from _directml_packages import Debian, MissingError, configured_mirror
from _environment import ROOT

INSIDE = "./usr/include/onnxruntime/"


class Package(NamedTuple):
    """A package with headers, and where they go."""

    directory: Path
    suite: str
    name: str
    sha256: str


OLDER = Package(
    ROOT / ".venv-cpp" / "onnxruntime",
    "trixie",
    "libonnxruntime-dev=1.21.0+dfsg-1",
    "14f7d959d5deacbcf1504830d4189f91fc67382b399ed9ae9d3aa9c4050ced08",
)
NEWER = Package(
    ROOT / ".venv-cpp" / "onnxruntime-1.23",
    "forky",
    "libonnxruntime-dev=1.23.2+dfsg-6.1",
    "4630a94adb36dc056feb124e51c6e952e2cab5188bc093a25bee8a7e1ac5196d",
)


PACKAGES = [OLDER, NEWER]


def fetch() -> bool:
    """Makes the directories of all headers; False, and a line that says so, where a package cannot be had."""
    had = [_fetched(package) for package in PACKAGES]  # each, also behind one that cannot be had
    return all(had)


def _fetched(package: Package) -> bool:
    if not (package.directory / "onnxruntime_cxx_api.h").exists():
        try:
            unpack(downloaded(package), package)
        except (OSError, ValueError, MissingError) as failure:
            print(f"no headers of ONNX Runtime from Debian, with which C++ is compiled: {failure}", flush=True)
            return False
    return True


def downloaded(package: Package) -> bytes:
    """The package, from the mirror of Debian that apt is set up for; MissingError where it cannot be had."""
    with tempfile.TemporaryDirectory() as directory:
        return Debian(Path(directory), configured_mirror(), package.suite).downloaded(package.name).read_bytes()


def unpack(contents: bytes, package: Package) -> None:
    """Puts the headers of a Debian package into its directory. ValueError when it is another package."""
    found = hashlib.sha256(contents).hexdigest()
    if found != package.sha256:
        raise ValueError(f"{package.name} has the SHA-256 {found}, not {package.sha256}")
    package.directory.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(member(contents, b"data.tar.xz")), mode="r:xz") as archive:
        for item in archive:
            name = item.name.removeprefix(INSIDE)
            file = archive.extractfile(item) if item.isfile() else None
            if file is not None and name != item.name and "/" not in name:
                (package.directory / name).write_bytes(file.read())


def member(archive: bytes, name: bytes) -> bytes:
    """A file of an archive of ``ar``, which is what Debian's packages are. ValueError when it has none of that name."""
    place = len(b"!<arch>\n")
    while place + 60 <= len(archive):
        head = archive[place : place + 60]
        size = int(head[48:58])
        if head[:16].rstrip().rstrip(b"/") == name:
            return archive[place + 60 : place + 60 + size]
        place += 60 + size + size % 2
    raise ValueError(f"the archive has no {name.decode()}")
