"""The C# of the documentation compiles with the sources of ONNX Runtime's package, and runs if it needs no Windows.

Windows ML's own class is only on NuGet. It is declared here by the metadata of the Windows App SDK, which a wheel has;
its asynchronous results are tasks, as in C#/WinRT.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import onnxruntime
import pytest

from tests.conftest import ROOT
from tests.docs.test_windows_ml import CLASS, METADATA, methods

CSHARP = ROOT / ".venv-csharp" / "csharp"
LIBRARY = CSHARP / "Microsoft.ML.OnnxRuntime.dll"
PYTHON = ROOT / ".venv-csharp" / "bin" / "python"
COMPILER = Path(__file__).with_name("csharp_compiler.py")
CATALOG = """
namespace {namespace}
{{
    public class ExecutionProvider {{ }}

    public class ExecutionProviderCatalog
    {{
        public static ExecutionProviderCatalog GetDefault() => throw new NotSupportedException();
        public Task {awaited}() => throw new NotSupportedException();
    }}
}}
"""
NATIVE = Path(onnxruntime.__file__).parent / "capi"

pytestmark = pytest.mark.skipif(not LIBRARY.exists(), reason="no compiler of C#: scripts/_csharp.py fetches one")


def programs(page: str, language: str) -> list[str]:
    """The programs of a page in a language."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def compiled(directory: Path, sources: Sequence[str]) -> Path:
    """Compiles a program; fails with the compiler's errors."""
    files = []
    for number, source in enumerate(sources):
        files.append(directory / f"source{number}.cs")
        files[-1].write_text(source, encoding="utf-8")
    program = directory / "program.dll"
    command: list[str | Path] = [PYTHON, COMPILER, program, "--program", "--reference", LIBRARY, *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return program


def dotnet() -> Path:
    (found,) = (ROOT / ".venv-csharp" / "lib").glob("python*/site-packages/dnv/net/runtime/.net/dotnet")
    return found


def test_the_program_runs_the_model_of_the_page(tmp_path: Path) -> None:
    (make_model,) = programs("csharp.md", "python")
    (tmp_path / "make_model.py").write_text(make_model, encoding="utf-8")
    (program,) = programs("csharp.md", "csharp")
    program = program.replace("new float[1 * 3 * 32 * 32]", "Enumerable.Range(0, 3072).Select(i => (float)i).ToArray()")
    shown = 'Console.WriteLine($"{larger.Length} {larger[2]} {larger[64 + 3]}");'
    executable = compiled(tmp_path, [f"{program}\n{shown}"])
    for name, original in ((LIBRARY.name, LIBRARY), ("libonnxruntime.so", next(NATIVE.glob("libonnxruntime.so.*")))):
        (tmp_path / name).symlink_to(original)
    module = [sys.executable, "-m", "dml2onnx", "compile", "enlarge.json", "-o", "enlarge.onnx", "--quiet"]
    for command in ([sys.executable, "make_model.py"], module):
        subprocess.run(command, cwd=tmp_path, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    done = subprocess.run([dotnet(), executable], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()) == (0, [str(3 * 64 * 64), "1", "1"]), done.stderr


def test_the_program_for_windows_ml_compiles(tmp_path: Path) -> None:
    if not METADATA.exists():
        pytest.skip("no metadata of the Windows App SDK: scripts/test.py fetches it")
    (program,) = programs("windows-ml.md", "csharp")
    stated = methods()
    (awaited,) = set(re.findall(r"await catalog\.(\w+)\(\)", program))
    assert "IAsync" in stated[awaited]
    assert stated["GetDefault"].endswith("ExecutionProviderCatalog")
    compiled(tmp_path, [program, CATALOG.format(namespace=CLASS.rpartition(".")[0], awaited=awaited)])


def test_the_compiler_sees_what_is_wrong(tmp_path: Path) -> None:
    (program,) = programs("csharp.md", "csharp")
    with pytest.raises(AssertionError, match=r"CS1061.*GetTensorDataAsFloats"):
        compiled(tmp_path, [program.replace("GetTensorDataAsSpan<float>", "GetTensorDataAsFloats")])
