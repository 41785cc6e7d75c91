#pragma once

#include <vector>

#include "layers/bands.h"
#include "layers/config.h"
#include "layers/init.h"
#include "layers/module.h"

namespace farfield {

/// Token embeddings whose width falls with the frequency of the token: ids are by falling
/// frequency, and each band of them has a narrower table and a projection to D, without bias.
/// Source    Baevski and Auli 2019, "Adaptive Input Representations for Neural Language Modeling",
///           arXiv:1809.10853, section 3
struct AdaptiveInput {
  struct Band {
    Tensor embedding;   ///< [n, d], n ids of d numbers each
    Tensor projection;  ///< [D, d]
  };
  std::vector<Band> bands;       ///< none: there is no adaptive input
  std::vector<int64_t> cutoffs;  ///< the ids at which bands 1, 2, ... begin
  int64_t vocab_size = 0;

  /// Embeddings N(0, 1 / d), projections Xavier uniform.
  static AdaptiveInput make(const Initializer& init, const std::string& name,
                            const ModelConfig& config);
  /// ids int32 [B, T] -> [B, T, D], computed in dtype. A device is waited for.
  Tensor operator()(const Tensor& ids, DType dtype) const;
  void visit(const std::string& name, const Visit& f) const;
};

}  // namespace farfield
