// The command `search` of sweep.

#include <chrono>
#include <cmath>
#include <iostream>
#include <set>

#include "apps/cli/duration.h"
#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/cli/printout.h"
#include "apps/cli/progress.h"
#include "apps/cli/threads.h"
#include "apps/sweep/commands.h"
#include "apps/sweep/corpora.h"
#include "apps/sweep/driver.h"
#include "apps/sweep/rehearsal.h"
#include "apps/sweep/search.h"
#include "apps/sweep/search_budget.h"
#include "apps/sweep/search_report.h"
#include "engine/base/error.h"
#include "engine/base/interrupt.h"
#include "engine/base/parallel.h"
#include "engine/base/text.h"
#include "engine/device.h"

namespace farfield::sweep {
namespace {

constexpr std::string_view kWhere = "sweep";
constexpr double kPlannedShare = 0.85;  // of --hours: formulas differ in their cost
constexpr int64_t kFewest = 3;          // formulas, one for the last rung
using Clock = std::chrono::steady_clock;

struct SearchCommand {
  SearchRequest search;
  std::vector<std::string> datasets;
  std::string scale = "tiny", out, device = "cpu", time_limit;
  std::optional<int64_t> candidates, threads;
  std::optional<double> hours;
  int64_t jobs = 1;
  bool dry_run = false, retry_failed = false, json = false;
};

void read(SearchCommand& c, cli::Options& options) {
  options.group("What to search")
      .add("scale", c.scale, "NAME", scale_words())
      .add("hours", c.hours, "H",
           "choose as many formulas as fit into H hours at the measured pace, and end this call "
           "within H hours; exit status 75 if cells are left")
      .add("candidates", c.candidates, "N", "search among N formulas (default: by --hours)")
      .add("seed", c.search.seed, "N", "draw other formulas; training has seeds of its own")
      .add("on", c.search.on, "NAME,...", "data sets to train and measure on")
      .add_paths("dataset", c.datasets, "NAME=CORPUS",
                 "the corpus to use for the data set NAME; may be repeated. Without the option, "
                 "text found on this machine")
      .add("out", c.out, "FOLDER", "the sweep's folder (default: sweeps/search-SCALE)");
  options.group("How")
      .add("jobs", c.jobs, "N", "cells made at the same time, each in its own process")
      .add("threads", c.threads, "N",
           "threads of all cells together (default: FARFIELD_THREADS, or all processors)")
      .add("device", c.device, "NAME", "where to compute: cpu, cuda, cuda:N")
      .add("time-limit", c.time_limit, "TIME",
           "end this call within this time, given as 90s, 8m or 1h30m (default: --hours)")
      .add("retry-failed", c.retry_failed,
           "make failed cells again. Promotions that were decided without them stay")
      .add("dry-run", c.dry_run, "print the formulas and the cost, and write nothing");
  add_json_option(options, c.json);
}

void check(const SearchCommand& c) {
  require<ConfigError>(c.hours || c.candidates, kWhere,
                       "expected --hours H or --candidates N, got neither");
  require<ConfigError>(!c.hours || (*c.hours > 0 && std::isfinite(*c.hours)), kWhere,
                       "--hours: expected a number above 0, got ", c.hours.value_or(0));
  const int64_t n = c.candidates.value_or(kFewest);
  require<ConfigError>(n >= kFewest && n <= kMostCandidates, kWhere, "--candidates: expected ",
                       kFewest, " to ", kMostCandidates, ", got ", n);
  require<ConfigError>(c.jobs >= 1 && c.jobs <= 1024, kWhere, "--jobs: expected 1 to 1024, got ",
                       c.jobs);
  require<ConfigError>(!c.search.on.empty(), kWhere, "--on: expected a data set, got none");
  for (const std::string& name : c.search.on) require_dataset("--on", name);
  parse_device(c.device);  // this build has it
}

std::optional<Clock::time_point> deadline_of(const SearchCommand& c, Clock::time_point begin) {
  double seconds = c.hours.value_or(0) * 3600;
  if (!c.time_limit.empty())
    seconds = cli::seconds_of_duration("sweep", "--time-limit", c.time_limit);
  if (!(seconds > 0)) return {};
  return begin +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

SearchBudget budget_of(const SweepFolder& folder, const SearchCommand& c, int64_t threads) {
  return {folder, c.search, c.jobs, threads};
}

std::string counted(int64_t n, const std::string& what) {
  return concat(n, ' ', what, n == 1 ? "" : "s");
}

std::string plan_text(const SearchCommand& c, const SearchSpace& space,
                      const SearchBudget& budget) {
  const auto n = static_cast<int64_t>(space.candidates.size());
  std::string text =
      concat("search: ", counted(n, "formula"), " on ", listed(c.search.on, " and "), ", seed ",
             c.search.seed, "; left out: ", counted(space.n_refused, "refused draw"), ", ",
             counted(space.n_equal, "repeated draw"), '\n');
  const std::vector<double> seconds = budget.stages(n);
  const std::vector<Rung> rungs = rungs_of(n);
  for (size_t i = 0; i < rungs.size(); ++i)
    text += concat("  rung ", i + 1, ": ", counted(rungs[i].n, "formula"), ", ",
                   *training_of(scale_named(c.scale), Size::base, 1, rungs[i].steps).steps,
                   " steps each: about ", cli::duration(seconds[i]), '\n');
  return text + concat("  front: the best formulas and ", catalogue().size(),
                       " known encodings with three seeds: about ", cli::duration(seconds.back()),
                       "\n  all: about ", cli::duration(budget.all(n)),
                       budget.is_measured() ? " at the pace of the finished cells\n"
                                            : ", estimated before the first cell\n");
}

std::string summary_of(const SearchCommand& c, const SearchSpace& space, Search& search,
                       const SweepFolder& folder) {
  std::string text = concat(space.candidates.size(), " formulas, drawn with seed ", c.search.seed,
                            ", searched on ", listed(c.search.on, " and "),
                            " by three rungs of "
                            "successive halving (1/9, 1/3 and all steps): ");
  size_t n_failed = 0;
  for (size_t stage = 0; stage < Search::kStages; ++stage) {
    const Plan plan = search.begin(stage);
    n_failed += states_of(folder, search.cells_of(plan, stage)).failed.size();
    if (stage < Search::kRungs) text += concat(stage == 0 ? "" : ", then ", plan.arms.size());
  }
  text +=
      " models on each text. The rungs measured the validation split at L and 16 L and "
      "promoted by non-dominated sorting.";
  if (n_failed > 0)
    text += concat(' ', counted(static_cast<int64_t>(n_failed), "cell"), " failed.");
  return text + "\n\nScale " + describe(folder.options().scale) + '.';
}

// Makes the corpora that the search reads and does not have.
void make_texts(SweepFolder& folder, const SearchCommand& c) {
  folder.save();
  const OwnPlan first = first_plan(folder, c.search, c.jobs);  // on all texts of the search
  const std::set<std::string> missing = missing_corpora(folder, {first.plan});
  if (missing.empty()) return;
  make_corpora(folder, missing, cli::remarks());
  folder.save();
}

// Before anything is trained: whether the texts are long enough. Without --candidates, trains the
// first models, for the pace.
cli::ExitCode prepare(SweepFolder& folder, const SearchCommand& c, const DriverOptions& how) {
  try {
    make_texts(folder, c);
  } catch (const Interrupted&) {
    std::cerr << "stopped on request; run the same command to continue" << std::endl;
    return cli::kStopped;
  }
  const OwnPlan first = first_plan(folder, c.search, c.jobs);
  const std::vector<Cell> open = cells_to_make(folder, first.plan.cells, how);
  require_corpora(folder, open);
  require_enough_text({first.plan}, open);
  if (c.candidates || Search::size_in(folder) > 0) return cli::kDone;
  if (budget_of(folder, c, how.threads).is_measured()) return cli::kDone;
  cli::remarks() << "search: the first models tell the pace" << std::endl;
  return drive(folder, first.plan.cells, how);
}

// What is left, on stderr.
cli::ExitCode stopped(const SweepFolder& folder, const SearchCommand& c, int64_t n, size_t stage,
                      const std::vector<Cell>& cells, int64_t threads) {
  const std::string where =
      stage == Search::kFront ? "the front" : concat("rung ", stage + 1, " of ", Search::kRungs);
  std::cerr << "search: stopped in " << where << "; about "
            << cli::duration(budget_of(folder, c, threads).left(n, stage, cells)) << " left"
            << std::endl;
  return cli::kStopped;
}

// The number of formulas: of the folder's search, as asked for, or by the time.
int64_t size_of(const SweepFolder& folder, const SearchCommand& c, const DriverOptions& how,
                Clock::time_point begin) {
  if (c.candidates) return *c.candidates;
  if (const int64_t kept = Search::size_in(folder); kept > 0) return kept;
  const SearchBudget budget = budget_of(folder, c, how.threads);
  const std::chrono::duration<double> spent = Clock::now() - begin;
  const int64_t n = budget.most(*c.hours * 3600 * kPlannedShare - spent.count(), kFewest);
  require<ConfigError>(
      n > 0, kWhere, "--hours: expected at least ",
      fixed((budget.all(kFewest) + spent.count()) / kPlannedShare / 3600 + 0.01, 2),
      ", which a search among ", kFewest, " formulas takes, got ", *c.hours, "; --candidates ",
      kFewest, " --time-limit TIME searches in several calls");
  return n;
}

}  // namespace

int search_command(int argc, const char* const* argv, std::ostream& to) {
  const Clock::time_point begin = Clock::now();
  SearchCommand c;
  cli::Options options(
      "sweep search",
      "Searches formulas of the distance, kernel(...), for encodings that are good at L and at 16 "
      "L, by successive\nhalving. The same command continues after Ctrl-C, a crash or the time "
      "limit. The result is search.md in\nthe folder.");
  read(c, options);
  if (!options.parse(argc, argv, to)) return cli::kDone;
  check(c);
  cli::Printout page(to, "sweep search", c.json);
  std::ostream& out = page.text();
  cli::use_threads(c.threads, cli::remarks());
  if (c.out.empty()) c.out = "sweeps/search-" + c.scale;

  PlanOptions plan;
  plan.scale = scale_named(c.scale);
  plan.device = c.device;
  plan.document_order = "";
  for (const std::string& assignment : c.datasets) plan.datasets.map(assignment);
  SweepFolder folder(c.out, plan);
  const DriverOptions how = {.jobs = c.jobs,
                             .threads = thread_count(),
                             .retry_failed = c.retry_failed,
                             .is_card = c.device != "cpu",
                             .deadline = deadline_of(c, begin)};
  if (c.dry_run) {
    const SearchSpace space =
        search_space(plan.scale, c.search.seed, size_of(folder, c, how, begin));
    const Search search(folder, c.search, space);
    cli::Table formulas = {"formulas", {"formula", "family", "expression"}};
    for (const Candidate& one : space.candidates)
      formulas.rows.push_back({one.name, one.family, one.posenc});
    page.add_for_programs(formulas);
    for (const Candidate& one : space.candidates)
      if (!page.is_json()) out << one.name << "  " << one.family << "  " << one.posenc << '\n';
    out << plan_text(c, space, budget_of(folder, c, how.threads));
    page.finish();
    return cli::kDone;
  }

  if (prepare(folder, c, how) == cli::kStopped) return cli::kStopped;
  const SearchSpace space = search_space(plan.scale, c.search.seed, size_of(folder, c, how, begin));
  Search search(folder, c.search, space);
  out << plan_text(c, space, budget_of(folder, c, how.threads)) << std::flush;

  bool has_failed = false;
  for (size_t stage = 0; stage < Search::kStages; ++stage) {
    const Plan of = search.begin(stage);
    const std::vector<Cell> cells = search.cells_of(of, stage);
    require_enough_text({of}, cells_to_make(folder, cells, how));
    folder.save();
    cli::remarks() << of.experiment->id << ": " << of.experiment->title << std::endl;
    const cli::ExitCode code = drive(folder, cells, how);
    if (code == cli::kStopped)
      return stopped(folder, c, static_cast<int64_t>(space.candidates.size()), stage, cells,
                     how.threads);
    has_failed |= code == cli::kFailed;
  }
  std::string why;
  const SearchReport report = write_search(folder, search, search.begin(Search::kFront),
                                           summary_of(c, space, search, folder), why);
  if (!why.empty()) std::cerr << "no figures: " << cli::printable(why) << '\n';
  page.add_for_programs(report.finalists);
  page.add_for_programs(report.known);
  if (!page.is_json()) out << '\n' << report.front << '\n' << report.catalogue << std::flush;
  page.finish();
  cli::remarks() << "written: " << cli::printable((folder.path() / "search.md").string())
                 << ", search.csv; sweep report " << c.out << " has every rung\n";
  if (has_failed)
    std::cerr << "some cells failed: sweep status " << c.out
              << " says why, --retry-failed makes them again\n";
  return has_failed ? cli::kFailed : cli::kDone;
}

}  // namespace farfield::sweep
