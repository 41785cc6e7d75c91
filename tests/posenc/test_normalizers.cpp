#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/support/golden_attention.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_normalizers)  // ctest: on_cuda
namespace {

using golden_attention::check_case;

Normalizer normalizer_of(const std::string& expression, Phase phase = Phase::eval) {
  return Composition(expression, model_of(2)).plan(4, 4, phase).layers[0].rule.normalizer;
}

BOOST_AUTO_TEST_CASE(attention_with_its_gradients) {
  check_case("relu", "relu_attention");
  check_case("clamp_absolute", "logit_clamp(-0.1, mode=absolute)");
  check_case("clamp_relative", "logit_clamp(1)");
}

BOOST_AUTO_TEST_CASE(what_is_asked_of_attention) {
  using Kind = Normalizer::Kind;
  const Normalizer relu = normalizer_of("relu_attention(2, penalty=0.5)");
  BOOST_TEST((relu.kind == Kind::relu && relu.parameter == 2 && relu.penalty == 0.5));
  BOOST_TEST((normalizer_of("relu_attention(by=seqlen)").kind == Kind::relu_seqlen));
  const Normalizer plain = normalizer_of("relu_attention(by=none, penalty=2)");
  BOOST_TEST((plain.kind == Kind::relu_plain && plain.penalty == 2));
  const Normalizer clamp = normalizer_of("logit_clamp(3)");
  BOOST_TEST((clamp.kind == Kind::clamp_relative && clamp.parameter == 3));
  BOOST_TEST((normalizer_of("logit_clamp(-3, mode=absolute)").kind == Kind::clamp_absolute));
}

// The golden numbers of by=variance, each row times what it is divided by.
BOOST_AUTO_TEST_CASE(plain_relu_is_the_golden_one_without_its_divisor) {
  using namespace golden_attention;
  const Composition c("relu_attention(by=none)", golden_model(DType::f64, size("length")));
  const int64_t n = size("length");
  const Gradients got = run(c.plan(n, n, Phase::train).layers[0], DType::f64, false);
  const std::vector<double> out = got.out.to_vector();
  std::vector<double> want = rows_of(case_named("relu")["out"], DType::f64).to_vector();
  const size_t width = want.size() / static_cast<size_t>(n);
  for (size_t i = 0; i < want.size(); ++i)
    want[i] *= std::sqrt(static_cast<double>(i / width + 1) / 2);
  BOOST_TEST(all_close(out, want, Tolerance(1e-12)));
}

BOOST_AUTO_TEST_CASE(a_clamp_can_wait_for_the_test) {
  BOOST_TEST(
      (normalizer_of("logit_clamp(3, at=eval)", Phase::train).kind == Normalizer::Kind::softmax));
  BOOST_TEST((normalizer_of("logit_clamp(3, at=eval)").kind == Normalizer::Kind::clamp_relative));
}

// Beside rotations with two branches, tables, masks and row scales.
BOOST_AUTO_TEST_CASE(the_normaliser_stays_beside_other_terms) {
  for (const char* other : {"rope", "rerope", "alibi", "kerple_log", "fire", "window(3)", "log_n"})
    for (const auto& both :
         {concat("relu_attention + ", other), concat(other, " + relu_attention")})
      BOOST_TEST((normalizer_of(both).kind == Normalizer::Kind::relu), both);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const auto error = [](const char* expression) {
    return error_of_expression(expression, model_of(2));
  };
  BOOST_TEST(error("logit_clamp(-1)") ==
             "[posenc] logit_clamp(tau): expected 0 or more below the largest score, got -1 at "
             "column 13\n"
             "  logit_clamp(-1)\n"
             "              ^");
  BOOST_TEST(error("relu_attention(2, by=seqlen)") ==
             "[posenc] relu_attention(gamma): expected no gamma with by=seqlen, which divides by "
             "the keys alone, got 2 at column 16\n"
             "  relu_attention(2, by=seqlen)\n"
             "                 ^");
  BOOST_TEST(error("relu_attention(by=none, gamma=2)")
                 .find("[posenc] relu_attention(gamma): expected no gamma with by=none, which "
                       "divides by nothing, got 2 at column 31\n") == 0u);
  BOOST_TEST(error("logit_clamp").find("[posenc] ") == 0u);
  BOOST_TEST(error("relu_attention(0)").find("[posenc] ") == 0u);
  BOOST_TEST(error("relu_attention + logit_clamp(1)")
                 .find("expected at most one normaliser on a "
                       "layer") != std::string::npos);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
