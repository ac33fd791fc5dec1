#include "cases.h"

#include <cstring>
#include <stdexcept>

namespace {

constexpr uint32_t kMagic = 0x314c4d44;  // "DML1"
constexpr uint64_t kBufferAlignment = 256;

class Reader {
public:
    Reader(const std::vector<uint8_t>& bytes, size_t at) : bytes_(bytes), at_(at) {}

    const uint8_t* take(size_t count) {
        if (count > bytes_.size() - at_) throw std::runtime_error("the file of cases ends early");
        const uint8_t* here = bytes_.data() + at_;
        at_ += count;
        return here;
    }
    uint32_t u32() { return number<uint32_t>(); }
    uint64_t u64() { return number<uint64_t>(); }
    size_t at() const { return at_; }

    template <class T, class Read>
    std::vector<T> list(Read read) {
        uint32_t count = u32();
        std::vector<T> items;
        for (uint32_t i = 0; i < count; ++i) items.push_back(read());
        return items;
    }

private:
    template <class T>
    T number() {
        T value;
        std::memcpy(&value, take(sizeof value), sizeof value);
        return value;
    }
    const std::vector<uint8_t>& bytes_;
    size_t at_;
};

// Pointers are written as offsets in the memory; `pointers` has their positions.
void read_memory(Reader& reader, Case& result) {
    uint32_t size = reader.u32();
    const uint8_t* given = reader.take(size);
    result.memory.resize(size / 8 + 1);
    auto* base = reinterpret_cast<uint8_t*>(result.memory.data());
    std::memcpy(base, given, size);
    auto pointers = reader.list<uint32_t>([&] { return reader.u32(); });
    for (uint32_t place : pointers) {
        if (place + 8ull > size) throw std::runtime_error("a pointer lies outside the memory of its case");
        uint64_t value;
        std::memcpy(&value, base + place, sizeof value);
        value += reinterpret_cast<uint64_t>(base);
        std::memcpy(base + place, &value, sizeof value);
    }
}

std::vector<Edge> read_edges(Reader& reader) {
    return reader.list<Edge>([&] {
        Edge edge{};
        edge.from_node = reader.u32();
        edge.from_output = reader.u32();
        edge.to_node = reader.u32();
        edge.to_input = reader.u32();
        return edge;
    });
}

void read_buffers(Reader& reader, Case& result) {
    uint64_t start = 0;
    result.buffers = reader.list<Buffer>([&] {
        Buffer buffer{};
        buffer.size = reader.u64();
        buffer.wanted = reader.u32() != 0;
        buffer.data_size = reader.u32();
        buffer.data = reader.take(buffer.data_size);
        buffer.start = start;
        start += (buffer.size + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
        return buffer;
    });
}

std::vector<Binding> read_bindings(Reader& reader, size_t buffers) {
    return reader.list<Binding>([&] {
        Binding binding{};
        binding.kind = reader.u32();
        binding.buffer = reader.u32();
        binding.offset = reader.u64();
        binding.size = reader.u64();
        if (binding.kind != kUnbound && binding.buffer >= buffers) throw std::runtime_error("no such buffer");
        return binding;
    });
}

}  // namespace

CaseFile::CaseFile(const std::string& path) {
    FILE* file = std::fopen(path.c_str(), "rb");
    if (!file) throw std::runtime_error("cannot open " + path);
    uint8_t block[1 << 16];
    for (size_t n; (n = std::fread(block, 1, sizeof block, file)) > 0;) bytes_.insert(bytes_.end(), block, block + n);
    std::fclose(file);
    Reader reader(bytes_, 0);
    if (reader.u32() != kMagic) throw std::runtime_error(path + " is no file of cases");
    uint32_t count = reader.u32();
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t size = reader.u32();
        places_.push_back(reader.at());
        reader.take(size);
    }
}

Case CaseFile::read(uint32_t index) const {
    Reader reader(bytes_, places_.at(index));
    Case result{};
    result.number = index;
    result.is_graph = reader.u32() != 0;
    result.steps = reader.u32();
    result.flags = reader.u32();
    read_memory(reader, result);
    result.nodes = reader.list<Node>([&] {
        Node node{};
        node.is_constant = reader.u32() != 0;
        node.type = reader.u32();
        node.place = reader.u32();
        return node;
    });
    if (result.nodes.empty() && !result.is_graph) throw std::runtime_error("a case without an operator");
    result.input_edges = read_edges(reader);
    result.output_edges = read_edges(reader);
    result.intermediate_edges = read_edges(reader);
    read_buffers(reader, result);
    result.inputs = read_bindings(reader, result.buffers.size());
    result.outputs = read_bindings(reader, result.buffers.size());
    return result;
}

ResultFile::ResultFile(const std::string& path, bool append) : file_(std::fopen(path.c_str(), append ? "ab" : "wb")) {
    if (!file_) throw std::runtime_error("cannot write " + path);
}

ResultFile::~ResultFile() { std::fclose(file_); }

void ResultFile::number(uint32_t value) { std::fwrite(&value, sizeof value, 1, file_); }

void ResultFile::write(const Result& result) {
    for (uint32_t value : {result.number, result.created, result.compiled, result.dispatched, result.removed})
        number(value);
    number(static_cast<uint32_t>(result.step.size()));
    std::fwrite(result.step.data(), 1, result.step.size(), file_);
    number(static_cast<uint32_t>(result.buffers.size()));
    for (const auto& buffer : result.buffers) {
        number(static_cast<uint32_t>(buffer.size()));
        std::fwrite(buffer.data(), 1, buffer.size(), file_);
    }
    std::fflush(file_);  // the next case may crash the process
}
