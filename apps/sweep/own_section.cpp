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

// The numbers of one measure that can be compared with the reference: a test needs equal
// parameters, the parameters of the reference's last seed.
struct Comparable {
  std::vector<compare::RunCell> cells;  // none where the reference has none
  std::vector<std::string> left_out;    // arms with cells of other parameters alone
  size_t n_seed = 0;                    // of the reference
};

Comparable comparable_cells(const Measured& m, const std::string& measure) {
  std::vector<compare::RunCell> all;
  for (const PlannedArm& arm : m.arms())
    for (size_t seed = 0; seed < m.plan().seeds.size(); ++seed)
      add_cells(m, arm, measure, seed, all);
  Comparable found;
  const auto is_reference = [&](const compare::RunCell& cell) {
    return cell.name == m.experiment().reference_arm;
  };
  const auto chosen = std::find_if(all.rbegin(), all.rend(), is_reference);
  if (chosen == all.rend()) return found;
  std::vector<uint64_t> seeds;
  std::vector<std::string> kept;
  for (const compare::RunCell& cell : all) {
    if (cell.result.parameters != chosen->result.parameters) continue;
    found.cells.push_back(cell);
    cli::add_new(kept, cell.name);
    if (is_reference(cell)) cli::add_new(seeds, cell.seed);
  }
  for (const compare::RunCell& cell : all)
    if (!cli::has(kept, cell.name)) cli::add_new(found.left_out, cell.name);
  found.n_seed = seeds.size();
  return found;
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
  const std::string& reference = m.experiment().reference_arm;
  compare::CompareOptions options;
  options.reference = reference;
  options.way_out = "";  // seeds are asked for below
  std::string text;
  bool has_seeds = false;
  for (const Measure& measure : m.experiment().measures) {
    const Comparable found = comparable_cells(m, measure.key);
    has_seeds |= found.n_seed >= 2;
    for (const compare::Comparison& one : compare::comparisons_of(found.cells, options))
      if (!one.has_parts()) text += '\n' + compare::comparison_table(one, /*is_verbose=*/true);
    if (!found.left_out.empty())
      text += concat('\n', measure.key, ": left out, as measured with other parameters than ",
                     reference, ": ", joined(found.left_out), '\n');
  }
  if (!has_seeds)
    return concat("no paired tests against ", reference, ": they take two seeds of it",
                  " and of another encoding; seeds = 3 in the grid, or sweep run --seeds 3\n");
  return concat("paired tests on ", m.dataset().corpus, '\n', text);
}

}  // namespace farfield::sweep
