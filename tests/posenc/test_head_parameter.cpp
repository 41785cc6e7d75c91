#include <boost/test/unit_test.hpp>

#include "tests/support/golden_tables.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_head_parameter)  // ctest: on_cuda
namespace {

// The table at distance 1 with r2 = e - 1 is -r1.
constexpr const char* kRate = "r2=1.718281828459045";
std::vector<double> r1_in_use(const Composition& c) {
  std::vector<double> r1 = at_distances(rule_of(c, 2).bias, {1});
  for (double& x : r1) x = -x;
  return r1;
}

BOOST_AUTO_TEST_CASE(project_clamps_stored_values_and_only_when_told) {
  Composition c(concat("kerple_log(r1=1, ", kRate, ')'), model_of(2));
  store(c, 0, {-3, 0.5});
  BOOST_TEST(all_close(r1_in_use(c), std::vector<double>{-3, 0.5}, Tolerance(1e-12)));
  c.project();
  BOOST_TEST(c.parameters()[0].value.to_vector() == (std::vector<double>{0.01, 0.5}),
             boost::test_tools::per_element());
  BOOST_TEST(all_close(r1_in_use(c), std::vector<double>{0.01, 0.5}, Tolerance(1e-12)));
}

BOOST_AUTO_TEST_CASE(project_writes_into_the_tensor_that_the_optimizer_holds) {
  Composition c("kerple_log", model_of(2, DType::f32));
  Tensor held = c.parameters()[1].value;
  held.data<float>()[0] = -1;
  c.project();
  BOOST_TEST(held.data<float>()[0] == 0.01f);
}

BOOST_AUTO_TEST_CASE(straight_through_clamps_the_table_but_not_the_gradient_nor_what_is_stored) {
  Composition c(concat("kerple_log(r1=1, ", kRate, ", constraint=straight_through)"), model_of(2));
  store(c, 0, {-3, 0.5});
  c.project();
  BOOST_TEST(c.parameters()[0].value.to_vector()[0] == -3);
  BOOST_TEST(all_close(r1_in_use(c), std::vector<double>{0.01, 0.5}, Tolerance(1e-12)));
  const Tensor bias = rule_of(c, 2, Phase::train).bias;
  backward(bias, Tensor::full(bias.shape(), 1, DType::f64));
  BOOST_TEST(all_close(c.parameters()[0].value.grad().to_vector(), std::vector<double>{-1, -1},
                       Tolerance(1e-12)));
}

BOOST_AUTO_TEST_CASE(softplus_starts_at_the_given_values_and_stays_above_the_bound) {
  Composition c(concat("kerple_log(r1=[0.7,1.3], ", kRate, ", constraint=softplus)"), model_of(2));
  BOOST_TEST(c.parameters()[0].name == "kerple_log.r1_raw");
  BOOST_TEST(all_close(r1_in_use(c), std::vector<double>{0.7, 1.3}, Tolerance(1e-12)));
  store(c, 0, {-50, 3});
  c.project();
  BOOST_TEST(c.parameters()[0].value.to_vector()[0] == -50);
  BOOST_TEST(all_close(r1_in_use(c), std::vector<double>{0.01, 0.01 + std::log1p(std::exp(3.0))},
                       Tolerance(1e-12)));
}

// Amplitudes have a lower bound, powers two. The table at distance 2 with r1 = 1 is -2^r2.
std::vector<double> power_in_use(const Composition& c) {
  std::vector<double> powers = at_distances(rule_of(c, 3).bias, {2});
  for (double& x : powers) x = std::log2(-x);
  return powers;
}

BOOST_AUTO_TEST_CASE(every_constraint_keeps_powers_between_two_bounds) {
  for (const char* constraint : {"project", "straight_through", "softplus"}) {
    Composition c(concat("kerple_power(r1=1, r2=[0.5,1.5], constraint=", constraint, ')'),
                  model_of(2));
    BOOST_TEST(all_close(power_in_use(c), std::vector<double>{0.5, 1.5}, Tolerance(1e-12)),
               constraint);
    store(c, 1, {-60, 70});
    c.project();
    BOOST_TEST(all_close(power_in_use(c), std::vector<double>{0.01, 2}, Tolerance(1e-12)),
               constraint);
    const bool is_projected = std::string_view(constraint) == "project";
    BOOST_TEST(c.parameters()[1].value.to_vector() ==
                   (is_projected ? std::vector<double>{0.01, 2} : std::vector<double>{-60, 70}),
               boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(straight_through_lets_the_gradient_of_a_power_pass_at_both_bounds) {
  const Composition c("kerple_power(r1=1, r2=1, constraint=straight_through)", model_of(2));
  store(c, 1, {-3, 5});
  const Tensor bias = rule_of(c, 3, Phase::train).bias;
  std::vector<double> seed(6);
  seed[2] = seed[5] = 1;
  backward(bias, Tensor::from(seed, bias.shape(), DType::f64));
  BOOST_TEST(all_close(c.parameters()[1].value.grad().to_vector(),
                       std::vector<double>{-std::pow(2, 0.01) * std::log(2), -4 * std::log(2)},
                       Tolerance(1e-12)));
}

// At the bounds themselves the stored value would be infinite.
BOOST_AUTO_TEST_CASE(softplus_starts_a_little_inside_the_bounds) {
  const Composition c("kerple_power(r1=1, r2=[0.01,2], constraint=softplus)", model_of(2));
  BOOST_TEST(all_close(power_in_use(c), std::vector<double>{0.0101, 1.9999}, Tolerance(1e-12)));
  for (const Parameter& parameter : c.parameters())
    for (const double x : parameter.value.to_vector()) BOOST_TEST(std::isfinite(x));
}

BOOST_AUTO_TEST_CASE(gradients_of_every_constraint_agree_with_central_differences) {
  for (const char* constraint : {"project", "straight_through", "softplus"}) {
    const Composition c(concat("kerple_power(constraint=", constraint,
                               ") + kerple_log(constraint=", constraint, ')'),
                        model_of(3));
    // In the interior of the bounds, where straight_through has the true gradient as well.
    for (size_t i = 0; i < c.parameters().size(); ++i) store(c, i, {0.3, 0.5, 0.7});
    BOOST_TEST(parameter_gradients_agree(c, 7), constraint);
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_learned_is_no_parameter_and_keeps_its_initial_values) {
  for (const char* given : {"", "r1=0.75, ", "r1=[0.75,0.125], r2=0.5, "})
    for (const char* constraint : {"project", "straight_through", "softplus"}) {
      const std::string start = concat("kerple_log(", given, "constraint=", constraint);
      Composition fixed(start + ", learn=false)", model_of(2));
      const Composition learned(start + ")", model_of(2));
      BOOST_TEST(fixed.parameters().empty());
      const ScoreRule rule = rule_of(fixed, 9, Phase::train);
      BOOST_TEST(!rule.bias.needs_grad());
      BOOST_TEST(all_close(rule.bias, rule_of(learned, 9).bias, Tolerance(1e-12)), start);
      fixed.project();
      BOOST_TEST(same_bits(rule_of(fixed, 9).bias, rule.bias));
    }
}

BOOST_AUTO_TEST_CASE(what_is_not_learned_is_not_rounded_to_float32) {
  const Composition c("kerple_log(r1=0.1, r2=0.7, learn=false)", model_of(1, DType::f32));
  BOOST_TEST(rule_of(c, 2).bias.to_vector()[1] ==
             static_cast<double>(static_cast<float>(-0.1 * std::log1p(0.7))));
}

BOOST_AUTO_TEST_CASE(learn_is_true_or_false) {
  BOOST_TEST(Composition("kerple_log(learn=true)", model_of(2)).canonical() == "kerple_log");
  BOOST_TEST(Composition("kerple_log(learn=false)", model_of(2)).canonical() ==
             "kerple_log(learn=false)");
  BOOST_TEST(error_of_expression("kerple_log(learn=no)", model_of(2))
                 .find("kerple_log(learn): expected true or false, got no at column 18") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(initial_values_follow_seed_and_name) {
  Config config = model_of(4);
  const auto first = Composition("kerple_log", config).parameters()[0].value.to_vector();
  const auto again =
      Composition("window(3) + kerple_log", config).parameters()[0].value.to_vector();
  BOOST_TEST((first == again));
  config.seed = 2;
  BOOST_TEST((first != Composition("kerple_log", config).parameters()[0].value.to_vector()));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
