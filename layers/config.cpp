#include "layers/config.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/did_you_mean.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield {
namespace {

// Larger than any model, small enough for parameter_count() to stay within 64 bits.
constexpr int64_t kMaxLayers = 100'000;
constexpr int64_t kMaxWidth = int64_t{1} << 20;
constexpr int64_t kMaxIndex = (int64_t{1} << 31) - 1;  // ids and positions are int32

ModelConfig model(int64_t n_layer, int64_t n_head, int64_t d_model, int64_t vocab_size,
                  int64_t train_len) {
  return {.n_layer = n_layer,
          .n_head = n_head,
          .d_model = d_model,
          .d_ff = 4 * d_model,
          .vocab_size = vocab_size,
          .train_len = train_len};
}

TrainDefaults training(int64_t steps, double peak_lr, double warmup_fraction) {
  return {.steps = steps, .peak_lr = peak_lr, .warmup_fraction = warmup_fraction};
}

// The WikiText-103 model of Baevski and Auli 2019, arXiv:1809.10853, as transformer_lm_wiki103 of
// ofirpress/attention_with_linear_biases has it and trains it: 8 devices of 9216 tokens.
Preset baevski() {
  ModelConfig c = model(16, 8, 1024, 267'744, 512);
  c.hidden_dropout = 0.3;
  c.attention_dropout = 0.1;
  c.activation_dropout = 0.1;
  c.activation = MlpActivation::relu;
  c.has_final_norm = false;
  c.scales_embedding = true;
  c.init = InitScheme::fairseq;
  c.cutoffs = {20'000, 60'000};
  c.tail_dropout = 0.2;
  TrainDefaults t = training(286'000, 1, 16'000.0 / 286'000);
  t.batch_size = 144;
  t.max_grad_norm = 0.1;
  t.optimizer = OptimizerKind::nag;
  t.schedule = Schedule::Form::fairseq;
  t.start_lr = 1e-7;
  t.end_lr = 1e-4;
  return {"baevski-247m", c, t};
}

}  // namespace

int64_t ModelConfig::band_size(int64_t band) const {
  const int64_t begin = band == 0 ? 0 : cutoffs[static_cast<size_t>(band) - 1];
  return (band + 1 == n_band() ? vocab_size : cutoffs[static_cast<size_t>(band)]) - begin;
}

int64_t ModelConfig::band_width(int64_t band) const {
  int64_t width = d_model;
  for (int64_t i = 0; i < band; ++i) width /= band_divisor;
  return width;
}

void validate(const ModelConfig& config) {
  const auto check_size = [](const char* name, int64_t value, int64_t most) {
    require<ConfigError>(value >= 1 && value <= most, "model", "expected ", name, " from 1 to ",
                         most, ", got ", value);
  };
  check_size("n_layer", config.n_layer, kMaxLayers);
  check_size("n_head", config.n_head, kMaxWidth);
  check_size("d_model", config.d_model, kMaxWidth);
  check_size("d_ff", config.d_ff, 4 * kMaxWidth);
  check_size("vocab_size", config.vocab_size, kMaxIndex);
  check_size("train_len", config.train_len, kMaxIndex);
  require<ConfigError>(config.d_model % config.n_head == 0, "model",
                       "expected d_model to be a multiple of n_head, got d_model = ",
                       config.d_model, " and n_head = ", config.n_head);
  require<ConfigError>(std::isfinite(config.ln_eps) && config.ln_eps > 0, "model",
                       "expected a finite ln_eps > 0, got ", config.ln_eps);
  require<ConfigError>(std::isfinite(config.init_std) && config.init_std >= 0, "model",
                       "expected a finite init_std >= 0, got ", config.init_std);
  require<ConfigError>(config.band_divisor >= 1, "model", "expected band_divisor >= 1, got ",
                       config.band_divisor);
  int64_t width = config.d_model, before = 0;
  for (const int64_t cutoff : config.cutoffs) {
    require<ConfigError>(cutoff > before && cutoff < config.vocab_size, "model",
                         "expected cutoffs that rise from 1 to below the vocabulary of ",
                         config.vocab_size, ", got ", joined(config.cutoffs, ","));
    require<ConfigError>(width % config.band_divisor == 0, "model",
                         "expected d_model = ", config.d_model, " to be divisible by ",
                         config.band_divisor, " for each of the ", config.cutoffs.size(),
                         " cutoffs");
    width /= config.band_divisor;
    before = cutoff;
  }
  for (const auto& [name, share] :
       {std::pair<const char*, double>{"attention_dropout", config.attention_dropout},
        {"activation_dropout", config.activation_dropout},
        {"tail_dropout", config.tail_dropout}})
    require<ConfigError>(share >= 0 && share < 1, "model", "expected ", name,
                         " from 0 to below 1, got ", share);
  require<ConfigError>(config.hidden_dropout >= 0 && config.hidden_dropout < 1, "model",
                       "expected hidden_dropout from 0 to below 1, got ", config.hidden_dropout);
  if (!config.adapters) return;
  validate(*config.adapters);
  require<ConfigError>(!config.is_adaptive() || !config.adapters->has_target("head"), "lora",
                       "targets: expected no 'head' with cutoffs, whose adaptive softmax has "
                       "several matrices");
}

int64_t parameter_count(const ModelConfig& config) {
  const auto linear = [](int64_t in, int64_t out) { return in * out + out; };
  const int64_t d = config.d_model;
  const int64_t norm = 2 * d;
  const int64_t block =
      2 * norm + linear(d, 3 * d) + linear(d, d) + linear(d, config.d_ff) + linear(config.d_ff, d);
  int64_t tables = 2 * config.vocab_size * d;
  if (config.is_adaptive()) {
    tables = (config.n_band() - 1) * d;
    for (int64_t i = 0; i < config.n_band(); ++i)
      tables += (config.band_size(i) + d) * config.band_width(i);
  }
  return tables + config.n_layer * block + (config.has_final_norm ? norm : 0);
}

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = {
      {"smoke", model(2, 4, 32, 320, 128), training(600, 3e-3, 0.02)},
      {"tiny", model(4, 4, 64, 320, 128), training(1200, 2e-3, 0.02)},
      {"mini", model(2, 4, 128, 320, 128), training(1500, 1e-3, 0.02)},
      {"small", model(4, 4, 256, 320, 128), training(1500, 1e-3, 0.02)},
      {"neox-162m", model(12, 12, 768, 50304, 512), training(50'000, 6e-4, 0.01)},
      {"neox-1.3b", model(24, 16, 2048, 50432, 512), training(150'000, 2e-4, 0.01)},
      baevski(),
  };
  return all;
}

const Preset& find_preset(std::string_view name) {
  const auto found = std::find_if(presets().begin(), presets().end(),
                                  [&](const Preset& p) { return p.name == name; });
  if (found == presets().end()) {
    static constexpr Synonym kSynonyms[] = {{"162m", "neox-162m"},
                                            {"125m", "neox-162m"},
                                            {"neox", "neox-162m"},
                                            {"gpt-neox", "neox-162m"},
                                            {"247m", "baevski-247m"},
                                            {"baevski", "baevski-247m"},
                                            {"transformer_lm_wiki103", "baevski-247m"},
                                            {"1.3b", "neox-1.3b"},
                                            {"base", "small"},
                                            {"test", "smoke"},
                                            {"debug", "smoke"}};
    std::vector<std::string> names;
    for (const Preset& p : presets()) names.push_back(p.name);
    fail<ConfigError>("model", "expected a preset out of ", joined(names), ", got '", name, "'",
                      did_you_mean(name, names, kSynonyms));
  }
  return *found;
}

}  // namespace farfield
