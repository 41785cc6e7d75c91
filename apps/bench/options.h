#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/bench/card.h"
#include "apps/bench/report.h"
#include "apps/cli/options.h"
#include "apps/run/processes.h"
#include "engine/device.h"
#include "engine/dtype.h"
#include "layers/config.h"

namespace farfield::bench {

/// The options of every command of `bench`.
struct BenchOptions {
  std::string device = "cpu";
  std::optional<std::string> precision;  ///< empty: fp32 on the CPU, bf16 on CUDA
  std::optional<int64_t> threads;
  std::optional<double> peak_tflops;  ///< peak rate of the card; empty: looked up by its name
  int64_t rounds = 7;
  TableOptions table;

  void add_to(cli::Options& options);
  /// Checks everything, fills empty options and sets the number of threads. ConfigError.
  void apply();
  /// apply() in the processes of a job, which meet and share the processors. ConfigError, in all
  /// processes, unless all were called with the same arguments.
  void meet(run::Processes& processes, int argc, const char* const* argv);
  /// After apply().
  Peak peak() const { return peak_of(where(), dtype(), peak_tflops.value_or(0)); }
  Device where() const { return parse_device(device); }
  DType dtype() const { return precision == "bf16" ? DType::bf16 : DType::f32; }

 private:
  void fill();
};

/// ConfigError unless all are from 1 on.
void check_lengths(const std::vector<int64_t>& lengths);

/// Whether --logits asks for the head's logits in bfloat16. ConfigError unless it is fp32 or bf16.
bool rounds_logits_of(const std::string& logits);

/// A model by preset, with the options that change it.
struct ModelOptions {
  std::string preset = "small";
  std::optional<int64_t> train_len, batch, vocab_size;

  /// train_len_help, batch_help: the help texts of these two options in a command.
  void add_to(cli::Options& options,
              const std::string& train_len_help = "tokens of a sequence (default: the preset's)",
              const std::string& batch_help =
                  "sequences of a step (default: the preset's, at most "
                  "2048 tokens beyond 10^8 parameters)");
  ModelConfig config() const;
  int64_t batch_size() const;
};

}  // namespace farfield::bench
