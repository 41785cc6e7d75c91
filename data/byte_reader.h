#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/hash.h"
#include "engine/base/input_file.h"

namespace farfield::data {

/// Size and hash of the files that were read, as they are stored.
struct Tally {
  Hasher hasher;
  std::atomic<int64_t> size_bytes{0};  ///< other threads may look at it meanwhile
  /// Set from another thread: reading ends with Interrupted. May be null.
  const std::atomic<bool>* is_stopped = nullptr;
};

/// Bytes that come in blocks.
class ByteReader {
 public:
  virtual ~ByteReader() = default;
  /// Puts 1 to `size` bytes at `out` and returns how many; 0 at the end. size > 0.
  virtual size_t read(char* out, size_t size) = 0;
};

/// The name of standard input among inputs.
inline constexpr std::string_view kStandardInput = "-";

/// Whether the path is a stream, which is read once, in order, and known by its bytes alone: "-", a
/// pipe, /dev/stdin and the like. IoError if that cannot be determined.
bool is_stream(const std::filesystem::path& path);

/// The bytes of a file, or of standard input, as they are; each is added to `tally`. IoError names
/// the file and the reason.
class FileReader final : public ByteReader {
 public:
  FileReader(const std::filesystem::path& path, Tally& tally);

  size_t read(char* out, size_t size) override;

 private:
  void stop_if_asked() const;

  InputFile file_;
  std::string name_;
  Tally& tally_;
};

/// Passes on the bytes of another reader, after a look at the first ones.
class PeekReader final : public ByteReader {
 public:
  /// `fills`: the first read returns the examined bytes together with later bytes, as without the
  /// look. Not for a stream, whose next bytes may take long.
  explicit PeekReader(std::unique_ptr<ByteReader> bytes, bool fills = false)
      : bytes_(std::move(bytes)), fills_(fills) {}
  /// The first bytes: at least n of them, unless the input is shorter.
  std::string_view peek(size_t n);
  size_t read(char* out, size_t size) override;

 private:
  std::unique_ptr<ByteReader> bytes_;
  bool fills_;
  std::string first_;
  size_t at_ = 0;  // the part of first_ that has been read
};

/// The text of a file: decompressed when its name ends in ".zst" or ".gz", or, of a stream, when it
/// begins as such files do; as it is otherwise.
std::unique_ptr<ByteReader> open_reader(const std::filesystem::path& path, Tally& tally);

}  // namespace farfield::data
