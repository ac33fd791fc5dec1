// A DirectMLX for tests: the parts that programs of `convert --format cpp` use, with the documented behaviour of the
// real one. Programs that compile with it also compile with Microsoft's.
#pragma once

#include <DirectML.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace Microsoft::WRL {

template <typename T>
class ComPtr {
 public:
  ComPtr() = default;
  explicit ComPtr(T* object) : object_(object) {}
  ComPtr(const ComPtr& other) : object_(other.object_) {
    if (object_ != nullptr) object_->AddRef();
  }
  ComPtr(ComPtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  ComPtr& operator=(ComPtr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~ComPtr() {
    if (object_ != nullptr) object_->Release();
  }
  T* Get() const { return object_; }
  T* operator->() const { return object_; }
  T** operator&() { return &object_; }

 private:
  T* object_ = nullptr;
};

}  // namespace Microsoft::WRL

namespace dml {

using TensorDimensions = std::vector<std::uint32_t>;
using TensorStrides = TensorDimensions;
template <typename T>
using Optional = std::optional<T>;
constexpr std::nullopt_t NullOpt = std::nullopt;

template <typename T>
class Span {
 public:
  Span() = default;
  Span(std::initializer_list<std::remove_const_t<T>> list) : size_(list.size()) {
    T* const first = list.begin();  // valid during the call
    begin_ = first;
  }
  template <std::size_t N>
  Span(T (&array)[N]) : begin_(array), size_(N) {}
  Span(const std::vector<std::remove_const_t<T>>& list) : begin_(list.data()), size_(list.size()) {}
  T* begin() const { return begin_; }
  T* end() const { return begin_ + size_; }
  T* data() const { return begin_; }
  T& operator[](std::size_t index) const { return begin_[index]; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  T* begin_ = nullptr;
  std::size_t size_ = 0;
};

inline void Require(HRESULT result) {
  if (FAILED(result)) throw std::runtime_error("DirectML refused a descriptor");
}

inline std::uint64_t BufferSize(DML_TENSOR_DATA_TYPE type, const TensorDimensions& sizes, const TensorStrides* strides) {
  std::uint64_t last = 0, step = 1, bits = 32;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    last += (sizes[i] - 1) * (strides != nullptr ? (*strides)[i] : step);
    step *= sizes[i];
  }
  switch (type) {
    case DML_TENSOR_DATA_TYPE_FLOAT64: case DML_TENSOR_DATA_TYPE_INT64: case DML_TENSOR_DATA_TYPE_UINT64: bits = 64; break;
    case DML_TENSOR_DATA_TYPE_FLOAT16: case DML_TENSOR_DATA_TYPE_INT16: case DML_TENSOR_DATA_TYPE_UINT16: bits = 16; break;
    case DML_TENSOR_DATA_TYPE_INT8: case DML_TENSOR_DATA_TYPE_UINT8: bits = 8; break;
    case DML_TENSOR_DATA_TYPE_INT4: case DML_TENSOR_DATA_TYPE_UINT4: bits = 4; break;
    default: break;
  }
  return (((last + 1) * bits + 7) / 8 + 3) / 4 * 4;
}

struct TensorProperties {
  Optional<TensorStrides> strides;
  std::uint64_t totalTensorSizeInBytes = 0;
  std::uint32_t guaranteedBaseOffsetAlignment = 0;
};

class TensorPolicy {
 public:
  static TensorPolicy InterleavedChannel() {
    TensorPolicy policy;
    policy.interleaved_ = true;
    return policy;
  }
  TensorProperties Get(DML_TENSOR_DATA_TYPE type, const TensorDimensions& sizes) const {
    TensorProperties found;
    if (interleaved_) {
      TensorStrides strides(sizes.size());
      std::uint32_t all = 1;
      for (std::size_t i = 1; i < sizes.size(); ++i) all *= sizes[i];
      strides[0] = all;
      if (sizes.size() > 1) strides[1] = 1;
      std::uint32_t step = sizes.size() > 1 ? sizes[1] : 1;
      for (std::size_t i = sizes.size(); i-- > 2;) {
        strides[i] = step;
        step *= sizes[i];
      }
      found.strides = std::move(strides);
    }
    found.totalTensorSizeInBytes = BufferSize(type, sizes, found.strides ? &*found.strides : nullptr);
    return found;
  }

 private:
  bool interleaved_ = false;
};

struct TensorDesc {
  DML_TENSOR_DATA_TYPE dataType = DML_TENSOR_DATA_TYPE_UNKNOWN;
  DML_TENSOR_FLAGS flags = DML_TENSOR_FLAG_NONE;
  TensorDimensions sizes;
  Optional<TensorStrides> strides;
  std::uint64_t totalTensorSizeInBytes = 0;
  std::uint32_t guaranteedBaseOffsetAlignment = 0;

  TensorDesc() = default;
  TensorDesc(DML_TENSOR_DATA_TYPE type, TensorDimensions dimensions, const TensorPolicy& policy = {})
      : TensorDesc(type, DML_TENSOR_FLAG_NONE, std::move(dimensions), policy) {}
  TensorDesc(DML_TENSOR_DATA_TYPE type, DML_TENSOR_FLAGS flag, TensorDimensions dimensions, const TensorPolicy& policy = {})
      : dataType(type), flags(flag), sizes(std::move(dimensions)) {
    TensorProperties found = policy.Get(type, sizes);
    strides = std::move(found.strides);
    totalTensorSizeInBytes = found.totalTensorSizeInBytes;
  }
  TensorDesc(DML_TENSOR_DATA_TYPE type, DML_TENSOR_FLAGS flag, TensorDimensions dimensions, Optional<TensorStrides> steps,
             std::uint64_t total, std::uint32_t alignment)
      : dataType(type), flags(flag), sizes(std::move(dimensions)), strides(std::move(steps)),
        totalTensorSizeInBytes(total), guaranteedBaseOffsetAlignment(alignment) {}

  template <typename T>
  T* AsPtr() {
    static_assert(std::is_same_v<T, DML_TENSOR_DESC>);
    buffer_ = {dataType, flags, static_cast<UINT>(sizes.size()), sizes.data(), strides ? strides->data() : nullptr,
               totalTensorSizeInBytes, guaranteedBaseOffsetAlignment};
    desc_ = {DML_TENSOR_TYPE_BUFFER, &buffer_};
    return &desc_;
  }

 private:
  DML_BUFFER_TENSOR_DESC buffer_ = {};
  DML_TENSOR_DESC desc_ = {};
};

class Expression;

namespace detail {

class GraphBuilder;
enum class NodeType { Invalid, Input, Operator, Reinterpret };
struct NodeID {
  NodeType type;
  std::uint32_t index;
};

class NodeOutput {
 public:
  NodeOutput(GraphBuilder* owner, NodeID node, std::uint32_t index, TensorDesc desc)
      : owner_(owner), node_(node), index_(index), desc_(std::move(desc)) {}
  GraphBuilder* GetGraphBuilder() const { return owner_; }
  NodeID GetNode() const { return node_; }
  std::uint32_t GetOutputIndex() const { return index_; }
  const TensorDesc& GetOutputDesc() const { return desc_; }

 private:
  GraphBuilder* owner_;
  NodeID node_;
  std::uint32_t index_;
  TensorDesc desc_;
};

class GraphBuilder {
 public:
  GraphBuilder(IDMLDevice* device, TensorPolicy policy) : device_(device), policy_(policy) {}
  const TensorPolicy& GetTensorPolicy() const { return policy_; }
  NodeID CreateOperatorNode(DML_OPERATOR_TYPE type, const void* desc, Span<NodeOutput* const> inputs) {
    const DML_OPERATOR_DESC operatorDesc{type, desc};
    Microsoft::WRL::ComPtr<IDMLOperator> made;
    Require(device_->CreateOperator(&operatorDesc, IID_PPV_ARGS(&made)));
    operators_.push_back({std::move(made), {inputs.begin(), inputs.end()}});
    return {NodeType::Operator, static_cast<std::uint32_t>(operators_.size() - 1)};
  }
  NodeID CreateInputNode(std::uint32_t index) {
    inputs_.push_back(index);
    return {NodeType::Input, static_cast<std::uint32_t>(inputs_.size() - 1)};
  }
  NodeID CreateReinterpretNode(NodeOutput* input) {
    reinterpreted_.push_back(input);
    return {NodeType::Reinterpret, static_cast<std::uint32_t>(reinterpreted_.size() - 1)};
  }
  NodeOutput* CreateNodeOutput(NodeID node, std::uint32_t index, TensorDesc desc) {
    outputs_.emplace_back(this, node, index, std::move(desc));
    return &outputs_.back();
  }
  NodeOutput* Real(NodeOutput* output) const {
    while (output->GetNode().type == NodeType::Reinterpret) output = reinterpreted_[output->GetNode().index];
    return output;
  }
  Microsoft::WRL::ComPtr<IDMLCompiledOperator> Compile(DML_EXECUTION_FLAGS flags, Span<const Expression> outputs) const;

