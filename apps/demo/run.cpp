#include "apps/demo/run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>

#include "apps/cli/duration.h"
#include "apps/cli/progress.h"
#include "apps/cli/signals.h"
#include "apps/cli/threads.h"
#include "apps/cli/verbose.h"
#include "apps/cli/version.h"
#include "apps/demo/page.h"
#include "apps/eval/measure.h"
#include "apps/eval/protocols/last_token.h"
#include "apps/eval/rehearsal.h"
#include "apps/run/found_text.h"
#include "apps/run/labels.h"
#include "apps/run/load_run.h"
#include "apps/run/settings.h"
#include "apps/train/training_run.h"
#include "data/prepare.h"
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/interrupt.h"
#include "engine/base/parallel.h"
#include "engine/base/text.h"
#include "engine/base/write_target.h"

namespace fs = std::filesystem;

namespace farfield::demo {
namespace {

constexpr std::string_view kWhere = "demo";

std::string describe_input(const DemoOptions& demo) {
  return demo.input.empty() ? run::kFoundText : demo.input;
}

fs::path options_file(const DemoOptions& demo) { return fs::path(demo.out) / "demo.conf"; }
fs::path corpus_folder(const DemoOptions& demo) { return fs::path(demo.out) / "corpus"; }

// Whether a model was trained there, at least in part.
bool has_runs(const DemoOptions& demo) {
  std::error_code status;
  for (const auto& entry : fs::directory_iterator(demo.out, status))
    if (fs::is_regular_file(entry.path() / "config.conf", status)) return true;
  return false;
}

// Whether there is work that options of an earlier call were used for.
bool has_work(const DemoOptions& demo) {
  return data::is_corpus_folder(corpus_folder(demo)) || has_runs(demo);
}

// Refuses a folder of a demo with other options; records the options of a new demo. Without a
// corpus or a run in the folder, recorded options do not bind a later call.
void claim_folder(const DemoOptions& demo) {
  DemoOptions shown;
  cli::Options options("demo", "");
  add_options(options, shown);
  shown = demo;
  const run::Settings mine =
      run::without(run::parse_settings("demo", options.resolved()), {"out", "threads"});
  const fs::path file = options_file(demo);
  std::error_code status;
  const bool is_demo = fs::exists(file, status);
  require<ConfigError>(
      is_demo || !fs::exists(demo.out, status) || fs::is_empty(demo.out, status), kWhere, demo.out,
      ": expected a new folder or one of an earlier demo, got something else; choose another "
      "--out");
  if (!is_demo || !has_work(demo)) {
    make_folder(demo.out);
    write_file_atomic(file, run::config_text(mine));
    return;
  }
  const run::Settings theirs = run::parse_settings(file.string(), read_file(file));
  const std::string key = run::first_difference(theirs, mine);
  require<ConfigError>(key.empty(), kWhere, demo.out, ": holds a demo with ", key, " = '",
                       run::value_of(theirs, key), "', not '", run::value_of(mine, key),
                       "'; remove that folder or choose another --out");
  require_writable_folder(demo.out);
}

// Leaves no folder behind of which nothing is known but the options.
void unclaim_folder(const DemoOptions& demo) {
  std::error_code ignored;
  if (has_work(demo)) return;
  fs::remove(options_file(demo), ignored);
  fs::remove(write_target(demo.out), ignored);  // where it is empty
}

data::Corpus corpus_of(const DemoOptions& demo, cli::Progress& progress) {
  const fs::path folder = corpus_folder(demo);
  if (!data::is_corpus_folder(folder)) {
    data::PrepareOptions prepare;
    if (demo.input.empty()) prepare = run::found_text();
    if (!demo.input.empty()) prepare.source.inputs = {demo.input};
    prepare.output = folder;
    prepare.source.drop_duplicates = true;
    prepare.source.max_bytes = demo.max_bytes;
    data::prepare(prepare, [&](const data::PrepareProgress& p) {
      if (cli::stop_requested())
        fail<Error>(kWhere, "stopped on request; run it again to continue");
      progress.update(p.bytes_read, p.bytes_total,
                      concat("reading text: ", p.documents, " documents, ",
                             fixed(static_cast<double>(p.tokens) / 1e6, 1), " MB"),
                      /*keep=*/false);
    });
  }
  data::Corpus corpus = data::Corpus::open(folder);
  corpus.verify();
  return corpus;
}

// Before anything is trained. What was made of the text goes unless there are runs, so that a call
// with other options may have the folder.
void require_enough_text(const DemoOptions& demo, const eval::EvalOptions& eval,
                         const data::Corpus& corpus) {
  const std::string problem = eval::problem_of("last-token", eval, corpus, "test", demo.train_len);
  if (problem.empty()) return;
  std::error_code ignored;
  if (!has_runs(demo)) fs::remove_all(corpus_folder(demo), ignored);
  unclaim_folder(demo);
  fail<IoError>(kWhere, "nothing was trained: ", problem, "; shorter --lengths, or more text");
}

run::ResolvedConfig config_of(const DemoOptions& demo, const std::string& posenc) {
  run::RunConfig config;
  config.preset = demo.preset;
  config.posenc = posenc;
  config.data = {corpus_folder(demo).string()};
  config.train_len = demo.train_len;
  config.steps = demo.steps;
  config.lr = demo.lr;
  config.seed = demo.seed;
  config.log_every = std::max<int64_t>(1, demo.steps / 6);
  config.valid_every = 0;
  config.checkpoint_every = std::max<int64_t>(1, demo.steps / 4);
  config.keep = 1;
  return run::resolve(config);
}

std::string folder_of(const DemoOptions& demo, const std::string& posenc) {
  return (fs::path(demo.out) / run::folder_word(posenc)).string();
}

// Trains one model to the end, or to a signal.
cli::ExitCode train(const DemoOptions& demo, const std::string& posenc, cli::Progress& progress) {
  const std::string folder = folder_of(demo, posenc);
  const run::ResolvedConfig config = config_of(demo, posenc);
  const cli::StopSignals signals(
      "demo: stopping after this training step; a second signal ends at once");
  std::error_code status;
  train::TrainingRun run = fs::exists(folder, status) ? train::TrainingRun::resume(config, folder)
                                                      : train::TrainingRun::start(config, folder);
  if (run.trainer().is_done()) {
    progress.say(posenc + ": trained already");
    return cli::kDone;
  }
  const int64_t step = run.trainer().state().step;
  progress.say(step == 0 ? concat(posenc, ": training in ", folder)
                         : concat(posenc, ": resuming at step ", step, " in ", folder));
  return run.go(progress);
}

eval::EvalOptions eval_options(const DemoOptions& demo) {
  eval::EvalOptions eval;
  eval.common.lengths = demo.lengths;
  eval.common.allow_fewer = true;
  eval.own<eval::LastTokenOptions>().segments = demo.segments;
  eval::check(eval);
  return eval;
}

// The size of the training and test text.
std::string size_text(const data::Corpus& corpus) {
  std::string text;
  for (const auto name : data::kSplits) {
    const data::TokenCounts& counts = corpus.counts(name);
    text += concat(text.empty() ? "" : ", ", name, ' ',
                   fixed(static_cast<double>(counts.bytes) / 1e6, 1), " MB in ", counts.documents,
                   " documents");
  }
  return text + "; one token per byte";
}

DemoFacts facts_of(const DemoOptions& demo, const data::Corpus& corpus, double seconds) {
  const run::LoadedRun run = run::load_run(folder_of(demo, demo.encodings.front()));
  const ModelConfig& model = run.model.config();
  std::string build;
  for (const auto& [name, value] : cli::build_facts())
    build += concat(build.empty() ? "" : ", ", name, ' ', value);
  return {
      .text_from = describe_input(demo),
      .text_size = size_text(corpus),
      .model = concat(demo.preset, ": ", model.n_layer, " layers, ", model.n_head, " heads, width ",
                      model.d_model, ", ", parameter_count(model), " parameters"),
      .training = concat(run.config.steps, " steps of ", run.config.batch, " × ",
                         run.config.train_len(), " tokens, peak learning rate ",
                         cli::number(run.config.lr), ", seed ", run.config.seed),
      .more = {
          {"time of this call", concat(cli::duration(seconds), " on ", thread_count(), " threads")},
          {"program", build}}};
}

// A row for each encoding and length.
cli::Table table_of(const std::vector<eval::RunResult>& results) {
  cli::Table table = {"perplexity",
                      {"encoding", {"length", "tokens"}, "perplexity", "standard error"}};
  for (const eval::RunResult& one : results)
    for (const eval::LengthResult& cell : one.result.lengths) {
      table.rows.push_back({one.posenc, cell.length});
      for (const double value : {cell.perplexity(), cell.perplexity_error()})
        table.rows.back().push_back(cell.has_perplexity() ? cli::fixed_cell(value, 2)
                                                          : cli::Cell::missing());
    }
  return table;
}

}  // namespace

void add_options(cli::Options& options, DemoOptions& d) {
  options.add_positional("INPUT", d.input,
                         "text file, folder, JSONL or JSONL.zst (default: C and C++ headers in "
                         "/usr/include)");
  options.group("Demo")
      .add("out", d.out, "FOLDER", "folder for the corpus, the runs and the results")
      .add("input", d.input, "PATH", "the same as INPUT")
      .add("preset", d.preset, "NAME", "size of the model")
      .add("encodings", d.encodings, "NAME,...", "positional encodings to compare")
      .add("train-len", d.train_len, "N", "tokens of a training sequence")
      .add("steps", d.steps, "N", "training steps of each model")
      .add("lr", d.lr, "X", "peak learning rate")
      .add("max-bytes", d.max_bytes, "N", "read only the first N bytes of text; 0: no limit")
      .add("lengths", d.lengths, "N,...", "evaluation lengths, shortest first")
      .add("segments", d.segments, "N", "number of predicted tokens, the same at every length")
      .add("seed", d.seed, "N", "seed of weights, data order and predicted tokens")
      .add("threads", d.threads, "N", "threads (default: FARFIELD_THREADS, or all processors)");
}

cli::ExitCode run_demo(const DemoOptions& demo, cli::Printout& page) {
  std::ostream& out = page.text();
  require<ConfigError>(!demo.encodings.empty() && !demo.lengths.empty(), kWhere,
                       "expected at least one encoding and one length");
  require<ConfigError>(std::is_sorted(demo.lengths.begin(), demo.lengths.end()), kWhere,
                       "expected --lengths in rising order");
  const eval::EvalOptions eval = eval_options(demo);
  cli::use_threads(demo.threads, cli::remarks());
  for (const std::string& posenc : demo.encodings) config_of(demo, posenc);  // refuse early
  claim_folder(demo);

  const auto start = std::chrono::steady_clock::now();
  std::vector<eval::RunResult> results;
  data::Corpus corpus = [&] {
    const cli::StopSignals signals;
    cli::Progress progress = cli::Progress::on_stderr();
    try {
      return corpus_of(demo, progress);
    } catch (...) {
      unclaim_folder(demo);
      throw;
    }
  }();
  out << "text: " << size_text(corpus) << std::endl;
  require_enough_text(demo, eval, corpus);
  for (const std::string& posenc : demo.encodings) {
    cli::Progress progress = cli::Progress::on_stderr();
    const auto is_stopped = [&] {
      try {
        return train(demo, posenc, progress) == cli::kStopped;
      } catch (const Interrupted&) {  // before there was a run to save
        return true;
      }
    };
    if (is_stopped()) {
      progress.say("run the demo again to continue");
      return cli::kStopped;
    }
    results.push_back(
        eval::measure(run::load_run(folder_of(demo, posenc)), corpus, "test", "last-token", eval));
    std::string line = concat(posenc, ": perplexity");
    for (const eval::LengthResult& cell : results.back().result.lengths)
      line += concat("  ", cell.length, ": ", eval::cell_text(cell, false));
    progress.erase();
    out << line << std::endl;
  }
  const double seconds = seconds_since(start);

  const fs::path folder = demo.out;
  write_file_atomic(folder / "last-token.csv", eval::results_csv(results));
  std::vector<std::string> plots;
  std::vector<PageFigure> figures;
  std::string no_plot;
  for (const plot::Plot& plot : demo_plots(results)) {
    std::string svg = plot::draw_svg_or_say(plot, no_plot);
    if (svg.empty()) continue;
    plots.push_back(std::move(svg));
    figures.push_back({plot.title, plot::draw_svg(plot, plot::kPagePlot)});
  }
  if (!plots.empty()) write_file_atomic(folder / "last-token.svg", plots.front());
  if (plots.size() > 1) write_file_atomic(folder / "last-token-close.svg", plots[1]);
  write_file_atomic(folder / "index.html",
                    demo_page(facts_of(demo, corpus, seconds), results, figures, "last-token.csv"));

  page.add_for_programs(table_of(results));
  if (!page.is_json()) out << '\n' << eval::results_table(results, cli::is_verbose()) << '\n';
  for (const std::string& sentence : findings(results)) out << sentence << '\n';
  out << "\ntable, plot and page: " << (folder / "last-token.csv").string() << ", "
      << (plots.empty() ? "no plot (" + no_plot + ')' : (folder / "last-token.svg").string())
      << ", " << (folder / "index.html").string() << '\n';
  page.finish();
  return cli::kDone;
}

}  // namespace farfield::demo
