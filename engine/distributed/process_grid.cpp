#include "engine/distributed/process_grid.h"

#include <vector>

#include "engine/base/error.h"

namespace farfield {

ProcessGrid ProcessGrid::of(const Group& all, int64_t n_tensor) {
  require<ConfigError>(
      n_tensor >= 1 && all.size() % n_tensor == 0, "processes",
      "expected a number of processes for each model that divides all of them, got ", n_tensor,
      " of ", all.size());
  const int n = static_cast<int>(n_tensor), own = all.rank(), place = own % n;
  std::vector<int> tensor, data;
  for (int rank = own - place; rank < own - place + n; ++rank) tensor.push_back(rank);
  for (int rank = place; rank < all.size(); rank += n) data.push_back(rank);
  const auto group = [&](const std::vector<int>& ranks) {
    return Group(std::make_shared<comm::Communicator>(all.communicator().among(ranks)));
  };
  // With all processes in one of them, that is the job itself.
  if (n == 1) return {.all = all, .data = all, .tensor = {}};
  if (n == all.size()) return {.all = all, .data = {}, .tensor = all};
  return {.all = all, .data = group(data), .tensor = group(tensor)};
}

}  // namespace farfield
