#pragma once

#include <cstdint>

#include "apps/cli/options.h"
#include "apps/eval/subject.h"
#include "data/masking.h"

namespace farfield::eval {

struct MaskedOptions {
  double share =
      data::Masking::kUsualShare;  ///< of the tokens of a sequence, whatever the training
  uint64_t seed = 0;               ///< of the choice, the same for every model
};

void add_options(cli::Options& options, MaskedOptions& own);
void check(const MaskedOptions& own);

/// Perplexity of masked tokens of a text, under an encoder that was trained to fill them in. The
/// text is cut into sequences of L tokens that are read independently; of each a share of the
/// tokens, at least one, is replaced by the mask token, and these alone are predicted. The choice
/// follows from the seed, L and the number of the sequence. Such a perplexity is not one of a text:
/// it has no bits per byte.
///
/// Items are sequences.
///
/// Throws    IoError not_enough_data, bad_token; ConfigError bad_argument for a causal model
/// Source    Devlin, Chang, Lee and Toutanova 2019, "BERT", arXiv:1810.04805, section 3.1
ProtocolResult masked(const Subject& subject, const CommonOptions& common,
                      const MaskedOptions& own);

}  // namespace farfield::eval
