#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/eval/text.h"
#include "data/corpus.h"

namespace farfield::eval {

/// A split of a corpus as protocols see it, with its bytes counted and its text decoded by the
/// corpus's tokenizer, and the place of each token in the split's file. Its documents come in the
/// order that a seed chooses, so that two seeds read different text and runs of one seed the same;
/// without a seed in the order of the file.
/// Source    the public code of Sandwich and KERPLE, where a run's seed shuffles the documents of
///           evaluation as well
TokenStream stream_of_split(const data::Corpus& corpus, const std::string& split,
                            std::optional<uint64_t> order_seed = {});

}  // namespace farfield::eval
