"""``dml2onnx doctor`` on real and simulated machines."""

from __future__ import annotations

import json
import platform
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

import onnxruntime
import pytest

import dml2onnx
from dml2onnx.cli import doctor, main
from dml2onnx.targets import NAMES
from tests.providers.test_installed import Installed


def document(capsys: pytest.CaptureFixture[str], code: int = 0) -> dict[str, Any]:
    assert main(["doctor", "--json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def problems(found: Mapping[str, Any]) -> dict[str, str]:
    return {item["what"]: item["remedy"] for item in found["problems"]}


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Simulates other versions of packages; ``None`` for missing ones."""
    real_version = metadata.version

    def pretend(**versions: str | None) -> None:
        def version(name: str) -> str:
            found = versions.get(name.replace("-", "_"), "real")
            if found is None:
                raise metadata.PackageNotFoundError(name)
            return real_version(name) if found == "real" else found

        monkeypatch.setattr(metadata, "version", version)

    return pretend


@pytest.fixture
def runtimes(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Simulates other packages of ONNX Runtime."""

    def pretend(*names: str) -> None:
        monkeypatch.setattr(metadata, "distributions", lambda: map(Installed, names))

    return pretend


def test_doctor_accepts_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys)
    assert found["works"]
    assert found["dml2onnx"] == dml2onnx.__version__
    assert Path(found["directory"]) == Path(dml2onnx.__file__).parent
    versions = {item["name"]: item["version"] for item in found["packages"]}
    assert versions["onnx"] == metadata.version("onnx")
    assert [item for item in found["packages"] if not item["suits"]] == []
    assert found["providers"] == onnxruntime.get_available_providers()
    assert found["targets"]["cpu"]


def test_doctor_as_text(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["doctor"]) == 0
    output = capsys.readouterr().out
    assert f"numpy        {metadata.version('numpy')}" in output
    assert "--provider cpu: available" in output
    assert "CPUExecutionProvider" in output
    assert output.endswith("everything needed is installed\n")


def test_only_onnxruntime_is_imported() -> None:
    """Other packages may be broken."""
    heavy = ["onnx", "networkx", "flatbuffers", "google.protobuf", "PIL", "shtab", "dml2onnx.lowering"]
    show = f"print([name for name in {heavy} if name in sys.modules], file=sys.stderr)"
    script = f"import sys\nfrom dml2onnx.cli import main\nassert main(['doctor']) == 0\n{show}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_missing_packages_are_named_with_a_remedy(
    capsys: pytest.CaptureFixture[str], installed: Callable[..., None]
) -> None:
    installed(networkx=None, onnx="1.2.0", numpy="2.0.0rc1")
    found = document(capsys, 1)
    assert not found["works"]
    assert problems(found) == {
        "networkx is not installed": 'pip install "networkx>=3.2"',
        f"onnx 1.2.0 does not match {wanted('onnx')}": f'pip install "onnx{wanted("onnx")}"',
        f"numpy 2.0.0rc1 does not match {wanted('numpy')}": f'pip install "numpy{wanted("numpy")}"',
    }
    assert main(["doctor"]) == 1
    shown = capsys.readouterr()
    assert 'error: networkx is not installed; to fix it: pip install "networkx>=3.2"' in shown.err
    assert "everything needed" not in shown.out


def wanted(name: str) -> str:
    return next(package.wanted for package in doctor.examine().packages if package.name == name)


def test_extras_are_optional(capsys: pytest.CaptureFixture[str], installed: Callable[..., None]) -> None:
    installed(pillow=None)
    (problem,) = document(capsys)["problems"]
    assert problem["remedy"] == 'pip install "dml2onnx[images]"'
    assert not problem["needed"]
    assert main(["doctor"]) == 0
    assert "optional: pillow is not installed" in capsys.readouterr().out


def test_two_runtimes_in_one_directory(capsys: pytest.CaptureFixture[str], runtimes: Callable[..., None]) -> None:
    runtimes("onnxruntime", "onnxruntime-gpu")
    found = problems(document(capsys, 1))
    remedy = found["onnxruntime and onnxruntime-gpu are installed in the same directory and overwrite each other"]
    assert remedy == "pip uninstall --yes onnxruntime onnxruntime-gpu && pip install onnxruntime"


