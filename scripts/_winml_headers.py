"""What there is of Windows ML's headers for C++ outside of NuGet: from wheels of the package index, by hash.

    python scripts/_winml_headers.py    puts it into ``.venv-cpp/winml``

C++/WinRT's own headers, which Microsoft's tool makes of the Windows SDK; and what the metadata of the Windows App SDK
says of Windows ML's classes, of which no wheel has headers. ``tests/docs/test_windows_ml.py`` compiles the program of
docs/windows-ml.md with both. Standard library only.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

from _environment import ROOT

DIRECTORY = ROOT / ".venv-cpp" / "winml"


class Wheel(NamedTuple):
    """A wheel of the package index, and which of its files are wanted."""

    name: str
    sha256: str
    prefixes: tuple[str, ...]
    """Of the paths inside."""
    cut: str
    """What goes of these paths."""


CPPWINRT = Wheel(
    "winrt-sdk==3.2.1",
    "606d477757d5a47426b561337ae1672e0ff4647aaec889a70e8cb86b245ed9bc",
    tuple(f"winrt_sdk/cppwinrt/winrt/{name}" for name in ("base.h", "Windows.Foundation.", "impl/Windows.Foundation.")),
    "winrt_sdk/cppwinrt/",
)
"""C++/WinRT 2.0.250303."""
METADATA = Wheel(
    "winrt-Microsoft.Windows.AI.MachineLearning==4!2.5.1",
    "3b1540bbe2a95096f707244f46ef13b4853f7e5848c2936035f380608402b272",
    ("winrt/microsoft/windows/ai/machinelearning/__init__.pyi",),
    "winrt/microsoft/windows/ai/",
)
"""Windows App SDK 2.5.1: comments state each method as its metadata has it."""


def fetch() -> bool:
    """Makes the directory; False, and a line that says so, where a wheel cannot be had."""
    had = [_fetched(wheel) for wheel in (CPPWINRT, METADATA)]  # each, also behind one that cannot be had
    return all(had)


def _fetched(wheel: Wheel) -> bool:
    stamp = DIRECTORY / f"{wheel.sha256}.txt"
    if stamp.exists():
        return True
    with tempfile.TemporaryDirectory() as name:
        wanted = Path(name, "wanted.txt")
        wanted.write_text(f"{wheel.name} --hash=sha256:{wheel.sha256}\n", encoding="utf-8")
        options = ["--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:", "--dest", name]
        command = [sys.executable, "-m", "pip", "download", *options, "--requirement", str(wanted)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        files = list(Path(name).glob("*.whl"))
        if done.returncode or len(files) != 1:
            said = done.stderr.strip().rpartition("\n")[2]
            print(f"no {wheel.name}, with which C++ for Windows ML is compiled: {said}", flush=True)
            return False
        unpack(files[0], wheel)
    stamp.touch()
    return True


def unpack(file: Path, wheel: Wheel) -> None:
    """Puts the files that are wanted of a wheel into the directory."""
    with zipfile.ZipFile(file) as archive:
        for name in archive.namelist():
            if name.startswith(wheel.prefixes):
                place = DIRECTORY / name.removeprefix(wheel.cut)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(archive.read(name))


if __name__ == "__main__":
    sys.exit(0 if fetch() else 1)
