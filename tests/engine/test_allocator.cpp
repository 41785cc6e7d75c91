#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <vector>

#include "engine/allocator.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_allocator)  // ctest: arm64
namespace {

// A device with room for `room` bytes that counts what it gave and got back.
int64_t room = 0, n_gets = 0, held = 0;

Allocator make(int64_t size_bytes, bool keeps = Allocator::keeps_blocks()) {
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
                    "toy"},
                   keeps);
}

// Once more with FARFIELD_KEEP_BLOCKS=0, as test_allocator_without_kept_blocks.
BOOST_AUTO_TEST_CASE(the_environment_says_whether_blocks_are_kept) {
  const char* const said = std::getenv("FARFIELD_KEEP_BLOCKS");
  const bool asked = said == nullptr || std::string(said) != "0";
  BOOST_TEST(Allocator::keeps_blocks() == (Allocator::kKeepsBlocks && asked));
}

BOOST_AUTO_TEST_CASE(a_freed_block_is_handed_out_again_for_the_same_size) {
  Allocator allocator = make(1 << 20);
  void* const first = allocator.allocate(1000);
  BOOST_TEST(allocator.stats().current_bytes >= 1000);
  allocator.free(first, 1000);
  BOOST_TEST(allocator.stats().current_bytes == 0);
  void* const second = allocator.allocate(1000);
  if (Allocator::keeps_blocks()) {
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

BOOST_AUTO_TEST_CASE(a_sanitizer_sees_exact_blocks_that_are_gone_when_freed) {
  for (const bool keeps : {true, false}) {
    const bool kept = keeps && Allocator::kKeepsBlocks;
    Allocator allocator = make(1 << 20, keeps);
    void* const data = allocator.allocate(1001);
    BOOST_TEST((held == 1001) == !kept);
    BOOST_TEST(allocator.stats().current_bytes == held);
    allocator.free(data, 1001);
    BOOST_TEST((held == 0) == !kept);
    BOOST_TEST(allocator.stats().current_bytes == 0);
    BOOST_TEST(allocator.stats().cached_bytes == held);
    allocator.release_cached();
  }
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

// Whether `data` is among all that others are given in this size. Where blocks are not kept, the
// host's allocator may well give out one that is free.
bool is_given_out(Allocator& allocator, const void* data, int64_t size_bytes) {
  std::vector<void*> all;
  for (int i = 0; i < 20; ++i) all.push_back(allocator.allocate(size_bytes));
  const bool found = std::find(all.begin(), all.end(), data) != all.end();
  for (void* one : all) allocator.free(one, size_bytes);
  return found;
}

BOOST_AUTO_TEST_CASE(a_reserve_keeps_what_was_used_while_it_was_open) {
  Allocator allocator = make(1 << 20);
  {
    Allocator::Reserve reserve(allocator);
    void* const inner = allocator.allocate(1000);
    allocator.free(inner, 1000);
    BOOST_TEST(allocator.allocate(1000) == inner);  // again in the same recording
    allocator.free(inner, 1000);
    void* const result = allocator.allocate(2000);
    reserve.close();
    BOOST_TEST(!is_given_out(allocator, inner, 1000));
    allocator.free(result, 2000);
    BOOST_TEST(!is_given_out(allocator, result, 2000));
  }
  allocator.release_cached();
  BOOST_TEST(held == 0);
}

BOOST_AUTO_TEST_CASE(a_reserve_keeps_what_was_there_when_it_was_opened) {
  Allocator allocator = make(1 << 20);
  void *const early = allocator.allocate(1000), *const late = allocator.allocate(1000);
  {
    Allocator::Reserve reserve(allocator);
    allocator.free(early, 1000);
    // not even in the recording: work recorded earlier reads it again at each replay
    void* const other = allocator.allocate(1000);
    BOOST_TEST(other != early);
    allocator.free(other, 1000);
    reserve.close();
    allocator.free(late, 1000);
    for (const void* data : {early, late, other}) BOOST_TEST(!is_given_out(allocator, data, 1000));
    // what comes afterwards is as ever
    void* const after = allocator.allocate(1000);
    allocator.free(after, 1000);
    if (Allocator::keeps_blocks()) BOOST_TEST(is_given_out(allocator, after, 1000));
  }
  allocator.release_cached();
  BOOST_TEST(held == 0);
}

// Freeing memory while a stream is captured would end the capture.
BOOST_AUTO_TEST_CASE(nothing_is_given_back_while_work_is_recorded) {
  Allocator allocator = make(10'000);
  allocator.free(allocator.allocate(8192), 8192);  // kept, in a size that is not asked for again
  const int64_t before = held;
  {
    Allocator::Reserve reserve(allocator);
    if (Allocator::keeps_blocks()) BOOST_CHECK_THROW(allocator.allocate(4096), BackendError);
    allocator.release_cached();
    BOOST_TEST(held == before);
  }
  void* const data = allocator.allocate(4096);
  allocator.free(data, 4096);
  allocator.release_cached();
  BOOST_TEST(held == 0);
}

BOOST_AUTO_TEST_CASE(two_reserves_keep_a_block_until_both_are_gone) {
  Allocator allocator = make(1 << 20);
  void* const early = allocator.allocate(1000);
  auto first = std::make_unique<Allocator::Reserve>(allocator);
  BOOST_CHECK_EXCEPTION(
      Allocator::Reserve{allocator}, BackendError,
      says_exactly("[memory] toy: expected one recording at a time, got a second one"));
  first->close();
  void* const between = allocator.allocate(3000);
  auto second = std::make_unique<Allocator::Reserve>(allocator);
  void* const of_second = allocator.allocate(5000);
  second->close();
  for (auto [data, size] : {std::pair(early, 1000), {between, 3000}, {of_second, 5000}})
    allocator.free(data, size);
  first.reset();
  BOOST_TEST(!is_given_out(allocator, early, 1000));
  BOOST_TEST(!is_given_out(allocator, between, 3000));
  BOOST_TEST(!is_given_out(allocator, of_second, 5000));
  second.reset();
  BOOST_TEST(allocator.stats().current_bytes == 0);
  allocator.release_cached();
  BOOST_TEST(held == 0);
}

BOOST_AUTO_TEST_CASE(a_reserve_counts_as_memory_in_use) {
  Allocator allocator = make(1 << 20);
  {
    Allocator::Reserve reserve(allocator);
    void *const a = allocator.allocate(4096), *const b = allocator.allocate(8192);
    allocator.free(a, 4096);
    BOOST_TEST(allocator.stats().current_bytes == 8192);
    allocator.free(allocator.allocate(4096), 4096);
    reserve.close();
    BOOST_TEST(allocator.stats().current_bytes == 4096 + 8192);
    BOOST_TEST(allocator.stats().peak_bytes == 4096 + 8192);
    allocator.free(b, 8192);
    BOOST_TEST(allocator.stats().current_bytes == 4096 + 8192);
    allocator.release_cached();
    BOOST_TEST(held == 4096 + 8192);
  }
  BOOST_TEST(allocator.stats().current_bytes == 0);
  BOOST_TEST(allocator.stats().cached_bytes == (Allocator::keeps_blocks() ? 4096 + 8192 : 0));
  allocator.release_cached();
}

// A recording that failed: tensors that outlive it are as all others.
BOOST_AUTO_TEST_CASE(a_reserve_may_go_before_its_blocks) {
  Allocator allocator = make(1 << 20);
  void* data = nullptr;
  {
    const Allocator::Reserve reserve(allocator);
    data = allocator.allocate(1000);
  }
  BOOST_TEST(!is_given_out(allocator, data, 1000));
  allocator.free(data, 1000);
  if (Allocator::keeps_blocks()) BOOST_TEST(is_given_out(allocator, data, 1000));
  allocator.release_cached();
  BOOST_TEST(held == 0);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
