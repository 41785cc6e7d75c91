#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/options.h"
#include "apps/run/settings.h"
#include "engine/base/error.h"

namespace farfield::run {

/// The request for a training run. Empty settings come from the preset: see resolved_config.h.
struct RunConfig {
  std::string preset = "mini";
  std::optional<int64_t> n_layer, n_head, d_model, d_ff;
  std::optional<std::string> architecture;  ///< as set_architecture() takes it; empty: the preset's
  std::optional<std::string> cutoffs;       ///< numbers between commas, or "none"
  std::optional<std::string> mask;          ///< empty: causal
  std::optional<double> masked;             ///< of an encoder on text; empty: 0.15
  std::string posenc = "none";
  std::string name;  ///< what people call the run; empty: it goes by its encoding

  std::optional<std::string> task;        ///< instead of data: as data::make_task() takes it
  std::vector<std::string> task_lengths;  ///< "8" or "1..20"; empty: the task's own
  std::vector<std::string> data;          ///< corpora, each "PATH" or "PATH:WEIGHT"
  /// For corpora that do not record it: see data::CorpusOptions.
  std::optional<std::string> tokenizer, data_type, data_split, end_of_text;
  std::optional<int64_t> vocab_size;
  std::optional<std::string> order;  ///< empty: our own
  std::optional<int64_t> train_len;
  std::vector<std::string> lengths;  ///< "SHARE:TOKENS"; empty: train_len in all steps
  std::optional<int64_t> batch;      ///< sequences per step
  int64_t accumulate = 1;            ///< pieces that a batch is computed in
  std::optional<std::string> deterministic_reduce;  ///< empty: on where the device is the CPU
  std::optional<int64_t> tensor_parallel;           ///< processes that have a model together
  uint64_t seed = 1;  ///< of initial weights and the order of the data

  std::optional<std::string> init_from;       ///< a run whose weights this one starts from
  std::optional<int64_t> init_step;           ///< of these; empty: the newest
  std::optional<std::string> init_hash;       ///< of these; another is refused
  std::optional<std::string> imported;        ///< the kind of model that `model import` read
  std::vector<std::string> map;               ///< with init_from: "FROM=TO", see value_map.h
  std::optional<bool> drop_learned;           ///< with init_from: see load_weights_of()
  std::optional<std::string> lora;            ///< with init_from: as parse_lora() takes it
  std::vector<std::string> train_also;        ///< with lora: AdapterConfig::also
  std::optional<std::string> base_precision;  ///< with lora; empty: fp32

  std::optional<int64_t> steps;
  std::optional<double> lr, warmup, lr_start, lr_end, weight_decay, clip, momentum;
  std::optional<std::string> schedule, optimizer;
  std::optional<double> hidden_dropout, attention_dropout, activation_dropout, tail_dropout;
  std::string nonfinite = "stop";

  std::optional<std::string> precision;  ///< empty: fp32 on the CPU, bf16 on CUDA
  std::optional<std::string> logits;     ///< empty: fp32
  std::string device = "cpu";
  std::optional<std::string> tune;  ///< "off", "on" or a file; empty: off
  std::string cuda_graph = "auto";
  bool checkpoint_activations = false;
  std::optional<int64_t> threads;

  int64_t log_every = 10;
  int64_t valid_every = 200;
  int64_t valid_windows = 64;
  int64_t checkpoint_every = 500;
  int64_t keep = 3;
  std::optional<int64_t> keep_every;      ///< empty: none
  std::optional<std::string> async_save;  ///< empty: on
};

/// Declares every field as an option.
void add_options(cli::Options& options, RunConfig& config);

/// As config.conf holds it.
Settings to_settings(const RunConfig& config);
/// The inverse of to_settings(), from a file: IoError, naming the file, for invalid settings.
RunConfig to_run_config(const std::string& name, const Settings& settings);
/// Rethrows the error of a configuration from a file as an IoError that names the file.
[[noreturn]] void refuse_config_file(const std::string& file, const ConfigError& error);

/// The settings that the weights depend on: a run can only go on with the same settings. The others
/// (threads, how often to log, where the data lies, ...) may change from call to call. A setting
/// that an older run does not have takes its default.
Settings identity(const Settings& settings);

}  // namespace farfield::run
