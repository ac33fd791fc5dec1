// The base of all COM objects of the recorder: reference counts, identity, private data, and smart pointers.

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace dml2onnx {
namespace detail {

// As DirectML.h declares them: X(interface, name of its GUID here, GUID). Repeated here, because compilers differ in
// how they provide the GUID of an interface.
#define DML2ONNX_INTERFACES_OF_1_0(X)                                                                                  \
  X(IDMLObject, kIidObject, 0xc8263aac, 0x9e0c, 0x4a2d, 0x9b, 0x8e, 0x00, 0x75, 0x21, 0xa3, 0x31, 0x7c)                \
  X(IDMLDevice, kIidDevice, 0x6dbd6437, 0x96fd, 0x423f, 0xa9, 0x8c, 0xae, 0x5e, 0x7c, 0x2a, 0x57, 0x3f)                \
  X(IDMLDeviceChild, kIidDeviceChild, 0x27e83142, 0x8165, 0x49e3, 0x97, 0x4e, 0x2f, 0xd6, 0x6e, 0x4c, 0xb6, 0x9d)      \
  X(IDMLPageable, kIidPageable, 0xb1ab0825, 0x4542, 0x4a4b, 0x86, 0x17, 0x6d, 0xde, 0x6e, 0x8f, 0x62, 0x01)            \
  X(IDMLOperator, kIidOperator, 0x26caae7a, 0x3081, 0x4633, 0x95, 0x81, 0x22, 0x6f, 0xbe, 0x57, 0x69, 0x5d)            \
  X(IDMLDispatchable, kIidDispatchable, 0xdcb821a8, 0x1039, 0x441e, 0x9f, 0x1c, 0xb1, 0x75, 0x9c, 0x2f, 0x3c, 0xec)    \
  X(IDMLCompiledOperator, kIidCompiled, 0x6b15e56a, 0xbf5c, 0x4902, 0x92, 0xd8, 0xda, 0x3a, 0x65, 0x0a, 0xfe, 0xa4)    \
  X(IDMLOperatorInitializer, kIidInitializer, 0x427c1113, 0x435c, 0x469c, 0x86, 0x76, 0x4d, 0x5d, 0xd0, 0x72, 0xf8, 0x13) \
  X(IDMLBindingTable, kIidBindingTable, 0x29c687dc, 0xde74, 0x4e3b, 0xab, 0x00, 0x11, 0x68, 0xf2, 0xfc, 0x3c, 0xfc)    \
  X(IDMLCommandRecorder, kIidRecorder, 0xe6857a76, 0x2e3e, 0x4fdd, 0xbf, 0xf4, 0x5d, 0x2b, 0xa1, 0x0f, 0xb4, 0x53)     \
  X(IDMLDebugDevice, kIidDebugDevice, 0x7d6f3ac9, 0x394a, 0x4ac3, 0x92, 0xa7, 0x39, 0x0c, 0xc5, 0x7a, 0x82, 0x17)
#if DML2ONNX_TARGET_VERSION >= 0x2100
#define DML2ONNX_INTERFACES(X)   \
  DML2ONNX_INTERFACES_OF_1_0(X)  \
  X(IDMLDevice1, kIidDevice1, 0xa0884f9a, 0xd2be, 0x4355, 0xaa, 0x5d, 0x59, 0x01, 0x28, 0x1a, 0xd1, 0xd2)
#else
#define DML2ONNX_INTERFACES(X) DML2ONNX_INTERFACES_OF_1_0(X)
#endif

inline constexpr GUID kIidUnknown = {0x00000000, 0x0000, 0x0000, {0xC0, 0, 0, 0, 0, 0, 0, 0x46}};

// The GUID of a DirectML interface; undefined for other types.
template <typename Interface>
struct IidOf;

#define DML2ONNX_IID(Interface, name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8)          \
  inline constexpr GUID name = {l, w1, w2, {b1, b2, b3, b4, b5, b6, b7, b8}};             \
  template <>                                                                             \
  struct IidOf<Interface> {                                                               \
    static constexpr const GUID& Get() { return name; }                                   \
  };
DML2ONNX_INTERFACES(DML2ONNX_IID)
#undef DML2ONNX_IID

// Interfaces of the recorder: one that programs query, and those that identify its own objects. They change with the
// objects, since two libraries of one program may be compiled with different recorders.
inline constexpr GUID kIidOwnRecorder = {0x3f1c9f10, 0x6a34, 0x4b0e, {0x9d, 0x57, 0x8e, 0x0c, 0x2b, 0x61, 0xd4, 0x01}};
inline constexpr GUID kIidOwnOperator = {0x3f1c9f10, 0x6a34, 0x4b0e, {0x9d, 0x57, 0x8e, 0x0c, 0x2b, 0x61, 0xd4, 0x02}};
inline constexpr GUID kIidOwnCompiled = {0x3f1c9f10, 0x6a34, 0x4b0e, {0x9d, 0x57, 0x8e, 0x0c, 0x2b, 0x61, 0xd4, 0x03}};
inline constexpr GUID kIidOwnInitializer = {
    0x3f1c9f10, 0x6a34, 0x4b0e, {0x9d, 0x57, 0x8e, 0x0c, 0x2b, 0x61, 0xd4, 0x04}};
inline constexpr GUID kIidOwnBindingTable = {
    0x3f1c9f10, 0x6a34, 0x4b0e, {0x9d, 0x57, 0x8e, 0x0c, 0x2b, 0x61, 0xd4, 0x05}};

// From dxgi.h, which may be missing.
inline constexpr HRESULT kNotFound = static_cast<HRESULT>(0x887A0002u);
inline constexpr HRESULT kMoreData = static_cast<HRESULT>(0x887A0003u);
inline constexpr HRESULT kUnsupported = static_cast<HRESULT>(0x887A0004u);
inline constexpr HRESULT kAccessDenied = static_cast<HRESULT>(0x80070005u);

inline bool Same(const GUID& one, const GUID& other) { return std::memcmp(&one, &other, sizeof one) == 0; }

// A smart pointer that counts references.
template <typename T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* object) : object_(object) {
    if (object_ != nullptr) object_->AddRef();
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  ~Ref() {
    if (object_ != nullptr) object_->Release();
  }
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }

  // Takes over a counted reference.
  static Ref Adopt(T* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }

  T* Get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

  // The address for a method that returns an object; the pointer must be null.
  void** Out() { return reinterpret_cast<void**>(&object_); }

 private:
  T* object_ = nullptr;
};

