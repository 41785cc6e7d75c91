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

std::string with_crlf(std::string text) {
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2)
    text.replace(at, 1, "\r\n");
  return text;
}

BOOST_AUTO_TEST_CASE(line_ends_of_windows_are_line_ends) {
  const std::string plain = tokenizer_json_text(read(hello_vocabulary().dump(1), kMerges));
  BOOST_TEST((tokenizer_json_text(
                  read(with_crlf(hello_vocabulary().dump(1)), with_crlf(kMerges))) == plain));
}

// As GPT2Tokenizer of transformers 4 reads the folder.
BOOST_AUTO_TEST_CASE(files_beside_the_two_add_tokens) {
  const std::string vocabulary = hello_vocabulary().dump();
  const auto read_with = [&](const VocabularySiblings& siblings) {
    return read_vocab_merges({"vocab.json", vocabulary}, {"merges.txt", kMerges}, siblings);
  };
  const BpeDefinition added = read_with(
      {.added_tokens = {"added_tokens.json", R"({"<|im_start|>": 301, "<|im_end|>": 302})"},
       .special_tokens_map = {"special_tokens_map.json",
                              R"({"eos_token": {"content": "<|im_end|>", "lstrip": false},
                                  "pad_token": "<pad>", "additional_special_tokens": ["hell"]})"}});
  BOOST_TEST(added.added.size() == 4u);
  BOOST_TEST(added.added[0].content == "hell");  // of the vocabulary
  BOOST_TEST(added.added[0].id == 258);
  BOOST_TEST(added.added[0].is_special);
  BOOST_TEST(!added.added[2].is_special);
  BOOST_TEST(added.added[3].is_special);
  BOOST_TEST(ids_of(tokenizer_of(added), "<|im_start|>hello<|im_end|>") ==
             Ids({301, 258, 111, 302}));

  const std::string config = R"({"tokenizer_class": "GPT2TokenizerFast", "add_prefix_space": true,
      "added_tokens_decoder": {"300": {"content": "<|endoftext|>", "special": true},
                               "301": {"content": "<x>", "special": false, "normalized": true}}})";
  const BpeDefinition newer = read_with({.tokenizer_config = {"tokenizer_config.json", config}});
  BOOST_TEST(newer.add_prefix_space);
  BOOST_TEST(newer.added.size() == 2u);
  BOOST_TEST(ids_of(tokenizer_of(newer), "world<x>") == Ids({264, 301}));

  const auto stripping =
      read_with({.tokenizer_config = {"tokenizer_config.json",
                                      R"({"mask_token": {"content": "hell", "lstrip": true}})"}});
  BOOST_TEST(ids_of(tokenizer_of(stripping), "o  hello") == Ids({'o', 258, 'o'}));

  const auto refusal = [&](const std::string& text) {
    return message_of<IoError>([&] {
      read_with({.tokenizer_config = {"tokenizer_config.json", text}});
    });
  };
  for (const auto& [text, said] :
       {std::pair(R"({"tokenizer_class": "Qwen2Tokenizer"})", "got 'Qwen2Tokenizer'"),
        {R"({"add_bos_token": true})", "expected add_bos_token to be false"},
        {R"({"added_tokens_decoder": {"x": {"content": "y"}}})", "added_tokens_decoder, got 'x'"},
        {R"({"added_tokens_decoder": {"97": {"content": "yy"}}})", "expected each id once, got 97"},
        {"[]", "tokenizer_config.json: expected an object"}})
    BOOST_TEST(refusal(text).find(said) != std::string::npos, refusal(text));
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
  has(refusal(vocabulary, "h e\n#version: 0.2\n"), "line 2: expected tokens of the vocabulary");
  has(refusal(vocabulary, kMerges + "h e\n"), "merge 9 twice");
  has(refusal(vocabulary, kMerges + "a a\n"), "makes none");
  has(refusal("[]", kMerges), "vocab.json: expected an object");
  has(refusal(R"({"a": 0, "b": 0})", ""), "expected each id once, got 0");
  has(refusal(R"({"a": -1})", ""), "for 'a', got -1");
  has(refusal(R"({"a": 9223372036854775808})", ""), "for 'a', got 9223372036854775808");
  has(refusal("{}", ""), "expected tokens, got none");
  has(refusal(R"({"a": 0, "a": 1})", ""), "got the key 'a' twice");
  for (size_t size = 0; size + 1 < vocabulary.size(); size += 17)
    BOOST_CHECK_THROW(read(vocabulary.substr(0, size), kMerges), IoError);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
