// A mock of the real device behind the recording one. It accepts only its own objects, and can be told to fail.
#pragma once

#include <set>

#include "networks.h"
#include "program.h"
#include "rules.h"

namespace forwarding {

inline constexpr GUID kNewer = {0x95c22a63, 0x716d, 0x4838, {0xad, 0x7d, 0xab, 0x06, 0xde, 0x5e, 0x40, 0x17}};
inline constexpr HRESULT kPartly = 0x00040001;  // a success
inline constexpr HRESULT kRemoved = static_cast<HRESULT>(0x887A0005u);  // DXGI_ERROR_DEVICE_REMOVED

class Mock;

// The live objects of the mock by identity; all pointers passed to it must be among them.
struct World {
  std::set<const void*> alive;
  std::vector<std::string> calls;
  std::string failing;  // the method that returns kRemoved
  HRESULT success = S_OK;  // the result of the others
  bool isStrict = true;  // whether it requires its own objects

  void Expect(const void* object) const { CHECK(alive.count(object) == 1 || (!isStrict && object == nullptr)); }
  HRESULT Called(const std::string& name) {
    calls.push_back(name);
    return name == failing ? kRemoved : success;
  }
  std::size_t Count(const std::string& name) const {
    std::size_t count = 0;
    for (const std::string& call : calls) count += call == name ? 1u : 0u;
    return count;
  }
};

// The methods of IUnknown and IDMLObject, with one interface besides IUnknown: the recorder queries no other.
template <typename Interface>
class MockObject : public Interface {
 public:
  MockObject(World& itsWorld, const GUID& iid) : world(itsWorld), iid_(iid) { world.alive.insert(this); }
  virtual ~MockObject() { world.alive.erase(this); }
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** ppv) override {
    *ppv = nullptr;
    if (!(riid == iid_) && !(riid == iids::IUnknown_) && !Also(riid)) return E_NOINTERFACE;
    AddRef();
    *ppv = this;
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++count_; }
  ULONG STDMETHODCALLTYPE Release() override {
    const ULONG left = --count_;
    if (left == 0) delete this;
    return left;
  }
  HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID, UINT*, void*) override { return world.Called("GetPrivateData"); }
  HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID, UINT, const void*) override {
    return world.Called("SetPrivateData");
  }
  HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID, IUnknown*) override {
    return world.Called("SetPrivateDataInterface");
  }
  HRESULT STDMETHODCALLTYPE SetName(PCWSTR) override { return world.Called("SetName"); }

  World& world;

 protected:
  virtual bool Also(REFIID) const { return false; }

 private:
  ULONG count_ = 1;
  const GUID iid_;
};

template <typename Interface>
class MockChild : public MockObject<Interface> {
 public:
  using MockObject<Interface>::MockObject;
  HRESULT STDMETHODCALLTYPE GetDevice(REFIID, void**) override {
    CHECK(!"the recording device answers for itself");
    return E_FAIL;
  }
};

using MockOperator = MockChild<IDMLOperator>;

class MockCompiled final : public MockChild<IDMLCompiledOperator> {
 public:
  using MockChild::MockChild;
  DML_BINDING_PROPERTIES STDMETHODCALLTYPE GetBindingProperties() override { return {11, 22, 33}; }
};

class MockInitializer final : public MockChild<IDMLOperatorInitializer> {
 public:
  using MockChild::MockChild;
  DML_BINDING_PROPERTIES STDMETHODCALLTYPE GetBindingProperties() override { return {44, 55, 66}; }
  HRESULT STDMETHODCALLTYPE Reset(UINT count, IDMLCompiledOperator* const* operators) override {
    for (UINT index = 0; index < count; ++index) world.Expect(operators[index]);
    return world.Called("Initializer.Reset");
  }
};

