#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace farfield {

// Every failure here is an IoError that names the path and the system's reason, but for a
// BackendError where there is no room to map a file.

/// The type of the file at this path, links followed; file_type::not_found if there is none.
/// IoError if the type cannot be determined, as in a folder without search permission: a hidden
/// file is not a missing one.
std::filesystem::file_status status_of(const std::filesystem::path& path);
inline bool is_there(const std::filesystem::path& path) {
  return std::filesystem::exists(status_of(path));
}
inline bool is_file(const std::filesystem::path& path) {
  return std::filesystem::is_regular_file(status_of(path));
}
inline bool is_folder(const std::filesystem::path& path) {
  return std::filesystem::is_directory(status_of(path));
}
/// Whether a folder without entries has that name.
bool is_empty_folder(const std::filesystem::path& path);

/// The whole file as bytes. Of a pipe or a device (InputFile) at most 1 GiB.
std::string read_file(const std::filesystem::path& path);

/// A regular file mapped for reading, or the contents of a pipe. The file must not be shortened
/// while it is mapped; files written by AtomicFile never are.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  std::unique_ptr<const std::string> kept_;  // of a pipe: nothing is mapped
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// A file that appears complete or not at all: written as "<path>.tmp-<process id>" (temporary.h),
/// flushed to disk and renamed by commit(). Without commit() the destructor leaves an existing file
/// unchanged. `path` must not name a device, a pipe or a folder. If `path` is a symbolic link, its
/// target is written (write_target.h), and the link stays.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* bytes, size_t size);
  void write(std::string_view bytes) { write(bytes.data(), bytes.size()); }
  /// Puts other bytes over the first `size` written: a header whose counts are known at the end.
  void rewrite_start(const void* bytes, size_t size);
  /// Bytes given to write() so far.
  uint64_t size() const { return size_; }
  /// Passes everything written so far to the system.
  void flush();
  /// Makes the file visible under its name. Once; nothing may be written afterwards.
  void commit();

 private:
  void discard();

  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
  std::string buffer_;
  uint64_t size_ = 0;
};

void write_file_atomic(const std::filesystem::path& path, std::string_view bytes);

/// Appends all of the bytes to an existing file, or none.
void append_file(const std::filesystem::path& path, std::string_view bytes);

/// A folder that appears complete or not at all: fill folder(), then commit().
///
/// folder() is "<path>.tmp-<process id>" (temporary.h), a new empty folder beside the final one;
/// destroyed without commit() it is removed with everything in it. A link is followed, as
/// AtomicFile does.
class AtomicFolder {
 public:
  /// Makes the parent folders too.
  explicit AtomicFolder(const std::filesystem::path& path);
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  const std::filesystem::path& folder() const { return temporary_; }
  /// Renames folder() to the final path. An existing folder there must be empty, unless `replace`
  /// is set: then the two are exchanged in one step if the file system can, and the old one is
  /// removed.
  void commit(bool replace = false);

 private:
  std::filesystem::path path_, temporary_;
  int lock_ = -1;  // on folder()
  bool committed_ = false;
};

/// IoError unless a file of this name could be written now. Leaves nothing.
void require_writable_file(const std::filesystem::path& path);
/// The same for files in a folder, which is made and stays.
void require_writable_folder(const std::filesystem::path& folder);

}  // namespace farfield
