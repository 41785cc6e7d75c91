#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <tuple>
#include <vector>

#include "engine/cpu/gemm/panels.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_gemm_panels)  // ctest: arm64
namespace {

void covers_once(const Cut& cut, int64_t size) {
  int64_t next = 0;
  for (int64_t i = 0; i < cut.count(); ++i) {
    BOOST_TEST(cut.begin(i) == next);
    BOOST_TEST(cut.length(i) > 0);
    next += cut.length(i);
  }
  BOOST_TEST(next == size);
}

BOOST_AUTO_TEST_CASE(panels_cover_the_product_once) {
  for (const int64_t m : {1, 17, 300, 4096})
    for (const int64_t n : {1, 100, 800, 50304})
      for (const int64_t k : {1, 700, 5000})
        for (const bool may_cut_k : {false, true}) {
          const Panels p = cut_panels(m, n, k, may_cut_k);
          covers_once(p.m, m);
          covers_once(p.n, n);
          covers_once(p.k, k);
          if (!may_cut_k) BOOST_TEST(p.k.count() == 1);
        }
}

BOOST_AUTO_TEST_CASE(panels_of_packed_products_cover_them_and_begin_at_whole_blocks) {
  const PackedGemm packed{12, 32, nullptr, nullptr, nullptr, nullptr, nullptr};
  for (const int64_t m : {1, 17, 300, 4096})
    for (const int64_t n : {1, 100, 800, 50304}) {
      const Panels p = cut_packed(m, n, 700, packed);
      covers_once(p.m, m);
      covers_once(p.n, n);
      BOOST_TEST(p.k.count() == 1);
      for (int64_t i = 0; i < p.m.count(); ++i) BOOST_TEST(p.m.begin(i) % packed.rows == 0);
      BOOST_TEST(p.n.step % packed.columns == 0);
      if (m >= 300) BOOST_TEST(p.count() >= 8);
    }
}

BOOST_AUTO_TEST_CASE(two_threads_have_equal_shares_of_a_packed_product) {
  const PackedGemm packed{12, 32, nullptr, nullptr, nullptr, nullptr, nullptr};
  for (const int64_t m : {256, 512, 768, 1024, 2048})
    for (const int64_t n : {64, 256, 768, 1024}) {
      const Panels p = cut_packed(m, n, 256, packed);
      BOOST_TEST(p.count() % 2 == 0);
      for (int64_t i = 0; i + 1 < p.m.count(); ++i)
        BOOST_TEST(std::abs(p.m.length(i) - p.m.length(0)) <= packed.rows);
    }
}

BOOST_AUTO_TEST_CASE(products_worth_sharing_have_panels_for_eight_threads) {
  for (const auto& [m, n, k] : {std::tuple<int64_t, int64_t, int64_t>{4096, 384, 128},
                                {384, 128, 4096},
                                {128, 128, 4096},
                                {512, 768, 50304},
                                {768, 768, 2048}}) {
    const Panels p = cut_panels(m, n, k, true);
    BOOST_TEST(p.count() * p.k.count() >= 8, m << " x " << n << " x " << k);
  }
}

BOOST_AUTO_TEST_CASE(a_part_starts_at_its_own_elements) {
  std::vector<float> a(100), b(100), c(100);
  Gemm p;
  p.a = a.data();
  p.b = b.data();
  p.c = c.data();
  p.lda = p.ldb = p.ldc = 10;
  for (const bool transposed : {false, true}) {
    p.transpose_a = p.transpose_b = transposed;
    const Gemm part = part_of(p, 2, 3, 4, 5, 6, 1);
    BOOST_TEST(part.m == 3);
    BOOST_TEST(part.n == 5);
    BOOST_TEST(part.k == 1);
    BOOST_TEST(part.a == a.data() + (transposed ? 62 : 26));
    BOOST_TEST(part.b == b.data() + (transposed ? 46 : 64));
    BOOST_TEST(part.c == c.data() + 24);
  }
}

BOOST_AUTO_TEST_CASE(transposing_moves_every_element_and_touches_no_other) {
  for (const int64_t rows : {1, 16, 37})
    for (const int64_t columns : {1, 16, 50}) {
      const int64_t ld = columns + 3, ld_to = rows + 2;
      std::vector<BFloat16> from(static_cast<size_t>(rows * ld));
      for (size_t i = 0; i < from.size(); ++i) from[i] = BFloat16(static_cast<float>(i % 251));
      std::vector<float> to(static_cast<size_t>(columns * ld_to), -1);
      transpose(from.data(), ld, rows, columns, to.data(), ld_to);
      for (int64_t c = 0; c < columns; ++c)
        for (int64_t r = 0; r < ld_to; ++r) {
          const float want =
              r < rows ? static_cast<float>(from[static_cast<size_t>(r * ld + c)]) : -1;
          BOOST_TEST_REQUIRE(to[static_cast<size_t>(c * ld_to + r)] == want);
        }
    }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
