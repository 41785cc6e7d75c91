// y = f(x w^T + bias) with bias and activation applied to each panel of the product, and the way
// back.

#include <algorithm>

#include "engine/cpu/gelu.h"
#include "engine/cpu/gemm/cut_product.h"
#include "engine/cpu/sum_of.h"

namespace farfield {
namespace {

// What the way back needs of u = x w^T + bias: f'(u), or in bfloat16, where a rounded slope would
// be less exact, u itself.
template <class T>
inline constexpr bool kKeepsSlope = std::is_same_v<T, Accumulate<T>>;

// One panel of linear_forward after its product: sums (float32 for bfloat16) to kept and y. sums
// may be kept, or y.
template <class T>
struct Epilogue {
  using A = Accumulate<T>;
  using V = lanes::Vec<A>;
  static constexpr int64_t kWidth = lanes::kLanes<A>;

  const A* bias;  // or nullptr
  bool gelu;
  T* kept;  // or nullptr
  T* y;
  int64_t n;

  void operator()(const A* sums, int64_t stride, int64_t m0, int64_t rows, int64_t n0,
                  int64_t columns) const {
    for (int64_t row = 0; row < rows; ++row, sums += stride) {
      const int64_t offset = (m0 + row) * n + n0;
      if (bias == nullptr)
        write([=](auto at) { return at(sums); }, offset, columns);
      else
        write([=, b = bias + n0](auto at) { return at(sums) + at(b); }, offset, columns);
    }
  }

 private:
  template <class F>
  void write(const F& u, int64_t offset, int64_t size) const {
    T* const to_y = y + offset;
    if (gelu)
      return kept == nullptr ? write_gelu<false>(u, to_y, to_y, size)
                             : write_gelu<true>(u, to_y, kept + offset, size);
    int64_t i = 0;
    for (; i + kWidth <= size; i += kWidth) lanes::store_rounded(to_y + i, u(At<V>{i}));
    for (; i < size; ++i) to_y[i] = static_cast<T>(u(At<A>{i}));
  }

  // to_kept is not written unless kKeeps.
  template <bool kKeeps, class F>
  static void write_gelu(const F& u, T* to_y, T* to_kept, int64_t size) {
    const lanes::GeluLanes<A> gelu_of;
    const auto put = [&](V x, T* value, T* left) {
      const lanes::Gelu<A> f = gelu_of(x);
      lanes::store_rounded(value, f.value);
      if constexpr (kKeeps) lanes::store_rounded(left, kKeepsSlope<T> ? f.slope : x);
    };
    int64_t i = 0;
    for (; i + kWidth <= size; i += kWidth) put(u(At<V>{i}), to_y + i, to_kept + i);
    if (i == size) return;
    A rest[kWidth] = {};
    for (int64_t l = 0; i + l < size; ++l) rest[l] = u(At<A>{i + l});
    T value[kWidth], left[kWidth];
    put(lanes::load(rest), value, left);
    std::copy_n(value, size - i, to_y + i);
    if constexpr (kKeeps) std::copy_n(left, size - i, to_kept + i);
  }
};

// du = dy f'(u) over a row, and its sums; du may be dy or kept.
template <class T>
void gelu_backward_row(const T* kept, const T* dy, T* du, Accumulate<T>* sums, int64_t n) {
  using A = Accumulate<T>;
  constexpr int64_t kWidth = lanes::kLanes<A>;
  const lanes::GeluLanes<A> gelu;
  const auto product = [&](const T* x, const T* g, T* to) {
    const lanes::Vec<A> left = lanes::load_wide(x);
    lanes::store_rounded(to, lanes::load_wide(g) * (kKeepsSlope<T> ? left : gelu(left).slope));
  };
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    product(kept + i, dy + i, du + i);
    if (sums != nullptr)
      lanes::store<A>(sums + i, lanes::load(sums + i) + lanes::load_wide(du + i));
  }
  if (i < n) {
    T x[kWidth] = {}, g[kWidth] = {}, to[kWidth];
    std::copy_n(kept + i, n - i, x);
    std::copy_n(dy + i, n - i, g);
    product(x, g, to);
    std::copy_n(to, n - i, du + i);
    for (; sums != nullptr && i < n; ++i) sums[i] += static_cast<A>(du[i]);
  }
}

}  // namespace

void linear_forward(Cpu, const Tensor& x, const Tensor& w, const Tensor& bias,
                    Activation activation, Tensor& kept, Tensor& y) {
  const bool gelu = activation == Activation::gelu;
  if (!bias.defined() && !gelu) return gemm(Cpu{}, product_of({x}, {w, true}, y));
  // In float32 the sums lie where a result will.
  const Gemm p = product_of({x}, {w, true}, kept.defined() ? kept : y);
  if (p.m == 0 || p.n == 0) return;

  // The inner dimension stays whole, so that the panel is finished when its product is.
  CutProduct product(library_for(p.in, accumulate_dtype(p.in), p.m), p, /*may_cut_k=*/false);
  dispatch_float(x.dtype(), [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    const Epilogue<T> epilogue{bias.defined() ? bias.data<A>() : nullptr, gelu,
                               kept.defined() ? kept.data<T>() : nullptr, y.data<T>(), p.n};
    constexpr bool kInPlace = std::is_same_v<T, A>;
    product.for_each_panel([&](Panel panel) {
      Gemm& part = panel.product;
      Buffer<A> sums(kInPlace ? 0 : part.m * part.n);
      if constexpr (!kInPlace) {
        part.c = sums.data();
        part.ldc = part.n;
        part.out = dtype_of<A>;
      }
      product.multiply(panel);
      epilogue(static_cast<const A*>(part.c), part.ldc, panel.m0, part.m, panel.n0, part.n);
    });
  });
}

void linear_activation_backward(Cpu, const Tensor& kept, const Tensor& dy, Activation activation,
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
    const T* const from_kept = gelu ? kept.data<T>() : nullptr;
    const T* const from_dy = dy.data<T>();
    T* const to_du = gelu ? du.data<T>() : nullptr;
    parallel_for(cut_rows.count(), [&](int64_t chunk) {
      A* const sums = dbias.defined() ? partial.data() + chunk * n : nullptr;
      if (sums != nullptr) std::fill(sums, sums + n, A(0));
      for (int64_t row = 0; row < cut_rows.length(chunk); ++row) {
        const int64_t offset = (cut_rows.begin(chunk) + row) * n;
        const T* const g = from_dy + offset;
        if (gelu)
          gelu_backward_row(from_kept + offset, g, to_du + offset, sums, n);
        else
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

void linear_weight_backward(Cpu device, const Tensor& x, const Tensor& du, Tensor& dw,
                            Tensor& dbias) {
  linear_weight_backward_apart(device, x, du, dw, dbias);
}

}  // namespace farfield
