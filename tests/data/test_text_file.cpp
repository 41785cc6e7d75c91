#include <boost/test/unit_test.hpp>

#include "data/text_file.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/support/messages.h"
#include "tests/support/string_reader.h"
#include "tests/support/temp_folder.h"
#include "tests/support/zstd_frame.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_text_file)
namespace {

using namespace std::string_literals;

struct Found {
  std::string text, binary;
};

Found read(ByteReader& reader, const TextLimits& limits, const std::string& name = "some.txt",
           const Tally& tally = {}) {
  Found found;
  const FileText result =
      read_text(reader, name, tally, limits, [&](std::string_view piece) { found.text += piece; });
  found.binary = result.binary;
  BOOST_TEST(result.size == found.text.size());
  return found;
}

Found read(const std::string& bytes, const TextLimits& limits, size_t block = 7) {
  StringReader reader(bytes, block);
  return read(reader, limits);
}

BOOST_AUTO_TEST_CASE(a_text_is_read_whatever_the_blocks) {
  for (const size_t block : {1, 2, 1000}) {
    BOOST_TEST(read("some text", {}, block).text == "some text");
    BOOST_TEST(read("", {}, block).text == "");
  }
}

BOOST_AUTO_TEST_CASE(what_is_wanted_and_a_few_bytes_more_are_kept_between_characters) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "\xE4\xB8\xAD";
  for (size_t wanted = 1; wanted < 299; ++wanted) {
    const std::string got = read(text, {.wanted = wanted}).text;
    BOOST_TEST(got.size() >= wanted);
    BOOST_TEST(got.size() <= wanted + 4);
    BOOST_TEST(got.size() % 3 == 0u);
    BOOST_TEST(text.starts_with(got));
  }
  BOOST_TEST(read(text, {.wanted = 300}).text == text);
}

BOOST_AUTO_TEST_CASE(no_more_is_read_than_is_wanted) {
  size_t taken = 0;
  EndlessReader reader("begin", 'x', taken);
  const std::string text = read(reader, {.wanted = 1000}).text;
  BOOST_TEST(text == "begin" + std::string(999, 'x'));
  BOOST_TEST(taken < 600'000u);  // two blocks
}

BOOST_AUTO_TEST_CASE(a_nul_byte_is_no_text_wherever_it_is) {
  BOOST_TEST(read("text\0"s, {}).binary.starts_with("a NUL byte"));
  BOOST_TEST(read("text\0"s, {.allow_binary = true}).text == "text\0"s);
  BOOST_TEST(read("text that is longer than a block, then\0"s, {.wanted = 4}).binary == "");
  BOOST_TEST(
      read("text that is longer than a block, then\0"s, {.wanted = 4, .to_the_end = true}).binary !=
      "");
}

BOOST_AUTO_TEST_CASE(a_small_file_that_grows_out_of_all_proportion_is_refused) {
  const TempFolder folder;
  const std::string text(3 << 20, 'a');
  write_file_atomic(folder / "a.txt.zst", zstd_frame(text));
  write_file_atomic(folder / "a.txt", text);
  const auto read_file_with = [&](const std::string& name, int64_t most) {
    Tally tally;
    return read(*open_reader(folder / name, tally), {.max_expanded_bytes = most}, name, tally);
  };
  BOOST_CHECK_EXCEPTION(
      read_file_with("a.txt.zst", 1 << 20), IoError,
      says("[data] a.txt.zst: expected text, got a file that grows to more than 1048576 "
           "bytes from ",
           "; --max-line 0 reads it all the same"));
  BOOST_CHECK(read_file_with("a.txt.zst", 4 << 20).text == text);
  BOOST_CHECK(read_file_with("a.txt.zst", 0).text == text);
  BOOST_CHECK(read_file_with("a.txt", 1).text == text);  // a file as large as its text is honest
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
