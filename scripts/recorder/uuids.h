// Support for IID_PPV_ARGS and __uuidof with compilers without __declspec(uuid), for which DirectML.h has no GUIDs.
// They use a template, which is defined here for all interfaces without a specialization, so that those of a program
// remain valid.

#if defined(DML2ONNX_POSIX_D3D12_H)

template <typename Interface>
const GUID& dml2onnx_uuidof() {
  return dml2onnx::detail::IidOf<Interface>::Get();
}

#elif defined(_MSC_VER)

// the compiler has them

#elif defined(__MINGW32__) && defined(__uuidof) && (!defined(USE___UUIDOF) || USE___UUIDOF == 0)

extern "C++" {
template <typename Interface>
#if __MINGW64_VERSION_MAJOR >= 9
constexpr
#endif
    const GUID&
    __mingw_uuidof() {
  return dml2onnx::detail::IidOf<Interface>::Get();
}
}

#elif defined(__wsl_stub_uuidof_use_constexpr)

extern "C++" {
template <typename Interface>
#if __wsl_stub_uuidof_use_constexpr
constexpr
#endif
    const GUID&
    __wsl_stub_uuidof() {
  return dml2onnx::detail::IidOf<Interface>::Get();
}
}

#elif defined(__CRT_UUID_DECL)

#define DML2ONNX_IID(Interface, name, ...) __CRT_UUID_DECL(Interface, __VA_ARGS__)
DML2ONNX_INTERFACES(DML2ONNX_IID)
#undef DML2ONNX_IID

#elif defined(WINADAPTER_IID)  // the first DirectX-Headers

#define DML2ONNX_IID(Interface, name, ...) WINADAPTER_IID(Interface, __VA_ARGS__)
DML2ONNX_INTERFACES(DML2ONNX_IID)
#undef DML2ONNX_IID

#endif
