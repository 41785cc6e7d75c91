#include "apps/run/resolved_config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>

#include "apps/cli/printable.h"
#include "apps/run/architecture.h"
#include "apps/run/lora.h"
#include "apps/run/option_words.h"
#include "apps/run/sequence_options.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/parallel.h"
#include "engine/base/text.h"
#include "layers/encoder.h"
#include "posenc/composition.h"
#include "posenc/expression.h"
#include "posenc/finite_start.h"
#include "posenc/registry.h"
#include "posenc/rotary.h"

namespace farfield::run {
namespace {

template <class T>
void check(const char* name, T value, bool ok, const char* expected) {
  require<ConfigError>(ok, kConfig, name, ": expected ", expected, ", got ", value);
}

void check_at_least(const char* name, int64_t value, int64_t least) {
  require<ConfigError>(value >= least, kConfig, name, ": expected at least ", least, ", got ",
                       value);
}

// A name goes into a cell of a table and the name of a file.
void check_name(const std::string& name) {
  constexpr size_t kLongest = 80;
  const bool is_text = name.empty() || (name.front() != ' ' && name.back() != ' ' &&
                                        name.size() <= kLongest && cli::printable(name) == name &&
                                        name.find_first_of("\n\t") == std::string::npos);
  require<ConfigError>(is_text, kConfig, "--name: expected at most ", kLongest,
                       " bytes of UTF-8 on one line, without blanks at the ends, got '", name,
                       "', ", name.size(), " bytes");
}

void fill_from_preset(RunConfig& c) {
  const Preset& preset = find_preset(c.preset);
  const ModelConfig& model = preset.model;
  const TrainDefaults& train = preset.train;
  const auto fill = [](auto& value, auto other) {
    if (!value) value = other;
  };
  fill(c.n_layer, model.n_layer);
  fill(c.n_head, model.n_head);
  // validate() refuses a width that does not fit here.
  constexpr int64_t kMost = int64_t{1} << 32;
  fill(c.d_ff, c.d_model ? 4 * std::clamp(*c.d_model, -kMost, kMost) : model.d_ff);
  fill(c.d_model, model.d_model);
  fill(c.train_len, model.train_len);
  fill(c.batch, train.batch_size);
  fill(c.steps, train.steps);
  fill(c.lr, train.peak_lr);
  fill(c.warmup, train.warmup_fraction);
  fill(c.weight_decay, train.weight_decay);
  fill(c.clip, train.max_grad_norm);
  fill(c.hidden_dropout, model.hidden_dropout);
  fill(c.precision, parse_device(c.device).kind == Device::Kind::cuda ? "bf16" : "fp32");
}

// Options of optimisation that old runs lack.
void fill_optimisation(RunConfig& from, ResolvedConfig& c) {
  const TrainDefaults usual, &of_preset = train_defaults(from.preset);
  const bool is_momentum_given = from.momentum.has_value();
  c.lr_start = young_setting(from.lr_start, of_preset.start_lr, usual.start_lr);
  c.lr_end = young_setting(from.lr_end, of_preset.end_lr, usual.end_lr);
  c.momentum = young_setting(from.momentum, of_preset.momentum, usual.momentum);
  c.schedule = young_setting<Schedule::Form>(
      "--schedule", from.schedule, of_preset.schedule, usual.schedule,
      {{"neox", Schedule::Form::neox}, {"fairseq", Schedule::Form::fairseq}});
  c.optimizer = young_setting<OptimizerKind>(
      "--optimizer", from.optimizer, of_preset.optimizer, usual.optimizer,
      {{"adamw", OptimizerKind::adamw}, {"nag", OptimizerKind::nag}});
  require<ConfigError>(!is_momentum_given || c.optimizer == OptimizerKind::nag, kConfig,
                       "--momentum: expected --optimizer nag beside it, got adamw");
}

// "20000,60000", or "none".
std::vector<int64_t> parse_cutoffs(const std::string& text) {
  constexpr int64_t kMostId = std::numeric_limits<int32_t>::max() - 1;  // a vocabulary is larger
  std::vector<int64_t> cutoffs;
  if (text == "none") return cutoffs;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data();; ++at) {
    int64_t value = 0;
    const auto read = std::from_chars(at, end, value);
    require<ConfigError>(read.ec == std::errc() && value > (cutoffs.empty() ? 0 : cutoffs.back()) &&
                             value <= kMostId && (read.ptr == end || *read.ptr == ','),
                         kConfig, "--cutoffs: expected rising numbers from 1 to ", kMostId,
                         " between commas, or none, got '", text, "'");
    cutoffs.push_back(value);
    at = read.ptr;
    if (at == end) return cutoffs;
  }
}

// Options of a model that old runs lack.
void fill_model(RunConfig& from, ModelConfig& c) {
  const ModelConfig usual, of_preset = preset(from.preset);
  const auto word = [](const std::vector<int64_t>& cutoffs) {
    return cutoffs.empty() ? "none" : joined(cutoffs, ",");
  };
  // config.conf has it only if it differs from the preset's: runs from before the option lack it.
  if (from.architecture) {
    set_architecture(*from.architecture, c);
    from.architecture = architecture_of(c);
    if (*from.architecture == architecture_of(of_preset)) from.architecture.reset();
  }
  if (from.cutoffs) from.cutoffs = word(parse_cutoffs(*from.cutoffs));
  c.cutoffs =
      parse_cutoffs(young_setting(from.cutoffs, word(of_preset.cutoffs), word(usual.cutoffs)));
  c.attention_dropout =
      young_setting(from.attention_dropout, of_preset.attention_dropout, usual.attention_dropout);
  c.activation_dropout = young_setting(from.activation_dropout, of_preset.activation_dropout,
                                       usual.activation_dropout);
  c.tail_dropout = young_setting(from.tail_dropout, of_preset.tail_dropout, usual.tail_dropout);
}

void fill_adapters(RunConfig& from, ResolvedConfig& c) {
  const auto need_lora = [&](const char* name, bool is_given) {
    require<ConfigError>(!is_given || from.lora, kConfig, name, ": expected --lora beside it");
  };
  need_lora("--train-also", !from.train_also.empty());
  need_lora("--base-precision", from.base_precision.has_value());
  if (!from.lora) return;
  require<ConfigError>(c.init.has_value(), kConfig,
                       "--lora: expected --init-from RUN beside it, whose weights stay frozen");
  AdapterConfig adapters = parse_lora(*from.lora);
  adapters.also = from.train_also;
  validate(adapters);
  from.lora = to_text(adapters);
  c.model.adapters = std::move(adapters);
  c.holds_base_in_bf16 = value_of_word<bool>(
      "--base-precision", from.base_precision.value_or("fp32"), {{"fp32", false}, {"bf16", true}});
  require<ConfigError>(!c.holds_base_in_bf16 || c.dtype == DType::bf16, kConfig,
                       "--base-precision bf16: expected --precision bf16, got fp32");
  if (!c.holds_base_in_bf16) from.base_precision.reset();
}

std::optional<ResolvedConfig::Init> init_of(const RunConfig& from) {
  if (from.init_from) {
    require<ConfigError>(from.init_step && from.init_hash, kConfig,
                         "--init-from: expected --init-step and --init-hash beside it");
    return ResolvedConfig::Init{*from.init_from, *from.init_step, *from.init_hash, from.map,
                                from.drop_learned.value_or(false)};
  }
  const auto refuse = [](const char* name, bool is_given) {
    require<ConfigError>(!is_given, kConfig, name, ": expected --init-from RUN beside it");
  };
  refuse("--init-step", from.init_step.has_value());
  refuse("--init-hash", from.init_hash.has_value());
  refuse("--map", !from.map.empty());
  refuse("--drop-learned", from.drop_learned.value_or(false));
  return std::nullopt;
}

void check_rounded_logits(const ResolvedConfig& c) {
  require<ConfigError>(c.dtype == DType::bf16, kConfig,
                       "--logits bf16: expected --precision bf16, got fp32");
  require<ConfigError>(
      !c.model.is_adaptive(), kConfig,
      "--logits bf16: expected a model without cutoffs, whose adaptive softmax has "
      "logits in fp32");
  require<ConfigError>(c.tensor_parallel == 1, kConfig,
                       "--logits bf16: expected --tensor-parallel 1, got ", c.tensor_parallel,
                       "; processes that have the vocabulary together have logits in fp32");
}

void check_values(const ResolvedConfig& c) {
  check_at_least("--train-len", c.train_len(), 1);
  check_at_least("--batch", c.batch, 1);
  constexpr int64_t kMostLength = std::numeric_limits<int32_t>::max();  // as positions are
  require<ConfigError>(c.train_len() <= kMostLength, kConfig, "--train-len: expected at most ",
                       kMostLength, ", got ", c.train_len());
  require<ConfigError>(c.longest() <= kMostLength, kConfig, "--lengths: expected at most ",
                       kMostLength, " tokens, got ", c.longest());
  constexpr int64_t kMostTokens = int64_t{1} << 40;  // of a batch: more than any memory holds
  require<ConfigError>(c.batch <= kMostTokens / c.longest(), kConfig, "--batch: expected at most ",
                       kMostTokens, " tokens in a batch, got ", c.batch, " sequences of ",
                       c.longest(), " tokens");
  check_at_least("--accumulate", c.accumulate, 1);
  require<ConfigError>(c.batch % c.accumulate == 0, kConfig,
                       "--accumulate: expected a divisor of the batch, ", c.batch, ", got ",
                       c.accumulate);
  check_at_least("--tensor-parallel", c.tensor_parallel, 1);
  if (c.model.n_head > 0) {  // else it is refused for itself
    const HeadCounts heads = c.model.heads();
    require<ConfigError>(heads.n_kv_head % c.tensor_parallel == 0, kConfig,
                         "--tensor-parallel: expected a divisor of the heads",
                         heads.is_grouped() ? " of keys" : "", ", ", heads.n_kv_head, ", got ",
                         c.tensor_parallel);
  }
  require<ConfigError>(
      c.tensor_parallel == 1 || !c.model.is_adaptive(), kConfig,
      "--tensor-parallel: expected 1 for a model with cutoffs, whose adaptive input "
      "and softmax cannot be shared, got ",
      c.tensor_parallel);
  check_at_least("--steps", c.steps, c.init || c.is_imported ? 0 : 1);
  require<ConfigError>(!c.is_imported || c.steps == 0, kConfig,
                       "--imported: expected --steps 0, as a run of `model import` has, got ",
                       c.steps);
  if (c.threads)
    require<ConfigError>(*c.threads >= 1 && *c.threads <= kMostThreads, kConfig,
                         "--threads: expected 1 to ", kMostThreads, ", got ", *c.threads);
  check_at_least("--log-every", c.log_every, 1);
  check_at_least("--valid-every", c.valid_every, 0);
  check_at_least("--valid-windows", c.valid_windows, 1);
  check_at_least("--checkpoint-every", c.checkpoint_every, 0);
  check_at_least("--keep", c.keep, 1);
  check_at_least("--keep-every", c.keep_every, 0);
  check("--lr", c.lr, std::isfinite(c.lr) && c.lr >= 0, "a finite number >= 0");
  check("--warmup", c.warmup, c.warmup >= 0 && c.warmup <= 0.5, "a share from 0 to 0.5");
  for (const auto& [name, lr] :
       {std::pair<const char*, double>{"--lr-start", c.lr_start}, {"--lr-end", c.lr_end}})
    check(name, lr, lr >= 0 && lr <= c.lr, "a number from 0 to the value of --lr");
  check("--momentum", c.momentum, c.momentum >= 0 && c.momentum < 1, "a number from 0 to below 1");
  check("--weight-decay", c.weight_decay, std::isfinite(c.weight_decay) && c.weight_decay >= 0,
        "a finite number >= 0");
  check("--clip", c.clip, std::isfinite(c.clip) && c.clip >= 0, "a finite number >= 0");
  for (const auto& [name, share] :
       {std::pair<const char*, double>{"--hidden-dropout", c.model.hidden_dropout},
        {"--attention-dropout", c.model.attention_dropout},
        {"--activation-dropout", c.model.activation_dropout},
        {"--tail-dropout", c.model.tail_dropout}})
    check(name, share, share >= 0 && share < 1, "a share from 0 to below 1");
  check_name(c.name);
}

// cuda or cuda:N
bool is_cuda_name(const std::string& device) {
  return device == "cuda" || (device.starts_with("cuda:") && device.size() > 5 &&
                              device.find_first_not_of("0123456789", 5) == std::string::npos);
}

}  // namespace

