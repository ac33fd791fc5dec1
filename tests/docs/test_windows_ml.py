"""The C++ of docs/windows-ml.md compiles for Windows with the headers of C++/WinRT and ONNX Runtime.

Windows ML's own class is only on NuGet. It is declared here by the metadata of the Windows App SDK, which a wheel has.
Nothing is run. ``test_csharp.py`` compiles the program in C#.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.recorder.compilers import NO_ZIG, ZIG, zig

PAGE = Path(__file__).parents[2] / "docs" / "windows-ml.md"
HEADERS = ZIG / "onnxruntime-1.23"
WINML = ZIG / "winml"
METADATA = WINML / "machinelearning" / "__init__.pyi"
CLASS = "Microsoft.Windows.AI.MachineLearning.ExecutionProviderCatalog"
CATALOG = """#pragma once
#include <winrt/Windows.Foundation.h>
#include <winrt/Windows.Foundation.Collections.h>

namespace winrt::Microsoft::Windows::AI::MachineLearning
{{
    struct ExecutionProvider : winrt::Windows::Foundation::IInspectable
    {{
    }};

    struct ExecutionProviderCatalog
    {{
        static {GetDefault} GetDefault();
        {EnsureAndRegisterCertifiedAsync} EnsureAndRegisterCertifiedAsync() const;
    }};
}}

namespace winrt::impl
{{
    using Provider = winrt::Microsoft::Windows::AI::MachineLearning::ExecutionProvider;

    template <>
    inline constexpr auto& name_v<Provider> = L"Microsoft.Windows.AI.MachineLearning.ExecutionProvider";

    template <>
    struct category<Provider>
    {{
        using type = class_category;
    }};

    // the actual interface matters only at run time
    template <>
    struct default_interface<Provider>
    {{
        using type = winrt::Windows::Foundation::IInspectable;
    }};
}}
"""


def methods() -> dict[str, str]:
    """The return types of the class's methods without parameters, in C++."""
    stated = re.findall(rf"# (\S+) {re.escape(CLASS)}::(\w+)\(\)\n", METADATA.read_text(encoding="utf-8"))
    return {
        name: re.sub(r"`\d", "", returned)
        .replace("System.Double", "double")
        .replace("Windows.Foundation", "winrt::Windows::Foundation")
        .replace("Microsoft.", "winrt::Microsoft.")
        .replace(".", "::")
        for returned, name in stated
    }


@pytest.fixture
def include(tmp_path: Path) -> Path:
    if not METADATA.exists():
        pytest.skip("no headers of C++/WinRT: scripts/test.py fetches them")
    (tmp_path / "winrt").mkdir()
    catalog = CATALOG.format_map(methods())
    (tmp_path / "winrt" / "Microsoft.Windows.AI.MachineLearning.h").write_text(catalog, encoding="utf-8")
    (tmp_path / "winml").mkdir()
    forward = "#include <onnxruntime_cxx_api.h>\n"
    (tmp_path / "winml" / "onnxruntime_cxx_api.h").write_text(forward, encoding="utf-8")
    return tmp_path


def test_the_program_compiles(include: Path) -> None:
    compiler = zig("x86_64-windows-gnu")
    if compiler is None:
        pytest.skip(NO_ZIG)
    if not HEADERS.is_dir():
        pytest.skip("no headers of ONNX Runtime 1.23: scripts/test.py fetches them")
    (program,) = re.findall(r"```cpp\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    source = include / "product.cpp"
    source.write_text(program, encoding="utf-8")
    compiler.object(source, include, "-std=c++20", "-isystem", str(WINML), "-isystem", str(HEADERS))
