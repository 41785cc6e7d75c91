#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "engine/base/hash.h"

namespace farfield::data {

/// Size and hash of the files that were read, as they are stored.
struct Tally {
  Hasher hasher;
  int64_t size_bytes = 0;
};

/// Bytes that come in blocks.
class ByteReader {
 public:
  virtual ~ByteReader() = default;
  /// Puts 1 to `size` bytes at `out` and returns how many; 0 at the end. size > 0.
  virtual size_t read(char* out, size_t size) = 0;
};

/// The bytes of a file as they are; each is added to `tally`. IoError names the file and the
/// reason.
class FileReader final : public ByteReader {
 public:
  FileReader(const std::filesystem::path& path, Tally& tally);
  ~FileReader() override;
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  size_t read(char* out, size_t size) override;

 private:
  std::string file_;
  int descriptor_;
  Tally& tally_;
};

/// The text of a file: decompressed when its name ends in ".zst" or ".gz", as it is otherwise.
std::unique_ptr<ByteReader> open_reader(const std::filesystem::path& path, Tally& tally);

}  // namespace farfield::data
