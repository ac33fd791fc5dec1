#include "execution.h"

#include <algorithm>
#include <cstring>

namespace {

using Compiled = Handle<dml::Dispatchable>;

std::vector<Handle<IUnknown>> create_operators(dml::Device* device, const Case& given) {
    std::vector<Handle<IUnknown>> operators(given.nodes.size());
    for (size_t i = 0; i < given.nodes.size(); ++i) {
        const Node& node = given.nodes[i];
        if (node.is_constant) continue;
        dml::OperatorDesc desc{node.type, given.at(node.place)};
        require(device->CreateOperator(&desc, dml::kOperator, operators[i].out()), "CreateOperator");
    }
    return operators;
}

// DML_GRAPH_DESC with the arrays that it points to.
class Graph {
public:
    Graph(const Case& given, const std::vector<Handle<IUnknown>>& operators) {
        operators_.resize(given.nodes.size());
        constants_.resize(given.nodes.size());
        for (size_t i = 0; i < given.nodes.size(); ++i) {
            const Node& node = given.nodes[i];
            operators_[i] = {operators[i].get(), nullptr};
            if (node.is_constant) constants_[i] = {given.at(node.place), node.type, nullptr};
            nodes_.push_back(node.is_constant ? dml::GraphNodeDesc{dml::kConstantNode, &constants_[i]}
                                              : dml::GraphNodeDesc{dml::kOperatorNode, &operators_[i]});
        }
        for (const Edge& e : given.input_edges) inputs_.push_back({e.from_output, e.to_node, e.to_input, nullptr});
        for (const Edge& e : given.output_edges) outputs_.push_back({e.from_node, e.from_output, e.to_input, nullptr});
        for (const Edge& e : given.intermediate_edges)
            inner_.push_back({e.from_node, e.from_output, e.to_node, e.to_input, nullptr});
        for (const auto& edge : inputs_) input_edges_.push_back({dml::kInputEdge, &edge});
        for (const auto& edge : outputs_) output_edges_.push_back({dml::kOutputEdge, &edge});
        for (const auto& edge : inner_) inner_edges_.push_back({dml::kIntermediateEdge, &edge});
        desc_ = {size(given.inputs),  size(given.outputs),  size(nodes_),        nodes_.data(),
                 size(input_edges_),  input_edges_.data(),  size(output_edges_), output_edges_.data(),
                 size(inner_edges_), inner_edges_.data()};
    }
    Graph(const Graph&) = delete;
    const dml::GraphDesc* desc() const { return &desc_; }

private:
    template <class T>
    static UINT size(const std::vector<T>& items) {
        return static_cast<UINT>(items.size());
    }
    std::vector<dml::OperatorNodeDesc> operators_;
    std::vector<dml::ConstantNodeDesc> constants_;
    std::vector<dml::GraphNodeDesc> nodes_;
    std::vector<dml::InputEdgeDesc> inputs_;
    std::vector<dml::OutputEdgeDesc> outputs_;
    std::vector<dml::IntermediateEdgeDesc> inner_;
    std::vector<dml::GraphEdgeDesc> input_edges_, output_edges_, inner_edges_;
    dml::GraphDesc desc_{};
};

Compiled compile(dml::Device* device, const Case& given, const std::vector<Handle<IUnknown>>& operators) {
    Compiled result;
    if (given.is_graph) {
        Graph graph(given, operators);
        require(device->CompileGraph(graph.desc(), given.flags, dml::kCompiledOperator, result.out()), "CompileGraph");
    } else {
        require(device->CompileOperator(operators[0].get(), given.flags, dml::kCompiledOperator, result.out()),
                "CompileOperator");
    }
    return result;
}

// The buffers of a case, all in one resource, and other objects for initialization and execution.
class Execution {
public:
    Execution(Gpu& gpu, const Case& given, dml::Dispatchable* compiled)
        : gpu_(gpu), given_(given), compiled_(compiled), executing_(compiled->properties()) {
        auto* device = gpu.directml();
        dml::Dispatchable* all[] = {compiled};
        require(device->CreateOperatorInitializer(1, all, dml::kInitializer, initializer_.out()),
                "CreateOperatorInitializer");
        initializing_ = initializer_->properties();
        gpu.reserve(std::max(initializing_.descriptors, executing_.descriptors));
        require(device->CreateCommandRecorder(dml::kCommandRecorder, recorder_.out()), "CreateCommandRecorder");
        if (UINT64 bytes = std::max(initializing_.temporary_bytes, executing_.temporary_bytes))
            temporary_ = gpu.buffer(bytes, D3D12_HEAP_TYPE_DEFAULT);
        if (executing_.persistent_bytes)
            persistent_ = gpu.buffer(executing_.persistent_bytes, D3D12_HEAP_TYPE_DEFAULT);
        for (const Buffer& buffer : given.buffers) total_ = std::max(total_, buffer.start + buffer.size);
        total_ = std::max<UINT64>((total_ + 3) / 4 * 4, 4);
    }

