// Added tokens that two programs take from a text in different orders.

#include <boost/test/unit_test.hpp>

#include "apps/hub/gguf_added_tokens.h"

namespace farfield::hub {
BOOST_AUTO_TEST_SUITE(test_gguf_added_tokens)
namespace {

BOOST_AUTO_TEST_CASE(tokens_that_cannot_overlap_are_taken_alike) {
  BOOST_TEST(!differently_taken({}));
  BOOST_TEST(!differently_taken({"<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|"}));
  BOOST_TEST(!differently_taken({"abc", "b"}));
}

// "abcd" is ab and cd to one and a, bcd to the other.
BOOST_AUTO_TEST_CASE(a_longer_token_that_begins_later_is_told) {
  const auto pair = differently_taken({"ab", "bcd"});
  BOOST_TEST_REQUIRE(pair.has_value());
  BOOST_TEST(pair->first == "ab");
  BOOST_TEST(pair->second == "bcd");
  BOOST_TEST(differently_taken({"ab", "bc"}).has_value());
}

// Any run of blanks has its longest tokens first either way.
BOOST_AUTO_TEST_CASE(runs_of_blanks_are_taken_alike) {
  std::vector<std::string> runs;
  for (size_t n = 2; n <= 24; ++n) runs.emplace_back(n, ' ');
  BOOST_TEST(!differently_taken(runs));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::hub
