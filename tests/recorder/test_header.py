"""The header is warning-free C++17 against every DirectML.h, and says what the catalogue says."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import dml2onnx
from dml2onnx import catalog, recorder
from tests.recorder import compilers, stand_in

if TYPE_CHECKING:
    from tests.recorder.compilers import Compiler

SHARED_FACTS = Path(__file__).parent.parent.parent.parent / "shared" / "directml" / "api.json"


VERSIONS = [f"{version:#x}" for version in stand_in.target_versions()]
USE = '#include "dml2onnx_recorder.h"\nint main() { return dml2onnx::detail::Describe(nullptr).Acceptable(); }\n'
BARE = ("-fno-rtti", "-fno-exceptions")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "main.cpp"
    path.write_text(USE)
    return path


@pytest.mark.parametrize("version", VERSIONS)
def test_compiles_at_every_target_version(compiler: Compiler, directml: Path, source: Path, version: str) -> None:
    compiler.object(source, directml, f"-DDML_TARGET_VERSION={version}", *BARE)


@pytest.mark.parametrize("version", VERSIONS)
def test_compiles_for_windows_at_every_target_version(
    windows: Compiler, directml: Path, source: Path, version: str
) -> None:
    windows.object(source, directml, f"-DDML_TARGET_VERSION={version}", *BARE)


def test_compiles_with_exceptions_and_without_a_version(compiler: Compiler, directml: Path, source: Path) -> None:
    compiler.object(source, directml)


@pytest.mark.parametrize("version", ["0x1000", "0x6400"])
def test_the_example_compiles_for_windows(windows: Compiler, directml: Path, source: Path, version: str) -> None:
    source.write_bytes(recorder.contents("main.cpp"))
    windows.object(source, directml, f"-DDML_TARGET_VERSION={version}")


@pytest.mark.parametrize("version", ["0x1000", "0x6400"])
def test_the_example_records_what_can_be_compiled(
    compiler: Compiler, directml: Path, source: Path, version: str
) -> None:
    source.write_bytes(recorder.contents("main.cpp"))
    program = source.with_name("record")
    compiler.program(source, directml, program, f"-DDML_TARGET_VERSION={version}")
    subprocess.run([program], cwd=source.parent, check=True)
    graph = dml2onnx.load(source.parent / "recording" / "ACTIVATION_RELU.json")
    assert [node.operator.type for node in graph.nodes] == ["ACTIVATION_RELU"]
    assert dml2onnx.check(graph) == []


def test_may_be_included_by_several_files(compiler: Compiler, directml: Path, source: Path) -> None:
    second = source.with_name("second.cpp")
    second.write_text(USE.replace("main", "second"))
    compiler.program(source, directml, source.with_name("both"), str(second))


@pytest.mark.skipif(not SHARED_FACTS.is_file(), reason="the facts of the header are not beside the repository")
def test_the_facts_are_those_of_the_header() -> None:
    assert stand_in.facts() == json.loads(SHARED_FACTS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", catalog.operator_names())
def test_the_catalogue_has_the_fields_of_the_header(name: str) -> None:
    operator = catalog.operator(name)
    fields = stand_in.facts()["structs"][operator.struct]["fields"]
    assert [field.name for field in operator.fields] == [field["name"] for field in fields]
    assert [field.count for field in operator.fields] == [field.get("count") for field in fields]


def test_every_operator_is_there_from_its_target_version_on() -> None:
    text = (compilers.RECORDER / recorder.HEADER).read_text(encoding="utf-8")
    table = text[text.index("OperatorFields kOperators[]") :].partition("};\n\n")[0]
    version, found = 0x1000, {}
    for line in table.splitlines()[1:]:
        if match := re.fullmatch(r"#if DML2ONNX_TARGET_VERSION >= (0x\d+)", line):
            version = int(match[1], 16)
        elif match := re.match(r"    \{(DML_OPERATOR_\w+), ", line):
            found[match[1]] = version
    declared = stand_in.facts()["enums"]["DML_OPERATOR_TYPE"]["values"]
    assert found == {
        name: int(declared[name]["since"].replace("_", "") + "00", 16) for name in catalog.operator_names()
    }
