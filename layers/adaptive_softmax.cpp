#include "layers/adaptive_softmax.h"

#include <cmath>

#include "engine/ops/cross_entropy.h"
#include "engine/ops/dropout.h"
#include "engine/ops/matmul.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/softmax.h"
#include "engine/ops/view.h"

namespace farfield {

AdaptiveSoftmax AdaptiveSoftmax::make(const Initializer& init, const std::string& name,
                                      const AdaptiveInput& input, const ModelConfig& config) {
  const int64_t n_tail = config.n_band() - 1, d = config.d_model;
  return {.input = input,
          .clusters = init.uniform(name + ".clusters.weight", {n_tail, d}, xavier_bound(d, n_tail)),
          .tail_dropout = config.tail_dropout};
}

Tensor AdaptiveSoftmax::head_weight() const {
  return concat({input.bands[0].embedding, clusters}, 0);
}

Tensor AdaptiveSoftmax::project(const Tensor& x, size_t band) const {
  return linear(x, permute(input.bands[band].projection, {1, 0}));
}

Tensor AdaptiveSoftmax::loss(const Tensor& x, const Tensor& targets,
                             const LayerDropout& drop) const {
  const BandedIds banded = split_by_band(targets, input.cutoffs, input.vocab_size);
  Tensor total = linear_cross_entropy(x, head_weight(), banded.classes);
  for (size_t i = 1; i < input.bands.size(); ++i) {
    const IdsOfBand& tail = banded.bands[i];
    if (tail.size() == 0) continue;
    const Tensor own = dropout(project(take_rows(x, tail.rows), i), tail_dropout,
                               drop.random(concat("tail ", i, " from ", drop.first)));
    const double share = static_cast<double>(tail.size()) / static_cast<double>(x.dim(0));
    total = total + linear_cross_entropy(own, input.bands[i].embedding, tail.ids) * share;
  }
  return total;
}

Tensor AdaptiveSoftmax::nll(const Tensor& x, const Tensor& targets) const {
  const BandedIds banded = split_by_band(targets, input.cutoffs, input.vocab_size);
  const Tensor head = linear_nll(x, head_weight(), banded.classes);
  // The tail loss of each target in the order of the bands: 0 for the first band, then the losses
  // of the tails.
  std::vector<Tensor> parts;
  for (size_t i = 0; i < input.bands.size(); ++i) {
    const IdsOfBand& band = banded.bands[i];
    if (band.size() == 0) continue;
    parts.push_back(i == 0 ? Tensor::zeros({band.size()}, head.dtype(), head.device())
                           : linear_nll(project(take_rows(x, band.rows), i),
                                        input.bands[i].embedding, band.ids));
  }
  const Tensor tails = concat(parts, 0);
  return head + take_rows(tails.view({tails.numel(), 1}), banded.order).view({tails.numel()});
}

Tensor AdaptiveSoftmax::log_probabilities(const Tensor& x) const {
  const Tensor head = log_softmax(linear(x, head_weight()));
  const int last = x.rank() - 1;
  const int64_t n_first = input.bands[0].embedding.dim(0);
  std::vector<Tensor> parts{slice(head, last, 0, n_first)};
  for (size_t i = 1; i < input.bands.size(); ++i) {
    const int64_t cluster = n_first + static_cast<int64_t>(i) - 1;
    parts.push_back(log_softmax(linear(project(x, i), input.bands[i].embedding)) +
                    slice(head, last, cluster, cluster + 1));
  }
  return concat(parts, last);
}

void AdaptiveSoftmax::visit(const std::string& name, const Visit& f) const {
  f({.name = name + ".clusters.weight", .value = clusters, .decay = true});
}

}  // namespace farfield