std::vector<StepLength> ResolvedConfig::step_lengths() const {
  return lengths.empty() ? std::vector<StepLength>{{1, train_len()}} : lengths;
}

int64_t ResolvedConfig::longest() const {
  int64_t most = 0;
  for (const StepLength& one : step_lengths()) most = std::max(most, one.length);
  return most;
}

uint64_t ResolvedConfig::data_seed() const {
  // 32 bits, which the order of GPT-NeoX takes.
  return init ? hash64(concat(seed, ' ', init->hash)) & UINT32_MAX : seed;
}

ModelConfig ResolvedConfig::model_of(int64_t n_vocab) const {
  ModelConfig whole = model;
  whole.vocab_size = n_vocab;
  return whole;
}

ResolvedConfig resolve(const RunConfig& request) {
  RunConfig filled = request;
  ResolvedConfig c;
  fill_task(filled, c, request.train_len.has_value());
  fill_from_preset(filled);
  c.model = preset(filled.preset);
  c.model.n_layer = *filled.n_layer;
  c.model.n_head = *filled.n_head;
  c.model.d_model = *filled.d_model;
  c.model.d_ff = *filled.d_ff;
  c.model.train_len = *filled.train_len;
  c.model.hidden_dropout = *filled.hidden_dropout;
  fill_model(filled, c.model);
  c.model.posenc = filled.posenc;
  fill_mask(filled, c);
  c.name = filled.name;
  c.init = init_of(filled);
  c.is_imported = filled.imported.has_value();
  for (const std::string& use : filled.data) c.data.push_back(parse_data_use(use));
  c.tokenizer = filled.tokenizer;
  c.vocab_size = filled.vocab_size;
  c.end_of_text = filled.end_of_text;
  c.data_type = filled.data_type;
  c.data_split = filled.data_split;
  c.lengths = parse_lengths(filled.lengths);
  c.batch = *filled.batch;
  c.accumulate = filled.accumulate;
  c.seed = filled.seed;
  c.steps = *filled.steps;
  c.lr = *filled.lr;
  c.warmup = *filled.warmup;
  fill_optimisation(filled, c);
  c.weight_decay = *filled.weight_decay;
  c.clip = *filled.clip;
  c.device = parse_device(filled.device);
  c.checkpoint_activations = filled.checkpoint_activations;
  c.deterministic_reduce = value_of_word<bool>(
      "--deterministic-reduce",
      filled.deterministic_reduce.value_or(c.device.kind == Device::Kind::cpu ? "on" : "off"),
      {{"on", true}, {"off", false}});
  c.tensor_parallel = filled.tensor_parallel.value_or(1);
  c.threads = filled.threads;
  c.log_every = filled.log_every;
  c.valid_every = filled.valid_every;
  c.valid_windows = filled.valid_windows;
  c.checkpoint_every = filled.checkpoint_every;
  c.keep = filled.keep;
  c.keep_every = filled.keep_every.value_or(0);
  c.saves_beside = value_of_word<bool>("--async-save", filled.async_save.value_or("on"),
                                       {{"on", true}, {"off", false}});
  check_values(c);
  c.nonfinite = value_of_word<OnNonfinite>(
      "--nonfinite", filled.nonfinite,
      {{"stop", OnNonfinite::stop}, {"skip", OnNonfinite::skip}, {"rewind", OnNonfinite::rewind}});
  if (filled.order)
    c.order = value_of_word<DataOrder>("--order", *filled.order,
                                       {{"shuffled", DataOrder::shuffled},
                                        {"neox", DataOrder::neox},
                                        {"documents", DataOrder::documents}});
  require<ConfigError>(c.order != DataOrder::neox || c.lengths.empty(), kConfig,
                       "--order neox: expected no --lengths, since that order is of samples of one "
                       "length");
  require<ConfigError>(c.order != DataOrder::neox || c.data.size() < 2, kConfig,
                       "--order neox: expected one --data, got ", c.data.size(),
                       "; GPT-NeoX's order of one corpus is all that is implemented");
  c.uses_cuda_graph =
      value_of_word<bool>("--cuda-graph", filled.cuda_graph, {{"auto", true}, {"off", false}});
  c.dtype = dtype_of_precision(*filled.precision);
  fill_adapters(filled, c);
  c.rounds_logits = value_of_word<bool>("--logits", filled.logits.value_or("fp32"),
                                        {{"fp32", false}, {"bf16", true}});
  if (c.rounds_logits)
    check_rounded_logits(c);
  else
    filled.logits.reset();
  c.tune = filled.tune.value_or("off");
  if (c.tune == "off" || c.tune.empty()) {
    c.tune.clear();
    filled.tune.reset();
  }
  require<ConfigError>(c.tune.empty() || c.device.kind == Device::Kind::cuda, kConfig,
                       "--tune: expected --device cuda, whose library has algorithms to choose "
                       "from, got ",
                       c.device);
  c.model.posenc = canonical_posenc(filled.posenc, c);
  filled.posenc = c.model.posenc;
  c.settings = to_settings(filled);
  return c;
}

