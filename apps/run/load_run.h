#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/run/changed_encoding.h"
#include "apps/run/checkpoint.h"
#include "apps/run/folder.h"
#include "apps/run/resolved_config.h"
#include "layers/transformer.h"

namespace farfield::run {

/// A trained model with its run.
struct LoadedRun {
  RunFolder folder;
  ResolvedConfig config;  ///< as trained
  TrainState state;
  std::string model_hash;  ///< Checkpoint::model_hash
  Transformer model;
  std::string posenc;   ///< the expression, canonical, without LoadOptions::window
  Unmatched unmatched;  ///< empty when the encoding is the trained one
  std::optional<int32_t> mask_token = {};  ///< of an encoder on text
};

struct LoadOptions {
  std::optional<int64_t> step = {};        ///< the checkpoint of this step; empty: the newest
  std::optional<std::string> device = {};  ///< empty: as in training
  std::optional<std::string> posenc = {};  ///< another positional encoding than the trained one
  bool drop_learned = false;               ///< see load_weights_of()
  std::vector<std::string> map = {};       ///< with posenc: "FROM=TO", see value_map.h
  int64_t window = 0;  ///< no query sees more than so many last tokens, in any layer; 0: no limit
  std::optional<std::string> precision = {};  ///< "fp32" or "bf16"; empty: as in training
};

/// The model of a run. IoError for a damaged or missing checkpoint, for a config.conf that is
/// damaged or does not belong to the checkpoint, and bad_parameter for values of the encoding that
/// check_parameter_bounds() refuses; ConfigError for an encoding that trained values do not fit.
LoadedRun load_run(const std::string& path, const LoadOptions& options = {});

/// "step 120 of 2000" if the newest checkpoint is not from the last step; else empty.
std::string unfinished_text(const RunFolder& folder);

}  // namespace farfield::run
