// A recording DirectML device: include this header, create your graphs on dml2onnx::CreateRecordingDevice's device, and
// they lie on disk for `dml2onnx check`, `compile` and `run`. See https://github.com/dml2onnx/dml2onnx.
//
// Written by scripts/generate_recorder.py of dml2onnx from scripts/recorder/ and schemas/. Do not edit.
// SPDX-License-Identifier: MIT

#pragma once

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 201703L
#error "dml2onnx_recorder.h is C++17: compile with -std=c++17, or /std:c++17, or a newer one"
#else

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

// Basics: the DirectML header, and exceptions at COM boundaries.
//
// Every part is a piece of one header; scripts/generate_recorder.py joins them in its order, with the tables of
// operators between them. A part starts with the standard headers that it needs, which are collected at the top of the
// result. Types and functions are named as in DirectML.h (PascalCase), variables in camelCase, private members with a
// trailing underscore. No exception crosses COM, nothing needs RTTI, and everything is C++17.

// DirectML.h depends on the headers of the Windows SDK. Those of other compilers and systems lack the annotations of
// parameters, which are defined here as empty, and the GUIDs, which DirectML.h gives only to compilers with
// __declspec(uuid); these follow below. Visual C++ lacks nothing.
#if !defined(_MSC_VER)
#if !__has_include(<d3d12.h>)
#error "DirectML.h includes d3d12.h, which is not found: add recorder/posix to the include path"
#endif
#if !defined(_WIN32) && __has_include(<wsl/winadapter.h>)
#include <wsl/winadapter.h>
#elif !defined(_WIN32) && __has_include(<unknwn.h>)
#include <unknwn.h>  // the d3d12.h of DirectX-Headers does not include it
#endif
#include <d3d12.h>
// this DirectML.h belongs to no SDK whose version would select its own
#if !defined(DML_TARGET_VERSION) && !defined(DML_TARGET_VERSION_USE_LATEST)
#define DML_TARGET_VERSION_USE_LATEST
#endif
#if !defined(_In_opt_)
#define _In_opt_
#endif
#if !defined(_Inout_)
#define _Inout_
#endif
#if !defined(_COM_Outptr_)
#define _COM_Outptr_
#endif
#if !defined(_COM_Outptr_opt_)
#define _COM_Outptr_opt_
#endif
#if !defined(_In_reads_)
#define _In_reads_(count)
#endif
#if !defined(_In_reads_opt_)
#define _In_reads_opt_(count)
#endif
#if !defined(_In_reads_bytes_opt_)
#define _In_reads_bytes_opt_(count)
#endif
#if !defined(_Out_writes_bytes_)
#define _Out_writes_bytes_(count)
#endif
#if !defined(_Out_writes_bytes_opt_)
#define _Out_writes_bytes_opt_(count)
#endif
#if !defined(_Field_size_)
#define _Field_size_(count)
#endif
#if !defined(_Field_size_opt_)
#define _Field_size_opt_(count)
#endif
#if !defined(_Field_size_bytes_)
#define _Field_size_bytes_(count)
#endif
#if !defined(_Field_z_)
#define _Field_z_
#endif
#if !defined(_Maybenull_)
#define _Maybenull_
#endif
#endif

// Define DML2ONNX_DIRECTML_HEADER if DirectML.h has another name.
#if defined(DML2ONNX_DIRECTML_HEADER)
#include DML2ONNX_DIRECTML_HEADER
#else
#include <DirectML.h>
#endif

// The first DirectML.h had no versions.
#if !defined(DML_TARGET_VERSION)
#define DML2ONNX_TARGET_VERSION 0x1000
#else
#define DML2ONNX_TARGET_VERSION DML_TARGET_VERSION
#endif

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define DML2ONNX_EXCEPTIONS 1
#else
#define DML2ONNX_EXCEPTIONS 0
#endif

namespace dml2onnx {
namespace detail {

// Returns the result of `function`, E_OUTOFMEMORY for std::bad_alloc, or E_FAIL for other exceptions. All methods that
// COM calls and that allocate use it.
template <typename Function>
HRESULT Guarded(Function&& function) noexcept {
#if DML2ONNX_EXCEPTIONS
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return E_OUTOFMEMORY;
  } catch (...) {
    return E_FAIL;
  }
#else
  return function();
#endif
}

}  // namespace detail
}  // namespace dml2onnx

// The interface of the recorder for programs, besides those of DirectML.
//
//   dml2onnx::RecordingOptions options;
//   options.folder = "recording";
//   options.onProblem = [](const std::string& reason) { std::fprintf(stderr, "%s\n", reason.c_str()); };
//   IDMLDevice* device = nullptr;
//   HRESULT result = dml2onnx::CreateRecordingDevice(nullptr, options, iid, reinterpret_cast<void**>(&device));
//
// Use `device` like any other. Pass a real DirectML device instead of nullptr to let it do the work and return its
// results; without one, operators and graphs are only recorded, and dispatching does nothing.
//
// The recording is a folder; `dml2onnx check FOLDER`, `dml2onnx compile FOLDER --graph NAME` and so on read it.

namespace dml2onnx {

struct RecordingOptions {
  // Created if missing. A folder with anything but an earlier recording is refused; an earlier recording is replaced.
  // If this or another running program uses it, a number is added: "recording_2".
  std::filesystem::path folder = "recording";

  // The feature level without a real device: 0x3000 is 3.0.
  UINT featureLevel = DML2ONNX_TARGET_VERSION;

  // Called with errors in descriptors, and with reasons why something could not be recorded. Any thread may call it.
  std::function<void(const std::string& reason)> onProblem;

  // Return names of graphs and buffers in UTF-8, if neither IDMLObject::SetName nor Recorder::NameBuffer sets one.
  // Graphs are numbered from 1 in the order of compilation. For "" the recorder chooses the name, that of
  // ID3D12Object::SetName for buffers of a real device.
  std::function<std::string(UINT number)> graphName;
  std::function<std::string(ID3D12Resource* buffer)> bufferName;

  // The result of GetParentDevice without a real device.
  IUnknown* parentDevice = nullptr;

  // The most dispatched operators to record, counting each node of a graph: a program that draws frames would never
  // end.
  UINT mostDispatches = 1u << 16;
};

// Information for the recorder that DirectML does not get. GetRecorder below returns it for a device.
//
// A buffer is any ID3D12Resource*. Without a real device it only identifies a buffer and is never called, so that any
// pointer but null works.
struct Recorder : public IUnknown {
  // Sets the contents of a buffer from `offset`: weights, which become constants of the graphs that read them, or an
  // example of an input. They are copied to a file at once. New contents of a range that has some, or of a buffer that
  // has been dispatched, replace all of them from then on.
  virtual HRESULT STDMETHODCALLTYPE Constant(ID3D12Resource* buffer, const void* data, UINT64 bytes,
                                             UINT64 offset) noexcept = 0;

  // Sets the contents of an input of a graph or operator, in the file of that graph.
  virtual HRESULT STDMETHODCALLTYPE ConstantInput(IDMLCompiledOperator* compiled, UINT input, const void* data,
                                                  UINT64 bytes) noexcept = 0;

  // Names a buffer in the recording. A number is added to a name in use, which is reported to `options.onProblem`.
  virtual HRESULT STDMETHODCALLTYPE NameBuffer(ID3D12Resource* buffer, const wchar_t* name) noexcept = 0;

  // Ends the life of a buffer: another one may have its address. Buffers of a real device are detected automatically.
  virtual HRESULT STDMETHODCALLTYPE ForgetBuffer(ID3D12Resource* buffer) noexcept = 0;

  // Writes all files; so does the release of the last object of the device.
  virtual HRESULT STDMETHODCALLTYPE Flush() noexcept = 0;
};

// Creates a recording device with the interface `riid`. Besides COM errors (E_NOINTERFACE, E_POINTER) it returns
// E_ACCESSDENIED if the folder cannot be written, with the reason in `options.onProblem`.
HRESULT CreateRecordingDevice(IDMLDevice* real, const RecordingOptions& options, REFIID riid, void** ppv) noexcept;

// Returns the recorder of a recording device, which the caller must release; E_NOINTERFACE for other objects.
HRESULT GetRecorder(IUnknown* device, Recorder** recorder) noexcept;

}  // namespace dml2onnx

// Writes JSON for the front ends of dml2onnx.
//
//   JsonWriter json;
//   json.BeginObject(Layout::kLines);        // a member on each line; Layout::kInline (the default) is one line
//   json.Key("Name").String("conv \"1\"");   // any bytes: invalid UTF-8 is read as Latin-1
//   json.Key("Sizes").BeginArray();
//   json.Unsigned(3).Unsigned(4).EndArray();
//   json.Key("Operator").Raw(description.json);
//   json.EndObject();
//   std::string text = json.Take();
//
// Commas, line breaks and indentation are automatic. Floats have the fewest digits that give the same bits (read as
// double); others are "nan", "inf" and "-inf". 64-bit integers are exact.

namespace dml2onnx {
namespace detail {

inline void AppendCodePoint(std::string& out, std::uint32_t point) {
  const auto byte = [&out](std::uint32_t value) { out += static_cast<char>(static_cast<unsigned char>(value)); };
  if (point < 0x80) {
    byte(point);
  } else if (point < 0x800) {
    byte(0xC0 | (point >> 6));
    byte(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    byte(0xE0 | (point >> 12));
    byte(0x80 | ((point >> 6) & 0x3F));
    byte(0x80 | (point & 0x3F));
  } else {
    byte(0xF0 | (point >> 18));
    byte(0x80 | ((point >> 12) & 0x3F));
    byte(0x80 | ((point >> 6) & 0x3F));
    byte(0x80 | (point & 0x3F));
  }
}

// Returns the length of the UTF-8 sequence at `index`; 0 if it is invalid (truncated, overlong, a surrogate, beyond
// Unicode).
inline std::size_t Utf8Length(std::string_view text, std::size_t index) {
  const auto at = [text](std::size_t place) -> std::uint32_t {
    return place < text.size() ? static_cast<unsigned char>(text[place]) : 0u;
  };
  const auto continues = [&at](std::size_t place) { return (at(place) & 0xC0) == 0x80; };
  const std::uint32_t first = at(index);
  const std::uint32_t second = at(index + 1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return continues(index + 1) ? 2 : 0;
  if (first >= 0xE0 && first < 0xF0) {
    const bool overlong = first == 0xE0 && second < 0xA0;
    const bool surrogate = first == 0xED && second >= 0xA0;
    return continues(index + 1) && continues(index + 2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first < 0xF5) {
    const bool overlong = first == 0xF0 && second < 0x90;
    const bool beyond = first == 0xF4 && second >= 0x90;
    const bool whole = continues(index + 1) && continues(index + 2) && continues(index + 3);
    return whole && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

// Converts any bytes to UTF-8. Invalid sequences are read as Latin-1, so that no information is lost and different
// texts stay different.
inline std::string Utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t index = 0; index < text.size();) {
    const std::size_t length = Utf8Length(text, index);
    if (length == 0) {
      AppendCodePoint(out, static_cast<unsigned char>(text[index]));
      ++index;
    } else {
      out.append(text, index, length);
      index += length;
    }
  }
  return out;
}

// Converts a COM name from UTF-16 (or UTF-32, if wchar_t has 32 bits); "" for null.
inline std::string Utf8(const wchar_t* text) {
  std::string out;
  if (text == nullptr) return out;
  while (*text != L'\0') {
    std::uint32_t point = static_cast<std::uint32_t>(*text++);
    if (sizeof(wchar_t) == 2) point &= 0xFFFF;
    if (point >= 0xD800 && point < 0xE000) {
      const std::uint32_t low = static_cast<std::uint32_t>(*text);
      if (point < 0xDC00 && low >= 0xDC00 && low < 0xE000) {
        point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
        ++text;
      } else {
        point = 0xFFFD;  // a lone surrogate
      }
    }
    AppendCodePoint(out, point < 0x110000 ? point : 0xFFFD);
  }
  return out;
}

inline void AppendJsonString(std::string& out, std::string_view bytes) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char letter : Utf8(bytes)) {
    const auto value = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      out += '\\';
      out += letter;
    } else if (letter == '\n') {
      out += "\\n";
    } else if (letter == '\t') {
      out += "\\t";
    } else if (value < 0x20 || value == 0x7F) {
      out += "\\u00";
      out += kHex[value >> 4];
      out += kHex[value & 0xF];
    } else {
      out += letter;
    }
  }
  out += '"';
}

// Returns `value` with this many significant digits, independent of the program's locale.
inline std::string Decimal(double value, int digits) {
  char text[40];
  const int length = std::snprintf(text, sizeof text, "%.*g", digits, value);
  std::string out;
  bool inPoint = false;
  for (int index = 0; index < length; ++index) {
    const char letter = text[index];
    const bool plain = (letter >= '0' && letter <= '9') || letter == '-' || letter == '+' || letter == 'e';
    if (plain) {
      out += letter;
    } else if (!inPoint) {
      out += '.';
    }
    inPoint = !plain;
  }
  return out;
}

// Parses the digits with std::strtod, in the program's locale.
inline double Reread(double value, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return std::strtod(text, nullptr);
}

template <typename Float>
void AppendJsonFloat(std::string& out, Float value) {
  if (std::isnan(value)) {
    out += "\"nan\"";
    return;
  }
  if (std::isinf(value)) {
    out += value > 0 ? "\"inf\"" : "\"-inf\"";
    return;
  }
  const int most = sizeof(Float) == sizeof(float) ? 9 : 17;
  int digits = 1;
  while (digits < most && !(static_cast<Float>(Reread(static_cast<double>(value), digits)) == value)) ++digits;
  std::string text = Decimal(static_cast<double>(value), digits);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";  // keeps the sign of -0
  out += text;
}

enum class Layout { kInline, kLines };

class JsonWriter {
 public:
  JsonWriter& BeginObject(Layout layout = Layout::kInline) { return Begin('{', layout); }
  JsonWriter& EndObject() { return End('}'); }
  JsonWriter& BeginArray(Layout layout = Layout::kInline) { return Begin('[', layout); }
  JsonWriter& EndArray() { return End(']'); }

  JsonWriter& Key(std::string_view name) {
    Separate();
    AppendJsonString(text_, name);
    text_ += ": ";
    afterKey_ = true;
    return *this;
  }
  JsonWriter& String(std::string_view bytes) {
    Separate();
    AppendJsonString(text_, bytes);
    return *this;
  }
  JsonWriter& Unsigned(std::uint64_t value) { return Raw(std::to_string(value)); }
  JsonWriter& Integer(std::int64_t value) { return Raw(std::to_string(value)); }
  JsonWriter& Bool(bool value) { return Raw(value ? "true" : "false"); }
  JsonWriter& Null() { return Raw("null"); }
  JsonWriter& Float(float value) {
    Separate();
    AppendJsonFloat(text_, value);
    return *this;
  }
  JsonWriter& Double(double value) {
    Separate();
    AppendJsonFloat(text_, value);
    return *this;
  }
  // Adds a value that is already JSON.
  JsonWriter& Raw(std::string_view json) {
    Separate();
    text_.append(json);
    return *this;
  }
  std::string Take() { return std::move(text_); }

 private:
  struct Level {
    Layout layout;
    bool empty;
  };

  JsonWriter& Begin(char bracket, Layout layout) {
    Separate();
    text_ += bracket;
    // an inline parent makes its members inline
    if (!levels_.empty() && levels_.back().layout == Layout::kInline) layout = Layout::kInline;
    levels_.push_back({layout, true});
    return *this;
  }
  JsonWriter& End(char bracket) {
    const Level level = levels_.back();
    levels_.pop_back();
    if (level.layout == Layout::kLines && !level.empty) Break();
    text_ += bracket;
    return *this;
  }
  void Separate() {
    if (afterKey_) {
      afterKey_ = false;
      return;
    }
    if (levels_.empty()) return;
    Level& level = levels_.back();
    if (!level.empty) text_ += level.layout == Layout::kLines ? "," : ", ";
    if (level.layout == Layout::kLines) Break();
    level.empty = false;
  }
  void Break() {
    text_ += '\n';
    text_.append(2 * levels_.size(), ' ');
  }

  std::string text_;
  std::vector<Level> levels_;
  bool afterKey_ = false;
};

}  // namespace detail
}  // namespace dml2onnx

// An operator descriptor in text, with the facts that the recorder needs.
//
//   Description description = Describe(desc);      // any DML_OPERATOR_DESC*, even null
//   description.json                               // {"Type": "DML_OPERATOR_GEMM", "Desc": {...}}, on one line
//   description.inputs[2].bytes                    // of the tensor that DirectML calls input 2
//   if (!description.Acceptable()) ...             // E_INVALIDARG; description.problems says why
//
// The text is that of a DML_OPERATOR_DESC in a DML_GRAPH_DESC of dml2onnx (frontends/dml_graph.py). Absent optional
// fields are omitted, since DxDispatch, which reads the same text, has no null. Unreadable parts (a null pointer, an
// operator that this DirectML.h does not declare) are null, an enumerator without a name is a number, and each of these
// is a problem. Sizes are not checked here; use `dml2onnx check`.

namespace dml2onnx {
namespace detail {

// An input or output. Bindings and edges number all tensor fields of one side in the order of the structure; each
// element of an array has a number, and so has an absent optional tensor.
struct TensorFacts {
  std::string field;  // "InputTensor", "InputTensors[2]"
  bool present = false;
  std::int32_t dataType = DML_TENSOR_DATA_TYPE_UNKNOWN;  // a number, possibly without a name
  bool ownedByDml = false;
  std::uint64_t bytes = 0;  // TotalTensorSizeInBytes
  std::vector<UINT> sizes;
  std::vector<UINT> strides;  // empty for a packed tensor
};

struct Description {
  std::string name;  // "DML_OPERATOR_GEMM"; "" when there is no such operator
  std::string json;
  std::vector<TensorFacts> inputs;
  std::vector<TensorFacts> outputs;
  std::vector<std::string> problems;  // "FusedActivation.Desc is null"

  bool Acceptable() const { return problems.empty(); }

  // Returns the fields: the text after "Desc".
  std::string_view Fields() const {
    static constexpr std::string_view kBefore = "\"Desc\": ";
    const std::size_t begin = json.find(kBefore) + kBefore.size();
    return std::string_view(json).substr(begin, json.size() - begin - 1);
  }
};

Description Describe(const DML_OPERATOR_DESC* desc);

}  // namespace detail
}  // namespace dml2onnx

// Types of the tables of operators, which follow.

namespace dml2onnx {
namespace detail {

enum class FieldKind : std::uint8_t {
  kTensor,
  kTensorArray,
  kUint,
  kInt,
  kFloat,
  kBool,
  kEnum,
  kUintArray,
  kIntArray,
  kFloatArray,
  kScaleBias,
  kScalarUnion,
  kSize2D,
  kOperator,
  kOperatorArray,
};

enum class FieldRole : std::uint8_t { kInput, kOutput, kAttribute };

struct Enumerator {
  std::int32_t value;
  const char* name;
};

struct EnumNames {
  const Enumerator* values;
  std::size_t count;
};

struct Field {
  const char* name;
  FieldKind kind;
  FieldRole role;
  bool optional;
  std::size_t offset;
  std::size_t other;  // offset of the count of an array, or of the data type of a scalar union
  const EnumNames* names;
};

struct OperatorFields {
  DML_OPERATOR_TYPE type;
  const char* name;
  const Field* fields;
  std::size_t count;
};

}  // namespace detail
}  // namespace dml2onnx

// Enumerations by number, so that a header need not declare them all, and operators by field.

namespace dml2onnx {
namespace detail {

inline constexpr Enumerator kAxisDirectionValues[] = {
    {0, "DML_AXIS_DIRECTION_INCREASING"},
    {1, "DML_AXIS_DIRECTION_DECREASING"},
};
inline constexpr EnumNames kAxisDirection{kAxisDirectionValues, 2};

inline constexpr Enumerator kConvolutionDirectionValues[] = {
    {0, "DML_CONVOLUTION_DIRECTION_FORWARD"},
    {1, "DML_CONVOLUTION_DIRECTION_BACKWARD"},
};
inline constexpr EnumNames kConvolutionDirection{kConvolutionDirectionValues, 2};

inline constexpr Enumerator kConvolutionModeValues[] = {
    {0, "DML_CONVOLUTION_MODE_CONVOLUTION"},
    {1, "DML_CONVOLUTION_MODE_CROSS_CORRELATION"},
};
inline constexpr EnumNames kConvolutionMode{kConvolutionModeValues, 2};

inline constexpr Enumerator kDepthSpaceOrderValues[] = {
    {0, "DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW"},
    {1, "DML_DEPTH_SPACE_ORDER_COLUMN_ROW_DEPTH"},
};
inline constexpr EnumNames kDepthSpaceOrder{kDepthSpaceOrderValues, 2};

inline constexpr Enumerator kInterpolationModeValues[] = {
    {0, "DML_INTERPOLATION_MODE_NEAREST_NEIGHBOR"},
    {1, "DML_INTERPOLATION_MODE_LINEAR"},
};
inline constexpr EnumNames kInterpolationMode{kInterpolationModeValues, 2};

inline constexpr Enumerator kIsInfinityModeValues[] = {
    {0, "DML_IS_INFINITY_MODE_EITHER"},
    {1, "DML_IS_INFINITY_MODE_POSITIVE"},
    {2, "DML_IS_INFINITY_MODE_NEGATIVE"},
};
inline constexpr EnumNames kIsInfinityMode{kIsInfinityModeValues, 3};

inline constexpr Enumerator kMatrixTransformValues[] = {
    {0, "DML_MATRIX_TRANSFORM_NONE"},
    {1, "DML_MATRIX_TRANSFORM_TRANSPOSE"},
};
inline constexpr EnumNames kMatrixTransform{kMatrixTransformValues, 2};

inline constexpr Enumerator kMultiheadAttentionMaskTypeValues[] = {
    {0, "DML_MULTIHEAD_ATTENTION_MASK_TYPE_NONE"},
    {1, "DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_LENGTH"},
    {2, "DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_END_START"},
    {3, "DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_QUERY_SEQUENCE_LENGTH_START_END"},
    {4, "DML_MULTIHEAD_ATTENTION_MASK_TYPE_BOOLEAN"},
};
inline constexpr EnumNames kMultiheadAttentionMaskType{kMultiheadAttentionMaskTypeValues, 5};

inline constexpr Enumerator kPaddingModeValues[] = {
    {0, "DML_PADDING_MODE_CONSTANT"},
    {1, "DML_PADDING_MODE_EDGE"},
    {2, "DML_PADDING_MODE_REFLECTION"},
    {3, "DML_PADDING_MODE_SYMMETRIC"},
    {4, "DML_PADDING_MODE_WRAP"},
};
inline constexpr EnumNames kPaddingMode{kPaddingModeValues, 5};

inline constexpr Enumerator kQuantizationTypeValues[] = {
    {0, "DML_QUANTIZATION_TYPE_NONE"},
    {1, "DML_QUANTIZATION_TYPE_SCALE"},
    {2, "DML_QUANTIZATION_TYPE_SCALE_ZERO_POINT"},
};
inline constexpr EnumNames kQuantizationType{kQuantizationTypeValues, 3};

inline constexpr Enumerator kRandomGeneratorTypeValues[] = {
    {0, "DML_RANDOM_GENERATOR_TYPE_PHILOX_4X32_10"},
};
inline constexpr EnumNames kRandomGeneratorType{kRandomGeneratorTypeValues, 1};

inline constexpr Enumerator kRecurrentNetworkDirectionValues[] = {
    {0, "DML_RECURRENT_NETWORK_DIRECTION_FORWARD"},
    {1, "DML_RECURRENT_NETWORK_DIRECTION_BACKWARD"},
    {2, "DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL"},
};
inline constexpr EnumNames kRecurrentNetworkDirection{kRecurrentNetworkDirectionValues, 3};

inline constexpr Enumerator kReduceFunctionValues[] = {
    {0, "DML_REDUCE_FUNCTION_ARGMAX"},
    {1, "DML_REDUCE_FUNCTION_ARGMIN"},
    {2, "DML_REDUCE_FUNCTION_AVERAGE"},
    {3, "DML_REDUCE_FUNCTION_L1"},
    {4, "DML_REDUCE_FUNCTION_L2"},
    {5, "DML_REDUCE_FUNCTION_LOG_SUM"},
    {6, "DML_REDUCE_FUNCTION_LOG_SUM_EXP"},
    {7, "DML_REDUCE_FUNCTION_MAX"},
    {8, "DML_REDUCE_FUNCTION_MIN"},
    {9, "DML_REDUCE_FUNCTION_MULTIPLY"},
    {10, "DML_REDUCE_FUNCTION_SUM"},
    {11, "DML_REDUCE_FUNCTION_SUM_SQUARE"},
};
inline constexpr EnumNames kReduceFunction{kReduceFunctionValues, 12};

inline constexpr Enumerator kRoundingModeValues[] = {
    {0, "DML_ROUNDING_MODE_HALVES_TO_NEAREST_EVEN"},
    {1, "DML_ROUNDING_MODE_TOWARD_ZERO"},
    {2, "DML_ROUNDING_MODE_TOWARD_INFINITY"},
};
inline constexpr EnumNames kRoundingMode{kRoundingModeValues, 3};

inline constexpr Enumerator kTensorDataTypeValues[] = {
    {0, "DML_TENSOR_DATA_TYPE_UNKNOWN"},
    {1, "DML_TENSOR_DATA_TYPE_FLOAT32"},
    {2, "DML_TENSOR_DATA_TYPE_FLOAT16"},
    {3, "DML_TENSOR_DATA_TYPE_UINT32"},
    {4, "DML_TENSOR_DATA_TYPE_UINT16"},
    {5, "DML_TENSOR_DATA_TYPE_UINT8"},
    {6, "DML_TENSOR_DATA_TYPE_INT32"},
    {7, "DML_TENSOR_DATA_TYPE_INT16"},
    {8, "DML_TENSOR_DATA_TYPE_INT8"},
    {9, "DML_TENSOR_DATA_TYPE_FLOAT64"},
    {10, "DML_TENSOR_DATA_TYPE_UINT64"},
    {11, "DML_TENSOR_DATA_TYPE_INT64"},
    {12, "DML_TENSOR_DATA_TYPE_UINT4"},
    {13, "DML_TENSOR_DATA_TYPE_INT4"},
};
inline constexpr EnumNames kTensorDataType{kTensorDataTypeValues, 14};

inline constexpr Enumerator kTensorFlagsValues[] = {
    {0, "DML_TENSOR_FLAG_NONE"},
    {1, "DML_TENSOR_FLAG_OWNED_BY_DML"},
};
inline constexpr EnumNames kTensorFlags{kTensorFlagsValues, 2};

inline constexpr Enumerator kTensorTypeValues[] = {
    {0, "DML_TENSOR_TYPE_INVALID"},
    {1, "DML_TENSOR_TYPE_BUFFER"},
};
inline constexpr EnumNames kTensorType{kTensorTypeValues, 2};

inline constexpr Field kElementWiseIdentityFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC, ScaleBias), 0, nullptr},
};

inline constexpr Field kElementWiseAbsFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_ABS_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_ABS_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_ABS_OPERATOR_DESC, ScaleBias), 0, nullptr},
};

inline constexpr Field kElementWiseAcosFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_ACOS_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_ACOS_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_ACOS_OPERATOR_DESC, ScaleBias), 0, nullptr},
};

inline constexpr Field kElementWiseAddFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_ADD_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_ADD_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_ADD_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseAsinFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_ASIN_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_ASIN_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_ASIN_OPERATOR_DESC, ScaleBias), 0, nullptr},
};

inline constexpr Field kElementWiseAtanFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_ATAN_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_ATAN_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_ATAN_OPERATOR_DESC, ScaleBias), 0, nullptr},
};

inline constexpr Field kElementWiseCeilFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_CEIL_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_CEIL_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_CEIL_OPERATOR_DESC, ScaleBias), 0, nullptr},
};

inline constexpr Field kElementWiseClipFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_CLIP_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_CLIP_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_CLIP_OPERATOR_DESC, ScaleBias), 0, nullptr},
    {"Min", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ELEMENT_WISE_CLIP_OPERATOR_DESC, Min), 0, nullptr},
    {"Max", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ELEMENT_WISE_CLIP_OPERATOR_DESC, Max), 0, nullptr},
};

inline constexpr Field kElementWiseCosFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_COS_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_COS_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_COS_OPERATOR_DESC, ScaleBias), 0, nullptr},
};

inline constexpr Field kElementWiseDivideFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_DIVIDE_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_DIVIDE_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_DIVIDE_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseExpFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_EXP_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_EXP_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_EXP_OPERATOR_DESC, ScaleBias), 0, nullptr},
};

inline constexpr Field kElementWiseFloorFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_FLOOR_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_FLOOR_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_FLOOR_OPERATOR_DESC, ScaleBias), 0, nullptr},
};

inline constexpr Field kElementWiseLogFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_LOG_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_LOG_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_LOG_OPERATOR_DESC, ScaleBias), 0, nullptr},
};

inline constexpr Field kElementWiseLogicalAndFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_AND_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_AND_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_AND_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseLogicalEqualsFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_EQUALS_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_EQUALS_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_EQUALS_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseLogicalGreaterThanFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_GREATER_THAN_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_GREATER_THAN_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_GREATER_THAN_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseLogicalLessThanFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_LESS_THAN_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_LESS_THAN_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_LESS_THAN_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseLogicalNotFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_NOT_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_NOT_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseLogicalOrFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_OR_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_OR_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_OR_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseLogicalXorFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_XOR_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_XOR_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_XOR_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseMaxFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_MAX_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_MAX_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_MAX_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseMeanFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_MEAN_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_MEAN_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_MEAN_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseMinFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_MIN_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_MIN_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_MIN_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseMultiplyFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_MULTIPLY_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_MULTIPLY_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_MULTIPLY_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWisePowFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_POW_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"ExponentTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_POW_OPERATOR_DESC, ExponentTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_POW_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_POW_OPERATOR_DESC, ScaleBias), 0, nullptr},
};

inline constexpr Field kElementWiseConstantPowFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_CONSTANT_POW_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_CONSTANT_POW_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_CONSTANT_POW_OPERATOR_DESC, ScaleBias), 0, nullptr},
    {"Exponent", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ELEMENT_WISE_CONSTANT_POW_OPERATOR_DESC, Exponent), 0, nullptr},
};

inline constexpr Field kElementWiseRecipFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_RECIP_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_RECIP_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_RECIP_OPERATOR_DESC, ScaleBias), 0, nullptr},
};

inline constexpr Field kElementWiseSinFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_SIN_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_SIN_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_SIN_OPERATOR_DESC, ScaleBias), 0, nullptr},
};

inline constexpr Field kElementWiseSqrtFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_SQRT_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_SQRT_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_SQRT_OPERATOR_DESC, ScaleBias), 0, nullptr},
};

