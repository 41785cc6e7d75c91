#include <array>
#include <boost/test/unit_test.hpp>

#include "data/tokenizers/unicode.h"
#include "engine/base/utf8.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_unicode)  // ctest: arm64
namespace {

std::string utf8(std::initializer_list<uint32_t> code_points) {
  std::string text;
  for (const uint32_t c : code_points) append_utf8(c, text);
  return text;
}

BOOST_AUTO_TEST_CASE(letters_numbers_and_white_space_are_told_apart) {
  for (const uint32_t c :
       {uint32_t{'a'}, uint32_t{'Z'}, 0xAAu, 0xE9u, 0x1C5u, 0x2B0u, 0x4E2Du, 0x10400u, 0x17Fu})
    BOOST_TEST((class_of(c) == CharClass::letter), c);
  for (const uint32_t c : {uint32_t{'0'}, 0xB2u, 0xBDu, 0x663u, 0x2167u, 0x3007u, 0x1D7CEu})
    BOOST_TEST((class_of(c) == CharClass::number), c);
  for (const uint32_t c : {9u, 10u, 13u, 32u, 0x85u, 0xA0u, 0x1680u, 0x2000u, 0x200Au, 0x2028u,
                           0x2029u, 0x202Fu, 0x205Fu, 0x3000u})
    BOOST_TEST((class_of(c) == CharClass::space), c);
  for (const uint32_t c : {uint32_t{'_'}, 0x1Cu, 0x1Fu, 0x200Bu, 0xFEFFu, 0x301u, 0x903u, 0x1F600u,
                           0x378u, 0xE000u, 0xD800u, 0x10FFFFu, 0x110000u})
    BOOST_TEST((class_of(c) == CharClass::other), c);
}

// As tiktoken 0.14 and tokenizers 0.23 classify all code points, whose tables are of Unicode 16:
// the numbers were made with tiktoken, by a pattern \p{L}, \p{N} or \s for each code point.
BOOST_AUTO_TEST_CASE(the_classes_are_those_of_unicode_16_on_every_system) {
  std::array<int, 4> n = {};
  uint64_t sum = 0;
  for (uint32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    const CharClass type = class_of(c);
    ++n[static_cast<size_t>(type)];
    sum = sum * 31 + (type == CharClass::space    ? 3
                      : type == CharClass::other  ? 0
                      : type == CharClass::letter ? 1
                                                  : 2);
  }
  BOOST_TEST(n[static_cast<size_t>(CharClass::letter)] == 141028);
  BOOST_TEST(n[static_cast<size_t>(CharClass::number)] == 1911);
  BOOST_TEST(n[static_cast<size_t>(CharClass::space)] == 25);
  BOOST_TEST(sum == 555335043358527411u);
  for (const uint32_t c : {0x1E4D0u, 0x2EBF0u, 0x1C89u})  // new in Unicode 15, 15.1 and 16
    BOOST_TEST((class_of(c) == CharClass::letter), c);
  BOOST_TEST((class_of(0x558) == CharClass::other));  // new in 18
}

BOOST_AUTO_TEST_CASE(a_byte_that_is_no_utf8_is_a_symbol) {
  const std::string text = "\xC3\xA9\xE4\xB8\x80\xFF";
  BOOST_TEST(symbol_at(text, 0).size == 2u);
  BOOST_TEST(symbol_at(text, 2).size == 3u);
  BOOST_TEST(symbol_at(text, 5).size == 1u);
  BOOST_TEST((symbol_at(text, 5).type == CharClass::other));
  BOOST_TEST(symbol_at("\xE4\xB8", 0).size == 1u);
}

// Source: The Unicode Standard, section 3.11 and 3.12, and Annex 15.
BOOST_AUTO_TEST_CASE(texts_are_composed) {
  const std::pair<std::string, std::string> cases[] = {
      {"plain ASCII", "plain ASCII"},
      {utf8({'e', 0x301}), utf8({0xE9})},
      {utf8({0x41, 0x30A}), utf8({0xC5})},
      {utf8({0x212B}), utf8({0xC5})},         // Angstrom sign: a singleton
      {utf8({0x2126}), utf8({0x3A9})},        // Ohm sign
      {utf8({0x958}), utf8({0x915, 0x93C})},  // excluded from composition
      {utf8({0x915, 0x93C}), utf8({0x915, 0x93C})},
      {utf8({0x1100, 0x1161}), utf8({0xAC00})},
      {utf8({0x1100, 0x1161, 0x11A8}), utf8({0xAC01})},
      {utf8({0xAC00, 0x11A8}), utf8({0xAC01})},
      {utf8({0xAC01, 0x11A8}), utf8({0xAC01, 0x11A8})},
      {utf8({0x1100, 0x1100}), utf8({0x1100, 0x1100})},
      {utf8({0xAC00, 0x11A7}), utf8({0xAC00, 0x11A7})},  // the place before the first tail
      {utf8({0x1100, 0x1161, 0x11A7, 0x11A8}), utf8({0xAC00, 0x11A7, 0x11A8})},
      {utf8({0x1100, 0x1176}), utf8({0x1100, 0x1176})},
      {utf8({'q', 0x307, 0x323}), utf8({'q', 0x323, 0x307})},  // by rising class
      {utf8({0x1E0B, 0x323}), utf8({0x1E0D, 0x307})},
      {utf8({'s', 0x323, 0x307}), utf8({0x1E69})},
      {utf8({'a', 0x301, 0x301}), utf8({0xE1, 0x301})},
      {utf8({'a', 0x345, 0x301}), utf8({0xE1, 0x345})},
      {utf8({0x301, 'a', 0x301}), utf8({0x301, 0xE1})},
      {utf8({0x9C7, 0x9BE}), utf8({0x9CB})},  // both are starters
      {utf8({0xFB01}), utf8({0xFB01})},       // a compatibility character stays
      {utf8({0x344}), utf8({0x308, 0x301})},
      {utf8({' ', 0x308}), utf8({' ', 0x308})},
      // U+1ACF, a mark above since Unicode 14, which the library does not know as one.
      {utf8({'q', 0x1ACF, 0x323}), utf8({'q', 0x1ACF, 0x323})},
      {utf8({'e', 0x1ACF, 0x301}), utf8({'e', 0x1ACF, 0x301})},
      {utf8({0x1ACF, 'e', 0x301}), utf8({0x1ACF, 0xE9})},
      {utf8({0x11935, 0x11930}), utf8({0x11935, 0x11930})},  // compose since Unicode 13
      {"e\xFF\xCC\x81", "e\xFF\xCC\x81"},  // nothing composes across what is no UTF-8
      {"a\x80\x80\xCC\x81", "a\x80\x80\xCC\x81"},
      {"\xC3\xCC\x81", "\xC3\xCC\x81"},
  };
  for (const auto& [text, composed] : cases) {
    BOOST_TEST(nfc(text) == composed);
    BOOST_TEST(nfc("x " + text + " y") == "x " + composed + " y");
    BOOST_TEST(nfc(composed) == composed);
  }
}

// Would take a quarter of an hour if time grew with the square.
BOOST_AUTO_TEST_CASE(a_long_run_of_marks_is_put_in_order) {
  const std::string above = utf8({0x301}), below = utf8({0x323});
  constexpr int kPairs = 300000;
  std::string text = "q", expected = "q";
  for (int i = 0; i < kPairs; ++i) text += above + below;
  for (int i = 0; i < kPairs; ++i) expected += below;
  for (int i = 0; i < kPairs; ++i) expected += above;
  BOOST_TEST((nfc(text) == expected));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
