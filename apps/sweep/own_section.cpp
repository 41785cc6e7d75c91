#include "apps/sweep/own_section.h"

#include <algorithm>

#include "apps/cli/lists.h"
#include "apps/compare/comparison.h"
#include "apps/compare/table.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

// As resolved, of all models: they differ in encoding, corpus and seed alone.
std::string training_text(const Cell& cell) {
  const auto of = [&](const char* key) { return run::value_of(cell.training, key); };
  std::string text = concat("trained: ", of("n-layer"), " layers, ", of("n-head"), " heads, width ",
                            of("d-model"), "; ", of("steps"), " steps of ", of("batch"), " x ",
                            of("train-len"), " tokens, peak learning rate ", of("lr"));
  const run::Settings others =
      run::without(cell.key(), {"preset", "posenc", "n-layer", "n-head", "d-model", "d-ff", "steps",
                                "batch", "train-len", "lr", "seed", "corpus"});
  for (const auto& [key, value] : others) text += concat(", ", key, ' ', value);
  return text;
}

void add_cells(const Measured& m, const PlannedArm& arm, const std::string& measure, size_t seed,
               std::vector<compare::RunCell>& to) {
  const eval::ProtocolResult* const found = m.result(arm, measure, seed);
  if (found == nullptr) return;
  for (const eval::LengthResult& length : found->lengths) {
    compare::RunCell& cell = to.emplace_back();
    cell.name = cell.label = arm.label();
    cell.run = m.plan().seeds.size() > 1 ? concat("seed ", m.plan().seeds[seed]) : "";
    cell.seed = m.plan().seeds[seed];
    cell.train_len = tokens_of(m.scale(), arm.arm.train_len);
    cell.result.protocol = found->protocol;
    cell.result.parameters = found->parameters;
    cell.result.lengths = {length};
  }
}

}  // namespace

std::vector<std::string> own_facts(const Plan& plan, const Results& results) {
  std::vector<std::string> facts;
  if (!plan.cells.empty()) facts.push_back(training_text(plan.cells.front()));
  for (const PlannedArm& arm : plan.arms)
    if (arm.label() != arm.arm.posenc) facts.push_back(concat(arm.label(), ": ", arm.arm.posenc));
  for (const PlannedDataset& dataset : plan.datasets) {
    const Measured m(plan, dataset, results);
    for (const Measure& measure : plan.experiment->measures) {
      std::vector<std::string> labels;
      for (const PlannedArm& arm : plan.arms)
        if (m.is_of_other_lengths(arm, measure.key)) labels.push_back(arm.label());
      if (!labels.empty())
        facts.push_back(concat(measure.key, " on ", dataset.corpus, ": ", joined(labels),
                               ": measured for other lengths than the grid has now; sweep run "
                               "measures them again, on tokens that all its lengths share"));
    }
  }
  return facts;
}

std::string own_tests(const Measured& m) {
  std::vector<compare::RunCell> cells;
  std::vector<size_t> seeds;
  for (const Measure& measure : m.experiment().measures)
    for (const PlannedArm& arm : m.arms())
      for (size_t seed = 0; seed < m.plan().seeds.size(); ++seed) {
        const size_t n_before = cells.size();
        add_cells(m, arm, measure.key, seed, cells);
        if (cells.size() > n_before) cli::add_new(seeds, seed);
      }
  const std::string& reference = m.experiment().reference_arm;
  const bool has_reference = std::any_of(cells.begin(), cells.end(),
                                         [&](const auto& cell) { return cell.name == reference; });
  if (seeds.size() < 2 || !has_reference)
    return concat("no paired tests against ", reference, ": they take two seeds of it",
                  " and of another encoding; seeds = 3 in the grid, or sweep run --seeds 3\n");
  compare::CompareOptions options;
  options.reference = reference;
  std::string text = concat("paired tests on ", m.dataset().corpus, '\n');
  for (const compare::Comparison& one : compare::comparisons_of(cells, options))
    if (!one.has_parts()) text += '\n' + compare::comparison_table(one);
  return text;
}

}  // namespace farfield::sweep
