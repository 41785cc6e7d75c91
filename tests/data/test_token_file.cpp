#include <boost/test/unit_test.hpp>
#include <cstring>
#include <fstream>

#include "data/token_file.h"
#include "engine/base/error.h"
#include "engine/base/random.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_token_file)  // ctest: arm64
namespace {

struct Fixture {
  TempFolder folder;
  std::filesystem::path path = folder / "train.tokens";

  std::string write(const std::vector<int32_t>& ids, int64_t n_vocab, int64_t text_bytes = 5) {
    TokenWriter writer(path, n_vocab);
    writer.append(ids);
    writer.count_document(text_bytes);
    writer.commit();
    return read_file(path);
  }
  // Overwrites without the care of AtomicFile: quicker.
  Tokens open(const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    const Split split = open_token_file(path);
    verify(split);
    return split.tokens;
  }
  void check_refused(const std::string& bytes, const std::string& message) {
    BOOST_CHECK_EXCEPTION(open(bytes), IoError, says("[tokens] ", path.string(), message));
  }
};

std::string with_number(std::string bytes, size_t at, uint64_t value, size_t size) {
  std::memcpy(bytes.data() + at, &value, size);
  return bytes;
}

BOOST_FIXTURE_TEST_SUITE(token_file, Fixture)

// The example of data/corpus.md.
BOOST_AUTO_TEST_CASE(the_bytes_are_those_of_the_description) {
  const std::string bytes = write({104, 105, 256}, 257, /*text_bytes=*/2);
  const std::string numbers(
      "FFTOKENS\x01\x00\x00\x00\x02\x00\x00\x00\x01\x01\x00\x00\x00\x00\x00\x00"
      "\x03\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00"
      "\x02\x00\x00\x00\x00\x00\x00\x00",
      48);
  const std::string tokens("\x68\x00\x69\x00\x00\x01", 6);
  BOOST_TEST(bytes.size() == 70u);
  BOOST_CHECK(bytes.substr(0, 48) == numbers);
  BOOST_CHECK(bytes.substr(64) == tokens);
  std::string hash;
  for (const char c : bytes.substr(48, 16)) {
    hash += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    hash += "0123456789abcdef"[c & 15];
  }
  BOOST_TEST(hash == hash_hex(tokens));
  BOOST_TEST(hash == "755c1441bed3ba3d37dca6c8c5cce6c9");
}

BOOST_AUTO_TEST_CASE(tokens_of_either_width_are_read_back) {
  for (const int64_t n_vocab : {257, 65536, 65537, INT32_MAX}) {
    std::vector<int32_t> ids;
    for (int32_t i = 0; i < 100000; ++i) ids.push_back(static_cast<int32_t>(i * 7919LL % n_vocab));
    ids.push_back(static_cast<int32_t>(n_vocab - 1));
    write(ids, n_vocab);
    const Split split = open_token_file(path);
    const Tokens& file = split.tokens;
    BOOST_TEST(file.size() == 100001);
    BOOST_TEST(file.n_vocab() == n_vocab);
    BOOST_TEST(split.counts.documents == 1);
    BOOST_TEST(split.counts.bytes == 5);
    BOOST_TEST(file[100000] == n_vocab - 1);
    std::vector<int32_t> got(ids.size());
    file.copy(0, file.size(), got.data());
    BOOST_CHECK(got == ids);
    file.copy(99999, 2, got.data());
    BOOST_TEST(got[1] == n_vocab - 1);
    BOOST_TEST(std::filesystem::file_size(path) == 64 + ids.size() * (n_vocab <= 65536 ? 2 : 4));
  }
}

BOOST_AUTO_TEST_CASE(a_range_outside_is_refused) {
  write({1, 2, 3}, 10);
  const Tokens file = open_token_file(path).tokens;
  int32_t out[4];
  BOOST_CHECK_EXCEPTION(file[3], ConfigError, says("a range of tokens within 3, got 1 from 3 on"));
  BOOST_CHECK_THROW(file[-1], ConfigError);
  BOOST_CHECK_THROW(file.copy(2, 2, out), ConfigError);
  BOOST_CHECK_THROW(file.copy(INT64_MAX, INT64_MAX, out), ConfigError);
}

BOOST_AUTO_TEST_CASE(a_file_cut_at_any_byte_is_refused) {
  const std::string good = write({1, 2, 3, 256}, 257);
  BOOST_CHECK_NO_THROW(open(good));
  for (size_t size = 0; size < good.size(); ++size)
    BOOST_CHECK_EXCEPTION(open(good.substr(0, size)), IoError, says(path.string()));
  check_refused(good.substr(0, 63), ": expected at least 64 bytes, got 63");
  check_refused(good.substr(0, 70),
                ": expected 72 bytes for 4 tokens, got 70; the file is cut short");
  check_refused(good + "x", ": expected 72 bytes for 4 tokens, got 73");
}

BOOST_AUTO_TEST_CASE(extreme_header_fields_are_refused) {
  const std::string good = write({1, 2, 3, 256}, 257);
  const uint64_t extremes[] = {
      0,         1,          0x7fffffff,          0x80000000,       0xffffffff, uint64_t{1} << 32,
      INT64_MAX, UINT64_MAX, UINT64_MAX / 2 - 31, uint64_t{4} << 56};
  for (const size_t field : {8, 12, 16, 24, 32, 40}) {
    for (const uint64_t value : extremes) {
      const std::string bytes = with_number(good, field, value, field < 16 ? 4 : 8);
      if (bytes == good) continue;
      // Counts of documents and bytes are not tied to the tokens, but bounded.
      if (field == 32 && value <= 4) continue;
      if (field == 40 && value <= INT64_MAX) continue;
      if (field == 8 && static_cast<uint32_t>(value) == 1) continue;
      BOOST_CHECK_EXCEPTION(open(bytes), IoError, says("[tokens] ", path.string()));
    }
  }
  check_refused(concat("X", good.substr(1)), ": expected a token file, got another magic");
  check_refused(with_number(good, 8, 2, 4), ": expected version 1, got 2");
  check_refused(with_number(good, 12, 4, 4), ": expected 2 bytes per token for 257 ids, got 4");
  check_refused(with_number(good, 16, uint64_t{1} << 31, 8), ": expected a vocabulary of 1 to ");
  check_refused(with_number(good, 24, UINT64_MAX, 8), " tokens overflows 64 bits");
  check_refused(with_number(good, 32, 5, 8), ": expected counts that belong together");
}

BOOST_AUTO_TEST_CASE(an_id_beyond_the_vocabulary_is_refused) {
  const std::string good = write({1, 2, 3, 256}, 257);
  check_refused(with_number(good, 66, 257, 2),
                ": expected ids from 0 to 256, got 257 at byte 66; the file is damaged, or of "
                "another tokenizer");
  check_refused(with_number(good, 66, 65535, 2), ", got 65535");
  std::vector<int32_t> many(100000, 1);
  const std::string long_file = write(many, 257);
  check_refused(with_number(long_file, 64 + 2 * 99999, 300, 2), ", got 300 at byte 200062");
}

BOOST_AUTO_TEST_CASE(any_damaged_byte_of_the_tokens_is_found) {
  const std::string good = write({1, 2, 3, 200}, 257);
  for (size_t at = 48; at < good.size(); ++at) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    BOOST_CHECK_EXCEPTION(open(bytes), IoError, says(path.string()));
  }
  check_refused(with_number(good, 64, 5, 2), ": the tokens do not have the hash that is recorded");
}

