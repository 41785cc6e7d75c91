#include <boost/test/unit_test.hpp>

#include "data/gzip_reader.h"
#include "engine/base/error.h"
#include "engine/base/random.h"
#include "tests/support/gzip_member.h"
#include "tests/support/messages.h"
#include "tests/support/string_reader.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_gzip_reader)
namespace {

std::string decompress(const std::string& bytes, size_t most_in = 1 << 20, size_t most_out = 7777) {
  GzipReader reader(std::make_unique<StringReader>(bytes, most_in), "some.gz");
  std::string text, block(most_out, '\0');
  while (const size_t got = reader.read(block.data(), block.size())) text.append(block, 0, got);
  return text;
}

std::string sample(size_t size) {
  const Random random{3, 4};
  std::string text;
  for (uint64_t i = 0; text.size() < size; ++i)
    text += "word" + std::to_string(random.below(i, 5000)) + ' ';
  return text;
}

BOOST_AUTO_TEST_CASE(a_member_is_read_whatever_the_blocks) {
  const std::string text = sample(300000), member = gzip_member(text);
  for (const size_t block : {size_t{1}, size_t{100}, size_t{1} << 20})
    BOOST_CHECK(decompress(member, block) == text);
  BOOST_CHECK(decompress(member, 1000, 1) == text);
  BOOST_TEST(decompress(gzip_member("")) == "");
}

BOOST_AUTO_TEST_CASE(members_follow_one_another_with_zeros_behind_them) {
  const std::string a = gzip_member("first "), b = gzip_member("second"), none = gzip_member("");
  const std::string zeros(1000, '\0');
  for (const size_t block : {size_t{1}, size_t{1} << 20}) {
    BOOST_TEST(decompress(a + b, block) == "first second");
    BOOST_TEST(decompress(none + a + none + b + none, block) == "first second");
    BOOST_TEST(decompress(a + b + zeros, block) == "first second");
  }
}

BOOST_AUTO_TEST_CASE(a_file_cut_anywhere_is_an_error) {
  const std::string first = gzip_member("the first member"),
                    whole = first + gzip_member(sample(100));
  for (size_t size = 1; size < whole.size(); ++size) {
    if (size == first.size()) continue;  // a whole file
    BOOST_CHECK_EXCEPTION(
        decompress(whole.substr(0, size)), IoError,
        says("[gzip] some.gz: expected the rest of a member, got the end of the file; it is cut "
             "short"));
  }
  BOOST_CHECK_EXCEPTION(decompress(""), IoError,
                        says("some.gz: expected a gzip member, got an empty file"));
}

BOOST_AUTO_TEST_CASE(damage_is_an_error) {
  const std::string good = gzip_member(sample(2000));
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x55);
    try {
      // The checksum lets nothing else pass; it does not cover time and system in the header.
      BOOST_CHECK_MESSAGE(decompress(bytes) == sample(2000), "byte " << i);
    } catch (const IoError&) {
    }
  }
  BOOST_CHECK_EXCEPTION(decompress(good + "trailing"), IoError,
                        says("[gzip] some.gz: expected gzip members, got: incorrect header check"));
  BOOST_CHECK_EXCEPTION(decompress("plain text, not compressed"), IoError,
                        says("some.gz: is not a gzip file (starts with 'plain te'); text takes a "
                             "name with another ending"));
  std::string other_sum = gzip_member("text");
  other_sum[other_sum.size() - 8] ^= 1;
  BOOST_CHECK_EXCEPTION(decompress(other_sum), IoError, says("got: incorrect data check"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
