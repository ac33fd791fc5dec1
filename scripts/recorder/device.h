// The recording device.

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dml2onnx {
namespace detail {

#if DML2ONNX_TARGET_VERSION >= 0x2100
using DeviceInterface = IDMLDevice1;
#else
using DeviceInterface = IDMLDevice;
#endif

class DeviceObject;

// Interfaces of the device that do not derive from IDMLDevice; they share its reference count and identity.
class RecorderInterface final : public Recorder {
 public:
  explicit RecorderInterface(DeviceObject& device) : device_(device) {}
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** ppv) noexcept override;
  ULONG STDMETHODCALLTYPE AddRef() noexcept override;
  ULONG STDMETHODCALLTYPE Release() noexcept override;
  HRESULT STDMETHODCALLTYPE Constant(ID3D12Resource* buffer, const void* data, UINT64 bytes,
                                     UINT64 offset) noexcept override;
  HRESULT STDMETHODCALLTYPE ConstantInput(IDMLCompiledOperator* compiled, UINT input, const void* data,
                                          UINT64 bytes) noexcept override;
  HRESULT STDMETHODCALLTYPE NameBuffer(ID3D12Resource* buffer, const wchar_t* name) noexcept override;
  HRESULT STDMETHODCALLTYPE ForgetBuffer(ID3D12Resource* buffer) noexcept override;
  HRESULT STDMETHODCALLTYPE Flush() noexcept override;

 private:
  DeviceObject& device_;
};

class DebugInterface final : public IDMLDebugDevice {
 public:
  explicit DebugInterface(DeviceObject& device) : device_(device) {}
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** ppv) noexcept override;
  ULONG STDMETHODCALLTYPE AddRef() noexcept override;
  ULONG STDMETHODCALLTYPE Release() noexcept override;
  void STDMETHODCALLTYPE SetMuteDebugOutput(BOOL mute) noexcept override;

 private:
  DeviceObject& device_;
};

// Returns the lowest feature level with a data type; 0 for unknown types.
inline UINT LevelOf(std::int32_t dataType) {
  switch (BitsOf(dataType)) {
    case 0:
      return 0;
    case 4:
      return 0x6300;
    case 64:
      return 0x3000;
    default:
      return 0x1000;
  }
}

class DeviceObject final : public Object<DeviceInterface, kIidDevice> {
 public:
  DeviceObject(IDMLDevice* real, std::shared_ptr<Recording> recording)
      : Object(real),
        recording_(std::move(recording)),
        parent_(recording_->Options().parentDevice),
        real_(real),
        real1_(As<DeviceInterface>(real, kIidNewest)),
        realDebug_(As<IDMLDebugDevice>(real, kIidDebugDevice)) {}

  Recording& Record() const { return *recording_; }
  IDMLDebugDevice* RealDebug() const { return realDebug_.Get(); }

  HRESULT STDMETHODCALLTYPE CheckFeatureSupport(DML_FEATURE feature, UINT featureQueryDataSize,
                                                const void* featureQueryData, UINT featureSupportDataSize,
                                                void* featureSupportData) noexcept override {
    if (real_) {
      return real_->CheckFeatureSupport(feature, featureQueryDataSize, featureQueryData, featureSupportDataSize,
                                        featureSupportData);
    }
    return Guarded([&] {
      if (feature == DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT) {
        using Query = DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT;
        using Support = DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT;
        if (featureQueryData == nullptr || featureQueryDataSize != sizeof(Query) || featureSupportData == nullptr ||
            featureSupportDataSize != sizeof(Support)) {
          return E_INVALIDARG;
        }
        const UINT since = LevelOf(ReadAt<std::int32_t>(featureQueryData, offsetof(Query, DataType)));
        static_cast<Support*>(featureSupportData)->IsSupported = since != 0 && since <= Level() ? TRUE : FALSE;
        return S_OK;
      }
#if DML2ONNX_TARGET_VERSION >= 0x2000
      if (feature == DML_FEATURE_FEATURE_LEVELS) {
        using Query = DML_FEATURE_QUERY_FEATURE_LEVELS;
        using Support = DML_FEATURE_DATA_FEATURE_LEVELS;
        if (featureQueryData == nullptr || featureQueryDataSize != sizeof(Query) || featureSupportData == nullptr ||
            featureSupportDataSize != sizeof(Support)) {
          return E_INVALIDARG;
        }
        return HighestLevel(*static_cast<const Query*>(featureQueryData), *static_cast<Support*>(featureSupportData));
      }
#endif
      return kUnsupported;
    });
  }

