#include "apps/bench/encodings.h"

#include <algorithm>

#include "posenc/registry.h"

namespace farfield::bench {

std::vector<BenchEncoding> bench_encodings(const std::vector<std::string>& expressions) {
  std::vector<BenchEncoding> all;
  const auto add = [&](const std::string& posenc, bool is_asked_for) {
    const auto same = std::find_if(
        all.begin(), all.end(), [&](const BenchEncoding& other) { return other.posenc == posenc; });
    if (same == all.end()) all.push_back({posenc, is_asked_for});
  };
  for (const std::string& expression : expressions) {
    if (expression != "all") {
      add(expression, true);
      continue;
    }
    for (const posenc::Row& row : posenc::registry()) add(posenc::training_example_of(row), false);
  }
  std::stable_partition(all.begin(), all.end(),
                        [](const BenchEncoding& one) { return one.posenc == "none"; });
  return all;
}

}  // namespace farfield::bench
