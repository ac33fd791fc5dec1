"""The header compiles as C++17 without warnings for every target version, and agrees with the catalogue."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import dml2onnx
from dml2onnx import catalog, recorder
from tests.recorder import compilers, stand_in
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


@pytest.fixture(scope="session")
def standard(compiler: Compiler, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Options that include precompiled standard headers, for files that are only checked with ``BARE``.

    Programs are compiled without them, which checks that the header includes everything that it needs.
    """
    text = (compilers.RECORDER / recorder.HEADER).read_text(encoding="utf-8")
    names = re.findall(r"^#include <\w+>$", text.partition("namespace dml2onnx")[0], re.MULTILINE)
    assert "#include <filesystem>" in names
    header = tmp_path_factory.mktemp("standard") / "standard.h"
    header.write_text("\n".join(names))
    return compiler.precompiled(header, *BARE)


def versions_in(text: str) -> set[str]:
    """The target versions in conditions of a part of the header."""
    return set(re.findall(r"#if DML2ONNX_TARGET_VERSION >= (0x\d+)", text))


def halves() -> tuple[str, str]:
    """The header up to the end of its tables, which compiles by itself, and the rest."""
    text = (compilers.RECORDER / recorder.HEADER).read_text(encoding="utf-8")
    end = text.index("}  // namespace dml2onnx\n", text.index("OperatorFields kOperators[]"))
    return f"{text[:end]}}}\n#endif\n", text[end:]


@pytest.mark.parametrize("version", VERSIONS)
def test_compiles_at_every_target_version(
    compiler: Compiler, directml: Path, source: Path, standard: tuple[str, ...], version: str
) -> None:
    """The whole header at the first and last version and those in conditions after the tables; others only the tables.

    A ``DirectML.h`` has all declarations of older ones. Unconditional code therefore compiles with every version if it
    compiles with the oldest, and conditional code if it compiles with the first version of its condition.
    """
    tables, rest = halves()
    if version in {VERSIONS[0], *versions_in(rest), VERSIONS[-1]}:
        source.write_text(USE.replace(recorder.HEADER, recorder.RECORD))  # it includes the header
    else:
        source.with_name(recorder.HEADER).write_text(tables, encoding="utf-8")
        source.write_text(f'#include "{recorder.HEADER}"\nint main() {{ return 0; }}\n')
    compiler.object(source, directml, f"-DDML_TARGET_VERSION={version}", *BARE, *standard)


def test_conditions_of_the_tables() -> None:
    tables, rest = halves()
    assert versions_in(rest) < versions_in(tables) < set(VERSIONS)


@pytest.mark.parametrize("version", ["0x1000", "0x2000"])
def test_the_wrapper_of_a_real_device_compiles(
    compiler: Compiler, directml: Path, source: Path, standard: tuple[str, ...], version: str
) -> None:
    """At the oldest version and the only one in its conditions; another test runs it at the newest."""
    text = (compilers.RECORDER / recorder.RECORD).read_text(encoding="utf-8")
    assert {VERSIONS[0], *versions_in(text)} == {"0x1000", "0x2000"}
    source.write_text(USE.replace(recorder.HEADER, recorder.RECORD))
    options = (f"-DDML_TARGET_VERSION={version}", "-DDML2ONNX_REAL_DEVICE=1", *BARE, *standard)
    compiler.object(source, directml, *options)


def test_the_recording_of_the_example_can_be_compiled(compiler: Compiler, directml: Path, source: Path) -> None:
    """With the oldest ``DirectML.h``; other tests use the newest one."""
    source.write_bytes(recorder.contents("main.cpp"))
    program = source.with_name("record")
    compiler.program(source, directml, program, f"-DDML_TARGET_VERSION={VERSIONS[0]}")
    subprocess.run([program], cwd=source.parent, check=True)
    graph = dml2onnx.load(source.parent / "recording" / "ACTIVATION_RELU.json")
    assert [node.operator.type for node in graph.nodes] == ["ACTIVATION_RELU"]
    assert dml2onnx.check(graph) == []


