#include "data/document_split.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::data {

SplitWeights read_split_weights(const std::string& text) {
  SplitWeights weights = {};
  size_t n = 0;
  bool is_good = !text.empty();
  for (size_t at = 0; is_good && at <= text.size(); ++n) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string_view part = trimmed(std::string_view(text).substr(at, end - at));
    double weight = 0;
    const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), weight);
    is_good = n < weights.size() && error == std::errc() && stop == part.data() + part.size() &&
              std::isfinite(weight) && weight >= 0;
    if (is_good) weights[n] = weight;
    at = end + 1;
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  require<ConfigError>(is_good && sum > 0 && std::isfinite(sum), "corpus",
                       "--data-split: expected the shares of train, valid and test, as in ",
                       kDefaultSplit, ", got '", text, "'");
  return weights;
}

std::array<int64_t, 4> split_documents(const SplitWeights& weights, int64_t n) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::array<int64_t, 4> cuts = {};
  for (size_t k = 0; k < weights.size(); ++k)  // nearbyint: half to even
    cuts[k + 1] =
        cuts[k] + static_cast<int64_t>(std::nearbyint(weights[k] / sum * static_cast<double>(n)));
  const int64_t excess = cuts.back() - n;
  for (size_t k = 1; k < cuts.size(); ++k) cuts[k] -= excess;
  require<ConfigError>(std::is_sorted(cuts.begin(), cuts.end()), "corpus",
                       "--data-split: the shares ", joined(weights, ","), " of ", n,
                       " documents round to less than none for the first; choose others");
  return cuts;
}

RowCuts cut_row(const Tokens& tokens, const SplitWeights& weights, DocumentMark mark,
                int32_t mark_id, int64_t n_near) {
  RowCuts cuts = {split_documents(weights, tokens.size())};
  std::vector<int32_t> ids;
  for (const size_t k : {1, 2}) {
    int64_t& cut = cuts.at[k];
    cut = std::max(cut, cuts.at[k - 1]);
    if (cut == 0 || cut == tokens.size()) continue;
    // A document begins behind a mark, so the token before the cut counts, or at one.
    const int64_t from = mark == DocumentMark::end_behind ? cut - 1 : cut;
    bool is_found = false;
    int64_t at = from;
    for (int64_t n = 0; !is_found && at < tokens.size() && at - from < n_near; at += n) {
      n = std::min({int64_t{1} << 14, tokens.size() - at, n_near - (at - from)});
      ids.resize(static_cast<size_t>(n));
      tokens.copy(at, n, ids.data());
      const auto found = std::find(ids.begin(), ids.end(), mark_id);
      is_found = found != ids.end();
      if (is_found) n = found - ids.begin();
    }
    if (is_found) {
      cut = mark == DocumentMark::end_behind ? at + 1 : at;
    } else {
      cuts.is_at_documents = false;
    }
  }
  return cuts;
}

}  // namespace farfield::data
