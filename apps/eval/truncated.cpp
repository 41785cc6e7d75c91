#include "apps/eval/truncated.h"

#include <algorithm>

#include "apps/eval/subject.h"

namespace farfield::eval {

Scorer truncated(const Scorer& model, int64_t window, int64_t batch_tokens) {
  Scorer scorer;
  scorer.vocab_size = model.vocab_size;
  scorer.score = [model, window, batch_tokens](const Scorer::Ids& ids, const Scorer::Ids& targets,
                                               int64_t batch) {
    const auto length = static_cast<int64_t>(ids.size()) / batch;
    const auto n = static_cast<int64_t>(targets.size()) / batch;
    if (length <= window) return model.score(ids, targets, batch);
    CommonOptions common;
    common.batch_tokens = batch_tokens;
    std::vector<double> nll(targets.size());
    const auto target = [n](int64_t row, int64_t i) { return static_cast<size_t>(row * n + i); };

    // The first n_early targets of each row are predicted from the beginning of the row.
    const int64_t n_early = std::max<int64_t>(0, window - (length - n));
    if (n_early > 0) {
      in_batches(batch, window, common, [&](int64_t first, int64_t n_row) {
        Scorer::Ids some, asked;
        for (int64_t row = first; row < first + n_row; ++row) {
          some.insert(some.end(), ids.begin() + row * length, ids.begin() + row * length + window);
          asked.insert(asked.end(), targets.begin() + row * n, targets.begin() + row * n + n_early);
        }
        const std::vector<double> got = model.score(some, asked, n_row);
        for (size_t i = 0; i < got.size(); ++i)
          nll[target(first + static_cast<int64_t>(i) / n_early,
                     static_cast<int64_t>(i) % n_early)] = got[i];
      });
    }
    // Each other target has its own pass.
    const int64_t n_late = n - n_early;
    in_batches(batch * n_late, window, common, [&](int64_t first, int64_t n_pass) {
      Scorer::Ids some, asked;
      const auto row_of = [&](int64_t pass) { return pass / n_late; };
      const auto place_of = [&](int64_t pass) { return n_early + pass % n_late; };
      for (int64_t pass = first; pass < first + n_pass; ++pass) {
        const auto end = ids.begin() + (row_of(pass) + 1) * length - n + place_of(pass) + 1;
        some.insert(some.end(), end - window, end);
        asked.push_back(targets[target(row_of(pass), place_of(pass))]);
      }
      const std::vector<double> got = model.score(some, asked, n_pass);
      for (int64_t i = 0; i < n_pass; ++i)
        nll[target(row_of(first + i), place_of(first + i))] = got[static_cast<size_t>(i)];
    });
    return nll;
  };
  return scorer;
}

}  // namespace farfield::eval
