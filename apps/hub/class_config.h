#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "apps/hub/exported_encoding.h"
#include "engine/dtype.h"
#include "layers/config.h"

namespace farfield::hub {

/// A class of the transformers library that computes a model, and its config.json.
struct ModelClass {
  std::string name;        ///< "GPTNeoXForCausalLM"
  std::string model_type;  ///< one of the families()
  std::string config;      ///< config.json
};

/// What a config.json says beside the model.
struct ConfigNotes {
  DType dtype = DType::f32;  ///< of the weights
  std::optional<int32_t> begin_of_text = {}, end_of_text = {};
};

/// Adds what every config.json says: ids, the type of the weights.
void add_notes(const ModelConfig& model, const ConfigNotes& notes, nlohmann::ordered_json& config);

/// The class for a model with this encoding. NoClass that says of each class what the model
/// has otherwise, if there is none.
ModelClass model_class(const ModelConfig& model, const ExportedEncoding& encoding,
                       const ConfigNotes& notes);

}  // namespace farfield::hub
