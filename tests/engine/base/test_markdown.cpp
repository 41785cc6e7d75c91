#include <boost/test/unit_test.hpp>

#include "engine/base/markdown.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_markdown)
namespace {

BOOST_AUTO_TEST_CASE(plain_text_shows_the_same_characters) {
  BOOST_TEST(markdown_text("kerple_log") == "kerple_log");
  BOOST_TEST(markdown_text("a*b|c <d> `e` \\") == "a\\*b\\|c \\<d> \\`e\\` \\\\");
  BOOST_TEST(markdown_text("one\ntwo") == "one two");
}

BOOST_AUTO_TEST_CASE(code_may_hold_backticks) {
  BOOST_TEST(markdown_code("bench step") == "`bench step`");
  BOOST_TEST(markdown_code("echo `date`") == "`` echo `date` ``");
}

BOOST_AUTO_TEST_CASE(a_bar_in_a_cell_is_escaped_once) {
  BOOST_TEST(markdown_row({"`|x|`", "", "a\\|b", "two\nlines"}) ==
             "| `\\|x\\|` |  | a\\|b | two lines |\n");
  BOOST_TEST(markdown_head({"a", "b"}) == "| a | b |\n|---|---|\n");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
