#include "engine/cpu/gemm.h"

#include <algorithm>
#include <cmath>

#include "engine/base/parallel.h"
#include "engine/storage.h"
#include "engine/vector_math.h"

namespace farfield {
namespace {

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

// Memory of the allocator, so that it is counted and used again; one per use, on any thread.
template <class T>
class Buffer {
 public:
  explicit Buffer(int64_t size) : storage_(size * static_cast<int64_t>(sizeof(T)), Device{}) {}
  T* data() { return static_cast<T*>(storage_.data()); }

 private:
  Storage storage_;
};

// Pieces of a length, all but the last of the same size.
struct Cut {
  int64_t size, step;
  int64_t count() const { return ceil_div(size, step); }
  int64_t begin(int64_t i) const { return i * step; }
  int64_t length(int64_t i) const { return std::min(step, size - i * step); }
};
// About `pieces` pieces, each a multiple of `unit`.
Cut cut(int64_t size, int64_t pieces, int64_t unit) {
  return {size, std::max<int64_t>(unit, round_up(ceil_div(size, pieces), unit))};
}

// How a product is cut, by its shape alone: into panels of C, and, where those are few, of the
// inner dimension as well.
struct Panels {
  Cut m, n, k;
  int64_t count() const { return m.count() * n.count(); }
};

// Measured with oneDNN on AVX2 (apps/BENCHMARKS.md): smaller panels pack their operands too often,
// larger ones leave the cache before the epilogue and keep threads waiting at the end.
constexpr int64_t kPanelRows = 256, kPanelColumns = 768;
constexpr int64_t kManyPanels = 16;               // enough to share out evenly
constexpr int64_t kDeepPiece = 512;               // the shortest piece of the inner dimension
constexpr int64_t kLeastWork = int64_t{1} << 20;  // multiply-adds that are worth a panel

Panels panels_of(int64_t m, int64_t n, int64_t k) {
  Panels p{cut(m, ceil_div(m, kPanelRows), 16), cut(n, ceil_div(n, kPanelColumns), 16), {k, k}};
  const int64_t rows = ceil_div(kLeastWork, std::max<int64_t>(1, p.n.step * k));
  if (p.m.step < rows) p.m.step = round_up(std::min(rows, m), 16);
  if (p.count() < kManyPanels && k >= 2 * kDeepPiece)
    p.k = cut(k, std::min(ceil_div(kManyPanels, p.count()), k / kDeepPiece), 16);
  return p;
}

const char* at(const void* base, int64_t element, DType dtype) {
  return static_cast<const char*>(base) + element * size_of(dtype);
}

// The product of one panel: rows [m0, m0 + m) and columns [n0, n0 + n) of C, [k0, k0 + k) inside.
Gemm panel_of(const Gemm& p, int64_t m0, int64_t m, int64_t n0, int64_t n, int64_t k0, int64_t k) {
  Gemm panel = p;
  panel.m = m;
  panel.n = n;
  panel.k = k;
  panel.a = at(p.a, p.transpose_a ? k0 * p.lda + m0 : m0 * p.lda + k0, p.in);
  panel.b = at(p.b, p.transpose_b ? n0 * p.ldb + k0 : k0 * p.ldb + n0, p.in);
  panel.c = const_cast<char*>(at(p.c, m0 * p.ldc + n0, p.out));
  return panel;
}

void widen(const BFloat16* from, int64_t stride, int64_t rows, int64_t columns, float* to) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      to[r * columns + c] = static_cast<float>(from[r * stride + c]);
}

// A bfloat16 panel through a float32 product, a slice of the inner dimension at a time.
void widened_product(const GemmLibrary& library, const Gemm& p) {
  constexpr int64_t kSlice = 512;
  const int64_t slice = std::min(p.k, kSlice);
  Buffer<float> a(p.m * slice), b(p.n * slice), c(p.out == DType::bf16 ? p.m * p.n : 0);
  Gemm wide = p;
  wide.in = wide.out = DType::f32;
  wide.a = a.data();
  wide.b = b.data();
  if (p.out == DType::bf16) {
    wide.c = c.data();
    wide.ldc = p.n;
    if (p.accumulate) widen(static_cast<const BFloat16*>(p.c), p.ldc, p.m, p.n, c.data());
  }
  for (int64_t k0 = 0; k0 < p.k; k0 += slice) {
    const Gemm part = panel_of(p, 0, p.m, 0, p.n, k0, std::min(slice, p.k - k0));
    const auto load = [&](const void* from, int64_t ld, bool transposed, int64_t outer, float* to) {
      const int64_t rows = transposed ? outer : part.k, columns = transposed ? part.k : outer;
      widen(static_cast<const BFloat16*>(from), ld, rows, columns, to);
      return columns;
    };
    wide.k = part.k;
    wide.lda = load(part.a, p.lda, !p.transpose_a, p.m, a.data());
    wide.ldb = load(part.b, p.ldb, p.transpose_b, p.n, b.data());
    library.product(wide);
    wide.accumulate = true;
  }
  if (p.out == DType::bf16) {
    auto* const out = static_cast<BFloat16*>(p.c);
    for (int64_t r = 0; r < p.m; ++r)
      for (int64_t col = 0; col < p.n; ++col)
        out[r * p.ldc + col] = BFloat16(c.data()[r * p.n + col]);
  }
}

void panel_product(const GemmLibrary& library, const Gemm& panel) {
  if (library.takes(panel.in, panel.out))
    library.product(panel);
  else
    widened_product(library, panel);
}

const GemmLibrary& library_for(DType in, DType out) {
  const auto& all = gemm_libraries();
  for (const DType dtype : {in, DType::f32})  // bfloat16 as it is, else widened
    for (const GemmLibrary& library : all)
      if (library.takes(dtype, dtype == in ? out : DType::f32)) return library;
  fail<DTypeError>("gemm", "expected float32, float64 or bfloat16, got ", in);
}

// The sum of the pieces of the inner dimension, computed apart and added in order.
void gemm_in_pieces(const GemmLibrary& library, const Gemm& p, const Panels& cuts) {
  const DType acc = accumulate_dtype(p.in);
  Storage partial(cuts.k.count() * p.m * p.n * size_of(acc), Device{});
  Gemm piece = p;
  piece.out = acc;
  piece.ldc = p.n;
  piece.accumulate = false;
  parallel_for(cuts.k.count() * cuts.count(), [&](int64_t i) {
    const int64_t ik = i / cuts.count(), im = i % cuts.count() / cuts.n.count(),
                  in = i % cuts.n.count();
    Gemm panel = piece;
    panel.c = static_cast<char*>(partial.data()) + ik * p.m * p.n * size_of(acc);
    panel_product(library, panel_of(panel, cuts.m.begin(im), cuts.m.length(im), cuts.n.begin(in),
                                    cuts.n.length(in), cuts.k.begin(ik), cuts.k.length(ik)));
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
          for (int64_t ik = 0; ik < cuts.k.count(); ++ik)
            sum += parts[(ik * p.m + row) * p.n + col];
          to[col] = static_cast<T>(sum);
        }
      }
    });
  });
}

