#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "data/encode.h"
#include "data/manifest.h"
#include "data/shares.h"
#include "data/token_file.h"

namespace farfield::data {

/// Writes the three token files of a corpus, a piece of text at a time.
class SplitWriter {
 public:
  /// `most_uncut` as Encoder has it.
  SplitWriter(const std::filesystem::path& folder, const Tokenizer& tokenizer, int64_t most_uncut);

  void add(size_t split, std::string_view text, Encoder::End end);
  /// Counts of a split written so far; tokens come late.
  const TokenCounts& counts(size_t split) const { return writers_.at(split)->counts(); }
  /// Makes the tokens of all that was added. Once, after the last add().
  void flush() { encoder_.flush(); }
  /// The files of splits that all have text.
  void commit(Manifest& manifest);

  int64_t tokens() const;
  int64_t text_bytes() const { return size_; }

 private:
  std::vector<std::unique_ptr<TokenWriter>> writers_;
  Encoder encoder_;
  int64_t size_ = 0;                    // bytes of all texts
  std::array<int64_t, 3> pieces_ = {};  // of each split, bytes of the text that has not ended
};

/// Cuts texts, taken as one of `total` bytes, by their shares of these, between characters.
class OrderedSplit {
 public:
  OrderedSplit(size_t total, const Shares& shares, SplitWriter& writer)
      : ends_{cuts(shares, total)[0], cuts(shares, total)[1], total}, writer_(writer) {}

  /// A block of a document, its last or not.
  void add(std::string_view text, bool is_last);

 private:
  size_t ends_[3];
  SplitWriter& writer_;
  size_t split_ = 0, before_ = 0;  // bytes of the texts before this one
};

}  // namespace farfield::data
