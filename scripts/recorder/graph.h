// Compiled graphs, including operators as graphs of one node, and their text.

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dml2onnx {
namespace detail {

// Returns the name of a data type in DxDispatch files and graphs; "" for unknown types.
inline const char* DataTypeName(std::int32_t type) {
  static constexpr std::size_t kPrefix = sizeof "DML_TENSOR_DATA_TYPE_" - 1;
  const char* name = type == DML_TENSOR_DATA_TYPE_UNKNOWN ? nullptr : NameOf(kTensorDataType, type);
  return name == nullptr ? "" : name + kPrefix;
}

// Returns the bits of an element; 0 for unknown data types.
inline unsigned BitsOf(std::int32_t type) {
  const std::string name = DataTypeName(type);
  const std::size_t digits = name.find_first_of("0123456789");
  return digits == std::string::npos ? 0 : static_cast<unsigned>(std::stoul(name.substr(digits)));
}

// Returns the bytes of a buffer up to the end of a tensor's last element.
inline UINT64 ReachOf(const TensorFacts& tensor) {
  UINT64 elements = 1;
  for (std::size_t index = 0; index < tensor.sizes.size(); ++index) {
    const UINT64 size = tensor.sizes[index];
    if (index >= tensor.strides.size()) {
      elements *= size;
    } else if (size != 0) {
      elements += (size - 1) * tensor.strides[index];
    }
  }
  const UINT64 bytes = (elements * BitsOf(tensor.dataType) + 7) / 8;
  return bytes == 0 ? tensor.bytes : std::min<UINT64>(bytes, tensor.bytes);
}

// An operator, shared by all graphs that contain it.
struct OperatorRecord {
  Description description;
  std::string name;  // given by the program, or ""
};

struct NodeRecord {
  std::string name;
  std::shared_ptr<const OperatorRecord> op;  // null for a constant, or if the program passes null
  bool isConstant = false;
  std::string file;  // of a constant
  UINT64 bytes = 0;
};

// The indices of an edge, in the order of its structure.
struct EdgeRecord {
  UINT ends[4] = {};
  std::string name;
};

// Contents of a graph input, from the program or from a buffer bound at initialization.
struct Contents {
  std::string file;
  UINT64 offset = 0;
  UINT64 bytes = 0;
};

// An output of a node, or a tensor that a node reads.
struct Slot {
  UINT node = 0;
  UINT number = 0;
};

enum class GraphKind { kGraph, kOperator, kRejected };

struct GraphRecord {
  GraphKind kind = GraphKind::kGraph;
  std::string name;
  std::string file;
  std::string problem;  // the reason if it was refused, or ""
  std::string unrecorded;  // accepted by the real device, but impossible to record
  std::size_t place = 0;  // in the index
  UINT inputCount = 0;
  UINT outputCount = 0;
  std::vector<NodeRecord> nodes;
  std::vector<EdgeRecord> inputs, outputs, intermediates;
  std::map<UINT, Contents> contents;  // of graph inputs
  // For each binding of the program, the graph input or output of each element; -1 for an absent optional tensor.
  // Bindings of graphs have one element; arrays of tensors of operators have several.
  std::vector<std::vector<int>> inputPoints, outputPoints;

  // Returns whether it was compiled and recorded completely.
  bool IsWhole() const { return problem.empty() && unrecorded.empty(); }

  const TensorFacts* InputOf(UINT node, UINT number) const {
    if (node >= nodes.size() || !nodes[node].op) return nullptr;
    const std::vector<TensorFacts>& all = nodes[node].op->description.inputs;
    return number < all.size() && all[number].present ? &all[number] : nullptr;
  }
  const TensorFacts* OutputOf(UINT node, UINT number) const {
    if (node >= nodes.size() || !nodes[node].op) return nullptr;
    const std::vector<TensorFacts>& all = nodes[node].op->description.outputs;
    return number < all.size() && all[number].present ? &all[number] : nullptr;
  }
  // Returns the tensor of the first reader of a graph input.
  const TensorFacts* GraphInput(UINT index) const {
    for (const EdgeRecord& edge : inputs) {
      if (edge.ends[0] == index) return InputOf(edge.ends[1], edge.ends[2]);
    }
    return nullptr;
  }
  // Returns the names of the graph inputs in dml2onnx: those of their first edges, unless another input has the name.
  std::map<UINT, std::string> InputNames() const {
    std::map<UINT, std::string> names;
    std::set<std::string> taken;
    for (const EdgeRecord& edge : inputs) {
      if (names.count(edge.ends[0]) != 0) continue;
      std::string called = Utf8(edge.name);
      if (called.empty() || taken.count(called) != 0) called = "input" + std::to_string(edge.ends[0]);
      while (!taken.insert(called).second) called += "_";
      names[edge.ends[0]] = called;
    }
    return names;
  }
};

inline UINT64 RoundUp(UINT64 value, UINT64 unit) { return (value + unit - 1) / unit * unit; }

// Returns "InputTensors" for "InputTensors[2]".
inline std::string FieldName(const TensorFacts& tensor) { return tensor.field.substr(0, tensor.field.find('[')); }

inline void WriteEdges(JsonWriter& json, const char* name, const std::vector<EdgeRecord>& edges,
                       const std::vector<const char*>& members) {
  json.Key(name).BeginArray(Layout::kLines);
  for (const EdgeRecord& edge : edges) {
    json.BeginObject();
    for (std::size_t index = 0; index < members.size(); ++index) json.Key(members[index]).Unsigned(edge.ends[index]);
    if (!edge.name.empty()) json.Key("Name").String(edge.name);
    json.EndObject();
  }
  json.EndArray();
}

// Returns a DML_GRAPH_DESC as text for dml2onnx.
inline std::string GraphText(const GraphRecord& graph) {
  JsonWriter json;
  json.BeginObject(Layout::kLines);
  json.Key("InputCount").Unsigned(graph.inputCount).Key("OutputCount").Unsigned(graph.outputCount);
  json.Key("Nodes").BeginArray(Layout::kLines);
  for (const NodeRecord& node : graph.nodes) {
    json.BeginObject().Key("Type").String(node.isConstant ? "CONSTANT" : "OPERATOR").Key("Desc").BeginObject();
    if (!node.name.empty()) json.Key("Name").String(node.name);
    if (!node.isConstant) {
      json.Key("Operator").Raw(node.op ? node.op->description.json : "null");
    } else if (node.file.empty()) {
      json.Key("Data").Null();
    } else {
      json.Key("Data").BeginObject().Key("file").String(node.file).EndObject();
      json.Key("DataSize").Unsigned(node.bytes);
    }
    json.EndObject().EndObject();
  }
  json.EndArray();
  WriteEdges(json, "InputEdges", graph.inputs, {"GraphInputIndex", "ToNodeIndex", "ToNodeInputIndex"});
  WriteEdges(json, "OutputEdges", graph.outputs, {"FromNodeIndex", "FromNodeOutputIndex", "GraphOutputIndex"});
  WriteEdges(json, "IntermediateEdges", graph.intermediates,
             {"FromNodeIndex", "FromNodeOutputIndex", "ToNodeIndex", "ToNodeInputIndex"});
  json.EndObject();
  return json.Take() + "\n";
}

inline const OperatorFields* FieldsNamed(const std::string& name) {
  for (const OperatorFields& item : kOperators) {
    if (name == item.name) return &item;
  }
  return nullptr;
}

// Adds the bind points of one side of an operator, and an edge for each present tensor.
inline UINT ConnectTensors(const OperatorFields* table, FieldRole role, const std::vector<TensorFacts>& tensors,
                           std::vector<std::vector<int>>& points, std::vector<EdgeRecord>& edges) {
  UINT count = 0;
  std::size_t next = 0;
  for (std::size_t index = 0; table != nullptr && index < table->count; ++index) {
    const Field& field = table->fields[index];
    if (field.role != role) continue;
    points.emplace_back();
    for (; next < tensors.size() && FieldName(tensors[next]) == field.name; ++next) {
      points.back().push_back(tensors[next].present ? static_cast<int>(count) : -1);
      if (!tensors[next].present) continue;
      EdgeRecord edge;
      const UINT number = static_cast<UINT>(next);
      const UINT ends[2][3] = {{count, 0, number}, {0, number, count}};
      std::memcpy(edge.ends, ends[role == FieldRole::kInput ? 0 : 1], sizeof ends[0]);
      edge.name = tensors[next].field;
      edges.push_back(edge);
      ++count;
    }
  }
  return count;
}

// Returns an operator as a graph of one node; inputs and outputs have the names of its fields.
inline GraphRecord GraphOfOne(const std::shared_ptr<const OperatorRecord>& op) {
  GraphRecord graph;
  graph.kind = GraphKind::kOperator;
  NodeRecord node;
  node.name = op->name;
  node.op = op;
  graph.nodes.push_back(node);
  const Description& description = op->description;
  const OperatorFields* table = FieldsNamed(description.name);
  graph.inputCount = ConnectTensors(table, FieldRole::kInput, description.inputs, graph.inputPoints, graph.inputs);
  graph.outputCount = ConnectTensors(table, FieldRole::kOutput, description.outputs, graph.outputPoints, graph.outputs);
  return graph;
}

// Returns the nodes of a graph in topological order; without those in and after cycles.
inline std::vector<UINT> InOrder(const GraphRecord& graph) {
  std::vector<std::vector<UINT>> readers(graph.nodes.size());
  std::vector<UINT> waiting(graph.nodes.size(), 0);
  for (const EdgeRecord& edge : graph.intermediates) {
    if (edge.ends[0] >= graph.nodes.size() || edge.ends[2] >= graph.nodes.size()) continue;
    readers[edge.ends[0]].push_back(edge.ends[2]);
    ++waiting[edge.ends[2]];
  }
  std::vector<UINT> order;
  for (UINT node = 0; node < graph.nodes.size(); ++node) {
    if (waiting[node] == 0) order.push_back(node);
  }
  for (std::size_t next = 0; next < order.size(); ++next) {
    for (const UINT reader : readers[order[next]]) {
      if (--waiting[reader] == 0) order.push_back(reader);
    }
  }
  return order;
}

// Returns the first reason why a graph cannot be compiled: nodes without operators, or invalid edges. `dml2onnx check`
// has the other rules.
inline std::string FirstProblem(const GraphRecord& graph) {
  const auto numbered = [](const char* what, std::size_t index) { return what + std::to_string(index) + "]"; };
  for (std::size_t index = 0; index < graph.nodes.size(); ++index) {
    const NodeRecord& node = graph.nodes[index];
    if (node.isConstant ? node.file.empty() : !node.op) return numbered("Nodes[", index) + " is null";
    if (node.op && !node.op->description.Acceptable()) {
      return numbered("Nodes[", index) + ": " + node.op->description.problems.front();
    }
  }
  const auto writes = [&graph](UINT node, UINT number) {
    if (node < graph.nodes.size() && graph.nodes[node].isConstant) return number == 0;
    return graph.OutputOf(node, number) != nullptr;
  };
  for (std::size_t index = 0; index < graph.inputs.size(); ++index) {
    const UINT* ends = graph.inputs[index].ends;
    if (ends[0] >= graph.inputCount || graph.InputOf(ends[1], ends[2]) == nullptr) {
      return numbered("InputEdges[", index) + " leads from or to what is not there";
    }
  }
  for (std::size_t index = 0; index < graph.outputs.size(); ++index) {
    const UINT* ends = graph.outputs[index].ends;
    if (ends[2] >= graph.outputCount || graph.OutputOf(ends[0], ends[1]) == nullptr) {
      return numbered("OutputEdges[", index) + " leads from or to what is not there";
    }
  }
  for (std::size_t index = 0; index < graph.intermediates.size(); ++index) {
    const UINT* ends = graph.intermediates[index].ends;
    if (!writes(ends[0], ends[1]) || graph.InputOf(ends[2], ends[3]) == nullptr) {
      return numbered("IntermediateEdges[", index) + " leads from or to what is not there";
    }
  }
  return InOrder(graph).size() == graph.nodes.size() ? "" : "some nodes read what they have written";
}

}  // namespace detail
}  // namespace dml2onnx
