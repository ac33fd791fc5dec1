// The objects of a device. Each wraps a real one, or replaces it.

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace dml2onnx {
namespace detail {

// The device of an object.
struct Owner {
  Ref<IDMLDevice> device;  // ours
  std::shared_ptr<Recording> recording;
};

template <typename Interface, const GUID&... kIids>
class Child : public Object<Interface, kIidDeviceChild, kIids...> {
 public:
  Child(Owner owner, Interface* real)
      : Object<Interface, kIidDeviceChild, kIids...>(real), owner_(std::move(owner)), real_(real) {}

  HRESULT STDMETHODCALLTYPE GetDevice(REFIID riid, void** ppv) noexcept override {
    return owner_.device->QueryInterface(riid, ppv);
  }

  Interface* Real() const { return real_.Get(); }

 protected:
  Recording& Record() const { return *owner_.recording; }
  void Hidden(const GUID& iid) override { Record().NoteHidden(iid); }

 private:
  const Owner owner_;
  const Ref<Interface> real_;
};

class OperatorObject final : public Child<IDMLOperator, kIidOperator, kIidOwnOperator> {
 public:
  static constexpr const GUID& kIid = kIidOwnOperator;

  OperatorObject(Owner owner, IDMLOperator* real, std::shared_ptr<const OperatorRecord> record)
      : Child(std::move(owner), real), record_(std::move(record)) {}

  std::shared_ptr<const OperatorRecord> Operator() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return record_;
  }

 protected:
  void Named(const std::string& name) override {
    auto renamed = std::make_shared<OperatorRecord>(*Operator());
    renamed->name = name;
    const std::lock_guard<std::mutex> lock(mutex_);
    record_ = std::move(renamed);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const OperatorRecord> record_;
};

// Returns plausible binding properties: the sizes of intermediate and owned tensors, with the alignment that all
// devices have.
inline DML_BINDING_PROPERTIES PropertiesOf(const GraphRecord& graph) {
  UINT64 temporary = 0, persistent = 0;
  for (const EdgeRecord& edge : graph.intermediates) {
    const TensorFacts* tensor = graph.OutputOf(edge.ends[0], edge.ends[1]);
    if (tensor != nullptr) temporary += RoundUp(tensor->bytes, DML_TEMPORARY_BUFFER_ALIGNMENT);
  }
  for (UINT index = 0; index < graph.inputPoints.size() && index < graph.inputCount; ++index) {
    const TensorFacts* tensor = graph.GraphInput(index);
    if (tensor != nullptr && tensor->ownedByDml) persistent += RoundUp(tensor->bytes, DML_PERSISTENT_BUFFER_ALIGNMENT);
  }
  return {graph.inputCount + graph.outputCount + 2, temporary, persistent};
}

class CompiledObject final
    : public Child<IDMLCompiledOperator, kIidPageable, kIidDispatchable, kIidCompiled, kIidOwnCompiled> {
 public:
  static constexpr const GUID& kIid = kIidOwnCompiled;

  CompiledObject(Owner owner, IDMLCompiledOperator* real, std::shared_ptr<GraphRecord> graph)
      : Child(std::move(owner), real), graph_(std::move(graph)), properties_(PropertiesOf(*graph_)) {}

  DML_BINDING_PROPERTIES STDMETHODCALLTYPE GetBindingProperties() noexcept override {
    return Real() != nullptr ? Real()->GetBindingProperties() : properties_;
  }

  const std::shared_ptr<GraphRecord>& Graph() const { return graph_; }
  const DML_BINDING_PROPERTIES& Properties() const { return properties_; }

 protected:
  void Named(const std::string& name) override { Record().Rename(graph_, name); }

 private:
  const std::shared_ptr<GraphRecord> graph_;
  const DML_BINDING_PROPERTIES properties_;
};

using CompiledOperators = std::vector<Ref<CompiledObject>>;

// The compiled operators that a program passes, and their real ones. Those of other devices are passed on, and null in
// the first list.
struct NamedOperators {
  CompiledOperators own;
  std::vector<IDMLCompiledOperator*> real;
  std::string problem;

  // Returns the array to pass to the real device.
  IDMLCompiledOperator* const* RealOf(IDMLCompiledOperator* const* given) const {
    return given == nullptr ? nullptr : real.data();
  }
};

inline NamedOperators NamedBy(UINT count, IDMLCompiledOperator* const* operators) {
  NamedOperators named;
  if (operators == nullptr && count != 0) named.problem = "the operators to be initialized are null";
  for (UINT index = 0; operators != nullptr && index < count; ++index) {
    if (operators[index] == nullptr) named.problem = "operator " + std::to_string(index) + " to be initialized is null";
    named.own.push_back(Own<CompiledObject>(operators[index]));
    const Ref<CompiledObject>& own = named.own.back();
    named.real.push_back(own ? own->Real() : operators[index]);
  }
  return named;
}

class InitializerObject final
    : public Child<IDMLOperatorInitializer, kIidPageable, kIidDispatchable, kIidInitializer, kIidOwnInitializer> {
 public:
  static constexpr const GUID& kIid = kIidOwnInitializer;

  InitializerObject(Owner owner, IDMLOperatorInitializer* real, CompiledOperators operators)
      : Child(std::move(owner), real), operators_(std::move(operators)) {}

  DML_BINDING_PROPERTIES STDMETHODCALLTYPE GetBindingProperties() noexcept override {
    if (Real() != nullptr) return Real()->GetBindingProperties();
    UINT descriptors = 1;
    for (const Ref<CompiledObject>& item : Operators()) {
      if (item) descriptors += item->Properties().RequiredDescriptorCount;
    }
    return {descriptors, 0, 0};
  }

  HRESULT STDMETHODCALLTYPE Reset(UINT operatorCount, IDMLCompiledOperator* const* operators) noexcept override {
    return Guarded([&] {
      NamedOperators named = NamedBy(operatorCount, operators);
      if (!named.problem.empty() && Real() == nullptr) {
        Record().Report(named.problem);
        return E_INVALIDARG;
      }
      const HRESULT result = Real() == nullptr ? S_OK : Real()->Reset(operatorCount, named.RealOf(operators));
      if (FAILED(result)) return result;
      const std::lock_guard<std::mutex> lock(mutex_);
      operators_.swap(named.own);
      return result;
    });
  }

  CompiledOperators Operators() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return operators_;
  }

 private:
  mutable std::mutex mutex_;
  CompiledOperators operators_;
};

// A dispatchable that a program passes: our object and the real one.
struct NamedDispatchable {
  explicit NamedDispatchable(IDMLDispatchable* dispatchable)
      : compiled(Own<CompiledObject>(dispatchable)),
        initializer(Own<InitializerObject>(dispatchable)),
        real(dispatchable) {
    if (compiled) real = compiled->Real();
    if (initializer) real = initializer->Real();
  }

  Ref<CompiledObject> compiled;
  Ref<InitializerObject> initializer;
  IDMLDispatchable* real;
};

// A snapshot of the bindings of a table: each has one element, except arrays.
struct BindingsNow {
  std::vector<std::vector<BoundBuffer>> inputs, outputs;
  BoundBuffer persistent;
};

class BindingTableObject final : public Child<IDMLBindingTable, kIidBindingTable, kIidOwnBindingTable> {
 public:
  static constexpr const GUID& kIid = kIidOwnBindingTable;

  BindingTableObject(Owner owner, IDMLBindingTable* real) : Child(std::move(owner), real) {}

  void STDMETHODCALLTYPE BindInputs(UINT bindingCount, const DML_BINDING_DESC* bindings) noexcept override {
    if (Real() != nullptr) Real()->BindInputs(bindingCount, bindings);
    Set([&](BindingsNow& now) { now.inputs = Elements(bindingCount, bindings); });
  }
  void STDMETHODCALLTYPE BindOutputs(UINT bindingCount, const DML_BINDING_DESC* bindings) noexcept override {
    if (Real() != nullptr) Real()->BindOutputs(bindingCount, bindings);
    Set([&](BindingsNow& now) { now.outputs = Elements(bindingCount, bindings); });
  }
  void STDMETHODCALLTYPE BindTemporaryResource(const DML_BINDING_DESC* binding) noexcept override {
    if (Real() != nullptr) Real()->BindTemporaryResource(binding);  // its contents do not outlive a dispatch
  }
  void STDMETHODCALLTYPE BindPersistentResource(const DML_BINDING_DESC* binding) noexcept override {
    if (Real() != nullptr) Real()->BindPersistentResource(binding);
    Set([&](BindingsNow& now) {
      const auto elements = Elements(binding == nullptr ? 0 : 1, binding);
      now.persistent = elements.empty() || elements.front().empty() ? BoundBuffer() : elements.front().front();
    });
  }
  HRESULT STDMETHODCALLTYPE Reset(const DML_BINDING_TABLE_DESC* desc) noexcept override {
    return Guarded([&] {
      HRESULT result = S_OK;
      if (Real() != nullptr) {
        DML_BINDING_TABLE_DESC unwrapped{};
        if (desc != nullptr) {
          unwrapped = *desc;
          unwrapped.Dispatchable = NamedDispatchable(desc->Dispatchable).real;
        }
        result = Real()->Reset(desc == nullptr ? nullptr : &unwrapped);
      } else if (desc != nullptr && desc->Dispatchable == nullptr) {
        Record().Report("the dispatchable of a binding table is null");
        result = E_INVALIDARG;
      }
      if (SUCCEEDED(result)) Set([](BindingsNow& now) { now = BindingsNow(); });
      return result;
    });
  }

  BindingsNow Now() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return now_;
  }

 private:
  template <typename Function>
  void Set(Function function) {
    Guarded([&] {
      const std::lock_guard<std::mutex> lock(mutex_);
      function(now_);
      return S_OK;
    });
  }

  static std::vector<std::vector<BoundBuffer>> Elements(UINT count, const DML_BINDING_DESC* bindings) {
    std::vector<std::vector<BoundBuffer>> all;
    for (UINT index = 0; bindings != nullptr && index < count; ++index) {
      const DML_BINDING_DESC& binding = bindings[index];
      all.emplace_back();
      if (binding.Desc == nullptr) continue;
      if (binding.Type == DML_BINDING_TYPE_BUFFER) {
        all.back().push_back(Bound(*static_cast<const DML_BUFFER_BINDING*>(binding.Desc)));
      } else if (binding.Type == DML_BINDING_TYPE_BUFFER_ARRAY) {
        const auto& array = *static_cast<const DML_BUFFER_ARRAY_BINDING*>(binding.Desc);
        for (UINT item = 0; array.Bindings != nullptr && item < array.BindingCount; ++item) {
          all.back().push_back(Bound(array.Bindings[item]));
        }
      }
    }
    return all;
  }
  static BoundBuffer Bound(const DML_BUFFER_BINDING& binding) { return {binding.Buffer, binding.Offset}; }

  mutable std::mutex mutex_;
  BindingsNow now_;
};

