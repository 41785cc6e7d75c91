#include "apps/eval/sequences.h"

#include "engine/base/error.h"

namespace farfield::eval {

std::vector<std::vector<double>> score_sequences(std::string_view protocol, const Subject& subject,
                                                 const CommonOptions& common,
                                                 const std::vector<int64_t>& starts, int64_t n,
                                                 LengthResult& cell) {
  std::vector<std::vector<double>> rows;
  Scorer::Ids window(static_cast<size_t>(n + 1));
  in_batches(static_cast<int64_t>(starts.size()), n, common, [&](int64_t first, int64_t batch) {
    if (!cell.failure.empty()) return;
    Scorer::Ids ids, targets;
    for (int64_t i = first; i < first + batch; ++i) {
      read_tokens(protocol, subject.text, subject.model.scorer.vocab_size,
                  starts[static_cast<size_t>(i)], n + 1, window.data());
      ids.insert(ids.end(), window.begin(), window.end() - 1);
      targets.insert(targets.end(), window.begin() + 1, window.end());
    }
    const std::vector<double> nll = subject.model.scorer.score(ids, targets, batch);
    for (int64_t i = 0; i < batch; ++i) {
      const auto row = nll.begin() + i * n;
      for (int64_t t = 0; t < n; ++t)
        if (note_nonfinite(cell, protocol, row[t],
                           concat("sequence ", first + i, " (from token ",
                                  starts[static_cast<size_t>(first + i)], ") at position ", t + 1)))
          return;
      rows.emplace_back(row, row + n);
    }
  });
  return rows;
}

TokenSet tokens_at(const std::vector<int64_t>& starts, int64_t q, int64_t n) {
  TokenSet tokens;
  for (const int64_t start : starts) tokens.add(start + analysis::first_position_at(q, n), n);
  return tokens;
}

}  // namespace farfield::eval
