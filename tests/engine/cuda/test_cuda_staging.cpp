#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <vector>

#include "engine/cuda/staging.h"
#include "tests/support/cuda/device_array.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_cuda_staging)  // ctest: gpu
namespace {

// Memory that is written again before the device has read it shows: the emulated one reads it only
// with its next work, a card while the host goes on.
BOOST_AUTO_TEST_CASE(what_was_given_arrives_however_soon_the_next_one_follows) {
  constexpr int kCopies = 100, kSize = 20000;  // some more than 64 KiB
  const Stream stream;
  Staging staging;
  const DeviceArray<int> out(kCopies * kSize, -1);
  const auto size_of_copy = [](int i) { return static_cast<size_t>(1 + i * 2711 % kSize); };
  for (int i = 0; i < kCopies; ++i) {
    std::vector<int> values(size_of_copy(i), i);
    staging.copy(values.data(), out.data() + i * kSize, values.size() * sizeof(int), stream.get());
    std::fill(values.begin(), values.end(), -2);
  }
  stream.synchronize();
  const std::vector<int> values = out.values();
  for (int i = 0; i < kCopies; ++i)
    for (int j = 0; j < kSize; ++j)
      BOOST_REQUIRE_EQUAL(values[static_cast<size_t>(i * kSize + j)],
                          j < static_cast<int>(size_of_copy(i)) ? i : -1);
}

BOOST_AUTO_TEST_CASE(so_does_what_is_too_large_for_staging) {
  const Stream stream;
  Staging staging;
  std::vector<int> values(Staging::kMostBytes / sizeof(int) + 1, 1);
  const DeviceArray<int> out(values.size(), -1);
  staging.copy(values.data(), out.data(), out.size_bytes(), stream.get());
  std::fill(values.begin(), values.end(), 2);
  stream.synchronize();
  values = out.values();
  BOOST_TEST(std::all_of(values.begin(), values.end(), [](int value) { return value == 1; }));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
