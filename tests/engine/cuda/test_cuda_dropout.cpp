// Dropout on both devices: the same mask and the same rounding, so the same bits.

#include <boost/test/unit_test.hpp>

#include "engine/ops/dropout.h"
#include "tests/support/both_devices.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_cuda_dropout)  // ctest: gpu
namespace {

void check_same_bits(const Tensor& x, const std::string& what) {
  for (const double p : {0.1, 0.5}) {
    const auto f = [p](const std::vector<Tensor>& in) { return dropout(in[0], p, {3, 99}); };
    const std::vector<Tensor> want = run_on(Device{}, {x}, f), got = run_on(kCuda, {x}, f);
    BOOST_REQUIRE_EQUAL(got.size(), 2u);  // and the gradient
    for (const size_t i : {0, 1}) BOOST_TEST(same_bits(got[i], want[i]), what << ", p " << p);
  }
}

BOOST_AUTO_TEST_CASE(odd_sizes) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64})
    for (const int64_t n : {0, 1, 7, 8, 9, 33, 2047, 2049, 70001})
      check_same_bits(random_tensor({n}, 1, -1, 1, dtype), concat(dtype, ' ', n));
}

BOOST_AUTO_TEST_CASE(columns_of_a_larger_array) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64})
    for (const int64_t width : {1, 7, 8, 100})
      for (const int64_t first : {0, 3, 16}) {
        const auto f = [&](const std::vector<Tensor>& in) {
          return dropout(in[0], 0.3, {3, 99}, 24, {first, first + width + 5});
        };
        const Tensor x = random_tensor({37, width}, 1, -1, 1, dtype);
        const std::vector<Tensor> want = run_on(Device{}, {x}, f), got = run_on(kCuda, {x}, f);
        for (const size_t i : {0, 1})
          BOOST_TEST(same_bits(got.at(i), want.at(i)), dtype << ' ' << width << ' ' << first);
      }
}

// The mask counts from the first element of the tensor, wherever that lies.
BOOST_AUTO_TEST_CASE(arrays_that_begin_anywhere) {
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const int64_t offset : {1, 3, 8}) {
      const Tensor memory = random_tensor({600}, 2, -1, 1, dtype);
      const auto drop = [&](const Tensor& all) {
        return dropout(all.view({501}, offset), 0.25, {3, 99}).to(Device{});
      };
      BOOST_TEST(same_bits(drop(memory.to(kCuda)), drop(memory)), dtype << ' ' << offset);
    }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
