"""A ``DirectML.h`` for tests, with every name, value and member of the real one, from ``directml_api.json``.

Those are facts of the interface: what a program has to know in order to be compiled against DirectML. The catalogue has
no part in it, so that a field in the wrong place there is found. Like the real one the header leaves out what is newer
than ``DML_TARGET_VERSION``. On Windows it stands on the compiler's own ``d3d12.h``; elsewhere it declares the few words
of COM and Direct3D 12 that it needs.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FACTS = Path(__file__).parent / "directml_api.json"

COM = """\
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

typedef std::int8_t INT8;
typedef std::int16_t INT16;
typedef std::int32_t INT32;
typedef std::int64_t INT64;
typedef std::uint8_t UINT8, BYTE;
typedef std::uint16_t UINT16;
typedef std::uint32_t UINT32, ULONG;
typedef std::uint64_t UINT64;
typedef std::int32_t INT, BOOL, LONG;
typedef std::uint32_t UINT;
typedef float FLOAT;
typedef double DOUBLE;
typedef std::size_t SIZE_T;
typedef wchar_t WCHAR;
typedef const wchar_t* PCWSTR;
typedef std::int32_t HRESULT;

struct GUID {
  std::uint32_t Data1;
  std::uint16_t Data2, Data3;
  std::uint8_t Data4[8];
};
typedef GUID IID;
typedef const GUID& REFGUID;
typedef const IID& REFIID;
inline bool operator==(const GUID& a, const GUID& b) { return std::memcmp(&a, &b, sizeof a) == 0; }
inline bool operator!=(const GUID& a, const GUID& b) { return !(a == b); }

template <typename Interface>
const IID& UuidOf();
#define IID_PPV_ARGS(ppv) \\
  UuidOf<std::remove_pointer_t<std::remove_pointer_t<decltype(ppv)>>>(), reinterpret_cast<void**>(ppv)

#define TRUE 1
#define FALSE 0
#define S_OK (static_cast<HRESULT>(0))
#define S_FALSE (static_cast<HRESULT>(1))
#define E_NOTIMPL (static_cast<HRESULT>(0x80004001u))
#define E_NOINTERFACE (static_cast<HRESULT>(0x80004002u))
#define E_POINTER (static_cast<HRESULT>(0x80004003u))
#define E_FAIL (static_cast<HRESULT>(0x80004005u))
#define E_UNEXPECTED (static_cast<HRESULT>(0x8000FFFFu))
#define E_OUTOFMEMORY (static_cast<HRESULT>(0x8007000Eu))
#define E_INVALIDARG (static_cast<HRESULT>(0x80070057u))
#define SUCCEEDED(result) ((result) >= 0)
#define FAILED(result) ((result) < 0)
#define DXGI_ERROR_MORE_DATA (static_cast<HRESULT>(0x887A0003u))
#define DXGI_ERROR_NOT_FOUND (static_cast<HRESULT>(0x887A0002u))
#define DXGI_ERROR_UNSUPPORTED (static_cast<HRESULT>(0x887A0004u))

#define STDMETHODCALLTYPE
#define STDAPI extern "C" HRESULT
#define interface struct
#define DEFINE_ENUM_FLAG_OPERATORS(T) \\
  inline constexpr T operator|(T a, T b) { return T(static_cast<int>(a) | static_cast<int>(b)); } \\
  inline constexpr T operator&(T a, T b) { return T(static_cast<int>(a) & static_cast<int>(b)); }

interface IUnknown {
  virtual HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** ppv) = 0;
  virtual ULONG STDMETHODCALLTYPE AddRef() = 0;
  virtual ULONG STDMETHODCALLTYPE Release() = 0;
};

#define __ID3D12Object_INTERFACE_DEFINED__
interface ID3D12Object : IUnknown {
  virtual HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID guid, UINT* size, void* data) = 0;
  virtual HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID guid, UINT size, const void* data) = 0;
  virtual HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID guid, const IUnknown* data) = 0;
  virtual HRESULT STDMETHODCALLTYPE SetName(PCWSTR name) = 0;
};
interface ID3D12Device : IUnknown {};
interface ID3D12Resource : ID3D12Object {};
interface ID3D12CommandList : IUnknown {};
interface ID3D12DescriptorHeap : IUnknown {};
struct D3D12_CPU_DESCRIPTOR_HANDLE {
  SIZE_T ptr;
};
struct D3D12_GPU_DESCRIPTOR_HANDLE {
  UINT64 ptr;
};
"""

VERSION = """\
#ifndef DML_TARGET_VERSION
#if !defined(NTDDI_VERSION) || defined(DML_TARGET_VERSION_USE_LATEST)
#define DML_TARGET_VERSION {latest:#x}
#elif defined(NTDDI_WIN10_VB) && NTDDI_VERSION >= NTDDI_WIN10_VB
#define DML_TARGET_VERSION 0x2000
#else
#define DML_TARGET_VERSION 0x1000
#endif
#endif
"""

Facts = dict[str, Any]


def facts() -> Facts:
    """What the real header declares."""
    loaded: Facts = json.loads(FACTS.read_text(encoding="utf-8"))
    return loaded


def target_versions() -> list[int]:
    """The versions that a program may ask for, oldest first."""
    levels = facts()["enums"]["DML_FEATURE_LEVEL"]["values"].values()
    return sorted(level["value"] for level in levels)


def write(directory: Path) -> Path:
    """Puts ``DirectML.h`` into a directory, which is returned."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "DirectML.h").write_text(header(facts()), encoding="utf-8")
    return directory


def write_iids(directory: Path) -> None:
    """Puts ``iids.h`` into a directory: the GUID of each interface, and all of them."""
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
    """The text of the header."""
    parts = [
        "#pragma once\n",
        f"#ifdef _WIN32\n#include <d3d12.h>\n#else\n{COM}#endif\n",
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
    return "\n".join(parts)


def guarded(since: str, text: str) -> str:
    """What only headers of a feature level and newer ones declare."""
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
        lines.append(guarded(field.get("since", "1_0"), f"  {field['type']} {field['name']}{extent};\n"))
    return f"{kind} {name} {{\n{''.join(lines)}}};\n"


def _interface(name: str, item: Facts) -> str:
    methods = "".join(
        f"  virtual {method['returns']} STDMETHODCALLTYPE {method['name']}({_parameters(method)}) = 0;\n"
        for method in item["methods"]
    )
    first, second, third, *rest = item["iid"].split("-")
    last = [f"0x{byte:02x}" for byte in bytes.fromhex("".join(rest))]
    words = [f"0x{word}" for word in (first, second, third)]
    iid = f"{{{', '.join(words)}, {{{', '.join(last)}}}}}"
    return (
        f"interface {name} : {item['base']} {{\n{methods}}};\n"
        f"#ifdef _WIN32\n__CRT_UUID_DECL({name}, {', '.join([*words, *last])})\n#else\n"
        f"template <>\ninline const IID& UuidOf<{name}>() {{\n"
        f"  static constexpr IID iid = {iid};\n  return iid;\n}}\n#endif\n"
    )


def _parameters(item: Facts) -> str:
    return ", ".join(f"{parameter['type']} {parameter['name']}" for parameter in item["parameters"])


if __name__ == "__main__":
    # python -m tests.recorder.stand_in DIRECTORY, for whoever wants to try the recorder and has no DirectML.h
    write(Path(sys.argv[1]))
