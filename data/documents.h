#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "data/corpus.h"

namespace farfield::data {

/// Takes the documents of a split one after the other.
struct DocumentTaker {
  /// Ids of the document, some at a time, without the one that marks its end.
  std::function<void(std::span<const int32_t> ids)> append;
  /// The document is over. has_end: it has the mark, or the format implies it.
  std::function<void(bool has_end)> end;
};

/// Hands out the documents of a split, in blocks; errors as Tokens::copy(). A document that was cut
/// at the end of the split has no end.
void each_document(const Corpus& corpus, std::string_view split, const DocumentTaker& taker);

}  // namespace farfield::data
