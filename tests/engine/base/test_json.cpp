#include <boost/test/unit_test.hpp>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_json)  // ctest: arm64
namespace {

Json read(const std::string& text) { return read_json({"test", "dir/file.json", text}); }

std::string nested(int depth, char open, char close) {
  const auto n = static_cast<size_t>(depth);
  return std::string(n, open) + std::string(n, close);
}

BOOST_AUTO_TEST_CASE(a_text_is_read_as_the_library_reads_it) {
  for (const char* text :
       {"null", "true", "-3", "18446744073709551615", "1.5e-7", "\"a\\u00e9\\n\"", "[]", "{}",
        R"({"z":1,"a":[1,[],{"b":{}},"x",null],"m":{"k":[false,-0.0]}})", " [ 1 , 2 ] \n"})
    BOOST_TEST(read(text).dump() == Json::parse(text).dump());
  const Json tree = read(R"({"z":1,"a":2})");
  BOOST_TEST(tree.dump() == R"({"z":1,"a":2})");  // in the order of the file
  BOOST_TEST(tree.at("a") == 2);
}

BOOST_AUTO_TEST_CASE(what_is_not_json_names_the_file_and_the_byte) {
  const auto refused = [](const std::string& text, const std::string& message) {
    BOOST_CHECK_EXCEPTION(read(text), IoError,
                          says("[test] dir/file.json: expected JSON", message));
  };
  refused("", "at byte 0; it is cut short");
  refused("{\"a\": [1, 2", "at byte 11; it is cut short");
  refused("{\"a\" 1}", "got something else at byte 5");
  refused("[1] x", "at byte 4");
  refused("[\"\xff\"]", "in UTF-8, got something else at byte 2");
  refused("[1e999]", "at byte ");
  refused(std::string("[1]\0", 4), "got a NUL at byte 3");
  BOOST_CHECK_EXCEPTION(read_json({"test", "f", "{", 8}), IoError, says("at byte 9"));
}

BOOST_AUTO_TEST_CASE(bytes_that_are_not_utf8_are_replaced_and_the_text_reads_back_the_same) {
  Json tree;
  tree["runs/na\xefve"] =
      "\xff\xfe ok \xe2\x82";  // Latin-1, no text at all, a character that was cut
  tree["list"] = {1, "\xc3\xa9"};
  const std::string text = write_json(tree);
  BOOST_TEST(text ==
             "{\"runs/na\xef\xbf\xbdve\":\"\xef\xbf\xbd\xef\xbf\xbd ok \xef\xbf\xbd\","
             "\"list\":[1,\"\xc3\xa9\"]}");
  BOOST_TEST(write_json(read(text)) == text);
  BOOST_TEST(write_json(read(R"({"a":[1]})"), 1) == "{\n \"a\": [\n  1\n ]\n}");
}

BOOST_AUTO_TEST_CASE(a_key_that_comes_twice_is_refused_at_any_depth) {
  for (const char* text :
       {R"({"a":1,"a":1})", R"({"a":1,"b":2,"\u0061":3})", R"([{"x":{"a":[],"a":{}}}])"})
    BOOST_CHECK_EXCEPTION(
        read(text), IoError,
        says("[test] dir/file.json: expected each key of an object once, got the key 'a' twice"));
  BOOST_CHECK_NO_THROW(read(R"([{"a":{"a":1}},{"a":2}])"));
}

BOOST_AUTO_TEST_CASE(deep_nesting_is_refused_before_it_costs_stack_or_space) {
  BOOST_CHECK_NO_THROW(read(nested(kMaxJsonDepth, '[', ']')));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  for (const std::string& text : {nested(kMaxJsonDepth + 1, '[', ']'), nested(20'000, '[', ']'),
                                  nested(1'000'000, '[', ']'), std::string(100'000, '['), objects})
    BOOST_CHECK_EXCEPTION(read(text), IoError,
                          says_exactly("[test] dir/file.json: expected JSON with at most 32 "
                                       "brackets within brackets, got more"));
}

BOOST_AUTO_TEST_CASE(many_keys_take_no_square_of_their_number) {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":0";
  BOOST_TEST(read(text + "}").size() == 200'000u);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
