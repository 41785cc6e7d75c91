// eval: measures trained models at lengths of your choice.

#include <filesystem>
#include <iostream>
#include <map>

#include "apps/cli.h"
#include "apps/evaluator.h"
#include "apps/load_run.h"
#include "apps/measure.h"
#include "data/corpus.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"

using namespace farfield;
using namespace farfield::apps;
namespace fs = std::filesystem;

namespace {

struct Request {
  std::vector<std::string> runs, posenc;
  bool drop_learned = false;
  std::optional<int64_t> step, threads;
  std::optional<std::string> data, device;
  std::string split = "test", out;
  EvalOptions eval;
};

// The corpus of a run, or the one asked for instead.
data::Corpus corpus_of(const Request& request, const LoadedRun& run) {
  if (request.data) return data::Corpus::open(*request.data);
  data::Corpus corpus = data::Corpus::open(run.config.data);
  require<IoError>(corpus.hash() == run.state.data_hash, "eval", run.config.data,
                   ": expected the data that ", run.folder.path().string(),
                   " was trained on (hash ", run.state.data_hash, "), got other data (hash ",
                   corpus.hash(), "); --data ", run.config.data, " measures on it all the same");
  return corpus;
}

// What did not correspond when a run was loaded under another encoding.
void say(const std::string& path, const LoadedRun& run) {
  const auto line = [&](const char* what, const std::vector<std::string>& names) {
    if (names.empty()) return;
    std::cout << path << ": " << what << ' ';
    for (const std::string& name : names) std::cout << (&name == &names[0] ? "" : ", ") << name;
    std::cout << '\n';
  };
  line("trained values left out:", run.unmatched.left_out);
  line("at the values that training starts from:", run.unmatched.at_start);
}

void say_written(const fs::path& path) { std::cout << "written: " << path.string() << '\n'; }

int eval(int argc, char** argv) {
  Request request;
  Options options("eval", "Measures trained models at lengths of your choice.");
  options.group("Models and text")
      .add("run", request.runs, "FOLDER", "a training run; may be repeated")
      .add("step", request.step, "N", "the checkpoint of this step (default: the newest)")
      .add("data", request.data, "FOLDER", "another corpus (default: the run's own)")
      .add("split", request.split, "NAME", "train, valid or test")
      .add("out", request.out, "FOLDER",
           "results of all runs together (default: each run's eval/ alone)");
  options.group("Another positional encoding")
      .add("posenc", request.posenc, "EXPR",
           "measure with this expression instead of the trained one; may be repeated. Trained "
           "values go from term to term by name")
      .add("drop-learned", request.drop_learned,
           "leave out trained values that EXPR has no place for, and take what EXPR starts from "
           "where it learns what the run has not trained");
  add_options(options, request.eval);
  options.group("Machine")
      .add("device", request.device, "NAME", "where to compute (default: as in training)")
      .add("threads", request.threads, "N",
           "threads (default: FARFIELD_THREADS, or all processors)");
  if (!options.parse(argc, argv, std::cout)) return kDone;
  require<ConfigError>(!request.runs.empty(), "eval", "expected --run FOLDER, a run of `train`");
  check(request.eval);
  if (request.threads) set_thread_count(static_cast<int>(*request.threads));

  std::map<std::string, std::vector<RunResult>> all;
  bool has_failed = false;
  std::vector<std::optional<std::string>> expressions(request.posenc.begin(), request.posenc.end());
  if (expressions.empty()) expressions.emplace_back();  // the run's own
  const auto load = [&](const std::string& path, const std::optional<std::string>& expression) {
    return load_run(path, {.step = request.step,
                           .device = request.device,
                           .posenc = expression,
                           .drop_learned = request.drop_learned});
  };
  if (!request.posenc.empty())  // refuse before an hour of measuring, not after
    for (const std::string& path : request.runs)
      for (const auto& expression : expressions) load(path, expression);
  for (const std::string& path : request.runs) {
    for (const auto& expression : expressions) {
      const LoadedRun run = load(path, expression);
      say(path, run);
      const data::Corpus corpus = corpus_of(request, run);
      for (const std::string& protocol : request.eval.protocols) {
        RunResult measured = measure(run, corpus, request.split, protocol, request.eval);
        for (const LengthResult& cell : measured.result.lengths)
          has_failed = has_failed || !cell.failure.empty();
        say_written(write_results(run.folder.eval(), {measured}));
        all[protocol].push_back(std::move(measured));
      }
    }
  }
  for (const std::string& protocol : request.eval.protocols) {
    if (!request.out.empty()) say_written(write_results(request.out, all[protocol]));
    std::cout << '\n' << results_table(all[protocol]);
  }
  if (!can_plot()) std::cout << "no plot: gnuplot is not there; install gnuplot-nox\n";
  return has_failed ? kFailed : kDone;
}

}  // namespace

int main(int argc, char** argv) { return run_main(argc, argv, eval); }
