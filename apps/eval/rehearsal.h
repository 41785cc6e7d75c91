#pragma once

#include <string>

#include "apps/eval/options.h"
#include "data/corpus.h"

namespace farfield::eval {

/// The reason why a split of a corpus does not allow a measurement, as far as it is known without a
/// model: the protocol runs up to its first pass over a model. "" if it gets there. For programs
/// that train models and then measure them, so that they refuse before they train.
std::string problem_of(const std::string& protocol, const EvalOptions& eval,
                       const data::Corpus& corpus, const std::string& split, int64_t train_len);

}  // namespace farfield::eval
