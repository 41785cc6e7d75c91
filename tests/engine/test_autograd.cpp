#include <boost/test/unit_test.hpp>

#include "engine/autograd.h"
#include "engine/ops/norm.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "tests/support/all_close.h"
#include "tests/support/random_tensor.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_autograd)  // ctest: on_cuda arm64
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

BOOST_AUTO_TEST_CASE(a_leaf_is_told_of_once_its_gradient_is_complete) {
  Tensor first = Tensor::full({}, 2), late = Tensor::full({}, 3), unused = Tensor::full({}, 4);
  for (Tensor* leaf : {&first, &late, &unused}) leaf->set_requires_grad();
  // `first` is used by the earliest op and once more by the latest.
  const Tensor y = identity(first) * late + first;
  std::vector<const void*> told;
  const auto done = [&](const Tensor& leaf) {
    told.push_back(leaf.raw_data());
    BOOST_TEST(leaf.grad().item() == (leaf.raw_data() == first.raw_data() ? 4 : 2));
  };
  backward(y, Tensor::full({}, 1), {.done = done});
  BOOST_TEST((told == std::vector<const void*>{late.raw_data(), first.raw_data()}));
}

BOOST_AUTO_TEST_CASE(no_leaf_is_told_of_where_a_checkpoint_may_use_it) {
  Tensor hidden = Tensor::full({}, 2), x = Tensor::full({}, 3);
  for (Tensor* leaf : {&hidden, &x}) leaf->set_requires_grad();
  const Tensor y = checkpoint(
      [hidden](const std::vector<Tensor>& inputs) {
        return std::vector<Tensor>{inputs[0] * hidden};
      },
      {x})[0];
  int n_told = 0;
  backward(y * x, Tensor::full({}, 1), {.done = [&](const Tensor&) { ++n_told; }});
  BOOST_TEST(n_told == 0);
  BOOST_TEST(hidden.grad().item() == 9);
  BOOST_TEST(x.grad().item() == 12);
}

BOOST_AUTO_TEST_CASE(gradients_of_leaves_can_be_kept_apart) {
  Tensor x = Tensor::full({}, 2), other = Tensor::full({}, 3);
  for (Tensor* leaf : {&x, &other}) leaf->set_requires_grad();
  const LeafGradients::Numbers numbers = {{x.raw_data(), 0}};
  {
    LeafGradients own(numbers);
    backward(x * x * other);
    const std::vector<Tensor> gradients = own.take();
    BOOST_TEST(gradients.size() == 1u);
    BOOST_TEST(gradients[0].item() == 12);
  }
  BOOST_TEST(!x.grad().defined());
  BOOST_TEST(other.grad().item() == 4);
  other.set_grad({});
  {
    LeafGradients own(numbers);
    std::vector<double> told;
    const auto done = [&](const Tensor& leaf) {
      const Tensor gradient = leaf.raw_data() == x.raw_data() ? own.take(0) : leaf.grad();
      told.push_back(gradient.item());
    };
    backward(x * x * other, Tensor::full({}, 1), {.done = done});
    BOOST_TEST((told == std::vector<double>{4, 12}));
    BOOST_TEST(!own.take(0).defined());
  }
  BOOST_TEST(!x.grad().defined());
  backward(x * x);
  BOOST_TEST(x.grad().item() == 4);
}

// x itself, by an op that adds its gradient to a sum if there is one.
Tensor adding(const Tensor& x) {
  Tensor y = x.clone();
  record("adding", y, {x}, [](const Tensor& dy) {
    const Tensor sum = take_sum_of_input(0);
    return Grads{sum.defined() ? sum + dy : dy};
  });
  return y;
}

BOOST_AUTO_TEST_CASE(an_op_adds_to_the_sum_of_a_leaf_that_has_no_other_use) {
  Tensor once = Tensor::full({}, 2), twice = Tensor::full({}, 3);
  for (Tensor* leaf : {&once, &twice}) leaf->set_requires_grad();
  std::vector<const void*> taken;
  const LeafCalls calls{.take_sum = [&](const Tensor& leaf) {
    taken.push_back(leaf.raw_data());
    return Tensor::full({}, 100);
  }};
  const Tensor one = Tensor::full({}, 1);
  backward(adding(once) * adding(twice) * adding(twice), one, calls);
  BOOST_TEST((taken == std::vector<const void*>{once.raw_data()}));
  BOOST_TEST(once.grad().item() == 109);
  BOOST_TEST(twice.grad().item() == 12);

  taken.clear();
  once.set_grad({});
  backward(adding(once), one, {.take_sum = [](const Tensor&) { return Tensor(); }});
  BOOST_TEST(once.grad().item() == 1);
  backward(adding(once), one, calls);  // to its gradient of before
  BOOST_TEST(once.grad().item() == 2);
  backward(
      checkpoint([](const std::vector<Tensor>& inputs) { return std::vector{adding(inputs[0])}; },
                 {adding(once)})[0],
      one, calls);
  {
    const FindNonfinite finder;  // names the op of a gradient, not of a sum
    once.set_grad({});
    backward(adding(once), one, calls);
  }
  BOOST_TEST(taken.empty());
  BOOST_TEST(!take_sum_of_input(0).defined());  // no op is running
}

