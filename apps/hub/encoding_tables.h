#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apps/run/checkpoint.h"
#include "layers/config.h"
#include "posenc/composition.h"

namespace farfield::hub {

/// What the attention of a layer adds to the plain dot product, by the names of its tables.
struct RuleTables {
  std::map<std::string, std::string> tables;  ///< which tensor is "bias", "cos", "far_ids_q", ...
  bool interleaved = false;                   ///< as Rotation has it
  int64_t window = 0, sinks = 0;              ///< as AttentionRule has them, and the following
  int64_t switch_distance = 0, switch_position = 0;
  std::string normalizer = "softmax";  ///< the kind, as Normalizer spells it
  double normalizer_parameter = 1;
  int64_t landmark_block = 0;

  friend bool operator==(const RuleTables&, const RuleTables&) = default;
};

/// An encoding at test time as numbers: the tables for inputs of up to `length` tokens, for code
/// that knows no formula.
struct EncodingTables {
  int64_t length = 0;             ///< tokens
  std::string embedding;          ///< the tensor [length, D] added to the input; empty: none
  double token_scale = 1;         ///< of the token embedding, as the encoding asks for it
  std::vector<RuleTables> rules;  ///< those that differ
  std::vector<size_t> rule_of_layer;
  /// Each that differs from the others, once: float32, and int32 for ids. Named by its first use
  /// and a number, "bias_0".
  run::NamedTensors tensors;
  bool depends_on_length = false;  ///< shorter inputs would have other tables
  bool is_random = false;          ///< positions are drawn: these are of draw 0
};

/// The tables of one pass over `length` tokens. ConfigError for a length that the encoding cannot
/// reach.
EncodingTables encoding_tables(const posenc::Composition& encoding, int64_t length);

/// The largest length up to `most` that the encoding reaches. ConfigError if it does not even reach
/// `least`.
int64_t reachable_length(const posenc::Composition& encoding, int64_t least, int64_t most);

/// The encoding of a model, with its initial values.
posenc::Composition encoding_of(const ModelConfig& model, uint64_t seed = 1);

}  // namespace farfield::hub