class MockTable final : public MockChild<IDMLBindingTable> {
 public:
  using MockChild::MockChild;
  void STDMETHODCALLTYPE BindInputs(UINT, const DML_BINDING_DESC*) override { world.Called("BindInputs"); }
  void STDMETHODCALLTYPE BindOutputs(UINT, const DML_BINDING_DESC*) override { world.Called("BindOutputs"); }
  void STDMETHODCALLTYPE BindTemporaryResource(const DML_BINDING_DESC*) override { world.Called("BindTemporary"); }
  void STDMETHODCALLTYPE BindPersistentResource(const DML_BINDING_DESC*) override { world.Called("BindPersistent"); }
  HRESULT STDMETHODCALLTYPE Reset(const DML_BINDING_TABLE_DESC* desc) override {
    if (desc != nullptr) world.Expect(desc->Dispatchable);
    return world.Called("Table.Reset");
  }
};

class MockCommands final : public MockChild<IDMLCommandRecorder> {
 public:
  using MockChild::MockChild;
  void STDMETHODCALLTYPE RecordDispatch(ID3D12CommandList* list, IDMLDispatchable* dispatchable,
                                        IDMLBindingTable* bindings) override {
    CHECK(list == nullptr);
    world.Expect(dispatchable);
    world.Expect(bindings);
    world.Called("RecordDispatch");
  }
};

class Mock final : public MockObject<IDMLDevice1> {
 public:
  explicit Mock(World& itsWorld) : MockObject(itsWorld, iids::IDMLDevice1) {}

  HRESULT STDMETHODCALLTYPE CheckFeatureSupport(DML_FEATURE, UINT, const void*, UINT, void*) override {
    return world.Called("CheckFeatureSupport");
  }
  HRESULT STDMETHODCALLTYPE CreateOperator(const DML_OPERATOR_DESC* desc, REFIID riid, void** ppv) override {
    CHECK((desc != nullptr || !world.isStrict) && riid == iids::IDMLOperator);
    given = desc;
    return Make<MockOperator>("CreateOperator", riid, ppv);
  }
  HRESULT STDMETHODCALLTYPE CompileOperator(IDMLOperator* op, DML_EXECUTION_FLAGS flags, REFIID riid,
                                            void** ppv) override {
    world.Expect(op);
    CHECK(flags == DML_EXECUTION_FLAG_DISABLE_META_COMMANDS || !world.isStrict);
    return Make<MockCompiled>("CompileOperator", riid, ppv);
  }
  HRESULT STDMETHODCALLTYPE CreateOperatorInitializer(UINT count, IDMLCompiledOperator* const* operators, REFIID riid,
                                                      void** ppv) override {
    for (UINT index = 0; operators != nullptr && index < count; ++index) world.Expect(operators[index]);
    return Make<MockInitializer>("CreateOperatorInitializer", riid, ppv);
  }
  HRESULT STDMETHODCALLTYPE CreateCommandRecorder(REFIID riid, void** ppv) override {
    return Make<MockCommands>("CreateCommandRecorder", riid, ppv);
  }
  HRESULT STDMETHODCALLTYPE CreateBindingTable(const DML_BINDING_TABLE_DESC* desc, REFIID riid, void** ppv) override {
    if (desc != nullptr) {
      world.Expect(desc->Dispatchable);
      CHECK(desc->SizeInDescriptors == 7 || !world.isStrict);
    }
    return Make<MockTable>("CreateBindingTable", riid, ppv);
  }
  HRESULT STDMETHODCALLTYPE Evict(UINT count, IDMLPageable* const* objects) override {
    for (UINT index = 0; index < count; ++index) world.Expect(objects[index]);
    return world.Called("Evict");
  }
  HRESULT STDMETHODCALLTYPE MakeResident(UINT count, IDMLPageable* const* objects) override {
    for (UINT index = 0; index < count; ++index) world.Expect(objects[index]);
    return world.Called("MakeResident");
  }
  HRESULT STDMETHODCALLTYPE GetDeviceRemovedReason() override { return world.Called("GetDeviceRemovedReason"); }
  HRESULT STDMETHODCALLTYPE GetParentDevice(REFIID, void**) override { return world.Called("GetParentDevice"); }
  HRESULT STDMETHODCALLTYPE CompileGraph(const DML_GRAPH_DESC* desc, DML_EXECUTION_FLAGS, REFIID riid,
                                         void** ppv) override {
    UINT constants = 0;
    for (UINT index = 0; desc != nullptr && desc->Nodes != nullptr && index < desc->NodeCount; ++index) {
      if (desc->Nodes[index].Desc == nullptr) continue;
      if (desc->Nodes[index].Type == DML_GRAPH_NODE_TYPE_OPERATOR) {
        world.Expect(static_cast<const DML_OPERATOR_GRAPH_NODE_DESC*>(desc->Nodes[index].Desc)->Operator);
      } else {
        ++constants;
      }
    }
    CHECK(!world.isStrict || (constants == 1 && desc->InputEdgeCount == 1 && desc->OutputEdgeCount == 1 &&
                              desc->IntermediateEdgeCount == 2));
    return Make<MockCompiled>("CompileGraph", riid, ppv);
  }

