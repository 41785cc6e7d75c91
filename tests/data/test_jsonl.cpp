#include <boost/test/unit_test.hpp>

#include "data/jsonl.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "tests/support/messages.h"
#include "tests/support/string_reader.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_jsonl)
namespace {

struct Fixture {
  JsonlOptions options;
  Skipped skipped;

  std::vector<std::string> read(const std::string& bytes, size_t block = size_t{1} << 20) {
    JsonlReader reader(std::make_unique<StringReader>(bytes, block), "some.jsonl", options);
    skipped = {};
    std::vector<std::string> documents;
    for (std::string text; reader.next(text, skipped);) documents.push_back(text);
    return documents;
  }
};
using Documents = std::vector<std::string>;

BOOST_FIXTURE_TEST_SUITE(jsonl, Fixture)

BOOST_AUTO_TEST_CASE(each_line_is_a_document_whatever_the_blocks) {
  const std::string bytes =
      "{\"text\":\"a\"}\r\n\n  \n{\"text\":\"b\",\"meta\":{\"pile_set_name\":\"ArXiv\"}}\n"
      "{\"text\":[\"c\",\"d\"]}";  // no newline at the end
  for (const size_t block : {size_t{1}, size_t{2}, size_t{7}, size_t{1000}})
    BOOST_TEST(read(bytes, block) == Documents({"a", "b", "c\n\nd"}));
  BOOST_TEST(read("").empty());
}

BOOST_AUTO_TEST_CASE(only_the_subsets_asked_for_are_read_and_the_others_counted) {
  const std::string bytes =
      "{\"text\":\"a\",\"meta\":{\"pile_set_name\":\"ArXiv\"}}\n"
      "{\"text\":\"b\",\"meta\":{\"pile_set_name\":\"Github\"}}\n"
      "{\"text\":\"c\"}\n{\"meta\":{\"pile_set_name\":\"Books3\"}}\n"
      "{\"text\":\"d\",\"meta\":{\"pile_set_name\":\"Wikipedia (en)\"}}\n";
  options.subsets = {"ArXiv", "Wikipedia (en)"};
  BOOST_TEST(read(bytes) == Documents({"a", "d"}));
  BOOST_TEST(skipped.other_subsets == 3);
  BOOST_TEST(skipped.missing_text == 0);
  BOOST_TEST(missing_subsets_hint(skipped, options.subsets) == "");
  options.subsets = {"GitHub", "ArXiv"};
  BOOST_TEST(read(bytes) == Documents({"a"}));
  BOOST_TEST(missing_subsets_hint(skipped, options.subsets) ==
             "no document has the subset 'GitHub' in meta.pile_set_name; did you mean 'Github'?; "
             "seen: 'ArXiv', 'Books3', 'Github', 'Wikipedia (en)'");
}

BOOST_AUTO_TEST_CASE(a_line_longer_than_the_limit_is_refused_before_it_is_in_memory) {
  options.max_line_bytes = 1 << 20;
  for (const std::string begin : {"", "{\"text\":\"a\"}\n"}) {
    size_t taken = 0;
    JsonlReader reader(std::make_unique<EndlessReader>(begin + "{\"text\":\"", 'x', taken),
                       "some.jsonl", options);
    std::string text;
    if (!begin.empty()) BOOST_TEST(reader.next(text, skipped));
    BOOST_CHECK_EXCEPTION(
        reader.next(text, skipped), IoError,
        says_exactly(concat("[jsonl] some.jsonl: line ", begin.empty() ? 1 : 2,
                            ": expected a line of at most 1048576 bytes, got a longer one; "
                            "--max-line BYTES takes longer ones if memory suffices, --max-line 0 "
                            "any")));
    BOOST_TEST(taken < 1'600'000u);  // the limit and two blocks
  }
  const std::string line = "{\"text\":\"" + std::string((1 << 20) - 11, 'x') + "\"}";
  BOOST_TEST(line.size() == size_t{1} << 20);
  BOOST_TEST(read(line + '\n' + line + "\n\n").size() == 2u);
  BOOST_TEST(read(line).size() == 1u);
  BOOST_CHECK_THROW(read(' ' + line), IoError);
  options.max_line_bytes = 0;
  BOOST_TEST(read(' ' + line).size() == 1u);
}

BOOST_AUTO_TEST_CASE(no_more_of_a_line_is_read_than_its_wanted_text) {
  const struct {
    std::string begin;
    char then;
  } cases[] = {{"{\"text\":\"begin ", 'x'},
               {"\xEF\xBB\xBF{\"id\":1,\"text\":\"begin ", 'x'},
               {"{\"text\":[\"begin ", 'x'}};
  for (const auto& c : cases) {
    for (const size_t wanted : {size_t{1}, size_t{1000}, size_t{3'000'000}}) {
      size_t taken = 0;
      JsonlReader reader(std::make_unique<EndlessReader>(c.begin, c.then, taken), "some.jsonl",
                         options);
      std::string text;
      BOOST_TEST(reader.next(text, skipped, wanted));
      BOOST_TEST(text.size() >= wanted);
      BOOST_TEST(text.size() <= wanted + 4);
      BOOST_TEST(text.substr(0, 10) == std::string("begin xxxx").substr(0, text.size()));
      BOOST_TEST(taken < wanted + 2'000'000);
      BOOST_TEST(!reader.next(text, skipped, wanted));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_wanted_may_come_just_before_the_limit_of_a_line) {
  options.max_line_bytes = 5 << 20;
  size_t taken = 0;
  std::string escaped = "{\"text\":\"";
  for (int i = 0; i < 2'000'000; ++i) escaped += "\\n";  // two bytes for one
  JsonlReader reader(std::make_unique<EndlessReader>(escaped, 'x', taken), "some.jsonl", options);
  std::string text;
  BOOST_TEST(reader.next(text, skipped, 2'500'000));
  BOOST_TEST(text.size() >= 2'500'000u);
}

BOOST_AUTO_TEST_CASE(a_cut_line_ends_between_characters) {
  options.is_strict = true;
  const std::string unit = "\xF0\x9F\x98\x80\\ud83d\\ude00\xC3\xA9";  // 4 + 4 + 2 bytes
  std::string line = "{\"text\":\"";
  while (line.size() < 3'000'000) line += unit;
  for (size_t wanted = 100; wanted < 110; ++wanted)
    for (const size_t block : {1'048'001, 1'048'576, 1'048'583}) {
      JsonlReader reader(std::make_unique<StringReader>(line, block), "some.jsonl", options);
      std::string text;
      skipped = {};
      BOOST_TEST(reader.next(text, skipped, wanted));
      BOOST_TEST(text.size() >= wanted);
      BOOST_TEST(find_invalid_utf8(text) == std::string::npos);
      BOOST_TEST(skipped.invalid_utf8 == 0);
      BOOST_TEST(skipped.lone_surrogates == 0);
    }
}

BOOST_AUTO_TEST_CASE(objects_without_the_text_are_met_with_the_keys_they_have) {
  BOOST_TEST(missing_text_hint({}, "text") == "");
  const std::string lines =
      "{\"id\":7,\"url\":\"u\",\"content\":\"some text\"}\n"
      "{\"text\":null,\"content\":[\"more\"],\"a\\u001bb\":{}}\n";
  BOOST_TEST(read(lines).empty());
  BOOST_TEST(skipped.missing_text == 2);
  BOOST_TEST(missing_text_hint(skipped, "text") ==
             "2 objects have no text under 'text'; keys seen: 'content', 'url', 'id', 'text', "
             "'a?b'; try --text-key content");
  read("{}\n");
  BOOST_TEST(missing_text_hint(skipped, "text") == "1 object has no text under 'text'");
  read("{\"id\":1}\n");
  BOOST_TEST(missing_text_hint(skipped, "text") ==
             "1 object has no text under 'text'; keys seen: 'id'");
}

BOOST_AUTO_TEST_CASE(a_line_of_megabytes_is_read) {
  const std::string text(3'000'000, 'x');
  BOOST_CHECK(read("{\"text\":\"" + text + "\"}\n{\"text\":\"a\"}\n") == Documents({text, "a"}));
}

BOOST_AUTO_TEST_CASE(the_key_can_be_chosen) {
  options.text_key = "content";
  BOOST_TEST(read("{\"text\":\"a\",\"content\":\"b\"}\n") == Documents({"b"}));
}

BOOST_AUTO_TEST_CASE(missing_and_empty_texts_are_passed_over_and_counted) {
  BOOST_TEST(read("{}\n{\"text\":1}\n{\"text\":\"\"}\n{\"text\":[]}\n{\"text\":null}\n"
                  "{\"text\":\"a\"}\n") == Documents({"a"}));
  BOOST_TEST(skipped.missing_text == 3);
  BOOST_TEST(skipped.empty_documents == 2);
}

BOOST_AUTO_TEST_CASE(a_line_that_is_not_json_is_an_error_or_counted) {
  const std::string bytes = "{\"text\":\"a\"}\n{\"text\":oops}\n[1]\n{\"text\":\"b\"}\n";
  BOOST_CHECK_EXCEPTION(
      read(bytes), IoError,
      says("[jsonl] some.jsonl: line 2: expected a JSON object, got something else at byte 9 of "
           "the line; --skip-bad-lines skips such lines"));
  options.skip_bad_lines = true;
  BOOST_TEST(read(bytes) == Documents({"a", "b"}));
  BOOST_TEST(skipped.bad_lines == 2);
}

BOOST_AUTO_TEST_CASE(a_file_cut_inside_a_line_is_an_error) {
  const std::string line = "{\"text\":\"abc\",\"n\":[1,{\"x\":null}]}";
  BOOST_TEST(read(line) == Documents({"abc"}));
  for (size_t size = 1; size < line.size(); ++size)
    BOOST_CHECK_EXCEPTION(read(line.substr(0, size)), IoError, says("some.jsonl: line 1: "));
}

BOOST_AUTO_TEST_CASE(invalid_utf8_is_replaced_and_counted_or_an_error) {
  const std::string bytes = "{\"text\":\"a\"}\n{\"meta\":\"\xFF\",\"text\":\"x\xE4\xB8y\xFF\"}\n";
  BOOST_TEST(read(bytes) == Documents({"a", "x\xEF\xBF\xBDy\xEF\xBF\xBD"}));
  BOOST_TEST(skipped.invalid_utf8 == 2);
  options.is_strict = true;
  BOOST_TEST(bytes.find("\xE4") == 34u);
  BOOST_CHECK_EXCEPTION(read(bytes), IoError,
                        says("[jsonl] some.jsonl: line 2: expected valid UTF-8, got an ill-formed "
                             "sequence at byte 34 of the text"));
  BOOST_TEST(read("{\"text\":\"a\"}\n{\"meta\":\"\xFF\",\"text\":\"\\ud800\"}\n").size() == 2u);
  BOOST_TEST(skipped.lone_surrogates == 1);
}

BOOST_AUTO_TEST_CASE(a_byte_order_mark_at_the_start_is_passed_over) {
  BOOST_TEST(read("\xEF\xBB\xBF{\"text\":\"a\"}\n") == Documents({"a"}));
  BOOST_CHECK_THROW(read("{\"text\":\"a\"}\n\xEF\xBB\xBF{\"text\":\"a\"}\n"), IoError);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
