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
