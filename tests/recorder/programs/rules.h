// The rules of COM, and results without a real device.

#pragma once

#include <cstring>
#include <thread>

#include "program.h"

namespace rules {

inline constexpr GUID kOne = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
inline constexpr GUID kTwo = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 12}};
inline constexpr GUID kUnknown = {9, 9, 9, {9, 9, 9, 9, 9, 9, 9, 9}};

struct Counted final : public IUnknown {
  ULONG count = 1;
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** ppv) override {
    if (!(riid == iids::IUnknown_)) return E_NOINTERFACE;
    AddRef();
    *ppv = this;
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++count; }
  ULONG STDMETHODCALLTYPE Release() override { return --count; }
};

// Checks that an object has exactly these interfaces, with one identity and one reference count.
inline void CheckIdentity(IUnknown* object, const std::vector<GUID>& has) {
  const ULONG before = CountOf(object);
  Com<IUnknown> identity;
  CHECK(object->QueryInterface(iids::IUnknown_, identity.VoidOut()) == S_OK);
  for (const GUID& iid : iids::kAll) {
    bool expected = iid == iids::IUnknown_;
    for (const GUID& item : has) expected = expected || item == iid;
    Com<IUnknown> face;
    const HRESULT result = object->QueryInterface(iid, face.VoidOut());
    CHECK(result == (expected ? S_OK : E_NOINTERFACE));
    CHECK(static_cast<bool>(face) == expected);
    if (!expected) continue;
    CHECK(CountOf(identity.Get()) == before + 2);
    Com<IUnknown> again;
    CHECK(face->QueryInterface(iids::IUnknown_, again.VoidOut()) == S_OK);  // symmetric and stable
    CHECK(again.Get() == identity.Get());
    for (const GUID& other : has) {
      Com<IUnknown> across;
      CHECK(face->QueryInterface(other, across.VoidOut()) == S_OK);  // transitive
    }
  }
  CHECK(object->QueryInterface(iids::IUnknown_, nullptr) == E_POINTER);
  void* stale = &stale;
  CHECK(object->QueryInterface(kUnknown, &stale) == E_NOINTERFACE && stale == nullptr);
  identity.Reset();
  CHECK(CountOf(object) == before);
}

inline void CheckPrivateData(IDMLObject* object) {
  UINT size = 77;
  char data[8] = {};
  CHECK(object->GetPrivateData(kOne, &size, data) == DXGI_ERROR_NOT_FOUND && size == 0);
  CHECK(object->GetPrivateData(kOne, nullptr, data) == E_INVALIDARG);
  CHECK(object->SetPrivateData(kOne, 5, "four") == S_OK);
  CHECK(object->GetPrivateData(kOne, &size, nullptr) == S_OK && size == 5);
  size = 4;
  CHECK(object->GetPrivateData(kOne, &size, data) == DXGI_ERROR_MORE_DATA && size == 5 && data[0] == 0);
  size = 8;
  CHECK(object->GetPrivateData(kOne, &size, data) == S_OK && size == 5 && std::string(data) == "four");
  CHECK(object->SetPrivateData(kOne, 5, nullptr) == E_INVALIDARG);
  Counted counted;
  CHECK(object->SetPrivateDataInterface(kTwo, &counted) == S_OK && counted.count == 2);
  IUnknown* found = nullptr;
  size = sizeof found;
  CHECK(object->GetPrivateData(kTwo, &size, &found) == S_OK && found == &counted && counted.count == 3);
  found->Release();
  CHECK(object->SetPrivateDataInterface(kOne, &counted) == S_OK && counted.count == 3);  // replaces bytes
  CHECK(object->SetPrivateDataInterface(kTwo, &counted) == S_OK && counted.count == 3);  // replaces itself
  CHECK(object->SetPrivateData(kOne, 0, nullptr) == S_OK && counted.count == 2);
  CHECK(object->SetPrivateDataInterface(kTwo, nullptr) == S_OK && counted.count == 1);
  CHECK(object->GetPrivateData(kOne, &size, data) == DXGI_ERROR_NOT_FOUND);
  CHECK(object->SetPrivateData(kTwo, 0, nullptr) == S_OK);  // there was none
  CHECK(object->SetName(L"a name") == S_OK && object->SetName(nullptr) == S_OK);
}