  const DML_OPERATOR_DESC* given = nullptr;  // to CreateOperator

 protected:
  bool Also(REFIID riid) const override {
    return riid == iids::IDMLDevice || riid == iids::IDMLObject || (!world.isStrict && riid == kNewer);
  }

 private:
  template <typename T>
  HRESULT Make(const char* name, const GUID& iid, void** ppv) {
    const HRESULT result = world.Called(name);
    if (FAILED(result)) return result;
    if (ppv == nullptr) return world.success == S_OK ? S_FALSE : world.success;
    auto* made = new T(world, iid);
    *ppv = static_cast<typename std::remove_reference<decltype(*made)>::type*>(made);
    return result;
  }
};

// A buffer like those of Direct3D: it has a name, and releases attached objects when it is destroyed.
class MockBuffer final : public ID3D12Resource {
 public:
  explicit MockBuffer(std::wstring name) : name_(std::move(name)) {}
  ~MockBuffer() {
    for (const auto& item : attached_) const_cast<IUnknown*>(item.second)->Release();
  }
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID, void**) override { return E_NOINTERFACE; }
  ULONG STDMETHODCALLTYPE AddRef() override { return 2; }
  ULONG STDMETHODCALLTYPE Release() override { return 1; }
  HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID guid, UINT* size, void* data) override {
    CHECK(guid == dml2onnx::detail::kDebugName);
    ++asked;
    if (name_.empty()) return DXGI_ERROR_NOT_FOUND;
    const UINT bytes = static_cast<UINT>(name_.size() * sizeof(wchar_t));  // possibly without a terminating zero
    CHECK(data == nullptr || *size >= bytes);
    if (data != nullptr) std::memcpy(data, name_.data(), bytes);
    *size = bytes;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID, UINT, const void*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID guid, const IUnknown* data) override {
    const_cast<IUnknown*>(data)->AddRef();
    attached_.push_back({guid, data});
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE SetName(PCWSTR) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetDevice(REFIID, void**) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE Map(UINT, const D3D12_RANGE* read, void** place) override {
    CHECK(heap == D3D12_HEAP_TYPE_UPLOAD && read->End <= contents.size());
    ++mapped;
    *place = contents.data();
    return S_OK;
  }
  void STDMETHODCALLTYPE Unmap(UINT, const D3D12_RANGE* written) override {
    CHECK(written->Begin == written->End);
    --mapped;
  }
  D3D12_RESOURCE_DESC STDMETHODCALLTYPE GetDesc() override {
    D3D12_RESOURCE_DESC desc{};
    desc.Width = contents.size();
    return desc;
  }
  UINT64 STDMETHODCALLTYPE GetGPUVirtualAddress() override { return 0; }
  HRESULT STDMETHODCALLTYPE WriteToSubresource(UINT, const D3D12_BOX*, const void*, UINT, UINT) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE ReadFromSubresource(void*, UINT, UINT, UINT, const D3D12_BOX*) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE GetHeapProperties(D3D12_HEAP_PROPERTIES* properties, D3D12_HEAP_FLAGS*) override {
    properties->Type = heap;
    return S_OK;
  }

  int asked = 0, mapped = 0;
  D3D12_HEAP_TYPE heap = D3D12_HEAP_TYPE_DEFAULT;
  std::vector<unsigned char> contents;

 private:
  std::wstring name_;
  std::vector<std::pair<GUID, const IUnknown*>> attached_;
};

