// The interface of the recorder for programs, besides those of DirectML.
//
//   dml2onnx::RecordingOptions options;
//   options.folder = "recording";
//   options.onProblem = [](const std::string& reason) { std::fprintf(stderr, "%s\n", reason.c_str()); };
//   IDMLDevice* device = nullptr;
//   HRESULT result = dml2onnx::CreateRecordingDevice(nullptr, options, iid, reinterpret_cast<void**>(&device));
//
// Use `device` like any other. Pass a real DirectML device instead of nullptr to let it do the work and return its
// results; without one, operators and graphs are only recorded, and dispatching does nothing.
//
// The recording is a folder; `dml2onnx check FOLDER`, `dml2onnx compile FOLDER --graph NAME` and so on read it.

#include <filesystem>
#include <functional>
#include <string>

namespace dml2onnx {

struct RecordingOptions {
  // Created if missing. A folder with anything but an earlier recording is refused; an earlier recording is replaced.
  // If this or another running program uses it, a number is added: "recording_2".
  std::filesystem::path folder = "recording";

  // The feature level without a real device: 0x3000 is 3.0.
  UINT featureLevel = DML2ONNX_TARGET_VERSION;

  // Called with errors in descriptors, and with reasons why something could not be recorded. Any thread may call it.
  std::function<void(const std::string& reason)> onProblem;

  // Return names of graphs and buffers in UTF-8, if neither IDMLObject::SetName nor Recorder::NameBuffer sets one.
  // Graphs are numbered from 1 in the order of compilation. For "" the recorder chooses the name, that of
  // ID3D12Object::SetName for buffers of a real device.
  std::function<std::string(UINT number)> graphName;
  std::function<std::string(ID3D12Resource* buffer)> bufferName;

  // The result of GetParentDevice without a real device.
  IUnknown* parentDevice = nullptr;

  // The most dispatched operators to record, counting each node of a graph: a program that draws frames would never
  // end.
  UINT mostDispatches = 1u << 16;
};

// Information for the recorder that DirectML does not get. GetRecorder below returns it for a device.
//
// A buffer is any ID3D12Resource*. Without a real device it only identifies a buffer and is never called, so that any
// pointer but null works.
struct Recorder : public IUnknown {
  // Sets the contents of a buffer from `offset`: weights, which become constants of the graphs that read them, or an
  // example of an input. They are copied to a file at once. New contents of a range that has some, or of a buffer that
  // has been dispatched, replace all of them from then on.
  virtual HRESULT STDMETHODCALLTYPE Constant(ID3D12Resource* buffer, const void* data, UINT64 bytes,
                                             UINT64 offset) noexcept = 0;

  // Sets the contents of an input of a graph or operator, in the file of that graph.
  virtual HRESULT STDMETHODCALLTYPE ConstantInput(IDMLCompiledOperator* compiled, UINT input, const void* data,
                                                  UINT64 bytes) noexcept = 0;

  // Names a buffer in the recording. A number is added to a name in use, which is reported to `options.onProblem`.
  virtual HRESULT STDMETHODCALLTYPE NameBuffer(ID3D12Resource* buffer, const wchar_t* name) noexcept = 0;

  // Ends the life of a buffer: another one may have its address. Buffers of a real device are detected automatically.
  virtual HRESULT STDMETHODCALLTYPE ForgetBuffer(ID3D12Resource* buffer) noexcept = 0;

  // Writes all files; so does the release of the last object of the device.
  virtual HRESULT STDMETHODCALLTYPE Flush() noexcept = 0;
};

// Creates a recording device with the interface `riid`. Besides COM errors (E_NOINTERFACE, E_POINTER) it returns
// E_ACCESSDENIED if the folder cannot be written, with the reason in `options.onProblem`.
HRESULT CreateRecordingDevice(IDMLDevice* real, const RecordingOptions& options, REFIID riid, void** ppv) noexcept;

// Returns the recorder of a recording device, which the caller must release; E_NOINTERFACE for other objects.
HRESULT GetRecorder(IUnknown* device, Recorder** recorder) noexcept;

}  // namespace dml2onnx
