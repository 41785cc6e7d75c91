#include <algorithm>
#include <optional>

#include "engine/base/parallel.h"
#include "engine/cpu/gemm/library.h"
#include "engine/cpu/gemm/panels.h"

namespace farfield {
namespace {

// B in a form that the library is quick with, made once for all panels, when the product is tall
// enough to pay for it. Keeps the copy alive.
class EasyB {
 public:
  EasyB(const GemmLibrary& library, const Gemm& p) : product_(p) {
    if (!library.wants_rows || p.in != DType::f32 || p.transpose_b) return;
    const auto* const from = static_cast<const float*>(p.b);
    if (p.m >= kTall) {  // [k, n] to [n, k]
      const int64_t stride = padded_stride(p.k);
      float* const to = copy_.emplace(p.n * stride).data();
      parallel_chunks(p.n, kGrain, [&](int64_t begin, int64_t end) {
        transpose(from + begin, p.ldb, p.k, end - begin, to + begin * stride, stride);
      });
      use(to, stride, true);
    } else if (p.ldb % 512 == 0 && p.m >= kLow) {  // rows that compete for the same cache lines
      const int64_t stride = padded_stride(p.n);
      float* const to = copy_.emplace(p.k * stride).data();
      parallel_chunks(p.k, kGrain, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row)
          std::copy(from + row * p.ldb, from + row * p.ldb + p.n, to + row * stride);
      });
      use(to, stride, false);
    }
  }
  const Gemm& product() const { return product_; }

 private:
  static constexpr int64_t kTall = 768, kLow = 64, kGrain = 64;

  void use(const float* b, int64_t stride, bool transposed) {
    product_.b = b;
    product_.ldb = stride;
    product_.transpose_b = transposed;
  }

  Gemm product_;
  std::optional<Buffer<float>> copy_;
};

// The sum of the pieces of the inner dimension, computed apart and added in order.
void product_in_pieces(const GemmLibrary& library, const Gemm& p, const Panels& cuts) {
  const DType acc = accumulate_dtype(p.in);
  const int64_t size = p.m * p.n;
  Storage partial(cuts.k.count() * size * size_of(acc), Device{});
  Gemm piece = p;
  piece.out = acc;
  piece.ldc = p.n;
  piece.accumulate = false;
  parallel_for(cuts.k.count() * cuts.count(), [&](int64_t i) {
    const int64_t ik = i / cuts.count();
    Gemm whole = piece;
    whole.c = static_cast<char*>(partial.data()) + ik * size * size_of(acc);
    panel_product(library, panel_of(whole, cuts, i % cuts.count(), ik));
  });
  dispatch_float(p.out, [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    const A* const parts = static_cast<const A*>(partial.data());
    T* const c = static_cast<T*>(p.c);
    constexpr int64_t kGrain = 1 << 13;
    parallel_chunks(p.m, std::max<int64_t>(1, kGrain / p.n), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        T* const to = c + row * p.ldc;
        for (int64_t col = 0; col < p.n; ++col) {
          A sum = p.accumulate ? static_cast<A>(to[col]) : A(0);
          for (int64_t ik = 0; ik < cuts.k.count(); ++ik) sum += parts[ik * size + row * p.n + col];
          to[col] = static_cast<T>(sum);
        }
      }
    });
  });
}

// C of a product over nothing.
void clear(const Gemm& p) {
  if (p.accumulate) return;
  for (int64_t row = 0; row < p.m; ++row) {
    char* const begin = static_cast<char*>(p.c) + row * p.ldc * size_of(p.out);
    std::fill(begin, begin + p.n * size_of(p.out), char{0});
  }
}

}  // namespace

std::vector<GemmLibrary> gemm_libraries_for([[maybe_unused]] const CpuFeatures& features) {
  return {
#ifdef FARFIELD_HAS_ONEDNN
      onednn_library(features),
#endif
      eigen_library()};
}

const std::vector<GemmLibrary>& gemm_libraries() {
  static const std::vector<GemmLibrary> libraries = gemm_libraries_for(cpu_features());
  return libraries;
}

std::string gemm_library() { return gemm_libraries().front().name; }
std::string gemm_instruction_set() { return gemm_libraries().front().instruction_set; }
std::string gemm_bf16() { return gemm_libraries().front().bf16; }

void gemm_with(const GemmLibrary& library, const Gemm& given) {
  if (given.m == 0 || given.n == 0) return;
  if (given.k == 0) return clear(given);
  const EasyB easy(library, given);
  const Gemm& p = easy.product();
  const Panels cuts = cut_panels(p.m, p.n, p.k, /*may_cut_k=*/true);
  if (cuts.k.count() > 1) return product_in_pieces(library, p, cuts);
  parallel_for(cuts.count(), [&](int64_t i) { panel_product(library, panel_of(p, cuts, i)); });
}

void gemm(Cpu, const Gemm& p) { gemm_with(library_for(p.in, p.out), p); }

void gemm_batched(Cpu, const Gemm& first, int64_t n_batch, int64_t stride_a, int64_t stride_b,
                  int64_t stride_c) {
  const auto moved = [](const void* base, int64_t elements, DType dtype) {
    return static_cast<const char*>(base) + elements * size_of(dtype);
  };
  parallel_for(n_batch, [&](int64_t i) {
    Gemm p = first;
    p.a = moved(first.a, i * stride_a, first.in);
    p.b = moved(first.b, i * stride_b, first.in);
    p.c = const_cast<char*>(moved(first.c, i * stride_c, first.out));
    gemm(Cpu{}, p);
  });
}

}  // namespace farfield
