#include "apps/sweep/pace.h"

#include <algorithm>
#include <system_error>

#include "apps/run/checkpoint.h"
#include "apps/sweep/cost.h"
#include "engine/base/error.h"

namespace fs = std::filesystem;

namespace farfield::sweep {
namespace {

// The share of its steps that a cell has a checkpoint of.
double trained_share(const SweepFolder& folder, const Cell& cell) {
  std::error_code status;
  const fs::path checkpoints = folder.runs() / cell.hash() / "checkpoints";
  if (!fs::exists(checkpoints, status)) return 0;
  const double steps = std::strtod(run::value_of(cell.training, "steps").c_str(), nullptr);
  const auto done = static_cast<double>(run::newest_step(checkpoints).value_or(0));
  return steps > 0 ? std::min(1.0, done / steps) : 0;
}

}  // namespace

void Pace::learn(const Cell& cell, const CellResult& result) {
  const auto fact = [&](const char* name) {
    const auto found = result.facts.find(name);
    return found == result.facts.end() ? 0 : found->second;
  };
  const double training = fact("train_seconds"), all = fact("seconds");
  const double measuring = cell.work() - cell.training_work;
  if (!(training > 0) || !(all >= training) || !(cell.training_work > 0)) return;
  training_ = std::max(training_, training / cell.training_work);
  if (measuring > 0) rest_ = std::max(rest_, (all - training) / measuring);
}

double Pace::seconds_of(const Cell& cell, bool is_card) const {
  if (!is_known()) return sweep::seconds_of(cell.work(), is_card);
  return training_ * cell.training_work + rest_ * (cell.work() - cell.training_work);
}

double Pace::seconds_left(const SweepFolder& folder, const Cell& cell, bool is_card) const {
  Cell open = cell;
  std::error_code status;
  const fs::path file = result_path(folder.results(), cell.hash());
  if (fs::exists(file, status)) try {
      const CellResult result = read_result(file);
      std::erase_if(open.measurements,
                    [&](const Measurement& m) { return result.measured.count(m.id()) != 0; });
    } catch (const IoError&) {  // damaged: made anew
    }
  open.training_work *= 1 - trained_share(folder, cell);
  return seconds_of(open, is_card);
}

Pace pace_of(const std::vector<Cell>& done, const Results& results) {
  Pace pace;
  for (const Cell& cell : done)
    if (const CellResult* const found = results.find(cell.hash())) pace.learn(cell, *found);
  return pace;
}

}  // namespace farfield::sweep
