#include <boost/test/unit_test.hpp>
#include <iostream>
#include <sstream>

#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/cli/progress.h"
#include "apps/cli/text_table.h"
#include "engine/base/error.h"

BOOST_AUTO_TEST_SUITE(test_printable)  // ctest: sanitize

using namespace farfield;
using namespace farfield::cli;

namespace {

// What run_main() prints of an error with this text.
std::string printed(const std::string& text) {
  std::ostringstream err;
  std::streambuf* const before = std::cerr.rdbuf(err.rdbuf());
  char name[] = "bin/prog";
  char* argv[] = {name, nullptr};
  const int code = run_main(1, argv, [&](int, char**) -> int { throw IoError(text); });
  std::cerr.rdbuf(before);
  BOOST_TEST(code == kBadData);
  return err.str();
}

}  // namespace

BOOST_AUTO_TEST_CASE(text_stays_as_it_is) {
  for (const std::string text :
       {"", "plain", "two\nlines\tand a tab", "é ß 中文 🙂 \u00a0 —"})
    BOOST_TEST(printable(text) == text);
}

BOOST_AUTO_TEST_CASE(what_moves_a_terminal_is_escaped) {
  BOOST_TEST(printable("\x1b]0;title\x07") == "\\x1b]0;title\\x07");
  BOOST_TEST(printable("a\rb\bc\x7f") == "a\\x0db\\x08c\\x7f");
  BOOST_TEST(printable(std::string("\0x", 2)) == "\\x00x");
  BOOST_TEST(printable("\u009b31m") == "\\xc2\\x9b31m");  // the one-character form of ESC [
  BOOST_TEST(printable("\u202egnp.exe\u2069") == "\\xe2\\x80\\xaegnp.exe\\xe2\\x81\\xa9");
}

BOOST_AUTO_TEST_CASE(bytes_that_are_not_utf8_are_escaped_one_by_one) {
  BOOST_TEST(printable("a\xff\xfe z") == "a\\xff\\xfe z");
  BOOST_TEST(printable("\xe4\xb8") == "\\xe4\\xb8");  // cut short
  BOOST_TEST(printable("\xc0\x9b") == "\\xc0\\x9b");  // overlong
  BOOST_TEST(printable("é\x80中") == "é\\x80中");
}

BOOST_AUTO_TEST_CASE(every_byte_comes_out_as_valid_text_without_controls) {
  for (int first = 0; first < 256; ++first)
    for (int second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second), 'x'};
      const std::string shown = printable(text);
      for (const char c : shown)
        BOOST_REQUIRE((static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t'));
      BOOST_REQUIRE(printable(shown) == shown);
    }
}

BOOST_AUTO_TEST_CASE(messages_tables_and_progress_are_escaped) {
  BOOST_TEST(printed("[config] r\x1b[2J/config.conf: got '\xff'") ==
             "prog: [config] r\\x1b[2J/config.conf: got '\\xff'\n");
  BOOST_TEST(text_table({{"r\x1b[2J", "1"}, {"run", "23"}}) == "r\\x1b[2J    1\nrun        23\n");
  std::ostringstream out;
  {
    Progress progress(out, false);
    progress.say("run\x1b[2J");
    progress.update(1, 2, "step\x9b", true);
  }
  BOOST_TEST(out.str() == "run\\x1b[2J\nstep\\x9b\n");
}

BOOST_AUTO_TEST_SUITE_END()
