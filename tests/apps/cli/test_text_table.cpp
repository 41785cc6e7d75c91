#include <boost/test/unit_test.hpp>

#include "apps/cli/text_table.h"

BOOST_AUTO_TEST_SUITE(test_text_table)

using farfield::cli::text_table;

BOOST_AUTO_TEST_CASE(columns_line_up_the_first_to_the_left) {
  BOOST_TEST(text_table({{"a", "10", "x"}, {"bcd", "5", "yz"}}) ==
             "a     10    x\nbcd    5   yz\n");
  BOOST_TEST(text_table({{"a", "b"}}, 1) == "a b\n");
  BOOST_TEST(text_table({}) == "");
}

BOOST_AUTO_TEST_CASE(a_character_of_several_bytes_is_one_column) {
  BOOST_TEST(text_table({{"x", "1 ± 2"}, {"x", "12345"}}) == "x   1 ± 2\nx   12345\n");
}

BOOST_AUTO_TEST_SUITE_END()
