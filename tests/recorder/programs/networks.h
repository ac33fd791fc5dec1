// Programs whose recordings test_device.py compiles, runs, and compares with numpy.
#pragma once

#include <cstdlib>

#include "program.h"

namespace networks {

// Returns 1, 2, 3, ... times a step.
inline std::vector<float> Ramp(std::size_t count, float step) {
  std::vector<float> values(count);
  for (std::size_t index = 0; index < count; ++index) values[index] = static_cast<float>(index + 1) * step;
  return values;
}

template <typename T>
SIZE_T BytesOf(const std::vector<T>& values) {
  return static_cast<SIZE_T>(values.size() * sizeof(T));
}

// Two layers with weights in constant nodes, one of which two nodes read, and an output of joined parts.
inline void RecordMlp(const std::string& folder) {
  Com<IDMLDevice1> device = RecordTo(folder);
  GraphBuilder graph(device.Get());
  const std::vector<float> first = Ramp(12, 0.125f), second = Ramp(8, -0.25f), bias = Ramp(8, 0.5f);
  auto x = graph.Input(0, Tensor({1, 1, 2, 3}));
  auto w1 = graph.Constant(first.data(), BytesOf(first), Tensor({1, 1, 3, 4}), "w1");
  auto b = graph.Constant(bias.data(), BytesOf(bias), Tensor({1, 1, 2, 4}), "bias");
  auto w2 = graph.Constant(second.data(), BytesOf(second), Tensor({1, 1, 4, 2}), nullptr);
  auto hidden = graph.Relu(graph.Gemm(x, w1, &b, "layer 1"), "hidden");
  auto shifted = graph.Add(hidden, b);
  auto y = graph.Join({graph.Gemm(hidden, w2, nullptr), graph.Gemm(shifted, w2, nullptr)}, 3);
  graph.inputNames[0] = "x";
  graph.outputNames[0] = "y";
  Com<IDMLCompiledOperator> compiled;
  CHECK(graph.Compile({y}, compiled) == S_OK);
  compiled->SetName(L"mlp");
}

inline Com<IDMLCompiledOperator> Compile(IDMLDevice* device, const Com<IDMLOperator>& op, const wchar_t* name) {
  Com<IDMLCompiledOperator> compiled;
  op->SetName(name);
  CHECK(device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, iids::IDMLCompiledOperator, compiled.VoidOut()) ==
        S_OK);
  return compiled;
}

inline Com<IDMLCompiledOperator> Scale(IDMLDevice* device, UINT count, float scale, float bias, const wchar_t* name) {
  Tensor input({1, 1, 1, count}), output({1, 1, 1, count});
  const DML_SCALE_BIAS scaleBias{scale, bias};
  const DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC desc{input.Get(), output.Get(), &scaleBias};
  return Compile(device, MakeOperator(device, DML_OPERATOR_ELEMENT_WISE_IDENTITY, desc), name);
}

// [1, 1, rows, 4] by a matrix [1, 1, 4, 4] that DirectML owns, with an optional addend.
inline Com<IDMLCompiledOperator> OwnedGemm(IDMLDevice* device, UINT rows, const wchar_t* name) {
  Tensor a({1, 1, rows, 4}), b({1, 1, 4, 4}, DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_OWNED_BY_DML);
  Tensor output({1, 1, rows, 4});
  DML_GEMM_OPERATOR_DESC desc{};
  desc.ATensor = a.Get();
  desc.BTensor = b.Get();
  desc.OutputTensor = output.Get();
  desc.Alpha = 1;
  return Compile(device, MakeOperator(device, DML_OPERATOR_GEMM, desc), name);
}