// Queries an interface; returns null if the object lacks it. T must be the type of the GUID.
template <typename T>
Ref<T> As(IUnknown* object, const GUID& iid) {
  void* found = nullptr;
  if (object == nullptr || FAILED(object->QueryInterface(iid, &found))) return {};
  return Ref<T>::Adopt(static_cast<T*>(found));
}

// Private data of objects: bytes, and counted interfaces. As in ID3D12Object.
class PrivateData {
 public:
  HRESULT Get(REFGUID guid, UINT* size, void* data) {
    if (size == nullptr) return E_INVALIDARG;
    const std::lock_guard<std::mutex> lock(mutex_);
    const Entry* entry = Find(guid);
    if (entry == nullptr) {
      *size = 0;
      return kNotFound;
    }
    IUnknown* object = entry->object.Get();
    const UINT needed = object != nullptr ? UINT{sizeof object} : static_cast<UINT>(entry->bytes.size());
    const UINT capacity = std::exchange(*size, needed);
    if (data == nullptr) return S_OK;
    if (capacity < needed) return kMoreData;
    if (object != nullptr) {
      object->AddRef();
      std::memcpy(data, &object, sizeof object);
    } else {
      std::memcpy(data, entry->bytes.data(), needed);
    }
    return S_OK;
  }

  HRESULT Set(REFGUID guid, UINT size, const void* data) {
    if (data == nullptr && size != 0) return E_INVALIDARG;
    const auto* bytes = static_cast<const unsigned char*>(data);
    if (data == nullptr) return Put(guid, {}, {}, false);
    return Put(guid, std::vector<unsigned char>(bytes, bytes + size), {}, true);
  }

  HRESULT Set(REFGUID guid, IUnknown* object) { return Put(guid, {}, Ref<IUnknown>(object), object != nullptr); }

 private:
  struct Entry {
    GUID guid;
    std::vector<unsigned char> bytes;
    Ref<IUnknown> object;
  };

  Entry* Find(REFGUID guid) {
    for (Entry& entry : entries_) {
      if (Same(entry.guid, guid)) return &entry;
    }
    return nullptr;
  }

  HRESULT Put(REFGUID guid, std::vector<unsigned char> bytes, Ref<IUnknown> object, bool keep) {
    Entry old{};  // released last, after the lock
    const std::lock_guard<std::mutex> lock(mutex_);
    Entry* entry = Find(guid);
    if (!keep) {
      if (entry == nullptr) return S_OK;
      old = std::move(*entry);
      if (entry != &entries_.back()) *entry = std::move(entries_.back());
      entries_.pop_back();
    } else if (entry != nullptr) {
      old = std::exchange(*entry, Entry{guid, std::move(bytes), std::move(object)});
    } else {
      entries_.push_back({guid, std::move(bytes), std::move(object)});
    }
    return S_OK;
  }

