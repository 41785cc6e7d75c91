#include "data/shuffled_documents.h"

#include <algorithm>
#include <utility>

#include "data/permutation.h"
#include "engine/base/error.h"
#include "engine/base/random.h"

namespace farfield::data {
ShuffledDocuments::ShuffledDocuments(Tokens tokens, const std::vector<int64_t>& begins,
                                     uint64_t seed)
    : tokens_(std::move(tokens)) {
  const auto n = static_cast<int64_t>(begins.size()) - 1;
  std::vector<Document> order;
  order.reserve(begins.size());
  int64_t at = 0;
  if (n > 0) {
    const Permutation shuffled(n, seed, stream_of("document order"));
    for (int64_t i = 0; i < n; ++i) {
      const auto document = static_cast<size_t>(shuffled[i]);
      order.push_back({at, begins[document]});
      at += begins[document + 1] - begins[document];
    }
  }
  order.push_back({at, begins.back()});
  order_ = std::make_shared<const std::vector<Document>>(std::move(order));
}

int64_t ShuffledDocuments::documents() const { return static_cast<int64_t>(order_->size()) - 1; }

void ShuffledDocuments::copy(int64_t begin, int64_t n, int32_t* out) const {
  require<ConfigError>(begin >= 0 && n >= 0 && n <= size() && begin <= size() - n, "tokens",
                       "expected a range of tokens within ", size(), ", got ", n, " from ", begin,
                       " on");
  auto next = std::upper_bound(order_->begin(), order_->end(), begin,
                               [](int64_t at, const Document& d) { return at < d.at; });
  while (n > 0) {
    const Document& document = *(next - 1);
    const int64_t end = next == order_->end() ? size() : next->at;
    const int64_t piece = std::min(n, end - begin);
    tokens_.copy(document.from + (begin - document.at), piece, out);
    begin += piece;
    out += piece;
    n -= piece;
    if (next != order_->end()) ++next;
  }
}

int64_t ShuffledDocuments::place(int64_t at) const {
  require<ConfigError>(at >= 0 && at < size(), "tokens", "expected a token within ", size(),
                       ", got ", at);
  const auto next = std::upper_bound(order_->begin(), order_->end(), at,
                                     [](int64_t i, const Document& d) { return i < d.at; });
  const Document& document = *(next - 1);
  return document.from + (at - document.at);
}

}  // namespace farfield::data
