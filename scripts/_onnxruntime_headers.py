"""ONNX Runtime's headers for C++, which its wheels leave out, from Debian's package, by apt. Standard library only.

The package is of Debian's release 13 whatever the machine runs: apt keeps lists for it in a directory of ours, so that
neither ``apt-get update`` nor the machine's own release matter. A later package would not do: a program asks the
library for the version of its headers, which may not be above its own.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
import tempfile
from pathlib import Path

from _directml_packages import Debian, MissingError, configured_mirror
from _environment import ROOT

HEADERS = ROOT / ".venv-cpp" / "onnxruntime"
SUITE = "trixie"
PACKAGE = "libonnxruntime-dev=1.21.0+dfsg-1"
SHA256 = "14f7d959d5deacbcf1504830d4189f91fc67382b399ed9ae9d3aa9c4050ced08"
INSIDE = "./usr/include/onnxruntime/"


def fetch() -> bool:
    """Makes the directory ``HEADERS``; False, and a line that says so, where the package cannot be had.

    A library takes programs that were compiled with the headers of an older one, so any version of them will do.
    """
    if not (HEADERS / "onnxruntime_cxx_api.h").exists():
        try:
            unpack(downloaded(), HEADERS)
        except (OSError, ValueError, MissingError) as failure:
            print(f"no headers of ONNX Runtime from Debian, with which samples/cpp is compiled: {failure}", flush=True)
            return False
    return True


def downloaded() -> bytes:
    """The package, from the mirror of Debian that apt is set up for; MissingError where it cannot be had."""
    with tempfile.TemporaryDirectory() as directory:
        return Debian(Path(directory), configured_mirror(), SUITE).downloaded(PACKAGE).read_bytes()


def unpack(package: bytes, directory: Path) -> None:
    """Puts the headers of a Debian package into a directory. ValueError when it is another package."""
    found = hashlib.sha256(package).hexdigest()
    if found != SHA256:
        raise ValueError(f"{PACKAGE} has the SHA-256 {found}, not {SHA256}")
    directory.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(member(package, b"data.tar.xz")), mode="r:xz") as archive:
        for item in archive:
            name = item.name.removeprefix(INSIDE)
            contents = archive.extractfile(item) if item.isfile() else None
            if contents is not None and name != item.name and "/" not in name:
                (directory / name).write_bytes(contents.read())


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
