#include <boost/test/unit_test.hpp>

#include "engine/base/hash.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_hash)  // ctest: arm64
namespace {

// Published test values of the xxHash project.
BOOST_AUTO_TEST_CASE(known_texts_have_their_published_hashes) {
  BOOST_TEST(hash_hex("") == "99aa06d3014798d86001c324468d497f");
  BOOST_TEST(hash_hex("a") == "a96faf705af16834e6c632b61e964e1f");
  BOOST_TEST(hash64("") == 0x2d06800538d394c2u);
  BOOST_TEST(hash64("a") == 0xe6c632b61e964e1fu);
}

BOOST_AUTO_TEST_CASE(pieces_hash_like_the_whole) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += static_cast<char>(i * 7);
  for (const size_t cut : {size_t{0}, size_t{1}, size_t{255}, size_t{1024}, text.size()}) {
    Hasher hasher;
    hasher.update(text.substr(0, cut));
    hasher.update(text.substr(cut));
    BOOST_TEST(hasher.hex() == hash_hex(text));
  }
}

BOOST_AUTO_TEST_CASE(pieces_have_the_short_hash_of_the_whole) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += static_cast<char>(i * 7);
  for (const size_t cut : {size_t{0}, size_t{1}, size_t{255}, size_t{1024}, text.size()}) {
    Hasher64 hasher;
    hasher.update(text.substr(0, cut));
    hasher.update(text.substr(cut));
    BOOST_TEST(hasher.value() == hash64(text));
  }
  BOOST_TEST(Hasher64().value() == hash64(""));
}

BOOST_AUTO_TEST_CASE(one_bit_changes_the_hash) {
  std::string text(300, 'x');
  const std::string before = hash_hex(text);
  text[200] ^= 1;
  BOOST_TEST(hash_hex(text) != before);
}

BOOST_AUTO_TEST_CASE(reading_the_hash_does_not_end_it) {
  Hasher hasher;
  hasher.update("ab");
  BOOST_TEST(hasher.hex() == hash_hex("ab"));
  hasher.update("c");
  BOOST_TEST(hasher.hex() == hash_hex("abc"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
