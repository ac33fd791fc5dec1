#include <initguid.h>

#include "gpu.h"

namespace {

constexpr DWORD kPatienceMs = 120000;
constexpr UINT kLeastDescriptors = 4096;
constexpr UINT kFeatureLevel1 = 0x1000;

// Wine returns E_NOTIMPL for the enumeration of meta commands, and DMLCreateDevice1 passes that on. A driver without
// meta commands returns none.
HRESULT STDMETHODCALLTYPE no_meta_commands(void*, UINT* count, void*) {
    *count = 0;
    return S_OK;
}

void mend_meta_commands(ID3D12Device* device) {
    constexpr int kEnumerateMetaCommands = 59;  // index in the function table of ID3D12Device5
    Handle<ID3D12Device5> newer;
    if (FAILED(device->QueryInterface(IID_ID3D12Device5, newer.out()))) return;
    UINT count = 0;
    if (newer->EnumerateMetaCommands(&count, nullptr) != E_NOTIMPL) return;
    void** slot = *reinterpret_cast<void***>(newer.get()) + kEnumerateMetaCommands;
    DWORD old;
    VirtualProtect(slot, sizeof *slot, PAGE_READWRITE, &old);
    *slot = reinterpret_cast<void*>(no_meta_commands);
    VirtualProtect(slot, sizeof *slot, old, &old);
}

template <class Function>
Function function_of(const char* library, const char* name) {
    HMODULE module = LoadLibraryA(library);
    if (!module) throw Failure{HRESULT_FROM_WIN32(GetLastError()), library};
    auto function = reinterpret_cast<Function>(reinterpret_cast<void*>(GetProcAddress(module, name)));
    if (!function) throw Failure{HRESULT_FROM_WIN32(GetLastError()), name};
    return function;
}

}  // namespace

Gpu::Gpu(const char* library) {
    create_device();
    mend_meta_commands(device_.get());
    create_queue();
    create_directml(library);
}

void Gpu::create_device() {
    using Create = HRESULT(WINAPI*)(IUnknown*, D3D_FEATURE_LEVEL, REFIID, void**);
    auto create = function_of<Create>("d3d12.dll", "D3D12CreateDevice");
    require(create(nullptr, D3D_FEATURE_LEVEL_11_0, IID_ID3D12Device, device_.out()), "D3D12CreateDevice");
}

void Gpu::create_queue() {
    D3D12_COMMAND_QUEUE_DESC desc{};
    desc.Type = D3D12_COMMAND_LIST_TYPE_COMPUTE;
    require(device_->CreateCommandQueue(&desc, IID_ID3D12CommandQueue, queue_.out()), "CreateCommandQueue");
    require(device_->CreateCommandAllocator(desc.Type, IID_ID3D12CommandAllocator, allocator_.out()),
            "CreateCommandAllocator");
    require(device_->CreateCommandList(0, desc.Type, allocator_.get(), nullptr, IID_ID3D12GraphicsCommandList,
                                       list_.out()),
            "CreateCommandList");
    require(device_->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_ID3D12Fence, fence_.out()), "CreateFence");
    event_ = CreateEventA(nullptr, FALSE, FALSE, nullptr);
}

void Gpu::create_directml(const char* library) {
    auto create = function_of<dml::CreateDevice>(library, "DMLCreateDevice1");
    require(create(device_.get(), 0, kFeatureLevel1, dml::kDevice, directml_.out()), "DMLCreateDevice1");
}

Handle<ID3D12Resource> Gpu::buffer(UINT64 size, D3D12_HEAP_TYPE type) const {
    D3D12_HEAP_PROPERTIES heap{};
    heap.Type = type;
    heap.CreationNodeMask = heap.VisibleNodeMask = 1;
    D3D12_RESOURCE_DESC desc{};
    desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
    desc.Width = size < 256 ? 256 : (size + 255) / 256 * 256;
    desc.Height = 1;
    desc.DepthOrArraySize = 1;
    desc.MipLevels = 1;
    desc.SampleDesc.Count = 1;
    desc.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
    auto state = D3D12_RESOURCE_STATE_COMMON;
    if (type == D3D12_HEAP_TYPE_DEFAULT) desc.Flags = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS;
    if (type == D3D12_HEAP_TYPE_UPLOAD) state = D3D12_RESOURCE_STATE_GENERIC_READ;
    if (type == D3D12_HEAP_TYPE_READBACK) state = D3D12_RESOURCE_STATE_COPY_DEST;
    Handle<ID3D12Resource> result;
    require(device_->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc, state, nullptr, IID_ID3D12Resource,
                                             result.out()),
            "CreateCommittedResource");
    return result;
}

void Gpu::reserve(UINT descriptors) {
    if (heap_ && heap_size_ >= descriptors) return;
    heap_size_ = descriptors < kLeastDescriptors ? kLeastDescriptors : descriptors;
    D3D12_DESCRIPTOR_HEAP_DESC desc{};
    desc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
    desc.NumDescriptors = heap_size_;
    desc.Flags = D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE;
    require(device_->CreateDescriptorHeap(&desc, IID_ID3D12DescriptorHeap, heap_.out()), "CreateDescriptorHeap");
}

void Gpu::transition(ID3D12Resource* resource, D3D12_RESOURCE_STATES before, D3D12_RESOURCE_STATES after) const {
    D3D12_RESOURCE_BARRIER barrier{};
    barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
    barrier.Transition.pResource = resource;
    barrier.Transition.Subresource = D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES;
    barrier.Transition.StateBefore = before;
    barrier.Transition.StateAfter = after;
    list_->ResourceBarrier(1, &barrier);
}

void Gpu::wait_for_writes() const {
    D3D12_RESOURCE_BARRIER barrier{};
    barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
    list_->ResourceBarrier(1, &barrier);
}

void Gpu::run(const char* step) {
    require(list_->Close(), step);
    ID3D12CommandList* lists[] = {list_.get()};
    queue_->ExecuteCommandLists(1, lists);
    require(queue_->Signal(fence_.get(), ++fence_value_), step);
    if (fence_->GetCompletedValue() < fence_value_) {
        require(fence_->SetEventOnCompletion(fence_value_, event_), step);
        if (WaitForSingleObject(event_, kPatienceMs) != WAIT_OBJECT_0) throw Failure{HRESULT_FROM_WIN32(WAIT_TIMEOUT), step};
    }
    require(device_->GetDeviceRemovedReason(), step);
    require(allocator_->Reset(), step);
    require(list_->Reset(allocator_.get(), nullptr), step);
}

HRESULT Gpu::removed() const { return directml_->GetDeviceRemovedReason(); }
