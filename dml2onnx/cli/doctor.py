"""``dml2onnx doctor``: shows what is installed, what works, and how to install the rest.

It imports no package that may be missing, except ONNX Runtime, to list its execution providers.
"""

from __future__ import annotations

import os
import platform
import struct
import sys
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import dml2onnx
from dml2onnx.catalog import LATEST, level_of_directml, level_of_windows
from dml2onnx.cli.common_options import add_common
from dml2onnx.cli.lazily import runtime_packages
from dml2onnx.cli.markup import escape
from dml2onnx.providers.table import BY_NAME, TABLE
from dml2onnx.report.machine import DoctorAnswer, Library, MachineProblem, PackageState
from dml2onnx.targets import NAMES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from packaging.requirements import Requirement

    from dml2onnx.cli.render import Screen

LIBRARY = "DirectML.dll"
PURPOSES = {
    "images": "pictures that DxDispatch programs read and write",
    "completion": "completing commands in a shell",
}
"""What each extra of the project is for."""
REDISTRIBUTABLE = "https://aka.ms/vs/17/release/vc_redist.x64.exe"
FIXED_FILE_INFO = struct.pack("<I", 0xFEEF04BD)
"""The signature of VS_FIXEDFILEINFO, the version resource of a Windows library:
https://learn.microsoft.com/windows/win32/api/verrsrc/ns-verrsrc-vs_fixedfileinfo."""


def doctor_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``doctor``."""
    add_common(parser)


def doctor_command(options: argparse.Namespace, screen: Screen) -> int:
    """Examines the machine; the exit code is 1 if a requirement is missing."""
    answer = examine()
    if not screen.answered(answer):
        _show(answer, screen)
    return 0 if answer.works else 1


def examine() -> DoctorAnswer:
    """Lists what is installed here, and the problems with it."""
    runtimes = runtime_packages.distributions()
    packages = tuple(_installed(requirement, extra, runtimes) for requirement, extra in _requirements())
    problems = [_problem(package) for package in packages if not package.suits]
    if not packages:
        here = Path(dml2onnx.__file__).parent.parent
        what = "dml2onnx is not installed, so its requirements are unknown"
        problems.append(MachineProblem(what, f'pip install "{here}"'))
    if clash := runtime_packages.clash(runtimes):
        problems.append(MachineProblem(clash, runtime_packages.separated(runtimes, _runtime_of(packages))))
    providers: tuple[str, ...] = ()
    if runtimes:
        providers, failure = _providers()
        problems += failure
    if providers and "DmlExecutionProvider" not in providers and _has_directml_packages():
        remedy = runtime_packages.separated(runtimes, BY_NAME["dml"].distribution)
        problems.append(MachineProblem("this ONNX Runtime cannot use DirectML", remedy, needed=False))
    plugins = [item for item in runtime_packages.plugin_packages() if item.full_name not in providers]
    available = {*providers, *(item.full_name for item in plugins)}
    missing = {item.name: runtime_packages.remedy(item, runtimes) for item in TABLE if item.full_name not in available}
    return DoctorAnswer(
        works=not any(problem.needed for problem in problems),
        dml2onnx=dml2onnx.__version__,
        directory=str(Path(dml2onnx.__file__).parent),
        python=platform.python_version(),
        executable=sys.executable,
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        packages=packages,
        providers=providers,
        targets={name: bool(providers) and name not in missing for name in NAMES},
        missing_providers=missing,
        plugins={item.name: item.plugin for item in plugins},
        directml=_libraries(),
        problems=tuple(problems),
    )


# --- Packages -------------------------------------------------------------------------------------------------------


def _requirements() -> list[tuple[Requirement, str]]:
    """The requirements on this system, each with its extra, or ``""``."""
    from packaging.requirements import Requirement

    found = []
    try:
        texts = metadata.requires("dml2onnx") or ()
    except metadata.PackageNotFoundError:  # run from a source tree
        return []
    for text in texts:
        requirement = Requirement(text)
        for extra in ("", *PURPOSES):
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                found.append((requirement, extra))
                break
    return found


def _installed(requirement: Requirement, extra: str, runtimes: Sequence[str]) -> PackageState:
    names = [requirement.name]
    if requirement.name.startswith(runtime_packages.RUNTIME):  # or another package of it, such as onnxruntime-gpu
        names += runtimes
    version = next((found for name in names if (found := _version(name))), None)
    suits = version is not None and requirement.specifier.contains(version, prereleases=True)
    return PackageState(requirement.name, version, str(requirement.specifier), extra, suits, PURPOSES.get(extra, ""))


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _problem(package: PackageState) -> MachineProblem:
    install = f'pip install "{package.name}{package.wanted}"'
    if package.version is not None:
        return MachineProblem(f"{package.name} {package.version} does not match {package.wanted}", install)
    if package.extra:
        what = f"{package.name} is not installed, for {package.purpose}"
        return MachineProblem(what, f'pip install "dml2onnx[{package.extra}]"', needed=False)
    return MachineProblem(f"{package.name} is not installed", install)


# --- ONNX Runtime ---------------------------------------------------------------------------------------------------


def _providers() -> tuple[tuple[str, ...], list[MachineProblem]]:
    """ONNX Runtime's providers, or the problem if it cannot be loaded."""
    try:
        return tuple(import_module(runtime_packages.RUNTIME).get_available_providers()), []
    except Exception as error:  # an extension module may raise anything if its own libraries are missing
        remedy = "pip install --force-reinstall onnxruntime"
        if sys.platform == "win32":
            remedy = f"install the Visual C++ redistributable: {REDISTRIBUTABLE}"
        reason = str(error).partition("\n")[0]
        return (), [MachineProblem(f"ONNX Runtime cannot be loaded: {reason}", remedy)]