inline constexpr Field kElementWiseSubtractFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_SUBTRACT_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_SUBTRACT_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_SUBTRACT_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseTanFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_TAN_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_TAN_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_TAN_OPERATOR_DESC, ScaleBias), 0, nullptr},
};

inline constexpr Field kElementWiseThresholdFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_THRESHOLD_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_THRESHOLD_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_THRESHOLD_OPERATOR_DESC, ScaleBias), 0, nullptr},
    {"Min", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ELEMENT_WISE_THRESHOLD_OPERATOR_DESC, Min), 0, nullptr},
};

inline constexpr Field kElementWiseQuantizeLinearFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_QUANTIZE_LINEAR_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"ScaleTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_QUANTIZE_LINEAR_OPERATOR_DESC, ScaleTensor), 0, nullptr},
    {"ZeroPointTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_ELEMENT_WISE_QUANTIZE_LINEAR_OPERATOR_DESC, ZeroPointTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_QUANTIZE_LINEAR_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseDequantizeLinearFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_DEQUANTIZE_LINEAR_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"ScaleTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_DEQUANTIZE_LINEAR_OPERATOR_DESC, ScaleTensor), 0, nullptr},
    {"ZeroPointTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_ELEMENT_WISE_DEQUANTIZE_LINEAR_OPERATOR_DESC, ZeroPointTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_DEQUANTIZE_LINEAR_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kActivationEluFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_ELU_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_ELU_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Alpha", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_ELU_OPERATOR_DESC, Alpha), 0, nullptr},
};

inline constexpr Field kActivationHardmaxFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_HARDMAX_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_HARDMAX_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kActivationHardSigmoidFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_HARD_SIGMOID_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_HARD_SIGMOID_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Alpha", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_HARD_SIGMOID_OPERATOR_DESC, Alpha), 0, nullptr},
    {"Beta", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_HARD_SIGMOID_OPERATOR_DESC, Beta), 0, nullptr},
};

inline constexpr Field kActivationIdentityFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_IDENTITY_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_IDENTITY_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kActivationLeakyReluFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_LEAKY_RELU_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_LEAKY_RELU_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Alpha", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_LEAKY_RELU_OPERATOR_DESC, Alpha), 0, nullptr},
};

inline constexpr Field kActivationLinearFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_LINEAR_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_LINEAR_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Alpha", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_LINEAR_OPERATOR_DESC, Alpha), 0, nullptr},
    {"Beta", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_LINEAR_OPERATOR_DESC, Beta), 0, nullptr},
};

inline constexpr Field kActivationLogSoftmaxFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_LOG_SOFTMAX_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_LOG_SOFTMAX_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kActivationParameterizedReluFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_PARAMETERIZED_RELU_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"SlopeTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_PARAMETERIZED_RELU_OPERATOR_DESC, SlopeTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_PARAMETERIZED_RELU_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kActivationParametricSoftplusFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_PARAMETRIC_SOFTPLUS_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_PARAMETRIC_SOFTPLUS_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Alpha", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_PARAMETRIC_SOFTPLUS_OPERATOR_DESC, Alpha), 0, nullptr},
    {"Beta", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_PARAMETRIC_SOFTPLUS_OPERATOR_DESC, Beta), 0, nullptr},
};

inline constexpr Field kActivationReluFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_RELU_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_RELU_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kActivationScaledEluFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_SCALED_ELU_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_SCALED_ELU_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Alpha", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_SCALED_ELU_OPERATOR_DESC, Alpha), 0, nullptr},
    {"Gamma", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_SCALED_ELU_OPERATOR_DESC, Gamma), 0, nullptr},
};

inline constexpr Field kActivationScaledTanhFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_SCALED_TANH_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_SCALED_TANH_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Alpha", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_SCALED_TANH_OPERATOR_DESC, Alpha), 0, nullptr},
    {"Beta", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_SCALED_TANH_OPERATOR_DESC, Beta), 0, nullptr},
};

inline constexpr Field kActivationSigmoidFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_SIGMOID_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_SIGMOID_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kActivationSoftmaxFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_SOFTMAX_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_SOFTMAX_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kActivationSoftplusFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_SOFTPLUS_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_SOFTPLUS_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Steepness", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_SOFTPLUS_OPERATOR_DESC, Steepness), 0, nullptr},
};

inline constexpr Field kActivationSoftsignFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_SOFTSIGN_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_SOFTSIGN_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kActivationTanhFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_TANH_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_TANH_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kActivationThresholdedReluFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_THRESHOLDED_RELU_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_THRESHOLDED_RELU_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Alpha", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_THRESHOLDED_RELU_OPERATOR_DESC, Alpha), 0, nullptr},
};

inline constexpr Field kConvolutionFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_CONVOLUTION_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"FilterTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_CONVOLUTION_OPERATOR_DESC, FilterTensor), 0, nullptr},
    {"BiasTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_CONVOLUTION_OPERATOR_DESC, BiasTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_CONVOLUTION_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Mode", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_CONVOLUTION_OPERATOR_DESC, Mode), 0, &kConvolutionMode},
    {"Direction", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_CONVOLUTION_OPERATOR_DESC, Direction), 0, &kConvolutionDirection},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_CONVOLUTION_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"Strides", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_CONVOLUTION_OPERATOR_DESC, Strides), offsetof(DML_CONVOLUTION_OPERATOR_DESC, DimensionCount), nullptr},
    {"Dilations", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_CONVOLUTION_OPERATOR_DESC, Dilations), offsetof(DML_CONVOLUTION_OPERATOR_DESC, DimensionCount), nullptr},
    {"StartPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_CONVOLUTION_OPERATOR_DESC, StartPadding), offsetof(DML_CONVOLUTION_OPERATOR_DESC, DimensionCount), nullptr},
    {"EndPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_CONVOLUTION_OPERATOR_DESC, EndPadding), offsetof(DML_CONVOLUTION_OPERATOR_DESC, DimensionCount), nullptr},
    {"OutputPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_CONVOLUTION_OPERATOR_DESC, OutputPadding), offsetof(DML_CONVOLUTION_OPERATOR_DESC, DimensionCount), nullptr},
    {"GroupCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_CONVOLUTION_OPERATOR_DESC, GroupCount), 0, nullptr},
    {"FusedActivation", FieldKind::kOperator, FieldRole::kAttribute, true, offsetof(DML_CONVOLUTION_OPERATOR_DESC, FusedActivation), 0, nullptr},
};

inline constexpr Field kGemmFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_GEMM_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_GEMM_OPERATOR_DESC, BTensor), 0, nullptr},
    {"CTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_GEMM_OPERATOR_DESC, CTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_GEMM_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"TransA", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_GEMM_OPERATOR_DESC, TransA), 0, &kMatrixTransform},
    {"TransB", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_GEMM_OPERATOR_DESC, TransB), 0, &kMatrixTransform},
    {"Alpha", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_GEMM_OPERATOR_DESC, Alpha), 0, nullptr},
    {"Beta", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_GEMM_OPERATOR_DESC, Beta), 0, nullptr},
    {"FusedActivation", FieldKind::kOperator, FieldRole::kAttribute, true, offsetof(DML_GEMM_OPERATOR_DESC, FusedActivation), 0, nullptr},
};

inline constexpr Field kReduceFields[] = {
    {"Function", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_REDUCE_OPERATOR_DESC, Function), 0, &kReduceFunction},
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_REDUCE_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_REDUCE_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"AxisCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_REDUCE_OPERATOR_DESC, AxisCount), 0, nullptr},
    {"Axes", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_REDUCE_OPERATOR_DESC, Axes), offsetof(DML_REDUCE_OPERATOR_DESC, AxisCount), nullptr},
};

inline constexpr Field kAveragePoolingFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_AVERAGE_POOLING_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_AVERAGE_POOLING_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_AVERAGE_POOLING_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"Strides", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_AVERAGE_POOLING_OPERATOR_DESC, Strides), offsetof(DML_AVERAGE_POOLING_OPERATOR_DESC, DimensionCount), nullptr},
    {"WindowSize", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_AVERAGE_POOLING_OPERATOR_DESC, WindowSize), offsetof(DML_AVERAGE_POOLING_OPERATOR_DESC, DimensionCount), nullptr},
    {"StartPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_AVERAGE_POOLING_OPERATOR_DESC, StartPadding), offsetof(DML_AVERAGE_POOLING_OPERATOR_DESC, DimensionCount), nullptr},
    {"EndPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_AVERAGE_POOLING_OPERATOR_DESC, EndPadding), offsetof(DML_AVERAGE_POOLING_OPERATOR_DESC, DimensionCount), nullptr},
    {"IncludePadding", FieldKind::kBool, FieldRole::kAttribute, false, offsetof(DML_AVERAGE_POOLING_OPERATOR_DESC, IncludePadding), 0, nullptr},
};

inline constexpr Field kLpPoolingFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_LP_POOLING_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_LP_POOLING_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_LP_POOLING_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"Strides", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_LP_POOLING_OPERATOR_DESC, Strides), offsetof(DML_LP_POOLING_OPERATOR_DESC, DimensionCount), nullptr},
    {"WindowSize", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_LP_POOLING_OPERATOR_DESC, WindowSize), offsetof(DML_LP_POOLING_OPERATOR_DESC, DimensionCount), nullptr},
    {"StartPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_LP_POOLING_OPERATOR_DESC, StartPadding), offsetof(DML_LP_POOLING_OPERATOR_DESC, DimensionCount), nullptr},
    {"EndPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_LP_POOLING_OPERATOR_DESC, EndPadding), offsetof(DML_LP_POOLING_OPERATOR_DESC, DimensionCount), nullptr},
    {"P", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_LP_POOLING_OPERATOR_DESC, P), 0, nullptr},
};

inline constexpr Field kMaxPoolingFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_MAX_POOLING_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_MAX_POOLING_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_MAX_POOLING_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"Strides", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_MAX_POOLING_OPERATOR_DESC, Strides), offsetof(DML_MAX_POOLING_OPERATOR_DESC, DimensionCount), nullptr},
    {"WindowSize", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_MAX_POOLING_OPERATOR_DESC, WindowSize), offsetof(DML_MAX_POOLING_OPERATOR_DESC, DimensionCount), nullptr},
    {"StartPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_MAX_POOLING_OPERATOR_DESC, StartPadding), offsetof(DML_MAX_POOLING_OPERATOR_DESC, DimensionCount), nullptr},
    {"EndPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_MAX_POOLING_OPERATOR_DESC, EndPadding), offsetof(DML_MAX_POOLING_OPERATOR_DESC, DimensionCount), nullptr},
};

inline constexpr Field kRoiPoolingFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ROI_POOLING_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"ROITensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ROI_POOLING_OPERATOR_DESC, ROITensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ROI_POOLING_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"SpatialScale", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ROI_POOLING_OPERATOR_DESC, SpatialScale), 0, nullptr},
    {"PooledSize", FieldKind::kSize2D, FieldRole::kAttribute, false, offsetof(DML_ROI_POOLING_OPERATOR_DESC, PooledSize), 0, nullptr},
};

inline constexpr Field kSliceFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_SLICE_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_SLICE_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_SLICE_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"Offsets", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_SLICE_OPERATOR_DESC, Offsets), offsetof(DML_SLICE_OPERATOR_DESC, DimensionCount), nullptr},
    {"Sizes", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_SLICE_OPERATOR_DESC, Sizes), offsetof(DML_SLICE_OPERATOR_DESC, DimensionCount), nullptr},
    {"Strides", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_SLICE_OPERATOR_DESC, Strides), offsetof(DML_SLICE_OPERATOR_DESC, DimensionCount), nullptr},
};

inline constexpr Field kCastFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_CAST_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_CAST_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kSplitFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_SPLIT_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_SPLIT_OPERATOR_DESC, OutputCount), 0, nullptr},
    {"OutputTensors", FieldKind::kTensorArray, FieldRole::kOutput, false, offsetof(DML_SPLIT_OPERATOR_DESC, OutputTensors), offsetof(DML_SPLIT_OPERATOR_DESC, OutputCount), nullptr},
    {"Axis", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_SPLIT_OPERATOR_DESC, Axis), 0, nullptr},
};

inline constexpr Field kJoinFields[] = {
    {"InputCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_JOIN_OPERATOR_DESC, InputCount), 0, nullptr},
    {"InputTensors", FieldKind::kTensorArray, FieldRole::kInput, false, offsetof(DML_JOIN_OPERATOR_DESC, InputTensors), offsetof(DML_JOIN_OPERATOR_DESC, InputCount), nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_JOIN_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Axis", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_JOIN_OPERATOR_DESC, Axis), 0, nullptr},
};

inline constexpr Field kPaddingFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_PADDING_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_PADDING_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"PaddingMode", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_PADDING_OPERATOR_DESC, PaddingMode), 0, &kPaddingMode},
    {"PaddingValue", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_PADDING_OPERATOR_DESC, PaddingValue), 0, nullptr},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_PADDING_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"StartPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_PADDING_OPERATOR_DESC, StartPadding), offsetof(DML_PADDING_OPERATOR_DESC, DimensionCount), nullptr},
    {"EndPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_PADDING_OPERATOR_DESC, EndPadding), offsetof(DML_PADDING_OPERATOR_DESC, DimensionCount), nullptr},
};

inline constexpr Field kValueScale2dFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_VALUE_SCALE_2D_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_VALUE_SCALE_2D_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Scale", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_VALUE_SCALE_2D_OPERATOR_DESC, Scale), 0, nullptr},
    {"ChannelCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_VALUE_SCALE_2D_OPERATOR_DESC, ChannelCount), 0, nullptr},
    {"Bias", FieldKind::kFloatArray, FieldRole::kAttribute, false, offsetof(DML_VALUE_SCALE_2D_OPERATOR_DESC, Bias), offsetof(DML_VALUE_SCALE_2D_OPERATOR_DESC, ChannelCount), nullptr},
};

inline constexpr Field kUpsample2dFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_UPSAMPLE_2D_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_UPSAMPLE_2D_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleSize", FieldKind::kSize2D, FieldRole::kAttribute, false, offsetof(DML_UPSAMPLE_2D_OPERATOR_DESC, ScaleSize), 0, nullptr},
    {"InterpolationMode", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_UPSAMPLE_2D_OPERATOR_DESC, InterpolationMode), 0, &kInterpolationMode},
};

inline constexpr Field kGatherFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_GATHER_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"IndicesTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_GATHER_OPERATOR_DESC, IndicesTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_GATHER_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Axis", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_GATHER_OPERATOR_DESC, Axis), 0, nullptr},
    {"IndexDimensions", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_GATHER_OPERATOR_DESC, IndexDimensions), 0, nullptr},
};

inline constexpr Field kSpaceToDepthFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_SPACE_TO_DEPTH_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_SPACE_TO_DEPTH_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"BlockSize", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_SPACE_TO_DEPTH_OPERATOR_DESC, BlockSize), 0, nullptr},
};

inline constexpr Field kDepthToSpaceFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_DEPTH_TO_SPACE_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_DEPTH_TO_SPACE_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"BlockSize", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_DEPTH_TO_SPACE_OPERATOR_DESC, BlockSize), 0, nullptr},
};

inline constexpr Field kTileFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_TILE_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_TILE_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"RepeatsCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_TILE_OPERATOR_DESC, RepeatsCount), 0, nullptr},
    {"Repeats", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_TILE_OPERATOR_DESC, Repeats), offsetof(DML_TILE_OPERATOR_DESC, RepeatsCount), nullptr},
};

inline constexpr Field kTopKFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_TOP_K_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputValueTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_TOP_K_OPERATOR_DESC, OutputValueTensor), 0, nullptr},
    {"OutputIndexTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_TOP_K_OPERATOR_DESC, OutputIndexTensor), 0, nullptr},
    {"Axis", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_TOP_K_OPERATOR_DESC, Axis), 0, nullptr},
    {"K", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_TOP_K_OPERATOR_DESC, K), 0, nullptr},
};

inline constexpr Field kBatchNormalizationFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_BATCH_NORMALIZATION_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"MeanTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_BATCH_NORMALIZATION_OPERATOR_DESC, MeanTensor), 0, nullptr},
    {"VarianceTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_BATCH_NORMALIZATION_OPERATOR_DESC, VarianceTensor), 0, nullptr},
    {"ScaleTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_BATCH_NORMALIZATION_OPERATOR_DESC, ScaleTensor), 0, nullptr},
    {"BiasTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_BATCH_NORMALIZATION_OPERATOR_DESC, BiasTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_BATCH_NORMALIZATION_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Spatial", FieldKind::kBool, FieldRole::kAttribute, false, offsetof(DML_BATCH_NORMALIZATION_OPERATOR_DESC, Spatial), 0, nullptr},
    {"Epsilon", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_BATCH_NORMALIZATION_OPERATOR_DESC, Epsilon), 0, nullptr},
    {"FusedActivation", FieldKind::kOperator, FieldRole::kAttribute, true, offsetof(DML_BATCH_NORMALIZATION_OPERATOR_DESC, FusedActivation), 0, nullptr},
};

inline constexpr Field kMeanVarianceNormalizationFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_MEAN_VARIANCE_NORMALIZATION_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"ScaleTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MEAN_VARIANCE_NORMALIZATION_OPERATOR_DESC, ScaleTensor), 0, nullptr},
    {"BiasTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MEAN_VARIANCE_NORMALIZATION_OPERATOR_DESC, BiasTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_MEAN_VARIANCE_NORMALIZATION_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"CrossChannel", FieldKind::kBool, FieldRole::kAttribute, false, offsetof(DML_MEAN_VARIANCE_NORMALIZATION_OPERATOR_DESC, CrossChannel), 0, nullptr},
    {"NormalizeVariance", FieldKind::kBool, FieldRole::kAttribute, false, offsetof(DML_MEAN_VARIANCE_NORMALIZATION_OPERATOR_DESC, NormalizeVariance), 0, nullptr},
    {"Epsilon", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_MEAN_VARIANCE_NORMALIZATION_OPERATOR_DESC, Epsilon), 0, nullptr},
    {"FusedActivation", FieldKind::kOperator, FieldRole::kAttribute, true, offsetof(DML_MEAN_VARIANCE_NORMALIZATION_OPERATOR_DESC, FusedActivation), 0, nullptr},
};

inline constexpr Field kLocalResponseNormalizationFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_LOCAL_RESPONSE_NORMALIZATION_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_LOCAL_RESPONSE_NORMALIZATION_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"CrossChannel", FieldKind::kBool, FieldRole::kAttribute, false, offsetof(DML_LOCAL_RESPONSE_NORMALIZATION_OPERATOR_DESC, CrossChannel), 0, nullptr},
    {"LocalSize", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_LOCAL_RESPONSE_NORMALIZATION_OPERATOR_DESC, LocalSize), 0, nullptr},
    {"Alpha", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_LOCAL_RESPONSE_NORMALIZATION_OPERATOR_DESC, Alpha), 0, nullptr},
    {"Beta", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_LOCAL_RESPONSE_NORMALIZATION_OPERATOR_DESC, Beta), 0, nullptr},
    {"Bias", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_LOCAL_RESPONSE_NORMALIZATION_OPERATOR_DESC, Bias), 0, nullptr},
};

inline constexpr Field kLpNormalizationFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_LP_NORMALIZATION_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_LP_NORMALIZATION_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Axis", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_LP_NORMALIZATION_OPERATOR_DESC, Axis), 0, nullptr},
    {"Epsilon", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_LP_NORMALIZATION_OPERATOR_DESC, Epsilon), 0, nullptr},
    {"P", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_LP_NORMALIZATION_OPERATOR_DESC, P), 0, nullptr},
};

inline constexpr Field kRnnFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_RNN_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"WeightTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_RNN_OPERATOR_DESC, WeightTensor), 0, nullptr},
    {"RecurrenceTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_RNN_OPERATOR_DESC, RecurrenceTensor), 0, nullptr},
    {"BiasTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_RNN_OPERATOR_DESC, BiasTensor), 0, nullptr},
    {"HiddenInitTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_RNN_OPERATOR_DESC, HiddenInitTensor), 0, nullptr},
    {"SequenceLengthsTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_RNN_OPERATOR_DESC, SequenceLengthsTensor), 0, nullptr},
    {"OutputSequenceTensor", FieldKind::kTensor, FieldRole::kOutput, true, offsetof(DML_RNN_OPERATOR_DESC, OutputSequenceTensor), 0, nullptr},
    {"OutputSingleTensor", FieldKind::kTensor, FieldRole::kOutput, true, offsetof(DML_RNN_OPERATOR_DESC, OutputSingleTensor), 0, nullptr},
    {"ActivationDescCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_RNN_OPERATOR_DESC, ActivationDescCount), 0, nullptr},
    {"ActivationDescs", FieldKind::kOperatorArray, FieldRole::kAttribute, false, offsetof(DML_RNN_OPERATOR_DESC, ActivationDescs), offsetof(DML_RNN_OPERATOR_DESC, ActivationDescCount), nullptr},
    {"Direction", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_RNN_OPERATOR_DESC, Direction), 0, &kRecurrentNetworkDirection},
};

inline constexpr Field kLstmFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_LSTM_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"WeightTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_LSTM_OPERATOR_DESC, WeightTensor), 0, nullptr},
    {"RecurrenceTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_LSTM_OPERATOR_DESC, RecurrenceTensor), 0, nullptr},
    {"BiasTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_LSTM_OPERATOR_DESC, BiasTensor), 0, nullptr},
    {"HiddenInitTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_LSTM_OPERATOR_DESC, HiddenInitTensor), 0, nullptr},
    {"CellMemInitTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_LSTM_OPERATOR_DESC, CellMemInitTensor), 0, nullptr},
    {"SequenceLengthsTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_LSTM_OPERATOR_DESC, SequenceLengthsTensor), 0, nullptr},
    {"PeepholeTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_LSTM_OPERATOR_DESC, PeepholeTensor), 0, nullptr},
    {"OutputSequenceTensor", FieldKind::kTensor, FieldRole::kOutput, true, offsetof(DML_LSTM_OPERATOR_DESC, OutputSequenceTensor), 0, nullptr},
    {"OutputSingleTensor", FieldKind::kTensor, FieldRole::kOutput, true, offsetof(DML_LSTM_OPERATOR_DESC, OutputSingleTensor), 0, nullptr},
    {"OutputCellSingleTensor", FieldKind::kTensor, FieldRole::kOutput, true, offsetof(DML_LSTM_OPERATOR_DESC, OutputCellSingleTensor), 0, nullptr},
    {"ActivationDescCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_LSTM_OPERATOR_DESC, ActivationDescCount), 0, nullptr},
    {"ActivationDescs", FieldKind::kOperatorArray, FieldRole::kAttribute, false, offsetof(DML_LSTM_OPERATOR_DESC, ActivationDescs), offsetof(DML_LSTM_OPERATOR_DESC, ActivationDescCount), nullptr},
    {"Direction", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_LSTM_OPERATOR_DESC, Direction), 0, &kRecurrentNetworkDirection},
    {"ClipThreshold", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_LSTM_OPERATOR_DESC, ClipThreshold), 0, nullptr},
    {"UseClipThreshold", FieldKind::kBool, FieldRole::kAttribute, false, offsetof(DML_LSTM_OPERATOR_DESC, UseClipThreshold), 0, nullptr},
    {"CoupleInputForget", FieldKind::kBool, FieldRole::kAttribute, false, offsetof(DML_LSTM_OPERATOR_DESC, CoupleInputForget), 0, nullptr},
};

inline constexpr Field kGruFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_GRU_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"WeightTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_GRU_OPERATOR_DESC, WeightTensor), 0, nullptr},
    {"RecurrenceTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_GRU_OPERATOR_DESC, RecurrenceTensor), 0, nullptr},
    {"BiasTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_GRU_OPERATOR_DESC, BiasTensor), 0, nullptr},
    {"HiddenInitTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_GRU_OPERATOR_DESC, HiddenInitTensor), 0, nullptr},
    {"SequenceLengthsTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_GRU_OPERATOR_DESC, SequenceLengthsTensor), 0, nullptr},
    {"OutputSequenceTensor", FieldKind::kTensor, FieldRole::kOutput, true, offsetof(DML_GRU_OPERATOR_DESC, OutputSequenceTensor), 0, nullptr},
    {"OutputSingleTensor", FieldKind::kTensor, FieldRole::kOutput, true, offsetof(DML_GRU_OPERATOR_DESC, OutputSingleTensor), 0, nullptr},
    {"ActivationDescCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_GRU_OPERATOR_DESC, ActivationDescCount), 0, nullptr},
    {"ActivationDescs", FieldKind::kOperatorArray, FieldRole::kAttribute, false, offsetof(DML_GRU_OPERATOR_DESC, ActivationDescs), offsetof(DML_GRU_OPERATOR_DESC, ActivationDescCount), nullptr},
    {"Direction", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_GRU_OPERATOR_DESC, Direction), 0, &kRecurrentNetworkDirection},
    {"LinearBeforeReset", FieldKind::kBool, FieldRole::kAttribute, false, offsetof(DML_GRU_OPERATOR_DESC, LinearBeforeReset), 0, nullptr},
};

#if DML2ONNX_TARGET_VERSION >= 0x2000

inline constexpr Field kElementWiseSignFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_SIGN_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_SIGN_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseIsNanFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_IS_NAN_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_IS_NAN_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseErfFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_ERF_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_ERF_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_ERF_OPERATOR_DESC, ScaleBias), 0, nullptr},
};

inline constexpr Field kElementWiseSinhFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_SINH_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_SINH_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_SINH_OPERATOR_DESC, ScaleBias), 0, nullptr},
};

inline constexpr Field kElementWiseCoshFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_COSH_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_COSH_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_COSH_OPERATOR_DESC, ScaleBias), 0, nullptr},
};

inline constexpr Field kElementWiseTanhFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_TANH_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_TANH_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_TANH_OPERATOR_DESC, ScaleBias), 0, nullptr},
};

inline constexpr Field kElementWiseAsinhFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_ASINH_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_ASINH_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_ASINH_OPERATOR_DESC, ScaleBias), 0, nullptr},
};

inline constexpr Field kElementWiseAcoshFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_ACOSH_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_ACOSH_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_ACOSH_OPERATOR_DESC, ScaleBias), 0, nullptr},
};

inline constexpr Field kElementWiseAtanhFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_ATANH_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_ATANH_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_ATANH_OPERATOR_DESC, ScaleBias), 0, nullptr},
};

inline constexpr Field kElementWiseIfFields[] = {
    {"ConditionTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_IF_OPERATOR_DESC, ConditionTensor), 0, nullptr},
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_IF_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_IF_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_IF_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseAdd1Fields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_ADD1_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_ADD1_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_ADD1_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"FusedActivation", FieldKind::kOperator, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_ADD1_OPERATOR_DESC, FusedActivation), 0, nullptr},
};

inline constexpr Field kActivationShrinkFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_SHRINK_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_SHRINK_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Bias", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_SHRINK_OPERATOR_DESC, Bias), 0, nullptr},
    {"Threshold", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_SHRINK_OPERATOR_DESC, Threshold), 0, nullptr},
};

inline constexpr Field kMaxPooling1Fields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_MAX_POOLING1_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_MAX_POOLING1_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"OutputIndicesTensor", FieldKind::kTensor, FieldRole::kOutput, true, offsetof(DML_MAX_POOLING1_OPERATOR_DESC, OutputIndicesTensor), 0, nullptr},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_MAX_POOLING1_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"Strides", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_MAX_POOLING1_OPERATOR_DESC, Strides), offsetof(DML_MAX_POOLING1_OPERATOR_DESC, DimensionCount), nullptr},
    {"WindowSize", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_MAX_POOLING1_OPERATOR_DESC, WindowSize), offsetof(DML_MAX_POOLING1_OPERATOR_DESC, DimensionCount), nullptr},
    {"StartPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_MAX_POOLING1_OPERATOR_DESC, StartPadding), offsetof(DML_MAX_POOLING1_OPERATOR_DESC, DimensionCount), nullptr},
    {"EndPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_MAX_POOLING1_OPERATOR_DESC, EndPadding), offsetof(DML_MAX_POOLING1_OPERATOR_DESC, DimensionCount), nullptr},
};

inline constexpr Field kMaxUnpoolingFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_MAX_UNPOOLING_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"IndicesTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_MAX_UNPOOLING_OPERATOR_DESC, IndicesTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_MAX_UNPOOLING_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kDiagonalMatrixFields[] = {
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_DIAGONAL_MATRIX_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Offset", FieldKind::kInt, FieldRole::kAttribute, false, offsetof(DML_DIAGONAL_MATRIX_OPERATOR_DESC, Offset), 0, nullptr},
    {"Value", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_DIAGONAL_MATRIX_OPERATOR_DESC, Value), 0, nullptr},
};

inline constexpr Field kScatterFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_SCATTER_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"IndicesTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_SCATTER_OPERATOR_DESC, IndicesTensor), 0, nullptr},
    {"UpdatesTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_SCATTER_OPERATOR_DESC, UpdatesTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_SCATTER_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Axis", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_SCATTER_OPERATOR_DESC, Axis), 0, nullptr},
};

inline constexpr Field kOneHotFields[] = {
    {"IndicesTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ONE_HOT_OPERATOR_DESC, IndicesTensor), 0, nullptr},
    {"ValuesTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ONE_HOT_OPERATOR_DESC, ValuesTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ONE_HOT_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Axis", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_ONE_HOT_OPERATOR_DESC, Axis), 0, nullptr},
};

inline constexpr Field kResampleFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_RESAMPLE_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_RESAMPLE_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"InterpolationMode", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE_OPERATOR_DESC, InterpolationMode), 0, &kInterpolationMode},
    {"ScaleCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE_OPERATOR_DESC, ScaleCount), 0, nullptr},
    {"Scales", FieldKind::kFloatArray, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE_OPERATOR_DESC, Scales), offsetof(DML_RESAMPLE_OPERATOR_DESC, ScaleCount), nullptr},
};

#endif

#if DML2ONNX_TARGET_VERSION >= 0x2100

inline constexpr Field kElementWiseBitShiftLeftFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_BIT_SHIFT_LEFT_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_BIT_SHIFT_LEFT_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_BIT_SHIFT_LEFT_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseBitShiftRightFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_BIT_SHIFT_RIGHT_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_BIT_SHIFT_RIGHT_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_BIT_SHIFT_RIGHT_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseRoundFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_ROUND_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_ROUND_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"RoundingMode", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_ELEMENT_WISE_ROUND_OPERATOR_DESC, RoundingMode), 0, &kRoundingMode},
};

inline constexpr Field kElementWiseIsInfinityFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_IS_INFINITY_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_IS_INFINITY_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"InfinityMode", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_ELEMENT_WISE_IS_INFINITY_OPERATOR_DESC, InfinityMode), 0, &kIsInfinityMode},
};

