#include "apps/eval/command.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/cli/progress.h"
#include "apps/cli/signals.h"
#include "apps/cli/verbose.h"
#include "apps/eval/cells.h"
#include "apps/eval/evaluator.h"
#include "apps/eval/measure.h"
#include "apps/eval/progress.h"
#include "apps/eval/protocol.h"
#include "apps/eval/request.h"
#include "apps/eval/results_json.h"
#include "apps/run/corpus.h"
#include "apps/run/labels.h"
#include "apps/run/lineage.h"
#include "apps/run/load_run.h"
#include "apps/run/machine.h"
#include "apps/run/processes.h"
#include "apps/run/together.h"
#include "apps/run/training_data.h"
#include "data/corpus.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/interrupt.h"
#include "engine/base/parallel.h"
#include "engine/base/temporary.h"
#include "engine/base/text.h"

namespace fs = std::filesystem;

namespace farfield::eval {
namespace {

// Prints where the weights of a run come from, and the values that did not correspond when it was
// loaded under another encoding.
void say(std::ostream& out, const std::string& path, const run::LoadedRun& run, bool has_map) {
  const std::vector<run::Ancestor> lineage = run::lineage_of(run.folder);
  if (!lineage.empty())
    out << cli::printable(path) << ": started from "
        << cli::printable(run::lineage_text(lineage, cli::is_verbose())) << '\n';
  if (has_map)
    out << cli::printable(path) << ": trained values mapped: "
        << (run.unmatched.mapped.empty() ? "none, this is the trained expression"
                                         : run.unmatched.mapped)
        << '\n';
  for (const std::string& remark : run::remarks_on(run.unmatched))
    out << cli::printable(path) << ": " << remark << '\n';
}

// The runs whose folders cannot be written to. Reported here, before an hour of measuring.
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
        out << cli::printable(path)
            << ": cannot be written to, so nothing is kept there for a later call; results go to "
            << cli::printable(request.out) << " alone\n";
    }
  }
  return found;
}

// A model to measure: a run, maybe under another expression, under a baseline.
struct Candidate {
  std::string path;
  std::optional<std::string> expression;  // empty: the run's own
  Baseline baseline;
  bool is_first = false;  // the first candidate with its run and expression
  bool is_refused = false;
  std::optional<run::LoadedRun> run = {};  // between the first look at it and its measurement
};

std::vector<Candidate> candidates_of(const Request& request) {
  std::vector<std::optional<std::string>> expressions(request.posenc.begin(), request.posenc.end());
  if (expressions.empty()) expressions.emplace_back();
  std::vector<Candidate> all;
  for (const std::string& path : request.runs)
    for (const auto& expression : expressions)
      for (const std::string& baseline : request.eval.baselines)
        all.push_back({path, expression, parse_baseline(baseline),
                       &baseline == &request.eval.baselines.front()});
  return all;
}

int64_t size_bytes(const run::LoadedRun& run) {
  int64_t sum = 0;
  for (const Parameter& p : run.model.parameters()) sum += p.value.size_bytes();
  return sum;
}

run::ResolvedConfig with_found_data(const run::LoadedRun& run) {
  run::ResolvedConfig config = run.config;
  config.data = run::find_data(run.folder);
  return config;
}

// One call that measures.
class Call {
 public:
  Call(const Request& request, std::ostream& out, const run::Processes& processes)
      : request_(request),
        out_(out),
        err_(processes.err()),
        remarks_(processes.remarks()),
        processes_(processes),
        sharing_(processes.group().communicator()),
        candidates_(candidates_of(request)) {}
  cli::ExitCode run();

 private:
  void load(Candidate& candidate) const;
  void refuse_early();
  void measure_model(const Candidate& candidate, EvalProgress& progress, cli::Progress& lines);
  /// Runs work that cannot be shared, such as timing, in the first process while the others wait.
  /// If the first process refuses, all do.
  void in_first_alone(const std::function<void()>& work) const;
  void write(const run::LoadedRun& run, const RunResult& measured, cli::Progress& lines);
  const data::Corpus& corpus_of(const run::LoadedRun& run);

  // Calls act() on each candidate that is not refused. A ConfigError refuses a candidate; with
  // several requested expressions, the others continue.
  template <class F>
  void for_each_candidate(const F& act) {
    for (Candidate& candidate : candidates_) {
      if (candidate.is_refused) continue;
      try {
        act(candidate);
      } catch (const ConfigError& error) {
        if (request_.posenc.size() < 2) throw;
        if (n_refused_++ == 0) first_refusal_ = error;
        candidate.is_refused = true;
        candidate.run.reset();
        err_ << "left out: " << cli::printable(error.what()) << std::endl;
      }
    }
    if (n_refused_ == candidates_.size()) throw ConfigError(*first_refusal_);
  }

