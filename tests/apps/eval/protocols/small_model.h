#pragma once
// Untrained models of two layers on a text of independent tokens, for protocols that look inside.

#include <string>

#include "apps/eval/scorer.h"
#include "tests/apps/eval/protocols/toy_models.h"
#include "tests/layers/tiny_model.h"

namespace farfield::test {

struct SmallModel {
  Transformer model;
  eval::TokenStream text = toy_text(2000);

  /// In float64, with weights so large that inputs matter differently.
  explicit SmallModel(const ModelConfig& config) : model(config, 3, DType::f64) { shake(model); }
  explicit SmallModel(const std::string& posenc) : SmallModel(tiny_config(posenc)) {}

  eval::Subject subject() const { return eval::subject_of(model, {}, text, /*seed=*/5); }
};

/// The sizes of a model with so many heads of width 2.
inline ModelConfig heads_config(const std::string& posenc, int64_t n_head) {
  ModelConfig config = tiny_config(posenc);
  config.n_head = n_head;
  config.d_model = 2 * n_head;
  return config;
}

/// NaN when there is none.
inline double value_of(const eval::LengthResult& cell, const std::string& full_name) {
  for (const eval::Quantity& quantity : cell.quantities)
    if (quantity.full_name() == full_name) return quantity.value;
  return std::nan("");
}

}  // namespace farfield::test