inline constexpr Field kElementWiseModulusTruncateFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_MODULUS_TRUNCATE_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_MODULUS_TRUNCATE_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_MODULUS_TRUNCATE_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseModulusFloorFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_MODULUS_FLOOR_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_MODULUS_FLOOR_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_MODULUS_FLOOR_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kFillValueConstantFields[] = {
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_FILL_VALUE_CONSTANT_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ValueDataType", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_FILL_VALUE_CONSTANT_OPERATOR_DESC, ValueDataType), 0, &kTensorDataType},
    {"Value", FieldKind::kScalarUnion, FieldRole::kAttribute, false, offsetof(DML_FILL_VALUE_CONSTANT_OPERATOR_DESC, Value), offsetof(DML_FILL_VALUE_CONSTANT_OPERATOR_DESC, ValueDataType), nullptr},
};

inline constexpr Field kFillValueSequenceFields[] = {
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_FILL_VALUE_SEQUENCE_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ValueDataType", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_FILL_VALUE_SEQUENCE_OPERATOR_DESC, ValueDataType), 0, &kTensorDataType},
    {"ValueStart", FieldKind::kScalarUnion, FieldRole::kAttribute, false, offsetof(DML_FILL_VALUE_SEQUENCE_OPERATOR_DESC, ValueStart), offsetof(DML_FILL_VALUE_SEQUENCE_OPERATOR_DESC, ValueDataType), nullptr},
    {"ValueDelta", FieldKind::kScalarUnion, FieldRole::kAttribute, false, offsetof(DML_FILL_VALUE_SEQUENCE_OPERATOR_DESC, ValueDelta), offsetof(DML_FILL_VALUE_SEQUENCE_OPERATOR_DESC, ValueDataType), nullptr},
};

inline constexpr Field kCumulativeSummationFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_CUMULATIVE_SUMMATION_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_CUMULATIVE_SUMMATION_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Axis", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_CUMULATIVE_SUMMATION_OPERATOR_DESC, Axis), 0, nullptr},
    {"AxisDirection", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_CUMULATIVE_SUMMATION_OPERATOR_DESC, AxisDirection), 0, &kAxisDirection},
    {"HasExclusiveSum", FieldKind::kBool, FieldRole::kAttribute, false, offsetof(DML_CUMULATIVE_SUMMATION_OPERATOR_DESC, HasExclusiveSum), 0, nullptr},
};

inline constexpr Field kReverseSubsequencesFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"SequenceLengthsTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC, SequenceLengthsTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Axis", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC, Axis), 0, nullptr},
};

inline constexpr Field kGatherElementsFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_GATHER_ELEMENTS_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"IndicesTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_GATHER_ELEMENTS_OPERATOR_DESC, IndicesTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_GATHER_ELEMENTS_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Axis", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_GATHER_ELEMENTS_OPERATOR_DESC, Axis), 0, nullptr},
};

inline constexpr Field kGatherNdFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_GATHER_ND_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"IndicesTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_GATHER_ND_OPERATOR_DESC, IndicesTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_GATHER_ND_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"InputDimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_GATHER_ND_OPERATOR_DESC, InputDimensionCount), 0, nullptr},
    {"IndicesDimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_GATHER_ND_OPERATOR_DESC, IndicesDimensionCount), 0, nullptr},
};

inline constexpr Field kScatterNdFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_SCATTER_ND_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"IndicesTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_SCATTER_ND_OPERATOR_DESC, IndicesTensor), 0, nullptr},
    {"UpdatesTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_SCATTER_ND_OPERATOR_DESC, UpdatesTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_SCATTER_ND_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"InputDimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_SCATTER_ND_OPERATOR_DESC, InputDimensionCount), 0, nullptr},
    {"IndicesDimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_SCATTER_ND_OPERATOR_DESC, IndicesDimensionCount), 0, nullptr},
};

inline constexpr Field kMaxPooling2Fields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_MAX_POOLING2_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_MAX_POOLING2_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"OutputIndicesTensor", FieldKind::kTensor, FieldRole::kOutput, true, offsetof(DML_MAX_POOLING2_OPERATOR_DESC, OutputIndicesTensor), 0, nullptr},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_MAX_POOLING2_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"Strides", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_MAX_POOLING2_OPERATOR_DESC, Strides), offsetof(DML_MAX_POOLING2_OPERATOR_DESC, DimensionCount), nullptr},
    {"WindowSize", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_MAX_POOLING2_OPERATOR_DESC, WindowSize), offsetof(DML_MAX_POOLING2_OPERATOR_DESC, DimensionCount), nullptr},
    {"StartPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_MAX_POOLING2_OPERATOR_DESC, StartPadding), offsetof(DML_MAX_POOLING2_OPERATOR_DESC, DimensionCount), nullptr},
    {"EndPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_MAX_POOLING2_OPERATOR_DESC, EndPadding), offsetof(DML_MAX_POOLING2_OPERATOR_DESC, DimensionCount), nullptr},
    {"Dilations", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_MAX_POOLING2_OPERATOR_DESC, Dilations), offsetof(DML_MAX_POOLING2_OPERATOR_DESC, DimensionCount), nullptr},
};

inline constexpr Field kSlice1Fields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_SLICE1_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_SLICE1_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_SLICE1_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"InputWindowOffsets", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_SLICE1_OPERATOR_DESC, InputWindowOffsets), offsetof(DML_SLICE1_OPERATOR_DESC, DimensionCount), nullptr},
    {"InputWindowSizes", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_SLICE1_OPERATOR_DESC, InputWindowSizes), offsetof(DML_SLICE1_OPERATOR_DESC, DimensionCount), nullptr},
    {"InputWindowStrides", FieldKind::kIntArray, FieldRole::kAttribute, false, offsetof(DML_SLICE1_OPERATOR_DESC, InputWindowStrides), offsetof(DML_SLICE1_OPERATOR_DESC, DimensionCount), nullptr},
};

inline constexpr Field kTopK1Fields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_TOP_K1_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputValueTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_TOP_K1_OPERATOR_DESC, OutputValueTensor), 0, nullptr},
    {"OutputIndexTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_TOP_K1_OPERATOR_DESC, OutputIndexTensor), 0, nullptr},
    {"Axis", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_TOP_K1_OPERATOR_DESC, Axis), 0, nullptr},
    {"K", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_TOP_K1_OPERATOR_DESC, K), 0, nullptr},
    {"AxisDirection", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_TOP_K1_OPERATOR_DESC, AxisDirection), 0, &kAxisDirection},
};

inline constexpr Field kDepthToSpace1Fields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_DEPTH_TO_SPACE1_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_DEPTH_TO_SPACE1_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"BlockSize", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_DEPTH_TO_SPACE1_OPERATOR_DESC, BlockSize), 0, nullptr},
    {"Order", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_DEPTH_TO_SPACE1_OPERATOR_DESC, Order), 0, &kDepthSpaceOrder},
};

inline constexpr Field kSpaceToDepth1Fields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_SPACE_TO_DEPTH1_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_SPACE_TO_DEPTH1_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"BlockSize", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_SPACE_TO_DEPTH1_OPERATOR_DESC, BlockSize), 0, nullptr},
    {"Order", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_SPACE_TO_DEPTH1_OPERATOR_DESC, Order), 0, &kDepthSpaceOrder},
};

inline constexpr Field kMeanVarianceNormalization1Fields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"ScaleTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC, ScaleTensor), 0, nullptr},
    {"BiasTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC, BiasTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"AxisCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC, AxisCount), 0, nullptr},
    {"Axes", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC, Axes), offsetof(DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC, AxisCount), nullptr},
    {"NormalizeVariance", FieldKind::kBool, FieldRole::kAttribute, false, offsetof(DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC, NormalizeVariance), 0, nullptr},
    {"Epsilon", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC, Epsilon), 0, nullptr},
    {"FusedActivation", FieldKind::kOperator, FieldRole::kAttribute, true, offsetof(DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC, FusedActivation), 0, nullptr},
};

inline constexpr Field kResample1Fields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_RESAMPLE1_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_RESAMPLE1_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"InterpolationMode", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE1_OPERATOR_DESC, InterpolationMode), 0, &kInterpolationMode},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE1_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"Scales", FieldKind::kFloatArray, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE1_OPERATOR_DESC, Scales), offsetof(DML_RESAMPLE1_OPERATOR_DESC, DimensionCount), nullptr},
    {"InputPixelOffsets", FieldKind::kFloatArray, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE1_OPERATOR_DESC, InputPixelOffsets), offsetof(DML_RESAMPLE1_OPERATOR_DESC, DimensionCount), nullptr},
    {"OutputPixelOffsets", FieldKind::kFloatArray, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE1_OPERATOR_DESC, OutputPixelOffsets), offsetof(DML_RESAMPLE1_OPERATOR_DESC, DimensionCount), nullptr},
};

inline constexpr Field kMatrixMultiplyIntegerFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_MATRIX_MULTIPLY_INTEGER_OPERATOR_DESC, ATensor), 0, nullptr},
    {"AZeroPointTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MATRIX_MULTIPLY_INTEGER_OPERATOR_DESC, AZeroPointTensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_MATRIX_MULTIPLY_INTEGER_OPERATOR_DESC, BTensor), 0, nullptr},
    {"BZeroPointTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MATRIX_MULTIPLY_INTEGER_OPERATOR_DESC, BZeroPointTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_MATRIX_MULTIPLY_INTEGER_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kQuantizedLinearMatrixMultiplyFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_QUANTIZED_LINEAR_MATRIX_MULTIPLY_OPERATOR_DESC, ATensor), 0, nullptr},
    {"AScaleTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_QUANTIZED_LINEAR_MATRIX_MULTIPLY_OPERATOR_DESC, AScaleTensor), 0, nullptr},
    {"AZeroPointTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_QUANTIZED_LINEAR_MATRIX_MULTIPLY_OPERATOR_DESC, AZeroPointTensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_QUANTIZED_LINEAR_MATRIX_MULTIPLY_OPERATOR_DESC, BTensor), 0, nullptr},
    {"BScaleTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_QUANTIZED_LINEAR_MATRIX_MULTIPLY_OPERATOR_DESC, BScaleTensor), 0, nullptr},
    {"BZeroPointTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_QUANTIZED_LINEAR_MATRIX_MULTIPLY_OPERATOR_DESC, BZeroPointTensor), 0, nullptr},
    {"OutputScaleTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_QUANTIZED_LINEAR_MATRIX_MULTIPLY_OPERATOR_DESC, OutputScaleTensor), 0, nullptr},
    {"OutputZeroPointTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_QUANTIZED_LINEAR_MATRIX_MULTIPLY_OPERATOR_DESC, OutputZeroPointTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_QUANTIZED_LINEAR_MATRIX_MULTIPLY_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kConvolutionIntegerFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_CONVOLUTION_INTEGER_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"InputZeroPointTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_CONVOLUTION_INTEGER_OPERATOR_DESC, InputZeroPointTensor), 0, nullptr},
    {"FilterTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_CONVOLUTION_INTEGER_OPERATOR_DESC, FilterTensor), 0, nullptr},
    {"FilterZeroPointTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_CONVOLUTION_INTEGER_OPERATOR_DESC, FilterZeroPointTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_CONVOLUTION_INTEGER_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_CONVOLUTION_INTEGER_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"Strides", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_CONVOLUTION_INTEGER_OPERATOR_DESC, Strides), offsetof(DML_CONVOLUTION_INTEGER_OPERATOR_DESC, DimensionCount), nullptr},
    {"Dilations", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_CONVOLUTION_INTEGER_OPERATOR_DESC, Dilations), offsetof(DML_CONVOLUTION_INTEGER_OPERATOR_DESC, DimensionCount), nullptr},
    {"StartPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_CONVOLUTION_INTEGER_OPERATOR_DESC, StartPadding), offsetof(DML_CONVOLUTION_INTEGER_OPERATOR_DESC, DimensionCount), nullptr},
    {"EndPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_CONVOLUTION_INTEGER_OPERATOR_DESC, EndPadding), offsetof(DML_CONVOLUTION_INTEGER_OPERATOR_DESC, DimensionCount), nullptr},
    {"GroupCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_CONVOLUTION_INTEGER_OPERATOR_DESC, GroupCount), 0, nullptr},
};

inline constexpr Field kQuantizedLinearConvolutionFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"InputScaleTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC, InputScaleTensor), 0, nullptr},
    {"InputZeroPointTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC, InputZeroPointTensor), 0, nullptr},
    {"FilterTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC, FilterTensor), 0, nullptr},
    {"FilterScaleTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC, FilterScaleTensor), 0, nullptr},
    {"FilterZeroPointTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC, FilterZeroPointTensor), 0, nullptr},
    {"BiasTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC, BiasTensor), 0, nullptr},
    {"OutputScaleTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC, OutputScaleTensor), 0, nullptr},
    {"OutputZeroPointTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC, OutputZeroPointTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"Strides", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC, Strides), offsetof(DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC, DimensionCount), nullptr},
    {"Dilations", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC, Dilations), offsetof(DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC, DimensionCount), nullptr},
    {"StartPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC, StartPadding), offsetof(DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC, DimensionCount), nullptr},
    {"EndPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC, EndPadding), offsetof(DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC, DimensionCount), nullptr},
    {"GroupCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC, GroupCount), 0, nullptr},
};

#endif

#if DML2ONNX_TARGET_VERSION >= 0x3000

inline constexpr Field kElementWiseBitAndFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_BIT_AND_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_BIT_AND_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_BIT_AND_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseBitOrFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_BIT_OR_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_BIT_OR_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_BIT_OR_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseBitXorFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_BIT_XOR_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_BIT_XOR_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_BIT_XOR_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseBitNotFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_BIT_NOT_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_BIT_NOT_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseBitCountFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_BIT_COUNT_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_BIT_COUNT_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseLogicalGreaterThanOrEqualFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseLogicalLessThanOrEqualFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kActivationCeluFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_CELU_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_CELU_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Alpha", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_CELU_OPERATOR_DESC, Alpha), 0, nullptr},
};

inline constexpr Field kActivationReluGradFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_RELU_GRAD_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"InputGradientTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_RELU_GRAD_OPERATOR_DESC, InputGradientTensor), 0, nullptr},
    {"OutputGradientTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_RELU_GRAD_OPERATOR_DESC, OutputGradientTensor), 0, nullptr},
};

inline constexpr Field kAveragePoolingGradFields[] = {
    {"InputGradientTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC, InputGradientTensor), 0, nullptr},
    {"OutputGradientTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC, OutputGradientTensor), 0, nullptr},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"Strides", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC, Strides), offsetof(DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC, DimensionCount), nullptr},
    {"WindowSize", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC, WindowSize), offsetof(DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC, DimensionCount), nullptr},
    {"StartPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC, StartPadding), offsetof(DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC, DimensionCount), nullptr},
    {"EndPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC, EndPadding), offsetof(DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC, DimensionCount), nullptr},
    {"IncludePadding", FieldKind::kBool, FieldRole::kAttribute, false, offsetof(DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC, IncludePadding), 0, nullptr},
};

inline constexpr Field kMaxPoolingGradFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_MAX_POOLING_GRAD_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"InputGradientTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_MAX_POOLING_GRAD_OPERATOR_DESC, InputGradientTensor), 0, nullptr},
    {"OutputGradientTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_MAX_POOLING_GRAD_OPERATOR_DESC, OutputGradientTensor), 0, nullptr},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_MAX_POOLING_GRAD_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"Strides", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_MAX_POOLING_GRAD_OPERATOR_DESC, Strides), offsetof(DML_MAX_POOLING_GRAD_OPERATOR_DESC, DimensionCount), nullptr},
    {"WindowSize", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_MAX_POOLING_GRAD_OPERATOR_DESC, WindowSize), offsetof(DML_MAX_POOLING_GRAD_OPERATOR_DESC, DimensionCount), nullptr},
    {"StartPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_MAX_POOLING_GRAD_OPERATOR_DESC, StartPadding), offsetof(DML_MAX_POOLING_GRAD_OPERATOR_DESC, DimensionCount), nullptr},
    {"EndPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_MAX_POOLING_GRAD_OPERATOR_DESC, EndPadding), offsetof(DML_MAX_POOLING_GRAD_OPERATOR_DESC, DimensionCount), nullptr},
    {"Dilations", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_MAX_POOLING_GRAD_OPERATOR_DESC, Dilations), offsetof(DML_MAX_POOLING_GRAD_OPERATOR_DESC, DimensionCount), nullptr},
};

inline constexpr Field kRandomGeneratorFields[] = {
    {"InputStateTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_RANDOM_GENERATOR_OPERATOR_DESC, InputStateTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_RANDOM_GENERATOR_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"OutputStateTensor", FieldKind::kTensor, FieldRole::kOutput, true, offsetof(DML_RANDOM_GENERATOR_OPERATOR_DESC, OutputStateTensor), 0, nullptr},
    {"Type", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_RANDOM_GENERATOR_OPERATOR_DESC, Type), 0, &kRandomGeneratorType},
};

inline constexpr Field kNonzeroCoordinatesFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_NONZERO_COORDINATES_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputCountTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_NONZERO_COORDINATES_OPERATOR_DESC, OutputCountTensor), 0, nullptr},
    {"OutputCoordinatesTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_NONZERO_COORDINATES_OPERATOR_DESC, OutputCoordinatesTensor), 0, nullptr},
};

inline constexpr Field kResampleGradFields[] = {
    {"InputGradientTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_RESAMPLE_GRAD_OPERATOR_DESC, InputGradientTensor), 0, nullptr},
    {"OutputGradientTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_RESAMPLE_GRAD_OPERATOR_DESC, OutputGradientTensor), 0, nullptr},
    {"InterpolationMode", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE_GRAD_OPERATOR_DESC, InterpolationMode), 0, &kInterpolationMode},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE_GRAD_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"Scales", FieldKind::kFloatArray, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE_GRAD_OPERATOR_DESC, Scales), offsetof(DML_RESAMPLE_GRAD_OPERATOR_DESC, DimensionCount), nullptr},
    {"InputPixelOffsets", FieldKind::kFloatArray, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE_GRAD_OPERATOR_DESC, InputPixelOffsets), offsetof(DML_RESAMPLE_GRAD_OPERATOR_DESC, DimensionCount), nullptr},
    {"OutputPixelOffsets", FieldKind::kFloatArray, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE_GRAD_OPERATOR_DESC, OutputPixelOffsets), offsetof(DML_RESAMPLE_GRAD_OPERATOR_DESC, DimensionCount), nullptr},
};

inline constexpr Field kSliceGradFields[] = {
    {"InputGradientTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_SLICE_GRAD_OPERATOR_DESC, InputGradientTensor), 0, nullptr},
    {"OutputGradientTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_SLICE_GRAD_OPERATOR_DESC, OutputGradientTensor), 0, nullptr},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_SLICE_GRAD_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"InputWindowOffsets", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_SLICE_GRAD_OPERATOR_DESC, InputWindowOffsets), offsetof(DML_SLICE_GRAD_OPERATOR_DESC, DimensionCount), nullptr},
    {"InputWindowSizes", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_SLICE_GRAD_OPERATOR_DESC, InputWindowSizes), offsetof(DML_SLICE_GRAD_OPERATOR_DESC, DimensionCount), nullptr},
    {"InputWindowStrides", FieldKind::kIntArray, FieldRole::kAttribute, false, offsetof(DML_SLICE_GRAD_OPERATOR_DESC, InputWindowStrides), offsetof(DML_SLICE_GRAD_OPERATOR_DESC, DimensionCount), nullptr},
};

inline constexpr Field kAdamOptimizerFields[] = {
    {"InputParametersTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ADAM_OPTIMIZER_OPERATOR_DESC, InputParametersTensor), 0, nullptr},
    {"InputFirstMomentTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ADAM_OPTIMIZER_OPERATOR_DESC, InputFirstMomentTensor), 0, nullptr},
    {"InputSecondMomentTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ADAM_OPTIMIZER_OPERATOR_DESC, InputSecondMomentTensor), 0, nullptr},
    {"GradientTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ADAM_OPTIMIZER_OPERATOR_DESC, GradientTensor), 0, nullptr},
    {"TrainingStepTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ADAM_OPTIMIZER_OPERATOR_DESC, TrainingStepTensor), 0, nullptr},
    {"OutputParametersTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ADAM_OPTIMIZER_OPERATOR_DESC, OutputParametersTensor), 0, nullptr},
    {"OutputFirstMomentTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ADAM_OPTIMIZER_OPERATOR_DESC, OutputFirstMomentTensor), 0, nullptr},
    {"OutputSecondMomentTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ADAM_OPTIMIZER_OPERATOR_DESC, OutputSecondMomentTensor), 0, nullptr},
    {"LearningRate", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ADAM_OPTIMIZER_OPERATOR_DESC, LearningRate), 0, nullptr},
    {"Beta1", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ADAM_OPTIMIZER_OPERATOR_DESC, Beta1), 0, nullptr},
    {"Beta2", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ADAM_OPTIMIZER_OPERATOR_DESC, Beta2), 0, nullptr},
    {"Epsilon", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ADAM_OPTIMIZER_OPERATOR_DESC, Epsilon), 0, nullptr},
};

inline constexpr Field kArgminFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ARGMIN_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ARGMIN_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"AxisCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_ARGMIN_OPERATOR_DESC, AxisCount), 0, nullptr},
    {"Axes", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_ARGMIN_OPERATOR_DESC, Axes), offsetof(DML_ARGMIN_OPERATOR_DESC, AxisCount), nullptr},
    {"AxisDirection", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_ARGMIN_OPERATOR_DESC, AxisDirection), 0, &kAxisDirection},
};

inline constexpr Field kArgmaxFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ARGMAX_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ARGMAX_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"AxisCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_ARGMAX_OPERATOR_DESC, AxisCount), 0, nullptr},
    {"Axes", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_ARGMAX_OPERATOR_DESC, Axes), offsetof(DML_ARGMAX_OPERATOR_DESC, AxisCount), nullptr},
    {"AxisDirection", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_ARGMAX_OPERATOR_DESC, AxisDirection), 0, &kAxisDirection},
};

inline constexpr Field kRoiAlignFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ROI_ALIGN_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"ROITensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ROI_ALIGN_OPERATOR_DESC, ROITensor), 0, nullptr},
    {"BatchIndicesTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ROI_ALIGN_OPERATOR_DESC, BatchIndicesTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ROI_ALIGN_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ReductionFunction", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN_OPERATOR_DESC, ReductionFunction), 0, &kReduceFunction},
    {"InterpolationMode", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN_OPERATOR_DESC, InterpolationMode), 0, &kInterpolationMode},
    {"SpatialScaleX", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN_OPERATOR_DESC, SpatialScaleX), 0, nullptr},
    {"SpatialScaleY", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN_OPERATOR_DESC, SpatialScaleY), 0, nullptr},
    {"OutOfBoundsInputValue", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN_OPERATOR_DESC, OutOfBoundsInputValue), 0, nullptr},
    {"MinimumSamplesPerOutput", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN_OPERATOR_DESC, MinimumSamplesPerOutput), 0, nullptr},
    {"MaximumSamplesPerOutput", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN_OPERATOR_DESC, MaximumSamplesPerOutput), 0, nullptr},
};

inline constexpr Field kGatherNd1Fields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_GATHER_ND1_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"IndicesTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_GATHER_ND1_OPERATOR_DESC, IndicesTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_GATHER_ND1_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"InputDimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_GATHER_ND1_OPERATOR_DESC, InputDimensionCount), 0, nullptr},
    {"IndicesDimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_GATHER_ND1_OPERATOR_DESC, IndicesDimensionCount), 0, nullptr},
    {"BatchDimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_GATHER_ND1_OPERATOR_DESC, BatchDimensionCount), 0, nullptr},
};

#endif

#if DML2ONNX_TARGET_VERSION >= 0x3100

inline constexpr Field kElementWiseAtanYxFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_ATAN_YX_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_ATAN_YX_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_ATAN_YX_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kElementWiseClipGradFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_CLIP_GRAD_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"InputGradientTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_CLIP_GRAD_OPERATOR_DESC, InputGradientTensor), 0, nullptr},
    {"OutputGradientTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_CLIP_GRAD_OPERATOR_DESC, OutputGradientTensor), 0, nullptr},
    {"Min", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ELEMENT_WISE_CLIP_GRAD_OPERATOR_DESC, Min), 0, nullptr},
    {"Max", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ELEMENT_WISE_CLIP_GRAD_OPERATOR_DESC, Max), 0, nullptr},
};

inline constexpr Field kElementWiseDifferenceSquareFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_DIFFERENCE_SQUARE_OPERATOR_DESC, ATensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_DIFFERENCE_SQUARE_OPERATOR_DESC, BTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_DIFFERENCE_SQUARE_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kLocalResponseNormalizationGradFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_LOCAL_RESPONSE_NORMALIZATION_GRAD_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"InputGradientTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_LOCAL_RESPONSE_NORMALIZATION_GRAD_OPERATOR_DESC, InputGradientTensor), 0, nullptr},
    {"OutputGradientTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_LOCAL_RESPONSE_NORMALIZATION_GRAD_OPERATOR_DESC, OutputGradientTensor), 0, nullptr},
    {"CrossChannel", FieldKind::kBool, FieldRole::kAttribute, false, offsetof(DML_LOCAL_RESPONSE_NORMALIZATION_GRAD_OPERATOR_DESC, CrossChannel), 0, nullptr},
    {"LocalSize", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_LOCAL_RESPONSE_NORMALIZATION_GRAD_OPERATOR_DESC, LocalSize), 0, nullptr},
    {"Alpha", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_LOCAL_RESPONSE_NORMALIZATION_GRAD_OPERATOR_DESC, Alpha), 0, nullptr},
    {"Beta", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_LOCAL_RESPONSE_NORMALIZATION_GRAD_OPERATOR_DESC, Beta), 0, nullptr},
    {"Bias", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_LOCAL_RESPONSE_NORMALIZATION_GRAD_OPERATOR_DESC, Bias), 0, nullptr},
};

inline constexpr Field kCumulativeProductFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_CUMULATIVE_PRODUCT_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_CUMULATIVE_PRODUCT_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Axis", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_CUMULATIVE_PRODUCT_OPERATOR_DESC, Axis), 0, nullptr},
    {"AxisDirection", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_CUMULATIVE_PRODUCT_OPERATOR_DESC, AxisDirection), 0, &kAxisDirection},
    {"HasExclusiveProduct", FieldKind::kBool, FieldRole::kAttribute, false, offsetof(DML_CUMULATIVE_PRODUCT_OPERATOR_DESC, HasExclusiveProduct), 0, nullptr},
};

inline constexpr Field kBatchNormalizationGradFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_BATCH_NORMALIZATION_GRAD_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"InputGradientTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_BATCH_NORMALIZATION_GRAD_OPERATOR_DESC, InputGradientTensor), 0, nullptr},
    {"MeanTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_BATCH_NORMALIZATION_GRAD_OPERATOR_DESC, MeanTensor), 0, nullptr},
    {"VarianceTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_BATCH_NORMALIZATION_GRAD_OPERATOR_DESC, VarianceTensor), 0, nullptr},
    {"ScaleTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_BATCH_NORMALIZATION_GRAD_OPERATOR_DESC, ScaleTensor), 0, nullptr},
    {"OutputGradientTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_BATCH_NORMALIZATION_GRAD_OPERATOR_DESC, OutputGradientTensor), 0, nullptr},
    {"OutputScaleGradientTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_BATCH_NORMALIZATION_GRAD_OPERATOR_DESC, OutputScaleGradientTensor), 0, nullptr},
    {"OutputBiasGradientTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_BATCH_NORMALIZATION_GRAD_OPERATOR_DESC, OutputBiasGradientTensor), 0, nullptr},
    {"Epsilon", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_BATCH_NORMALIZATION_GRAD_OPERATOR_DESC, Epsilon), 0, nullptr},
};

#endif

#if DML2ONNX_TARGET_VERSION >= 0x4000

inline constexpr Field kElementWiseQuantizedLinearAddFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_QUANTIZED_LINEAR_ADD_OPERATOR_DESC, ATensor), 0, nullptr},
    {"AScaleTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_QUANTIZED_LINEAR_ADD_OPERATOR_DESC, AScaleTensor), 0, nullptr},
    {"AZeroPointTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_ELEMENT_WISE_QUANTIZED_LINEAR_ADD_OPERATOR_DESC, AZeroPointTensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_QUANTIZED_LINEAR_ADD_OPERATOR_DESC, BTensor), 0, nullptr},
    {"BScaleTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_QUANTIZED_LINEAR_ADD_OPERATOR_DESC, BScaleTensor), 0, nullptr},
    {"BZeroPointTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_ELEMENT_WISE_QUANTIZED_LINEAR_ADD_OPERATOR_DESC, BZeroPointTensor), 0, nullptr},
    {"OutputScaleTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_QUANTIZED_LINEAR_ADD_OPERATOR_DESC, OutputScaleTensor), 0, nullptr},
    {"OutputZeroPointTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_ELEMENT_WISE_QUANTIZED_LINEAR_ADD_OPERATOR_DESC, OutputZeroPointTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_QUANTIZED_LINEAR_ADD_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kDynamicQuantizeLinearFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_DYNAMIC_QUANTIZE_LINEAR_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_DYNAMIC_QUANTIZE_LINEAR_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"OutputScaleTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_DYNAMIC_QUANTIZE_LINEAR_OPERATOR_DESC, OutputScaleTensor), 0, nullptr},
    {"OutputZeroPointTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_DYNAMIC_QUANTIZE_LINEAR_OPERATOR_DESC, OutputZeroPointTensor), 0, nullptr},
};

inline constexpr Field kRoiAlign1Fields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ROI_ALIGN1_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"ROITensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ROI_ALIGN1_OPERATOR_DESC, ROITensor), 0, nullptr},
    {"BatchIndicesTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ROI_ALIGN1_OPERATOR_DESC, BatchIndicesTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ROI_ALIGN1_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ReductionFunction", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN1_OPERATOR_DESC, ReductionFunction), 0, &kReduceFunction},
    {"InterpolationMode", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN1_OPERATOR_DESC, InterpolationMode), 0, &kInterpolationMode},
    {"SpatialScaleX", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN1_OPERATOR_DESC, SpatialScaleX), 0, nullptr},
    {"SpatialScaleY", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN1_OPERATOR_DESC, SpatialScaleY), 0, nullptr},
    {"InputPixelOffset", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN1_OPERATOR_DESC, InputPixelOffset), 0, nullptr},
    {"OutputPixelOffset", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN1_OPERATOR_DESC, OutputPixelOffset), 0, nullptr},
    {"OutOfBoundsInputValue", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN1_OPERATOR_DESC, OutOfBoundsInputValue), 0, nullptr},
    {"MinimumSamplesPerOutput", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN1_OPERATOR_DESC, MinimumSamplesPerOutput), 0, nullptr},
    {"MaximumSamplesPerOutput", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN1_OPERATOR_DESC, MaximumSamplesPerOutput), 0, nullptr},
    {"AlignRegionsToCorners", FieldKind::kBool, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN1_OPERATOR_DESC, AlignRegionsToCorners), 0, nullptr},
};

