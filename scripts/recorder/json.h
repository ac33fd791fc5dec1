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

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

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