void clear(const Gemm& p) {
  if (p.accumulate) return;
  for (int64_t row = 0; row < p.m; ++row) {
    char* const begin = const_cast<char*>(at(p.c, row * p.ldc, p.out));
    std::fill(begin, begin + p.n * size_of(p.out), char{0});
  }
}

}  // namespace

const std::vector<GemmLibrary>& gemm_libraries() {
  static const std::vector<GemmLibrary> libraries = {
#ifdef FARFIELD_HAS_ONEDNN
      onednn_library(),
#endif
      eigen_library()};
  return libraries;
}

std::string gemm_library() { return gemm_libraries().front().name; }

void gemm_with(const GemmLibrary& library, const Gemm& p) {
  if (p.m == 0 || p.n == 0) return;
  if (p.k == 0) return clear(p);
  const Panels cuts = panels_of(p.m, p.n, p.k);
  if (cuts.k.count() > 1) return gemm_in_pieces(library, p, cuts);
  parallel_for(cuts.count(), [&](int64_t i) {
    const int64_t im = i / cuts.n.count(), in = i % cuts.n.count();
    panel_product(library, panel_of(p, cuts.m.begin(im), cuts.m.length(im), cuts.n.begin(in),
                                    cuts.n.length(in), 0, p.k));
  });
}

void gemm(Cpu, const Gemm& p) { gemm_with(library_for(p.in, p.out), p); }

void gemm_batched(Cpu, const Gemm& first, int64_t n_batch, int64_t stride_a, int64_t stride_b,
                  int64_t stride_c) {
  parallel_for(n_batch, [&](int64_t i) {
    Gemm p = first;
    p.a = at(first.a, i * stride_a, first.in);
    p.b = at(first.b, i * stride_b, first.in);
    p.c = const_cast<char*>(at(first.c, i * stride_c, first.out));
    gemm(Cpu{}, p);
  });
}

namespace {

// Elements handled at a time through a local array: what is written may be what is read, and a
// loop over possibly equal pointers would not become vector code.
constexpr int64_t kBlock = 256;

// One panel of linear_forward after its product: sums (float32 for bfloat16) to u and y.
template <class T>
struct Epilogue {
  using A = Accumulate<T>;
  const A* bias;  // or nullptr
  bool gelu;
  T* u;
  T* y;  // with gelu
  int64_t n;

  void operator()(const A* sums, int64_t stride, int64_t m0, int64_t rows, int64_t n0,
                  int64_t columns) const {
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t col = 0; col < columns; col += kBlock) {
        const int64_t offset = (m0 + row) * n + n0 + col;
        block(sums + row * stride + col, bias == nullptr ? nullptr : bias + n0 + col, u + offset,
              gelu ? y + offset : nullptr, std::min(kBlock, columns - col));
      }
  }