def test_another_package_of_the_runtime_suffices(
    capsys: pytest.CaptureFixture[str], installed: Callable[..., None], runtimes: Callable[..., None]
) -> None:
    installed(onnxruntime=None, onnxruntime_gpu="1.25.0")
    runtimes("onnxruntime-gpu")
    (runtime,) = (item for item in document(capsys)["packages"] if item["name"] == "onnxruntime")
    assert runtime["version"] == "1.25.0"


@pytest.mark.parametrize(
    ("system", "remedy"),
    [("win32", "https://aka.ms/"), ("linux", "pip install --force-reinstall onnxruntime")],
)
def test_a_runtime_that_cannot_be_loaded(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, system: str, remedy: str
) -> None:
    def fails(name: str) -> object:
        raise ImportError("DLL load failed while importing onnxruntime_pybind11_state:\na dynamic library ...")

    monkeypatch.setattr(doctor, "import_module", fails)
    monkeypatch.setattr(sys, "platform", system)
    found = document(capsys, 1)
    assert found["providers"] == []
    assert found["targets"] == dict.fromkeys(NAMES, False)
    (what,) = (item for item in problems(found) if "cannot be loaded" in item)
    assert what.endswith("onnxruntime_pybind11_state:")
    assert remedy in problems(found)[what]


def test_windows_with_the_wrong_runtime(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(platform, "machine", lambda: "AMD64")
    found = document(capsys)
    assert problems(found) == {
        "this ONNX Runtime cannot use DirectML": ("pip uninstall --yes onnxruntime && pip install onnxruntime-directml")
    }
    assert found["works"]


def test_without_installation(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def requires(name: str) -> list[str]:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", requires)
    assert "dml2onnx is not installed, so its requirements are unknown" in problems(document(capsys, 1))


def library(*version: int) -> bytes:
    """Returns the part of a Windows library that has its version."""
    high, low = version[0] << 16 | version[1], version[2] << 16 | version[3]
    return b"MZ" + bytes(1000) + struct.pack("<IIII", 0xFEEF04BD, 0x10000, high, low) + bytes(100)


@pytest.mark.parametrize(
    ("version", "level"),
    [
        ((1, 15, 4, 0), "6_4"),
        ((1, 8, 2, 0), "5_0"),
        ((1, 0, 0, 0), "1_0"),
        ((10, 0, 19045, 3636), "2_0"),
        ((10, 0, 26100, 1), "6_2"),
        ((10, 0, 17763, 1), "none"),
        ((0, 9, 0, 0), "none"),
    ],
)
def test_the_feature_level_of_a_library(tmp_path: Path, version: tuple[int, ...], level: str) -> None:
    path = tmp_path / "DirectML.dll"
    path.write_bytes(library(*version))
    found = doctor.read_library(path)
    assert found is not None
    assert asdict(found) == {"path": str(path), "version": ".".join(map(str, version)), "feature_level": level}


@pytest.mark.parametrize("content", [b"", b"MZ" + bytes(100), library(1, 15, 4, 0)[:1010]])
def test_files_that_are_no_libraries(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "DirectML.dll"
    path.write_bytes(content)
    assert doctor.read_library(path) is None
    assert doctor.read_library(tmp_path / "none.dll") is None


def test_the_library_of_windows(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "System32").mkdir()
    (tmp_path / "System32" / "DirectML.dll").write_bytes(library(1, 8, 0, 0))
    monkeypatch.setenv("SYSTEMROOT", str(tmp_path))
    assert [item["feature_level"] for item in document(capsys)["directml"]] == ["5_0"]
    assert main(["doctor"]) == 0
    assert "DirectML 1.8.0.0, feature level 5_0: " in capsys.readouterr().out


SAMPLE = Path(__file__).parents[2] / "samples" / "digits" / "model.json"


@pytest.mark.parametrize("package", ["rich", "numpy", "packaging"])
def test_a_missing_package_is_no_traceback(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after ``pip install --no-deps``, for any command; rich is only needed for colour."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    script = (
        "import sys\n"
        f"sys.modules[{package!r}] = None\n"
        "from dml2onnx.cli import main\n"
        f"command = ['compile', {str(SAMPLE)!r}, '-o', '-'] if sys.argv[1] == 'numpy' else ['doctor']\n"
        "sys.exit(main(command))"
    )
    done = subprocess.run([sys.executable, "-c", script, package], capture_output=True, text=True, check=False)
    assert done.stderr == f"error: the package {package} is not installed: pip install {package}\n"
    assert done.returncode == 1
