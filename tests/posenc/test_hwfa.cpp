#include <boost/test/unit_test.hpp>

#include "tests/support/all_close.h"
#include "tests/support/encodings.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_hwfa)  // ctest: on_cuda
namespace {

Config model(int64_t n_layer, int64_t train_len) {
  Config config = model_of(2);
  config.n_layer = n_layer;
  config.train_len = train_len;
  return config;
}

BOOST_AUTO_TEST_CASE(it_stands_for_what_its_canonical_text_says) {
  BOOST_TEST(Composition("hwfa", model(12, 512)).canonical() ==
             "log_n(mode=unclipped, train_len=512)@11 + rope@0..10 + window(w=35)@0..10");
  BOOST_TEST(Composition("hwfa(16, base=500)", model(2, 64)).canonical() ==
             "log_n(mode=unclipped, train_len=64)@1 + rope(base=500)@0 + window(w=16)@0");
}

BOOST_AUTO_TEST_CASE(the_second_form_has_its_full_layer_in_the_middle) {
  BOOST_TEST(Composition("hwfa2", model(12, 512)).canonical() ==
             "rerope(w=256)@6 + rope@0..5 + rope@7..11 + window(w=35)@0..5 + window(w=35)@7..11");
  BOOST_TEST(
      Composition("hwfa2(16, base=500) + log_n(unclipped)@1", model(2, 64)).canonical() ==
      "log_n(mode=unclipped, train_len=64)@1 + rerope(w=32, base=500)@1 + rope(base=500)@0 + "
      "window(w=16)@0");
  const Composition c("hwfa2(4)", model(3, 16));
  for (const Phase phase : {Phase::train, Phase::eval}) {
    const auto layers = c.plan(20, 20, phase).layers;
    for (size_t layer = 0; layer < 3; ++layer) {
      BOOST_TEST(layers[layer].rotation.cos.defined());
      BOOST_TEST(layers[layer].rule.window == (layer == 1 ? 0 : 4));
      BOOST_TEST((layers[layer].rule.switch_distance > 0) == (layer == 1 && phase == Phase::eval));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_last_layer_sees_everything_and_the_others_a_window) {
  const auto plan = Composition("hwfa(4)", model(3, 16)).plan(9, 9, Phase::eval);
  for (size_t layer = 0; layer < 3; ++layer) {
    const auto& [rotation, rule] = plan.layers[layer];
    BOOST_TEST(rotation.cos.defined() == (layer < 2));
    BOOST_TEST(rule.window == (layer < 2 ? 4 : 0));
    BOOST_TEST(rule.row_scale.defined() == (layer == 2));
  }
}

// The reach (w - 1)(n_layer - 1) + 1 is at most 3/4 of the training length, and w + 1 is too much.
BOOST_AUTO_TEST_CASE(
    the_window_is_the_largest_whose_reach_is_three_quarters_of_the_training_length) {
  for (const int64_t n_layer : {2, 3, 4, 12, 24})
    for (const int64_t train_len : {64, 100, 512}) {
      const auto plan = Composition("hwfa", model(n_layer, train_len)).plan(2, 2, Phase::eval);
      const int64_t w = plan.layers[0].rule.window;
      BOOST_TEST(4 * ((w - 1) * (n_layer - 1) + 1) <= 3 * train_len);
      BOOST_TEST(4 * (w * (n_layer - 1) + 1) > 3 * train_len);
    }
}

BOOST_AUTO_TEST_CASE(it_composes_with_other_terms) {
  const Composition c("hwfa(4) + alibi@-1", model(3, 16));
  BOOST_TEST(rule_of(c, 9).bias.defined() == false);
  BOOST_TEST(c.plan(9, 9, Phase::eval).layers[2].rule.bias.defined());
}

BOOST_AUTO_TEST_CASE(what_it_cannot_be_is_refused) {
  BOOST_TEST(error_of_expression("hwfa", model(1, 512)) ==
             "[posenc] hwfa needs at least 2 layers, with a window and without, got 1");
  BOOST_TEST(error_of_expression("hwfa2", model(1, 512)).find("hwfa2 needs at least 2 layers") !=
             std::string::npos);
  BOOST_TEST(error_of_expression("hwfa@0..1", model(3, 512)) ==
             "[posenc] hwfa says itself which layers it is for, expected it without @ at column 1\n"
             "  hwfa@0..1\n"
             "  ^");
  BOOST_TEST(error_of_expression("hwfa + rope@0", model(3, 512)).find("at most one rotation") !=
             std::string::npos);
  BOOST_TEST(error_of_expression("rope@0 + hwfa(2)", model(3, 512)) ==
             "[posenc] hwfa stands for 'rope(base=10000)@0..-2 + window(2)@0..-2 + "
             "log_n(unclipped)@-1': [posenc] expected at most one rotation on a layer, got rope@0 "
             "and rope@0..1 at column 10\n"
             "  rope@0 + hwfa(2)\n"
             "           ^");
  BOOST_TEST(
      error_of_expression("hwfa(0)", model(3, 512)).find("expected an integer >= 1, got 0") !=
      std::string::npos);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
