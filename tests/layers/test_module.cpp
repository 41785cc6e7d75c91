#include <boost/test/unit_test.hpp>
#include <limits>

#include "layers/module.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_module)  // ctest: on_cuda
namespace {

Parameter parameter(const std::string& name, double value) {
  return {.name = name, .value = Tensor::full({2}, value).set_requires_grad()};
}

BOOST_AUTO_TEST_CASE(the_first_parameter_with_a_gradient_that_is_not_finite_is_named) {
  const std::vector<Parameter> all = {parameter("a", 1), parameter("b", 1), parameter("c", 1)};
  BOOST_TEST(first_nonfinite_gradient(all) == "");
  all[0].value.set_grad(Tensor::full({2}, 1e30));
  all[2].value.set_grad(Tensor::from({0, -std::numeric_limits<double>::infinity()}, {2}));
  BOOST_TEST(first_nonfinite_gradient(all) == "c");
  all[1].value.set_grad(Tensor::from({std::numeric_limits<double>::quiet_NaN(), 0}, {2}));
  BOOST_TEST(first_nonfinite_gradient(all) == "b");
}

BOOST_AUTO_TEST_CASE(loading_copies_values_and_converts_their_type) {
  const std::vector<Parameter> all = {parameter("a", 1), parameter("b", 1)};
  load_parameters(all, {{"a", Tensor::from({2, 3}, {2})},
                        {"b", Tensor::from({4, 5}, {2}, DType::bf16)},
                        {"other", Tensor::full({7}, 0)}});
  BOOST_TEST(all[0].value.to_vector() == std::vector<double>({2, 3}));
  BOOST_TEST(all[1].value.to_vector() == std::vector<double>({4, 5}));
}

BOOST_AUTO_TEST_CASE(weights_of_another_model_are_refused_and_change_nothing) {
  const std::vector<Parameter> all = {parameter("a", 1), parameter("b", 1)};
  const Tensor good = Tensor::full({2}, 9);
  BOOST_TEST(message_of<IoError>([&] {
               load_parameters(all, {{"a", good}});
             }) == "[model] expected a tensor 'b', got none of that name");
  BOOST_TEST(message_of<IoError>([&] {
               load_parameters(all, {{"a", good}, {"b", Tensor::full({2, 1}, 0)}});
             }) ==
             "[model] expected 'b' of shape [2], got float32 [2, 1]; is it of another model?");
  BOOST_TEST(message_of<IoError>([&] {
               load_parameters(all, {{"a", good}, {"b", Tensor::full({2}, 0, DType::i32)}});
             }) == "[model] expected 'b' of shape [2], got int32 [2]; is it of another model?");
  BOOST_TEST(all[0].value.to_vector() == std::vector<double>({1, 1}));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
