// The parts of DirectML's interface that this program needs: names, GUIDs and layout as documented.
// https://learn.microsoft.com/windows/ai/directml/direct3d-directml-reference
#pragma once

#include <d3d12.h>

namespace dml {

struct OperatorDesc {
    UINT type;
    const void* desc;
};

struct GraphEdgeDesc {
    UINT type;
    const void* desc;
};
enum GraphEdgeType : UINT { kInputEdge = 1, kOutputEdge = 2, kIntermediateEdge = 3 };

struct InputEdgeDesc {
    UINT graph_input;
    UINT to_node;
    UINT to_input;
    const char* name;
};

struct OutputEdgeDesc {
    UINT from_node;
    UINT from_output;
    UINT graph_output;
    const char* name;
};

struct IntermediateEdgeDesc {
    UINT from_node;
    UINT from_output;
    UINT to_node;
    UINT to_input;
    const char* name;
};

struct GraphNodeDesc {
    UINT type;
    const void* desc;
};
enum GraphNodeType : UINT { kOperatorNode = 1, kConstantNode = 2 };

struct OperatorNodeDesc {
    IUnknown* op;
    const char* name;
};

struct ConstantNodeDesc {
    const void* data;
    SIZE_T size;
    const char* name;
};

struct GraphDesc {
    UINT input_count;
    UINT output_count;
    UINT node_count;
    const GraphNodeDesc* nodes;
    UINT input_edge_count;
    const GraphEdgeDesc* input_edges;
    UINT output_edge_count;
    const GraphEdgeDesc* output_edges;
    UINT intermediate_edge_count;
    const GraphEdgeDesc* intermediate_edges;
};

struct BindingProperties {
    UINT descriptors;
    UINT64 temporary_bytes;
    UINT64 persistent_bytes;
};

struct BufferBinding {
    ID3D12Resource* buffer;
    UINT64 offset;
    UINT64 size;
};

struct BufferArrayBinding {
    UINT count;
    const BufferBinding* bindings;
};

struct BindingDesc {
    UINT type;
    const void* desc;
};
enum BindingType : UINT { kNoBinding = 0, kBufferBinding = 1, kBufferArrayBinding = 2 };

struct FeatureLevelsQuery {
    UINT count;
    const UINT* levels;
};
constexpr UINT kFeatureLevels = 1;

struct Object : IUnknown {
    virtual HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID, UINT*, void*) = 0;
    virtual HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID, UINT, const void*) = 0;
    virtual HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID, IUnknown*) = 0;
    virtual HRESULT STDMETHODCALLTYPE SetName(PCWSTR) = 0;
};

struct DeviceChild : Object {
    virtual HRESULT STDMETHODCALLTYPE GetDevice(REFIID, void**) = 0;
};

// IDMLDispatchable returns its properties by value. Compilers for GNU and for Microsoft targets differ in how methods
// do that, so it is declared as Microsoft's compiles it: with a pointer to the result after `this`.
struct Dispatchable : DeviceChild {
    virtual void* STDMETHODCALLTYPE GetBindingProperties(BindingProperties*) = 0;

    BindingProperties properties() {
        BindingProperties result{};
        GetBindingProperties(&result);
        return result;
    }
};

struct BindingTableDesc {
    Dispatchable* dispatchable;
    D3D12_CPU_DESCRIPTOR_HANDLE cpu;
    D3D12_GPU_DESCRIPTOR_HANDLE gpu;
    UINT descriptors;
};

struct BindingTable : DeviceChild {
    virtual void STDMETHODCALLTYPE BindInputs(UINT, const BindingDesc*) = 0;
    virtual void STDMETHODCALLTYPE BindOutputs(UINT, const BindingDesc*) = 0;
    virtual void STDMETHODCALLTYPE BindTemporaryResource(const BindingDesc*) = 0;
    virtual void STDMETHODCALLTYPE BindPersistentResource(const BindingDesc*) = 0;
    virtual HRESULT STDMETHODCALLTYPE Reset(const BindingTableDesc*) = 0;
};

struct CommandRecorder : DeviceChild {
    virtual void STDMETHODCALLTYPE RecordDispatch(ID3D12CommandList*, Dispatchable*, BindingTable*) = 0;
};

struct Device : Object {
    virtual HRESULT STDMETHODCALLTYPE CheckFeatureSupport(UINT, UINT, const void*, UINT, void*) = 0;
    virtual HRESULT STDMETHODCALLTYPE CreateOperator(const OperatorDesc*, REFIID, void**) = 0;
    virtual HRESULT STDMETHODCALLTYPE CompileOperator(IUnknown*, UINT, REFIID, void**) = 0;
    virtual HRESULT STDMETHODCALLTYPE CreateOperatorInitializer(UINT, Dispatchable* const*, REFIID, void**) = 0;
    virtual HRESULT STDMETHODCALLTYPE CreateCommandRecorder(REFIID, void**) = 0;
    virtual HRESULT STDMETHODCALLTYPE CreateBindingTable(const BindingTableDesc*, REFIID, void**) = 0;
    virtual HRESULT STDMETHODCALLTYPE Evict(UINT, IUnknown* const*) = 0;
    virtual HRESULT STDMETHODCALLTYPE MakeResident(UINT, IUnknown* const*) = 0;
    virtual HRESULT STDMETHODCALLTYPE GetDeviceRemovedReason() = 0;
    virtual HRESULT STDMETHODCALLTYPE GetParentDevice(REFIID, void**) = 0;
    // IDMLDevice1
    virtual HRESULT STDMETHODCALLTYPE CompileGraph(const GraphDesc*, UINT, REFIID, void**) = 0;
};

constexpr IID kDevice = {0xa0884f9a, 0xd2be, 0x4355, {0xaa, 0x5d, 0x59, 0x01, 0x28, 0x1a, 0xd1, 0xd2}};
constexpr IID kOperator = {0x26caae7a, 0x3081, 0x4633, {0x95, 0x81, 0x22, 0x6f, 0xbe, 0x57, 0x69, 0x5d}};
constexpr IID kCompiledOperator = {0x6b15e56a, 0xbf5c, 0x4902, {0x92, 0xd8, 0xda, 0x3a, 0x65, 0x0a, 0xfe, 0xa4}};
constexpr IID kInitializer = {0x427c1113, 0x435c, 0x469c, {0x86, 0x76, 0x4d, 0x5d, 0xd0, 0x72, 0xf8, 0x13}};
constexpr IID kBindingTable = {0x29c687dc, 0xde74, 0x4e3b, {0xab, 0x00, 0x11, 0x68, 0xf2, 0xfc, 0x3c, 0xfc}};
constexpr IID kCommandRecorder = {0xe6857a76, 0x2e3e, 0x4fdd, {0xbf, 0xf4, 0x5d, 0x2b, 0xa1, 0x0f, 0xb4, 0x53}};

using CreateDevice = HRESULT(WINAPI*)(ID3D12Device*, UINT flags, UINT minimum_level, REFIID, void**);

}  // namespace dml