  HRESULT STDMETHODCALLTYPE CreateOperator(const DML_OPERATOR_DESC* desc, REFIID riid, void** ppv) noexcept override {
    if (ppv != nullptr) *ppv = nullptr;
    return Guarded([&] {
      auto record = std::make_shared<OperatorRecord>();
      record->description = Describe(desc);
      std::string refusal = FirstOf(record->description.problems);
      HRESULT result = refusal.empty() ? S_OK : E_INVALIDARG;
      Ref<IDMLOperator> real;
      if (real_) {  // decides, since it may support more than this header
        result = real_->CreateOperator(desc, kIidOperator, Place(real, ppv));
        refusal = FAILED(result) ? Answered(refusal, result) : "";
      }
      recording_->AddOperator(record, refusal);
      if (IsNone(result, real, ppv)) return Without(result);
      return ReturnObject(Make<OperatorObject>(real.Get(), std::move(record)), result, riid, ppv);
    });
  }

  HRESULT STDMETHODCALLTYPE CompileOperator(IDMLOperator* op, DML_EXECUTION_FLAGS flags, REFIID riid,
                                            void** ppv) noexcept override {
    if (ppv != nullptr) *ppv = nullptr;
    return Guarded([&] {
      const Ref<OperatorObject> own = Own<OperatorObject>(op);
      const std::string foreign = op == nullptr ? "the operator to be compiled is null"
                                                : "the operator to be compiled was made by another device";
      if (!own && !real_) {
        recording_->Report(foreign);
        return E_INVALIDARG;
      }
      Ref<IDMLCompiledOperator> real;
      HRESULT result = S_OK;
      if (real_) {
        result = real_->CompileOperator(own ? own->Real() : op, flags, kIidCompiled,
                                        Place(real, ppv));
        if (FAILED(result)) {
          recording_->Report("the real device does not compile an operator: " + HexText(result));
          return result;
        }
      }
      const auto record = own ? own->Operator() : std::make_shared<const OperatorRecord>();
      GraphRecord compiled = GraphOfOne(record);
      if (!own) compiled.problem = foreign;
      auto graph = recording_->AddGraph(std::move(compiled), {}, record->name, static_cast<bool>(real_));
      if (IsNone(result, real, ppv)) return Without(result);
      return ReturnObject(Make<CompiledObject>(real.Get(), std::move(graph)), result, riid, ppv);
    });
  }

  HRESULT STDMETHODCALLTYPE CreateOperatorInitializer(UINT operatorCount, IDMLCompiledOperator* const* operators,
                                                      REFIID riid, void** ppv) noexcept override {
    if (ppv == nullptr && !real_) return E_POINTER;
    if (ppv != nullptr) *ppv = nullptr;
    return Guarded([&] {
      NamedOperators named = NamedBy(operatorCount, operators);
      if (!named.problem.empty()) {
        recording_->Report(named.problem);
        if (!real_) return E_INVALIDARG;
      }
      Ref<IDMLOperatorInitializer> real;
      const HRESULT result = real_ ? real_->CreateOperatorInitializer(operatorCount, named.RealOf(operators),
                                                                      kIidInitializer, Place(real, ppv))
                                   : S_OK;
      if (IsNone(result, real, ppv)) return result;
      return ReturnObject(Make<InitializerObject>(real.Get(), std::move(named.own)), result, riid, ppv);
    });
  }

  HRESULT STDMETHODCALLTYPE CreateCommandRecorder(REFIID riid, void** ppv) noexcept override {
    if (ppv == nullptr && !real_) return E_POINTER;
    if (ppv != nullptr) *ppv = nullptr;
    return Guarded([&] {
      Ref<IDMLCommandRecorder> real;
      const HRESULT result = real_ ? real_->CreateCommandRecorder(kIidRecorder, Place(real, ppv)) : S_OK;
      if (IsNone(result, real, ppv)) return result;
      return ReturnObject(Make<CommandRecorderObject>(real.Get()), result, riid, ppv);
    });
  }