// The bindings of the inputs or outputs of a graph, flattened.
inline std::vector<BoundBuffer> Flattened(const std::vector<std::vector<BoundBuffer>>& bound,
                                          const std::vector<std::vector<int>>& points, UINT count) {
  std::vector<BoundBuffer> flat(std::min<UINT>(count, kMostElements));
  for (std::size_t point = 0; point < points.size() && point < bound.size(); ++point) {
    for (std::size_t item = 0; item < points[point].size() && item < bound[point].size(); ++item) {
      const int index = points[point][item];
      if (index >= 0 && static_cast<std::size_t>(index) < flat.size()) {
        flat[static_cast<std::size_t>(index)] = bound[point][item];
      }
    }
  }
  return flat;
}

class CommandRecorderObject final : public Child<IDMLCommandRecorder, kIidRecorder> {
 public:
  CommandRecorderObject(Owner owner, IDMLCommandRecorder* real) : Child(std::move(owner), real) {}

  void STDMETHODCALLTYPE RecordDispatch(ID3D12CommandList* commandList, IDMLDispatchable* dispatchable,
                                        IDMLBindingTable* bindings) noexcept override {
    Guarded([&] {
      const NamedDispatchable named(dispatchable);
      const Ref<BindingTableObject> table = Own<BindingTableObject>(bindings);
      if (Real() != nullptr) Real()->RecordDispatch(commandList, named.real, table ? table->Real() : bindings);
      if (table && named.compiled) {
        Dispatch(*named.compiled, table->Now());
      } else if (table && named.initializer) {
        Initialize(*named.initializer, table->Now());
      } else {
        Record().Missing("a dispatch is not recorded: its dispatchable or binding table is null, or not of this device");
      }
      return S_OK;
    });
  }

