#pragma once

#include <string>

#include "layers/transformer.h"
#include "tests/support/random_tensor.h"

namespace farfield {

/// Sizes that differ from each other, so that a mix-up shows.
inline ModelConfig tiny_config(const std::string& posenc) {
  return {.n_layer = 2,
          .n_head = 2,
          .d_model = 8,
          .d_ff = 12,
          .vocab_size = 13,
          .train_len = 9,
          .posenc = posenc};
}

/// The tensors of the model and of its adapters.
inline std::vector<Parameter> with_adapters(const Transformer& model) {
  std::vector<Parameter> all = model.parameters();
  for (const Parameter& p : model.trained_parameters())
    if (p.name.find(".lora_") != std::string::npos) all.push_back(p);
  return all;
}

/// Adds uniform noise to every parameter, so that no gradient is small or zero by symmetry. The
/// encoding's own keep their initial values, which lie inside their bounds.
inline void shake(const Transformer& model, double width = 0.4) {
  uint64_t seed = 100;
  for (Parameter p : with_adapters(model)) {
    if (p.name.find("position_bias") != std::string::npos) continue;
    const std::vector<double> noise =
        random_tensor(p.value.shape(), ++seed, -width, width).to_vector();
    dispatch_float(p.value.dtype(), [&](auto type) {
      using T = decltype(type);
      T* const data = p.value.data<T>();
      for (size_t i = 0; i < noise.size(); ++i)
        data[i] = static_cast<T>(static_cast<double>(data[i]) + noise[i]);
    });
  }
}

}  // namespace farfield
