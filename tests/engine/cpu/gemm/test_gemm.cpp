#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/cpu/gemm/panels.h"
#include "tests/engine/cpu/gemm/cases.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_gemm)  // ctest: arm64:slow
namespace {

using namespace test;

BOOST_AUTO_TEST_CASE(every_library_agrees_with_plain_loops_over_odd_sizes) {
  for (const GemmLibrary& library : gemm_libraries())
    for (const Size s : {Size{1, 1, 1}, {3, 5, 7}, {17, 33, 65}, {1, 100, 31}, {64, 1, 200}})
      for (const bool accumulate : {false, true}) {
        check_against_loops(library, s, 0, accumulate);
        check_against_loops(library, s, 3, accumulate);
      }
}

BOOST_AUTO_TEST_CASE(products_of_several_panels_agree_with_plain_loops) {
  for (const GemmLibrary& library : gemm_libraries()) {
    check_against_loops(library, {530, 61, 70}, 5, true);
    check_against_loops(library, {21, 1600, 40}, 0, false);
  }
}

// Tall products, rows a page apart and transposed operands, which some libraries get in another
// form than they were given.
BOOST_AUTO_TEST_CASE(products_whose_operands_are_rearranged_agree_with_plain_loops) {
  for (const GemmLibrary& library : gemm_libraries())
    for (const Size s : {Size{800, 30, 70}, {100, 512, 40}, {40, 260, 530}, {512, 50, 65}})
      for (const bool accumulate : {false, true}) check_against_loops(library, s, 0, accumulate);
}

BOOST_AUTO_TEST_CASE(products_cut_along_the_inner_dimension_agree_with_plain_loops) {
  for (const GemmLibrary& library : gemm_libraries())
    for (const bool accumulate : {false, true})
      check_against_loops(library, {70, 60, 2100}, 2, accumulate);
}

BOOST_AUTO_TEST_CASE(an_empty_inner_dimension_gives_zero_or_leaves_c) {
  for (const bool accumulate : {false, true}) {
    Product p({3, 4, 0}, false, false, DType::f32, DType::f32, 1, accumulate);
    const auto want = p.expected();
    gemm(Cpu{}, p.gemm);
    BOOST_TEST(p.c.to_vector() == want, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(nothing_happens_for_an_empty_result) {
  Product p({0, 4, 5}, false, false, DType::f32, DType::f32);
  gemm(Cpu{}, p.gemm);
  Product q({4, 0, 5}, false, true, DType::bf16, DType::f32);
  gemm(Cpu{}, q.gemm);
  BOOST_TEST(p.c.numel() + q.c.numel() == 0);
}

BOOST_AUTO_TEST_CASE(a_batch_is_the_products_one_by_one) {
  const int64_t m = 5, n = 6, k = 7, n_batch = 4;
  const Tensor a = random_tensor({n_batch, m, k}, 1, -1, 1, DType::f32);
  const Tensor b = random_tensor({n_batch, k, n}, 2, -1, 1, DType::f32);
  Tensor c = Tensor::zeros({n_batch, m, n}), one = Tensor::zeros({n_batch, m, n});
  Gemm p;
  p.m = m;
  p.n = p.ldb = p.ldc = n;
  p.k = p.lda = k;
  p.a = a.raw_data();
  p.b = b.raw_data();
  p.c = c.raw_data();
  gemm_batched(Cpu{}, p, n_batch, m * k, k * n, m * n);
  for (int64_t i = 0; i < n_batch; ++i) {
    p.a = a.data<float>() + i * m * k;
    p.b = b.data<float>() + i * k * n;
    p.c = one.data<float>() + i * m * n;
    gemm(Cpu{}, p);
  }
  BOOST_TEST(same_bits(c, one));
}

// The products of a training step: forward, dx and dw of the layers and the head of mini and small.
BOOST_AUTO_TEST_CASE(results_are_the_same_bits_with_one_two_and_three_threads) {
  const std::vector<Size> shapes = {{4096, 384, 128}, {4096, 128, 512},  {2048, 1024, 256},
                                    {512, 4096, 256}, {2048, 256, 1024}, {130, 770, 1500}};
  const int before = thread_count();
  const int64_t most = 4096 * 512;  // elements of the largest operand
  for (const auto& [in, out] : {kTypes[0], kTypes[2], kTypes[3]}) {
    const Tensor a = random_tensor({most}, 1, -1, 1, in), b = random_tensor({most}, 2, -1, 1, in);
    for (const Size s : shapes)
      for (const bool weight_gradient : {false, true}) {
        Gemm p;
        p.m = weight_gradient ? s.n : s.m;
        p.n = weight_gradient ? s.k : s.n;
        p.k = weight_gradient ? s.m : s.k;
        p.transpose_a = weight_gradient;
        p.transpose_b = !weight_gradient;
        p.a = a.raw_data();
        p.b = b.raw_data();
        p.lda = weight_gradient ? p.m : p.k;
        p.ldb = weight_gradient ? p.n : p.k;
        p.ldc = p.n;
        p.in = in;
        p.out = out;
        Tensor first;
        for (const int n : {1, 2, 3}) {
          set_thread_count(n);
          Tensor c = Tensor::zeros({p.m, p.n}, out);
          p.c = c.raw_data();
          gemm(Cpu{}, p);
          if (n == 1) first = c;
          BOOST_TEST(same_bits(c, first), n << " threads: " << p.m << " x " << p.n << " x " << p.k);
        }
      }
  }
  set_thread_count(before);
}

// More of B than is packed at a time.
BOOST_AUTO_TEST_CASE(groups_of_packed_columns_agree_with_plain_loops) {
  for (const GemmLibrary& library : gemm_libraries())
    if (library.packed != nullptr) {
      check_against_loops(library, {3, 2100, 1100}, 0, false);
      for (const bool accumulate : {false, true})  // and a long inner dimension in parts
        check_against_loops(library, {3, 500, 5001}, 1, accumulate);
    }
}

BOOST_AUTO_TEST_CASE(the_first_library_is_our_own_and_eigen_is_always_there) {
  const auto& libraries = gemm_libraries();
  BOOST_TEST(libraries.front().name == "Farfield");
  BOOST_TEST(libraries.back().name.starts_with("Eigen 3."));
  BOOST_TEST(gemm_library() == "Farfield");
  BOOST_TEST_MESSAGE("products of bfloat16: " << gemm_bf16());
}

BOOST_AUTO_TEST_CASE(few_rows_are_left_to_a_library_that_does_not_pack) {
  BOOST_TEST(library_for(DType::f32, DType::f32, 31).packed == nullptr);
  BOOST_TEST(library_for(DType::f32, DType::f32, 32).packed != nullptr);
}

BOOST_AUTO_TEST_CASE(pairs_are_multiplied_where_that_is_faster_than_widening) {
  const auto own = [](const CpuFeatures& features) { return own_library(features, true); };
  const GemmLibrary zen4 = own({.is_x86 = true, .avx512_bf16 = true});
  const GemmLibrary sapphire_rapids =
      own({.is_x86 = true, .avx512_bf16 = true, .avx512_fp16 = true});
  const GemmLibrary without = own({.is_x86 = true});
  BOOST_TEST(!sapphire_rapids.multiplies_pairs);
  BOOST_TEST(!without.multiplies_pairs);
  BOOST_TEST(without.bf16 == "widened to float32: the processor has no AVX512-BF16");
  BOOST_TEST(zen4.bf16 == (zen4.multiplies_pairs
                               ? "by VDPBF16PS"
                               : "widened to float32: this build is for processors without "
                                 "AVX512-BF16"));
  // Both ways are computed on this machine if it can.
  if (!cpu_features().avx512_bf16) return;
  for (const GemmLibrary& library : {zen4, sapphire_rapids})
    check_against_loops(library, {70, 60, 91}, 0, false);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
