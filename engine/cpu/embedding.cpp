#include "engine/kernels/embedding.h"

#include <algorithm>

#include "engine/base/parallel.h"
#include "engine/cpu/convert.h"
#include "engine/kernels/pointwise.h"

namespace farfield {
namespace {

constexpr int64_t kGrain = int64_t{1} << 15;  // elements of a chunk

template <class D>
void embedding_gradient(const Tensor& ids, int64_t first, const Tensor& dy, int64_t n_row,
                        int64_t d, D* dtable) {
  const int32_t* const id = ids.data<int32_t>();
  // A job owns the rows with v % kShares == its share, in some columns, and walks all ids in order.
  constexpr int64_t kShares = 4, kColumns = 64;
  const int64_t column_jobs = (d + kColumns - 1) / kColumns;
  dispatch_float(dy.dtype(), [&](auto type) {
    using T = decltype(type);
    const T* const from = dy.data<T>();
    parallel_for(kShares * column_jobs, [&](int64_t job) {
      const int64_t begin = job / kShares * kColumns, n = std::min(kColumns, d - begin);
      for (int64_t i = 0; i < ids.numel(); ++i) {
        const int64_t v = id[i] - first;
        if (v % kShares != job % kShares || v < 0 || v >= n_row) continue;
        const T* const in = from + i * d + begin;
        D* const total = dtable + v * d + begin;
        for (int64_t c = 0; c < n; ++c) total[c] += static_cast<D>(in[c]);
      }
    });
  });
}

}  // namespace

void embedding_forward(Cpu, const Tensor& table, int64_t first, int64_t, const Tensor& ids,
                       Tensor& y) {
  const int64_t n_row = table.dim(0), d = table.dim(1);
  if (d == 0) return;
  const int32_t* const id = ids.data<int32_t>();
  dispatch_float(table.dtype(), [&](auto from_type) {
    dispatch_float(y.dtype(), [&](auto to_type) {
      using From = decltype(from_type);
      using To = decltype(to_type);
      const From* const from = table.data<From>();
      To* const to = y.data<To>();
      parallel_chunks(ids.numel(), std::max<int64_t>(1, kGrain / d),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) {
                          const int64_t v = id[i] - first;
                          if (v >= 0 && v < n_row)
                            convert(from + v * d, d, to + i * d);
                          else
                            std::fill_n(to + i * d, d, To{});
                        }
                      });
    });
  });
}

void embedding_backward(Cpu, int64_t first, const Tensor& ids, const Tensor& dy, Tensor& dtable) {
  const int64_t n_row = dtable.dim(0), d = dtable.dim(1);
  // A bfloat16 table still sums in float32.
  Tensor total = dtable.dtype() == DType::bf16 ? Tensor::empty(dtable.shape(), DType::f32) : dtable;
  fill(Cpu{}, 0, total);
  if (total.dtype() == DType::f64)
    embedding_gradient(ids, first, dy, n_row, d, total.data<double>());
  else
    embedding_gradient(ids, first, dy, n_row, d, total.data<float>());
  if (dtable.dtype() == DType::bf16) cast(Cpu{}, total, dtable);
}

}  // namespace farfield
