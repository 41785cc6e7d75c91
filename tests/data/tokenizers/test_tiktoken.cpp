#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "data/tokenizers/tiktoken.h"
#include "data/tokenizers/tokenizer_json.h"
#include "engine/base/error.h"
#include "engine/base/random.h"
#include "tests/data/tokenizers/hello_bpe.h"
#include "tests/support/messages.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_tiktoken)
namespace {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k)
      text += i + k < bytes.size() + 1 ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string ranks_of(const BpeDefinition& d) {
  std::string text;
  for (size_t id = 0; id < d.tokens.size(); ++id)
    text += base64(d.tokens[id]) + ' ' + std::to_string(id) + '\n';
  return text;
}

BpeDefinition read(const std::string& text, const std::string& pattern = "gpt2") {
  return read_tiktoken("t.tiktoken", text, pattern);
}

BOOST_AUTO_TEST_CASE(the_merges_are_found_from_the_ranks) {
  const std::string text = ranks_of(hello_definition());
  BOOST_TEST(looks_like_tiktoken(text));
  BpeDefinition expected = hello_definition();
  expected.added = {{50256, "<|endoftext|>", true, false}};
  BOOST_TEST(
      (tokenizer_json_text(read(text)) == tokenizer_json_text(checked(expected, "test", "hello"))));
}

BOOST_AUTO_TEST_CASE(so_many_long_tokens_that_reading_takes_minutes_are_refused) {
  std::string text;
  for (int i = 0; i <= 1024; ++i) {
    std::string token(4096, 'a');
    token.replace(0, 4, std::to_string(1000 + i));
    text += base64(token) + ' ' + std::to_string(i) + '\n';
  }
  BOOST_CHECK_EXCEPTION(read(text), IoError,
                        says("t.tiktoken: line 1025: expected tokens of text, got so many long"));
}

BOOST_AUTO_TEST_CASE(a_token_that_no_merge_makes_is_taken_whole) {
  BpeDefinition d = hello_definition();
  d.tokens.push_back("xyz");
  const BpeDefinition from_ranks = read(ranks_of(d));
  BOOST_TEST(from_ranks.ignore_merges);
  BOOST_TEST(from_ranks.merges.size() == 9u);
  const BpeTokenizer t = tokenizer_of(from_ranks);
  BOOST_TEST(ids_of(t, "xyz xyzx") == Ids({265, 32, 120, 121, 122, 120}));
}

// As tiktoken 0.14 has it: whatever pair has the bytes of a token, the lowest rank first.
BOOST_AUTO_TEST_CASE(a_token_may_be_made_of_parts_of_higher_rank) {
  BpeDefinition d;
  for (int byte = 0; byte < 256; ++byte) d.tokens.emplace_back(1, static_cast<char>(byte));
  d.tokens.insert(d.tokens.end(), {"abc", "bc"});
  const BpeTokenizer t = tokenizer_of(read(ranks_of(d)));
  BOOST_TEST(ids_of(t, "abc") == Ids({256}));
  BOOST_TEST(ids_of(t, "xabc") == Ids({'x', 256}));
  BOOST_TEST(ids_of(t, "abcx") == Ids({256, 'x'}));
  BOOST_TEST(ids_of(t, "abcabc") == Ids({256, 256}));
  BOOST_TEST(ids_of(t, "bcabc") == Ids({257, 256}));
}

// A second implementation of tiktoken's rule: of the neighbours whose bytes together are a token,
// the pair of lowest rank is joined, the leftmost first; a piece that is a token is that token.
Ids by_the_rule(const std::vector<std::string>& tokens, const std::string& piece) {
  const auto rank = [&](const std::string& bytes) {
    return std::find(tokens.begin(), tokens.end(), bytes) - tokens.begin();
  };
  const auto none = static_cast<ptrdiff_t>(tokens.size());
  if (rank(piece) < none) return {static_cast<int32_t>(rank(piece))};
  std::vector<std::string> parts;
  for (const char c : piece) parts.emplace_back(1, c);
  for (;;) {
    ptrdiff_t lowest = none;
    size_t at = 0;
    for (size_t i = 0; i + 1 < parts.size(); ++i)
      if (const ptrdiff_t found = rank(parts[i] + parts[i + 1]); found < lowest) {
        lowest = found;
        at = i;
      }
    if (lowest == none) break;
    parts[at] += parts[at + 1];
    parts.erase(parts.begin() + static_cast<ptrdiff_t>(at + 1));
  }
  Ids ids;
  for (const std::string& part : parts) ids.push_back(static_cast<int32_t>(rank(part)));
  return ids;
}

