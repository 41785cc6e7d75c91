// Products by register blocks over packed operands.
#include <boost/test/unit_test.hpp>

#include "engine/autograd.h"
#include "engine/cpu/gemm/library.h"
#include "engine/kernels/gemm.h"
#include "engine/ops/matmul.h"
#include "engine/ops/pointwise.h"
#include "tests/engine/cpu/gemm/cases.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_blocked)  // ctest: arm64
namespace {

using namespace test;

const GemmLibrary& packing() {
  for (const GemmLibrary& library : gemm_libraries())
    if (library.packed != nullptr) return library;
  fail<BackendError>("test", "expected a library that packs, got none");
}

// Blocks with few rows and columns; whole, odd and several slices of the inner dimension.
BOOST_AUTO_TEST_CASE(blocks_at_every_edge_agree_with_plain_loops) {
  for (const int64_t m : {11, 12, 13, 25})
    for (const int64_t n : {15, 33, 40})
      for (const int64_t k : {2, 17, 64, 531})
        for (const bool accumulate : {false, true})
          check_against_loops(packing(), {m, n, k}, 1, accumulate);
}

BOOST_AUTO_TEST_CASE(panels_of_rows_and_columns_agree_with_plain_loops) {
  check_against_loops(packing(), {100, 530, 19}, 0, true);
}

// A gradient is added to a sum by the product itself where this does not change a bit, the sign of
// a zero among them.
BOOST_AUTO_TEST_CASE(a_product_is_added_as_a_whole_where_it_says_so) {
  const auto check = [](const Tensor& a, const Tensor& b, Tensor sum) {
    Tensor alone = Tensor::empty(sum.shape());
    gemm(Cpu{}, product_of({a, true}, {b}, alone));
    const Tensor expected = sum + alone;
    Gemm adding = product_of({a, true}, {b}, sum);
    adding.accumulate = true;
    gemm(Cpu{}, adding);
    BOOST_TEST(same_bits(sum, expected));
  };
  int n_exact = 0;
  for (const DType in : {DType::f32, DType::bf16})
    for (const int64_t k : {1, 2, 100, 256, 512, 1024, 3000}) {
      constexpr int64_t kRows = 200, kColumns = 1050;  // several panels
      if (!adds_exactly(Cpu{}, in, kRows, kColumns, k)) continue;
      ++n_exact;
      const Tensor a = random_tensor({k, kRows}, 1, -1, 1, in);
      const Tensor b = random_tensor({k, kColumns}, 2, -1, 1, in);
      check(a, b, random_tensor({kRows, kColumns}, 3, -1, 1, DType::f32));
      check(Tensor::full({k, kRows}, 0, in), b, Tensor::full({kRows, kColumns}, -0.0));
    }
  BOOST_TEST(n_exact >= 3);
  BOOST_TEST(!adds_exactly(Cpu{}, DType::f32, 70, 50, 3000));
  BOOST_TEST(!adds_exactly(Cpu{}, DType::f32, 70, 1, 100));  // thin
  BOOST_TEST(!adds_exactly(Cpu{}, DType::f64, 70, 50, 100));
  BOOST_TEST(!adds_exactly(Cpu{}, DType::f32, 70, 50, 0));
}

// Inner dimensions of dw that are summed as a whole, and longer ones.
BOOST_AUTO_TEST_CASE(the_gradient_of_the_weight_is_added_to_a_sum_in_place) {
  for (const DType type : {DType::f32, DType::bf16})
    for (const int64_t n_row : {200, 3000})
      for (const Activation activation : {Activation::none, Activation::gelu}) {
        const Tensor x = random_tensor({n_row, 40}, 1, -1, 1, type);
        const Tensor dy = random_tensor({n_row, 70}, 2, -1, 1, type);
        const auto gradient = [&](const LeafCalls& calls) {
          Tensor w = random_tensor({70, 40}, 3, -1, 1, DType::f32);
          w.set_requires_grad();
          const Tensor y = linear(x, w, {}, activation);
          backward(y, dy, calls);
          return w.grad();
        };
        const Tensor alone = gradient({});
        const Tensor sum = random_tensor({70, 40}, 4, -1, 1, DType::f32), expected = sum + alone;
        int n_asked = 0;
        const Tensor got = gradient({.take_sum = [&](const Tensor&) {
          ++n_asked;
          return sum;
        }});
        const bool is_short = adds_exactly(Cpu{}, type, 70, 40, n_row);
        if (type == DType::f32) BOOST_TEST(is_short == (n_row == 200));
        BOOST_TEST(n_asked == (is_short ? 1 : 0));
        BOOST_TEST((got.raw_data() == sum.raw_data()) == is_short);
        BOOST_TEST(same_bits(got, is_short ? expected : alone));
      }
}

// B on cache lines of its own is read where it is stored, and elsewhere packed: with the same bits.
BOOST_AUTO_TEST_CASE(where_b_is_read_does_not_matter) {
  constexpr int64_t kRows = 100, kColumns = 64, kInner = 700;
  const Tensor a = random_tensor({kInner, kRows}, 1, -1, 1, DType::f32);
  const Tensor room = random_tensor({kInner * kColumns + 16}, 2, -1, 1, DType::f32);
  const Tensor b = room.view({kInner, kColumns});
  Tensor moved = room.clone().view({kInner, kColumns}, 1);
  moved.assign(b);
  const auto product = [&](const Tensor& from, bool reads) {
    Tensor c = Tensor::zeros({kRows, kColumns});
    const Gemm p = product_of({a, true}, {from}, c);
    BOOST_TEST(packing().packed->reads_b(p) == reads);
    gemm_with(packing(), p);
    return c;
  };
  BOOST_TEST(same_bits(product(b, true), product(moved, false)));
  Tensor c = Tensor::zeros({kRows, kColumns});
  const Gemm p = product_of({a, true}, {b}, c);
  const auto reads = [&](auto change) {
    Gemm other = p;
    change(other);
    return packing().packed->reads_b(other);
  };
  BOOST_TEST(!reads([](Gemm& x) { x.n = 63; }));
  BOOST_TEST(!reads([](Gemm& x) { x.ldb = 66; }));
  BOOST_TEST(!reads([](Gemm& x) { x.ldb = 2048; }));
  BOOST_TEST(!reads([](Gemm& x) { x.transpose_b = true; }));
  BOOST_TEST(!reads([](Gemm& x) { x.in = DType::bf16; }));
}

// Rows of A a multiple of a page apart, and pairs of bfloat16 that begin at an odd element, are
// copied, others read where they are stored: with the same bits.
BOOST_AUTO_TEST_CASE(where_a_is_read_does_not_matter) {
  constexpr int64_t kRows = 100, kColumns = 64, kInner = 700, kFar = 2048;
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const bool transposed : {false, true}) {
      const int64_t n_row = transposed ? kInner : kRows, n_column = transposed ? kRows : kInner;
      const Tensor a = random_tensor({n_row, n_column}, 1, -1, 1, dtype);
      const Tensor b = random_tensor({kColumns, kInner}, 2, -1, 1, dtype);
      const auto product = [&](int64_t stride, int64_t offset) {
        Tensor room = Tensor::zeros({n_row * stride + offset}, dtype);
        for (int64_t row = 0; row < n_row; ++row)
          room.view({n_column}, row * stride + offset).assign(a.view({n_column}, row * n_column));
        const Tensor moved = room.view({n_row, n_column}, offset);
        Tensor c = Tensor::zeros({kRows, kColumns});
        Gemm p = product_of({moved, transposed}, {b, true}, c);
        p.lda = stride;
        gemm_with(packing(), p);
        return c;
      };
      const Tensor in_place = product(n_column, 0);
      for (const int64_t stride : {n_column + 1, int64_t{1024}, kFar})
        for (const int64_t offset : {0, 1})
          BOOST_TEST(same_bits(product(stride, offset), in_place),
                     dtype << ' ' << transposed << ' ' << stride << ' ' << offset);
    }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
