#pragma once
// Gradients of tables by distance, in the backward pass over keys: a block sums the gradients of
// all its tiles, diagonal by diagonal, for up to three tables.

#include "engine/cuda/attention_diagonals.cuh"
#include "engine/cuda/attention_scores.cuh"

namespace farfield::attention_cuda {

/// [H, blocks of a head, S] for bias, weight and the features of the row bias; null: not wanted.
struct TableSlices {
  float *bias = nullptr, *weight = nullptr, *feature = nullptr;

  FARFIELD_HD bool any() const { return bias || weight || feature; }
};

/// A thread's sums of a tile's diagonals, for each table.
template <class S>
struct TableParts {
  DiagonalParts<S> bias, weight, feature;
};

/// The sums of a block, each in its slice. kMade: the tables that it sums; unknown: the tables that
/// have a slice. Features may have no slice in any case. Each sum has its own shared memory, which
/// saves barriers; with kInTurn they use the same memory one after the other.
template <class S, Tables kMade, bool kInTurn>
class TableGradients {
  static_assert(kInTurn || kMade != Tables::unknown);
  static constexpr bool kHasBias = !kInTurn && includes(kMade, Tables::bias);
  static constexpr bool kHasWeight = !kInTurn && includes(kMade, Tables::weight);
  static constexpr bool kHasFeature = kMade == Tables::feature;

 public:
  static constexpr int kRegions = kHasBias && kHasWeight ? 2 : 1;
  using Shared = DiagonalShared<S>[kRegions];

  __device__ static void clear(Shared& shared) {
    for (auto& of_table : shared) of_table.clear();
  }
  __device__ void start() {
    bias_.start();
    weight_.start();
    feature_.start();
  }
  /// The parts of a tile, as soon as there are all, since they take registers. By all threads, when
  /// all are done with the tile before.
  __device__ static void put(const TableParts<S>& parts, const TableSlices& slices, Shared& shared,
                             int thread) {
    if constexpr (kHasBias) shared[0].put(parts.bias, thread);
    if constexpr (kHasWeight) shared[kRegions - 1].put(parts.weight, thread);
    if constexpr (kHasFeature)
      if (slices.feature) shared[0].put(parts.feature, thread);
  }
  /// Adds this tile, of n_key keys, its query 0 and key 0 at distance `offset`. By all threads.
  __device__ void add(const TableParts<S>& parts, int offset, const TableSlices& slices, int n_key,
                      Shared& shared) {
    const auto thread = static_cast<int>(threadIdx.x);
    if constexpr (kInTurn) {
      bool is_first = true;
      const auto add_one = [&](DiagonalSums<S>& sums, const DiagonalParts<S>& own, float* slice) {
        if (!slice) return;
        if (!is_first) __syncthreads();  // the parts have been read
        is_first = false;
        shared[0].put(own, thread);
        __syncthreads();
        sums.add(shared[0], offset, slice_of(slice, n_key), thread);
      };
      add_one(bias_, parts.bias, slices.bias);
      add_one(weight_, parts.weight, slices.weight);
      add_one(feature_, parts.feature, slices.feature);
    } else {
      __syncthreads();
      add_put(offset, slices, n_key, shared, thread);
    }
  }
  /// The same of parts that all have put, unless kInTurn.
  __device__ void add_put(int offset, const TableSlices& slices, int n_key, const Shared& shared,
                          int thread) {
    if constexpr (!kInTurn) {
      if constexpr (kHasBias) bias_.add(shared[0], offset, slice_of(slices.bias, n_key), thread);
      if constexpr (kHasWeight)
        weight_.add(shared[kRegions - 1], offset, slice_of(slices.weight, n_key), thread);
      if constexpr (kHasFeature)
        if (slices.feature)
          feature_.add(shared[0], offset, slice_of(slices.feature, n_key), thread);
    }
  }
  /// After the last tile of some keys, if there was one, with its offset.
  __device__ void finish(int offset, const TableSlices& slices, int n_key) const {
    const auto thread = static_cast<int>(threadIdx.x);
    if (has<kMade, Tables::bias>(slices.bias))
      bias_.finish(offset, slice_of(slices.bias, n_key), thread);
    if (has<kMade, Tables::weight>(slices.weight))
      weight_.finish(offset, slice_of(slices.weight, n_key), thread);
    if ((kHasFeature || kMade == Tables::unknown) && slices.feature)
      feature_.finish(offset, slice_of(slices.feature, n_key), thread);
  }

 private:
  // The slice of this block.
  __device__ static DiagonalSlice slice_of(float* slices, int n_key) {
    const int64_t slice = static_cast<int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
    return DiagonalSlice{slices + slice * n_key, n_key};
  }

  DiagonalSums<S> bias_, weight_, feature_;
};

}  // namespace farfield::attention_cuda
