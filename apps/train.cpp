// train: trains a model, or resumes one.

#include <chrono>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/cli/signals.h"
#include "apps/cli/verbose.h"
#include "apps/run/corpus.h"
#include "apps/run/labels.h"
#include "apps/run/processes.h"
#include "apps/run/resolved_config.h"
#include "apps/run/source_run.h"
#include "apps/run/together.h"
#include "apps/train/requeue.h"
#include "apps/train/training_run.h"
#include "engine/base/error.h"
#include "engine/base/interrupt.h"

using namespace farfield;

namespace {

// The folder of a new run without --out: runs/NAME, runs/PRESET-ENCODING-sSEED, or
// runs/SOURCE-then-ENCODING.
std::string default_folder(const std::string& preset, const run::ResolvedConfig& config) {
  if (!config.name.empty()) return "runs/" + run::file_word(config.name);
  if (config.init) {
    const std::filesystem::path source(config.init->from);
    const std::string name = (source.has_filename() ? source : source.parent_path()).filename();
    return concat("runs/", run::file_word(name), "-then-", run::folder_word(config.posenc()));
  }
  return concat("runs/", preset, '-', run::folder_word(config.posenc()), "-s", config.seed);
}

struct Request {
  run::RunConfig config;
  std::string out, resume, merge_lora;
  bool auto_resume = false, requeue = false, tensorboard = false;
  std::optional<int64_t> stop_after;
  double stop_grace = 10;
  bool is_posenc_given = false;
};

// The settings that must be equal in all processes of a job: the configuration, and the options
// that decide the run and its number of steps.
std::string told_alike(const Request& request, const run::ResolvedConfig& config) {
  std::string text = run::to_text(config.settings);
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text += concat(name, " = ", value, '\n');
  };
  add("out", request.out);
  add("resume", request.resume);
  add("stop-after", request.stop_after ? concat(*request.stop_after) : "");
  return text;
}

bool is_there(const std::string& path) {
  std::error_code status;
  return std::filesystem::exists(path, status);
}

// A resuming call takes options that are not given from the run's start.
void read_run(const std::string& path, cli::Options& options, run::RunConfig& request) {
  const bool is_data_given = options.given("data");
  const run::RunFolder folder =
      run::RunFolder::open(path);  // the error tells what the folder is instead
  const std::string file = (folder.path() / "config.conf").string();
  const run::ResolvedConfig started =  // alone first: its mistakes are not the caller's
      run::config_of_file(file, folder.config());
  require<ConfigError>(!started.is_imported, "train", path,
                       ": expected a run of `train`, got one of `model import`, which has no "
                       "training to resume; train --init-from ",
                       path, " --data CORPUS --steps N trains a new run from its weights");
  const std::string source = run::value_of(folder.config(), "init-from");
  if (options.given("init-from") && request.init_from != source) {  // maybe it has moved
    require<ConfigError>(!source.empty(), "train", path,
                         ": --init-from: expected none, as the run ", "was started, got ",
                         *request.init_from);
    const run::ResolvedConfig::Init init = run::config_of_file(file, folder.config()).init.value();
    run::open_source(*request.init_from, init.step, init.hash);
  }
  options.read_config(file, folder.config());
  if (is_data_given) return;
  request.data.clear();
  for (const run::DataUse& use : run::find_data(folder)) request.data.push_back(run::to_text(use));
}

// A run that starts from the weights of another run takes settings that are not given from it.
void read_source(cli::Options& options, run::RunConfig& request, bool is_merge) {
  const run::SourceRun source =
      run::open_source(*request.init_from, request.init_step, request.init_hash);
  const std::string path = source.folder.path().string();
  require<ConfigError>(!options.given("task") || !source.config.task.empty(), "train",
                       "--task: expected none, since ", path, " was trained on text");
  require<ConfigError>(!options.given("data") || source.config.task.empty(), "train",
                       "--data: expected none, since ", path, " was trained on a task");
  require<ConfigError>(!is_merge || source.config.model.adapters, "train", "--merge-lora ", path,
                       ": expected a run with low-rank adapters, got one without");
  require<ConfigError>(is_merge || source.config.steps > 0 || options.given("steps"), "train",
                       "--steps: expected a number, since ", path, " has no steps of its own");
  options.read_config((source.folder.path() / "config.conf").string(),
                      run::inherited(source, /*with_data=*/!options.given("data")));
  run::complete(request, source);
}

