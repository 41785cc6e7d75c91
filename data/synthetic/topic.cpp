#include "data/synthetic/topic.h"

#include <algorithm>

#include "data/synthetic/gamma.h"

namespace farfield::data {

Successors::Successors(int64_t alphabet, uint64_t seed) : of_(static_cast<size_t>(alphabet)) {
  Draws draws(seed, stream_of("synthetic successors"));
  for (auto& four : of_)
    for (int& symbol : four) symbol = static_cast<int>(draws.below(alphabet));
}

Topic::Topic(const TopicOptions& options, const Successors& successors, Draws& draws)
    : successors_(successors),
      local_(options.local),
      theta_(dirichlet(static_cast<int>(options.alphabet), options.alpha, draws)) {
  double sum = 0;
  for (const double share : theta_) sums_.push_back(sum += share);
  // The last that can be drawn takes what rounding has left over.
  for (size_t i = sums_.size(); i-- > 0;) {
    sums_[i] = 1;
    if (theta_[i] > 0) break;
  }
}

int Topic::first(Draws& draws) const {
  return static_cast<int>(draws.below(static_cast<int64_t>(theta_.size())));
}

int Topic::next(int before, Draws& draws) const {
  const bool is_local = draws.uniform() < local_;
  double u = draws.uniform();
  if (!is_local)
    return static_cast<int>(std::upper_bound(sums_.begin(), sums_.end(), u) - sums_.begin());
  const std::array<int, 4>& four = successors_.of(before);
  size_t i = 0;
  for (; i < 3 && u >= Successors::kShares[i]; ++i) u -= Successors::kShares[i];
  return four[i];
}

double Topic::probability(int before, int symbol) const {
  double p = 0;
  const std::array<int, 4>& four = successors_.of(before);
  for (size_t i = 0; i < four.size(); ++i)
    if (four[i] == symbol) p += Successors::kShares[i];
  return local_ * p + (1 - local_) * theta_[static_cast<size_t>(symbol)];
}

}  // namespace farfield::data
