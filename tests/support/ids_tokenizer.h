#pragma once

#include <string>
#include <vector>

#include "data/tokenizer.h"
#include "engine/base/error.h"

namespace farfield {

/// Stands for a tokenizer of any size: an id is decoded to one byte, nothing is encoded.
class IdsTokenizer final : public data::Tokenizer {
 public:
  IdsTokenizer(int64_t n_vocab, int32_t end)
      : Tokenizer("ids", concat("ids ", n_vocab, ' ', end)), n_vocab_(n_vocab), end_(end) {}

  int64_t n_vocab() const override { return n_vocab_; }
  int32_t end_of_document() const override { return end_; }
  void encode(std::string_view, std::vector<int32_t>&) const override {}
  std::string decode(std::span<const int32_t> ids) const override {
    for (const int32_t id : ids) check_id(id);
    return std::string(ids.size(), '.');
  }
  size_t cut(std::string_view text, size_t) const override { return text.size(); }

 private:
  int64_t n_vocab_;
  int32_t end_;
};

}  // namespace farfield
