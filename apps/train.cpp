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
#include "apps/train/together.h"
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

int train_program(int argc, char** argv) {
  run::RunConfig request;
  std::string out, resume;
  std::optional<int64_t> stop_after;
  double stop_grace = 10;
  cli::Options options(
      "train", "Trains a decoder language model on a corpus, into a run folder of its own.");
  options.group("This call")
      .add("out", out, "FOLDER",
           "the new run's folder (default: runs/NAME, without one runs/PRESET-ENCODING-sSEED)")
      .add("resume", resume, "FOLDER", "resume this run from its newest checkpoint")
      .add("stop-after", stop_after, "N",
           "write a checkpoint after step N and exit with status 75; --resume continues")
      .add("stop-grace", stop_grace, "S",
           "after SIGINT, SIGTERM or SIGUSR1 the running step has S more seconds; then it is given "
           "up and the state before it saved");
  run::add_options(options, request);
  if (!options.parse(argc, argv, std::cout)) return cli::kDone;
  require<ConfigError>(out.empty() || resume.empty(), "train",
                       "expected --out for a new run or --resume for an old one, got both");
  require<ConfigError>(stop_grace >= 0 && stop_grace <= 1e6, "train",
                       "expected --stop-grace from 0 to 1e6 seconds, got ", stop_grace);

  const bool is_new = resume.empty(), is_data_given = options.given("data");
  if (!is_new) {  // what is not given here is as the run was started
    const run::RunFolder folder = run::RunFolder::open(resume);  // says what it is where it is none
    const std::string file = (folder.path() / "config.conf").string();
    run::config_of_file(file, folder.config());  // alone first: its mistakes are not the caller's
    options.read_config(file, run::to_text(folder.config()));
    if (!is_data_given) {
      request.data.clear();
      for (const run::DataUse& use : run::find_data(folder))
        request.data.push_back(run::to_text(use));
    }
  }
  const run::ResolvedConfig config = run::resolve(request);
  if (out.empty()) out = default_folder(request.preset, config);
  const run::Processes processes = run::Processes::meet(config);

  const cli::StopSignals signals(
      concat("train: stopping after this step, which is given up after ", cli::number(stop_grace),
             " s; a second signal ends at once"),
      std::chrono::duration<double>(stop_grace));
  std::ostream& to = processes.out();
  try {
    const auto warn = [&](const std::string& warning) {
      to << "warning: " << warning << std::endl;
    };
    const Group& group = processes.group();
    train::TrainingRun run = is_new ? train::TrainingRun::start(config, out, warn, group)
                                    : train::TrainingRun::resume(config, resume, warn, group);
    to << cli::printable(run::to_text(config.settings)) << '\n'
       << (is_new ? "training in "
           : run.trainer().is_done()
               ? "finished: "
               : concat("resuming at step ", run.trainer().state().step, " in "))
       << cli::printable(run.folder().path().string()) << std::endl;
    if (!group.is_alone()) to << processes.description() << std::endl;
    cli::Progress progress = processes.progress();
    return run.go(progress, stop_after);
  } catch (const Interrupted&) {  // before there was a run to save
    to << "stopped on request before training; the same command starts again\n";
    return cli::kStopped;
  } catch (const train::OtherFailed&) {
    return cli::kFailed;  // process 0 says why
  }
}

}  // namespace

int main(int argc, char** argv) { return cli::run_main(argc, argv, train_program); }