DType dtype_of_precision(const std::string& word) {
  return value_of_word<DType>("--precision", word, {{"fp32", DType::f32}, {"bf16", DType::bf16}});
}

std::string canonical_posenc(const std::string& expression, const ResolvedConfig& trained) {
  const std::vector<int64_t>& cutoffs = trained.model.cutoffs;
  const ModelConfig shape = trained.model_of(cutoffs.empty() ? 1 : cutoffs.back() + 1);
  validate(shape);
  posenc::Config at{.n_head = shape.n_head,
                    .head_dim = shape.head_dim(),
                    .d_model = shape.d_model,
                    .n_layer = shape.n_layer,
                    .train_len = shape.train_len,
                    .seed = trained.seed,
                    .device = trained.device};
  const std::vector<posenc::ParsedTerm> terms =
      posenc::parse_expression(shape.posenc, posenc::form_of);
  for (const posenc::ParsedTerm& term : terms) at.trained_with.push_back(term.name);
  if (expression != shape.posenc) at.trained_rotation = posenc::trained_rotation(terms);
  const posenc::Composition encoding(expression, at);
  // Terms that do not fit together may show when both act, which for some is in a test alone.
  for (const auto phase : {posenc::Phase::train, posenc::Phase::eval})
    encoding.plan(shape.train_len, shape.train_len, phase);
  if (expression == shape.posenc)
    encoding.plan(trained.longest(), trained.longest(), posenc::Phase::train);
  if (expression == shape.posenc) posenc::require_finite_start(encoding);
  if (shape.sees_later) require_no_distances(encoding);
  return encoding.canonical();
}

ResolvedConfig config_of_file(const std::string& file, const Settings& settings,
                              const std::optional<std::string>& device) {
  RunConfig config = to_run_config(file, settings);
  if (device) {
    config.device = *device;
    config.tune.reset();  // of the products of training, on its device
  }
  if (device || is_cuda_name(config.device)) parse_device(config.device);
  try {
    return resolve(config);
  } catch (const ConfigError& error) {
    refuse_config_file(file, error);
  }
}

}  // namespace farfield::run
