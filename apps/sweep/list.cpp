// The commands `list` and `status` of sweep.

#include <algorithm>
#include <deque>

#include "apps/cli/duration.h"
#include "apps/cli/options.h"
#include "apps/cli/printout.h"
#include "apps/sweep/commands.h"
#include "apps/sweep/cost.h"
#include "apps/sweep/driver.h"
#include "apps/sweep/folder.h"
#include "apps/sweep/given_run.h"
#include "apps/sweep/grid.h"
#include "apps/sweep/pace.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

std::string cost_text(const Plan& plan) {
  if (plan.cells.empty()) return "no training";
  const std::vector<Cell> cells = cells_of({plan});  // equal trainings happen once
  const bool is_card = is_for_card(plan.scale);
  const std::string datasets =
      plan.experiment->is_of_tasks() ? "" : concat(plan.datasets.size(), " data sets x ");
  return concat(plan.arms.size(), " models x ", datasets, plan.seeds.size(),
                " seeds: ", cells.size(), " cells, about ",
                cli::duration(seconds_of(work_of(cells), is_card)),
                is_card ? " on one H100" : " on one core");
}

std::string grid_text(const Plan& plan) {
  return joined(plan.arms, ", ", [](const PlannedArm& arm) { return arm.posenc; });
}

std::string counts(const CellStates& states) {
  return concat(states.done.size(), " done, ", states.running.size(), " running, ",
                states.open.size(), " open, ", states.failed.size(), " failed");
}

// At the pace of the cells that are done, as many at a time as run now.
double seconds_left(const SweepFolder& folder, const CellStates& states, const Results& results) {
  const Pace pace = pace_of(states.done, results);
  const bool is_card = folder.options().device != "cpu";
  double seconds = 0;
  for (const auto* cells : {&states.open, &states.running})
    for (const Cell& cell : *cells) seconds += pace.seconds_left(folder, cell, is_card);
  return seconds / std::max<double>(1, static_cast<double>(states.running.size()));
}

// What is asked for: experiments of the papers, then grids of files, which `own` keeps.
std::vector<const Experiment*> experiments_of(const std::vector<std::string>& words, Scale scale,
                                              std::deque<Experiment>& own) {
  std::vector<std::string> named;
  for (const std::string& word : words)
    if (is_grid_file(word))
      own.push_back(parse_grid(name_of_grid(word), read_file(word), scale));
    else
      named.push_back(word);
  if (words.empty()) named = {"*"};
  std::vector<const Experiment*> all;
  if (!named.empty()) all = experiments_matching(named);
  for (const Experiment& e : own) all.push_back(&e);
  return all;
}

// ", 22 not asked for": the cells of a plan that no call of `sweep run` asked for.
std::string rest_text(const Plan& plan, const std::vector<Cell>& requested) {
  const size_t n_rest = cells_of({plan}).size() - requested.size();
  return n_rest == 0 ? "" : concat(", ", n_rest, " not asked for");
}

// The cells of an experiment, as if each data set had text of its own.
Plan plan_to_show(const Experiment& e, PlanOptions plan) {
  for (const auto* names : {&e.datasets, &e.few})
    for (const std::string& name : *names) plan.datasets.set(name, name, {name, name, ""});
  return plan_of(e, plan);
}

void print_experiment(const Experiment& e, const PlanOptions& plan, bool is_long,
                      std::ostream& out) {
  out << joined(ids_of(e)) << ": " << e.title << "\n    " << e.source << '\n';
  if (!e.not_run.empty()) {
    out << "    NOT RUN: " << e.not_run << '\n';
    return;
  }
  const Plan planned = plan_to_show(e, plan);
  out << "    " << cost_text(planned) << '\n';
  if (is_long && !planned.arms.empty()) out << "    " << grid_text(planned) << '\n';
  if (!e.base_arm.empty())
    out << "    --base RUN: a run of yours instead of '" << e.base_arm << "'\n";
  if (!e.findings.empty())
    out << "    findings: " << joined(e.findings, ", ", &Finding::claim) << '\n';
}

