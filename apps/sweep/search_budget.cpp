#include "apps/sweep/search_budget.h"

#include <numeric>

#include "apps/sweep/cost.h"
#include "apps/sweep/driver.h"

namespace farfield::sweep {

SearchBudget::SearchBudget(const SweepFolder& folder, const SearchRequest& request, int64_t jobs,
                           int64_t threads)
    : folder_(folder), request_(request) {
  std::vector<Cell> cells = first_plan(folder, request, jobs).plan.cells;
  for (const Plan& plan : folder.plans())
    if (plan.experiment->id.starts_with("own/search-"))
      cells.insert(cells.end(), plan.cells.begin(), plan.cells.end());
  learn(cells);
  // The pace is that of a worker; the estimate without a pace is that of a core, or of a card.
  const bool is_card = folder.options().device != "cpu";
  n_at_once_ = static_cast<double>(is_measured() ? jobs : is_card ? 1 : threads);
}

void SearchBudget::learn(const std::vector<Cell>& cells) {
  const Results results = readable_results(folder_);
  double training = 0, training_work = 0, rest = 0, rest_work = 0;
  for (const Cell& cell : cells) {
    const CellResult* const found = results.find(cell.hash());
    if (found == nullptr || !found->covers(cell)) continue;
    const auto fact = [&](const char* name) {
      const auto of = found->facts.find(name);
      return of == found->facts.end() ? 0 : of->second;
    };
    const double of_training = fact("train_seconds"), all = fact("seconds");
    // A resumed cell has the seconds of its last process alone.
    if (!(of_training > 0) || !(all >= of_training)) continue;
    training += of_training;
    training_work += cell.training_work;
    rest += all - of_training;
    rest_work += cell.work() - cell.training_work;
  }
  if (!(training_work > 0) || !(rest_work > 0)) return;
  training_ = training / training_work;
  rest_ = rest / rest_work;
}

double SearchBudget::seconds_of(const Cell& cell) const {
  if (!is_measured()) return sweep::seconds_of(cell.work(), folder_.options().device != "cpu");
  return training_ * cell.training_work + rest_ * (cell.work() - cell.training_work);
}

std::vector<double> SearchBudget::stages(int64_t n) const {
  std::vector<double> all =
      seconds_of_stages(folder_, request_, n, [&](const Cell& cell) { return seconds_of(cell); });
  for (double& seconds : all) seconds /= n_at_once_;
  return all;
}

double SearchBudget::all(int64_t n) const {
  const std::vector<double> of = stages(n);
  return std::accumulate(of.begin(), of.end(), 0.0);
}

double SearchBudget::left(int64_t n, size_t stage, const std::vector<Cell>& cells) const {
  const std::vector<double> of = stages(n);
  double seconds = 0;
  for (size_t later = stage + 1; later < of.size(); ++later) seconds += of[later];
  for (const Cell& cell : cells_to_make(folder_, cells, {}))
    seconds += seconds_of(cell) / n_at_once_;
  return seconds;
}

int64_t SearchBudget::most(double seconds, int64_t fewest) const {
  if (all(fewest) > seconds) return 0;
  int64_t least = fewest, most = kMostCandidates;  // the first fits, a number above the last not
  while (least < most) {
    const int64_t middle = (least + most + 1) / 2;
    if (all(middle) <= seconds)
      least = middle;
    else
      most = middle - 1;
  }
  return least;
}

}  // namespace farfield::sweep
