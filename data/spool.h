#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace farfield::data {

/// Bytes put aside on disk, in an unnamed file that disappears with its process, however that ends.
/// One thread writes while others read what is there. IoError names the folder.
class Spool {
 public:
  /// `folder` empty: where temporary files go (TMPDIR).
  explicit Spool(std::filesystem::path folder);
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  void append(std::string_view bytes);
  int64_t size() const { return size_; }
  /// Bytes [begin, begin + n) to out; they have been appended.
  void read(int64_t begin, size_t n, char* out) const;
  void clear();

 private:
  std::filesystem::path folder_;
  int descriptor_ = -1;
  int64_t size_ = 0;
};

}  // namespace farfield::data
