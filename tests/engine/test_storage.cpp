#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <optional>

#include "engine/allocator.h"
#include "engine/storage.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_storage)
namespace {

BOOST_AUTO_TEST_CASE(bytes_are_aligned_counted_and_returned) {
  const int64_t before = memory_stats({}).current_bytes;
  for (const int64_t size : {int64_t{1}, int64_t{100}, int64_t{5} << 20}) {
    std::optional<Storage> storage(std::in_place, size, Device{});
    BOOST_TEST(storage->size_bytes() == size);
    BOOST_TEST(reinterpret_cast<uintptr_t>(storage->data()) % 64 == 0u);
    BOOST_TEST(memory_stats({}).current_bytes >= before + size);
    static_cast<char*>(storage->data())[size - 1] = 1;
    storage.reset();
    BOOST_TEST(memory_stats({}).current_bytes == before);
  }
}

BOOST_AUTO_TEST_CASE(the_peak_covers_what_has_gone) {
  reset_peak_memory({});
  const int64_t before = memory_stats({}).peak_bytes;
  { const Storage storage(1 << 20, {}); }
  BOOST_TEST(memory_stats({}).peak_bytes == before + (1 << 20));
  reset_peak_memory({});
  BOOST_TEST(memory_stats({}).peak_bytes == before);
}

BOOST_AUTO_TEST_CASE(freed_bytes_are_kept_until_released) {
  release_cached_memory({});
  { const Storage storage(4096, {}); }
  BOOST_TEST(memory_stats({}).cached_bytes == (Allocator::keeps_blocks() ? 4096 : 0));
  release_cached_memory({});
  BOOST_TEST(memory_stats({}).cached_bytes == 0);
}

BOOST_AUTO_TEST_CASE(no_bytes_need_no_memory) {
  const int64_t before = memory_stats({}).current_bytes;
  const Storage storage(0, {});
  BOOST_TEST(storage.data() == nullptr);
  BOOST_TEST(memory_stats({}).current_bytes == before);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
