// An operator descriptor, read wholly: what the rest of the recorder knows of operators.
//
//   Description description = Describe(desc);      // any DML_OPERATOR_DESC*, null as well
//   description.json                               // {"Type": "DML_OPERATOR_GEMM", "Desc": {...}}, on one line
//   description.inputs[2].bytes                    // of the tensor that DirectML calls input 2
//   if (!description.Acceptable()) ...             // E_INVALIDARG; description.problems says why
//
// The text is that of a DML_OPERATOR_DESC in a DML_GRAPH_DESC of dml2onnx (frontends/dml_graph.py), every field in its
// place; optional ones that are absent are left out, since DxDispatch, which takes the same text, has no null. What
// cannot be read (a null pointer, an operator that this DirectML.h does not declare) is null, an enumerator without a
// name is its number, and each of these is a problem.
// Whether sizes fit each other is not looked at here; `dml2onnx check` does, on any system.

#include <string>
#include <string_view>
#include <vector>

namespace dml2onnx {
namespace detail {

// One input or output as bindings and edges number them: over all tensor fields of that side in the order of the
// structure, an array with a number for each element, and an absent optional tensor keeping its own.
struct TensorFacts {
  std::string field;  // "InputTensor", "InputTensors[2]"
  bool present = false;
  std::int32_t dataType = DML_TENSOR_DATA_TYPE_UNKNOWN;  // as a number, which may have no name
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

  // The part of the text behind "Desc": the fields alone.
  std::string_view Fields() const {
    static constexpr std::string_view kBefore = "\"Desc\": ";
    const std::size_t begin = json.find(kBefore) + kBefore.size();
    return std::string_view(json).substr(begin, json.size() - begin - 1);
  }
};

Description Describe(const DML_OPERATOR_DESC* desc);

}  // namespace detail
}  // namespace dml2onnx
