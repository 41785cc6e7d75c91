#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "data/jsonl.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"

namespace farfield::data {
namespace {

// Hands out a string in blocks of at most `most` bytes.
class StringReader final : public ByteReader {
 public:
  StringReader(std::string bytes, size_t most) : bytes_(std::move(bytes)), most_(most) {}
  size_t read(char* out, size_t size) override {
    const size_t n = bytes_.copy(out, std::min(size, most_), at_);
    at_ += n;
    return n;
  }

 private:
  std::string bytes_;
  size_t most_, at_ = 0;
};

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

BOOST_AUTO_TEST_CASE(a_line_has_no_limit) {
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
           "the line; --skip-bad-lines leaves such lines out"));
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
}  // namespace farfield::data
