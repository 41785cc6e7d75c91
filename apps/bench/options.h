#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/cli.h"
#include "engine/dtype.h"
#include "layers/config.h"

namespace farfield::apps {

/// What every command of `bench` takes.
struct CommonOptions {
  std::string precision = "fp32";
  std::optional<int64_t> threads;
  int64_t rounds = 7;
  std::string csv;

  void add_to(Options& options);
  /// Sets the number of threads, checks the rest. ConfigError.
  void apply() const;
  DType dtype() const;  ///< ConfigError unless fp32 or bf16
};

/// A model by preset, with what may be changed about it.
struct ModelOptions {
  std::string preset = "small";
  std::optional<int64_t> train_len, batch, vocab_size;

  void add_to(Options& options);
  ModelConfig config() const;
  int64_t batch_size() const;
};

}  // namespace farfield::apps
