#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/hub/weight_names.h"
#include "engine/shape.h"
#include "layers/config.h"

namespace farfield::hub {

/// Rows of one of their tensors that are rows of one of ours.
struct RowPair {
  std::string tensor;  ///< theirs
  int64_t theirs = 0, ours = 0, n = 0;
};

/// A tensor of our model, and where its rows lie in the files of a family.
struct WeightPair {
  std::string ours;
  Shape shape;                 ///< [rows] or [rows, columns]
  std::vector<RowPair> rows;   ///< all of them, in our order
  bool is_linear = false;      ///< the weight of a linear layer: WeightNames::is_transposed
  bool stays_float32 = false;  ///< whatever type an export has

  /// The names of their tensors, in the order in which our rows come to them.
  std::vector<std::string> tensors() const;
  /// The shape of one of them, if it is not transposed.
  Shape shape_of(const std::string& tensor) const;
};

/// All tensors of a model, in our order. `prefix`: of their names; n_position: rows of learned
/// positions.
std::vector<WeightPair> weight_pairs(const ModelConfig& model, const WeightNames& names,
                                     const std::string& prefix, int64_t n_position);

}  // namespace farfield::hub
