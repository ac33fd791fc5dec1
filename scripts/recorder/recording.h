// The recording in files. A lock protects it, and no code of the program is called while it is locked.

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dml2onnx {
namespace detail {

inline constexpr int kFormatVersion = 1;
inline constexpr char kProgramName[] = "program";
// A short program is rewritten at every dispatch, a longer one whenever it has grown by an eighth; the changes between
// are written to a journal at once, so that nothing is lost if the program crashes.
inline constexpr std::size_t kShortProgram = 32;
inline constexpr char kProgramJournal[] = "program.jsonl";
inline constexpr std::size_t kMostNotes = 64;

class Recording : public std::enable_shared_from_this<Recording> {
  using Names = std::map<ID3D12Resource*, std::string>;

 public:
  // `isReal`: buffers belong to a real device and can be called.
  static std::shared_ptr<Recording> Open(const RecordingOptions& options, bool isReal) {
    std::string problem;
    std::string elsewhere;
    std::unique_ptr<Folder> folder = Folder::Open(options.folder, problem, elsewhere);
    std::shared_ptr<Recording> recording;
    if (folder) {
      if (!elsewhere.empty()) elsewhere += " to the folder, so that this device records to " + PathText(folder->Path());
      recording.reset(new Recording(options, isReal, std::move(folder)));
      recording->WriteIndex(problem);
    }
    if (!problem.empty() && options.onProblem) options.onProblem(problem);
    if (!elsewhere.empty() && options.onProblem) options.onProblem(elsewhere);
    return problem.empty() ? recording : nullptr;
  }

  ~Recording() {
    Locked([&](std::string& problem) {
      isEnded_ = true;
      if (isStale_) WriteProgram(problem);
      WriteIndex(problem);
    });
  }

  const RecordingOptions& Options() const { return options_; }

  // Reports a problem to the program; must not be called under the lock.
  void Report(const std::string& problem) const {
    if (problem.empty() || !options_.onProblem) return;
    Guarded([&] {
      options_.onProblem(problem);
      return S_OK;
    });
  }

  // Notes that the program did something that is not recorded.
  void Unrecorded(const std::string& what) {
    Locked([&](std::string& problem) {
      if (Note(notes_, what)) WriteIndex(problem);
    });
    Report(what);
  }

  void NoteHidden(const GUID& iid) {
    Unrecorded("the program queried the interface " + GuidText(iid) +
               ", which the real device has and this recorder does not; it got E_NOINTERFACE");
  }

  // Records a new operator. A refused one becomes a graph of its own, which `dml2onnx check` explains.
  void AddOperator(const std::shared_ptr<const OperatorRecord>& op, const std::string& refusal) {
    GraphRecord graph = GraphOfOne(op);
    const std::string stem = Stem(op->description.name);
    if (refusal.empty() && !op->description.Acceptable()) {
      Unrecorded(stem + ": " + op->description.problems.front() + ", which the real device takes");
    }
    Locked([&](std::string& problem) {
      std::string number = std::to_string(++operators_);
      number.insert(0, number.size() < 4 ? 4 - number.size() : 0, '0');
      graph.file = "operators/" + number + "." + FileStem(stem) + ".json";
      folder_->Write(graph.file, GraphText(graph), problem);
      if (refusal.empty()) return;
      graph.kind = GraphKind::kRejected;
      graph.problem = refusal;
      graph.name = names_.New("rejected " + stem);
      List(std::make_shared<GraphRecord>(std::move(graph)), problem);
    });
    Report(refusal.empty() ? "" : stem + ": " + refusal);
  }

  // Records a compiled graph: its text and the bytes of its constants. If a real device accepted it (`taken`), its
  // problems are no errors of the program.
  std::shared_ptr<GraphRecord> AddGraph(GraphRecord graph, const std::vector<std::pair<const void*, UINT64>>& data,
                                        const std::string& wantedName, bool taken) {
    auto record = std::make_shared<GraphRecord>(std::move(graph));
    const std::string hooked = wantedName.empty() && record->kind == GraphKind::kGraph ? HookedName() : wantedName;
    Locked([&](std::string& problem) {
      NameGraph(*record, hooked);
      for (std::size_t index = 0; index < data.size(); ++index) {
        if (data[index].first == nullptr) continue;
        NodeRecord& node = record->nodes[index];
        const std::string stem = node.name.empty() ? "constant" + std::to_string(index) : node.name;
        node.file = NewDataFile(record->name + "." + stem);
        folder_->Write(node.file, data[index].first, static_cast<std::size_t>(data[index].second), problem);
      }
      if (record->problem.empty()) record->problem = FirstProblem(*record);
      if (taken) record->unrecorded.swap(record->problem);
      if (!folder_->Write(record->file, GraphText(*record), problem)) return;
      List(record, problem);
    });
    if (!record->IsWhole()) Report(record->name + ": " + record->problem + record->unrecorded);
    return record;
  }

  // Renames a graph and its file.
  void Rename(const std::shared_ptr<GraphRecord>& graph, const std::string& name) {
    if (name.empty()) return;
    Locked([&](std::string& problem) {
      if (graph->name == name) return;
      const std::string old = graph->file;
      names_.Free(graph->name);
      NameGraph(*graph, name);
      if (!folder_->Write(graph->file, GraphText(*graph), problem)) return;
      Changed(*graph, problem);
      folder_->Remove(old);
      if (program_.Size() != 0) isStale_ = true;  // its dispatchables have the name
    });
  }

  // --- Contents ---

  HRESULT Constant(ID3D12Resource* buffer, const void* data, UINT64 bytes, UINT64 offset) {
    if (buffer == nullptr || data == nullptr || bytes == 0 || offset + bytes < bytes) return E_INVALIDARG;
    Names names = NamesOfNew({{buffer, 0}});
    return Locked([&](std::string& problem) {
      const std::size_t old = program_.ResourceOf(buffer, [&] { return NameOf(buffer, names[buffer]); });
      Fill(buffer, old, data, bytes, offset, false, problem);
    });
  }

  HRESULT Constant(const std::shared_ptr<GraphRecord>& graph, UINT input, const void* data, UINT64 bytes) {
    if (data == nullptr || bytes == 0 || input >= graph->inputCount) return E_INVALIDARG;
    if (graph->GraphInput(input) == nullptr) return S_OK;  // nothing reads it, so it has no name
    return Locked([&](std::string& problem) {
      Contents contents{NewDataFile(graph->name + "." + graph->InputNames()[input]), 0, bytes};
      if (!folder_->Write(contents.file, data, static_cast<std::size_t>(bytes), problem)) return;
      graph->contents[input] = contents;
      Changed(*graph, problem);
    });
  }

  HRESULT NameBuffer(ID3D12Resource* buffer, const std::string& wanted) {
    if (buffer == nullptr || wanted.empty()) return E_INVALIDARG;
    std::string name = wanted;
    const HRESULT result = Locked([&](std::string&) {
      FreeName(buffer);
      for (int number = 2; owners_.count(name) != 0; ++number) name = wanted + "_" + std::to_string(number);
      if (program_.Knows(buffer)) {
        program_.Resource(program_.ResourceOf(buffer, [] { return ""; })).name = name;
        if (program_.Size() != 0) isStale_ = true;
      }
      GiveName(buffer, name);
    });
    if (SUCCEEDED(result) && name != wanted) {
      Report("a buffer is called " + wanted + " already; the one that is given the name again is recorded as " + name);
    }
    return result;
  }

  HRESULT ForgetBuffer(ID3D12Resource* buffer) {
    if (buffer == nullptr) return E_INVALIDARG;
    return Locked([&](std::string&) {
      program_.Forget(buffer);
      FreeName(buffer);
      tracked_.erase(buffer);
    });
  }

  // --- Dispatches ---

  void Initialize(const std::shared_ptr<GraphRecord>& graph, const std::map<UINT, BoundBuffer>& owned,
                  BoundBuffer persistent) {
    std::vector<BoundBuffer> bound;
    for (const auto& item : owned) bound.push_back(item.second);
    const Names names = NamesOfNew(bound);
    std::map<UINT, std::vector<unsigned char>> read;
    for (const auto& item : owned) {
      const TensorFacts* tensor = isReal_ && graph->IsWhole() ? graph->GraphInput(item.first) : nullptr;
      if (tensor != nullptr) read[item.first] = ReadBack(item.second.buffer, item.second.offset, ReachOf(*tensor));
    }
    std::string unread;
    Locked([&](std::string& problem) {
      if (!graph->IsWhole()) return;
      Meet(bound, names);
      for (const auto& item : read) {
        const std::string lost = Keep(owned.at(item.first), *graph->GraphInput(item.first), item.second, problem);
        if (!lost.empty()) unread += (unread.empty() ? "" : ", ") + lost;
      }
      program_.Initialize(graph, owned, persistent);
      Changed(*graph, problem);
    });
    if (!unread.empty()) {
      Report(graph->name + ": the CPU cannot read the weights in " + unread + "; Recorder::Constant takes them");
    }
  }

  void Dispatch(const std::shared_ptr<GraphRecord>& graph, const DispatchBindings& bindings) {
    std::vector<BoundBuffer> bound = bindings.inputs;
    bound.insert(bound.end(), bindings.outputs.begin(), bindings.outputs.end());
    if (!graph->IsWhole()) {
      return Missing(graph->name + " is dispatched, which is not recorded: " + graph->problem + graph->unrecorded);
    }
    const Names names = NamesOfNew(bound);
    Locked([&](std::string& problem) {
      if (isFull_) return;
      if (program_.Size() + graph->nodes.size() > options_.mostDispatches) {
        isFull_ = true;
        problem = "the most dispatches are recorded, and no further ones will be";
        Note(notes_, "the program dispatched more than the " + std::to_string(program_.Size()) + " that are recorded");
        std::string ignored;
        WriteIndex(ignored);
        return;
      }
      Meet(bound, names);
      program_.Dispatch(graph, bindings);
      isStale_ = true;
      if (program_.Size() <= kShortProgram || program_.Size() >= written_ + written_ / 8) {
        WriteProgram(problem);
      } else {
        folder_->Append(kProgramJournal, program_.Since().text, problem);
      }
    });
  }

  // Notes a dispatch that is missing in the program.
  void Missing(const std::string& what) {
    Locked([&](std::string& problem) {
      if (Note(missing_, what)) WriteIndex(problem);
    });
    Report(what);
  }

  HRESULT Flush() {
    return Locked([&](std::string& problem) {
      if (isStale_) WriteProgram(problem);
      WriteIndex(problem);
    });
  }

 private:
  Recording(const RecordingOptions& options, bool isReal, std::unique_ptr<Folder> folder)
      : options_(options), isReal_(isReal), folder_(std::move(folder)) {
    for (const char* name : {"recording", kProgramName}) {
      names_.New(name);
      files_.New(name);
    }
  }

  // Runs `function` under the lock, and then reports its problem.
  template <typename Function>
  HRESULT Locked(Function function) {
    std::string problem;
    const HRESULT result = Guarded([&] {
      const std::lock_guard<std::mutex> lock(mutex_);
      function(problem);
      return S_OK;
    });
    Report(FAILED(result) ? "there is no memory for the recording" : problem);
    return FAILED(result) ? result : problem.empty() ? S_OK : kAccessDenied;
  }

  static bool Note(std::vector<std::string>& notes, const std::string& what) {
    if (notes.size() >= kMostNotes || std::find(notes.begin(), notes.end(), what) != notes.end()) return false;
    notes.push_back(what);
    return true;
  }

  // --- Contents of buffers ---

  // Sets bytes of a buffer in its current resource.
  void Fill(ID3D12Resource* buffer, std::size_t known, const void* data, UINT64 bytes, UINT64 offset, bool isReadBack,
            std::string& problem) {
    const std::size_t index = program_.ForContents(buffer, known, offset, offset + bytes);
    ResourceRecord& resource = program_.Resource(index);
    resource.isReadBack = isReadBack;
    const bool isFirst = resource.file.empty();
    if (isFirst) resource.file = NewDataFile(resource.name);
    const auto size = static_cast<std::size_t>(bytes);
    if (isFirst && !folder_->Write(resource.file, data, offset == 0 ? size : 0, problem)) return;
    if ((!isFirst || offset != 0) && !folder_->Add(resource.file, offset, data, size, problem)) return;
    resource.ranges.push_back({offset, offset + bytes});
    for (const GraphRecord* graph : program_.Capturing(index)) Changed(*graph, problem);
  }

  // Records weights that were read from the buffer of a real device, unless the program has set them. Returns the name
  // of the buffer if its contents are unknown.
  std::string Keep(const BoundBuffer& bound, const TensorFacts& tensor, const std::vector<unsigned char>& data,
                   std::string& problem) {
    const std::size_t known = program_.ResourceOf(bound.buffer, [] { return ""; });
    const ResourceRecord& resource = program_.Resource(known);
    const bool isSet = resource.Overlaps(bound.offset, bound.offset + ReachOf(tensor));
    if (isSet && !resource.isReadBack) return "";
    if (data.empty()) return isSet ? "" : resource.name;
    Fill(bound.buffer, known, data.data(), data.size(), bound.offset, true, problem);
    return "";
  }

  static std::string Stem(const std::string& name) {
    static constexpr std::size_t kPrefix = sizeof "DML_OPERATOR_" - 1;
    return name.size() > kPrefix ? name.substr(kPrefix) : "operator";
  }

  // --- Names ---

  std::string HookedName() {
    UINT number = 0;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      number = ++numbered_;
    }
    const std::string name = options_.graphName ? options_.graphName(number) : "";
    return name.empty() ? "graph" + std::to_string(number) : name;
  }
  // Returns names of new buffers, asking the program without the lock. Starts tracking those of a real device.
  Names NamesOfNew(const std::vector<BoundBuffer>& bound) {
    Names names;
    std::vector<ID3D12Resource*> untracked;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (const BoundBuffer& item : bound) {
        if (item.buffer == nullptr || program_.Knows(item.buffer)) continue;
        names[item.buffer] = "";
        if (isReal_ && tracked_.insert(item.buffer).second) untracked.push_back(item.buffer);
      }
    }
    for (auto& item : names) {
      if (options_.bufferName) item.second = options_.bufferName(item.first);
      if (isReal_ && item.second.empty()) item.second = DebugName(item.first);
    }
    for (ID3D12Resource* buffer : untracked) {
      CallOnRelease(buffer, this, [weak = weak_from_this(), buffer] {
        if (const std::shared_ptr<Recording> recording = weak.lock()) recording->ForgetBuffer(buffer);
      });
    }
    return names;
  }

  void NameGraph(GraphRecord& graph, const std::string& wanted) {
    const bool isOperator = wanted.empty() && graph.kind == GraphKind::kOperator;
    const auto& op = graph.nodes.empty() ? nullptr : graph.nodes.front().op;
    graph.name = names_.New(isOperator ? Stem(op ? op->description.name : "") : wanted);
    graph.file = files_.New(FileStem(graph.name)) + ".json";
  }

  std::string NewDataFile(const std::string& name) { return "data/" + dataFiles_.New(FileStem(name)) + ".bin"; }

  std::string NameOf(ID3D12Resource* buffer, const std::string& hooked) {
    const auto found = bufferNames_.find(buffer);
    if (found != bufferNames_.end()) return found->second;
    const std::string name = hooked.empty() ? "buffer" + std::to_string(++buffers_) : hooked;
    GiveName(buffer, name);
    return name;
  }

  void GiveName(ID3D12Resource* buffer, const std::string& name) {
    bufferNames_[buffer] = name;
    owners_.emplace(name, buffer);
  }
  void FreeName(ID3D12Resource* buffer) {
    const auto named = bufferNames_.find(buffer);
    if (named == bufferNames_.end()) return;
    const auto owner = owners_.find(named->second);
    if (owner != owners_.end() && owner->second == buffer) owners_.erase(owner);
    bufferNames_.erase(named);
  }

  // Creates named resources for buffers.
  void Meet(const std::vector<BoundBuffer>& bound, const Names& names) {
    for (const BoundBuffer& item : bound) {
      if (item.buffer == nullptr) continue;
      const auto found = names.find(item.buffer);
      const std::string hooked = found == names.end() ? "" : found->second;
      program_.ResourceOf(item.buffer, [&] { return NameOf(item.buffer, hooked); });
    }
  }

  // --- Files ---

  void WriteProgram(std::string& problem) {
    ProgramText made = program_.Text();
    if (!folder_->Write(std::string(kProgramName) + ".json", made.text, problem)) return;
    const bool isNew = written_ == 0;
    written_ = program_.Size();
    isStale_ = false;
    ++changes_;
    const bool isListed = !isNew && made.withoutContents == withoutContents_ && made.constants == constants_;
    withoutContents_.swap(made.withoutContents);
    constants_.swap(made.constants);
    if (!isListed) WriteIndex(problem);
    folder_->Remove(kProgramJournal);  // its lines are obsolete: the file has their commands
  }

  // --- The index ---

  void List(const std::shared_ptr<GraphRecord>& graph, std::string& problem) {
    graph->place = graphs_.size();
    graphs_.push_back(graph);
    Changed(*graph, problem);
  }

  // The index of a small recording is rewritten at every change, that of a larger one whenever it has grown by a
  // sixteenth; the changes between are written to a journal, which the index names, so that no older one is read.
  void Changed(const GraphRecord& graph, std::string& problem) {
    if (++changes_ * 16 > graphs_.size()) return WriteIndex(problem);
    JsonWriter json;
    json.BeginObject().Key("number").Unsigned(graph.place).Key("graph");
    WriteGraph(json, graph);
    folder_->Append(IndexJournal(), json.EndObject().Take(), problem);
  }

  std::string IndexJournal() const { return "recording." + std::to_string(journal_) + kJournalSuffix; }

  void WriteIndex(std::string& problem) {
    const std::string old = IndexJournal();
    ++journal_;
    JsonWriter json;
    json.BeginObject(Layout::kLines).Key("dml2onnx_recording").Integer(kFormatVersion);
    json.Key("ended").Bool(isEnded_);
    if (!isEnded_) json.Key("journal").String(IndexJournal());
    std::vector<std::string> notes = notes_;
    if (written_ == 0) notes.insert(notes.end(), missing_.begin(), missing_.end());
    if (!notes.empty()) WriteNames(json.Key("unrecorded"), notes);
    json.Key("graphs").BeginArray(Layout::kLines);
    for (const auto& graph : graphs_) WriteGraph(json, *graph);
    if (written_ != 0) {
      json.BeginObject().Key("name").String(kProgramName).Key("kind").String("program");
      json.Key("nodes").Unsigned(written_).Key("file").String(std::string(kProgramName) + ".json");
      if (!isEnded_) json.Key("journal").String(kProgramJournal);
      WriteNames(json.Key("constants"), constants_);
      WriteNames(json.Key("without_contents"), withoutContents_);
      if (!missing_.empty()) WriteNames(json.Key("missing"), missing_);
      json.EndObject();
    }
    json.EndArray().EndObject();
    if (!folder_->Write(kIndexName, json.Take() + "\n", problem)) return;
    changes_ = 0;
    folder_->Remove(old);
  }

  void WriteGraph(JsonWriter& json, const GraphRecord& graph) const {
    static constexpr const char* kKinds[] = {"graph", "operator", "rejected"};
    json.BeginObject().Key("name").String(graph.name);
    json.Key("kind").String(kKinds[static_cast<int>(graph.kind)]).Key("nodes").Unsigned(graph.nodes.size());
    json.Key("file").String(graph.file);
    if (!graph.problem.empty()) json.Key("problem").String(graph.problem);
    if (!graph.unrecorded.empty()) json.Key("unrecorded").String(graph.unrecorded);
    std::map<UINT, Contents> contents = graph.contents;
    for (const auto& item : program_.Captured(graph)) contents.insert(item);
    if (!contents.empty()) WriteContents(json, graph, contents);
    json.EndObject();
  }

  static void WriteContents(JsonWriter& json, const GraphRecord& graph, const std::map<UINT, Contents>& contents) {
    json.Key("contents").BeginObject();
    std::map<UINT, std::string> names = graph.InputNames();
    for (const auto& item : contents) {
      json.Key(names[item.first]).BeginObject().Key("file").String(item.second.file);
      json.Key("offset").Unsigned(item.second.offset).Key("length").Unsigned(item.second.bytes).EndObject();
    }
    json.EndObject();
  }

  const RecordingOptions options_;
  const bool isReal_;
  const std::unique_ptr<Folder> folder_;
  std::mutex mutex_;
  UniqueNames names_, files_, dataFiles_;
  std::vector<std::shared_ptr<GraphRecord>> graphs_;
  Program program_;
  Names bufferNames_;
  std::map<std::string, ID3D12Resource*> owners_;  // the first buffer with each name
  std::set<ID3D12Resource*> tracked_;
  std::vector<std::string> constants_, withoutContents_;  // of the program on disk
  std::vector<std::string> notes_, missing_;  // unrecorded calls, and missing dispatches
  UINT operators_ = 0, numbered_ = 0, buffers_ = 0, journal_ = 0;
  std::size_t written_ = 0, changes_ = 0;
  bool isStale_ = false, isFull_ = false, isEnded_ = false;
};

}  // namespace detail
}  // namespace dml2onnx
