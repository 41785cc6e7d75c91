#include <boost/test/unit_test.hpp>
#include <random>
#include <string>
#include <vector>

#include "data/tokenizers/pre_tokenizer.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_pre_tokenizer)  // ctest: arm64
namespace {

using Pieces = std::vector<std::string>;

Pieces pieces(Pattern pattern, std::string_view text) {
  Pieces result;
  for_each_piece(pattern, text, [&](std::string_view piece) { result.emplace_back(piece); });
  return result;
}

BOOST_AUTO_TEST_CASE(gpt2_cuts_letters_numbers_and_others_with_a_space_before) {
  const auto cut = [](std::string_view text) { return pieces(Pattern::gpt2, text); };
  BOOST_TEST(cut("").empty());
  BOOST_TEST(cut("Hello world 12a?! x") == Pieces({"Hello", " world", " 12", "a", "?!", " x"}));
  BOOST_TEST(cut("don't we'll I'M x's'") ==
             Pieces({"don", "'t", " we", "'ll", " I", "'", "M", " x", "'s", "'"}));
  BOOST_TEST(cut(" 's") == Pieces({" '", "s"}));
  BOOST_TEST(cut("'lx'r") == Pieces({"'", "lx", "'", "r"}));
  BOOST_TEST(cut("a  b") == Pieces({"a", " ", " b"}));
  BOOST_TEST(cut("a\n\nb") == Pieces({"a", "\n", "\n", "b"}));
  BOOST_TEST(cut("a \n") == Pieces({"a", " \n"}));
  BOOST_TEST(cut("a\xC2\xA0\xC2\xA0y") == Pieces({"a", "\xC2\xA0", "\xC2\xA0", "y"}));
  BOOST_TEST(cut(" ") == Pieces({" "}));
  BOOST_TEST(cut(" \xFF\xFE a") == Pieces({" \xFF\xFE", " a"}));
  BOOST_TEST(cut("e\xCC\x81x") == Pieces({"e", "\xCC\x81", "x"}));
}

BOOST_AUTO_TEST_CASE(cl100k_cuts_as_tiktoken_does) {
  const auto cut = [](std::string_view text) { return pieces(Pattern::cl100k_base, text); };
  BOOST_TEST(cut("Hello world!") == Pieces({"Hello", " world", "!"}));
  BOOST_TEST(cut("I'M it'\xC5\xBFx") == Pieces({"I", "'M", " it", "'\xC5\xBF", "x"}));
  BOOST_TEST(cut("1234567 8") == Pieces({"123", "456", "7", " ", "8"}));
  BOOST_TEST(cut("$abc .x\tq") == Pieces({"$abc", " .", "x", "\tq"}));
  BOOST_TEST(cut("a;\r\n\nb") == Pieces({"a", ";\r\n\n", "b"}));
  BOOST_TEST(cut("a \n\n  b") == Pieces({"a", " \n\n", " ", " b"}));
  BOOST_TEST(cut("a   1") == Pieces({"a", "  ", " ", "1"}));
  BOOST_TEST(cut("\nb") == Pieces({"\n", "b"}));
  BOOST_TEST(cut("a \n  ") == Pieces({"a", " \n  "}));
  BOOST_TEST(pieces(Pattern::cl100k_lines, "a \n  ") == Pieces({"a", " \n", "  "}));
}

BOOST_AUTO_TEST_CASE(qwen2_cuts_each_number) {
  BOOST_TEST(pieces(Pattern::qwen2, "It'S 123 a\n\n b") ==
             Pieces({"It", "'S", " ", "1", "2", "3", " a", "\n\n", " b"}));
}

BOOST_AUTO_TEST_CASE(gpt2_digits_cuts_numbers_first) {
  const auto cut = [](std::string_view text) { return pieces(Pattern::gpt2_digits, text); };
  BOOST_TEST(cut("a 12b  3  c's") == Pieces({"a", " ", "1", "2", "b", "  ", "3", " ", " c", "'s"}));
  BOOST_TEST(cut("!\n 1") == Pieces({"!", "\n ", "1"}));
  // U+11DE3 and U+16FF5 are numbers in Unicode 17 alone, which cuts here.
  BOOST_TEST(cut("a \xF0\x91\xB7\xA3!\xF0\x96\xBF\xB5") ==
             Pieces({"a", " ", "\xF0\x91\xB7\xA3", "!", "\xF0\x96\xBF\xB5"}));
}

BOOST_AUTO_TEST_CASE(bloom_cuts_words_and_what_is_between) {
  const auto cut = [](std::string_view text) { return pieces(Pattern::bloom, text); };
  BOOST_TEST(cut("It's 12 x_y, z...  a") ==
             Pieces({"It's", " 12", " x_y", ",", " z", "... ", " a"}));
  BOOST_TEST(cut("(a|b)\n\nc  ") == Pieces({"(", "a", "|", "b", ")\n\n", "c", "  "}));
  BOOST_TEST(cut("\xE3\x80\x82"
                 "a\xE2\x80\xA6") == Pieces({"\xE3\x80\x82", "a", "\xE2\x80\xA6"}));
}

BOOST_AUTO_TEST_CASE(blanks_begin_pieces_alone_or_in_runs) {
  const std::string b = "\xE2\x96\x81";
  const std::string text = "x" + b + "a" + b + b + "c" + b;
  BOOST_TEST(pieces(Pattern::blanks, text) == Pieces({"x", b + "a", b, b + "c", b}));
  BOOST_TEST(pieces(Pattern::blank_runs, text) == Pieces({"x", b + "a", b + b + "c", b}));
}

BOOST_AUTO_TEST_CASE(every_byte_is_in_one_piece) {
  std::mt19937 random(1);
  for (int n = 0; n < 500; ++n) {
    std::string text;
    for (uint32_t i = random() % 50; i > 0; --i)
      text +=
          random() % 2 == 0 ? static_cast<char>(random() % 256) : "' \n\ts1a\xC2\xA0"[random() % 9];
    for (const Pattern pattern :
         {Pattern::none, Pattern::gpt2, Pattern::cl100k_base, Pattern::cl100k_lines, Pattern::qwen2,
          Pattern::gpt2_digits, Pattern::bloom, Pattern::blanks, Pattern::blank_runs}) {
      std::string joined;
      for (const std::string& piece : pieces(pattern, text)) {
        BOOST_TEST(!piece.empty());
        joined += piece;
      }
      BOOST_TEST(joined == text);
    }
  }
}

// Would take hours if time grew with the square.
BOOST_AUTO_TEST_CASE(long_runs_are_cut_in_linear_time) {
  for (const Pattern pattern :
       {Pattern::gpt2, Pattern::cl100k_base, Pattern::cl100k_lines, Pattern::qwen2,
        Pattern::gpt2_digits, Pattern::bloom, Pattern::blanks, Pattern::blank_runs})
    for (const std::string part :
         {"a", " ", "\n", "1", "'", "'s", " \n", "\n ", ". ", "\xC2\xA0", "\xE2\x96\x81"}) {
      std::string text;
      while (text.size() < 1'000'000) text += part;
      text += "x";
      size_t size = 0;
      for_each_piece(pattern, text, [&](std::string_view piece) { size += piece.size(); });
      BOOST_TEST(size == text.size());
    }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