  const Request& request_;
  std::ostream &out_, &err_, &remarks_;  // only results; warnings; remarks that --quiet leaves out
  const run::Processes& processes_;      // only the first writes files
  Sharing sharing_;
  std::vector<Candidate> candidates_;
  size_t n_refused_ = 0;
  std::optional<ConfigError> first_refusal_;
  std::map<std::string, data::Corpus> corpora_;  // by path and tokenizer: each is verified once
  std::set<std::string> read_only_;
  std::map<std::string, std::vector<RunResult>> results_;  // by protocol
  std::string no_plot_;
  bool has_failed_ = false;
};

// The corpus of a run (the first if the run has several), or the corpus requested instead.
const data::Corpus& Call::corpus_of(const run::LoadedRun& run) {
  const bool is_asked = request_.data.has_value();
  if (!is_asked && !run.config.task.empty())
    return corpora_.emplace(run.config.task, run::open_data(run.config).corpora().front())
        .first->second;
  std::string path = is_asked ? *request_.data : run::find_corpus(run.folder);
  const data::TokenizerPtr tokenizer = run::tokenizer_of(run.folder);
  const std::string key = concat(path, '\0', tokenizer ? tokenizer->hash() : "");
  auto found = corpora_.find(key);
  if (found != corpora_.end()) return found->second;
  data::CorpusOptions options = run::corpus_options(run.config, tokenizer);
  if (!request_.data_type.empty()) options.id_type = request_.data_type;
  if (!request_.data_split.empty()) options.split = request_.data_split;
  const run::TrainingData data = is_asked ? run::TrainingData(data::Corpus::open(path, options))
                                          : run::open_data(with_found_data(run), tokenizer);
  const data::Corpus& corpus = data.corpora().front();
  require<IoError>(is_asked || data.hash() == run.state.data_hash, "eval", path,
                   ": expected the data that ", run.folder.path().string(),
                   " was trained on (hash ", run.state.data_hash, "), got other data (hash ",
                   data.hash(), "); --data ", path, " measures on it all the same");
  for (const std::string& note : corpus.notes())
    err_ << "warning: " << cli::printable(note) << std::endl;
  if (data.corpora().size() > 1)
    remarks_ << "reading " << cli::printable(path) << ", the first of the " << data.corpora().size()
             << " corpora that the model was trained on; --data reads another" << std::endl;
  corpus.verify(request_.split, [](int64_t) { throw_if(cli::stop_requested); });
  return corpora_.emplace(key, corpus).first->second;
}

void Call::load(Candidate& candidate) const {
  const Baseline& baseline = candidate.baseline;
  candidate.run.emplace(run::load_run(
      candidate.path, {.step = request_.step,
                       .device = request_.device,
                       .posenc = candidate.expression,
                       .drop_learned = request_.drop_learned,
                       .map = request_.map,
                       .window = baseline.kind == Baseline::Kind::masked ? baseline.window : 0}));
}

// Refuses bad requests before an hour of measuring. The check loads each model. It keeps as many
// models as an eighth of the free memory holds; others are loaded a second time.
void Call::refuse_early() {
  int64_t kept = 0;
  for_each_candidate([&](Candidate& candidate) {
    load(candidate);
    const int64_t size = size_bytes(*candidate.run);
    if (candidates_.size() > 1 &&
        kept + size > run::available_bytes(candidate.run->config.device) / 8)
      candidate.run.reset();
    else
      kept += size;
  });
}

void Call::measure_model(const Candidate& candidate, EvalProgress& progress, cli::Progress& lines) {
  const run::LoadedRun& run = *candidate.run;
  const Baseline& baseline = candidate.baseline;
  if (candidate.is_first) {
    say(remarks_, candidate.path, run, !request_.map.empty());
    const std::string unfinished = run::unfinished_text(run.folder);
    if (!unfinished.empty() && !request_.step)
      err_ << cli::printable(candidate.path) << ": unfinished: " << unfinished << std::endl;
  }
  const data::Corpus& corpus = corpus_of(run);
  if (processes_.group().is_first()) {
    remove_leftovers_in(run.folder.eval());
    remove_leftovers_in(run.folder.eval() / "cells");
  }
  const bool is_random = run.model.encoding().is_random(posenc::Phase::eval);
  const bool has_text = corpus.has_split(request_.split) || run.config.task.empty();
  progress.begin({.text_size = has_text ? corpus.split(request_.split).size() : 0,
                  .train_len = run.config.train_len(),
                  .step_tokens = run.config.batch * run.config.train_len(),
                  .document_tokens = corpus.document_tokens(),
                  .baseline = baseline,
                  .n_draws = is_random ? request_.eval.common.draws : 1,
                  .task = run.config.task});
  const std::string label =
      run::encoding_label(run.config.name, run.posenc, run.config.posenc(), baseline.label());
  RowMemory memory;
  const MeasureOptions options = {
      .baseline = baseline,
      .again = request_.again,
      .keep = processes_.group().is_first() && read_only_.count(candidate.path) == 0,
      .in_file_order = request_.order == "file",
      .watch =
          [&](int64_t n) {
            throw_if(cli::stop_requested);
            progress.pass(n);
          },
      .finished = [&](const LengthResult& cell) { progress.finish(cell.length); },
      .memory = request_.eval.protocols.size() > 1 ? &memory : nullptr,
      .sharing = processes_.group().is_alone() ? nullptr : &sharing_};
  for (const std::string& protocol : request_.eval.protocols) {
    progress.begin(protocol, label + ", " + protocol);
    const Interruptible interruptible(cli::stop_requested);  // finished cells are kept
    RunResult measured;
    const auto measure_it = [&] {
      measured = measure(run, corpus, request_.split, protocol, request_.eval, options);
    };
    if (options.sharing == nullptr || protocol_named(protocol).is_shared)
      measure_it();
    else
      in_first_alone(measure_it);
    for (const LengthResult& cell : measured.result.lengths)
      has_failed_ = has_failed_ || !cell.failure.empty();
    if (options.keep) write(run, measured, lines);
    results_[protocol].push_back(std::move(measured));
  }
}

