// The file of cases as dml2onnx/directml/cases.py writes it, and the file of results.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

// The steps of a case; each needs the previous one.
enum Steps : uint32_t { kCompile = 1, kDispatch = 2 };

struct Node {
    bool is_constant;
    uint32_t type;   // DML_OPERATOR_TYPE, or the size of a constant in bytes
    uint32_t place;  // of the struct or the data in the case's memory
};

struct Edge {
    uint32_t from_node, from_output, to_node, to_input;
};

struct Buffer {
    uint64_t size;
    uint64_t start;  // in the resource with all buffers of the case
    const uint8_t* data;
    uint32_t data_size;
    bool wanted;  // whether the results contain it
};

struct Binding {
    uint32_t kind;  // BindingKind
    uint32_t buffer;
    uint64_t offset;
    uint64_t size;
};
enum BindingKind : uint32_t { kUnbound = 0, kAtExecution = 1, kAtInitialization = 2 };

struct Case {
    uint32_t number;
    bool is_graph;
    uint32_t steps;
    uint32_t flags;
    std::vector<uint64_t> memory;  // the structs of all operators, with relocated pointers
    std::vector<Node> nodes;
    std::vector<Edge> input_edges, output_edges, intermediate_edges;
    std::vector<Buffer> buffers;
    std::vector<Binding> inputs, outputs;

    const uint8_t* at(uint32_t place) const { return reinterpret_cast<const uint8_t*>(memory.data()) + place; }
};

// Throws std::runtime_error if the file is invalid or truncated.
class CaseFile {
public:
    explicit CaseFile(const std::string& path);
    uint32_t count() const { return static_cast<uint32_t>(places_.size()); }
    Case read(uint32_t index) const;

private:
    std::vector<uint8_t> bytes_;
    std::vector<size_t> places_;
};

// The result of a case. Steps that were not reached have kNotReached.
constexpr uint32_t kNotReached = 0xffffffff;
struct Result {
    uint32_t number = 0;
    uint32_t created = kNotReached;
    uint32_t compiled = kNotReached;
    uint32_t dispatched = kNotReached;
    uint32_t removed = 0;  // IDMLDevice::GetDeviceRemovedReason
    std::string step;      // the step that failed
    std::vector<std::vector<uint8_t>> buffers;
};

class ResultFile {
public:
    ResultFile(const std::string& path, bool append);
    ~ResultFile();
    void write(const Result& result);

private:
    void number(uint32_t value);
    FILE* file_;
};
