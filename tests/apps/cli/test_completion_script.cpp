#include <boost/test/unit_test.hpp>
#include <iostream>

#include "apps/cli/commands.h"
#include "apps/cli/completion_script.h"
#include "apps/cli/options.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"

namespace farfield::cli {
BOOST_AUTO_TEST_SUITE(test_completion_script)
namespace {

int paint(int argc, const char* const* argv, std::ostream& out) {
  std::string colour = "red", file, size;
  Options options("room paint", "Paints.");
  options.group("How")
      .add("colour", colour, "red|dark-blue|NAME", "the room's\ncolour")
      .add("plan", file, "FILE", "it's a plan")
      .add("size", size, "N", "of the room");
  options.parse(argc, argv, out);
  return kDone;
}

int room(int argc, char** argv) {
  return run_command("room", "Rooms.", {{"paint", "paints a room", paint}}, argc, argv, std::cout);
}

std::string script(const std::string& shell) {
  return completion_script(shell, "room", completion_tables("room", room));
}

bool has_line(const std::string& text, const std::string& line) {
  return text.find('\n' + line + '\n') != std::string::npos;
}

BOOST_AUTO_TEST_CASE(tables_are_of_the_program_and_its_commands) {
  const std::vector<CompletionTable> tables = completion_tables("room", room);
  BOOST_TEST_REQUIRE(tables.size() == 2u);
  BOOST_TEST(tables[0].command == "");
  BOOST_TEST(tables[0].words.back().word == "paint");
  BOOST_TEST(!tables[0].words.back().is_option());
  BOOST_TEST(tables[1].command == "paint");
  BOOST_TEST(tables[1].words.front().word == "--colour");
  BOOST_TEST(tables[1].words.front().placeholder == "red|dark-blue|NAME");
  BOOST_TEST(tables[1].words.front().help == "the room's colour");
  BOOST_TEST(tables[1].words.back().word == "--version");
}

BOOST_AUTO_TEST_CASE(values_are_named_or_files_or_anything) {
  for (const char* shell : {"bash", "zsh"}) {
    const std::string text = script(shell);
    BOOST_TEST(has_line(text, "    'paint --colour') kind=words values=(red dark-blue) ;;"));
    BOOST_TEST(has_line(text, "    'paint --plan' | 'paint --config') kind=files ;;"));
    BOOST_TEST(has_line(text, "    'paint --size') kind=any ;;"));
    BOOST_TEST(has_line(text, "      ' paint') command='paint' ;;"));
  }
}

BOOST_AUTO_TEST_CASE(quotation_marks_stay_within_words) {
  BOOST_TEST(script("zsh").find(R"('--plan:it'\''s a plan')") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(another_shell_is_refused) {
  BOOST_CHECK_EXCEPTION(script("fish"), ConfigError,
                        says("--completion: expected bash or zsh, got 'fish'"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::cli
