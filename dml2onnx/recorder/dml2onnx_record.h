// Replaces <DirectML.h>: the program's DMLCreateDevice and DMLCreateDevice1 create recording devices, without other
// changes. The compiler can even include this first (-include dml2onnx_record.h, /FI dml2onnx_record.h).
//
// The environment variable DML2ONNX_RECORDING names the folder; the default is "recording". Problems of recording are
// written to standard error. If the folder cannot be written, the program gets DirectML's device without recording.
//
// On Windows, DirectML's device does the work; elsewhere programs are recorded without a device. Define
// DML2ONNX_REAL_DEVICE as 1 or 0 to override that. Programs that look up DMLCreateDevice in DirectML.dll must call
// dml2onnx::CreateRecordingDevice with the result.
//
// SPDX-License-Identifier: MIT

#pragma once

#include "dml2onnx_recorder.h"

#if !defined(DML2ONNX_REAL_DEVICE)
#if defined(_WIN32)
#define DML2ONNX_REAL_DEVICE 1
#else
#define DML2ONNX_REAL_DEVICE 0
#endif
#endif

#if defined(DML2ONNX_TARGET_VERSION)  // unless the compiler is too old

namespace dml2onnx {
namespace detail {

inline RecordingOptions OptionsOfEnvironment() {
  RecordingOptions options;
#if defined(_MSC_VER)
#pragma warning(suppress : 4996)  // the environment does not change concurrently
#endif
  const char* folder = std::getenv("DML2ONNX_RECORDING");
  if (folder != nullptr && *folder != '\0') options.folder = folder;
  options.onProblem = [](const std::string& reason) { std::fprintf(stderr, "dml2onnx: %s\n", reason.c_str()); };
  return options;
}

// `create` creates DirectML's device.
template <typename Create>
HRESULT CreateDevice(ID3D12Device* parent, UINT level, REFIID riid, void** ppv, Create create) noexcept {
  return Guarded([&] {
    RecordingOptions options = OptionsOfEnvironment();
#if DML2ONNX_REAL_DEVICE
    static_cast<void>(parent);
    static_cast<void>(level);
    Ref<IDMLDevice> real;
    const HRESULT result = create(ppv == nullptr ? nullptr : real.Out());
    if (FAILED(result) || ppv == nullptr || !real) return result;
    return SUCCEEDED(CreateRecordingDevice(real.Get(), options, riid, ppv)) ? result : real->QueryInterface(riid, ppv);
#else
    static_cast<void>(create);
#if defined(DML2ONNX_POSIX_D3D12_H)
    static_cast<void>(parent);  // incomplete type
#else
    options.parentDevice = parent;
#endif
    if (level > options.featureLevel) return kUnsupported;
    return ppv == nullptr ? S_FALSE : CreateRecordingDevice(nullptr, options, riid, ppv);
#endif
  });
}

}  // namespace detail
}  // namespace dml2onnx

inline HRESULT STDMETHODCALLTYPE dml2onnx_DMLCreateDevice(ID3D12Device* d3d12Device, DML_CREATE_DEVICE_FLAGS flags,
                                                          REFIID riid, void** ppv) {
  return dml2onnx::detail::CreateDevice(d3d12Device, 0x1000, riid, ppv, [=](void** real) {
#if DML2ONNX_REAL_DEVICE
    return ::DMLCreateDevice(d3d12Device, flags, dml2onnx::detail::kIidDevice, real);
#else
    return static_cast<void>(flags), static_cast<void>(real), E_NOTIMPL;
#endif
  });
}
#define DMLCreateDevice dml2onnx_DMLCreateDevice

#if DML2ONNX_TARGET_VERSION >= 0x2000
inline HRESULT STDMETHODCALLTYPE dml2onnx_DMLCreateDevice1(ID3D12Device* d3d12Device, DML_CREATE_DEVICE_FLAGS flags,
                                                           DML_FEATURE_LEVEL minimumFeatureLevel, REFIID riid,
                                                           void** ppv) {
  const UINT level = static_cast<UINT>(minimumFeatureLevel);
  return dml2onnx::detail::CreateDevice(d3d12Device, level, riid, ppv, [=](void** real) {
#if DML2ONNX_REAL_DEVICE
    return ::DMLCreateDevice1(d3d12Device, flags, minimumFeatureLevel, dml2onnx::detail::kIidDevice, real);
#else
    return static_cast<void>(flags), static_cast<void>(real), E_NOTIMPL;
#endif
  });
}
#define DMLCreateDevice1 dml2onnx_DMLCreateDevice1
#endif

#endif
