// y = f(x w^T + bias) with bias and activation applied to each panel of the product, and the way
// back.

#include <algorithm>

#include "engine/cpu/gemm/cut_product.h"
#include "engine/vector_math.h"

namespace farfield {
namespace {

// Elements handled at a time through a local array: output and input may be the same, and a loop
// over possibly equal pointers would not become vector code.
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
  const Gemm p = product_of({x}, {w, true}, u);
  const bool gelu = activation == Activation::gelu;
  if (!bias.defined() && !gelu) return gemm(Cpu{}, p);
  if (p.m == 0 || p.n == 0) return;

  // The inner dimension stays whole, so that the panel is finished when its product is.
  CutProduct product(library_for(p.in, accumulate_dtype(p.in), p.m), p, /*may_cut_k=*/false);
  dispatch_float(x.dtype(), [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    const Epilogue<T> epilogue{bias.defined() ? bias.data<A>() : nullptr, gelu, u.data<T>(),
                               gelu ? y.data<T>() : nullptr, p.n};
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

void linear_weight_backward(Cpu device, const Tensor& x, const Tensor& du, Tensor& dw,
                            Tensor& dbias) {
  linear_weight_backward_apart(device, x, du, dw, dbias);
}

}  // namespace farfield
