// Landmark attention as a term: what it is beside, and what it is in a layer. The op has tests of
// its own (test_attention_landmark).
#include <boost/test/unit_test.hpp>

#include "engine/ops/attention.h"
#include "tests/support/all_close.h"
#include "tests/support/encodings.h"
#include "tests/support/golden_attention.h"
#include "tests/support/random_tensor.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_landmark)  // ctest: on_cuda
namespace {

BOOST_AUTO_TEST_CASE(attention_with_its_gradients) {
  golden_attention::check_case("landmark", "landmark(block=2)");
  golden_attention::check_case("rope_alibi_landmark",
                               "rope + alibi(slopes=geometric) + landmark(block=3)");
}

BOOST_AUTO_TEST_CASE(it_asks_for_a_normaliser_and_nothing_else) {
  const auto plan = Composition("landmark(5)@1", model_of(2)).plan(9, 9, Phase::train);
  for (const size_t layer : {0, 1, 2}) {
    const auto& [rotation, rule] = plan.layers[layer];
    BOOST_TEST((rule.normalizer.kind ==
                (layer == 1 ? Normalizer::Kind::landmark : Normalizer::Kind::softmax)));
    BOOST_TEST(rule.normalizer.block == (layer == 1 ? 5 : 0));
    BOOST_TEST((!rotation.cos.defined() && !rule.bias.defined() && !rule.weight.defined()));
  }
}

BOOST_AUTO_TEST_CASE(weights_add_up_to_one_beside_other_terms) {
  const int64_t n = 40, width = 8;
  const Tensor q = random_tensor({1, 2, n, width}, 1), k = random_tensor(q.shape(), 2),
               ones = Tensor::full(q.shape(), 1, DType::f64);
  for (const char* other : {"none", "rope", "alibi", "kerple_log", "gauss_wht1", "sinusoidal",
                            "block_repeat + alibi", "positional_jumps(4, block=4) + rope"})
    for (const Phase phase : {Phase::train, Phase::eval}) {
      if (std::string_view(other).find("jumps") != std::string_view::npos && phase == Phase::train)
        continue;  // draws for each sequence have their own test
      const Composition c(concat("landmark(block=3) + ", other), model_of(2));
      BOOST_TEST(all_close(attention(q, k, ones, rule_of(c, n, phase)),
                           Tensor::full({1, n, 2 * width}, 1, DType::f64), Tolerance(1e-13)),
                 other);
    }
}

// The block belongs to the task, also where sweep shortens what is in tokens.
BOOST_AUTO_TEST_CASE(the_block_is_needed_and_positive) {
  const auto error = [](const std::string& expression) {
    return error_of_expression(expression, model_of(2));
  };
  BOOST_TEST(error("landmark").find("[posenc] landmark") == 0u);
  BOOST_TEST(error("landmark(0)").find("[posenc] landmark(block): expected ") == 0u);
  BOOST_TEST(error("landmark(block=1.5)").find("[posenc] landmark(block): expected ") == 0u);
  BOOST_TEST(error("landmark(block=50)") == "");
}

BOOST_AUTO_TEST_CASE(what_has_no_meaning_beside_it_is_refused) {
  const auto error = [](const std::string& expression) {
    return error_of_expression(expression, model_of(2));
  };
  BOOST_TEST(error("landmark(3) + window(5)") ==
             "[posenc] expected no window(w=5) beside landmark(block=3): it takes whole blocks, of "
             "which a mask or a second branch would cut one at column 15\n"
             "  landmark(3) + window(5)\n"
             "                ^");
  for (const char* other :
       {"streaming", "only_distances([0, 1])", "rerope", "lm_infinite", "fire", "log_n", "hwfa"})
    BOOST_TEST(
        error(concat(other, " + landmark(3)")).find("landmark(block=3): ") != std::string::npos,
        other);
  for (const char* other : {"relu_attention", "logit_clamp(1)", "linear_attention"})
    BOOST_TEST(
        error(concat(other, " + landmark(3)")).find("at most one normaliser") != std::string::npos,
        other);
  BOOST_TEST(error("landmark(3)@0 + window(5)@1..2 + log_n@1") == "");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
