#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "data/tokenizers/bpe_definition.h"
#include "data/tokenizers/piece_counter.h"

namespace farfield::data {

struct BpeTrainerOptions {
  /// Number of all tokens: 256 bytes, learned tokens, special tokens.
  int64_t vocab_size = 8192;
  std::vector<std::string> special;  ///< in front of <|endoftext|>, which comes last
  Normalizer normalizer = Normalizer::none;
};

/// The most tokens that can be learned.
inline constexpr int64_t kMostLearned = int64_t{1} << 20;

/// ConfigError unless the vocabulary has room for all bytes and special tokens and is at most
/// kMostLearned, and these tokens differ.
void check(const BpeTrainerOptions& options);

/// The trainer counts the pieces of the pattern gpt2. A longer one than 1 KiB is counted in cuts of
/// 1 KiB.
PieceRule bpe_pieces(Normalizer normalizer);

struct LearnedBpe {
  BpeDefinition definition;
  /// The reason for fewer tokens than requested; empty otherwise.
  std::string stopped;
  int64_t n_tokens = 0;  ///< that all the pieces consist of now
};

/// Merges the most frequent pair of tokens in the pieces into one token, until the vocabulary is
/// full; of equally frequent pairs the one with the smaller left id, then the smaller right id. Ids
/// are in GPT-2's order: the 256 bytes in the order of their characters, merged tokens in the order
/// of the merges, the special tokens, <|endoftext|>. A merge that makes an existing token takes no
/// new id. `progress` gets the tokens so far, now and then, and may throw to stop.
/// Source    Sennrich et al. 2016, arXiv:1508.07909, algorithm 1
LearnedBpe learn_bpe(const PieceTable& pieces, const BpeTrainerOptions& options,
                     const std::function<void(int64_t tokens)>& progress = {});

}  // namespace farfield::data
