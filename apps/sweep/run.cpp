// The commands `run` and `cell` of sweep.

#include <algorithm>
#include <filesystem>

#include "apps/cli/options.h"
#include "apps/cli/process.h"
#include "apps/cli/progress.h"
#include "apps/cli/shell_word.h"
#include "apps/cli/threads.h"
#include "apps/sweep/cell_run.h"
#include "apps/sweep/commands.h"
#include "apps/sweep/corpora.h"
#include "apps/sweep/driver.h"
#include "apps/sweep/folder.h"
#include "apps/sweep/slurm.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/interrupt.h"
#include "engine/base/parallel.h"
#include "engine/base/text.h"

namespace fs = std::filesystem;

namespace farfield::sweep {
namespace {

constexpr std::string_view kWhere = "sweep";

struct RunRequest {
  std::vector<std::string> words, datasets, only, on;
  std::string scale = "tiny", out, device = "cpu", launcher = "local", document_order;
  SlurmOptions slurm;
  std::optional<int64_t> seeds, threads;
  int64_t jobs = 1;
  bool keep_weights = false, retry_failed = false, dry_run = false;
};

bool is_grid_file(const std::string& word) { return word.ends_with(".conf"); }

// Of the experiments asked for alone, not of all that the folder ever held.
std::vector<Plan> plans_of(const SweepFolder& folder, const RunRequest& request) {
  std::vector<std::string> ids;
  for (const std::string& word : request.words)
    if (is_grid_file(word))
      ids.push_back("own/" + fs::path(word).stem().string());
    else
      for (const Experiment* e : experiments_matching({word})) ids.push_back(e->id);
  PlanOptions options = folder.options();
  options.on = request.on;
  std::vector<Plan> plans;
  for (const Experiment* e : folder.experiments())
    if (std::find(ids.begin(), ids.end(), e->id) != ids.end())
      plans.push_back(plan_of(*e, options));
  return plans;
}

}  // namespace

int sweep_run_command(int argc, const char* const* argv, std::ostream& out) {
  RunRequest request;
  cli::Options options("sweep run",
                       "Trains and measures what experiments need. What is finished is never made "
                       "again; after Ctrl-C or a\ncrash the same command goes on.");
  options.add_positional("ID|GLOB|CLAIM|FILE.conf", request.words,
                         "experiments by id (sandwich/table1), glob ('sandwich/fig*') or claim "
                         "(S-T1-4), or a file with a grid of your own");
  options.group("What to run")
      .add("scale", request.scale, "NAME", "smoke, tiny, small or paper")
      .add("seeds", request.seeds, "N",
           "seeds 1 to N of each model, and never fewer than the folder had (default: 1, at paper "
           "scale those of the paper)")
      .add_paths("dataset", request.datasets, "NAME=CORPUS",
                 "the corpus that stands for openwebtext2, github, arxiv, wikitext103 or text; may "
                 "be repeated. Without any, text is found on this machine")
      .add("on", request.on, "NAME,...", "only these data sets of the experiments (default: all)")
      .add(
          "document-order", request.document_order, "seed|file",
          "of tests: shuffled by the seed of a run, as the papers have it, or as prepared, so that "
          "all seeds are measured on one text (default: seed)")
      .add("only", request.only, "NAME,...", "only models of these labels or encodings")
      .add("out", request.out, "FOLDER", "the sweep's folder (default: sweeps/SCALE)");
  options.group("How")
      .add("jobs", request.jobs, "N", "cells at a time, each in a process of its own")
      .add("threads", request.threads, "N",
           "threads of all of them (default: FARFIELD_THREADS, or all processors); with slurm of "
           "each (default: 1)")
      .add("device", request.device, "NAME", "where to compute: cpu, cuda, cuda:N")
      .add("launcher", request.launcher, "local|slurm",
           "make the cells here, or submit them as a job array of Slurm")
      .add("slurm-options", request.slurm.options, "WORDS",
           "with slurm: options of sbatch, such as '--partition=gpu --time=8:00:00'")
      .add("keep-weights", request.keep_weights,
           "keep the run folders of finished cells (default: results alone)")
      .add("retry-failed", request.retry_failed, "make cells again that failed before")
      .add("dry-run", request.dry_run,
           "make what text is missing, print the commands of the cells that are open, and exit");
  if (!options.parse(argc, argv, out)) return cli::kDone;
  require<ConfigError>(!request.words.empty(), kWhere,
                       "expected an experiment, got none; sweep list shows all");
  require<ConfigError>(request.jobs >= 1 && request.jobs <= 1024, kWhere,
                       "--jobs: expected 1 to 1024, got ", request.jobs);
  const int64_t seeds = request.seeds.value_or(1);
  require<ConfigError>(seeds >= 1 && seeds <= kMostSeeds, kWhere, "--seeds: expected 1 to ",
                       kMostSeeds, ", got ", seeds);
  const bool is_slurm = request.launcher == "slurm";
  require<ConfigError>(is_slurm || request.launcher == "local", kWhere,
                       "--launcher: expected local or slurm, got '", request.launcher, "'");
  require<ConfigError>(is_slurm || request.slurm.options.empty(), kWhere,
                       "--slurm-options: expected --launcher slurm with it");
  if (!is_slurm)
    cli::use_threads(request.threads, cli::remarks());
  else if (request.threads)  // of other machines
    set_thread_count(*request.threads);

  PlanOptions plan;
  plan.scale = scale_named(request.scale);
  plan.device = request.device;
  const std::string& order = request.document_order;
  require<ConfigError>(order.empty() || order == "seed" || order == "file", kWhere,
                       "--document-order: expected seed or file, got '", order, "'");
  for (const std::string& name : request.on) require_dataset("--on", name);
  plan.document_order = request.document_order;
  for (const std::string& assignment : request.datasets) plan.datasets.map(assignment);
  if (request.out.empty()) request.out = "sweeps/" + request.scale;
  SweepFolder folder(request.out, plan);
  std::vector<std::string> named;
  for (const std::string& word : request.words)
    if (is_grid_file(word))
      folder.add_grid(fs::path(word).stem().string(), read_file(word));
    else
      named.push_back(word);
  folder.add(experiments_matching(named), request.seeds);
  const std::vector<Plan> wanted = plans_of(folder, request);  // refuses before anything is kept
  folder.save();
  try {
    ensure_corpora(folder, wanted, out);
  } catch (const Interrupted&) {
    out << "stopped on request; run the same command to continue" << std::endl;
    return cli::kStopped;
  }
  folder.save();

  const std::vector<Plan> plans = plans_of(folder, request);
  for (const Plan& p : plans)
    if (!p.experiment->not_run.empty())
      out << p.experiment->id << ": not run: " << p.experiment->not_run << '\n';
  const std::vector<Cell> cells = cells_of(plans, request.only);
  const DriverOptions how = {
      .jobs = request.jobs,
      .threads = is_slurm ? request.threads.value_or(1) * request.jobs : thread_count(),
      .keep_weights = request.keep_weights,
      .retry_failed = request.retry_failed};
  const std::vector<Cell> open = cells_to_make(folder, cells, how);
  require_corpora(folder, open);
  request.slurm.has_card = request.device != "cpu";
  if (is_slurm && !request.dry_run) return submit(folder, cells, how, request.slurm, out);
  if (is_slurm) {
    show_submission(folder, cells, how, request.slurm, out);
    return cli::kDone;
  }
  if (request.dry_run) {
    for (const Cell& cell : open) {
      write_cell(folder.cells(), cell);
      out << joined(command_of(folder, cell, how), " ", cli::shell_word) << "  # " << cell.label()
          << '\n';
    }
    return cli::kDone;
  }
  const cli::ExitCode code = drive(folder, cells, how, out);
  if (code == cli::kDone) out << "sweep report " << request.out << " writes the report\n";
  if (code == cli::kFailed)
    out << "some cells failed: sweep status " << request.out
        << " says why, --retry-failed makes them again\n";
  return code;
}

int cell_command(int argc, const char* const* argv, std::ostream& out) {
  std::string path, hash;
  std::optional<int64_t> threads, parent;
  CellRunOptions how;
  cli::Options options("sweep cell", "Makes one cell of a sweep that `sweep run` has planned.");
  options.add_positional("FOLDER", path, "the sweep's folder");
  options.add_positional("CELL", hash, "the name of a file in its cells/, without .json");
  options.group("How")
      .add("threads", threads, "N", "threads (default: FARFIELD_THREADS, or all processors)")
      .add("workers", how.workers, "N", "processes that share this machine's memory")
      .add("parent", parent, "PID", "stop, with a checkpoint, when this process ends")
      .add("keep-weights", how.keep_weights, "keep the run folder when all is measured");
  if (!options.parse(argc, argv, out)) return cli::kDone;
  require<ConfigError>(how.workers >= 1, kWhere, "--workers: expected at least 1, got ",
                       how.workers);
  cli::use_threads(threads, cli::remarks());
  if (parent) cli::stop_with_parent(*parent);
  const SweepFolder folder(path);
  return run_cell(folder, read_cell(folder.cell(hash)), how, out);
}

}  // namespace farfield::sweep