#endif

#if DML2ONNX_TARGET_VERSION >= 0x4100

inline constexpr Field kRoiAlignGradFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_ROI_ALIGN_GRAD_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"InputGradientTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ROI_ALIGN_GRAD_OPERATOR_DESC, InputGradientTensor), 0, nullptr},
    {"ROITensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ROI_ALIGN_GRAD_OPERATOR_DESC, ROITensor), 0, nullptr},
    {"BatchIndicesTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ROI_ALIGN_GRAD_OPERATOR_DESC, BatchIndicesTensor), 0, nullptr},
    {"OutputGradientTensor", FieldKind::kTensor, FieldRole::kOutput, true, offsetof(DML_ROI_ALIGN_GRAD_OPERATOR_DESC, OutputGradientTensor), 0, nullptr},
    {"OutputROIGradientTensor", FieldKind::kTensor, FieldRole::kOutput, true, offsetof(DML_ROI_ALIGN_GRAD_OPERATOR_DESC, OutputROIGradientTensor), 0, nullptr},
    {"ReductionFunction", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN_GRAD_OPERATOR_DESC, ReductionFunction), 0, &kReduceFunction},
    {"InterpolationMode", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN_GRAD_OPERATOR_DESC, InterpolationMode), 0, &kInterpolationMode},
    {"SpatialScaleX", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN_GRAD_OPERATOR_DESC, SpatialScaleX), 0, nullptr},
    {"SpatialScaleY", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN_GRAD_OPERATOR_DESC, SpatialScaleY), 0, nullptr},
    {"InputPixelOffset", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN_GRAD_OPERATOR_DESC, InputPixelOffset), 0, nullptr},
    {"OutputPixelOffset", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN_GRAD_OPERATOR_DESC, OutputPixelOffset), 0, nullptr},
    {"MinimumSamplesPerOutput", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN_GRAD_OPERATOR_DESC, MinimumSamplesPerOutput), 0, nullptr},
    {"MaximumSamplesPerOutput", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN_GRAD_OPERATOR_DESC, MaximumSamplesPerOutput), 0, nullptr},
    {"AlignRegionsToCorners", FieldKind::kBool, FieldRole::kAttribute, false, offsetof(DML_ROI_ALIGN_GRAD_OPERATOR_DESC, AlignRegionsToCorners), 0, nullptr},
};

inline constexpr Field kBatchNormalizationTrainingFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_BATCH_NORMALIZATION_TRAINING_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"ScaleTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_BATCH_NORMALIZATION_TRAINING_OPERATOR_DESC, ScaleTensor), 0, nullptr},
    {"BiasTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_BATCH_NORMALIZATION_TRAINING_OPERATOR_DESC, BiasTensor), 0, nullptr},
    {"FusedAddTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_BATCH_NORMALIZATION_TRAINING_OPERATOR_DESC, FusedAddTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_BATCH_NORMALIZATION_TRAINING_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"OutputMeanTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_BATCH_NORMALIZATION_TRAINING_OPERATOR_DESC, OutputMeanTensor), 0, nullptr},
    {"OutputVarianceTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_BATCH_NORMALIZATION_TRAINING_OPERATOR_DESC, OutputVarianceTensor), 0, nullptr},
    {"Epsilon", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_BATCH_NORMALIZATION_TRAINING_OPERATOR_DESC, Epsilon), 0, nullptr},
    {"FusedActivation", FieldKind::kOperator, FieldRole::kAttribute, true, offsetof(DML_BATCH_NORMALIZATION_TRAINING_OPERATOR_DESC, FusedActivation), 0, nullptr},
};

inline constexpr Field kBatchNormalizationTrainingGradFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_BATCH_NORMALIZATION_TRAINING_GRAD_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"InputGradientTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_BATCH_NORMALIZATION_TRAINING_GRAD_OPERATOR_DESC, InputGradientTensor), 0, nullptr},
    {"MeanTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_BATCH_NORMALIZATION_TRAINING_GRAD_OPERATOR_DESC, MeanTensor), 0, nullptr},
    {"VarianceTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_BATCH_NORMALIZATION_TRAINING_GRAD_OPERATOR_DESC, VarianceTensor), 0, nullptr},
    {"ScaleTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_BATCH_NORMALIZATION_TRAINING_GRAD_OPERATOR_DESC, ScaleTensor), 0, nullptr},
    {"OutputGradientTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_BATCH_NORMALIZATION_TRAINING_GRAD_OPERATOR_DESC, OutputGradientTensor), 0, nullptr},
    {"OutputScaleGradientTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_BATCH_NORMALIZATION_TRAINING_GRAD_OPERATOR_DESC, OutputScaleGradientTensor), 0, nullptr},
    {"OutputBiasGradientTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_BATCH_NORMALIZATION_TRAINING_GRAD_OPERATOR_DESC, OutputBiasGradientTensor), 0, nullptr},
    {"Epsilon", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_BATCH_NORMALIZATION_TRAINING_GRAD_OPERATOR_DESC, Epsilon), 0, nullptr},
};

#endif

#if DML2ONNX_TARGET_VERSION >= 0x5000

inline constexpr Field kElementWiseClip1Fields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_CLIP1_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_CLIP1_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ScaleBias", FieldKind::kScaleBias, FieldRole::kAttribute, true, offsetof(DML_ELEMENT_WISE_CLIP1_OPERATOR_DESC, ScaleBias), 0, nullptr},
    {"MinMaxDataType", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_ELEMENT_WISE_CLIP1_OPERATOR_DESC, MinMaxDataType), 0, &kTensorDataType},
    {"Min", FieldKind::kScalarUnion, FieldRole::kAttribute, false, offsetof(DML_ELEMENT_WISE_CLIP1_OPERATOR_DESC, Min), offsetof(DML_ELEMENT_WISE_CLIP1_OPERATOR_DESC, MinMaxDataType), nullptr},
    {"Max", FieldKind::kScalarUnion, FieldRole::kAttribute, false, offsetof(DML_ELEMENT_WISE_CLIP1_OPERATOR_DESC, Max), offsetof(DML_ELEMENT_WISE_CLIP1_OPERATOR_DESC, MinMaxDataType), nullptr},
};

inline constexpr Field kElementWiseClipGrad1Fields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_CLIP_GRAD1_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"InputGradientTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_CLIP_GRAD1_OPERATOR_DESC, InputGradientTensor), 0, nullptr},
    {"OutputGradientTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_CLIP_GRAD1_OPERATOR_DESC, OutputGradientTensor), 0, nullptr},
    {"MinMaxDataType", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_ELEMENT_WISE_CLIP_GRAD1_OPERATOR_DESC, MinMaxDataType), 0, &kTensorDataType},
    {"Min", FieldKind::kScalarUnion, FieldRole::kAttribute, false, offsetof(DML_ELEMENT_WISE_CLIP_GRAD1_OPERATOR_DESC, Min), offsetof(DML_ELEMENT_WISE_CLIP_GRAD1_OPERATOR_DESC, MinMaxDataType), nullptr},
    {"Max", FieldKind::kScalarUnion, FieldRole::kAttribute, false, offsetof(DML_ELEMENT_WISE_CLIP_GRAD1_OPERATOR_DESC, Max), offsetof(DML_ELEMENT_WISE_CLIP_GRAD1_OPERATOR_DESC, MinMaxDataType), nullptr},
};

inline constexpr Field kPadding1Fields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_PADDING1_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_PADDING1_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"PaddingMode", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_PADDING1_OPERATOR_DESC, PaddingMode), 0, &kPaddingMode},
    {"PaddingValueDataType", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_PADDING1_OPERATOR_DESC, PaddingValueDataType), 0, &kTensorDataType},
    {"PaddingValue", FieldKind::kScalarUnion, FieldRole::kAttribute, false, offsetof(DML_PADDING1_OPERATOR_DESC, PaddingValue), offsetof(DML_PADDING1_OPERATOR_DESC, PaddingValueDataType), nullptr},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_PADDING1_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"StartPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_PADDING1_OPERATOR_DESC, StartPadding), offsetof(DML_PADDING1_OPERATOR_DESC, DimensionCount), nullptr},
    {"EndPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_PADDING1_OPERATOR_DESC, EndPadding), offsetof(DML_PADDING1_OPERATOR_DESC, DimensionCount), nullptr},
};

inline constexpr Field kElementWiseNegateFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ELEMENT_WISE_NEGATE_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ELEMENT_WISE_NEGATE_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

#endif

#if DML2ONNX_TARGET_VERSION >= 0x5100

inline constexpr Field kActivationGeluFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_GELU_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_GELU_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kActivationSoftmax1Fields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"AxisCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC, AxisCount), 0, nullptr},
    {"Axes", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC, Axes), offsetof(DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC, AxisCount), nullptr},
};

inline constexpr Field kActivationLogSoftmax1Fields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_LOG_SOFTMAX1_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_LOG_SOFTMAX1_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"AxisCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_LOG_SOFTMAX1_OPERATOR_DESC, AxisCount), 0, nullptr},
    {"Axes", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_LOG_SOFTMAX1_OPERATOR_DESC, Axes), offsetof(DML_ACTIVATION_LOG_SOFTMAX1_OPERATOR_DESC, AxisCount), nullptr},
};

inline constexpr Field kActivationHardmax1Fields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_HARDMAX1_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_HARDMAX1_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"AxisCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_HARDMAX1_OPERATOR_DESC, AxisCount), 0, nullptr},
    {"Axes", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_HARDMAX1_OPERATOR_DESC, Axes), offsetof(DML_ACTIVATION_HARDMAX1_OPERATOR_DESC, AxisCount), nullptr},
};

inline constexpr Field kResample2Fields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_RESAMPLE2_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_RESAMPLE2_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"InterpolationMode", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE2_OPERATOR_DESC, InterpolationMode), 0, &kInterpolationMode},
    {"RoundingDirection", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE2_OPERATOR_DESC, RoundingDirection), 0, &kAxisDirection},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE2_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"Scales", FieldKind::kFloatArray, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE2_OPERATOR_DESC, Scales), offsetof(DML_RESAMPLE2_OPERATOR_DESC, DimensionCount), nullptr},
    {"InputPixelOffsets", FieldKind::kFloatArray, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE2_OPERATOR_DESC, InputPixelOffsets), offsetof(DML_RESAMPLE2_OPERATOR_DESC, DimensionCount), nullptr},
    {"OutputPixelOffsets", FieldKind::kFloatArray, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE2_OPERATOR_DESC, OutputPixelOffsets), offsetof(DML_RESAMPLE2_OPERATOR_DESC, DimensionCount), nullptr},
};

inline constexpr Field kResampleGrad1Fields[] = {
    {"InputGradientTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_RESAMPLE_GRAD1_OPERATOR_DESC, InputGradientTensor), 0, nullptr},
    {"OutputGradientTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_RESAMPLE_GRAD1_OPERATOR_DESC, OutputGradientTensor), 0, nullptr},
    {"InterpolationMode", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE_GRAD1_OPERATOR_DESC, InterpolationMode), 0, &kInterpolationMode},
    {"RoundingDirection", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE_GRAD1_OPERATOR_DESC, RoundingDirection), 0, &kAxisDirection},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE_GRAD1_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"Scales", FieldKind::kFloatArray, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE_GRAD1_OPERATOR_DESC, Scales), offsetof(DML_RESAMPLE_GRAD1_OPERATOR_DESC, DimensionCount), nullptr},
    {"InputPixelOffsets", FieldKind::kFloatArray, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE_GRAD1_OPERATOR_DESC, InputPixelOffsets), offsetof(DML_RESAMPLE_GRAD1_OPERATOR_DESC, DimensionCount), nullptr},
    {"OutputPixelOffsets", FieldKind::kFloatArray, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE_GRAD1_OPERATOR_DESC, OutputPixelOffsets), offsetof(DML_RESAMPLE_GRAD1_OPERATOR_DESC, DimensionCount), nullptr},
};

inline constexpr Field kDiagonalMatrix1Fields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_DIAGONAL_MATRIX1_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_DIAGONAL_MATRIX1_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"ValueDataType", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_DIAGONAL_MATRIX1_OPERATOR_DESC, ValueDataType), 0, &kTensorDataType},
    {"Value", FieldKind::kScalarUnion, FieldRole::kAttribute, false, offsetof(DML_DIAGONAL_MATRIX1_OPERATOR_DESC, Value), offsetof(DML_DIAGONAL_MATRIX1_OPERATOR_DESC, ValueDataType), nullptr},
    {"DiagonalFillBegin", FieldKind::kInt, FieldRole::kAttribute, false, offsetof(DML_DIAGONAL_MATRIX1_OPERATOR_DESC, DiagonalFillBegin), 0, nullptr},
    {"DiagonalFillEnd", FieldKind::kInt, FieldRole::kAttribute, false, offsetof(DML_DIAGONAL_MATRIX1_OPERATOR_DESC, DiagonalFillEnd), 0, nullptr},
};

#endif

#if DML2ONNX_TARGET_VERSION >= 0x6100

inline constexpr Field kMultiheadAttentionFields[] = {
    {"QueryTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MULTIHEAD_ATTENTION_OPERATOR_DESC, QueryTensor), 0, nullptr},
    {"KeyTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MULTIHEAD_ATTENTION_OPERATOR_DESC, KeyTensor), 0, nullptr},
    {"ValueTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MULTIHEAD_ATTENTION_OPERATOR_DESC, ValueTensor), 0, nullptr},
    {"StackedQueryKeyTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MULTIHEAD_ATTENTION_OPERATOR_DESC, StackedQueryKeyTensor), 0, nullptr},
    {"StackedKeyValueTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MULTIHEAD_ATTENTION_OPERATOR_DESC, StackedKeyValueTensor), 0, nullptr},
    {"StackedQueryKeyValueTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MULTIHEAD_ATTENTION_OPERATOR_DESC, StackedQueryKeyValueTensor), 0, nullptr},
    {"BiasTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MULTIHEAD_ATTENTION_OPERATOR_DESC, BiasTensor), 0, nullptr},
    {"MaskTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MULTIHEAD_ATTENTION_OPERATOR_DESC, MaskTensor), 0, nullptr},
    {"RelativePositionBiasTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MULTIHEAD_ATTENTION_OPERATOR_DESC, RelativePositionBiasTensor), 0, nullptr},
    {"PastKeyTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MULTIHEAD_ATTENTION_OPERATOR_DESC, PastKeyTensor), 0, nullptr},
    {"PastValueTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MULTIHEAD_ATTENTION_OPERATOR_DESC, PastValueTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_MULTIHEAD_ATTENTION_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"OutputPresentKeyTensor", FieldKind::kTensor, FieldRole::kOutput, true, offsetof(DML_MULTIHEAD_ATTENTION_OPERATOR_DESC, OutputPresentKeyTensor), 0, nullptr},
    {"OutputPresentValueTensor", FieldKind::kTensor, FieldRole::kOutput, true, offsetof(DML_MULTIHEAD_ATTENTION_OPERATOR_DESC, OutputPresentValueTensor), 0, nullptr},
    {"Scale", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_MULTIHEAD_ATTENTION_OPERATOR_DESC, Scale), 0, nullptr},
    {"MaskFilterValue", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_MULTIHEAD_ATTENTION_OPERATOR_DESC, MaskFilterValue), 0, nullptr},
    {"HeadCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_MULTIHEAD_ATTENTION_OPERATOR_DESC, HeadCount), 0, nullptr},
    {"MaskType", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_MULTIHEAD_ATTENTION_OPERATOR_DESC, MaskType), 0, &kMultiheadAttentionMaskType},
};

#endif

#if DML2ONNX_TARGET_VERSION >= 0x6200

inline constexpr Field kLpPooling1Fields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_LP_POOLING1_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_LP_POOLING1_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_LP_POOLING1_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"Strides", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_LP_POOLING1_OPERATOR_DESC, Strides), offsetof(DML_LP_POOLING1_OPERATOR_DESC, DimensionCount), nullptr},
    {"WindowSize", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_LP_POOLING1_OPERATOR_DESC, WindowSize), offsetof(DML_LP_POOLING1_OPERATOR_DESC, DimensionCount), nullptr},
    {"StartPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_LP_POOLING1_OPERATOR_DESC, StartPadding), offsetof(DML_LP_POOLING1_OPERATOR_DESC, DimensionCount), nullptr},
    {"EndPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_LP_POOLING1_OPERATOR_DESC, EndPadding), offsetof(DML_LP_POOLING1_OPERATOR_DESC, DimensionCount), nullptr},
    {"Dilations", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_LP_POOLING1_OPERATOR_DESC, Dilations), offsetof(DML_LP_POOLING1_OPERATOR_DESC, DimensionCount), nullptr},
    {"P", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_LP_POOLING1_OPERATOR_DESC, P), 0, nullptr},
};

inline constexpr Field kAveragePooling1Fields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_AVERAGE_POOLING1_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_AVERAGE_POOLING1_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_AVERAGE_POOLING1_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"Strides", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_AVERAGE_POOLING1_OPERATOR_DESC, Strides), offsetof(DML_AVERAGE_POOLING1_OPERATOR_DESC, DimensionCount), nullptr},
    {"WindowSize", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_AVERAGE_POOLING1_OPERATOR_DESC, WindowSize), offsetof(DML_AVERAGE_POOLING1_OPERATOR_DESC, DimensionCount), nullptr},
    {"StartPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_AVERAGE_POOLING1_OPERATOR_DESC, StartPadding), offsetof(DML_AVERAGE_POOLING1_OPERATOR_DESC, DimensionCount), nullptr},
    {"EndPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_AVERAGE_POOLING1_OPERATOR_DESC, EndPadding), offsetof(DML_AVERAGE_POOLING1_OPERATOR_DESC, DimensionCount), nullptr},
    {"Dilations", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_AVERAGE_POOLING1_OPERATOR_DESC, Dilations), offsetof(DML_AVERAGE_POOLING1_OPERATOR_DESC, DimensionCount), nullptr},
    {"IncludePadding", FieldKind::kBool, FieldRole::kAttribute, false, offsetof(DML_AVERAGE_POOLING1_OPERATOR_DESC, IncludePadding), 0, nullptr},
};

inline constexpr Field kActivationSwishFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_SWISH_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_SWISH_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"SigmoidInputScale", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_SWISH_OPERATOR_DESC, SigmoidInputScale), 0, nullptr},
};

inline constexpr Field kActivationHardSwishFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_ACTIVATION_HARD_SWISH_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_ACTIVATION_HARD_SWISH_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"Alpha", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_HARD_SWISH_OPERATOR_DESC, Alpha), 0, nullptr},
    {"Beta", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_ACTIVATION_HARD_SWISH_OPERATOR_DESC, Beta), 0, nullptr},
};