 private:
  struct Operator {
    Microsoft::WRL::ComPtr<IDMLOperator> made;
    std::vector<NodeOutput*> inputs;
  };
  IDMLDevice* device_;
  TensorPolicy policy_;
  std::vector<std::uint32_t> inputs_;
  std::vector<Operator> operators_;
  std::vector<NodeOutput*> reinterpreted_;
  std::deque<NodeOutput> outputs_;
};

}  // namespace detail

class Expression {
 public:
  Expression(detail::NodeOutput* output = nullptr) : output_(output) {}
  const TensorDesc& GetOutputDesc() const { return output_->GetOutputDesc(); }
  detail::NodeOutput* Impl() const { return output_; }

 private:
  detail::NodeOutput* output_;
};

class Graph {
 public:
  explicit Graph(IDMLDevice* device, TensorPolicy policy = {}) : builder_(device, policy) {}
  detail::GraphBuilder* Impl() { return &builder_; }
  Microsoft::WRL::ComPtr<IDMLCompiledOperator> Compile(DML_EXECUTION_FLAGS flags, Span<const Expression> outputs) const {
    return builder_.Compile(flags, outputs);
  }

 private:
  detail::GraphBuilder builder_;
};

inline Microsoft::WRL::ComPtr<IDMLCompiledOperator> detail::GraphBuilder::Compile(
    DML_EXECUTION_FLAGS flags, Span<const Expression> outputs) const {
  std::vector<DML_OPERATOR_GRAPH_NODE_DESC> nodes;
  std::vector<DML_INPUT_GRAPH_EDGE_DESC> in;
  std::vector<DML_INTERMEDIATE_GRAPH_EDGE_DESC> between;
  std::vector<DML_OUTPUT_GRAPH_EDGE_DESC> out;
  for (std::uint32_t number = 0; number < operators_.size(); ++number) {
    nodes.push_back({operators_[number].made.Get(), nullptr});
    for (std::uint32_t i = 0; i < operators_[number].inputs.size(); ++i) {
      if (operators_[number].inputs[i] == nullptr) continue;
      const NodeOutput* input = Real(operators_[number].inputs[i]);
      if (input->GetNode().type == NodeType::Input) {
        in.push_back({inputs_[input->GetNode().index], number, i, nullptr});
      } else {
        between.push_back({input->GetNode().index, input->GetOutputIndex(), number, i, nullptr});
      }
    }
  }
  for (std::uint32_t i = 0; i < outputs.size(); ++i) {
    const NodeOutput* output = Real(outputs[i].Impl());
    if (output->GetNode().type != NodeType::Operator) Require(E_INVALIDARG);
    out.push_back({output->GetNode().index, output->GetOutputIndex(), i, nullptr});
  }
  std::vector<DML_GRAPH_NODE_DESC> nodeDescs;
  std::vector<DML_GRAPH_EDGE_DESC> inDescs, betweenDescs, outDescs;
  for (const auto& item : nodes) nodeDescs.push_back({DML_GRAPH_NODE_TYPE_OPERATOR, &item});
  for (const auto& item : in) inDescs.push_back({DML_GRAPH_EDGE_TYPE_INPUT, &item});
  for (const auto& item : between) betweenDescs.push_back({DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &item});
  for (const auto& item : out) outDescs.push_back({DML_GRAPH_EDGE_TYPE_OUTPUT, &item});
  const auto count = [](const auto& list) { return static_cast<UINT>(list.size()); };
  const DML_GRAPH_DESC graph{count(inputs_), count(outDescs), count(nodeDescs), nodeDescs.data(),
                             count(inDescs), inDescs.data(), count(outDescs), outDescs.data(),
                             count(betweenDescs), betweenDescs.data()};
  Microsoft::WRL::ComPtr<IDMLDevice1> device1;
  Require(device_->QueryInterface(IID_PPV_ARGS(&device1)));
  Microsoft::WRL::ComPtr<IDMLCompiledOperator> compiled;
  Require(device1->CompileGraph(&graph, flags, IID_PPV_ARGS(&compiled)));
  return compiled;
}

struct FusedActivation {
  DML_OPERATOR_TYPE activation = DML_OPERATOR_INVALID;
  float param1 = 0, param2 = 0;
  FusedActivation() = default;
  explicit FusedActivation(DML_OPERATOR_TYPE type, float first = 0, float second = 0)
      : activation(type), param1(first), param2(second) {}
  static FusedActivation None() { return {}; }
  static FusedActivation Relu() { return FusedActivation(DML_OPERATOR_ACTIVATION_RELU); }
  static FusedActivation Sigmoid() { return FusedActivation(DML_OPERATOR_ACTIVATION_SIGMOID); }
  static FusedActivation Tanh() { return FusedActivation(DML_OPERATOR_ACTIVATION_TANH); }
  static FusedActivation LeakyRelu(float a = 0.01f) { return FusedActivation(DML_OPERATOR_ACTIVATION_LEAKY_RELU, a); }
  static FusedActivation Linear(float a, float b) { return FusedActivation(DML_OPERATOR_ACTIVATION_LINEAR, a, b); }
};

namespace detail {

struct Fused {
  explicit Fused(FusedActivation given)
      : fields{nullptr, nullptr, given.param1, given.param2}, desc{given.activation, &fields} {}
  const DML_OPERATOR_DESC* Get() const { return desc.Type == DML_OPERATOR_INVALID ? nullptr : &desc; }
  DML_ACTIVATION_LINEAR_OPERATOR_DESC fields;
  DML_OPERATOR_DESC desc;
};

// Creates a node with one output of this data type and sizes, and with inputs in the order of the structure.
template <typename Desc, typename Fill>
Expression One(DML_OPERATOR_TYPE type, std::vector<Expression> inputs, DML_TENSOR_DATA_TYPE dataType,
               TensorDimensions sizes, Fill fill) {
  GraphBuilder* builder = inputs[0].Impl()->GetGraphBuilder();
  std::vector<TensorDesc> tensors;
  std::vector<NodeOutput*> nodes;
  for (Expression item : inputs) {
    tensors.push_back(item.Impl() == nullptr ? TensorDesc() : item.GetOutputDesc());
    nodes.push_back(item.Impl());
  }
  TensorDesc output(dataType, std::move(sizes), builder->GetTensorPolicy());
  std::vector<const DML_TENSOR_DESC*> pointers;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    pointers.push_back(nodes[i] == nullptr ? nullptr : tensors[i].template AsPtr<DML_TENSOR_DESC>());
  }
  Desc desc = {};
  fill(desc, pointers, output.AsPtr<DML_TENSOR_DESC>());
  const NodeID node = builder->CreateOperatorNode(type, &desc, nodes);
  return builder->CreateNodeOutput(node, 0, std::move(output));
}

template <typename Desc>
Expression Scaled(DML_OPERATOR_TYPE type, Expression x, const Optional<DML_SCALE_BIAS>& scale) {
  return One<Desc>(type, {x}, x.GetOutputDesc().dataType, x.GetOutputDesc().sizes, [&](Desc& d, auto& in, auto out) {
    d.InputTensor = in[0];
    d.OutputTensor = out;
    d.ScaleBias = scale ? &*scale : nullptr;
  });
}

template <typename Desc>
Expression Unary(DML_OPERATOR_TYPE type, Expression x, const std::function<void(Desc&)>& more = [](Desc&) {}) {
  return One<Desc>(type, {x}, x.GetOutputDesc().dataType, x.GetOutputDesc().sizes, [&](Desc& d, auto& in, auto out) {
    d.InputTensor = in[0];
    d.OutputTensor = out;
    more(d);
  });
}

template <typename Desc>
Expression Binary(DML_OPERATOR_TYPE type, Expression a, Expression b,
                  DML_TENSOR_DATA_TYPE kind = DML_TENSOR_DATA_TYPE_UNKNOWN) {
  const auto& desc = a.GetOutputDesc();
  const auto output = kind == DML_TENSOR_DATA_TYPE_UNKNOWN ? desc.dataType : kind;
  return One<Desc>(type, {a, b}, output, desc.sizes, [&](Desc& d, auto& in, auto out) {
    d.ATensor = in[0];
    d.BTensor = in[1];
    d.OutputTensor = out;
  });
}

inline std::vector<std::uint32_t> Or(Span<const std::uint32_t> given, std::size_t count, std::uint32_t usual) {
  return given.empty() ? std::vector<std::uint32_t>(count, usual) : std::vector<std::uint32_t>(given.begin(), given.end());
}

}  // namespace detail

inline Expression InputTensor(Graph& graph, std::uint32_t index, TensorDesc desc) {
  return graph.Impl()->CreateNodeOutput(graph.Impl()->CreateInputNode(index), 0, std::move(desc));
}

inline Expression Reinterpret(Expression x, DML_TENSOR_DATA_TYPE type, TensorDimensions sizes, Optional<TensorStrides> strides) {
  const TensorDesc& old = x.GetOutputDesc();
  TensorDesc desc(type, old.flags, std::move(sizes), std::move(strides), old.totalTensorSizeInBytes,
                  old.guaranteedBaseOffsetAlignment);
  detail::GraphBuilder* builder = x.Impl()->GetGraphBuilder();
  return builder->CreateNodeOutput(builder->CreateReinterpretNode(x.Impl()), 0, std::move(desc));
}
inline Expression Reinterpret(Expression x, TensorDimensions sizes, Optional<TensorStrides> strides) {
  return Reinterpret(x, x.GetOutputDesc().dataType, std::move(sizes), std::move(strides));
}

#define SCALED(name, kind)                                                                     \
  inline Expression name(Expression x, const Optional<DML_SCALE_BIAS>& scale = NullOpt) {      \
    return detail::Scaled<DML_ELEMENT_WISE_##kind##_OPERATOR_DESC>(DML_OPERATOR_ELEMENT_WISE_##kind, x, scale); \
  }
SCALED(Identity, IDENTITY) SCALED(Abs, ABS) SCALED(Ceil, CEIL) SCALED(Cos, COS) SCALED(Exp, EXP) SCALED(Floor, FLOOR)
SCALED(Log, LOG) SCALED(Sin, SIN) SCALED(Sqrt, SQRT) SCALED(Tan, TAN) SCALED(Erf, ERF) SCALED(Sinh, SINH)
SCALED(Cosh, COSH) SCALED(Tanh, TANH) SCALED(ACos, ACOS) SCALED(ASin, ASIN) SCALED(ATan, ATAN) SCALED(ASinh, ASINH)
SCALED(ACosh, ACOSH) SCALED(ATanh, ATANH) SCALED(Recip, RECIP)
#undef SCALED

#define BINARY(name, kind)                                                                     \
  inline Expression name(Expression a, Expression b) {                                         \
    return detail::Binary<DML_ELEMENT_WISE_##kind##_OPERATOR_DESC>(DML_OPERATOR_ELEMENT_WISE_##kind, a, b); \
  }
BINARY(Subtract, SUBTRACT) BINARY(Multiply, MULTIPLY) BINARY(Divide, DIVIDE) BINARY(Max, MAX) BINARY(Min, MIN)
BINARY(Mean, MEAN) BINARY(ATanYX, ATAN_YX) BINARY(LogicalAnd, LOGICAL_AND) BINARY(LogicalOr, LOGICAL_OR)
BINARY(LogicalXor, LOGICAL_XOR) BINARY(BitShiftLeft, BIT_SHIFT_LEFT) BINARY(BitShiftRight, BIT_SHIFT_RIGHT)
BINARY(BitAnd, BIT_AND) BINARY(BitOr, BIT_OR) BINARY(BitXor, BIT_XOR) BINARY(ModulusTruncate, MODULUS_TRUNCATE)
BINARY(ModulusFloor, MODULUS_FLOOR)
#undef BINARY

#define COMPARISON(name, kind)                                                                 \
  inline Expression name(Expression a, Expression b, DML_TENSOR_DATA_TYPE type = DML_TENSOR_DATA_TYPE_UINT8) { \
    return detail::Binary<DML_ELEMENT_WISE_LOGICAL_##kind##_OPERATOR_DESC>(                    \
        DML_OPERATOR_ELEMENT_WISE_LOGICAL_##kind, a, b, type);                                 \
  }
COMPARISON(Equals, EQUALS) COMPARISON(GreaterThan, GREATER_THAN) COMPARISON(GreaterThanOrEqual, GREATER_THAN_OR_EQUAL)
COMPARISON(LessThan, LESS_THAN) COMPARISON(LessThanOrEqual, LESS_THAN_OR_EQUAL)
#undef COMPARISON

inline Expression Add(Expression a, Expression b, FusedActivation fused = FusedActivation::None()) {
  using Desc = DML_ELEMENT_WISE_ADD1_OPERATOR_DESC;
  const auto& desc = a.GetOutputDesc();
  const detail::Fused storage(fused);
  return detail::One<Desc>(DML_OPERATOR_ELEMENT_WISE_ADD1, {a, b}, desc.dataType, desc.sizes,
                           [&](Desc& d, auto& in, auto out) {
                             d.ATensor = in[0];
                             d.BTensor = in[1];
                             d.OutputTensor = out;
                             d.FusedActivation = storage.Get();
                           });
}
inline Expression operator+(Expression a, Expression b) { return Add(a, b); }
inline Expression operator-(Expression a, Expression b) { return Subtract(a, b); }
inline Expression operator*(Expression a, Expression b) { return Multiply(a, b); }
inline Expression operator/(Expression a, Expression b) { return Divide(a, b); }
inline Expression operator%(Expression a, Expression b) { return ModulusTruncate(a, b); }

inline Expression LogicalNot(Expression x) {
  return detail::Unary<DML_ELEMENT_WISE_LOGICAL_NOT_OPERATOR_DESC>(DML_OPERATOR_ELEMENT_WISE_LOGICAL_NOT, x);
}
inline Expression BitNot(Expression x) {
  return detail::Unary<DML_ELEMENT_WISE_BIT_NOT_OPERATOR_DESC>(DML_OPERATOR_ELEMENT_WISE_BIT_NOT, x);
}
inline Expression Round(Expression x, DML_ROUNDING_MODE mode = DML_ROUNDING_MODE_HALVES_TO_NEAREST_EVEN) {
  using Desc = DML_ELEMENT_WISE_ROUND_OPERATOR_DESC;
  return detail::Unary<Desc>(DML_OPERATOR_ELEMENT_WISE_ROUND, x, [&](Desc& d) { d.RoundingMode = mode; });
}
inline Expression If(Expression condition, Expression a, Expression b) {
  using Desc = DML_ELEMENT_WISE_IF_OPERATOR_DESC;
  const auto& desc = a.GetOutputDesc();
  return detail::One<Desc>(DML_OPERATOR_ELEMENT_WISE_IF, {condition, a, b}, desc.dataType, desc.sizes,
                           [&](Desc& d, auto& in, auto out) {
                             d.ConditionTensor = in[0];
                             d.ATensor = in[1];
                             d.BTensor = in[2];
                             d.OutputTensor = out;
                           });
}
inline Expression Clip(Expression x, float min, float max, const Optional<DML_SCALE_BIAS>& scale = NullOpt) {
  using Desc = DML_ELEMENT_WISE_CLIP_OPERATOR_DESC;
  return detail::Unary<Desc>(DML_OPERATOR_ELEMENT_WISE_CLIP, x, [&](Desc& d) {
    d.ScaleBias = scale ? &*scale : nullptr;
    d.Min = min;
    d.Max = max;
  });
}
inline Expression Pow(Expression x, Expression exponent, const Optional<DML_SCALE_BIAS>& scale = NullOpt) {
  using Desc = DML_ELEMENT_WISE_POW_OPERATOR_DESC;
  const auto& desc = x.GetOutputDesc();
  return detail::One<Desc>(DML_OPERATOR_ELEMENT_WISE_POW, {x, exponent}, desc.dataType, desc.sizes,
                           [&](Desc& d, auto& in, auto out) {
                             d.InputTensor = in[0];
                             d.ExponentTensor = in[1];
                             d.OutputTensor = out;
                             d.ScaleBias = scale ? &*scale : nullptr;
                           });
}
inline Expression Pow(Expression x, float exponent, const Optional<DML_SCALE_BIAS>& scale = NullOpt) {
  using Desc = DML_ELEMENT_WISE_CONSTANT_POW_OPERATOR_DESC;
  return detail::Unary<Desc>(DML_OPERATOR_ELEMENT_WISE_CONSTANT_POW, x, [&](Desc& d) {
    d.ScaleBias = scale ? &*scale : nullptr;
    d.Exponent = exponent;
  });
}

#define ACTIVATION(name, kind, parameters, ...)                                                \
  inline Expression Activation##name parameters {                                              \
    using Desc = DML_ACTIVATION_##kind##_OPERATOR_DESC;                                        \
    return detail::Unary<Desc>(DML_OPERATOR_ACTIVATION_##kind, x, [&]([[maybe_unused]] Desc& d) { __VA_ARGS__; }); \
  }
ACTIVATION(Elu, ELU, (Expression x, float a = 1.0f), d.Alpha = a)
ACTIVATION(Hardmax, HARDMAX, (Expression x), )
ACTIVATION(HardSigmoid, HARD_SIGMOID, (Expression x, float a = 0.2f, float b = 0.5f), d.Alpha = a; d.Beta = b)
ACTIVATION(Identity, IDENTITY, (Expression x), )
ACTIVATION(LeakyRelu, LEAKY_RELU, (Expression x, float a = 0.01f), d.Alpha = a)
ACTIVATION(Linear, LINEAR, (Expression x, float a, float b), d.Alpha = a; d.Beta = b)
ACTIVATION(LogSoftmax, LOG_SOFTMAX, (Expression x), )
ACTIVATION(ParametricSoftplus, PARAMETRIC_SOFTPLUS, (Expression x, float a, float b), d.Alpha = a; d.Beta = b)
ACTIVATION(Relu, RELU, (Expression x), )
ACTIVATION(ScaledElu, SCALED_ELU,
           (Expression x, float a = 1.67326319217681884765625f, float b = 1.05070102214813232421875f),
           d.Alpha = a; d.Gamma = b)
ACTIVATION(ScaledTanh, SCALED_TANH, (Expression x, float a = 1.0f, float b = 0.5f), d.Alpha = a; d.Beta = b)
ACTIVATION(Sigmoid, SIGMOID, (Expression x), )
ACTIVATION(Softmax, SOFTMAX, (Expression x), )
ACTIVATION(Softplus, SOFTPLUS, (Expression x, float a = 1.0f), d.Steepness = a)
ACTIVATION(Softsign, SOFTSIGN, (Expression x), )
ACTIVATION(Tanh, TANH, (Expression x), )
ACTIVATION(ThresholdedRelu, THRESHOLDED_RELU, (Expression x, float a = 1.0f), d.Alpha = a)
ACTIVATION(Shrink, SHRINK, (Expression x, float a = 0.0f, float b = 0.5f), d.Bias = a; d.Threshold = b)
ACTIVATION(Celu, CELU, (Expression x, float a = 1.0f), d.Alpha = a)
#undef ACTIVATION

inline Expression ActivationParameterizedRelu(Expression x, Expression slope) {
  using Desc = DML_ACTIVATION_PARAMETERIZED_RELU_OPERATOR_DESC;
  const auto& desc = x.GetOutputDesc();
  return detail::One<Desc>(DML_OPERATOR_ACTIVATION_PARAMETERIZED_RELU, {x, slope}, desc.dataType, desc.sizes,
                           [&](Desc& d, auto& in, auto out) {
                             d.InputTensor = in[0];
                             d.SlopeTensor = in[1];
                             d.OutputTensor = out;
                           });
}

inline Expression Convolution(Expression input, Expression filter, Optional<Expression> bias = NullOpt,
                              DML_CONVOLUTION_MODE mode = DML_CONVOLUTION_MODE_CROSS_CORRELATION,
                              DML_CONVOLUTION_DIRECTION direction = DML_CONVOLUTION_DIRECTION_FORWARD,
                              Span<const std::uint32_t> strides = {}, Span<const std::uint32_t> dilations = {},
                              Span<const std::uint32_t> startPadding = {}, Span<const std::uint32_t> endPadding = {},
                              Span<const std::uint32_t> outputPadding = {}, std::uint32_t groupCount = 1,
                              FusedActivation fused = FusedActivation::None(), TensorDimensions sizes = {}) {
  using Desc = DML_CONVOLUTION_OPERATOR_DESC;
  const auto &x = input.GetOutputDesc(), &w = filter.GetOutputDesc();
  const std::size_t n = x.sizes.size() - 2;
  const auto s = detail::Or(strides, n, 1), l = detail::Or(dilations, n, 1), a = detail::Or(startPadding, n, 0),
             e = detail::Or(endPadding, n, 0), o = detail::Or(outputPadding, n, 0);
  if (sizes.empty()) {
    const bool forward = direction == DML_CONVOLUTION_DIRECTION_FORWARD;
    sizes = {x.sizes[0], forward ? w.sizes[0] : w.sizes[1] * groupCount};
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t kernel = 1 + (w.sizes[i + 2] - 1) * l[i];
      sizes.push_back(forward ? (x.sizes[i + 2] + a[i] + e[i] - kernel) / s[i] + 1
                              : (x.sizes[i + 2] - 1) * s[i] + kernel + o[i] - a[i] - e[i]);
    }
  }
  const detail::Fused storage(fused);
  std::vector<Expression> inputs{input, filter};
  inputs.push_back(bias ? *bias : Expression());
  return detail::One<Desc>(DML_OPERATOR_CONVOLUTION, inputs, x.dataType, sizes, [&](Desc& d, auto& in, auto out) {
    d.InputTensor = in[0];
    d.FilterTensor = in[1];
    d.BiasTensor = in[2];
    d.OutputTensor = out;
    d.Mode = mode;
    d.Direction = direction;
    d.DimensionCount = static_cast<UINT>(n);
    d.Strides = s.data();
    d.Dilations = l.data();
    d.StartPadding = a.data();
    d.EndPadding = e.data();
    d.OutputPadding = o.data();
    d.GroupCount = groupCount;
    d.FusedActivation = storage.Get();
  });
}