  HRESULT STDMETHODCALLTYPE CreateBindingTable(const DML_BINDING_TABLE_DESC* desc, REFIID riid,
                                               void** ppv) noexcept override {
    if (ppv == nullptr && !real_) return E_POINTER;
    if (ppv != nullptr) *ppv = nullptr;
    return Guarded([&] {
      Ref<IDMLBindingTable> real;
      HRESULT result = S_OK;
      if (real_) {
        DML_BINDING_TABLE_DESC unwrapped{};
        if (desc != nullptr) {
          unwrapped = *desc;
          unwrapped.Dispatchable = NamedDispatchable(desc->Dispatchable).real;
        }
        result = real_->CreateBindingTable(desc == nullptr ? nullptr : &unwrapped, kIidBindingTable, Place(real, ppv));
        if (IsNone(result, real, ppv)) return result;
      } else if (desc != nullptr && desc->Dispatchable == nullptr) {
        recording_->Report("the dispatchable of a binding table is null");
        return E_INVALIDARG;
      }
      return ReturnObject(Make<BindingTableObject>(real.Get()), result, riid, ppv);
    });
  }

  HRESULT STDMETHODCALLTYPE Evict(UINT count, IDMLPageable* const* ppObjects) noexcept override {
    return Move(count, ppObjects, &IDMLDevice::Evict);
  }

  HRESULT STDMETHODCALLTYPE MakeResident(UINT count, IDMLPageable* const* ppObjects) noexcept override {
    return Move(count, ppObjects, &IDMLDevice::MakeResident);
  }

  HRESULT STDMETHODCALLTYPE GetDeviceRemovedReason() noexcept override {
    return real_ ? real_->GetDeviceRemovedReason() : S_OK;
  }

  HRESULT STDMETHODCALLTYPE GetParentDevice(REFIID riid, void** ppv) noexcept override {
    if (real_) return real_->GetParentDevice(riid, ppv);
    if (ppv == nullptr) return E_POINTER;
    *ppv = nullptr;
    return parent_ ? parent_->QueryInterface(riid, ppv) : E_NOINTERFACE;
  }

#if DML2ONNX_TARGET_VERSION >= 0x2100
  HRESULT STDMETHODCALLTYPE CompileGraph(const DML_GRAPH_DESC* desc, DML_EXECUTION_FLAGS flags, REFIID riid,
                                         void** ppv) noexcept override {
    if (ppv != nullptr) *ppv = nullptr;
    return Guarded([&] {
      GraphParts parts = GraphReader::Read(desc, [](IDMLOperator* op) {
        const Ref<OperatorObject> own = Own<OperatorObject>(op);
        return own ? own->Operator() : nullptr;
      });
      parts.graph.problem = parts.problem;
      Ref<IDMLCompiledOperator> real;
      HRESULT result = S_OK;
      if (real1_) {
        result = CompileReal(desc, flags, Place(real, ppv));
        if (FAILED(result)) parts.graph.problem = Answered(parts.problem, result);
      }
      const bool taken = real1_ && SUCCEEDED(result);
      auto graph = recording_->AddGraph(std::move(parts.graph), parts.data, "", taken);
      if (FAILED(result)) return result;
      if (!graph->problem.empty()) return E_INVALIDARG;
      if (IsNone(result, real, ppv)) return Without(result);
      return ReturnObject(Make<CompiledObject>(real.Get(), std::move(graph)), result, riid, ppv);
    });
  }
#endif

 protected:
  HRESULT QueryOther(REFIID riid, void** ppv) override {
#if DML2ONNX_TARGET_VERSION >= 0x2100
    if (Same(riid, kIidDevice1) && (!real_ || real1_)) return Found(static_cast<DeviceInterface*>(this), ppv);
#endif
    if (Same(riid, kIidOwnRecorder)) return Found(static_cast<Recorder*>(&recorderInterface_), ppv);
    if (Same(riid, kIidDebugDevice) && (!real_ || realDebug_)) {
      return Found(static_cast<IDMLDebugDevice*>(&debugInterface_), ppv);
    }
    return Object::QueryOther(riid, ppv);
  }
  void Hidden(const GUID& iid) override { recording_->NoteHidden(iid); }

