// The commands `run` and `cell` of sweep.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <set>

#include "apps/cli/duration.h"
#include "apps/cli/lists.h"
#include "apps/cli/options.h"
#include "apps/cli/process.h"
#include "apps/cli/progress.h"
#include "apps/cli/shell_word.h"
#include "apps/cli/threads.h"
#include "apps/sweep/cell_run.h"
#include "apps/sweep/commands.h"
#include "apps/sweep/corpora.h"
#include "apps/sweep/cost.h"
#include "apps/sweep/driver.h"
#include "apps/sweep/folder.h"
#include "apps/sweep/given_request.h"
#include "apps/sweep/grid.h"
#include "apps/sweep/rehearsal.h"
#include "apps/sweep/requested_models.h"
#include "apps/sweep/slurm.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/interrupt.h"
#include "engine/base/parallel.h"
#include "engine/base/text.h"
#include "engine/device.h"

namespace fs = std::filesystem;

namespace farfield::sweep {
namespace {

constexpr std::string_view kWhere = "sweep";

struct RunRequest {
  std::vector<std::string> words, datasets, only, on;
  std::string scale = "tiny", out, device = "cpu", launcher = "local", document_order, time_limit,
              base;
  SlurmOptions slurm;
  std::optional<int64_t> seeds, threads;
  int64_t jobs = 1;
  bool keep_weights = false, tensorboard = false, retry_failed = false, dry_run = false,
       test_time = false;

