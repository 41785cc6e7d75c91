#include "layers/adaptive_input.h"

#include <cmath>

#include "engine/ops/embedding.h"
#include "engine/ops/matmul.h"
#include "engine/ops/view.h"

namespace farfield {

AdaptiveInput AdaptiveInput::make(const Initializer& init, const std::string& name,
                                  const ModelConfig& config) {
  AdaptiveInput input{.bands = {}, .cutoffs = config.cutoffs, .vocab_size = config.vocab_size};
  for (int64_t i = 0; i < config.n_band(); ++i) {
    const int64_t d = config.band_width(i);
    const std::string band = concat(name, ".bands.", i);
    const double std = 1 / std::sqrt(static_cast<double>(d));
    input.bands.push_back(
        {.embedding = init.normal(band + ".weight", {config.band_size(i), d}, std),
         .projection = init.uniform(band + ".projection.weight", {config.d_model, d},
                                    xavier_bound(d, config.d_model))});
  }
  return input;
}

Tensor AdaptiveInput::operator()(const Tensor& ids, DType dtype) const {
  const BandedIds banded = split_by_band(ids, cutoffs, vocab_size);
  std::vector<Tensor> parts;
  for (size_t i = 0; i < bands.size(); ++i)
    if (banded.bands[i].size() > 0)
      parts.push_back(
          linear(embedding(bands[i].embedding, banded.bands[i].ids, dtype), bands[i].projection));
  const Tensor all = parts.size() == 1 ? parts[0] : take_rows(concat(parts, 0), banded.order);
  return reshape(all, {ids.dim(0), ids.dim(1), all.dim(1)});
}

void AdaptiveInput::visit(const std::string& name, const Visit& f) const {
  for (size_t i = 0; i < bands.size(); ++i) {
    const std::string band = concat(name, ".bands.", i);
    f({.name = band + ".weight",
       .value = bands[i].embedding,
       .decay = true,
       .is_rounded = i > 0});  // by the adaptive softmax: the first embedding is a part of its head
    f({.name = band + ".projection.weight",
       .value = bands[i].projection,
       .decay = true,
       .is_rounded = true});
  }
}

}  // namespace farfield
