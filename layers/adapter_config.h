#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace farfield {

/// Low-rank adapters of a model whose own weights stay frozen.
struct AdapterConfig {
  int64_t rank = 8;
  double alpha = 16;
  /// The adapted layers: of q, k, v (parts of the QKV projection), dense (the projection behind
  /// attention), gate, up, down (of the MLP) and head.
  std::vector<std::string> targets = {"q", "v"};
  double dropout = 0;               ///< in training, share of the inputs of an adapter
  bool is_rank_stabilized = false;  ///< the scale is alpha / sqrt(rank) instead of alpha / rank
  bool has_magnitudes = false;      ///< DoRA: each row of an adapted weight has a trained length
  /// What else is trained: of norms, posenc, embedding and head.
  std::vector<std::string> also = {};

  double scale() const;
  bool has_target(const std::string& name) const;
  bool trains(const std::string& kind) const;
};

/// ConfigError [lora] for a rank below 1, numbers out of range, and unknown or repeated names.
void validate(const AdapterConfig& config);

/// The words that AdapterConfig::targets and AdapterConfig::also may have.
const std::vector<std::string>& adapter_targets();
const std::vector<std::string>& trainable_kinds();

}  // namespace farfield