class ConvolutionBuilder {
 public:
  ConvolutionBuilder(Expression input, Expression filter, Optional<Expression> bias = NullOpt)
      : input_(input), filter_(filter), bias_(bias) {}
  using List = Span<const std::uint32_t>;
  ConvolutionBuilder& Mode(DML_CONVOLUTION_MODE mode) { mode_ = mode; return *this; }
  ConvolutionBuilder& Direction(DML_CONVOLUTION_DIRECTION direction) { direction_ = direction; return *this; }
  ConvolutionBuilder& Strides(List list) { strides_.assign(list.begin(), list.end()); return *this; }
  ConvolutionBuilder& Dilations(List list) { dilations_.assign(list.begin(), list.end()); return *this; }
  ConvolutionBuilder& StartPadding(List list) { start_.assign(list.begin(), list.end()); return *this; }
  ConvolutionBuilder& EndPadding(List list) { end_.assign(list.begin(), list.end()); return *this; }
  ConvolutionBuilder& OutputPadding(List list) { output_.assign(list.begin(), list.end()); return *this; }
  ConvolutionBuilder& GroupCount(std::uint32_t count) { groups_ = count; return *this; }
  ConvolutionBuilder& FusedActivation(dml::FusedActivation fused) { fused_ = fused; return *this; }
  Expression Build() const {
    return Convolution(input_, filter_, bias_, mode_, direction_, strides_, dilations_, start_, end_, output_, groups_, fused_);
  }

