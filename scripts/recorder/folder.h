// The folder of a recording: files are written atomically, with names that are valid on all systems.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <system_error>

namespace dml2onnx {
namespace detail {

// Names that are unique regardless of case.
class UniqueNames {
 public:
  std::string New(const std::string& wanted) {
    std::string name = wanted;
    for (int number = 2; !taken_.insert(Lower(name)).second; ++number) name = wanted + "_" + std::to_string(number);
    return name;
  }
  void Free(const std::string& name) { taken_.erase(Lower(name)); }

 private:
  static std::string Lower(std::string text) {
    for (char& letter : text) {
      if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    }
    return text;
  }
  std::set<std::string> taken_;
};

// Returns `name` with only portable characters; never a device name of Windows.
inline std::string FileStem(const std::string& name) {
  static constexpr std::size_t kLongest = 80;
  std::string stem = "";
  for (const char letter : name.substr(0, kLongest)) {
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= '0' && letter <= '9') || letter == '-' || letter == '_' || letter == '.';
    stem += plain ? letter : '_';
  }
  if (stem.empty() || stem.front() == '.') stem.insert(0, "_");
  static constexpr const char* kDevices[] = {"con", "prn", "aux", "nul", "com", "lpt"};  // on Windows, with any suffix
  for (const char* device : kDevices) {
    bool same = stem.size() >= 3;
    for (std::size_t index = 0; same && index < 3; ++index) same = (stem[index] | 0x20) == device[index];
    if (same && (stem.size() < 5 || stem[3] == '.' || stem[4] == '.')) return stem.insert(0, "_");
  }
  return stem;
}

inline constexpr char kIndexName[] = "recording.json";
// Suffix of journals: changes since a file was written, one object per line.
inline constexpr char kJournalSuffix[] = ".jsonl";

// Returns a path as UTF-8, which has its own type in C++20.
inline std::string PathText(const std::filesystem::path& path) {
  const auto text = path.u8string();
  return std::string(text.begin(), text.end());
}

// Files are written under a temporary name and renamed, which replaces an earlier one atomically. Names are ASCII.
class Folder {
 public:
  // Creates the folder, or reuses that of an earlier run; errors are in `problem`. A folder in use by this run or by
  // another running program is not touched: the second device that wants "recording" gets "recording_2", and so on;
  // `elsewhere` has the reason.
  static std::unique_ptr<Folder> Open(const std::filesystem::path& wanted, std::string& problem,
                                      std::string& elsewhere) {
    std::error_code error;
    std::filesystem::path path = std::filesystem::absolute(wanted, error).lexically_normal();
    if (!error && !path.has_filename()) path = path.parent_path();  // "recording/"
    const std::lock_guard<std::mutex> lock(InUse().mutex);
    const std::filesystem::path first = path;
    for (int number = 2;; ++number) {
      const bool isOurs = InUse().paths.count(path) != 0;
      if (!isOurs && (number == 2 || !HoldsOthers(path))) {
        bool isTaken = false;
        std::unique_ptr<Folder> folder = OpenAt(path, problem, isTaken);
        if (folder) InUse().paths.insert(path);
        if (!isTaken) return folder;
      }
      if (number == 2) elsewhere = isOurs ? "this program has recorded" : "another program that runs records";
      path = first;
      path += "_" + std::to_string(number);
    }
  }

  const std::filesystem::path& Path() const { return path_; }

  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() = default;

  // Writes a whole file; returns false with a `problem` on errors.
  bool Write(const std::string& name, const void* data, std::size_t bytes, std::string& problem) const {
    const std::filesystem::path target = path_ / name;
    std::filesystem::path made = target;
    made += ".part";
    std::error_code error;
    {
      std::ofstream file(made, std::ios::binary | std::ios::trunc);
      file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
      file.close();
      if (!file) error = std::make_error_code(std::errc::io_error);
    }
    if (!error) std::filesystem::rename(made, target, error);
    if (!error) return true;
    problem = name + " cannot be written: " + error.message();
    std::filesystem::remove(made, error);
    return false;
  }
  bool Write(const std::string& name, const std::string& text, std::string& problem) const {
    return Write(name, text.data(), text.size(), problem);
  }

