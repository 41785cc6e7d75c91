#include <boost/test/unit_test.hpp>

#include "data/zstd_reader.h"
#include "engine/base/error.h"
#include "engine/base/random.h"
#include "tests/support/messages.h"
#include "tests/support/string_reader.h"
#include "tests/support/zstd_frame.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_zstd_reader)
namespace {

std::string decompress(const std::string& bytes, size_t most_in = 1 << 20, size_t most_out = 7777) {
  ZstdReader reader(std::make_unique<StringReader>(bytes, most_in), "some.zst");
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

BOOST_AUTO_TEST_CASE(frames_of_every_kind_are_read) {
  const std::string text = sample(300000);
  for (const bool with_size : {true, false}) {
    const std::string frame = zstd_frame(text, with_size);
    for (const size_t block : {size_t{1}, size_t{100}, size_t{1} << 20})
      BOOST_CHECK(decompress(frame, block) == text);
    BOOST_CHECK(decompress(frame, 1000, 1) == text);
  }
  BOOST_TEST(decompress(zstd_frame("")) == "");
}

BOOST_AUTO_TEST_CASE(frames_follow_one_another_with_others_to_skip) {
  const std::string skip = zstd_skippable_frame(sample(14)), a = zstd_frame("first "),
                    b = zstd_frame("second"), none = zstd_frame("");
  BOOST_TEST(decompress(a + b) == "first second");
  BOOST_TEST(decompress(skip + a + skip + none + b + skip) == "first second");
  BOOST_TEST(decompress(skip + a + none + none + b, 1, 1) == "first second");
  BOOST_TEST(decompress(skip) == "");
}

BOOST_AUTO_TEST_CASE(a_file_cut_anywhere_is_an_error) {
  const std::string first = zstd_frame("the first frame"), whole = first + zstd_frame(sample(100));
  for (size_t size = 1; size < whole.size(); ++size) {
    if (size == first.size()) continue;  // a whole file
    BOOST_CHECK_EXCEPTION(decompress(whole.substr(0, size)), IoError, says("[zstd] some.zst: "));
  }
  BOOST_CHECK_EXCEPTION(
      decompress(whole.substr(0, whole.size() - 1)), IoError,
      says("expected the rest of a frame, got the end of the file; it is cut short"));
  BOOST_CHECK_EXCEPTION(decompress(""), IoError,
                        says("expected a Zstandard frame, got an empty file"));
}

BOOST_AUTO_TEST_CASE(damage_is_an_error) {
  const std::string good = zstd_frame(sample(2000));
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x55);
    try {
      // The checksum of the frame lets nothing else pass.
      BOOST_CHECK_MESSAGE(decompress(bytes) == sample(2000), "byte " << i);
    } catch (const IoError&) {
    }
  }
  BOOST_CHECK_EXCEPTION(decompress(good + "trailing"), IoError,
                        says("some.zst: expected Zstandard"));
  BOOST_CHECK_EXCEPTION(decompress("plain text, not compressed"), IoError,
                        says("some.zst: is not a Zstandard file (starts with 'plain te'); text "
                             "takes a name with another ending"));
  BOOST_CHECK_EXCEPTION(decompress("\x1f\x8b\x08 gzip"), IoError,
                        says("is not a Zstandard file (starts with the bytes 1f 8b 08 20",
                             "): it is a gzip file; give it a name that ends in .gz"));
}

BOOST_AUTO_TEST_CASE(windows_up_to_2_to_the_27_are_read_and_larger_ones_refused) {
  BOOST_TEST(decompress(zstd_frame("text", false, 27)) == "text");
  BOOST_CHECK_EXCEPTION(
      decompress(zstd_frame("text", false, 28)), IoError,
      says("a window of at most 2^27 bytes", "; compress it again without --long"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
