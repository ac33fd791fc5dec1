"""Compiles for Windows: the program that runs cases, and a Direct3D 12 that accepts all of DirectML's shaders.

The compiler is zig, from Python's package index; it comes with the headers of mingw-w64.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
import venv
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from _directml_packages import MissingError

SOURCES = Path(__file__).resolve().parent / "directml"
COMPILER = "ziglang==0.17.1"
TARGET = ("-target", "x86_64-windows-gnu")
DEFINES = (
    *("LIBVKD3D_SOURCE", "LIBVKD3D_SHADER_SOURCE", "LIBVKD3D_UTILS_SOURCE", "WINE_NO_NAMELESS_EXTENSION"),
    "VKD3D_SHADER_UNSUPPORTED_DXIL",  # enables shaders of model 6
    "HAVE_CONFIG_H",
    "__D3DX9MATH_INL__",  # mingw-w64's inline functions do not compile with named unions
)
NEEDED = re.compile(r"[^/]+/(libs/vkd3d/.+|include/wine/(?:list|rbtree)\.h)")
"""Required files of Wine's sources, without the top directory."""


@dataclass(frozen=True)
class Compiler:
    """zig in a virtual environment."""

    python: Path

    @classmethod
    def installed(cls, place: Path) -> Compiler:
        """Creates the environment if it is missing."""
        directory = place / "compiler"
        python = directory / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        if not python.exists():
            try:
                venv.create(directory, with_pip=True)
            except subprocess.CalledProcessError as error:
                shutil.rmtree(directory, ignore_errors=True)
                raise MissingError(
                    f"this Python cannot create environments with pip (install python3-venv): {error}"
                ) from error
        run(str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", COMPILER)
        return cls(python)

    def c(self, *arguments: str, directory: Path | None = None) -> None:
        run(str(self.python), "-m", "ziglang", "cc", *TARGET, *arguments, directory=directory)

    def cpp(self, *arguments: str) -> None:
        run(str(self.python), "-m", "ziglang", "c++", *TARGET, *arguments)

    @property
    def headers(self) -> Path:
        package = run(str(self.python), "-c", "import ziglang; print(ziglang.__path__[0])").strip()
        return Path(package) / "lib/libc/include/any-windows-any"


def build_program(compiler: Compiler, result: Path) -> None:
    """``directml_cases.exe``."""
    sources = sorted(map(str, (SOURCES / "program").glob("*.cpp")))
    compiler.cpp("-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-o", str(result), *sources)


def build_models(compiler: Compiler, headers: Path, result: Path) -> None:
    """``directml_models.exe``, with the headers of ONNX Runtime."""
    source = str(SOURCES / "provider/main.cpp")
    compiler.cpp("-std=c++17", "-O2", "-Wall", "-static", f"-I{headers}", "-o", str(result), source)


def build_translation(compiler: Compiler, archive: Path, work: Path, root: Path, inside: list[str], dll: Path) -> None:
    """Builds ``d3d12.dll`` from vkd3d in Wine's sources; ``root`` has headers, ``inside`` runs flex and bison."""
    vkd3d = _unpack(archive, work)
    build = work / "build"
    build.mkdir(exist_ok=True)
    _make_headers(compiler, build, work, root)
    parsers = _make_parsers(vkd3d / "libs/vkd3d-shader", build, root, inside)
    folders = (vkd3d, vkd3d / "include", vkd3d / "include/private", vkd3d / "libs/vkd3d", vkd3d / "libs/vkd3d-shader")
    options = ["-std=gnu11", "-O2", "-w", *(f"-D{name}" for name in DEFINES), *(f"-I{item}" for item in folders)]
    options.append(f"-I{build}")
    sources = [
        item for part in ("-common", "-shader", "") for item in sorted((vkd3d / f"libs/vkd3d{part}").glob("*.c"))
    ]
    objects = [build / f"{source.parent.name}-{source.stem}.o" for source in (*sources, *parsers)]
    with ThreadPoolExecutor() as pool:
        jobs = zip((*sources, *parsers), objects, strict=True)
        list(pool.map(lambda job: compiler.c(*options, "-c", "-o", str(job[1]), str(job[0])), jobs))
    ours = [str(SOURCES / "translation" / name) for name in ("d3d12.c", "d3d12.def")]
    libraries = ("-ldxgi", "-lole32", "-luuid")
    linked = build / dll.name
    compiler.c(*options, "-shared", "-o", str(linked), *ours, *map(str, objects), *libraries)
    linked.replace(dll)


def _unpack(archive: Path, work: Path) -> Path:
    """Unpacks the required files of Wine's sources; returns the directory of vkd3d."""
    with tarfile.open(archive) as tar:
        for member in tar:
            found = NEEDED.fullmatch(member.name)
            if found and member.isfile():
                member.name = found[1]
                tar.extract(member, work / "wine", filter="data")
    if not (vkd3d := work / "wine/libs/vkd3d").is_dir():
        raise MissingError(f"{archive.name} has no vkd3d")
    return vkd3d


def _make_headers(compiler: Compiler, build: Path, work: Path, root: Path) -> None:
    for name in ("vulkan", "vk_video", "spirv"):
        shutil.copytree(root / "usr/include" / name, build / name, dirs_exist_ok=True)
    shutil.copytree(work / "wine/include/wine", build / "wine", dirs_exist_ok=True)
    (build / "wine/vulkan.h").write_text("#include <vulkan/vulkan.h>\n")
    # vkd3d is written in C without unnamed unions
    text = (compiler.headers / "d3d12.h").read_text()
    (build / "d3d12.h").write_text(re.sub(r"\b__C89_NAMELESSUNIONNAME\b", "u", text))


def _make_parsers(grammars: Path, build: Path, root: Path, inside: list[str]) -> list[Path]:
    """Runs bison and flex on vkd3d's grammars; returns the C files."""
    exchange = root / "tmp/grammars"
    exchange.mkdir(exist_ok=True)
    for grammar in (*grammars.glob("*.y"), *grammars.glob("*.l")):
        shutil.copy(grammar, exchange)
        source = f"/tmp/grammars/{grammar.name}"
        if grammar.suffix == ".y":
            run(*inside, "bison", "--defines", "-Wno-other", "-o", f"/tmp/grammars/{grammar.stem}.tab.c", source)
        else:
            run(*inside, "flex", "-o", f"/tmp/grammars/{grammar.stem}.yy.c", source)
    for file in exchange.glob("*.[ch]"):
        shutil.copy(file, build)
    return sorted(build.glob("*.tab.c")) + sorted(build.glob("*.yy.c"))


def run(*command: str, directory: Path | None = None) -> str:
    """Returns the output of a command; raises :class:`MissingError` with the end of its output if it fails."""
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True)
    if done.returncode:
        shown = " ".join(command[:4])
        raise MissingError(f"{shown} failed: {(done.stderr or done.stdout).strip()[-1500:]}")
    return done.stdout
