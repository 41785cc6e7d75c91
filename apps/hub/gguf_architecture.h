#pragma once

#include <string>

#include "apps/hub/exported_encoding.h"
#include "apps/hub/gguf_writer.h"
#include "layers/config.h"

namespace farfield::hub {

/// What exported_encoding() says of them.
inline constexpr EncodingReaders kGgufArchitectures = {
    "architecture of llama.cpp", "rope, rope_linear, rope_yarn or rope_llama3"};

/// An architecture of llama.cpp.
struct GgufArchitecture {
  std::string name;  ///< general.architecture: "llama"
  /// Components (2i, 2i + 1) of a head turn together, not (i, i + head_dim/2) as here.
  bool turns_neighbours = false;
  bool has_head = false;  ///< a matrix of the head even where it is the embedding's
};

/// The one that computes a model with this encoding. ConfigError that says of each what the model
/// has otherwise, if there is none.
GgufArchitecture gguf_architecture(const ModelConfig& model, const ExportedEncoding& encoding);

/// The pairs that describe the model.
void add_gguf_model(const GgufArchitecture& architecture, const ModelConfig& model,
                    const ExportedEncoding& encoding, GgufMetadata& to);

}  // namespace farfield::hub
