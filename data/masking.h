#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "data/loader.h"
#include "engine/base/random.h"

namespace farfield::data {

/// Masked language modelling: a share of the tokens of each sequence is chosen, and a model is
/// asked for these alone, from all others.
/// Source    Devlin, Chang, Lee and Toutanova 2019, "BERT", arXiv:1810.04805, section 3.1; so many
///           tokens of each sequence are chosen as in its public code
struct Masking {
  static constexpr double kUsualShare = 0.15;
  double share = kUsualShare;  ///< of the tokens of a sequence
  int32_t mask_token = 0;      ///< what hides a token: an id that the text does not have
  int64_t n_vocab = 0;         ///< ids of the text are below it
};

/// The random numbers of one sequence. `use` names what it is masked for: training and tests have
/// numbers of their own.
Random masking_random(uint64_t seed, std::string_view use, int64_t sequence);

/// How many of n > 0 tokens are chosen: `share` of them, rounded, and at least one.
int64_t n_masked(int64_t n, double share);
/// The places of these in a sequence, rising.
std::vector<int64_t> masked_places(int64_t n, double share, const Random& random);

/// Sequences of T tokens for a test: all chosen tokens become the mask token.
struct MaskedRows {
  std::vector<int32_t> ids;      ///< [n, T]
  std::vector<int32_t> places;   ///< of the chosen tokens, rows of [n T]
  std::vector<int32_t> targets;  ///< the tokens there

  void add(std::span<const int32_t> tokens, const Masking& masking, const Random& random);
};

/// Masks a batch of a text for training. A chosen token becomes the mask token (80 %), a random
/// token of the text's vocabulary (10 %), or stays (10 %); it is the target of its own place. Other
/// targets are kNotScored. A pure function of the batch, the seed and the step.
void mask(Batch& batch, const Masking& masking, uint64_t seed, int64_t step);

}  // namespace farfield::data