def _runtime_of(packages: Sequence[PackageState]) -> str:
    return next(
        (package.name for package in packages if package.name.startswith(runtime_packages.RUNTIME)),
        runtime_packages.RUNTIME,
    )


def _has_directml_packages() -> bool:
    return sys.platform == "win32" and platform.machine().upper() in ("AMD64", "X86_64")


# --- DirectML -------------------------------------------------------------------------------------------------------


def _libraries() -> tuple[Library, ...]:
    """The DirectML that ONNX Runtime brings and uses, and that of Windows."""
    spec = find_spec(runtime_packages.RUNTIME)
    places = [Path(spec.origin).parent / "capi" / LIBRARY] if spec is not None and spec.origin else []
    if windows := os.environ.get("SYSTEMROOT"):
        places.append(Path(windows) / "System32" / LIBRARY)
    return tuple(library for path in places if (library := read_library(path)) is not None)


def read_library(path: Path) -> Library | None:
    """Reads the version and the feature level of a DirectML.dll; ``None`` if that fails."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    offset = content.find(FIXED_FILE_INFO)
    if offset < 0 or len(content) < offset + 16:
        return None
    high, low = struct.unpack_from("<II", content, offset + 8)
    parts = (high >> 16, high & 0xFFFF, low >> 16, low & 0xFFFF)
    # DirectML's own versions are 1.x; the file in Windows has the version of Windows, whose third part is the build
    level = level_of_windows(parts[2]) if parts[0] >= 10 else level_of_directml(*parts[:2])
    return Library(str(path), ".".join(map(str, parts)), level.name if level else "none")


# --- Output ---------------------------------------------------------------------------------------------------------


def _show(answer: DoctorAnswer, screen: Screen) -> None:
    rows = [
        ("dml2onnx", answer.dml2onnx, answer.directory),
        ("Python", answer.python, answer.executable),
        (platform.system(), platform.release(), platform.machine()),
    ]
    for package in answer.packages:
        note = f"needs {package.wanted}" + (f", for {package.purpose}" if package.purpose else "")
        rows.append((package.name, package.version or "not installed", note))
    screen.table(["", "version", ""], rows)
    screen.say(f"\nproviders of ONNX Runtime: {', '.join(answer.providers) or 'none'}")
    missing, plugins = answer.missing_providers, answer.plugins
    for provider in TABLE if answer.providers else ():
        state = f"missing; {missing[provider.name]}" if provider.name in missing else "available"
        state += f", through {plugins[provider.name]} if it finds a device" if provider.name in plugins else ""
        screen.say(escape(f"--provider {provider.name}: {state}"))
    for library in answer.directml:
        screen.say(escape(f"DirectML {library.version}, feature level {library.feature_level}: {library.path}"))
    if not answer.directml:
        screen.say(f"DirectML: not installed; check uses any feature level, {LATEST} by default")
    for problem in answer.problems:
        if problem.needed:
            screen.failure(f"{problem.what}; to fix it: {problem.remedy}")
        else:
            screen.say(escape(f"optional: {problem.what}; to get it: {problem.remedy}"))
    if answer.works:
        screen.say("\neverything needed is installed")
