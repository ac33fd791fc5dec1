// What a program sees of the recorder, beside the interfaces of DirectML.
//
//   dml2onnx::RecordingOptions options;
//   options.folder = "recording";
//   options.onProblem = [](const std::string& reason) { std::fprintf(stderr, "%s\n", reason.c_str()); };
//   IDMLDevice* device = nullptr;
//   HRESULT result = dml2onnx::CreateRecordingDevice(nullptr, options, iid, reinterpret_cast<void**>(&device));
//
// `device` is used as any other. With a device of DirectML's in the place of nullptr, that one does all the work, and
// what it answers is answered; without one operators and graphs are compiled to nothing, and dispatching does nothing.
//
// The recording is a folder; `dml2onnx check FOLDER`, `dml2onnx compile FOLDER --graph NAME` and so on read it.

#include <filesystem>
#include <functional>
#include <string>

namespace dml2onnx {

struct RecordingOptions {
  // Made when it is not there. One that holds anything but an earlier recording is refused; an earlier one is replaced.
  // One that this program has recorded to, or another one that runs records to, gets a number: "recording_2".
  std::filesystem::path folder = "recording";

  // The feature level of a device that has no real one behind it: 0x3000 is 3.0.
  UINT featureLevel = DML2ONNX_TARGET_VERSION;

  // Is told what is wrong with a descriptor, or why something could not be recorded. Any thread may call it.
  std::function<void(const std::string& reason)> onProblem;

  // The names of graphs and buffers in UTF-8, where neither IDMLObject::SetName nor Recorder::NameBuffer gives one.
  // Graphs are numbered in the order of their compilation, from 1 on; "" leaves the name to the recorder, which takes
  // what ID3D12Object::SetName said of the buffers of a real device.
  std::function<std::string(UINT number)> graphName;
  std::function<std::string(ID3D12Resource* buffer)> bufferName;

  // What GetParentDevice answers for a device that has no real one behind it, which has no parent otherwise.
  IUnknown* parentDevice = nullptr;

  // Dispatched operators that are recorded at most, a graph being as many as its nodes: a program that draws frames
  // would go on for ever.
  UINT mostDispatches = 1u << 16;
};

// What the recorder can be told that DirectML does not hear of. Asked of the device, with GetRecorder below.
//
// A buffer is any ID3D12Resource*. Without a real device it is a name for a buffer and nothing else: no method of it is
// called, so that any pointer but null will do.
struct Recorder : public IUnknown {
  // What lies in a buffer from `offset` on: weights, which become constants of the graphs that read them, or an example
  // of an input. They are copied to a file at once. Bytes given for a range that has some, or after the buffer has been
  // dispatched, replace all of it from then on.
  virtual HRESULT STDMETHODCALLTYPE Constant(ID3D12Resource* buffer, const void* data, UINT64 bytes,
                                             UINT64 offset) noexcept = 0;

  // What lies in an input of a graph or operator, in the file of that graph.
  virtual HRESULT STDMETHODCALLTYPE ConstantInput(IDMLCompiledOperator* compiled, UINT input, const void* data,
                                                  UINT64 bytes) noexcept = 0;

  // What a buffer is called in the recording. A name that another one has already gets a number, of which
  // `options.onProblem` is told.
  virtual HRESULT STDMETHODCALLTYPE NameBuffer(ID3D12Resource* buffer, const wchar_t* name) noexcept = 0;

  // That a buffer is gone: the next one at its address is another. Buffers of a real device tell it themselves.
  virtual HRESULT STDMETHODCALLTYPE ForgetBuffer(ID3D12Resource* buffer) noexcept = 0;

  // Writes what is not on disk yet; the release of the last object of the device does it as well.
  virtual HRESULT STDMETHODCALLTYPE Flush() noexcept = 0;
};

// A device that records, as the interface that `riid` names. Besides what COM has to say (E_NOINTERFACE, E_POINTER):
// E_ACCESSDENIED when the folder cannot be written, and the reason goes to `options.onProblem`.
HRESULT CreateRecordingDevice(IDMLDevice* real, const RecordingOptions& options, REFIID riid, void** ppv) noexcept;

// The recorder of a recording device, to be released; E_NOINTERFACE for any other object.
HRESULT GetRecorder(IUnknown* device, Recorder** recorder) noexcept;

}  // namespace dml2onnx
