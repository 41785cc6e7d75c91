#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "layers/config.h"

namespace farfield::hub {

/// No class of the transformers library computes a model; the message says why.
struct NoClass : ConfigError {
  using ConfigError::ConfigError;
};

/// The positional encoding of a model, in the terms in which classes of the transformers library
/// have one.
struct ExportedEncoding {
  enum class Kind { none, rotary, alibi, learned };
  Kind kind = Kind::none;
  std::string rotary = "rope";            ///< which rotary encoding, by our name
  std::map<std::string, double> numbers;  ///< all arguments of a rotary encoding that are numbers
  std::map<std::string, std::vector<double>> lists;  ///< and lists, of a number for each pair
  std::vector<bool> rotates, slides;  ///< by layer: whether it has the rotation, the window
  int64_t window = 0;                 ///< tokens; 0: none
  int64_t n_position = 0;             ///< rows of a learned table
  std::string text;                   ///< the expression, for messages
};

/// Programs that compute models, for messages.
struct EncodingReaders {
  std::string_view one;   ///< "class of transformers"
  std::string_view have;  ///< the encodings that they have
};
inline constexpr EncodingReaders kStockClasses = {
    "class of transformers",
    "rope, rope_linear, rope_dynamic_ntk, rope_yarn, rope_llama3, rope_longrope (and a window), "
    "with alibi, "
    "learned_abs or none"};

/// NoClass, naming the term or the argument, for what none of the readers has.
ExportedEncoding exported_encoding(const ModelConfig& model,
                                   const EncodingReaders& readers = kStockClasses);

/// How many components of a head turn.
int64_t rotated(int64_t head_dim, double rotary_pct);

/// The length that a config states: that of training; where dynamic scaling begins; or where YaRN
/// ends, since versions of transformers take its factor from the quotient.
int64_t context_length(const ModelConfig& model, const ExportedEncoding& encoding);

}  // namespace farfield::hub
