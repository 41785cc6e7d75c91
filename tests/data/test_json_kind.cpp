#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>

#include "data/json_kind.h"
#include "tests/support/string_reader.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_json_kind)
namespace {

bool is_lines(const std::string& text) {
  PeekReader reader(std::make_unique<StringReader>(text, 4096));
  return is_json_lines(reader, "text");
}

BOOST_AUTO_TEST_CASE(json_lines_are_known_by_their_first_lines) {
  for (const std::string& text :
       {std::string(R"({"text":"a"})"), std::string("\xEF\xBB\xBF\n {\"id\":1,\"text\":\"a\"}\r\n"),
        std::string("{\"id\":1}\n\n{\"id\":2}"), std::string("{\"x\":NaN}\n{\"x\":1}\n"),
        "{\"text\":\"" + std::string(3 << 20, 'a') + "\"}\n",
        std::string("{\"text\":[\"a\",\"b\"]}\nrest"),
        "{\"id\":\"" + std::string(9000, 'a') + "\"}\n{\"id\":1}\n"})
    BOOST_TEST(is_lines(text), text.substr(0, 40));
}

BOOST_AUTO_TEST_CASE(other_text_is_not_taken_for_json_lines) {
  for (const std::string& text :
       {std::string(), std::string(" \n\n"), std::string("text"), std::string("{\n  \"text\": 1}"),
        std::string("{ return 0; }\n{ return 1; }"), std::string(R"({"id":1})"),
        std::string(R"([{"text":"a"}])"), "{\"id\":\"" + std::string(3 << 20, 'a') + "\"}\n",
        std::string("{\"a\", 1},\n{\"b\", 2},\n")})
    BOOST_TEST(!is_lines(text), text.substr(0, 40));
}

BOOST_AUTO_TEST_CASE(tables_and_other_json_get_a_remark) {
  BOOST_TEST(plain_text_remark("a/c.json", " [1]").find("is JSON but not JSON Lines") == 0u);
  BOOST_TEST(plain_text_remark("c.json.gz", "{\n").find("(jq -c .") != std::string::npos);
  BOOST_TEST(plain_text_remark("d.csv.zst", "a,b").find("is a table; read as plain text") == 0u);
  for (const char* name : {"a.txt", "a.csv.txt", "csv", "b.json"})
    BOOST_TEST(plain_text_remark(name, "text") == "");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
