#include <boost/test/unit_test.hpp>

#include "data/byte_reader.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/support/gzip_member.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"
#include "tests/support/zstd_frame.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_byte_reader)
namespace {

std::string read_all(ByteReader& reader) {
  std::string text, block(5000, '\0');
  while (const size_t got = reader.read(block.data(), block.size())) text.append(block, 0, got);
  return text;
}

BOOST_AUTO_TEST_CASE(a_file_is_read_decompressed_by_its_ending_and_hashed_as_stored) {
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 100000; ++i) text += std::to_string(i);
  const std::string frame = zstd_frame(text), member = gzip_member(text);
  write_file_atomic(folder / "a.txt", text);
  write_file_atomic(folder / "a.txt.zst", frame);
  write_file_atomic(folder / "a.txt.gz", member);
  for (const auto& [name, stored] :
       {std::pair{"a.txt", text}, std::pair{"a.txt.zst", frame}, std::pair{"a.txt.gz", member}}) {
    Tally tally;
    BOOST_CHECK(read_all(*open_reader(folder / name, tally)) == text);
    BOOST_TEST(tally.size_bytes == static_cast<int64_t>(stored.size()));
    BOOST_TEST(tally.hasher.hex() == hash_hex(stored));
  }
}

BOOST_AUTO_TEST_CASE(a_tally_goes_on_over_files) {
  const TempFolder folder;
  write_file_atomic(folder / "a", "one ");
  write_file_atomic(folder / "b", "two");
  Tally tally;
  BOOST_TEST(read_all(*open_reader(folder / "a", tally)) == "one ");
  BOOST_TEST(read_all(*open_reader(folder / "b", tally)) == "two");
  BOOST_TEST(tally.hasher.hex() == hash_hex("one two"));
  BOOST_TEST(tally.size_bytes == 7);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_is_named) {
  const TempFolder folder;
  Tally tally;
  BOOST_CHECK_EXCEPTION(open_reader(folder / "missing", tally), IoError,
                        says("/missing: cannot open: No such file or directory"));
  BOOST_CHECK_EXCEPTION(read_all(*open_reader(folder.path(), tally)), IoError,
                        says("cannot read: Is a directory"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
