#include "apps/hub/class_fit.h"

#include <algorithm>

namespace farfield::hub {

bool is_on_all_layers(const std::vector<bool>& layers, bool value) {
  return std::find(layers.begin(), layers.end(), !value) == layers.end();
}

bool ClassFit::needs(bool fits, const std::string& has) {
  if (!fits) obstacles.push_back(has);
  return fits;
}

void ClassFit::needs_layer_norm(bool has_bias) {
  if (needs(model.norm == NormKind::layer, "RMS norm"))
    needs(model.has_norm_bias == has_bias,
          model.has_norm_bias ? "layer norm with biases" : "layer norm without biases");
}

void ClassFit::needs_activation(const std::vector<MlpActivation>& known) {
  const char* has = "GELU";
  if (model.activation == MlpActivation::gelu_tanh) has = "GELU by tanh";
  if (model.activation == MlpActivation::relu) has = "ReLU";
  if (model.activation == MlpActivation::swiglu) has = "SwiGLU";
  needs(std::find(known.begin(), known.end(), model.activation) != known.end(), has);
}

void ClassFit::needs_embedding_norm(bool has_one) {
  needs(model.has_embedding_norm == has_one,
        has_one ? "no norm behind the embedding" : "a norm behind the embedding");
}

void ClassFit::needs_sequential_blocks() {
  needs(!model.is_parallel, "parallel attention and MLP");
}

void ClassFit::needs_llama_blocks() {
  needs(model.norm == NormKind::rms, "layer norm");
  needs_activation({MlpActivation::swiglu});
  needs_embedding_norm(false);
  needs_sequential_blocks();
}

void ClassFit::needs_plain_heads() {
  needs(model.heads().n_kv_head == model.n_head, "grouped queries");
  needs(model.head_dim() * model.n_head == model.d_model, "a head_dim of its own");
}

void ClassFit::needs_biases(bool qkv, bool dense, bool mlp) {
  needs(qkv == model.has_qkv_bias,
        model.has_qkv_bias ? "biases of q, k and v" : "no biases of q, k and v");
  needs(dense == model.has_dense_bias,
        model.has_dense_bias ? "a bias behind attention" : "no bias behind attention");
  needs(mlp == model.has_mlp_bias,
        model.has_mlp_bias ? "biases in the MLP" : "no biases in the MLP");
}

void ClassFit::needs_inner_width() {
  needs(model.d_ff == 4 * model.d_model, "d_ff other than 4 d_model");
}

void ClassFit::needs_encoding(ExportedEncoding::Kind kind) {
  needs(encoding.kind == kind && encoding.window == 0, encoding.text);
}

void ClassFit::needs_rotation_everywhere() {
  const bool may_rotate = encoding.kind == ExportedEncoding::Kind::rotary ||
                          encoding.kind == ExportedEncoding::Kind::none;
  needs(!may_rotate || is_on_all_layers(encoding.rotates, true), "layers without rotation");
}

}  // namespace farfield::hub
