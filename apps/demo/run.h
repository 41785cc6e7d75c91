#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/options.h"
#include "apps/cli/printout.h"
#include "apps/cli/progress.h"
#include "apps/eval/results.h"
#include "apps/run/config.h"

namespace farfield::demo {

/// The options of the demo: the same model, trained short with each encoding, tested long.
struct DemoOptions {
  std::string input;  ///< text, folder or JSONL(.zst); empty: C and C++ headers of this machine
  std::string out = "runs/demo";
  std::string preset = "mini";
  std::vector<std::string> encodings = {"sinusoidal", "rope", "alibi", "kerple_log", "sandwich"};
  int64_t train_len = 128;
  int64_t steps = 600;
  double lr = 3e-3;  ///< higher than the preset's, which is meant for longer training
  int64_t max_bytes = 16'000'000;
  std::vector<int64_t> lengths = {128, 256, 512, 1024, 2048};
  int64_t segments = 400;
  uint64_t seed = 1;
  std::optional<int64_t> threads;
};

/// Declares every field as an option.
void add_options(cli::Options& options, DemoOptions& demo);

/// Prepares, trains, measures and writes out/{last-token.csv, last-token.svg, index.html}, and
/// last-token-close.svg without encodings whose rise hides the others. Reuses finished parts of a
/// demo with the same options, and finishes begun ones. kStopped after a signal. ConfigError when
/// `out` holds a demo of other options.
cli::ExitCode run_demo(const DemoOptions& demo, cli::Printout& page);

}  // namespace farfield::demo
