#include <boost/test/unit_test.hpp>

#include "apps/generation/text_output.h"

BOOST_AUTO_TEST_SUITE(test_text_output)

using namespace farfield::generation;

namespace {

// What is shown of a text that comes in pieces of n bytes; a "|" behind a text that was stopped.
std::string shown(const std::string& text, size_t n, const std::vector<std::string>& stops) {
  TextOutput output(stops);
  std::string all;
  for (size_t at = 0; at < text.size(); at += n) all += output.append(text.substr(at, n));
  all += output.finish();
  return output.is_stopped() ? all + '|' : all;
}

// The same in pieces of any size.
std::string shown(const std::string& text, const std::vector<std::string>& stops = {}) {
  const std::string whole = shown(text, 1000, stops);
  for (size_t n = 1; n <= text.size(); ++n) BOOST_TEST(shown(text, n, stops) == whole);
  return whole;
}

}  // namespace

BOOST_AUTO_TEST_CASE(characters_leave_whole) {
  TextOutput output;
  BOOST_TEST(output.append("a\xC3") == "a");
  BOOST_TEST(output.append("\xA9z") == "\xC3\xA9z");
  BOOST_TEST(output.append("\xF0\x9F") == "");
  BOOST_TEST(output.append("\x98") == "");
  BOOST_TEST(output.append("\x80") == "\xF0\x9F\x98\x80");
  BOOST_TEST(output.append("\xF0\x9F\x98") == "");
  BOOST_TEST(output.finish() == "\xEF\xBF\xBD");
  BOOST_TEST(output.finish() == "");
}

BOOST_AUTO_TEST_CASE(bytes_of_no_character_become_replacement_characters) {
  BOOST_TEST(shown("a\x80z") == "a\xEF\xBF\xBDz");
  BOOST_TEST(shown("\xFF\xC3\xA9\xC3") == "\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBD");
}

BOOST_AUTO_TEST_CASE(a_stop_ends_the_text_before_it) {
  BOOST_TEST(shown("one two three", {"two"}) == "one |");
  BOOST_TEST(shown("one two three", {"one"}) == "|");
  BOOST_TEST(shown("one two three", {"four", "three"}) == "one two |");
  BOOST_TEST(shown("one two three", {"four"}) == "one two three");
  BOOST_TEST(shown("na\xC3\xAFve", {"\xC3\xAF"}) == "na|");
  BOOST_TEST(shown("\xC3", {"\xEF\xBF\xBD"}) == "|");  // as it is shown
}

BOOST_AUTO_TEST_CASE(the_stop_that_is_complete_first_counts_and_of_those_the_longest) {
  BOOST_TEST(shown("abcdef", {"bcde", "cd"}) == "ab|");
  BOOST_TEST(shown("abcdef", {"cd", "bcd"}) == "a|");
  BOOST_TEST(shown("aaab", {"aab"}) == "a|");
  BOOST_TEST(shown("ababac", {"abac"}) == "ab|");
}

BOOST_AUTO_TEST_CASE(only_what_may_begin_a_stop_waits) {
  TextOutput output({"\n\nQ:", "end"});
  BOOST_TEST(output.append("text e") == "text ");
  BOOST_TEST(output.append("n") == "");
  BOOST_TEST(output.append("g\n") == "eng");
  BOOST_TEST(output.append("\n") == "");
  BOOST_TEST(output.append("\nQ") == "\n");
  BOOST_TEST(output.finish() == "\n\nQ");
  BOOST_TEST(!output.is_stopped());
}

BOOST_AUTO_TEST_CASE(nothing_leaves_behind_a_stop) {
  TextOutput output({"."});
  BOOST_TEST(output.append("a.b") == "a");
  BOOST_TEST(output.is_stopped());
  BOOST_TEST(output.append("c") == "");
  BOOST_TEST(output.finish() == "");
}

BOOST_AUTO_TEST_SUITE_END()
