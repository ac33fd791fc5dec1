// A COM pointer that releases itself, and the exception that an HRESULT becomes.
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
    // Where a function that makes an object writes it.
    void** out() {
        reset();
        return reinterpret_cast<void**>(&pointer_);
    }

private:
    T* pointer_ = nullptr;
};

// A step that failed: which one, and with what.
struct Failure {
    HRESULT code;
    const char* step;
};

inline void require(HRESULT code, const char* step) {
    if (FAILED(code)) throw Failure{code, step};
}
