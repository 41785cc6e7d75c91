#include <boost/test/unit_test.hpp>

#include "engine/base/error.h"
#include "posenc/scanner.h"
#include "tests/support/messages.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_scanner)  // ctest: sanitize
namespace {

template <class F>
std::string error_of(const F& f) {
  return message_of<ConfigError>(f);
}

BOOST_AUTO_TEST_CASE(a_scanner_stays_within_its_range) {
  Scanner in("a(12.5e3, b)", 2, 4);
  BOOST_TEST(in.number("a number") == 12.5);  // the rest of the number is beyond the range
  BOOST_TEST(in.at_end());
  BOOST_TEST(in.peek() == '\0');
  BOOST_TEST(!in.take('e'));
  BOOST_TEST(in.column() == 7u);
  BOOST_TEST(in.since(2) == "12.5");
}

BOOST_AUTO_TEST_CASE(what_stands_beyond_the_range_is_shown_in_an_error) {
  const Scanner in("a(1)", 3, 0);
  BOOST_TEST(error_of([&] { in.refuse("a word"); }) ==
             "[posenc] expected a word, got ')' at column 4\n  a(1)\n     ^");
}

BOOST_AUTO_TEST_CASE(words_numbers_integers_lists_and_quotes_are_read_to_their_end) {
  Scanner in("_a9 -1.5 -12 1,2 ] \"x\\\"y\"");
  BOOST_TEST(in.word("a word") == "_a9");
  in.skip_space();
  BOOST_TEST(in.number("a number") == -1.5);
  in.skip_space();
  BOOST_TEST(in.integer("an integer") == -12);
  BOOST_TEST((in.list() == std::vector<double>{1, 2}));
  in.skip_space();
  BOOST_TEST(in.quoted_text() == "x\"y");
  BOOST_TEST(in.at_end());
}

BOOST_AUTO_TEST_CASE(anything_else_is_refused_where_it_begins) {
  BOOST_TEST(error_of([] { Scanner("9a").word("a word"); }).find("expected a word, got '9'") !=
             std::string::npos);
  BOOST_TEST(error_of([] {
               Scanner("+-1").number("a number");
             }).find("expected a number, got '+' at column 1") != std::string::npos);
  BOOST_TEST(error_of([] {
               Scanner("1000000001").integer("an integer");
             }).find("expected an integer, got '1' at column 1") != std::string::npos);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
