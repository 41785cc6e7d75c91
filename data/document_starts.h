#pragma once

#include <cstdint>
#include <vector>

#include "data/sequences.h"
#include "data/tokens.h"

namespace farfield::data {

/// Sequences that begin with a document: the first seq_len + 1 tokens of each document that has as
/// many, the end of the document included. Shorter documents are left out, and so is the rest of
/// longer ones. An epoch takes every such document once, in a pseudo-random order of its own.
class DocumentStarts final : public Sequences {
 public:
  /// `begins` as Corpus::document_begins() returns it of these tokens; what stands behind the last
  /// is a document too. ConfigError when no document
  /// is long enough.
  DocumentStarts(Tokens tokens, const std::vector<int64_t>& begins, int64_t seq_len, uint64_t seed);

  Place place(int64_t i) const override;
  void copy(int64_t i, int32_t* out) const override;
  int64_t per_epoch() const override { return static_cast<int64_t>(begins_.size()); }

 private:
  Tokens tokens_;
  int64_t seq_len_;
  uint64_t seed_;
  std::vector<int64_t> begins_;  // of the documents that are long enough
};

}  // namespace farfield::data
