// The part of d3d12.h that DirectML.h needs, for systems without one: a program that records without a real device
// compiles with Microsoft's DirectML.h and this. If there is another d3d12.h later in the include path, such as that of
// DirectX-Headers (directx-headers-dev in Debian) or mingw-w64, it is used instead. Not for Visual C++, whose SDK has
// the real one: leave this folder out of its include path.
//
//   c++ -std=c++17 -Irecorder -Irecorder/posix -I<directory of DirectML.h> program.cpp -pthread
//
// SPDX-License-Identifier: MIT
#if defined(__GNUC__)
#pragma GCC system_header  // #include_next is not standard C++
#endif
#if defined(_MSC_VER)
#error "recorder/posix is for systems without the Windows SDK: leave it out of the include path"
#elif __has_include_next(<d3d12.h>)
#include_next <d3d12.h>
#elif __has_include(<directx/d3d12.h>) && __has_include(<wsl/stubs/rpc.h>)
#include <directx/d3d12.h>
#elif !defined(DML2ONNX_POSIX_D3D12_H)
#define DML2ONNX_POSIX_D3D12_H

#include <cstddef>
#include <cstdint>
#include <cstring>

// --- Types of Windows, with the same widths ---

typedef std::int8_t INT8;
typedef std::int16_t INT16;
typedef std::int32_t INT32, INT, BOOL, LONG, HRESULT;
typedef std::int64_t INT64;
typedef std::uint8_t UINT8, BYTE;
typedef std::uint16_t UINT16;
typedef std::uint32_t UINT32, UINT, ULONG, DWORD;
typedef std::uint64_t UINT64;
typedef float FLOAT;
typedef double DOUBLE;
typedef std::size_t SIZE_T;
typedef char CHAR;
typedef wchar_t WCHAR;
typedef const char *LPCSTR, *PCSTR;
typedef const wchar_t *LPCWSTR, *PCWSTR;
typedef void *LPVOID, *HANDLE;

#define TRUE 1
#define FALSE 0

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

// --- Results ---

#define S_OK (static_cast<HRESULT>(0))
#define S_FALSE (static_cast<HRESULT>(1))
#define E_NOTIMPL (static_cast<HRESULT>(0x80004001u))
#define E_NOINTERFACE (static_cast<HRESULT>(0x80004002u))
#define E_POINTER (static_cast<HRESULT>(0x80004003u))
#define E_FAIL (static_cast<HRESULT>(0x80004005u))
#define E_UNEXPECTED (static_cast<HRESULT>(0x8000FFFFu))
#define E_ACCESSDENIED (static_cast<HRESULT>(0x80070005u))
#define E_OUTOFMEMORY (static_cast<HRESULT>(0x8007000Eu))
#define E_INVALIDARG (static_cast<HRESULT>(0x80070057u))
#define SUCCEEDED(result) ((result) >= 0)
#define FAILED(result) ((result) < 0)
#define DXGI_ERROR_NOT_FOUND (static_cast<HRESULT>(0x887A0002u))
#define DXGI_ERROR_MORE_DATA (static_cast<HRESULT>(0x887A0003u))
#define DXGI_ERROR_UNSUPPORTED (static_cast<HRESULT>(0x887A0004u))
#define DXGI_ERROR_DEVICE_REMOVED (static_cast<HRESULT>(0x887A0005u))

// --- Keywords of COM ---

#define interface struct
#define EXTERN_C extern "C"
#define STDMETHODCALLTYPE
#define STDAPICALLTYPE
#define STDAPI EXTERN_C HRESULT STDAPICALLTYPE
#define STDAPI_(type) EXTERN_C type STDAPICALLTYPE
#define STDMETHOD(method) virtual HRESULT STDMETHODCALLTYPE method
#define STDMETHOD_(type, method) virtual type STDMETHODCALLTYPE method
#define IFACEMETHOD(method) STDMETHOD(method)
#define IFACEMETHOD_(type, method) STDMETHOD_(type, method)
#define PURE = 0
#define DECLSPEC_UUID(iid)
#define DECLSPEC_NOVTABLE
#define WINAPI_FAMILY_PARTITION(partitions) 1
#define DEFINE_ENUM_FLAG_OPERATORS(T)                                                                                  \
  inline constexpr T operator|(T a, T b) { return T(static_cast<unsigned>(a) | static_cast<unsigned>(b)); }           \
  inline constexpr T operator&(T a, T b) { return T(static_cast<unsigned>(a) & static_cast<unsigned>(b)); }           \
  inline constexpr T operator^(T a, T b) { return T(static_cast<unsigned>(a) ^ static_cast<unsigned>(b)); }           \
  inline constexpr T operator~(T a) { return T(~static_cast<unsigned>(a)); }                                          \
  inline T& operator|=(T& a, T b) { return a = a | b; }                                                               \
  inline T& operator&=(T& a, T b) { return a = a & b; }                                                               \
  inline T& operator^=(T& a, T b) { return a = a ^ b; }

// The GUID of an interface; the recorder defines those of DirectML. Programs may specialize it for their own
// interfaces.
template <typename Interface>
const GUID& dml2onnx_uuidof();
template <typename T>
void** dml2onnx_ppv(T** ppv) {
  return reinterpret_cast<void**>(ppv);
}
#if !defined(__uuidof)
#define __uuidof(type) dml2onnx_uuidof<__typeof(type)>()
#endif
#define IID_PPV_ARGS(ppv) __uuidof(**(ppv)), dml2onnx_ppv(ppv)