// Attached objects are released with the object.
inline void CheckLastRelease(Com<IDMLObject> object) {
  Counted counted;
  CHECK(object->SetPrivateDataInterface(kOne, &counted) == S_OK && counted.count == 2);
  CHECK(CountOf(object.Get()) == 1);
  object.Reset();
  CHECK(counted.count == 1);
}

inline void CheckChild(IDMLDevice1* device, IDMLDeviceChild* child, std::vector<GUID> has) {
  has.insert(has.end(), {iids::IDMLObject, iids::IDMLDeviceChild});
  CheckIdentity(child, has);
  CheckPrivateData(child);
  Com<IDMLDevice1> owner;
  CHECK(child->GetDevice(iids::IDMLDevice1, owner.VoidOut()) == S_OK && owner.Get() == device);
  Com<IUnknown> none;
  CHECK(child->GetDevice(iids::IDMLOperator, none.VoidOut()) == E_NOINTERFACE && !none);
}

inline Com<IDMLOperator> Relu(IDMLDevice* device) {
  Tensor input({2, 3}), output({2, 3});
  return MakeOperator(device, DML_OPERATOR_ACTIVATION_RELU,
                      DML_ACTIVATION_RELU_OPERATOR_DESC{input.Get(), output.Get()});
}

inline void CheckObjects(const std::string& folder) {
  Com<IDMLDevice1> device = RecordTo(folder);
  CheckIdentity(device.Get(), {iids::IDMLObject, iids::IDMLDevice, iids::IDMLDevice1, iids::IDMLDebugDevice});
  CheckPrivateData(device.Get());
  Com<dml2onnx::Recorder> recorder = RecorderOf(device.Get());
  CheckIdentity(recorder.Get(), {iids::IDMLObject, iids::IDMLDevice, iids::IDMLDevice1, iids::IDMLDebugDevice});
  Com<IDMLOperator> op = Relu(device.Get());
  CheckChild(device.Get(), op.Get(), {iids::IDMLOperator});
  const std::vector<GUID> dispatchable{iids::IDMLPageable, iids::IDMLDispatchable};
  Com<IDMLCompiledOperator> compiled;
  CHECK(device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, iids::IDMLCompiledOperator, compiled.VoidOut()) ==
        S_OK);
  CheckChild(device.Get(), compiled.Get(), {dispatchable[0], dispatchable[1], iids::IDMLCompiledOperator});
  Com<IDMLOperatorInitializer> initializer;
  IDMLCompiledOperator* all[] = {compiled.Get()};
  CHECK(device->CreateOperatorInitializer(1, all, iids::IDMLOperatorInitializer, initializer.VoidOut()) == S_OK);
  CheckChild(device.Get(), initializer.Get(), {dispatchable[0], dispatchable[1], iids::IDMLOperatorInitializer});
  CHECK(initializer->Reset(0, nullptr) == S_OK && initializer->Reset(1, all) == S_OK);
  Com<IDMLBindingTable> table;
  CHECK(device->CreateBindingTable(nullptr, iids::IDMLBindingTable, table.VoidOut()) == S_OK);
  CheckChild(device.Get(), table.Get(), {iids::IDMLBindingTable});
  Com<IDMLCommandRecorder> commands;
  CHECK(device->CreateCommandRecorder(iids::IDMLCommandRecorder, commands.VoidOut()) == S_OK);
  CheckChild(device.Get(), commands.Get(), {iids::IDMLCommandRecorder});

  // the other objects stay alive without the program's reference to the device, and without each other
  CHECK(CountOf(device.Get()) == 2 + 5);
  recorder.Reset();
  device.Reset();
  Com<IDMLDevice> still;
  CHECK(op->GetDevice(iids::IDMLDevice, still.VoidOut()) == S_OK);
  Com<IDMLObject> last;
  CHECK(op->QueryInterface(iids::IDMLObject, last.VoidOut()) == S_OK);
  op.Reset();
  CheckLastRelease(std::move(last));
  initializer->Reset(1, all);
  compiled.Reset();  // the initializer has a reference
  CHECK(initializer->GetBindingProperties().RequiredDescriptorCount > 1);
}

