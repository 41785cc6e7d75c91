#pragma once

#include <cstdint>
#include <span>

#include "data/synthetic/topic.h"

namespace farfield::data {

/// Repetition in a document: where it is not copying already, each symbol with this probability
/// begins a copy of `length` symbols of the document, from a place that is uniform among those
/// which have as many before it.
struct CopyOptions {
  double probability = 0;  ///< 0: no copies, and no draws for them
  int64_t length = 16;
};

/// A document: `text` filled with symbols. Draws for each symbol that is not copied: whether a copy
/// begins and where it comes from, else the draws of Topic::next().
void write_document(const Topic& topic, const CopyOptions& copies, Draws& draws,
                    std::span<int32_t> text);

/// The cross-entropy in nats, summed over all symbols but the first, of a predictor that knows
/// theta and has seen the symbols before. Exact: every copy that may be under way is followed with
/// its probability.
double document_nats(const Topic& topic, const CopyOptions& copies, std::span<const int32_t> text);

}  // namespace farfield::data
