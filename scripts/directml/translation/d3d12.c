// d3d12.dll over the vkd3d in Wine's sources, built with shaders of model 6 (DXIL), which Wine's own is built without.
//
// Besides, EnumerateMetaCommands answers that there are none, where vkd3d has E_NOTIMPL and DirectML gives up.
#define COBJMACROS
#include <initguid.h>
#include <windows.h>
#include <dxgi.h>
#include <vkd3d.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static HRESULT signal_event(HANDLE event) { return SetEvent(event) ? S_OK : E_FAIL; }

// The adapter that was asked for, else the first; DirectML looks for it by the LUID of the device.
static IDXGIAdapter *chosen_adapter(IUnknown *wanted)
{
    IDXGIAdapter *adapter = NULL;
    IDXGIFactory1 *factory;
    if (wanted)
        return SUCCEEDED(IUnknown_QueryInterface(wanted, &IID_IDXGIAdapter, (void **)&adapter)) ? adapter : NULL;
    if (FAILED(CreateDXGIFactory1(&IID_IDXGIFactory1, (void **)&factory)))
        return NULL;
    if (FAILED(IDXGIFactory1_EnumAdapters(factory, 0, &adapter)))
        adapter = NULL;
    IDXGIFactory1_Release(factory);
    return adapter;
}

static HRESULT STDMETHODCALLTYPE no_meta_commands(ID3D12Device5 *device, UINT *count, D3D12_META_COMMAND_DESC *descs)
{
    *count = 0;
    return S_OK;
}

// All devices have one table of functions.
static void mend_meta_commands(ID3D12Device *device)
{
    ID3D12Device5 *newer;
    DWORD old;
    if (FAILED(ID3D12Device_QueryInterface(device, &IID_ID3D12Device5, (void **)&newer)))
        return;
    void *slot = &newer->lpVtbl->EnumerateMetaCommands;
    VirtualProtect(slot, sizeof(void *), PAGE_READWRITE, &old);
    *(void **)slot = (void *)no_meta_commands;
    VirtualProtect(slot, sizeof(void *), old, &old);
    ID3D12Device5_Release(newer);
}

HRESULT WINAPI D3D12CreateDevice(IUnknown *wanted, D3D_FEATURE_LEVEL level, REFIID iid, void **result)
{
    static const char *const instance_extensions[] = {"VK_KHR_surface", "VK_KHR_win32_surface"};
    static const char *const optional_extensions[] = {
        "VK_KHR_external_memory_capabilities", "VK_KHR_get_physical_device_properties2"};
    static const char *const device_extensions[] = {"VK_KHR_swapchain"};
    static const struct vkd3d_application_info application = {
        .type = VKD3D_STRUCTURE_TYPE_APPLICATION_INFO, .api_version = VKD3D_API_VERSION_1_2};
    struct vkd3d_optional_instance_extensions_info optional = {
        .type = VKD3D_STRUCTURE_TYPE_OPTIONAL_INSTANCE_EXTENSIONS_INFO,
        .next = &application,
        .extensions = optional_extensions,
        .extension_count = COUNT(optional_extensions)};
    struct vkd3d_instance_create_info instance = {
        .type = VKD3D_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .next = &optional,
        .pfn_signal_event = signal_event,
        .wchar_size = sizeof(WCHAR),
        .instance_extensions = instance_extensions,
        .instance_extension_count = COUNT(instance_extensions)};
    struct vkd3d_device_create_info info = {
        .type = VKD3D_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .minimum_feature_level = level,
        .instance_create_info = &instance,
        .device_extensions = device_extensions,
        .device_extension_count = COUNT(device_extensions)};
    HMODULE vulkan = LoadLibraryA("vulkan-1.dll");
    IDXGIAdapter *adapter = chosen_adapter(wanted);
    DXGI_ADAPTER_DESC desc;
    ID3D12Device *device;
    HRESULT hr;

    if (!vulkan || !adapter)
        return E_FAIL;
    instance.pfn_vkGetInstanceProcAddr = (void *)GetProcAddress(vulkan, "vkGetInstanceProcAddr");
    if (SUCCEEDED(IDXGIAdapter_GetDesc(adapter, &desc)))
        info.adapter_luid = desc.AdapterLuid;
    info.parent = (IUnknown *)adapter;
    hr = vkd3d_create_device(&info, &IID_ID3D12Device, (void **)&device);
    IDXGIAdapter_Release(adapter);
    if (FAILED(hr))
        return hr;
    mend_meta_commands(device);
    if (result)
        hr = ID3D12Device_QueryInterface(device, iid, result);
    ID3D12Device_Release(device);
    return result ? hr : S_FALSE;
}

HRESULT WINAPI D3D12GetDebugInterface(REFIID iid, void **debug) { return E_NOTIMPL; }

HRESULT WINAPI D3D12EnableExperimentalFeatures(UINT count, const IID *features, void *config, UINT *sizes)
{
    return count ? E_NOINTERFACE : S_OK;
}

HRESULT WINAPI D3D12CreateRootSignatureDeserializer(const void *data, SIZE_T size, REFIID iid, void **result)
{
    return vkd3d_create_root_signature_deserializer(data, size, iid, result);
}

HRESULT WINAPI D3D12CreateVersionedRootSignatureDeserializer(const void *data, SIZE_T size, REFIID iid, void **result)
{
    return vkd3d_create_versioned_root_signature_deserializer(data, size, iid, result);
}

HRESULT WINAPI D3D12SerializeRootSignature(
    const D3D12_ROOT_SIGNATURE_DESC *desc, D3D_ROOT_SIGNATURE_VERSION version, ID3DBlob **blob, ID3DBlob **errors)
{
    return vkd3d_serialize_root_signature(desc, version, blob, errors);
}

HRESULT WINAPI D3D12SerializeVersionedRootSignature(
    const D3D12_VERSIONED_ROOT_SIGNATURE_DESC *desc, ID3DBlob **blob, ID3DBlob **errors)
{
    return vkd3d_serialize_versioned_root_signature(desc, blob, errors);
}
