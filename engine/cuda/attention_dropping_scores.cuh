#pragma once
// Scores beside which P is dropped.

#include "engine/cuda/attention_plain_scores.cuh"

namespace farfield::attention_cuda {

/// Scores of any kind where P is dropped: kernels of their own, so that the others have their
/// registers. A block makes the mask of a tile once for all of its warps.
template <class Scores>
class DroppingScores : public Scores {
 public:
  static constexpr bool kDrops = true;
  static constexpr int kGroup = DropoutMask::kGroup;
  struct alignas(16) Shared {
    typename Scores::Shared scores;
    /// Which pairs of a tile stay: bit j % kGroup of a query and key j.
    uint8_t kept[Scores::kIsGeneral ? kTile : 2 * kTile][kTile / kGroup];
  };

  template <class T>
  __device__ DroppingScores(const Problem<T>& p, const Head& head)
      : Scores(p, head),
        mask_(p.mask),
        head_(p.index_of(head)),
        scale_(static_cast<float>(p.mask.scale())) {}

  /// By all threads, who wait for each other then.
  __device__ void load(Shared& shared, int query, int n_query, int key, int n_key) const {
    Scores::load(shared.scores, query, n_query, key, n_key);
    const int n_group = n_key / kGroup, to_next = static_cast<int>(mask_.n_group());
    const int64_t first = mask_.group_at(head_, query, key / kGroup);
#pragma unroll 1
    for (int x = thread_read_anew(); x < n_query * n_group; x += kBlock) {
      const int i = x / n_group, group = x % n_group;
      const PhiloxBlock bits = mask_.bits(first + (int64_t{i} * to_next + group));
      unsigned kept = 0;
#pragma unroll
      for (int j = 0; j < kGroup; ++j) kept |= static_cast<unsigned>(mask_.keeps(bits, j)) << j;
      shared.kept[i][group] = static_cast<uint8_t>(kept);
    }
  }
  __device__ void start_tile(const Shared& shared, int query, int n_query, int key, int n_key) {
    dropped_ = &shared;
    Scores::start_tile(shared.scores, query, n_query, key, n_key);
  }
  /// The dropout factor of a pair's P.
  __device__ float kept(int i, int j) const {
    return dropped_->kept[i][j / kGroup] >> j % kGroup & 1 ? scale_ : 0;
  }

 private:
  const AttentionMask& mask_;
  int head_;
  float scale_;
  const Shared* dropped_ = nullptr;
};

}  // namespace farfield::attention_cuda