interface IUnknown {
  virtual HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** ppv) = 0;
  virtual ULONG STDMETHODCALLTYPE AddRef() = 0;
  virtual ULONG STDMETHODCALLTYPE Release() = 0;
};
template <>
inline const GUID& dml2onnx_uuidof<IUnknown>() {
  static constexpr GUID iid = {0, 0, 0, {0xC0, 0, 0, 0, 0, 0, 0, 0x46}};
  return iid;
}

// --- The parts of Direct3D 12 that DirectML.h names, and buffers ---

struct D3D12_CPU_DESCRIPTOR_HANDLE {
  SIZE_T ptr;
};
struct D3D12_GPU_DESCRIPTOR_HANDLE {
  UINT64 ptr;
};
struct D3D12_RANGE {
  SIZE_T Begin, End;
};
enum D3D12_HEAP_TYPE {
  D3D12_HEAP_TYPE_DEFAULT = 1,
  D3D12_HEAP_TYPE_UPLOAD = 2,
  D3D12_HEAP_TYPE_READBACK = 3,
  D3D12_HEAP_TYPE_CUSTOM = 4,
};
enum D3D12_HEAP_FLAGS { D3D12_HEAP_FLAG_NONE = 0 };
enum D3D12_CPU_PAGE_PROPERTY {
  D3D12_CPU_PAGE_PROPERTY_UNKNOWN = 0,
  D3D12_CPU_PAGE_PROPERTY_NOT_AVAILABLE = 1,
  D3D12_CPU_PAGE_PROPERTY_WRITE_COMBINE = 2,
  D3D12_CPU_PAGE_PROPERTY_WRITE_BACK = 3,
};
enum D3D12_MEMORY_POOL { D3D12_MEMORY_POOL_UNKNOWN = 0 };
struct D3D12_HEAP_PROPERTIES {
  D3D12_HEAP_TYPE Type;
  D3D12_CPU_PAGE_PROPERTY CPUPageProperty;
  D3D12_MEMORY_POOL MemoryPoolPreference;
  UINT CreationNodeMask, VisibleNodeMask;
};
enum D3D12_RESOURCE_DIMENSION { D3D12_RESOURCE_DIMENSION_UNKNOWN = 0, D3D12_RESOURCE_DIMENSION_BUFFER = 1 };
enum DXGI_FORMAT { DXGI_FORMAT_UNKNOWN = 0 };
struct DXGI_SAMPLE_DESC {
  UINT Count, Quality;
};
enum D3D12_TEXTURE_LAYOUT { D3D12_TEXTURE_LAYOUT_UNKNOWN = 0, D3D12_TEXTURE_LAYOUT_ROW_MAJOR = 1 };
enum D3D12_RESOURCE_FLAGS { D3D12_RESOURCE_FLAG_NONE = 0 };
struct D3D12_RESOURCE_DESC {
  D3D12_RESOURCE_DIMENSION Dimension;
  UINT64 Alignment, Width;
  UINT Height;
  UINT16 DepthOrArraySize, MipLevels;
  DXGI_FORMAT Format;
  DXGI_SAMPLE_DESC SampleDesc;
  D3D12_TEXTURE_LAYOUT Layout;
  D3D12_RESOURCE_FLAGS Flags;
};
struct D3D12_BOX;

#define __ID3D12Object_INTERFACE_DEFINED__
interface ID3D12Object : IUnknown {
  virtual HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID guid, UINT* size, void* data) = 0;
  virtual HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID guid, UINT size, const void* data) = 0;
  virtual HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID guid, const IUnknown* data) = 0;
  virtual HRESULT STDMETHODCALLTYPE SetName(LPCWSTR name) = 0;
};
interface ID3D12DeviceChild : ID3D12Object {
  virtual HRESULT STDMETHODCALLTYPE GetDevice(REFIID riid, void** ppv) = 0;
};
interface ID3D12Pageable : ID3D12DeviceChild {};
#define __ID3D12Resource_INTERFACE_DEFINED__
interface ID3D12Resource : ID3D12Pageable {
  virtual HRESULT STDMETHODCALLTYPE Map(UINT subresource, const D3D12_RANGE* read, void** data) = 0;
  virtual void STDMETHODCALLTYPE Unmap(UINT subresource, const D3D12_RANGE* written) = 0;
  virtual D3D12_RESOURCE_DESC STDMETHODCALLTYPE GetDesc() = 0;
  virtual UINT64 STDMETHODCALLTYPE GetGPUVirtualAddress() = 0;
  virtual HRESULT STDMETHODCALLTYPE WriteToSubresource(UINT to, const D3D12_BOX* box, const void* data, UINT row,
                                                       UINT depth) = 0;
  virtual HRESULT STDMETHODCALLTYPE ReadFromSubresource(void* data, UINT row, UINT depth, UINT from,
                                                        const D3D12_BOX* box) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetHeapProperties(D3D12_HEAP_PROPERTIES* properties, D3D12_HEAP_FLAGS* flags) = 0;
};
// Only the names are needed; a program that calls them has a d3d12.h.
interface ID3D12Device;
interface ID3D12CommandList;
interface ID3D12DescriptorHeap;

#endif