 private:
  Expression input_, filter_;
  Optional<Expression> bias_;
  DML_CONVOLUTION_MODE mode_ = DML_CONVOLUTION_MODE_CROSS_CORRELATION;
  DML_CONVOLUTION_DIRECTION direction_ = DML_CONVOLUTION_DIRECTION_FORWARD;
  std::vector<std::uint32_t> strides_, dilations_, start_, end_, output_;
  std::uint32_t groups_ = 1;
  dml::FusedActivation fused_;
};

inline Expression Gemm(Expression a, Expression b, Optional<Expression> c = NullOpt,
                       DML_MATRIX_TRANSFORM transA = DML_MATRIX_TRANSFORM_NONE,
                       DML_MATRIX_TRANSFORM transB = DML_MATRIX_TRANSFORM_NONE, float alpha = 1, float beta = 1,
                       FusedActivation fused = FusedActivation::None()) {
  using Desc = DML_GEMM_OPERATOR_DESC;
  const auto &x = a.GetOutputDesc(), &y = b.GetOutputDesc();
  const TensorDimensions sizes{x.sizes[0], x.sizes[1], x.sizes[transA == DML_MATRIX_TRANSFORM_NONE ? 2 : 3],
                               y.sizes[transB == DML_MATRIX_TRANSFORM_NONE ? 3 : 2]};
  const detail::Fused storage(fused);
  std::vector<Expression> inputs{a, b};
  inputs.push_back(c ? *c : Expression());
  return detail::One<Desc>(DML_OPERATOR_GEMM, inputs, x.dataType, sizes, [&](Desc& d, auto& in, auto out) {
    d.ATensor = in[0];
    d.BTensor = in[1];
    d.CTensor = in[2];
    d.OutputTensor = out;
    d.TransA = transA;
    d.TransB = transB;
    d.Alpha = alpha;
    d.Beta = beta;
    d.FusedActivation = storage.Get();
  });
}

