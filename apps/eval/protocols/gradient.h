#pragma once

#include <string>

#include "apps/cli/options.h"
#include "apps/eval/subject.h"

namespace farfield::eval {

struct GradientOptions {
  int64_t segments = 100;
  double tau = 0.99;           ///< a receptive field holds more than this share of the gradient
  std::string scalar = "nll";  ///< or logit, top-logit, entropy: the differentiated number
};

void add_options(cli::Options& options, GradientOptions& own);
void check(const GradientOptions& own);

/// How far back a model looks: the gradient of the prediction of a segment's last token by the
/// embedding of each of the L - 1 tokens before it. Its norms are shares of their sum, averaged
/// over segments; the empirical receptive field is the number of last inputs whose shares exceed
/// tau. Segments are drawn as in last-token.
///
/// Throws    ConfigError bad_argument for a stand-in; IoError not_enough_data, bad_token. A cell
///           fails with nonfinite_gradient or zero_gradient, naming the segment
/// Source    Chi, Fan, Rudnicky and Ramadge 2022, "Dissecting Transformer Length Extrapolation via
///           the Lens of Receptive Field Analysis", arXiv:2212.10356, section 5.1
ProtocolResult gradient(const Subject& subject, const CommonOptions& common,
                        const GradientOptions& own);

}  // namespace farfield::eval
