#pragma once

#include <cstdint>
#include <vector>

#include "apps/cli/options.h"
#include "apps/eval/result.h"
#include "apps/eval/subject.h"

namespace farfield::eval {

struct PasskeyOptions {
  std::vector<int64_t> garbage = {0, 100, 500, 1000, 5000};  ///< characters
  int64_t prompts = 50;                                      ///< of each amount of garbage
  uint64_t seed = 0;                                         ///< of the prompts, for every model
};

void add_options(cli::Options& options, PasskeyOptions& own);
void check(const PasskeyOptions& own);

/// How often a model finds a number, the pass key, in a text of garbage
/// (data/tasks/passkey_text.h). Each prompt is continued greedily by 10 tokens. The answer is the
/// first run of digits before the end of a document; it is right if it equals the key.
///
/// LengthResult::length counts characters of garbage. Quantities: accuracy, accuracy_error
/// (standard error over the prompts), chance (1/50000), answered (share of the prompts that are
/// answered with some number), prompt_tokens (mean). Series: accuracy by the place of the key, the
/// share of the garbage before it, in 10 parts; NaN for a part without a prompt, no series without
/// garbage. The notes have the continuation of the first prompt.
///
/// Throws    ConfigError bad_argument for a model that was trained on a task; IoError bad_token for
///           a tokenizer that cannot read the prompt. The cell fails with nonfinite_logits, naming
///           the prompt
/// Source    Mohtashami and Jaggi 2023, "Landmark Attention", arXiv:2305.16300, and its code
ProtocolResult measure_passkey(const Subject& subject, const CommonOptions& common,
                               const PasskeyOptions& own);

}  // namespace farfield::eval
