#include "data/mixture.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/permutation.h"
#include "engine/base/error.h"
#include "engine/base/random.h"

namespace farfield::data {

Mixture::Mixture(const std::vector<double>& weights, uint64_t seed) : seed_(seed) {
  constexpr std::string_view kWhere = "mixture";
  require<ConfigError>(!weights.empty() && weights.size() <= size_t{kRound}, kWhere,
                       "expected 1 to ", kRound, " sources, got ", weights.size());
  double sum = 0;
  for (const double weight : weights) {
    require<ConfigError>(std::isfinite(weight) && weight > 0, kWhere,
                         "expected finite weights above 0, got ", weight);
    sum += weight;
  }
  // Largest remainders, so that the shares fill the round; each source has one row at least.
  std::vector<int64_t> rows;
  std::vector<double> remainders;
  for (const double weight : weights) {
    const double share = weight / sum * static_cast<double>(kRound);
    rows.push_back(std::max(int64_t{1}, static_cast<int64_t>(std::floor(share))));
    remainders.push_back(share - static_cast<double>(rows.back()));
  }
  for (int64_t left = kRound - std::accumulate(rows.begin(), rows.end(), int64_t{0}); left != 0;) {
    const auto at =
        left > 0 ? std::max_element(remainders.begin(), remainders.end())
                 : remainders.begin() + (std::max_element(rows.begin(), rows.end()) - rows.begin());
    const int64_t step = left > 0 ? 1 : -1;  // too many only where tiny shares were rounded up
    rows[static_cast<size_t>(at - remainders.begin())] += step;
    *at -= static_cast<double>(step);
    left -= step;
  }
  ends_.resize(rows.size());
  std::partial_sum(rows.begin(), rows.end(), ends_.begin());
}

Mixture::Row Mixture::operator[](int64_t row) const {
  if (ends_.size() == 1) return {0, row};
  const int64_t round = row / kRound;
  const Permutation order(kRound, seed_, stream_of("mixture") + static_cast<uint64_t>(round));
  const int64_t place = order[row % kRound];
  const auto found = std::upper_bound(ends_.begin(), ends_.end(), place);
  const auto source = static_cast<size_t>(found - ends_.begin());
  return {source, round * rows_of(source) + place - (*found - rows_of(source))};
}

}  // namespace farfield::data