inline Expression Reduce(Expression x, DML_REDUCE_FUNCTION function, Span<const std::uint32_t> given = {}) {
  using Desc = DML_REDUCE_OPERATOR_DESC;
  auto sizes = x.GetOutputDesc().sizes;
  std::vector<std::uint32_t> axes(given.begin(), given.end());
  for (std::uint32_t i = 0; given.empty() && i < sizes.size(); ++i) axes.push_back(i);
  for (std::uint32_t axis : axes) sizes[axis] = 1;
  const bool isIndex = function == DML_REDUCE_FUNCTION_ARGMIN || function == DML_REDUCE_FUNCTION_ARGMAX;
  const auto kind = isIndex ? DML_TENSOR_DATA_TYPE_UINT32 : x.GetOutputDesc().dataType;
  return detail::One<Desc>(DML_OPERATOR_REDUCE, {x}, kind, sizes, [&](Desc& d, auto& in, auto out) {
    d.Function = function;
    d.InputTensor = in[0];
    d.OutputTensor = out;
    d.AxisCount = static_cast<UINT>(axes.size());
    d.Axes = axes.data();
  });
}

struct MaxPoolingOutputs {
  Expression values;
  Expression indices;
};

inline MaxPoolingOutputs MaxPooling(Expression x, Span<const std::uint32_t> window,
                                    Span<const std::uint32_t> strides = {}, Span<const std::uint32_t> startPadding = {},
                                    Span<const std::uint32_t> endPadding = {}, Span<const std::uint32_t> dilations = {},
                                    bool outputIndices = false) {
  const std::size_t n = window.size();
  const auto s = detail::Or(strides, n, 1), a = detail::Or(startPadding, n, 0), e = detail::Or(endPadding, n, 0),
             l = detail::Or(dilations, n, 1);
  TensorDesc input = x.GetOutputDesc();
  TensorDimensions sizes{input.sizes[0], input.sizes[1]};
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t padded = input.sizes[i + 2] + a[i] + e[i], dilated = 1 + (window[i] - 1) * l[i];
    sizes.push_back(dilated >= padded ? 1 : (padded - dilated) / s[i] + 1);
  }
  detail::GraphBuilder* builder = x.Impl()->GetGraphBuilder();
  TensorDesc values(input.dataType, sizes, builder->GetTensorPolicy());
  TensorDesc indices(DML_TENSOR_DATA_TYPE_UINT32, sizes, builder->GetTensorPolicy());
  DML_MAX_POOLING2_OPERATOR_DESC desc = {};
  desc.InputTensor = input.AsPtr<DML_TENSOR_DESC>();
  desc.OutputTensor = values.AsPtr<DML_TENSOR_DESC>();
  desc.OutputIndicesTensor = outputIndices ? indices.AsPtr<DML_TENSOR_DESC>() : nullptr;
  desc.DimensionCount = static_cast<UINT>(n);
  desc.Strides = s.data();
  desc.WindowSize = window.data();
  desc.StartPadding = a.data();
  desc.EndPadding = e.data();
  desc.Dilations = l.data();
  detail::NodeOutput* const inputs[] = {x.Impl()};
  const auto node = builder->CreateOperatorNode(DML_OPERATOR_MAX_POOLING2, &desc, inputs);
  MaxPoolingOutputs made{builder->CreateNodeOutput(node, 0, std::move(values)), Expression()};
  if (outputIndices) made.indices = builder->CreateNodeOutput(node, 1, std::move(indices));
  return made;
}

inline Expression Slice(Expression x, Span<const std::uint32_t> offsets, Span<const std::uint32_t> windows,
                        Span<const std::int32_t> strides) {
  using Desc = DML_SLICE1_OPERATOR_DESC;
  TensorDimensions sizes;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    sizes.push_back((windows[i] - 1) / static_cast<std::uint32_t>(strides[i] < 0 ? -strides[i] : strides[i]) + 1);
  }
  return detail::One<Desc>(DML_OPERATOR_SLICE1, {x}, x.GetOutputDesc().dataType, sizes, [&](Desc& d, auto& in, auto out) {
    d.InputTensor = in[0];
    d.OutputTensor = out;
    d.DimensionCount = static_cast<UINT>(offsets.size());
    d.InputWindowOffsets = offsets.data();
    d.InputWindowSizes = windows.data();
    d.InputWindowStrides = strides.data();
  });
}

inline Expression Cast(Expression x, DML_TENSOR_DATA_TYPE type) {
  using Desc = DML_CAST_OPERATOR_DESC;
  return detail::One<Desc>(DML_OPERATOR_CAST, {x}, type, x.GetOutputDesc().sizes, [&](Desc& d, auto& in, auto out) {
    d.InputTensor = in[0];
    d.OutputTensor = out;
  });
}

inline std::vector<Expression> Split(Expression x, std::uint32_t axis, Span<const std::uint32_t> parts) {
  TensorDesc input = x.GetOutputDesc();
  detail::GraphBuilder* builder = x.Impl()->GetGraphBuilder();
  std::vector<TensorDesc> tensors;
  for (std::uint32_t part : parts) {
    TensorDimensions sizes = input.sizes;
    sizes[axis] = part;
    tensors.emplace_back(input.dataType, sizes, builder->GetTensorPolicy());
  }
  std::vector<DML_TENSOR_DESC> descs;
  for (TensorDesc& item : tensors) descs.push_back(*item.AsPtr<DML_TENSOR_DESC>());
  DML_SPLIT_OPERATOR_DESC desc = {};
  desc.InputTensor = input.AsPtr<DML_TENSOR_DESC>();
  desc.OutputCount = static_cast<UINT>(descs.size());
  desc.OutputTensors = descs.data();
  desc.Axis = axis;
  detail::NodeOutput* const inputs[] = {x.Impl()};
  const auto node = builder->CreateOperatorNode(DML_OPERATOR_SPLIT, &desc, inputs);
  std::vector<Expression> made;
  for (std::uint32_t i = 0; i < tensors.size(); ++i) made.push_back(builder->CreateNodeOutput(node, i, tensors[i]));
  return made;
}

inline Expression Join(Span<const Expression> parts, std::uint32_t axis) {
  std::vector<TensorDesc> tensors;
  std::vector<detail::NodeOutput*> nodes;
  for (Expression item : parts) {
    tensors.push_back(item.GetOutputDesc());
    nodes.push_back(item.Impl());
  }
  TensorDimensions sizes = tensors[0].sizes;
  sizes[axis] = 0;
  std::vector<DML_TENSOR_DESC> descs;
  for (TensorDesc& item : tensors) {
    sizes[axis] += item.sizes[axis];
    descs.push_back(*item.AsPtr<DML_TENSOR_DESC>());
  }
  detail::GraphBuilder* builder = nodes[0]->GetGraphBuilder();
  TensorDesc output(tensors[0].dataType, sizes, builder->GetTensorPolicy());
  DML_JOIN_OPERATOR_DESC desc = {};
  desc.InputCount = static_cast<UINT>(descs.size());
  desc.InputTensors = descs.data();
  desc.OutputTensor = output.AsPtr<DML_TENSOR_DESC>();
  desc.Axis = axis;
  const auto node = builder->CreateOperatorNode(DML_OPERATOR_JOIN, &desc, nodes);
  return builder->CreateNodeOutput(node, 0, std::move(output));
}

inline Expression Padding(Expression x, DML_PADDING_MODE mode, float value, Span<const std::uint32_t> start,
                          Span<const std::uint32_t> end) {
  using Desc = DML_PADDING_OPERATOR_DESC;
  auto sizes = x.GetOutputDesc().sizes;
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] += start[i] + end[i];
  return detail::One<Desc>(DML_OPERATOR_PADDING, {x}, x.GetOutputDesc().dataType, sizes, [&](Desc& d, auto& in, auto out) {
    d.InputTensor = in[0];
    d.OutputTensor = out;
    d.PaddingMode = mode;
    d.PaddingValue = value;
    d.DimensionCount = static_cast<UINT>(start.size());
    d.StartPadding = start.data();
    d.EndPadding = end.data();
  });
}