  std::mutex mutex_;
  std::vector<Entry> entries_;
};

// An object with the interface `Interface`; `kIids` are the GUIDs of its bases. If it wraps a real object, that one
// stores private data and names, so that tools find them there.
template <typename Interface, const GUID&... kIids>
class Object : public Interface {
 public:
  using InterfaceType = Interface;

  explicit Object(IDMLObject* real) : realObject_(real) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** ppv) noexcept override {
    if (ppv == nullptr) return E_POINTER;
    *ppv = nullptr;
    if (!Same(riid, kIidUnknown) && !Same(riid, kIidObject) && !(Same(riid, kIids) || ...)) {
      return QueryOther(riid, ppv);
    }
    AddRef();
    *ppv = static_cast<Interface*>(this);
    return S_OK;
  }

  ULONG STDMETHODCALLTYPE AddRef() noexcept override { return references_.fetch_add(1, std::memory_order_relaxed) + 1; }

  ULONG STDMETHODCALLTYPE Release() noexcept override {
    const ULONG left = references_.fetch_sub(1, std::memory_order_acq_rel) - 1;
    if (left == 0) delete this;
    return left;
  }

  HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID guid, UINT* dataSize, void* data) noexcept override {
    if (realObject_) return realObject_->GetPrivateData(guid, dataSize, data);
    return Guarded([&] { return privateData_.Get(guid, dataSize, data); });
  }

  HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID guid, UINT dataSize, const void* data) noexcept override {
    if (realObject_) return realObject_->SetPrivateData(guid, dataSize, data);
    return Guarded([&] { return privateData_.Set(guid, dataSize, data); });
  }

  HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID guid, IUnknown* data) noexcept override {
    if (realObject_) return realObject_->SetPrivateDataInterface(guid, data);
    return Guarded([&] { return privateData_.Set(guid, data); });
  }

  HRESULT STDMETHODCALLTYPE SetName(PCWSTR name) noexcept override {
    if (realObject_) {
      const HRESULT result = realObject_->SetName(name);
      if (FAILED(result)) return result;
    }
    return Guarded([&] {
      Named(Utf8(name));
      return S_OK;
    });
  }

 protected:
  virtual ~Object() = default;

  // Hides other interfaces, also those of the real object: they would bypass the recorder, with objects of ours.
  virtual HRESULT QueryOther(REFIID riid, void**) {
    static constexpr std::uint32_t kOwn = 0x3f1c9f10;  // the start of all GUIDs of recorders
    if (realObject_ && riid.Data1 != kOwn && As<IUnknown>(realObject_.Get(), riid)) Hidden(riid);
    return E_NOINTERFACE;
  }

  // Called if the program queries an interface that the real object has and the recorder hides.
  virtual void Hidden(const GUID&) {}

  // Called if the program names the object; "" removes the name.
  virtual void Named(const std::string&) {}

 private:
  std::atomic<ULONG> references_{1};
  Ref<IDMLObject> realObject_;
  PrivateData privateData_;
};

// Returns our object behind a program's pointer; null if another device made it.
template <typename T>
Ref<T> Own(IUnknown* object) {
  Ref<typename T::InterfaceType> found = As<typename T::InterfaceType>(object, T::kIid);
  return Ref<T>(static_cast<T*>(found.Get()));
}

// Returns a new object to the program, with the success code `made` of the real device.
template <typename T>
HRESULT ReturnObject(Ref<T> object, HRESULT made, REFIID riid, void** ppv) {
  const HRESULT result = object->QueryInterface(riid, ppv);
  return FAILED(result) ? result : made;
}

inline std::string GuidText(const GUID& guid) {
  char text[40];
  const auto& last = guid.Data4;
  std::snprintf(text, sizeof text, "%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                static_cast<unsigned>(guid.Data1), unsigned{guid.Data2}, unsigned{guid.Data3}, unsigned{last[0]},
                unsigned{last[1]}, unsigned{last[2]}, unsigned{last[3]}, unsigned{last[4]}, unsigned{last[5]},
                unsigned{last[6]}, unsigned{last[7]});
  return text;
}

}  // namespace detail
}  // namespace dml2onnx
