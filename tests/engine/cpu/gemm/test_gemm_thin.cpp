// Products with one row, one column, or an inner dimension of one, whole or as a panel of a larger
// one: no library is asked for them.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/base/parallel.h"
#include "engine/cpu/gemm/panels.h"
#include "engine/cpu/gemm/thin.h"
#include "tests/engine/cpu/gemm/cases.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_gemm_thin)
namespace {

using namespace test;

// Also that the library got no thin product; it is asked on several threads.
void check_watched(const GemmLibrary& library, Size s, int64_t gap, bool accumulate) {
  static void (*product)(const Gemm&);
  static std::atomic<int> n_thin;
  product = library.product;
  n_thin = 0;
  GemmLibrary watched = library;
  watched.product = [](const Gemm& p) {
    n_thin += is_thin(p);
    product(p);
  };
  check_against_loops(watched, s, gap, accumulate);
  BOOST_TEST(n_thin == 0, n_thin << " thin products of " << s.m << " x " << s.n << " x " << s.k);
}

BOOST_AUTO_TEST_CASE(they_agree_with_plain_loops_at_any_distance_of_rows) {
  for (const Size s : {Size{1, 1, 1},
                       {1, 1, 700},
                       {1, 100, 31},
                       {1, 300, 700},
                       {64, 1, 200},
                       {300, 1, 31},
                       {1, 7, 1},
                       {7, 1, 1},
                       {33, 300, 1},
                       {300, 17, 1},
                       {1, 1700, 40}})
    for (const GemmLibrary& library : gemm_libraries())
      for (const int64_t gap : {0, 3, 500})
        for (const bool accumulate : {false, true}) check_watched(library, s, gap, accumulate);
}

// Sizes of models that leave a panel of one row or column: weight gradients of a vocabulary of
// 32001, logits of one of 49153, 2049 tokens of a small model.
BOOST_AUTO_TEST_CASE(a_last_panel_of_one_row_or_column_is_one) {
  for (const Size s : {Size{32001, 64, 512}, {32001, 256, 512}, {2049, 128, 128}, {785, 64, 20}}) {
    const Cut rows = cut_panels(s.m, s.n, s.k, true).m;
    BOOST_TEST(rows.length(rows.count() - 1) == 1, s.m << " rows");
  }
  for (const int64_t n : {49153, 36097}) {
    const Cut columns = cut_panels(3, n, 4, true).n;
    BOOST_TEST(columns.length(columns.count() - 1) == 1, n << " columns");
  }
  for (const GemmLibrary& library : gemm_libraries())
    for (const bool accumulate : {false, true}) {
      check_watched(library, {785, 64, 20}, 0, accumulate);
      check_watched(library, {3, 36097, 4}, 0, accumulate);
    }
}

// Where an operand is widened or transposed on the way, 512 at a time.
BOOST_AUTO_TEST_CASE(so_is_the_last_slice_of_an_inner_dimension) {
  for (const GemmLibrary& library : gemm_libraries())
    for (const bool accumulate : {false, true})
      check_watched(library, {20, 260, 513}, 0, accumulate);
}

BOOST_AUTO_TEST_CASE(they_are_the_same_bits_with_one_two_and_three_threads) {
  const int before = thread_count();
  for (const auto& [in, out] : kTypes)
    for (const Size s : {Size{1, 3000, 1500}, {3000, 1, 1500}, {2000, 900, 1}})
      for (const bool transpose : {false, true}) {
        Tensor first;
        for (const int n : {1, 2, 3}) {
          set_thread_count(n);
          Product p(s, transpose, transpose, in, out);
          gemm(Cpu{}, p.gemm);
          if (n == 1) first = p.c;
          BOOST_TEST(same_bits(p.c, first), n << " threads: " << s.m << " x " << s.n);
        }
      }
  set_thread_count(before);
}

BOOST_AUTO_TEST_CASE(what_is_not_a_number_stays_so) {
  for (const bool transpose_b : {false, true}) {
    Product p({1, 40, 70}, false, transpose_b, DType::f32, DType::f32);
    p.a.data<float>()[69] = std::numeric_limits<float>::quiet_NaN();
    gemm(Cpu{}, p.gemm);
    for (const double x : p.c.to_vector()) BOOST_TEST(std::isnan(x));
  }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