 private:
  void Dispatch(const CompiledObject& compiled, const BindingsNow& now) {
    const GraphRecord& graph = *compiled.Graph();
    DispatchBindings bindings;
    bindings.inputs = Flattened(now.inputs, graph.inputPoints, graph.inputCount);
    bindings.outputs = Flattened(now.outputs, graph.outputPoints, graph.outputCount);
    bindings.persistent = now.persistent;
    Record().Dispatch(compiled.Graph(), bindings);
  }

  // An initializer binds one array per operator, with an element for each input.
  void Initialize(const InitializerObject& initializer, const BindingsNow& now) {
    const CompiledOperators operators = initializer.Operators();
    for (std::size_t index = 0; index < operators.size(); ++index) {
      if (!operators[index]) continue;  // null, or an object of the real device
      const GraphRecord& graph = *operators[index]->Graph();
      std::map<UINT, BoundBuffer> owned;
      std::size_t element = 0;
      for (const std::vector<int>& point : graph.inputPoints) {
        for (const int input : point) {
          if (index >= now.inputs.size() || element >= now.inputs[index].size()) break;
          const BoundBuffer bound = now.inputs[index][element++];
          if (input >= 0 && bound.buffer != nullptr) owned[static_cast<UINT>(input)] = bound;
        }
      }
      const bool keeps = index < now.outputs.size() && !now.outputs[index].empty();
      Record().Initialize(operators[index]->Graph(), owned, keeps ? now.outputs[index].front() : BoundBuffer());
    }
  }
};

}  // namespace detail
}  // namespace dml2onnx
