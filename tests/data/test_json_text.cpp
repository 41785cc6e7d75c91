#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "data/json_text.h"
#include "engine/base/random.h"
#include "engine/base/utf8.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_json_text)
namespace {

std::string text_of(const std::string& line) {
  const JsonText found = json_text(line, "text");
  BOOST_TEST(found.is_object, line);
  BOOST_TEST(found.has_text, line);
  return found.text;
}

BOOST_AUTO_TEST_CASE(a_string_is_taken_from_any_place_in_the_object) {
  BOOST_TEST(text_of(R"({"text":"a"})") == "a");
  BOOST_TEST(
      text_of(R"( { "meta" : {"text":"x","l":[1,[2,{}],[]]} , "text" : "a" , "n":-1.5e+3 } )") ==
      "a");
  BOOST_TEST(text_of(R"({"t\u0065xt":"a"})") == "a");
  BOOST_TEST(text_of(R"({"text":"a","text":"b"})") == "b");
  BOOST_TEST(json_text(R"({"content":"a"})", "content").text == "a");
}

BOOST_AUTO_TEST_CASE(the_name_of_a_subset_is_taken_on_the_way) {
  const struct {
    std::string line;
    const char* want;
  } cases[] = {
      {R"({"text":"a","meta":{"pile_set_name":"ArXiv x"}})", "ArXiv x"},
      {R"-({"meta":{"x":[{}],"pile_set_name":"\u0041 (en)","y":1} , "text":"a"})-", "A (en)"},
      {R"({"text":"a","meta":{"pile_set_name":"b"},"meta":{"pile_set_name":"c"}})", "c"},
      {R"({"text":"a","meta":{"pile_set_name":""}})", ""},
      {R"({"text":"a","pile_set_name":"b"})", nullptr},
      {R"({"text":"a","meta":"pile_set_name"})", nullptr},
      {R"({"text":"a","meta":{"pile_set_name":["b"]}})", nullptr},
      {R"({"text":"a","meta":{"pile_set_name":"b"},"meta":{}})", nullptr},
      {R"({"text":"a","x":{"meta":{"pile_set_name":"b"}}})", nullptr}};
  for (const auto& c : cases) {
    const JsonText found = json_text(c.line, "text");
    BOOST_TEST(found.is_object, c.line);
    BOOST_TEST(found.text == "a");
    BOOST_TEST(found.has_subset == (c.want != nullptr), c.line);
    if (c.want != nullptr) BOOST_TEST(found.subset == c.want);
  }
  BOOST_TEST(!json_text(R"({"text":"a","meta":{"pile_set_name":"b",}})", "text").is_object);
  BOOST_TEST(json_text(R"({"meta":"the text"})", "meta").text == "the text");
}

BOOST_AUTO_TEST_CASE(escapes_are_decoded) {
  BOOST_TEST(text_of(R"({"text":"\"\\\/\b\f\n\r\t"})") == "\"\\/\b\f\n\r\t");
  BOOST_TEST(text_of(R"({"text":"\u0041\u00e9\u4e2d\uD83D\uDE00"})") ==
             "A\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80");
  BOOST_TEST(text_of(R"({"text":"\u0000"})") == std::string(1, '\0'));
}

BOOST_AUTO_TEST_CASE(lone_surrogates_become_replacement_characters_and_are_counted) {
  const struct {
    std::string value, want;
    int64_t count;
  } cases[] = {{R"(\ud800)", "\xEF\xBF\xBD", 1},
               {R"(\udc00x)", "\xEF\xBF\xBDx", 1},
               {R"(\ud800\n)", "\xEF\xBF\xBD\n", 1},
               {R"(\ud800\u0041)",
                "\xEF\xBF\xBD"
                "A",
                1},
               {R"(\ud800\ud83d\ude00)", "\xEF\xBF\xBD\xF0\x9F\x98\x80", 1},
               {R"(\ude00\ud83d)", "\xEF\xBF\xBD\xEF\xBF\xBD", 2}};
  for (const auto& c : cases) {
    const JsonText found =
        json_text("{\"other\":\"\\ud800\",\"text\":\"" + c.value + "\"}", "text");
    BOOST_TEST(found.text == c.want);
    BOOST_TEST(found.lone_surrogates == c.count);
  }
}

BOOST_AUTO_TEST_CASE(a_list_of_strings_is_joined_with_blank_lines) {
  BOOST_TEST(text_of(R"({"text":["a", "b" ,"c"]})") == "a\n\nb\n\nc");
  BOOST_TEST(text_of(R"({"text":["a"]})") == "a");
  BOOST_TEST(text_of(R"({"text":[]})") == "");
}

