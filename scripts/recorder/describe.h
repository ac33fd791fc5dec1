// Reads a descriptor by the table of its operator.

#include <cstring>

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
