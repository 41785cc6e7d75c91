// Rows that are kept in shared memory, against the same kernels on a device that has no room for
// them: the same bits.

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/autograd.h"
#include "engine/dispatch.h"
#include "engine/kernels.h"
#include "tests/support/all_close.h"
#include "tests/support/cuda/devices.h"
#include "tests/support/cuda/grid.h"
#include "tests/support/cuda/symbol_name.h"
#include "tests/support/random_tensor.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_shared_row)
namespace {

using emulation::emulated_devices;
using emulation::KeepDevices;
using emulation::RaceCheck;
using emulation::SharedBytesGiven;

constexpr Device kLarge{Device::Kind::cuda, 0}, kSmall{Device::Kind::cuda, 1};
const DType kFloats[] = {DType::f32, DType::bf16};
constexpr int64_t kMostBytes = int64_t{163} << 10;  // of kLarge
constexpr int64_t kOwnBytes = 128;                  // the kernel's own: what sums of a block take

// kSmall has no room for rows that are too long for registers.
struct TwoDevices {
  TwoDevices() { emulated_devices().capabilities = {{8, 0}, {8, 0, size_t{1} << 10}}; }
  KeepDevices keep;
};

// What work() gives a kernel of this name; -1 when it launches none.
template <class F>
int64_t shared_bytes_given(const char* name, const F& work) {
  const SharedBytesGiven given;
  work();
  for (const auto& [kernel, bytes] : given.of_kernel)
    if (emulation::symbol_name(kernel).find(name) != std::string::npos)
      return static_cast<int64_t>(bytes.second);
  return -1;
}

// Rows that begin `offset` elements behind where 16 bytes may be loaded at once.
Tensor rows_at(const Device& device, const Tensor& values, int64_t offset) {
  Tensor all = Tensor::zeros({values.numel() + offset}, values.dtype(), device);
  Tensor rows = all.view(values.shape(), offset);
  rows.assign(values.to(device));
  return rows;
}

struct Case {
  Tensor logits, targets;
  int64_t offset = 0;
  DType gradient = DType::f32;
  bool in_place = false;
};
struct Found {
  Tensor nll, dlogits, without_gradient;
  int64_t shared_bytes, without_gradient_bytes;
};

Found run(const Device& device, const Case& c) {
  const NoGrad no_grad;
  const int64_t n_row = c.logits.dim(0);
  Tensor logits = rows_at(device, c.logits, c.offset), nothing;
  const Tensor targets = c.targets.to(device);
  Tensor dlogits =
      c.in_place ? logits : rows_at(device, Tensor::zeros(c.logits.shape(), c.gradient), c.offset);
  Tensor nll = Tensor::empty({n_row}, DType::f32, device), alone = nll.clone();
  const auto work = [&](Tensor& to, Tensor& gradient) {
    return shared_bytes_given("cross_entropy_kernel", [&] {
      cross_entropy_rows(cuda_tag(device), logits, targets, 0.7, to, gradient);
    });
  };
  const int64_t alone_bytes = work(alone, nothing), bytes = work(nll, dlogits);
  return {nll.to({}), dlogits.to({}), alone.to({}), bytes, alone_bytes};
}

void expect_same_bits(const std::string& what, const Case& c) {
  const Found kept = run(kLarge, c), twice = run(kSmall, c);
  BOOST_TEST(same_bits(kept.nll, twice.nll), what);
  BOOST_TEST(same_bits(kept.dlogits, twice.dlogits), what);
  BOOST_TEST(same_bits(kept.without_gradient, twice.without_gradient), what);
  BOOST_TEST(kept.shared_bytes >= c.logits.dim(1) * static_cast<int64_t>(size_of(c.logits.dtype())),
             what);
  BOOST_TEST(twice.shared_bytes == 0, what);
  BOOST_TEST(kept.without_gradient_bytes == 0, what);
}

BOOST_AUTO_TEST_CASE(a_kept_row_of_logits_gives_the_same_bits) {
  const TwoDevices devices;
  for (const DType dtype : kFloats)
    for (const int64_t n : {8193, 8200, 16384, 20001, 40960, 41003})
      for (const int64_t offset : {0, 3})
        for (const DType gradient : kFloats)
          for (const bool in_place : {false, true}) {
            if (in_place && gradient != dtype) continue;
            expect_same_bits(
                concat(dtype, " [2, ", n, "], offset ", offset, ", gradient in ", gradient,
                       in_place ? ", in place" : ""),
                {random_tensor({2, n}, 1, -5, 5, dtype),
                 random_ids({2}, 3, static_cast<int32_t>(n)), offset, gradient, in_place});
          }
}

BOOST_AUTO_TEST_CASE(special_elements_give_the_same_bits) {
  const TwoDevices devices;
  constexpr int64_t kN = 20001;
  for (const double filling : {0.0, -HUGE_VAL, 3e38})
    for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL, 2.0})
      for (const int64_t at : {int64_t{0}, kN / 2, kN - 1}) {
        std::vector<double> values(kN, filling);
        values[static_cast<size_t>(at)] = value;
        const Tensor targets = Tensor::from(std::vector<int32_t>{kN - 1}, {1});
        expect_same_bits(concat(value, " at ", at, " of ", filling),
                         {Tensor::from(values, {1, kN}, DType::f32), targets});
      }
}

