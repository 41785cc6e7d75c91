#include "layers/config.h"

#include <algorithm>
#include <cmath>

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

}  // namespace

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
  require<ConfigError>(config.hidden_dropout >= 0 && config.hidden_dropout < 1, "model",
                       "expected hidden_dropout from 0 to below 1, got ", config.hidden_dropout);
}

int64_t parameter_count(const ModelConfig& config) {
  const auto linear = [](int64_t in, int64_t out) { return in * out + out; };
  const int64_t d = config.d_model;
  const int64_t norm = 2 * d;
  const int64_t block =
      2 * norm + linear(d, 3 * d) + linear(d, d) + linear(d, config.d_ff) + linear(config.d_ff, d);
  const int64_t table = config.vocab_size * d;
  return 2 * table + config.n_layer * block + (config.has_final_norm ? norm : 0);
}

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = {
      {"smoke", model(2, 4, 32, 320, 128), training(600, 3e-3, 0.02)},
      {"tiny", model(4, 4, 64, 320, 128), training(1200, 2e-3, 0.02)},
      {"mini", model(2, 4, 128, 320, 128), training(1500, 1e-3, 0.02)},
      {"small", model(4, 4, 256, 320, 128), training(1500, 1e-3, 0.02)},
      {"neox-162m", model(12, 12, 768, 50304, 512), training(50'000, 6e-4, 0.01)},
      {"neox-1.3b", model(24, 16, 2048, 50432, 512), training(150'000, 2e-4, 0.01)},
  };
  return all;
}

const Preset& find_preset(std::string_view name) {
  const auto found = std::find_if(presets().begin(), presets().end(),
                                  [&](const Preset& p) { return p.name == name; });
  if (found == presets().end()) {
    static constexpr Synonym kSynonyms[] = {{"162m", "neox-162m"}, {"125m", "neox-162m"},
                                            {"neox", "neox-162m"}, {"gpt-neox", "neox-162m"},
                                            {"1.3b", "neox-1.3b"}, {"base", "small"},
                                            {"test", "smoke"},     {"debug", "smoke"}};
    std::vector<std::string> names;
    for (const Preset& p : presets()) names.push_back(p.name);
    fail<ConfigError>("model", "expected a preset out of ", joined(names), ", got '", name, "'",
                      did_you_mean(name, names, kSynonyms));
  }
  return *found;
}

}  // namespace farfield