inline Expression Gather(Expression x, Expression indices, std::uint32_t axis, std::uint32_t indexDimensions) {
  using Desc = DML_GATHER_OPERATOR_DESC;
  const auto &from = x.GetOutputDesc().sizes, &at = indices.GetOutputDesc().sizes;
  TensorDimensions sizes(from.size(), 1);
  int out = static_cast<int>(from.size()) - 1, index = out, in = static_cast<int>(axis) - 1;
  const auto at_ = [](int i) { return static_cast<std::size_t>(i); };
  for (; out > static_cast<int>(axis); --out) sizes[at_(out)] = from[at_(out)];
  for (; out > static_cast<int>(axis) - static_cast<int>(indexDimensions); --out, --index) sizes[at_(out)] = at[at_(index)];
  for (; out >= 0 && in >= 0; --out, --in) sizes[at_(out)] = from[at_(in)];
  return detail::One<Desc>(DML_OPERATOR_GATHER, {x, indices}, x.GetOutputDesc().dataType, sizes,
                           [&](Desc& d, auto& tensors, auto output) {
                             d.InputTensor = tensors[0];
                             d.IndicesTensor = tensors[1];
                             d.OutputTensor = output;
                             d.Axis = axis;
                             d.IndexDimensions = indexDimensions;
                           });
}

// Functions whose output has the sizes and data type of their first tensor.
using Several = std::vector<Expression>;
using Floats = Span<const float>;
using Uints = Span<const std::uint32_t>;
using Uint = std::uint32_t;

#define ALIKE(name, kind, tensors, parameters, ...)                                                              \
  inline Expression name parameters {                                                                            \
    using Desc = DML_##kind##_OPERATOR_DESC;                                                                     \
    const Several all tensors;                                                                                   \
    const auto shape = all[0].GetOutputDesc();                                                                   \
    return detail::One<Desc>(DML_OPERATOR_##kind, all, shape.dataType, shape.sizes,                              \
                             [&](Desc& d, auto& in, auto out) { d.OutputTensor = out; __VA_ARGS__ });            \
  }
ALIKE(ValueScale2D, VALUE_SCALE_2D, {x}, (Expression x, float scale, Floats bias), d.InputTensor = in[0];
      d.Scale = scale; d.ChannelCount = static_cast<UINT>(bias.size()); d.Bias = bias.data();)
ALIKE(CumulativeSummation, CUMULATIVE_SUMMATION, {x},
      (Expression x, Uint axis, DML_AXIS_DIRECTION direction, bool exclusive), d.InputTensor = in[0]; d.Axis = axis;
      d.AxisDirection = direction; d.HasExclusiveSum = exclusive;)
ALIKE(CumulativeProduct, CUMULATIVE_PRODUCT, {x},
      (Expression x, Uint axis, DML_AXIS_DIRECTION direction, bool exclusive), d.InputTensor = in[0]; d.Axis = axis;
      d.AxisDirection = direction; d.HasExclusiveProduct = exclusive;)
#define TWO {x, lengths}
ALIKE(ReverseSubsequences, REVERSE_SUBSEQUENCES, TWO, (Expression x, Expression lengths, Uint axis),
      d.InputTensor = in[0]; d.SequenceLengthsTensor = in[1]; d.Axis = axis;)
#undef TWO
#define THREE {x, indices, updates}
ALIKE(ScatterND, SCATTER_ND, THREE,
      (Expression x, Expression indices, Expression updates, Uint dimensions, Uint indexDimensions),
      d.InputTensor = in[0]; d.IndicesTensor = in[1]; d.UpdatesTensor = in[2]; d.InputDimensionCount = dimensions;
      d.IndicesDimensionCount = indexDimensions;)
#undef THREE
ALIKE(LocalResponseNormalization, LOCAL_RESPONSE_NORMALIZATION, {x},
      (Expression x, bool cross, Uint size, float alpha, float beta, float bias), d.InputTensor = in[0];
      d.CrossChannel = cross; d.LocalSize = size; d.Alpha = alpha; d.Beta = beta; d.Bias = bias;)
#undef ALIKE

inline Expression BatchNormalization(Expression x, Expression mean, Expression variance, Expression scale,
                                     Expression bias, bool spatial, float epsilon,
                                     FusedActivation fused = FusedActivation::None()) {
  using Desc = DML_BATCH_NORMALIZATION_OPERATOR_DESC;
  const auto shape = x.GetOutputDesc();
  const detail::Fused storage(fused);
  return detail::One<Desc>(DML_OPERATOR_BATCH_NORMALIZATION, {x, mean, variance, scale, bias}, shape.dataType, shape.sizes,
                           [&](Desc& d, auto& in, auto out) {
                             d = {in[0], in[1], in[2], in[3], in[4], out, spatial, epsilon, storage.Get()};
                           });
}

inline Expression MeanVarianceNormalization(Expression x, Optional<Expression> scale, Optional<Expression> bias, Uints axes,
                                            bool variance, float epsilon,
                                            FusedActivation fused = FusedActivation::None()) {
  using Desc = DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC;
  const auto shape = x.GetOutputDesc();
  const detail::Fused storage(fused);
  const Several inputs{x, scale ? *scale : Expression(), bias ? *bias : Expression()};
  return detail::One<Desc>(DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION1, inputs, shape.dataType, shape.sizes,
                           [&](Desc& d, auto& in, auto out) {
                             d = {in[0], in[1], in[2], out, static_cast<UINT>(axes.size()), axes.data(), variance, epsilon,
                                  storage.Get()};
                           });
}

inline Expression Upsample2D(Expression x, DML_SIZE_2D scale, DML_INTERPOLATION_MODE mode) {
  using Desc = DML_UPSAMPLE_2D_OPERATOR_DESC;
  auto sizes = x.GetOutputDesc().sizes;
  sizes[sizes.size() - 2] *= scale.Height;
  sizes[sizes.size() - 1] *= scale.Width;
  return detail::One<Desc>(DML_OPERATOR_UPSAMPLE_2D, {x}, x.GetOutputDesc().dataType, sizes,
                           [&](Desc& d, auto& in, auto out) { d = {in[0], out, scale, mode}; });
}

inline Expression GatherElements(Expression x, Expression indices, Uint axis) {
  using Desc = DML_GATHER_ELEMENTS_OPERATOR_DESC;
  return detail::One<Desc>(DML_OPERATOR_GATHER_ELEMENTS, {x, indices}, x.GetOutputDesc().dataType,
                           indices.GetOutputDesc().sizes,
                           [&](Desc& d, auto& in, auto out) { d = {in[0], in[1], out, axis}; });
}

// The output sizes of GATHER_ND: leading ones, those of the indices except the last, and the remaining sizes of x.
inline Expression GatherND(Expression x, Expression indices, Uint dimensions, Uint indexDimensions, Uint batch) {
  using Desc = DML_GATHER_ND1_OPERATOR_DESC;
  const auto &from = x.GetOutputDesc().sizes, &at = indices.GetOutputDesc().sizes;
  const Uint left = dimensions - batch - at.back();
  TensorDimensions sizes(from.size() - (indexDimensions - 1 + left), 1);
  for (Uint i = 0; i + 1 < indexDimensions; ++i) sizes.push_back(at[at.size() - indexDimensions + i]);
  for (Uint i = 0; i < left; ++i) sizes.push_back(from[from.size() - left + i]);
  return detail::One<Desc>(DML_OPERATOR_GATHER_ND1, {x, indices}, x.GetOutputDesc().dataType, sizes,
                           [&](Desc& d, auto& in, auto out) {
                             d = {in[0], in[1], out, dimensions, indexDimensions, batch};
                           });
}

inline Expression SpaceToDepth(Expression x, Uint block,
                               DML_DEPTH_SPACE_ORDER order = DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW) {
  using Desc = DML_SPACE_TO_DEPTH1_OPERATOR_DESC;
  const auto shape = x.GetOutputDesc();
  const TensorDimensions sizes{shape.sizes[0], shape.sizes[1] * block * block, shape.sizes[2] / block,
                               shape.sizes[3] / block};
  return detail::One<Desc>(DML_OPERATOR_SPACE_TO_DEPTH1, {x}, shape.dataType, sizes,
                           [&](Desc& d, auto& in, auto out) { d = {in[0], out, block, order}; });
}

inline Expression DepthToSpace(Expression x, Uint block,
                               DML_DEPTH_SPACE_ORDER order = DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW) {
  using Desc = DML_DEPTH_TO_SPACE1_OPERATOR_DESC;
  const auto shape = x.GetOutputDesc();
  const TensorDimensions sizes{shape.sizes[0], shape.sizes[1] / (block * block), shape.sizes[2] * block,
                               shape.sizes[3] * block};
  return detail::One<Desc>(DML_OPERATOR_DEPTH_TO_SPACE1, {x}, shape.dataType, sizes,
                           [&](Desc& d, auto& in, auto out) { d = {in[0], out, block, order}; });
}

