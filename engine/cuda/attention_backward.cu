#include "engine/cuda/attention_backward_warpgroup.cuh"
#include "engine/cuda/attention_entries.cuh"
#include "engine/cuda/sum_parts.h"

namespace farfield {
namespace attention_cuda {
namespace {

// Lanes that take the Row of a query together.
constexpr int kRowLanes = 8;

// The dot product of two rows, in each of their lanes; only lanes of a row that is_there have any.
template <class T>
__device__ float dot_of_rows(const Rows<const T>& a, const Rows<const T>& b, bool is_there) {
  constexpr int kN = kPieceSize<T>;
  const int n = is_there ? a.head_dim : 0;
  const bool is_aligned = a.is_aligned && b.is_aligned;
  float sum = 0;
  for (int c = static_cast<int>(threadIdx.x) % kRowLanes * kN; c < n; c += kRowLanes * kN) {
    const int left = n - c;
    const Piece<kN> piece{c, left < kN ? left : kN, is_aligned && left >= kN};
    const auto x = widened(load(a.first, piece)), y = widened(load(b.first, piece));
#pragma unroll
    for (int i = 0; i < kN; ++i) sum += x.at[i] * y.at[i];
  }
  for (int step = kRowLanes / 2; step > 0; step /= 2) sum += __shfl_xor_sync(kAllLanes, sum, step);
  return sum;
}

// The Row of each query, or its end. From dP the sum of dout * out is subtracted, which equals the
// sum of P dP; where P is not divided by a sum, minus what the penalty adds.
template <class T>
__global__ void attention_rows_kernel(Problem<T> p, const T* out, const T* dout, const float* lse,
                                      const float* threshold, const float* sums, float shift_unit,
                                      bool adds_row_bias, int n_row, Row* rows, RowEnd* ends) {
  static_assert(kWarpRows % (kWarp / kRowLanes) == 0, "a warp has rows, or none");
  // Heads of a query lie side by side in out and dout.
  const auto place = static_cast<uint32_t>(thread_index() / kRowLanes);
  const auto n_head = static_cast<uint32_t>(p.n_head), of_head = static_cast<uint32_t>(n_row);
  if (place >= static_cast<uint32_t>(p.n_batch) * n_head * of_head) return;
  const uint32_t token = place / n_head;
  const auto i = static_cast<int>(token % of_head);
  const auto head = static_cast<int>(token / of_head * n_head + place % n_head);
  const int64_t query = static_cast<int64_t>(head) * p.n_query + i;
  Row row{0, -kInfinity, kInfinity, 0};  // beyond the last: P is 0
  if (adds_row_bias) row.threshold = p.row_factor_of(i);
  if (i < p.n_query) {
    row.factor = p.scale * (p.row_scale ? p.row_scale[i] : 1);
    if (p.is_relu && p.divides_by_sum) {
      row.shift = inverse_sum(sums[query]);
    } else if (p.is_relu) {
      row.shift = relu_factor_of(p, i);
      if (sums) row.dot = -penalty_gradient(p.penalty, int64_t{p.heads()} * p.n_query, sums[query]);
    } else {
      row.shift = lse[query] * shift_unit;
      if (threshold) row.threshold = threshold[query];
    }
  }
  if (p.divides_by_sum) {
    const HeadRows rows_of = p.token_rows_of(p.head_at(head));
    row.dot = dot_of_rows(p.rows(out, rows_of, i), p.rows(dout, rows_of, i), i < p.n_query);
  }
  if (threadIdx.x % kRowLanes != 0) return;
  const int64_t at = static_cast<int64_t>(head) * n_row + i;
  if (rows) rows[at] = row;
  if (ends) ends[at] = {row.shift, row.dot};
}

/// Facts about the kernels for a problem that the host needs.
struct BackwardBlocks {
  int own_rows;        ///< of a block's own tile
  int row_warps;       ///< that share these rows
  int resident;        ///< blocks that a multiprocessor holds at once
  bool by_warpgroups;  ///< in attention_backward_warpgroup.cuh

