// Runs a compiled graph on the program's own buffers, which have the bytes of its DirectML bindings.
//
//   bind upscale.onnx picture.bin enlarged.bin

#include <onnxruntime_cxx_api.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace {

// Returns a tensor over memory of the program, without a copy.
Ort::Value Over(std::vector<char>& buffer, const Ort::TypeInfo& type) {
  const auto tensor = type.GetTensorTypeAndShapeInfo();
  const std::vector<int64_t> shape = tensor.GetShape();
  const Ort::MemoryInfo memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  return Ort::Value::CreateTensor(memory, buffer.data(), buffer.size(), shape.data(), shape.size(),
                                  tensor.GetElementType());
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 4) return std::fprintf(stderr, "bind MODEL INPUT OUTPUT\n"), 2;
  Ort::Env env;                         // was DMLCreateDevice
  Ort::SessionOptions options;          // on Windows: options.AppendExecutionProvider("DML")
  Ort::Session session(env, std::filesystem::path(arguments[1]).c_str(), options);  // was CompileGraph

  std::ifstream file(arguments[2], std::ios::binary);
  std::vector<char> picture{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto outputType = session.GetOutputTypeInfo(0);
  std::vector<char> enlarged(outputType.GetTensorTypeAndShapeInfo().GetElementCount() * sizeof(float));

  Ort::IoBinding binding(session);      // was IDMLBindingTable; names are those of the recorded edges
  binding.BindInput("picture", Over(picture, session.GetInputTypeInfo(0)));
  binding.BindOutput("enlarged", Over(enlarged, outputType));
  session.Run(Ort::RunOptions(), binding);  // was RecordDispatch; synchronous
  binding.SynchronizeOutputs();

  std::ofstream(arguments[3], std::ios::binary).write(enlarged.data(), static_cast<std::streamsize>(enlarged.size()));
  return 0;
} catch (const Ort::Exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