inline constexpr Field kQuantizedLinearAveragePoolingFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"InputScaleTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC, InputScaleTensor), 0, nullptr},
    {"InputZeroPointTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC, InputZeroPointTensor), 0, nullptr},
    {"OutputScaleTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC, OutputScaleTensor), 0, nullptr},
    {"OutputZeroPointTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC, OutputZeroPointTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"Strides", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC, Strides), offsetof(DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC, DimensionCount), nullptr},
    {"WindowSize", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC, WindowSize), offsetof(DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC, DimensionCount), nullptr},
    {"StartPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC, StartPadding), offsetof(DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC, DimensionCount), nullptr},
    {"EndPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC, EndPadding), offsetof(DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC, DimensionCount), nullptr},
    {"Dilations", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC, Dilations), offsetof(DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC, DimensionCount), nullptr},
    {"IncludePadding", FieldKind::kBool, FieldRole::kAttribute, false, offsetof(DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC, IncludePadding), 0, nullptr},
};

inline constexpr Field kMatrixMultiplyIntegerToFloatFields[] = {
    {"ATensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_MATRIX_MULTIPLY_INTEGER_TO_FLOAT_OPERATOR_DESC, ATensor), 0, nullptr},
    {"AScaleTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_MATRIX_MULTIPLY_INTEGER_TO_FLOAT_OPERATOR_DESC, AScaleTensor), 0, nullptr},
    {"AZeroPointTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MATRIX_MULTIPLY_INTEGER_TO_FLOAT_OPERATOR_DESC, AZeroPointTensor), 0, nullptr},
    {"BTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_MATRIX_MULTIPLY_INTEGER_TO_FLOAT_OPERATOR_DESC, BTensor), 0, nullptr},
    {"BScaleTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_MATRIX_MULTIPLY_INTEGER_TO_FLOAT_OPERATOR_DESC, BScaleTensor), 0, nullptr},
    {"BZeroPointTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MATRIX_MULTIPLY_INTEGER_TO_FLOAT_OPERATOR_DESC, BZeroPointTensor), 0, nullptr},
    {"BiasTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MATRIX_MULTIPLY_INTEGER_TO_FLOAT_OPERATOR_DESC, BiasTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_MATRIX_MULTIPLY_INTEGER_TO_FLOAT_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

#endif

#if DML2ONNX_TARGET_VERSION >= 0x6300

inline constexpr Field kMeanVarianceNormalization2Fields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"ScaleTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC, ScaleTensor), 0, nullptr},
    {"BiasTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC, BiasTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"AxisCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC, AxisCount), 0, nullptr},
    {"Axes", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC, Axes), offsetof(DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC, AxisCount), nullptr},
    {"UseMean", FieldKind::kBool, FieldRole::kAttribute, false, offsetof(DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC, UseMean), 0, nullptr},
    {"UseVariance", FieldKind::kBool, FieldRole::kAttribute, false, offsetof(DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC, UseVariance), 0, nullptr},
    {"Epsilon", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC, Epsilon), 0, nullptr},
    {"FusedActivation", FieldKind::kOperator, FieldRole::kAttribute, true, offsetof(DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC, FusedActivation), 0, nullptr},
};

inline constexpr Field kMultiheadAttention1Fields[] = {
    {"QueryTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC, QueryTensor), 0, nullptr},
    {"KeyTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC, KeyTensor), 0, nullptr},
    {"ValueTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC, ValueTensor), 0, nullptr},
    {"StackedQueryKeyTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC, StackedQueryKeyTensor), 0, nullptr},
    {"StackedKeyValueTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC, StackedKeyValueTensor), 0, nullptr},
    {"StackedQueryKeyValueTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC, StackedQueryKeyValueTensor), 0, nullptr},
    {"BiasTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC, BiasTensor), 0, nullptr},
    {"MaskTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC, MaskTensor), 0, nullptr},
    {"RelativePositionBiasTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC, RelativePositionBiasTensor), 0, nullptr},
    {"PastKeyTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC, PastKeyTensor), 0, nullptr},
    {"PastValueTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC, PastValueTensor), 0, nullptr},
    {"PastSequenceLengthsTensor", FieldKind::kTensor, FieldRole::kInput, true, offsetof(DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC, PastSequenceLengthsTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"OutputPresentKeyTensor", FieldKind::kTensor, FieldRole::kOutput, true, offsetof(DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC, OutputPresentKeyTensor), 0, nullptr},
    {"OutputPresentValueTensor", FieldKind::kTensor, FieldRole::kOutput, true, offsetof(DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC, OutputPresentValueTensor), 0, nullptr},
    {"Scale", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC, Scale), 0, nullptr},
    {"MaskFilterValue", FieldKind::kFloat, FieldRole::kAttribute, false, offsetof(DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC, MaskFilterValue), 0, nullptr},
    {"QueryHeadCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC, QueryHeadCount), 0, nullptr},
    {"KeyValueHeadCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC, KeyValueHeadCount), 0, nullptr},
    {"MaskType", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC, MaskType), 0, &kMultiheadAttentionMaskType},
};

inline constexpr Field kQuantizeFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_QUANTIZE_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"QuantizationType", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_QUANTIZE_OPERATOR_DESC, QuantizationType), 0, &kQuantizationType},
    {"QuantizationTensorCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_QUANTIZE_OPERATOR_DESC, QuantizationTensorCount), 0, nullptr},
    {"QuantizationTensors", FieldKind::kTensorArray, FieldRole::kInput, false, offsetof(DML_QUANTIZE_OPERATOR_DESC, QuantizationTensors), offsetof(DML_QUANTIZE_OPERATOR_DESC, QuantizationTensorCount), nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_QUANTIZE_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

inline constexpr Field kDequantizeFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_DEQUANTIZE_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"QuantizationType", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_DEQUANTIZE_OPERATOR_DESC, QuantizationType), 0, &kQuantizationType},
    {"QuantizationTensorCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_DEQUANTIZE_OPERATOR_DESC, QuantizationTensorCount), 0, nullptr},
    {"QuantizationTensors", FieldKind::kTensorArray, FieldRole::kInput, false, offsetof(DML_DEQUANTIZE_OPERATOR_DESC, QuantizationTensors), offsetof(DML_DEQUANTIZE_OPERATOR_DESC, QuantizationTensorCount), nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_DEQUANTIZE_OPERATOR_DESC, OutputTensor), 0, nullptr},
};

#endif

#if DML2ONNX_TARGET_VERSION >= 0x6400

inline constexpr Field kResample3Fields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_RESAMPLE3_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_RESAMPLE3_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"InterpolationMode", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE3_OPERATOR_DESC, InterpolationMode), 0, &kInterpolationMode},
    {"RoundingDirection", FieldKind::kEnum, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE3_OPERATOR_DESC, RoundingDirection), 0, &kAxisDirection},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE3_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"Scales", FieldKind::kFloatArray, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE3_OPERATOR_DESC, Scales), offsetof(DML_RESAMPLE3_OPERATOR_DESC, DimensionCount), nullptr},
    {"InputPixelOffsets", FieldKind::kFloatArray, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE3_OPERATOR_DESC, InputPixelOffsets), offsetof(DML_RESAMPLE3_OPERATOR_DESC, DimensionCount), nullptr},
    {"OutputPixelOffsets", FieldKind::kFloatArray, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE3_OPERATOR_DESC, OutputPixelOffsets), offsetof(DML_RESAMPLE3_OPERATOR_DESC, DimensionCount), nullptr},
    {"Antialiased", FieldKind::kBool, FieldRole::kAttribute, false, offsetof(DML_RESAMPLE3_OPERATOR_DESC, Antialiased), 0, nullptr},
};

inline constexpr Field kFoldFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_FOLD_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_FOLD_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_FOLD_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"WindowSizes", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_FOLD_OPERATOR_DESC, WindowSizes), offsetof(DML_FOLD_OPERATOR_DESC, DimensionCount), nullptr},
    {"Strides", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_FOLD_OPERATOR_DESC, Strides), offsetof(DML_FOLD_OPERATOR_DESC, DimensionCount), nullptr},
    {"Dilations", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_FOLD_OPERATOR_DESC, Dilations), offsetof(DML_FOLD_OPERATOR_DESC, DimensionCount), nullptr},
    {"StartPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_FOLD_OPERATOR_DESC, StartPadding), offsetof(DML_FOLD_OPERATOR_DESC, DimensionCount), nullptr},
    {"EndPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_FOLD_OPERATOR_DESC, EndPadding), offsetof(DML_FOLD_OPERATOR_DESC, DimensionCount), nullptr},
};

inline constexpr Field kUnfoldFields[] = {
    {"InputTensor", FieldKind::kTensor, FieldRole::kInput, false, offsetof(DML_UNFOLD_OPERATOR_DESC, InputTensor), 0, nullptr},
    {"OutputTensor", FieldKind::kTensor, FieldRole::kOutput, false, offsetof(DML_UNFOLD_OPERATOR_DESC, OutputTensor), 0, nullptr},
    {"DimensionCount", FieldKind::kUint, FieldRole::kAttribute, false, offsetof(DML_UNFOLD_OPERATOR_DESC, DimensionCount), 0, nullptr},
    {"WindowSizes", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_UNFOLD_OPERATOR_DESC, WindowSizes), offsetof(DML_UNFOLD_OPERATOR_DESC, DimensionCount), nullptr},
    {"Strides", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_UNFOLD_OPERATOR_DESC, Strides), offsetof(DML_UNFOLD_OPERATOR_DESC, DimensionCount), nullptr},
    {"Dilations", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_UNFOLD_OPERATOR_DESC, Dilations), offsetof(DML_UNFOLD_OPERATOR_DESC, DimensionCount), nullptr},
    {"StartPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_UNFOLD_OPERATOR_DESC, StartPadding), offsetof(DML_UNFOLD_OPERATOR_DESC, DimensionCount), nullptr},
    {"EndPadding", FieldKind::kUintArray, FieldRole::kAttribute, false, offsetof(DML_UNFOLD_OPERATOR_DESC, EndPadding), offsetof(DML_UNFOLD_OPERATOR_DESC, DimensionCount), nullptr},
};

#endif

inline constexpr OperatorFields kOperators[] = {
    {DML_OPERATOR_ELEMENT_WISE_IDENTITY, "DML_OPERATOR_ELEMENT_WISE_IDENTITY", kElementWiseIdentityFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_ABS, "DML_OPERATOR_ELEMENT_WISE_ABS", kElementWiseAbsFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_ACOS, "DML_OPERATOR_ELEMENT_WISE_ACOS", kElementWiseAcosFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_ADD, "DML_OPERATOR_ELEMENT_WISE_ADD", kElementWiseAddFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_ASIN, "DML_OPERATOR_ELEMENT_WISE_ASIN", kElementWiseAsinFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_ATAN, "DML_OPERATOR_ELEMENT_WISE_ATAN", kElementWiseAtanFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_CEIL, "DML_OPERATOR_ELEMENT_WISE_CEIL", kElementWiseCeilFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_CLIP, "DML_OPERATOR_ELEMENT_WISE_CLIP", kElementWiseClipFields, 5},
    {DML_OPERATOR_ELEMENT_WISE_COS, "DML_OPERATOR_ELEMENT_WISE_COS", kElementWiseCosFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_DIVIDE, "DML_OPERATOR_ELEMENT_WISE_DIVIDE", kElementWiseDivideFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_EXP, "DML_OPERATOR_ELEMENT_WISE_EXP", kElementWiseExpFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_FLOOR, "DML_OPERATOR_ELEMENT_WISE_FLOOR", kElementWiseFloorFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_LOG, "DML_OPERATOR_ELEMENT_WISE_LOG", kElementWiseLogFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_LOGICAL_AND, "DML_OPERATOR_ELEMENT_WISE_LOGICAL_AND", kElementWiseLogicalAndFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_LOGICAL_EQUALS, "DML_OPERATOR_ELEMENT_WISE_LOGICAL_EQUALS", kElementWiseLogicalEqualsFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_LOGICAL_GREATER_THAN, "DML_OPERATOR_ELEMENT_WISE_LOGICAL_GREATER_THAN", kElementWiseLogicalGreaterThanFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_LOGICAL_LESS_THAN, "DML_OPERATOR_ELEMENT_WISE_LOGICAL_LESS_THAN", kElementWiseLogicalLessThanFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_LOGICAL_NOT, "DML_OPERATOR_ELEMENT_WISE_LOGICAL_NOT", kElementWiseLogicalNotFields, 2},
    {DML_OPERATOR_ELEMENT_WISE_LOGICAL_OR, "DML_OPERATOR_ELEMENT_WISE_LOGICAL_OR", kElementWiseLogicalOrFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_LOGICAL_XOR, "DML_OPERATOR_ELEMENT_WISE_LOGICAL_XOR", kElementWiseLogicalXorFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_MAX, "DML_OPERATOR_ELEMENT_WISE_MAX", kElementWiseMaxFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_MEAN, "DML_OPERATOR_ELEMENT_WISE_MEAN", kElementWiseMeanFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_MIN, "DML_OPERATOR_ELEMENT_WISE_MIN", kElementWiseMinFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_MULTIPLY, "DML_OPERATOR_ELEMENT_WISE_MULTIPLY", kElementWiseMultiplyFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_POW, "DML_OPERATOR_ELEMENT_WISE_POW", kElementWisePowFields, 4},
    {DML_OPERATOR_ELEMENT_WISE_CONSTANT_POW, "DML_OPERATOR_ELEMENT_WISE_CONSTANT_POW", kElementWiseConstantPowFields, 4},
    {DML_OPERATOR_ELEMENT_WISE_RECIP, "DML_OPERATOR_ELEMENT_WISE_RECIP", kElementWiseRecipFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_SIN, "DML_OPERATOR_ELEMENT_WISE_SIN", kElementWiseSinFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_SQRT, "DML_OPERATOR_ELEMENT_WISE_SQRT", kElementWiseSqrtFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_SUBTRACT, "DML_OPERATOR_ELEMENT_WISE_SUBTRACT", kElementWiseSubtractFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_TAN, "DML_OPERATOR_ELEMENT_WISE_TAN", kElementWiseTanFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_THRESHOLD, "DML_OPERATOR_ELEMENT_WISE_THRESHOLD", kElementWiseThresholdFields, 4},
    {DML_OPERATOR_ELEMENT_WISE_QUANTIZE_LINEAR, "DML_OPERATOR_ELEMENT_WISE_QUANTIZE_LINEAR", kElementWiseQuantizeLinearFields, 4},
    {DML_OPERATOR_ELEMENT_WISE_DEQUANTIZE_LINEAR, "DML_OPERATOR_ELEMENT_WISE_DEQUANTIZE_LINEAR", kElementWiseDequantizeLinearFields, 4},
    {DML_OPERATOR_ACTIVATION_ELU, "DML_OPERATOR_ACTIVATION_ELU", kActivationEluFields, 3},
    {DML_OPERATOR_ACTIVATION_HARDMAX, "DML_OPERATOR_ACTIVATION_HARDMAX", kActivationHardmaxFields, 2},
    {DML_OPERATOR_ACTIVATION_HARD_SIGMOID, "DML_OPERATOR_ACTIVATION_HARD_SIGMOID", kActivationHardSigmoidFields, 4},
    {DML_OPERATOR_ACTIVATION_IDENTITY, "DML_OPERATOR_ACTIVATION_IDENTITY", kActivationIdentityFields, 2},
    {DML_OPERATOR_ACTIVATION_LEAKY_RELU, "DML_OPERATOR_ACTIVATION_LEAKY_RELU", kActivationLeakyReluFields, 3},
    {DML_OPERATOR_ACTIVATION_LINEAR, "DML_OPERATOR_ACTIVATION_LINEAR", kActivationLinearFields, 4},
    {DML_OPERATOR_ACTIVATION_LOG_SOFTMAX, "DML_OPERATOR_ACTIVATION_LOG_SOFTMAX", kActivationLogSoftmaxFields, 2},
    {DML_OPERATOR_ACTIVATION_PARAMETERIZED_RELU, "DML_OPERATOR_ACTIVATION_PARAMETERIZED_RELU", kActivationParameterizedReluFields, 3},
    {DML_OPERATOR_ACTIVATION_PARAMETRIC_SOFTPLUS, "DML_OPERATOR_ACTIVATION_PARAMETRIC_SOFTPLUS", kActivationParametricSoftplusFields, 4},
    {DML_OPERATOR_ACTIVATION_RELU, "DML_OPERATOR_ACTIVATION_RELU", kActivationReluFields, 2},
    {DML_OPERATOR_ACTIVATION_SCALED_ELU, "DML_OPERATOR_ACTIVATION_SCALED_ELU", kActivationScaledEluFields, 4},
    {DML_OPERATOR_ACTIVATION_SCALED_TANH, "DML_OPERATOR_ACTIVATION_SCALED_TANH", kActivationScaledTanhFields, 4},
    {DML_OPERATOR_ACTIVATION_SIGMOID, "DML_OPERATOR_ACTIVATION_SIGMOID", kActivationSigmoidFields, 2},
    {DML_OPERATOR_ACTIVATION_SOFTMAX, "DML_OPERATOR_ACTIVATION_SOFTMAX", kActivationSoftmaxFields, 2},
    {DML_OPERATOR_ACTIVATION_SOFTPLUS, "DML_OPERATOR_ACTIVATION_SOFTPLUS", kActivationSoftplusFields, 3},
    {DML_OPERATOR_ACTIVATION_SOFTSIGN, "DML_OPERATOR_ACTIVATION_SOFTSIGN", kActivationSoftsignFields, 2},
    {DML_OPERATOR_ACTIVATION_TANH, "DML_OPERATOR_ACTIVATION_TANH", kActivationTanhFields, 2},
    {DML_OPERATOR_ACTIVATION_THRESHOLDED_RELU, "DML_OPERATOR_ACTIVATION_THRESHOLDED_RELU", kActivationThresholdedReluFields, 3},
    {DML_OPERATOR_CONVOLUTION, "DML_OPERATOR_CONVOLUTION", kConvolutionFields, 14},
    {DML_OPERATOR_GEMM, "DML_OPERATOR_GEMM", kGemmFields, 9},
    {DML_OPERATOR_REDUCE, "DML_OPERATOR_REDUCE", kReduceFields, 5},
    {DML_OPERATOR_AVERAGE_POOLING, "DML_OPERATOR_AVERAGE_POOLING", kAveragePoolingFields, 8},
    {DML_OPERATOR_LP_POOLING, "DML_OPERATOR_LP_POOLING", kLpPoolingFields, 8},
    {DML_OPERATOR_MAX_POOLING, "DML_OPERATOR_MAX_POOLING", kMaxPoolingFields, 7},
    {DML_OPERATOR_ROI_POOLING, "DML_OPERATOR_ROI_POOLING", kRoiPoolingFields, 5},
    {DML_OPERATOR_SLICE, "DML_OPERATOR_SLICE", kSliceFields, 6},
    {DML_OPERATOR_CAST, "DML_OPERATOR_CAST", kCastFields, 2},
    {DML_OPERATOR_SPLIT, "DML_OPERATOR_SPLIT", kSplitFields, 4},
    {DML_OPERATOR_JOIN, "DML_OPERATOR_JOIN", kJoinFields, 4},
    {DML_OPERATOR_PADDING, "DML_OPERATOR_PADDING", kPaddingFields, 7},
    {DML_OPERATOR_VALUE_SCALE_2D, "DML_OPERATOR_VALUE_SCALE_2D", kValueScale2dFields, 5},
    {DML_OPERATOR_UPSAMPLE_2D, "DML_OPERATOR_UPSAMPLE_2D", kUpsample2dFields, 4},
    {DML_OPERATOR_GATHER, "DML_OPERATOR_GATHER", kGatherFields, 5},
    {DML_OPERATOR_SPACE_TO_DEPTH, "DML_OPERATOR_SPACE_TO_DEPTH", kSpaceToDepthFields, 3},
    {DML_OPERATOR_DEPTH_TO_SPACE, "DML_OPERATOR_DEPTH_TO_SPACE", kDepthToSpaceFields, 3},
    {DML_OPERATOR_TILE, "DML_OPERATOR_TILE", kTileFields, 4},
    {DML_OPERATOR_TOP_K, "DML_OPERATOR_TOP_K", kTopKFields, 5},
    {DML_OPERATOR_BATCH_NORMALIZATION, "DML_OPERATOR_BATCH_NORMALIZATION", kBatchNormalizationFields, 9},
    {DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION, "DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION", kMeanVarianceNormalizationFields, 8},
    {DML_OPERATOR_LOCAL_RESPONSE_NORMALIZATION, "DML_OPERATOR_LOCAL_RESPONSE_NORMALIZATION", kLocalResponseNormalizationFields, 7},
    {DML_OPERATOR_LP_NORMALIZATION, "DML_OPERATOR_LP_NORMALIZATION", kLpNormalizationFields, 5},
    {DML_OPERATOR_RNN, "DML_OPERATOR_RNN", kRnnFields, 11},
    {DML_OPERATOR_LSTM, "DML_OPERATOR_LSTM", kLstmFields, 17},
    {DML_OPERATOR_GRU, "DML_OPERATOR_GRU", kGruFields, 12},
#if DML2ONNX_TARGET_VERSION >= 0x2000
    {DML_OPERATOR_ELEMENT_WISE_SIGN, "DML_OPERATOR_ELEMENT_WISE_SIGN", kElementWiseSignFields, 2},
    {DML_OPERATOR_ELEMENT_WISE_IS_NAN, "DML_OPERATOR_ELEMENT_WISE_IS_NAN", kElementWiseIsNanFields, 2},
    {DML_OPERATOR_ELEMENT_WISE_ERF, "DML_OPERATOR_ELEMENT_WISE_ERF", kElementWiseErfFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_SINH, "DML_OPERATOR_ELEMENT_WISE_SINH", kElementWiseSinhFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_COSH, "DML_OPERATOR_ELEMENT_WISE_COSH", kElementWiseCoshFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_TANH, "DML_OPERATOR_ELEMENT_WISE_TANH", kElementWiseTanhFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_ASINH, "DML_OPERATOR_ELEMENT_WISE_ASINH", kElementWiseAsinhFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_ACOSH, "DML_OPERATOR_ELEMENT_WISE_ACOSH", kElementWiseAcoshFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_ATANH, "DML_OPERATOR_ELEMENT_WISE_ATANH", kElementWiseAtanhFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_IF, "DML_OPERATOR_ELEMENT_WISE_IF", kElementWiseIfFields, 4},
    {DML_OPERATOR_ELEMENT_WISE_ADD1, "DML_OPERATOR_ELEMENT_WISE_ADD1", kElementWiseAdd1Fields, 4},
    {DML_OPERATOR_ACTIVATION_SHRINK, "DML_OPERATOR_ACTIVATION_SHRINK", kActivationShrinkFields, 4},
    {DML_OPERATOR_MAX_POOLING1, "DML_OPERATOR_MAX_POOLING1", kMaxPooling1Fields, 8},
    {DML_OPERATOR_MAX_UNPOOLING, "DML_OPERATOR_MAX_UNPOOLING", kMaxUnpoolingFields, 3},
    {DML_OPERATOR_DIAGONAL_MATRIX, "DML_OPERATOR_DIAGONAL_MATRIX", kDiagonalMatrixFields, 3},
    {DML_OPERATOR_SCATTER, "DML_OPERATOR_SCATTER", kScatterFields, 5},
    {DML_OPERATOR_ONE_HOT, "DML_OPERATOR_ONE_HOT", kOneHotFields, 4},
    {DML_OPERATOR_RESAMPLE, "DML_OPERATOR_RESAMPLE", kResampleFields, 5},
#endif
#if DML2ONNX_TARGET_VERSION >= 0x2100
    {DML_OPERATOR_ELEMENT_WISE_BIT_SHIFT_LEFT, "DML_OPERATOR_ELEMENT_WISE_BIT_SHIFT_LEFT", kElementWiseBitShiftLeftFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_BIT_SHIFT_RIGHT, "DML_OPERATOR_ELEMENT_WISE_BIT_SHIFT_RIGHT", kElementWiseBitShiftRightFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_ROUND, "DML_OPERATOR_ELEMENT_WISE_ROUND", kElementWiseRoundFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_IS_INFINITY, "DML_OPERATOR_ELEMENT_WISE_IS_INFINITY", kElementWiseIsInfinityFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_MODULUS_TRUNCATE, "DML_OPERATOR_ELEMENT_WISE_MODULUS_TRUNCATE", kElementWiseModulusTruncateFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR, "DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR", kElementWiseModulusFloorFields, 3},
    {DML_OPERATOR_FILL_VALUE_CONSTANT, "DML_OPERATOR_FILL_VALUE_CONSTANT", kFillValueConstantFields, 3},
    {DML_OPERATOR_FILL_VALUE_SEQUENCE, "DML_OPERATOR_FILL_VALUE_SEQUENCE", kFillValueSequenceFields, 4},
    {DML_OPERATOR_CUMULATIVE_SUMMATION, "DML_OPERATOR_CUMULATIVE_SUMMATION", kCumulativeSummationFields, 5},
    {DML_OPERATOR_REVERSE_SUBSEQUENCES, "DML_OPERATOR_REVERSE_SUBSEQUENCES", kReverseSubsequencesFields, 4},
    {DML_OPERATOR_GATHER_ELEMENTS, "DML_OPERATOR_GATHER_ELEMENTS", kGatherElementsFields, 4},
    {DML_OPERATOR_GATHER_ND, "DML_OPERATOR_GATHER_ND", kGatherNdFields, 5},
    {DML_OPERATOR_SCATTER_ND, "DML_OPERATOR_SCATTER_ND", kScatterNdFields, 6},
    {DML_OPERATOR_MAX_POOLING2, "DML_OPERATOR_MAX_POOLING2", kMaxPooling2Fields, 9},
    {DML_OPERATOR_SLICE1, "DML_OPERATOR_SLICE1", kSlice1Fields, 6},
    {DML_OPERATOR_TOP_K1, "DML_OPERATOR_TOP_K1", kTopK1Fields, 6},
    {DML_OPERATOR_DEPTH_TO_SPACE1, "DML_OPERATOR_DEPTH_TO_SPACE1", kDepthToSpace1Fields, 4},
    {DML_OPERATOR_SPACE_TO_DEPTH1, "DML_OPERATOR_SPACE_TO_DEPTH1", kSpaceToDepth1Fields, 4},
    {DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION1, "DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION1", kMeanVarianceNormalization1Fields, 9},
    {DML_OPERATOR_RESAMPLE1, "DML_OPERATOR_RESAMPLE1", kResample1Fields, 7},
    {DML_OPERATOR_MATRIX_MULTIPLY_INTEGER, "DML_OPERATOR_MATRIX_MULTIPLY_INTEGER", kMatrixMultiplyIntegerFields, 5},
    {DML_OPERATOR_QUANTIZED_LINEAR_MATRIX_MULTIPLY, "DML_OPERATOR_QUANTIZED_LINEAR_MATRIX_MULTIPLY", kQuantizedLinearMatrixMultiplyFields, 9},
    {DML_OPERATOR_CONVOLUTION_INTEGER, "DML_OPERATOR_CONVOLUTION_INTEGER", kConvolutionIntegerFields, 11},
    {DML_OPERATOR_QUANTIZED_LINEAR_CONVOLUTION, "DML_OPERATOR_QUANTIZED_LINEAR_CONVOLUTION", kQuantizedLinearConvolutionFields, 16},
#endif
#if DML2ONNX_TARGET_VERSION >= 0x3000
    {DML_OPERATOR_ELEMENT_WISE_BIT_AND, "DML_OPERATOR_ELEMENT_WISE_BIT_AND", kElementWiseBitAndFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_BIT_OR, "DML_OPERATOR_ELEMENT_WISE_BIT_OR", kElementWiseBitOrFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_BIT_XOR, "DML_OPERATOR_ELEMENT_WISE_BIT_XOR", kElementWiseBitXorFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_BIT_NOT, "DML_OPERATOR_ELEMENT_WISE_BIT_NOT", kElementWiseBitNotFields, 2},
    {DML_OPERATOR_ELEMENT_WISE_BIT_COUNT, "DML_OPERATOR_ELEMENT_WISE_BIT_COUNT", kElementWiseBitCountFields, 2},
    {DML_OPERATOR_ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL, "DML_OPERATOR_ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL", kElementWiseLogicalGreaterThanOrEqualFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL, "DML_OPERATOR_ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL", kElementWiseLogicalLessThanOrEqualFields, 3},
    {DML_OPERATOR_ACTIVATION_CELU, "DML_OPERATOR_ACTIVATION_CELU", kActivationCeluFields, 3},
    {DML_OPERATOR_ACTIVATION_RELU_GRAD, "DML_OPERATOR_ACTIVATION_RELU_GRAD", kActivationReluGradFields, 3},
    {DML_OPERATOR_AVERAGE_POOLING_GRAD, "DML_OPERATOR_AVERAGE_POOLING_GRAD", kAveragePoolingGradFields, 8},
    {DML_OPERATOR_MAX_POOLING_GRAD, "DML_OPERATOR_MAX_POOLING_GRAD", kMaxPoolingGradFields, 9},
    {DML_OPERATOR_RANDOM_GENERATOR, "DML_OPERATOR_RANDOM_GENERATOR", kRandomGeneratorFields, 4},
    {DML_OPERATOR_NONZERO_COORDINATES, "DML_OPERATOR_NONZERO_COORDINATES", kNonzeroCoordinatesFields, 3},
    {DML_OPERATOR_RESAMPLE_GRAD, "DML_OPERATOR_RESAMPLE_GRAD", kResampleGradFields, 7},
    {DML_OPERATOR_SLICE_GRAD, "DML_OPERATOR_SLICE_GRAD", kSliceGradFields, 6},
    {DML_OPERATOR_ADAM_OPTIMIZER, "DML_OPERATOR_ADAM_OPTIMIZER", kAdamOptimizerFields, 12},
    {DML_OPERATOR_ARGMIN, "DML_OPERATOR_ARGMIN", kArgminFields, 5},
    {DML_OPERATOR_ARGMAX, "DML_OPERATOR_ARGMAX", kArgmaxFields, 5},
    {DML_OPERATOR_ROI_ALIGN, "DML_OPERATOR_ROI_ALIGN", kRoiAlignFields, 11},
    {DML_OPERATOR_GATHER_ND1, "DML_OPERATOR_GATHER_ND1", kGatherNd1Fields, 6},
#endif
#if DML2ONNX_TARGET_VERSION >= 0x3100
    {DML_OPERATOR_ELEMENT_WISE_ATAN_YX, "DML_OPERATOR_ELEMENT_WISE_ATAN_YX", kElementWiseAtanYxFields, 3},
    {DML_OPERATOR_ELEMENT_WISE_CLIP_GRAD, "DML_OPERATOR_ELEMENT_WISE_CLIP_GRAD", kElementWiseClipGradFields, 5},
    {DML_OPERATOR_ELEMENT_WISE_DIFFERENCE_SQUARE, "DML_OPERATOR_ELEMENT_WISE_DIFFERENCE_SQUARE", kElementWiseDifferenceSquareFields, 3},
    {DML_OPERATOR_LOCAL_RESPONSE_NORMALIZATION_GRAD, "DML_OPERATOR_LOCAL_RESPONSE_NORMALIZATION_GRAD", kLocalResponseNormalizationGradFields, 8},
    {DML_OPERATOR_CUMULATIVE_PRODUCT, "DML_OPERATOR_CUMULATIVE_PRODUCT", kCumulativeProductFields, 5},
    {DML_OPERATOR_BATCH_NORMALIZATION_GRAD, "DML_OPERATOR_BATCH_NORMALIZATION_GRAD", kBatchNormalizationGradFields, 9},
#endif
#if DML2ONNX_TARGET_VERSION >= 0x4000
    {DML_OPERATOR_ELEMENT_WISE_QUANTIZED_LINEAR_ADD, "DML_OPERATOR_ELEMENT_WISE_QUANTIZED_LINEAR_ADD", kElementWiseQuantizedLinearAddFields, 9},
    {DML_OPERATOR_DYNAMIC_QUANTIZE_LINEAR, "DML_OPERATOR_DYNAMIC_QUANTIZE_LINEAR", kDynamicQuantizeLinearFields, 4},
    {DML_OPERATOR_ROI_ALIGN1, "DML_OPERATOR_ROI_ALIGN1", kRoiAlign1Fields, 14},
#endif
#if DML2ONNX_TARGET_VERSION >= 0x4100
    {DML_OPERATOR_ROI_ALIGN_GRAD, "DML_OPERATOR_ROI_ALIGN_GRAD", kRoiAlignGradFields, 15},
    {DML_OPERATOR_BATCH_NORMALIZATION_TRAINING, "DML_OPERATOR_BATCH_NORMALIZATION_TRAINING", kBatchNormalizationTrainingFields, 9},
    {DML_OPERATOR_BATCH_NORMALIZATION_TRAINING_GRAD, "DML_OPERATOR_BATCH_NORMALIZATION_TRAINING_GRAD", kBatchNormalizationTrainingGradFields, 9},
#endif
#if DML2ONNX_TARGET_VERSION >= 0x5000
    {DML_OPERATOR_ELEMENT_WISE_CLIP1, "DML_OPERATOR_ELEMENT_WISE_CLIP1", kElementWiseClip1Fields, 6},
    {DML_OPERATOR_ELEMENT_WISE_CLIP_GRAD1, "DML_OPERATOR_ELEMENT_WISE_CLIP_GRAD1", kElementWiseClipGrad1Fields, 6},
    {DML_OPERATOR_PADDING1, "DML_OPERATOR_PADDING1", kPadding1Fields, 8},
    {DML_OPERATOR_ELEMENT_WISE_NEGATE, "DML_OPERATOR_ELEMENT_WISE_NEGATE", kElementWiseNegateFields, 2},
#endif
#if DML2ONNX_TARGET_VERSION >= 0x5100
    {DML_OPERATOR_ACTIVATION_GELU, "DML_OPERATOR_ACTIVATION_GELU", kActivationGeluFields, 2},
    {DML_OPERATOR_ACTIVATION_SOFTMAX1, "DML_OPERATOR_ACTIVATION_SOFTMAX1", kActivationSoftmax1Fields, 4},
    {DML_OPERATOR_ACTIVATION_LOG_SOFTMAX1, "DML_OPERATOR_ACTIVATION_LOG_SOFTMAX1", kActivationLogSoftmax1Fields, 4},
    {DML_OPERATOR_ACTIVATION_HARDMAX1, "DML_OPERATOR_ACTIVATION_HARDMAX1", kActivationHardmax1Fields, 4},
    {DML_OPERATOR_RESAMPLE2, "DML_OPERATOR_RESAMPLE2", kResample2Fields, 8},
    {DML_OPERATOR_RESAMPLE_GRAD1, "DML_OPERATOR_RESAMPLE_GRAD1", kResampleGrad1Fields, 8},
    {DML_OPERATOR_DIAGONAL_MATRIX1, "DML_OPERATOR_DIAGONAL_MATRIX1", kDiagonalMatrix1Fields, 6},
#endif
#if DML2ONNX_TARGET_VERSION >= 0x6100
    {DML_OPERATOR_MULTIHEAD_ATTENTION, "DML_OPERATOR_MULTIHEAD_ATTENTION", kMultiheadAttentionFields, 18},
#endif
#if DML2ONNX_TARGET_VERSION >= 0x6200
    {DML_OPERATOR_LP_POOLING1, "DML_OPERATOR_LP_POOLING1", kLpPooling1Fields, 9},
    {DML_OPERATOR_AVERAGE_POOLING1, "DML_OPERATOR_AVERAGE_POOLING1", kAveragePooling1Fields, 9},
    {DML_OPERATOR_ACTIVATION_SWISH, "DML_OPERATOR_ACTIVATION_SWISH", kActivationSwishFields, 3},
    {DML_OPERATOR_ACTIVATION_HARD_SWISH, "DML_OPERATOR_ACTIVATION_HARD_SWISH", kActivationHardSwishFields, 4},
    {DML_OPERATOR_QUANTIZED_LINEAR_AVERAGE_POOLING, "DML_OPERATOR_QUANTIZED_LINEAR_AVERAGE_POOLING", kQuantizedLinearAveragePoolingFields, 13},
    {DML_OPERATOR_MATRIX_MULTIPLY_INTEGER_TO_FLOAT, "DML_OPERATOR_MATRIX_MULTIPLY_INTEGER_TO_FLOAT", kMatrixMultiplyIntegerToFloatFields, 8},
#endif
#if DML2ONNX_TARGET_VERSION >= 0x6300
    {DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION2, "DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION2", kMeanVarianceNormalization2Fields, 10},
    {DML_OPERATOR_MULTIHEAD_ATTENTION1, "DML_OPERATOR_MULTIHEAD_ATTENTION1", kMultiheadAttention1Fields, 20},
    {DML_OPERATOR_QUANTIZE, "DML_OPERATOR_QUANTIZE", kQuantizeFields, 5},
    {DML_OPERATOR_DEQUANTIZE, "DML_OPERATOR_DEQUANTIZE", kDequantizeFields, 5},
#endif
#if DML2ONNX_TARGET_VERSION >= 0x6400
    {DML_OPERATOR_RESAMPLE3, "DML_OPERATOR_RESAMPLE3", kResample3Fields, 9},
    {DML_OPERATOR_FOLD, "DML_OPERATOR_FOLD", kFoldFields, 8},
    {DML_OPERATOR_UNFOLD, "DML_OPERATOR_UNFOLD", kUnfoldFields, 8},
#endif
};

}  // namespace detail
}  // namespace dml2onnx

// Reads a descriptor by the table of its operator.

namespace dml2onnx {
namespace detail {

static_assert(sizeof(DML_TENSOR_DATA_TYPE) == sizeof(std::int32_t), "enumerations of DirectML have 32 bits");

// DirectML allows up to 8 dimensions. One more shows that there are too many, and reading no more is safe if the number
// is uninitialized.
inline constexpr UINT kMostSizes = 9;
inline constexpr UINT kMostElements = 1u << 16;
inline constexpr int kMostNested = 3;  // nested activations are errors, and cycles would be endless

template <typename T>
T ReadAt(const void* base, std::size_t offset) {
  T value;
  std::memcpy(&value, static_cast<const unsigned char*>(base) + offset, sizeof value);
  return value;
}

inline const char* NameOf(const EnumNames& names, std::int32_t value) {
  for (std::size_t index = 0; index < names.count; ++index) {
    if (names.values[index].value == value) return names.values[index].name;
  }
  return nullptr;
}

inline const OperatorFields* FieldsOf(std::int32_t type) {
  for (const OperatorFields& item : kOperators) {
    if (static_cast<std::int32_t>(item.type) == type) return &item;
  }
  return nullptr;
}

class Describer {
 public:
  explicit Describer(Description& description) : description_(description) {}

  void Operator(const DML_OPERATOR_DESC* desc, const std::string& place, int depth) {
    if (desc == nullptr) {
      json_.Null();
      Problem(place.empty() ? "the descriptor" : place, "is null");
      return;
    }
    // as numbers, since values outside an enumeration are undefined in C++
    const auto number = ReadAt<std::int32_t>(desc, offsetof(DML_OPERATOR_DESC, Type));
    const OperatorFields* table = FieldsOf(number);
    json_.BeginObject().Key("Type");
    if (table != nullptr) {
      json_.String(table->name);
      if (depth == 0) description_.name = table->name;
    } else {
      json_.Integer(number);
      Problem(Under(place, "Type"), "is " + std::to_string(number) + ", no operator of this DirectML.h");
    }
    json_.Key("Desc");
    if (table == nullptr || desc->Desc == nullptr || depth > kMostNested) {
      json_.Null();
      if (desc->Desc == nullptr) Problem(Under(place, "Desc"), "is null");
      if (depth > kMostNested) Problem(place, "is an activation of an activation of an activation");
    } else {
      json_.BeginObject();
      for (std::size_t index = 0; index < table->count; ++index) {
        const Field& field = table->fields[index];
        if (IsLeftOut(field, desc->Desc, depth)) {
          TensorFacts absent;
          absent.field = field.name;
          if (field.kind == FieldKind::kTensor && depth == 0) Add(field, std::move(absent));
          continue;
        }
        json_.Key(field.name);
        Value(field, desc->Desc, Under(place, field.name), depth);
      }
      json_.EndObject();
    }
    json_.EndObject();
  }

  void Finish() { description_.json = json_.Take(); }

 private:
  static std::string Under(const std::string& place, const char* name) {
    return place.empty() ? name : place + "." + name;
  }

  void Problem(const std::string& place, const std::string& what) {
    description_.problems.push_back(place + " " + what);
  }

  void Value(const Field& field, const void* base, const std::string& place, int depth) {
    switch (field.kind) {
      case FieldKind::kTensor:
        return Tensor(field, ReadAt<const DML_TENSOR_DESC*>(base, field.offset), place, depth);
      case FieldKind::kTensorArray:
        return Tensors(field, base, place, depth);
      case FieldKind::kUint:
        json_.Unsigned(ReadAt<UINT>(base, field.offset));
        return;
      case FieldKind::kInt:
        json_.Integer(ReadAt<INT>(base, field.offset));
        return;
      case FieldKind::kFloat:
        json_.Float(ReadAt<FLOAT>(base, field.offset));
        return;
      case FieldKind::kBool:
        json_.Bool(ReadAt<BOOL>(base, field.offset) != 0);
        return;
      case FieldKind::kEnum:
        return Enum(*field.names, ReadAt<std::int32_t>(base, field.offset), place);
      case FieldKind::kUintArray:
        return Numbers<UINT>(field, base, place, [this](UINT value) { json_.Unsigned(value); });
      case FieldKind::kIntArray:
        return Numbers<INT>(field, base, place, [this](INT value) { json_.Integer(value); });
      case FieldKind::kFloatArray:
        return Numbers<FLOAT>(field, base, place, [this](FLOAT value) { json_.Float(value); });
      case FieldKind::kScaleBias:
        return ScaleBias(field, ReadAt<const DML_SCALE_BIAS*>(base, field.offset), place);
      case FieldKind::kScalarUnion:
        return Scalar(base, field);
      case FieldKind::kSize2D:
        return Size(ReadAt<DML_SIZE_2D>(base, field.offset));
      case FieldKind::kOperator:
        return Activation(field, ReadAt<const DML_OPERATOR_DESC*>(base, field.offset), place, depth);
      case FieldKind::kOperatorArray:
        return Operators(field, base, place, depth);
    }
  }

  // Absent fields are omitted: DxDispatch reads the same text, and has no null.
  static bool IsLeftOut(const Field& field, const void* base, int depth) {
    switch (field.kind) {
      case FieldKind::kTensor:
      case FieldKind::kTensorArray:
        return (field.optional || depth > 0) && ReadAt<const void*>(base, field.offset) == nullptr;
      case FieldKind::kScaleBias:
      case FieldKind::kOperator:
        return field.optional && ReadAt<const void*>(base, field.offset) == nullptr;
      default:
        return false;
    }
  }

  // The pointer of an empty array is not read.
  void NoArray(bool isEmpty, const std::string& place) {
    if (isEmpty) {
      json_.BeginArray().EndArray();
    } else {
      Absent(false, place);
    }
  }

