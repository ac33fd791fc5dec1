"""A Debian system in a directory, unpacked by apt-get and dpkg-deb without root and without package scripts."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

PACKAGES = ("base-files", "coreutils", "dash", "wine", "wine64", "mesa-vulkan-drivers", "xvfb")
"""Packages that run DirectML: Wine, a Vulkan driver for the CPU, and a virtual screen."""
BUILD_PACKAGES = ("bison", "flex", "m4", "libvulkan-dev", "spirv-headers")
"""Packages that build the shader translation."""
DRIVER = "/usr/share/vulkan/icd.d/lvp_icd.json"
WINE = "/usr/lib/x86_64-linux-gnu/wine/wine"
WINE_LIBRARIES = "/usr/lib/x86_64-linux-gnu/wine/x86_64-windows"
OURS = "/dml2onnx"
"""The directory of our files inside the system."""
SECONDS = 1800
"""Timeout of a command, in case it waits for the network."""


class MissingError(Exception):
    """Something is missing on this machine; the message names it and the remedy."""


@dataclass(frozen=True)
class Debian:
    """Packages of one suite, separate from those of the machine."""

    place: Path
    mirror: str
    suite: str

    @property
    def root(self) -> Path:
        return self.place / "root"

    def make(self) -> dict[str, str]:
        """Fills the root if it does not exist; returns the versions of the main packages."""
        record = self.place / "packages.json"
        if record.exists():
            return dict(json.loads(record.read_text()))
        self._prepare("deb", "deb-src")
        self._apt("install", "--yes", "--no-install-recommends", "--download-only", *PACKAGES, *BUILD_PACKAGES)
        archives = sorted((self.place / "apt/cache/archives").glob("*.deb"))
        versions = dict(_name_and_version(archive) for archive in archives)
        for archive in sorted(archives, key=lambda item: not item.name.startswith("base-files_")):
            _run("dpkg-deb", "--extract", str(archive), str(self.root))
        self._complete()
        pinned = {name: versions[name] for name in (*PACKAGES, *BUILD_PACKAGES)}
        record.write_text(json.dumps(pinned))
        return pinned

    def source(self, package: str) -> Path:
        """Downloads the upstream source archive of a package."""
        directory = self.place / "sources"
        directory.mkdir(exist_ok=True)
        self._apt("source", "--download-only", package, directory=directory)
        return next(directory.glob(f"{package}_*.orig.tar.*"))

    def unpacked(self, package: str) -> Path:
        """Unpacks one package without dependencies; returns the directory."""
        directory = self.place / package
        if not directory.exists():
            partial = self.place / f"{package}.partial"
            shutil.rmtree(partial, ignore_errors=True)
            _run("dpkg-deb", "--extract", str(self._download(package, partial)), str(partial))
            partial.rename(directory)
        return directory

    def downloaded(self, package: str) -> Path:
        """Downloads one package, named with or without a version; the root need not exist."""
        if not (self.place / "apt/sources.list").exists():
            self._prepare("deb")
        return self._download(package, self.place / package.partition("=")[0])

    def _download(self, package: str, directory: Path) -> Path:
        directory.mkdir()
        self._apt("download", package, directory=directory)
        return next(directory.glob("*.deb"))

    def inside(self, *command: str) -> list[str]:
        """The command line that runs a command in the root."""
        return ["unshare", *namespaces(), "chroot", str(self.root), *command]

    def _prepare(self, *kinds: str) -> None:
        """Creates private package lists, which need no root and ignore the machine's packages."""
        for name in ("apt/lists/partial", "apt/cache/archives/partial", "root"):
            (self.place / name).mkdir(parents=True, exist_ok=True)
        (self.place / "apt/status").touch()
        lines = [f"{kind} {self.mirror} {self.suite} main\n" for kind in kinds]
        (self.place / "apt/sources.list").write_text("".join(lines))
        self._apt("update")

    def _apt(self, *arguments: str, directory: Path | None = None) -> None:
        own = self.place / "apt"
        options = {
            "Dir::State::status": own / "status",
            "Dir::State::lists": own / "lists",
            "Dir::Cache": own / "cache",
            "Dir::Etc::SourceList": own / "sources.list",
            "Dir::Etc::SourceParts": "-",
            "Dir::Etc::PreferencesParts": "-",
            "APT::Architecture": "amd64",
            "APT::Architectures": "amd64",
            "APT::Sandbox::User": "root",
            "Acquire::Check-Valid-Until": "false",  # dated snapshots have expired
        }
        configuration = [item for name, value in options.items() for item in ("-o", f"{name}={value}")]
        _run("apt-get", "--quiet", *configuration, *arguments, directory=directory)

    def _complete(self) -> None:
        """Creates what package scripts, which are not run, would create."""
        for name in ("proc", "dev", "tmp", f"{OURS[1:]}/program", f"{OURS[1:]}/runs"):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        (self.root / "tmp").chmod(0o1777)
        (self.root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
        for library in self.root.glob("usr/x86_64-w64-mingw32/lib/zlib*.dll"):
            (self.root / WINE_LIBRARIES[1:] / library.name).write_bytes(_as_builtin(library.read_bytes()))


def configured_mirror() -> str:
    """The first Debian mirror in apt's configuration; works without package lists."""
    files = _run("apt-get", "update", "--print-uris")
    mirror = re.search(r"^'([^']+/debian)/+dists/", files, re.MULTILINE)
    if mirror is None:
        raise MissingError("apt has no Debian mirror; set one with --mirror")
    return mirror[1]


def namespaces() -> list[str]:
    """Options of ``unshare`` for a private mount namespace, with or without root."""
    return [*([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "--mount", "--propagation", "private"]


def require_namespaces() -> None:
    """Raises :class:`MissingError` if processes cannot have a private mount namespace."""
    try:
        _run("unshare", *namespaces(), "true")
    except MissingError as error:
        raise MissingError(f"a private root cannot be entered here ({error})") from error


def _as_builtin(library: bytes) -> bytes:
    """The DLL with Wine's signature after its first header, so that Wine loads it as builtin."""
    signature = b"Wine builtin DLL".ljust(32, b"\0")
    return library[:64] + signature + library[64 + len(signature) :]


def _name_and_version(archive: Path) -> tuple[str, str]:
    name, version, _ = archive.name.split("_")
    return name, version.replace("%3a", ":")


def _run(*command: str, directory: Path | None = None) -> str:
    try:
        done = subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True, timeout=SECONDS)
    except FileNotFoundError as error:
        raise MissingError(f"{command[0]} is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise MissingError(f"{command[0]} timed out after {SECONDS} seconds") from error
    except subprocess.CalledProcessError as error:
        raise MissingError(f"{command[0]} failed: {(error.stderr or error.stdout).strip()[-600:]}") from error
    return done.stdout
