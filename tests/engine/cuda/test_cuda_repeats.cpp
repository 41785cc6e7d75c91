// The products of a training step of neox-162m at their full sizes, none tuned, several times: long
// sums that a library might cut among blocks which add in any order. Small on the emulated device.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "engine/autograd.h"
#include "engine/device_info.h"
#include "engine/ops/cross_entropy.h"
#include "engine/ops/matmul.h"
#include "engine/ops/view.h"
#include "tests/support/both_devices.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_cuda_repeats)  // ctest: gpu
namespace {

constexpr int kRepeats = 3;

// What a size is divided by where a card would take it whole.
int64_t scale() {
  static const bool is_emulated = device_info(kCuda).name.find("emulated") != std::string::npos;
  return is_emulated ? 32 : 1;
}

// Rows that differ, of fewer numbers than there are elements: those are drawn one by one.
Tensor rows(int64_t n, int64_t width, uint64_t seed, DType dtype) {
  const int64_t n_drawn = std::min<int64_t>(n, 509);  // a prime
  const Tensor block = random_tensor({n_drawn, width}, seed, -1, 1, dtype).to(kCuda);
  std::vector<Tensor> parts(static_cast<size_t>(n / n_drawn), block);
  if (n % n_drawn > 0) parts.push_back(slice(block, 0, 0, n % n_drawn));
  return concat(parts, 0).detach();
}

std::vector<Tensor> on_cpu(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> all;
  for (const Tensor& x : tensors) all.push_back(x.to(Device{}));
  return all;
}

template <class F>
void repeats(const std::string& what, const F& results) {
  const std::vector<Tensor> first = on_cpu(results());
  for (int i = 1; i < kRepeats; ++i) {
    const std::vector<Tensor> again = on_cpu(results());
    for (size_t j = 0; j < first.size(); ++j)
      BOOST_TEST(same_bits(again[j], first[j]), what << ", output " << j << " of repetition " << i);
  }
}

BOOST_AUTO_TEST_CASE(linear_layers_and_their_gradients_repeat_to_the_bit) {
  const int64_t n_row = 32 * 512 / scale(), width = 768 / scale();
  struct Layer {
    int64_t in, out;
    Activation activation = Activation::none;
  };
  for (const Layer& layer : {Layer{width, 3 * width},
                             {width, width},
                             {width, 4 * width, Activation::gelu},
                             {4 * width, width}}) {
    const Tensor x = rows(n_row, layer.in, 1, DType::bf16),
                 dy = rows(n_row, layer.out, 2, DType::bf16);
    const Tensor w = rows(layer.out, layer.in, 3, DType::f32),
                 b = random_tensor({layer.out}, 4, -1, 1, DType::f32).to(kCuda);
    repeats(concat(layer.in, " to ", layer.out), [&] {
      Tensor leaves[] = {x.clone(), w.clone(), b.clone()};
      for (Tensor& leaf : leaves) leaf.set_requires_grad();
      const Tensor y = linear(leaves[0], leaves[1], leaves[2], layer.activation);
      backward(y, dy);
      return std::vector<Tensor>{y.detach(), leaves[0].grad(), leaves[1].grad(), leaves[2].grad()};
    });
  }
}

BOOST_AUTO_TEST_CASE(the_head_and_its_gradients_repeat_to_the_bit) {
  const int64_t n_row = 32 * 512 / scale(), width = 768 / scale(), n_vocab = 50304 / scale();
  const Tensor x = rows(n_row, width, 5, DType::bf16), w = rows(n_vocab, width, 6, DType::f32);
  const Tensor targets = random_ids({n_row}, 7, static_cast<int32_t>(n_vocab)).to(kCuda);
  for (const DType logits : {DType::f32, DType::bf16})
    repeats(concat("logits in ", logits), [&] {
      Tensor leaves[] = {x.clone(), w.clone()};
      for (Tensor& leaf : leaves) leaf.set_requires_grad();
      const Tensor loss = linear_cross_entropy(leaves[0], leaves[1], targets, logits);
      backward(loss);
      return std::vector<Tensor>{loss.detach(), leaves[0].grad(), leaves[1].grad()};
    });
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