 private:
  static void block(const A* sums, const A* b, T* to_u, T* to_y, int64_t size) {
    A local[kBlock];
    if (b != nullptr)
      for (int64_t i = 0; i < size; ++i) local[i] = sums[i] + b[i];
    else
      std::copy(sums, sums + size, local);
    for (int64_t i = 0; i < size; ++i) to_u[i] = static_cast<T>(local[i]);
    if (to_y == nullptr) return;
    for (int64_t i = 0; i < size; ++i) to_y[i] = static_cast<T>(fast_gelu(local[i]));
  }
};

// du = dy gelu'(u) over a row; du may be dy or u.
template <class T>
void gelu_backward_row(const T* u, const T* dy, T* du, int64_t n) {
  using A = Accumulate<T>;
  A local[kBlock];
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t size = std::min(kBlock, n - begin);
    for (int64_t i = 0; i < size; ++i)
      local[i] = static_cast<A>(dy[begin + i]) * fast_gelu_grad(static_cast<A>(u[begin + i]));
    for (int64_t i = 0; i < size; ++i) du[begin + i] = static_cast<T>(local[i]);
  }
}

}  // namespace

void linear_forward(Cpu, const Tensor& x, const Tensor& w, const Tensor& bias,
                    Activation activation, Tensor& u, Tensor& y) {
  const int64_t n_in = w.dim(1), n_out = w.dim(0);
  Gemm p;
  p.m = x.numel() / std::max<int64_t>(1, n_in);
  p.n = n_out;
  p.k = n_in;
  p.transpose_b = true;
  p.a = x.raw_data();
  p.b = w.raw_data();
  p.c = u.raw_data();
  p.lda = p.ldb = n_in;
  p.ldc = n_out;
  p.in = p.out = x.dtype();
  const bool gelu = activation == Activation::gelu;
  if (!bias.defined() && !gelu) return gemm(Cpu{}, p);
  if (p.m == 0 || p.n == 0) return;

  // The inner dimension stays whole, so that the panel is finished when its product is.
  const Panels cuts = panels_of(p.m, p.n, p.k);
  dispatch_float(x.dtype(), [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    const Epilogue<T> epilogue{bias.defined() ? bias.data<A>() : nullptr, gelu, u.data<T>(),
                               gelu ? y.data<T>() : nullptr, n_out};
    constexpr bool kInPlace = std::is_same_v<T, A>;
    const GemmLibrary& library = library_for(p.in, accumulate_dtype(p.in));
    parallel_for(cuts.count(), [&](int64_t i) {
      const int64_t im = i / cuts.n.count(), in = i % cuts.n.count();
      const int64_t m0 = cuts.m.begin(im), n0 = cuts.n.begin(in);
      Gemm panel = panel_of(p, m0, cuts.m.length(im), n0, cuts.n.length(in), 0, p.k);
      Buffer<A> sums(kInPlace ? 0 : panel.m * panel.n);
      if constexpr (!kInPlace) {
        panel.c = sums.data();
        panel.ldc = panel.n;
        panel.out = dtype_of<A>;
      }
      if (p.k == 0)
        clear(panel);
      else
        panel_product(library, panel);
      epilogue(static_cast<const A*>(panel.c), panel.ldc, m0, panel.m, n0, panel.n);
    });
  });
}

void linear_activation_backward(Cpu, const Tensor& u, const Tensor& dy, Activation activation,
                                Tensor& du, Tensor& dbias) {
  const int64_t n = dy.dim(-1), rows = n == 0 ? 0 : dy.numel() / n;
  const bool gelu = activation == Activation::gelu;
  if (!gelu && !dbias.defined()) return;
  dispatch_float(dy.dtype(), [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    constexpr int64_t kRows = 64;  // of a partial sum
    const Cut cut_rows{rows, kRows};
    Buffer<A> partial(dbias.defined() ? cut_rows.count() * n : 0);
    const T* const from_u = gelu ? u.data<T>() : nullptr;
    const T* const from_dy = dy.data<T>();
    T* const to_du = gelu ? du.data<T>() : nullptr;
    parallel_for(cut_rows.count(), [&](int64_t chunk) {
      A* const sums = dbias.defined() ? partial.data() + chunk * n : nullptr;
      if (sums != nullptr) std::fill(sums, sums + n, A(0));
      for (int64_t row = 0; row < cut_rows.length(chunk); ++row) {
        const int64_t offset = (cut_rows.begin(chunk) + row) * n;
        const T* g = from_dy + offset;
        if (gelu) {
          T* const out = to_du + offset;
          gelu_backward_row(from_u + offset, g, out, n);
          g = out;
        }
        if (sums != nullptr)
          for (int64_t i = 0; i < n; ++i) sums[i] += static_cast<A>(g[i]);
      }
    });
    if (!dbias.defined()) return;
    A* const total = dbias.data<A>();
    std::fill(total, total + n, A(0));
    for (int64_t chunk = 0; chunk < cut_rows.count(); ++chunk)
      for (int64_t i = 0; i < n; ++i) total[i] += partial.data()[chunk * n + i];
  });
}

}  // namespace farfield
