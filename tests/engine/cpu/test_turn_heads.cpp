// The CPU's kernels that rotate heads in place, as split_heads() rotates copies of them.

#include <boost/test/unit_test.hpp>

#include "engine/kernels/split_heads.h"
#include "engine/ops/split_heads.h"
#include "tests/support/all_close.h"
#include "tests/support/random_tensor.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_turn_heads)  // ctest: arm64

BOOST_AUTO_TEST_CASE(heads_turned_where_they_lie_have_the_bits_of_those_split) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16})
    for (const Shape& angles : {Shape{5, 0}, Shape{5, 3}, Shape{2, 5, 2}})
      for (const bool interleaved : {false, true})
        for (const bool has_scales : {false, true}) {
          const auto table = [&](uint64_t seed) {
            return random_tensor(angles, seed, -1, 1, accumulate_dtype(dtype));
          };
          Rotation r{.cos = table(1), .sin = table(2), .interleaved = interleaved};
          if (has_scales) r.scale_q = table(3), r.scale_k = table(4);
          const Tensor qkv = random_tensor({2, 5, 3 * 3 * 6}, 5, -1, 1, dtype);
          Tensor turned = qkv.clone();
          turn_heads(Cpu{}, 3, r, turned);
          const Heads want = split_heads(qkv, 3, r), got = split_heads(turned, 3);
          BOOST_TEST(same_bits(got.q, want.q));
          BOOST_TEST(same_bits(got.k, want.k));
          BOOST_TEST(same_bits(got.v, want.v));

          Tensor back = Tensor::empty(qkv.shape(), dtype), turned_back = qkv.clone();
          split_heads_backward(Cpu{}, split_heads(qkv, 3), r, back);
          turn_heads_back(Cpu{}, 3, r, turned_back);
          BOOST_TEST(same_bits(turned_back, back));
        }
}

BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
