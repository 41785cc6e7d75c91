#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "data/tokenizers/bpe_definition.h"
#include "data/tokenizers/piece_counter.h"

namespace farfield::data {

struct BpeTrainerOptions {
  /// Tokens, all counted: 256 bytes, those that are learned, the special ones.
  int64_t vocab_size = 8192;
  std::vector<std::string> special;  ///< in front of <|endoftext|>, which comes last
  Normalizer normalizer = Normalizer::none;
};

/// The most tokens that can be learned.
inline constexpr int64_t kMostLearned = int64_t{1} << 20;

/// ConfigError unless the vocabulary has room for all bytes and special tokens and is at most
/// kMostLearned, and these tokens differ.
void check(const BpeTrainerOptions& options);

/// What the trainer counts: the pieces of the pattern gpt2. A longer one than 1 KiB is counted in
/// cuts of 1 KiB.
PieceRule bpe_pieces(Normalizer normalizer);

struct LearnedBpe {
  BpeDefinition definition;
  /// Why there are fewer tokens than were asked for; empty where there are not.
  std::string stopped;
  int64_t n_tokens = 0;  ///< that all the pieces consist of now
};

/// Merges the pair of tokens that occurs most often in the pieces into one, again and again until
/// the vocabulary is full; of pairs that occur alike the one with the smaller left id, then the
/// smaller right id. Ids are GPT-2's: the 256 bytes in the order of their characters, what merges
/// make in the order of these, the special tokens, <|endoftext|>. A merge that makes a token which
/// is there already takes no new id.
/// `progress` gets the tokens so far, now and then, and may throw to stop.
/// Source    Sennrich et al. 2016, arXiv:1508.07909, algorithm 1
LearnedBpe learn_bpe(const PieceTable& pieces, const BpeTrainerOptions& options,
                     const std::function<void(int64_t tokens)>& progress = {});

}  // namespace farfield::data
