#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>
#include <set>
#include <utility>

#include "data/tokenizers/bpe_merges.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_bpe_merges)
namespace {

using Ids = std::vector<int32_t>;

// As the definition has it: the lowest rank, the leftmost of it, again and again.
Ids one_by_one(Ids ids, const std::vector<BpeMerge>& merges) {
  for (;;) {
    size_t best = merges.size(), at = 0;
    for (size_t i = 0; i + 1 < ids.size(); ++i)
      for (size_t rank = 0; rank < best; ++rank)
        if (merges[rank].left == ids[i] && merges[rank].right == ids[i + 1]) {
          best = rank;
          at = i;
        }
    if (best == merges.size()) return ids;
    ids[at] = merges[best].product;
    ids.erase(ids.begin() + static_cast<ptrdiff_t>(at) + 1);
  }
}

// Merges of tokens that are there; where they are shuffled, what a merge makes may be joined by
// earlier ones.
std::vector<BpeMerge> random_merges(std::mt19937& random, uint32_t n_letters, int n, bool shuffle) {
  std::vector<BpeMerge> merges;
  std::set<std::pair<int32_t, int32_t>> pairs;
  auto n_ids = static_cast<int32_t>(n_letters);
  while (static_cast<int>(merges.size()) < n) {
    const auto left = static_cast<int32_t>(random() % static_cast<uint32_t>(n_ids));
    const auto right = static_cast<int32_t>(random() % static_cast<uint32_t>(n_ids));
    if (pairs.emplace(left, right).second) merges.push_back({left, right, n_ids++});
  }
  if (shuffle) std::shuffle(merges.begin(), merges.end(), random);
  return merges;
}

Ids random_ids(std::mt19937& random, uint32_t n_letters, size_t n) {
  Ids ids(n);
  for (int32_t& id : ids) id = static_cast<int32_t>(random() % n_letters);
  return ids;
}

BOOST_AUTO_TEST_CASE(pieces_of_all_lengths_are_joined_as_one_by_one) {
  std::mt19937 random(1);
  BpeMerges::Workspace work;
  for (int n = 0; n < 400; ++n) {
    const uint32_t n_letters = 1 + random() % 4;
    const std::vector<BpeMerge> merges =
        random_merges(random, n_letters, 1 + static_cast<int>(random() % 12), n % 2 == 1);
    const BpeMerges table(merges);
    const size_t size = n % 4 < 2 ? random() % 70 : random() % 300;
    Ids ids = random_ids(random, n_letters, size);
    const Ids expected = one_by_one(ids, merges);
    table.apply(ids, work);
    BOOST_TEST(ids == expected);
  }
}

// Too long to be joined one by one: pieces between which nothing is joined are, and give the same.
BOOST_AUTO_TEST_CASE(a_very_long_piece_is_joined_as_its_parts) {
  std::mt19937 random(2);
  BpeMerges::Workspace work;
  constexpr int32_t kBetween = 1000;  // in no merge
  for (int n = 0; n < 12; ++n) {
    const uint32_t n_letters = 1 + static_cast<uint32_t>(n) % 4;
    const std::vector<BpeMerge> merges = random_merges(random, n_letters, 40, n % 2 == 1);
    const BpeMerges table(merges);
    Ids ids, expected;
    while (ids.size() < 20000) {
      const Ids part = random_ids(random, n_letters, random() % 60);
      const Ids joined = one_by_one(part, merges);
      ids.insert(ids.end(), part.begin(), part.end());
      expected.insert(expected.end(), joined.begin(), joined.end());
      ids.push_back(kBetween);
      expected.push_back(kBetween);
    }
    table.apply(ids, work);
    BOOST_TEST((ids == expected));
  }
}

// Would take hours if time grew with the square.
BOOST_AUTO_TEST_CASE(a_run_of_a_million_is_joined_in_linear_time) {
  std::vector<BpeMerge> rising, falling;
  for (int32_t id = 0; id < 10; ++id) rising.push_back({id, id, id + 1});
  falling.assign(rising.rbegin(), rising.rend());
  BpeMerges::Workspace work;
  for (const std::vector<BpeMerge>& merges : {rising, falling}) {
    Ids ids(1'000'000, 0);
    BpeMerges(merges).apply(ids, work);
    BOOST_TEST(ids.size() == 978u);  // 976 of 1024 each, and 576 = 512 + 64
    BOOST_TEST(std::count(ids.begin(), ids.end(), 10) == 976);
  }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