 private:
#if DML2ONNX_TARGET_VERSION >= 0x2100
  static constexpr const GUID& kIidNewest = kIidDevice1;
#else
  static constexpr const GUID& kIidNewest = kIidDevice;
#endif

  UINT Level() const { return recording_->Options().featureLevel; }

  template <typename Interface>
  static HRESULT Found(Interface* object, void** ppv) {
    object->AddRef();
    *ppv = object;
    return S_OK;
  }

  template <typename T, typename... Arguments>
  Ref<T> Make(Arguments&&... arguments) {
    return Ref<T>::Adopt(new T(Owner{Ref<IDMLDevice>(this), recording_}, std::forward<Arguments>(arguments)...));
  }

  static std::string FirstOf(const std::vector<std::string>& problems) {
    return problems.empty() ? "" : problems.front();
  }

  // Returns whether a call creates no object, because the real device created none.
  template <typename T>
  bool IsNone(HRESULT result, const Ref<T>& real, void** ppv) const {
    return FAILED(result) || ppv == nullptr || (real_ && !real);
  }

  // Returns the result for a program that only tests whether an object could be created.
  HRESULT Without(HRESULT result) const { return FAILED(result) || real_ ? result : S_FALSE; }

  // Returns the address for the object of the real device; null if the program passes null.
  template <typename T>
  static void** Place(Ref<T>& real, void** ppv) {
    return ppv == nullptr ? nullptr : real.Out();
  }

  static std::string Answered(const std::string& problem, HRESULT result) {
    return (problem.empty() ? "" : problem + "; ") + ("the real device answers " + HexText(result));
  }

  static std::string HexText(HRESULT result) {
    char text[16];
    std::snprintf(text, sizeof text, "%08X", static_cast<unsigned>(result));
    return text;
  }

#if DML2ONNX_TARGET_VERSION >= 0x2000
  HRESULT HighestLevel(const DML_FEATURE_QUERY_FEATURE_LEVELS& query, DML_FEATURE_DATA_FEATURE_LEVELS& support) const {
    if (query.RequestedFeatureLevelCount == 0 || query.RequestedFeatureLevels == nullptr) return E_INVALIDARG;
    UINT highest = 0;
    for (UINT index = 0; index < query.RequestedFeatureLevelCount; ++index) {
      const auto level = static_cast<UINT>(query.RequestedFeatureLevels[index]);
      if (level <= Level()) highest = std::max(highest, level);
    }
    if (highest == 0) return kUnsupported;
    support.MaxSupportedFeatureLevel = static_cast<DML_FEATURE_LEVEL>(highest);
    return S_OK;
  }
#endif

#if DML2ONNX_TARGET_VERSION >= 0x2100
  // Compiles the graph with the real device's operators instead of ours.
  HRESULT CompileReal(const DML_GRAPH_DESC* given, DML_EXECUTION_FLAGS flags, void** ppv) {
    if (given == nullptr || given->Nodes == nullptr) return real1_->CompileGraph(given, flags, kIidCompiled, ppv);
    DML_GRAPH_DESC desc = *given;
    std::vector<DML_GRAPH_NODE_DESC> nodes(desc.Nodes, desc.Nodes + desc.NodeCount);
    std::vector<DML_OPERATOR_GRAPH_NODE_DESC> descs;
    descs.reserve(nodes.size());  // nodes point into it
    for (DML_GRAPH_NODE_DESC& node : nodes) {
      const auto type = ReadAt<std::int32_t>(&node, offsetof(DML_GRAPH_NODE_DESC, Type));
      if (type != DML_GRAPH_NODE_TYPE_OPERATOR || node.Desc == nullptr) continue;
      descs.push_back(*static_cast<const DML_OPERATOR_GRAPH_NODE_DESC*>(node.Desc));
      if (const Ref<OperatorObject> own = Own<OperatorObject>(descs.back().Operator)) {
        descs.back().Operator = own->Real();
      }
      node.Desc = &descs.back();
    }
    desc.Nodes = nodes.data();
    return real1_->CompileGraph(&desc, flags, kIidCompiled, ppv);
  }
#endif

  using MoveMethod = HRESULT (STDMETHODCALLTYPE IDMLDevice::*)(UINT, IDMLPageable* const*);