  void Absent(bool allowed, const std::string& place) {
    json_.Null();
    if (!allowed) Problem(place, "is null");
  }

  void Enum(const EnumNames& names, std::int32_t value, const std::string& place) {
    if (const char* name = NameOf(names, value)) {
      json_.String(name);
    } else {
      json_.Integer(value);
      Problem(place, "is " + std::to_string(value) + ", which has no name");
    }
  }

  // Returns the number of elements to read, given the stated count.
  UINT Bounded(UINT count, UINT most, const std::string& place) {
    if (count <= most) return count;
    Problem(place, "has " + std::to_string(count) + " elements, of which " + std::to_string(most) + " are recorded");
    return most;
  }

  // Writes an array of targets of pointers, or of numbers; null is an empty array.
  template <typename Element, typename Write>
  void Numbers(const Field& field, const void* base, const std::string& place, Write write) {
    const auto* values = ReadAt<const Element*>(base, field.offset);
    const UINT count = ReadAt<UINT>(base, field.other);
    if (values == nullptr) return NoArray(count == 0, place);
    json_.BeginArray();
    const UINT bounded = Bounded(count, kMostElements, place);
    for (UINT index = 0; index < bounded; ++index) write(values[index]);
    json_.EndArray();
  }

  void Tensors(const Field& field, const void* base, const std::string& place, int depth) {
    const auto* values = ReadAt<const DML_TENSOR_DESC*>(base, field.offset);
    const UINT count = ReadAt<UINT>(base, field.other);
    if (values == nullptr) return NoArray(count == 0, place);
    json_.BeginArray();
    const UINT bounded = Bounded(count, kMostElements, place);
    for (UINT index = 0; index < bounded; ++index) {
      Tensor(field, values + index, place + "[" + std::to_string(index) + "]", depth);
    }
    json_.EndArray();
  }

  void Operators(const Field& field, const void* base, const std::string& place, int depth) {
    const auto* values = ReadAt<const DML_OPERATOR_DESC*>(base, field.offset);
    const UINT count = ReadAt<UINT>(base, field.other);
    if (values == nullptr) return NoArray(count == 0, place);
    json_.BeginArray();
    const UINT bounded = Bounded(count, kMostElements, place);
    for (UINT index = 0; index < bounded; ++index) {
      Operator(values + index, place + "[" + std::to_string(index) + "]", depth + 1);
    }
    json_.EndArray();
  }

  void Activation(const Field& field, const DML_OPERATOR_DESC* desc, const std::string& place, int depth) {
    if (desc == nullptr) return Absent(field.optional, place);
    Operator(desc, place, depth + 1);
  }

  void ScaleBias(const Field& field, const DML_SCALE_BIAS* value, const std::string& place) {
    if (value == nullptr) return Absent(field.optional, place);
    json_.BeginObject().Key("Scale").Float(value->Scale).Key("Bias").Float(value->Bias).EndObject();
  }

  void Size(const DML_SIZE_2D& value) {
    json_.BeginObject().Key("Width").Unsigned(value.Width).Key("Height").Unsigned(value.Height).EndObject();
  }

  // Writes the member of the union for the data type, or all bytes if there is none.
  void Scalar(const void* base, const Field& field) {
    json_.BeginObject();
    const std::size_t at = field.offset;
    switch (ReadAt<std::int32_t>(base, field.other)) {
      case DML_TENSOR_DATA_TYPE_FLOAT32:
        json_.Key("Float32").Float(ReadAt<FLOAT>(base, at));
        break;
      case DML_TENSOR_DATA_TYPE_FLOAT64:
        json_.Key("Float64").Double(ReadAt<double>(base, at));
        break;
      case DML_TENSOR_DATA_TYPE_FLOAT16:  // no member of its own; has the bits of this one
      case DML_TENSOR_DATA_TYPE_UINT16:
        json_.Key("UInt16").Unsigned(ReadAt<std::uint16_t>(base, at));
        break;
      case DML_TENSOR_DATA_TYPE_UINT8:
        json_.Key("UInt8").Unsigned(ReadAt<std::uint8_t>(base, at));
        break;
      case DML_TENSOR_DATA_TYPE_UINT32:
        json_.Key("UInt32").Unsigned(ReadAt<std::uint32_t>(base, at));
        break;
      case DML_TENSOR_DATA_TYPE_UINT64:
        json_.Key("UInt64").Unsigned(ReadAt<std::uint64_t>(base, at));
        break;
      case DML_TENSOR_DATA_TYPE_INT8:
        json_.Key("Int8").Integer(ReadAt<std::int8_t>(base, at));
        break;
      case DML_TENSOR_DATA_TYPE_INT16:
        json_.Key("Int16").Integer(ReadAt<std::int16_t>(base, at));
        break;
      case DML_TENSOR_DATA_TYPE_INT32:
        json_.Key("Int32").Integer(ReadAt<std::int32_t>(base, at));
        break;
      case DML_TENSOR_DATA_TYPE_INT64:
        json_.Key("Int64").Integer(ReadAt<std::int64_t>(base, at));
        break;
      default:
        json_.Key("Bytes").BeginArray();
        for (std::size_t index = 0; index < 8; ++index) json_.Unsigned(ReadAt<std::uint8_t>(base, at + index));
        json_.EndArray();
    }
    json_.EndObject();
  }

  // The tensors of a fused activation are null: they are those of its operator.
  void Tensor(const Field& field, const DML_TENSOR_DESC* desc, const std::string& place, int depth) {
    TensorFacts facts;
    facts.field = place;
    if (desc == nullptr) {
      Absent(field.optional || depth > 0, place);
    } else {
      facts.present = true;
      Buffer(*desc, place, facts);
    }
    if (depth == 0) Add(field, std::move(facts));
  }

  void Add(const Field& field, TensorFacts facts) {
    (field.role == FieldRole::kInput ? description_.inputs : description_.outputs).push_back(std::move(facts));
  }

  void Buffer(const DML_TENSOR_DESC& desc, const std::string& place, TensorFacts& facts) {
    const auto type = ReadAt<std::int32_t>(&desc, offsetof(DML_TENSOR_DESC, Type));
    json_.BeginObject().Key("Type");
    Enum(kTensorType, type, Under(place, "Type"));
    json_.Key("Desc");
    if (desc.Desc == nullptr || type != DML_TENSOR_TYPE_BUFFER) {
      json_.Null().EndObject();
      if (type != DML_TENSOR_TYPE_BUFFER) return Problem(Under(place, "Type"), "is not DML_TENSOR_TYPE_BUFFER");
      return Problem(Under(place, "Desc"), "is null");
    }
    const auto& buffer = *static_cast<const DML_BUFFER_TENSOR_DESC*>(desc.Desc);
    const auto dataType = ReadAt<std::int32_t>(&buffer, offsetof(DML_BUFFER_TENSOR_DESC, DataType));
    const auto flags = ReadAt<std::int32_t>(&buffer, offsetof(DML_BUFFER_TENSOR_DESC, Flags));
    json_.BeginObject().Key("DataType");
    Enum(kTensorDataType, dataType, Under(place, "DataType"));
    json_.Key("Flags");
    Enum(kTensorFlags, flags, Under(place, "Flags"));
    json_.Key("DimensionCount").Unsigned(buffer.DimensionCount);
    const UINT count = Bounded(buffer.DimensionCount, kMostSizes, Under(place, "Sizes"));
    json_.Key("Sizes");
    Sizes(buffer.Sizes, count, count == 0, Under(place, "Sizes"));
    if (buffer.Strides != nullptr) {
      json_.Key("Strides");
      Sizes(buffer.Strides, count, true, Under(place, "Strides"));
    }
    json_.Key("TotalTensorSizeInBytes").Unsigned(buffer.TotalTensorSizeInBytes);
    json_.Key("GuaranteedBaseOffsetAlignment").Unsigned(buffer.GuaranteedBaseOffsetAlignment);
    json_.EndObject().EndObject();
    if (NameOf(kTensorDataType, dataType) != nullptr) facts.dataType = dataType;
    facts.ownedByDml = (flags & DML_TENSOR_FLAG_OWNED_BY_DML) != 0;
    facts.bytes = buffer.TotalTensorSizeInBytes;
    if (buffer.Sizes != nullptr) facts.sizes.assign(buffer.Sizes, buffer.Sizes + count);
    if (buffer.Strides != nullptr) facts.strides.assign(buffer.Strides, buffer.Strides + count);
  }

  void Sizes(const UINT* values, UINT count, bool optional, const std::string& place) {
    if (values == nullptr) return Absent(optional, place);
    json_.BeginArray();
    for (UINT index = 0; index < count; ++index) json_.Unsigned(values[index]);
    json_.EndArray();
  }

  Description& description_;
  JsonWriter json_;
};

inline Description Describe(const DML_OPERATOR_DESC* desc) {
  Description description;
  Describer describer(description);
  describer.Operator(desc, "", 0);
  describer.Finish();
  return description;
}

}  // namespace detail
}  // namespace dml2onnx

// The base of all COM objects of the recorder: reference counts, identity, private data, and smart pointers.

namespace dml2onnx {
namespace detail {

// As DirectML.h declares them: X(interface, name of its GUID here, GUID). Repeated here, because compilers differ in
// how they provide the GUID of an interface.
#define DML2ONNX_INTERFACES_OF_1_0(X)                                                                                  \
  X(IDMLObject, kIidObject, 0xc8263aac, 0x9e0c, 0x4a2d, 0x9b, 0x8e, 0x00, 0x75, 0x21, 0xa3, 0x31, 0x7c)                \
  X(IDMLDevice, kIidDevice, 0x6dbd6437, 0x96fd, 0x423f, 0xa9, 0x8c, 0xae, 0x5e, 0x7c, 0x2a, 0x57, 0x3f)                \
  X(IDMLDeviceChild, kIidDeviceChild, 0x27e83142, 0x8165, 0x49e3, 0x97, 0x4e, 0x2f, 0xd6, 0x6e, 0x4c, 0xb6, 0x9d)      \
  X(IDMLPageable, kIidPageable, 0xb1ab0825, 0x4542, 0x4a4b, 0x86, 0x17, 0x6d, 0xde, 0x6e, 0x8f, 0x62, 0x01)            \
  X(IDMLOperator, kIidOperator, 0x26caae7a, 0x3081, 0x4633, 0x95, 0x81, 0x22, 0x6f, 0xbe, 0x57, 0x69, 0x5d)            \
  X(IDMLDispatchable, kIidDispatchable, 0xdcb821a8, 0x1039, 0x441e, 0x9f, 0x1c, 0xb1, 0x75, 0x9c, 0x2f, 0x3c, 0xec)    \
  X(IDMLCompiledOperator, kIidCompiled, 0x6b15e56a, 0xbf5c, 0x4902, 0x92, 0xd8, 0xda, 0x3a, 0x65, 0x0a, 0xfe, 0xa4)    \
  X(IDMLOperatorInitializer, kIidInitializer, 0x427c1113, 0x435c, 0x469c, 0x86, 0x76, 0x4d, 0x5d, 0xd0, 0x72, 0xf8, 0x13) \
  X(IDMLBindingTable, kIidBindingTable, 0x29c687dc, 0xde74, 0x4e3b, 0xab, 0x00, 0x11, 0x68, 0xf2, 0xfc, 0x3c, 0xfc)    \
  X(IDMLCommandRecorder, kIidRecorder, 0xe6857a76, 0x2e3e, 0x4fdd, 0xbf, 0xf4, 0x5d, 0x2b, 0xa1, 0x0f, 0xb4, 0x53)     \
  X(IDMLDebugDevice, kIidDebugDevice, 0x7d6f3ac9, 0x394a, 0x4ac3, 0x92, 0xa7, 0x39, 0x0c, 0xc5, 0x7a, 0x82, 0x17)
#if DML2ONNX_TARGET_VERSION >= 0x2100
#define DML2ONNX_INTERFACES(X)   \
  DML2ONNX_INTERFACES_OF_1_0(X)  \
  X(IDMLDevice1, kIidDevice1, 0xa0884f9a, 0xd2be, 0x4355, 0xaa, 0x5d, 0x59, 0x01, 0x28, 0x1a, 0xd1, 0xd2)
#else
#define DML2ONNX_INTERFACES(X) DML2ONNX_INTERFACES_OF_1_0(X)
#endif

inline constexpr GUID kIidUnknown = {0x00000000, 0x0000, 0x0000, {0xC0, 0, 0, 0, 0, 0, 0, 0x46}};

// The GUID of a DirectML interface; undefined for other types.
template <typename Interface>
struct IidOf;

#define DML2ONNX_IID(Interface, name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8)          \
  inline constexpr GUID name = {l, w1, w2, {b1, b2, b3, b4, b5, b6, b7, b8}};             \
  template <>                                                                             \
  struct IidOf<Interface> {                                                               \
    static constexpr const GUID& Get() { return name; }                                   \
  };
DML2ONNX_INTERFACES(DML2ONNX_IID)
#undef DML2ONNX_IID

// Interfaces of the recorder: one that programs query, and those that identify its own objects. They change with the
// objects, since two libraries of one program may be compiled with different recorders.
inline constexpr GUID kIidOwnRecorder = {0x3f1c9f10, 0x6a34, 0x4b0e, {0x9d, 0x57, 0x8e, 0x0c, 0x2b, 0x61, 0xd4, 0x01}};
inline constexpr GUID kIidOwnOperator = {0x3f1c9f10, 0x6a34, 0x4b0e, {0x9d, 0x57, 0x8e, 0x0c, 0x2b, 0x61, 0xd4, 0x02}};
inline constexpr GUID kIidOwnCompiled = {0x3f1c9f10, 0x6a34, 0x4b0e, {0x9d, 0x57, 0x8e, 0x0c, 0x2b, 0x61, 0xd4, 0x03}};
inline constexpr GUID kIidOwnInitializer = {
    0x3f1c9f10, 0x6a34, 0x4b0e, {0x9d, 0x57, 0x8e, 0x0c, 0x2b, 0x61, 0xd4, 0x04}};
inline constexpr GUID kIidOwnBindingTable = {
    0x3f1c9f10, 0x6a34, 0x4b0e, {0x9d, 0x57, 0x8e, 0x0c, 0x2b, 0x61, 0xd4, 0x05}};

// From dxgi.h, which may be missing.
inline constexpr HRESULT kNotFound = static_cast<HRESULT>(0x887A0002u);
inline constexpr HRESULT kMoreData = static_cast<HRESULT>(0x887A0003u);
inline constexpr HRESULT kUnsupported = static_cast<HRESULT>(0x887A0004u);
inline constexpr HRESULT kAccessDenied = static_cast<HRESULT>(0x80070005u);

inline bool Same(const GUID& one, const GUID& other) { return std::memcmp(&one, &other, sizeof one) == 0; }

// A smart pointer that counts references.
template <typename T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* object) : object_(object) {
    if (object_ != nullptr) object_->AddRef();
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  ~Ref() {
    if (object_ != nullptr) object_->Release();
  }
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }

  // Takes over a counted reference.
  static Ref Adopt(T* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }

  T* Get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

  // The address for a method that returns an object; the pointer must be null.
  void** Out() { return reinterpret_cast<void**>(&object_); }

 private:
  T* object_ = nullptr;
};

// Queries an interface; returns null if the object lacks it. T must be the type of the GUID.
template <typename T>
Ref<T> As(IUnknown* object, const GUID& iid) {
  void* found = nullptr;
  if (object == nullptr || FAILED(object->QueryInterface(iid, &found))) return {};
  return Ref<T>::Adopt(static_cast<T*>(found));
}

// Private data of objects: bytes, and counted interfaces. As in ID3D12Object.
class PrivateData {
 public:
  HRESULT Get(REFGUID guid, UINT* size, void* data) {
    if (size == nullptr) return E_INVALIDARG;
    const std::lock_guard<std::mutex> lock(mutex_);
    const Entry* entry = Find(guid);
    if (entry == nullptr) {
      *size = 0;
      return kNotFound;
    }
    IUnknown* object = entry->object.Get();
    const UINT needed = object != nullptr ? UINT{sizeof object} : static_cast<UINT>(entry->bytes.size());
    const UINT capacity = std::exchange(*size, needed);
    if (data == nullptr) return S_OK;
    if (capacity < needed) return kMoreData;
    if (object != nullptr) {
      object->AddRef();
      std::memcpy(data, &object, sizeof object);
    } else {
      std::memcpy(data, entry->bytes.data(), needed);
    }
    return S_OK;
  }

  HRESULT Set(REFGUID guid, UINT size, const void* data) {
    if (data == nullptr && size != 0) return E_INVALIDARG;
    const auto* bytes = static_cast<const unsigned char*>(data);
    if (data == nullptr) return Put(guid, {}, {}, false);
    return Put(guid, std::vector<unsigned char>(bytes, bytes + size), {}, true);
  }

  HRESULT Set(REFGUID guid, IUnknown* object) { return Put(guid, {}, Ref<IUnknown>(object), object != nullptr); }

 private:
  struct Entry {
    GUID guid;
    std::vector<unsigned char> bytes;
    Ref<IUnknown> object;
  };

  Entry* Find(REFGUID guid) {
    for (Entry& entry : entries_) {
      if (Same(entry.guid, guid)) return &entry;
    }
    return nullptr;
  }

  HRESULT Put(REFGUID guid, std::vector<unsigned char> bytes, Ref<IUnknown> object, bool keep) {
    Entry old{};  // released last, after the lock
    const std::lock_guard<std::mutex> lock(mutex_);
    Entry* entry = Find(guid);
    if (!keep) {
      if (entry == nullptr) return S_OK;
      old = std::move(*entry);
      if (entry != &entries_.back()) *entry = std::move(entries_.back());
      entries_.pop_back();
    } else if (entry != nullptr) {
      old = std::exchange(*entry, Entry{guid, std::move(bytes), std::move(object)});
    } else {
      entries_.push_back({guid, std::move(bytes), std::move(object)});
    }
    return S_OK;
  }

  std::mutex mutex_;
  std::vector<Entry> entries_;
};

// An object with the interface `Interface`; `kIids` are the GUIDs of its bases. If it wraps a real object, that one
// stores private data and names, so that tools find them there.
template <typename Interface, const GUID&... kIids>
class Object : public Interface {
 public:
  using InterfaceType = Interface;

  explicit Object(IDMLObject* real) : realObject_(real) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** ppv) noexcept override {
    if (ppv == nullptr) return E_POINTER;
    *ppv = nullptr;
    if (!Same(riid, kIidUnknown) && !Same(riid, kIidObject) && !(Same(riid, kIids) || ...)) {
      return QueryOther(riid, ppv);
    }
    AddRef();
    *ppv = static_cast<Interface*>(this);
    return S_OK;
  }

  ULONG STDMETHODCALLTYPE AddRef() noexcept override { return references_.fetch_add(1, std::memory_order_relaxed) + 1; }

  ULONG STDMETHODCALLTYPE Release() noexcept override {
    const ULONG left = references_.fetch_sub(1, std::memory_order_acq_rel) - 1;
    if (left == 0) delete this;
    return left;
  }

  HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID guid, UINT* dataSize, void* data) noexcept override {
    if (realObject_) return realObject_->GetPrivateData(guid, dataSize, data);
    return Guarded([&] { return privateData_.Get(guid, dataSize, data); });
  }

  HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID guid, UINT dataSize, const void* data) noexcept override {
    if (realObject_) return realObject_->SetPrivateData(guid, dataSize, data);
    return Guarded([&] { return privateData_.Set(guid, dataSize, data); });
  }

  HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID guid, IUnknown* data) noexcept override {
    if (realObject_) return realObject_->SetPrivateDataInterface(guid, data);
    return Guarded([&] { return privateData_.Set(guid, data); });
  }

  HRESULT STDMETHODCALLTYPE SetName(PCWSTR name) noexcept override {
    if (realObject_) {
      const HRESULT result = realObject_->SetName(name);
      if (FAILED(result)) return result;
    }
    return Guarded([&] {
      Named(Utf8(name));
      return S_OK;
    });
  }

 protected:
  virtual ~Object() = default;

  // Hides other interfaces, also those of the real object: they would bypass the recorder, with objects of ours.
  virtual HRESULT QueryOther(REFIID riid, void**) {
    static constexpr std::uint32_t kOwn = 0x3f1c9f10;  // the start of all GUIDs of recorders
    if (realObject_ && riid.Data1 != kOwn && As<IUnknown>(realObject_.Get(), riid)) Hidden(riid);
    return E_NOINTERFACE;
  }

  // Called if the program queries an interface that the real object has and the recorder hides.
  virtual void Hidden(const GUID&) {}

  // Called if the program names the object; "" removes the name.
  virtual void Named(const std::string&) {}

 private:
  std::atomic<ULONG> references_{1};
  Ref<IDMLObject> realObject_;
  PrivateData privateData_;
};

// Returns our object behind a program's pointer; null if another device made it.
template <typename T>
Ref<T> Own(IUnknown* object) {
  Ref<typename T::InterfaceType> found = As<typename T::InterfaceType>(object, T::kIid);
  return Ref<T>(static_cast<T*>(found.Get()));
}

// Returns a new object to the program, with the success code `made` of the real device.
template <typename T>
HRESULT ReturnObject(Ref<T> object, HRESULT made, REFIID riid, void** ppv) {
  const HRESULT result = object->QueryInterface(riid, ppv);
  return FAILED(result) ? result : made;
}

inline std::string GuidText(const GUID& guid) {
  char text[40];
  const auto& last = guid.Data4;
  std::snprintf(text, sizeof text, "%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                static_cast<unsigned>(guid.Data1), unsigned{guid.Data2}, unsigned{guid.Data3}, unsigned{last[0]},
                unsigned{last[1]}, unsigned{last[2]}, unsigned{last[3]}, unsigned{last[4]}, unsigned{last[5]},
                unsigned{last[6]}, unsigned{last[7]});
  return text;
}

}  // namespace detail
}  // namespace dml2onnx

// Support for IID_PPV_ARGS and __uuidof with compilers without __declspec(uuid), for which DirectML.h has no GUIDs.
// They use a template, which is defined here for all interfaces without a specialization, so that those of a program
// remain valid.

#if defined(DML2ONNX_POSIX_D3D12_H)

template <typename Interface>
const GUID& dml2onnx_uuidof() {
  return dml2onnx::detail::IidOf<Interface>::Get();
}

#elif defined(_MSC_VER)

// the compiler has them

#elif defined(__MINGW32__) && defined(__uuidof) && (!defined(USE___UUIDOF) || USE___UUIDOF == 0)

extern "C++" {
template <typename Interface>
#if __MINGW64_VERSION_MAJOR >= 9
constexpr
#endif
    const GUID&
    __mingw_uuidof() {
  return dml2onnx::detail::IidOf<Interface>::Get();
}
}

#elif defined(__wsl_stub_uuidof_use_constexpr)

extern "C++" {
template <typename Interface>
#if __wsl_stub_uuidof_use_constexpr
constexpr
#endif
    const GUID&
    __wsl_stub_uuidof() {
  return dml2onnx::detail::IidOf<Interface>::Get();
}
}

#elif defined(__CRT_UUID_DECL)

#define DML2ONNX_IID(Interface, name, ...) __CRT_UUID_DECL(Interface, __VA_ARGS__)
DML2ONNX_INTERFACES(DML2ONNX_IID)
#undef DML2ONNX_IID

#elif defined(WINADAPTER_IID)  // the first DirectX-Headers

#define DML2ONNX_IID(Interface, name, ...) WINADAPTER_IID(Interface, __VA_ARGS__)
DML2ONNX_INTERFACES(DML2ONNX_IID)
#undef DML2ONNX_IID

#endif

// Locks of folders, to detect other running programs.

#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#endif

namespace dml2onnx {
namespace detail {

// Locks a folder until the program ends, even by a crash; returns false if it is locked. On file systems without locks,
// such as some network shares, it always succeeds.
inline bool TakeFolder(const std::filesystem::path& folder) {
#if defined(_WIN32)
  const HANDLE file = ::CreateFileW((folder / "recording.lock").c_str(), GENERIC_WRITE, 0, nullptr, OPEN_ALWAYS,
                                    FILE_ATTRIBUTE_NORMAL | FILE_FLAG_DELETE_ON_CLOSE, nullptr);
  return file != INVALID_HANDLE_VALUE || ::GetLastError() != ERROR_SHARING_VIOLATION;
#else
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0 || ::flock(opened, LOCK_EX | LOCK_NB) == 0) return true;
  const bool isTaken = errno == EWOULDBLOCK;
  ::close(opened);
  return !isTaken;
#endif
}

}  // namespace detail
}  // namespace dml2onnx

// The folder of a recording: files are written atomically, with names that are valid on all systems.

namespace dml2onnx {
namespace detail {

// Names that are unique regardless of case.
class UniqueNames {
 public:
  std::string New(const std::string& wanted) {
    std::string name = wanted;
    for (int number = 2; !taken_.insert(Lower(name)).second; ++number) name = wanted + "_" + std::to_string(number);
    return name;
  }
  void Free(const std::string& name) { taken_.erase(Lower(name)); }

 private:
  static std::string Lower(std::string text) {
    for (char& letter : text) {
      if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    }
    return text;
  }
  std::set<std::string> taken_;
};

// Returns `name` with only portable characters; never a device name of Windows.
inline std::string FileStem(const std::string& name) {
  static constexpr std::size_t kLongest = 80;
  std::string stem = "";
  for (const char letter : name.substr(0, kLongest)) {
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= '0' && letter <= '9') || letter == '-' || letter == '_' || letter == '.';
    stem += plain ? letter : '_';
  }
  if (stem.empty() || stem.front() == '.') stem.insert(0, "_");
  static constexpr const char* kDevices[] = {"con", "prn", "aux", "nul", "com", "lpt"};  // on Windows, with any suffix
  for (const char* device : kDevices) {
    bool same = stem.size() >= 3;
    for (std::size_t index = 0; same && index < 3; ++index) same = (stem[index] | 0x20) == device[index];
    if (same && (stem.size() < 5 || stem[3] == '.' || stem[4] == '.')) return stem.insert(0, "_");
  }
  return stem;
}

inline constexpr char kIndexName[] = "recording.json";
// Suffix of journals: changes since a file was written, one object per line.
inline constexpr char kJournalSuffix[] = ".jsonl";

// Returns a path as UTF-8, which has its own type in C++20.
inline std::string PathText(const std::filesystem::path& path) {
  const auto text = path.u8string();
  return std::string(text.begin(), text.end());
}

// Files are written under a temporary name and renamed, which replaces an earlier one atomically. Names are ASCII.
class Folder {
 public:
  // Creates the folder, or reuses that of an earlier run; errors are in `problem`. A folder in use by this run or by
  // another running program is not touched: the second device that wants "recording" gets "recording_2", and so on;
  // `elsewhere` has the reason.
  static std::unique_ptr<Folder> Open(const std::filesystem::path& wanted, std::string& problem,
                                      std::string& elsewhere) {
    std::error_code error;
    std::filesystem::path path = std::filesystem::absolute(wanted, error).lexically_normal();
    if (!error && !path.has_filename()) path = path.parent_path();  // "recording/"
    const std::lock_guard<std::mutex> lock(InUse().mutex);
    const std::filesystem::path first = path;
    for (int number = 2;; ++number) {
      const bool isOurs = InUse().paths.count(path) != 0;
      if (!isOurs && (number == 2 || !HoldsOthers(path))) {
        bool isTaken = false;
        std::unique_ptr<Folder> folder = OpenAt(path, problem, isTaken);
        if (folder) InUse().paths.insert(path);
        if (!isTaken) return folder;
      }
      if (number == 2) elsewhere = isOurs ? "this program has recorded" : "another program that runs records";
      path = first;
      path += "_" + std::to_string(number);
    }
  }

  const std::filesystem::path& Path() const { return path_; }

  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() = default;

  // Writes a whole file; returns false with a `problem` on errors.
  bool Write(const std::string& name, const void* data, std::size_t bytes, std::string& problem) const {
    const std::filesystem::path target = path_ / name;
    std::filesystem::path made = target;
    made += ".part";
    std::error_code error;
    {
      std::ofstream file(made, std::ios::binary | std::ios::trunc);
      file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
      file.close();
      if (!file) error = std::make_error_code(std::errc::io_error);
    }
    if (!error) std::filesystem::rename(made, target, error);
    if (!error) return true;
    problem = name + " cannot be written: " + error.message();
    std::filesystem::remove(made, error);
    return false;
  }
  bool Write(const std::string& name, const std::string& text, std::string& problem) const {
    return Write(name, text.data(), text.size(), problem);
  }

  // Appends a line to a journal; it is written even if the program crashes afterwards.
  bool Append(const std::string& name, const std::string& line, std::string& problem) const {
    std::ofstream file(path_ / name, std::ios::binary | std::ios::app);
    file << line + "\n";
    file.close();
    if (!file) problem = name + " cannot be written";
    return static_cast<bool>(file);
  }

  // Writes bytes at an offset, extending the file if necessary. Existing bytes do not change, so that concurrent
  // readers are not affected.
  bool Add(const std::string& name, std::uint64_t offset, const void* data, std::size_t bytes,
           std::string& problem) const {
    const std::filesystem::path target = path_ / name;
    std::error_code error;
    const std::uint64_t size = std::filesystem::file_size(target, error);
    if (!error && size < offset) std::filesystem::resize_file(target, offset, error);
    if (!error) {
      std::fstream file(target, std::ios::binary | std::ios::in | std::ios::out);
      file.seekp(static_cast<std::streamoff>(offset));
      file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
      file.close();
      if (!file) error = std::make_error_code(std::errc::io_error);
    }
    if (error) problem = name + " cannot be written: " + error.message();
    return !error;
  }

  void Remove(const std::string& name) const {
    std::error_code error;
    std::filesystem::remove(path_ / name, error);
  }

 private:
  struct Used {
    std::mutex mutex;
    std::set<std::filesystem::path> paths;
  };

  explicit Folder(std::filesystem::path path) : path_(std::move(path)) {}

  static bool HoldsOthers(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return false;
    return !std::filesystem::exists(path / kIndexName, error) && !std::filesystem::is_empty(path, error);
  }

