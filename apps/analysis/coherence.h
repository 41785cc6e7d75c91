#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// Numbers for questions that the write-up "Extending Context is Hard...but not Impossible" (2023)
// answers by reading: whether text is coherent, and where a model breaks down.

namespace farfield::analysis {

/// How far a curve of perplexity stays near that at the training length.
struct Coherence {
  std::vector<bool> is_coherent = {};     ///< [L] perplexity <= 1.25 reference
  double share = std::nan("");            ///< of the positions that are coherent
  double share_beyond = std::nan("");     ///< of those after train_len; NaN when there are none
  std::optional<int64_t> breakdown = {};  ///< position, from 1; see below
};

/// Of smoothed perplexities [L], position t at entry t - 1, against the perplexity at train_len.
/// The breakdown is the first t > train_len with train_len / 8 positions (1 at least) from t on all
/// above 2 reference; the write-up saw about 1.07 train_len.
///
/// Throws    ConfigError bad_argument for no positions, one whose perplexity is NaN, train_len < 1,
///           or a reference that is not a positive number
Coherence coherence(std::span<const double> perplexity, double reference, int64_t train_len);

/// Perplexity by place in a block, [modulus]: entry r is exp of the mean nll over the predictions
/// made at position ids r, r + modulus, r + 2 modulus ..., ids counting from 0, so at positions t
/// with (t - 1) mod modulus = r.
///
/// Throws    ConfigError bad_argument unless 1 <= modulus <= mean_nll.size()
std::vector<double> perplexity_by_residue(std::span<const double> mean_nll, int64_t modulus);

/// Different n-grams / n-grams of a text: 1 when nothing comes twice, below 0.2 for n = 4 in a text
/// that ends in a short cycle.
///
/// Throws    ConfigError bad_argument for n < 1 or fewer than n tokens
double distinct_share(std::span<const int32_t> text, int64_t n = 4);

/// The share of a text that its longest cycle takes: the longest stretch in which, for some period
/// p, each token after the first p equals the one p before it, two whole periods at least. 0 when
/// no stretch repeats. Takes O(tokens^2): meant for a few thousand.
///
/// Throws    ConfigError bad_argument for an empty text
double cycle_share(std::span<const int32_t> text);

}  // namespace farfield::analysis
