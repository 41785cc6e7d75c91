#pragma once

#include <cstdint>
#include <map>
#include <string>
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
  std::vector<bool> rotates, slides;      ///< by layer: whether it has the rotation, the window
  int64_t window = 0;                     ///< tokens; 0: none
  int64_t n_position = 0;                 ///< rows of a learned table
  std::string text;                       ///< the expression, for messages
};

/// NoClass, naming the term or the argument, for what no class has.
ExportedEncoding exported_encoding(const ModelConfig& model);

}  // namespace farfield::hub