inline const DML_ACTIVATION_RELU_OPERATOR_DESC* Relu() {
  static Tensor input({4}), output({4});
  static const DML_ACTIVATION_RELU_OPERATOR_DESC desc{input.Get(), output.Get()};
  return &desc;
}

inline void CheckAll(const std::string& folder) {
  World world;
  auto* mock = new Mock(world);
  {
    Com<IDMLDevice1> device = RecordTo(folder, mock);
    Com<IDMLDebugDevice> debug;
    CHECK(device->QueryInterface(iids::IDMLDebugDevice, debug.VoidOut()) == E_NOINTERFACE);  // the mock has none
    const DML_OPERATOR_DESC desc{DML_OPERATOR_ACTIVATION_RELU, Relu()};
    Com<IDMLOperator> op;
    CHECK(device->CreateOperator(&desc, iids::IDMLOperator, op.VoidOut()) == S_OK);
    CHECK(world.alive.count(op.Get()) == 0 && world.alive.size() == 2);
    CHECK(device->CreateOperator(&desc, iids::IDMLOperator, nullptr) == S_FALSE);
    Com<IDMLCompiledOperator> compiled, graph;
    CHECK(device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_DISABLE_META_COMMANDS, iids::IDMLCompiledOperator,
                                  compiled.VoidOut()) == S_OK);
    CHECK(compiled->GetBindingProperties().TemporaryResourceSize == 22);
    GraphBuilder builder(device.Get());
    const float weights[4] = {1, 2, 3, 4};
    const auto constant = builder.Constant(weights, sizeof weights, Tensor({4}), "w");
    CHECK(builder.Compile({builder.Relu(builder.Add(builder.Input(0, Tensor({4})), constant))}, graph) == S_OK);
    Com<IDMLOperatorInitializer> initializer;
    IDMLCompiledOperator* all[] = {compiled.Get(), graph.Get()};
    CHECK(device->CreateOperatorInitializer(2, all, iids::IDMLOperatorInitializer, initializer.VoidOut()) == S_OK);
    CHECK(initializer->GetBindingProperties().RequiredDescriptorCount == 44);
    CHECK(initializer->Reset(1, &all[1]) == S_OK);
    Com<IDMLBindingTable> table;
    DML_BINDING_TABLE_DESC tableDesc{};
    tableDesc.Dispatchable = initializer.Get();
    tableDesc.SizeInDescriptors = 7;
    CHECK(device->CreateBindingTable(&tableDesc, iids::IDMLBindingTable, table.VoidOut()) == S_OK);
    tableDesc.Dispatchable = compiled.Get();
    CHECK(table->Reset(&tableDesc) == S_OK && table->Reset(nullptr) == S_OK);
    MockBuffer buffer(L"named");
    const DML_BUFFER_BINDING bound{&buffer, 0, 16};
    const DML_BINDING_DESC binding{DML_BINDING_TYPE_BUFFER, &bound};
    table->BindInputs(1, &binding);
    table->BindOutputs(1, &binding);
    table->BindTemporaryResource(&binding);
    table->BindPersistentResource(&binding);
    Com<IDMLCommandRecorder> commands;
    CHECK(device->CreateCommandRecorder(iids::IDMLCommandRecorder, commands.VoidOut()) == S_OK);
    commands->RecordDispatch(nullptr, compiled.Get(), table.Get());
    commands->RecordDispatch(nullptr, initializer.Get(), table.Get());
    IDMLPageable* pages[] = {compiled.Get(), initializer.Get()};
    CHECK(device->Evict(2, pages) == S_OK && device->MakeResident(2, pages) == S_OK);
    CHECK(op->SetName(L"named") == S_OK && op->SetPrivateData(iids::IDMLDevice, 0, nullptr) == S_OK);
    CHECK(op->SetPrivateDataInterface(iids::IDMLDevice, nullptr) == S_OK);
    UINT size = 0;
    CHECK(op->GetPrivateData(iids::IDMLDevice, &size, nullptr) == S_OK);
    CHECK(device->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, 0, nullptr, 0, nullptr) == S_OK);
    CHECK(device->GetDeviceRemovedReason() == S_OK && device->GetParentDevice(iids::IUnknown_, nullptr) == S_OK);
    for (const char* name :
         {"BindInputs", "BindOutputs", "BindTemporary", "BindPersistent", "Evict", "MakeResident", "SetName",
          "SetPrivateData", "SetPrivateDataInterface", "GetPrivateData", "CheckFeatureSupport",
          "GetDeviceRemovedReason", "GetParentDevice", "Initializer.Reset", "CompileGraph", "CompileOperator"}) {
      CHECK(world.Count(name) == 1);
    }
    CHECK(world.Count("RecordDispatch") == 2 && world.Count("CreateOperator") == 4 && world.Count("Table.Reset") == 2);
  }
  CHECK(world.alive.size() == 1 && mock->Release() == 0);
}

