"""Tests the choice of providers: by callers, by command lines and by default."""

from __future__ import annotations

import platform
from typing import Any

import onnxruntime
import pytest

import dml2onnx
from dml2onnx.cli.parser import parsed
from dml2onnx.diagnostics import DmlError
from dml2onnx.providers.choice import Providers, chosen
from dml2onnx.providers.table import AUTO, BY_NAME, POLICIES, SHORT_NAMES, TABLE
from dml2onnx.targets import NAMES as TARGETS


def test_onnx_runtime_knows_all_names() -> None:
    assert {item.full_name for item in TABLE} <= set(onnxruntime.get_all_providers())
    assert set(onnxruntime.OrtExecutionProviderDevicePolicy.__members__) == set(POLICIES)
    assert len(SHORT_NAMES) == len(BY_NAME) == len(TABLE)


def test_everything_in_the_table_comes_from_somewhere() -> None:
    for item in TABLE:
        assert item.distribution or item.plugin or item.elsewhere
        assert item.page.startswith("https://")
        assert set(item.systems) <= {"Windows", "Linux", "Darwin"}
    assert platform.system() in BY_NAME["cpu"].systems


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("cpu", ("cpu",)),
        ("openvino,cpu", ("openvino", "cpu")),
        ("openvino, webgpu", ("openvino", "webgpu")),
        (["cuda", "cpu", "cuda"], ("cuda", "cpu")),
        (Providers(), ("cpu",)),
        (Providers("tensorrt", "cuda"), ("tensorrt", "cuda")),
    ],
)
def test_names_in_order(given: object, names: tuple[str, ...]) -> None:
    assert chosen(given).names == names
    assert str(chosen(given)) == ",".join(names)


@pytest.mark.parametrize("given", ["cdua", "", "cpu,", "CPUExecutionProvider", ["cpu", "gpu"]])
def test_names_of_nothing(given: object) -> None:
    with pytest.raises(DmlError) as caught:
        chosen(given)
    (item,) = caught.value.diagnostics
    assert item.code == "DML3001"
    assert "openvino" in item.expected


@pytest.mark.parametrize("given", [None, 1, [2], {"cpu": 1}])
def test_what_is_no_name(given: object) -> None:
    with pytest.raises(DmlError) as caught:
        chosen(given)
    assert caught.value.diagnostics[0].code == "DML3017"


@pytest.mark.parametrize(
    ("providers", "options"),
    [
        (Providers("cuda", options={"use_tf32": 0}), {"use_tf32": "0"}),
        (Providers("cuda", options={"use_tf32": 0}, device=1), {"use_tf32": "0", "device_id": "1"}),
        (Providers("openvino", device=2), {"device_type": "GPU.2"}),
        (Providers("openvino", options={"device_type": "NPU"}, device=2), {"device_type": "NPU"}),
        (Providers("cuda", "openvino", options={"cuda": {"a": "b"}, "openvino": {"c": "d"}}), {"a": "b"}),
        (Providers(AUTO, options={"policy": "prefer_npu"}), {"policy": "prefer_npu"}),
    ],
)
def test_options_of_the_first(providers: Providers, options: dict[str, str]) -> None:
    assert providers.options_of(providers.first) == options


def test_the_number_of_a_device_is_for_the_first_alone() -> None:
    assert Providers("tensorrt", "cuda", device=1).options_of("cuda") == {}


@pytest.mark.parametrize(
    ("names", "more", "message"),
    [
        (("cuda", "cpu"), {"options": {"use_tf32": "0"}}, "one of cuda, cpu"),
        (("cuda",), {"options": {"qnn": {"a": "b"}}}, "not among the providers cuda"),
        (("cpu",), {"device": 0}, "takes no device number"),
        ((AUTO,), {"device": 0}, "takes no device number"),
        ((AUTO, "cpu"), {}, "takes no other provider"),
        ((AUTO,), {"options": {"policy": "FASTEST"}}, "not an option of auto"),
        ((AUTO,), {"options": {"device_id": "1"}}, "not an option of auto"),
        (("cpu",), {"options": {"threads": "1"}}, "not an option of cpu, which takes none"),
        (("cuda", "cpu"), {"options": {"cpu": {"threads": "1"}}}, "not an option of cpu, which takes none"),
    ],
)
def test_options_that_cannot_be_meant(names: tuple[str, ...], more: dict[str, Any], message: str) -> None:
    with pytest.raises(DmlError) as caught:
        Providers(*names, **more)
    (item,) = caught.value.diagnostics
    assert item.code == "DML3022"
    assert message in item.message


def test_a_provider_is_compiled_for_as_well_as_there_is_a_target() -> None:
    for name in BY_NAME:
        target = Providers(name, "cpu").target
        assert target in TARGETS
        assert target == ("onnx" if name == "cpu" else name) or name not in TARGETS


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("", Providers()),
        ("--provider webgpu,cpu", Providers("webgpu", "cpu")),
        ("--provider webgpu --provider cpu", Providers("webgpu", "cpu")),
        (
            "--provider openvino,cpu --provider-option device_type=GPU --device 1",
            Providers("openvino", "cpu", options={"openvino": {"device_type": "GPU"}}, device=1),
        ),
        (
            "--provider tensorrt,cuda --provider-option tensorrt:trt_fp16_enable=1 --provider-option cuda:a=b=c:d",
            Providers("tensorrt", "cuda", options={"tensorrt": {"trt_fp16_enable": "1"}, "cuda": {"a": "b=c:d"}}),
        ),
        (
            "--provider openvino --provider-option load_config=C:/a.json",
            Providers("openvino", options={"load_config": "C:/a.json"}),
        ),
    ],
)
@pytest.mark.parametrize(
    "work", ["run model.json", "verify model.json", "report model.json", "pydirectml {} program.py"]
)
def test_command_lines(work: str, command: str, expected: Providers) -> None:
    line = work.format(command) if "{}" in work else f"{work} {command}"
    assert parsed(line.split()).provider == expected


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("--provider nonsense", "there is no provider"),
        ("--provider tensorrt,cuda --provider-option a=b", "does not name its provider, one of tensorrt, cuda"),
        ("--provider cuda --provider-option nonsense", "is not a provider option of the form KEY=VALUE"),
        ("--provider-option cuda.use_tf32=0", "not an option of cpu, which takes none"),
        ("--provider cuda --provider-option =1", "is not a provider option"),
        ("--provider cuda --provider-option qnn:a=b", "not among the providers cuda"),
        ("--provider cpu --device 0", "takes no device number"),
        ("--provider cuda --device -1", "less than 0"),
    ],
)
def test_command_lines_that_mean_nothing(command: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        parsed(["run", "model.json", *command.split()])
    assert end.value.code == 2
    assert message in capsys.readouterr().err


def test_it_is_a_public_name() -> None:
    assert dml2onnx.Providers is Providers
    assert hash(Providers("cpu")) == hash(Providers("cpu"))