  HRESULT Move(UINT count, IDMLPageable* const* objects, MoveMethod method) noexcept {
    return Guarded([&] {
      if (real_ && objects == nullptr) return (real_.Get()->*method)(count, objects);
      if (objects == nullptr && count != 0) return E_INVALIDARG;
      std::vector<IDMLPageable*> real;
      for (UINT index = 0; index < count; ++index) {
        if (objects[index] == nullptr && !real_) return E_INVALIDARG;
        const Ref<IDMLDispatchable> dispatchable = As<IDMLDispatchable>(objects[index], kIidDispatchable);
        const IDMLPageable* own = dispatchable ? NamedDispatchable(dispatchable.Get()).real : nullptr;
        real.push_back(own == nullptr ? objects[index] : const_cast<IDMLPageable*>(own));
      }
      return real_ ? (real_.Get()->*method)(count, real.data()) : S_OK;
    });
  }

  const std::shared_ptr<Recording> recording_;
  const Ref<IUnknown> parent_;
  const Ref<IDMLDevice> real_;
  const Ref<DeviceInterface> real1_;
  const Ref<IDMLDebugDevice> realDebug_;
  RecorderInterface recorderInterface_{*this};
  DebugInterface debugInterface_{*this};
};

inline HRESULT RecorderInterface::QueryInterface(REFIID riid, void** ppv) noexcept {
  return device_.QueryInterface(riid, ppv);
}
inline ULONG RecorderInterface::AddRef() noexcept { return device_.AddRef(); }
inline ULONG RecorderInterface::Release() noexcept { return device_.Release(); }
inline HRESULT RecorderInterface::Constant(ID3D12Resource* buffer, const void* data, UINT64 bytes,
                                           UINT64 offset) noexcept {
  return Guarded([&] { return device_.Record().Constant(buffer, data, bytes, offset); });
}
inline HRESULT RecorderInterface::ConstantInput(IDMLCompiledOperator* compiled, UINT input, const void* data,
                                                UINT64 bytes) noexcept {
  return Guarded([&] {
    const Ref<CompiledObject> own = Own<CompiledObject>(compiled);
    return own ? device_.Record().Constant(own->Graph(), input, data, bytes) : E_INVALIDARG;
  });
}
inline HRESULT RecorderInterface::NameBuffer(ID3D12Resource* buffer, const wchar_t* name) noexcept {
  return Guarded([&] { return device_.Record().NameBuffer(buffer, Utf8(name)); });
}
inline HRESULT RecorderInterface::ForgetBuffer(ID3D12Resource* buffer) noexcept {
  return Guarded([&] { return device_.Record().ForgetBuffer(buffer); });
}
inline HRESULT RecorderInterface::Flush() noexcept {
  return Guarded([&] { return device_.Record().Flush(); });
}

inline HRESULT DebugInterface::QueryInterface(REFIID riid, void** ppv) noexcept {
  return device_.QueryInterface(riid, ppv);
}
inline ULONG DebugInterface::AddRef() noexcept { return device_.AddRef(); }
inline ULONG DebugInterface::Release() noexcept { return device_.Release(); }
inline void DebugInterface::SetMuteDebugOutput(BOOL mute) noexcept {
  if (device_.RealDebug() != nullptr) device_.RealDebug()->SetMuteDebugOutput(mute);
}

}  // namespace detail

inline HRESULT CreateRecordingDevice(IDMLDevice* real, const RecordingOptions& options, REFIID riid,
                                     void** ppv) noexcept {
  if (ppv == nullptr) return E_POINTER;
  *ppv = nullptr;
  return detail::Guarded([&] {
    std::shared_ptr<detail::Recording> recording = detail::Recording::Open(options, real != nullptr);
    if (!recording) return detail::kAccessDenied;
    const auto device = detail::Ref<detail::DeviceObject>::Adopt(new detail::DeviceObject(real, std::move(recording)));
    return device->QueryInterface(riid, ppv);
  });
}

inline HRESULT GetRecorder(IUnknown* device, Recorder** recorder) noexcept {
  if (recorder == nullptr) return E_POINTER;
  *recorder = nullptr;
  if (device == nullptr) return E_INVALIDARG;
  return device->QueryInterface(detail::kIidOwnRecorder, reinterpret_cast<void**>(recorder));
}

}  // namespace dml2onnx
