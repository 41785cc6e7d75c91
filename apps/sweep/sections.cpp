#include "apps/sweep/sections.h"

#include <algorithm>
#include <map>

#include "apps/analysis/t_test.h"
#include "apps/compare/marks.h"
#include "apps/sweep/own_section.h"
#include "apps/sweep/reference.h"
#include "apps/sweep/tasks.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

// The measured models that have fewer seeds than most: "seeds: 1 of KERPLE-power; 3 of all others".
std::string fewer_seeds(const Plan& plan, const Measured& m) {
  std::map<size_t, std::vector<std::string>> labels;  // by number of seeds
  for (const PlannedArm& arm : plan.arms)
    if (const size_t n = m.n_seed(arm); n > 0) labels[n].push_back(arm.label());
  if (labels.size() < 2) return "";
  const auto most = std::max_element(
      labels.begin(), labels.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  std::string text = "seeds: ";
  for (auto it = labels.begin(); it != labels.end(); ++it)
    if (it != most) text += concat(it->first, " of '", joined(it->second, "', '"), "'; ");
  return concat(text, most->first, " of all others that are measured");
}

std::vector<std::string> facts_of(const Plan& plan, const Section& section,
                                  const Results& results) {
  std::vector<std::string> facts;
  if (plan.arms.empty()) return facts;
  for (const PlannedDataset& d : plan.datasets) {
    std::string fact = concat(d.is_of_tasks ? "" : "text: ", d.corpus);
    if (d.name != d.corpus) fact += " stands for " + d.name;
    if (const std::string seeds = fewer_seeds(plan, Measured(plan, d, results)); !seeds.empty())
      fact += "; " + seeds;
    if (!d.is_of_tasks || fact != d.corpus) facts.push_back(fact);
  }
  if (plan.experiment->is_own)
    for (std::string& fact : own_facts(plan, results)) facts.push_back(std::move(fact));
  facts.push_back(concat(plan.seeds.size(), plan.seeds.size() == 1 ? " seed" : " seeds", ", ",
                         section.n_done, " of ", section.n_cells,
                         plan.given ? " models measured" : " models trained"));
  if (plan.experiment->is_of_tasks()) {
    for (std::string& fact : task_facts(plan, results)) facts.push_back(std::move(fact));
    return facts;
  }
  for (const Measure& measure : plan.experiment->measures)
    for (const PlannedDataset& d : plan.datasets)
      if (const std::string parameters = Measured(plan, d, results).parameters(measure.key);
          !parameters.empty() && std::find(facts.begin(), facts.end(), parameters) == facts.end())
        facts.push_back(parameters);
  return facts;
}

// For readers of a sweep of a given run.
std::vector<std::string> remarks_of_given(const Plan& plan) {
  constexpr int64_t kFewSequences = 32;
  std::vector<std::string> remarks;
  if (!plan.given) return remarks;
  if (!plan.experiment->observed.empty()) remarks.push_back(plan.experiment->observed);
  for (const Measure& measure : plan.experiment->measures) {
    if (plan.cells.empty() || measure.protocol != "coherence") continue;
    const run::Settings options =
        plan.measurement(measure.key, plan.arms.front(), plan.datasets.front()).options;
    const int64_t n =
        std::strtoll(run::value_of(options, "coherence-sequences").c_str(), nullptr, 10);
    if (n < kFewSequences)
      remarks.push_back(concat(
          n == 1 ? "The curve is of one sequence"
                 : concat("The curve is a mean over ", n, " sequences"),
          ", so regions differ by their text, too: compare models in one column. Ratios of two "
          "regions, which some findings ask for, hold that difference."));
  }
  return remarks;
}

// Whether a number of its tables has a mark.
bool has_marks(const Section& section) {
  for (const ReportTable& table : section.tables)
    for (const auto& row : table.rows)
      for (const ReportTable::Field& field : row)
        if (field.text.find(" †") != std::string::npos ||
            field.text.find(" *") != std::string::npos)
          return true;
  return false;
}

}  // namespace

Section section_of(const Plan& plan, const Results& results) {
  const Experiment& e = *plan.experiment;
  Section section;
  section.id = e.id;
  section.title = e.title;
  section.source = e.also.empty() ? e.source : concat(e.source, "; also ", joined(e.also));
  section.not_run = e.not_run;
  section.remarks = e.remarks;
  for (std::string& remark : remarks_of_given(plan)) section.remarks.push_back(std::move(remark));
  section.n_cells = static_cast<int64_t>(plan.cells.size());
  for (const Cell& cell : plan.cells) {
    const CellResult* const found = results.find(cell.hash());
    if (found == nullptr) continue;
    if (found->covers(cell)) ++section.n_done;
    if (std::any_of(cell.measurements.begin(), cell.measurements.end(),
                    [&](const Measurement& m) { return found->measured.count(m.id()) != 0; }))
      ++section.n_started;
  }
  section.facts = facts_of(plan, section, results);
  section.judgements = judgements_of(plan, results);
  if (!e.not_run.empty()) return section;
  const auto fill = [&](const Measured& m) {
    for (const Output& output : e.outputs) {
      const Measured of = output.is_of_one_seed ? m.first_seed() : m;
      for (ReportTable& table : tables_of(of, output)) section.tables.push_back(std::move(table));
      for (ReportFigure& figure : figures_of(of, output))
        section.figures.push_back(std::move(figure));
    }
    if (e.compute != nullptr) e.compute(m, section);
    if (e.is_own) section.blocks.push_back(own_tests(m));
  };
  if (plan.arms.empty()) fill(Measured(plan, no_dataset(), results));
  for (const PlannedDataset& dataset : plan.datasets) fill(Measured(plan, dataset, results));
  share_y_ranges(section.figures);
  if (!e.reference_arm.empty() && !e.is_own && has_marks(section))
    section.remarks.push_back(
        concat(compare::legend_of(e.marks == "K" ? compare::Marks::kerple : compare::Marks::paper,
                                  e.reference_arm, /*is_perplexity=*/true),
               ": paired two-sided t-test over seeds, alpha ", analysis::kAlpha, "."));
  if (ReportTable printed = printed_scalars_table(e); !printed.rows.empty())
    section.tables.push_back(std::move(printed));
  std::erase_if(section.figures, [](const ReportFigure& figure) { return figure.is_empty(); });
  return section;
}

}  // namespace farfield::sweep
