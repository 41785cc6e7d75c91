#include <boost/test/unit_test.hpp>

#include "posenc/length_cache.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_length_cache)
namespace {

using Cache = LengthCache<int64_t>;  // values that weigh what they say

struct Counting {
  Cache cache;
  int n_made = 0;
  int64_t get(const Cache::Key& key, int64_t bytes) {
    return cache.get(
        key,
        [&] {
          ++n_made;
          return bytes;
        },
        [](int64_t value) { return value; });
  }
};

BOOST_AUTO_TEST_CASE(a_value_is_made_once_per_key) {
  Counting c;
  for (int round = 0; round < 3; ++round) BOOST_TEST(c.get({0, 4, 4, Phase::train}, 10) == 10);
  BOOST_TEST(c.n_made == 1);
  c.get({1, 4, 4, Phase::train}, 10);
  c.get({0, 3, 4, Phase::train}, 10);
  c.get({0, 4, 5, Phase::train}, 10);
  c.get({0, 4, 4, Phase::eval}, 10);
  BOOST_TEST(c.n_made == 5);
}

BOOST_AUTO_TEST_CASE(the_least_recently_used_goes_first_when_there_are_too_many_bytes) {
  Counting c;
  const int64_t third = Cache::kMaxBytes / 3;
  for (size_t owner : {0, 1, 2}) c.get({owner, 1, 1, Phase::eval}, third);
  c.get({0, 1, 1, Phase::eval}, third);  // used again
  c.get({3, 1, 1, Phase::eval}, third);  // drops 1
  BOOST_TEST(c.n_made == 4);
  BOOST_TEST(c.cache.total_bytes() <= Cache::kMaxBytes);
  for (size_t owner : {0, 2, 3}) c.get({owner, 1, 1, Phase::eval}, third);
  BOOST_TEST(c.n_made == 4);
  c.get({1, 1, 1, Phase::eval}, third);
  BOOST_TEST(c.n_made == 5);
}

BOOST_AUTO_TEST_CASE(a_value_beyond_the_limit_is_handed_out_but_not_kept) {
  Counting c;
  c.get({0, 1, 1, Phase::eval}, 5);
  BOOST_TEST(c.get({1, 1, 1, Phase::eval}, Cache::kMaxBytes + 1) == Cache::kMaxBytes + 1);
  BOOST_TEST(c.cache.total_bytes() == 5);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
