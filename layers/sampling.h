#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

// The choice of a token from the scores of all: first filters, each of which takes scores and
// returns others, then one random number. A token that is left out has the score -inf. Scores are
// finite or -inf, at least one is finite, and at least one stays so. Filters and their order are
// those of generate() in Hugging Face's transformers.

/// Which tokens may be chosen. The defaults change nothing.
struct SamplingFilters {
  double repetition_penalty = 1;  ///< above 0: of tokens that the sequence has already
  int64_t top_k = 0;              ///< at least 0: only the k most likely; 0: all
  double top_p = 1;               ///< above 0, up to 1: only the most likely that have this share
  double min_p = 0;               ///< 0 to 1: only those with this share of the most likely's

  bool do_nothing() const {
    return repetition_penalty == 1 && top_k == 0 && top_p == 1 && min_p == 0;
  }
};

/// ConfigError for a filter out of range, and for a temperature that is negative or not finite.
void check_sampling(double temperature, const SamplingFilters& filters);

/// Divides positive scores of tokens in `seen` by the penalty, and multiplies negative ones: a
/// token that occurs several times is changed once.
/// Source    Keskar et al. 2019, "CTRL", arXiv:1909.05858, section 4.1
std::vector<double> penalize_repetition(std::span<const double> scores,
                                        std::span<const int32_t> seen, double penalty);
/// Leaves out scores below the k-th largest; k = 0: none. Of equal scores all stay.
std::vector<double> keep_top_k(std::span<const double> scores, int64_t k);
/// Leaves out tokens that are not among the most likely whose probability, softmax(scores /
/// temperature), is p together: a token stays if those before it have less than p. Of equal scores
/// the lower id counts as more likely.
/// Source    Holtzman et al. 2020, "The Curious Case of Neural Text Degeneration",
///           arXiv:1904.09751, section 3.1
std::vector<double> keep_top_p(std::span<const double> scores, double temperature, double p);
/// Leaves out tokens whose probability is below p times that of the most likely.
/// Source    Nguyen et al. 2024, "Turning Up the Heat: Min-p Sampling", arXiv:2407.01082
std::vector<double> keep_min_p(std::span<const double> scores, double temperature, double p);

/// All filters, in the order above. Without a temperature (0) only the penalty matters: the most
/// likely token is never left out.
std::vector<double> filtered(std::span<const double> scores, std::span<const int32_t> seen,
                             double temperature, const SamplingFilters& filters);

/// The token that u in [0, 1) chooses: by inversion of the distribution softmax(scores /
/// temperature), in the order of ids; without a temperature the largest. Of equal scores the lowest
/// id is the largest.
int32_t choose_token(std::span<const double> scores, double temperature, double u);

}  // namespace farfield
