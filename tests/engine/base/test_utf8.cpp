#include <boost/test/unit_test.hpp>

#include "engine/base/random.h"
#include "engine/base/utf8.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_utf8)  // ctest: arm64
namespace {

std::string repaired(std::string text, int64_t expected_count) {
  BOOST_TEST((find_invalid_utf8(text) == std::string::npos) == (expected_count == 0));
  BOOST_TEST(replace_invalid_utf8(text) == expected_count);
  BOOST_TEST(find_invalid_utf8(text) == std::string::npos);
  return text;
}

#define R "\xEF\xBF\xBD"  // U+FFFD

BOOST_AUTO_TEST_CASE(valid_text_stays_as_it_is) {
  for (const std::string text :
       {"", "plain ASCII, longer than one machine word", "\x7f", "\xC2\x80", "\xDF\xBF",
        "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80", "\xEF\xBF\xBF", "\xF0\x90\x80\x80",
        "\xF4\x8F\xBF\xBF", "na\xC3\xAFve \xE4\xB8\xAD \xF0\x9F\x98\x80"})
    BOOST_TEST(repaired(text, 0) == text);
  BOOST_TEST(repaired(std::string("\0a", 2), 0) == std::string("\0a", 2));
}

// Tables 3-8 to 3-11 of the Unicode Standard.
BOOST_AUTO_TEST_CASE(each_maximal_subpart_becomes_one_replacement_character) {
  BOOST_TEST(repaired("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", 8) == R R R R R R R R "\x41");
  BOOST_TEST(repaired("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", 8) == R R R R R R R R "\x41");
  BOOST_TEST(repaired("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", 7) == R R R R R "\x41" R R "\x42");
  BOOST_TEST(repaired("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", 4) == R R R R "\x41");
}

BOOST_AUTO_TEST_CASE(a_sequence_cut_by_the_end_is_one_subpart) {
  BOOST_TEST(repaired("abc\xF0\x9F\x98", 1) == "abc" R);
  BOOST_TEST(repaired("abc\xE4", 1) == "abc" R);
  BOOST_TEST(repaired("\xE4\xB8 ", 1) == R " ");
}

BOOST_AUTO_TEST_CASE(the_first_bad_byte_is_found_at_any_offset) {
  for (size_t at = 0; at < 40; ++at) {
    std::string text(40, 'x');
    text[at] = '\xFF';
    BOOST_TEST(find_invalid_utf8(text) == at);
    BOOST_TEST(find_invalid_utf8("\xC3\xA9" + text) == at + 2);
  }
}

BOOST_AUTO_TEST_CASE(pieces_are_repaired_like_the_whole_wherever_they_are_cut) {
  // Bytes that begin, go on with and damage sequences of every length.
  const std::string bytes = "a\x80\xBF\xC1\xC3\xE0\xE4\xED\xA0\x9F\xF0\xF4\x90\xF5\xFF";
  const Random random{3, 4};
  uint64_t draw = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text, found;
    for (uint64_t n = random.below(draw++, 12); text.size() < n;)
      text += bytes[random.below(draw++, bytes.size())];
    std::string want = text;
    const int64_t count = replace_invalid_utf8(want);
    Utf8Replacer replacer;
    for (size_t at = 0; at < text.size();) {
      const size_t n = 1 + random.below(draw++, 4);
      replacer.append(std::string_view(text).substr(at, n), found);
      BOOST_TEST(find_invalid_utf8(found) == std::string::npos);
      at += n;
    }
    replacer.finish(found);
    BOOST_TEST(found == want);
    BOOST_TEST(replacer.n_replaced() == count);
    BOOST_TEST(replacer.first_invalid() == find_invalid_utf8(text));
  }
}

BOOST_AUTO_TEST_CASE(every_code_point_survives_encoding) {
  std::string all;
  size_t expected = 0;
  for (uint32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    append_utf8(c, all);
    expected += c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  }
  BOOST_TEST(all.size() == expected);
  BOOST_TEST(find_invalid_utf8(all) == std::string::npos);
  std::string surrogate;
  append_utf8(0xD800, surrogate);
  BOOST_TEST(find_invalid_utf8(surrogate) == 0u);
}

BOOST_AUTO_TEST_CASE(random_bytes_become_valid) {
  const Random random{5, 1};
  uint64_t i = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string text(random.below(i++, 30), '\0');
    for (char& c : text) c = static_cast<char>(random.below(i++, 256));
    replace_invalid_utf8(text);
    BOOST_REQUIRE(find_invalid_utf8(text) == std::string::npos);
  }
}

#undef R
}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
