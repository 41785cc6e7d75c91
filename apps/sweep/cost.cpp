#include "apps/sweep/cost.h"

#include <cstdio>

#include "apps/cli/duration.h"
#include "engine/base/error.h"

namespace farfield::sweep {
namespace {

// Multiply-adds a second that a cell is likely to get, to judge cost by: of one core, one GPU.
constexpr double kCore = 3.5e10, kCard = 1.5e14;

std::string counted(size_t n, const char* what) { return concat(n, ' ', what, n == 1 ? "" : "s"); }

}  // namespace

double seconds_of(double work, bool is_card) { return work / (is_card ? kCard : kCore); }

double work_of(const std::vector<Cell>& cells) {
  double sum = 0;
  for (const Cell& cell : cells) sum += cell.work();
  return sum;
}

std::string cost_text(const std::vector<Cell>& cells, bool is_card) {
  size_t n_measured = 0;
  for (const Cell& cell : cells) n_measured += cell.measurements.size();
  const double work = work_of(cells);
  char operations[32];
  std::snprintf(operations, sizeof operations, "%.1e", 2 * work);
  return concat(counted(cells.size(), "model"), ", ", counted(n_measured, "measurement"),
                ": about ", operations, " floating-point operations, ",
                cli::duration(seconds_of(work, is_card)),
                is_card ? " on one H100" : " on one core");
}

}  // namespace farfield::sweep
