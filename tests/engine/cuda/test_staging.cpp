#include <boost/test/unit_test.hpp>
#include <vector>

#include "engine/cuda/staging.h"
#include "tests/support/cuda/copies.h"
#include "tests/support/cuda/device_array.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_staging)
namespace {

using emulation::n_host_waits;

// test_cuda_staging holds that they arrive.
BOOST_AUTO_TEST_CASE(the_host_waits_when_there_is_no_more_memory) {
  constexpr int kSize = 20000;  // some more than 64 KiB
  const Stream stream;
  Staging staging;
  const DeviceArray<int> out(kSize, -1);
  const std::vector<int> values(kSize, 1);
  const auto give = [&] {
    staging.copy(values.data(), out.data(), values.size() * sizeof(int), stream.get());
  };
  const int64_t before = n_host_waits();
  for (int i = 0; i < 32; ++i) give();
  BOOST_TEST(n_host_waits() == before);
  for (int i = 32; i < 100; ++i) give();
  BOOST_TEST(n_host_waits() > before);
  stream.synchronize();
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
