#pragma once
// Products of matrices whose rows may lie apart, and what they should be by plain loops.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <utility>
#include <vector>

#include "engine/cpu/gemm/library.h"
#include "tests/support/all_close.h"
#include "tests/support/dot.h"
#include "tests/support/random_tensor.h"

namespace farfield::test {

struct Size {
  int64_t m, n, k;
};

/// A product with its buffers; rows are `gap` elements longer than they need to be.
struct Product {
  Tensor a, b, c;
  Gemm gemm;

  Product(Size s, bool transpose_a, bool transpose_b, DType in, DType out, int64_t gap = 0,
          bool accumulate = false) {
    const int64_t lda = (transpose_a ? s.m : s.k) + gap, ldb = (transpose_b ? s.k : s.n) + gap;
    a = random_tensor({transpose_a ? s.k : s.m, lda}, 1, -1, 1, in);
    b = random_tensor({transpose_b ? s.n : s.k, ldb}, 2, -1, 1, in);
    c = random_tensor({s.m, s.n + gap}, 3, -1, 1, out);
    gemm.m = s.m;
    gemm.n = s.n;
    gemm.k = s.k;
    gemm.transpose_a = transpose_a;
    gemm.transpose_b = transpose_b;
    gemm.a = a.raw_data();
    gemm.b = b.raw_data();
    gemm.c = c.raw_data();
    gemm.lda = lda;
    gemm.ldb = ldb;
    gemm.ldc = s.n + gap;
    gemm.in = in;
    gemm.out = out;
    gemm.accumulate = accumulate;
  }

  /// What c should become, elements beyond each row included, by plain loops in float64.
  std::vector<double> expected() const {
    const auto x = rows_of(a, gemm.transpose_a, gemm.m, gemm.k, gemm.lda);
    const auto y = rows_of(b, !gemm.transpose_b, gemm.n, gemm.k, gemm.ldb);
    std::vector<double> result = c.to_vector();
    for (int64_t i = 0; i < gemm.m; ++i)
      for (int64_t j = 0; j < gemm.n; ++j) {
        double& to = result[static_cast<size_t>(i * gemm.ldc + j)];
        to = (gemm.accumulate ? to : 0) +
             test::dot(x.data() + i * gemm.k, y.data() + j * gemm.k, gemm.k);
      }
    return result;
  }

 private:
  // An operand as rows along the inner dimension.
  static std::vector<double> rows_of(const Tensor& stored, bool transposed, int64_t rows, int64_t k,
                                     int64_t ld) {
    const auto values = stored.to_vector();
    std::vector<double> result(static_cast<size_t>(rows * k));
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t l = 0; l < k; ++l)
        result[static_cast<size_t>(i * k + l)] =
            values[static_cast<size_t>(transposed ? l * ld + i : i * ld + l)];
    return result;
  }
};

inline const std::vector<std::pair<DType, DType>> kTypes = {{DType::f32, DType::f32},
                                                            {DType::f64, DType::f64},
                                                            {DType::bf16, DType::bf16},
                                                            {DType::bf16, DType::f32}};

inline bool can(const GemmLibrary& library, DType in) {
  return in == DType::bf16 ? library.takes(DType::f32, DType::f32) : library.takes(in, in);
}

/// gemm_with() of every type and form that a library can. The result is within the tolerance of
/// products, and nothing between its rows is written.
inline void check_against_loops(const GemmLibrary& library, Size s, int64_t gap, bool accumulate) {
  for (const auto& [in, out] : kTypes) {
    if (!can(library, in)) continue;
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true}) {
        Product p(s, transpose_a, transpose_b, in, out, gap, accumulate);
        const auto want = p.expected();
        gemm_with(library, p.gemm);
        // Sums of k products of size one: beyond a few hundred the error grows like their root.
        Tolerance tol = tolerance(out, Work::product);
        if (s.k > 400) tol.absolute *= std::max(2.0, std::sqrt(static_cast<double>(s.k) / 500));
        BOOST_TEST(all_close(p.c.to_vector(), want, tol, p.c.shape()),
                   library.name << ": " << s.m << " x " << s.n << " x " << s.k << ", " << in
                                << " to " << out << ", transposed " << transpose_a << transpose_b
                                << ", accumulate " << accumulate);
      }
  }
}

}  // namespace farfield::test