  template <class T>
  static BackwardBlocks of(Cuda device, const Problem<T>& p, const T* dout) {
    BackwardBlocks blocks = {};
    dispatch_scores(p, [&](auto scores) {
      using Scores = typename decltype(scores)::type;
      if constexpr (kHasWarpgroupKernels<Scores>)
        if (takes_warpgroups_backward(device, p, dout)) {
          // The same for heads of 128.
          using S = WarpgroupBackwardSizes<Side::keys, 64, Scores, Tables::none, true>;
          blocks = {S::kOwn, S::kRowWarps, S::kBlocks, true};
          return;
        }
      dispatch_head_dim(p.head_dim, [&](auto size) {
        dispatch_groups<size(), Scores>(device, [&](auto groups) {
          using S = BackwardSizes<Side::keys, T, size(), Scores, groups()>;
          blocks = {S::kOwn, S::kRowWarps, kBackwardBlocks<size(), Scores>, false};
        });
      });
    });
    return blocks;
  }
  /// Tiles that n rows are.
  int tiles_of(int n) const { return (n + own_rows - 1) / own_rows; }
  /// Rows of n queries of a head, in whole tiles. BackendError if the rows of all heads of all
  /// sequences exceed 31 bits.
  int rows_of(int heads, int n) const {
    const int64_t rows = static_cast<int64_t>(tiles_of(n)) * own_rows;
    require<BackendError>(heads * rows <= std::numeric_limits<int>::max(), "attention",
                          "expected fewer than 2^31 queries of all heads on a CUDA device, those "
                          "of a head in tiles of ",
                          own_rows, ", got ", heads * rows);
    return static_cast<int>(rows);
  }
  /// Blocks that share the items of a head when each has a slice of memory for table gradients:
  /// enough for the largest devices, a number that depends on the shape alone.
  int slots_with_tables(int n_items, int n_head) const {
    constexpr int kMultiprocessors = 128;
    return std::min(n_items, std::max(8, (kMultiprocessors * resident + n_head - 1) / n_head));
  }
};

// Not in the class: nvcc loses the braces of a Shape that depends on a template's parameters.
Shape shape_of(int64_t a, int64_t b, int64_t c, int64_t d = 1) { return Shape{a, b, c, d}; }
Tensor floats(Cuda device, const Shape& shape) {
  return Tensor::empty(shape, DType::f32, Device{Device::Kind::cuda, device.index});
}

template <class T>
class BackwardPass {
 public:
  BackwardPass(Cuda device, const Problem<T>& p, const AttentionRows& rows, const Tensor& out,
               const Tensor& dout, const Rotation& turned_by, const AttentionGrads& wanted)
      : device_(device),
        p_(p),
        turned_by_(turned_by),
        blocks_(BackwardBlocks::of(device, p, dout.data<T>())) {
    const bool has_ends = blocks_.by_warpgroups && has_row_ends(p);
    const size_t row_bytes = has_ends ? sizeof(RowEnd) : sizeof(Row);
    rows_ = floats(device, shape_of(p.heads(), blocks_.rows_of(p.heads(), p.n_query),
                                    static_cast<int64_t>(row_bytes / sizeof(float))));
    auto* const row_ends = has_ends ? reinterpret_cast<RowEnd*>(rows_.data<float>()) : nullptr;
    auto* const all_rows = has_ends ? nullptr : reinterpret_cast<Row*>(rows_.data<float>());
    args_.dout = dout.data<T>();
    args_.is_aligned = p.can_move_pieces(p.q) && p.can_move_pieces(p.k) && p.can_move_pieces(p.v) &&
                       p.can_move_pieces(args_.dout);
    args_.rows = all_rows;
    args_.row_ends = row_ends;
    args_.n_row = static_cast<int>(rows_.dim(1));
    if (wanted.column_sums.defined()) {
      const int64_t n_part = int64_t{blocks_.tiles_of(p.n_key)} * p.n_batch * blocks_.row_warps;
      column_sums_ = floats(device, shape_of(1, 1, n_part, wanted.column_sums.numel()));
      args_.column_sums = column_sums_.data<float>();
    }
    dispatch_scores(p, [&](auto scores) {
      using Scores = typename decltype(scores)::type;
      launch(attention_rows_kernel<T>, blocks_for(rows_.dim(0) * rows_.dim(1) * kRowLanes),
             kThreads, 0, stream_of(device), p, out.data<T>(), dout.data<T>(),
             data_or_null<float>(rows.lse), data_or_null<float>(rows.threshold),
             data_or_null<float>(rows.sum), Scores::kShiftUnit, Scores::kAddsRowBias, args_.n_row,
             all_rows, row_ends);
    });
  }

