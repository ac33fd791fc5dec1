"""Installs DirectML for tests: DirectML.dll, the program that calls it, and on Linux a system that runs both.

    python scripts/directml.py            install what is missing, check it, print the versions
    python scripts/directml.py --again    reinstall everything

Everything is in one directory: ``DML2ONNX_DIRECTML`` or ``dml2onnx/directml`` in the user's cache. On Linux this needs
apt-get, dpkg-deb, unshare, network access, 1.5 GB and two minutes, but no root; if packages are not available, it uses
the machine's Wine. docs/directml-on-linux.md explains how it works and what does not run.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

from _directml_build import SOURCES, Compiler, build_models, build_program, build_translation, run
from _directml_check import check
from _directml_packages import (
    DRIVER,
    OURS,
    WINE,
    Debian,
    MissingError,
    configured_mirror,
    namespaces,
    require_namespaces,
)

from dml2onnx.directml.installation import Installation, find, place

WHEEL = "onnxruntime-directml==1.24.4"
"""The source of DirectML.dll and onnxruntime.dll."""
WINE_ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "WINEDEBUG": "fixme-all,err-all",
    "LIBGL_ALWAYS_SOFTWARE": "1",
}
OVERRIDES = "mscoree,mshtml=;winedbg.exe=d"
"""Disables .NET, the browser and the debugger."""


class Installer:
    """The installation steps; each skips what exists."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.place = place()
        self.options = options
        self.versions: dict[str, str] = {}
        self.is_translated = False
        self.debian: Debian | None = None

    def run(self) -> Installation:
        self.place.mkdir(parents=True, exist_ok=True)
        log(f"in {self.place}")
        compiler = Compiler.installed(self.place)
        installation = self._windows() if sys.platform == "win32" else self._linux(compiler)
        program = self._program_directory(installation)
        program.mkdir(parents=True, exist_ok=True)
        log("compiling the program")
        build_program(compiler, program / "directml_cases.exe")
        self._directml(compiler, program)
        installation = self._provider(compiler, installation)
        installation.write(self.place)
        return installation

    def _windows(self) -> Installation:
        program = self.place / "program"
        (self.place / "runs").mkdir(exist_ok=True)
        command = (str(program / "directml_cases.exe"), "--dml", str(program / "DirectML.dll"))
        runs = str(self.place / "runs")
        return Installation(command, runs, runs, self.versions)

    def _linux(self, compiler: Compiler) -> Installation:
        try:
            require_namespaces()
            debian = Debian(self.place, self.options.mirror or configured_mirror(), self.options.suite)
            log(f"a system of packages of {debian.suite}")
            self.versions |= debian.make()
        except MissingError as error:
            log(f"no system of packages: {error}")
            return self._machines_wine()
        self.debian = debian
        self._translation(compiler, debian)
        return self._in_wine(str(debian.root), OURS, WINE, DRIVER)

    def _translation(self, compiler: Compiler, debian: Debian) -> None:
        """Builds a shader translation for operators whose shaders Wine refuses."""
        dll = debian.root / OURS[1:] / "program/d3d12.dll"
        if self.options.stock:
            dll.unlink(missing_ok=True)
            return
        try:
            if not dll.exists():
                log("building the translation of shaders from Wine's sources")
                inside = debian.inside()
                build_translation(compiler, debian.source("wine"), self.place / "translation", debian.root, inside, dll)
            self.versions["translation"] = f"vkd3d in {next((self.place / 'sources').glob('wine_*.orig.*')).name}"
            self.is_translated = True
        except MissingError as error:
            log(f"Wine's own translation is used, which refuses some shaders: {error}")

    def _machines_wine(self) -> Installation:
        wine = shutil.which("wine") or shutil.which("wine64")
        if wine is None or shutil.which("Xvfb") is None:
            raise MissingError("install wine, xvfb and mesa-vulkan-drivers, then run this again")
        drivers = sorted(Path("/usr/share/vulkan/icd.d").glob("lvp_icd*.json"))
        if not drivers:
            raise MissingError("no software driver of Vulkan: install mesa-vulkan-drivers")
        self.versions["wine"] = run(wine, "--version").strip()
        return self._in_wine("/", str(self.place), wine, str(drivers[0]))

    def _in_wine(self, root: str, ours: str, wine: str, driver: str) -> Installation:
        overrides = OVERRIDES + (";d3d12=n,b" if self.is_translated else "")
        prefix = {
            "HOME": ours,
            "WINEPREFIX": f"{ours}/prefix",
            "VK_DRIVER_FILES": driver,
            "WINEDLLOVERRIDES": overrides,
        }
        shutil.copy(SOURCES / "launch.sh", self.place)
        directory = Path(root) / ours[1:]
        for name in ("runs", "program"):
            (directory / name).mkdir(parents=True, exist_ok=True)
        command = (
            *(("unshare", *namespaces()) if root != "/" else ()),
            *("env", "-i", *(f"{name}={value}" for name, value in {**WINE_ENVIRONMENT, **prefix}.items())),
            *("sh", str(self.place / "launch.sh"), root, f"{ours}/program", wine, "directml_cases.exe"),
        )
        return Installation(command, str(directory / "runs"), "../runs", self.versions)

    def _provider(self, compiler: Compiler, installation: Installation) -> Installation:
        """Builds the program that runs models on ONNX Runtime's DirectML provider, if the headers' package exists."""
        if self.debian is None:
            return installation
        try:
            headers = self.debian.unpacked("libonnxruntime-dev") / "usr/include/onnxruntime"
            build_models(compiler, headers, self._program_directory(installation) / "directml_models.exe")
        except MissingError as error:
            log(f"without ONNX Runtime's provider: {error}")
            return installation
        return replace(installation, provider=(*installation.command[:-1], "directml_models.exe"))

    def _program_directory(self, installation: Installation) -> Path:
        return Path(installation.runs).parent / "program"

    def _directml(self, compiler: Compiler, program: Path) -> None:
        """Extracts DirectML.dll and ONNX Runtime from the wheel for Windows."""
        target = program / "DirectML.dll"
        if not (target.exists() and (program / "onnxruntime.dll").exists()):
            log("downloading DirectML")
            wheels = self.place / "wheels"
            run(
                *(str(compiler.python), "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"),
                *("--only-binary=:all:", "--platform", "win_amd64", "--python-version", "3.12"),
                *("--dest", str(wheels), WHEEL),
            )
            with zipfile.ZipFile(next(wheels.glob("*.whl"))) as wheel:
                for name in wheel.namelist():
                    if name.startswith("onnxruntime/capi/") and name.endswith(".dll"):
                        (program / name.rpartition("/")[2]).write_bytes(wheel.read(name))
        self.versions["DirectML.dll"] = f"of {WHEEL}, SHA-256 {hashlib.sha256(target.read_bytes()).hexdigest()}"


def log(text: str) -> None:
    print(text, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Installs DirectML for tests.")
    parser.add_argument("--again", action="store_true", help="reinstall everything")
    parser.add_argument("--stock", action="store_true", help="use Wine's own translation of shaders")
    parser.add_argument("--suite", default="sid", help="of Debian (default: sid)")
    parser.add_argument("--mirror", help="of Debian, such as a dated snapshot (default: that of apt's configuration)")
    options = parser.parse_args()
    if options.again:
        shutil.rmtree(place(), ignore_errors=True)
    try:
        installation = Installer(options).run()
    except MissingError as error:
        log(f"DirectML cannot be installed here: {error}")
        return 1
    for name, version in installation.versions.items():
        log(f"  {name} {version}")
    found = find()
    assert found is not None
    return check(found)


if __name__ == "__main__":
    sys.exit(main())
