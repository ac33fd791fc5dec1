"""Packages of the npm registry, by version and hash: https://docs.npmjs.com/cli/commands/npm-pack."""

from __future__ import annotations

import base64
import hashlib
import io
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple


class Package(NamedTuple):
    """A package of the npm registry and the hash of its archive, as the registry itself states it."""

    name: str
    version: str
    integrity: str


def archive(package: Package, unpinned: bool) -> tarfile.TarFile:
    """The package's archive; ends the process when it is not the pinned one."""
    wanted = f"{package.name}@{package.version}"
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(["npm", "pack", "--silent", "--pack-destination", directory, wanted], check=True)
        (file,) = Path(directory).iterdir()
        content = file.read_bytes()
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()
    if unpinned:
        print(f"{package.name} {package.version}: {integrity}")
    elif integrity != package.integrity:
        sys.exit(f"{wanted} is {integrity}, not {package.integrity}")
    return tarfile.open(fileobj=io.BytesIO(content))


def member(files: tarfile.TarFile, name: str) -> str:
    """The text of a file of the package."""
    found = files.extractfile(f"package/{name}")
    assert found is not None, name
    return found.read().decode().strip()