inline Expression Tile(Expression x, Uints repeats) {
  using Desc = DML_TILE_OPERATOR_DESC;
  auto sizes = x.GetOutputDesc().sizes;
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] *= repeats[i];
  return detail::One<Desc>(DML_OPERATOR_TILE, {x}, x.GetOutputDesc().dataType, sizes,
                           [&](Desc& d, auto& in, auto out) {
                             d = {in[0], out, static_cast<UINT>(repeats.size()), repeats.data()};
                           });
}

inline Expression OneHot(Expression indices, Expression values, Uint length, Uint axis) {
  using Desc = DML_ONE_HOT_OPERATOR_DESC;
  auto sizes = indices.GetOutputDesc().sizes;
  sizes[axis] = length;
  return detail::One<Desc>(DML_OPERATOR_ONE_HOT, {indices, values}, values.GetOutputDesc().dataType, sizes,
                           [&](Desc& d, auto& in, auto out) { d = {in[0], in[1], out, axis}; });
}

#define RESAMPLED(name, kind)                                                                                    \
  inline Expression name(Expression x, TensorDimensions sizes, DML_INTERPOLATION_MODE mode, Floats scales,       \
                         Floats inputOffsets, Floats outputOffsets) {                                            \
    using Desc = DML_##kind##_OPERATOR_DESC;                                                                     \
    const auto count = static_cast<UINT>(scales.size());                                                         \
    return detail::One<Desc>(DML_OPERATOR_##kind, {x}, x.GetOutputDesc().dataType, sizes,                        \
                             [&](Desc& d, auto& in, auto out) {                                                  \
                               d = {in[0], out, mode, count, scales.data(), inputOffsets.data(),                 \
                                    outputOffsets.data()};                                                       \
                             });                                                                                 \
  }
RESAMPLED(Resample, RESAMPLE1)
RESAMPLED(ResampleGrad, RESAMPLE_GRAD)
#undef RESAMPLED

inline Expression SliceGrad(Expression x, TensorDimensions sizes, Uints offsets, Uints windows,
                            Span<const std::int32_t> strides) {
  using Desc = DML_SLICE_GRAD_OPERATOR_DESC;
  return detail::One<Desc>(DML_OPERATOR_SLICE_GRAD, {x}, x.GetOutputDesc().dataType, sizes,
                           [&](Desc& d, auto& in, auto out) {
                             d = {in[0], out, static_cast<UINT>(offsets.size()), offsets.data(), windows.data(),
                                  strides.data()};
                           });
}

// Functions with several outputs, or without an input that has the graph.
namespace detail {

inline const DML_TENSOR_DESC* Pointer(TensorDesc& desc) {
  return desc.sizes.empty() ? nullptr : desc.AsPtr<DML_TENSOR_DESC>();
}
inline TensorDesc Seen(const Optional<Expression>& x) { return x ? x->GetOutputDesc() : TensorDesc(); }
inline NodeOutput* Impl(const Optional<Expression>& x) { return x ? x->Impl() : nullptr; }

// Creates a node with these outputs; outputs without sizes are omitted.
template <typename Desc>
std::vector<Expression> All(GraphBuilder* builder, DML_OPERATOR_TYPE type, const Desc& desc,
                            std::vector<NodeOutput*> inputs, std::vector<TensorDesc> outputs) {
  const NodeID node = builder->CreateOperatorNode(type, &desc, inputs);
  std::vector<Expression> made;
  for (std::uint32_t i = 0; i < outputs.size(); ++i) {
    made.push_back(outputs[i].sizes.empty() ? Expression() : Expression(builder->CreateNodeOutput(node, i, outputs[i])));
  }
  return made;
}

}  // namespace detail

struct TopKOutputs {
  Expression value, index;
};
inline TopKOutputs TopK(Expression x, Uint axis, Uint k, DML_AXIS_DIRECTION direction) {
  detail::GraphBuilder* builder = x.Impl()->GetGraphBuilder();
  TensorDesc input = x.GetOutputDesc();
  TensorDimensions sizes = input.sizes;
  sizes.back() = k;  // for any axis
  TensorDesc value(input.dataType, sizes, builder->GetTensorPolicy());
  TensorDesc index(DML_TENSOR_DATA_TYPE_UINT32, sizes, builder->GetTensorPolicy());
  const DML_TOP_K1_OPERATOR_DESC desc{detail::Pointer(input), detail::Pointer(value), detail::Pointer(index), axis, k,
                                      direction};
  const auto made = detail::All(builder, DML_OPERATOR_TOP_K1, desc, {x.Impl()}, {value, index});
  return {made[0], made[1]};
}

struct NonZeroCoordinatesOutputs {
  Expression count, coordinates;
};
inline NonZeroCoordinatesOutputs NonZeroCoordinates(Expression x) {
  detail::GraphBuilder* builder = x.Impl()->GetGraphBuilder();
  TensorDesc input = x.GetOutputDesc();
  Uint all = 1;
  for (Uint size : input.sizes) all *= size;
  const TensorDimensions sizes{all, static_cast<Uint>(input.sizes.size())};
  TensorDesc count(DML_TENSOR_DATA_TYPE_UINT32, TensorDimensions{1}, builder->GetTensorPolicy());
  TensorDesc coordinates(DML_TENSOR_DATA_TYPE_UINT32, sizes, builder->GetTensorPolicy());
  const DML_NONZERO_COORDINATES_OPERATOR_DESC desc{detail::Pointer(input), detail::Pointer(count),
                                                   detail::Pointer(coordinates)};
  const auto made = detail::All(builder, DML_OPERATOR_NONZERO_COORDINATES, desc, {x.Impl()}, {count, coordinates});
  return {made[0], made[1]};
}

struct RandomGeneratorOutputs {
  Expression values, state;
};
inline RandomGeneratorOutputs RandomGenerator(
    Expression x, TensorDimensions sizes, bool outputState = true,
    DML_RANDOM_GENERATOR_TYPE type = DML_RANDOM_GENERATOR_TYPE_PHILOX_4X32_10) {
  detail::GraphBuilder* builder = x.Impl()->GetGraphBuilder();
  TensorDesc input = x.GetOutputDesc(), state = outputState ? input : TensorDesc();
  TensorDesc values(DML_TENSOR_DATA_TYPE_UINT32, std::move(sizes), builder->GetTensorPolicy());
  const DML_RANDOM_GENERATOR_OPERATOR_DESC desc{detail::Pointer(input), detail::Pointer(values), detail::Pointer(state),
                                                type};
  const auto made = detail::All(builder, DML_OPERATOR_RANDOM_GENERATOR, desc, {x.Impl()}, {values, state});
  return {made[0], made[1]};
}

struct BatchNormalizationGradOutputs {
  Expression gradient, scaleGradient, biasGradient;
};
#define NORMALIZATION_GRAD(name, kind)                                                                           \
  inline BatchNormalizationGradOutputs name(Expression x, Expression gradient, Expression mean, Expression variance, \
                                            Expression scale, float epsilon) {                                   \
    detail::GraphBuilder* builder = x.Impl()->GetGraphBuilder();                                                 \
    TensorDesc a = x.GetOutputDesc(), b = gradient.GetOutputDesc(), c = mean.GetOutputDesc(),                    \
               d = variance.GetOutputDesc(), e = scale.GetOutputDesc();                                          \
    TensorDesc out(a.dataType, a.sizes, builder->GetTensorPolicy());                                             \
    TensorDesc outScale(c.dataType, c.sizes, builder->GetTensorPolicy()), outBias = outScale;                    \
    const DML_##kind##_OPERATOR_DESC desc{detail::Pointer(a), detail::Pointer(b), detail::Pointer(c),            \
                                          detail::Pointer(d), detail::Pointer(e), detail::Pointer(out),          \
                                          detail::Pointer(outScale), detail::Pointer(outBias), epsilon};         \
    const auto made = detail::All(builder, DML_OPERATOR_##kind, desc,                                            \
                                  {x.Impl(), gradient.Impl(), mean.Impl(), variance.Impl(), scale.Impl()},       \
                                  {out, outScale, outBias});                                                     \
    return {made[0], made[1], made[2]};                                                                          \
  }
NORMALIZATION_GRAD(BatchNormalizationGrad, BATCH_NORMALIZATION_GRAD)
NORMALIZATION_GRAD(BatchNormalizationTrainingGrad, BATCH_NORMALIZATION_TRAINING_GRAD)
#undef NORMALIZATION_GRAD

