// What all parts stand on: DirectML itself, and what a COM method may let out.
//
// Every part is a piece of one header; scripts/generate_recorder.py joins them in the order that it names and puts the
// tables of operators between them. A part starts with the standard headers that it needs, which are gathered at the
// top of the whole. Types and functions are written as in DirectML.h (PascalCase), variables in camelCase, private
// members with an underscore behind them. Nothing throws across COM, nothing needs RTTI, and all of it is C++17.

#include <cstddef>
#include <cstdint>
#include <new>

// DirectML.h stands on the headers of the Windows SDK. Those of other compilers and systems have less, and what they do
// not have is said here: the annotations of parameters, which mean nothing to the compiler. The GUIDs, which DirectML.h
// tells to compilers with __declspec(uuid) only, follow below. Nothing is missing with Visual C++.
#if !defined(_MSC_VER)
#if !__has_include(<d3d12.h>)
#error "DirectML.h includes d3d12.h, which is not found: add recorder/posix to the include path"
#endif
#if !defined(_WIN32) && __has_include(<wsl/winadapter.h>)
#include <wsl/winadapter.h>
#elif !defined(_WIN32) && __has_include(<unknwn.h>)
#include <unknwn.h>  // the d3d12.h of DirectX-Headers includes less than that of Windows
#endif
#include <d3d12.h>
// this DirectML.h comes from no SDK, whose version it would go by
#if !defined(DML_TARGET_VERSION) && !defined(DML_TARGET_VERSION_USE_LATEST)
#define DML_TARGET_VERSION_USE_LATEST
#endif
#if !defined(_In_opt_)
#define _In_opt_
#endif
#if !defined(_Inout_)
#define _Inout_
#endif
#if !defined(_COM_Outptr_)
#define _COM_Outptr_
#endif
#if !defined(_COM_Outptr_opt_)
#define _COM_Outptr_opt_
#endif
#if !defined(_In_reads_)
#define _In_reads_(count)
#endif
#if !defined(_In_reads_opt_)
#define _In_reads_opt_(count)
#endif
#if !defined(_In_reads_bytes_opt_)
#define _In_reads_bytes_opt_(count)
#endif
#if !defined(_Out_writes_bytes_)
#define _Out_writes_bytes_(count)
#endif
#if !defined(_Out_writes_bytes_opt_)
#define _Out_writes_bytes_opt_(count)
#endif
#if !defined(_Field_size_)
#define _Field_size_(count)
#endif
#if !defined(_Field_size_opt_)
#define _Field_size_opt_(count)
#endif
#if !defined(_Field_size_bytes_)
#define _Field_size_bytes_(count)
#endif
#if !defined(_Field_z_)
#define _Field_z_
#endif
#if !defined(_Maybenull_)
#define _Maybenull_
#endif
#endif

// A program whose DirectML.h goes by another name says so before it includes this header.
#if defined(DML2ONNX_DIRECTML_HEADER)
#include DML2ONNX_DIRECTML_HEADER
#else
#include <DirectML.h>
#endif

// The first DirectML.h had no versions.
#if !defined(DML_TARGET_VERSION)
#define DML2ONNX_TARGET_VERSION 0x1000
#else
#define DML2ONNX_TARGET_VERSION DML_TARGET_VERSION
#endif

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define DML2ONNX_EXCEPTIONS 1
#else
#define DML2ONNX_EXCEPTIONS 0
#endif

namespace dml2onnx {
namespace detail {

// The result of `function`, or of what it throws: memory that there is not, all else E_FAIL. Every method that COM
// calls and that allocates goes through it.
template <typename Function>
HRESULT Guarded(Function&& function) noexcept {
#if DML2ONNX_EXCEPTIONS
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return E_OUTOFMEMORY;
  } catch (...) {
    return E_FAIL;
  }
#else
  return function();
#endif
}

}  // namespace detail
}  // namespace dml2onnx
