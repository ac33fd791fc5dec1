"""Packages of the npm registry, by version and hash: https://docs.npmjs.com/cli/commands/npm-pack."""

from __future__ import annotations

import argparse
import base64
import hashlib
import io
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Package(NamedTuple):
    """A package of the npm registry and the hash of its archive, as the registry itself states it."""

    name: str
    version: str
    integrity: str


def archive(package: Package, unpinned: bool) -> tarfile.TarFile:
    """Downloads the package's archive; exits if its hash is not the pinned one."""
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


def prepare_command(description: str, prepare: Callable[[bool], bool]) -> int:
    """Parses ``--unpinned``, calls ``prepare`` with it, and returns the exit code."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--unpinned", action="store_true", help="accept any hash, and print it")
    return 0 if prepare(parser.parse_args().unpinned) else 1


def member(files: tarfile.TarFile, name: str) -> str:
    found = files.extractfile(f"package/{name}")
    assert found is not None, name
    return found.read().decode().strip()


def fetch(target: Path, sha256: str, make: Callable[[bool], str]) -> int:
    """The command line of a fetched file: writes what ``make`` returns, or with ``--check`` compares the hash.

    Returns the exit code. The argument of ``make`` is whether to accept packages whose hashes are not pinned.
    """
    parser = argparse.ArgumentParser(description=f"Writes {target.name} from packages of the npm registry.")
    parser.add_argument("--check", action="store_true", help="compare with the pinned hash instead of writing")
    parser.add_argument("--unpinned", action="store_true", help="accept any hash, and print it")
    options = parser.parse_args()
    if not options.check:
        target.parent.mkdir(exist_ok=True)
        target.write_text(make(options.unpinned), encoding="utf-8", newline="\n")
    found = hashlib.sha256(target.read_bytes()).hexdigest()
    if options.unpinned:
        print(f"all: {found}")
        return 0
    if found != sha256:
        print(f"{target} does not match its pinned hash: run python {sys.argv[0]}")
    return int(found != sha256)
