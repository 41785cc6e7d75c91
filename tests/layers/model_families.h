#pragma once

#include <string>
#include <utility>
#include <vector>

#include "layers/config.h"

namespace farfield {

/// The parts of well-known models, of the sizes of `base`, whose heads come in groups of two.
inline std::vector<std::pair<std::string, ModelConfig>> model_families(const ModelConfig& base) {
  std::vector<std::pair<std::string, ModelConfig>> all;
  const auto add = [&](const char* name, const char* posenc) -> ModelConfig& {
    all.emplace_back(name, base);
    all.back().second.posenc = posenc;
    return all.back().second;
  };
  for (const char* name : {"llama", "qwen2"}) {
    ModelConfig& llama = add(name, "rope");
    llama.n_kv_head = base.n_head / 2;
    llama.d_head = 6;  // not d_model / n_head
    llama.norm = NormKind::rms;
    llama.activation = MlpActivation::swiglu;
    llama.has_dense_bias = llama.has_mlp_bias = false;
    llama.has_qkv_bias = all.size() == 2;
    llama.ties_embedding = all.size() == 1;
  }
  ModelConfig& neox = add("gpt_neox", "rope(rotary_pct=0.5)");
  neox.d_head = 4;
  neox.is_parallel = true;
  neox.activation = MlpActivation::gelu_tanh;
  ModelConfig& bloom = add("bloom", "alibi");
  bloom.has_embedding_norm = bloom.ties_embedding = true;
  bloom.activation = MlpActivation::gelu_tanh;
  ModelConfig& mpt = add("mpt", "alibi");
  mpt.has_norm_bias = mpt.has_qkv_bias = mpt.has_dense_bias = mpt.has_mlp_bias = false;
  mpt.ties_embedding = true;
  ModelConfig& gpt2 = add("gpt2", "learned_abs");
  gpt2.activation = MlpActivation::gelu_tanh;
  gpt2.ties_embedding = true;
  return all;
}

}  // namespace farfield
