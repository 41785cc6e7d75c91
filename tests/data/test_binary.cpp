#include <boost/test/unit_test.hpp>

#include "data/binary.h"
#include "engine/base/error.h"
#include "tests/support/gzip_member.h"
#include "tests/support/messages.h"
#include "tests/support/zstd_frame.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_binary)
namespace {

using namespace std::string_literals;

BOOST_AUTO_TEST_CASE(compressed_files_archives_and_documents_are_known_by_their_first_bytes) {
  const struct {
    std::string begin, found;
  } cases[] = {
      {gzip_member("text"), "a gzip file; give it a name that ends in .gz"},
      {zstd_frame("text"), "a Zstandard file; give it a name that ends in .zst"},
      {"\xfd"
       "7zXZ\0\0\x04"s,
       "an xz file; decompress it first"},
      {"BZh91AY&SY\x94", "a bzip2 file"},
      {"PK\x03\x04\x14", "a zip archive"},
      {"%PDF-1.5\n", "a PDF document"},
      {"PAR1\x15\x04", "a Parquet file"},
      {"SQLite format 3\0"s, "an SQLite database"},
      {"\xff\xfeT\0e\0"s, "text in UTF-16"},
      {"\xfe\xff\0T\0e"s, "text in UTF-16"},
  };
  for (const auto& c : cases) BOOST_TEST(known_binary(c.begin).starts_with(c.found), c.found);
  std::string tar(257, 'x');
  tar.append("ustar");
  BOOST_TEST(known_binary(tar).starts_with("a tar archive"));
}

BOOST_AUTO_TEST_CASE(text_is_not_taken_for_one) {
  for (const std::string begin :
       {"", "P", "PK", "PDF", "BZh is no word", "BZh9 neither", "ustar", "{\"text\":\"a\"}",
        "\xEF\xBB\xBFtext behind a byte-order mark", "\xE4\xB8\xAD"})
    BOOST_TEST(known_binary(begin) == "", begin);
}

BOOST_AUTO_TEST_CASE(a_few_bytes_are_too_little_to_tell_utf_16_by) {
  BOOST_TEST(found_with_nul(std::string("a\0b\0c\0", 6)).starts_with("a NUL byte"));
  BOOST_TEST(found_with_nul(std::string("a\0b\0c\0d\0", 8)).starts_with("text in UTF-16"));
  for (const size_t size : {1, 2, 3})
    BOOST_TEST(found_with_nul(std::string(size, '\0')).starts_with("a NUL byte"), size);
}

BOOST_AUTO_TEST_CASE(a_fifth_of_ill_formed_bytes_is_too_much) {
  BOOST_TEST(!is_mostly_invalid(0, 0));
  BOOST_TEST(!is_mostly_invalid(31, 31));  // too little to judge by
  BOOST_TEST(is_mostly_invalid(32, 32));
  BOOST_TEST(!is_mostly_invalid(200, 1000));
  BOOST_TEST(is_mostly_invalid(201, 1000));
}

BOOST_AUTO_TEST_CASE(the_refusal_names_the_file_and_a_way_out) {
  BOOST_CHECK_EXCEPTION(
      refuse_binary("a.bin", "a zip archive; unpack it first"), IoError,
      says_exactly("[data] a.bin: expected text, got a zip archive; unpack it first; "
                   "--allow-binary reads its bytes as text"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
