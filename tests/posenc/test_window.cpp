#include <boost/test/unit_test.hpp>

#include "tests/support/all_close.h"
#include "tests/support/encodings.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_window)
namespace {

using farfield::test::golden;

BOOST_AUTO_TEST_CASE(visible_pairs_equal_the_golden_ones) {
  const auto& want = golden("positions.json")["window"];
  const Composition c(concat("window(", want["w"].get<int64_t>(), ')'), model_of(1));
  const int64_t w = rule_of(c, 14).window;
  for (int64_t m = 0; m < 14; ++m)
    for (int64_t n = 0; n < 14; ++n) {
      const auto& visible = want["visible"][static_cast<size_t>(m)][static_cast<size_t>(n)];
      BOOST_TEST((n <= m && m - n < w) == (visible.is_boolean() && visible.get<bool>()));
    }
}

BOOST_AUTO_TEST_CASE(at_eval_leaves_training_alone) {
  const Composition c("window(5, at=eval)", model_of(1));
  BOOST_TEST(rule_of(c, 14, Phase::train).window == 0);
  BOOST_TEST(rule_of(c, 14, Phase::eval).window == 5);
  BOOST_TEST(rule_of(Composition("window(5)", model_of(1)), 14, Phase::train).window == 5);
}

BOOST_AUTO_TEST_CASE(the_first_tokens_may_stay_visible) {
  const Composition c("window(5, sinks=2, at=eval)", model_of(1));
  BOOST_TEST((rule_of(c, 14).window == 5 && rule_of(c, 14).sinks == 2));
  BOOST_TEST((rule_of(c, 14, Phase::train).window == 0 && rule_of(c, 14, Phase::train).sinks == 0));
  BOOST_TEST(c.canonical() == "window(w=5, at=eval, sinks=2)");
  BOOST_TEST(rule_of(Composition("window(5)", model_of(1)), 14).sinks == 0);
}

BOOST_AUTO_TEST_CASE(the_width_must_be_given) {
  BOOST_TEST(
      error_of_expression("alibi + window", model_of(1)) ==
      "[posenc] window needs w, an integer >= 1 (tokens that a query sees, itself included); "
      "write window(w=...) at column 9\n"
      "  alibi + window\n"
      "          ^");
  BOOST_TEST(
      error_of_expression("window(0)", model_of(1)).find("expected an integer >= 1, got 0") !=
      std::string::npos);
  BOOST_TEST(
      error_of_expression("window(2.5)", model_of(1)).find("expected an integer >= 1, got 2.5") !=
      std::string::npos);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
