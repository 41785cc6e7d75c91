// Linear attention as a term: what it is beside, and what it is in a layer. Its numbers are tested
// with the op (test_attention_normalizer).
#include <boost/test/unit_test.hpp>

#include "engine/ops/attention.h"
#include "tests/support/all_close.h"
#include "tests/support/encodings.h"
#include "tests/support/random_tensor.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_linear_attention)  // ctest: on_cuda
namespace {

BOOST_AUTO_TEST_CASE(it_asks_for_a_normaliser_and_nothing_else) {
  const auto plan = Composition("linear_attention@1", model_of(2)).plan(9, 9, Phase::train);
  for (const size_t layer : {0, 1, 2}) {
    const auto& [rotation, rule] = plan.layers[layer];
    BOOST_TEST((rule.normalizer.kind ==
                (layer == 1 ? Normalizer::Kind::linear : Normalizer::Kind::softmax)));
    BOOST_TEST((!rotation.cos.defined() && !rule.bias.defined() && !rule.weight.defined()));
  }
}

// P = w(d) phi(q) . phi(k) / its sum: weights and masks stay probabilities.
BOOST_AUTO_TEST_CASE(weights_and_masks_leave_rows_that_add_up_to_one) {
  const int64_t n = 40, width = 8;
  const Tensor q = random_tensor({1, 2, n, width}, 1), k = random_tensor(q.shape(), 2),
               ones = Tensor::full(q.shape(), 1, DType::f64);
  for (const char* other : {"none", "window(5)", "window(5, sinks=2)", "gauss_wht1",
                            "only_distances([0, 7])", "sinusoidal", "kernel(weight=exp(-d))@1"})
    BOOST_TEST(
        all_close(
            attention(q, k, ones,
                      rule_of(Composition(concat("linear_attention@0 + ", other), model_of(2)), n)),
            Tensor::full({1, n, 2 * width}, 1, DType::f64), Tolerance(1e-13)),
        other);
}

BOOST_AUTO_TEST_CASE(what_has_no_meaning_beside_it_is_refused) {
  const auto error = [](const std::string& expression) {
    return error_of_expression(expression, model_of(2));
  };
  BOOST_TEST(error("linear_attention + rope") ==
             "[posenc] expected no rope beside linear_attention: features of rotated vectors give "
             "scores that do not depend on the distance alone at column 20\n"
             "  linear_attention + rope\n"
             "                     ^");
  for (const char* other :
       {"alibi", "kernel(bias=-d)", "fire", "t5", "rerope", "rope_linear(2)", "log_n", "hwfa"})
    BOOST_TEST(
        error(concat(other, " + linear_attention")).find("linear_attention: ") != std::string::npos,
        other);
  BOOST_TEST(error("linear_attention + relu_attention").find("at most one normaliser") !=
             std::string::npos);
  BOOST_TEST(error("linear_attention@0 + rope@1..2 + alibi@1..2") == "");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