// False when that was a question, which is answered to `to`.
bool read_request(int argc, char** argv, Request& request, std::ostream& to) {
  cli::Options options("train", "Trains a language model on a corpus and writes a run folder.");
  options.group("This call")
      .add(
          "out", request.out, "FOLDER",
          "the new run's folder (default: runs/NAME, or without --name runs/PRESET-ENCODING-sSEED; "
          "with --init-from runs/SOURCE-then-ENCODING)")
      .add("resume", request.resume, "FOLDER", "resume this run from its newest checkpoint")
      .add("auto-resume", request.auto_resume,
           "resume the run in the folder of --out if it exists, else start it")
      .add("requeue", request.requeue,
           "as --auto-resume; and if a signal stops a Slurm job, call scontrol requeue, so that "
           "the job goes on from the checkpoint")
      .add("merge-lora", request.merge_lora, "RUN",
           "add the low-rank adapters of RUN to its weights and write them as a run of no steps; "
           "the same as --init-from RUN --steps 0")
      .add("stop-after", request.stop_after, "N",
           "write a checkpoint after step N and exit with status 75; --resume continues")
      .add("tensorboard", request.tensorboard,
           "write event files for TensorBoard into the run's folder; a resumed run that has some "
           "goes on with a new one")
      .add("stop-grace", request.stop_grace, "S",
           "after SIGINT, SIGTERM or SIGUSR1 the current step has S seconds to finish; then it is "
           "given up and the state before this step is saved");
  run::add_options(options, request.config);
  if (!options.parse(argc, argv, to)) return false;
  require<ConfigError>(request.out.empty() || request.resume.empty(), "train",
                       "expected --out for a new run or --resume for an old one, got both; "
                       "--auto-resume with --out starts it or resumes it");
  require<ConfigError>(request.stop_after.value_or(0) >= 0, "train",
                       "expected --stop-after from step 0 on, got ",
                       request.stop_after.value_or(0));
  require<ConfigError>(request.stop_grace >= 0 && request.stop_grace <= 1e6, "train",
                       "expected --stop-grace from 0 to 1e6 seconds, got ", request.stop_grace);
  std::string &out = request.out, &resume = request.resume;
  if (!request.merge_lora.empty()) {
    for (const char* other : {"resume", "auto-resume", "requeue", "init-from", "lora", "steps"})
      require<ConfigError>(!options.given(other), "train", "--merge-lora: expected no --", other,
                           " beside it");
    request.config.init_from = request.merge_lora;
  }
  const bool may_resume = request.auto_resume || request.requeue;
  if (may_resume && resume.empty() && !out.empty() && is_there(out)) resume = out;
  if (resume.empty() && request.config.init_from)
    read_source(options, request.config, !request.merge_lora.empty());
  if (!request.merge_lora.empty()) request.config.steps = 0;
  if (resume.empty() && out.empty()) {
    out = default_folder(request.config.preset, run::resolve(request.config));
    if (may_resume && is_there(out)) resume = out;
  }
  if (!resume.empty()) read_run(resume, options, request.config);
  request.is_posenc_given = options.given("posenc");
  return true;
}

cli::ExitCode start_or_resume(const Request& request, const run::ResolvedConfig& config,
                              const run::Processes& processes) {
  std::ostream& out = processes.out();
  try {
    const auto warn = [&](const std::string& warning) {
      processes.err() << "warning: " << cli::printable(warning) << std::endl;
    };
    const Group& group = processes.group();
    const bool is_new = request.resume.empty();
    train::TrainingRun run = is_new
                                 ? train::TrainingRun::start(config, request.out, warn, group)
                                 : train::TrainingRun::resume(config, request.resume, warn, group);
    if (request.tensorboard || train::EventFile::is_in(run.folder().path())) run.write_events();
    if (!request.is_posenc_given)
      processes.remarks() << "note: no positional encoding, which --posenc EXPR gives" << std::endl;
    out << run::config_text(config.settings) << '\n'
        << (is_new ? "training in "
            : run.trainer().is_done()
                ? "finished: "
                : concat("resuming at step ", run.trainer().state().step, " in "))
        << cli::printable(run.folder().path().string()) << std::endl;
    if (const auto lineage = run::lineage_of(run.folder()); !lineage.empty())
      out << "weights from " << cli::printable(run::lineage_text(lineage, cli::is_verbose()))
          << std::endl;
    if (config.model.adapters)
      out << "low-rank adapters: " << run.trainer().n_trained() << " trained beside "
          << run.trainer().n_parameter() << " parameters" << std::endl;
    if (!group.is_alone()) out << processes.description() << std::endl;
    if (const int64_t n = config.tensor_parallel; n == group.size() && n > 1)
      out << "tensor parallel: they have the model together" << std::endl;
    else if (n > 1)
      out << "tensor parallel: " << n << " of them have each model together, " << group.size() / n
          << " models share the batch" << std::endl;
    cli::Progress progress = processes.progress();
    return run.go(progress, request.stop_after);
  } catch (const Interrupted&) {  // before there was a run to save
    processes.err() << "stopped on request before training; the same command starts again\n";
    return cli::kStopped;
  }
}

// Under the signals that stop it.
cli::ExitCode train(const Request& request, const run::ResolvedConfig& config,
                    const run::Processes& processes) {
  cli::ExitCode status = cli::kDone;
  bool is_signalled = false;
  {
    const cli::StopSignals signals(
        processes.is_first()
            ? concat("train: stopping after this step, which is given up after ",
                     cli::number(request.stop_grace), " s; a second signal ends at once")
            : "",
        std::chrono::duration<double>(request.stop_grace));
    status = start_or_resume(request, config, processes);
    is_signalled = run::in_any(processes.group().communicator(), cli::stop_requested());
  }
  if (request.requeue && is_signalled && status == cli::kStopped && processes.is_first())
    if (const std::string said = train::requeue_job(processes.group().is_alone()); !said.empty())
      std::cerr << cli::printable(said) << std::endl;
  return status;
}

int train_program(int argc, char** argv) {
  run::Processes processes;
  Request request;
  run::ResolvedConfig config;
  bool is_asked = false;
  processes.before_meeting([&] {
    is_asked = read_request(argc, argv, request, processes.out());
    if (!is_asked) return;
    config = run::resolve(request.config);
    require<ConfigError>(processes.size() % config.tensor_parallel == 0, "train",
                         "--tensor-parallel: expected a divisor of the number of processes, ",
                         processes.size(), ", got ", config.tensor_parallel);
  });
  if (!is_asked) return cli::kDone;
  processes.meet(told_alike(request, config), config.threads);
  return train(request, config, processes);
}

}  // namespace

int main(int argc, char** argv) { return run::run_main(argc, argv, train_program); }
