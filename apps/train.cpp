// train: trains a model, or goes on with one.

#include <iostream>

#include "apps/cli.h"
#include "apps/machine.h"
#include "apps/run_config.h"
#include "apps/run_corpus.h"
#include "apps/training_memory.h"
#include "apps/training_run.h"
#include "data/corpus.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "posenc/composition.h"

using namespace farfield;
using namespace farfield::apps;

namespace {

int train(int argc, char** argv) {
  RunConfig config;
  std::string out, resume;
  std::optional<int64_t> stop_after;
  Options options("train",
                  "Trains a decoder language model on a corpus, into a run folder of its own.");
  options.group("This call")
      .add("out", out, "FOLDER", "the new run's folder (default: runs/PRESET-ENCODING-sSEED)")
      .add("resume", resume, "FOLDER", "go on with this run at its newest checkpoint")
      .add("stop-after", stop_after, "N",
           "write a checkpoint after step N and leave with 75; --resume goes on");
  add_options(options, config);
  if (!options.parse(argc, argv, std::cout)) return kDone;
  require<ConfigError>(out.empty() || resume.empty(), "train",
                       "expected --out for a new run or --resume for an old one, got both");

  const bool is_data_given = options.given("data");
  if (!resume.empty()) {      // what is not given here is as the run was started
    RunFolder::open(resume);  // says what the folder is where it is no run
    const std::string file = resume + "/config.conf";
    options.read_config(file, read_file(file));
  }
  resolve(config);
  if (!resume.empty() && !is_data_given) config.data = find_corpus(RunFolder::open(resume));
  if (out.empty()) {
    std::string name = config.posenc;
    for (char& c : name)
      if (std::string_view("abcdefghijklmnopqrstuvwxyz0123456789_.").find(c) == std::string::npos)
        c = '-';
    out = concat("runs/", config.preset, '-', name.substr(0, 40), "-s", config.seed);
  }

  if (!config.data.empty()) {
    const std::string warning = memory_warning(config, data::Corpus::open(config.data).vocab_size(),
                                               available_bytes(parse_device(config.device)));
    if (!warning.empty()) std::cout << "warning: " << warning << std::endl;
  }
  TrainingRun run =
      resume.empty() ? TrainingRun::start(config, out) : TrainingRun::resume(config, resume);
  std::cout << to_text(to_settings(config)) << '\n'
            << (resume.empty() ? "training in "
                : run.trainer().is_done()
                    ? "finished: "
                    : concat("going on at step ", run.trainer().state().step, " in "))
            << run.folder().path().string() << std::endl;
  Progress progress = Progress::on_stdout();
  return run.go(progress, stop_after);
}

}  // namespace

int main(int argc, char** argv) { return run_main(argc, argv, train); }
