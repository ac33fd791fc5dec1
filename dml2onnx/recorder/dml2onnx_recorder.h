// A recording DirectML device: include this header, create your graphs on dml2onnx::CreateRecordingDevice's device, and
// they lie on disk for `dml2onnx check`, `compile` and `run`. See https://github.com/dml2onnx/dml2onnx.
//
// Written by scripts/generate_recorder.py of dml2onnx from scripts/recorder/ and schemas/. Do not edit.
// SPDX-License-Identifier: MIT

#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <vector>

// What all parts stand on: DirectML itself, and what a COM method may let out.
//
// Every part is a piece of one header; scripts/generate_recorder.py joins them in the order that it names and puts the
// tables of operators between them. A part starts with the standard headers that it needs, which are gathered at the
// top of the whole. Types and functions are written as in DirectML.h (PascalCase), variables in camelCase, private
// members with an underscore behind them. Nothing throws across COM, nothing needs RTTI, and all of it is C++17.

// A program whose DirectML.h goes by another name says so before it includes this header.
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

// The result of `function`, or of what it throws: memory that there is not, all else E_FAIL. Every method that COM
// calls and that allocates goes through it.
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

// JSON as the front ends of dml2onnx read it.
//
//   JsonWriter json;
//   json.BeginObject(Layout::kLines);        // a member on each line; Layout::kInline (the default) is one line
//   json.Key("Name").String("conv \"1\"");   // any bytes: what is no UTF-8 is taken for Latin-1
//   json.Key("Sizes").BeginArray();
//   json.Unsigned(3).Unsigned(4).EndArray();
//   json.Key("Operator").Raw(description.json);
//   json.EndObject();
//   std::string text = json.Take();
//
// Commas, line breaks and indentation come by themselves. Floats have the fewest digits that give the same bits back
// (the reader goes by way of double); those that are no numbers are "nan", "inf" and "-inf". 64-bit integers are whole.

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

// The bytes of the UTF-8 sequence that begins at `index`: 0 when there is none (cut off, overlong, half of a surrogate
// pair, beyond Unicode).
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

// Text of any bytes as UTF-8. Those that are none are taken for Latin-1, so that nothing gets lost and no two texts
// become one by way of a common mark.
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

// A name as COM has them, in UTF-16 (or UTF-32, where wchar_t has 32 bits); "" for null.
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
        point = 0xFFFD;  // half of a pair
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

// `value` with so many significant digits, whatever the program's locale has for a decimal point.
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

// What std::strtod makes of the same digits, which it expects in the program's locale.
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
  if (text.find_first_of(".e") == std::string::npos) text += ".0";  // so that -0 keeps its sign
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
  // A value that is JSON already.
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
    // what stands in a line stays in it
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

// An operator descriptor, read wholly: what the rest of the recorder knows of operators.
//
//   Description description = Describe(desc);      // any DML_OPERATOR_DESC*, null as well
//   description.json                               // {"Type": "DML_OPERATOR_GEMM", "Desc": {...}}, on one line
//   description.inputs[2].bytes                    // of the tensor that DirectML calls input 2
//   if (!description.Acceptable()) ...             // E_INVALIDARG; description.problems says why
//
// The text is that of a DML_OPERATOR_DESC in a DML_GRAPH_DESC of dml2onnx (frontends/dml_graph.py), every field in its
// place, absent ones null. It says what is there: whatever cannot be read (a null pointer, an operator that this
// DirectML.h does not declare) is null, an enumerator without a name is its number, and each of these is a problem.
// Whether sizes fit each other is not looked at here; `dml2onnx check` does, on any system.

namespace dml2onnx {
namespace detail {

// One input or output as bindings and edges number them: over all tensor fields of that side in the order of the
// structure, an array with a number for each element, and an absent optional tensor keeping its own.
struct TensorFacts {
  std::string field;  // "InputTensor", "InputTensors[2]"
  bool present = false;
  DML_TENSOR_DATA_TYPE dataType = DML_TENSOR_DATA_TYPE_UNKNOWN;
  bool ownedByDml = false;
  std::uint64_t bytes = 0;  // TotalTensorSizeInBytes
  std::vector<UINT> sizes;
};

struct Description {
  std::string name;  // "DML_OPERATOR_GEMM"; "" when there is no such operator
  std::string json;
  std::vector<TensorFacts> inputs;
  std::vector<TensorFacts> outputs;
  std::vector<std::string> problems;  // "FusedActivation.Desc is null"

