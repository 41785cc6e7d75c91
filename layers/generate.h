#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "layers/sampling.h"
#include "layers/transformer.h"

namespace farfield {

/// An error for a score that is NaN or infinite, so that no token can be chosen.
struct NonfiniteLogits : Error {
  NonfiniteLogits(int64_t at_position, uint64_t of_sequence, double found);

  int64_t position;   ///< of the token that was to be chosen, the prompt's first at 0
  uint64_t sequence;  ///< its number, GenerateOptions::first_sequence the first
  double score;
};

struct GenerateOptions {
  int64_t n_new = 1;  ///< tokens after the prompt
  /// Tokens that each layer looks back at, the newest included: the limit of the cache. 0: all.
  int64_t n_context = 0;
  double temperature = 0;       ///< scores are divided by it; 0: always the most likely token
  uint64_t seed = 0;            ///< of the choice
  uint64_t first_sequence = 0;  ///< number of the first row: a row's tokens depend on its number,
                                ///< not on the batch that it is part of
  int64_t n_token = 0;  ///< ids below it are chosen; 0: all rows of the head, padding included
  uint64_t draw = 0;    ///< for encodings that draw positions at random
  /// Called with the new token of each sequence; false ends the generation there.
  std::function<bool(std::span<const int32_t> next)> on_tokens = {};
  /// With n_context: the first tokens of each sequence, which stay in the cache beside the last.
  int64_t n_sink = 0;
  SamplingFilters filters = {};  ///< the penalty is of the prompt's tokens, too
};

struct Generated {
  std::vector<std::vector<int32_t>> tokens;  ///< of each sequence, without the prompt
  /// The reason why no cache was used, but a fresh pass for each token over the last n_context,
  /// renumbered from position 0; "" with a cache.
  std::string uncached;
  int64_t n_prompt_read = 0;  ///< rows of prompts that were read: 1 where all are the same
};

/// Continues each row of prompts, int32 [B, T].
///
/// Tokens come from a cache where the encoding allows one under the limit, else from fresh passes
/// (an input embedding numbers tokens from the start). The prompts are read in one pass; equal ones
/// once, unless the encoding draws positions at random. The random number of a token is a pure
/// function of the seed, the number of its sequence and its position; the choice is made in float64
/// (sampling.h).
///
/// Throws    ShapeError for prompts that are no [B, T]; ConfigError for an option out of range, and
///           without a limit or with sinks what KeyValueCache throws; NonfiniteLogits
Generated generate(const Transformer& model, const Tensor& prompts, const GenerateOptions& options);

}  // namespace farfield
