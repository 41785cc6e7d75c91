#include <boost/test/unit_test.hpp>
#include <cmath>
#include <sstream>

#include "apps/cli/printout.h"
#include "engine/base/json.h"

namespace farfield::cli {
BOOST_AUTO_TEST_SUITE(test_printout)
namespace {

std::string printed(bool is_json) {
  std::ostringstream out;
  Printout page(out, "garden show", is_json);
  page.text() << "beds\n\n";
  page.fact("area", Cell(2.5, "2.50"));
  page.add({"beds",
            {"bed", {"length", "m"}, "sown"},
            {{"north", fixed_cell(1.0 / 3, 2), Cell::missing()},
             {"south", fixed_cell(INFINITY, 1), 7},
             {"east", Cell(std::nan(""), "?"), Cell(true, "yes")}}});
  page.finish();
  return out.str();
}

BOOST_AUTO_TEST_CASE(readers_get_lines_and_columns) {
  BOOST_TEST(printed(false) ==
             "beds\n\n"
             "bed     length   sown\n"
             "north     0.33      -\n"
             "south      inf      7\n"
             "east         ?    yes\n");
}

BOOST_AUTO_TEST_CASE(programs_get_one_document_with_all_digits) {
  const Json json = read_json({"test", "document", printed(true)});
  BOOST_TEST(write_json(json) ==
             R"({"command":"garden show","remarks":["beds"],"facts":{"area":2.5},)"
             R"("tables":{"beds":{"columns":[{"name":"bed"},{"name":"length","unit":"m"},)"
             R"({"name":"sown"}],"rows":[{"bed":"north","length":0.3333333333333333,"sown":null},)"
             R"({"bed":"south","length":"inf","sown":7},)"
             R"({"bed":"east","length":"nan","sown":true}]}}})");
}

BOOST_AUTO_TEST_CASE(no_document_is_printed_before_the_end) {
  std::ostringstream out;
  {
    Printout page(out, "garden show", /*is_json=*/true);
    page.text() << "a line\n";
    page.add({"beds", {"bed"}, {{"north"}}});
  }
  BOOST_TEST(out.str() == "");
}

BOOST_AUTO_TEST_CASE(a_table_for_programs_alone_is_not_shown) {
  std::ostringstream out;
  Printout page(out, "garden show", /*is_json=*/false);
  page.add_for_programs({"beds", {"bed"}, {{"north"}}});
  page.finish();
  BOOST_TEST(out.str() == "");
}

BOOST_AUTO_TEST_CASE(csv_has_the_texts) {
  BOOST_TEST(csv_of({"beds", {"bed", "length"}, {{"a, b", fixed_cell(1.0 / 3, 2)}}}) ==
             "bed,length\n\"a, b\",0.33\n");
}

BOOST_AUTO_TEST_SUITE_END()
}  // namespace
}  // namespace farfield::cli
