#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace farfield {

/// A file open for reading: a regular one, a pipe (also what a shell makes of `<(...)`), a device
/// such as /dev/stdin. Opening never waits. Every failure is an IoError that names the path and the
/// system's reason.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);
  /// The standard input of this process.
  static InputFile standard_input();
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;

  /// Puts 1 to `size` bytes at `out` and returns how many; 0 at the end. size > 0.
  ///
  /// Waits for the bytes of a pipe as long as a process has it open for writing, and 5 seconds for
  /// a process to open it. Meanwhile `while_waiting` is called now and then, and may throw.
  size_t read(char* out, size_t size, const std::function<void()>& while_waiting = {});

  bool is_regular() const { return kind_ == Kind::regular; }
  bool is_folder() const { return kind_ == Kind::folder; }
  /// Whether its bytes come in order from elsewhere: a pipe or a device of characters.
  bool is_stream() const { return kind_ == Kind::pipe || kind_ == Kind::characters; }
  /// Bytes of a regular file; 0 of others.
  int64_t size() const { return size_; }
  int descriptor() const { return descriptor_; }

 private:
  enum class Kind { regular, folder, pipe, characters, other };
  InputFile(std::string name, int descriptor, bool may_block);
  bool nobody_writes(char* out, size_t size, size_t& got) const;

  std::string name_;
  int descriptor_;
  bool may_block_;  // a read without bytes would wait: the flags are shared with other processes
  Kind kind_ = Kind::other;
  int64_t size_ = 0;
  bool has_begun_ = false;
};

}  // namespace farfield
