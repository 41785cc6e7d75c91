#include <boost/test/unit_test.hpp>

#include "tests/support/all_close.h"
#include "tests/support/encodings.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_sandwich)  // ctest: on_cuda
namespace {

using farfield::test::golden;
using farfield::test::golden_numbers;

BOOST_AUTO_TEST_CASE(tables_equal_the_golden_ones_in_both_precisions) {
  const std::pair<const char*, const char*> cases[] = {
      {"sandwich_128", "sandwich"},
      {"sandwich_64_h8", "sandwich(64, h=8)"},
      {"sandwich_256_h8", "sandwich(256, h=8)"},
      {"sandwich_128_index1", "sandwich(h=8, first_index=1)"}};
  for (const int64_t n_head : {12, 8}) {
    const auto& file = golden(concat("tables_h", n_head, ".json"));
    const std::vector<double> distances = golden_numbers(file["distances"]);
    for (const auto& [name, expression] : cases) {
      const auto& entry = file["encodings"][name];
      for (const DType dtype : {DType::f32, DType::f64}) {
        Tensor bias = rule_of(Composition(expression, model_of(n_head, dtype)), 8192).bias;
        if (!entry["b"][0].is_array()) bias = bias.view({1, 8192});  // golden has one head
        BOOST_TEST(all_close(at_distances(bias, distances), golden_numbers(entry["b"]),
                             table_tolerance(dtype)),
                   name << " for " << n_head << " heads in " << dtype);
      }
    }
  }
}

// The paper's program leaves the constant bar_d / (2 h) in; softmax does not see it.
BOOST_AUTO_TEST_CASE(the_table_of_the_papers_program_differs_by_a_constant_per_head) {
  const auto& file = golden("tables_h12.json");
  const auto& entry = file["encodings"]["sandwich_128_snippet"];
  const std::vector<double> distances = golden_numbers(file["distances"]);
  std::vector<double> table =
      at_distances(rule_of(Composition("sandwich", model_of(12)), 8192).bias, distances);
  for (size_t i = 0; i < table.size(); ++i)
    table[i] += 64 / entry["params"]["h"][i / distances.size()].get<double>();
  BOOST_TEST(all_close(table, golden_numbers(entry["b"]), table_tolerance(DType::f64)));
}

BOOST_AUTO_TEST_CASE(the_product_of_two_sinusoidal_vectors_is_the_bias) {
  const Composition sandwich("sandwich(32, h=1)", model_of(1));
  const Composition sinusoidal("sinusoidal", {.d_model = 32, .dtype = DType::f64});
  const std::vector<double> bias = rule_of(sandwich, 50).bias.to_vector();
  const std::vector<double> vectors = sinusoidal.plan(50, 50, Phase::eval).embedding.to_vector();
  for (const size_t n : {0, 17, 49}) {
    double product = 0;
    for (size_t i = 0; i < 32; ++i) product += vectors[49 * 32 + i] * vectors[n * 32 + i];
    BOOST_TEST(std::abs(product - 16 - bias[49 - n]) < 1e-12);
  }
}

// Both readings of the index, for widths from 2 on.
BOOST_AUTO_TEST_CASE(any_even_width_gives_the_sum_of_its_cosines) {
  for (const int bar_d : {2, 6, 50, 1000})
    for (const int first : {0, 1}) {
      const Composition c(concat("sandwich(", bar_d, ", h=2, first_index=", first, ')'),
                          model_of(1));
      const std::vector<double> bias = rule_of(c, 100).bias.to_vector();
      for (const int d : {0, 1, 37, 99}) {
        double want = 0;
        for (int i = first; i < bar_d / 2 + first; ++i)
          want += std::cos(d * std::pow(10000.0, -2.0 * i / bar_d)) - 1;
        BOOST_TEST(std::abs(bias[static_cast<size_t>(d)] - want / 2) < 1e-11,
                   bar_d << " from " << first << " at " << d);
      }
    }
}

// The curve is kept between calls: a change of length, and back, must not show the old one.
BOOST_AUTO_TEST_CASE(lengths_may_change_between_calls) {
  const Composition c("sandwich(32)", model_of(2));
  const Tensor first = rule_of(c, 40).bias;
  BOOST_TEST(all_close(rule_of(c, 7).bias, slice(first, 1, 0, 7), Tolerance(0)));
  BOOST_TEST(same_bits(rule_of(c, 40).bias, first));
}

BOOST_AUTO_TEST_CASE(an_odd_width_is_refused) {
  BOOST_TEST(error_of_expression("sandwich(bar_d=7)", model_of(2)) ==
             "[posenc] sandwich(bar_d): expected an even number, got 7 at column 16\n"
             "  sandwich(bar_d=7)\n"
             "                 ^");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
