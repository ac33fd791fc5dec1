"""A ``DirectML.h`` for tests, with every name, value and member of the real one, from ``directml_api.json``.

These are facts of the interface, independent of the catalogue, so that tests find errors of the catalogue. Like the
real header, this one omits declarations newer than ``DML_TARGET_VERSION``, includes only ``d3d12.h``, declares
interfaces and structures with the macros of Windows' headers, and attaches GUIDs only by ``__declspec(uuid)``. Programs
that compile with it therefore compile with Microsoft's.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FACTS = Path(__file__).parent / "directml_api.json"

VERSION = """\
#ifndef DML_TARGET_VERSION
#if !defined(NTDDI_VERSION) || defined(DML_TARGET_VERSION_USE_LATEST)
#define DML_TARGET_VERSION {latest:#x}
#elif defined(NTDDI_WIN10_ZN) && NTDDI_VERSION >= NTDDI_WIN10_ZN
#define DML_TARGET_VERSION 0x6000
#elif defined(NTDDI_WIN10_NI) && NTDDI_VERSION >= NTDDI_WIN10_NI
#define DML_TARGET_VERSION 0x5000
#elif defined(NTDDI_WIN10_CO) && NTDDI_VERSION >= NTDDI_WIN10_CO
#define DML_TARGET_VERSION 0x4000
#elif defined(NTDDI_WIN10_FE) && NTDDI_VERSION >= NTDDI_WIN10_FE
#define DML_TARGET_VERSION 0x3000
#elif defined(NTDDI_WIN10_VB) && NTDDI_VERSION >= NTDDI_WIN10_VB
#define DML_TARGET_VERSION 0x2000
#else
#define DML_TARGET_VERSION 0x1000
#endif
#endif
"""

Facts = dict[str, Any]


def facts() -> Facts:
    """The declarations of the real header."""
    loaded: Facts = json.loads(FACTS.read_text(encoding="utf-8"))
    return loaded


def target_versions() -> list[int]:
    """The values of ``DML_TARGET_VERSION``, oldest first."""
    levels = facts()["enums"]["DML_FEATURE_LEVEL"]["values"].values()
    return sorted(level["value"] for level in levels)


def write(directory: Path) -> Path:
    """Writes ``DirectML.h`` to a directory; returns the directory."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "DirectML.h").write_text(header(facts()), encoding="utf-8")
    return directory


def write_iids(directory: Path) -> None:
    """Writes ``iids.h`` to a directory, with the GUID of each interface and an array of all GUIDs."""
    names = {"IUnknown_": "00000000-0000-0000-c000-000000000046"}
    names |= {name: item["iid"] for name, item in facts()["interfaces"].items()}
    lines = []
    for name, iid in names.items():
        first, second, third, *rest = iid.split("-")
        last = ", ".join(f"0x{byte:02x}" for byte in bytes.fromhex("".join(rest)))
        lines.append(f"inline constexpr GUID {name} = {{0x{first}, 0x{second}, 0x{third}, {{{last}}}}};\n")
    every = f"inline constexpr GUID kAll[] = {{{', '.join(names)}}};\n"
    text = f"#pragma once\n#include <DirectML.h>\n\nnamespace iids {{\n{''.join(lines)}{every}}}\n"
    (directory / "iids.h").write_text(text, encoding="utf-8")


def header(api: Facts) -> str:
    parts = [
        "#pragma once\n",
        '#include "d3d12.h"\n',
        "#if WINAPI_FAMILY_PARTITION(WINAPI_PARTITION_APP | WINAPI_PARTITION_GAMES)\n",
        "#ifndef DML_DECLARE_INTERFACE\n"
        "#define DML_DECLARE_INTERFACE(iid) DECLSPEC_UUID(iid) DECLSPEC_NOVTABLE\n#endif\n",
        VERSION.format(latest=api["constants"]["DML_TARGET_VERSION"]),
    ]
    for name, value in api["constants"].items():
        if name != "DML_TARGET_VERSION":
            parts.append(f"static const UINT {name} = {value};\n")
    parts += [f"interface {name};\n" for name in api["interfaces"]]
    parts += [guarded(item["since"], _enum(name, item)) for name, item in api["enums"].items()]
    parts += [guarded(item["since"], _struct("union", name, item)) for name, item in api["unions"].items()]
    parts += [guarded(item["since"], _struct("struct", name, item)) for name, item in api["structs"].items()]
    parts += [guarded(item["since"], _interface(name, item)) for name, item in api["interfaces"].items()]
    for name, function in api["functions"].items():
        since = "2_0" if "DML_FEATURE_LEVEL" in str(function) else "1_0"
        parts.append(guarded(since, f"STDAPI {name}({_parameters(function)});\n"))
    parts.append("#endif\n")
    return "\n".join(parts)


def guarded(since: str, text: str) -> str:
    """Declarations that exist since a feature level."""
    return text if since == "1_0" else f"#if DML_TARGET_VERSION >= 0x{since.replace('_', '')}00\n{text}#endif\n"


def _enum(name: str, item: Facts) -> str:
    lines = [
        guarded(value.get("since", item["since"]), f"  {label} = {value['value']},\n")
        for label, value in item["values"].items()
    ]
    operators = f"DEFINE_ENUM_FLAG_OPERATORS({name})\n" if name.endswith("_FLAGS") else ""
    return f"enum {name} {{\n{''.join(lines)}}};\n{operators}"


def _struct(kind: str, name: str, item: Facts) -> str:
    lines = []
    for field in item["fields"]:
        extent = f"[{field['array']}]" if "array" in field else ""
        text = f"  {_field_annotation(field)}{field['type']} {field['name']}{extent};\n"
        lines.append(guarded(field.get("since", "1_0"), text))
    return f"{kind} {name} {{\n{''.join(lines)}}};\n"


def _field_annotation(field: Facts) -> str:
    if "count" in field:
        return f"_Field_size_{'opt_' if field.get('optional') else ''}({field['count']}) "
    if field["type"] == "const void*":
        return '_Field_size_(_Inexpressible_("Dependent on the type")) '
    if field["type"] == "const char*":
        return "_Field_z_ _Maybenull_ "
    return "_Maybenull_ " if field.get("optional") else ""


def _interface(name: str, item: Facts) -> str:
    methods = "".join(f"  {_method(method)}({_parameters(method)}) = 0;\n" for method in item["methods"])
    return f'interface DML_DECLARE_INTERFACE("{item["iid"]}") {name} : {item["base"]} {{\n{methods}}};\n'


def _method(method: Facts) -> str:
    if method["returns"] == "HRESULT":
        return f"IFACEMETHOD({method['name']})"
    return f"IFACEMETHOD_({method['returns']}, {method['name']})"


def _parameters(item: Facts) -> str:
    return ", ".join(f"{_annotation(each)}{each['type']} {each['name']}" for each in item["parameters"])


def _annotation(parameter: Facts) -> str:
    optional = "opt_" if parameter.get("optional") else ""
    if parameter["type"] == "void**":
        return f"_COM_Outptr_{optional} "
    way = "_Out_writes_" if parameter.get("direction") == "out" else "_In_reads_"
    for extent, word in (("bytes", "bytes_"), ("count", "")):
        if extent in parameter and parameter["type"].endswith("*"):
            return f"{way}{word}{optional}({parameter[extent]}) "
    return "_In_opt_ " if optional else ""


if __name__ == "__main__":
    # python -m tests.recorder.stand_in DIRECTORY, to try the recorder without Microsoft's DirectML.h
    write(Path(sys.argv[1]))
