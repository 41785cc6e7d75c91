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

// RMS norm, a gated MLP, no biases, and two heads of queries for each head of keys; rotary
// positions are left to `posenc`. d_ff is 8/3 of the width, in whole multiples of 16, so that the
// three matrices of a gated MLP have the parameters of two with 4 d_model. Source    Touvron et al.
// 2023, arXiv:2302.13971, section 2.2; 2307.09288, section 2.2
ModelConfig llama(ModelConfig c) {
  c.n_kv_head = c.n_head / 2;
  c.d_ff = (8 * c.d_model / 3 + 15) / 16 * 16;
  c.norm = NormKind::rms;
  c.activation = MlpActivation::swiglu;
  c.has_qkv_bias = c.has_dense_bias = c.has_mlp_bias = false;
  return c;
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
  if (config.d_head == 0)
    require<ConfigError>(config.d_model % config.n_head == 0, "model",
                         "expected d_model to be a multiple of n_head, got d_model = ",
                         config.d_model, " and n_head = ", config.n_head);
  else
    check_size("d_head", config.d_head, kMaxWidth / config.n_head);
  require<ConfigError>(
      config.n_kv_head == 0 || (config.n_kv_head > 0 && config.n_head % config.n_kv_head == 0),
      "model", "expected n_kv_head to divide n_head = ", config.n_head, ", got ", config.n_kv_head);
  require<ConfigError>(!config.ties_embedding || !config.is_adaptive(), "model",
                       "expected no tied embedding with cutoffs, whose adaptive input and softmax "
                       "are tied in their own way");
  const bool is_plain = !config.heads().is_grouped() && config.d_head == 0 &&
                        config.norm == NormKind::layer && config.has_norm_bias &&
                        config.has_qkv_bias && config.has_dense_bias && config.has_mlp_bias &&
                        !config.is_gated();
  require<ConfigError>(config.init != InitScheme::fairseq || is_plain, "model",
                       "expected the parts of GPT-NeoX, biases included, with the initial weights "
                       "of fairseq");
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
  require<ConfigError>(config.is_gated() || !config.adapters->has_target("gate"), "lora",
                       "targets: expected no 'gate' for a model whose MLP has none");
  require<ConfigError>(!config.ties_embedding || !config.adapters->trains("head"), "lora",
                       "train-also: expected no 'head' with a tied embedding; 'embedding' trains "
                       "their one matrix");
  require<ConfigError>(!config.is_adaptive() || !config.adapters->has_target("head"), "lora",
                       "targets: expected no 'head' with cutoffs, whose adaptive softmax has "
                       "several matrices");
}

int64_t parameter_count(const ModelConfig& config) {
  const auto linear = [](int64_t in, int64_t out, bool has_bias) {
    return in * out + (has_bias ? out : 0);
  };
  const int64_t d = config.d_model, head_dim = config.head_dim();
  const int64_t norm = config.has_norm_biases() ? 2 * d : d;
  const int64_t block = 2 * norm +
                        linear(d, config.heads().n_part() * head_dim, config.has_qkv_bias) +
                        linear(config.n_head * head_dim, d, config.has_dense_bias) +
                        (config.is_gated() ? 2 : 1) * linear(d, config.d_ff, config.has_mlp_bias) +
                        linear(config.d_ff, d, config.has_mlp_bias);
  int64_t tables = (config.ties_embedding ? 1 : 2) * config.vocab_size * d;
  if (config.has_embedding_norm) tables += norm;
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
      {"llama-tiny", llama(model(4, 4, 64, 320, 128)), training(1200, 2e-3, 0.02)},
      {"llama-small", llama(model(4, 4, 256, 320, 128)), training(1500, 1e-3, 0.02)},
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
                                            {"llama", "llama-tiny"},
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