cli::Table experiments_table(const std::vector<const Experiment*>& all, const PlanOptions& plan) {
  const bool is_card = is_for_card(plan.scale);
  cli::Table table = {"experiments",
                      {"experiment",
                       "title",
                       "source",
                       "models",
                       "data sets",
                       "seeds",
                       "cells",
                       {"time", is_card ? "s on one H100" : "s on one core"},
                       "findings",
                       "not run"}};
  for (const Experiment* e : all) {
    table.rows.push_back({joined(ids_of(*e)), e->title, e->source});
    std::vector<cli::Cell>& row = table.rows.back();
    if (e->not_run.empty()) {
      const Plan planned = plan_to_show(*e, plan);
      const std::vector<Cell> cells = cells_of({planned});
      row.insert(row.end(),
                 {planned.arms.size(), planned.datasets.size(), planned.seeds.size(), cells.size(),
                  cli::fixed_cell(seconds_of(work_of(cells), is_card), 0)});
    } else {
      row.resize(row.size() + 5);
    }
    row.push_back(joined(e->findings, ", ", &Finding::claim));
    row.push_back(e->not_run.empty() ? cli::Cell() : cli::Cell(e->not_run));
  }
  return table;
}

// The counts of an experiment, or of all; none where it has no cells.
std::vector<cli::Cell> counts_row(const std::string& name, const CellStates* states) {
  if (states == nullptr) return {name, {}, {}, {}, {}};
  return {name, states->done.size(), states->running.size(), states->open.size(),
          states->failed.size()};
}

}  // namespace

int list_command(int argc, const char* const* argv, std::ostream& out) {
  std::vector<std::string> words;
  std::string scale = "tiny";
  bool is_long = false, json = false;
  cli::Options options("sweep list", "Lists every experiment with its grid, cost and findings.");
  options.add_positional("ID|GLOB|CLAIM|FILE.conf", words,
                         "only these experiments, or a file with a grid of your own");
  options.group("What to show")
      .add("scale", scale, "NAME", scale_words())
      .add("expressions", is_long, "print the expression of each model at this scale");
  add_json_option(options, json);
  if (!options.parse(argc, argv, out)) return cli::kDone;
  PlanOptions plan;
  plan.scale = scale_named(scale);
  cli::Printout page(out, "sweep list", json);
  page.text() << describe(plan.scale) << "\n\n";
  std::deque<Experiment> own;
  const std::vector<const Experiment*> all = experiments_of(words, plan.scale, own);
  if (json)
    page.add(experiments_table(all, plan));
  else
    for (const Experiment* e : all) print_experiment(*e, plan, is_long, out);
  page.finish();
  return cli::kDone;
}

int status_command(int argc, const char* const* argv, std::ostream& to) {
  std::string path;
  bool json = false;
  cli::Options options("sweep status",
                       "Counts the cells of a sweep that are done, running, open and failed, and "
                       "estimates the time left. Cells that no `sweep run` asked for, because of "
                       "--only and --on, are neither.");
  options.add_positional("FOLDER", path, "the sweep's folder");
  options.group("What to show");
  add_json_option(options, json);
  if (!options.parse(argc, argv, to)) return cli::kDone;
  require<ConfigError>(!path.empty(), "sweep", "expected the folder of a sweep, got none");
  const SweepFolder folder(path);
  const std::vector<Plan> plans = folder.plans();
  const Results results = readable_results(folder);
  cli::Printout page(to, "sweep status", json);
  std::ostream& out = page.text();
  cli::Table table = {"experiments", {"experiment", "done", "running", "open", "failed"}};
  if (const auto& given = folder.options().given)
    out << "given run: " << short_name(*given) << '\n';
  for (const Plan& plan : plans) {
    const std::string& id = plan.experiment->id;
    out << id << ": ";
    if (!plan.experiment->not_run.empty()) {
      out << "not run: " << plan.experiment->not_run << '\n';
      table.rows.push_back(counts_row(id, nullptr));
    } else if (plan.cells.empty()) {
      out << "no training\n";
      table.rows.push_back(counts_row(id, nullptr));
    } else {
      const std::vector<Cell> cells = folder.requested_cells({plan});
      const CellStates states = states_of(folder, cells, results);
      out << counts(states) << rest_text(plan, cells) << '\n';
      table.rows.push_back(counts_row(id, &states));
    }
  }
  const CellStates all = states_of(folder, folder.requested_cells(plans), results);
  table.rows.push_back(counts_row("all", &all));
  page.add_for_programs(table);
  out << "all: " << counts(all);
  if (!all.open.empty() || !all.running.empty()) {
    const double seconds = seconds_left(folder, all, results);
    page.fact("time left, s", cli::fixed_cell(seconds, 0));
    out << "; about " << cli::duration(seconds) << " left";
  }
  out << '\n';
  cli::Table failed = {"failed", {"cell", "why"}};
  for (const Cell& cell : all.failed) {
    const std::string why = failure_of(folder, cell.hash());
    failed.rows.push_back({cell.hash(), why});
    if (!json) out << "\nfailed: " << why << '\n';
  }
  page.add_for_programs(failed);
  page.finish();
  return cli::kDone;
}

}  // namespace farfield::sweep
