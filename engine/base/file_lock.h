#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace farfield {

/// Held by one process at a time, on a file (flock); gone when that process ends, whatever ends it.
/// The file stays, and holds the id of the process that had it last.
class FileLock {
 public:
  /// Empty if another process holds it for longer than `patience`. IoError, with `where`, for a
  /// path that is no regular file, and on a file system without locks.
  static std::optional<FileLock> take(const std::filesystem::path& file, std::string_view where,
                                      std::chrono::milliseconds patience = {});

  /// Whether a process has it now. Takes the lock for a moment to know. The file need not be
  /// writable.
  static bool is_held(const std::filesystem::path& file, std::string_view where);
  /// The process id in the file; "unknown" where there is none.
  static std::string owner(const std::filesystem::path& file);

  FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileLock& operator=(FileLock&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace farfield
