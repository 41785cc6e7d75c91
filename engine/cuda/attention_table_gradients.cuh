#pragma once
// Gradients of tables by distance, in the backward pass over keys: a block sums those of all of its
// tiles, diagonal by diagonal, for up to three tables.

#include "engine/cuda/attention_diagonals.cuh"
#include "engine/cuda/attention_scores.cuh"

namespace farfield::attention_cuda {

/// [H, blocks of a head, S] for bias, weight and the features of the row bias; null: not wanted.
struct TableSlices {
  float *bias = nullptr, *weight = nullptr, *feature = nullptr;

  FARFIELD_HD bool any() const { return bias || weight || feature; }
};

/// What a thread holds of a tile's diagonals, for each table.
template <class S>
struct TableParts {
  DiagonalParts<S> bias, weight, feature;
};

/// The sums of a block, each in its slice. kMade: which; unknown: those that have a slice, of
/// features if kHasFeature; feature: of these, if they have one.
template <class S, Tables kMade, bool kHasFeature>
class TableGradients {
 public:
  __device__ void start() {
    bias_.start();
    weight_.start();
    feature_.start();
  }
  /// A tile whose query 0 and key 0 are at distance `offset`, of n_key keys.
  __device__ void add(const TableParts<S>& parts, int offset, const TableSlices& slices, int n_key,
                      DiagonalShared<S>& shared) {
    const bool has_bias = has<kMade, Tables::bias>(slices.bias);
    const bool has_weight = has<kMade, Tables::weight>(slices.weight);
    if (has_bias) bias_.add(parts.bias, offset, slice_of(slices.bias, n_key), shared);
    if (has_weight) {
      if (has_bias) __syncthreads();  // the parts have been read
      weight_.add(parts.weight, offset, slice_of(slices.weight, n_key), shared);
    }
    if (kHasFeature && slices.feature) {
      if (has_bias || has_weight) __syncthreads();
      feature_.add(parts.feature, offset, slice_of(slices.feature, n_key), shared);
    }
  }
  __device__ void finish(int offset, const TableSlices& slices, int n_key) const {
    if (has<kMade, Tables::bias>(slices.bias)) bias_.finish(offset, slice_of(slices.bias, n_key));
    if (has<kMade, Tables::weight>(slices.weight))
      weight_.finish(offset, slice_of(slices.weight, n_key));
    if (kHasFeature && slices.feature) feature_.finish(offset, slice_of(slices.feature, n_key));
  }

 private:
  // Of this block.
  __device__ static DiagonalSlice slice_of(float* slices, int n_key) {
    const int64_t slice = static_cast<int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
    return DiagonalSlice{slices + slice * n_key, n_key};
  }

  DiagonalSums<S> bias_, weight_, feature_;
};

}  // namespace farfield::attention_cuda
