#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "engine/allocator.h"
#include "tests/support/messages.h"

namespace farfield {
namespace {

// A device with room for `room` bytes that counts what it gave and got back.
int64_t room = 0, n_gets = 0, held = 0;

Allocator make(int64_t size_bytes) {
  room = size_bytes;
  n_gets = held = 0;
  return Allocator({[](int64_t size) -> void* {
                      ++n_gets;
                      if (size > room - held) return nullptr;
                      held += size;
                      return std::malloc(static_cast<size_t>(size));
                    },
                    [](void* data, int64_t size) {
                      held -= size;
                      std::free(data);
                    },
                    "toy"});
}

BOOST_AUTO_TEST_CASE(a_freed_block_is_handed_out_again_for_the_same_size) {
  Allocator allocator = make(1 << 20);
  void* const first = allocator.allocate(1000);
  BOOST_TEST(allocator.stats().current_bytes >= 1000);
  allocator.free(first, 1000);
  BOOST_TEST(allocator.stats().current_bytes == 0);
  void* const second = allocator.allocate(1000);
  if (Allocator::kKeepsBlocks) {
    BOOST_TEST(second == first);
    BOOST_TEST(n_gets == 1);
  } else {
    BOOST_TEST(n_gets == 2);
  }
  allocator.free(second, 1000);
  allocator.release_cached();
  BOOST_TEST(held == 0);
  BOOST_TEST(allocator.stats().cached_bytes == 0);
}

BOOST_AUTO_TEST_CASE(the_address_sanitizer_sees_exact_blocks_that_are_gone_when_freed) {
  Allocator allocator = make(1 << 20);
  allocator.free(allocator.allocate(1001), 1001);
  BOOST_TEST((held == 0) == !Allocator::kKeepsBlocks);
  allocator.release_cached();
}

BOOST_AUTO_TEST_CASE(blocks_waste_at_most_an_eighth) {
  Allocator allocator = make(int64_t{1} << 40);
  for (const int64_t size : {1, 63, 64, 65, 513, 1000, 4097, 70001, 1048577}) {
    void* const data = allocator.allocate(size);
    const int64_t used = allocator.stats().current_bytes;
    BOOST_TEST((used >= size && used <= std::max<int64_t>(size + 63, size + size / 8)),
               size << " bytes take " << used);
    allocator.free(data, size);
  }
  allocator.release_cached();
}

BOOST_AUTO_TEST_CASE(the_peak_is_the_most_since_it_was_reset) {
  Allocator allocator = make(1 << 20);
  void *const a = allocator.allocate(4096), *const b = allocator.allocate(4096);
  allocator.free(a, 4096);
  BOOST_TEST(allocator.stats().current_bytes == 4096);
  BOOST_TEST(allocator.stats().peak_bytes == 8192);
  allocator.reset_peak();
  BOOST_TEST(allocator.stats().peak_bytes == 4096);
  allocator.free(b, 4096);
  BOOST_TEST(allocator.stats().peak_bytes == 4096);
  allocator.release_cached();
}

BOOST_AUTO_TEST_CASE(cached_blocks_are_given_back_before_memory_runs_out) {
  Allocator allocator = make(10000);
  allocator.free(allocator.allocate(6000), 6000);
  void* const data = allocator.allocate(9000);
  BOOST_TEST(data != nullptr);
  allocator.free(data, 9000);
  allocator.release_cached();
}

BOOST_AUTO_TEST_CASE(out_of_memory_says_what_was_asked_for_and_what_is_held) {
  Allocator allocator = make(10000);
  void* const data = allocator.allocate(4096);
  const auto expected = [](int64_t size) {
    return says_exactly("[memory] toy: " + std::to_string(size) +
                        " bytes asked for, 4096 bytes already in tensors; try a smaller batch, a "
                        "shorter length or checkpointing");
  };
  BOOST_CHECK_EXCEPTION(allocator.allocate(8000), BackendError, expected(8000));
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  BOOST_CHECK_EXCEPTION(allocator.allocate(kMost), BackendError, expected(kMost));
  BOOST_TEST(allocator.stats().current_bytes == 4096);  // a failure changes nothing
  allocator.free(data, 4096);
  allocator.release_cached();
}

}  // namespace
}  // namespace farfield
