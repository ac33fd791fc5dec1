"""Compiles C# with Roslyn in ``.venv-csharp`` (``scripts/_csharp.py``).

    python csharp_compiler.py OUTPUT.dll [--program] [--reference FILE]... SOURCE...

Also writes the runtime configuration for ``dotnet``. Prints errors and exits with code 1 if there are any.
"""

from __future__ import annotations

import argparse
import json
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pythonnet
from clr_loader import get_coreclr

DOTNET = Path(sysconfig.get_path("purelib"), "dnv", "net", "runtime", ".net")
"""The files of the wheel with .NET's runtime, whose module must not be imported: it starts the runtime."""
ROSLYN = Path(sys.prefix) / "csharp"
USINGS = "".join(
    f"global using System{name};"
    for name in ("", ".Collections.Generic", ".IO", ".Linq", ".Net.Http", ".Threading", ".Threading.Tasks")
)
"""Implicit usings of a .NET project."""


def framework() -> Path:
    """The directory of .NET's assemblies."""
    (found,) = (DOTNET / "shared" / "Microsoft.NETCore.App").iterdir()
    return found


def runtime_config(place: Path) -> Path:
    """Writes the file that selects the .NET of a program."""
    version = {"name": "Microsoft.NETCore.App", "version": framework().name}
    options = {"tfm": "net8.0", "framework": version, "configProperties": {"System.Globalization.Invariant": True}}
    place.write_text(json.dumps({"runtimeOptions": options}), encoding="utf-8")
    return place


def compiled(output: Path, sources: list[str], references: list[str], *, is_program: bool) -> list[str]:
    """Writes an assembly and returns no errors, or returns the errors in its sources."""
    config = runtime_config(output.with_suffix(".runtimeconfig.json"))
    pythonnet.set_runtime(get_coreclr(runtime_config=str(config), dotnet_root=str(DOTNET)))
    import clr

    for name in ("", ".CSharp"):
        clr.AddReference(str(ROSLYN / f"Microsoft.CodeAnalysis{name}.dll"))
    from Microsoft import CodeAnalysis
    from Microsoft.CodeAnalysis import CSharp
    from System.Collections.Generic import List
    from System.IO import File

    def listed(kind: Any, items: list[Any]) -> Any:
        found = List[kind]()
        for item in items:
            found.Add(item)
        return found

    how = CSharp.CSharpParseOptions(CSharp.LanguageVersion.CSharp10)
    trees = listed(CodeAnalysis.SyntaxTree, [CSharp.CSharpSyntaxTree.ParseText(text, how) for text in sources])
    known = listed(
        CodeAnalysis.MetadataReference, [CodeAnalysis.MetadataReference.CreateFromFile(file) for file in references]
    )
    kind = (
        CodeAnalysis.OutputKind.ConsoleApplication if is_program else CodeAnalysis.OutputKind.DynamicallyLinkedLibrary
    )
    options = CSharp.CSharpCompilationOptions(kind).WithAllowUnsafe(True)
    stream = File.Create(str(output))
    result = CSharp.CSharpCompilation.Create(output.stem, trees, known, options).Emit(stream)
    stream.Close()
    wrong = [str(item) for item in result.Diagnostics if item.Severity == CodeAnalysis.DiagnosticSeverity.Error]
    if wrong:
        output.unlink()
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description="Compiles C#.")
    parser.add_argument("output", type=Path)
    parser.add_argument("--reference", action="append", default=[], help="an assembly in addition to those of .NET")
    parser.add_argument("--program", action="store_true", help="with top-level statements")
    parser.add_argument("sources", nargs="+", type=Path)
    options = parser.parse_args()
    references = [*map(str, framework().glob("*.dll")), *options.reference]
    sources = [file.read_text(encoding="utf-8-sig") for file in options.sources]
    wrong = compiled(options.output.resolve(), [*sources, USINGS], references, is_program=options.program)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
