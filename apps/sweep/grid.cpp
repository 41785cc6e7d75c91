#include "apps/sweep/grid.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "apps/cli/config_file.h"
#include "apps/cli/options.h"
#include "apps/eval/protocol.h"
#include "apps/run/config.h"
#include "apps/sweep/datasets.h"
#include "apps/sweep/plan.h"
#include "data/corpus.h"
#include "engine/base/did_you_mean.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

constexpr std::string_view kWhere = "sweep", kTrain = "train.", kEval = "eval.";

// The contents of a file, before it becomes an experiment.
struct Grid {
  std::string title, reference;
  std::vector<std::string> encodings, labels, datasets, protocols = {"last-token"};
  std::vector<int64_t> lengths;
  int64_t train_len = 0, seeds = 1;
};

struct Key {
  const char *name, *value, *help;
};
constexpr Key kTitle = {"title", "TEXT", "the question that the grid answers"};
constexpr Key kEncoding = {"encoding", "EXPR", "a model; one line for each, taken as written"};
constexpr Key kLabel = {"label", "NAME",
                        "name of the encoding above this line in tables and legends"};
constexpr Key kDataset = {"dataset", "NAME,...",
                          "data sets to train and measure on (default: text)"};
constexpr Key kTrainLen = {"train-len", "N", "training length in tokens (default: L of the scale)"};
constexpr Key kLengths = {"lengths", "N,...",
                          "evaluation lengths in tokens (default: 1, 2, 4 and 8 times train-len)"};
constexpr Key kProtocols = {"protocols", "NAME,...",
                            "protocols of eval --list (default: last-token)"};
constexpr Key kSeeds = {"seeds", "N", "seeds 1 to N of each model; --seeds may ask for more"};
constexpr Key kReference = {
    "reference", "NAME",
    "label or encoding that paired tests compare the others with (default: the first)"};

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

using Lines = std::vector<cli::ConfigLine>;

// The lines whose keys begin with a prefix, without it; they leave `lines`.
Lines take_prefixed(Lines& lines, std::string_view prefix) {
  Lines taken, others;
  for (cli::ConfigLine& line : lines) {
    const bool is_taken = line.key.starts_with(prefix);
    if (is_taken) line.key.erase(0, prefix.size());
    (is_taken ? taken : others).push_back(std::move(line));
  }
  lines = std::move(others);
  return taken;
}

run::Settings settings_of(const Lines& lines) {
  run::Settings settings;
  for (const cli::ConfigLine& line : lines) settings.emplace_back(line.key, line.value);
  return settings;
}

std::string place_of(const std::string& name, const cli::ConfigLine& line) {
  return concat(name, ": line ", line.number, ": ");
}

// Options that a sweep gives itself, and where they are said instead.
void refuse_own(const std::string& name, const Lines& lines, std::string_view prefix,
                const std::vector<std::string>& own, const char* instead) {
  for (const cli::ConfigLine& line : lines)
    require<ConfigError>(std::find(own.begin(), own.end(), line.key) == own.end(), kWhere,
                         place_of(name, line), prefix, line.key, ": a sweep sets it; ", instead);
}

// Refuses options that train does not have, and options that a sweep sets itself.
void check_train(const std::string& name, const Lines& lines) {
  refuse_own(name, lines, kTrain, {"threads"}, "--threads of sweep run says how many there are");
  cli::Options options("train", "");
  run::RunConfig config;
  run::add_options(options, config);
  options.read_config(name, lines, std::string(kTrain));
}

// Refuses options that a protocol does not have, and options that a sweep sets itself.
void check_eval(const std::string& name, const Lines& lines) {
  refuse_own(name, lines, kEval, {"lengths", "protocol", "allow-fewer", "output", "format"},
             "lengths and protocols have lines of their own");
  cli::Options options("eval", "");
  eval::EvalOptions eval;
  eval::add_options(options, eval);
  std::string split = "test", order;  // of the corpus, which eval reads beside them
  options.add("split", split, "", "").add("document-order", order, "", "");
  options.read_config(name, lines, std::string(kEval));
  const auto& splits = data::kSplits;
  require<ConfigError>(std::find(splits.begin(), splits.end(), split) != splits.end(), kWhere, name,
                       ": eval.split: expected one of ", joined(splits), ", got '", split, "'");
  eval::check(eval);
}

Grid grid_of(const std::string& name, const Lines& lines) {
  for (const cli::ConfigLine& line : lines)
    require<ConfigError>(line.key != kEncoding.name || !line.value.empty(), kWhere,
                         place_of(name, line), "encoding: expected an expression, got nothing");
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
  if (grid.datasets.empty()) grid.datasets = {"text"};
  for (const std::string& dataset : grid.datasets) require_dataset(name + ": dataset", dataset);
  for (auto i = grid.protocols.begin(); i != grid.protocols.end(); ++i)
    require<ConfigError>(std::find(grid.protocols.begin(), i, *i) == i, kWhere, name,
                         ": protocols: expected each once, got '", *i, "' twice");
  return grid;
}

// Models with their labels: a label is of the encoding in the line above it.
std::vector<Arm> arms_of(const std::string& name, const Lines& lines) {
  std::vector<Arm> arms;
  bool may_have_label = false;
  for (const cli::ConfigLine& line : lines) {
    const auto& [key, value, number] = line;
    if (key == "label") {
      require<ConfigError>(may_have_label && !value.empty(), kWhere, place_of(name, line),
                           "label = ", value,
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
  const std::string file = name + ".conf";
  Lines lines = cli::parse_config(file, text);
  const Lines train_lines = take_prefixed(lines, kTrain);
  const Lines eval_lines = take_prefixed(lines, kEval);
  check_train(file, train_lines);
  check_eval(file, eval_lines);
  Grid grid = grid_of(file, lines);
  if (grid.title.empty()) grid.title = name;
  const run::Settings training = settings_of(train_lines), measuring = settings_of(eval_lines);

  Experiment e;
  e.id = "own/" + name;
  e.title = grid.title;
  e.source = "your own";
  e.place = 100'000;
  e.is_own = true;
  e.least_seeds = grid.seeds;
  e.datasets = e.few = grid.datasets;
  e.arms = arms_of(file, lines);
  e.reference_arm = reference_of(file, grid, e.arms);
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

bool is_grid_file(const std::string& word) { return word.ends_with(".conf"); }

std::string name_of_grid(const std::string& file) {
  return std::filesystem::path(file).stem().string();
}

std::string grid_keys_text() {
  constexpr size_t kColumn = 24;
  std::string text;
  for (const Key& key :
       {kTitle, kEncoding, kLabel, kDataset, kTrainLen, kLengths, kProtocols, kSeeds, kReference,
        Key{"train.OPTION", "VALUE", "any option of train"},
        Key{"eval.OPTION", "VALUE", "any option of eval, for the protocols that have it"}}) {
    std::string line = concat("  ", key.name, " = ", key.value);
    line.resize(std::max(line.size() + 1, kColumn), ' ');
    text += line + key.help + '\n';
  }
  return text;
}

}  // namespace farfield::sweep
