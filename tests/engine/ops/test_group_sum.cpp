#include <boost/test/unit_test.hpp>
#include <string>

#include "engine/autograd.h"
#include "engine/ops.h"
#include "tests/support/all_close.h"
#include "tests/support/grad_check.h"
#include "tests/support/group_work.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_group_sum)

using namespace farfield;
using test::check_group;
using test::said;

namespace {

// A process's part of dimension 0.
Tensor own_rows(const Tensor& x, const Group& group) {
  return slice(x, 0, x.dim(0) * group.rank() / group.size(),
               x.dim(0) * (group.rank() + 1) / group.size());
}

BOOST_AUTO_TEST_CASE(a_sum_of_parts_is_the_sum_of_all_and_its_gradient_goes_to_each) {
  check_group(3, [](const Group& group) {
    const double r = group.rank();
    Tensor x = Tensor::from({r, 2 * r}, {2});
    x.set_requires_grad();
    const Tensor y = group_sum(x, group);
    backward(y, Tensor::from({5, 7}, {2}));
    return said(all_close(y, Tensor::from({3, 6}, {2}), 0)) +
           said(all_close(x, Tensor::from({r, 2 * r}, {2}), 0)) +
           said(all_close(x.grad(), Tensor::from({5, 7}, {2}), 0));
  });
}

BOOST_AUTO_TEST_CASE(a_copy_gets_the_gradients_of_all) {
  check_group(3, [](const Group& group) {
    Tensor x = Tensor::from({1, 2}, {2});
    x.set_requires_grad();
    const Tensor y = group_copy(x, group);
    const double r = group.rank();
    const Tensor dy = Tensor::from({r, 1}, {2});
    backward(y, dy);
    return said(all_close(y, x, 0)) + said(all_close(x.grad(), Tensor::from({3, 3}, {2}), 0)) +
           said(all_close(dy, Tensor::from({r, 1}, {2}), 0));
  });
}

// As two linear layers use them: all gradients of all inputs, in each process.
BOOST_AUTO_TEST_CASE(gradients_of_layers_in_parts_agree_with_differences) {
  for (const int size : {1, 2, 3, 4})
    check_group(size, [](const Group& group) {
      return said(gradients_agree(
          [&](const std::vector<Tensor>& in) {
            const Tensor w1 = own_rows(group_copy(in[1], group), group);
            const Tensor w2 = own_rows(group_copy(in[2], group), group);
            const Tensor inner = gelu(matmul(group_copy(in[0], group), permute(w1, {1, 0})));
            return square(group_sum(matmul(inner, w2), group));
          },
          {random_tensor({3, 5}, 1), random_tensor({7, 5}, 2), random_tensor({7, 2}, 3)}));
    });
}

BOOST_AUTO_TEST_CASE(bfloat16_is_summed_in_float32_and_rounded_once) {
  check_group(4, [](const Group& group) {
    // 256 + 3 = 259 lies between 258 and 260, the even one; 256 + 1 would be rounded to 256.
    const Tensor x = Tensor::from({group.rank() == 0 ? 256.0 : 1.0}, {1}, DType::bf16);
    const Tensor y = group_sum(x, group);
    return said(all_close(y.to_vector(), std::vector<double>{260}, 0)) +
           (y.dtype() == DType::bf16 ? "" : "other dtype");
  });
}

BOOST_AUTO_TEST_CASE(under_checkpoint_they_are_made_again) {
  check_group(2, [](const Group& group) {
    const auto run = [&](bool checkpointed) {
      Tensor x = random_tensor({4, 3}, 1);
      x.set_requires_grad();
      const auto f = [&](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{
            group_sum(square(group_copy(in[0], group)) * (group.rank() + 1.0), group)};
      };
      const Tensor y = checkpointed ? checkpoint(f, {x})[0] : f({x})[0];
      backward(y, random_tensor({4, 3}, 2));
      return x.grad();
    };
    return said(same_bits(run(true), run(false)));
  });
}

BOOST_AUTO_TEST_CASE(one_process_has_the_tensor_itself) {
  Tensor x = random_tensor({3}, 1);
  x.set_requires_grad();
  BOOST_TEST(group_sum(x, {}).raw_data() == x.raw_data());
  BOOST_TEST(group_copy(x, {}).requires_grad());
}

BOOST_AUTO_TEST_CASE(integers_are_refused) {
  BOOST_CHECK_EXCEPTION(group_sum(random_ids({3}, 1, 5), {}), DTypeError,
                        says_exactly("[group_sum] expected a floating type, got int32"));
  BOOST_CHECK_EXCEPTION(group_copy(random_ids({3}, 1, 5), {}), DTypeError,
                        says_exactly("[group_copy] expected a floating type, got int32"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
