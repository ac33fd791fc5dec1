// Doubles the size of a grey picture, like super-resolution networks: convolutions work at the small size, and the
// channels of the last one become pixels. It uses plain DirectML structs; only the device that main() creates records
// it.
//
//   upscale [weights.bin [recording]]

#include "dml2onnx_recorder.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

namespace {

constexpr UINT kHeight = 48, kWidth = 64, kFeatures = 8, kPhases = 4;

// A COM smart pointer, like Microsoft::WRL::ComPtr on Windows.
template <typename T>
struct Com {
  T* object = nullptr;
  Com() = default;
  Com(Com&& other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Com& operator=(Com&&) = delete;
  ~Com() {
    if (object != nullptr) object->Release();
  }
};

// A packed FLOAT32 tensor of four dimensions.
struct Tensor {
  UINT sizes[4];
  DML_BUFFER_TENSOR_DESC buffer;
  DML_TENSOR_DESC desc;

  Tensor(UINT n, UINT c, UINT h, UINT w, DML_TENSOR_FLAGS flags = DML_TENSOR_FLAG_NONE)
      : sizes{n, c, h, w},
        buffer{DML_TENSOR_DATA_TYPE_FLOAT32, flags, 4, sizes, nullptr, UINT64{n} * c * h * w * sizeof(float), 0},
        desc{DML_TENSOR_TYPE_BUFFER, &buffer} {}
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
};

template <typename Desc>
Com<IDMLOperator> MakeOperator(IDMLDevice* device, DML_OPERATOR_TYPE type, const Desc& fields) {
  const DML_OPERATOR_DESC desc{type, &fields};
  Com<IDMLOperator> made;
  device->CreateOperator(&desc, IID_PPV_ARGS(&made.object));
  return made;
}

// A convolution with weights and a bias that DirectML owns.
Com<IDMLOperator> Convolution(IDMLDevice* device, const Tensor& input, const Tensor& filter, const Tensor& bias,
                              const Tensor& output, const DML_OPERATOR_DESC* activation) {
  const UINT one[] = {1, 1}, none[] = {0, 0};
  DML_CONVOLUTION_OPERATOR_DESC conv{};
  conv.InputTensor = &input.desc;
  conv.FilterTensor = &filter.desc;
  conv.BiasTensor = &bias.desc;
  conv.OutputTensor = &output.desc;
  conv.Mode = DML_CONVOLUTION_MODE_CROSS_CORRELATION;
  conv.Direction = DML_CONVOLUTION_DIRECTION_FORWARD;
  conv.DimensionCount = 2;
  conv.Strides = conv.Dilations = one;
  conv.StartPadding = conv.EndPadding = conv.OutputPadding = none;
  conv.GroupCount = 1;
  conv.FusedActivation = activation;
  return MakeOperator(device, DML_OPERATOR_CONVOLUTION, conv);
}

// The compiled network. Its inputs are the picture, and the weights in the order of the file.
HRESULT Compile(IDMLDevice1* device, IDMLCompiledOperator** compiled) {
  constexpr auto kOwned = DML_TENSOR_FLAG_OWNED_BY_DML;
  const Tensor picture(1, 1, kHeight, kWidth), padded(1, 1, kHeight + 6, kWidth + 6);
  const Tensor filter1(kFeatures, 1, 5, 5, kOwned), bias1(1, kFeatures, 1, 1, kOwned);
  const Tensor features(1, kFeatures, kHeight + 2, kWidth + 2);
  const Tensor filter2(kPhases, kFeatures, 3, 3, kOwned), bias2(1, kPhases, 1, 1, kOwned);
  const Tensor phases(1, kPhases, kHeight, kWidth), enlarged(1, 1, 2 * kHeight, 2 * kWidth);

  const UINT border[] = {0, 0, 3, 3};
  const DML_PADDING_OPERATOR_DESC padding{
      &picture.desc, &padded.desc, DML_PADDING_MODE_EDGE, 0, 4, border, border};
  const DML_ACTIVATION_RELU_OPERATOR_DESC relu{};
  const DML_OPERATOR_DESC fused{DML_OPERATOR_ACTIVATION_RELU, &relu};
  const DML_DEPTH_TO_SPACE1_OPERATOR_DESC deal{
      &phases.desc, &enlarged.desc, 2, DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW};
  const DML_ELEMENT_WISE_CLIP_OPERATOR_DESC clip{&enlarged.desc, &enlarged.desc, nullptr, 0, 1};
  const Com<IDMLOperator> operators[] = {
      MakeOperator(device, DML_OPERATOR_PADDING, padding),
      Convolution(device, padded, filter1, bias1, features, &fused),
      Convolution(device, features, filter2, bias2, phases, nullptr),
      MakeOperator(device, DML_OPERATOR_DEPTH_TO_SPACE1, deal),
      MakeOperator(device, DML_OPERATOR_ELEMENT_WISE_CLIP, clip),
  };
  const char* names[] = {"border", "features", "phases", "pixels", "clip"};
  constexpr UINT kNodes = 5;
  DML_OPERATOR_GRAPH_NODE_DESC nodes[kNodes];
  DML_GRAPH_NODE_DESC nodeDescs[kNodes];
  for (UINT i = 0; i < kNodes; ++i) {
    nodes[i] = {operators[i].object, names[i]};
    nodeDescs[i] = {DML_GRAPH_NODE_TYPE_OPERATOR, &nodes[i]};
  }

  const DML_INPUT_GRAPH_EDGE_DESC inputs[] = {
      {0, 0, 0, "picture"}, {1, 1, 1, "filter1"}, {2, 1, 2, "bias1"}, {3, 2, 1, "filter2"}, {4, 2, 2, "bias2"}};
  const DML_INTERMEDIATE_GRAPH_EDGE_DESC between[] = {
      {0, 0, 1, 0, nullptr}, {1, 0, 2, 0, nullptr}, {2, 0, 3, 0, nullptr}, {3, 0, 4, 0, nullptr}};
  const DML_OUTPUT_GRAPH_EDGE_DESC output{4, 0, 0, "enlarged"};
  DML_GRAPH_EDGE_DESC inputEdges[5], edges[4];
  for (UINT i = 0; i < 5; ++i) inputEdges[i] = {DML_GRAPH_EDGE_TYPE_INPUT, &inputs[i]};
  for (UINT i = 0; i < 4; ++i) edges[i] = {DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &between[i]};
  const DML_GRAPH_EDGE_DESC outputEdge{DML_GRAPH_EDGE_TYPE_OUTPUT, &output};
  const DML_GRAPH_DESC graph{5, 1, kNodes, nodeDescs, 5, inputEdges, 1, &outputEdge, 4, edges};
  return device->CompileGraph(&graph, DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(compiled));
}

}  // namespace

int main(int count, char** arguments) {
  std::ifstream file(count > 1 ? arguments[1] : "weights.bin", std::ios::binary);
  const std::vector<char> weights{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::size_t floats[] = {kFeatures * 5 * 5, kFeatures, kPhases * kFeatures * 3 * 3, kPhases};
  if (weights.size() != (floats[0] + floats[1] + floats[2] + floats[3]) * sizeof(float)) {
    std::fprintf(stderr, "there are no weights, or not so many\n");
    return 1;
  }

  // The only change: a device that records. Pass your own device instead of nullptr if you have one.
  dml2onnx::RecordingOptions options;
  options.folder = count > 2 ? arguments[2] : "recording";
  options.onProblem = [](const std::string& reason) { std::fprintf(stderr, "%s\n", reason.c_str()); };
  Com<IDMLDevice1> device;
  if (FAILED(dml2onnx::CreateRecordingDevice(nullptr, options, IID_PPV_ARGS(&device.object)))) return 1;

  Com<IDMLCompiledOperator> network;
  if (FAILED(Compile(device.object, &network.object))) return 1;
  network.object->SetName(L"upscale");

  // Pass weights to the recorder as you would upload them; other inputs stay inputs.
  Com<dml2onnx::Recorder> recorder;
  if (FAILED(dml2onnx::GetRecorder(device.object, &recorder.object))) return 1;
  const char* data = weights.data();
  for (UINT input = 1; input < 5; ++input) {
    const std::size_t bytes = floats[input - 1] * sizeof(float);
    if (FAILED(recorder.object->ConstantInput(network.object, input, data, bytes))) return 1;
    data += bytes;
  }
  std::puts("recorded");
  return 0;
}
