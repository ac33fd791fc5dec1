// Records a graph of one operator. With CMakeLists.txt beside it:
//
//   cmake -S . -B build -DDIRECTML_INCLUDE=<directory of DirectML.h> && cmake --build build
//   build/record && dml2onnx check recording
#include "dml2onnx_recorder.h"

#include <cstdio>

int main() {
  dml2onnx::RecordingOptions options;
  options.folder = "recording";
  options.onProblem = [](const std::string& reason) { std::fprintf(stderr, "%s\n", reason.c_str()); };
  // nullptr records without a GPU; pass the program's own IDMLDevice to keep it working
  IDMLDevice* device = nullptr;
  if (FAILED(dml2onnx::CreateRecordingDevice(nullptr, options, IID_PPV_ARGS(&device)))) return 1;

  const UINT sizes[] = {1, 3, 2, 2};
  const DML_BUFFER_TENSOR_DESC buffer{DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 4, sizes, nullptr, 48, 0};
  const DML_TENSOR_DESC tensor{DML_TENSOR_TYPE_BUFFER, &buffer};
  const DML_ACTIVATION_RELU_OPERATOR_DESC relu{&tensor, &tensor};
  const DML_OPERATOR_DESC desc{DML_OPERATOR_ACTIVATION_RELU, &relu};
  IDMLOperator* op = nullptr;
  IDMLCompiledOperator* compiled = nullptr;
  const bool made = SUCCEEDED(device->CreateOperator(&desc, IID_PPV_ARGS(&op))) &&
                    SUCCEEDED(device->CompileOperator(op, DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)));
  if (compiled != nullptr) compiled->Release();
  if (op != nullptr) op->Release();
  device->Release();
  return made ? 0 : 1;
}
