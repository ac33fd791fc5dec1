// Locks of folders, to detect other running programs.

#include <cerrno>
#include <filesystem>

#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#endif

namespace dml2onnx {
namespace detail {

// Locks a folder until the program ends, even by a crash; returns false if it is locked. On file systems without locks,
// such as some network shares, it always succeeds.
inline bool TakeFolder(const std::filesystem::path& folder) {
#if defined(_WIN32)
  const HANDLE file = ::CreateFileW((folder / "recording.lock").c_str(), GENERIC_WRITE, 0, nullptr, OPEN_ALWAYS,
                                    FILE_ATTRIBUTE_NORMAL | FILE_FLAG_DELETE_ON_CLOSE, nullptr);
  return file != INVALID_HANDLE_VALUE || ::GetLastError() != ERROR_SHARING_VIOLATION;
#else
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0 || ::flock(opened, LOCK_EX | LOCK_NB) == 0) return true;
  const bool isTaken = errno == EWOULDBLOCK;
  ::close(opened);
  return !isTaken;
#endif
}

}  // namespace detail
}  // namespace dml2onnx
