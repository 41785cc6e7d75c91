#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/hub/class_config.h"
#include "apps/run/checkpoint.h"
#include "layers/config.h"

namespace farfield::hub {

/// The name of our own class, in modeling_farfield.py.
inline constexpr const char* kOwnClass = "FarfieldForCausalLM";

/// The files of our own class for transformers, by name: modeling_farfield.py and
/// configuration_farfield.py.
const std::vector<std::pair<std::string, std::string>>& own_class_files();

/// ConfigError for a model that our own class does not compute, and for a length that its encoding
/// does not reach. Values of the encoding do not matter.
void require_own_class(const ModelConfig& model, std::optional<int64_t> length);

/// A model as our own class has it.
struct OwnModel {
  std::string config;         ///< config.json
  run::NamedTensors tensors;  ///< the weights, and the tables of the encoding
  int64_t n_parameter = 0;    ///< without the tables
  int64_t length = 0;         ///< tokens that the tables reach
  std::vector<std::string> remarks = {};
};

struct OwnClassRequest {
  ConfigNotes notes = {};
  std::optional<int64_t> length = {};  ///< as ExportRequest::length
  uint64_t seed = 1;                   ///< of the run, for encodings that draw
  std::string where = {};              ///< the run, for messages
};

/// Makes it of the weights, which are let go. Throws as require_own_class() and export_weights().
OwnModel own_class(const ModelConfig& model, std::map<std::string, Tensor> weights,
                   const OwnClassRequest& request);

}  // namespace farfield::hub
