"""Tests installed and missing providers, with fake plugin packages and the installed ONNX Runtime."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

import dml2onnx
from dml2onnx.cli import main
from dml2onnx.diagnostics import Diagnostic, DmlError, Severity
from dml2onnx.providers import installed
from dml2onnx.providers.choice import Providers
from dml2onnx.providers.distributions import distributions, plugin_packages, remedy
from dml2onnx.providers.installed import require_providers
from dml2onnx.providers.table import AUTO, BY_NAME, TABLE
from dml2onnx.report.gathering import gather
from dml2onnx.runtime import open_session
from tests.test_runtime import A, B, joined

SAMPLE = Path(__file__).parent.parent.parent / "samples" / "digits" / "model.json"
HERE = [item for item in TABLE if item.full_name in onnxruntime.get_available_providers()]
ABSENT = [item for item in TABLE if item not in HERE and item not in plugin_packages()]


@dataclass(frozen=True)
class Installed:
    """A fake distribution with a runtime."""

    name: str
    record: str | None = "onnxruntime/__init__.py,sha256=x,1\nonnxruntime/capi/a.py,,\n"
    top_level: str | None = None

    def read_text(self, file: str) -> str | None:
        return {"RECORD": self.record, "top_level.txt": self.top_level}.get(file)


def test_distributions_with_a_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    """Distributions are found by files or importable modules; other packages may share the prefix."""
    found = [
        Installed("b"),
        Installed("a", None, "onnxruntime\n"),
        Installed("other", "onnxruntime_genai/__init__.py,,\nx/onnxruntime/__init__.py,,\n", "onnxruntime_genai\n"),
        Installed("nothing", None),
    ]
    assert distributions() == tuple(sorted(set(metadata.packages_distributions()["onnxruntime"])))
    monkeypatch.setattr(metadata, "distributions", lambda: found)
    assert distributions() == ("a", "b")


def refusal(given: object) -> Diagnostic:
    with pytest.raises(DmlError) as caught:
        require_providers(given)
    (item,) = caught.value.diagnostics
    return item


@pytest.mark.parametrize("provider", ABSENT, ids=lambda item: item.name)
def test_a_missing_one_says_what_is_there_and_what_brings_it(provider: object) -> None:
    assert isinstance(provider, type(TABLE[0]))
    item = refusal(provider.name)
    assert item.code == "DML3002"
    assert f"has no {provider.full_name}" in item.message
    assert "installed are " in item.message
    assert "cpu" in item.found.split(", ")
    assert (provider.plugin or provider.distribution or provider.elsewhere) in item.message
    assert item.documentation == provider.page


def test_all_in_order_are_needed() -> None:
    assert refusal(["cpu", ABSENT[0].name]).code == "DML3002"


def test_distributions_over_each_other_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The distribution installed last may have overwritten the provider."""
    both = ["onnxruntime", "onnxruntime-gpu"]
    monkeypatch.setattr(metadata, "distributions", lambda: [Installed(name) for name in both])
    monkeypatch.setattr(installed, "builtin", lambda: ("CPUExecutionProvider",))
    item = refusal("cuda")
    assert item.code == "DML3002"
    assert (
        "onnxruntime and onnxruntime-gpu are installed in the same directory and overwrite each other" in item.message
    )
    assert "pip uninstall --yes onnxruntime onnxruntime-gpu && pip install onnxruntime-gpu" in item.message


def test_a_session_that_cannot_be_made_names_the_mixture(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DmlError) as caught:
        open_session(b"no model")
    assert "overwrite each other" not in caught.value.diagnostics[0].message
    both = ["onnxruntime", "onnxruntime-openvino"]
    monkeypatch.setattr(metadata, "distributions", lambda: [Installed(name) for name in both])
    with pytest.raises(DmlError) as caught:
        open_session(b"no model")
    (item,) = caught.value.diagnostics
    assert item.code == "DML3011"
    assert (
        "onnxruntime and onnxruntime-openvino are installed in the same directory and overwrite each other"
        in item.message
    )


@pytest.mark.parametrize(
    ("name", "found", "expected"),
    [
        ("cpu", ["onnxruntime-gpu"], "pip uninstall --yes onnxruntime-gpu && pip install onnxruntime"),
        ("coreml", ["onnxruntime"], "on macOS: pip install onnxruntime"),
        (
            "dml",
            ["onnxruntime"],
            "on Windows: pip uninstall --yes onnxruntime && pip install onnxruntime-directml",
        ),
        (
            "webgpu",
            ["onnxruntime"],
            "pip install onnxruntime-ep-webgpu, or: pip uninstall --yes onnxruntime && pip install onnxruntime-webgpu",
        ),
        ("qnn", ["onnxruntime"], "on Windows and Linux: pip install onnxruntime-qnn"),
    ],
)
def test_remedies_know_what_is_in_the_way(name: str, found: list[str], expected: str) -> None:
    assert remedy(BY_NAME[name], found) == expected


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fake plugin package without a valid library."""
    package = tmp_path / "onnxruntime_ep_nv_tensorrt_rtx"
    package.mkdir()
    library = package / "libprovider.so"
    library.write_bytes(b"no library")
    (package / "__init__.py").write_text(f"def get_library_path():\n    return {str(library)!r}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, package.name, raising=False)
    return package


def test_a_plugin_that_cannot_be_registered(plugin: Path) -> None:
    assert BY_NAME["nvtensorrtrtx"] in plugin_packages()
    item = refusal("nvtensorrtrtx")
    assert item.code == "DML3021"
    assert "onnxruntime-ep-nv-tensorrt-rtx cannot be registered with ONNX Runtime" in item.message


def test_a_plugin_without_its_library(plugin: Path) -> None:
    (plugin / "__init__.py").write_text("def get_library_path():\n    raise RuntimeError('expected one library')\n")
    item = refusal("nvtensorrtrtx")
    assert (item.code, item.found) == ("DML3021", "expected one library")


def test_a_plugin_that_finds_no_device(plugin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulates a library that loads without hardware."""
    monkeypatch.setattr(installed, "register", lambda provider: "")
    item = refusal("nvtensorrtrtx")
    assert item.code == "DML3021"
    assert "finds no device here" in item.message


