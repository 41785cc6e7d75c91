#pragma once
// Small models with random weights, for our own class for transformers: every encoding, terms
// together, and every part of an architecture.

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apps/hub/encoding_tables.h"
#include "layers/transformer.h"
#include "posenc/registry.h"
#include "tests/support/random_tensor.h"

namespace farfield::hub {

struct OwnClassCase {
  std::string name;
  ModelConfig model;
};

inline ModelConfig small_model(const std::string& posenc) {
  return {.n_layer = 3,
          .n_head = 4,
          .d_model = 32,
          .d_ff = 48,
          .vocab_size = 61,
          .train_len = 16,
          .posenc = posenc};
}

inline std::vector<OwnClassCase> own_class_cases() {
  std::vector<OwnClassCase> all;
  for (const posenc::Row& row : posenc::registry())
    all.push_back({row.name, small_model(posenc::example_of(row))});
  int n_composition = 0;
  for (const char* posenc : {"rope + window(7)",
                             "rope@0..-2 + window(6)@0..-2 + log_n@-1",
                             "rope@0 + kerple_log@1..2",
                             "rope(layout=interleaved, rotary_pct=0.5, base=50)",
                             "kernel(weight=exp(-r1*d), r1>0~U(0,1)) + kerple_power",
                             "kernel(bias=-r1*log(1+r2*d), weight=exp(-r3*d^2), r1>0~U(0,2), "
                             "r2>0~U(0,1), r3>0~U(0,1)) + rope",
                             "kerple_log(share=layer) + gauss_wht1 + alibi",
                             "landmark(block=3) + alibi + gauss_wht1 + rope",
                             "relu_attention + sandwich + rope",
                             "relu_attention(by=seqlen) + window(6, sinks=2) + kerple_log",
                             "relu_attention(by=none) + window(5) + t5",
                             "logit_clamp(tau=1, mode=absolute) + kerple_log",
                             "logit_clamp(tau=2) + rope + gauss_wht2",
                             "linear_attention + gauss_wht1",
                             "linear_attention + window(6)",
                             "only_distances([0, 2, 9]) + rope",
                             "streaming(recent=5) + alibi",
                             "self_extend(group=2, window=4) + kerple_log",
                             "self_extend(group=3, window=4, shift=real) + bias_wht",
                             "leaky_rerope(w=5, k=3, layout=interleaved) + t5",
                             "lm_infinite(n_local=6, n_global=2) + sandwich",
                             "fire + rope + window(9)",
                             "block_repeat(repeat=3) + alibi + rope",
                             "randomized + kerple_log + rope",
                             "rope_yarn(scale=auto) + log_n(mode=raw)",
                             "rope_linear(scale=auto) + kerple_log",
                             "xpos + window(6, sinks=1)",
                             "sinusoidal + alibi",
                             "modulo + rope"})
    all.push_back({concat("composed_", n_composition++), small_model(posenc)});

  const auto add = [&](const std::string& name, const std::string& posenc, const auto& change) {
    ModelConfig model = small_model(posenc);
    change(model);
    all.push_back({name, model});
  };
  const auto llama = [](ModelConfig& m) {
    m.norm = NormKind::rms;
    m.activation = MlpActivation::swiglu;
    m.has_qkv_bias = m.has_dense_bias = m.has_mlp_bias = false;
    m.n_kv_head = 2;
  };
  add("llama", "kerple_log + rope", llama);
  add("llama_heads", "xpos + bias_wht + window(8)", [&](ModelConfig& m) {
    llama(m);
    m.n_kv_head = 1;
    m.d_head = 12;
    m.has_mlp_bias = m.has_dense_bias = true;
  });
  add("parallel", "t5 + rerope", [](ModelConfig& m) {
    m.is_parallel = m.has_embedding_norm = m.ties_embedding = true;
    m.activation = MlpActivation::relu;
  });
  add("tanh", "sandwich_learned + landmark(block=4)", [](ModelConfig& m) {
    m.activation = MlpActivation::gelu_tanh;
    m.has_norm_bias = m.has_qkv_bias = false;
    m.n_kv_head = 2;
  });
  add("scaled", "alibi", [](ModelConfig& m) {
    m.scales_embedding = true;
    m.has_final_norm = false;
  });
  add("sinusoidal_scaled", "sinusoidal", [](ModelConfig& m) { m.scales_embedding = true; });
  add("adaptive", "kerple_log", [](ModelConfig& m) {
    m.cutoffs = {20, 40};
    m.activation = MlpActivation::relu;
    m.scales_embedding = true;
  });
  return all;
}

/// Weights by their names in checkpoints, so large that every part shows in the logits.
inline std::map<std::string, Tensor> random_weights(const ModelConfig& model) {
  auto shaken = [seed = uint64_t{100}](const Parameter& p, double width) mutable {
    const std::vector<double> noise =
        random_tensor(p.value.shape(), ++seed, -width, width).to_vector();
    std::vector<double> values = p.value.to_vector();
    for (size_t i = 0; i < noise.size(); ++i) values[i] += noise[i];
    return Tensor::from(values, p.value.shape(), DType::f32);
  };
  const Transformer made(model, /*seed=*/1);
  std::map<std::string, Tensor> weights;
  for (const Parameter& p : made.parameters())
    if (!posenc::parameter_of(p.name)) weights.emplace(p.name, shaken(p, 0.4));
  posenc::Composition encoding = encoding_of(model);
  for (Parameter p : encoding.parameters()) p.value.assign(shaken(p, 0.3));
  encoding.project();
  for (const Parameter& p : encoding.parameters())
    weights.emplace(posenc::checkpoint_name(p.name), p.value);
  return weights;
}

}  // namespace farfield::hub
