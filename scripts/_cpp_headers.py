"""C++ headers that the compiler's package lacks, pinned by hash. Standard library only.

    python scripts/_cpp_headers.py    installs them below ``.venv-cpp``

ONNX Runtime's headers, which its wheels lack, come from Debian packages. apt uses private package lists, so that the
machine's release and package lists do not matter. Programs that are run are compiled with the older headers, since the
library rejects headers that are newer than itself. The newer headers are for docs/windows-ml.md, whose program is
compiled but not run.

Windows ML's headers are only on NuGet. Wheels have C++/WinRT's own headers, generated from the Windows SDK, and Python
stubs with the metadata of Windows ML's classes. ``tests/docs/test_windows_ml.py`` compiles the program of
docs/windows-ml.md with both.
"""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from _directml_packages import Debian, MissingError, configured_mirror
from _environment import ROOT

INSIDE = "./usr/include/onnxruntime/"
"""The directory of headers in Debian's packages."""


@dataclass(frozen=True)
class Package(ABC):
    """A package with headers, and the directory to install them into."""

    directory: Path
    name: str
    """The name with the version."""
    sha256: str

    @abstractmethod
    def downloaded(self, place: Path) -> Path:
        """Downloads the package into a directory; raises MissingError if it is not available."""

    @abstractmethod
    def files(self, contents: bytes) -> Iterator[tuple[str, bytes]]:
        """Yields the path and contents of each header to install."""

    def fetch(self) -> bool:
        """Installs the headers if needed; prints a line and returns False if the package is not available."""
        stamp = self.directory / f"{self.sha256}.txt"
        if stamp.exists():
            return True
        try:
            with tempfile.TemporaryDirectory() as place:
                self.unpack(self.downloaded(Path(place)).read_bytes())
        except (OSError, ValueError, MissingError) as failure:
            print(f"no {self.name}, so that C++ programs are not compiled: {failure}", flush=True)
            return False
        stamp.touch()
        return True

    def unpack(self, contents: bytes) -> None:
        """Installs the headers; raises ValueError if the package has another hash."""
        found = hashlib.sha256(contents).hexdigest()
        if found != self.sha256:
            raise ValueError(f"{self.name} has the SHA-256 {found}, not {self.sha256}")
        for name, data in self.files(contents):
            place = self.directory / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)


@dataclass(frozen=True)
class DebianPackage(Package):
    """A package of a Debian release, from apt's configured mirror."""

    suite: str

    def downloaded(self, place: Path) -> Path:
        return Debian(place, configured_mirror(), self.suite).downloaded(self.name)

    def files(self, contents: bytes) -> Iterator[tuple[str, bytes]]:
        with tarfile.open(fileobj=io.BytesIO(member(contents, b"data.tar.xz")), mode="r:xz") as archive:
            for item in archive:
                name = item.name.removeprefix(INSIDE)
                file = archive.extractfile(item) if item.isfile() else None
                if file is not None and name != item.name and "/" not in name:
                    yield name, file.read()


@dataclass(frozen=True)
class Wheel(Package):
    """A wheel from the package index."""

    prefixes: tuple[str, ...]
    """Paths to install start with one of these."""
    cut: str
    """The prefix to remove from paths."""

    def downloaded(self, place: Path) -> Path:
        wanted = place / "wanted.txt"
        wanted.write_text(f"{self.name} --hash=sha256:{self.sha256}\n", encoding="utf-8")
        options = ["--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:", "--dest", str(place)]
        command = [sys.executable, "-m", "pip", "download", *options, "--requirement", str(wanted)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        files = list(place.glob("*.whl"))
        if done.returncode or len(files) != 1:
            raise MissingError(done.stderr.strip().rpartition("\n")[2])
        return files[0]

    def files(self, contents: bytes) -> Iterator[tuple[str, bytes]]:
        with zipfile.ZipFile(io.BytesIO(contents)) as archive:
            for name in archive.namelist():
                if name.startswith(self.prefixes):
                    yield name.removeprefix(self.cut), archive.read(name)


OLDER = DebianPackage(
    ROOT / ".venv-cpp" / "onnxruntime",
    "libonnxruntime-dev=1.21.0+dfsg-1",
    "14f7d959d5deacbcf1504830d4189f91fc67382b399ed9ae9d3aa9c4050ced08",
    "trixie",
)
NEWER = DebianPackage(
    ROOT / ".venv-cpp" / "onnxruntime-1.23",
    "libonnxruntime-dev=1.23.2+dfsg-6.1",
    "4630a94adb36dc056feb124e51c6e952e2cab5188bc093a25bee8a7e1ac5196d",
    "forky",
)
CPPWINRT = Wheel(
    ROOT / ".venv-cpp" / "winml",
    "winrt-sdk==3.2.1",
    "606d477757d5a47426b561337ae1672e0ff4647aaec889a70e8cb86b245ed9bc",
    tuple(f"winrt_sdk/cppwinrt/winrt/{name}" for name in ("base.h", "Windows.Foundation.", "impl/Windows.Foundation.")),
    "winrt_sdk/cppwinrt/",
)
"""C++/WinRT 2.0.250303."""
METADATA = Wheel(
    ROOT / ".venv-cpp" / "winml",
    "winrt-Microsoft.Windows.AI.MachineLearning==4!2.5.1",
    "3b1540bbe2a95096f707244f46ef13b4853f7e5848c2936035f380608402b272",
    ("winrt/microsoft/windows/ai/machinelearning/__init__.pyi",),
    "winrt/microsoft/windows/ai/",
)
"""Windows App SDK 2.5.1: comments have the metadata of each method."""
PACKAGES: list[Package] = [OLDER, NEWER, CPPWINRT, METADATA]


def fetch() -> bool:
    """Installs all headers; returns False if a package is not available."""
    return False not in [package.fetch() for package in PACKAGES]  # one failure does not skip the rest


def member(archive: bytes, name: bytes) -> bytes:
    """A member of an ``ar`` archive, such as a Debian package; raises ValueError if there is no such member."""
    place = len(b"!<arch>\n")
    while place + 60 <= len(archive):
        head = archive[place : place + 60]
        size = int(head[48:58])
        if head[:16].rstrip().rstrip(b"/") == name:
            return archive[place + 60 : place + 60 + size]
        place += 60 + size + size % 2
    raise ValueError(f"the archive has no {name.decode()}")


if __name__ == "__main__":
    sys.exit(0 if fetch() else 1)
