#include <boost/test/unit_test.hpp>

#include "tests/support/golden_tables.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_alibi_equal)  // ctest: on_cuda
namespace {

BOOST_AUTO_TEST_CASE(every_head_has_the_golden_table) {
  for (const int64_t n_head : {12, 8}) {
    const auto& file = golden_tables(n_head);
    const std::vector<double> distances = farfield::test::golden_numbers(file["distances"]);
    for (const int h : {0, 2, 4, 6, 8}) {
      const auto& entry = file["encodings"][concat("alibi_equal_", h)];
      const std::vector<double> row = farfield::test::golden_numbers(entry["b_head0"]);
      std::vector<double> want;
      for (int64_t head = 0; head < n_head; ++head) want.insert(want.end(), row.begin(), row.end());
      for (const DType dtype : {DType::f64, DType::f32}) {
        const Composition c(concat("alibi_equal(", h, ')'), model_of(n_head, dtype));
        BOOST_TEST(
            all_close(at_distances(rule_of(c, 8192).bias, distances), want, table_tolerance(dtype)),
            h << " in " << dtype);
      }
      const Composition c(concat("alibi_equal(h=", h, ')'), model_of(1));
      BOOST_TEST(effective_lengths(rule_of(c, 20481).bias)[0] ==
                 entry["effective_length_head0"].get<double>());
    }
  }
}

BOOST_AUTO_TEST_CASE(the_slope_is_raised_to_the_floor) {
  const Composition c("alibi_equal(h=[1,9], slope_floor=0.25)", model_of(2));
  BOOST_TEST(at_distances(rule_of(c, 2).bias, {1}) == (std::vector<double>{-0.5, -0.25}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_slope_beyond_float32_is_refused) {
  BOOST_TEST(error_of_expression("alibi_equal(h=-200)", model_of(2))
                 .find("expected a number >= -64 and <= 64") != std::string::npos);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
