#include "apps/eval/command.h"

#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "apps/cli/options.h"
#include "apps/cli/progress.h"
#include "apps/cli/signals.h"
#include "apps/eval/cells.h"
#include "apps/eval/evaluator.h"
#include "apps/eval/measure.h"
#include "apps/eval/progress.h"
#include "apps/eval/refusals.h"
#include "apps/run/corpus.h"
#include "apps/run/labels.h"
#include "apps/run/load_run.h"
#include "data/corpus.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/interrupt.h"
#include "engine/base/parallel.h"
#include "engine/base/temporary.h"

namespace fs = std::filesystem;

namespace farfield::eval {
namespace {

struct Request {
  std::vector<std::string> runs, posenc, map;
  bool drop_learned = false, list = false, markdown = false, again = false;
  std::optional<int64_t> step, threads;
  std::optional<std::string> data, device;
  std::string split = "test", order = "seed", out;
  EvalOptions eval;
};

// The corpus of a run, or the one asked for instead.
data::Corpus corpus_of(const Request& request, const run::LoadedRun& run) {
  if (request.data) return data::Corpus::open(*request.data);
  const std::string folder = run::find_corpus(run.folder);
  data::Corpus corpus = data::Corpus::open(folder);
  require<IoError>(corpus.hash() == run.state.data_hash, "eval", folder,
                   ": expected the data that ", run.folder.path().string(),
                   " was trained on (hash ", run.state.data_hash, "), got other data (hash ",
                   corpus.hash(), "); --data ", folder, " measures on it all the same");
  return corpus;
}

// What did not correspond when a run was loaded under another encoding.
void say(std::ostream& out, const std::string& path, const run::LoadedRun& run, bool has_map) {
  const auto line = [&](const char* what, const std::vector<std::string>& names) {
    if (names.empty()) return;
    out << path << ": " << what << ' ';
    for (const std::string& name : names) out << (&name == &names[0] ? "" : ", ") << name;
    out << '\n';
  };
  if (has_map)
    out << path << ": trained values mapped: "
        << (run.unmatched.mapped.empty() ? "none, this is the trained expression"
                                         : run.unmatched.mapped)
        << '\n';
  line("trained values left out:", run.unmatched.left_out);
  line("at the values that training starts from:", run.unmatched.at_start);
}

// Ends a measurement when a signal asks for that, and else shows how far it is.
void watch(EvalProgress& progress, int64_t n_tokens) {
  throw_if(cli::stop_requested);
  progress.pass(n_tokens);
}

// Of the runs, those that nothing can be kept in; told here, before an hour of measuring.
std::set<std::string> read_only_runs(const Request& request, std::ostream& out) {
  std::set<std::string> found;
  for (const std::string& path : request.runs) {
    const fs::path folder = run::RunFolder::open(path).eval();
    try {
      require_writable_folder(folder);
      require_writable_folder(folder / "cells");
    } catch (const IoError& error) {
      if (request.out.empty())
        throw IoError(concat(error.what(), "; --out FOLDER puts the results elsewhere"));
      if (found.insert(path).second)
        out << path
            << ": cannot be written to, so nothing is kept there for a later call; results go to "
            << request.out << " alone\n";
    }
  }
  return found;
}

cli::ExitCode measure_all(const Request& request, std::ostream& out) {
  std::map<std::string, std::vector<RunResult>> all;
  bool has_failed = false;
  std::vector<std::optional<std::string>> expressions(request.posenc.begin(), request.posenc.end());
  if (expressions.empty()) expressions.emplace_back();  // the run's own
  std::vector<Baseline> baselines;
  for (const std::string& name : request.eval.baselines) baselines.push_back(parse_baseline(name));
  const auto load = [&](const std::string& path, const std::optional<std::string>& expression,
                        const Baseline& baseline) {
    return run::load_run(path,
                         {.step = request.step,
                          .device = request.device,
                          .posenc = expression,
                          .drop_learned = request.drop_learned,
                          .map = request.map,
                          .window = baseline.kind == Baseline::Kind::masked ? baseline.window : 0});
  };
  Refusals refused(out, expressions.size() > 1);
  const auto for_each_subject = [&](const auto& act) {
    for (const std::string& path : request.runs)
      for (const auto& expression : expressions)
        for (const Baseline& baseline : baselines)
          refused.guard(concat(path, '\n', expression.value_or(""), '\n', baseline.label()),
                        [&] { act(path, load(path, expression, baseline), baseline); });
    refused.rethrow_if_all();
  };
  if (!request.posenc.empty() || baselines.size() > 1)  // refuse before an hour of measuring
    for_each_subject([](const std::string&, const run::LoadedRun&, const Baseline&) {});
  for (const Baseline& baseline : baselines) {
    const std::string warning = warning_of(baseline, request.eval.common.lengths);
    if (!warning.empty()) out << "warning: " << warning << '\n';
  }
  if (!request.out.empty()) require_writable_folder(request.out);
  const std::set<std::string> read_only = read_only_runs(request, out);
  std::string no_plot;
  const cli::StopSignals signals("eval: stopping; a second signal ends at once");
  cli::Progress lines = cli::Progress::on_stdout();
  const size_t n_asked = request.runs.size() * expressions.size() * baselines.size();
  EvalProgress progress(lines, request.eval, static_cast<int64_t>(n_asked) - refused.n_refused());
  for_each_subject([&](const std::string& path, const run::LoadedRun& run,
                       const Baseline& baseline) {
    if (&baseline == &baselines.front()) say(out, path, run, !request.map.empty());
    const data::Corpus corpus = corpus_of(request, run);
    remove_leftovers_in(run.folder.eval());
    remove_leftovers_in(run.folder.eval() / "cells");
    RowMemory memory;
    progress.begin({.text_size = corpus.split(request.split).size(),
                    .train_len = run.config.train_len(),
                    .step_tokens = run.config.batch * run.config.train_len(),
                    .baseline = baseline,
                    .n_draws = run.model.encoding().is_random(posenc::Phase::eval)
                                   ? request.eval.common.draws
                                   : 1});
    for (const std::string& protocol : request.eval.protocols) {
      progress.begin(protocol, run::encoding_label(run.config.name, run.posenc, run.config.posenc(),
                                                   baseline.label()) +
                                   ", " + protocol);
      const Interruptible interruptible(cli::stop_requested);  // finished cells are kept
      RunResult measured =
          measure(run, corpus, request.split, protocol, request.eval,
                  {.baseline = baseline,
                   .again = request.again,
                   .keep = read_only.count(path) == 0,
                   .in_file_order = request.order == "file",
                   .watch = [&](int64_t n) { watch(progress, n); },
                   .finished = [&](const LengthResult& cell) { progress.finish(cell.length); },
                   .memory = request.eval.protocols.size() > 1 ? &memory : nullptr});
      for (const LengthResult& cell : measured.result.lengths)
        has_failed = has_failed || !cell.failure.empty();
      if (read_only.count(path) == 0) {
        const WrittenResults written = write_run_results(run, measured, &no_plot);
        for (const fs::path& file : written.damaged)
          lines.say("warning: " + file.string() +
                    ": not a finished cell; left out of the tables; remove it or measure it again");
        lines.say("written: " + written.csv.string());
      }
      all[protocol].push_back(std::move(measured));
    }
  });
  for (const std::string& protocol : request.eval.protocols) {
    if (!request.out.empty())
      out << "written: " << write_results(request.out, all[protocol], &no_plot).string() << '\n';
    out << '\n' << results_table(all[protocol]);
  }
  if (!no_plot.empty()) out << "no plot: " << no_plot << '\n';
  refused.rethrow("eval");
  return has_failed ? cli::kFailed : cli::kDone;
}

}  // namespace

int eval_command(int argc, const char* const* argv, std::ostream& out) {
  Request request;
  cli::Options options(
      "eval",
      "Measures trained models at lengths of your choice. `eval compare RUN...` sets "
      "what was\nmeasured side by side, with tests; see eval compare --help.");
  std::vector<std::string> named;
  options.add_positional("RUN", request.runs, "folders of training runs");
  options.group("Models and text")
      .add_paths("run", named, "FOLDER", "a training run, as RUN is; may be repeated")
      .add("step", request.step, "N", "the checkpoint of this step (default: the newest)")
      .add("data", request.data, "FOLDER", "another corpus (default: the run's own)")
      .add("split", request.split, "NAME", "train, valid or test")
      .add("document-order", request.order, "ORDER",
           "of the split's documents: seed (as the run's seed shuffles them, so that two seeds "
           "read different text) or file")
      .add("out", request.out, "FOLDER",
           "results of all runs together (default: each run's eval/ alone)")
      .add("list", request.list, "explain every protocol and exit")
      .add("markdown", request.markdown, "with --list: the table of apps/README.md")
      .add("again", request.again,
           "measure again what an earlier call finished (default: take its numbers)");
  options.group("Another positional encoding")
      .add("posenc", request.posenc, "EXPR",
           "measure with this expression instead of the trained one; may be repeated. Trained "
           "values go from term to term by name")
      .add("map", request.map, "FROM=TO,...",
           "give a trained value a place of another name in EXPR: r1=kerple_log.r1 for a run of "
           "kernel(...); may be repeated. The run's own expression stays as trained")
      .add("drop-learned", request.drop_learned,
           "leave out trained values that EXPR has no place for, and take what EXPR starts from "
           "where it learns what the run has not trained");
  add_options(options, request.eval);
  options.group("Machine")
      .add("device", request.device, "NAME", "where to compute (default: as in training)")
      .add("threads", request.threads, "N",
           "threads (default: FARFIELD_THREADS, or all processors)");
  if (!options.parse(argc, argv, out)) return cli::kDone;
  require<ConfigError>(request.list || !request.markdown, "eval",
                       "bad_argument: --markdown: expected --list with it");
  if (request.list) {
    out << (request.markdown ? protocols_markdown() : protocols_text());
    return cli::kDone;
  }
  request.runs.insert(request.runs.end(), named.begin(), named.end());
  require<ConfigError>(!request.runs.empty(), "eval",
                       "bad_argument: expected the folder of a run of `train`, got none; "
                       "eval RUN");
  require<ConfigError>(request.map.empty() || !request.posenc.empty(), "eval",
                       "bad_argument: --map: expected --posenc EXPR with it, which has the places "
                       "of trained values");
  check_word("document-order", request.order, {"seed", "file"});
  check(request.eval);
  if (request.threads) set_thread_count(*request.threads);
  try {
    return measure_all(request, out);
  } catch (const Interrupted&) {
    out << "[eval] stopped on request; run the same command to continue\n";
    return cli::kStopped;
  } catch (const ConfigError& error) {
    rethrow_with_code(error, "eval");
  }
}

}  // namespace farfield::eval
