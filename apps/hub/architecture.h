#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/hub/weight_names.h"
#include "layers/config.h"

namespace farfield::hub {

/// What a config.json says.
struct Architecture {
  std::string family;  ///< its model_type
  ModelConfig model;
  WeightNames names;
  std::optional<int32_t> end_of_text;  ///< eos_token_id
  std::string dtype;                   ///< of its weights; for people
};

/// Reads the config.json of a model of one of the families(). IoError, naming the file and the key,
/// for a value of another type, and for what is not implemented.
Architecture read_architecture(const std::string& file, std::string_view text);

/// The model_types that are read.
std::vector<std::string> families();

}  // namespace farfield::hub
