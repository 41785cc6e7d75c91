#include "apps/sweep/grid.h"

#include <algorithm>
#include <utility>

#include "apps/cli/config_file.h"
#include "apps/cli/options.h"
#include "apps/eval/protocol.h"
#include "apps/sweep/datasets.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

constexpr std::string_view kTrain = "train.", kEval = "eval.";

// The lines that begin with a prefix, without it; the rest goes to `others`.
run::Settings take_prefixed(const run::Settings& all, std::string_view prefix,
                            run::Settings& others) {
  run::Settings taken;
  for (const auto& [key, value] : all)
    if (key.starts_with(prefix))
      taken.emplace_back(key.substr(prefix.size()), value);
    else
      others.emplace_back(key, value);
  return taken;
}

run::Settings settings_of(const std::string& name, const std::string& text) {
  run::Settings settings;
  for (cli::ConfigLine& line : cli::parse_config(name, text))
    settings.emplace_back(std::move(line.key), std::move(line.value));
  return settings;
}

// Refuses options that a protocol does not have, and those that a sweep gives itself.
void check_eval(const std::string& name, const run::Settings& settings) {
  for (const char* own : {"lengths", "protocol", "allow-fewer", "output", "format"})
    require<ConfigError>(run::value_of(settings, own).empty(), "sweep", name, ": eval.", own,
                         ": a sweep sets it; lengths and protocols have lines of their own");
  cli::Options options("eval", "");
  eval::EvalOptions eval;
  eval::add_options(options, eval);
  options.read_config(name, run::without(settings, {"document-order"}));
  eval::check(eval);
}

}  // namespace

Experiment parse_grid(const std::string& name, const std::string& text, Scale scale) {
  run::Settings rest, lines;
  const run::Settings training = take_prefixed(settings_of(name, text), kTrain, rest);
  const run::Settings measuring = take_prefixed(rest, kEval, lines);
  check_eval(name, measuring);

  Experiment e;
  e.id = "own/" + name;
  e.source = "your own";
  e.place = 100'000;
  std::vector<std::string> encodings, datasets, protocols = {"last-token"};
  std::vector<int64_t> lengths;
  int64_t train_len = 0;
  cli::Options options("sweep", "");
  options.add("title", e.title, "TEXT", "what it asks")
      .add_paths("encoding", encodings, "EXPR", "one model")
      .add("dataset", datasets, "NAME,...", "what to train and measure on")
      .add("train-len", train_len, "N", "tokens")
      .add("lengths", lengths, "N,...", "tokens")
      .add("protocols", protocols, "NAME,...", "of eval");
  options.read_config(name, lines);
  require<ConfigError>(!encodings.empty(), "sweep", name,
                       ": encoding: expected at least one line, got none");
  require<ConfigError>(train_len >= 0, "sweep", name, ": train-len: expected at least 1, got ",
                       train_len);
  for (const int64_t length : lengths)
    require<ConfigError>(length >= 2, "sweep", name, ": lengths: expected at least 2, got ",
                         length);
  const auto unit = static_cast<double>(tokens_of(scale, 1));
  const double train_units = train_len > 0 ? static_cast<double>(train_len) / unit : 1;
  std::vector<double> units;
  for (const int64_t length : lengths) units.push_back(static_cast<double>(length) / unit);
  if (units.empty())
    for (const double multiple : {1, 2, 4, 8}) units.push_back(multiple * train_units);
  if (e.title.empty()) e.title = name;
  if (datasets.empty()) datasets = {"text"};
  for (const std::string& dataset : datasets) require_dataset(name + ": dataset", dataset);
  e.datasets = e.few = datasets;
  for (const std::string& encoding : encodings) {
    Arm arm;
    arm.label = arm.posenc = encoding;
    arm.is_scaled = false;
    arm.train_len = train_units;
    arm.training = training;
    e.arms.push_back(std::move(arm));
  }
  for (const std::string& protocol : protocols) {
    const eval::Protocol& p = eval::protocol_named(protocol);
    Measure m = {.key = protocol, .protocol = protocol};
    m.options = measuring;
    if (p.has_lengths) m.lengths = units;
    e.measures.push_back(std::move(m));
    e.outputs.push_back(
        {.form = p.has_perplexity ? Output::Form::table : Output::Form::rows, .measure = protocol});
  }
  return e;
}

}  // namespace farfield::sweep
