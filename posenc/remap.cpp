#include "posenc/remap.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "engine/base/error.h"

namespace farfield::posenc {

Positions divided(Positions p, double scale) {
  for (double& id : p.ids) id /= scale;
  for (double& d : p.distance) d /= scale;
  return p;
}

Positions moved(Positions p, double offset) {
  for (double& id : p.ids) id += offset;
  return p;
}

Positions looked_up_by_ids(Positions p, std::string_view who) {
  constexpr double kMaxEntries = 1 << 24;
  double largest = 0;
  for (auto row = p.ids.begin(); row != p.ids.end(); row += p.n_key)
    largest = std::max(largest, row[p.n_key - 1] - row[0]);
  require<PositionError>(largest < kMaxEntries, "posenc", "expected distances below 2^24 after ",
                         who, ", got ", largest, " for ", p.n_key, " tokens");
  p.entry = Positions::Entry::ids;
  p.distance.resize(static_cast<size_t>(largest) + 1);
  std::iota(p.distance.begin(), p.distance.end(), 0.0);
  return p;
}

Random draws_of(uint64_t seed, std::string_view path, std::string_view what, const Draw& draw,
                int64_t sequence) {
  return {seed, stream_of(concat("posenc.", path, '.', what, '.', draw.index, '.', sequence))};
}

std::vector<int64_t> sorted_sample(const Random& random, int64_t n, int64_t limit) {
  // Step j adds one of 0 .. j to a set of numbers below j: t, or j itself when t is there already.
  std::unordered_set<int64_t> chosen;
  chosen.reserve(static_cast<size_t>(n));
  for (int64_t j = limit - n; j < limit; ++j) {
    const auto i = static_cast<uint64_t>(j - (limit - n));
    const auto t = static_cast<int64_t>(random.below(i, static_cast<uint64_t>(j) + 1));
    if (!chosen.insert(t).second) chosen.insert(j);
  }
  std::vector<int64_t> sample(chosen.begin(), chosen.end());
  std::sort(sample.begin(), sample.end());
  return sample;
}

}  // namespace farfield::posenc
