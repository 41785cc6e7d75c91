#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "data/corpus.h"
#include "data/tokens.h"

namespace farfield::data {

/// Shares of train, valid and test.
using SplitWeights = std::array<double, 3>;

/// The default split of GPT-NeoX.
inline constexpr const char* kDefaultSplit = "949,50,1";

/// "949,50,1": one to three numbers of at least 0, not all 0; those left out are 0. ConfigError.
SplitWeights read_split_weights(const std::string& text);

/// Cuts n documents in a row: part k is documents [cut[k], cut[k + 1]), with cut[0] = 0 and
/// cut[3] = n.
///
/// The weights are normalised to sum 1; cuts are sums of round(weight n), half to even, and the
/// difference of the last cut to n is taken from all cuts but the first. ConfigError if a part
/// would get a negative size, as after a weight of 0 before others.
/// Source    GPT-NeoX, megatron/data/data_utils.py, get_train_valid_test_split_
std::array<int64_t, 4> split_documents(const SplitWeights& weights, int64_t n);

/// A row of tokens without an index, cut near its shares.
struct RowCuts {
  std::array<int64_t, 4> at =
      {};                       ///< as split_documents() of tokens, moved on to the next document
  bool is_at_documents = true;  ///< false: one stayed where it was, for no document begins near it
};

/// Cuts at beginnings of documents, each recognised by its mark; looks for a mark in at most
/// `n_near` tokens behind each share.
RowCuts cut_row(const Tokens& tokens, const SplitWeights& weights, DocumentMark mark,
                int32_t mark_id, int64_t n_near = int64_t{1} << 22);

}  // namespace farfield::data
