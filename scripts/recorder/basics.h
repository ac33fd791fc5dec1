// Basics: the DirectML header, and exceptions at COM boundaries.
//
// Every part is a piece of one header; scripts/generate_recorder.py joins them in its order, with the tables of
// operators between them. A part starts with the standard headers that it needs, which are collected at the top of the
// result. Types and functions are named as in DirectML.h (PascalCase), variables in camelCase, private members with a
// trailing underscore. No exception crosses COM, nothing needs RTTI, and everything is C++17.

#include <cstddef>
#include <cstdint>
#include <new>

// DirectML.h depends on the headers of the Windows SDK. Those of other compilers and systems lack the annotations of
// parameters, which are defined here as empty, and the GUIDs, which DirectML.h gives only to compilers with
// __declspec(uuid); these follow below. Visual C++ lacks nothing.
#if !defined(_MSC_VER)
#if !__has_include(<d3d12.h>)
#error "DirectML.h includes d3d12.h, which is not found: add recorder/posix to the include path"
#endif
#if !defined(_WIN32) && __has_include(<wsl/winadapter.h>)
#include <wsl/winadapter.h>
#elif !defined(_WIN32) && __has_include(<unknwn.h>)
#include <unknwn.h>  // the d3d12.h of DirectX-Headers does not include it
#endif
#include <d3d12.h>
// this DirectML.h belongs to no SDK whose version would select its own
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

// Define DML2ONNX_DIRECTML_HEADER if DirectML.h has another name.
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

// Returns the result of `function`, E_OUTOFMEMORY for std::bad_alloc, or E_FAIL for other exceptions. All methods that
// COM calls and that allocate use it.
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