    std::vector<std::vector<uint8_t>> run() {
        upload();
        initialize();
        dispatch();
        return read_back();
    }

private:
    void upload() {
        auto staging = gpu_.buffer(total_, D3D12_HEAP_TYPE_UPLOAD);
        resource_ = gpu_.buffer(total_, D3D12_HEAP_TYPE_DEFAULT);
        uint8_t* mapped = nullptr;
        require(staging->Map(0, nullptr, reinterpret_cast<void**>(&mapped)), "Map");
        std::memset(mapped, 0, total_);
        for (const Buffer& buffer : given_.buffers)
            std::memcpy(mapped + buffer.start, buffer.data, std::min<UINT64>(buffer.data_size, buffer.size));
        staging->Unmap(0, nullptr);
        gpu_.transition(resource_.get(), D3D12_RESOURCE_STATE_COMMON, D3D12_RESOURCE_STATE_COPY_DEST);
        gpu_.list()->CopyBufferRegion(resource_.get(), 0, staging.get(), 0, total_);
        gpu_.transition(resource_.get(), D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
        gpu_.run("upload");
    }

    // Binds all inputs at once, as an initializer requires for the tensors that DirectML owns.
    void initialize() {
        auto buffers = bindings(given_.inputs, kAtInitialization);
        dml::BufferArrayBinding array{static_cast<UINT>(buffers.size()), buffers.data()};
        bind(initializer_.get(), initializing_, "CreateBindingTable for initialisation");
        bool owned = std::any_of(buffers.begin(), buffers.end(), [](const auto& each) { return each.buffer; });
        if (owned) {
            dml::BindingDesc desc{dml::kBufferArrayBinding, &array};
            table_->BindInputs(1, &desc);
        }
        if (persistent_) {
            dml::BufferBinding buffer{persistent_.get(), 0, executing_.persistent_bytes};
            dml::BindingDesc desc{dml::kBufferBinding, &buffer};
            table_->BindOutputs(1, &desc);
        }
        record(initializer_.get());
        gpu_.run("initialisation");
    }

    void dispatch() {
        bind(compiled_, executing_, "CreateBindingTable for execution");
        if (persistent_) {
            dml::BufferBinding buffer{persistent_.get(), 0, executing_.persistent_bytes};
            dml::BindingDesc desc{dml::kBufferBinding, &buffer};
            table_->BindPersistentResource(&desc);
        }
        auto inputs = bindings(given_.inputs, kAtExecution);
        auto outputs = bindings(given_.outputs, kAtExecution);
        auto input_descs = descs(inputs);
        auto output_descs = descs(outputs);
        table_->BindInputs(static_cast<UINT>(inputs.size()), input_descs.data());
        require(gpu_.removed(), "BindInputs");
        table_->BindOutputs(static_cast<UINT>(outputs.size()), output_descs.data());
        require(gpu_.removed(), "BindOutputs");
        record(compiled_);
    }

    std::vector<std::vector<uint8_t>> read_back() {
        auto staging = gpu_.buffer(total_, D3D12_HEAP_TYPE_READBACK);
        gpu_.transition(resource_.get(), D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COPY_SOURCE);
        gpu_.list()->CopyBufferRegion(staging.get(), 0, resource_.get(), 0, total_);
        gpu_.run("execution");
        uint8_t* mapped = nullptr;
        require(staging->Map(0, nullptr, reinterpret_cast<void**>(&mapped)), "Map");
        std::vector<std::vector<uint8_t>> result;
        for (const Buffer& buffer : given_.buffers)
            if (buffer.wanted) result.emplace_back(mapped + buffer.start, mapped + buffer.start + buffer.size);
        staging->Unmap(0, nullptr);
        return result;
    }

    void bind(dml::Dispatchable* dispatchable, const dml::BindingProperties& properties, const char* step) {
        ID3D12DescriptorHeap* heaps[] = {gpu_.heap()};
        gpu_.list()->SetDescriptorHeaps(1, heaps);
        dml::BindingTableDesc desc{dispatchable, {}, {}, properties.descriptors};
        // Called with a result pointer after `this`; directml_api.h explains why.
        gpu_.heap()->GetCPUDescriptorHandleForHeapStart(&desc.cpu);
        gpu_.heap()->GetGPUDescriptorHandleForHeapStart(&desc.gpu);
        require(gpu_.directml()->CreateBindingTable(&desc, dml::kBindingTable, table_.out()), step);
        if (properties.temporary_bytes) {
            dml::BufferBinding buffer{temporary_.get(), 0, properties.temporary_bytes};
            dml::BindingDesc temporary{dml::kBufferBinding, &buffer};
            table_->BindTemporaryResource(&temporary);
        }
    }

    void record(dml::Dispatchable* dispatchable) {
        recorder_->RecordDispatch(gpu_.list(), dispatchable, table_.get());
        require(gpu_.removed(), "RecordDispatch");
        gpu_.wait_for_writes();
    }

    // The buffers bound at that time; empty bindings for the others.
    std::vector<dml::BufferBinding> bindings(const std::vector<Binding>& wanted, BindingKind kind) const {
        std::vector<dml::BufferBinding> result;
        for (const Binding& binding : wanted) {
            if (binding.kind != kind)
                result.push_back({});
            else
                result.push_back(
                    {resource_.get(), given_.buffers[binding.buffer].start + binding.offset, binding.size});
        }
        return result;
    }

    static std::vector<dml::BindingDesc> descs(const std::vector<dml::BufferBinding>& buffers) {
        std::vector<dml::BindingDesc> result;
        for (const auto& buffer : buffers)
            result.push_back(buffer.buffer ? dml::BindingDesc{dml::kBufferBinding, &buffer} : dml::BindingDesc{});
        return result;
    }

    Gpu& gpu_;
    const Case& given_;
    dml::Dispatchable* compiled_;
    dml::BindingProperties executing_, initializing_{};
    Compiled initializer_;
    Handle<dml::CommandRecorder> recorder_;
    Handle<dml::BindingTable> table_;
    Handle<ID3D12Resource> temporary_, persistent_, resource_;
    UINT64 total_ = 0;
};

}  // namespace

Result run_case(Gpu& gpu, const Case& given) {
    Result result;
    result.number = given.number;
    uint32_t* reached = &result.created;
    try {
        auto operators = create_operators(gpu.directml(), given);
        result.created = S_OK;
        if (given.steps & kCompile) {
            reached = &result.compiled;
            auto compiled = compile(gpu.directml(), given, operators);
            result.compiled = S_OK;
            if (given.steps & kDispatch) {
                reached = &result.dispatched;
                result.buffers = Execution(gpu, given, compiled.get()).run();
                result.dispatched = S_OK;
            }
        }
    } catch (const Failure& failure) {
        *reached = static_cast<uint32_t>(failure.code);
        result.step = failure.step;
    }
    result.removed = static_cast<uint32_t>(gpu.removed());
    return result;
}
