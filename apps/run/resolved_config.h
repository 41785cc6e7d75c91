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

/// The order of sequences: data::ShuffledWindows, the order of GPT-NeoX, or data::DocumentStarts.
enum class DataOrder { shuffled, neox, documents };

/// Tokens of a training sequence in a share of the steps.
struct StepLength {
  double share = 1;  ///< relative to the others'
  int64_t length = 1;
};

/// A training run with every value known, checked and in its own type: what resolve() makes of a
/// RunConfig.
struct ResolvedConfig {
  /// The initial weights, if they come from another run.
  struct Init {
    std::string from;  ///< its folder
    int64_t step = 0;
    std::string hash;  ///< Checkpoint::model_hash
    std::vector<std::string> map;
    bool drop_learned = false;
  };
  ModelConfig model;  ///< posenc in its canonical form; without vocab_size, which is the corpus's
  std::string name;
  std::optional<Init> init;
  bool is_imported = false;  ///< of `model import`, which trains no step
  double masked = 0;         ///< share of masked tokens, of an encoder on text; 0: any other model
  std::string task;          ///< canonical; empty: trained on `data`
  std::vector<int64_t> task_lengths;  ///< of its samples in training
  std::vector<DataUse> data;
  /// See data::CorpusOptions.
  std::optional<std::string> tokenizer, data_type, data_split, end_of_text;
  std::optional<int64_t> vocab_size;
  DataOrder order = DataOrder::shuffled;
  std::vector<StepLength> lengths;  ///< of --lengths; none: all steps have train_len()
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
  bool holds_base_in_bf16 = false;  ///< the frozen weights beside adapters
  bool rounds_logits = false;       ///< in training, to bfloat16
  std::string tune;                 ///< "on", or the file of measured products; empty: none
  bool uses_cuda_graph = true, checkpoint_activations = false, deterministic_reduce = true;
  std::optional<int64_t> threads;  ///< empty: as many as there are
  int64_t log_every = 1, valid_every = 0, valid_windows = 1, checkpoint_every = 0, keep = 1,
          keep_every = 0;
  bool saves_beside = true;
  Settings settings;  ///< all of it, as config.conf holds it

  /// Whether it is masked language modelling.
  bool is_masked() const { return masked > 0; }
  const std::string& posenc() const { return model.posenc; }
  int64_t train_len() const { return model.train_len; }
  /// The lengths of the steps, and the longest of them.
  std::vector<StepLength> step_lengths() const;
  int64_t longest() const;
  ModelConfig model_of(int64_t n_vocab) const;
  /// The seed of the order of the data: `seed`, and for a run that starts from another run another
  /// number, so that it reads the text in another order than that run did.
  uint64_t data_seed() const;
};

/// Fills empty settings from the preset, brings posenc into its canonical form and checks every
/// value. ConfigError names the option.
ResolvedConfig resolve(const RunConfig& request);

/// The type of activations for --precision. ConfigError for another word than fp32 and bf16.
DType dtype_of_precision(const std::string& word);

/// The canonical form of an expression for the model of a run, which is trained with its own.
/// ConfigError also for terms that do not fit together when they act, in training or in a test.
std::string canonical_posenc(const std::string& expression, const ResolvedConfig& trained);

/// The configuration of an existing run from its config.conf; `device` replaces its own. Only
/// `train` writes this file, so an error in it is an IoError that names `file`; a device that this
/// build lacks stays a ConfigError.
ResolvedConfig config_of_file(const std::string& file, const Settings& settings,
                              const std::optional<std::string>& device = {});

}  // namespace farfield::run
