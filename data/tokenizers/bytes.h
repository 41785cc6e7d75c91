#pragma once

#include "data/tokenizer.h"

namespace farfield::data {

/// id = byte, and 256 ends a document; it stands for no bytes. Needs no file.
class ByteTokenizer final : public Tokenizer {
 public:
  ByteTokenizer();

  int64_t n_vocab() const override { return 257; }
  int32_t end_of_document() const override { return 256; }
  void encode(std::string_view text, std::vector<int32_t>& ids) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  size_t cut(std::string_view text, size_t from) const override;
};

}  // namespace farfield::data
