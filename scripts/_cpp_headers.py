"""Headers for C++ that no package of the compiler has, by hash. Standard library only.

    python scripts/_cpp_headers.py    puts them into directories of ``.venv-cpp``

ONNX Runtime's, which its wheels leave out, are from Debian's packages, by apt. These are of their releases of Debian
whatever the machine runs: apt keeps lists for it in a directory of ours, so that neither ``apt-get update`` nor the
machine's own release matter. Programs that run here are compiled with the older headers: a program asks the library for
their version, which may not be above its own. The newer ones have what docs/windows-ml.md calls, which is compiled and
not run.

Of Windows ML's there is outside of NuGet, in wheels: C++/WinRT's own headers, which Microsoft's tool makes of the
Windows SDK, and what the metadata of the Windows App SDK says of Windows ML's classes, of which no wheel has headers.
``tests/docs/test_windows_ml.py`` compiles the program of docs/windows-ml.md with both.
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
"""Where Debian's packages have headers."""


@dataclass(frozen=True)
class Package(ABC):
    """A package with headers, and where they go."""

    directory: Path
    name: str
    """With its version."""
    sha256: str

    @abstractmethod
    def downloaded(self, place: Path) -> Path:
        """The package, as a file in a directory; MissingError where it cannot be had."""

    @abstractmethod
    def files(self, contents: bytes) -> Iterator[tuple[str, bytes]]:
        """What is wanted of the package, by its path in the directory."""

    def fetch(self) -> bool:
        """Makes the directory, unless it is there; False, and a line that says so, where the package cannot be had."""
        stamp = self.directory / f"{self.sha256}.txt"
        if stamp.exists():
            return True
        try:
            with tempfile.TemporaryDirectory() as place:
                self.unpack(self.downloaded(Path(place)).read_bytes())
        except (OSError, ValueError, MissingError) as failure:
            print(f"no {self.name}, with which C++ is compiled: {failure}", flush=True)
            return False
        stamp.touch()
        return True

    def unpack(self, contents: bytes) -> None:
        """Puts what is wanted of the package into its directory. ValueError when it is another package."""
        found = hashlib.sha256(contents).hexdigest()
        if found != self.sha256:
            raise ValueError(f"{self.name} has the SHA-256 {found}, not {self.sha256}")
        for name, data in self.files(contents):
            place = self.directory / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)


@dataclass(frozen=True)
class DebianPackage(Package):
    """A package of a release of Debian, from the mirror that apt is set up for."""

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
    """A wheel of the package index."""

    prefixes: tuple[str, ...]
    """Of the paths inside that are wanted."""
    cut: str
    """What goes of these paths."""

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
"""Windows App SDK 2.5.1: comments state each method as its metadata has it."""
PACKAGES: list[Package] = [OLDER, NEWER, CPPWINRT, METADATA]


def fetch() -> bool:
    """Makes the directories of all headers; False where a package cannot be had."""
    had = [package.fetch() for package in PACKAGES]  # each, also behind one that cannot be had
    return all(had)


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


if __name__ == "__main__":
    sys.exit(0 if fetch() else 1)
