#include "apps/sweep/grid.h"

#include <algorithm>
#include <utility>

#include "apps/cli/config_file.h"
#include "apps/cli/options.h"
#include "apps/eval/protocol.h"
#include "apps/sweep/datasets.h"
#include "apps/sweep/plan.h"
#include "engine/base/did_you_mean.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

constexpr std::string_view kWhere = "sweep", kTrain = "train.", kEval = "eval.";

// What a file says, before it is an experiment.
struct Grid {
  std::string title, reference;
  std::vector<std::string> encodings, labels, datasets, protocols = {"last-token"};
  std::vector<int64_t> lengths;
  int64_t train_len = 0, seeds = 1;
};

struct Key {
  const char *name, *value, *help;
};
constexpr Key kTitle = {"title", "TEXT", "what it asks"};
constexpr Key kEncoding = {"encoding", "EXPR", "a model; a line for each, taken as written"};
constexpr Key kLabel = {"label", "NAME", "what tables and legends call the encoding above it"};
constexpr Key kDataset = {"dataset", "NAME,...", "what to train and measure on (default: text)"};
constexpr Key kTrainLen = {"train-len", "N", "tokens (default: L of the scale)"};
constexpr Key kLengths = {"lengths", "N,...", "tokens (default: 1, 2, 4 and 8 times train-len)"};
constexpr Key kProtocols = {"protocols", "NAME,...", "of eval --list (default: last-token)"};
constexpr Key kSeeds = {"seeds", "N", "seeds 1 to N of each model; --seeds may ask for more"};
constexpr Key kReference = {"reference", "NAME",
                            "the label or encoding that paired tests hold the others against "
                            "(default: the first)"};

void add_keys(cli::Options& options, Grid& grid) {
  const auto add = [&](const Key& key, auto& to) {
    options.add(key.name, to, key.value, key.help);
  };
  add(kTitle, grid.title);
  options.add_paths(kEncoding.name, grid.encodings, kEncoding.value, kEncoding.help);
  options.add_paths(kLabel.name, grid.labels, kLabel.value, kLabel.help);
  add(kDataset, grid.datasets);
  add(kTrainLen, grid.train_len);
  add(kLengths, grid.lengths);
  add(kProtocols, grid.protocols);
  add(kSeeds, grid.seeds);
  add(kReference, grid.reference);
}

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
    require<ConfigError>(run::value_of(settings, own).empty(), kWhere, name, ": eval.", own,
                         ": a sweep sets it; lengths and protocols have lines of their own");
  cli::Options options("eval", "");
  eval::EvalOptions eval;
  eval::add_options(options, eval);
  options.read_config(name, run::without(settings, {"document-order"}));
  eval::check(eval);
}

Grid grid_of(const std::string& name, const run::Settings& lines) {
  Grid grid;
  cli::Options options("sweep", "");
  add_keys(options, grid);
  options.read_config(name, lines);
  require<ConfigError>(!grid.encodings.empty(), kWhere, name,
                       ": encoding: expected at least one line, got none");
  require<ConfigError>(grid.train_len >= 0, kWhere, name, ": train-len: expected at least 1, got ",
                       grid.train_len);
  require<ConfigError>(grid.seeds >= 1 && grid.seeds <= kMostSeeds, kWhere, name,
                       ": seeds: expected 1 to ", kMostSeeds, ", got ", grid.seeds);
  for (const int64_t length : grid.lengths)
    require<ConfigError>(length >= 2, kWhere, name, ": lengths: expected at least 2, got ", length);
  if (grid.title.empty()) grid.title = name;
  if (grid.datasets.empty()) grid.datasets = {"text"};
  for (const std::string& dataset : grid.datasets) require_dataset(name + ": dataset", dataset);
  return grid;
}

// Models with their labels: a label is of the encoding in the line above it.
std::vector<Arm> arms_of(const std::string& name, const run::Settings& lines) {
  std::vector<Arm> arms;
  bool may_have_label = false;
  for (const auto& [key, value] : lines) {
    if (key == "label") {
      require<ConfigError>(may_have_label && !value.empty(), kWhere, name, ": label = ", value,
                           ": expected a name behind the line of its encoding, one for each");
      arms.back().label = value;
    }
    may_have_label = key == "encoding";
    if (!may_have_label) continue;
    Arm& arm = arms.emplace_back();
    arm.label = arm.posenc = value;
    arm.is_scaled = false;
  }
  for (size_t i = 0; i < arms.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      require<ConfigError>(arms[i].label != arms[j].label, kWhere, name,
                           ": expected encodings that can be told apart, got '", arms[i].label,
                           "' twice; label = NAME behind one gives it another name");
  return arms;
}

std::string reference_of(const std::string& name, const Grid& grid, const std::vector<Arm>& arms) {
  if (grid.reference.empty()) return arms.front().label;
  std::vector<std::string> labels;
  for (const Arm& arm : arms) {
    if (grid.reference == arm.label || grid.reference == arm.posenc) return arm.label;
    labels.push_back(arm.label);
  }
  fail<ConfigError>(kWhere, name, ": reference: expected one of ", joined(labels), ", got '",
                    grid.reference, "'", did_you_mean(grid.reference, labels));
}

}  // namespace

Experiment parse_grid(const std::string& name, const std::string& text, Scale scale) {
  run::Settings rest, lines;
  const run::Settings training = take_prefixed(settings_of(name, text), kTrain, rest);
  const run::Settings measuring = take_prefixed(rest, kEval, lines);
  check_eval(name, measuring);
  const Grid grid = grid_of(name, lines);

  Experiment e;
  e.id = "own/" + name;
  e.title = grid.title;
  e.source = "your own";
  e.place = 100'000;
  e.is_own = true;
  e.least_seeds = grid.seeds;
  e.datasets = e.few = grid.datasets;
  e.arms = arms_of(name, lines);
  e.reference_arm = reference_of(name, grid, e.arms);
  const auto unit = static_cast<double>(tokens_of(scale, 1));
  const double train_units = grid.train_len > 0 ? static_cast<double>(grid.train_len) / unit : 1;
  for (Arm& arm : e.arms) {
    arm.train_len = train_units;
    arm.training = training;
  }
  std::vector<double> units;
  for (const int64_t length : grid.lengths) units.push_back(static_cast<double>(length) / unit);
  if (units.empty())
    for (const double multiple : {1, 2, 4, 8}) units.push_back(multiple * train_units);
  for (const std::string& protocol : grid.protocols) {
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

std::string grid_keys_text() {
  constexpr size_t kColumn = 24;
  std::string text;
  for (const Key& key : {kTitle, kEncoding, kLabel, kDataset, kTrainLen, kLengths, kProtocols,
                         kSeeds, kReference, Key{"train.OPTION", "VALUE", "any option of train"},
                         Key{"eval.OPTION", "VALUE", "any option of eval, for its protocols"}}) {
    std::string line = concat("  ", key.name, " = ", key.value);
    line.resize(std::max(line.size() + 1, kColumn), ' ');
    text += line + key.help + '\n';
  }
  return text;
}

}  // namespace farfield::sweep
