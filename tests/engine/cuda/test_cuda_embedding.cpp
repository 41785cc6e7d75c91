#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/ops/embedding.h"
#include "tests/support/both_devices.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_cuda_embedding)  // ctest: gpu
namespace {

using namespace test;

// In one chunk of positions and in several, the last of them not full.
BOOST_AUTO_TEST_CASE(rows_and_sums_over_equal_ids) {
  const Tensor table = random_tensor({7, 33}, 1, -1, 1, DType::f32);
  for (const int64_t n : {1, 33, 1024, 1025, 2600})
    devices_agree(
        concat(n, " ids"), {table, random_ids({n}, 2, 7)}, Work::reduction,
        [](const std::vector<Tensor>& in) { return embedding(in[0], in[1], DType::f32); });
}

// In the order of the positions, as on the CPU: the same bits.
BOOST_AUTO_TEST_CASE(sums_are_in_the_order_of_the_positions) {
  constexpr int64_t kIds = 2600, kRows = 40, kWidth = 5;
  const Tensor ids = random_ids({kIds}, 2, kRows),
               dy = random_tensor({kIds, kWidth}, 3, -1, 1, DType::f32);
  const auto gradient = [&](const Device& device) {
    const Tensor table = Tensor::zeros({kRows, kWidth}, DType::f32, device).set_requires_grad();
    backward(embedding(table, ids.to(device), DType::f32), dy.to(device));
    return table.grad().to(Device{}).to_vector();
  };
  const std::vector<double> got = gradient(kCuda), want = gradient(Device{});
  BOOST_TEST(got == want, boost::test_tools::per_element());
}

// Reading ids back would stall the device: what is none shows in the loss, and nothing is read or
// written beside the table.
BOOST_AUTO_TEST_CASE(an_id_outside_of_the_table_is_not_a_number) {
  const Tensor table = random_tensor({5, 9}, 1, -1, 1, DType::f32).to(kCuda).set_requires_grad();
  const Tensor ids = Tensor::from(std::vector<int32_t>{4, 5, -1, 2000000000, 0}, {5}).to(kCuda);
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Tensor y = embedding(table, ids, dtype);
    const std::vector<double> got = y.detach().to(Device{}).to_vector();
    for (size_t i = 0; i < got.size(); ++i)
      BOOST_TEST(std::isnan(got[i]) == (i / 9 >= 1 && i / 9 <= 3), i);
    table.set_grad({});
    backward(y, Tensor::full(y.shape(), 1, dtype, kCuda));
    const std::vector<double> gradient = table.grad().to(Device{}).to_vector();
    for (size_t i = 0; i < gradient.size(); ++i)
      BOOST_TEST(gradient[i] == (i / 9 == 0 || i / 9 == 4 ? 1 : 0), i);
  }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
