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

// Two outputs, the second an input handed through: dx = 2 dy0 + dy1 either way.
BOOST_AUTO_TEST_CASE(checkpointed_functions_have_the_gradients_of_plain_ones) {
  const auto f = [](const std::vector<Tensor>& in) {
    const Tensor a = identity(in[0]), b = identity(in[0]);
    Tensor sum = Tensor::full({}, a.item() + b.item());
    record("add", sum, {a, b}, [](const Tensor& dy) { return Grads{dy, dy}; });
    return std::vector<Tensor>{sum, in[0]};
  };
  for (const bool through_checkpoint : {false, true}) {
    Tensor leaf = Tensor::full({}, 3);
    leaf.set_requires_grad();
    const std::vector<Tensor> in{identity(leaf), Tensor()};
    const std::vector<Tensor> ys = through_checkpoint ? checkpoint(f, in) : f(in);
    BOOST_TEST(ys[0].item() == 6);
    BOOST_TEST(ys[1].item() == 3);
    backward(ys, {Tensor::full({}, 10), Tensor::full({}, 5)});
    BOOST_TEST(leaf.grad().item() == 25);
  }
}

BOOST_AUTO_TEST_CASE(an_output_that_nothing_used_adds_no_gradient) {
  Tensor leaf = Tensor::full({}, 3);
  leaf.set_requires_grad();
  const std::vector<Tensor> ys = checkpoint(
      [](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{identity(in[0]), identity(in[0])};
      },
      {leaf});
  backward(identity(ys[1]));
  BOOST_TEST(leaf.grad().item() == 1);
}

BOOST_AUTO_TEST_CASE(roots_without_history_or_of_another_shape_are_refused) {
  const auto check = [](const std::vector<Tensor>& ys, const std::vector<Tensor>& dys,
                        const std::string& text) {
    BOOST_CHECK_EXCEPTION(backward(ys, dys), ShapeError,
                          [&](const ShapeError& e) { return e.what() == text; });
  };
  const Tensor plain = Tensor::full({}, 1), dy = Tensor::full({}, 1);
  Tensor leaf = Tensor::full({2}, 1);
  leaf.set_requires_grad();
  check({plain}, {dy},
        "[backward] expected a tensor with gradient history; was it made under NoGrad?");
  check({leaf}, {dy}, "[backward] expected dy of shape [2], got []");
  check({leaf}, {}, "[backward] expected a dy for each of 1 tensors, got 0");
}

}  // namespace
}  // namespace farfield
