#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>

#include "data/tokenizers/bpe.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "tests/data/tokenizers/hello_bpe.h"
#include "tests/support/messages.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_bpe)  // ctest: arm64
namespace {

BOOST_AUTO_TEST_CASE(merges_are_joined_in_the_order_of_their_ranks) {
  const BpeTokenizer t = tokenizer_of(hello_definition());
  BOOST_TEST(ids_of(t, "hello world") == Ids({259, 264}));
  BOOST_TEST(ids_of(t, "hell low") == Ids({258, 32, 108, 111, 119}));
  BOOST_TEST(ids_of(t, "hello\n") == Ids({259, 10}));
  BOOST_TEST(ids_of(t, "\xC3\xA9") == Ids({195, 169}));
  BOOST_TEST(ids_of(t, "lll") == Ids({257, 108}));
  BOOST_TEST(ids_of(t, "").empty());
  BOOST_TEST(t.n_vocab() == 301);
  BOOST_TEST(t.end_of_document() == 300);
}

BOOST_AUTO_TEST_CASE(an_added_token_is_one_id_unless_it_is_to_be_text) {
  const std::string text = "hello<|endoftext|> world";
  BOOST_TEST(ids_of(tokenizer_of(hello_definition()), text) == Ids({259, 300, 264}));
  TokenizerOptions options;
  options.special_as_text = true;
  const BpeTokenizer as_text = tokenizer_of(hello_definition(), options);
  const Ids ids = ids_of(as_text, text);
  BOOST_TEST(std::count(ids.begin(), ids.end(), 300) == 0);
  BOOST_TEST(as_text.decode(ids) == text);
}

BOOST_AUTO_TEST_CASE(added_tokens_that_are_not_special_are_taken_in_any_case) {
  BpeDefinition d = hello_definition();
  d.added.push_back({301, "ell", false, false});
  TokenizerOptions options;
  options.special_as_text = true;
  BOOST_TEST(ids_of(tokenizer_of(d, options), "hello") == Ids({104, 301, 111}));
  // What a special token covers is text, in which nothing else is looked for.
  d.added.push_back({302, "ello", true, false});
  BOOST_TEST(ids_of(tokenizer_of(d), "hello") == Ids({104, 302}));
  BOOST_TEST(ids_of(tokenizer_of(d, options), "hello") == Ids({259}));
}

BOOST_AUTO_TEST_CASE(of_added_tokens_the_leftmost_is_taken_and_then_the_longest) {
  BpeDefinition d = hello_definition();
  d.added = {{300, "ab", true, false}, {301, "abc", true, false}, {302, "bcd", true, false}};
  TokenizerOptions options;
  options.end_of_text = "abc";
  const BpeTokenizer t = tokenizer_of(d, options);
  BOOST_TEST(ids_of(t, "xabcd") == Ids({'x', 301, 'd'}));
  BOOST_TEST(ids_of(t, "abbcd") == Ids({300, 302}));
  BOOST_TEST(ids_of(t, "ababcab") == Ids({300, 301, 300}));
  BOOST_TEST(t.end_of_document() == 301);
}

BOOST_AUTO_TEST_CASE(normalised_added_tokens_are_found_in_the_normalised_text) {
  BpeDefinition d = hello_definition();
  d.normalizer = Normalizer::nfc;
  d.added.push_back({301, "\xC5\x91", false, true});     // U+0151
  d.added.push_back({302, "o\xCC\x8B!", false, false});  // o and U+030B, as they are
  const BpeTokenizer t = tokenizer_of(d);
  BOOST_TEST(ids_of(t, "o\xCC\x8B") == Ids({301}));
  BOOST_TEST(ids_of(t, "o\xCC\x8B!") == Ids({302}));
  BOOST_TEST(t.decode(Ids{301, 302}) == "\xC5\x91o\xCC\x8B!");
}

BOOST_AUTO_TEST_CASE(added_tokens_take_white_space_along_or_are_words_of_their_own) {
  BpeDefinition d = hello_definition();
  d.added.push_back({301, "<l>", true, false, false, true, false});
  d.added.push_back({302, "<r>", true, false, false, false, true});
  d.added.push_back({303, "low", false, false, true});
  d.added.push_back({304, "\n ", false, false, false, true});
  const BpeTokenizer t = tokenizer_of(d);
  BOOST_TEST(ids_of(t, "a \xC2\xA0\t<l> b") == Ids({'a', 301, ' ', 'b'}));
  BOOST_TEST(ids_of(t, "a <r> \xE3\x80\x80\nb") == Ids({'a', ' ', 302, 'b'}));
  BOOST_TEST(ids_of(t, "<r> <l>a") == Ids({302, 301, 'a'}));
  // What the first has taken along is not there for the next.
  BOOST_TEST(ids_of(t, "<r>\n a") == Ids({302, 'a'}));
  BOOST_TEST(ids_of(t, "low-low") == Ids({303, '-', 303}));
  for (const char* word : {"lows", "slow", "low1", "_low", "low\xCC\x81", "\xC3\xA9low"}) {
    const Ids ids = ids_of(t, word);
    BOOST_TEST(std::count(ids.begin(), ids.end(), 303) == 0, word);
  }
}

// Would take hours if time grew with the square.
BOOST_AUTO_TEST_CASE(white_space_that_is_a_token_and_taken_along_takes_linear_time) {
  const std::string text(1'000'000, '\n');
  for (const bool strips_left : {false, true}) {
    BpeDefinition d = hello_definition();
    d.added.push_back({301, "\n", false, false, false, strips_left, !strips_left});
    const Ids ids = ids_of(tokenizer_of(d), text + "x");
    // As the library has it: each is found in what the first has taken along.
    BOOST_TEST(ids.size() == text.size() + 1);
  }
}

BOOST_AUTO_TEST_CASE(a_prefix_space_is_put_where_there_is_none) {
  BpeDefinition d = hello_definition();
  d.add_prefix_space = true;
  const BpeTokenizer t = tokenizer_of(d);
  BOOST_TEST(ids_of(t, "world") == Ids({264}));
  BOOST_TEST(ids_of(t, " world") == Ids({264}));
  BOOST_TEST(ids_of(t, "world<|endoftext|>world") == Ids({264, 300, 264}));
}

BOOST_AUTO_TEST_CASE(a_piece_that_is_a_token_may_be_taken_without_merges) {
  BpeDefinition d = hello_definition();
  d.tokens.push_back("low");
  BOOST_TEST(ids_of(tokenizer_of(d), "low") == Ids({108, 111, 119}));
  d.ignore_merges = true;
  BOOST_TEST(ids_of(tokenizer_of(d), "low lows") == Ids({265, 32, 108, 111, 119, 115}));
}

BOOST_AUTO_TEST_CASE(ids_that_stand_for_nothing_decode_to_nothing_and_others_are_refused) {
  const BpeTokenizer t = tokenizer_of(hello_definition());
  BOOST_TEST(t.decode(Ids{259, 280, 300, 264}) == "hello<|endoftext|> world");
  for (const int32_t id : {-1, 301})
    BOOST_CHECK_EXCEPTION(t.decode({&id, 1}), IoError,
                          says("[tokenizer] expected ids from 0 to 300, got ", std::to_string(id)));
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_utf8_come_back) {
  const BpeTokenizer t = tokenizer_of(hello_definition());
  std::mt19937 random(1);
  for (int n = 0; n < 300; ++n) {
    std::string text;
    for (uint32_t i = random() % 40; i > 0; --i)
      text += random() % 3 == 0 ? static_cast<char>(random() % 256) : "hello world'"[random() % 12];
    BOOST_TEST(t.decode(ids_of(t, text)) == text);
  }
}

BOOST_AUTO_TEST_CASE(a_byte_without_a_token_is_refused_where_a_text_has_it) {
  BpeDefinition d = hello_definition();
  d.tokens[0xFF].clear();
  BOOST_CHECK_EXCEPTION(
      ids_of(tokenizer_of(d), "a\xFF"), IoError,
      says("text that the vocabulary of hello has tokens for, got the byte 0xFF"));
  d.tokens[0x80].clear();
  BOOST_TEST(ids_of(tokenizer_of(d), "hello").size() ==
             ids_of(tokenizer_of(hello_definition()), "hello").size());
  BOOST_CHECK_EXCEPTION(ids_of(tokenizer_of(d), "\xC3\x80"), IoError,  // A with a grave accent
                        says("text that the vocabulary of hello has tokens for, got "));
}

BOOST_AUTO_TEST_CASE(the_end_of_text_is_told_by_its_name_or_asked_for) {
  BpeDefinition d = hello_definition();
  d.added = {{300, "<eos>", true, false}};
  BOOST_TEST(tokenizer_of(d).end_of_document() == 300);
  d.added.push_back({301, "</s>", true, false});
  BOOST_CHECK_EXCEPTION(tokenizer_of(d), ConfigError,
                        says("got </s>, <eos>; name the token with --end-of-text"));
  TokenizerOptions options;
  options.end_of_text = "</s>";
  BOOST_TEST(tokenizer_of(d, options).end_of_document() == 301);
  options.end_of_text = "nowhere";
  BOOST_CHECK_EXCEPTION(tokenizer_of(d, options), ConfigError,
                        says("expected --end-of-text to name a token, got 'nowhere'"));
  d.added.clear();
  BOOST_TEST(tokenizer_of(d).end_of_document() == -1);  // for token files that have none
}

BOOST_AUTO_TEST_CASE(what_is_kept_from_one_text_to_the_next_changes_nothing) {
  const BpeTokenizer warm = tokenizer_of(hello_definition());
  std::mt19937 random(2);
  for (int n = 0; n < 200; ++n) {
    std::string text;
    for (uint32_t i = random() % 60; i > 0; --i) text += "helo wrld"[random() % 9];
    const BpeTokenizer cold = tokenizer_of(hello_definition());
    BOOST_TEST(ids_of(warm, text) == ids_of(cold, text));
    BOOST_TEST(ids_of(warm, text) == ids_of(cold, text));
  }
}

BOOST_AUTO_TEST_CASE(threads_share_a_tokenizer) {
  const BpeTokenizer t = tokenizer_of(hello_definition());
  std::vector<std::string> texts;
  std::vector<Ids> expected;
  std::mt19937 random(3);
  for (int n = 0; n < 64; ++n) {
    std::string text;
    for (int i = 0; i < 300; ++i) text += "helo wrld"[random() % 9];
    texts.push_back(text);
    expected.push_back(ids_of(t, text));
  }
  std::vector<Ids> got(texts.size());
  parallel_for(static_cast<int64_t>(texts.size()), [&](int64_t i) {
    t.encode(texts[static_cast<size_t>(i)], got[static_cast<size_t>(i)]);
  });
  BOOST_TEST((got == expected));
}

BOOST_AUTO_TEST_CASE(a_run_without_a_boundary_has_a_most_size) {
  const BpeTokenizer t = tokenizer_of(hello_definition());
  BOOST_CHECK_EXCEPTION(ids_of(t, std::string((size_t{24} << 20) + 1, 'a')), IoError,
                        says("got a run of 25165825 bytes without one"));
}

// Texts that hold much of what could go wrong where they are cut.
std::string random_text(std::mt19937& random) {
  constexpr std::array<std::string_view, 28> kParts = {
      "a",        "s",    "'",        "'s",           "'ll",  "1",         "23",
      " ",        " ",    "  ",       "\n",           "\r\n", "\n\n",      "\t",
      "!",        "; ",   "hello",    "end",          "<|",   "e\xCC\x81", "\xCC\x81",
      "\xE1\x84", "\x80", "\xC2\xA0", "\xE4\xB8\xAD", "|>",   "a b",       "<|end of|>"};
  std::string text;
  for (uint32_t n = random() % 16; n > 0; --n) text += kParts[random() % kParts.size()];
  return text;
}

BOOST_AUTO_TEST_CASE(a_text_that_is_cut_where_it_may_be_has_the_same_ids) {
  std::mt19937 random(4);
  for (const Pattern pattern :
       {Pattern::gpt2, Pattern::cl100k_base, Pattern::cl100k_lines, Pattern::qwen2,
        Pattern::gpt2_digits, Pattern::bloom, Pattern::none})
    for (const Normalizer normalizer : {Normalizer::none, Normalizer::nfc})
      for (const bool add_prefix_space : {false, true}) {
        BpeDefinition d = hello_definition();
        d.pattern = pattern;
        d.normalizer = normalizer;
        d.add_prefix_space = add_prefix_space;
        d.added = {{300, "<|endoftext|>", true, false},
                   {301, "a b", false, true},
                   {302, "<|end of|>", true, false},
                   {303, "e\xCC\x81 1", false, true},
                   {304, "s\n\n", false, false},
                   {305, "  ", false, true},
                   {306, "end", true, false, true, true, true},
                   {307, "\n!", false, true, true}};
        const BpeTokenizer t = tokenizer_of(d);
        size_t n_cuts = 0;
        for (int n = 0; n < 1000; ++n) {
          const std::string text = random_text(random);
          const Ids whole = ids_of(t, text);
          for (size_t at = t.cut(text, 0); at < text.size(); at = t.cut(text, at + 1), ++n_cuts) {
            Ids parts;
            t.encode(std::string_view(text).substr(0, at), parts);
            t.encode(std::string_view(text).substr(at), parts);
            if (parts != whole) BOOST_ERROR("cut at " << at << ": " << text);
          }
          BOOST_TEST(t.cut(text, text.size()) == text.size());
        }
        BOOST_TEST((n_cuts > 100) == (pattern != Pattern::none));
      }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