// What an op that expects column sums gets, of uses that give them or do not.
Tensor gradient_of(const std::vector<bool>& uses) {
  Tensor x = Tensor::zeros({2, 3}), dy;
  x.set_requires_grad();
  Tensor y = x.clone(), total = Tensor::zeros({2, 3});
  record("expecting", y, {x}, [&dy](const Tensor& gradient) {
    dy = gradient;
    return Grads{gradient};
  });
  BOOST_TEST(!expects_column_sums(y));
  expect_column_sums(y);
  BOOST_TEST(expects_column_sums(y));
  BOOST_TEST(!expects_column_sums(identity(y)));
  for (const bool has_sums : uses) {
    Tensor use = y.clone();
    record("use", use, {y}, [has_sums](const Tensor& gradient) {
      const Tensor own = gradient.clone();
      if (has_sums) own.keep_column_sums(sum(own, 0));
      return Grads{own};
    });
    total = total + use;
  }
  backward(total, Tensor::full({2, 3}, 1));
  return dy;
}
BOOST_AUTO_TEST_CASE(column_sums_come_with_a_gradient_that_is_whole) {
  BOOST_TEST(gradient_of({true}).column_sums().to_vector() == std::vector<double>(3, 2));
  BOOST_TEST(!gradient_of({false}).column_sums().defined());
  for (const std::vector<bool>& uses :
       {std::vector{true, true}, std::vector{true, false}, std::vector{false, true}}) {
    const Tensor dy = gradient_of(uses);
    BOOST_TEST(dy.to_vector() == std::vector<double>(6, 2));
    BOOST_TEST(!dy.column_sums().defined());
  }
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

// Two norms, a GELU and a product between two streams, as a transformer block has them.
struct Block {
  Tensor weight = random_tensor({8}, 1, 0.5, 1.5, DType::f32);
  Tensor bias = random_tensor({8}, 2, -1, 1, DType::f32);
  Tensor scale = random_tensor({8}, 3, -1, 1, DType::f32);

  Block() {
    for (Tensor* x : {&weight, &bias, &scale}) x->set_requires_grad();
  }
  std::vector<Tensor> operator()(const std::vector<Tensor>& in) const {
    const SumAndNorm first = add_layer_norm(in[0], in[1], weight, bias, 1e-5);
    const SumAndNorm second =
        add_layer_norm(first.sum, gelu(first.normed * scale), weight, bias, 1e-5);
    return {second.sum, second.normed * scale};
  }
};

BOOST_AUTO_TEST_CASE(checkpointed_blocks_equal_plain_ones_bit_for_bit) {
  const Block block;
  const auto run = [&](bool through_checkpoint) {
    for (const Tensor& x : {block.weight, block.bias, block.scale}) x.set_grad({});
    Tensor leaf = random_tensor({5, 8}, 4, -1, 1, DType::f32);
    leaf.set_requires_grad();
    std::vector<Tensor> ys{leaf * 2.0, leaf + 1.0};
    for (int layer = 0; layer < 3; ++layer)
      ys = through_checkpoint ? checkpoint(block, ys) : block(ys);
    const Tensor loss = sum(ys[0] * ys[1]);
    backward(loss);
    return std::vector<Tensor>{loss.detach(), leaf.grad(), block.weight.grad(), block.bias.grad(),
                               block.scale.grad()};
  };
  const std::vector<Tensor> want = run(false), got = run(true);
  for (size_t i = 0; i < want.size(); ++i) BOOST_TEST(same_bits(got[i], want[i]), "tensor " << i);
}

BOOST_AUTO_TEST_CASE(a_checkpoint_keeps_its_inputs_alone) {
  Tensor leaf = Tensor::full({1 << 16}, 1);
  leaf.set_requires_grad();
  const auto bytes_kept = [&](bool through_checkpoint) {
    const auto f = [](const std::vector<Tensor>& in) {
      return std::vector<Tensor>{sin(sin(sin(sin(in[0]))))};
    };
    const int64_t before = memory_stats({}).current_bytes;
    const std::vector<Tensor> y = through_checkpoint ? checkpoint(f, {leaf}) : f({leaf});
    return memory_stats({}).current_bytes - before;
  };
  BOOST_TEST(bytes_kept(true) == 1 << 18);
  BOOST_TEST(bytes_kept(false) == 4 << 18);
}

BOOST_AUTO_TEST_CASE(buffers_are_freed_while_backward_runs) {
  Tensor leaf = Tensor::full({1 << 16}, 1);
  leaf.set_requires_grad();
  // four ops, each of which keeps its input; the last to run backward sees what is left
  Tensor y = leaf.clone();
  int64_t left = 0;
  record("probe", y, {leaf}, [&left](const Tensor& dy) {
    left = memory_stats({}).current_bytes;
    return Grads{dy};
  });
  for (int i = 0; i < 4; ++i) y = square(y);
  y = sum(y);
  const int64_t before = memory_stats({}).current_bytes;
  backward(y);
  // gone: three kept inputs (the fourth, the probe's output, goes with its consumer); new: dy
  BOOST_TEST(left <= before - 3 * (1 << 18) + (1 << 18));
}

BOOST_AUTO_TEST_CASE(an_undefined_gradient_stops_where_it_is) {
  Tensor a = Tensor::full({}, 2), b = Tensor::full({}, 3);
  a.set_requires_grad();
  b.set_requires_grad();
  Tensor y = Tensor::full({}, 0);
  record("first only", y, {a, b}, [](const Tensor& dy) { return Grads{dy, Tensor()}; });
  backward(y);
  BOOST_TEST(a.grad().item() == 1);
  BOOST_TEST(!b.grad().defined());
}

BOOST_AUTO_TEST_CASE(each_output_of_a_node_gets_its_own_gradient) {
  Tensor x = Tensor::full({}, 2);
  x.set_requires_grad();
  for (const bool use_second : {false, true}) {
    Tensor y = Tensor::full({}, 1), z = Tensor::full({2}, 1);
    record("two", {&y, &z}, {x}, [](const std::vector<Tensor>& dys) {
      return Grads{Tensor::full({}, (dys[0].defined() ? 10 : 0) + (dys[1].defined() ? 1 : 0))};
    });
    x.set_grad({});
    backward(use_second ? sum(z) : y * 1.0);
    BOOST_TEST(x.grad().item() == (use_second ? 1 : 10));
  }
}

BOOST_AUTO_TEST_CASE(a_backward_with_a_wrong_number_of_gradients_is_named) {
  Tensor x = Tensor::full({}, 2);
  x.set_requires_grad();
  Tensor y = x.clone();
  record("short", y, {x}, [](const Tensor&) { return Grads{}; });
  BOOST_CHECK_EXCEPTION(backward(y), ShapeError,
                        says_exactly("[backward] short has 1 inputs and gave 0 gradients"));
}

BOOST_AUTO_TEST_CASE(guards_nest_and_end_with_their_scope) {
  BOOST_TEST(grad_enabled());
  {
    const NoGrad off;
    BOOST_TEST(!grad_enabled());
    {
      const EnableGrad on;
      BOOST_TEST(grad_enabled());
    }
    BOOST_TEST(!grad_enabled());
  }
  BOOST_TEST(grad_enabled());
}

BOOST_AUTO_TEST_CASE(the_first_output_that_is_not_finite_is_named) {
  const FindNonfinite find;
  const Tensor x = Tensor::from({1, 0}, {2});
  const Tensor y = exp(x);
  BOOST_TEST(find.found() == "");
  sqrt(log(x) - y);
  BOOST_TEST(find.found() == "output of log, shape [2]");
}

BOOST_AUTO_TEST_CASE(the_first_gradient_that_is_not_finite_is_named) {
  Tensor x = Tensor::from({1, 0}, {2});
  x.set_requires_grad();
  const Tensor loss = sum(square(x) + sqrt(x * 1.0));
  const FindNonfinite find;
  backward(loss);
  BOOST_TEST(find.found() == "gradient from sqrt, input 0, shape [2]");
}

BOOST_AUTO_TEST_CASE(checks_stop_with_the_finder) {
  const FindNonfinite outer;
  {
    const FindNonfinite inner;
    log(Tensor::zeros({1}));
    BOOST_TEST(inner.found() == "output of log, shape [1]");
  }
  BOOST_TEST(outer.found() == "");
  exp(Tensor::full({3}, 1000));
  BOOST_TEST(outer.found() == "output of exp, shape [3]");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