  // Appends a line to a journal; it is written even if the program crashes afterwards.
  bool Append(const std::string& name, const std::string& line, std::string& problem) const {
    std::ofstream file(path_ / name, std::ios::binary | std::ios::app);
    file << line + "\n";
    file.close();
    if (!file) problem = name + " cannot be written";
    return static_cast<bool>(file);
  }

  // Writes bytes at an offset, extending the file if necessary. Existing bytes do not change, so that concurrent
  // readers are not affected.
  bool Add(const std::string& name, std::uint64_t offset, const void* data, std::size_t bytes,
           std::string& problem) const {
    const std::filesystem::path target = path_ / name;
    std::error_code error;
    const std::uint64_t size = std::filesystem::file_size(target, error);
    if (!error && size < offset) std::filesystem::resize_file(target, offset, error);
    if (!error) {
      std::fstream file(target, std::ios::binary | std::ios::in | std::ios::out);
      file.seekp(static_cast<std::streamoff>(offset));
      file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
      file.close();
      if (!file) error = std::make_error_code(std::errc::io_error);
    }
    if (error) problem = name + " cannot be written: " + error.message();
    return !error;
  }

  void Remove(const std::string& name) const {
    std::error_code error;
    std::filesystem::remove(path_ / name, error);
  }

 private:
  struct Used {
    std::mutex mutex;
    std::set<std::filesystem::path> paths;
  };

  explicit Folder(std::filesystem::path path) : path_(std::move(path)) {}

  static bool HoldsOthers(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return false;
    return !std::filesystem::exists(path / kIndexName, error) && !std::filesystem::is_empty(path, error);
  }

  static std::unique_ptr<Folder> OpenAt(const std::filesystem::path& path, std::string& problem, bool& isTaken) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) {
      problem = "the folder " + PathText(path) + " cannot be made: " + error.message();
      return nullptr;
    }
    const bool isRecording = std::filesystem::exists(path / kIndexName, error);
    if (HoldsOthers(path)) {
      problem = "the folder " + PathText(path) + " holds other things than a recording";
      return nullptr;
    }
    isTaken = !TakeFolder(path);
    if (isTaken) return nullptr;
    std::unique_ptr<Folder> folder(new Folder(path));
    std::filesystem::create_directories(path / "data", error);
    if (!error) std::filesystem::create_directories(path / "operators", error);
    if (!error && isRecording) folder->RemoveEarlier(error);
    if (error) {
      problem = "the folder " + PathText(path) + " cannot be written: " + error.message();
      return nullptr;
    }
    return folder;
  }

  static Used& InUse() {
    static Used used;
    return used;
  }

  // Removes numbered operators, some of which would remain, and journals, which would be read.
  void RemoveEarlier(std::error_code& error) const {
    for (std::filesystem::directory_iterator entry(path_, error), end; !error && entry != end; entry.increment(error)) {
      std::error_code ignored;
      const std::string name = PathText(entry->path().filename());
      const bool isOurs = name.rfind("program.", 0) == 0 || name.rfind("recording.", 0) == 0;
      if (isOurs && entry->path().extension() == kJournalSuffix) std::filesystem::remove(entry->path(), ignored);
    }
    for (std::filesystem::directory_iterator entry(path_ / "operators", error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = PathText(entry->path().filename());
      if (name.size() > 5 && name[0] >= '0' && name[0] <= '9' && entry->path().extension() == ".json") {
        std::error_code ignored;
        std::filesystem::remove(entry->path(), ignored);
      }
    }
  }

  std::filesystem::path path_;
};

}  // namespace detail
}  // namespace dml2onnx
