// The output head and its loss on both devices, products included.

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/dispatch.h"
#include "engine/kernels/cross_entropy.h"
#include "engine/ops/cross_entropy.h"
#include "engine/ops/pointwise.h"
#include "tests/support/both_devices.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_cuda_cross_entropy)  // ctest: gpu
namespace {

using Inputs = std::vector<Tensor>;
const DType kFloats[] = {DType::f32, DType::bf16};

// x [n, d], w [v, d] and targets; w is in float32, its values exact in the dtype of x.
Inputs inputs_of(int64_t n, int64_t d, int64_t vocab_size, DType dtype) {
  return {random_tensor({n, d}, 1, -1, 1, dtype),
          rounded(random_tensor({vocab_size, d}, 2, -1, 1, dtype), DType::f32),
          random_ids({n}, 3, static_cast<int32_t>(vocab_size))};
}

BOOST_AUTO_TEST_CASE(losses_and_gradients_over_several_chunks) {
  for (const DType dtype : kFloats)
    for (const Shape& size :
         {Shape{1, 1, 1}, Shape{7, 5, 33}, Shape{40, 16, 264}, Shape{2100, 8, 1100}}) {
      const auto n = static_cast<double>(size[0]);
      // A gradient of one token is of size 1 / n: the factor brings it to size one.
      devices_agree(
          concat(dtype, ' ', size), inputs_of(size[0], size[1], size[2], dtype), Work::product,
          [n](const Inputs& in) { return n * linear_cross_entropy(in[0], in[1], in[2]); });
      devices_agree(concat("nll ", dtype, ' ', size), inputs_of(size[0], size[1], size[2], dtype),
                    Work::product,
                    [](const Inputs& in) { return linear_nll(in[0], in[1], in[2]); });
    }
  BOOST_TEST(cross_entropy_chunk(2100, 1100, Device::Kind::cuda) < 2100);
}

// Rounded logits, whose gradient takes their place: rows with and without whole pieces, and long
// ones, which are kept in shared memory.
BOOST_AUTO_TEST_CASE(rounded_logits) {
  for (const Shape& size : {Shape{1, 1}, Shape{7, 33}, Shape{40, 264}, Shape{20, 5001},
                            Shape{2, 20001}, Shape{1, 50304}}) {
    const int64_t n = size[0];
    const Tensor logits = random_tensor(size, 1, -5, 5, DType::bf16),
                 targets = random_ids({n}, 3, static_cast<int32_t>(size[1]));
    const auto results = [&](auto tag, const Device& device) {
      Tensor both = logits.to(device).clone(), nll = Tensor::empty({n}, DType::f32, device);
      cross_entropy_rows(tag, both, targets.to(device), 1, nll, both);
      return Inputs{nll.to(Device{}), both.to(Device{})};
    };
    const Inputs want = results(Cpu{}, {}), got = results(cuda_tag(kCuda), kCuda);
    BOOST_TEST(all_close(got[0], want[0], tolerance_between(DType::f32, Work::reduction)), size);
    BOOST_TEST(all_close(got[1], want[1], tolerance_between(DType::bf16, Work::reduction)), size);
    Tensor exact = rounded(logits, DType::f64);
    BOOST_TEST(
        all_close(want[0], nll_in_place(exact, targets), tolerance(DType::f32, Work::reduction)),
        size);
    BOOST_TEST(all_close(want[1], exact, tolerance(DType::bf16, Work::reduction)), size);
  }
}

// The kernels of a process that has rows 100 .. of a vocabulary.
BOOST_AUTO_TEST_CASE(a_part_of_the_vocabulary) {
  for (const DType dtype : kFloats)
    for (const Shape& size : {Shape{1, 1}, Shape{7, 33}, Shape{40, 264}, Shape{50, 5001},
                              Shape{2, 20001}, Shape{1, 50304}}) {
      const int64_t n = size[0], n_logit = size[1], vocab_size = n_logit + 150;
      const Tensor logits = random_tensor(size, 1, -5, 5, DType::f32),
                   targets = random_ids({n}, 3, static_cast<int32_t>(vocab_size));
      const auto parts = [&](auto tag, const Device& device) {
        const Tensor from = logits.to(device), ids = targets.to(device);
        Tensor log_sum = Tensor::empty({n}, DType::f32, device),
               at_target = Tensor::empty({n}, DType::f32, device),
               dlogits = Tensor::empty(size, dtype, device);
        cross_entropy_part(tag, from, 100, vocab_size, ids, log_sum, at_target);
        cross_entropy_part_backward(tag, from, 100, ids, log_sum, 1, dlogits);
        return Inputs{log_sum.to(Device{}), at_target.to(Device{}), dlogits.to(Device{})};
      };
      const Inputs want = parts(Cpu{}, {}), got = parts(cuda_tag(kCuda), kCuda);
      for (size_t i = 0; i < want.size(); ++i)
        BOOST_TEST(all_close(got[i], want[i],
                             tolerance_between(i == 2 ? dtype : DType::f32, Work::reduction)),
                   dtype << ' ' << size << ' ' << i);
    }
}

BOOST_AUTO_TEST_CASE(a_target_outside_of_the_vocabulary_is_not_a_number) {
  const Inputs in = inputs_of(3, 4, 9, DType::f32);
  const Tensor targets = Tensor::from(std::vector<int32_t>{2, 9, 0}, {3}).to(kCuda);
  BOOST_TEST(std::isnan(linear_cross_entropy(in[0].to(kCuda), in[1].to(kCuda), targets).item()));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
