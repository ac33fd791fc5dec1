// A COM smart pointer, and an exception for failed HRESULTs.
#pragma once

#include <windows.h>

#include <utility>

template <class T>
class Handle {
public:
    Handle() = default;
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    Handle(Handle&& other) noexcept : pointer_(other.pointer_) { other.pointer_ = nullptr; }
    Handle& operator=(Handle&& other) noexcept {
        std::swap(pointer_, other.pointer_);
        return *this;
    }
    ~Handle() { reset(); }

    void reset() {
        if (pointer_) pointer_->Release();
        pointer_ = nullptr;
    }
    T* get() const { return pointer_; }
    T* operator->() const { return pointer_; }
    explicit operator bool() const { return pointer_ != nullptr; }
    // The address for a function that returns an object.
    void** out() {
        reset();
        return reinterpret_cast<void**>(&pointer_);
    }

private:
    T* pointer_ = nullptr;
};

// A failed step and its HRESULT.
struct Failure {
    HRESULT code;
    const char* step;
};

inline void require(HRESULT code, const char* step) {
    if (FAILED(code)) throw Failure{code, step};
}