// Buffers of the real device have their own names, and another one at the address of an old one is different.
inline void CheckBuffers(const std::string& folder) {
  World world;
  auto* mock = new Mock(world);
  {
    Com<IDMLDevice1> device = RecordTo(folder, mock);
    const DML_OPERATOR_DESC desc{DML_OPERATOR_ACTIVATION_RELU, Relu()};
    Com<IDMLOperator> op;
    Com<IDMLCompiledOperator> compiled;
    CHECK(device->CreateOperator(&desc, iids::IDMLOperator, op.VoidOut()) == S_OK);
    CHECK(device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_DISABLE_META_COMMANDS, iids::IDMLCompiledOperator,
                                  compiled.VoidOut()) == S_OK);
    Queue queue(device.Get(), 7);
    MockBuffer output(L"output");
    alignas(MockBuffer) unsigned char place[sizeof(MockBuffer)];
    for (const wchar_t* name : {L"first", L"", L"third"}) {
      auto* input = new (place) MockBuffer(name);
      queue.Dispatch(compiled.Get(), {{input}}, {{&output}}, {}, {&output});
      queue.Dispatch(compiled.Get(), {{input}}, {{&output}}, {}, {&output});
      CHECK(input->asked == (name[0] == L'\0' ? 1 : 2));  // only for a new buffer
      input->~MockBuffer();
    }
    compiled.Reset();
    op.Reset();
    device.Reset();
  }  // the output outlives the recording
  CHECK(world.alive.size() == 1 && mock->Release() == 0);
}

