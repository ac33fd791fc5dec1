// What all parts stand on: DirectML itself, and what a COM method may let out.
//
// Every part is a piece of one header; scripts/generate_recorder.py joins them in the order that it names and puts the
// tables of operators between them. A part starts with the standard headers that it needs, which are gathered at the
// top of the whole. Types and functions are written as in DirectML.h (PascalCase), variables in camelCase, private
// members with an underscore behind them. Nothing throws across COM, nothing needs RTTI, and all of it is C++17.

#include <cstddef>
#include <cstdint>
#include <new>

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