inline void CheckNulls(const std::string& folder) {
  Com<IDMLDevice1> device = RecordTo(folder);
  Com<IUnknown> made;
  CHECK(device->CreateOperator(nullptr, iids::IDMLOperator, made.VoidOut()) == E_INVALIDARG && !made);
  const DML_OPERATOR_DESC empty{DML_OPERATOR_GEMM, nullptr};
  CHECK(device->CreateOperator(&empty, iids::IDMLOperator, made.VoidOut()) == E_INVALIDARG);
  const DML_OPERATOR_DESC invalid{DML_OPERATOR_INVALID, &empty};
  CHECK(device->CreateOperator(&invalid, iids::IDMLOperator, nullptr) == E_INVALIDARG);
  const DML_GEMM_OPERATOR_DESC tensors{};
  const DML_OPERATOR_DESC without{DML_OPERATOR_GEMM, &tensors};
  CHECK(device->CreateOperator(&without, iids::IDMLOperator, made.VoidOut()) == E_INVALIDARG);
  CHECK(device->CompileOperator(nullptr, DML_EXECUTION_FLAG_NONE, iids::IDMLCompiledOperator, made.VoidOut()) ==
        E_INVALIDARG);
  CHECK(device->CompileGraph(nullptr, DML_EXECUTION_FLAG_NONE, iids::IDMLCompiledOperator, made.VoidOut()) ==
        E_INVALIDARG);
  DML_GRAPH_DESC graph{};
  graph.NodeCount = graph.InputEdgeCount = graph.OutputEdgeCount = graph.IntermediateEdgeCount = 3;
  CHECK(device->CompileGraph(&graph, DML_EXECUTION_FLAG_NONE, iids::IDMLCompiledOperator, made.VoidOut()) ==
        E_INVALIDARG);
  const DML_OPERATOR_GRAPH_NODE_DESC noOperator{nullptr, "lost"};
  const DML_CONSTANT_DATA_GRAPH_NODE_DESC noData{nullptr, 4, nullptr};
  const DML_GRAPH_NODE_DESC nodes[] = {{DML_GRAPH_NODE_TYPE_OPERATOR, nullptr},
                                       {DML_GRAPH_NODE_TYPE_OPERATOR, &noOperator},
                                       {DML_GRAPH_NODE_TYPE_CONSTANT, &noData},
                                       {DML_GRAPH_NODE_TYPE_INVALID, &noData}};
  const DML_GRAPH_EDGE_DESC edges[] = {{DML_GRAPH_EDGE_TYPE_INPUT, nullptr}, {DML_GRAPH_EDGE_TYPE_INVALID, &noData}};
  graph = {1, 1, 4, nodes, 2, edges, 2, edges, 2, edges};
  CHECK(device->CompileGraph(&graph, DML_EXECUTION_FLAG_NONE, iids::IDMLCompiledOperator, made.VoidOut()) ==
        E_INVALIDARG);
  IDMLCompiledOperator* none[] = {nullptr};
  CHECK(device->CreateOperatorInitializer(1, none, iids::IDMLOperatorInitializer, made.VoidOut()) == E_INVALIDARG);
  CHECK(device->CreateOperatorInitializer(1, nullptr, iids::IDMLOperatorInitializer, made.VoidOut()) == E_INVALIDARG);
  CHECK(device->CreateOperatorInitializer(0, nullptr, iids::IDMLOperatorInitializer, nullptr) == E_POINTER);
  CHECK(device->CreateOperatorInitializer(0, nullptr, iids::IDMLOperator, made.VoidOut()) == E_NOINTERFACE && !made);
  CHECK(device->CreateCommandRecorder(iids::IDMLCommandRecorder, nullptr) == E_POINTER);
  CHECK(device->CreateBindingTable(nullptr, iids::IDMLBindingTable, nullptr) == E_POINTER);
  DML_BINDING_TABLE_DESC noDispatchable{};
  CHECK(device->CreateBindingTable(&noDispatchable, iids::IDMLBindingTable, made.VoidOut()) == E_INVALIDARG);
  Com<IDMLBindingTable> table;
  CHECK(device->CreateBindingTable(nullptr, iids::IDMLBindingTable, table.VoidOut()) == S_OK);
  CHECK(table->Reset(nullptr) == S_OK && table->Reset(&noDispatchable) == E_INVALIDARG);
  const DML_BINDING_DESC bindings[] = {{DML_BINDING_TYPE_BUFFER, nullptr}, {DML_BINDING_TYPE_BUFFER_ARRAY, nullptr}};
  table->BindInputs(2, bindings);
  table->BindInputs(2, nullptr);
  table->BindOutputs(2, nullptr);
  table->BindPersistentResource(nullptr);
  table->BindTemporaryResource(nullptr);
  Com<IDMLCommandRecorder> commands;
  CHECK(device->CreateCommandRecorder(iids::IDMLCommandRecorder, commands.VoidOut()) == S_OK);
  commands->RecordDispatch(nullptr, nullptr, nullptr);
  CHECK(device->Evict(1, nullptr) == E_INVALIDARG && device->MakeResident(0, nullptr) == S_OK);
  IDMLPageable* pages[] = {nullptr};
  CHECK(device->Evict(1, pages) == E_INVALIDARG);
  Com<dml2onnx::Recorder> recorder = RecorderOf(device.Get());
  CHECK(recorder->Constant(nullptr, "x", 1, 0) == E_INVALIDARG);
  CHECK(recorder->Constant(Buffer(0), nullptr, 1, 0) == E_INVALIDARG);
  CHECK(recorder->Constant(Buffer(0), "x", 0, 0) == E_INVALIDARG);
  CHECK(recorder->Constant(Buffer(0), "x", 1, ~UINT64{0}) == E_INVALIDARG);
  CHECK(recorder->ConstantInput(nullptr, 0, "x", 1) == E_INVALIDARG);
  CHECK(recorder->NameBuffer(nullptr, L"x") == E_INVALIDARG &&
        recorder->NameBuffer(Buffer(0), nullptr) == E_INVALIDARG);
  CHECK(recorder->ForgetBuffer(nullptr) == E_INVALIDARG && recorder->Flush() == S_OK);
  CHECK(dml2onnx::GetRecorder(nullptr, recorder.Out()) == E_INVALIDARG);
  CHECK(dml2onnx::GetRecorder(device.Get(), nullptr) == E_POINTER);
  CHECK(dml2onnx::CreateRecordingDevice(nullptr, OptionsFor(folder), iids::IDMLDevice, nullptr) == E_POINTER);
  // only tests whether the operator could be created
  Tensor input({2}), output({2});
  const DML_ACTIVATION_RELU_OPERATOR_DESC relu{input.Get(), output.Get()};
  const DML_OPERATOR_DESC good{DML_OPERATOR_ACTIVATION_RELU, &relu};
  CHECK(device->CreateOperator(&good, iids::IDMLOperator, nullptr) == S_FALSE);
  CHECK(device->CompileOperator(Relu(device.Get()).Get(), DML_EXECUTION_FLAG_NONE, iids::IDMLCompiledOperator,
                                nullptr) == S_FALSE);
}

