#include "data/masking.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/error.h"

namespace farfield::data {

Random masking_random(uint64_t seed, std::string_view use, int64_t sequence) {
  return {seed, stream_of(concat("masked tokens, ", use, ' ', sequence))};
}

int64_t n_masked(int64_t n, double share) {
  return std::clamp<int64_t>(std::llround(share * static_cast<double>(n)), 1, n);
}

std::vector<int64_t> masked_places(int64_t n, double share, const Random& random) {
  const int64_t n_chosen = n_masked(n, share);
  std::vector<std::pair<double, int64_t>> order;
  order.reserve(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) order.emplace_back(random.uniform(static_cast<uint64_t>(i)), i);
  std::nth_element(order.begin(), order.begin() + n_chosen - 1, order.end());
  std::vector<int64_t> places;
  for (int64_t i = 0; i < n_chosen; ++i) places.push_back(order[static_cast<size_t>(i)].second);
  std::sort(places.begin(), places.end());
  return places;
}

void MaskedRows::add(std::span<const int32_t> tokens, const Masking& masking,
                     const Random& random) {
  const size_t first = ids.size();
  ids.insert(ids.end(), tokens.begin(), tokens.end());
  for (const int64_t place :
       masked_places(static_cast<int64_t>(tokens.size()), masking.share, random)) {
    const size_t at = first + static_cast<size_t>(place);
    places.push_back(static_cast<int32_t>(at));
    targets.push_back(std::exchange(ids[at], masking.mask_token));
  }
}

void mask(Batch& batch, const Masking& masking, uint64_t seed, int64_t step) {
  constexpr double kMasked = 0.8, kMaskedOrRandom = 0.9;
  const int64_t n = batch.seq_len;
  const auto n_row = static_cast<int64_t>(batch.rows.size());
  std::fill(batch.targets.begin(), batch.targets.end(), kNotScored);
  for (int64_t row = 0; row < n_row; ++row) {
    const Random random = masking_random(seed, "training", step * n_row + row);
    for (const int64_t place : masked_places(n, masking.share, random)) {
      const auto at = static_cast<size_t>(row * n + place);
      // Behind the numbers that chose the places.
      const auto number = static_cast<uint64_t>(n + 2 * place);
      batch.targets[at] = batch.inputs[at];
      const double what = random.uniform(number);
      if (what < kMasked)
        batch.inputs[at] = masking.mask_token;
      else if (what < kMaskedOrRandom)
        batch.inputs[at] =
            static_cast<int32_t>(random.below(number + 1, static_cast<uint64_t>(masking.n_vocab)));
    }
  }
}

}  // namespace farfield::data