  bool Acceptable() const { return problems.empty(); }
};

Description Describe(const DML_OPERATOR_DESC* desc);

}  // namespace detail
}  // namespace dml2onnx

// What the tables of operators, which follow, are made of.

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
  std::size_t other;  // where the count of an array or the data type of a scalar union lies
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

// How a descriptor is read: by the table of its operator.

namespace dml2onnx {
namespace detail {

static_assert(sizeof(DML_TENSOR_DATA_TYPE) == sizeof(std::int32_t), "enumerations of DirectML have 32 bits");

// DirectML takes up to 8 dimensions. One more is enough to show that there are too many, and all that is safe to read
// where the number was never set.
inline constexpr UINT kMostSizes = 9;
inline constexpr UINT kMostElements = 1u << 16;
inline constexpr int kMostNested = 3;  // an activation of an activation is an error, one that holds itself has no end

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
    // enumerations are read as numbers, since C++ has no value for one that is out of their range
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

  // The number of elements to be read from an array that says it has so many.
  UINT Bounded(UINT count, UINT most, const std::string& place) {
    if (count <= most) return count;
    Problem(place, "has " + std::to_string(count) + " elements, of which " + std::to_string(most) + " are recorded");
    return most;
  }

  // An array of pointers' targets or numbers: null is an empty one.
  template <typename Element, typename Write>
  void Numbers(const Field& field, const void* base, const std::string& place, Write write) {
    const auto* values = ReadAt<const Element*>(base, field.offset);
    const UINT count = ReadAt<UINT>(base, field.other);
    if (values == nullptr) return Absent(field.optional || count == 0, place);
    json_.BeginArray();
    const UINT bounded = Bounded(count, kMostElements, place);
    for (UINT index = 0; index < bounded; ++index) write(values[index]);
    json_.EndArray();
  }

  void Tensors(const Field& field, const void* base, const std::string& place, int depth) {
    const auto* values = ReadAt<const DML_TENSOR_DESC*>(base, field.offset);
    const UINT count = ReadAt<UINT>(base, field.other);
    if (values == nullptr) return Absent(field.optional || count == 0 || depth > 0, place);
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
    if (values == nullptr) return Absent(field.optional || count == 0, place);
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

  // The member of the union that the data type beside it reads; all bytes where it reads none.
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
      case DML_TENSOR_DATA_TYPE_FLOAT16:  // has no member of its own; the bits stand in this one
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

  // The tensors of an activation belong to its operator, and are null.
  void Tensor(const Field& field, const DML_TENSOR_DESC* desc, const std::string& place, int depth) {
    TensorFacts facts;
    facts.field = place;
    if (desc == nullptr) {
      Absent(field.optional || depth > 0, place);
    } else {
      facts.present = true;
      Buffer(*desc, place, facts);
    }
    if (depth > 0) return;
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
    json_.Key("Strides");
    Sizes(buffer.Strides, count, true, Under(place, "Strides"));
    json_.Key("TotalTensorSizeInBytes").Unsigned(buffer.TotalTensorSizeInBytes);
    json_.Key("GuaranteedBaseOffsetAlignment").Unsigned(buffer.GuaranteedBaseOffsetAlignment);
    json_.EndObject().EndObject();
    if (NameOf(kTensorDataType, dataType) != nullptr) facts.dataType = static_cast<DML_TENSOR_DATA_TYPE>(dataType);
    facts.ownedByDml = (flags & DML_TENSOR_FLAG_OWNED_BY_DML) != 0;
    facts.bytes = buffer.TotalTensorSizeInBytes;
    if (buffer.Sizes != nullptr) facts.sizes.assign(buffer.Sizes, buffer.Sizes + count);
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