// An unknown enumerator.
template <typename Enum>
Enum Beyond(std::int32_t number) {
  Enum value;
  std::memcpy(&value, &number, sizeof value);
  return value;
}

inline bool IsSupported(IDMLDevice* device, DML_TENSOR_DATA_TYPE type) {
  const DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT query{type};
  DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT support{};
  CHECK(device->CheckFeatureSupport(DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT, sizeof query, &query, sizeof support,
                                    &support) == S_OK);
  return support.IsSupported != 0;
}

inline void CheckFeatures(const std::string& folder) {
  dml2onnx::RecordingOptions options = OptionsFor(folder);
  Counted parent;
  options.featureLevel = 0x3000;
  options.parentDevice = &parent;
  Com<IDMLDevice> device;
  CHECK(dml2onnx::CreateRecordingDevice(nullptr, options, iids::IDMLDevice, device.VoidOut()) == S_OK);
  const DML_FEATURE_LEVEL asked[] = {DML_FEATURE_LEVEL_1_0, DML_FEATURE_LEVEL_6_4, DML_FEATURE_LEVEL_2_1};
  DML_FEATURE_QUERY_FEATURE_LEVELS query{3, asked};
  DML_FEATURE_DATA_FEATURE_LEVELS support{};
  const auto check = [&](UINT querySize, UINT supportSize) {
    return device->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, querySize, &query, supportSize, &support);
  };
  CHECK(check(sizeof query, sizeof support) == S_OK && support.MaxSupportedFeatureLevel == DML_FEATURE_LEVEL_2_1);
  CHECK(check(sizeof query - 1, sizeof support) == E_INVALIDARG && check(sizeof query, 0) == E_INVALIDARG);
  query = {1, &asked[1]};
  CHECK(check(sizeof query, sizeof support) == DXGI_ERROR_UNSUPPORTED);
  query = {0, asked};
  CHECK(check(sizeof query, sizeof support) == E_INVALIDARG);
  query = {3, nullptr};
  CHECK(check(sizeof query, sizeof support) == E_INVALIDARG);
  CHECK(device->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, 0, nullptr, 0, nullptr) == E_INVALIDARG);
  CHECK(device->CheckFeatureSupport(DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT, 0, nullptr, 0, nullptr) == E_INVALIDARG);
  CHECK(device->CheckFeatureSupport(Beyond<DML_FEATURE>(99), 0, nullptr, 0, nullptr) == DXGI_ERROR_UNSUPPORTED);
  CHECK(IsSupported(device.Get(), DML_TENSOR_DATA_TYPE_INT8) &&
        IsSupported(device.Get(), DML_TENSOR_DATA_TYPE_FLOAT64));
  CHECK(!IsSupported(device.Get(), DML_TENSOR_DATA_TYPE_UINT4));
  CHECK(!IsSupported(device.Get(), DML_TENSOR_DATA_TYPE_UNKNOWN));
  CHECK(!IsSupported(device.Get(), Beyond<DML_TENSOR_DATA_TYPE>(1000)));
  CHECK(device->GetDeviceRemovedReason() == S_OK);
  Com<IUnknown> above;
  CHECK(device->GetParentDevice(iids::IUnknown_, above.VoidOut()) == S_OK && above.Get() == &parent);
  above.Reset();
  device.Reset();
  CHECK(parent.count == 1);
  options.featureLevel = 0x1000;
  options.parentDevice = nullptr;
  CHECK(dml2onnx::CreateRecordingDevice(nullptr, options, iids::IDMLDevice, device.VoidOut()) == S_OK);
  CHECK(!IsSupported(device.Get(), DML_TENSOR_DATA_TYPE_INT64));
  CHECK(device->GetParentDevice(iids::IUnknown_, above.VoidOut()) == E_NOINTERFACE && !above);
  CHECK(device->GetParentDevice(iids::IUnknown_, nullptr) == E_POINTER);
}

