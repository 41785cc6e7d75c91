#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/source.h"
#include "data/tokenizer.h"
#include "data/tokenizers/bpe_trainer.h"
#include "data/tokenizers/make.h"

namespace farfield::data {

/// The name of a tokenizer that prepare() learns from its inputs.
inline constexpr std::string_view kWordsTokenizer = "words";

enum class TokenizerKind { bpe, words };

struct TokenizerTraining {
  SourceOptions source;
  TokenizerKind kind = TokenizerKind::bpe;
  /// For words, size 0 means all words, and the other options are not used.
  BpeTrainerOptions vocabulary;
  TokenizerOptions tokenizer;  ///< of what is made
};

/// Progress of train_tokenizer(). Bytes count the input files as stored (compressed).
struct TrainingProgress {
  int64_t bytes_read = 0, bytes_total = 0;
  int64_t text_bytes = 0, documents = 0;
  int64_t tokens = 0, tokens_wanted = 0;  ///< 0 while text is read
};

struct TrainedTokenizer {
  TokenizerPtr tokenizer;
  std::string stopped;  ///< why there are fewer tokens than were asked for, or empty
  int64_t text_bytes = 0, documents = 0;
  int64_t n_tokens = 0;  ///< that the tokenizer makes of the counted text
  int64_t n_pieces = 0;  ///< different pieces (words) that were counted
  int64_t dropped = 0;   ///< others, seen too seldom to be kept
  Skipped skipped;
  std::vector<SourceRecord> sources;
};

/// Learns a tokenizer from all documents of the inputs; the same from the same inputs, whatever the
/// number of threads. Memory does not grow with the text. `progress` may throw to stop.
/// Throws    ConfigError (options, inputs that do not exist) or IoError (bad text, none at all)
TrainedTokenizer train_tokenizer(const TokenizerTraining& options,
                                 const std::function<void(const TrainingProgress&)>& progress = {});

}  // namespace farfield::data
