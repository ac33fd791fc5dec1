"""The C++ of docs/windows-ml.md is what ONNX Runtime's headers declare.

Of the Windows App SDK it calls three functions, which stand here as its documentation has them; nothing is run. The
program in C# is not compiled.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.recorder.compilers import MISSING, ZIG, native

PAGE = Path(__file__).parents[2] / "docs" / "windows-ml.md"
HEADERS = ZIG / "onnxruntime-1.23"
CATALOG = """#pragma once
namespace winrt
{
    void init_apartment();

    namespace Microsoft::Windows::AI::MachineLearning
    {
        struct Registration
        {
            void get() const;
        };

        struct ExecutionProviderCatalog
        {
            static ExecutionProviderCatalog GetDefault();
            Registration EnsureAndRegisterCertifiedAsync() const;
        };
    }
}
"""


@pytest.fixture
def include(tmp_path: Path) -> Path:
    """The headers that the program includes."""
    (tmp_path / "winrt").mkdir()
    (tmp_path / "winrt" / "Microsoft.Windows.AI.MachineLearning.h").write_text(CATALOG, encoding="utf-8")
    (tmp_path / "winml").mkdir()
    forward = "#include <onnxruntime_cxx_api.h>\n"
    (tmp_path / "winml" / "onnxruntime_cxx_api.h").write_text(forward, encoding="utf-8")
    return tmp_path


def test_the_program_compiles(include: Path) -> None:
    compiler = native()
    if compiler is None:
        pytest.skip(MISSING)
    if not HEADERS.is_dir():
        pytest.skip("no headers of ONNX Runtime 1.23: scripts/test.py fetches them")
    (program,) = re.findall(r"```cpp\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    source = include / "product.cpp"
    source.write_text(program, encoding="utf-8")
    compiler.object(source, include, "-isystem", str(HEADERS))