void Call::in_first_alone(const std::function<void()>& work) const {
  std::optional<ConfigError> refusal;
  run::in_first(processes_.group().communicator(), [&] {
    try {
      work();
    } catch (const ConfigError& error) {
      refusal = error;
    }
  });
  const std::string text =
      processes_.group().communicator().broadcast(refusal ? refusal->what() : "");
  if (!text.empty()) throw ConfigError(text);
}

void Call::write(const run::LoadedRun& run, const RunResult& measured, cli::Progress& lines) {
  const WrittenResults written = write_run_results(run, measured, &no_plot_);
  if (!written.damaged.empty()) lines.erase();
  for (const fs::path& file : written.damaged)
    err_ << "warning: " << cli::printable(file.string())
         << ": not a finished cell; left out of the tables; remove it or measure it again"
         << std::endl;
  lines.say("written: " + written.csv.string());
}

cli::ExitCode Call::run() {
  if (!request_.posenc.empty() || request_.eval.baselines.size() > 1) refuse_early();
  for (const std::string& name : request_.eval.baselines) {
    const std::string warning = warning_of(parse_baseline(name), request_.eval.common.lengths);
    if (!warning.empty()) err_ << "warning: " << warning << '\n';
  }
  if (!request_.out.empty()) require_writable_folder(request_.out);
  read_only_ = read_only_runs(request_, err_);
  const cli::StopSignals signals(
      processes_.group().is_first() ? "eval: stopping; a second signal ends at once" : "");
  if (!processes_.group().is_alone()) remarks_ << processes_.description() << std::endl;
  cli::Progress lines = processes_.progress();
  EvalProgress progress(lines, request_.eval,
                        static_cast<int64_t>(candidates_.size() - n_refused_));
  for_each_candidate([&](Candidate& candidate) {
    if (!candidate.run) load(candidate);
    measure_model(candidate, progress, lines);
    candidate.run.reset();
  });
  // No process leaves with an error before the results are written.
  run::in_first(processes_.group().communicator(), [&] {
    std::vector<RunResult> all;
    for (const std::string& protocol : request_.eval.protocols) {
      const std::vector<RunResult>& own = results_[protocol];
      if (!request_.out.empty())
        remarks_ << "written: " << write_results(request_.out, own, &no_plot_).string() << '\n';
      if (!request_.json) out_ << '\n' << results_table(own, cli::is_verbose());
      all.insert(all.end(), own.begin(), own.end());
    }
    if (request_.json) out_ << results_json(all);
  });
  if (!no_plot_.empty()) err_ << "no plot: " << no_plot_ << '\n';
  // At the end, so that the exit status reports refused candidates.
  if (first_refusal_)
    fail<ConfigError>(
        "eval", "bad_argument: ", n_refused_, " of ", candidates_.size(),
        " measurements left out, the others are done: ", without_brackets(first_refusal_->what()));
  return has_failed_ ? cli::kFailed : cli::kDone;
}

bool is_masked(const std::string& path) {
  return !run::value_of(run::RunFolder::open(path).config(), "masked").empty();
}

int command(int argc, const char* const* argv, std::ostream& out, run::Processes& processes) {
  Request request;
  if (!read_request(argc, argv, request, out)) return cli::kDone;
  if (!request.is_protocol_given &&
      std::all_of(request.runs.begin(), request.runs.end(), is_masked)) {
    request.eval.protocols = {"masked"};
    check(request.eval);
  }
  processes.meet(run::words_of(argc, argv), request.threads);
  try {
    return Call(request, out, processes).run();
  } catch (const Interrupted&) {
    processes.err() << "[eval] stopped on request; run the same command to continue\n";
    return cli::kStopped;
  } catch (const ConfigError& error) {
    rethrow_with_code(error, "eval");
  }
}

}  // namespace

int eval_command(int argc, const char* const* argv, std::ostream& out) {
  return run::run_as_job(out, [&](run::Processes& processes, std::ostream& to) {
    return command(argc, argv, to, processes);
  });
}

}  // namespace farfield::eval
