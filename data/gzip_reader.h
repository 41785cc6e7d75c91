#pragma once

#include <memory>
#include <string>

#include "data/byte_reader.h"

namespace farfield::data {

/// Decompresses gzip (RFC 1952): members one after another, and zeros behind the last one, as some
/// tools pad a file.
///
/// Throws IoError, naming `file`, for an empty file, one cut inside a member, or damage.
class GzipReader final : public ByteReader {
 public:
  GzipReader(std::unique_ptr<ByteReader> compressed, std::string file);
  ~GzipReader() override;

  size_t read(char* out, size_t size) override;

 private:
  struct Decoder;
  void inflate_some();

  std::unique_ptr<ByteReader> compressed_;
  std::string file_;
  std::unique_ptr<Decoder> decoder_;
};

}  // namespace farfield::data
