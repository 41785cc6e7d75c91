#include <algorithm>

#include "engine/cuda/context.h"
#include "engine/cuda/norm_backward_rows.cuh"
#include "engine/cuda/sum_parts.h"
#include "engine/kernels/norm.h"
#include "engine/kernels/row_formulas.h"

namespace farfield {
namespace {

using namespace norm_cuda;

// Threads that work at the same time, whatever the device: enough blocks for every multiprocessor,
// and few enough that the partial sums that each leaves cost little.
constexpr int64_t kThreadsAtOnce = int64_t{528} * 128;

// Sums over the rows of a thread for each of its columns: in registers, but the sums of ds in
// shared memory, since registers do not suffice; for rows of any length, where a block takes one
// row at a time, in device memory.
template <class Size, int kN, bool kIsAligned>
class ColumnSums {
 public:
  using Pieces = RowPieces<Size, kN, kIsAligned>;
  using Piece = typename Pieces::Piece;

  __device__ ColumnSums(const Pieces& pieces, float* partial, bool sums_ds)
      : pieces_(pieces), partial_(partial), sums_ds_(sums_ds) {
    if constexpr (Size::kValues > 0)
      if (sums_ds) pieces_.for_each([&](int, const Piece& piece) { of_ds(piece) = {}; });
  }

  __device__ void add(int p, const Piece& piece, const Vector<float, kN>& n,
                      const Vector<float, kN>& dy, bool is_first) {
    if constexpr (Size::kValues > 0) {
      for (int i = 0; i < kN; ++i) {
        dweight_[p].at[i] += dy.at[i] * n.at[i];
        dbias_[p].at[i] += dy.at[i];
      }
    } else {
      Vector<float, kN> dweight{}, dbias{};
      if (!is_first) dweight = load(partial_, piece), dbias = load(partial_ + pieces_.n, piece);
      for (int i = 0; i < kN; ++i) {
        dweight.at[i] += dy.at[i] * n.at[i];
        dbias.at[i] += dy.at[i];
      }
      store(dweight, piece, partial_);
      store(dbias, piece, partial_ + pieces_.n);
    }
  }

  __device__ void add_ds(const Piece& piece, const Vector<float, kN>& ds, bool is_first) {
    if (!sums_ds_) return;
    if constexpr (Size::kValues > 0) {
      Vector<float, kN>& sums = of_ds(piece);
      for (int i = 0; i < kN; ++i) sums.at[i] += ds.at[i];
    } else {
      float* const to = partial_ + 2 * pieces_.n;
      Vector<float, kN> sums{};
      if (!is_first) sums = load(to, piece);
      for (int i = 0; i < kN; ++i) sums.at[i] += ds.at[i];
      store(sums, piece, to);
    }
  }

  // Leaves the sums of the block in memory; asked for by all of its threads.
  template <class Rows>
  __device__ void finish(const Rows& rows) const {
    if constexpr (Size::kRows > 1) {
      WarpColumns<Size>& columns = rows.columns();
      auto& own = columns.at[threadIdx.x / Size::kThreads];
      pieces_.for_each([&](int p, const Piece& piece) {
        for (int i = 0; i < kN; ++i) {
          own[0][piece.begin + i] = dweight_[p].at[i];
          own[1][piece.begin + i] = dbias_[p].at[i];
        }
      });
      __syncthreads();
      for (int i = static_cast<int>(threadIdx.x); i < 2 * pieces_.n; i += Size::kBlock) {
        const int which = i / pieces_.n, column = i % pieces_.n;
        float total = columns.at[0][which][column];
        for (int warp = 1; warp < Size::kRows; ++warp) total += columns.at[warp][which][column];
        partial_[i] = total;
      }
      if (!sums_ds_) return;
      const auto& sums = dynamic_shared<SumsOfDs<Size>>()->at;
      for (int i = static_cast<int>(threadIdx.x); i < pieces_.n; i += Size::kBlock) {
        float total = sums[0][i];
        for (int warp = 1; warp < Size::kRows; ++warp) total += sums[warp][i];
        partial_[2 * pieces_.n + i] = total;
      }
    } else if constexpr (Size::kValues > 0) {
      pieces_.for_each([&](int p, const Piece& piece) {
        store(dweight_[p], piece, partial_);
        store(dbias_[p], piece, partial_ + pieces_.n);
        if (sums_ds_) store(of_ds(piece), piece, partial_ + 2 * pieces_.n);
      });
    }
  }

