#pragma once

#include <cstdint>
#include <vector>

#include "engine/tensor.h"

namespace farfield {

/// The ids of a list that lie in one band of the vocabulary.
struct IdsOfBand {
  Tensor ids;   ///< int32 [n], counted from the band's first; undefined where n is 0
  Tensor rows;  ///< int32 [n], their places in the list; undefined where n is 0
  int64_t size() const { return ids.defined() ? ids.numel() : 0; }
};

/// A list of ids taken apart.
struct BandedIds {
  std::vector<IdsOfBand> bands;
  /// int32 [N]: where each of the list is when the bands follow each other.
  Tensor order;
  /// int32 [N]: an id of the first band as it is, and c + b - 1 for one of band b = 1, 2, ..., c
  /// the size of the first band.
  Tensor classes;
};

/// Takes int32 ids of N elements apart at cutoffs, the ids at which bands 1, 2, ... begin. What
/// comes out lies where the ids do; they are read on the host, so a device is waited for.
/// Throws    ShapeError for an id outside 0 .. vocab_size - 1
BandedIds split_by_band(const Tensor& ids, const std::vector<int64_t>& cutoffs, int64_t vocab_size);

/// Rows of x [N, D], out of and into its own dtype: [n, D]. Differentiable.
Tensor take_rows(const Tensor& x, const Tensor& rows);

}  // namespace farfield