  static std::unique_ptr<Folder> OpenAt(const std::filesystem::path& path, std::string& problem, bool& isTaken) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) {
      problem = "the folder " + PathText(path) + " cannot be made: " + error.message();
      return nullptr;
    }
    const bool isRecording = std::filesystem::exists(path / kIndexName, error);
    if (HoldsOthers(path)) {
      problem = "the folder " + PathText(path) + " holds other things than a recording";
      return nullptr;
    }
    isTaken = !TakeFolder(path);
    if (isTaken) return nullptr;
    std::unique_ptr<Folder> folder(new Folder(path));
    std::filesystem::create_directories(path / "data", error);
    if (!error) std::filesystem::create_directories(path / "operators", error);
    if (!error && isRecording) folder->RemoveEarlier(error);
    if (error) {
      problem = "the folder " + PathText(path) + " cannot be written: " + error.message();
      return nullptr;
    }
    return folder;
  }

  static Used& InUse() {
    static Used used;
    return used;
  }

  // Removes numbered operators, some of which would remain, and journals, which would be read.
  void RemoveEarlier(std::error_code& error) const {
    for (std::filesystem::directory_iterator entry(path_, error), end; !error && entry != end; entry.increment(error)) {
      std::error_code ignored;
      const std::string name = PathText(entry->path().filename());
      const bool isOurs = name.rfind("program.", 0) == 0 || name.rfind("recording.", 0) == 0;
      if (isOurs && entry->path().extension() == kJournalSuffix) std::filesystem::remove(entry->path(), ignored);
    }
    for (std::filesystem::directory_iterator entry(path_ / "operators", error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = PathText(entry->path().filename());
      if (name.size() > 5 && name[0] >= '0' && name[0] <= '9' && entry->path().extension() == ".json") {
        std::error_code ignored;
        std::filesystem::remove(entry->path(), ignored);
      }
    }
  }

  std::filesystem::path path_;
};

}  // namespace detail
}  // namespace dml2onnx

// Compiled graphs, including operators as graphs of one node, and their text.

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

// Reads a DML_GRAPH_DESC, even an invalid one.

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

// Buffers of a real device: their names, their contents, and the end of their life.

namespace dml2onnx {
namespace detail {

// Defined by d3d12.h where it declares ID3D12Object; programs without a real device may have a smaller d3d12.h.
#if defined(__ID3D12Object_INTERFACE_DEFINED__)

// WKPDID_D3DDebugObjectNameW, which ID3D12Object::SetName sets.
inline constexpr GUID kDebugName = {0x4cca5fd8, 0x921f, 0x42c8, {0x85, 0x66, 0x70, 0xca, 0xf2, 0xa9, 0xb7, 0x41}};

inline std::string DebugName(ID3D12Resource* buffer) {
  UINT size = 0;
  if (FAILED(buffer->GetPrivateData(kDebugName, &size, nullptr)) || size == 0) return "";
  std::vector<wchar_t> name(size / sizeof(wchar_t) + 2, L'\0');
  if (FAILED(buffer->GetPrivateData(kDebugName, &size, name.data()))) return "";
  return Utf8(name.data());
}

// Calls a function when it is released, together with the buffer that it is attached to.
class ReleaseCallback final : public IUnknown {
 public:
  explicit ReleaseCallback(std::function<void()> onRelease) : onRelease_(std::move(onRelease)) {}
  ReleaseCallback(const ReleaseCallback&) = delete;
  ReleaseCallback& operator=(const ReleaseCallback&) = delete;

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** ppv) noexcept override {
    if (ppv == nullptr) return E_POINTER;
    *ppv = nullptr;
    if (!Same(riid, kIidUnknown)) return E_NOINTERFACE;
    AddRef();
    *ppv = static_cast<IUnknown*>(this);
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() noexcept override { return ++references_; }
  ULONG STDMETHODCALLTYPE Release() noexcept override {
    const ULONG left = --references_;
    if (left == 0) {
      Guarded([this] {
        onRelease_();
        return S_OK;
      });
      delete this;
    }
    return left;
  }

 private:
  ~ReleaseCallback() = default;

  std::atomic<ULONG> references_{1};
  const std::function<void()> onRelease_;
};

// Calls `onRelease` when the buffer is destroyed; `owner` distinguishes several recorders of one buffer.
inline void CallOnRelease(ID3D12Resource* buffer, const void* owner, std::function<void()> onRelease) {
  GUID guid = {0x3f1c9f10, 0x6a34, 0x4b0e, {}};
  static_assert(sizeof owner <= sizeof guid.Data4, "a pointer is a part of a GUID");
  std::memcpy(guid.Data4, &owner, sizeof owner);
  const auto callback = Ref<ReleaseCallback>::Adopt(new ReleaseCallback(std::move(onRelease)));
  buffer->SetPrivateDataInterface(guid, &*callback);
}

// Returns the current bytes of a buffer that the CPU can read, such as an upload buffer; none for others.
inline std::vector<unsigned char> ReadBack(ID3D12Resource* buffer, UINT64 offset, UINT64 bytes) {
#if defined(__ID3D12Resource_INTERFACE_DEFINED__)
  D3D12_HEAP_PROPERTIES heap{};
  D3D12_HEAP_FLAGS flags{};
  if (bytes == 0 || FAILED(buffer->GetHeapProperties(&heap, &flags))) return {};
  const bool isReadable = heap.Type == D3D12_HEAP_TYPE_UPLOAD || heap.Type == D3D12_HEAP_TYPE_READBACK ||
                      (heap.Type == D3D12_HEAP_TYPE_CUSTOM &&
                       (heap.CPUPageProperty == D3D12_CPU_PAGE_PROPERTY_WRITE_COMBINE ||
                        heap.CPUPageProperty == D3D12_CPU_PAGE_PROPERTY_WRITE_BACK));
  const UINT64 width = buffer->GetDesc().Width;
  if (!isReadable || offset > width || bytes > width - offset) return {};
  const D3D12_RANGE read{static_cast<SIZE_T>(offset), static_cast<SIZE_T>(offset + bytes)}, written{0, 0};
  void* data = nullptr;
  if (FAILED(buffer->Map(0, &read, &data)) || data == nullptr) return {};
  const auto* begin = static_cast<const unsigned char*>(data) + read.Begin;
  std::vector<unsigned char> found(begin, begin + (read.End - read.Begin));
  buffer->Unmap(0, &written);
  return found;
#else
  return static_cast<void>(buffer), static_cast<void>(offset), static_cast<void>(bytes), std::vector<unsigned char>();
#endif
}

#else

inline std::vector<unsigned char> ReadBack(ID3D12Resource*, UINT64, UINT64) { return {}; }
inline std::string DebugName(ID3D12Resource*) { return ""; }
inline void CallOnRelease(ID3D12Resource*, const void*, const std::function<void()>&) {}

#endif

}  // namespace detail
}  // namespace dml2onnx

// The dispatches in order, as a DxDispatch program: https://github.com/microsoft/DirectML, DxDispatch.
//
// A dispatched graph becomes a dispatch of each operator, with buffers for the graph's inner edges: DxDispatch can run
// that, and dml2onnx compiles it as one model. Buffers bound at initialization become bindings of the dispatchable, as
// in DxDispatch.

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

// The recording in files. A lock protects it, and no code of the program is called while it is locked.

namespace dml2onnx {
namespace detail {

inline constexpr int kFormatVersion = 1;
inline constexpr char kProgramName[] = "program";
// A short program is rewritten at every dispatch, a longer one whenever it has grown by an eighth; the changes between
// are written to a journal at once, so that nothing is lost if the program crashes.
inline constexpr std::size_t kShortProgram = 32;
inline constexpr char kProgramJournal[] = "program.jsonl";
inline constexpr std::size_t kMostNotes = 64;

class Recording : public std::enable_shared_from_this<Recording> {
  using Names = std::map<ID3D12Resource*, std::string>;

 public:
  // `isReal`: buffers belong to a real device and can be called.
  static std::shared_ptr<Recording> Open(const RecordingOptions& options, bool isReal) {
    std::string problem;
    std::string elsewhere;
    std::unique_ptr<Folder> folder = Folder::Open(options.folder, problem, elsewhere);
    std::shared_ptr<Recording> recording;
    if (folder) {
      if (!elsewhere.empty()) elsewhere += " to the folder, so that this device records to " + PathText(folder->Path());
      recording.reset(new Recording(options, isReal, std::move(folder)));
      recording->WriteIndex(problem);
    }
    if (!problem.empty() && options.onProblem) options.onProblem(problem);
    if (!elsewhere.empty() && options.onProblem) options.onProblem(elsewhere);
    return problem.empty() ? recording : nullptr;
  }

  ~Recording() {
    Locked([&](std::string& problem) {
      isEnded_ = true;
      if (isStale_) WriteProgram(problem);
      WriteIndex(problem);
    });
  }

  const RecordingOptions& Options() const { return options_; }

  // Reports a problem to the program; must not be called under the lock.
  void Report(const std::string& problem) const {
    if (problem.empty() || !options_.onProblem) return;
    Guarded([&] {
      options_.onProblem(problem);
      return S_OK;
    });
  }

  // Notes that the program did something that is not recorded.
  void Unrecorded(const std::string& what) {
    Locked([&](std::string& problem) {
      if (Note(notes_, what)) WriteIndex(problem);
    });
    Report(what);
  }

  void NoteHidden(const GUID& iid) {
    Unrecorded("the program queried the interface " + GuidText(iid) +
               ", which the real device has and this recorder does not; it got E_NOINTERFACE");
  }

  // Records a new operator. A refused one becomes a graph of its own, which `dml2onnx check` explains.
  void AddOperator(const std::shared_ptr<const OperatorRecord>& op, const std::string& refusal) {
    GraphRecord graph = GraphOfOne(op);
    const std::string stem = Stem(op->description.name);
    if (refusal.empty() && !op->description.Acceptable()) {
      Unrecorded(stem + ": " + op->description.problems.front() + ", which the real device takes");
    }
    Locked([&](std::string& problem) {
      std::string number = std::to_string(++operators_);
      number.insert(0, number.size() < 4 ? 4 - number.size() : 0, '0');
      graph.file = "operators/" + number + "." + FileStem(stem) + ".json";
      folder_->Write(graph.file, GraphText(graph), problem);
      if (refusal.empty()) return;
      graph.kind = GraphKind::kRejected;
      graph.problem = refusal;
      graph.name = names_.New("rejected " + stem);
      List(std::make_shared<GraphRecord>(std::move(graph)), problem);
    });
    Report(refusal.empty() ? "" : stem + ": " + refusal);
  }

  // Records a compiled graph: its text and the bytes of its constants. If a real device accepted it (`taken`), its
  // problems are no errors of the program.
  std::shared_ptr<GraphRecord> AddGraph(GraphRecord graph, const std::vector<std::pair<const void*, UINT64>>& data,
                                        const std::string& wantedName, bool taken) {
    auto record = std::make_shared<GraphRecord>(std::move(graph));
    const std::string hooked = wantedName.empty() && record->kind == GraphKind::kGraph ? HookedName() : wantedName;
    Locked([&](std::string& problem) {
      NameGraph(*record, hooked);
      for (std::size_t index = 0; index < data.size(); ++index) {
        if (data[index].first == nullptr) continue;
        NodeRecord& node = record->nodes[index];
        const std::string stem = node.name.empty() ? "constant" + std::to_string(index) : node.name;
        node.file = NewDataFile(record->name + "." + stem);
        folder_->Write(node.file, data[index].first, static_cast<std::size_t>(data[index].second), problem);
      }
      if (record->problem.empty()) record->problem = FirstProblem(*record);
      if (taken) record->unrecorded.swap(record->problem);
      if (!folder_->Write(record->file, GraphText(*record), problem)) return;
      List(record, problem);
    });
    if (!record->IsWhole()) Report(record->name + ": " + record->problem + record->unrecorded);
    return record;
  }

  // Renames a graph and its file.
  void Rename(const std::shared_ptr<GraphRecord>& graph, const std::string& name) {
    if (name.empty()) return;
    Locked([&](std::string& problem) {
      if (graph->name == name) return;
      const std::string old = graph->file;
      names_.Free(graph->name);
      NameGraph(*graph, name);
      if (!folder_->Write(graph->file, GraphText(*graph), problem)) return;
      Changed(*graph, problem);
      folder_->Remove(old);
      if (program_.Size() != 0) isStale_ = true;  // its dispatchables have the name
    });
  }

  // --- Contents ---

  HRESULT Constant(ID3D12Resource* buffer, const void* data, UINT64 bytes, UINT64 offset) {
    if (buffer == nullptr || data == nullptr || bytes == 0 || offset + bytes < bytes) return E_INVALIDARG;
    Names names = NamesOfNew({{buffer, 0}});
    return Locked([&](std::string& problem) {
      const std::size_t old = program_.ResourceOf(buffer, [&] { return NameOf(buffer, names[buffer]); });
      Fill(buffer, old, data, bytes, offset, false, problem);
    });
  }

  HRESULT Constant(const std::shared_ptr<GraphRecord>& graph, UINT input, const void* data, UINT64 bytes) {
    if (data == nullptr || bytes == 0 || input >= graph->inputCount) return E_INVALIDARG;
    if (graph->GraphInput(input) == nullptr) return S_OK;  // nothing reads it, so it has no name
    return Locked([&](std::string& problem) {
      Contents contents{NewDataFile(graph->name + "." + graph->InputNames()[input]), 0, bytes};
      if (!folder_->Write(contents.file, data, static_cast<std::size_t>(bytes), problem)) return;
      graph->contents[input] = contents;
      Changed(*graph, problem);
    });
  }

  HRESULT NameBuffer(ID3D12Resource* buffer, const std::string& wanted) {
    if (buffer == nullptr || wanted.empty()) return E_INVALIDARG;
    std::string name = wanted;
    const HRESULT result = Locked([&](std::string&) {
      FreeName(buffer);
      for (int number = 2; owners_.count(name) != 0; ++number) name = wanted + "_" + std::to_string(number);
      if (program_.Knows(buffer)) {
        program_.Resource(program_.ResourceOf(buffer, [] { return ""; })).name = name;
        if (program_.Size() != 0) isStale_ = true;
      }
      GiveName(buffer, name);
    });
    if (SUCCEEDED(result) && name != wanted) {
      Report("a buffer is called " + wanted + " already; the one that is given the name again is recorded as " + name);
    }
    return result;
  }

  HRESULT ForgetBuffer(ID3D12Resource* buffer) {
    if (buffer == nullptr) return E_INVALIDARG;
    return Locked([&](std::string&) {
      program_.Forget(buffer);
      FreeName(buffer);
      tracked_.erase(buffer);
    });
  }

  // --- Dispatches ---

  void Initialize(const std::shared_ptr<GraphRecord>& graph, const std::map<UINT, BoundBuffer>& owned,
                  BoundBuffer persistent) {
    std::vector<BoundBuffer> bound;
    for (const auto& item : owned) bound.push_back(item.second);
    const Names names = NamesOfNew(bound);
    std::map<UINT, std::vector<unsigned char>> read;
    for (const auto& item : owned) {
      const TensorFacts* tensor = isReal_ && graph->IsWhole() ? graph->GraphInput(item.first) : nullptr;
      if (tensor != nullptr) read[item.first] = ReadBack(item.second.buffer, item.second.offset, ReachOf(*tensor));
    }
    std::string unread;
    Locked([&](std::string& problem) {
      if (!graph->IsWhole()) return;
      Meet(bound, names);
      for (const auto& item : read) {
        const std::string lost = Keep(owned.at(item.first), *graph->GraphInput(item.first), item.second, problem);
        if (!lost.empty()) unread += (unread.empty() ? "" : ", ") + lost;
      }
      program_.Initialize(graph, owned, persistent);
      Changed(*graph, problem);
    });
    if (!unread.empty()) {
      Report(graph->name + ": the CPU cannot read the weights in " + unread + "; Recorder::Constant takes them");
    }
  }

  void Dispatch(const std::shared_ptr<GraphRecord>& graph, const DispatchBindings& bindings) {
    std::vector<BoundBuffer> bound = bindings.inputs;
    bound.insert(bound.end(), bindings.outputs.begin(), bindings.outputs.end());
    if (!graph->IsWhole()) {
      return Missing(graph->name + " is dispatched, which is not recorded: " + graph->problem + graph->unrecorded);
    }
    const Names names = NamesOfNew(bound);
    Locked([&](std::string& problem) {
      if (isFull_) return;
      if (program_.Size() + graph->nodes.size() > options_.mostDispatches) {
        isFull_ = true;
        problem = "the most dispatches are recorded, and no further ones will be";
        Note(notes_, "the program dispatched more than the " + std::to_string(program_.Size()) + " that are recorded");
        std::string ignored;
        WriteIndex(ignored);
        return;
      }
      Meet(bound, names);
      program_.Dispatch(graph, bindings);
      isStale_ = true;
      if (program_.Size() <= kShortProgram || program_.Size() >= written_ + written_ / 8) {
        WriteProgram(problem);
      } else {
        folder_->Append(kProgramJournal, program_.Since().text, problem);
      }
    });
  }

  // Notes a dispatch that is missing in the program.
  void Missing(const std::string& what) {
    Locked([&](std::string& problem) {
      if (Note(missing_, what)) WriteIndex(problem);
    });
    Report(what);
  }

  HRESULT Flush() {
    return Locked([&](std::string& problem) {
      if (isStale_) WriteProgram(problem);
      WriteIndex(problem);
    });
  }

 private:
  Recording(const RecordingOptions& options, bool isReal, std::unique_ptr<Folder> folder)
      : options_(options), isReal_(isReal), folder_(std::move(folder)) {
    for (const char* name : {"recording", kProgramName}) {
      names_.New(name);
      files_.New(name);
    }
  }

  // Runs `function` under the lock, and then reports its problem.
  template <typename Function>
  HRESULT Locked(Function function) {
    std::string problem;
    const HRESULT result = Guarded([&] {
      const std::lock_guard<std::mutex> lock(mutex_);
      function(problem);
      return S_OK;
    });
    Report(FAILED(result) ? "there is no memory for the recording" : problem);
    return FAILED(result) ? result : problem.empty() ? S_OK : kAccessDenied;
  }

  static bool Note(std::vector<std::string>& notes, const std::string& what) {
    if (notes.size() >= kMostNotes || std::find(notes.begin(), notes.end(), what) != notes.end()) return false;
    notes.push_back(what);
    return true;
  }

  // --- Contents of buffers ---

  // Sets bytes of a buffer in its current resource.
  void Fill(ID3D12Resource* buffer, std::size_t known, const void* data, UINT64 bytes, UINT64 offset, bool isReadBack,
            std::string& problem) {
    const std::size_t index = program_.ForContents(buffer, known, offset, offset + bytes);
    ResourceRecord& resource = program_.Resource(index);
    resource.isReadBack = isReadBack;
    const bool isFirst = resource.file.empty();
    if (isFirst) resource.file = NewDataFile(resource.name);
    const auto size = static_cast<std::size_t>(bytes);
    if (isFirst && !folder_->Write(resource.file, data, offset == 0 ? size : 0, problem)) return;
    if ((!isFirst || offset != 0) && !folder_->Add(resource.file, offset, data, size, problem)) return;
    resource.ranges.push_back({offset, offset + bytes});
    for (const GraphRecord* graph : program_.Capturing(index)) Changed(*graph, problem);
  }

  // Records weights that were read from the buffer of a real device, unless the program has set them. Returns the name
  // of the buffer if its contents are unknown.
  std::string Keep(const BoundBuffer& bound, const TensorFacts& tensor, const std::vector<unsigned char>& data,
                   std::string& problem) {
    const std::size_t known = program_.ResourceOf(bound.buffer, [] { return ""; });
    const ResourceRecord& resource = program_.Resource(known);
    const bool isSet = resource.Overlaps(bound.offset, bound.offset + ReachOf(tensor));
    if (isSet && !resource.isReadBack) return "";
    if (data.empty()) return isSet ? "" : resource.name;
    Fill(bound.buffer, known, data.data(), data.size(), bound.offset, true, problem);
    return "";
  }

  static std::string Stem(const std::string& name) {
    static constexpr std::size_t kPrefix = sizeof "DML_OPERATOR_" - 1;
    return name.size() > kPrefix ? name.substr(kPrefix) : "operator";
  }

  // --- Names ---

  std::string HookedName() {
    UINT number = 0;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      number = ++numbered_;
    }
    const std::string name = options_.graphName ? options_.graphName(number) : "";
    return name.empty() ? "graph" + std::to_string(number) : name;
  }
  // Returns names of new buffers, asking the program without the lock. Starts tracking those of a real device.
  Names NamesOfNew(const std::vector<BoundBuffer>& bound) {
    Names names;
    std::vector<ID3D12Resource*> untracked;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (const BoundBuffer& item : bound) {
        if (item.buffer == nullptr || program_.Knows(item.buffer)) continue;
        names[item.buffer] = "";
        if (isReal_ && tracked_.insert(item.buffer).second) untracked.push_back(item.buffer);
      }
    }
    for (auto& item : names) {
      if (options_.bufferName) item.second = options_.bufferName(item.first);
      if (isReal_ && item.second.empty()) item.second = DebugName(item.first);
    }
    for (ID3D12Resource* buffer : untracked) {
      CallOnRelease(buffer, this, [weak = weak_from_this(), buffer] {
        if (const std::shared_ptr<Recording> recording = weak.lock()) recording->ForgetBuffer(buffer);
      });
    }
    return names;
  }

  void NameGraph(GraphRecord& graph, const std::string& wanted) {
    const bool isOperator = wanted.empty() && graph.kind == GraphKind::kOperator;
    const auto& op = graph.nodes.empty() ? nullptr : graph.nodes.front().op;
    graph.name = names_.New(isOperator ? Stem(op ? op->description.name : "") : wanted);
    graph.file = files_.New(FileStem(graph.name)) + ".json";
  }

  std::string NewDataFile(const std::string& name) { return "data/" + dataFiles_.New(FileStem(name)) + ".bin"; }

  std::string NameOf(ID3D12Resource* buffer, const std::string& hooked) {
    const auto found = bufferNames_.find(buffer);
    if (found != bufferNames_.end()) return found->second;
    const std::string name = hooked.empty() ? "buffer" + std::to_string(++buffers_) : hooked;
    GiveName(buffer, name);
    return name;
  }

  void GiveName(ID3D12Resource* buffer, const std::string& name) {
    bufferNames_[buffer] = name;
    owners_.emplace(name, buffer);
  }
  void FreeName(ID3D12Resource* buffer) {
    const auto named = bufferNames_.find(buffer);
    if (named == bufferNames_.end()) return;
    const auto owner = owners_.find(named->second);
    if (owner != owners_.end() && owner->second == buffer) owners_.erase(owner);
    bufferNames_.erase(named);
  }

  // Creates named resources for buffers.
  void Meet(const std::vector<BoundBuffer>& bound, const Names& names) {
    for (const BoundBuffer& item : bound) {
      if (item.buffer == nullptr) continue;
      const auto found = names.find(item.buffer);
      const std::string hooked = found == names.end() ? "" : found->second;
      program_.ResourceOf(item.buffer, [&] { return NameOf(item.buffer, hooked); });
    }
  }

  // --- Files ---

  void WriteProgram(std::string& problem) {
    ProgramText made = program_.Text();
    if (!folder_->Write(std::string(kProgramName) + ".json", made.text, problem)) return;
    const bool isNew = written_ == 0;
    written_ = program_.Size();
    isStale_ = false;
    ++changes_;
    const bool isListed = !isNew && made.withoutContents == withoutContents_ && made.constants == constants_;
    withoutContents_.swap(made.withoutContents);
    constants_.swap(made.constants);
    if (!isListed) WriteIndex(problem);
    folder_->Remove(kProgramJournal);  // its lines are obsolete: the file has their commands
  }

  // --- The index ---

  void List(const std::shared_ptr<GraphRecord>& graph, std::string& problem) {
    graph->place = graphs_.size();
    graphs_.push_back(graph);
    Changed(*graph, problem);
  }

  // The index of a small recording is rewritten at every change, that of a larger one whenever it has grown by a
  // sixteenth; the changes between are written to a journal, which the index names, so that no older one is read.
  void Changed(const GraphRecord& graph, std::string& problem) {
    if (++changes_ * 16 > graphs_.size()) return WriteIndex(problem);
    JsonWriter json;
    json.BeginObject().Key("number").Unsigned(graph.place).Key("graph");
    WriteGraph(json, graph);
    folder_->Append(IndexJournal(), json.EndObject().Take(), problem);
  }

  std::string IndexJournal() const { return "recording." + std::to_string(journal_) + kJournalSuffix; }

  void WriteIndex(std::string& problem) {
    const std::string old = IndexJournal();
    ++journal_;
    JsonWriter json;
    json.BeginObject(Layout::kLines).Key("dml2onnx_recording").Integer(kFormatVersion);
    json.Key("ended").Bool(isEnded_);
    if (!isEnded_) json.Key("journal").String(IndexJournal());
    std::vector<std::string> notes = notes_;
    if (written_ == 0) notes.insert(notes.end(), missing_.begin(), missing_.end());
    if (!notes.empty()) WriteNames(json.Key("unrecorded"), notes);
    json.Key("graphs").BeginArray(Layout::kLines);
    for (const auto& graph : graphs_) WriteGraph(json, *graph);
    if (written_ != 0) {
      json.BeginObject().Key("name").String(kProgramName).Key("kind").String("program");
      json.Key("nodes").Unsigned(written_).Key("file").String(std::string(kProgramName) + ".json");
      if (!isEnded_) json.Key("journal").String(kProgramJournal);
      WriteNames(json.Key("constants"), constants_);
      WriteNames(json.Key("without_contents"), withoutContents_);
      if (!missing_.empty()) WriteNames(json.Key("missing"), missing_);
      json.EndObject();
    }
    json.EndArray().EndObject();
    if (!folder_->Write(kIndexName, json.Take() + "\n", problem)) return;
    changes_ = 0;
    folder_->Remove(old);
  }

  void WriteGraph(JsonWriter& json, const GraphRecord& graph) const {
    static constexpr const char* kKinds[] = {"graph", "operator", "rejected"};
    json.BeginObject().Key("name").String(graph.name);
    json.Key("kind").String(kKinds[static_cast<int>(graph.kind)]).Key("nodes").Unsigned(graph.nodes.size());
    json.Key("file").String(graph.file);
    if (!graph.problem.empty()) json.Key("problem").String(graph.problem);
    if (!graph.unrecorded.empty()) json.Key("unrecorded").String(graph.unrecorded);
    std::map<UINT, Contents> contents = graph.contents;
    for (const auto& item : program_.Captured(graph)) contents.insert(item);
    if (!contents.empty()) WriteContents(json, graph, contents);
    json.EndObject();
  }

  static void WriteContents(JsonWriter& json, const GraphRecord& graph, const std::map<UINT, Contents>& contents) {
    json.Key("contents").BeginObject();
    std::map<UINT, std::string> names = graph.InputNames();
    for (const auto& item : contents) {
      json.Key(names[item.first]).BeginObject().Key("file").String(item.second.file);
      json.Key("offset").Unsigned(item.second.offset).Key("length").Unsigned(item.second.bytes).EndObject();
    }
    json.EndObject();
  }

  const RecordingOptions options_;
  const bool isReal_;
  const std::unique_ptr<Folder> folder_;
  std::mutex mutex_;
  UniqueNames names_, files_, dataFiles_;
  std::vector<std::shared_ptr<GraphRecord>> graphs_;
  Program program_;
  Names bufferNames_;
  std::map<std::string, ID3D12Resource*> owners_;  // the first buffer with each name
  std::set<ID3D12Resource*> tracked_;
  std::vector<std::string> constants_, withoutContents_;  // of the program on disk
  std::vector<std::string> notes_, missing_;  // unrecorded calls, and missing dispatches
  UINT operators_ = 0, numbered_ = 0, buffers_ = 0, journal_ = 0;
  std::size_t written_ = 0, changes_ = 0;
  bool isStale_ = false, isFull_ = false, isEnded_ = false;
};

}  // namespace detail
}  // namespace dml2onnx

// The objects of a device. Each wraps a real one, or replaces it.

namespace dml2onnx {
namespace detail {

// The device of an object.
struct Owner {
  Ref<IDMLDevice> device;  // ours
  std::shared_ptr<Recording> recording;
};

template <typename Interface, const GUID&... kIids>
class Child : public Object<Interface, kIidDeviceChild, kIids...> {
 public:
  Child(Owner owner, Interface* real)
      : Object<Interface, kIidDeviceChild, kIids...>(real), owner_(std::move(owner)), real_(real) {}

  HRESULT STDMETHODCALLTYPE GetDevice(REFIID riid, void** ppv) noexcept override {
    return owner_.device->QueryInterface(riid, ppv);
  }

  Interface* Real() const { return real_.Get(); }

 protected:
  Recording& Record() const { return *owner_.recording; }
  void Hidden(const GUID& iid) override { Record().NoteHidden(iid); }

 private:
  const Owner owner_;
  const Ref<Interface> real_;
};

class OperatorObject final : public Child<IDMLOperator, kIidOperator, kIidOwnOperator> {
 public:
  static constexpr const GUID& kIid = kIidOwnOperator;

  OperatorObject(Owner owner, IDMLOperator* real, std::shared_ptr<const OperatorRecord> record)
      : Child(std::move(owner), real), record_(std::move(record)) {}

  std::shared_ptr<const OperatorRecord> Operator() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return record_;
  }

 protected:
  void Named(const std::string& name) override {
    auto renamed = std::make_shared<OperatorRecord>(*Operator());
    renamed->name = name;
    const std::lock_guard<std::mutex> lock(mutex_);
    record_ = std::move(renamed);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const OperatorRecord> record_;
};

// Returns plausible binding properties: the sizes of intermediate and owned tensors, with the alignment that all
// devices have.
inline DML_BINDING_PROPERTIES PropertiesOf(const GraphRecord& graph) {
  UINT64 temporary = 0, persistent = 0;
  for (const EdgeRecord& edge : graph.intermediates) {
    const TensorFacts* tensor = graph.OutputOf(edge.ends[0], edge.ends[1]);
    if (tensor != nullptr) temporary += RoundUp(tensor->bytes, DML_TEMPORARY_BUFFER_ALIGNMENT);
  }
  for (UINT index = 0; index < graph.inputPoints.size() && index < graph.inputCount; ++index) {
    const TensorFacts* tensor = graph.GraphInput(index);
    if (tensor != nullptr && tensor->ownedByDml) persistent += RoundUp(tensor->bytes, DML_PERSISTENT_BUFFER_ALIGNMENT);
  }
  return {graph.inputCount + graph.outputCount + 2, temporary, persistent};
}

class CompiledObject final
    : public Child<IDMLCompiledOperator, kIidPageable, kIidDispatchable, kIidCompiled, kIidOwnCompiled> {
 public:
  static constexpr const GUID& kIid = kIidOwnCompiled;

  CompiledObject(Owner owner, IDMLCompiledOperator* real, std::shared_ptr<GraphRecord> graph)
      : Child(std::move(owner), real), graph_(std::move(graph)), properties_(PropertiesOf(*graph_)) {}

  DML_BINDING_PROPERTIES STDMETHODCALLTYPE GetBindingProperties() noexcept override {
    return Real() != nullptr ? Real()->GetBindingProperties() : properties_;
  }

  const std::shared_ptr<GraphRecord>& Graph() const { return graph_; }
  const DML_BINDING_PROPERTIES& Properties() const { return properties_; }

 protected:
  void Named(const std::string& name) override { Record().Rename(graph_, name); }

 private:
  const std::shared_ptr<GraphRecord> graph_;
  const DML_BINDING_PROPERTIES properties_;
};

using CompiledOperators = std::vector<Ref<CompiledObject>>;

// The compiled operators that a program passes, and their real ones. Those of other devices are passed on, and null in
// the first list.
struct NamedOperators {
  CompiledOperators own;
  std::vector<IDMLCompiledOperator*> real;
  std::string problem;