// The program gets the error of the real device, and no object.
inline void CheckFailures(const std::string& folder) {
  World world;
  auto* mock = new Mock(world);
  {
    Com<IDMLDevice1> device = RecordTo(folder, mock);
    const DML_OPERATOR_DESC desc{DML_OPERATOR_ACTIVATION_RELU, Relu()};
    Com<IDMLOperator> op;
    Com<IDMLCompiledOperator> compiled;
    CHECK(device->CreateOperator(&desc, iids::IDMLOperator, op.VoidOut()) == S_OK);
    CHECK(device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_DISABLE_META_COMMANDS, iids::IDMLCompiledOperator,
                                  compiled.VoidOut()) == S_OK);
    GraphBuilder builder(device.Get());
    const float weights[4] = {1, 2, 3, 4};
    const auto constant = builder.Constant(weights, sizeof weights, Tensor({4}), "w");
    const auto last = builder.Relu(builder.Add(builder.Input(0, Tensor({4})), constant));
    IDMLCompiledOperator* all[] = {compiled.Get()};
    IDMLPageable* pages[] = {compiled.Get()};
    Com<IDMLOperatorInitializer> initializer;
    CHECK(device->CreateOperatorInitializer(1, all, iids::IDMLOperatorInitializer, initializer.VoidOut()) == S_OK);
    Com<IDMLBindingTable> table;
    CHECK(device->CreateBindingTable(nullptr, iids::IDMLBindingTable, table.VoidOut()) == S_OK);
    Com<IUnknown> none;
    Com<IDMLCompiledOperator> noGraph;
    const std::size_t alive = world.alive.size();
    const auto fails = [&](const char* name, auto call) {
      world.failing = name;
      CHECK(call() == kRemoved && !none);
    };
    fails("CreateOperator", [&] { return device->CreateOperator(&desc, iids::IDMLOperator, none.VoidOut()); });
    fails("CreateOperator", [&] { return device->CreateOperator(&desc, iids::IDMLOperator, nullptr); });
    fails("CompileOperator", [&] {
      return device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_DISABLE_META_COMMANDS, iids::IDMLCompiledOperator,
                                     none.VoidOut());
    });
    fails("CompileGraph", [&] { return builder.Compile({last}, noGraph); });
    CHECK(!noGraph);
    fails("CreateOperatorInitializer",
          [&] { return device->CreateOperatorInitializer(1, all, iids::IDMLOperatorInitializer, none.VoidOut()); });
    fails("CreateCommandRecorder",
          [&] { return device->CreateCommandRecorder(iids::IDMLCommandRecorder, none.VoidOut()); });
    fails("CreateBindingTable",
          [&] { return device->CreateBindingTable(nullptr, iids::IDMLBindingTable, none.VoidOut()); });
    fails("Initializer.Reset", [&] { return initializer->Reset(1, all); });
    fails("Table.Reset", [&] { return table->Reset(nullptr); });
    fails("Evict", [&] { return device->Evict(1, pages); });
    fails("MakeResident", [&] { return device->MakeResident(1, pages); });
    fails("CheckFeatureSupport",
          [&] { return device->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, 0, nullptr, 0, nullptr); });
    fails("GetDeviceRemovedReason", [&] { return device->GetDeviceRemovedReason(); });
    fails("GetParentDevice", [&] { return device->GetParentDevice(iids::IUnknown_, none.VoidOut()); });
    fails("SetName", [&] { return op->SetName(L"x"); });
    fails("SetPrivateData", [&] { return op->SetPrivateData(iids::IDMLDevice, 0, nullptr); });
    fails("SetPrivateDataInterface", [&] { return op->SetPrivateDataInterface(iids::IDMLDevice, nullptr); });
    fails("GetPrivateData", [&] { return op->GetPrivateData(iids::IDMLDevice, nullptr, nullptr); });
    CHECK(world.alive.size() == alive);
  }
  CHECK(world.alive.size() == 1 && mock->Release() == 0);
}

