#include <sys/mman.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstring>
#include <vector>

#include "engine/base/random.h"
#include "engine/cpu/huge_pages.h"
#include "tests/support/address_space_limit.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_huge_pages)  // ctest: sanitize arm64
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

struct Block {
  char* data;
  int64_t size;
  char value;

  Block(HugePages& pages, int64_t n, char filled_with)
      : data(static_cast<char*>(pages.get(n))), size(n), value(filled_with) {
    BOOST_REQUIRE(data != nullptr);
    std::memset(data, value, static_cast<size_t>(size));
  }
  bool is_intact() const {
    for (int64_t i = 0; i < size; ++i)
      if (data[i] != value) return false;
    return true;
  }
};

BOOST_AUTO_TEST_CASE(blocks_are_aligned_and_apart_in_any_order_of_get_and_put) {
  HugePages pages;
  const Random random{.seed = 1};
  std::vector<Block> blocks;
  uint64_t at = 0;
  const auto draw = [&](uint64_t n) { return random.below(at++, n); };
  bool aligned = true, intact = true;
  for (int step = 0; step < 2000; ++step) {
    if (blocks.size() < 40 || draw(2) == 0) {
      const int64_t most = int64_t{1} << (1 + draw(20));
      const int64_t size = 1 + static_cast<int64_t>(draw(static_cast<uint64_t>(most)));
      blocks.emplace_back(pages, size, static_cast<char>(step));
      aligned = aligned && reinterpret_cast<uintptr_t>(blocks.back().data) % 64 == 0;
    } else {
      const auto gone = blocks.begin() + static_cast<int64_t>(draw(blocks.size()));
      intact = intact && gone->is_intact();
      pages.put(gone->data, gone->size);
      blocks.erase(gone);
    }
  }
  BOOST_TEST(aligned);
  for (const Block& block : blocks) {
    intact = intact && block.is_intact();
    pages.put(block.data, block.size);
  }
  BOOST_TEST(intact);
  BOOST_TEST(pages.held_bytes() == 0);
}

BOOST_AUTO_TEST_CASE(blocks_side_by_side_share_pages) {
  HugePages pages;
  const Block first(pages, 1000, 1), second(pages, 1000, 2);
  BOOST_TEST(second.data - first.data == 1024);
  BOOST_TEST(reinterpret_cast<uintptr_t>(first.data) % HugePages::kPage == 0u);
  const Block largest(pages, HugePages::kLargest, 3);
  BOOST_TEST(pages.held_bytes() == 64 * kMiB);
  pages.put(first.data, first.size);
  const Block again(pages, 1000, 4);
  BOOST_TEST(again.data == first.data);
}

BOOST_AUTO_TEST_CASE(freed_neighbours_make_room_for_a_larger_block) {
  HugePages pages;
  std::vector<Block> blocks;
  for (int i = 0; i < 4; ++i) blocks.emplace_back(pages, kMiB, static_cast<char>(i));
  for (const int i : {0, 2, 1}) pages.put(blocks[static_cast<size_t>(i)].data, kMiB);
  const Block three(pages, 3 * kMiB, 5);
  BOOST_TEST(three.data == blocks[0].data);
  BOOST_TEST(blocks[3].is_intact());
}

BOOST_AUTO_TEST_CASE(memory_of_a_freed_block_goes_back_although_others_stay) {
  HugePages pages;
  const Block before(pages, 2 * kMiB, 1), small(pages, kMiB, 2), block(pages, 3 * kMiB, 3),
      after(pages, kMiB, 4);
  const auto n_resident = [&] {
    std::vector<unsigned char> is_resident(static_cast<size_t>(block.size / ::getpagesize()));
    BOOST_REQUIRE(::mincore(block.data, static_cast<size_t>(block.size), is_resident.data()) == 0);
    int64_t n = 0;
    for (const unsigned char page : is_resident) n += page & 1;
    return n;
  };
  BOOST_TEST(n_resident() == block.size / ::getpagesize());
  pages.put(block.data, block.size);
  BOOST_TEST(n_resident() == kMiB / ::getpagesize());  // on a page with `small`
  pages.put(small.data, small.size);
  BOOST_TEST(n_resident() == 0);
  BOOST_TEST(before.is_intact());
  BOOST_TEST(after.is_intact());
}

BOOST_AUTO_TEST_CASE(little_memory_is_used_up_before_none_is_said_to_be_left) {
  if (test::skip_without_address_space_limit()) return;
  HugePages pages;
  std::vector<void*> blocks;
  blocks.reserve(1000);
  {
    const test::AddressSpaceLimit little(16 * kMiB);  // less than is usually taken at a time
    while (void* const block = blocks.size() < 1000 ? pages.get(kMiB) : nullptr)
      blocks.push_back(block);
  }
  BOOST_TEST(blocks.size() >= 4u);
  BOOST_TEST(blocks.size() < 1000u);
  for (void* block : blocks) pages.put(block, kMiB);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
