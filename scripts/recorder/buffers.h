// Buffers of a real device: their names, their contents, and the end of their life.

#include <atomic>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace dml2onnx {
namespace detail {

// Defined by d3d12.h where it declares ID3D12Object; programs without a real device may have a smaller d3d12.h.
#if defined(__ID3D12Object_INTERFACE_DEFINED__)

// WKPDID_D3DDebugObjectNameW, which ID3D12Object::SetName sets.
inline constexpr GUID kDebugName = {0x4cca5fd8, 0x921f, 0x42c8, {0x85, 0x66, 0x70, 0xca, 0xf2, 0xa9, 0xb7, 0x41}};

inline std::string DebugName(ID3D12Resource* buffer) {
  UINT size = 0;
  if (FAILED(buffer->GetPrivateData(kDebugName, &size, nullptr)) || size == 0) return "";
  std::vector<wchar_t> name(size / sizeof(wchar_t) + 2, L'\0');
  if (FAILED(buffer->GetPrivateData(kDebugName, &size, name.data()))) return "";
  return Utf8(name.data());
}

// Calls a function when it is released, together with the buffer that it is attached to.
class ReleaseCallback final : public IUnknown {
 public:
  explicit ReleaseCallback(std::function<void()> onRelease) : onRelease_(std::move(onRelease)) {}
  ReleaseCallback(const ReleaseCallback&) = delete;
  ReleaseCallback& operator=(const ReleaseCallback&) = delete;

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** ppv) noexcept override {
    if (ppv == nullptr) return E_POINTER;
    *ppv = nullptr;
    if (!Same(riid, kIidUnknown)) return E_NOINTERFACE;
    AddRef();
    *ppv = static_cast<IUnknown*>(this);
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() noexcept override { return ++references_; }
  ULONG STDMETHODCALLTYPE Release() noexcept override {
    const ULONG left = --references_;
    if (left == 0) {
      Guarded([this] {
        onRelease_();
        return S_OK;
      });
      delete this;
    }
    return left;
  }

 private:
  ~ReleaseCallback() = default;

  std::atomic<ULONG> references_{1};
  const std::function<void()> onRelease_;
};

// Calls `onRelease` when the buffer is destroyed; `owner` distinguishes several recorders of one buffer.
inline void CallOnRelease(ID3D12Resource* buffer, const void* owner, std::function<void()> onRelease) {
  GUID guid = {0x3f1c9f10, 0x6a34, 0x4b0e, {}};
  static_assert(sizeof owner <= sizeof guid.Data4, "a pointer is a part of a GUID");
  std::memcpy(guid.Data4, &owner, sizeof owner);
  const auto callback = Ref<ReleaseCallback>::Adopt(new ReleaseCallback(std::move(onRelease)));
  buffer->SetPrivateDataInterface(guid, &*callback);
}

// Returns the current bytes of a buffer that the CPU can read, such as an upload buffer; none for others.
inline std::vector<unsigned char> ReadBack(ID3D12Resource* buffer, UINT64 offset, UINT64 bytes) {
#if defined(__ID3D12Resource_INTERFACE_DEFINED__)
  D3D12_HEAP_PROPERTIES heap{};
  D3D12_HEAP_FLAGS flags{};
  if (bytes == 0 || FAILED(buffer->GetHeapProperties(&heap, &flags))) return {};
  const bool isReadable = heap.Type == D3D12_HEAP_TYPE_UPLOAD || heap.Type == D3D12_HEAP_TYPE_READBACK ||
                      (heap.Type == D3D12_HEAP_TYPE_CUSTOM &&
                       (heap.CPUPageProperty == D3D12_CPU_PAGE_PROPERTY_WRITE_COMBINE ||
                        heap.CPUPageProperty == D3D12_CPU_PAGE_PROPERTY_WRITE_BACK));
  const UINT64 width = buffer->GetDesc().Width;
  if (!isReadable || offset > width || bytes > width - offset) return {};
  const D3D12_RANGE read{static_cast<SIZE_T>(offset), static_cast<SIZE_T>(offset + bytes)}, written{0, 0};
  void* data = nullptr;
  if (FAILED(buffer->Map(0, &read, &data)) || data == nullptr) return {};
  const auto* begin = static_cast<const unsigned char*>(data) + read.Begin;
  std::vector<unsigned char> found(begin, begin + (read.End - read.Begin));
  buffer->Unmap(0, &written);
  return found;
#else
  return static_cast<void>(buffer), static_cast<void>(offset), static_cast<void>(bytes), std::vector<unsigned char>();
#endif
}

#else

inline std::vector<unsigned char> ReadBack(ID3D12Resource*, UINT64, UINT64) { return {}; }
inline std::string DebugName(ID3D12Resource*) { return ""; }
inline void CallOnRelease(ID3D12Resource*, const void*, const std::function<void()>&) {}

#endif

}  // namespace detail
}  // namespace dml2onnx
