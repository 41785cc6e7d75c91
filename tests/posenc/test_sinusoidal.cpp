#include <boost/test/unit_test.hpp>

#include "tests/support/all_close.h"
#include "tests/support/encodings.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_sinusoidal)  // ctest: on_cuda
namespace {

using farfield::test::golden;
using farfield::test::golden_numbers;

Tensor table_of(std::string_view expression, int64_t d_model, int64_t n, DType dtype) {
  const Composition c(expression, {.d_model = d_model, .dtype = dtype});
  return c.plan(n, n, Phase::eval).embedding;
}

BOOST_AUTO_TEST_CASE(both_layouts_equal_the_golden_tables_in_both_precisions) {
  const auto& file = golden("sinusoidal.json");
  for (const char* layout : {"concat", "interleaved"})
    for (const DType dtype : {DType::f32, DType::f64}) {
      const std::vector<double> all =
          table_of(concat("sinusoidal(", layout, ')'), 16, 8192, dtype).to_vector();
      std::vector<double> rows;
      for (const double p : golden_numbers(file["positions"])) {
        const auto row = all.begin() + static_cast<std::ptrdiff_t>(p) * 16;
        rows.insert(rows.end(), row, row + 16);
      }
      BOOST_TEST(all_close(rows, golden_numbers(file[layout]), table_tolerance(dtype)));
    }
}

BOOST_AUTO_TEST_CASE(wide_tables_equal_the_golden_channels) {
  const auto big = golden("sinusoidal.json")["big"];
  for (const char* layout : {"concat", "interleaved"}) {
    const std::vector<double> all =
        table_of(concat("sinusoidal(", layout, ')'), 768, 512, DType::f64).to_vector();
    std::vector<double> first, last;
    for (const double p : golden_numbers(big["positions"])) {
      const auto row = all.begin() + static_cast<std::ptrdiff_t>(p) * 768;
      first.insert(first.end(), row, row + 8);
      last.insert(last.end(), row + 760, row + 768);
    }
    BOOST_TEST(all_close(first, golden_numbers(big[layout]["first"]), table_tolerance(DType::f64)));
    BOOST_TEST(all_close(last, golden_numbers(big[layout]["last"]), table_tolerance(DType::f64)));
  }
}

BOOST_AUTO_TEST_CASE(concat_is_the_default_layout) {
  BOOST_TEST(same_bits(table_of("sinusoidal", 16, 9, DType::f32),
                       table_of("sinusoidal(layout=concat)", 16, 9, DType::f32)));
}

BOOST_AUTO_TEST_CASE(queries_are_the_last_positions) {
  const Composition c("sinusoidal", {.d_model = 4, .dtype = DType::f64});
  BOOST_TEST(same_bits(c.plan(2, 5, Phase::eval).embedding,
                       c.plan(5, 5, Phase::eval).embedding.view({2, 4}, 12)));
}

BOOST_AUTO_TEST_CASE(emb_scale_is_handed_to_the_token_embedding) {
  BOOST_TEST(Composition("sinusoidal", {.d_model = 4}).plan(1, 1, Phase::eval).token_scale == 1);
  BOOST_TEST(
      Composition("sinusoidal(emb_scale=2)", {.d_model = 4}).plan(1, 1, Phase::eval).token_scale ==
      2);
}

BOOST_AUTO_TEST_CASE(bfloat16_angles_merge_positions_beyond_256) {
  const std::vector<double> merged =
      table_of("sinusoidal(angle_dtype=bf16)", 4, 512, DType::f64).to_vector();
  const std::vector<double> exact = table_of("sinusoidal", 4, 512, DType::f64).to_vector();
  BOOST_TEST(merged[511 * 4] == std::sin(512.0));
  BOOST_TEST(std::abs(exact[511 * 4] - std::sin(511.0)) < 1e-15);
}

BOOST_AUTO_TEST_CASE(an_odd_width_is_refused) {
  BOOST_TEST(error_of_expression("sinusoidal", {.d_model = 5}) ==
             "[posenc] sinusoidal(layout): expected an even d_model, got 5 at column 1\n  "
             "sinusoidal\n  ^");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
