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

/// A list of ids, split into bands.
struct BandedIds {
  std::vector<IdsOfBand> bands;
  /// int32 [N]: where each of the list is when the bands follow each other.
  Tensor order;
  /// int32 [N]: an id of the first band unchanged, and c + b - 1 for an id of band b = 1, 2, ...,
  /// with c the size of the first band.
  Tensor classes;
};

/// Splits int32 ids [N] at cutoffs, the ids at which bands 1, 2, ... begin. The results are on the
/// device of the ids; the host reads the ids, so it waits for the device.
/// Throws    ShapeError for an id outside 0 .. vocab_size - 1
BandedIds split_by_band(const Tensor& ids, const std::vector<int64_t>& cutoffs, int64_t vocab_size);

/// Rows of x [N, D], out of and into its own dtype: [n, D]. Differentiable.
Tensor take_rows(const Tensor& x, const Tensor& rows);

}  // namespace farfield
