#define BOOST_TEST_MODULE head_parameter
#include <boost/test/unit_test.hpp>

#include "engine/autograd.h"
#include "tests/support/all_close.h"
#include "tests/support/encodings.h"
#include "tests/support/grad_check.h"

namespace farfield::posenc {
namespace {

// Puts values into a parameter as an optimizer would.
void store(const Composition& c, size_t index, const std::vector<double>& values) {
  Tensor x = c.parameters().at(index).value;
  for (size_t i = 0; i < values.size(); ++i) x.data<double>()[i] = values[i];
}
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

BOOST_AUTO_TEST_CASE(gradients_of_every_constraint_agree_with_central_differences) {
  for (const char* constraint : {"project", "straight_through", "softplus"}) {
    const Composition c(concat("kerple_log(constraint=", constraint, ')'), model_of(3));
    // In the interior of the bounds, where straight_through has the true gradient as well.
    std::vector<Tensor> start;
    for (const Parameter& parameter : c.parameters()) {
      Tensor x = parameter.value;
      for (int i = 0; i < 3; ++i) x.data<double>()[i] = 0.3 + 0.2 * i;
      start.push_back(x.clone());
    }
    // The parameters are leaves inside: copy the inputs in, hand the gradients out.
    const auto table = [&](const std::vector<Tensor>& xs) {
      for (size_t i = 0; i < xs.size(); ++i) store(c, i, xs[i].to_vector());
      const Tensor bias = rule_of(c, 7, Phase::train).bias;
      Tensor y = bias.clone();
      record("table", y, xs, [&c, bias](const Tensor& dy) {
        for (const Parameter& parameter : c.parameters()) parameter.value.set_grad({});
        backward(bias, dy);
        Grads grads;
        for (const Parameter& parameter : c.parameters()) grads.push_back(parameter.value.grad());
        return grads;
      });
      return y;
    };
    BOOST_TEST(gradients_agree(ManyToOne(table), start), constraint);
  }
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
}  // namespace farfield::posenc
