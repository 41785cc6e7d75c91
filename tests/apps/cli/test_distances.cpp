#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "apps/cli/distances.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"

namespace farfield::cli {
BOOST_AUTO_TEST_SUITE(test_distances)
namespace {

using Numbers = std::vector<int64_t>;

BOOST_AUTO_TEST_CASE(numbers_and_ranges_with_both_ends_are_read) {
  BOOST_TEST(parse_distances({"0:3", "512", "10:20:5"}) == (Numbers{0, 1, 2, 3, 512, 10, 15, 20}),
             boost::test_tools::per_element());
  BOOST_TEST(parse_distances({"7:7"}) == Numbers{7}, boost::test_tools::per_element());
  BOOST_TEST(parse_distances({"0:64", "512", "8191"}).size() == 67u);
  BOOST_TEST(parse_distances({}).empty());
}

BOOST_AUTO_TEST_CASE(another_form_is_refused_and_shown) {
  for (const char* bad : {"-1", "x", "", "1:", ":1", "5:4", "1:2:0", "1:2:-1", "1:2:3:4", "1.5",
                          "4194304", "99999999999999999999", "1 2", "1:2:", "0x10"})
    BOOST_CHECK_EXCEPTION(parse_distances({"1", bad}), ConfigError,
                          says("[inspect] --distances: expected numbers D, ranges FIRST:LAST",
                               "got '" + std::string(bad) + "'"));
  BOOST_CHECK_EXCEPTION(parse_distances({"0:4194303", "0:4194303", "0:4194303"}), ConfigError,
                        says_exactly("[inspect] --distances: expected at most 10000000 of them"));
}

BOOST_AUTO_TEST_CASE(usual_distances_reach_eight_times_the_training_length) {
  BOOST_TEST(usual_distances(6) == (Numbers{0, 1, 2, 4, 6, 8, 16, 32}),
             boost::test_tools::per_element());
  BOOST_TEST(usual_distances(int64_t{1} << 24).back() < (int64_t{1} << 22));
}

BOOST_AUTO_TEST_CASE(drawn_distances_rise_from_zero_to_the_last) {
  for (const int64_t last : {0, 1, 5, 4096, 1 << 20}) {
    const Numbers distances = drawn_distances(last);
    BOOST_TEST(distances.front() == 0);
    BOOST_TEST(distances.back() == last);
    BOOST_TEST(std::is_sorted(distances.begin(), distances.end()));
    BOOST_TEST(distances.size() < 700u);
  }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::cli