// All arguments reach the real device, all its results reach the program, and unrecorded calls are reported. The mock
// accepts everything.
inline void CheckPassing(const std::string& folder) {
  World world;
  world.isStrict = false;
  world.success = kPartly;
  auto* mock = new Mock(world);
  {
    Com<IDMLDevice1> device = RecordTo(folder, mock);
    const auto create = [&](const DML_OPERATOR_DESC* desc) {
      Com<IDMLOperator> made;
      CHECK(device->CreateOperator(desc, iids::IDMLOperator, made.VoidOut()) == kPartly && made && mock->given == desc);
      return made;
    };
    Tensor input({1, 1, 1, 4}), output({1, 1, 1, 4}), wide({1, 1, 1, 1, 1, 1, 1, 1, 1, 4}), flagged({4}), odd({4});
    flagged.buffer.Flags = rules::Beyond<DML_TENSOR_FLAGS>(6);
    odd.buffer.DataType = rules::Beyond<DML_TENSOR_DATA_TYPE>(99);
    const DML_ACTIVATION_RELU_OPERATOR_DESC relus[] = {{input.Get(), output.Get()},  {wide.Get(), wide.Get()},
                                                       {flagged.Get(), output.Get()}, {odd.Get(), odd.Get()},
                                                       {nullptr, output.Get()}};
    std::vector<Com<IDMLOperator>> made;
    for (const auto& relu : relus) {
      const DML_OPERATOR_DESC desc{DML_OPERATOR_ACTIVATION_RELU, &relu};
      made.push_back(create(&desc));
    }
    const DML_PADDING_OPERATOR_DESC padding{input.Get(), output.Get(), rules::Beyond<DML_PADDING_MODE>(77), 0, 0,
                                            nullptr,     nullptr};
    const DML_OPERATOR_DESC mode{DML_OPERATOR_PADDING, &padding}, newer{rules::Beyond<DML_OPERATOR_TYPE>(5000), &padding},
        bare{DML_OPERATOR_ACTIVATION_RELU, nullptr};
    for (const DML_OPERATOR_DESC* desc : {&mode, &newer, &bare}) made.push_back(create(desc));
    made.push_back(create(nullptr));
    CHECK(device->CreateOperator(&mode, iids::IDMLOperator, nullptr) == kPartly);
    Com<IDMLOperator> foreign;  // of the real device
    CHECK(mock->CreateOperator(&mode, iids::IDMLOperator, foreign.VoidOut()) == kPartly);
    const auto compile = [&](IDMLOperator* op) {
      Com<IDMLCompiledOperator> compiled;
      CHECK(device->CompileOperator(op, DML_EXECUTION_FLAG_NONE, iids::IDMLCompiledOperator, compiled.VoidOut()) ==
            kPartly && compiled && world.alive.count(compiled.Get()) == 0);
      return compiled;
    };
    std::vector<Com<IDMLCompiledOperator>> compiled;
    for (const auto& op : made) compiled.push_back(compile(op.Get()));
    compiled.push_back(compile(foreign.Get()));
    compiled.push_back(compile(nullptr));
    const DML_OPERATOR_GRAPH_NODE_DESC nodes[] = {{foreign.Get(), "foreign"}, {made[3].Get(), "odd"}, {nullptr, "none"}};
    const DML_GRAPH_NODE_DESC descs[] = {{DML_GRAPH_NODE_TYPE_OPERATOR, &nodes[0]},
                                         {DML_GRAPH_NODE_TYPE_OPERATOR, &nodes[1]},
                                         {DML_GRAPH_NODE_TYPE_OPERATOR, &nodes[2]},
                                         {rules::Beyond<DML_GRAPH_NODE_TYPE>(9), &nodes[2]},
                                         {DML_GRAPH_NODE_TYPE_OPERATOR, nullptr}};
    DML_GRAPH_DESC graph{};
    graph.NodeCount = 5;
    graph.Nodes = descs;
    const DML_GRAPH_DESC empty{};
    for (const DML_GRAPH_DESC* desc : {static_cast<const DML_GRAPH_DESC*>(&graph), &empty}) {
      compiled.emplace_back();
      CHECK(device->CompileGraph(desc, DML_EXECUTION_FLAG_NONE, iids::IDMLCompiledOperator,
                                 compiled.back().VoidOut()) == kPartly && compiled.back());
    }
    Com<IDMLCompiledOperator> none;
    CHECK(device->CompileGraph(nullptr, DML_EXECUTION_FLAG_NONE, iids::IDMLCompiledOperator, none.VoidOut()) == kPartly);
    CHECK(device->CompileGraph(&graph, DML_EXECUTION_FLAG_NONE, iids::IDMLCompiledOperator, nullptr) == kPartly);
    IDMLCompiledOperator* some[] = {nullptr, compiled[0].Get()};
    Com<IDMLOperatorInitializer> initializer;
    CHECK(device->CreateOperatorInitializer(2, some, iids::IDMLOperatorInitializer, initializer.VoidOut()) == kPartly);
    CHECK(device->CreateOperatorInitializer(2, nullptr, iids::IDMLOperatorInitializer, nullptr) == kPartly);
    CHECK(initializer->Reset(2, some) == kPartly);
    Com<IDMLBindingTable> table;
    DML_BINDING_TABLE_DESC place{};
    CHECK(device->CreateBindingTable(&place, iids::IDMLBindingTable, nullptr) == kPartly);
    CHECK(device->CreateBindingTable(&place, iids::IDMLBindingTable, table.VoidOut()) == kPartly && table);
    CHECK(device->CreateCommandRecorder(iids::IDMLCommandRecorder, nullptr) == kPartly);
    Com<IDMLCommandRecorder> commands;
    CHECK(device->CreateCommandRecorder(iids::IDMLCommandRecorder, commands.VoidOut()) == kPartly);
    IDMLPageable* pages[] = {compiled[0].Get(), nullptr};
    CHECK(device->Evict(2, pages) == kPartly && device->MakeResident(1, &pages[1]) == kPartly);
    const std::size_t before = world.Count("RecordDispatch");
    for (const auto& item : compiled) commands->RecordDispatch(nullptr, item.Get(), table.Get());
    commands->RecordDispatch(nullptr, nullptr, table.Get());
    CHECK(world.Count("RecordDispatch") == before + compiled.size() + 1);
    Com<IUnknown> hidden;
    CHECK(device->QueryInterface(kNewer, hidden.VoidOut()) == E_NOINTERFACE);
  }
  CHECK(world.alive.size() == 1 && mock->Release() == 0);
}

