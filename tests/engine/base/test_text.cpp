#include <boost/test/unit_test.hpp>
#include <limits>
#include <string>
#include <vector>

#include "engine/base/text.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_text)  // ctest: arm64
namespace {

struct Named {
  std::string name;
};

BOOST_AUTO_TEST_CASE(joined_puts_the_separator_between_two) {
  using Words = std::vector<std::string>;
  BOOST_TEST(joined(Words{}) == "");
  BOOST_TEST(joined(Words{"a"}) == "a");
  BOOST_TEST(joined(Words{"a", "b", "c"}) == "a, b, c");
  BOOST_TEST(joined(Words{"", "b"}, "; ") == "; b");
  BOOST_TEST(joined(std::vector<int>{1, -2}, " ") == "1 -2");
}

BOOST_AUTO_TEST_CASE(joined_takes_a_member_or_a_function_for_the_name) {
  const std::vector<Named> items = {{"a"}, {"b"}};
  BOOST_TEST(joined(items, "+", &Named::name) == "a+b");
  BOOST_TEST(joined(items, "+", [](const Named& item) { return item.name + "!"; }) == "a!+b!");
}

BOOST_AUTO_TEST_CASE(listed_ends_as_a_sentence_does) {
  using Words = std::vector<std::string>;
  BOOST_TEST(listed(Words{}, " or ") == "");
  BOOST_TEST(listed(Words{"a"}, " or ") == "a");
  BOOST_TEST(listed(Words{"a", "b"}, " or ") == "a or b");
  BOOST_TEST(listed(Words{"a", "b", "c"}, " and ") == "a, b and c");
}

BOOST_AUTO_TEST_CASE(trimmed_keeps_what_is_between) {
  BOOST_TEST(trimmed("\t a b\r\n") == "a b");
  BOOST_TEST(trimmed("ab") == "ab");
  BOOST_TEST(trimmed(" \n ") == "");
  BOOST_TEST(trimmed("") == "");
}

BOOST_AUTO_TEST_CASE(fixed_has_the_digits_it_was_asked_for) {
  BOOST_TEST(fixed(2.5, 2) == "2.50");
  BOOST_TEST(fixed(-0.04, 1) == "-0.0");
  BOOST_TEST(fixed(12345.6, 0) == "12346");
  BOOST_TEST(fixed(std::numeric_limits<double>::quiet_NaN(), 3) == "nan");
}

BOOST_AUTO_TEST_CASE(shortest_reads_back) {
  BOOST_TEST(shortest(0.1) == "0.1");
  BOOST_TEST(shortest(8) == "8");
  BOOST_TEST(shortest(1e30) == "1e+30");
  BOOST_TEST(shortest(-1.0 / 0.0) == "-inf");
  const double longest = -2.2250738585072014e-308;
  BOOST_TEST(std::stod(shortest(longest)) == longest);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
