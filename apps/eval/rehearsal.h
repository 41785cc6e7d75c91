#pragma once

#include <string>

#include "apps/eval/options.h"
#include "data/corpus.h"

namespace farfield::eval {

/// Why a measurement cannot be made on a split of a corpus, as far as it is known without a model:
/// the protocol runs up to its first pass over one. "" where it gets there. For programs that train
/// what they measure, so that they refuse before they train.
std::string problem_of(const std::string& protocol, const EvalOptions& eval,
                       const data::Corpus& corpus, const std::string& split, int64_t train_len);

}  // namespace farfield::eval