BOOST_AUTO_TEST_CASE(other_values_are_no_text_but_still_json) {
  for (const std::string value :
       {"1", "null", "true", "{}", "{\"a\":[1]}", "[1]", "[\"a\",1]", "[[\"a\"]]", "[null]",
        "1e999999", "-0", "123456789012345678901"}) {
    const JsonText found = json_text("{\"text\":" + value + "}", "text");
    BOOST_TEST(found.is_object, value);
    BOOST_TEST(!found.has_text, value);
    BOOST_TEST(found.text == "", value);
  }
  BOOST_TEST(json_text("{}", "text").is_object);
}

BOOST_AUTO_TEST_CASE(the_place_of_the_value_is_known) {
  const std::string line = R"({"a":1, "text": "value" })";
  const JsonText found = json_text(line, "text");
  BOOST_TEST(line.substr(found.begin, found.end - found.begin) == "\"value\"");
}

BOOST_AUTO_TEST_CASE(what_is_not_one_json_object_is_refused_at_its_byte) {
  const struct {
    std::string line;
    size_t at;
  } cases[] = {{"", 0},
               {"[]", 0},
               {"\"text\"", 0},
               {"{", 1},
               {"{\"text\":\"a\"", 11},
               {"{\"text\":\"a\"}}", 12},
               {"{\"text\":\"a\"} x", 13},
               {"{\"text\" \"a\"}", 8},
               {"{text:1}", 1},
               {"{\"a\":1,}", 7},
               {"{\"a\":01}", 6},
               {"{\"a\":1.}", 7},
               {"{\"a\":+1}", 5},
               {"{\"a\":.5}", 5},
               {"{\"a\":1e}", 7},
               {"{\"a\":tru}", 8},
               {"{\"a\":[1 2]}", 8},
               {"{\"a\":[1,]}", 8},
               {"{\"a\":[1}}", 7},
               {"{\"a\":{1}}", 6},
               {"{\"text\":\"\\x\"}", 10},
               {"{\"text\":\"\\u12g4\"}", 13},
               {"{\"text\":\"a\tb\"}", 10},
               {std::string("{\"text\":\"a\0b\"}", 14), 10}};
  for (const auto& c : cases) {
    const JsonText found = json_text(c.line, "text");
    BOOST_TEST(!found.is_object, c.line);
    BOOST_TEST(found.error_at == c.at, c.line << ": " << found.error_at);
  }
}

BOOST_AUTO_TEST_CASE(depth_is_no_danger) {
  constexpr size_t kDepth = 1000000;
  const std::string open(kDepth, '['), close(kDepth, ']');
  BOOST_TEST(text_of("{\"x\":" + open + close + ",\"text\":\"a\"}") == "a");
  BOOST_TEST(!json_text("{\"x\":" + open, "text").is_object);
}

// Against an independent parser, on lines made from pieces of JSON in random order. (It refuses
// lone surrogates and numbers out of range, so there are none.)
BOOST_AUTO_TEST_CASE(the_scanner_agrees_with_another_parser) {
  const std::string pieces[] = {"{",
                                "}",
                                "[",
                                "]",
                                ":",
                                ",",
                                "\"text\"",
                                "\"a\"",
                                "\"",
                                "\\",
                                "1",
                                "-2.5",
                                "e3",
                                "true",
                                "null",
                                " ",
                                "0",
                                "\"\\n\"",
                                "{\"text\":\"b\"}",
                                "\"text\":",
                                "\"\\u00e9\"",
                                "."};
  const Random random{11, stream_of("json")};
  uint64_t draw = 0;
  int objects = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string line = random.below(draw++, 4) != 0 ? "{\"text\":" : "";
    const uint64_t n = random.below(draw++, 8);
    for (uint64_t k = 0; k < n; ++k) line += pieces[random.below(draw++, std::size(pieces))];
    if (random.below(draw++, 2) != 0) line += "}";
    const auto want = nlohmann::json::parse(line, nullptr, false);
    const JsonText got = json_text(line, "text");
    BOOST_REQUIRE_MESSAGE(got.is_object == want.is_object(), line);
    if (!got.is_object) continue;
    ++objects;
    const bool has_string = want.contains("text") && want["text"].is_string();
    if (has_string) BOOST_REQUIRE_MESSAGE(got.text == want["text"].get<std::string>(), line);
  }
  BOOST_TEST(objects > 500);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