// Two matrices that DirectML owns: one is never passed to the recorder, the other after it was used.
inline void RecordUnknownWeights(const std::string& folder) {
  Com<IDMLDevice1> device = RecordTo(folder);
  Com<dml2onnx::Recorder> recorder = RecorderOf(device.Get());
  ID3D12Resource *x = Buffer(0), *y = Buffer(1), *z = Buffer(2), *never = Buffer(3), *late = Buffer(4);
  ID3D12Resource *first = Buffer(5), *second = Buffer(6);
  const std::pair<ID3D12Resource*, const wchar_t*> names[] = {
      {x, L"x"}, {y, L"y"}, {z, L"z"}, {never, L"never"}, {late, L"late"}};
  for (const auto& item : names) recorder->NameBuffer(item.first, item.second);
  Com<IDMLCompiledOperator> one = OwnedGemm(device.Get(), 1, L"one"), two = OwnedGemm(device.Get(), 1, L"two");
  Queue queue(device.Get());
  queue.Initialize(one.Get(), {{}, {never}, {}}, {first});
  queue.Initialize(two.Get(), {{}, {late}, {}}, {second});
  queue.Dispatch(one.Get(), {{x}, {}, {}}, {{y}}, {first});
  queue.Dispatch(two.Get(), {{y}, {}, {}}, {{z}}, {second});
  const std::vector<float> weights = Ramp(16, 1);
  CHECK(recorder->Constant(late, weights.data(), 64, 0) == S_OK);
}

