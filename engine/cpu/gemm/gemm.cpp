#include <algorithm>

#include "engine/cpu/gemm/cut_product.h"
#include "engine/cpu/gemm/library.h"
#include "engine/cpu/gemm/thin.h"

namespace farfield {
namespace {

// The sum of the parts of the inner dimension, computed apart and added in order.
void product_in_parts(CutProduct& product, const Gemm& p) {
  const int64_t n_part = product.cuts().k.count();
  const DType acc = accumulate_dtype(p.in);
  const int64_t size = p.m * p.n;
  Storage partial(n_part * size * size_of(acc), Device{});
  product.for_each_panel([&](Panel panel) {
    const int64_t offset = panel.ik * size + panel.m0 * p.n + panel.n0;
    panel.product.c = static_cast<char*>(partial.data()) + offset * size_of(acc);
    panel.product.out = acc;
    panel.product.ldc = p.n;
    panel.product.accumulate = false;
    product.multiply(panel);
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
          for (int64_t ik = 0; ik < n_part; ++ik) sum += parts[ik * size + row * p.n + col];
          to[col] = static_cast<T>(sum);
        }
      }
    });
  });
}

// A long inner dimension part by part, so that little memory is needed.
void product_of_long(const GemmLibrary& library, Gemm p, int64_t longest) {
  const DType acc = accumulate_dtype(p.in);
  const Gemm given = p;
  Storage sums(p.out == acc ? 0 : p.m * p.n * size_of(acc), Device{});
  if (p.out != acc) {
    p.c = sums.data();
    p.ldc = p.n;
    p.out = acc;
    p.accumulate = false;
  }
  for (int64_t k = 0; k < p.k; k += longest) {
    gemm_with(library, part_of(p, 0, p.m, 0, p.n, k, std::min(longest, p.k - k)));
    p.accumulate = true;
  }
  if (given.out == acc) return;
  const auto* const from = static_cast<const float*>(p.c);
  auto* const to = static_cast<BFloat16*>(given.c);
  parallel_for(p.m, [&](int64_t row) {
    for (int64_t col = 0; col < p.n; ++col) {
      BFloat16& x = to[row * given.ldc + col];
      const float before = given.accumulate ? static_cast<float>(x) : 0;
      x = BFloat16(before + from[row * p.n + col]);
    }
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

std::vector<GemmLibrary> gemm_libraries_for(const CpuFeatures& features) {
  std::vector<GemmLibrary> libraries;
#ifdef FARFIELD_HAS_ONEDNN
  libraries.push_back(onednn_library(features));
#endif
  const bool bf16_is_taken =
      !libraries.empty() && libraries.front().takes(DType::bf16, DType::f32);  // by AMX
  libraries.insert(libraries.begin(), own_library(features, !bf16_is_taken));
  libraries.push_back(eigen_library());
  return libraries;
}

const std::vector<GemmLibrary>& gemm_libraries() {
  static const std::vector<GemmLibrary> libraries = gemm_libraries_for(cpu_features());
  return libraries;
}

namespace {

// For products of a training step.
const GemmLibrary& library_of_steps(DType in) {
  return library_for(in, accumulate_dtype(in), 1024);
}

}  // namespace

std::string gemm_library(DType in) { return library_of_steps(in).name; }
std::string gemm_instruction_set() { return library_of_steps(DType::f32).instruction_set; }
std::string gemm_bf16() { return library_of_steps(DType::bf16).bf16; }
std::vector<std::string> gemm_libraries_for(DType in) {
  std::vector<std::string> names = {gemm_library(in)};
  for (const GemmLibrary& library : gemm_libraries())
    if (library.name != names.front() &&
        (in != DType::f64 ? library.takes(DType::f32, DType::f32) : library.takes(in, in)))
      names.push_back(library.name);
  return names;
}

void gemm_by(const std::string& name, const Gemm& product) {
  for (const GemmLibrary& library : gemm_libraries())
    if (library.name == name) return gemm_with(library, product);
  fail<ConfigError>("gemm", "expected a library of this build, got ", name);
}

bool gemm_multiplies_pairs() { return library_of_steps(DType::bf16).multiplies_pairs; }

void gemm_with(const GemmLibrary& library, const Gemm& p) {
  if (p.m == 0 || p.n == 0) return;
  if (p.k == 0) return clear(p);
  if (const int64_t longest = longest_inner(library, p); longest < p.k)
    return product_of_long(library, p, longest);
  CutProduct product(library, p, /*may_cut_k=*/true);
  if (product.cuts().k.count() > 1) return product_in_parts(product, p);
  product.for_each_panel([&](const Panel& panel) { product.multiply(panel); });
}

void gemm(Cpu, const Gemm& p) {
  if (p.m > 0) gemm_with(library_for(p.in, p.out, p.m), p);
}

// As gemm_with() cuts it: in one part and one slice of the inner dimension, whose sums are added to
// C once, by an FMA with 1.
bool adds_exactly(Cpu, DType in, int64_t m, int64_t n, int64_t k) {
  if (m == 0 || n == 0 || k == 0) return false;
  const GemmLibrary& library = library_for(in, accumulate_dtype(in), m);
  const Gemm p{.m = m, .n = n, .k = k, .transpose_a = true, .in = in, .out = accumulate_dtype(in)};
  return library.packed != nullptr && !is_thin(p) && k <= library.packed->slice(p) &&
         k <= longest_inner(library, p);
}

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
