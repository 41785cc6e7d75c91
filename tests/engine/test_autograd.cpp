#define BOOST_TEST_MODULE autograd
#include <boost/test/unit_test.hpp>

#include "engine/autograd.h"

namespace farfield {
namespace {

// y = x with a history: gradients pass through.
Tensor identity(const Tensor& x) {
  Tensor y = x.clone();
  record("identity", y, {x}, [](const Tensor& dy) { return Grads{dy}; });
  return y;
}

BOOST_AUTO_TEST_CASE(a_long_chain_runs_and_is_freed_without_recursion) {
  Tensor x = Tensor::full({}, 2);
  x.set_requires_grad();
  for (const bool run : {true, false}) {
    Tensor y = x;
    for (int i = 0; i < 300000; ++i) y = identity(y);
    if (run) backward(y);
  }
  BOOST_TEST(x.grad().item() == 1);
}

BOOST_AUTO_TEST_CASE(gradients_of_a_leaf_add_up_over_uses_and_calls) {
  Tensor x = Tensor::full({}, 2);
  x.set_requires_grad();
  for (int call = 0; call < 2; ++call) {
    Tensor a = identity(x), b = identity(x), y = Tensor::full({}, 0);
    record("add", y, {a, b}, [](const Tensor& dy) { return Grads{dy, dy}; });
    backward(y);
  }
  BOOST_TEST(x.grad().item() == 4);
}

BOOST_AUTO_TEST_CASE(nothing_is_recorded_under_no_grad) {
  Tensor x = Tensor::full({}, 2);
  x.set_requires_grad();
  const NoGrad no_grad;
  BOOST_TEST(!identity(x).needs_grad());
}

BOOST_AUTO_TEST_CASE(a_used_history_is_refused) {
  Tensor x = Tensor::full({}, 2);
  x.set_requires_grad();
  const Tensor y = identity(x);
  backward(y);
  BOOST_CHECK_EXCEPTION(backward(y), ShapeError, [](const ShapeError& e) {
    return std::string(e.what()) ==
           "[backward] the history of identity has been used already; run the forward pass again";
  });
}

}  // namespace
}  // namespace farfield