// Four dispatches over shared buffers: weights in the middle of an arena and bound at initialization, an in-place
// operator, a graph that reads one buffer at two offsets, and a join with an array of bindings.
inline void RecordProgram(const std::string& folder) {
  Com<IDMLDevice1> device = RecordTo(folder);
  Com<dml2onnx::Recorder> recorder = RecorderOf(device.Get());
  ID3D12Resource *input = Buffer(0), *arena = Buffer(1), *work = Buffer(2), *result = Buffer(3), *kept = Buffer(4);
  recorder->NameBuffer(input, L"input");
  recorder->NameBuffer(result, L"result");
  const std::vector<float> weights = Ramp(16, 0.0625f), shift = Ramp(4, 10);
  CHECK(recorder->Constant(arena, shift.data(), 16, 0) == S_OK);
  CHECK(recorder->Constant(arena, weights.data(), 64, 256) == S_OK);
  Com<IDMLCompiledOperator> gemm = OwnedGemm(device.Get(), 2, L"gemm");
  CHECK(gemm->GetBindingProperties().PersistentResourceSize == 256);
  Com<IDMLCompiledOperator> scale = Scale(device.Get(), 8, 2, 1, L"scale");
  GraphBuilder builder(device.Get());
  auto low = builder.Input(0, Tensor({1, 1, 1, 4})), high = builder.Input(1, Tensor({1, 1, 1, 4}));
  auto sum = builder.Add(low, high);
  Com<IDMLCompiledOperator> graph;
  CHECK(builder.Compile({builder.Relu(sum), builder.Add(sum, low)}, graph) == S_OK);
  CHECK(graph->GetBindingProperties().TemporaryResourceSize == 512);
  graph->SetName(L"middle");
  Tensor parts[2] = {Tensor({1, 1, 1, 4}), Tensor({1, 1, 1, 4})}, output({1, 1, 2, 4});
  const DML_TENSOR_DESC descs[] = {*parts[0].Get(), *parts[1].Get()};
  const DML_JOIN_OPERATOR_DESC joinDesc{2, descs, output.Get(), 2};
  Com<IDMLCompiledOperator> join =
      Compile(device.Get(), MakeOperator(device.Get(), DML_OPERATOR_JOIN, joinDesc), L"join");

  Queue queue(device.Get());
  queue.Initialize(gemm.Get(), {{}, {arena, 256}, {}}, {kept});
  queue.Dispatch(gemm.Get(), {{input}, {}, {}}, {{work}}, {kept});
  queue.Dispatch(scale.Get(), {{work}}, {{work}});
  queue.Dispatch(graph.Get(), {{work, 16}, {arena}}, {{work, 32}, {work, 48}});
  Com<IDMLBindingTable> table = queue.TableFor(join.Get());
  const DML_BUFFER_BINDING bound[] = {{work, 32, 16}, {work, 48, 16}};
  const DML_BUFFER_ARRAY_BINDING array{2, bound};
  const DML_BINDING_DESC inputs{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
  table->BindInputs(1, &inputs);
  const DML_BUFFER_BINDING last{result, 0, 32};
  const DML_BINDING_DESC outputs{DML_BINDING_TYPE_BUFFER, &last};
  table->BindOutputs(1, &outputs);
  Com<IDMLCommandRecorder> commands;
  CHECK(device->CreateCommandRecorder(iids::IDMLCommandRecorder, commands.VoidOut()) == S_OK);
  commands->RecordDispatch(nullptr, join.Get(), table.Get());
}

// All forms of tensors, each as the input of an identity.
inline void RecordForms(const std::string& folder) {
  Com<IDMLDevice1> device = RecordTo(folder);
  const auto record = [&](Tensor input, Tensor output, const wchar_t* name) {
    const DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC desc{input.Get(), output.Get(), nullptr};
    Compile(device.Get(), MakeOperator(device.Get(), DML_OPERATOR_ELEMENT_WISE_IDENTITY, desc), name);
  };
  const auto f32 = DML_TENSOR_DATA_TYPE_FLOAT32;
  const auto none = DML_TENSOR_FLAG_NONE, owned = DML_TENSOR_FLAG_OWNED_BY_DML;
  record(Tensor({5}), Tensor({5}), L"one dimension");
  record(Tensor({1, 2, 1, 2, 1, 2, 1, 2}), Tensor({1, 2, 1, 2, 1, 2, 1, 2}), L"eight dimensions");
  record(Tensor({2, 3}, f32, none, {3, 1}), Tensor({2, 3}), L"packed strides");
  record(Tensor({2, 3}, f32, none, {1, 2}), Tensor({2, 3}), L"permuted");
  record(Tensor({2, 3}, f32, none, {0, 1}), Tensor({2, 3}), L"broadcast");
  record(Tensor({2, 3}, f32, none, {8, 2}), Tensor({2, 3}), L"gaps");
  record(Tensor({2, 3}), Tensor({2, 3}, f32, none, {1, 4}), L"gaps written");
  record(Tensor({2, 3}, f32, owned), Tensor({2, 3}), L"owned");
  record(Tensor({3}, DML_TENSOR_DATA_TYPE_UINT8), Tensor({3}, DML_TENSOR_DATA_TYPE_UINT8), L"rounded up");
  Tensor padded({2, 3}), aligned({2, 3});
  padded.buffer.TotalTensorSizeInBytes = 64;
  aligned.buffer.GuaranteedBaseOffsetAlignment = 256;
  record(padded, Tensor({2, 3}), L"padded");
  record(aligned, Tensor({2, 3}), L"aligned");
  const struct {
    DML_TENSOR_DATA_TYPE type;
    const wchar_t* name;
  } types[] = {
      {DML_TENSOR_DATA_TYPE_FLOAT16, L"FLOAT16"}, {DML_TENSOR_DATA_TYPE_FLOAT32, L"FLOAT32"},
      {DML_TENSOR_DATA_TYPE_FLOAT64, L"FLOAT64"}, {DML_TENSOR_DATA_TYPE_INT8, L"INT8"},
      {DML_TENSOR_DATA_TYPE_INT16, L"INT16"},     {DML_TENSOR_DATA_TYPE_INT32, L"INT32"},
      {DML_TENSOR_DATA_TYPE_INT64, L"INT64"},     {DML_TENSOR_DATA_TYPE_UINT8, L"UINT8"},
      {DML_TENSOR_DATA_TYPE_UINT16, L"UINT16"},   {DML_TENSOR_DATA_TYPE_UINT32, L"UINT32"},
      {DML_TENSOR_DATA_TYPE_UINT64, L"UINT64"},   {DML_TENSOR_DATA_TYPE_UINT4, L"UINT4"},
      {DML_TENSOR_DATA_TYPE_INT4, L"INT4"},
  };
  Queue queue(device.Get());
  std::size_t next = 0;
  for (const auto& item : types) {
    Tensor input({5}, item.type), output({5}, item.type);
    const DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC desc{input.Get(), output.Get(), nullptr};
    Com<IDMLCompiledOperator> compiled =
        Compile(device.Get(), MakeOperator(device.Get(), DML_OPERATOR_ELEMENT_WISE_IDENTITY, desc), item.name);
    queue.Dispatch(compiled.Get(), {{Buffer(next)}}, {{Buffer(next + 1)}});
    next += 2;
  }
}

// A value with two graph outputs and a reader, and a graph that overwrites an input of a later node.
inline void RecordSharedOutputs(const std::string& folder) {
  Com<IDMLDevice1> device = RecordTo(folder);
  Com<dml2onnx::Recorder> recorder = RecorderOf(device.Get());
  ID3D12Resource *x = Buffer(0), *one = Buffer(1), *two = Buffer(2), *three = Buffer(3);
  recorder->NameBuffer(x, L"x");
  recorder->NameBuffer(one, L"one");
  recorder->NameBuffer(two, L"two");
  recorder->NameBuffer(three, L"three");
  GraphBuilder builder(device.Get());
  auto input = builder.Input(0, Tensor({1, 1, 1, 4}));
  auto doubled = builder.Add(input, input);
  auto tripled = builder.Add(doubled, input);
  Com<IDMLCompiledOperator> compiled;
  CHECK(builder.Compile({doubled, doubled, tripled}, compiled) == S_OK);
  Queue queue(device.Get());
  queue.Dispatch(compiled.Get(), {{x}}, {{one}, {two}, {three}});
  queue.Dispatch(compiled.Get(), {{three}}, {{three}, {one}, {Buffer(5)}});  // 6, 6 and 9 times x
}

// One operator, initialized twice: its persistent resource determines the matrix.
inline void RecordWeightSets(const std::string& folder) {
  Com<IDMLDevice1> device = RecordTo(folder);
  Com<dml2onnx::Recorder> recorder = RecorderOf(device.Get());
  ID3D12Resource *x = Buffer(0), *upload = Buffer(1), *persistent = Buffer(2);
  recorder->NameBuffer(x, L"x");
  recorder->NameBuffer(Buffer(3), L"first");
  recorder->NameBuffer(Buffer(4), L"second");
  Com<IDMLCompiledOperator> gemm = OwnedGemm(device.Get(), 1, L"gemm");
  Queue queue(device.Get());
  const std::vector<float> first = Ramp(16, 1), second = Ramp(16, -1);
  CHECK(recorder->Constant(upload, first.data(), 64, 0) == S_OK);
  queue.Initialize(gemm.Get(), {{}, {upload}, {}}, {persistent});
  CHECK(recorder->Constant(upload, second.data(), 64, 0) == S_OK);  // the same buffer, with other contents
  queue.Initialize(gemm.Get(), {{}, {upload}, {}}, {persistent, 256});
  queue.Dispatch(gemm.Get(), {{x}, {}, {}}, {{Buffer(3)}}, {persistent});
  queue.Dispatch(gemm.Get(), {{x}, {}, {}}, {{Buffer(4)}}, {persistent, 256});
}

// Names that are invalid for files, duplicate, or only from callbacks; and an example of an input.
inline void RecordNames(const std::string& folder) {
  dml2onnx::RecordingOptions options = OptionsFor(folder);
  options.graphName = [](UINT number) { return number == 1 ? std::string("hooked/graph") : std::string(); };
  options.bufferName = [](ID3D12Resource* buffer) { return buffer == Buffer(0) ? "hooked buffer" : ""; };
  Com<IDMLDevice1> device;
  CHECK(dml2onnx::CreateRecordingDevice(nullptr, options, iids::IDMLDevice1, device.VoidOut()) == S_OK);
  std::vector<Com<IDMLCompiledOperator>> compiled(3);
  for (Com<IDMLCompiledOperator>& item : compiled) {
    GraphBuilder graph(device.Get());
    const float weights[4] = {1, 2, 3, 4};
    auto w = graph.Constant(weights, sizeof weights, Tensor({4}), "../w");
    graph.inputNames[0] = "x";
    CHECK(graph.Compile({graph.Add(graph.Input(0, Tensor({4})), w)}, item) == S_OK);
  }
  compiled[1]->SetName(L"CON");
  compiled[2]->SetName(sizeof(wchar_t) == 2 ? L"na\u00efve \xD83D\xDE00" : L"na\u00efve \U0001F600");
  Scale(device.Get(), 4, 1, 0, L"con");
  const float example[4] = {5, 6, 7, 8};
  Com<dml2onnx::Recorder> recorder = RecorderOf(device.Get());
  CHECK(recorder->ConstantInput(compiled[1].Get(), 0, example, sizeof example) == S_OK);
  CHECK(recorder->ConstantInput(compiled[1].Get(), 1, example, sizeof example) == E_INVALIDARG);
  Queue queue(device.Get());
  queue.Dispatch(compiled[0].Get(), {{Buffer(0)}}, {{Buffer(1)}});
  recorder->ForgetBuffer(Buffer(0));
  recorder->NameBuffer(Buffer(0), L"another \"buffer\"");  // at the same address
  CHECK(recorder->NameBuffer(Buffer(2), L"result") == S_OK && recorder->NameBuffer(Buffer(1), L"result") == S_OK);
  queue.Dispatch(compiled[0].Get(), {{Buffer(0)}}, {{Buffer(2)}});
}

// A program that exits in the middle, without releasing anything.
inline void RecordAndDie(const std::string& folder) {
  Com<IDMLDevice1> device = RecordTo(folder);
  Com<IDMLCompiledOperator> scale = Scale(device.Get(), 4, 3, 0, L"scale");
  Queue queue(device.Get());
  queue.Dispatch(scale.Get(), {{Buffer(0)}}, {{Buffer(1)}});
  Scale(device.Get(), 4, 3, 0, L"last");
  std::_Exit(3);
}

// A long program that exits in the middle: graphs, weights and dispatches continue until then.
inline void RecordMuchAndDie(const std::string& folder) {
  Com<IDMLDevice1> device = RecordTo(folder);
  Com<dml2onnx::Recorder> recorder = RecorderOf(device.Get());
  Queue queue(device.Get());
  const std::vector<float> weights = Ramp(16, 1);
  std::vector<Com<IDMLCompiledOperator>> kept;
  const char* last = std::getenv("LAST_STEP");
  for (std::size_t index = 0; index < 60; ++index) {
    kept.push_back(Scale(device.Get(), 4, 1, 1, (L"step " + std::to_wstring(index)).c_str()));
    queue.Dispatch(kept.back().Get(), {{Buffer(index)}}, {{Buffer(index + 1)}});
    if (last != nullptr && index == std::stoul(last)) std::_Exit(3);
  }
  kept.push_back(OwnedGemm(device.Get(), 1, L"gemm"));
  CHECK(recorder->Constant(Buffer(100), weights.data(), 64, 0) == S_OK);
  queue.Initialize(kept.back().Get(), {{}, {Buffer(100)}, {}}, {Buffer(101)});
  queue.Dispatch(kept.back().Get(), {{Buffer(60)}, {}, {}}, {{Buffer(61)}}, {Buffer(101)});
  kept.back()->SetName(L"renamed");
  std::_Exit(3);
}

// A program that draws frames: more than are recorded, and more than are written one by one.
inline void RecordFrames(const std::string& folder) {
  dml2onnx::RecordingOptions options = OptionsFor(folder);
  options.mostDispatches = 100;
  Com<IDMLDevice> device;
  CHECK(dml2onnx::CreateRecordingDevice(nullptr, options, iids::IDMLDevice, device.VoidOut()) == S_OK);
  Com<IDMLCompiledOperator> scale = Scale(device.Get(), 4, 1, 1, L"frame");
  Queue queue(device.Get());
  for (int frame = 0; frame < 150; ++frame) queue.Dispatch(scale.Get(), {{Buffer(0)}}, {{Buffer(0)}});
}

}  // namespace networks
