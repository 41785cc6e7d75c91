#include "apps/sweep/sections.h"

#include <algorithm>

#include "apps/analysis/t_test.h"
#include "apps/compare/marks.h"
#include "apps/sweep/own_section.h"
#include "apps/sweep/reference.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

// An experiment without models is looked at on no data set.
const PlannedDataset kNone = {};

std::vector<std::string> facts_of(const Plan& plan, const Section& section,
                                  const Results& results) {
  std::vector<std::string> facts;
  if (plan.arms.empty()) return facts;
  for (const PlannedDataset& d : plan.datasets) {
    std::string fact = concat("text: ", d.corpus);
    if (d.name != d.corpus) fact += " stands for " + d.name;
    const std::vector<uint64_t> used = Measured(plan, d, results).seeds_used();
    if (used.size() < plan.seeds.size())
      fact += "; means over the seeds that all models have: " + joined(used);
    facts.push_back(fact);
  }
  if (plan.experiment->is_own)
    for (std::string& fact : own_facts(plan, results)) facts.push_back(std::move(fact));
  facts.push_back(concat(plan.seeds.size(), plan.seeds.size() == 1 ? " seed" : " seeds", ", ",
                         section.n_done, " of ", section.n_cells, " models trained"));
  for (const Measure& measure : plan.experiment->measures)
    for (const PlannedDataset& d : plan.datasets)
      if (const std::string parameters = Measured(plan, d, results).parameters(measure.key);
          !parameters.empty() && std::find(facts.begin(), facts.end(), parameters) == facts.end())
        facts.push_back(parameters);
  return facts;
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

std::vector<Judgement> judgements_of(const Plan& plan, const Results& results) {
  const Experiment& e = *plan.experiment;
  std::vector<Judgement> all;
  for (const Finding& finding : e.findings) {
    Judgement& j = all.emplace_back();
    j.claim = finding.claim;
    j.statement = finding.statement;
    j.scope = "both";
    if (const Claim* const claim = find_claim(finding.claim)) {
      j.statement = claim->statement;
      j.scope = claim->scope;
      j.in_paper = claim->in_paper;
    }
    if (j.scope == "paper" && !has_published_sizes(plan.scale))
      j.evidence.note("meant for the published size alone");
    else if (finding.needs_steps && plan.scale != Scale::paper)
      j.evidence.note("meant for the published number of steps alone");
    else if (!e.not_run.empty())
      j.evidence.note(e.not_run);
    else if (plan.arms.empty() && finding.check != nullptr)
      finding.check(Measured(plan, kNone, results), j.evidence);
    else if (finding.check != nullptr)
      for (const PlannedDataset& dataset : plan.datasets) {
        if (!is_judged_on(finding, plan, dataset)) continue;
        j.evidence.set_prefix(plan.datasets.size() > 1 ? dataset.corpus + ", " : "");
        finding.check(Measured(plan, dataset, results), j.evidence);
      }
  }
  return all;
}

Section section_of(const Plan& plan, const Results& results) {
  const Experiment& e = *plan.experiment;
  Section section;
  section.id = e.id;
  section.title = e.title;
  section.source = e.source;
  section.not_run = e.not_run;
  section.remarks = e.remarks;
  section.n_cells = static_cast<int64_t>(plan.cells.size());
  for (const Cell& cell : plan.cells) {
    const CellResult* const found = results.find(cell.hash());
    if (found != nullptr && found->covers(cell)) ++section.n_done;
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
  if (plan.arms.empty()) fill(Measured(plan, kNone, results));
  for (const PlannedDataset& dataset : plan.datasets) fill(Measured(plan, dataset, results));
  share_y_ranges(section.figures);
  if (!e.reference_arm.empty() && !e.is_own && has_marks(section))
    section.remarks.push_back(
        concat(compare::legend_of(e.marks == "K" ? compare::Marks::kerple : compare::Marks::paper,
                                  e.reference_arm, /*is_perplexity=*/true),
               ": paired two-sided t-test over seeds, alpha ", analysis::kAlpha, "."));
  if (ReportTable printed = printed_scalars_table(e); !printed.rows.empty())
    section.tables.push_back(std::move(printed));
  std::erase_if(section.figures, [](const ReportFigure& figure) {
    return figure.picture.n == 0 && !plot::has_points(figure.plot);
  });
  return section;
}

}  // namespace farfield::sweep
