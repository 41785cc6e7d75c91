#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "data/tokens.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"

namespace farfield::data {

/// The name in meta.json: "u16".
std::string name_of(IdType type);

/// A file of ids in the making, little-endian, of u16, u32 or i32.
class IdFile {
 public:
  IdFile(const std::filesystem::path& path, IdType type)
      : file_(path), name_(path.string()), type_(type) {}

  /// Bytes before the ids.
  void write_header(const void* bytes, size_t size) { file_.write(bytes, size); }
  void rewrite_header(const void* bytes, size_t size) { file_.rewrite_start(bytes, size); }
  /// Their bytes in the file go to `hasher` too. ConfigError, naming the file and the id, for an id
  /// that does not fit.
  void append(std::span<const int32_t> ids, Hasher& hasher);
  int64_t tokens() const { return tokens_; }
  void flush() { file_.flush(); }
  void commit() { file_.commit(); }

 private:
  AtomicFile file_;
  std::string name_;
  IdType type_;
  int64_t tokens_ = 0;
  std::string packed_;
};

}  // namespace farfield::data
