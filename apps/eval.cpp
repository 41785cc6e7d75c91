// eval: measures trained models at lengths of your choice.

#include <filesystem>
#include <iostream>
#include <map>

#include "apps/cli.h"
#include "apps/evaluator.h"
#include "apps/load_run.h"
#include "apps/progress.h"
#include "apps/results.h"
#include "apps/scorer.h"
#include "data/corpus.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/parallel.h"

using namespace farfield;
using namespace farfield::apps;
namespace fs = std::filesystem;

namespace {

struct Request {
  std::vector<std::string> runs;
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

// Writes what plots and tables are made from, and the plot where gnuplot is there.
void write(const fs::path& folder, const std::vector<RunResult>& results) {
  std::error_code status;
  fs::create_directories(folder, status);
  require<IoError>(!status, "eval", folder.string(),
                   ": cannot make the folder: ", status.message());
  const std::string name = results.front().result.protocol;
  write_file_atomic(folder / (name + ".csv"), results_csv(results));
  if (results.size() == 1)
    write_file_atomic(folder / (name + "-items.csv"), items_csv(results.front()));
  const Plot plot = results_plot(results);
  if (can_plot() && has_points(plot)) write_file_atomic(folder / (name + ".svg"), draw_svg(plot));
  std::cout << "written: " << (folder / name).string() << ".csv\n";
}

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
  for (const std::string& path : request.runs) {
    const LoadedRun run = load_run(path, request.step, request.device);
    const data::Corpus corpus = corpus_of(request, run);
    const data::TokenFile& tokens = corpus.split(request.split);
    const Scorer scorer = scorer_of(run.model, run.device);
    for (const std::string& protocol : request.eval.protocols) {
      RunResult measured{.run = path,
                         .posenc = run.config.posenc,
                         .seed = run.config.seed,
                         .train_len = *run.config.train_len,
                         .step = run.state.step,
                         .data_hash = corpus.hash(),
                         .split = request.split,
                         .bytes_per_token = tokens.bytes_per_token(),
                         .result = evaluate(protocol, scorer, stream_of_split(tokens), request.eval,
                                            run.config.seed)};
      for (const LengthResult& cell : measured.result.lengths)
        has_failed = has_failed || !cell.failure.empty();
      write(run.folder.eval(), {measured});
      all[protocol].push_back(std::move(measured));
    }
  }
  for (const std::string& protocol : request.eval.protocols) {
    if (!request.out.empty()) write(request.out, all[protocol]);
    std::cout << '\n' << results_table(all[protocol]);
  }
  if (!can_plot()) std::cout << "no plot: gnuplot is not there; install gnuplot-nox\n";
  return has_failed ? kFailed : kDone;
}

}  // namespace

int main(int argc, char** argv) { return run_main(argc, argv, eval); }
