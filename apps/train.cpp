// train: trains a model, or resumes one.

#include <chrono>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/cli/signals.h"
#include "apps/run/corpus.h"
#include "apps/run/labels.h"
#include "apps/run/resolved_config.h"
#include "apps/train/requeue.h"
#include "apps/train/training_run.h"
#include "engine/base/error.h"
#include "engine/base/interrupt.h"

using namespace farfield;

namespace {

// Of a new run that names none: runs/NAME, or runs/PRESET-ENCODING-sSEED.
std::string default_folder(const std::string& preset, const run::ResolvedConfig& config) {
  if (!config.name.empty()) return "runs/" + run::file_word(config.name);
  std::string name = config.posenc();
  for (char& c : name)
    if (std::string_view("abcdefghijklmnopqrstuvwxyz0123456789_.").find(c) == std::string::npos)
      c = '-';
  return concat("runs/", preset, '-', name.substr(0, 40), "-s", config.seed);
}

bool is_there(const std::string& path) {
  std::error_code status;
  return std::filesystem::exists(path, status);
}

// What is not given to a call that resumes is as the run was started.
void read_run(const std::string& path, cli::Options& options, run::RunConfig& request) {
  const bool is_data_given = options.given("data");
  const run::RunFolder folder = run::RunFolder::open(path);  // says what it is where it is none
  const std::string file = (folder.path() / "config.conf").string();
  run::config_of_file(file, folder.config());  // alone first: its mistakes are not the caller's
  options.read_config(file, run::to_text(folder.config()));
  if (is_data_given) return;
  request.data.clear();
  for (const run::DataUse& use : run::find_data(folder)) request.data.push_back(run::to_text(use));
}

cli::ExitCode start_or_resume(const run::ResolvedConfig& config, const std::string& out,
                              const std::string& resume, std::optional<int64_t> stop_after) {
  try {
    const auto warn = [](const std::string& warning) {
      std::cout << "warning: " << warning << std::endl;
    };
    const bool is_new = resume.empty();
    train::TrainingRun run = is_new ? train::TrainingRun::start(config, out, warn)
                                    : train::TrainingRun::resume(config, resume, warn);
    std::cout << cli::printable(run::to_text(config.settings)) << '\n'
              << (is_new ? "training in "
                  : run.trainer().is_done()
                      ? "finished: "
                      : concat("resuming at step ", run.trainer().state().step, " in "))
              << cli::printable(run.folder().path().string()) << std::endl;
    cli::Progress progress = cli::Progress::on_stdout();
    return run.go(progress, stop_after);
  } catch (const Interrupted&) {  // before there was a run to save
    std::cout << "stopped on request before training; the same command starts again\n";
    return cli::kStopped;
  }
}

int train_program(int argc, char** argv) {
  run::RunConfig request;
  std::string out, resume;
  bool auto_resume = false, requeue = false;
  std::optional<int64_t> stop_after;
  double stop_grace = 10;
  cli::Options options(
      "train", "Trains a decoder language model on a corpus, into a run folder of its own.");
  options.group("This call")
      .add("out", out, "FOLDER",
           "the new run's folder (default: runs/NAME, without one runs/PRESET-ENCODING-sSEED)")
      .add("resume", resume, "FOLDER", "resume this run from its newest checkpoint")
      .add("auto-resume", auto_resume,
           "resume the run in the folder of --out if it is there, start it if it is not")
      .add("requeue", requeue,
           "--auto-resume, and in a Slurm job that a signal stops: scontrol requeue, so that the "
           "job goes on from the checkpoint")
      .add("stop-after", stop_after, "N",
           "write a checkpoint after step N and exit with status 75; --resume continues")
      .add("stop-grace", stop_grace, "S",
           "after SIGINT, SIGTERM or SIGUSR1 the running step has S more seconds; then it is given "
           "up and the state before it saved");
  run::add_options(options, request);
  if (!options.parse(argc, argv, std::cout)) return cli::kDone;
  require<ConfigError>(out.empty() || resume.empty(), "train",
                       "expected --out for a new run or --resume for an old one, got both; "
                       "--auto-resume with --out starts it or resumes it");
  require<ConfigError>(stop_grace >= 0 && stop_grace <= 1e6, "train",
                       "expected --stop-grace from 0 to 1e6 seconds, got ", stop_grace);

  if (out.empty() && resume.empty()) out = default_folder(request.preset, run::resolve(request));
  if ((auto_resume || requeue) && resume.empty() && is_there(out)) resume = out;
  if (!resume.empty()) read_run(resume, options, request);
  const run::ResolvedConfig config = run::resolve(request);

  cli::ExitCode status = cli::kDone;
  bool is_signalled = false;
  {
    const cli::StopSignals signals(
        concat("train: stopping after this step, which is given up after ", cli::number(stop_grace),
               " s; a second signal ends at once"),
        std::chrono::duration<double>(stop_grace));
    status = start_or_resume(config, out, resume, stop_after);
    is_signalled = cli::stop_requested();
  }
  if (requeue && is_signalled && status == cli::kStopped)
    if (const std::string said = train::requeue_job(); !said.empty())
      std::cout << cli::printable(said) << std::endl;
  return status;
}

}  // namespace

int main(int argc, char** argv) { return cli::run_main(argc, argv, train_program); }
