// judgements_of() of sections.h.

#include <algorithm>
#include <regex>

#include "apps/sweep/reference.h"
#include "apps/sweep/sections.h"
#include "engine/base/error.h"

namespace farfield::sweep {
namespace {

// A claim without its thresholds for small models, which Finding::asked has.
std::string without_small_scale(const std::string& statement) {
  static const std::regex small(R"( \((tiny: [^)]*|[^()]* at tiny scale)\))");
  return std::regex_replace(statement, small, "");
}

// The places of the seeds that some model has; the first where none has any.
std::vector<size_t> seeds_of(const Plan& plan, const Results& results) {
  std::vector<size_t> seeds;
  for (size_t seed = 0; seed < plan.seeds.size(); ++seed) {
    bool is_there = seed == 0;
    for (size_t i = seed; i < plan.cells.size() && !is_there; i += plan.seeds.size())
      is_there = results.find(plan.cells[i].hash()) != nullptr;
    if (is_there) seeds.push_back(seed);
  }
  return seeds;
}

// The data sets that some model has been measured on, of those that a finding may ask; all of them
// where none has: the evidence then says what is missing.
std::vector<const PlannedDataset*> measured_datasets(const Plan& plan, const Results& results) {
  std::vector<const PlannedDataset*> all, measured;
  const size_t n_cell = plan.arms.size() * plan.seeds.size();  // of a data set
  for (size_t i = 0; i < plan.datasets.size(); ++i) {
    all.push_back(&plan.datasets[i]);
    const auto first = plan.cells.begin() + static_cast<std::ptrdiff_t>(i * n_cell);
    if (std::any_of(first, first + static_cast<std::ptrdiff_t>(n_cell),
                    [&](const Cell& cell) { return results.find(cell.hash()) != nullptr; }))
      measured.push_back(all.back());
  }
  return measured.empty() ? all : measured;
}

// The check on each seed, pooled; its remarks are those on the means.
Evidence on_dataset(const Finding& finding, const Measured& m, const std::vector<size_t>& seeds) {
  const auto checked = [&](const Measured& of) {
    Evidence evidence;
    evidence.set_text(m.dataset().corpus, m.plan().datasets.size() > 1);
    finding.check(of, evidence);
    return evidence;
  };
  std::vector<Evidence> of_seeds;
  for (const size_t seed : seeds) {
    of_seeds.push_back(checked(m.of_seed(seed)));
    of_seeds.back().clear_notes();
  }
  Evidence all = Evidence::pooled(of_seeds);
  const Evidence of_means = checked(m.of_shared_seeds());
  for (const std::string& note : of_means.notes()) all.note(note);
  return all;
}

// Why a finding is not judged at this scale; "" if it is.
std::string not_judged(const Finding& finding, const Judgement& j, const Plan& plan) {
  if (!plan.experiment->not_run.empty()) return plan.experiment->not_run;
  if (finding.is_of_printed_numbers) return "";
  const bool is_of_published_size = j.scope == "paper" || (j.is_own() && finding.needs_steps);
  if (is_of_published_size && !has_published_thresholds(plan.scale))
    return "not judged at this scale, but from small on: smaller models trained for less time have "
           "another order";
  if (finding.needs_steps && plan.scale == Scale::brief)
    return "not judged at this scale, but at the published number of steps: it compares models up "
           "to their training length";
  return "";
}

}  // namespace

const PlannedDataset& no_dataset() {
  static const PlannedDataset none = {};
  return none;
}

std::vector<Judgement> judgements_of(const Plan& plan, const Results& results) {
  const Experiment& e = *plan.experiment;
  const std::vector<size_t> seeds = seeds_of(plan, results);
  const std::vector<const PlannedDataset*> datasets = measured_datasets(plan, results);
  std::vector<Judgement> all;
  for (const Finding& finding : e.findings) {
    Judgement& j = all.emplace_back();
    j.claim = finding.claim;
    j.statement = finding.statement;
    j.asked = has_published_thresholds(plan.scale) ? "" : finding.asked;
    j.has_models = !plan.arms.empty() && !finding.is_of_printed_numbers;
    const Claim* const claim = find_claim(finding.claim);
    if (claim != nullptr) {
      j.statement = without_small_scale(claim->statement);
      j.scope = claim->scope;
      j.in_paper = claim->in_paper;
    }
    const std::string why_not = not_judged(finding, j, plan);
    if (!why_not.empty()) j.evidence.note(why_not);
    if (finding.check == nullptr || !e.not_run.empty()) continue;
    if (!j.has_models) {
      finding.check(Measured(plan, no_dataset(), results), j.evidence);
      if (claim != nullptr) j.printed = j.evidence;
      continue;
    }
    for (const PlannedDataset* const dataset : datasets) {
      const Measured m(plan, *dataset, results);
      if (why_not.empty() && is_judged_on(finding, plan, *dataset))
        j.evidence.add(on_dataset(finding, m, seeds));
      if (claim != nullptr) j.printed.add(on_dataset(finding, m.as_printed(), seeds));
    }
    if (j.evidence.items().empty() && j.evidence.notes().empty())
      j.evidence.note("asked of texts that the sweep does not have");
  }
  return all;
}

}  // namespace farfield::sweep