  bool is_slurm() const { return launcher == "slurm"; }
};

std::string id_of_grid(const std::string& file) { return "own/" + name_of_grid(file); }

// The ids of the requested experiments.
std::vector<std::string> ids_of(const RunRequest& request) {
  std::vector<std::string> ids;
  for (const std::string& word : request.words)
    if (is_grid_file(word))
      ids.push_back(id_of_grid(word));
    else
      for (const Experiment* e : experiments_matching({word})) ids.push_back(e->id);
  return ids;
}

// The requested experiments but for grids.
std::vector<const Experiment*> named_experiments(const RunRequest& request) {
  std::vector<std::string> words = request.words;
  std::erase_if(words, [](const std::string& word) { return is_grid_file(word); });
  return words.empty() ? std::vector<const Experiment*>() : experiments_matching(words);
}

// Notes in the folder what the call asks for, and completes `only`.
void ask(SweepFolder& folder, RunRequest& request) {
  const std::vector<const Experiment*> named = named_experiments(request);
  if (!request.test_time) {
    request.only = whole_names(request.only, named);
    return folder.ask(ids_of(request), {.only = request.only, .on = request.on});
  }
  for (const Experiment* e : named) {
    const std::vector<std::string> labels = test_time_labels(*e);
    folder.ask({e->id}, {.only = labels, .on = request.on});
    for (const std::string& label : labels) cli::add_new(request.only, label);
  }
}

// Plans of the requested experiments only, not of all experiments in the folder.
std::vector<Plan> plans_of(const SweepFolder& folder, const RunRequest& request) {
  const std::vector<std::string> ids = ids_of(request);
  PlanOptions options = folder.options();
  options.on = request.on;
  std::vector<Plan> plans;
  for (const Experiment* e : folder.experiments())
    if (std::find(ids.begin(), ids.end(), e->id) != ids.end())
      plans.push_back(plan_of(*e, options));
  return plans;
}

// Refuses --on where none of the experiments has such a data set at this scale.
void require_a_dataset(const std::vector<Plan>& plans, const SweepFolder& folder,
                       const RunRequest& request) {
  std::set<std::string> names;
  bool has_tasks = false;
  for (const Plan& plan : plans) {
    if (request.on.empty() || !plan.datasets.empty()) return;
    for (const PlannedDataset& dataset : plan_of(*plan.experiment, folder.options()).datasets)
      if (dataset.is_of_tasks)
        has_tasks = true;
      else
        names.insert(dataset.name);
  }
  require<ConfigError>(!names.empty() || !has_tasks, kWhere,
                       "--on: expected no data set, as the models of these experiments are trained "
                       "on tasks; got ",
                       joined(request.on));
  require<ConfigError>(names.empty(), kWhere, "--on: expected one of ", joined(names),
                       ", the data sets of these experiments at scale ", request.scale, "; got ",
                       joined(request.on));
}

void read_request(RunRequest& request, cli::Options& options) {
  options.add_positional("ID|GLOB|CLAIM|FILE.conf", request.words,
                         "experiments by id (sandwich/table1), glob ('sandwich/fig*') or claim "
                         "(S-T1-4), or a file with a grid of your own");
  options.group("What to run")
      .add("scale", request.scale, "NAME", scale_words())
      .add("seeds", request.seeds, "N",
           "seeds 1 to N of each model, and never fewer than the folder already has (default: 1; "
           "at scale paper the paper's number of seeds; for a grid its line `seeds`)")
      .add_paths("dataset", request.datasets, "NAME=CORPUS",
                 "the corpus to use for the data set NAME: openwebtext2, github, arxiv, "
                 "wikitext103 or text; may be repeated. Without the option, text found on this "
                 "machine stands for all of them")
      .add("base", request.base, "RUN",
           "change this run of `train` instead of a model that the sweep trains: for experiments "
           "that change one model at test time or by a fine-tune. Its text is the run's own unless "
           "--dataset text=CORPUS is given (default: none)")
      .add("test-time", request.test_time,
           "with --base: measure the run under the changes that need no training, and make no "
           "fine-tune, whose steps on long sequences are dear")
      .add("on", request.on, "NAME,...", "only these data sets (default: all of the experiment)")
      .add("document-order", request.document_order, "seed|file",
           "order of the test documents. seed: shuffled by the run's seed, as in the papers; file: "
           "as prepared, so that all seeds are measured on the same text (default: seed)")
      .add("only", request.only, "NAME,...", "only models with these labels or encodings")
      .add("out", request.out, "FOLDER", "the sweep's folder (default: sweeps/SCALE)");
  options.group("How")
      .add("jobs", request.jobs, "N", "cells made at the same time, each in its own process")
      .add("threads", request.threads, "N",
           "threads of all cells together (default: FARFIELD_THREADS, or all processors); with "
           "slurm, threads of each cell (default: 1)")
      .add("device", request.device, "NAME", "where to compute: cpu, cuda, cuda:N")
      .add("launcher", request.launcher, "local|slurm",
           "make the cells here, or submit them as a job array of Slurm")
      .add("slurm-options", request.slurm.options, "WORDS",
           "with slurm: options for sbatch, such as '--partition=gpu --time=8:00:00'")
      .add("keep-weights", request.keep_weights,
           "keep the run folders of finished cells (default: keep only their results)")
      .add("tensorboard", request.tensorboard,
           "write event files for TensorBoard into FOLDER/tensorboard, a folder for each cell that "
           "is trained")
      .add("time-limit", request.time_limit, "TIME",
           "end within this time, given as 90s, 8m or 1h30m; exit status 75 if cells are left. No "
           "cell is begun that, by the time of the finished ones, cannot end in time; a running "
           "cell leaves a checkpoint (default: none)")
      .add("retry-failed", request.retry_failed, "make failed cells again")
      .add("dry-run", request.dry_run,
           "print the cells to make, their cost and their commands, and write nothing");
}

void check(const RunRequest& request) {
  require<ConfigError>(!request.words.empty(), kWhere,
                       "expected an experiment, got none; sweep list shows all");
  require<ConfigError>(request.jobs >= 1 && request.jobs <= 1024, kWhere,
                       "--jobs: expected 1 to 1024, got ", request.jobs);
  const int64_t seeds = request.seeds.value_or(1);
  require<ConfigError>(seeds >= 1 && seeds <= kMostSeeds, kWhere, "--seeds: expected 1 to ",
                       kMostSeeds, ", got ", seeds);
  require<ConfigError>(request.base.empty() || seeds == 1, kWhere,
                       "--seeds: expected none with --base, whose run has one seed, got ", seeds);
  require<ConfigError>(!request.test_time || !request.base.empty(), kWhere,
                       "--test-time: expected --base RUN with it; other sweeps train their models");
  require<ConfigError>(!request.test_time || request.only.empty(), kWhere,
                       "--test-time: expected no --only with it, which names models itself");
  require<ConfigError>(request.is_slurm() || request.launcher == "local", kWhere,
                       "--launcher: expected local or slurm, got '", request.launcher, "'");
  require<ConfigError>(request.is_slurm() || request.slurm.options.empty(), kWhere,
                       "--slurm-options: expected --launcher slurm with it");
  require<ConfigError>(!request.is_slurm() || request.time_limit.empty(), kWhere,
                       "--time-limit: expected --launcher local with it; of Slurm's jobs "
                       "--slurm-options --time=... is the limit");
  parse_device(request.device);  // this build has it
  const std::string& order = request.document_order;
  require<ConfigError>(order.empty() || order == "seed" || order == "file", kWhere,
                       "--document-order: expected seed or file, got '", order, "'");
  for (const std::string& name : request.on) require_dataset("--on", name);
}

// Tells what the change of a grid means for finished models.
void note_change(const SweepFolder& folder, const std::string& id, const std::vector<Cell>& before,
                 const std::vector<Cell>& now) {
  std::ostream& out = cli::remarks();
  const std::vector<Cell> done = states_of(folder, before).done;
  std::set<std::string> done_before;
  for (const Cell& cell : done) done_before.insert(cell.hash());
  std::vector<Cell> kept;
  for (const Cell& cell : now)
    if (done_before.count(cell.hash()) != 0) kept.push_back(cell);
  const size_t n_gone = done.size() - kept.size();
  const size_t n_again = kept.size() - states_of(folder, kept).done.size();
  if (n_gone > 0)
    out << id << ": the grid has changed: " << n_gone << " of " << done.size()
        << " finished models are not in it; their results stay, for the old grid\n";
  if (n_again > 0)
    out << id << ": the grid has changed: " << n_again << " of " << done.size()
        << " finished models lack a measurement, for which they are trained again unless their "
           "weights are kept\n";
}

// Adds the requested experiments to the folder's; writes nothing.
void add_experiments(SweepFolder& folder, const RunRequest& request) {
  std::vector<std::string> named;
  for (const std::string& word : request.words) {
    if (!is_grid_file(word)) {
      named.push_back(word);
      continue;
    }
    const auto cells = [&] {
      std::vector<Plan> plans;
      for (const Experiment* e : folder.experiments())
        if (e->id == id_of_grid(word)) plans.push_back(plan_of(*e, folder.options()));
      return cells_of(plans);
    };
    const std::vector<Cell> before = cells();
    folder.add_grid(name_of_grid(word), read_file(word));
    note_change(folder, id_of_grid(word), before, cells());
  }
  folder.add(experiments_matching(named), request.seeds);
}

// The cells to make, without cells whose corpora must be made first.
std::vector<Cell> open_cells(const SweepFolder& folder, const std::vector<Cell>& cells,
                             const DriverOptions& how, const std::set<std::string>& missing) {
  std::vector<Cell> open = cells_to_make(folder, cells, how);
  std::erase_if(open, [&](const Cell& cell) { return missing.count(cell.corpus) != 0; });
  return open;
}

void show_dry_run(const SweepFolder& folder, const RunRequest& request,
                  const std::vector<Cell>& cells, const DriverOptions& how,
                  const std::set<std::string>& missing, std::ostream& out) {
  const std::vector<Cell> open = open_cells(folder, cells, how, missing);
  for (const std::string& name : missing)
    out << "the corpus " << name << " would be made; its cells get their names then:\n";
  for (const Cell& cell : cells)
    if (missing.count(cell.corpus) != 0) out << "  # " << cell.label() << '\n';
  if (request.is_slurm()) return show_submission(folder, open, how, request.slurm, out);
  for (const Cell& cell : open)
    out << joined(command_of(folder, cell, how), " ", cli::shell_word) << "  # " << cell.label()
        << '\n';
}

}  // namespace

int sweep_run_command(int argc, const char* const* argv, std::ostream& out) {
  const auto begin = std::chrono::steady_clock::now();
  RunRequest request;
  cli::Options options(
      "sweep run",
      "Trains and measures the models of experiments. Finished cells are never made "
      "again; after Ctrl-C\nor a crash the same command continues.\n\n"
      "Lines of a file with a grid of your own (# begins a comment):\n" +
          grid_keys_text());
  read_request(request, options);
  if (!options.parse(argc, argv, out)) return cli::kDone;
  check(request);
  if (!request.is_slurm())
    cli::use_threads(request.threads, cli::remarks());
  else if (request.threads)  // of other machines
    set_thread_count(*request.threads);
  request.slurm.has_card = request.device != "cpu";
  if (request.out.empty()) request.out = "sweeps/" + request.scale;

  PlanOptions plan;
  plan.scale = scale_named(request.scale);
  plan.device = request.device;
  plan.document_order = request.document_order;
  for (const std::string& assignment : request.datasets) plan.datasets.map(assignment);
  plan.given = given_for(request.base, request.out);
  if (plan.given) request.words = ids_on_given(*plan.given, request.words, cli::remarks());
  SweepFolder folder(request.out, plan);
  if (plan.given) use_own_text(*plan.given, folder.options().datasets);
  ask(folder, request);
  add_experiments(folder, request);
  DriverOptions how = {
      .jobs = request.jobs,
      .threads = request.is_slurm() ? request.threads.value_or(1) * request.jobs : thread_count(),
      .keep_weights = request.keep_weights,
      .tensorboard = request.tensorboard,
      .retry_failed = request.retry_failed,
      .is_card = request.slurm.has_card};
  if (!request.time_limit.empty())
    how.deadline = begin + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                               std::chrono::duration<double>(cli::seconds_of_duration(
                                   "sweep", "--time-limit", request.time_limit)));
  std::vector<Plan> plans = plans_of(folder, request);
  require_a_dataset(plans, folder, request);
  for (const Plan& p : plans)
    if (!p.experiment->not_run.empty())
      cli::remarks() << p.experiment->id << ": not run: " << p.experiment->not_run << '\n';
  std::vector<Cell> cells = cells_of(plans, request.only);
  const std::set<std::string> missing = missing_corpora(folder, plans);
  const std::vector<Cell> open = open_cells(folder, cells, how, missing);
  require_corpora(folder, open);
  if (plan.given) require_its_tokens(*plan.given, folder, open);
  require_enough_text(plans, open);  // refused before anything is kept
  if (const std::vector<Cell> all = cells_to_make(folder, cells, how); !all.empty())
    out << "to make: " << cost_text(all, request.slurm.has_card) << std::endl;
  if (request.dry_run) {
    show_dry_run(folder, request, cells, how, missing, out);
    return cli::kDone;
  }