@pytest.mark.parametrize(("device", "offered"), [(None, ["first"]), (1, ["second"])])
def test_devices_of_a_plugin_are_offered(
    plugin: Path, monkeypatch: pytest.MonkeyPatch, device: int | None, offered: list[str]
) -> None:
    """Checks the calls of ONNX Runtime's documented interface with fake options."""
    from dml2onnx.runtime import sessions

    class Options:
        def __init__(self) -> None:
            self.calls: list[tuple[object, ...]] = []

        def add_provider_for_devices(self, devices: object, options: object) -> None:
            self.calls.append(("devices", devices, options))

        def add_provider(self, name: str, options: object) -> None:
            self.calls.append(("provider", name, options))

    full_name = BY_NAME["nvtensorrtrtx"].full_name
    found = {full_name: ["first", "second"]}
    monkeypatch.setattr(sessions, "plugin_devices", lambda name: found.get(name, []))
    options = Options()
    providers = Providers("nvtensorrtrtx", "cuda", "cpu", options={"cuda": {"use_tf32": "0"}}, device=device)
    assert sessions._offer(providers, options) == {}
    assert options.calls == [
        ("devices", offered, {}),
        ("provider", "CUDAExecutionProvider", {"use_tf32": "0"}),
    ]


def test_a_device_that_is_not_there(plugin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "register", lambda provider: "")
    monkeypatch.setattr(installed, "devices_of", lambda name: ["the only one"])
    assert require_providers(Providers("nvtensorrtrtx", device=0)).device == 0
    item = refusal(Providers("nvtensorrtrtx", device=1))
    assert (item.code, item.expected, item.found) == ("DML3021", "0 to 0", "1")


def test_options_that_no_provider_knows_are_its_fault_not_the_models() -> None:
    for provider in HERE:
        if provider.name in ("openvino", "cuda", "dml"):
            with pytest.raises(DmlError) as caught:
                joined().session(Providers(provider.name, options={"nonsense": "1"}))
            assert caught.value.diagnostics[0].code == "DML3021"


def test_a_provider_that_the_session_leaves_out_is_missed() -> None:
    """ONNX Runtime silently drops a provider whose own libraries are missing."""
    from dml2onnx.runtime import sessions

    with pytest.raises(DmlError) as caught:
        sessions._require_loaded(Providers("cuda", "cpu"), ["CPUExecutionProvider"])
    (item,) = caught.value.diagnostics
    assert (item.code, item.expected, item.found) == ("DML3021", "CUDAExecutionProvider", "cpu")


@pytest.mark.parametrize("given", [*[item.name for item in HERE], AUTO, ["cpu"], Providers(AUTO)])
def test_what_is_here_runs(given: str | list[str] | Providers) -> None:
    """All providers of the installed ONNX Runtime run."""
    try:
        session = joined().session(given)
    except DmlError as error:
        if given == "cpu" or error.diagnostics[0].code != "DML3021":
            raise
        pytest.skip(f"the provider is built in and finds no device: {error}")
    got = session.run({"InputTensors[0]": A, "InputTensors[1]": np.ascontiguousarray(B)})["OutputTensor"]
    np.testing.assert_array_equal(got, np.concatenate([A, B.T], 1))


def test_functions_take_several_and_options() -> None:
    g = dml2onnx.GraphBuilder()
    x = g.input("x", "FLOAT32", [4])
    graph = g.build({"y": g.activation_relu(x)})
    given = {"x": np.array([-1, 0, 1, 2], np.float32)}
    for provider in ("cpu", ["cpu"], Providers(), Providers(AUTO, options={"policy": "PREFER_CPU"})):
        np.testing.assert_array_equal(dml2onnx.run(graph, given, provider)["y"], [0, 0, 1, 2])
    assert dml2onnx.verify(graph, rounds=1, provider=Providers("cpu")).passed


def test_auto_does_without_what_cannot_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Simulates a driver that refuses to start a session."""
    from dml2onnx.runtime import sessions

    make = sessions._session

    def session(model: bytes | Path, providers: Providers, *rest: Any) -> Any:
        if providers.first == AUTO:
            raise RuntimeError("the driver is too old")
        return make(model, providers, *rest)

    monkeypatch.setattr(sessions, "_session", session)
    opened = joined().session(AUTO)
    assert opened.providers == ("CPUExecutionProvider",)
    (warning,) = opened.warnings
    assert (warning.code, warning.severity) == ("DML3024", Severity.WARNING)
    assert "cannot start auto: the driver is too old; the CPU is used instead" in warning.message
    assert joined().session("cpu").warnings == ()
    assert main(["run", str(SAMPLE), "--provider", "auto"]) == 0
    assert "DML3024 warning" in capsys.readouterr().err
    report = gather(dml2onnx.load(SAMPLE), profile=True, provider=AUTO)
    assert [item.code for item in report.diagnostics] == ["DML3024"]


def test_what_the_model_is_to_blame_for_is_no_fault_of_auto() -> None:
    with pytest.raises(DmlError) as caught:
        open_session(b"no model", AUTO)
    assert caught.value.diagnostics[0].code == "DML3011"
