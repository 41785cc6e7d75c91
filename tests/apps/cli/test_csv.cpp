#include <boost/test/unit_test.hpp>

#include "apps/cli/csv.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_csv)

using namespace farfield;
using namespace farfield::cli;

BOOST_AUTO_TEST_CASE(fields_that_need_quotes_get_them) {
  BOOST_TEST(csv_row({"a", "", "rope(base=1, scale=2)", "say \"x\""}) ==
             "a,,\"rope(base=1, scale=2)\",\"say \"\"x\"\"\"\n");
}

BOOST_AUTO_TEST_CASE(rows_read_back) {
  const std::vector<std::vector<std::string>> rows = {
      {"x", "y"}, {"1,2", ""}, {"\"", "line\nend"}, {"last", ""}};
  std::string text;
  for (const auto& row : rows) text += csv_row(row);
  BOOST_CHECK(parse_csv("f", text) == rows);
  BOOST_CHECK(parse_csv("f", "a,b\r\n1,2") ==
              (std::vector<std::vector<std::string>>{{"a", "b"}, {"1", "2"}}));
}

BOOST_AUTO_TEST_CASE(an_open_quote_is_an_error) {
  BOOST_CHECK_EXCEPTION(parse_csv("f.csv", "a\n\"b\n"), IoError,
                        says("[csv] f.csv: line 2: the quote is never closed"));
}

BOOST_AUTO_TEST_SUITE_END()