  folder.save();
  if (!missing.empty()) {
    try {
      make_corpora(folder, missing, cli::remarks());
    } catch (const Interrupted&) {
      std::cerr << "stopped on request; run the same command to continue" << std::endl;
      return cli::kStopped;
    }
    folder.save();
    plans = plans_of(folder, request);
    cells = cells_of(plans, request.only);
    require_enough_text(plans, cells_to_make(folder, cells, how));
  }
  if (request.is_slurm()) return submit(folder, cells, how, request.slurm, out);
  const cli::ExitCode code = drive(folder, cells, how);
  if (code == cli::kDone)
    cli::remarks() << "sweep report " << request.out << " writes the report\n";
  if (code == cli::kFailed)
    std::cerr << "some cells failed: sweep status " << request.out
              << " says why, --retry-failed makes them again\n";
  return code;
}

int cell_command(int argc, const char* const* argv, std::ostream& out) {
  std::string path, hash;
  std::optional<int64_t> threads, parent;
  CellRunOptions how;
  cli::Options options("sweep cell", "Makes one cell of a sweep that `sweep run` has planned.");
  options.add_positional("FOLDER", path, "the sweep's folder");
  options.add_positional("CELL", hash, "name of a file in the folder's cells/, without .json");
  options.group("How")
      .add("threads", threads, "N", "threads (default: FARFIELD_THREADS, or all processors)")
      .add("workers", how.workers, "N", "processes that share this machine's memory")
      .add("parent", parent, "PID", "stop, with a checkpoint, when this process ends")
      .add("keep-weights", how.keep_weights, "keep the run folder after the measurements")
      .add("tensorboard", how.tensorboard, "write event files for TensorBoard")
      .add("drop-base", how.drop_base,
           "remove the weights that the cell starts from once no cell needs them");
  if (!options.parse(argc, argv, out)) return cli::kDone;
  require<ConfigError>(how.workers >= 1, kWhere, "--workers: expected at least 1, got ",
                       how.workers);
  cli::use_threads(threads, cli::remarks());
  if (parent) cli::stop_with_parent(*parent);
  const SweepFolder folder(path);
  return run_cell(folder, read_cell(folder.cell(hash)), how, out);
}

}  // namespace farfield::sweep
