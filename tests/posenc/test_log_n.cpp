#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/support/golden_attention.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_log_n)  // ctest: on_cuda
namespace {

using farfield::test::golden_numbers;
using golden_attention::check_case;

std::vector<double> factors(const std::string& expression, int64_t n, int64_t train_len,
                            int64_t n_query = 0, DType dtype = DType::f64) {
  Config config = model_of(2, dtype);
  config.train_len = train_len;
  const Tensor scale = Composition(expression, config)
                           .plan(n_query > 0 ? n_query : n, n, Phase::eval)
                           .layers[0]
                           .rule.row_scale;
  return scale.defined() ? scale.to_vector() : std::vector<double>();
}

BOOST_AUTO_TEST_CASE(factors_equal_the_golden_ones_in_both_precisions) {
  const auto& want = farfield::test::golden("positions.json")["log_n"];
  const auto visible = golden_numbers(want["visible_keys"]);
  const auto train_len = want["L_train"].get<int64_t>();
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const char* mode : {"clipped", "unclipped"}) {
      const auto all = factors(concat("log_n(", mode, ')'), 8192, train_len, 0, dtype);
      std::vector<double> got;
      for (const double n : visible) got.push_back(all[static_cast<size_t>(n) - 1]);
      BOOST_TEST(all_close(got, golden_numbers(want[mode]), table_tolerance(dtype)), mode);
    }
    std::vector<double> got;
    for (const double n : visible) {
      const auto all = factors("log_n(raw)", static_cast<int64_t>(n), train_len, 0, dtype);
      BOOST_TEST((all == std::vector<double>(static_cast<size_t>(n), all[0])));
      got.push_back(all[0]);
    }
    BOOST_TEST(all_close(got, golden_numbers(want["raw"]), table_tolerance(dtype)));
  }
}

BOOST_AUTO_TEST_CASE(attention_with_its_gradients) {
  check_case("log_n_clipped", "log_n", 4);
  check_case("log_n_unclipped", "log_n(unclipped, train_len=4)");
  check_case("log_n_unclipped", "log_n(unclipped)", 4);
}

BOOST_AUTO_TEST_CASE(the_keys_that_a_mask_hides_do_not_count) {
  const auto log4 = [](double n) { return std::log(n) / std::log(4); };
  const auto want = [&](std::initializer_list<double> counts) {
    std::vector<double> factors;
    for (const double n : counts) factors.push_back(log4(n));
    return factors;
  };
  const auto check = [&](const std::string& mask, std::initializer_list<double> counts) {
    const auto n = static_cast<int64_t>(counts.size());
    BOOST_TEST(all_close(factors("log_n(unclipped) + " + mask, n, 4), want(counts), 1e-15), mask);
  };
  check("none", {1, 2, 3, 4, 5, 6, 7, 8});
  check("window(3)", {1, 2, 3, 3, 3, 3, 3, 3});
  check("window(3, sinks=2)", {1, 2, 3, 4, 5, 5, 5, 5});
  check("window(3, sinks=2) + window(3)", {1, 2, 3, 3, 3, 3, 3, 3});
  check("window(1)", {1, 1, 1});
  // A window on another layer does not matter to log_n; a window that acts only in evaluation
  // matters only there.
  BOOST_TEST(
      all_close(factors("log_n(unclipped)@0 + window(3)@1", 5, 4), want({1, 2, 3, 4, 5}), 1e-15));
  check("window(3, at=eval)", {1, 2, 3, 3});
}

// By index: a remap of positions hides no key.
BOOST_AUTO_TEST_CASE(remapped_positions_count_as_keys_all_the_same) {
  BOOST_TEST((factors("log_n + interpolation(4)", 9, 4) == factors("log_n", 9, 4)));
  BOOST_TEST((factors("log_n + modulo(2)", 9, 4) == factors("log_n", 9, 4)));
}

BOOST_AUTO_TEST_CASE(cached_keys_count) {
  const auto all = factors("log_n(unclipped) + window(5)", 9, 4);
  BOOST_TEST((factors("log_n(unclipped) + window(5)", 9, 4, 3) ==
              std::vector<double>(all.end() - 3, all.end())));
}

BOOST_AUTO_TEST_CASE(two_row_scales_multiply_and_learned_tables_change_nothing) {
  const auto once = factors("log_n", 9, 4), twice = factors("log_n + log_n(unclipped)", 9, 4);
  const auto unclipped = factors("log_n(unclipped)", 9, 4);
  for (size_t m = 0; m < 9; ++m) BOOST_TEST(std::abs(twice[m] - once[m] * unclipped[m]) < 1e-15);
  BOOST_TEST(
      (factors("kerple_log + log_n + window(4)", 9, 4) == factors("log_n + window(4)", 9, 4)));
}

BOOST_AUTO_TEST_CASE(the_mode_is_written_out) {
  const Config config = model_of(2);
  BOOST_TEST(Composition("log_n", config).canonical() == "log_n(mode=clipped, train_len=16)");
  BOOST_TEST(Composition("log_n(raw)", config).canonical() == "log_n(mode=raw, train_len=16)");
}

// Added for a test, a model's scores must stay as they were up to its training length; in training
// the clipped form would do nothing.
BOOST_AUTO_TEST_CASE(a_model_trained_with_it_takes_the_unclipped_form) {
  Config config = model_of(2);
  config.trained_with = {"rope"};
  BOOST_TEST(Composition("log_n", config).canonical() == "log_n(mode=clipped, train_len=16)");
  config.trained_with = {"log_n", "rope"};
  BOOST_TEST(Composition("log_n", config).canonical() == "log_n(mode=unclipped, train_len=16)");
  BOOST_TEST(Composition("log_n(clipped)", config).canonical() ==
             "log_n(mode=clipped, train_len=16)");
}

BOOST_AUTO_TEST_CASE(a_base_of_one_is_refused) {
  BOOST_TEST(error_of_expression("log_n(train_len=1)", model_of(2)) ==
             "[posenc] log_n(train_len): expected at least 2 tokens, got 1 at column 17\n"
             "  log_n(train_len=1)\n"
             "                  ^");
  BOOST_TEST(error_of_expression("log_n(raw, train_len=1)", model_of(2)) == "");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
