#include "data/documents.h"

#include <algorithm>
#include <vector>

namespace farfield::data {
namespace {

constexpr int64_t kBlock = int64_t{1} << 16;

// Calls take with the tokens from `begin` to `end`, a block at a time.
void each_block(const Tokens& tokens, int64_t begin, int64_t end,
                const std::function<void(std::span<const int32_t>)>& take) {
  std::vector<int32_t> ids(static_cast<size_t>(std::min(kBlock, end - begin)));
  for (int64_t n = 0; begin < end; begin += n) {
    n = std::min(kBlock, end - begin);
    tokens.copy(begin, n, ids.data());
    take({ids.data(), static_cast<size_t>(n)});
  }
}

void each_indexed(const Corpus& corpus, std::string_view split, const DocumentTaker& taker) {
  const Tokens& tokens = corpus.split(split);
  const int32_t mark = corpus.tokenizer().end_of_document();
  const std::vector<int64_t> begins = corpus.document_begins(split);
  const auto hand_out = [&](int64_t begin, int64_t end) {
    const bool has_end = end > begin && tokens[end - 1] == mark;
    each_block(tokens, begin, has_end ? end - 1 : end, taker.append);
    taker.end(has_end);
  };
  for (size_t i = 0; i + 1 < begins.size(); ++i) hand_out(begins[i], begins[i + 1]);
  if (begins.back() < tokens.size()) hand_out(begins.back(), tokens.size());
}

void each_marked(const Corpus& corpus, std::string_view split, const DocumentTaker& taker) {
  const int32_t mark = corpus.tokenizer().end_of_document();
  const bool is_behind = corpus.mark() == DocumentMark::end_behind;
  bool is_open = false;
  const Tokens& tokens = corpus.split(split);
  each_block(tokens, 0, tokens.size(), [&](std::span<const int32_t> ids) {
    while (!ids.empty()) {
      const auto n = static_cast<size_t>(std::find(ids.begin(), ids.end(), mark) - ids.begin());
      if (n > 0) taker.append(ids.first(n));
      is_open = is_open || n > 0;
      if (n == ids.size()) break;
      if (is_behind || is_open) taker.end(true);
      is_open = !is_behind;
      ids = ids.subspan(n + 1);
    }
  });
  if (is_open) taker.end(!is_behind && mark != Tokenizer::kNone && !corpus.is_cut(split));
}

}  // namespace

void each_document(const Corpus& corpus, std::string_view split, const DocumentTaker& taker) {
  if (corpus.has_index()) {
    each_indexed(corpus, split, taker);
  } else {
    each_marked(corpus, split, taker);
  }
}

}  // namespace farfield::data