BOOST_AUTO_TEST_CASE(the_order_of_threads_does_not_matter) {
  const TwoDevices devices;
  const RaceCheck races;
  for (const DType dtype : kFloats)
    for (const int64_t n : {20000, 20001})
      expect_same_bits(concat(dtype, ' ', n),
                       {random_tensor({2, n}, 1, -5, 5, dtype),
                        random_ids({2}, 3, static_cast<int32_t>(n)), 0, dtype, /*in_place=*/true});
}

// Kept are whole pieces of 16 bytes, beside what the kernel has itself.
BOOST_AUTO_TEST_CASE(a_row_is_kept_where_it_fits) {
  const TwoDevices devices;
  for (const DType dtype : kFloats) {
    const int64_t most = (kMostBytes - kOwnBytes) / static_cast<int64_t>(size_of(dtype));
    for (const int64_t n : {int64_t{8192}, int64_t{8193}, most, most + 1}) {
      const Found found = run(kLarge, {random_tensor({1, n}, 1, -5, 5, dtype),
                                       random_ids({1}, 3, static_cast<int32_t>(n)), 0, dtype});
      const int64_t bytes = (n * static_cast<int64_t>(size_of(dtype)) + 15) / 16 * 16;
      BOOST_TEST(found.shared_bytes == (n > 8192 && n <= most ? bytes : 0), dtype << ' ' << n);
    }
  }
}

BOOST_AUTO_TEST_CASE(softmax_of_a_kept_row_gives_the_same_bits) {
  const TwoDevices devices;
  for (const DType dtype : kFloats)
    for (const int64_t n : {8193, 20000, 41003})
      for (const int64_t offset : {0, 3})
        for (const bool is_log : {false, true}) {
          const Tensor x = random_tensor({2, n}, 1, -5, 5, dtype);
          const auto softmax_on = [&](const Device& device, bool is_kept) {
            const NoGrad no_grad;
            const Tensor from = rows_at(device, x, offset);
            Tensor y = Tensor::empty(x.shape(), dtype, device);
            const int64_t bytes = shared_bytes_given(
                "softmax_kernel", [&] { softmax_forward(cuda_tag(device), from, is_log, y); });
            BOOST_TEST((bytes > 0) == is_kept);
            return y.to({});
          };
          BOOST_TEST(same_bits(softmax_on(kLarge, true), softmax_on(kSmall, false)),
                     dtype << ' ' << n << ' ' << offset << ' ' << is_log);
        }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
