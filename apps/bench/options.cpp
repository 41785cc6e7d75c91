#include "apps/bench/options.h"

#include <algorithm>

#include "apps/cli/progress.h"
#include "apps/cli/threads.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"

namespace farfield::bench {

void BenchOptions::add_to(cli::Options& options) {
  options.group("Measuring")
      .add("device", device, "cpu|cuda|cuda:N", "what to measure")
      .add("precision", precision, "fp32|bf16", "(default: fp32 on the CPU, bf16 on CUDA)")
      .add("peak-tflops", peak_tflops, "X",
           "what the card can do in this precision (default: by its name)")
      .add("threads", threads, "N",
           "threads of the pool (default: FARFIELD_THREADS, or the number of processors)")
      .add("rounds", rounds, "N", "times that everything is measured; medians are shown");
  table.add_to(options);
}

void BenchOptions::apply() {
  fill();
  cli::use_threads(threads, cli::remarks());
}

void BenchOptions::fill() {
  require<ConfigError>(rounds >= 1, "bench", "expected rounds >= 1, got ", rounds);
  if (!precision) precision = where().kind == Device::Kind::cuda ? "bf16" : "fp32";
  require<ConfigError>(precision == "fp32" || precision == "bf16", "bench",
                       "expected precision fp32 or bf16, got '", *precision, "'");
  require<ConfigError>(!peak_tflops || *peak_tflops > 0, "bench",
                       "expected peak-tflops above 0, got ", peak_tflops.value_or(0));
  table.check();
}

void BenchOptions::meet(run::Processes& processes, int argc, const char* const* argv) {
  processes.meet(run::words_of(argc, argv), threads);
  fill();
  if (!processes.is_first()) table.csv.clear();
}

void check_lengths(const std::vector<int64_t>& lengths) {
  for (const int64_t length : lengths)
    require<ConfigError>(length >= 1, "bench", "expected lengths from 1 on, got ", length);
}

void ModelOptions::add_to(cli::Options& options, const std::string& train_len_help,
                          const std::string& batch_help) {
  options.group("Model")
      .add("preset", preset, "NAME", "smoke, tiny, mini, small, neox-162m or neox-1.3b")
      .add("train-len", train_len, "N", train_len_help)
      .add("batch", batch, "N", batch_help)
      .add("vocab-size", vocab_size, "N", "rows of embedding and head (default: the preset's)");
}

ModelConfig ModelOptions::config() const {
  ModelConfig config = farfield::preset(preset);
  config.train_len = train_len.value_or(config.train_len);
  config.vocab_size = vocab_size.value_or(config.vocab_size);
  validate(config);
  return config;
}

int64_t ModelOptions::batch_size() const {
  int64_t usual = train_defaults(preset).batch_size;
  const ModelConfig model = config();
  if (parameter_count(model) > 100'000'000)  // a step of seconds, not minutes
    usual = std::clamp<int64_t>(2048 / model.train_len, 1, usual);
  const int64_t size = batch.value_or(usual);
  require<ConfigError>(size >= 1, "bench", "expected batch >= 1, got ", size);
  return size;
}

bool rounds_logits_of(const std::string& logits) {
  require<ConfigError>(logits == "fp32" || logits == "bf16", "config",
                       "--logits: expected fp32 or bf16, got '", logits, "'");
  return logits == "bf16";
}

}  // namespace farfield::bench
