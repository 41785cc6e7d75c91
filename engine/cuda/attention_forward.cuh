#pragma once
// The forward pass: a block owns a tile of queries of one head and walks the tiles of keys
// that they see.

#include "engine/cuda/attention_forward_rows.cuh"
#include "engine/cuda/context.h"

namespace farfield::attention_cuda {

/// Rows of the tiles: a block's own queries and the keys that it walks.
template <class T, int D, class Scores>
struct ForwardSizes : WarpSizes<D, !Scores::kIsGeneral && D <= 64 ? 2 : 1> {
  static constexpr bool kKeepsReference = false;
  static constexpr int kLoop = kRowBytes<T, D> <= 256 ? 64 : kRowBytes<T, D> <= 512 ? 32 : 16;
};

template <class T, int D, class Scores>
struct ForwardShared {
  static constexpr int kStages = Scores::kIsGeneral ? 1 : 2;  // while one is read, one is loaded
  using S = ForwardSizes<T, D, Scores>;
  static_assert(S::kOwn + S::kLoop <= 3 * kTile, "distances of which a tile has tables");
  using Queries = Tile<T, D, S::kOwn>;
  struct Stage {
    Tile<T, D, S::kLoop> k, v;
  };
  // The block's queries, and later their sums, use the memory of the second stage, if there is one:
  // queries are in registers before the stage is loaded, and sums are complete after it has been
  // read.
  struct AfterStage {
    Stage first;
    Queries q;
  };
  union {
    Stage stages[kStages];
    AfterStage after;
  };
  typename Scores::Shared scores[kStages];
  Queries far_q;  // last: left out without far copies
};

/// As kBlocks, in the forward pass: two groups of rows take more registers, and save enough work.
template <class T, int D, class Scores>
inline constexpr int kForwardBlocks =
    ForwardSizes<T, D, Scores>::kGroups > 1 ? 2 : kBlocks<D, Scores>;

template <class T, int D, class Scores>
__global__ void __launch_bounds__(kBlock, kForwardBlocks<T, D, Scores>)
    attention_forward_kernel(Problem<T> p, ForwardOutputs<T> to) {
  auto& shared = *dynamic_shared<ForwardShared<T, D, Scores>>();
  using S = ForwardSizes<T, D, Scores>;
  const auto own_rows = [&p] { return ForwardItem::of_block<S>(p); };
  const ForwardItem item = own_rows();
  const Head head = item.head;
  const int query = item.query;

  using WarpRows = ForwardRows<T, D, Scores, S>;
  constexpr int kGroups = WarpRows::kGroups;
  constexpr bool kIsPlain = !Scores::kIsGeneral;
  const HeadRows queries = p.rows_of(head, p.n_query), keys = p.template key_rows_of<Scores>(head);
  Scores scores(p, head);
  const TileList tiles = p.template key_tiles<S::kOwn, S::kLoop>(query);
  constexpr bool kHasLoader = kIsPlain && !Scores::kDrops;  // which have no registers for it
  const Rows<const T> all_k = p.rows(p.k, keys, 0), all_v = p.rows(p.v, keys, 0);
  [[maybe_unused]] const TileLoader<T, D> loader(all_k, all_v);
  const auto load_keys = [&](int t, int stage) {
    const int key = tiles.at(t) * S::kLoop;
    auto& tiles_of_stage = shared.stages[stage];
    scores.load(shared.scores[stage], query, S::kOwn, key, S::kLoop);
    if (kHasLoader && all_k.is_aligned && all_v.is_aligned) {
      const int stride = p.row_step * p.head_dim;
      loader.load(tiles_of_stage.k, stride, tiles_of_stage.v, stride, key);
    } else {
      load_tile<kIsPlain>(tiles_of_stage.k, p.rows(p.k, keys, key));
      load_tile<kIsPlain>(tiles_of_stage.v, p.rows(p.v, keys, key));
    }
  };
  load_tile<kIsPlain>(shared.after.q, p.rows(p.q, queries, query));
  auto own = own_factors<kIsPlain, kGroups>(shared.after.q, WarpRows::first());
  if constexpr (kIsPlain) {
    load_keys(0, 0);
    wait_for_copies();
    __syncthreads();
    own.keep();
  } else if (p.far_q) {
    load_tile(shared.far_q, p.rows(p.far_q, queries, query));
  }

  WarpRows rows(p, query);
  // A clamp depends on the largest score of the row, so a first pass finds that.
  for (int pass = p.is_clamped ? 0 : 1; pass < 2; ++pass)
    for (int t = 0; t < tiles.count(); ++t) {
      const int key = tiles.at(t) * S::kLoop, stage = kIsPlain ? t % 2 : 0;
      typename WarpRows::Pieces s = {};
      scores.start_tile(shared.scores[stage], query, S::kOwn, key, S::kLoop);
      if constexpr (kIsPlain) {
        wait_for_copies();
        __syncthreads();  // all threads see this tile, and all have read the tile before it
        if (t + 1 < tiles.count()) load_keys(t + 1, 1 - stage);
        if (!scores.start_part(WarpRows::first(), S::kPartRows, 0, S::kLoop)) continue;
        if (query + WarpRows::first() >= p.n_query) continue;
        rows.start_segments(scores);
        multiply_by_rows<false, D>(s, own, shared.stages[stage].k, 0);
      } else {
        auto& k_tile = shared.stages[0].k;
        __syncthreads();  // all have read the tile before
        scores.load(shared.scores[0], query, S::kOwn, key, S::kLoop);
        if (pass == 1) load_tile(shared.stages[0].v, p.rows(p.v, keys, key));
        if (scores.has_near()) {
          load_tile(k_tile, p.rows(p.k, keys, key));
          __syncthreads();
          multiply_by_rows<false, D>(s, own, k_tile, 0);
        }
        if (scores.has_far()) {
          typename WarpRows::Pieces far = {};
          __syncthreads();
          load_tile(k_tile, p.rows(p.far_k, keys, key));
          __syncthreads();
          multiply_by_rows<false, D>(
              far, own_factors<false, kGroups>(shared.far_q, WarpRows::first()), k_tile, 0);
          take_far<false>(scores, s[0], far[0], rows.row(), rows.column());
        }
      }
      float largest[WarpRows::kRows];
      rows.take_scores(scores, s, largest);
      if (pass == 0) {
        rows.keep_largest(largest);
        continue;
      }
      rows.normalize(s, largest);
      if constexpr (Scores::kDrops) rows.drop(scores, s);
      // The matrix instructions need the lanes together; general scores go ways of their own.
      if constexpr (Scores::kIsGeneral) __syncwarp();
      rows.add_values(s, shared.stages[stage].v);
    }
  __syncthreads();
  rows.store(to, own_rows(), shared.after.q);
}

/// Each instance is compiled in a file of its own: all together take minutes.
template <class T, class Scores>
void run_forward(Cuda device, const Problem<T>& p, const ForwardOutputs<T>& to) {
  dispatch_head_dim(p.head_dim, [&](auto size) {
    using Shared = ForwardShared<T, size(), Scores>;
    constexpr size_t kBytes = sizeof(Shared) - sizeof(Shared::far_q);
    static_assert(kBytes <= kSmallShared && sizeof(Shared) <= kLargeShared);
    const size_t bytes = p.far_q ? sizeof(Shared) : kBytes;
    constexpr int kQueries = Shared::S::kOwn;
    const int64_t n_blocks =
        static_cast<int64_t>((p.n_query + kQueries - 1) / kQueries) * p.heads();
    launch(attention_forward_kernel<T, size(), Scores>, static_cast<unsigned>(n_blocks), kBlock,
           bytes, stream_of(device), p, to);
  });
}
extern template void run_forward<BFloat16, PlainScores<BFloat16>>(Cuda, const Problem<BFloat16>&,
                                                                  const ForwardOutputs<BFloat16>&);
extern template void run_forward<BFloat16, RowBiasScores<BFloat16>>(
    Cuda, const Problem<BFloat16>&, const ForwardOutputs<BFloat16>&);
extern template void run_forward<BFloat16, GeneralScores<BFloat16>>(
    Cuda, const Problem<BFloat16>&, const ForwardOutputs<BFloat16>&);
extern template void run_forward<float, GeneralScores<float>>(Cuda, const Problem<float>&,
                                                              const ForwardOutputs<float>&);
extern template void run_forward<BFloat16, DroppingScores<PlainScores<BFloat16>>>(
    Cuda, const Problem<BFloat16>&, const ForwardOutputs<BFloat16>&);
extern template void run_forward<BFloat16, DroppingScores<GeneralScores<BFloat16>>>(
    Cuda, const Problem<BFloat16>&, const ForwardOutputs<BFloat16>&);
extern template void run_forward<float, DroppingScores<GeneralScores<float>>>(
    Cuda, const Problem<float>&, const ForwardOutputs<float>&);

}  // namespace farfield::attention_cuda
