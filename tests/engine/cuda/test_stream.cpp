#include <boost/test/unit_test.hpp>

#include "engine/cuda/launch.h"
#include "engine/cuda/stream.h"
#include "tests/support/cuda/device_array.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_stream)
namespace {

__global__ void add_kernel(int value, int* out) { atomicAdd(out, value); }

BOOST_AUTO_TEST_CASE(work_of_a_stream_is_done_when_it_was_waited_for) {
  const Stream stream;
  const DeviceArray<int> out(1, 0);
  launch(add_kernel, 2, 64, 0, stream.get(), 3, out.data());
  stream.synchronize();
  BOOST_TEST(out.values()[0] == 2 * 64 * 3);
}

BOOST_AUTO_TEST_CASE(events_order_two_streams_and_tell_the_time) {
  const Stream first, second;
  Event begin, end;
  const DeviceArray<int> out(1, 0);
  begin.record(first.get());
  launch(add_kernel, 1, 32, 0, first.get(), 1, out.data());
  end.record(first.get());
  second.wait_for(end);
  launch(add_kernel, 1, 32, 0, second.get(), 1, out.data());
  second.synchronize();
  end.synchronize();
  BOOST_TEST(out.values()[0] == 64);
  BOOST_TEST(end.time_ms_since(begin) >= 0);
}

BOOST_AUTO_TEST_CASE(an_event_that_was_not_recorded_has_no_time) {
  Event begin;
  const Event end;
  begin.record(nullptr);
  BOOST_CHECK_EXCEPTION(end.time_ms_since(begin), BackendError,
                        says("[cuda] time between two events: "));
}

BOOST_AUTO_TEST_CASE(copies_stay_within_one_array) {
  const DeviceArray<int> a(4, 1);
  int host[5] = {};
  const auto copy = [&](size_t n) {
    cuda_check(cudaMemcpyAsync(host, a.data(), n, cudaMemcpyDeviceToHost, nullptr), "copy");
  };
  copy(4 * sizeof(int));
  BOOST_TEST(host[3] == 1);
  BOOST_CHECK_EXCEPTION(copy(5 * sizeof(int)), BackendError,
                        says_exactly("[cuda] copy: invalid argument"));
  BOOST_CHECK_EXCEPTION(
      cuda_check(cudaMemcpyAsync(host, host, 4, cudaMemcpyDeviceToHost, nullptr), "copy"),
      BackendError, says_exactly("[cuda] copy: invalid argument"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
