// A D3D12 device with one compute queue, and DirectML's device on it.
#pragma once

#include "directml_api.h"
#include "handles.h"

class Gpu {
public:
    // `library` is DirectML.dll: a name that Windows searches for, or a path. Throws Failure.
    explicit Gpu(const char* library);

    dml::Device* directml() const { return directml_.get(); }
    ID3D12GraphicsCommandList* list() const { return list_.get(); }
    ID3D12DescriptorHeap* heap() const { return heap_.get(); }

    // Creates a buffer of at least 256 bytes. Throws Failure.
    Handle<ID3D12Resource> buffer(UINT64 size, D3D12_HEAP_TYPE type) const;
    // Ensures that the heap has at least this many descriptors.
    void reserve(UINT descriptors);
    void transition(ID3D12Resource* resource, D3D12_RESOURCE_STATES before, D3D12_RESOURCE_STATES after) const;
    void wait_for_writes() const;
    // Executes the command list, waits for it, and resets it.
    void run(const char* step);
    HRESULT removed() const;

private:
    void create_device();
    void create_queue();
    void create_directml(const char* library);

    Handle<ID3D12Device> device_;
    Handle<ID3D12CommandQueue> queue_;
    Handle<ID3D12CommandAllocator> allocator_;
    Handle<ID3D12GraphicsCommandList> list_;
    Handle<ID3D12Fence> fence_;
    Handle<ID3D12DescriptorHeap> heap_;
    Handle<dml::Device> directml_;
    UINT heap_size_ = 0;
    UINT64 fence_value_ = 0;
    HANDLE event_ = nullptr;
};
