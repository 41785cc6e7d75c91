#pragma once

#include <memory>
#include <string>

#include "data/byte_reader.h"

namespace farfield::data {

/// Decompresses Zstandard: frames one after another, skippable frames among them, with or without a
/// content size.
///
/// Throws IoError, naming `file`, for an empty file, one cut inside a frame, damage, or a window
/// beyond 2^27 bytes.
class ZstdReader final : public ByteReader {
 public:
  ZstdReader(std::unique_ptr<ByteReader> compressed, std::string file);
  ~ZstdReader() override;

  size_t read(char* out, size_t size) override;

 private:
  struct Decoder;
  std::unique_ptr<ByteReader> compressed_;
  std::string file_;
  std::unique_ptr<Decoder> decoder_;
};

}  // namespace farfield::data
