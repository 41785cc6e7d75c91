#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "engine/cuda/staging.h"
#include "tests/support/cuda/copies.h"
#include "tests/support/cuda/device_array.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_staging)
namespace {

using emulation::n_host_waits;

// The emulated device reads pinned memory only with its next work, so memory that is written again
// too early shows.
BOOST_AUTO_TEST_CASE(what_was_given_arrives_however_soon_the_next_one_follows) {
  constexpr int kCopies = 100, kSize = 20000;  // some more than 64 KiB
  const Stream stream;
  Staging staging;
  const DeviceArray<int> out(kCopies * kSize, -1);
  const auto size_of_copy = [](int i) { return static_cast<size_t>(1 + i * 2711 % kSize); };
  const auto give = [&](int i) {
    std::vector<int> values(size_of_copy(i), i);
    staging.copy(values.data(), out.data() + i * kSize, values.size() * sizeof(int), stream.get());
    std::fill(values.begin(), values.end(), -2);
  };
  const int64_t before = n_host_waits();
  for (int i = 0; i < 32; ++i) give(i);
  BOOST_TEST(n_host_waits() == before);
  for (int i = 32; i < kCopies; ++i) give(i);
  BOOST_TEST(n_host_waits() > before);  // no more memory: the host waits for a copy
  stream.synchronize();
  const std::vector<int> values = out.values();
  for (int i = 0; i < kCopies; ++i)
    for (int j = 0; j < kSize; ++j)
      BOOST_REQUIRE_EQUAL(values[static_cast<size_t>(i * kSize + j)],
                          j < static_cast<int>(size_of_copy(i)) ? i : -1);
}

BOOST_AUTO_TEST_CASE(one_piece_of_memory_is_enough_for_a_device_that_keeps_up) {
  const Stream stream;
  Staging staging;
  const DeviceArray<int> out(1, -1);
  for (int i = 0; i < 100; ++i) {
    staging.copy(&i, out.data(), sizeof i, stream.get());
    stream.synchronize();
  }
  const int64_t before = n_host_waits();
  for (int i = 0; i < 31; ++i) staging.copy(&i, out.data(), sizeof i, stream.get());
  BOOST_TEST(n_host_waits() == before);
  BOOST_TEST(out.values()[0] == 30);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