@pytest.mark.skipif(not SHARED_FACTS.is_file(), reason="the facts of the header are missing beside the repository")
def test_the_facts_are_those_of_the_header() -> None:
    assert stand_in.facts() == json.loads(SHARED_FACTS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", catalog.operator_names())
def test_the_catalogue_has_the_fields_of_the_header(name: str) -> None:
    operator = catalog.operator(name)
    fields = stand_in.facts()["structs"][operator.struct]["fields"]
    assert [field.name for field in operator.fields] == [field["name"] for field in fields]
    assert [field.count for field in operator.fields] == [field.get("count") for field in fields]


def test_target_versions_of_operators() -> None:
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


# --- Real headers -----------------------------------------------------------------------------------------------------

GUIDS = """\
static_assert(__uuidof(IDMLDevice).Data1 == 0x6dbd6437, "");
static_assert(__uuidof(IDMLBindingTable).Data4[7] == 0xfc, "");
#if DML2ONNX_TARGET_VERSION >= 0x2000
static_assert(__uuidof(IDMLDevice1).Data1 == 0xa0884f9a, "");
#endif
"""
CREATE = f"""\
#include "dml2onnx_recorder.h"
{GUIDS}
int main() {{
  IDMLDevice1* device = nullptr;
  if (FAILED(dml2onnx::CreateRecordingDevice(nullptr, {{}}, IID_PPV_ARGS(&device)))) return 1;
  device->Release();
}}
"""
UNCHANGED = """\
#include <DirectML.h>

int main() {
  IDMLDevice *device = nullptr, *other = nullptr;
  if (FAILED(DMLCreateDevice(nullptr, DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&device)))) return 1;
  const auto create = &::DMLCreateDevice1;
  if (FAILED(create(nullptr, DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL_2_1, IID_PPV_ARGS(&other)))) return 2;
  const UINT sizes[] = {1, 1, 1, 4};
  const DML_BUFFER_TENSOR_DESC buffer{DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 4, sizes, nullptr, 16, 0};
  const DML_TENSOR_DESC tensor{DML_TENSOR_TYPE_BUFFER, &buffer};
  const DML_ACTIVATION_RELU_OPERATOR_DESC relu{&tensor, &tensor};
  const DML_OPERATOR_DESC desc{DML_OPERATOR_ACTIVATION_RELU, &relu};
  IDMLOperator* op = nullptr;
  if (FAILED(device->CreateOperator(&desc, IID_PPV_ARGS(&op)))) return 3;
  IDMLCompiledOperator* compiled = nullptr;
  if (FAILED(device->CompileOperator(op, DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)))) return 4;
  compiled->Release();
  op->Release();
  device->Release();
  other->Release();
}
"""
REAL = """\
#include "dml2onnx_recorder.h"

STDAPI DMLCreateDevice(ID3D12Device*, DML_CREATE_DEVICE_FLAGS, REFIID riid, void** ppv) {
  dml2onnx::RecordingOptions options;
  options.folder = "real";
  return dml2onnx::CreateRecordingDevice(nullptr, options, riid, ppv);
}
STDAPI DMLCreateDevice1(ID3D12Device*, DML_CREATE_DEVICE_FLAGS, DML_FEATURE_LEVEL, REFIID riid, void** ppv) {
  return DMLCreateDevice(nullptr, DML_CREATE_DEVICE_FLAG_NONE, riid, ppv);
}
"""
RECORD = ("-include", recorder.RECORD)


def test_the_example_and_guids_compile_for_windows(windows: Compiler, directml: Path, source: Path) -> None:
    """Code for Windows does not depend on the version. The assertions fail if a GUID is not a constant."""
    assert "__CRT_UUID_DECL" not in (directml / "DirectML.h").read_text()
    source.write_bytes(recorder.contents("main.cpp") + GUIDS.encode())
    windows.object(source, directml, f"-DDML_TARGET_VERSION={VERSIONS[0]}", *BARE)


def test_a_program_may_declare_guids_for_mingw(windows: Compiler, directml: Path, source: Path) -> None:
    guid = "__CRT_UUID_DECL(IDMLDevice, 0x6dbd6437, 0x96fd, 0x423f, 0xa9, 0x8c, 0xae, 0x5e, 0x7c, 0x2a, 0x57, 0x3f)\n"
    source.write_text(f'#include <DirectML.h>\n{guid}#include "{recorder.HEADER}"\n{GUIDS}')
    windows.object(source, directml, "-DDML_TARGET_VERSION_USE_LATEST")


@pytest.fixture(scope="session")
def directx_headers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Microsoft's DirectX-Headers from Debian's package."""
    installed = Path("/usr/include")
    if (installed / "directx" / "d3d12.h").is_file():
        return installed
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        pytest.skip("no DirectX-Headers: install directx-headers-dev")
    directory = tmp_path_factory.mktemp("directx")
    line = ["apt-get", "download", "directx-headers-dev"]
    done = subprocess.run(line, cwd=directory, capture_output=True, check=False, timeout=120)
    packages = list(directory.glob("*.deb"))
    if done.returncode or not packages:
        pytest.skip("no DirectX-Headers: install directx-headers-dev")
    subprocess.run(["dpkg-deb", "-x", packages[0], directory], check=True)
    return directory / "usr" / "include"


def test_compiles_with_directx_headers(compiler: Compiler, directml: Path, directx_headers: Path, source: Path) -> None:
    """With the installed directory, and with the directories that the headers name."""
    source.write_text(CREATE)
    program = source.with_name("guids")
    compiler.program(source, directml, program, "-isystem", str(directx_headers))
    subprocess.run([program], cwd=source.parent, check=True)
    named = [item for place in ("directx", "wsl/stubs") for item in ("-isystem", str(directx_headers / place))]
    compiler.object(source, directml, *named)


def test_programs_need_no_changes(compiler: Compiler, directml: Path, source: Path) -> None:
    source.write_text(UNCHANGED)
    program = source.with_name("unchanged")
    compiler.program(source, directml, program, *RECORD)
    environment = {**os.environ, "DML2ONNX_RECORDING": "here"}
    subprocess.run([program], cwd=source.parent, env=environment, check=True)
    assert dml2onnx.check(dml2onnx.load(source.parent / "here")) == []
    assert (source.parent / "here_2").is_dir()


def test_the_real_device_is_created(compiler: Compiler, directml: Path, source: Path) -> None:
    """In a program of two files that include the header."""
    source.write_text(UNCHANGED)
    real, program = source.with_name("real.cpp"), source.with_name("unchanged")
    real.write_text(REAL)
    compiler.program(source, directml, source.with_suffix(".o"), "-DDML2ONNX_REAL_DEVICE=1", *RECORD, "-c")
    compiler.program(real, directml, program, str(source.with_suffix(".o")))
    subprocess.run([program], cwd=source.parent, check=True)
    for folder in ("recording", "real"):
        assert dml2onnx.check(dml2onnx.load(source.parent / folder)) == []
    (source.parent / "recording").rename(source.parent / "old")
    (source.parent / "recording").write_text("in the way")
    done = subprocess.run([program], cwd=source.parent, capture_output=True, text=True, check=True)
    assert "cannot be made" in done.stderr  # but the program succeeds


def test_an_older_standard_is_one_error(compiler: Compiler, directml: Path, source: Path) -> None:
    for name in (recorder.HEADER, recorder.RECORD):
        source.write_text(f'#include "{name}"\nint main() {{ return 0; }}\n')
        with pytest.raises(AssertionError, match=r"C\+\+17") as caught:
            compiler.object(source, directml, "-std=c++14")
        assert str(caught.value).count("error:") == 1