BOOST_AUTO_TEST_CASE(random_damage_never_does_worse_than_an_error) {
  const std::string good = write({1, 2, 3, 200}, 257);
  const Random random{2, 2};
  for (uint64_t i = 0; i < 2000; ++i) {
    std::string bytes = good;
    for (uint64_t k = 0; k < 3; ++k)
      bytes[random.below(6 * i + k, 48)] = static_cast<char>(random.below(6 * i + 3 + k, 256));
    try {
      const Tokens file = open(bytes);
      BOOST_TEST(file.size() == 4);
    } catch (const IoError&) {
    }
  }
}

BOOST_AUTO_TEST_CASE(the_writer_refuses_ids_and_a_full_disk) {
  TokenWriter writer(path, 257);
  for (const int32_t id : {-1, 257, INT32_MAX})
    BOOST_CHECK_EXCEPTION(writer.append({&id, 1}), ConfigError,
                          says("expected ids from 0 to 256, got ", std::to_string(id)));
  BOOST_CHECK_THROW(TokenWriter(folder / "b", 0), ConfigError);
  const std::vector<int32_t> ids(1000, 1);
  writer.append(ids);
  {
    const FileSizeLimit limit(500);
    BOOST_CHECK_EXCEPTION(writer.commit(), IoError, says(path.string(), "cannot write"));
  }
  BOOST_TEST(!std::filesystem::exists(path));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
