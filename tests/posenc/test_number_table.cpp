#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "posenc/number_table.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_number_table)  // ctest: sanitize
namespace {

// Two lines of three numbers, read from a file that holds `text`.
std::vector<double> read(const std::string& text) {
  const TempFolder folder;
  write_file_atomic(folder / "t.csv", text);
  return read_number_table("t5(table)", (folder / "t.csv").string(), 2, 3);
}
// What is wrong with `text`, without the folder.
std::string refusal(const std::string& text) {
  const std::string message = message_of<IoError>([&] { read(text); });
  return message.empty() ? "" : message.substr(message.find("t.csv"));
}

BOOST_AUTO_TEST_CASE(numbers_are_read_row_after_row) {
  const std::vector<double> want = {1, -2.5, 3e-3, 4, 0, 6};
  for (const char* text : {"1,-2.5,3e-3\n4,0,6\n", "1,-2.5,3e-3\n4,0,6",
                           " 1 ,\t-2.5, 3e-3 \r\n4,-0,6\r\n", "1,-2.5,3e-3\n4,0,6\n\n"})
    BOOST_TEST(read(text) == want, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(each_mistake_is_refused_at_its_place) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "t.csv: expected 2 lines of 3 numbers, got 0 lines"},
      {"\n", "t.csv: expected 2 lines of 3 numbers, got 0 lines"},
      {"1,2,3\n", "t.csv: expected 2 lines of 3 numbers, got 1 lines"},
      {"1,2,3\n4,5,6\n7,8,9\n", "t.csv: expected 2 lines of 3 numbers, got more lines"},
      {"1,2,3\n\n4,5,6\n", "t.csv, line 2, column 1: expected a number, got ''"},
      {"1,2,3\n4,5\n", "t.csv, line 2: expected 3 numbers, got 2"},
      {"1,2,3\n4,5,6,7\n", "t.csv, line 2: expected 3 numbers, got more"},
      {"1,2,3,\n4,5,6\n", "t.csv, line 1: expected 3 numbers, got more"},
      {"1,2,\n4,5,6\n", "t.csv, line 1, column 3: expected a number, got ''"},
      {"h0,h1,h2\n1,2,3\n4,5,6\n", "t.csv, line 1, column 1: expected a number, got 'h0'"},
      {"1,2,3\n4,5,six\n", "t.csv, line 2, column 3: expected a number, got 'six'"},
      {"1,2,3\n4,5,6x\n", "t.csv, line 2, column 3: expected a number, got '6x'"},
      {"1,2,nan\n", "t.csv, line 1, column 3: expected a number, got 'nan'"},
      {"inf,2,3\n", "t.csv, line 1, column 1: expected a number, got 'inf'"},
      {"1e39,2,3\n", "t.csv, line 1, column 1: expected a number, got '1e39'"},
      {"1e999,2,3\n", "t.csv, line 1, column 1: expected a number, got '1e999'"},
      {"1;2;3\n", "t.csv, line 1, column 1: expected a number, got '1;2;3'"},
      {"\xEF\xBB\xBF"
       "1,2,3\n",
       "t.csv, line 1, column 1: expected a number, got '\?\?\?1'"},
      {std::string("\0\0,2,3\n", 7), "t.csv, line 1, column 1: expected a number, got '\?\?'"},
      {concat(std::string(50, '9'), "x,2,3\n"),
       "t.csv, line 1, column 1: expected a number, got "
       "'9999999999999999999999999999999999999999...'"},
  };
  for (const auto& [text, message] : cases) BOOST_TEST(refusal(text) == message);
}

BOOST_AUTO_TEST_CASE(a_file_that_is_too_large_is_not_read) {
  BOOST_TEST(refusal(std::string(449, ' ')) ==
             "t.csv: expected at most 448 bytes for such a table, got 449");
}

BOOST_AUTO_TEST_CASE(a_file_cut_anywhere_is_refused_and_never_read_wrongly) {
  const std::string text = "1,2,3\n4,5,6\n";
  for (size_t size = 0; size + 1 < text.size(); ++size)
    BOOST_TEST(refusal(text.substr(0, size)) != "", size);
}

BOOST_AUTO_TEST_CASE(what_is_not_a_file_is_refused_at_once) {
  const TempFolder folder;
  const auto refused = [&](const std::string& name) {
    const std::string path = (folder / name).string();
    return message_of<IoError>([&] { read_number_table("t5(table)", path, 2, 3); });
  };
  BOOST_TEST(refused("none.csv") ==
             "[posenc] t5(table): " + (folder / "none.csv").string() +
                 ": expected a file, got No such file or directory; a path is relative to the "
                 "working directory");
  BOOST_TEST(refused("").find("expected a regular file, got something else") != std::string::npos);
  BOOST_TEST_REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  BOOST_TEST(refused("pipe").find("expected a regular file, got something else") !=
             std::string::npos);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