// Weights in buffers that the CPU can read are recorded automatically, as they were at each initialization.
inline void CheckReadback(const std::string& folder) {
  World world;
  world.isStrict = false;
  auto* mock = new Mock(world);
  {
    Com<IDMLDevice1> device = RecordTo(folder, mock);
    MockBuffer x(L"x"), upload(L"weights"), gpu(L"gpu weights"), first(L"first"), second(L"second"), third(L"third");
    MockBuffer kept[] = {MockBuffer(L"kept 1"), MockBuffer(L"kept 2"), MockBuffer(L"kept 3")};
    upload.heap = D3D12_HEAP_TYPE_UPLOAD;
    upload.contents.resize(256 + 64);
    const auto fill = [&](float step) {
      const std::vector<float> weights = networks::Ramp(16, step);
      std::memcpy(upload.contents.data() + 256, weights.data(), 64);
    };
    Com<IDMLCompiledOperator> gemm = networks::OwnedGemm(device.Get(), 1, L"gemm");
    Com<IDMLCompiledOperator> other = networks::OwnedGemm(device.Get(), 1, L"other");
    Queue queue(device.Get());
    fill(1);
    queue.Initialize(gemm.Get(), {{}, {&upload, 256}, {}}, {&kept[0]});
    fill(-1);
    queue.Initialize(gemm.Get(), {{}, {&upload, 256}, {}}, {&kept[1]});
    fill(0);  // reused
    queue.Dispatch(gemm.Get(), {{&x}, {}, {}}, {{&first}}, {&kept[0]});
    queue.Dispatch(gemm.Get(), {{&x}, {}, {}}, {{&second}}, {&kept[1]});
    queue.Initialize(other.Get(), {{}, {&gpu}, {}}, {&kept[2]});
    queue.Dispatch(other.Get(), {{&x}, {}, {}}, {{&third}}, {&kept[2]});
    CHECK(upload.mapped == 0);
  }
  CHECK(world.alive.size() == 1 && mock->Release() == 0);
}

}  // namespace forwarding
