#pragma once

#include <filesystem>
#include <optional>
#include <utility>

namespace farfield::sweep {

/// Held by the process that makes a cell, on a file of that cell; gone when that process ends,
/// whatever ends it.
class CellLock {
 public:
  /// Nothing when another process has it. IoError for a file that cannot be locked.
  static std::optional<CellLock> take(const std::filesystem::path& file);

  CellLock(CellLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  CellLock& operator=(CellLock&& other) = delete;
  ~CellLock();

 private:
  explicit CellLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

/// Whether a process makes the cell of this lock now.
bool is_being_made(const std::filesystem::path& file);

}  // namespace farfield::sweep