  /// dk and dv of the near pairs, and the gradients of tables by distance.
  void keys(AttentionGrads& grads) const {
    BackwardArguments<T> args = args_;
    args.dx = grads.dheads.k.data<T>();
    args.dv = grads.dheads.v.data<T>();
    args.turned_by = Angles::of_k(turned_by_);
    const bool has_entries = grads.dbias.defined() || grads.dweight.defined();
    const bool by_distance = !p_.ids && !p_.far_ids_q && has_entries;
    Tensor feature = grads.drow_bias.feature;
    const bool has_tables = by_distance || feature.defined();
    args.order = order_of(p_.n_key);
    if (has_tables) {
      TileOrder tiles = tiles_of(p_.n_key);
      tiles.n_together = std::max(1, p_.n_together / p_.n_head);  // of all heads at once
      args.order = SlotOrder(blocks_.slots_with_tables(tiles.size(), p_.n_head), tiles);
    }
    const int n_slot = args.order.n_slot();
    const Shape slices = shape_of(p_.n_head, n_slot, p_.n_key);
    const auto slices_if = [&](bool is_made) {
      return is_made ? Tensor::zeros(slices, DType::f32, rows_.device()) : Tensor();
    };
    // Kernels for plain scores make the gradients of all tables that there are, or of none.
    const bool makes_all = p_.score_kind() == ScoreKind::plain;
    Tensor bias =
        slices_if(by_distance && (makes_all ? p_.bias != nullptr : grads.dbias.defined()));
    Tensor weight =
        slices_if(by_distance && (makes_all ? p_.weight != nullptr : grads.dweight.defined()));
    Tensor features = slices_if(feature.defined());
    args.tables = {data_or_null<float>(bias), data_or_null<float>(weight),
                   data_or_null<float>(features)};
    run<Side::keys>(args);
    sum_if_wanted(bias, p_.n_head, n_slot, p_.n_key, grads.dbias);
    sum_if_wanted(weight, p_.n_head, n_slot, p_.n_key, grads.dweight);
    sum_if_wanted(features, 1, int64_t{p_.n_head} * n_slot, p_.n_key, feature);
    if (has_entries && !by_distance) entries(grads);
  }

  /// dq of the near pairs, and the gradients of the row bias that are sums along rows.
  void queries(AttentionGrads& grads) const {
    BackwardArguments<T> args = args_;
    args.dx = grads.dheads.q.data<T>();
    args.turned_by = Angles::of_q(turned_by_);
    args.order = order_of(p_.n_query);
    RowBias& row_bias = grads.drow_bias;
    const int64_t n_segment = p_.row_bias.n_segment();
    const int64_t n_rows = p_.score_kind() == ScoreKind::row_bias
                               ? int64_t{args.order.n_slot()} * blocks_.row_warps
                               : int64_t{p_.n_batch} * p_.n_query;
    Tensor segments, row_factor;
    if (row_bias.slope.defined() || row_bias.offset.defined() || row_bias.row_factor.defined()) {
      segments =
          Tensor::zeros(shape_of(p_.n_head, n_rows, 2, n_segment), DType::f32, rows_.device());
      row_factor = floats(device_, shape_of(1, p_.heads(), p_.n_query));
      args.segments = {segments.data<float>(), row_factor.data<float>()};
    }
    run<Side::queries>(args);
    if (row_bias.slope.defined() || row_bias.offset.defined())
      sum_parts(device_, {segments.data<float>(), p_.n_head, n_rows, 2, n_segment},
                {{data_or_null<float>(row_bias.slope), data_or_null<float>(row_bias.offset)}});
    sum_if_wanted(row_factor, 1, p_.heads(), p_.n_query, row_bias.row_factor);
  }

