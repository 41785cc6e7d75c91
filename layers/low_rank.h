#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "layers/adapter_config.h"
#include "layers/dropout.h"
#include "layers/init.h"
#include "layers/module.h"

namespace farfield {

/// An update of a linear layer with few parameters, which starts at zero:
///   y += scale up(down(dropout(x))), down [r, in], up [out, r]
/// With magnitudes m [out] the rows of the sum have these lengths (DoRA):
///   y = m / |w + scale up down| (w x + scale up(down(dropout(x))))
/// The lengths |.| of the rows follow up and down, but count as constants in the gradient.
/// A layer whose output has several parts, as the QKV projection has, gets an adapter for each part
/// that is named; together they are one adapter of a larger rank.
///
/// With tensor parallelism, up is sharded as the outputs of the layer are, or down as its inputs.
/// Source    Hu et al. 2021, "LoRA", arXiv:2106.09685, section 4.1; rank-stabilised scale:
///           Kalajdzievski 2023, arXiv:2312.03732; magnitudes: Liu et al. 2024, "DoRA",
///           arXiv:2402.09353, sections 4.1 and 4.3
struct LowRank {
  struct Part {
    std::string name;  ///< "q"; "" for the only part of a layer
    int64_t index = 0;
    Tensor down;  ///< [r, in]
    Tensor up;    ///< [outputs of the part, r]
  };
  std::vector<Part> parts;  ///< none: no adapter
  /// Of several parts, adapted or not: outputs are laid out as [group][part][rows of the part], and
  /// these are the rows. Empty: the output is one part.
  std::vector<int64_t> part_rows = {};
  double scale = 1;
  Tensor magnitude = {};  ///< [out], or undefined. Rows of parts without an adapter keep theirs
  Shard shard = {};       ///< of the layer's weight
  Group group = {};

  /// For a layer of shape [out, in]. `names` are the names of its parts, of which the config's
  /// targets choose; one part goes by `names`, too, but has no name in checkpoints.
  static LowRank make(const Initializer& init, const std::string& layer, int64_t in, int64_t out,
                      const AdapterConfig& config, const std::vector<std::string>& names,
                      const std::vector<int64_t>& part_rows, const Shard& shard);

  bool is_empty() const { return parts.empty(); }
  /// Rows of all parts in a group, and rows of part `index` among so many rows of the whole.
  int64_t group_rows() const;
  int64_t of_part(int64_t rows, int64_t index) const;
  int64_t rank() const;  ///< of all parts together
  /// The factors of the update of the whole weight, scale up() down(): [R, in] and [out, R].
  Tensor down() const;
  Tensor up() const;
  /// The update of the outputs before magnitudes: x [..., in] -> [..., out].
  Tensor operator()(const Tensor& x, const LayerDropout& drop, std::string_view place) const;
  /// The weight [out, in] of the layer with the update and the magnitudes.
  Tensor adapted(const Tensor& weight) const;
  /// [out]: magnitude / |row of weight + update|. Its gradient is that of the magnitude.
  Tensor row_factors(const Tensor& weight) const;
  /// Magnitudes that change nothing: the lengths of the rows, for new adapters of a weight.
  void start_magnitudes(const Tensor& weight);
  void visit(const std::string& layer, const Visit& f) const;
};

}  // namespace farfield
