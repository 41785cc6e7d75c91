#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/cli.h"
#include "apps/protocols/protocol.h"
#include "layers/transformer.h"

namespace farfield::apps {

/// What to measure, for all protocols.
struct EvalOptions {
  std::vector<std::string> protocols = {"last-token"};
  std::vector<int64_t> lengths = {128, 256, 512, 1024, 2048};
  int64_t segments = 1000;
  std::string segment_set = "per-seed";
  std::string context = "L-1";
  std::string budget = "same-text";
  int64_t chunks = 320;
  int64_t max_tokens = 0;
  bool keep_tail = false;
  bool allow_fewer = false;
  int64_t batch_tokens = 16384;
  int64_t draws = 1;
};

/// Declares every field as an option.
void add_options(Options& options, EvalOptions& eval);

/// ConfigError names the option with a value that is not known.
void check(const EvalOptions& eval);

/// Runs one protocol. `seed` is that of the run's training.
ProtocolResult evaluate(const std::string& protocol, const Scorer& model, const TokenStream& text,
                        const EvalOptions& eval, uint64_t seed);
/// The same for a model, and where its encoding draws positions at random, the mean over
/// eval.draws draws.
ProtocolResult evaluate(const std::string& protocol, const Transformer& model, const Device& device,
                        const TokenStream& text, const EvalOptions& eval, uint64_t seed);

}  // namespace farfield::apps
