// Shared by the programs of these tests: checks, tensors, buffers, and a graph builder like that of DirectMLX.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dml2onnx_recorder.h"
#include "iids.h"

#define CHECK(condition)                                                                 \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                      \
    }                                                                                    \
  } while (false)

// A COM smart pointer.
template <typename T>
class Com {
 public:
  Com() = default;
  Com(const Com& other) : object_(other.object_) {
    if (object_ != nullptr) object_->AddRef();
  }
  Com(Com&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Com& operator=(Com other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Com() { Reset(); }
  void Reset() {
    if (object_ != nullptr) std::exchange(object_, nullptr)->Release();
  }
  T* Get() const { return object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  T** Out() {
    Reset();
    return &object_;
  }
  void** VoidOut() { return reinterpret_cast<void**>(Out()); }

 private:
  T* object_ = nullptr;
};

// Returns the number of references, by adding and releasing one.
inline ULONG CountOf(IUnknown* object) {
  object->AddRef();
  return object->Release();
}

// Buffers are only compared by the recorder, never called.
inline ID3D12Resource* Buffer(std::size_t number) {
  static std::deque<char> memory(4096);
  return reinterpret_cast<ID3D12Resource*>(&memory[number]);
}

inline dml2onnx::RecordingOptions OptionsFor(const std::string& folder) {
  dml2onnx::RecordingOptions options;
  options.folder = folder;
  options.onProblem = [](const std::string& reason) { std::printf("problem: %s\n", reason.c_str()); };
  return options;
}

inline Com<IDMLDevice1> RecordTo(const std::string& folder, IDMLDevice* real = nullptr) {
  Com<IDMLDevice1> device;
  CHECK(dml2onnx::CreateRecordingDevice(real, OptionsFor(folder), iids::IDMLDevice1, device.VoidOut()) == S_OK);
  return device;
}

inline Com<dml2onnx::Recorder> RecorderOf(IDMLDevice* device) {
  Com<dml2onnx::Recorder> recorder;
  CHECK(dml2onnx::GetRecorder(device, recorder.Out()) == S_OK);
  return recorder;
}

inline UINT64 BitsOf(DML_TENSOR_DATA_TYPE type) {
  switch (type) {
    case DML_TENSOR_DATA_TYPE_FLOAT64:
    case DML_TENSOR_DATA_TYPE_INT64:
    case DML_TENSOR_DATA_TYPE_UINT64:
      return 64;
    case DML_TENSOR_DATA_TYPE_FLOAT16:
    case DML_TENSOR_DATA_TYPE_INT16:
    case DML_TENSOR_DATA_TYPE_UINT16:
      return 16;
    case DML_TENSOR_DATA_TYPE_INT8:
    case DML_TENSOR_DATA_TYPE_UINT8:
      return 8;
    case DML_TENSOR_DATA_TYPE_INT4:
    case DML_TENSOR_DATA_TYPE_UINT4:
      return 4;
    default:
      return 32;
  }
}

// A tensor descriptor that owns its arrays.
struct Tensor {
  std::vector<UINT> sizes, strides;
  DML_BUFFER_TENSOR_DESC buffer{};
  DML_TENSOR_DESC desc{};

  Tensor() = default;
  explicit Tensor(std::vector<UINT> itsSizes, DML_TENSOR_DATA_TYPE type = DML_TENSOR_DATA_TYPE_FLOAT32,
                  DML_TENSOR_FLAGS flags = DML_TENSOR_FLAG_NONE, std::vector<UINT> itsStrides = {})
      : sizes(std::move(itsSizes)), strides(std::move(itsStrides)) {
    buffer.DataType = type;
    buffer.Flags = flags;
    UINT64 elements = 1;
    for (std::size_t index = 0; index < sizes.size(); ++index) {
      elements = strides.empty() ? elements * sizes[index] : elements + UINT64{sizes[index] - 1} * strides[index];
    }
    buffer.TotalTensorSizeInBytes = ((elements * BitsOf(type) + 7) / 8 + 3) / 4 * 4;
  }

  // Returns the descriptor, which is valid until this tensor moves.
  const DML_TENSOR_DESC* Get() {
    buffer.DimensionCount = static_cast<UINT>(sizes.size());
    buffer.Sizes = sizes.data();
    buffer.Strides = strides.empty() ? nullptr : strides.data();
    desc = {DML_TENSOR_TYPE_BUFFER, &buffer};
    return &desc;
  }
};

template <typename Desc>
Com<IDMLOperator> MakeOperator(IDMLDevice* device, DML_OPERATOR_TYPE type, const Desc& desc) {
  const DML_OPERATOR_DESC whole{type, &desc};
  Com<IDMLOperator> op;
  CHECK(device->CreateOperator(&whole, iids::IDMLOperator, op.VoidOut()) == S_OK);
  return op;
}

// A graph as DirectMLX builds it: expressions refer to a shared builder, which numbers nodes in the order of creation,
// adds an intermediate edge for each tensor of a node, and makes a node of each constant.
class GraphBuilder {
 public:
  struct Value {
    enum class From { kInput, kNode } from = From::kInput;
    UINT index = 0, output = 0;
    Tensor tensor;
  };

  explicit GraphBuilder(IDMLDevice1* device) : device_(device) {}

  Value Input(UINT index, Tensor tensor) {
    inputCount_ = index + 1 > inputCount_ ? index + 1 : inputCount_;
    return {Value::From::kInput, index, 0, std::move(tensor)};
  }

  Value Constant(const void* data, SIZE_T bytes, Tensor tensor, const char* name) {
    constants_.push_back({data, bytes, name});
    nodes_.push_back({DML_GRAPH_NODE_TYPE_CONSTANT, &constants_.back()});
    return {Value::From::kNode, NodeCount() - 1, 0, std::move(tensor)};
  }

  Value Add(Value a, Value b) {
    Tensor output(a.tensor.sizes, a.tensor.buffer.DataType);
    const DML_ELEMENT_WISE_ADD_OPERATOR_DESC desc{a.tensor.Get(), b.tensor.Get(), output.Get()};
    return Node(DML_OPERATOR_ELEMENT_WISE_ADD, desc, {&a, &b}, output, nullptr);
  }

  Value Relu(Value input, const char* name = nullptr) {
    Tensor output(input.tensor.sizes, input.tensor.buffer.DataType);
    const DML_ACTIVATION_RELU_OPERATOR_DESC desc{input.tensor.Get(), output.Get()};
    return Node(DML_OPERATOR_ACTIVATION_RELU, desc, {&input}, output, name);
  }

  // [1, 1, M, K] by [1, 1, K, N], with an optional addend.
  Value Gemm(Value a, Value b, Value* c, const char* name = nullptr) {
    Tensor output({1, 1, a.tensor.sizes[2], b.tensor.sizes[3]});
    DML_GEMM_OPERATOR_DESC desc{};
    desc.ATensor = a.tensor.Get();
    desc.BTensor = b.tensor.Get();
    desc.CTensor = c == nullptr ? nullptr : c->tensor.Get();
    desc.OutputTensor = output.Get();
    desc.Alpha = desc.Beta = 1;
    std::vector<Value*> inputs{&a, &b};
    if (c != nullptr) inputs.push_back(c);
    return Node(DML_OPERATOR_GEMM, desc, inputs, output, name);
  }

  Value Join(std::vector<Value> parts, UINT axis) {
    std::vector<UINT> sizes = parts[0].tensor.sizes;
    sizes[axis] = 0;
    std::vector<DML_TENSOR_DESC> descs;
    std::vector<Value*> inputs;
    for (Value& part : parts) {
      sizes[axis] += part.tensor.sizes[axis];
      descs.push_back(*part.tensor.Get());
      inputs.push_back(&part);
    }
    Tensor output(sizes, parts[0].tensor.buffer.DataType);
    const DML_JOIN_OPERATOR_DESC desc{static_cast<UINT>(descs.size()), descs.data(), output.Get(), axis};
    return Node(DML_OPERATOR_JOIN, desc, inputs, output, nullptr);
  }

  // Sets names of the edges of graph inputs and outputs, which DirectMLX omits.
  std::map<UINT, const char*> inputNames, outputNames;

  // Compiles the graph with these outputs; returns the result of the device's method.
  HRESULT Compile(const std::vector<Value>& outputs, Com<IDMLCompiledOperator>& compiled) {
    std::deque<DML_INPUT_GRAPH_EDGE_DESC> inputs = inputEdges_;
    for (DML_INPUT_GRAPH_EDGE_DESC& edge : inputs) edge.Name = inputNames[edge.GraphInputIndex];
    std::deque<DML_OUTPUT_GRAPH_EDGE_DESC> shown;
    for (const Value& value : outputs) {
      const UINT number = static_cast<UINT>(shown.size());
      shown.push_back({value.index, value.output, number, outputNames[number]});
    }
    std::vector<DML_GRAPH_EDGE_DESC> edges[3];
    for (const auto& edge : inputs) edges[0].push_back({DML_GRAPH_EDGE_TYPE_INPUT, &edge});
    for (const auto& edge : shown) edges[1].push_back({DML_GRAPH_EDGE_TYPE_OUTPUT, &edge});
    for (const auto& edge : intermediateEdges_) edges[2].push_back({DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &edge});
    DML_GRAPH_DESC desc{};
    desc.InputCount = inputCount_;
    desc.OutputCount = static_cast<UINT>(outputs.size());
    desc.NodeCount = NodeCount();
    desc.Nodes = nodes_.data();
    desc.InputEdgeCount = static_cast<UINT>(edges[0].size());
    desc.InputEdges = edges[0].data();
    desc.OutputEdgeCount = static_cast<UINT>(edges[1].size());
    desc.OutputEdges = edges[1].data();
    desc.IntermediateEdgeCount = static_cast<UINT>(edges[2].size());
    desc.IntermediateEdges = edges[2].data();
    return device_->CompileGraph(&desc, DML_EXECUTION_FLAG_NONE, iids::IDMLCompiledOperator, compiled.VoidOut());
  }

 private:
  UINT NodeCount() const { return static_cast<UINT>(nodes_.size()); }

  template <typename Desc>
  Value Node(DML_OPERATOR_TYPE type, const Desc& desc, const std::vector<Value*>& inputs, Tensor output,
             const char* name) {
    operators_.push_back(MakeOperator(device_, type, desc));
    operatorNodes_.push_back({operators_.back().Get(), name});
    nodes_.push_back({DML_GRAPH_NODE_TYPE_OPERATOR, &operatorNodes_.back()});
    const UINT node = NodeCount() - 1;
    UINT number = 0;
    for (const Value* input : inputs) {
      if (input->from == Value::From::kInput) {
        inputEdges_.push_back({input->index, node, number++, nullptr});
      } else {
        intermediateEdges_.push_back({input->index, input->output, node, number++, nullptr});
      }
    }
    return {Value::From::kNode, node, 0, std::move(output)};
  }

  IDMLDevice1* device_;
  UINT inputCount_ = 0;
  std::vector<Com<IDMLOperator>> operators_;
  std::deque<DML_OPERATOR_GRAPH_NODE_DESC> operatorNodes_;
  std::deque<DML_CONSTANT_DATA_GRAPH_NODE_DESC> constants_;
  std::vector<DML_GRAPH_NODE_DESC> nodes_;
  std::deque<DML_INPUT_GRAPH_EDGE_DESC> inputEdges_;
  std::deque<DML_INTERMEDIATE_GRAPH_EDGE_DESC> intermediateEdges_;
};

// Buffers for bindings: {buffer, offset}; nullptr for none.
struct Part {
  ID3D12Resource* buffer = nullptr;
  UINT64 offset = 0;
};

// A queue that initializes and dispatches operators.
class Queue {
 public:
  // `descriptors` is the size of tables, by default the required one.
  explicit Queue(IDMLDevice* device, UINT descriptors = 0) : device_(device), descriptors_(descriptors) {
    CHECK(device->CreateCommandRecorder(iids::IDMLCommandRecorder, recorder_.VoidOut()) == S_OK);
  }

  // `owned` has an element for each input of the operator; `persistent` stores them.
  void Initialize(IDMLCompiledOperator* compiled, const std::vector<Part>& owned, Part persistent = {}) {
    Com<IDMLOperatorInitializer> initializer;
    IDMLCompiledOperator* all[] = {compiled};
    CHECK(device_->CreateOperatorInitializer(1, all, iids::IDMLOperatorInitializer, initializer.VoidOut()) == S_OK);
    Com<IDMLBindingTable> table = TableFor(initializer.Get());
    std::vector<DML_BUFFER_BINDING> buffers;
    for (const Part& part : owned) buffers.push_back({part.buffer, part.offset, 1 << 20});
    const DML_BUFFER_ARRAY_BINDING array{static_cast<UINT>(buffers.size()), buffers.data()};
    const DML_BINDING_DESC input{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
    table->BindInputs(1, &input);
    const DML_BUFFER_BINDING kept{persistent.buffer, persistent.offset, 1 << 20};
    const DML_BINDING_DESC output{persistent.buffer == nullptr ? DML_BINDING_TYPE_NONE : DML_BINDING_TYPE_BUFFER,
                                  &kept};
    table->BindOutputs(1, &output);
    recorder_->RecordDispatch(nullptr, initializer.Get(), table.Get());
  }

  void Dispatch(IDMLCompiledOperator* compiled, const std::vector<Part>& inputs, const std::vector<Part>& outputs,
                Part persistent = {}, Part temporary = {Buffer(4000)}) {
    Com<IDMLBindingTable> table = TableFor(compiled);
    Bind(inputs, [&](UINT count, const DML_BINDING_DESC* descs) { table->BindInputs(count, descs); });
    Bind(outputs, [&](UINT count, const DML_BINDING_DESC* descs) { table->BindOutputs(count, descs); });
    const DML_BUFFER_BINDING kept{persistent.buffer, persistent.offset, 1 << 20};
    const DML_BINDING_DESC desc{DML_BINDING_TYPE_BUFFER, &kept};
    table->BindPersistentResource(persistent.buffer == nullptr ? nullptr : &desc);
    const DML_BUFFER_BINDING scratch{temporary.buffer, temporary.offset, 1 << 20};
    const DML_BINDING_DESC scratchDesc{DML_BINDING_TYPE_BUFFER, &scratch};
    table->BindTemporaryResource(&scratchDesc);
    recorder_->RecordDispatch(nullptr, compiled, table.Get());
  }

  Com<IDMLBindingTable> TableFor(IDMLDispatchable* dispatchable) {
    DML_BINDING_TABLE_DESC desc{};
    desc.Dispatchable = dispatchable;
    const UINT needed = dispatchable->GetBindingProperties().RequiredDescriptorCount;
    desc.SizeInDescriptors = descriptors_ == 0 ? needed : descriptors_;
    Com<IDMLBindingTable> table;
    CHECK(device_->CreateBindingTable(&desc, iids::IDMLBindingTable, table.VoidOut()) == S_OK);
    return table;
  }

 private:
  template <typename Function>
  static void Bind(const std::vector<Part>& parts, Function bind) {
    std::vector<DML_BUFFER_BINDING> buffers;
    std::vector<DML_BINDING_DESC> descs;
    for (const Part& part : parts) buffers.push_back({part.buffer, part.offset, 1 << 20});
    for (const DML_BUFFER_BINDING& buffer : buffers) {
      if (buffer.Buffer == nullptr) {
        descs.push_back({DML_BINDING_TYPE_NONE, nullptr});
      } else {
        descs.push_back({DML_BINDING_TYPE_BUFFER, &buffer});
      }
    }
    bind(static_cast<UINT>(descs.size()), descs.data());
  }

  IDMLDevice* device_;
  UINT descriptors_;
  Com<IDMLCommandRecorder> recorder_;
};
