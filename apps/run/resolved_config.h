#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/run/config.h"
#include "apps/run/data_use.h"
#include "engine/device.h"
#include "engine/dtype.h"
#include "layers/config.h"

namespace farfield::run {

/// What to do about a loss or gradient that is not finite.
enum class OnNonfinite { stop, skip, rewind };

/// The order of sequences: data::ShuffledWindows, or the order of GPT-NeoX.
enum class DataOrder { shuffled, neox };

/// A training run with every value known, checked and in its own type: what resolve() makes of a
/// RunConfig.
struct ResolvedConfig {
  ModelConfig model;  ///< posenc in its canonical form; without vocab_size, which is the corpus's
  std::string name;
  std::vector<DataUse> data;
  /// See data::CorpusOptions.
  std::optional<std::string> tokenizer, data_type, data_split, end_of_text;
  std::optional<int64_t> vocab_size;
  DataOrder order = DataOrder::shuffled;
  int64_t batch = 1, accumulate = 1, tensor_parallel = 1;
  uint64_t seed = 1;
  int64_t steps = 1;
  double lr = 0, warmup = 0, lr_start = 0, lr_end = 0, weight_decay = 0, clip = 0;
  Schedule::Form schedule = Schedule::Form::neox;
  OptimizerKind optimizer = OptimizerKind::adamw;
  double momentum = 0;  ///< of nag
  OnNonfinite nonfinite = OnNonfinite::stop;
  DType dtype = DType::f32;
  Device device = {};
  bool rounds_logits = false;  ///< in training, to bfloat16
  std::string tune;            ///< "on", or the file of measured products; empty: none
  bool uses_cuda_graph = true, checkpoint_activations = false, deterministic_reduce = true;
  std::optional<int64_t> threads;  ///< empty: as many as there are
  int64_t log_every = 1, valid_every = 0, valid_windows = 1, checkpoint_every = 0, keep = 1,
          keep_every = 0;
  bool saves_beside = true;
  Settings settings;  ///< all of it, as config.conf holds it

  const std::string& posenc() const { return model.posenc; }
  int64_t train_len() const { return model.train_len; }
  ModelConfig model_of(int64_t n_vocab) const;
};

/// Fills empty settings from the preset, brings posenc into its canonical form and checks every
/// value. ConfigError names the option.
ResolvedConfig resolve(const RunConfig& request);

/// The canonical form of an expression for the model of a run, which is trained with its own.
/// ConfigError also for terms that do not fit together when they act, in training or in a test.
std::string canonical_posenc(const std::string& expression, const ResolvedConfig& trained);

/// The configuration of an existing run from its config.conf; `device` replaces its own. Only
/// `train` writes this file, so an error in it is an IoError that names `file`; a device that this
/// build lacks stays a ConfigError.
ResolvedConfig config_of_file(const std::string& file, const Settings& settings,
                              const std::optional<std::string>& device = {});

}  // namespace farfield::run