  // Returns the array to pass to the real device.
  IDMLCompiledOperator* const* RealOf(IDMLCompiledOperator* const* given) const {
    return given == nullptr ? nullptr : real.data();
  }
};

inline NamedOperators NamedBy(UINT count, IDMLCompiledOperator* const* operators) {
  NamedOperators named;
  if (operators == nullptr && count != 0) named.problem = "the operators to be initialized are null";
  for (UINT index = 0; operators != nullptr && index < count; ++index) {
    if (operators[index] == nullptr) named.problem = "operator " + std::to_string(index) + " to be initialized is null";
    named.own.push_back(Own<CompiledObject>(operators[index]));
    const Ref<CompiledObject>& own = named.own.back();
    named.real.push_back(own ? own->Real() : operators[index]);
  }
  return named;
}

class InitializerObject final
    : public Child<IDMLOperatorInitializer, kIidPageable, kIidDispatchable, kIidInitializer, kIidOwnInitializer> {
 public:
  static constexpr const GUID& kIid = kIidOwnInitializer;

  InitializerObject(Owner owner, IDMLOperatorInitializer* real, CompiledOperators operators)
      : Child(std::move(owner), real), operators_(std::move(operators)) {}

  DML_BINDING_PROPERTIES STDMETHODCALLTYPE GetBindingProperties() noexcept override {
    if (Real() != nullptr) return Real()->GetBindingProperties();
    UINT descriptors = 1;
    for (const Ref<CompiledObject>& item : Operators()) {
      if (item) descriptors += item->Properties().RequiredDescriptorCount;
    }
    return {descriptors, 0, 0};
  }

  HRESULT STDMETHODCALLTYPE Reset(UINT operatorCount, IDMLCompiledOperator* const* operators) noexcept override {
    return Guarded([&] {
      NamedOperators named = NamedBy(operatorCount, operators);
      if (!named.problem.empty() && Real() == nullptr) {
        Record().Report(named.problem);
        return E_INVALIDARG;
      }
      const HRESULT result = Real() == nullptr ? S_OK : Real()->Reset(operatorCount, named.RealOf(operators));
      if (FAILED(result)) return result;
      const std::lock_guard<std::mutex> lock(mutex_);
      operators_.swap(named.own);
      return result;
    });
  }

  CompiledOperators Operators() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return operators_;
  }

 private:
  mutable std::mutex mutex_;
  CompiledOperators operators_;
};

// A dispatchable that a program passes: our object and the real one.
struct NamedDispatchable {
  explicit NamedDispatchable(IDMLDispatchable* dispatchable)
      : compiled(Own<CompiledObject>(dispatchable)),
        initializer(Own<InitializerObject>(dispatchable)),
        real(dispatchable) {
    if (compiled) real = compiled->Real();
    if (initializer) real = initializer->Real();
  }

  Ref<CompiledObject> compiled;
  Ref<InitializerObject> initializer;
  IDMLDispatchable* real;
};

// A snapshot of the bindings of a table: each has one element, except arrays.
struct BindingsNow {
  std::vector<std::vector<BoundBuffer>> inputs, outputs;
  BoundBuffer persistent;
};

class BindingTableObject final : public Child<IDMLBindingTable, kIidBindingTable, kIidOwnBindingTable> {
 public:
  static constexpr const GUID& kIid = kIidOwnBindingTable;

  BindingTableObject(Owner owner, IDMLBindingTable* real) : Child(std::move(owner), real) {}

  void STDMETHODCALLTYPE BindInputs(UINT bindingCount, const DML_BINDING_DESC* bindings) noexcept override {
    if (Real() != nullptr) Real()->BindInputs(bindingCount, bindings);
    Set([&](BindingsNow& now) { now.inputs = Elements(bindingCount, bindings); });
  }
  void STDMETHODCALLTYPE BindOutputs(UINT bindingCount, const DML_BINDING_DESC* bindings) noexcept override {
    if (Real() != nullptr) Real()->BindOutputs(bindingCount, bindings);
    Set([&](BindingsNow& now) { now.outputs = Elements(bindingCount, bindings); });
  }
  void STDMETHODCALLTYPE BindTemporaryResource(const DML_BINDING_DESC* binding) noexcept override {
    if (Real() != nullptr) Real()->BindTemporaryResource(binding);  // its contents do not outlive a dispatch
  }
  void STDMETHODCALLTYPE BindPersistentResource(const DML_BINDING_DESC* binding) noexcept override {
    if (Real() != nullptr) Real()->BindPersistentResource(binding);
    Set([&](BindingsNow& now) {
      const auto elements = Elements(binding == nullptr ? 0 : 1, binding);
      now.persistent = elements.empty() || elements.front().empty() ? BoundBuffer() : elements.front().front();
    });
  }
  HRESULT STDMETHODCALLTYPE Reset(const DML_BINDING_TABLE_DESC* desc) noexcept override {
    return Guarded([&] {
      HRESULT result = S_OK;
      if (Real() != nullptr) {
        DML_BINDING_TABLE_DESC unwrapped{};
        if (desc != nullptr) {
          unwrapped = *desc;
          unwrapped.Dispatchable = NamedDispatchable(desc->Dispatchable).real;
        }
        result = Real()->Reset(desc == nullptr ? nullptr : &unwrapped);
      } else if (desc != nullptr && desc->Dispatchable == nullptr) {
        Record().Report("the dispatchable of a binding table is null");
        result = E_INVALIDARG;
      }
      if (SUCCEEDED(result)) Set([](BindingsNow& now) { now = BindingsNow(); });
      return result;
    });
  }

  BindingsNow Now() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return now_;
  }

 private:
  template <typename Function>
  void Set(Function function) {
    Guarded([&] {
      const std::lock_guard<std::mutex> lock(mutex_);
      function(now_);
      return S_OK;
    });
  }

  static std::vector<std::vector<BoundBuffer>> Elements(UINT count, const DML_BINDING_DESC* bindings) {
    std::vector<std::vector<BoundBuffer>> all;
    for (UINT index = 0; bindings != nullptr && index < count; ++index) {
      const DML_BINDING_DESC& binding = bindings[index];
      all.emplace_back();
      if (binding.Desc == nullptr) continue;
      if (binding.Type == DML_BINDING_TYPE_BUFFER) {
        all.back().push_back(Bound(*static_cast<const DML_BUFFER_BINDING*>(binding.Desc)));
      } else if (binding.Type == DML_BINDING_TYPE_BUFFER_ARRAY) {
        const auto& array = *static_cast<const DML_BUFFER_ARRAY_BINDING*>(binding.Desc);
        for (UINT item = 0; array.Bindings != nullptr && item < array.BindingCount; ++item) {
          all.back().push_back(Bound(array.Bindings[item]));
        }
      }
    }
    return all;
  }
  static BoundBuffer Bound(const DML_BUFFER_BINDING& binding) { return {binding.Buffer, binding.Offset}; }

  mutable std::mutex mutex_;
  BindingsNow now_;
};

// The bindings of the inputs or outputs of a graph, flattened.
inline std::vector<BoundBuffer> Flattened(const std::vector<std::vector<BoundBuffer>>& bound,
                                          const std::vector<std::vector<int>>& points, UINT count) {
  std::vector<BoundBuffer> flat(std::min<UINT>(count, kMostElements));
  for (std::size_t point = 0; point < points.size() && point < bound.size(); ++point) {
    for (std::size_t item = 0; item < points[point].size() && item < bound[point].size(); ++item) {
      const int index = points[point][item];
      if (index >= 0 && static_cast<std::size_t>(index) < flat.size()) {
        flat[static_cast<std::size_t>(index)] = bound[point][item];
      }
    }
  }
  return flat;
}

class CommandRecorderObject final : public Child<IDMLCommandRecorder, kIidRecorder> {
 public:
  CommandRecorderObject(Owner owner, IDMLCommandRecorder* real) : Child(std::move(owner), real) {}

  void STDMETHODCALLTYPE RecordDispatch(ID3D12CommandList* commandList, IDMLDispatchable* dispatchable,
                                        IDMLBindingTable* bindings) noexcept override {
    Guarded([&] {
      const NamedDispatchable named(dispatchable);
      const Ref<BindingTableObject> table = Own<BindingTableObject>(bindings);
      if (Real() != nullptr) Real()->RecordDispatch(commandList, named.real, table ? table->Real() : bindings);
      if (table && named.compiled) {
        Dispatch(*named.compiled, table->Now());
      } else if (table && named.initializer) {
        Initialize(*named.initializer, table->Now());
      } else {
        Record().Missing("a dispatch is not recorded: its dispatchable or binding table is null, or not of this device");
      }
      return S_OK;
    });
  }

 private:
  void Dispatch(const CompiledObject& compiled, const BindingsNow& now) {
    const GraphRecord& graph = *compiled.Graph();
    DispatchBindings bindings;
    bindings.inputs = Flattened(now.inputs, graph.inputPoints, graph.inputCount);
    bindings.outputs = Flattened(now.outputs, graph.outputPoints, graph.outputCount);
    bindings.persistent = now.persistent;
    Record().Dispatch(compiled.Graph(), bindings);
  }

  // An initializer binds one array per operator, with an element for each input.
  void Initialize(const InitializerObject& initializer, const BindingsNow& now) {
    const CompiledOperators operators = initializer.Operators();
    for (std::size_t index = 0; index < operators.size(); ++index) {
      if (!operators[index]) continue;  // null, or an object of the real device
      const GraphRecord& graph = *operators[index]->Graph();
      std::map<UINT, BoundBuffer> owned;
      std::size_t element = 0;
      for (const std::vector<int>& point : graph.inputPoints) {
        for (const int input : point) {
          if (index >= now.inputs.size() || element >= now.inputs[index].size()) break;
          const BoundBuffer bound = now.inputs[index][element++];
          if (input >= 0 && bound.buffer != nullptr) owned[static_cast<UINT>(input)] = bound;
        }
      }
      const bool keeps = index < now.outputs.size() && !now.outputs[index].empty();
      Record().Initialize(operators[index]->Graph(), owned, keeps ? now.outputs[index].front() : BoundBuffer());
    }
  }
};

}  // namespace detail
}  // namespace dml2onnx

// The recording device.

namespace dml2onnx {
namespace detail {

#if DML2ONNX_TARGET_VERSION >= 0x2100
using DeviceInterface = IDMLDevice1;
#else
using DeviceInterface = IDMLDevice;
#endif

class DeviceObject;

// Interfaces of the device that do not derive from IDMLDevice; they share its reference count and identity.
class RecorderInterface final : public Recorder {
 public:
  explicit RecorderInterface(DeviceObject& device) : device_(device) {}
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** ppv) noexcept override;
  ULONG STDMETHODCALLTYPE AddRef() noexcept override;
  ULONG STDMETHODCALLTYPE Release() noexcept override;
  HRESULT STDMETHODCALLTYPE Constant(ID3D12Resource* buffer, const void* data, UINT64 bytes,
                                     UINT64 offset) noexcept override;
  HRESULT STDMETHODCALLTYPE ConstantInput(IDMLCompiledOperator* compiled, UINT input, const void* data,
                                          UINT64 bytes) noexcept override;
  HRESULT STDMETHODCALLTYPE NameBuffer(ID3D12Resource* buffer, const wchar_t* name) noexcept override;
  HRESULT STDMETHODCALLTYPE ForgetBuffer(ID3D12Resource* buffer) noexcept override;
  HRESULT STDMETHODCALLTYPE Flush() noexcept override;

 private:
  DeviceObject& device_;
};

class DebugInterface final : public IDMLDebugDevice {
 public:
  explicit DebugInterface(DeviceObject& device) : device_(device) {}
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** ppv) noexcept override;
  ULONG STDMETHODCALLTYPE AddRef() noexcept override;
  ULONG STDMETHODCALLTYPE Release() noexcept override;
  void STDMETHODCALLTYPE SetMuteDebugOutput(BOOL mute) noexcept override;

 private:
  DeviceObject& device_;
};

// Returns the lowest feature level with a data type; 0 for unknown types.
inline UINT LevelOf(std::int32_t dataType) {
  switch (BitsOf(dataType)) {
    case 0:
      return 0;
    case 4:
      return 0x6300;
    case 64:
      return 0x3000;
    default:
      return 0x1000;
  }
}

class DeviceObject final : public Object<DeviceInterface, kIidDevice> {
 public:
  DeviceObject(IDMLDevice* real, std::shared_ptr<Recording> recording)
      : Object(real),
        recording_(std::move(recording)),
        parent_(recording_->Options().parentDevice),
        real_(real),
        real1_(As<DeviceInterface>(real, kIidNewest)),
        realDebug_(As<IDMLDebugDevice>(real, kIidDebugDevice)) {}

  Recording& Record() const { return *recording_; }
  IDMLDebugDevice* RealDebug() const { return realDebug_.Get(); }

  HRESULT STDMETHODCALLTYPE CheckFeatureSupport(DML_FEATURE feature, UINT featureQueryDataSize,
                                                const void* featureQueryData, UINT featureSupportDataSize,
                                                void* featureSupportData) noexcept override {
    if (real_) {
      return real_->CheckFeatureSupport(feature, featureQueryDataSize, featureQueryData, featureSupportDataSize,
                                        featureSupportData);
    }
    return Guarded([&] {
      if (feature == DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT) {
        using Query = DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT;
        using Support = DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT;
        if (featureQueryData == nullptr || featureQueryDataSize != sizeof(Query) || featureSupportData == nullptr ||
            featureSupportDataSize != sizeof(Support)) {
          return E_INVALIDARG;
        }
        const UINT since = LevelOf(ReadAt<std::int32_t>(featureQueryData, offsetof(Query, DataType)));
        static_cast<Support*>(featureSupportData)->IsSupported = since != 0 && since <= Level() ? TRUE : FALSE;
        return S_OK;
      }
#if DML2ONNX_TARGET_VERSION >= 0x2000
      if (feature == DML_FEATURE_FEATURE_LEVELS) {
        using Query = DML_FEATURE_QUERY_FEATURE_LEVELS;
        using Support = DML_FEATURE_DATA_FEATURE_LEVELS;
        if (featureQueryData == nullptr || featureQueryDataSize != sizeof(Query) || featureSupportData == nullptr ||
            featureSupportDataSize != sizeof(Support)) {
          return E_INVALIDARG;
        }
        return HighestLevel(*static_cast<const Query*>(featureQueryData), *static_cast<Support*>(featureSupportData));
      }
#endif
      return kUnsupported;
    });
  }

  HRESULT STDMETHODCALLTYPE CreateOperator(const DML_OPERATOR_DESC* desc, REFIID riid, void** ppv) noexcept override {
    if (ppv != nullptr) *ppv = nullptr;
    return Guarded([&] {
      auto record = std::make_shared<OperatorRecord>();
      record->description = Describe(desc);
      std::string refusal = FirstOf(record->description.problems);
      HRESULT result = refusal.empty() ? S_OK : E_INVALIDARG;
      Ref<IDMLOperator> real;
      if (real_) {  // decides, since it may support more than this header
        result = real_->CreateOperator(desc, kIidOperator, Place(real, ppv));
        refusal = FAILED(result) ? Answered(refusal, result) : "";
      }
      recording_->AddOperator(record, refusal);
      if (IsNone(result, real, ppv)) return Without(result);
      return ReturnObject(Make<OperatorObject>(real.Get(), std::move(record)), result, riid, ppv);
    });
  }

  HRESULT STDMETHODCALLTYPE CompileOperator(IDMLOperator* op, DML_EXECUTION_FLAGS flags, REFIID riid,
                                            void** ppv) noexcept override {
    if (ppv != nullptr) *ppv = nullptr;
    return Guarded([&] {
      const Ref<OperatorObject> own = Own<OperatorObject>(op);
      const std::string foreign = op == nullptr ? "the operator to be compiled is null"
                                                : "the operator to be compiled was made by another device";
      if (!own && !real_) {
        recording_->Report(foreign);
        return E_INVALIDARG;
      }
      Ref<IDMLCompiledOperator> real;
      HRESULT result = S_OK;
      if (real_) {
        result = real_->CompileOperator(own ? own->Real() : op, flags, kIidCompiled,
                                        Place(real, ppv));
        if (FAILED(result)) {
          recording_->Report("the real device does not compile an operator: " + HexText(result));
          return result;
        }
      }
      const auto record = own ? own->Operator() : std::make_shared<const OperatorRecord>();
      GraphRecord compiled = GraphOfOne(record);
      if (!own) compiled.problem = foreign;
      auto graph = recording_->AddGraph(std::move(compiled), {}, record->name, static_cast<bool>(real_));
      if (IsNone(result, real, ppv)) return Without(result);
      return ReturnObject(Make<CompiledObject>(real.Get(), std::move(graph)), result, riid, ppv);
    });
  }

  HRESULT STDMETHODCALLTYPE CreateOperatorInitializer(UINT operatorCount, IDMLCompiledOperator* const* operators,
                                                      REFIID riid, void** ppv) noexcept override {
    if (ppv == nullptr && !real_) return E_POINTER;
    if (ppv != nullptr) *ppv = nullptr;
    return Guarded([&] {
      NamedOperators named = NamedBy(operatorCount, operators);
      if (!named.problem.empty()) {
        recording_->Report(named.problem);
        if (!real_) return E_INVALIDARG;
      }
      Ref<IDMLOperatorInitializer> real;
      const HRESULT result = real_ ? real_->CreateOperatorInitializer(operatorCount, named.RealOf(operators),
                                                                      kIidInitializer, Place(real, ppv))
                                   : S_OK;
      if (IsNone(result, real, ppv)) return result;
      return ReturnObject(Make<InitializerObject>(real.Get(), std::move(named.own)), result, riid, ppv);
    });
  }

  HRESULT STDMETHODCALLTYPE CreateCommandRecorder(REFIID riid, void** ppv) noexcept override {
    if (ppv == nullptr && !real_) return E_POINTER;
    if (ppv != nullptr) *ppv = nullptr;
    return Guarded([&] {
      Ref<IDMLCommandRecorder> real;
      const HRESULT result = real_ ? real_->CreateCommandRecorder(kIidRecorder, Place(real, ppv)) : S_OK;
      if (IsNone(result, real, ppv)) return result;
      return ReturnObject(Make<CommandRecorderObject>(real.Get()), result, riid, ppv);
    });
  }

  HRESULT STDMETHODCALLTYPE CreateBindingTable(const DML_BINDING_TABLE_DESC* desc, REFIID riid,
                                               void** ppv) noexcept override {
    if (ppv == nullptr && !real_) return E_POINTER;
    if (ppv != nullptr) *ppv = nullptr;
    return Guarded([&] {
      Ref<IDMLBindingTable> real;
      HRESULT result = S_OK;
      if (real_) {
        DML_BINDING_TABLE_DESC unwrapped{};
        if (desc != nullptr) {
          unwrapped = *desc;
          unwrapped.Dispatchable = NamedDispatchable(desc->Dispatchable).real;
        }
        result = real_->CreateBindingTable(desc == nullptr ? nullptr : &unwrapped, kIidBindingTable, Place(real, ppv));
        if (IsNone(result, real, ppv)) return result;
      } else if (desc != nullptr && desc->Dispatchable == nullptr) {
        recording_->Report("the dispatchable of a binding table is null");
        return E_INVALIDARG;
      }
      return ReturnObject(Make<BindingTableObject>(real.Get()), result, riid, ppv);
    });
  }

  HRESULT STDMETHODCALLTYPE Evict(UINT count, IDMLPageable* const* ppObjects) noexcept override {
    return Move(count, ppObjects, &IDMLDevice::Evict);
  }

  HRESULT STDMETHODCALLTYPE MakeResident(UINT count, IDMLPageable* const* ppObjects) noexcept override {
    return Move(count, ppObjects, &IDMLDevice::MakeResident);
  }

  HRESULT STDMETHODCALLTYPE GetDeviceRemovedReason() noexcept override {
    return real_ ? real_->GetDeviceRemovedReason() : S_OK;
  }

  HRESULT STDMETHODCALLTYPE GetParentDevice(REFIID riid, void** ppv) noexcept override {
    if (real_) return real_->GetParentDevice(riid, ppv);
    if (ppv == nullptr) return E_POINTER;
    *ppv = nullptr;
    return parent_ ? parent_->QueryInterface(riid, ppv) : E_NOINTERFACE;
  }

#if DML2ONNX_TARGET_VERSION >= 0x2100
  HRESULT STDMETHODCALLTYPE CompileGraph(const DML_GRAPH_DESC* desc, DML_EXECUTION_FLAGS flags, REFIID riid,
                                         void** ppv) noexcept override {
    if (ppv != nullptr) *ppv = nullptr;
    return Guarded([&] {
      GraphParts parts = GraphReader::Read(desc, [](IDMLOperator* op) {
        const Ref<OperatorObject> own = Own<OperatorObject>(op);
        return own ? own->Operator() : nullptr;
      });
      parts.graph.problem = parts.problem;
      Ref<IDMLCompiledOperator> real;
      HRESULT result = S_OK;
      if (real1_) {
        result = CompileReal(desc, flags, Place(real, ppv));
        if (FAILED(result)) parts.graph.problem = Answered(parts.problem, result);
      }
      const bool taken = real1_ && SUCCEEDED(result);
      auto graph = recording_->AddGraph(std::move(parts.graph), parts.data, "", taken);
      if (FAILED(result)) return result;
      if (!graph->problem.empty()) return E_INVALIDARG;
      if (IsNone(result, real, ppv)) return Without(result);
      return ReturnObject(Make<CompiledObject>(real.Get(), std::move(graph)), result, riid, ppv);
    });
  }
#endif

 protected:
  HRESULT QueryOther(REFIID riid, void** ppv) override {
#if DML2ONNX_TARGET_VERSION >= 0x2100
    if (Same(riid, kIidDevice1) && (!real_ || real1_)) return Found(static_cast<DeviceInterface*>(this), ppv);
#endif
    if (Same(riid, kIidOwnRecorder)) return Found(static_cast<Recorder*>(&recorderInterface_), ppv);
    if (Same(riid, kIidDebugDevice) && (!real_ || realDebug_)) {
      return Found(static_cast<IDMLDebugDevice*>(&debugInterface_), ppv);
    }
    return Object::QueryOther(riid, ppv);
  }
  void Hidden(const GUID& iid) override { recording_->NoteHidden(iid); }

 private:
#if DML2ONNX_TARGET_VERSION >= 0x2100
  static constexpr const GUID& kIidNewest = kIidDevice1;
#else
  static constexpr const GUID& kIidNewest = kIidDevice;
#endif

  UINT Level() const { return recording_->Options().featureLevel; }

  template <typename Interface>
  static HRESULT Found(Interface* object, void** ppv) {
    object->AddRef();
    *ppv = object;
    return S_OK;
  }

  template <typename T, typename... Arguments>
  Ref<T> Make(Arguments&&... arguments) {
    return Ref<T>::Adopt(new T(Owner{Ref<IDMLDevice>(this), recording_}, std::forward<Arguments>(arguments)...));
  }

  static std::string FirstOf(const std::vector<std::string>& problems) {
    return problems.empty() ? "" : problems.front();
  }

  // Returns whether a call creates no object, because the real device created none.
  template <typename T>
  bool IsNone(HRESULT result, const Ref<T>& real, void** ppv) const {
    return FAILED(result) || ppv == nullptr || (real_ && !real);
  }

  // Returns the result for a program that only tests whether an object could be created.
  HRESULT Without(HRESULT result) const { return FAILED(result) || real_ ? result : S_FALSE; }

  // Returns the address for the object of the real device; null if the program passes null.
  template <typename T>
  static void** Place(Ref<T>& real, void** ppv) {
    return ppv == nullptr ? nullptr : real.Out();
  }

  static std::string Answered(const std::string& problem, HRESULT result) {
    return (problem.empty() ? "" : problem + "; ") + ("the real device answers " + HexText(result));
  }

  static std::string HexText(HRESULT result) {
    char text[16];
    std::snprintf(text, sizeof text, "%08X", static_cast<unsigned>(result));
    return text;
  }

#if DML2ONNX_TARGET_VERSION >= 0x2000
  HRESULT HighestLevel(const DML_FEATURE_QUERY_FEATURE_LEVELS& query, DML_FEATURE_DATA_FEATURE_LEVELS& support) const {
    if (query.RequestedFeatureLevelCount == 0 || query.RequestedFeatureLevels == nullptr) return E_INVALIDARG;
    UINT highest = 0;
    for (UINT index = 0; index < query.RequestedFeatureLevelCount; ++index) {
      const auto level = static_cast<UINT>(query.RequestedFeatureLevels[index]);
      if (level <= Level()) highest = std::max(highest, level);
    }
    if (highest == 0) return kUnsupported;
    support.MaxSupportedFeatureLevel = static_cast<DML_FEATURE_LEVEL>(highest);
    return S_OK;
  }
#endif

#if DML2ONNX_TARGET_VERSION >= 0x2100
  // Compiles the graph with the real device's operators instead of ours.
  HRESULT CompileReal(const DML_GRAPH_DESC* given, DML_EXECUTION_FLAGS flags, void** ppv) {
    if (given == nullptr || given->Nodes == nullptr) return real1_->CompileGraph(given, flags, kIidCompiled, ppv);
    DML_GRAPH_DESC desc = *given;
    std::vector<DML_GRAPH_NODE_DESC> nodes(desc.Nodes, desc.Nodes + desc.NodeCount);
    std::vector<DML_OPERATOR_GRAPH_NODE_DESC> descs;
    descs.reserve(nodes.size());  // nodes point into it
    for (DML_GRAPH_NODE_DESC& node : nodes) {
      const auto type = ReadAt<std::int32_t>(&node, offsetof(DML_GRAPH_NODE_DESC, Type));
      if (type != DML_GRAPH_NODE_TYPE_OPERATOR || node.Desc == nullptr) continue;
      descs.push_back(*static_cast<const DML_OPERATOR_GRAPH_NODE_DESC*>(node.Desc));
      if (const Ref<OperatorObject> own = Own<OperatorObject>(descs.back().Operator)) {
        descs.back().Operator = own->Real();
      }
      node.Desc = &descs.back();
    }
    desc.Nodes = nodes.data();
    return real1_->CompileGraph(&desc, flags, kIidCompiled, ppv);
  }
#endif

  using MoveMethod = HRESULT (STDMETHODCALLTYPE IDMLDevice::*)(UINT, IDMLPageable* const*);

  HRESULT Move(UINT count, IDMLPageable* const* objects, MoveMethod method) noexcept {
    return Guarded([&] {
      if (real_ && objects == nullptr) return (real_.Get()->*method)(count, objects);
      if (objects == nullptr && count != 0) return E_INVALIDARG;
      std::vector<IDMLPageable*> real;
      for (UINT index = 0; index < count; ++index) {
        if (objects[index] == nullptr && !real_) return E_INVALIDARG;
        const Ref<IDMLDispatchable> dispatchable = As<IDMLDispatchable>(objects[index], kIidDispatchable);
        const IDMLPageable* own = dispatchable ? NamedDispatchable(dispatchable.Get()).real : nullptr;
        real.push_back(own == nullptr ? objects[index] : const_cast<IDMLPageable*>(own));
      }
      return real_ ? (real_.Get()->*method)(count, real.data()) : S_OK;
    });
  }

  const std::shared_ptr<Recording> recording_;
  const Ref<IUnknown> parent_;
  const Ref<IDMLDevice> real_;
  const Ref<DeviceInterface> real1_;
  const Ref<IDMLDebugDevice> realDebug_;
  RecorderInterface recorderInterface_{*this};
  DebugInterface debugInterface_{*this};
};

inline HRESULT RecorderInterface::QueryInterface(REFIID riid, void** ppv) noexcept {
  return device_.QueryInterface(riid, ppv);
}
inline ULONG RecorderInterface::AddRef() noexcept { return device_.AddRef(); }
inline ULONG RecorderInterface::Release() noexcept { return device_.Release(); }
inline HRESULT RecorderInterface::Constant(ID3D12Resource* buffer, const void* data, UINT64 bytes,
                                           UINT64 offset) noexcept {
  return Guarded([&] { return device_.Record().Constant(buffer, data, bytes, offset); });
}
inline HRESULT RecorderInterface::ConstantInput(IDMLCompiledOperator* compiled, UINT input, const void* data,
                                                UINT64 bytes) noexcept {
  return Guarded([&] {
    const Ref<CompiledObject> own = Own<CompiledObject>(compiled);
    return own ? device_.Record().Constant(own->Graph(), input, data, bytes) : E_INVALIDARG;
  });
}
inline HRESULT RecorderInterface::NameBuffer(ID3D12Resource* buffer, const wchar_t* name) noexcept {
  return Guarded([&] { return device_.Record().NameBuffer(buffer, Utf8(name)); });
}
inline HRESULT RecorderInterface::ForgetBuffer(ID3D12Resource* buffer) noexcept {
  return Guarded([&] { return device_.Record().ForgetBuffer(buffer); });
}
inline HRESULT RecorderInterface::Flush() noexcept {
  return Guarded([&] { return device_.Record().Flush(); });
}

inline HRESULT DebugInterface::QueryInterface(REFIID riid, void** ppv) noexcept {
  return device_.QueryInterface(riid, ppv);
}
inline ULONG DebugInterface::AddRef() noexcept { return device_.AddRef(); }
inline ULONG DebugInterface::Release() noexcept { return device_.Release(); }
inline void DebugInterface::SetMuteDebugOutput(BOOL mute) noexcept {
  if (device_.RealDebug() != nullptr) device_.RealDebug()->SetMuteDebugOutput(mute);
}

}  // namespace detail

inline HRESULT CreateRecordingDevice(IDMLDevice* real, const RecordingOptions& options, REFIID riid,
                                     void** ppv) noexcept {
  if (ppv == nullptr) return E_POINTER;
  *ppv = nullptr;
  return detail::Guarded([&] {
    std::shared_ptr<detail::Recording> recording = detail::Recording::Open(options, real != nullptr);
    if (!recording) return detail::kAccessDenied;
    const auto device = detail::Ref<detail::DeviceObject>::Adopt(new detail::DeviceObject(real, std::move(recording)));
    return device->QueryInterface(riid, ppv);
  });
}

inline HRESULT GetRecorder(IUnknown* device, Recorder** recorder) noexcept {
  if (recorder == nullptr) return E_POINTER;
  *recorder = nullptr;
  if (device == nullptr) return E_INVALIDARG;
  return device->QueryInterface(detail::kIidOwnRecorder, reinterpret_cast<void**>(recorder));
}

}  // namespace dml2onnx

#endif  // C++17
