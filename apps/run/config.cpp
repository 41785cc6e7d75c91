#include "apps/run/config.h"

#include <cmath>

#include "apps/cli/printable.h"
#include "engine/base/did_you_mean.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/device.h"
#include "posenc/composition.h"
#include "posenc/expression.h"
#include "posenc/finite_start.h"
#include "posenc/registry.h"

namespace farfield::run {
namespace {

template <class T>
void check(const char* name, T value, bool ok, const char* expected) {
  require<ConfigError>(ok, "config", name, ": expected ", expected, ", got ", value);
}

void check_word(const char* name, const std::string& value, const std::vector<std::string>& words) {
  static constexpr Synonym kSynonyms[] = {
      {"float32", "fp32"}, {"float", "fp32"},    {"f32", "fp32"},    {"32", "fp32"},
      {"tf32", "fp32"},    {"bfloat16", "bf16"}, {"fp16", "bf16"},   {"float16", "bf16"},
      {"half", "bf16"},    {"mixed", "bf16"},    {"ignore", "skip"}, {"fail", "stop"},
      {"error", "stop"},   {"on", "auto"},       {"none", "off"}};
  std::string list;
  for (const std::string& word : words) {
    if (word == value) return;
    list.append(list.empty() ? "" : ", ").append(word);
  }
  fail<ConfigError>("config", name, ": expected one of ", list, ", got '", value, "'",
                    did_you_mean(value, words, kSynonyms));
}

// The same complaint, of the file; some end with a line that points at a place.
[[noreturn]] void refuse_file(const std::string& file, const ConfigError& error) {
  std::string_view what = error.what();
  for (const std::string& begin : {std::string("[config] "), file + ": "})
    if (what.starts_with(begin)) what.remove_prefix(begin.size());
  fail<IoError>("config", file, ": the file was changed or is damaged: ", what);
}

// cuda or cuda:N
bool is_cuda_name(const std::string& device) {
  return device == "cuda" || (device.starts_with("cuda:") && device.size() > 5 &&
                              device.find_first_not_of("0123456789", 5) == std::string::npos);
}

}  // namespace

void add_options(cli::Options& options, RunConfig& c) {
  std::string names;
  for (const Preset& preset : presets())
    names.append(names.empty() ? "" : ", ").append(preset.name);
  options.group("Model")
      .add("preset", c.preset, "NAME", "size, batch, learning rate and steps: " + names)
      .add("posenc", c.posenc, "EXPR",
           "positional encoding: a name, or an expression such as \"rope + window(64)\"")
      .add("n-layer", c.n_layer, "N", "blocks (default: from the preset)")
      .add("n-head", c.n_head, "N", "attention heads (default: from the preset)")
      .add("d-model", c.d_model, "N", "width (default: from the preset)")
      .add("d-ff", c.d_ff, "N", "inner width of the MLP (default: from the preset, or 4 d-model)");
  options.group("Data")
      .add("data", c.data, "FOLDER", "corpus made by `prepare`")
      .add("train-len", c.train_len, "N", "tokens per sequence (default: from the preset)")
      .add("batch", c.batch, "N", "sequences per step (default: from the preset)")
      .add("accumulate", c.accumulate, "N", "compute each batch in N pieces, which saves memory")
      .add("seed", c.seed, "N", "of the initial weights and the order of the data");
  options.group("Optimisation")
      .add("steps", c.steps, "N", "optimizer steps (default: from the preset)")
      .add("lr", c.lr, "X", "peak learning rate (default: from the preset)")
      .add("warmup", c.warmup, "X",
           "share of the steps spent warming up (default: from the preset)")
      .add("weight-decay", c.weight_decay, "X", "decoupled, of matrices (default: from the preset)")
      .add("clip", c.clip, "X",
           "gradient norm above which gradients are scaled down, 0: never (default: from the "
           "preset)")
      .add("hidden-dropout", c.hidden_dropout, "X",
           "share of the embedding and of each residual branch that is set to 0 in training")
      .add("nonfinite", c.nonfinite, "POLICY",
           "when a loss or gradient is not finite: stop, skip the batch, or rewind to the last "
           "checkpoint and leave the batch out");
  options.group("Machine")
      .add("device", c.device, "cpu|cuda|cuda:N", "where to compute")
      .add("precision", c.precision, "fp32|bf16",
           "of activations and matrix products (default: fp32 on the CPU, bf16 on CUDA)")
      .add("cuda-graph", c.cuda_graph, "auto|off",
           "on CUDA, record a step once and repeat it by one call, where the encoding allows it: "
           "the same numbers")
      .add("checkpoint-activations", c.checkpoint_activations,
           "keep only the input of each block: less memory, a third more time")
      .add("threads", c.threads, "N", "threads (default: FARFIELD_THREADS, or all processors)");
  options.group("Records")
      .add("name", c.name, "LABEL",
           "what tables, legends and file names call the run (default: its encoding); --resume may "
           "change it")
      .add("log-every", c.log_every, "N", "steps between rows of metrics.csv")
      .add("valid-every", c.valid_every, "N", "steps between losses on the valid split, 0: never")
      .add("valid-windows", c.valid_windows, "N", "sequences of the valid split to measure on")
      .add("checkpoint-every", c.checkpoint_every, "N", "steps between checkpoints, 0: at the end")
      .add("keep", c.keep, "N", "checkpoints to keep, the newest ones");
}

namespace {

// A name goes into a line of config.conf, a cell of a table and the name of a file.
void check_name(const std::string& name) {
  constexpr size_t kLongest = 80;
  const bool is_text = name.empty() || (name.front() != ' ' && name.back() != ' ' &&
                                        name.size() <= kLongest && cli::printable(name) == name &&
                                        name.find_first_of("#\n\t") == std::string::npos);
  require<ConfigError>(is_text, "config", "--name: expected at most ", kLongest,
                       " bytes of UTF-8 on one line, without '#' and without blanks at the ends, "
                       "got '",
                       name, "', ", name.size(), " bytes");
}

}  // namespace

void resolve(RunConfig& c) {
  const Preset& preset = find_preset(c.preset);
  const ModelConfig& model = preset.model;
  const TrainDefaults& train = preset.train;
  const auto fill = [](auto& value, auto other) {
    if (!value) value = other;
  };
  fill(c.n_layer, model.n_layer);
  fill(c.n_head, model.n_head);
  fill(c.d_ff, c.d_model ? 4 * *c.d_model : model.d_ff);
  fill(c.d_model, model.d_model);
  fill(c.train_len, model.train_len);
  fill(c.batch, train.batch_size);
  fill(c.steps, train.steps);
  fill(c.lr, train.peak_lr);
  fill(c.warmup, train.warmup_fraction);
  fill(c.weight_decay, train.weight_decay);
  fill(c.clip, train.max_grad_norm);
  fill(c.precision, parse_device(c.device).kind == Device::Kind::cuda ? "bf16" : "fp32");

  const auto at_least = [](const char* name, int64_t value, int64_t least) {
    require<ConfigError>(value >= least, "config", name, ": expected at least ", least, ", got ",
                         value);
  };
  at_least("--train-len", *c.train_len, 1);
  at_least("--batch", *c.batch, 1);
  at_least("--accumulate", c.accumulate, 1);
  require<ConfigError>(*c.batch % c.accumulate == 0, "config",
                       "--accumulate: expected a divisor of the batch, ", *c.batch, ", got ",
                       c.accumulate);
  at_least("--steps", *c.steps, 1);
  if (c.threads)
    require<ConfigError>(*c.threads >= 1 && *c.threads <= kMostThreads, "config",
                         "--threads: expected 1 to ", kMostThreads, ", got ", *c.threads);
  at_least("--log-every", c.log_every, 1);
  at_least("--valid-every", c.valid_every, 0);
  at_least("--valid-windows", c.valid_windows, 1);
  at_least("--checkpoint-every", c.checkpoint_every, 0);
  at_least("--keep", c.keep, 1);
  check("--lr", *c.lr, std::isfinite(*c.lr) && *c.lr >= 0, "a finite number >= 0");
  check("--warmup", *c.warmup, *c.warmup >= 0 && *c.warmup <= 0.5, "a share from 0 to 0.5");
  check("--weight-decay", *c.weight_decay, std::isfinite(*c.weight_decay) && *c.weight_decay >= 0,
        "a finite number >= 0");
  check("--clip", *c.clip, std::isfinite(*c.clip) && *c.clip >= 0, "a finite number >= 0");
  check("--hidden-dropout", c.hidden_dropout, c.hidden_dropout >= 0 && c.hidden_dropout < 1,
        "a share from 0 to below 1");
  check_name(c.name);
  check_word("--nonfinite", c.nonfinite, {"stop", "skip", "rewind"});
  check_word("--cuda-graph", c.cuda_graph, {"auto", "off"});
  check_word("--precision", *c.precision, {"fp32", "bf16"});

  c.posenc = canonical_posenc(c.posenc, c, c.posenc);
}

std::string canonical_posenc(const std::string& expression, const RunConfig& c,
                             const std::string& trained) {
  const ModelConfig shape = model_config(c, 1);
  validate(shape);
  posenc::Config at{.n_head = shape.n_head,
                    .head_dim = shape.head_dim(),
                    .d_model = shape.d_model,
                    .n_layer = shape.n_layer,
                    .train_len = shape.train_len,
                    .seed = c.seed,
                    .device = parse_device(c.device)};
  for (const posenc::ParsedTerm& term : posenc::parse_expression(trained, posenc::form_of))
    at.trained_with.push_back(term.name);
  const posenc::Composition encoding(expression, at);
  // Terms that do not fit together may show when both act, which for some is in a test alone.
  for (const auto phase : {posenc::Phase::train, posenc::Phase::eval})
    encoding.plan(shape.train_len, shape.train_len, phase);
  if (expression == trained) posenc::require_finite_start(encoding);
  return encoding.canonical();
}

ModelConfig model_config(const RunConfig& c, int64_t vocab_size) {
  ModelConfig model = preset(c.preset);
  model.n_layer = c.n_layer.value();
  model.n_head = c.n_head.value();
  model.d_model = c.d_model.value();
  model.d_ff = c.d_ff.value();
  model.train_len = c.train_len.value();
  model.vocab_size = vocab_size;
  model.hidden_dropout = c.hidden_dropout;
  model.posenc = c.posenc;
  return model;
}

Settings to_settings(const RunConfig& config) {
  RunConfig copy = config;
  cli::Options options("train", "");
  add_options(options, copy);
  return parse_settings("config", options.resolved());
}

RunConfig to_run_config(const std::string& name, const Settings& settings) {
  RunConfig config;
  cli::Options options("train", "");
  add_options(options, config);
  try {
    options.read_config(name, to_text(settings));
  } catch (const ConfigError& error) {
    refuse_file(name, error);
  }
  return config;
}

RunConfig run_config_of_file(const std::string& file, const Settings& settings,
                             const std::optional<std::string>& device) {
  RunConfig config = to_run_config(file, settings);
  if (device) config.device = *device;
  if (device || is_cuda_name(config.device)) parse_device(config.device);
  try {
    resolve(config);
  } catch (const ConfigError& error) {
    refuse_file(file, error);
  }
  return config;
}

Settings identity(const Settings& settings) {
  const Settings all = to_settings(to_run_config("config", settings));
  return without(all,
                 {"name", "data", "cuda-graph", "checkpoint-activations", "threads", "log-every",
                  "valid-every", "valid-windows", "checkpoint-every", "keep", "nonfinite"});
}

}  // namespace farfield::run
