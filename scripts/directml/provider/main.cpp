// Runs ONNX models from a pipe on ONNX Runtime's DirectML provider: directml_models.exe
//
// tests/runtimes/worker.py is at the other end. The first answer is the version of ONNX Runtime; the answer to each
// model is its outputs, or an error. All numbers are little-endian.
#include <fcntl.h>
#include <io.h>
#include <windows.h>

#include <onnxruntime_c_api.h>

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

const OrtApi* api = nullptr;
FILE* answers = nullptr;

enum Kind : uint32_t { kOutputs = 0, kText = 1 };

void check(OrtStatus* status) {
    if (!status) return;
    std::string message = api->GetErrorMessage(status);
    api->ReleaseStatus(status);
    throw std::runtime_error(message);
}

// Returns whether all bytes were read; false if the other end has closed the pipe.
bool read_bytes(void* target, size_t size) { return std::fread(target, 1, size, stdin) == size; }

template <class T>
T read() {
    T value{};
    if (!read_bytes(&value, sizeof value)) std::exit(0);
    return value;
}

template <class T>
std::vector<T> read_many(uint64_t count) {
    std::vector<T> values(count);
    if (count && !read_bytes(values.data(), count * sizeof(T))) std::exit(0);
    return values;
}

template <class T>
void write(T value) {
    std::fwrite(&value, sizeof value, 1, answers);
}

void write_text(const std::string& text) {
    write<uint32_t>(kText);
    write<uint32_t>(static_cast<uint32_t>(text.size()));
    std::fwrite(text.data(), 1, text.size(), answers);
    std::fflush(answers);
}

struct Input {
    std::string name;
    ONNXTensorElementDataType type;
    std::vector<int64_t> shape;
    std::vector<uint8_t> data;
};

struct Request {
    std::vector<uint8_t> model;
    std::vector<Input> inputs;
};

Request read_request() {
    Request request;
    request.model = read_many<uint8_t>(read<uint64_t>());
    uint32_t count = read<uint32_t>();
    for (uint32_t i = 0; i < count; ++i) {
        Input input;
        auto name = read_many<char>(read<uint32_t>());
        input.name.assign(name.begin(), name.end());
        input.type = static_cast<ONNXTensorElementDataType>(read<uint32_t>());
        input.shape = read_many<int64_t>(read<uint32_t>());
        input.data = read_many<uint8_t>(read<uint64_t>());
        request.inputs.push_back(std::move(input));
    }
    return request;
}

// A session on the provider, which requires sequential execution without memory patterns.
class Session {
public:
    Session(OrtEnv* environment, const std::vector<uint8_t>& model) {
        check(api->CreateSessionOptions(&options_));
        check(api->DisableMemPattern(options_));
        check(api->SetSessionExecutionMode(options_, ORT_SEQUENTIAL));
        check(api->SetIntraOpNumThreads(options_, 1));
        check(api->SetSessionLogSeverityLevel(options_, ORT_LOGGING_LEVEL_FATAL));
        using Append = OrtStatus*(ORT_API_CALL*)(OrtSessionOptions*, int device);
        auto append = reinterpret_cast<Append>(reinterpret_cast<void*>(
            GetProcAddress(GetModuleHandleA("onnxruntime.dll"), "OrtSessionOptionsAppendExecutionProvider_DML")));
        if (!append) throw std::runtime_error("onnxruntime.dll has no DirectML provider");
        check(append(options_, 0));
        check(api->CreateSessionFromArray(environment, model.data(), model.size(), options_, &session_));
        check(api->GetAllocatorWithDefaultOptions(&allocator_));
    }
    Session(const Session&) = delete;
    ~Session() {
        if (session_) api->ReleaseSession(session_);
        if (options_) api->ReleaseSessionOptions(options_);
    }

    std::vector<OrtValue*> run(Request& request) {
        std::vector<const char*> input_names;
        std::vector<OrtValue*> inputs;
        OrtMemoryInfo* memory = nullptr;
        check(api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
        for (Input& input : request.inputs) {
            input_names.push_back(input.name.c_str());
            inputs.push_back(nullptr);
            check(api->CreateTensorWithDataAsOrtValue(memory, input.data.data(), input.data.size(), input.shape.data(),
                                                      input.shape.size(), input.type, &inputs.back()));
        }
        api->ReleaseMemoryInfo(memory);
        size_t count = 0;
        check(api->SessionGetOutputCount(session_, &count));
        std::vector<char*> output_names(count);
        for (size_t i = 0; i < count; ++i) check(api->SessionGetOutputName(session_, i, allocator_, &output_names[i]));
        std::vector<OrtValue*> outputs(count);
        OrtStatus* status = api->Run(session_, nullptr, input_names.data(), inputs.data(), inputs.size(),
                                     output_names.data(), count, outputs.data());
        for (OrtValue* input : inputs) api->ReleaseValue(input);
        for (char* name : output_names) check(api->AllocatorFree(allocator_, name));
        check(status);
        return outputs;
    }

private:
    OrtSessionOptions* options_ = nullptr;
    OrtSession* session_ = nullptr;
    OrtAllocator* allocator_ = nullptr;
};

struct Output {
    ONNXTensorElementDataType type;
    std::vector<int64_t> shape;
    size_t bytes;
    const void* data;
};

Output describe(OrtValue* value) {
    Output result{};
    OrtTensorTypeAndShapeInfo* info = nullptr;
    check(api->GetTensorTypeAndShape(value, &info));
    check(api->GetTensorElementType(info, &result.type));
    size_t rank = 0;
    check(api->GetDimensionsCount(info, &rank));
    result.shape.resize(rank);
    check(api->GetDimensions(info, result.shape.data(), rank));
    api->ReleaseTensorTypeAndShapeInfo(info);
    check(api->GetTensorSizeInBytes(value, &result.bytes));
    void* data = nullptr;
    check(api->GetTensorMutableData(value, &data));
    result.data = data;
    return result;
}

void answer(OrtEnv* environment, Request& request) {
    Session session(environment, request.model);
    auto values = session.run(request);
    std::vector<Output> outputs;
    for (OrtValue* value : values) outputs.push_back(describe(value));
    write<uint32_t>(kOutputs);
    write<uint32_t>(static_cast<uint32_t>(outputs.size()));
    for (const Output& output : outputs) {
        write<uint32_t>(output.type);
        write<uint32_t>(static_cast<uint32_t>(output.shape.size()));
        std::fwrite(output.shape.data(), sizeof(int64_t), output.shape.size(), answers);
        write<uint64_t>(output.bytes);
        std::fwrite(output.data, 1, output.bytes, answers);
    }
    std::fflush(answers);
    for (OrtValue* value : values) api->ReleaseValue(value);
}

}  // namespace

int main() {
    // output of ONNX Runtime must not get into the answers
    answers = _fdopen(_dup(1), "wb");
    _dup2(2, 1);
    _setmode(_fileno(answers), _O_BINARY);
    _setmode(0, _O_BINARY);
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
    HMODULE library = LoadLibraryA("onnxruntime.dll");
    if (!library) return 10;
    using GetBase = const OrtApiBase*(ORT_API_CALL*)();
    auto base = reinterpret_cast<GetBase>(reinterpret_cast<void*>(GetProcAddress(library, "OrtGetApiBase")))();
    api = base->GetApi(ORT_API_VERSION);
    if (!api) return 11;
    OrtEnv* environment = nullptr;
    check(api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "dml2onnx", &environment));
    write_text(base->GetVersionString());
    for (;;) {
        Request request = read_request();
        try {
            answer(environment, request);
        } catch (const std::exception& error) {
            write_text(error.what());
        }
    }
}
