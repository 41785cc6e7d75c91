#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "data/tokenizers/byte_alphabet.h"
#include "data/tokenizers/tokenizer_json.h"
#include "data/tokenizers/vocab_merges.h"
#include "engine/base/error.h"
#include "tests/data/tokenizers/hello_bpe.h"
#include "tests/support/messages.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_vocab_merges)
namespace {

nlohmann::ordered_json hello_vocabulary() {
  nlohmann::ordered_json tokens;
  const BpeDefinition d = hello_definition();
  for (size_t id = 0; id < d.tokens.size(); ++id) tokens[bytes_to_characters(d.tokens[id])] = id;
  tokens["<|endoftext|>"] = 300;
  return tokens;
}

const std::string kMerges =
    "#version: 0.2\nh e\nl l\nhe ll\nhell o\n\xC4\xA0 w\no r\nl d\n\xC4\xA0w or\n\xC4\xA0wor ld\n";

BpeDefinition read(const std::string& vocabulary, const std::string& merges) {
  return read_vocab_merges({"vocab.json", vocabulary}, {"merges.txt", merges});
}

BOOST_AUTO_TEST_CASE(the_two_files_give_what_tokenizer_json_gives) {
  const BpeDefinition d = read(hello_vocabulary().dump(), kMerges);
  BOOST_TEST((tokenizer_json_text(d) ==
              tokenizer_json_text(checked(hello_definition(), "test", "hello"))));
}

BOOST_AUTO_TEST_CASE(lines_are_taken_as_they_are) {
  auto tokens = hello_vocabulary();
  tokens["#version"] = 400;
  for (const char* part : {"#v", "#ve", "#ver", "#vers", "#versi", "#versio"})
    tokens[part] = tokens.size() + 400;
  tokens["\xC5\x82\xC5\x82"] = 401;
  BpeDefinition d =
      read(tokens.dump(), kMerges +
                              "# v\n#v e\n#ve r\n#ver s\n#vers i\n#versi o\n#versio n\n"
                              "\xC5\x82 \xC5\x82\n");
  BOOST_TEST(d.merges.size() == 17u);
  d.pattern = Pattern::none;
  BOOST_TEST(ids_of(tokenizer_of(d), "#version\xA0\xA0") == Ids({400, 401}));
  // Without the first line nothing is left out.
  BOOST_TEST(
      read(hello_vocabulary().dump(), kMerges.substr(kMerges.find('\n') + 1)).merges.size() == 9u);
}

BOOST_AUTO_TEST_CASE(damaged_files_are_refused) {
  const std::string vocabulary = hello_vocabulary().dump();
  const auto refusal = [](const std::string& v, const std::string& m) {
    return message_of<IoError>([&] { read(v, m); });
  };
  const auto has = [](const std::string& message, const std::string& part) {
    BOOST_TEST_CONTEXT(message) BOOST_TEST(message.find(part) != std::string::npos);
  };
  has(refusal(vocabulary, kMerges + "h\n"),
      "merges.txt: line 11: expected two tokens with a blank");
  has(refusal(vocabulary, kMerges + "\nh e\n"), "merges.txt: line 11: expected two tokens");
  has(refusal(vocabulary, kMerges + "h q\xC4\xA0\n"), "line 11: expected tokens of the vocabulary");
  has(refusal(vocabulary, kMerges + "h e\r\n"), "got 'e\r'");
  has(refusal(vocabulary, "h e\n#version: 0.2\n"), "line 2: expected tokens of the vocabulary");
  has(refusal(vocabulary, kMerges + "h e\n"), "merge 9 twice");
  has(refusal(vocabulary, kMerges + "a a\n"), "makes none");
  has(refusal("[]", kMerges), "vocab.json: expected an object");
  has(refusal(R"({"a": 0, "b": 0})", ""), "expected each id once, got 0");
  has(refusal(R"({"a": -1})", ""), "for 'a', got -1");
  has(refusal(R"({"a": 9223372036854775808})", ""), "for 'a', got 9223372036854775808");
  has(refusal(R"({"a": 0})", ""), "none for the byte 0");
  has(refusal(R"({"a": 0, "a": 1})", ""), "got the key 'a' twice");
  for (size_t size = 0; size + 1 < vocabulary.size(); size += 17)
    BOOST_CHECK_THROW(read(vocabulary.substr(0, size), kMerges), IoError);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
