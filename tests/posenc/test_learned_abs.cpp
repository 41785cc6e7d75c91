#include <boost/test/unit_test.hpp>

#include "engine/autograd.h"
#include "posenc/encoding.h"
#include "tests/support/all_close.h"
#include "tests/support/encodings.h"
namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_learned_abs)  // ctest: on_cuda
namespace {

constexpr Config kModel{.d_model = 24, .n_layer = 2, .train_len = 300, .seed = 5};

BOOST_AUTO_TEST_CASE(row_p_of_the_table_is_added_at_position_p) {
  const Composition c("learned_abs", kModel);
  const Tensor weight = c.parameters().at(0).value;
  BOOST_TEST((weight.shape() == Shape{300, 24}));
  BOOST_TEST(same_bits(c.plan(300, 300, Phase::train).embedding, weight));
  BOOST_TEST(same_bits(c.plan(2, 7, Phase::eval).embedding, weight.view({2, 24}, 5 * 24)));
}

BOOST_AUTO_TEST_CASE(the_table_is_one_parameter_without_decay) {
  const auto parameters = Composition("learned_abs", kModel).parameters();
  BOOST_TEST_REQUIRE(parameters.size() == 1u);
  BOOST_TEST(parameters[0].name == "learned_abs.weight");
  BOOST_TEST(!parameters[0].decay);
  BOOST_TEST(parameters[0].value.requires_grad());
}

BOOST_AUTO_TEST_CASE(initial_values_have_standard_deviation_0_02_and_follow_the_seed) {
  const auto weight = [](uint64_t seed) {
    Config config = kModel;
    config.seed = seed;
    return Composition("learned_abs", config).parameters()[0].value.to_vector();
  };
  const std::vector<double> values = weight(5);
  double sum = 0, squares = 0;
  for (const double x : values) {
    sum += x;
    squares += x * x;
  }
  const auto n = static_cast<double>(values.size());
  BOOST_TEST(std::abs(sum / n) < 4 * 0.02 / std::sqrt(n));
  BOOST_TEST(std::abs(std::sqrt(squares / n) / 0.02 - 1) < 4 / std::sqrt(2 * n));
  BOOST_TEST((weight(5) == values));
  BOOST_TEST((weight(6) != values));
}

BOOST_AUTO_TEST_CASE(the_gradient_reaches_the_rows_used_and_no_other) {
  const Composition c("learned_abs", kModel);
  const Tensor embedding = c.plan(2, 3, Phase::train).embedding;
  backward(embedding, Tensor::full(embedding.shape(), 0.5));
  const std::vector<double> grad = c.parameters()[0].value.grad().to_vector();
  for (size_t i = 0; i < grad.size(); ++i)
    BOOST_TEST(grad[i] == (i >= 24 && i < 72 ? 0.5 : 0.0), "element " << i);
}

BOOST_AUTO_TEST_CASE(a_length_beyond_the_table_is_refused) {
  const Composition c("learned_abs", kModel);
  BOOST_CHECK_NO_THROW(c.plan(300, 300, Phase::eval));
  BOOST_TEST(
      error_of([&] { c.plan(301, 301, Phase::eval); }) ==
      "[posenc] expected positions below the 300 rows of learned_abs, got 300; this encoding "
      "has no values beyond its table, choose a shorter length or train with "
      "learned_abs(max_positions=...)");
  BOOST_CHECK_THROW(c.plan(301, 301, Phase::eval), PositionError);
  BOOST_CHECK_NO_THROW(Composition("learned_abs(301)", kModel).plan(301, 301, Phase::eval));
}

BOOST_AUTO_TEST_CASE(the_canonical_text_tells_the_size_of_the_table) {
  BOOST_TEST(Composition("learned_abs", kModel).canonical() == "learned_abs(max_positions=300)");
}

BOOST_AUTO_TEST_CASE(an_absurd_size_is_refused) {
  BOOST_TEST(error_of_expression("learned_abs(1e15)", kModel)
                 .find("expected a table of at most 2147483648 elements, got 1000000000000000 "
                       "positions of 24 at column 13") != std::string::npos);
  BOOST_TEST(error_of_expression("learned_abs(0)", kModel)
                 .find("expected an integer >= 1, got 0 at column 13") != std::string::npos);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