// Devices of one program with the same folder, at the same time and one after the other.
inline void CheckFolders(const std::string& folder) {
  for (int round = 0; round < 2; ++round) {
    Com<IDMLDevice1> one = RecordTo(folder), two = RecordTo(folder + "/");
    Relu(one.Get());
    if (round == 1) Relu(two.Get());
  }
}

// A program that records until it gets a character.
inline void CheckWaiting(const std::string& folder) {
  Com<IDMLDevice1> device = RecordTo(folder);
  Relu(device.Get());
  std::puts("records");
  std::fflush(stdout);
  if (std::getchar() == 'x') std::_Exit(3);
  Relu(device.Get());
}

// Threads that share a device: they create, compile, bind, dispatch, name and release at the same time.
inline void CheckThreads(const std::string& folder) {
  static constexpr int kThreads = 4, kRounds = 12;
  Com<IDMLDevice1> device = RecordTo(folder);
  Com<dml2onnx::Recorder> recorder = RecorderOf(device.Get());
  Com<IDMLOperator> shared = Relu(device.Get());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < kRounds; ++round) {
        const std::size_t first = static_cast<std::size_t>(thread * kRounds + round) * 3;
        shared->SetName((L"shared " + std::to_wstring(thread)).c_str());
        shared->SetPrivateData(kOne, sizeof round, &round);
        GraphBuilder graph(device.Get());
        const float weights[6] = {1, 2, 3, 4, 5, static_cast<float>(thread)};
        auto sum =
            graph.Add(graph.Input(0, Tensor({2, 3})), graph.Constant(weights, sizeof weights, Tensor({2, 3}), "w"));
        Com<IDMLCompiledOperator> compiled, one;
        CHECK(graph.Compile({graph.Relu(sum)}, compiled) == S_OK);
        compiled->SetName((L"graph of " + std::to_wstring(thread)).c_str());
        CHECK(device->CompileOperator(shared.Get(), DML_EXECUTION_FLAG_NONE, iids::IDMLCompiledOperator,
                                      one.VoidOut()) == S_OK);
        CHECK(recorder->Constant(Buffer(first), weights, sizeof weights, 0) == S_OK);
        CHECK(recorder->NameBuffer(Buffer(first), L"weights") == S_OK);
        Queue queue(device.Get());
        queue.Dispatch(compiled.Get(), {{Buffer(first)}}, {{Buffer(first + 1)}});
        queue.Dispatch(one.Get(), {{Buffer(first + 1)}}, {{Buffer(first + 2)}});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(CountOf(shared.Get()) == 1);
}

}  // namespace rules
