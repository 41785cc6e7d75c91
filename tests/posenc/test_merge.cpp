#include <boost/test/unit_test.hpp>

#include "posenc/merge.h"
#include "tests/support/all_close.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_merge)  // ctest: on_cuda
namespace {

Tensor table(std::initializer_list<double> values) {
  return Tensor::from(values, {1, static_cast<int64_t>(values.size())}, DType::f64);
}

BOOST_AUTO_TEST_CASE(biases_add_and_weights_and_row_scales_multiply) {
  const ScoreRule a{.bias = table({1, 2}), .weight = table({2, 3}), .row_scale = table({5, 7})};
  const ScoreRule b{.bias = table({10, 20}), .weight = table({4, 5}), .row_scale = table({2, 3})};
  const ScoreRule rule = merge(a, b);
  BOOST_TEST(all_close(rule.bias, table({11, 22}), Tolerance(0)));
  BOOST_TEST(all_close(rule.weight, table({8, 15}), Tolerance(0)));
  BOOST_TEST(all_close(rule.row_scale, table({10, 21}), Tolerance(0)));
}

BOOST_AUTO_TEST_CASE(what_one_side_lacks_comes_from_the_other) {
  const ScoreRule a{.bias = table({1, 2})}, b{.weight = table({4, 5}), .window = 3, .sinks = 1};
  for (const ScoreRule& rule : {merge(a, b), merge(b, a)}) {
    BOOST_TEST(all_close(rule.bias, table({1, 2}), Tolerance(0)));
    BOOST_TEST(all_close(rule.weight, table({4, 5}), Tolerance(0)));
    BOOST_TEST(!rule.row_scale.defined());
    BOOST_TEST((rule.window == 3 && rule.sinks == 1));
  }
}

// Whatever merge() answers is the intersection; it may refuse, but only masks with sinks.
BOOST_AUTO_TEST_CASE(masks_intersect) {
  const auto visible = [](const ScoreRule& rule, int64_t m, int64_t n) {
    return rule.window == 0 || m - n < rule.window || n < rule.sinks;
  };
  int n_refused = 0;
  for (int64_t w1 : {0, 1, 3, 5})
    for (int64_t w2 : {0, 1, 3, 5})
      for (int64_t s1 : {0, 2, 4})
        for (int64_t s2 : {0, 2, 4}) {
          const ScoreRule a{.window = w1, .sinks = s1}, b{.window = w2, .sinks = s2};
          try {
            const ScoreRule both = merge(a, b);
            for (int64_t m = 0; m < 12; ++m)
              for (int64_t n = 0; n <= m; ++n)
                BOOST_TEST(visible(both, m, n) == (visible(a, m, n) && visible(b, m, n)));
          } catch (const ConfigError&) {
            ++n_refused;
            BOOST_TEST((w1 != w2 && (s1 > 0 || s2 > 0)));
          }
        }
  BOOST_TEST(n_refused == 36);
}

BOOST_AUTO_TEST_CASE(masks_without_a_common_form_are_refused) {
  BOOST_CHECK_EXCEPTION(
      merge({.window = 3, .sinks = 2}, {.window = 5}), ConfigError,
      says("[posenc] expected one window where there are sinks, got windows 3 and 5 with 2 and 0 "
           "sinks"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
