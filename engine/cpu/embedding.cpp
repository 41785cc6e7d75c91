#include "engine/kernels/embedding.h"

#include <algorithm>

#include "engine/base/parallel.h"
#include "engine/cpu/convert.h"
#include "engine/kernels/pointwise.h"

namespace farfield {
namespace {

constexpr int64_t kGrain = int64_t{1} << 15;  // elements of a chunk

template <class D>
void embedding_gradient(const int32_t* ids, int64_t n_ids, const Tensor& dy, int64_t d, D* dtable) {
  // A job owns the rows with v % kShares == its share, in some columns, and walks all ids in order.
  constexpr int64_t kShares = 4, kColumns = 64;
  const int64_t column_jobs = (d + kColumns - 1) / kColumns;
  dispatch_float(dy.dtype(), [&](auto type) {
    using T = decltype(type);
    const T* const from = dy.data<T>();
    parallel_for(kShares * column_jobs, [&](int64_t job) {
      const int64_t begin = job / kShares * kColumns, n = std::min(kColumns, d - begin);
      for (int64_t i = 0; i < n_ids; ++i) {
        if (ids[i] % kShares != job % kShares) continue;
        const T* const in = from + i * d + begin;
        D* const total = dtable + ids[i] * d + begin;
        for (int64_t c = 0; c < n; ++c) total[c] += static_cast<D>(in[c]);
      }
    });
  });
}

}  // namespace

void embedding_forward(Cpu, const Tensor& table, const Tensor& ids, Tensor& y) {
  const int64_t d = table.dim(1);
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
                        for (int64_t i = begin; i < end; ++i)
                          convert(from + id[i] * d, d, to + i * d);
                      });
    });
  });
}

void embedding_backward(Cpu, const Tensor& ids, const Tensor& dy, Tensor& dtable) {
  const int64_t d = dtable.dim(1);
  const int32_t* const id = ids.data<int32_t>();
  // A bfloat16 table still sums in float32.
  Tensor total = dtable.dtype() == DType::bf16 ? Tensor::empty(dtable.shape(), DType::f32) : dtable;
  fill(Cpu{}, 0, total);
  if (total.dtype() == DType::f64)
    embedding_gradient(id, ids.numel(), dy, d, total.data<double>());
  else
    embedding_gradient(id, ids.numel(), dy, d, total.data<float>());
  if (dtable.dtype() == DType::bf16) cast(Cpu{}, total, dtable);
}

}  // namespace farfield