BOOST_AUTO_TEST_CASE(random_ranks_give_the_ids_of_the_rule) {
  const Random random{1, stream_of("ranks")};
  uint64_t n = 0;
  const auto letters = [&](size_t most) {
    std::string text;
    for (size_t size = 1 + random.below(n++, most); text.size() < size;)
      text += static_cast<char>('a' + random.below(n++, 3));
    return text;
  };
  for (int trial = 0; trial < 200; ++trial) {
    BpeDefinition d;
    for (int byte = 0; byte < 256; ++byte) d.tokens.emplace_back(1, static_cast<char>(byte));
    while (d.tokens.size() < 272) {
      const std::string token = letters(5);
      if (std::find(d.tokens.begin(), d.tokens.end(), token) == d.tokens.end())
        d.tokens.push_back(token);
    }
    const BpeTokenizer t = tokenizer_of(read(ranks_of(d)));
    const BpeTokenizer kept = tokenizer_of(read_tokenizer_json("kept", t.file()));
    for (int i = 0; i < 20; ++i) {
      const std::string piece = letters(i < 18 ? 12 : 200);
      const Ids expected = by_the_rule(d.tokens, piece);
      BOOST_TEST(ids_of(t, piece) == expected);
      BOOST_TEST(ids_of(kept, piece) == expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_pattern_brings_its_special_tokens) {
  const BpeTokenizer t = tokenizer_of(read(ranks_of(hello_definition()), "cl100k_base"));
  BOOST_TEST(t.n_vocab() == 100277);
  BOOST_TEST(t.end_of_document() == 100257);
  BOOST_TEST(ids_of(t, "hello<|endofprompt|>") == Ids({259, 100276}));
}

BOOST_AUTO_TEST_CASE(a_pattern_must_be_named) {
  const std::string text = ranks_of(hello_definition());
  BOOST_CHECK_EXCEPTION(
      read(text, ""), ConfigError,
      says("t.tiktoken: expected --tokenizer-pattern gpt2 or cl100k_base", "got none"));
  BOOST_CHECK_EXCEPTION(read(text, "o200k_base"), ConfigError, says("got 'o200k_base'"));
}

BOOST_AUTO_TEST_CASE(damaged_files_are_refused) {
  const std::string text = ranks_of(hello_definition());
  const auto line = std::count(text.begin(), text.end(), '\n') + 1;
  for (const std::string bad :
       {"YQ", "YQ==", "YQ== ", "YQ== x", "YQ== -1", "YQ== 9223372036854775808", "YQ==  7", "Y$== 7",
        "YQ= 7", "==== 7", " 7", "Y=Q= 7", "YQ== 7 7"}) {
    const std::string message = message_of<IoError>([&] { read(text + bad + '\n'); });
    BOOST_TEST_CONTEXT(bad << ": " << message)
    BOOST_TEST(message.find("t.tiktoken: line " + std::to_string(line)) != std::string::npos);
  }
  BOOST_CHECK_EXCEPTION(read(text + "eHl6 7\n"), IoError, says("expected each rank once, got 7"));
  BOOST_CHECK_EXCEPTION(read(text + "aGU= 400\n"), IoError, says("expected different tokens"));
  BOOST_CHECK_EXCEPTION(read(text + "eHl6 4194304\n"), IoError, says("expected ranks below"));
  BOOST_CHECK_EXCEPTION(read(""), IoError, says("expected tokens, got none"));
  BOOST_CHECK_EXCEPTION(read(text.substr(text.find('\n') + 1) + "AAE= 400\n"), IoError,
                        says("expected a rank for each byte of the token"));
  for (size_t size = 1; size < 1200; ++size)
    if (text[size - 1] != '\n' && text[size] != '\n')
      BOOST_CHECK_THROW(read(text.substr(0, size)), IoError);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
