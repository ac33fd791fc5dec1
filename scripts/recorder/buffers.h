// What the buffers of a real device know of themselves: their names, and their end.

#include <atomic>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace dml2onnx {
namespace detail {

// d3d12.h defines the name when it declares ID3D12Object; a program without a real device may do with less.
#if defined(__ID3D12Object_INTERFACE_DEFINED__)

// WKPDID_D3DDebugObjectNameW: what ID3D12Object::SetName sets.
inline constexpr GUID kDebugName = {0x4cca5fd8, 0x921f, 0x42c8, {0x85, 0x66, 0x70, 0xca, 0xf2, 0xa9, 0xb7, 0x41}};

inline std::string DebugName(ID3D12Resource* buffer) {
  UINT size = 0;
  if (FAILED(buffer->GetPrivateData(kDebugName, &size, nullptr)) || size == 0) return "";
  std::vector<wchar_t> name(size / sizeof(wchar_t) + 2, L'\0');
  if (FAILED(buffer->GetPrivateData(kDebugName, &size, name.data()))) return "";
  return Utf8(name.data());
}

// Is released with the buffer that it is attached to, and says so.
class Witness final : public IUnknown {
 public:
  explicit Witness(std::function<void()> atEnd) : atEnd_(std::move(atEnd)) {}
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;

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
        atEnd_();
        return S_OK;
      });
      delete this;
    }
    return left;
  }

 private:
  ~Witness() = default;

  std::atomic<ULONG> references_{1};
  const std::function<void()> atEnd_;
};

// Calls `atEnd` when the buffer is destroyed; `owner` tells several that watch one buffer apart.
inline void Watch(ID3D12Resource* buffer, const void* owner, std::function<void()> atEnd) {
  GUID guid = {0x3f1c9f10, 0x6a34, 0x4b0e, {}};
  static_assert(sizeof owner <= sizeof guid.Data4, "a pointer is a part of a GUID");
  std::memcpy(guid.Data4, &owner, sizeof owner);
  const auto witness = Ref<Witness>::Adopt(new Witness(std::move(atEnd)));
  buffer->SetPrivateDataInterface(guid, &*witness);
}

// The bytes that lie in a buffer of the CPU now, as one for uploads is; none where only the GPU can read it.
inline std::vector<unsigned char> ReadBack(ID3D12Resource* buffer, UINT64 offset, UINT64 bytes) {
#if defined(__ID3D12Resource_INTERFACE_DEFINED__)
  D3D12_HEAP_PROPERTIES heap{};
  D3D12_HEAP_FLAGS flags{};
  if (bytes == 0 || FAILED(buffer->GetHeapProperties(&heap, &flags))) return {};
  const bool isCpus = heap.Type == D3D12_HEAP_TYPE_UPLOAD || heap.Type == D3D12_HEAP_TYPE_READBACK ||
                      (heap.Type == D3D12_HEAP_TYPE_CUSTOM &&
                       (heap.CPUPageProperty == D3D12_CPU_PAGE_PROPERTY_WRITE_COMBINE ||
                        heap.CPUPageProperty == D3D12_CPU_PAGE_PROPERTY_WRITE_BACK));
  const UINT64 width = buffer->GetDesc().Width;
  if (!isCpus || offset > width || bytes > width - offset) return {};
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
inline void Watch(ID3D12Resource*, const void*, const std::function<void()>&) {}

#endif

}  // namespace detail
}  // namespace dml2onnx