  /// The sums of columns of dq, dk and dv, after both passes.
  void columns(AttentionGrads& grads) const {
    if (column_sums_.defined())
      sum_if_wanted(column_sums_, 1, column_sums_.dim(2), column_sums_.dim(3), grads.column_sums);
  }

  /// The gradients of the far copies: passes of their own, since one pass has no registers for more
  /// sums.
  void far(AttentionGrads& grads) const {
    BackwardArguments<T> args = args_;
    args.is_far = true;
    args.dx = grads.dheads.far.k.data<T>();
    args.order = order_of(p_.n_key);
    run<Side::keys>(args);
    args.dx = grads.dheads.far.q.data<T>();
    args.order = order_of(p_.n_query);
    run<Side::queries>(args);
  }

 private:
  /// Tiles of n rows of all sequences, of one head after the other.
  TileOrder tiles_of(int n) const {
    return {blocks_.tiles_of(n), p_.n_batch, std::clamp(p_.n_together, 1, std::max(p_.n_batch, 1))};
  }
  /// Each by a block of its own.
  SlotOrder order_of(int n) const { return SlotOrder(tiles_of(n).size(), tiles_of(n)); }

  /// grad = the sums of parts [n_outer, n_part, n].
  void sum_if_wanted(const Tensor& parts, int64_t n_outer, int64_t n_part, int64_t n,
                     Tensor& grad) const {
    if (parts.defined() && grad.defined())
      sum_parts(device_, {parts.data<float>(), n_outer, n_part, 1, n}, {{grad.data<float>()}});
  }
  template <Side kOwn>
  void run(const BackwardArguments<T>& args) const {
    dispatch_scores(p_, [&](auto scores) {
      using Scores = typename decltype(scores)::type;
      if constexpr (kHasWarpgroupKernels<Scores>)
        if (blocks_.by_warpgroups)
          return run_backward_by_warpgroups<kOwn, Scores>(device_, p_, args);
      run_backward<kOwn, T, Scores>(device_, p_, args);
    });
  }
  void entries(AttentionGrads& grads) const {
    const EntryArguments<T> args{args_.dout, args_.rows, args_.n_row,
                                 data_or_null<float>(grads.dbias),
                                 data_or_null<float>(grads.dweight)};
    launch(attention_entries_kernel<T>, blocks_for(int64_t{p_.n_head} * p_.n_entry * kWarp),
           kThreads, 0, stream_of(device_), p_, args);
  }

  Cuda device_;
  const Problem<T>& p_;
  const Rotation& turned_by_;
  BackwardBlocks blocks_;
  Tensor rows_;         // Row, or RowEnd
  Tensor column_sums_;  // BackwardArguments::column_sums
  BackwardArguments<T> args_;
};

}  // namespace
}  // namespace attention_cuda

void attention_backward(Cuda device, const Heads& heads, const AttentionRule& rule,
                        const Tensor& out, const AttentionRows& rows, const Tensor& dout,
                        AttentionGrads& grads) {
  attention_cuda::check_head_dim(heads.q.dim(3));
  dispatch_device_float(heads.q.dtype(), [&](auto type) {
    using T = decltype(type);
    const attention_cuda::Problem<T> p(heads, rule);
    const attention_cuda::BackwardPass<T> pass(device, p, rows, out, dout, heads.turned_by, grads);
    pass.keys(grads);
    pass.queries(grads);
    pass.columns(grads);
    if (p.far_q) pass.far(grads);
  });
}

}  // namespace farfield
