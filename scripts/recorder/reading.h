// Reads a DML_GRAPH_DESC, even an invalid one.

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dml2onnx {
namespace detail {

#if DML2ONNX_TARGET_VERSION >= 0x2100

// The record of a graph, and the bytes of its constants, which the recording writes to files.
struct GraphParts {
  GraphRecord graph;
  std::vector<std::pair<const void*, UINT64>> data;  // of each node; null for an operator
  std::string problem;  // the first one, except problems of edges
};

class GraphReader {
 public:
  // `find` returns the record of an operator, or null if another device made it.
  template <typename Find>
  static GraphParts Read(const DML_GRAPH_DESC* desc, Find find) {
    GraphReader reader;
    if (desc == nullptr) {
      reader.Problem("the graph is null");
      return std::move(reader.parts_);
    }
    GraphRecord& graph = reader.parts_.graph;
    graph.inputCount = desc->InputCount;
    graph.outputCount = desc->OutputCount;
    for (UINT index = 0; index < desc->InputCount && index < kMostElements; ++index) {
      graph.inputPoints.push_back({static_cast<int>(index)});
    }
    for (UINT index = 0; index < desc->OutputCount && index < kMostElements; ++index) {
      graph.outputPoints.push_back({static_cast<int>(index)});
    }
    if (desc->Nodes == nullptr && desc->NodeCount != 0) reader.Problem("Nodes is null");
    for (UINT index = 0; desc->Nodes != nullptr && index < desc->NodeCount; ++index) {
      reader.Node(desc->Nodes[index], index, find);
    }
    reader.Edges<DML_INPUT_GRAPH_EDGE_DESC>("InputEdges", desc->InputEdges, desc->InputEdgeCount,
                                            DML_GRAPH_EDGE_TYPE_INPUT, graph.inputs);
    reader.Edges<DML_OUTPUT_GRAPH_EDGE_DESC>("OutputEdges", desc->OutputEdges, desc->OutputEdgeCount,
                                             DML_GRAPH_EDGE_TYPE_OUTPUT, graph.outputs);
    reader.Edges<DML_INTERMEDIATE_GRAPH_EDGE_DESC>("IntermediateEdges", desc->IntermediateEdges,
                                                   desc->IntermediateEdgeCount, DML_GRAPH_EDGE_TYPE_INTERMEDIATE,
                                                   graph.intermediates);
    return std::move(reader.parts_);
  }

 private:
  void Problem(const std::string& what) {
    if (parts_.problem.empty()) parts_.problem = what;
  }

  template <typename Find>
  void Node(const DML_GRAPH_NODE_DESC& node, UINT index, Find find) {
    const std::string place = "Nodes[" + std::to_string(index) + "]";
    NodeRecord record;
    std::pair<const void*, UINT64> data{nullptr, 0};
    const auto type = ReadAt<std::int32_t>(&node, offsetof(DML_GRAPH_NODE_DESC, Type));
    if (node.Desc == nullptr) {
      Problem(place + ".Desc is null");
    } else if (type == DML_GRAPH_NODE_TYPE_OPERATOR) {
      const auto& desc = *static_cast<const DML_OPERATOR_GRAPH_NODE_DESC*>(node.Desc);
      if (desc.Name != nullptr) record.name = desc.Name;
      record.op = find(desc.Operator);
      if (!record.op) Problem(place + (desc.Operator == nullptr ? ".Operator is null" : " was made by another device"));
      if (record.op && record.name.empty()) record.name = record.op->name;
#if DML2ONNX_TARGET_VERSION >= 0x6200
    } else if (type == DML_GRAPH_NODE_TYPE_CONSTANT) {
      const auto& desc = *static_cast<const DML_CONSTANT_DATA_GRAPH_NODE_DESC*>(node.Desc);
      record.isConstant = true;
      if (desc.Name != nullptr) record.name = desc.Name;
      record.bytes = desc.DataSize;
      if (desc.Data == nullptr || desc.DataSize == 0) Problem(place + ".Data is null or empty");
      data = {desc.DataSize == 0 ? nullptr : desc.Data, record.bytes};
#endif
    } else {
      Problem(place + ".Type is " + std::to_string(type) + ", no kind of node");
    }
    parts_.graph.nodes.push_back(std::move(record));
    parts_.data.push_back(data);
  }

  template <typename Desc>
  void Edges(const char* name, const DML_GRAPH_EDGE_DESC* edges, UINT count, DML_GRAPH_EDGE_TYPE type,
             std::vector<EdgeRecord>& records) {
    if (edges == nullptr && count != 0) Problem(std::string(name) + " is null");
    for (UINT index = 0; edges != nullptr && index < count; ++index) {
      const std::string place = std::string(name) + "[" + std::to_string(index) + "]";
      const auto given = ReadAt<std::int32_t>(edges + index, offsetof(DML_GRAPH_EDGE_DESC, Type));
      if (edges[index].Desc == nullptr) {
        Problem(place + ".Desc is null");
      } else if (given != type) {
        Problem(place + ".Type is " + std::to_string(given) + ", which has no place here");
      } else {
        records.push_back(Edge(*static_cast<const Desc*>(edges[index].Desc)));
      }
    }
  }

  static EdgeRecord Edge(const DML_INPUT_GRAPH_EDGE_DESC& desc) {
    return {{desc.GraphInputIndex, desc.ToNodeIndex, desc.ToNodeInputIndex, 0}, Text(desc.Name)};
  }
  static EdgeRecord Edge(const DML_OUTPUT_GRAPH_EDGE_DESC& desc) {
    return {{desc.FromNodeIndex, desc.FromNodeOutputIndex, desc.GraphOutputIndex, 0}, Text(desc.Name)};
  }
  static EdgeRecord Edge(const DML_INTERMEDIATE_GRAPH_EDGE_DESC& desc) {
    return {{desc.FromNodeIndex, desc.FromNodeOutputIndex, desc.ToNodeIndex, desc.ToNodeInputIndex}, Text(desc.Name)};
  }
  static std::string Text(const char* name) { return name == nullptr ? "" : name; }

  GraphParts parts_;
};

#endif

}  // namespace detail
}  // namespace dml2onnx
