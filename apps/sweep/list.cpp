// The commands `list` and `status` of sweep.

#include <algorithm>
#include <map>

#include "apps/cli/options.h"
#include "apps/cli/progress.h"
#include "apps/sweep/commands.h"
#include "apps/sweep/driver.h"
#include "apps/sweep/folder.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

// Multiply-adds a second that a cell is likely to get, to judge cost by: of one core, one GPU.
constexpr double kCore = 3.5e10, kCard = 1.5e14;

std::string cost_text(const Plan& plan) {
  if (plan.cells.empty()) return "no training";
  double work = 0;
  for (const Cell& cell : plan.cells) work += cell.work();
  const bool is_card = plan.scale == Scale::small || plan.scale == Scale::paper;
  return concat(plan.arms.size(), " models x ", plan.datasets.size(), " data sets x ",
                plan.seeds.size(), " seeds = ", plan.cells.size(), " cells, about ",
                cli::duration(work / (is_card ? kCard : kCore)),
                is_card ? " on one H100" : " on one core");
}

std::string grid_text(const Plan& plan) {
  return joined(plan.arms, ", ", [](const PlannedArm& arm) { return arm.posenc; });
}

}  // namespace

int list_command(int argc, const char* const* argv, std::ostream& out) {
  std::vector<std::string> words;
  std::string scale = "tiny";
  bool is_long = false;
  cli::Options options("sweep list", "Every experiment with its grid, cost and findings.");
  options.add_positional("ID|GLOB|CLAIM", words, "only these");
  options.group("What to show")
      .add("scale", scale, "NAME", "smoke, tiny, small or paper")
      .add("expressions", is_long, "the expression of each model at this scale");
  if (!options.parse(argc, argv, out)) return cli::kDone;
  PlanOptions plan;
  plan.scale = scale_named(scale);
  out << describe(plan.scale) << "\n\n";
  if (words.empty()) words = {"*"};
  for (const Experiment* e : experiments_matching(words)) {
    out << e->id << ": " << e->title << "\n    " << e->source << '\n';
    if (!e->not_run.empty()) {
      out << "    NOT RUN: " << e->not_run << '\n';
      continue;
    }
    const Plan planned = plan_of(*e, plan);
    out << "    " << cost_text(planned) << '\n';
    if (is_long && !planned.arms.empty()) out << "    " << grid_text(planned) << '\n';
    if (!e->findings.empty())
      out << "    findings: " << joined(e->findings, ", ", &Finding::claim) << '\n';
  }
  return cli::kDone;
}

int status_command(int argc, const char* const* argv, std::ostream& out) {
  std::string path;
  cli::Options options("sweep status", "Cells of a sweep that are done, open and failed.");
  options.add_positional("FOLDER", path, "the sweep's folder");
  if (!options.parse(argc, argv, out)) return cli::kDone;
  require<ConfigError>(!path.empty(), "sweep", "expected the folder of a sweep, got none");
  const SweepFolder folder(path);
  const std::vector<Plan> plans = folder.plans();
  for (const Plan& plan : plans) {
    const CellStates states = states_of(folder, cells_of({plan}));
    out << plan.experiment->id << ": ";
    if (!plan.experiment->not_run.empty())
      out << "not run: " << plan.experiment->not_run << '\n';
    else if (plan.cells.empty())
      out << "no training\n";
    else
      out << states.done.size() << " done, " << states.open.size() << " open, "
          << states.failed.size() << " failed\n";
  }
  const CellStates all = states_of(folder, cells_of(plans));
  double done = 0, open = 0;
  for (const Cell& cell : all.done) done += cell.work();
  for (const Cell& cell : all.open) open += cell.work();
  out << "all: " << all.done.size() << " done, " << all.open.size() << " open, "
      << all.failed.size() << " failed";
  if (open > 0) out << "; about " << fixed(100 * done / (done + open), 0) << " % of the work";
  out << '\n';
  for (const Cell& cell : all.failed)
    out << "\nfailed: " << failure_of(folder, cell.hash()) << '\n';
  return cli::kDone;
}

}  // namespace farfield::sweep
