// Runs cases through DirectML.dll: directml_cases.exe [--dml DLL] [--first N] CASES RESULTS
//
// Each case writes its result before the next one starts. If DirectML crashes the process, the caller restarts it after
// that case (`--first`). Exit codes: 0 all cases were run; 20 the device was lost in the last case written; 21 an
// exception ended the process; 10 and above see below.
#include <cstdlib>
#include <cstring>
#include <exception>

#include "execution.h"

namespace {

enum ExitCode : UINT { kDone = 0, kUsage = 10, kNoDevice = 11, kBadFile = 12, kDeviceLost = 20, kDied = 21 };

// Exits without detaching the DLLs: with a lost device they would wait forever.
[[noreturn]] void leave(UINT code) {
    std::fflush(nullptr);
    TerminateProcess(GetCurrentProcess(), code);
    std::abort();
}

LONG WINAPI died(EXCEPTION_POINTERS* pointers) {
    std::fprintf(stderr, "exception %08lx\n", pointers->ExceptionRecord->ExceptionCode);
    leave(kDied);
}

struct Arguments {
    const char* library = "DirectML.dll";
    uint32_t first = 0;
    const char* cases = nullptr;
    const char* results = nullptr;
};

bool parse(int count, char** values, Arguments& result) {
    for (int i = 1; i < count; ++i) {
        bool has_value = i + 1 < count;
        if (!std::strcmp(values[i], "--dml") && has_value)
            result.library = values[++i];
        else if (!std::strcmp(values[i], "--first") && has_value)
            result.first = static_cast<uint32_t>(std::strtoul(values[++i], nullptr, 10));
        else if (!result.cases)
            result.cases = values[i];
        else
            result.results = values[i];
    }
    return result.results != nullptr;
}

// Returns whether the device is usable: after a failure the command list may be half recorded.
bool is_usable(const Result& result) {
    bool dispatch_failed = result.dispatched != kNotReached && FAILED(static_cast<HRESULT>(result.dispatched));
    return SUCCEEDED(static_cast<HRESULT>(result.removed)) && !dispatch_failed;
}

UINT run(const Arguments& arguments) {
    CaseFile cases(arguments.cases);
    Gpu gpu(arguments.library);
    ResultFile results(arguments.results, arguments.first > 0);
    for (uint32_t i = arguments.first; i < cases.count(); ++i) {
        Result result = run_case(gpu, cases.read(i));
        results.write(result);
        if (!is_usable(result)) leave(kDeviceLost);
    }
    leave(kDone);
}

}  // namespace

int main(int count, char** values) {
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
    SetUnhandledExceptionFilter(died);
    Arguments arguments;
    if (!parse(count, values, arguments)) {
        std::fprintf(stderr, "usage: directml_cases [--dml DLL] [--first N] CASES RESULTS\n");
        leave(kUsage);
    }
    try {
        run(arguments);
    } catch (const Failure& failure) {
        std::fprintf(stderr, "%s: %08lx\n", failure.step, static_cast<unsigned long>(failure.code));
        leave(kNoDevice);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        leave(kBadFile);
    }
}
