"""The header is warning-free C++17 against every DirectML.h, and says what the catalogue says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dml2onnx import catalog
from tests.recorder import compilers, stand_in

if TYPE_CHECKING:
    from tests.recorder.compilers import Compiler

SHARED_FACTS = Path(__file__).parent.parent.parent.parent / "shared" / "directml" / "api.json"


@pytest.mark.parametrize("version", [f"{version:#x}" for version in stand_in.target_versions()])
def test_compiles_for_every_target_version(compiler: Compiler, directml: Path, tmp_path: Path, version: str) -> None:
    source = tmp_path / "main.cpp"
    source.write_text(
        '#include "dml2onnx_recorder.h"\nint main() { return dml2onnx::detail::Describe(nullptr).Acceptable(); }\n'
    )
    compiler.compile(source, directml, f"-DDML_TARGET_VERSION={version}", "-fno-rtti", "-fno-exceptions")
    assert compilers.RECORDER.joinpath("dml2onnx_recorder.h").is_file()


@pytest.mark.skipif(not SHARED_FACTS.is_file(), reason="the facts of the header are not beside the repository")
def test_the_facts_are_those_of_the_header() -> None:
    assert stand_in.facts() == json.loads(SHARED_FACTS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", catalog.operator_names())
def test_the_catalogue_has_the_fields_of_the_header(name: str) -> None:
    operator = catalog.operator(name)
    fields = stand_in.facts()["structs"][operator.struct]["fields"]
    assert [field.name for field in operator.fields] == [field["name"] for field in fields]
    assert [field.count for field in operator.fields] == [field.get("count") for field in fields]
