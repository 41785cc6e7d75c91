// train: trains a model, or resumes one.

#include <chrono>
#include <iostream>

#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/cli/signals.h"
#include "apps/run/corpus.h"
#include "apps/run/labels.h"
#include "apps/run/processes.h"
#include "apps/run/resolved_config.h"
#include "apps/run/together.h"
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

struct Request {
  run::RunConfig config;
  std::string out, resume;
  std::optional<int64_t> stop_after;
  double stop_grace = 10;
};

// False when that was a question, which is answered to `to`.
bool read_request(int argc, char** argv, Request& request, std::ostream& to) {
  cli::Options options(
      "train", "Trains a decoder language model on a corpus, into a run folder of its own.");
  options.group("This call")
      .add("out", request.out, "FOLDER",
           "the new run's folder (default: runs/NAME, without one runs/PRESET-ENCODING-sSEED)")
      .add("resume", request.resume, "FOLDER", "resume this run from its newest checkpoint")
      .add("stop-after", request.stop_after, "N",
           "write a checkpoint after step N and exit with status 75; --resume continues")
      .add("stop-grace", request.stop_grace, "S",
           "after SIGINT, SIGTERM or SIGUSR1 the running step has S more seconds; then it is given "
           "up and the state before it saved");
  run::add_options(options, request.config);
  if (!options.parse(argc, argv, to)) return false;
  const std::string& resume = request.resume;
  require<ConfigError>(request.out.empty() || resume.empty(), "train",
                       "expected --out for a new run or --resume for an old one, got both");
  require<ConfigError>(request.stop_grace >= 0 && request.stop_grace <= 1e6, "train",
                       "expected --stop-grace from 0 to 1e6 seconds, got ", request.stop_grace);
  if (resume.empty()) return true;
  // What is not given here is as the run was started.
  const bool is_data_given = options.given("data");
  const run::RunFolder folder = run::RunFolder::open(resume);  // says what it is where it is none
  const std::string file = (folder.path() / "config.conf").string();
  run::config_of_file(file, folder.config());  // alone first: its mistakes are not the caller's
  options.read_config(file, run::to_text(folder.config()));
  if (!is_data_given) {
    request.config.data.clear();
    for (const run::DataUse& use : run::find_data(folder))
      request.config.data.push_back(run::to_text(use));
  }
  return true;
}

int train(const Request& request, const run::ResolvedConfig& config,
          const run::Processes& processes) {
  std::ostream& out = processes.out();
  const Group& group = processes.group();
  const cli::StopSignals signals(
      group.is_first() ? concat("train: stopping after this step, which is given up after ",
                                cli::number(request.stop_grace), " s; a second signal ends at once")
                       : "",
      std::chrono::duration<double>(request.stop_grace));
  try {
    const auto warn = [&](const std::string& warning) {
      out << "warning: " << warning << std::endl;
    };
    const bool is_new = request.resume.empty();
    train::TrainingRun run = is_new
                                 ? train::TrainingRun::start(config, request.out, warn, group)
                                 : train::TrainingRun::resume(config, request.resume, warn, group);
    out << cli::printable(run::to_text(config.settings)) << '\n'
        << (is_new ? "training in "
            : run.trainer().is_done()
                ? "finished: "
                : concat("resuming at step ", run.trainer().state().step, " in "))
        << cli::printable(run.folder().path().string()) << std::endl;
    if (!group.is_alone()) out << processes.description() << std::endl;
    cli::Progress progress = processes.progress();
    return run.go(progress, request.stop_after);
  } catch (const Interrupted&) {  // before there was a run to save
    out << "stopped on request before training; the same command starts again\n";
    return cli::kStopped;
  }
}

int train_program(int argc, char** argv) {
  run::Processes processes;
  try {
    Request request;
    run::ResolvedConfig config;
    bool is_asked = false;
    processes.before_meeting([&] {
      is_asked = read_request(argc, argv, request, processes.out());
      if (is_asked) config = run::resolve(request.config);
    });
    if (!is_asked) return cli::kDone;
    if (request.out.empty()) request.out = default_folder(request.config.preset, config);
    processes.meet(run::to_text(config.settings), config.threads);
    return train(request, config, processes);
  } catch (const run::OtherFailed&) {
    return cli::kFailed;
  }
}

}  // namespace

int main(int argc, char** argv) { return cli::run_main(argc, argv, train_program); }
