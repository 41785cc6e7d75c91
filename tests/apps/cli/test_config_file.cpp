#include <boost/test/unit_test.hpp>
#include <random>

#include "apps/cli/config_file.h"
#include "apps/cli/options.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_config_file)  // ctest: sanitize

using namespace farfield;
using namespace farfield::cli;

namespace {

std::string value_of(const std::string& line) {
  const std::vector<ConfigLine> lines = parse_config("f.conf", line);
  BOOST_TEST_REQUIRE(lines.size() == 1u, line);
  BOOST_TEST(lines[0].key == "key");
  return lines[0].value;
}

void refuses(const std::string& text, const std::string& message) {
  BOOST_CHECK_EXCEPTION(parse_config("f.conf", text), ConfigError,
                        says("[config] f.conf: " + message));
}

// Random bytes; bytes with a meaning in such a file come often.
class AnyText {
 public:
  std::string operator()() {
    static constexpr char kSpecial[] = " \t\r\n\"\\#=,()[]x0\0\xff\xc3\xa9\x1b";
    std::string text(random_() % 9, '\0');
    for (char& c : text)
      c = random_() % 3 == 0 ? static_cast<char>(random_() % 256)
                             : kSpecial[random_() % (sizeof kSpecial - 1)];
    return text;
  }

 private:
  std::mt19937 random_{7};
};

}  // namespace

BOOST_AUTO_TEST_CASE(lines_of_people_are_read) {
  const std::vector<ConfigLine> lines = parse_config(
      "f.conf", "\xEF\xBB\xBF# all of it\r\n\r\n  steps=10 # few\r\nposenc = a=b\n\tlr =\n");
  BOOST_TEST_REQUIRE(lines.size() == 3u);
  BOOST_TEST(lines[0].key == "steps");
  BOOST_TEST(lines[0].value == "10");
  BOOST_TEST(lines[0].number == 3);
  BOOST_TEST(lines[1].value == "a=b");
  BOOST_TEST(lines[2].value == "");
  BOOST_TEST(lines[2].number == 5);
}

BOOST_AUTO_TEST_CASE(a_comment_begins_at_the_line_or_behind_a_blank) {
  BOOST_TEST(value_of("key = corpora/a#b") == "corpora/a#b");
  BOOST_TEST(value_of("key = corpora/a #b") == "corpora/a");
  BOOST_TEST(value_of("key = #b") == "");
  BOOST_TEST(value_of("key = \" #b\" # more") == " #b");
}

BOOST_AUTO_TEST_CASE(quotation_marks_hold_any_byte) {
  BOOST_TEST(value_of(R"(key = " a\t\"\\\n\x00\xFf")") == std::string(" a\t\"\\\n\0\xff", 8));
  BOOST_TEST(value_of(R"(key = a "b" \n)") == R"(a "b" \n)");  // as it is where none begins it
  BOOST_TEST(config_line("key", "rope + window(3)") == "key = rope + window(3)\n");
  BOOST_TEST(config_line("key", "größe#1") == "key = größe#1\n");
  BOOST_TEST(config_line("key", "a #1\n\xff ") == "key = \"a #1\\n\\xff \"\n");
}

BOOST_AUTO_TEST_CASE(every_value_reads_back_from_a_line_of_printable_text) {
  AnyText any;
  for (int i = 0; i < 20'000; ++i) {
    const std::string value = any(), line = config_line("key", value);
    BOOST_TEST_REQUIRE(value_of(line) == value, line);
    BOOST_TEST_REQUIRE(find_invalid_utf8(line) >= line.size(), line);
    BOOST_TEST_REQUIRE(line.find('\n') == line.size() - 1, line);
  }
}

BOOST_AUTO_TEST_CASE(every_value_of_every_kind_of_option_reads_back_or_is_refused) {
  struct Values {
    std::string text = "usual";
    std::optional<std::string> maybe;
    std::vector<std::string> list = {"usual"}, paths;
    Options options{"p", ""};
    Values() {
      options.add("text", text, "T", "").add("maybe", maybe, "T", "");
      options.add("list", list, "T", "").add_paths("paths", paths, "T", "");
    }
  };
  AnyText any;
  int n_read = 0;
  for (int i = 0; i < 4000; ++i) {
    Values given, read;
    try {
      const std::vector<std::pair<std::string, std::string>> said = {
          {"text", any()}, {"maybe", any()}, {"list", any()},
          {"list", any()}, {"paths", any()}, {"paths", any()}};
      given.options.read_config("given", said);
    } catch (const ConfigError&) {  // an empty path, nothing between commas
      continue;
    }
    ++n_read;
    const std::string resolved = given.options.resolved();
    read.options.read_config("read", resolved);
    BOOST_TEST_REQUIRE(read.text == given.text, resolved);
    BOOST_TEST_REQUIRE((read.maybe == given.maybe), resolved);
    BOOST_TEST_REQUIRE((read.list == given.list), resolved);
    BOOST_TEST_REQUIRE((read.paths == given.paths), resolved);
  }
  BOOST_TEST(n_read > 1000);
}

BOOST_AUTO_TEST_CASE(a_line_of_another_form_is_told_by_its_number_and_corrected) {
  refuses("a = 1\nsteps: 10\n", "line 2: expected key = value, got 'steps: 10'; write steps = 10");
  refuses("--steps 10  # few",
          "line 1: expected key = value, got '--steps 10  # few'; write steps = 10");
  refuses("verbose",
          "line 1: expected key = value, got 'verbose'; a flag is written verbose = true");
  refuses("[train]", "line 1: expected key = value, got '[train]'");
  refuses("= 3", "line 1: expected key = value, got '= 3'");
  refuses("steps # = 3", "line 1: expected key = value, got 'steps # = 3'");
  refuses(std::string(200, '\x01'),
          "line 1: expected key = value, got '" + std::string(80, '\x01') + "...'");
}

BOOST_AUTO_TEST_CASE(quotation_marks_that_are_not_closed_are_told_by_the_line) {
  refuses("\n\na = \"b", "line 3: expected a quotation mark at the end of the value, got none");
  refuses("a = \"b\" c", "line 1: expected nothing behind the closing quotation mark, got 'c'");
  for (const char* escape : {"\\q", "\\x1", "\\xg0", "\\x"})
    refuses(concat("a = \"", escape, '"'), "line 1: expected \\\\ for a backslash");
  refuses("a = \"b\\", "line 1: expected");
}

BOOST_AUTO_TEST_SUITE_END()