 private:
  static constexpr int kKept = std::max(1, Size::kValues / kN);
  // A thread looks at no other piece before finish().
  __device__ static Vector<float, kN>& of_ds(const Piece& piece) {
    float* const row = dynamic_shared<SumsOfDs<Size>>()->at[threadIdx.x / Size::kThreads];
    return *reinterpret_cast<Vector<float, kN>*>(row + piece.begin);
  }
  Pieces pieces_;
  float* partial_;
  bool sums_ds_;
  Vector<float, kN> dweight_[kKept] = {}, dbias_[kKept] = {};
};

// Blocks per multiprocessor that the registers have to leave room for: as many as kThreadsAtOnce
// asks for, or fewer where registers would spill.
template <class Size, bool kIsAligned>
[[maybe_unused]] inline constexpr int kBlocksAtOnce = std::max(1, (kIsAligned ? 512 : 384) /
                                                                      Size::kBlock);

// ds of the rows of a block, one after the other, and on the way the block's share of dweight and
// dbias: dy and s are read once for both.
template <class T, class Size, bool kIsAligned>
__global__ void __launch_bounds__(Size::kBlock, kBlocksAtOnce<Size, kIsAligned>)
    layer_norm_backward_kernel(Backward<T> in) {
  constexpr int kN = kPieceSize<T>;
  using Pieces = RowPieces<Size, kN, kIsAligned>;
  using Piece = typename Pieces::Piece;
  const Pieces pieces{in.d};
  ColumnSums<Size, kN, kIsAligned> columns(
      pieces, in.partial + int64_t{in.n_sum()} * in.d * blockIdx.x, in.sums_ds);
  const int64_t begin = blockIdx.x * in.rows_of_block;
  const int64_t end = begin + in.rows_of_block < in.rows ? begin + in.rows_of_block : in.rows;
  const int64_t first = begin + threadIdx.x / Size::kThreads;
  Rows<T, Size, kIsAligned> rows(in, pieces, first, end);
  for (int64_t i = first; i < end; i += Size::kRows) {
    rows.take(i);
    const float mean = rows.mean(), rstd = rows.rstd();
    float sums[2] = {};  // of g and g n, g = dy weight, which is 0 beyond the row
    pieces.for_each([&](int p, const Piece& piece) {
      if (rows.skips(piece)) return;
      const Kept<T, kN> kept = rows.kept(p, piece);
      const Vector<float, kN> weight = rows.weight(piece), s = widened(kept.s),
                              dy = widened(kept.dy);
      Vector<float, kN> n;
      for (int k = 0; k < kN; ++k) {
        n.at[k] = normalized(s.at[k], mean, rstd);
        const float g = dy.at[k] * weight.at[k];
        sums[0] += g;
        sums[1] += g * n.at[k];
      }
      columns.add(p, piece, n, dy, i == begin);
    });
    row_sum<Size>(sums);
    const float mean_g = in.mean != nullptr ? sums[0] / static_cast<float>(in.d) : 0.0f;
    const float mean_gn = sums[1] / static_cast<float>(in.d);
    // Values of rows are read again: as float32 they would take registers from other warps.
    asm volatile("" ::: "memory");
    pieces.for_each([&](int p, const Piece& piece) {
      if (rows.skips(piece)) return;
      const Kept<T, kN> kept = rows.kept(p, piece);
      const Vector<float, kN> weight = rows.weight(piece), s = widened(kept.s),
                              dy = widened(kept.dy), dsum = widened(rows.dsum(piece));
      Vector<T, kN> ds;
      for (int k = 0; k < kN; ++k) {
        const float n = normalized(s.at[k], mean, rstd), g = dy.at[k] * weight.at[k];
        ds.at[k] = narrow<T>(normalized_grad(n, g, mean_g, mean_gn, rstd) + dsum.at[k]);
      }
      store(ds, piece, in.ds + i * in.d);
      columns.add_ds(piece, widened(ds), i == begin);
    });
  }
  columns.finish(rows);
}

}  // namespace

void layer_norm_backward(Cuda device, const Tensor& s, const Tensor& weight, const Tensor& mean,
                         const Tensor& rstd, const Tensor& dy, const Tensor& dsum, Tensor& ds,
                         Tensor& dweight, Tensor& dbias, Tensor& column_sums) {
  dispatch_device_float(s.dtype(), [&](auto type) {
    using T = decltype(type);
    Backward<T> in{rstd.numel(),
                   0,
                   static_cast<int>(weight.numel()),
                   s.data<T>(),
                   weight.data<float>(),
                   mean.defined() ? mean.data<float>() : nullptr,
                   rstd.data<float>(),
                   dy.data<T>(),
                   dsum.defined() ? dsum.data<T>() : nullptr,
                   ds.data<T>(),
                   nullptr,
                   column_sums.defined()};
    const bool aligned =
        in.d % kPieceSize<T> == 0 && is_aligned(in.s, in.weight, in.dy, in.dsum, in.ds);
    dispatch_row_size(in.d, [&](auto size) {
      using Size = decltype(size);
      const int64_t most = kThreadsAtOnce / Size::kBlock;
      in.rows_of_block = std::max<int64_t>(Size::kRows, (in.rows + most - 1) / most);
      const int64_t blocks = (in.rows + in.rows_of_block - 1) / in.rows_of_block;
      const Shape shape{blocks, in.n_sum(), weight.numel()};
      Tensor partial = Tensor::empty(shape, DType::f32, s.device());
      in.partial = partial.data<float>();
      if (blocks > 0)
        launch(aligned ? layer_norm_backward_kernel<T, Size, true>
                       : layer_norm_backward_kernel<T, Size, false>,
               static_cast<unsigned>(blocks), Size::kBlock,
               in.sums_ds && Size::kValues > 0 ? sizeof(SumsOfDs<Size>) : 0, stream_of(device), in);
      sum_parts(device, {in.partial, 1, blocks, in.n_sum(), in.d},
                {{dweight.data<float>(), dbias.data<float>(),
                  in.sums_ds ? column_sums.data<float>() : nullptr}});
    });
  });
}

}  // namespace farfield
