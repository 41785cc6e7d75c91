#pragma once

#include <string>
#include <vector>

#include "apps/hub/exported_encoding.h"
#include "layers/config.h"

namespace farfield::hub {

/// Compares a model with what a class of the transformers library has, part by part. Both have to
/// outlive this.
struct ClassFit {
  const ModelConfig& model;
  const ExportedEncoding& encoding;
  /// What the model has otherwise than the class: "grouped queries". None: the class computes it.
  std::vector<std::string> obstacles = {};

  /// Unless it fits, `has` is an obstacle. Returns whether it fits.
  bool needs(bool fits, const std::string& has);
  void needs_layer_norm(bool has_bias);
  void needs_activation(const std::vector<MlpActivation>& known);
  void needs_embedding_norm(bool has_one);
  void needs_sequential_blocks();
  void needs_llama_blocks();  ///< RMS norm and SwiGLU, one behind the other
  /// Heads of d_model / n_head components, as many of keys as of queries.
  void needs_plain_heads();
  void needs_biases(bool qkv, bool dense, bool mlp);
  void needs_inner_width();  ///< 4 d_model
  void needs_encoding(ExportedEncoding::Kind kind);
  /// A rotation, if that is the encoding, on all layers.
  void needs_rotation_everywhere();
};

/// Whether each layer has this value.
bool is_on_all_layers(const std::vector<bool>& layers, bool value);

}  // namespace farfield::hub
