#include "apps/train/own_pieces.h"

#include <algorithm>
#include <string_view>

#include "engine/base/error.h"
#include "engine/base/parallel.h"

namespace farfield::train {
namespace {

constexpr std::string_view kWhere = "train";

bool is_power_of_two(int64_t n) { return (n & (n - 1)) == 0; }

}  // namespace

OwnPieces OwnPieces::of(const StepShape& shape, int rank, int n_process) {
  require<ConfigError>(
      shape.batch_size >= 1 && shape.accumulate >= 1 && shape.batch_size % shape.accumulate == 0,
      kWhere, "expected a batch of sequences in equal pieces, got ", shape.batch_size, " in ",
      shape.accumulate);
  require<ConfigError>(shape.batch_size % n_process == 0, kWhere, "expected a batch that ",
                       n_process, " processes can share evenly, got ", shape.batch_size,
                       " sequences; change --batch or the number of processes");
  const int64_t all = shape.n_piece(), own_batch = shape.batch_size / n_process;
  OwnPieces own{.n_process = n_process};
  if (shape.deterministic_reduce) {
    require<ConfigError>(
        is_power_of_two(n_process) && all % n_process == 0, kWhere,
        "expected a power of two of processes that divides the ", all, " pieces that the batch of ",
        shape.batch_size, " is summed in, got ", n_process,
        "; --accumulate N with a multiple of them makes more pieces, --deterministic-reduce off "
        "sums without that order, equal to rounding");
    own.n = all / n_process;
  } else {
    own.n = (all + n_process - 1) / n_process;
    while (own_batch % own.n != 0) ++own.n;
  }
  own.n_sequence = own_batch / own.n;
  own.first = rank * own_batch;
  return own;
}

int64_t OwnPieces::at_once(const StepShape& shape) const {
  const int64_t n_thread = thread_count();
  const int64_t most = std::min({n, n_thread, shape.n_piece() / shape.accumulate});
  const int64_t n_round = (n + most - 1) / most;
  // A thread that has no piece in a round has nothing to do.
  constexpr double kLeastBusy = 0.6;
  const double busy = static_cast<double>(n) / static_cast<double>(n_round * n_thread);
  return shape.deterministic_reduce && busy >= kLeastBusy ? most : 1;
}

}  // namespace farfield::train
