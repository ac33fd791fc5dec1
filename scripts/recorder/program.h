// The dispatches in order, as a DxDispatch program: https://github.com/microsoft/DirectML, DxDispatch.
//
// A dispatched graph becomes a dispatch of each operator, with buffers for the graph's inner edges: DxDispatch can run
// that, and dml2onnx compiles it as one model. Buffers bound at initialization become bindings of the dispatchable, as
// in DxDispatch.

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dml2onnx {
namespace detail {

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// A bound part of a buffer; `buffer` is null if nothing is bound.
struct BoundBuffer {
  ID3D12Resource* buffer = nullptr;
  UINT64 offset = 0;
};

// The bindings of a dispatch: one element for each graph input and output.
struct DispatchBindings {
  std::vector<BoundBuffer> inputs, outputs;
  BoundBuffer persistent;
};

struct ResourceRecord {
  std::string name;
  bool isBuffer = false;  // not an inner value of a graph
  std::int32_t dataType = DML_TENSOR_DATA_TYPE_UNKNOWN;
  UINT64 bytes = 0;  // the largest end of a tensor
  std::string file;  // of its contents, or "" if unknown
  std::vector<std::pair<UINT64, UINT64>> ranges;  // of contents: begin, end
  bool dispatched = false;
  bool isReadBack = false;  // contents were read from the buffer, not set by the program

  bool Overlaps(UINT64 begin, UINT64 end) const {
    return std::any_of(ranges.begin(), ranges.end(),
                       [=](const auto& range) { return begin < range.second && range.first < end; });
  }
  UINT64 End() const {
    UINT64 end = 0;
    for (const auto& range : ranges) end = std::max(end, range.second);
    return end;
  }
};

struct ProgramText {
  std::string text;  // a whole file, or the line of a journal
  std::vector<std::string> constants;  // resources that are constants of graphs
  std::vector<std::string> withoutContents;  // buffers with unknown contents, which DxDispatch cannot express
};

inline void WriteNames(JsonWriter& json, const std::vector<std::string>& names) {
  json.BeginArray();
  for (const std::string& name : names) json.String(name);
  json.EndArray();
}

class Program {
 public:
  // --- Buffers ---

  // Returns the current resource of a buffer; calls `name` for new ones.
  template <typename Name>
  std::size_t ResourceOf(ID3D12Resource* buffer, Name name) {
    const auto found = current_.find(buffer);
    if (found != current_.end()) return found->second;
    ResourceRecord resource;
    resource.name = name();
    resource.isBuffer = true;
    return current_[buffer] = New(std::move(resource));
  }
  bool Knows(ID3D12Resource* buffer) const { return current_.count(buffer) != 0; }
  ResourceRecord& Resource(std::size_t index) { return resources_[index]; }
  void Forget(ID3D12Resource* buffer) { current_.erase(buffer); }

  // Returns the resource for contents of a range: a new one if the old contents have been used.
  std::size_t ForContents(ID3D12Resource* buffer, std::size_t index, UINT64 begin, UINT64 end) {
    if (!resources_[index].dispatched && !resources_[index].Overlaps(begin, end)) return index;
    ResourceRecord next;
    next.name = resources_[index].name;
    next.isBuffer = true;
    next.dataType = resources_[index].dataType;
    return current_[buffer] = New(std::move(next));
  }

  // --- Initializers ---

  // Records the inputs that DirectML owns, and the persistent resource that has them.
  void Initialize(const std::shared_ptr<GraphRecord>& graph, const std::map<UINT, BoundBuffer>& owned,
                  BoundBuffer persistent) {
    Initialization made;
    made.persistent = persistent;
    for (const auto& item : owned) made.owned[item.first] = Touch(item.second, graph->GraphInput(item.first));
    auto& all = PlanOf(graph).initializations;
    const auto same = [&](const Initialization& other) {
      return other.persistent.buffer == persistent.buffer && other.persistent.offset == persistent.offset;
    };
    all.erase(std::remove_if(all.begin(), all.end(), same), all.end());
    all.push_back(std::move(made));
  }

  // Returns the known contents of the inputs of a graph that DirectML owns.
  std::map<UINT, Contents> Captured(const GraphRecord& graph) const {
    std::map<UINT, Contents> contents;
    const auto plan = plans_.find(&graph);
    if (plan == plans_.end() || plan->second.initializations.empty()) return contents;
    for (const auto& item : plan->second.initializations.back().owned) {
      const ResourceRecord& resource = resources_[item.second.resource];
      const TensorFacts* tensor = graph.GraphInput(item.first);
      if (tensor == nullptr || !resource.Overlaps(item.second.offset, item.second.offset + ReachOf(*tensor))) continue;
      const UINT64 end = std::min(resource.End(), item.second.offset + tensor->bytes);
      contents[item.first] = {resource.file, item.second.offset, end - item.second.offset};
    }
    return contents;
  }

  // Returns the graphs whose initialization reads a resource.
  std::vector<const GraphRecord*> Capturing(std::size_t resource) const {
    std::vector<const GraphRecord*> graphs;
    for (const auto& item : plans_) {
      if (item.second.initializations.empty()) continue;
      const auto& owned = item.second.initializations.back().owned;
      const bool reads = std::any_of(owned.begin(), owned.end(),
                                     [=](const auto& input) { return input.second.resource == resource; });
      if (reads) graphs.push_back(item.first);
    }
    return graphs;
  }

  // --- Dispatches ---

  // Returns the number of dispatched operators, counting each node of a graph.
  std::size_t Size() const { return commands_.size(); }

  void Dispatch(const std::shared_ptr<GraphRecord>& graph, const DispatchBindings& bindings) {
    Plan& plan = PlanOf(graph);
    Initialization& initialized = InitializationOf(plan, bindings.persistent);
    if (initialized.dispatchables.empty()) MakeDispatchables(*graph, plan, initialized);
    std::vector<std::vector<Use>> written(graph->nodes.size());
    std::vector<Copy> copies;
    for (std::size_t step = 0; step < plan.order.size(); ++step) {
      const UINT node = plan.order[step];
      if (graph->nodes[node].isConstant) continue;
      Command command{initialized.dispatchables[node], {}};
      const Description& description = graph->nodes[node].op->description;
      for (UINT number = 0; number < description.inputs.size(); ++number) {
        const TensorFacts& tensor = description.inputs[number];
        if (!tensor.present || tensor.ownedByDml) continue;
        AddBinding(command.bindings, tensor, Read(plan, plan.reads[node][number], bindings, written, tensor));
      }
      for (UINT number = 0; number < description.outputs.size(); ++number) {
        const TensorFacts& tensor = description.outputs[number];
        Use use;
        if (tensor.present) use = Write(*graph, plan, step, number, bindings, copies);
        written[node].push_back(use);
        AddBinding(command.bindings, tensor, use);
      }
      commands_.push_back(std::move(command));
    }
    for (const Copy& copy : copies) commands_.push_back(CopyCommand(copy));
  }

  // Returns the whole program with the current names.
  ProgramText Text() {
    names_ = {};
    called_ = {};
    written_ = {};
    changed_.clear();
    for (std::size_t index = 0; index < resources_.size(); ++index) changed_.insert(index);
    ProgramText made = Since(Layout::kLines);
    made.text += "\n";
    return made;
  }

  // Returns the changes since the last call of this or Text, as an object on one line.
  ProgramText Since() { return Since(Layout::kInline); }

 private:
  struct Use {
    std::size_t resource = kNone;
    UINT64 offset = 0;
  };
  // A number of elements.
  struct Row {
    const char* dataType = "UINT8";
    UINT64 count = 0;

    bool operator<(const Row& other) const {
      return std::make_pair(std::string(dataType), count) < std::make_pair(std::string(other.dataType), other.count);
    }
  };
  struct Binding {
    std::string field;
    bool isArray = false;
    std::vector<Use> uses;
  };
  struct Command {
    std::size_t dispatchable;
    std::vector<Binding> bindings;
  };
  struct Copy {
    Use from, to;
    Row row;
  };
  struct Dispatchable {
    std::shared_ptr<const GraphRecord> graph;  // null for a copy
    UINT node = 0;
    Row copied;
    std::vector<Binding> owned;

    std::string Name() const {
      if (!graph) return "copy of " + std::to_string(copied.count) + " " + copied.dataType;
      const NodeRecord& own = graph->nodes[node];
      if (graph->nodes.size() == 1) return graph->name;
      return graph->name + "/" + (own.name.empty() ? "node" + std::to_string(node) : own.name);
    }
  };
  struct Initialization {
    BoundBuffer persistent;
    std::map<UINT, Use> owned;  // by graph input
    std::vector<std::size_t> dispatchables;  // by node
  };
  // The source of a tensor: a graph input, or an output of a node.
  struct Source {
    bool isInput = false;
    std::size_t index = kNone;
    UINT number = 0;
  };
  struct Plan {
    std::shared_ptr<const GraphRecord> graph;  // keeps the key alive
    std::vector<UINT> order;
    std::vector<std::vector<Source>> reads;  // by node and input
    std::vector<std::vector<std::vector<UINT>>> exposed;  // by node and output: its graph outputs
    std::vector<std::vector<std::size_t>> inside;  // by node and output: the resource of an edge; by constant
    std::vector<std::size_t> lastReader;  // by graph input: its index in the order
    std::vector<Initialization> initializations;
  };
  // Unique names by number.
  class UniqueExactly {
   public:
    void Add(const std::string& wanted) {
      std::string name = wanted;
      for (int number = 2; !taken_.insert(name).second; ++number) name = wanted + "_" + std::to_string(number);
      names_.push_back(std::move(name));
    }
    const std::string& operator[](std::size_t index) const { return names_[index]; }
    std::size_t Size() const { return names_.size(); }

   private:
    std::set<std::string> taken_;
    std::vector<std::string> names_;
  };

  std::size_t New(ResourceRecord resource) {
    resources_.push_back(std::move(resource));
    return resources_.size() - 1;
  }

  ProgramText Since(Layout layout) {
    ProgramText made;
    while (names_.Size() < resources_.size()) names_.Add(resources_[names_.Size()].name);
    while (called_.Size() < dispatchables_.size()) called_.Add(dispatchables_[called_.Size()].Name());
    JsonWriter json;
    json.BeginObject(layout);
    if (layout == Layout::kInline) json.Key("from").Unsigned(written_.commands);
    json.Key("resources").BeginObject(layout);
    for (const std::size_t index : changed_) {
      const ResourceRecord& resource = resources_[index];
      if (!resource.dispatched) continue;
      json.Key(names_[index]);
      WriteResource(json, resource);
      if (resource.isBuffer && resource.file.empty()) made.withoutContents.push_back(names_[index]);
      if (!resource.isBuffer && !resource.file.empty()) made.constants.push_back(names_[index]);
    }
    json.EndObject().Key("dispatchables").BeginObject(layout);
    for (std::size_t index = written_.dispatchables; index < dispatchables_.size(); ++index) {
      json.Key(called_[index]);
      WriteDispatchable(json, dispatchables_[index]);
    }
    json.EndObject().Key("commands").BeginArray(layout);
    for (std::size_t index = written_.commands; index < commands_.size(); ++index) {
      const Command& command = commands_[index];
      json.BeginObject().Key("type").String("dispatch").Key("dispatchable").String(called_[command.dispatchable]);
      json.Key("bindings");
      WriteBindings(json, command.bindings);
      json.EndObject();
    }
    json.EndArray();
    if (layout == Layout::kInline) {
      WriteNames(json.Key("constants"), made.constants);
      WriteNames(json.Key("without_contents"), made.withoutContents);
    }
    made.text = json.EndObject().Take();
    changed_.clear();
    written_ = {dispatchables_.size(), commands_.size()};
    return made;
  }

  // --- Plans ---

  Plan& PlanOf(const std::shared_ptr<GraphRecord>& graph) {
    Plan& plan = plans_[graph.get()];
    if (plan.graph) return plan;
    plan.graph = graph;
    plan.order = InOrder(*graph);
    for (const NodeRecord& node : graph->nodes) {
      const std::size_t inputs = node.op ? node.op->description.inputs.size() : 0;
      const std::size_t outputs = node.op ? node.op->description.outputs.size() : 1;
      plan.reads.emplace_back(inputs);
      plan.exposed.emplace_back(outputs);
      plan.inside.emplace_back(outputs, kNone);
    }
    std::vector<std::size_t> place(graph->nodes.size());
    for (std::size_t step = 0; step < plan.order.size(); ++step) place[plan.order[step]] = step;
    plan.lastReader.assign(graph->inputCount, 0);
    for (const EdgeRecord& edge : graph->inputs) {
      plan.reads[edge.ends[1]][edge.ends[2]] = {true, edge.ends[0], 0};
      plan.lastReader[edge.ends[0]] = std::max(plan.lastReader[edge.ends[0]], place[edge.ends[1]]);
    }
    for (const EdgeRecord& edge : graph->intermediates) {
      plan.reads[edge.ends[2]][edge.ends[3]] = {false, edge.ends[0], edge.ends[1]};
      NameInside(*graph, plan, edge);
    }
    for (const EdgeRecord& edge : graph->outputs) plan.exposed[edge.ends[0]][edge.ends[1]].push_back(edge.ends[2]);
    return plan;
  }

  // Returns the resource of a constant, with the name of its node, or of an edge with a name.
  void NameInside(const GraphRecord& graph, Plan& plan, const EdgeRecord& edge) {
    const NodeRecord& node = graph.nodes[edge.ends[0]];
    std::size_t& inside = plan.inside[edge.ends[0]][edge.ends[1]];
    if (inside != kNone) return;
    ResourceRecord resource;
    if (node.isConstant) {
      resource.name = graph.name + "/" + (node.name.empty() ? "constant" + std::to_string(edge.ends[0]) : node.name);
      resource.file = node.file;
      resource.bytes = node.bytes;
      resource.ranges.push_back({0, node.bytes});
    } else {
      resource.name =
          graph.name + "/" + (edge.name.empty() ? NameOfOutput(graph, edge.ends[0], edge.ends[1]) : edge.name);
    }
    inside = New(std::move(resource));
  }

  static std::string NameOfOutput(const GraphRecord& graph, UINT node, UINT number) {
    const NodeRecord& record = graph.nodes[node];
    const std::string stem = record.name.empty() ? "node" + std::to_string(node) : record.name;
    return stem + "." + record.op->description.outputs[number].field;
  }

  Initialization& InitializationOf(Plan& plan, BoundBuffer persistent) {
    auto& all = plan.initializations;
    if (all.empty()) all.emplace_back();
    for (Initialization& item : all) {
      const bool same = item.persistent.buffer == persistent.buffer && item.persistent.offset == persistent.offset;
      if (same && persistent.buffer != nullptr) return item;
    }
    return all.back();
  }

  void MakeDispatchables(const GraphRecord& graph, const Plan& plan, Initialization& initialized) {
    for (UINT node = 0; node < graph.nodes.size(); ++node) {
      Dispatchable made;
      made.graph = plan.graph;
      made.node = node;
      if (graph.nodes[node].isConstant) {
        initialized.dispatchables.push_back(kNone);
        continue;
      }
      const std::vector<TensorFacts>& inputs = graph.nodes[node].op->description.inputs;
      for (UINT number = 0; number < inputs.size(); ++number) {
        const Source& source = plan.reads[node][number];
        if (!inputs[number].ownedByDml || !source.isInput) continue;
        const auto found = initialized.owned.find(static_cast<UINT>(source.index));
        if (found == initialized.owned.end()) continue;
        Dispatched(found->second);
        AddBinding(made.owned, inputs[number], found->second);
      }
      initialized.dispatchables.push_back(dispatchables_.size());
      dispatchables_.push_back(std::move(made));
    }
  }

  // --- One dispatch ---

  // Returns the place of a tensor in a buffer, and extends the buffer to its binding.
  Use Touch(const BoundBuffer& bound, const TensorFacts* tensor) {
    const auto found = current_.find(bound.buffer);
    if (bound.buffer == nullptr || found == current_.end()) return {};
    return Touch({found->second, bound.offset}, tensor);
  }
  Use Touch(Use use, const TensorFacts* tensor) {
    if (use.resource == kNone || tensor == nullptr) return use;
    ResourceRecord& resource = resources_[use.resource];
    const UINT64 end = use.offset + ReachOf(*tensor);
    const bool isNew = resource.dataType == DML_TENSOR_DATA_TYPE_UNKNOWN;
    if (end > resource.bytes || isNew) changed_.insert(use.resource);
    resource.bytes = std::max(resource.bytes, end);
    if (isNew) resource.dataType = tensor->dataType;
    return use;
  }
  Use Dispatched(Use use) {
    if (use.resource == kNone || resources_[use.resource].dispatched) return use;
    resources_[use.resource].dispatched = true;
    changed_.insert(use.resource);
    return use;
  }

  Use Read(const Plan& plan, const Source& source, const DispatchBindings& bindings,
           const std::vector<std::vector<Use>>& written, const TensorFacts& tensor) {
    if (source.isInput) {
      if (source.index >= bindings.inputs.size()) return {};
      return Dispatched(Touch(bindings.inputs[source.index], &tensor));
    }
    if (source.index == kNone) return {};
    if (written[source.index].empty()) return Dispatched(Touch({plan.inside[source.index][0], 0}, &tensor));
    return written[source.index][source.number];
  }

  // Writes an output into the binding of its first graph output, or into a separate buffer if there is none, or if a
  // later node still reads that binding.
  Use Write(const GraphRecord& graph, Plan& plan, std::size_t step, UINT number, const DispatchBindings& bindings,
            std::vector<Copy>& copies) {
    const UINT node = plan.order[step];
    const TensorFacts& tensor = graph.nodes[node].op->description.outputs[number];
    std::vector<Use> shown;
    for (const UINT index : plan.exposed[node][number]) {
      if (index < bindings.outputs.size()) shown.push_back(Dispatched(Touch(bindings.outputs[index], &tensor)));
    }
    shown.erase(std::remove_if(shown.begin(), shown.end(), [](Use use) { return use.resource == kNone; }), shown.end());
    Use use;
    if (!shown.empty() && !IsReadLater(graph, plan, step, shown.front(), tensor, bindings)) {
      use = shown.front();
      shown.erase(shown.begin());
    } else {
      std::size_t& inside = plan.inside[node][number];
      if (inside == kNone) {
        ResourceRecord resource;
        resource.name = graph.name + "/" + NameOfOutput(graph, node, number);
        inside = New(std::move(resource));
      }
      use = Dispatched(Touch({inside, 0}, &tensor));
    }
    for (const Use to : shown) copies.push_back({use, to, RowOf(tensor.dataType, ReachOf(tensor))});
    return use;
  }

  bool IsReadLater(const GraphRecord& graph, const Plan& plan, std::size_t step, Use use, const TensorFacts& tensor,
                   const DispatchBindings& bindings) {
    for (UINT index = 0; index < plan.lastReader.size() && index < bindings.inputs.size(); ++index) {
      const TensorFacts* input = graph.GraphInput(index);
      const Use read = Touch(bindings.inputs[index], input);
      if (plan.lastReader[index] <= step || input == nullptr || read.resource != use.resource) continue;
      if (read.offset < use.offset + ReachOf(tensor) && use.offset < read.offset + ReachOf(*input)) return true;
    }
    return false;
  }

  Command CopyCommand(const Copy& copy) {
    const auto found = copiers_.find(copy.row);
    std::size_t copier = found == copiers_.end() ? dispatchables_.size() : found->second;
    if (found == copiers_.end()) {
      Dispatchable made;
      made.copied = copy.row;
      dispatchables_.push_back(std::move(made));
      copiers_[copy.row] = copier;
    }
    return {copier, {{"InputTensor", false, {copy.from}}, {"OutputTensor", false, {copy.to}}}};
  }

  static void AddBinding(std::vector<Binding>& bindings, const TensorFacts& tensor, Use use) {
    if (use.resource == kNone) return;
    const std::string field = FieldName(tensor);
    if (bindings.empty() || bindings.back().field != field) {
      bindings.push_back({field, field.size() != tensor.field.size(), {}});
    }
    bindings.back().uses.push_back(use);
  }

  // --- Text ---

  // Returns elements that cover these bytes, of a type that divides them; DxDispatch writes no 4-bit values.
  static Row RowOf(std::int32_t dataType, UINT64 bytes) {
    const UINT64 size = BitsOf(dataType) / 8;
    if (size == 0 || bytes % size != 0) return {"UINT8", bytes};
    return {DataTypeName(dataType), bytes / size};
  }

  static void WriteResource(JsonWriter& json, const ResourceRecord& resource) {
    const UINT64 bytes = std::max<UINT64>({resource.bytes, resource.End(), 1});
    const Row row = RowOf(resource.dataType, bytes);
    json.BeginObject().Key("initialValuesDataType").String(row.dataType).Key("initialValues").BeginObject();
    if (resource.file.empty()) {
      json.Key("valueCount").Unsigned(std::min<UINT64>(row.count, 0xFFFFFFFFu)).Key("value").Unsigned(0);
    } else {
      json.Key("sourcePath").String(resource.file);
    }
    json.EndObject().Key("sizeInBytes").Unsigned(RoundUp(bytes, 4)).EndObject();
  }

  void WriteUse(JsonWriter& json, Use use) const {
    if (use.offset == 0) {
      json.String(names_[use.resource]);
      return;
    }
    json.BeginObject().Key("name").String(names_[use.resource]);
    json.Key("elementOffset").Unsigned(use.offset).Key("elementSizeInBytes").Unsigned(1).EndObject();
  }

  void WriteBindings(JsonWriter& json, const std::vector<Binding>& bindings) const {
    json.BeginObject();
    for (const Binding& binding : bindings) {
      json.Key(binding.field);
      if (binding.isArray) json.BeginArray();
      for (const Use use : binding.uses) WriteUse(json, use);
      if (binding.isArray) json.EndArray();
    }
    json.EndObject();
  }

  void WriteDispatchable(JsonWriter& json, const Dispatchable& item) const {
    json.BeginObject().Key("type");
    if (!item.graph) {
      json.String("DML_OPERATOR_ELEMENT_WISE_IDENTITY").Key("desc").BeginObject();
      for (const char* field : {"InputTensor", "OutputTensor"}) {
        json.Key(field).BeginObject().Key("DataType").String(item.copied.dataType).Key("Sizes").BeginArray();
        json.Unsigned(1).Unsigned(1).Unsigned(1).Unsigned(item.copied.count).EndArray().EndObject();
      }
      json.EndObject().EndObject();
      return;
    }
    const Description& description = item.graph->nodes[item.node].op->description;
    json.String(description.name).Key("desc").Raw(description.Fields());
    if (!item.owned.empty()) {
      json.Key("bindings");
      WriteBindings(json, item.owned);
    }
    json.EndObject();
  }

  std::vector<ResourceRecord> resources_;
  std::map<ID3D12Resource*, std::size_t> current_;
  std::map<const GraphRecord*, Plan> plans_;
  std::vector<Dispatchable> dispatchables_;
  std::map<Row, std::size_t> copiers_;
  std::vector<Command> commands_;
  // The state on disk: names of resources and dispatchables, their counts, and resources that have changed since.
  struct Written {
    std::size_t dispatchables = 0, commands = 0;
  };
  UniqueExactly names_, called_;
  Written written_;
  std::set<std::size_t> changed_;
};

}  // namespace detail
}  // namespace dml2onnx