struct BatchNormalizationTrainingOutputs {
  Expression output, mean, variance;
};
inline BatchNormalizationTrainingOutputs BatchNormalizationTraining(Expression x, Expression scale, Expression bias,
                                                                    Optional<Expression> add, float epsilon,
                                                                    FusedActivation fused = FusedActivation::None()) {
  detail::GraphBuilder* builder = x.Impl()->GetGraphBuilder();
  TensorDesc a = x.GetOutputDesc(), b = scale.GetOutputDesc(), c = bias.GetOutputDesc(), d = detail::Seen(add);
  TensorDesc out(a.dataType, a.sizes, builder->GetTensorPolicy());
  TensorDesc mean(a.dataType, b.sizes, builder->GetTensorPolicy()), variance = mean;
  const detail::Fused storage(fused);
  DML_BATCH_NORMALIZATION_TRAINING_OPERATOR_DESC desc = {};
  desc.InputTensor = detail::Pointer(a);
  desc.ScaleTensor = detail::Pointer(b);
  desc.BiasTensor = detail::Pointer(c);
  desc.FusedAddTensor = detail::Pointer(d);
  desc.OutputTensor = detail::Pointer(out);
  desc.OutputMeanTensor = detail::Pointer(mean);
  desc.OutputVarianceTensor = detail::Pointer(variance);
  desc.Epsilon = epsilon;
  desc.FusedActivation = storage.Get();
  const auto made = detail::All(builder, DML_OPERATOR_BATCH_NORMALIZATION_TRAINING, desc,
                                {x.Impl(), scale.Impl(), bias.Impl(), detail::Impl(add)}, {out, mean, variance});
  return {made[0], made[1], made[2]};
}

inline Expression RoiAlign(Expression x, Expression roi, Expression batch, DML_REDUCE_FUNCTION function,
                           DML_INTERPOLATION_MODE mode, float scaleX, float scaleY, float inputOffset, float outputOffset,
                           float outOfBounds, Uint least, Uint most, bool corners, Uint height, Uint width) {
  detail::GraphBuilder* builder = x.Impl()->GetGraphBuilder();
  TensorDesc a = x.GetOutputDesc(), b = roi.GetOutputDesc(), c = batch.GetOutputDesc();
  const Uint count = b.sizes.size() < 2 ? 1 : b.sizes[b.sizes.size() - 2];
  TensorDesc out(a.dataType, TensorDimensions{count, a.sizes[1], height, width}, builder->GetTensorPolicy());
  const DML_ROI_ALIGN1_OPERATOR_DESC desc{
      detail::Pointer(a), detail::Pointer(b), detail::Pointer(c), detail::Pointer(out), function, mode, scaleX, scaleY,
      inputOffset, outputOffset, outOfBounds, least, most, corners};
  return detail::All(builder, DML_OPERATOR_ROI_ALIGN1, desc, {x.Impl(), roi.Impl(), batch.Impl()}, {out})[0];
}

struct RoiAlignGradOutputs {
  Expression outputGradient, outputROIGradient;
};
inline RoiAlignGradOutputs RoiAlignGrad(Optional<Expression> x, Expression gradient, Expression roi, Expression batch,
                                        DML_REDUCE_FUNCTION function, DML_INTERPOLATION_MODE mode, float scaleX,
                                        float scaleY, float inputOffset, float outputOffset, Uint least, Uint most,
                                        bool corners, Uint batchSize, Uint height, Uint width, bool ofImage, bool ofRoi) {
  detail::GraphBuilder* builder = gradient.Impl()->GetGraphBuilder();
  TensorDesc a = detail::Seen(x), b = gradient.GetOutputDesc(), c = roi.GetOutputDesc(), d = batch.GetOutputDesc();
  const TensorDimensions sizes{batchSize, b.sizes[1], height, width};
  TensorDesc image = ofImage ? TensorDesc(b.dataType, sizes, builder->GetTensorPolicy()) : TensorDesc();
  TensorDesc regions = ofRoi ? TensorDesc(c.dataType, c.sizes, builder->GetTensorPolicy()) : TensorDesc();
  const DML_ROI_ALIGN_GRAD_OPERATOR_DESC desc{
      detail::Pointer(a), detail::Pointer(b), detail::Pointer(c), detail::Pointer(d), detail::Pointer(image),
      detail::Pointer(regions), function, mode, scaleX, scaleY, inputOffset, outputOffset, least, most, corners};
  const auto made = detail::All(builder, DML_OPERATOR_ROI_ALIGN_GRAD, desc,
                                {detail::Impl(x), gradient.Impl(), roi.Impl(), batch.Impl()}, {image, regions});
  return {made[0], made[1]};
}

enum class GRUOutputOptions { Both, Sequence, Single };
struct GRUOutputs {
  Expression sequence, single;
};
inline GRUOutputs GRU(Expression x, Expression weight, Expression recurrence, Optional<Expression> bias,
                      Optional<Expression> hidden, Optional<Expression> lengths, Span<const FusedActivation> activations,
                      DML_RECURRENT_NETWORK_DIRECTION direction, bool linearBeforeReset, GRUOutputOptions which) {
  detail::GraphBuilder* builder = x.Impl()->GetGraphBuilder();
  TensorDesc a = x.GetOutputDesc(), b = weight.GetOutputDesc(), c = recurrence.GetOutputDesc(), d = detail::Seen(bias),
             e = detail::Seen(hidden), f = detail::Seen(lengths);
  const Uint directions = direction == DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL ? 2 : 1;
  TensorDesc sequence, single;
  if (which != GRUOutputOptions::Single) {
    const TensorDimensions sizes{a.sizes[1], directions, a.sizes[2], c.sizes[3]};
    sequence = TensorDesc(a.dataType, sizes, builder->GetTensorPolicy());
  }
  if (which != GRUOutputOptions::Sequence) {
    const TensorDimensions sizes{1, directions, a.sizes[2], c.sizes[3]};
    single = TensorDesc(a.dataType, sizes, builder->GetTensorPolicy());
  }
  std::deque<detail::Fused> storage;
  std::vector<DML_OPERATOR_DESC> descs;
  for (const FusedActivation& item : activations) {
    storage.emplace_back(item);
    descs.push_back(*storage.back().Get());
  }
  const DML_GRU_OPERATOR_DESC desc{
      detail::Pointer(a), detail::Pointer(b), detail::Pointer(c), detail::Pointer(d), detail::Pointer(e),
      detail::Pointer(f), detail::Pointer(sequence), detail::Pointer(single), static_cast<UINT>(descs.size()),
      descs.data(), direction, linearBeforeReset};
  const auto made = detail::All(builder, DML_OPERATOR_GRU, desc,
                                {x.Impl(), weight.Impl(), recurrence.Impl(), detail::Impl(bias), detail::Impl(hidden),
                                 detail::Impl(lengths)},
                                {sequence, single});
  return {made[0], made[1]};
}

inline Expression ScatterElements(Expression x, Expression indices, Expression updates, Uint axis) {
  using Desc = DML_SCATTER_OPERATOR_DESC;
  const auto shape = x.GetOutputDesc();
  return detail::One<Desc>(DML_OPERATOR_SCATTER, {x, indices, updates}, shape.dataType, shape.sizes,
                           [&](Desc& d, auto& in, auto out) { d = {in[0], in[1], in[2], out, axis}; });
}

inline Expression FillValueConstant(Graph& graph, TensorDimensions sizes, DML_TENSOR_DATA_TYPE type, DML_SCALAR_UNION value) {
  TensorDesc out(type, std::move(sizes), graph.Impl()->GetTensorPolicy());
  const DML_FILL_VALUE_CONSTANT_OPERATOR_DESC desc{detail::Pointer(out), type, value};
  return detail::All(graph.Impl(), DML_OPERATOR_FILL_VALUE_CONSTANT, desc, {}, {out})[0];
}
inline Expression FillValueSequence(Graph& graph, TensorDimensions sizes, DML_TENSOR_DATA_TYPE type,
                                    DML_SCALAR_UNION start, DML_SCALAR_UNION delta) {
  TensorDesc out(type, std::move(sizes), graph.Impl()->GetTensorPolicy());
  const DML_FILL_VALUE_SEQUENCE_OPERATOR_DESC desc{detail::Pointer(out), type, start, delta};
  return detail::All(graph.Impl(), DML_OPERATOR_FILL_VALUE_SEQUENCE, desc, {}, {out})[0];
}

}  // namespace dml
