#pragma once

#include "layers/adaptive_input.h"
#include "layers/dropout.h"

namespace farfield {

/// A softmax over a large vocabulary in two steps, tied to an adaptive input: the head chooses an
/// id of the first band or one of the other bands, and then the tail of that band chooses one of
/// its ids. The head's weights are the first band's embeddings, without their projection, and one
/// extra row for each tail. A tail's weights are its band's embeddings; its input is x times its
/// band's projection.
///     log p(id of band b > 0) = log p_head(b) + log p_tail(id)
/// Source    Grave et al. 2017, "Efficient softmax approximation for GPUs", arXiv:1609.04309; tied
///           as Baevski and Auli 2019, arXiv:1809.10853, section 3
struct AdaptiveSoftmax {
  AdaptiveInput input;      ///< shares its tensors
  Tensor clusters;          ///< [number of tails, D]; none without a tail
  double tail_dropout = 0;  ///< of a projected x, in training

  /// Rows of the tails Xavier uniform.
  static AdaptiveSoftmax make(const Initializer& init, const std::string& name,
                              const AdaptiveInput& input, const ModelConfig& config);
  /// Mean negative log likelihood of targets, int32 [N], after x [N, D]: scalar. Each tail is
  /// computed for the targets that are its own. `drop` says which masks; its shares do not matter.
  Tensor loss(const Tensor& x, const Tensor& targets, const LayerDropout& drop) const;
  /// The same of each row, without dropout: [N]. Not differentiable.
  Tensor nll(const Tensor& x, const Tensor& targets) const;
  /// log p of all ids, [..., D] -> [..., V].
  Tensor log_probabilities(const Tensor& x) const;
  void visit(const std::string& name, const Visit& f) const;

 private:
  Tensor head_weight() const;                          // [c, D]
  Tensor project(const Tensor& x, size_t band) const;  // [N, D] -> [N, d]
};

}  // namespace farfield
