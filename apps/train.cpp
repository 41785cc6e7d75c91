// train: trains a model, or resumes one.

#include <chrono>
#include <iostream>

#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/cli/signals.h"
#include "apps/run/config.h"
#include "apps/run/corpus.h"
#include "apps/run/labels.h"
#include "apps/run/machine.h"
#include "apps/train/training_memory.h"
#include "apps/train/training_run.h"
#include "data/corpus.h"
#include "engine/base/error.h"
#include "engine/base/interrupt.h"
#include "posenc/composition.h"

using namespace farfield;

namespace {

int train_program(int argc, char** argv) {
  run::RunConfig config;
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
  run::add_options(options, config);
  if (!options.parse(argc, argv, std::cout)) return cli::kDone;
  require<ConfigError>(out.empty() || resume.empty(), "train",
                       "expected --out for a new run or --resume for an old one, got both");
  require<ConfigError>(stop_grace >= 0 && stop_grace <= 1e6, "train",
                       "expected --stop-grace from 0 to 1e6 seconds, got ", stop_grace);

  const bool is_data_given = options.given("data");
  if (!resume.empty()) {  // what is not given here is as the run was started
    const run::RunFolder folder =
        run::RunFolder::open(resume);  // says what it is where it is no run
    const std::string file = (folder.path() / "config.conf").string();
    run::run_config_of_file(file,
                            folder.config());  // alone first: its mistakes are not the caller's
    options.read_config(file, run::to_text(folder.config()));
  }
  run::resolve(config);
  if (!resume.empty() && !is_data_given)
    config.data = run::find_corpus(run::RunFolder::open(resume));
  if (out.empty() && !config.name.empty()) out = "runs/" + run::file_word(config.name);
  if (out.empty()) {
    std::string name = config.posenc;
    for (char& c : name)
      if (std::string_view("abcdefghijklmnopqrstuvwxyz0123456789_.").find(c) == std::string::npos)
        c = '-';
    out = concat("runs/", config.preset, '-', name.substr(0, 40), "-s", config.seed);
  }

  if (!config.data.empty()) {
    const std::string warning =
        train::memory_warning(config, data::Corpus::open(config.data).vocab_size(),
                              run::available_bytes(parse_device(config.device)));
    if (!warning.empty()) std::cout << "warning: " << warning << std::endl;
  }
  const cli::StopSignals signals(
      concat("train: stopping after this step, which is given up after ", cli::number(stop_grace),
             " s; a second signal ends at once"),
      std::chrono::duration<double>(stop_grace));
  try {
    train::TrainingRun run = resume.empty() ? train::TrainingRun::start(config, out)
                                            : train::TrainingRun::resume(config, resume);
    std::cout << cli::printable(run::to_text(run::to_settings(config))) << '\n'
              << (resume.empty() ? "training in "
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

}  // namespace

int main(int argc, char** argv) { return cli::run_main(argc, argv, train_program); }
