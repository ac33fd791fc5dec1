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

#include <string>
#include <string_view>
#include <vector>

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
