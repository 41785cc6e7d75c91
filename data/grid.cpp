#include "data/grid.h"

#include <algorithm>

#include "engine/base/error.h"

namespace farfield::data {
namespace {

int64_t pieces_in(int64_t size, int64_t span, int64_t step) {
  return size < span ? 0 : (size - span) / step + 1;
}

}  // namespace

Grid::Grid(int64_t size, int64_t document_tokens, int64_t span, int64_t step) : step_(step) {
  require<ConfigError>(
      size >= 0 && document_tokens >= 0 && document_tokens < INT64_MAX && span > 0 && step > 0,
      "grid", "expected pieces of at least 1 token, at least 1 apart, got ", span, " and ", step);
  const bool is_row = document_tokens == 0;  // then it is like one document without an end
  period_ = is_row ? std::max<int64_t>(1, size) : document_tokens + 1;
  const int64_t in_document = pieces_in(is_row ? size : document_tokens, span, step);
  per_document_ = std::max<int64_t>(1, in_document);
  // Tokens behind the last document end may be a part of a document.
  n_ = is_row ? in_document : size / period_ * in_document + pieces_in(size % period_, span, step);
}

Grid Grid::windows(int64_t size, int64_t document_tokens, int64_t length) {
  return {size, document_tokens, std::min(length, INT64_MAX - 1) + 1, length};
}

}  // namespace farfield::data
