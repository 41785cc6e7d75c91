#include <boost/test/unit_test.hpp>
#include <fstream>

#include "data/corpus.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/random.h"
#include "tests/support/corpus_files.h"
#include "tests/support/ids_tokenizer.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_megatron)  // ctest: arm64
namespace {

using Ids = std::vector<int32_t>;

// Two documents, [10 11 12] and [50256 7], as u16.
const std::string kIdx(
    "\x4d\x4d\x49\x44\x49\x44\x58\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x08"
    "\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00"
    "\x03\x00\x00\x00\x02\x00\x00\x00"
    "\x00\x00\x00\x00\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00"
    "\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00"
    "\x02\x00\x00\x00\x00\x00\x00\x00",
    82);
const std::string kBin("\x0a\x00\x0b\x00\x0c\x00\x50\xc4\x07\x00", 10);

struct Fixture {
  TempFolder folder;
  std::filesystem::path prefix = folder / "wiki_text_document";
  std::filesystem::path idx = prefix.string() + ".idx", bin = prefix.string() + ".bin";
  CorpusOptions options;

  Fixture() {
    options.model_tokenizer = std::make_shared<IdsTokenizer>(50257, 50256);
    options.split = "1,1";
  }
  Corpus open(const std::string& index, const std::string& ids) {
    put(idx, index);
    put(bin, ids);
    return Corpus::open(prefix, options);
  }
  void check_refused(const std::string& index, const std::string& message) {
    BOOST_CHECK_EXCEPTION(open(index, kBin), IoError, says("[corpus] ", idx.string(), message));
  }
};

BOOST_FIXTURE_TEST_SUITE(megatron, Fixture)

BOOST_AUTO_TEST_CASE(the_example_is_read) {
  const Corpus corpus = open(kIdx, kBin);
  BOOST_TEST(corpus.format() == "megatron");
  BOOST_TEST(tokens_of(corpus, "train") == (Ids{10, 11, 12}), boost::test_tools::per_element());
  BOOST_TEST(tokens_of(corpus, "valid") == (Ids{50256, 7}), boost::test_tools::per_element());
  BOOST_TEST(!corpus.has_split("test"));
  BOOST_TEST(corpus.counts("train").documents == 1);
  BOOST_TEST(corpus.counts("train").bytes == kUnknown);
  BOOST_TEST(corpus.split_rule() == "in order, 1,1 of the documents");
  BOOST_TEST(corpus.notes().empty());
  BOOST_TEST(corpus.document_begins("valid") == (std::vector<int64_t>{0, 2}),
             boost::test_tools::per_element());
  for (const auto& path : {idx, bin})
    BOOST_TEST(Corpus::open(path, options).hash() == corpus.hash());
}

BOOST_AUTO_TEST_CASE(ids_of_every_whole_type_are_read) {
  const auto check = [&](uint8_t code, auto id) {
    const std::vector<decltype(id)> ids = {1, 2, 3, 100};
    const Corpus corpus = open(megatron_index(code, sizeof id, {3, 1}), bytes_of(ids));
    BOOST_TEST(tokens_of(corpus, "train") == (Ids{1, 2, 3}), boost::test_tools::per_element());
    BOOST_TEST(tokens_of(corpus, "valid") == (Ids{100}), boost::test_tools::per_element());
  };
  check(1, uint8_t{});
  check(2, int8_t{});
  check(3, int16_t{});
  check(4, int32_t{});
  check(5, int64_t{});
  check(8, uint16_t{});
  for (const int code : {0, 6, 7, 9, 255})
    check_refused(
        with_number(kIdx, 17, static_cast<uint64_t>(code), 1),
        code == 6 || code == 7 ? ", floating point" : " type code from 1 to 5 or 8, got ");
}

BOOST_AUTO_TEST_CASE(empty_documents_are_counted_and_hold_nothing) {
  options.split = "100";
  const Corpus corpus = open(megatron_index(8, 2, {0, 3, 0, 2, 0}), kBin);
  BOOST_TEST(corpus.counts("train").documents == 5);
  BOOST_TEST(corpus.split("train").size() == 5);
  BOOST_TEST(corpus.document_begins("train") == (std::vector<int64_t>{0, 0, 3, 3, 5, 5}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_the_documents_of_an_index_do_not_say_is_noted) {
  std::string merged = with_number(kIdx, 26, 1, 8).substr(0, 66);
  BOOST_TEST(open(merged, kBin).notes().at(0).find("each is taken as a document") !=
             std::string::npos);
  std::string joined = with_number(kIdx, 26, 2, 8).substr(0, 66) + kIdx.substr(74);
  BOOST_TEST(open(joined, kBin).notes().at(0).find("joins 2 sequences to 1 documents") !=
             std::string::npos);
  BOOST_TEST(open(kIdx + "\1\2", kBin).notes().empty());  // modes
  BOOST_TEST(open(kIdx, kBin + "xy").notes().at(0).find("ends with 2 bytes") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_index_cut_at_any_byte_is_refused) {
  for (size_t size = 0; size < kIdx.size(); ++size)
    check_refused(kIdx.substr(0, size), ": expected ");
  check_refused(kIdx + "x",
                ": expected 82 bytes for 2 sequences and 3 entries of documents, got 83");
  check_refused(kIdx + "xyz", ", got 85");
}

BOOST_AUTO_TEST_CASE(extreme_fields_are_refused) {
  for (const auto& [at, size] : {std::pair(9, 8),
                                 {18, 8},
                                 {26, 8},
                                 {34, 4},
                                 {38, 4},
                                 {42, 8},
                                 {50, 8},
                                 {58, 8},
                                 {66, 8},
                                 {74, 8}})
    for (const uint64_t value : kExtremes) {
      const std::string index =
          with_number(kIdx, static_cast<size_t>(at), value, static_cast<size_t>(size));
      // Documents that join sequences are legal, and bytes in no sequence are noted.
      const bool is_legal = (at == 66 && value == 0) || (at == 38 && (value & 0xffffffff) <= 1);
      if (index != kIdx && !is_legal)
        BOOST_CHECK_EXCEPTION(open(index, kBin), IoError,
                              says("[corpus] ", folder.path().string()));
    }
  check_refused(with_number(kIdx, 9, uint64_t{1} << 56, 8), ": expected version 1, got ");
  check_refused(with_number(kIdx, 18, uint64_t{2} << 56, 8), " sequences");
  check_refused(with_number(kIdx, 42, 0x80000000, 4), "; the file is damaged");
  check_refused(with_number(kIdx, 50, UINT64_MAX - 5, 8), "could not count beyond 2 GiB");
  check_refused(with_number(kIdx, 34, UINT64_MAX, 4), " to have at least 0 tokens, got -1");
  check_refused(concat("TNTIDX", std::string(100, '\0')), ", got the older TNTIDX; ");
  check_refused(concat("X", kIdx.substr(1)), " bytes of something else");
}

BOOST_AUTO_TEST_CASE(a_file_of_ids_that_is_short_or_of_others_is_refused) {
  BOOST_CHECK_EXCEPTION(open(kIdx, kBin.substr(0, 9)), IoError,
                        says(bin.string(), ": expected at least 10 bytes", ", got 9; it is cut"));
  options.model_tokenizer = std::make_shared<IdsTokenizer>(50256, 0);
  BOOST_CHECK_EXCEPTION(open(kIdx, kBin).verify(), IoError,
                        says(bin.string(), ": expected ids from 0 to 50255, got 50256 at byte 6"));
  std::filesystem::remove(bin);
  BOOST_CHECK_EXCEPTION(Corpus::open(prefix, options), IoError, says(bin.string(), "cannot open"));
}

BOOST_AUTO_TEST_CASE(random_damage_never_does_worse_than_an_error) {
  const Random random{3, 2};
  for (uint64_t i = 0; i < 1000; ++i) {
    std::string index = kIdx;
    for (uint64_t k = 0; k < 3; ++k)
      index[9 + random.below(6 * i + k, 73)] = static_cast<char>(random.below(6 * i + 3 + k, 256));
    try {
      BOOST_TEST(open(index, kBin).split("train").size() <= 5);
    } catch (const Error&) {
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_said_must_be_given_and_nothing_else) {
  options.model_tokenizer = nullptr;
  BOOST_CHECK_EXCEPTION(open(kIdx, kBin), ConfigError,
                        says(prefix.string(), "which the format does not say", "--tokenizer"));
  options.tokenizer = "bytes";
  BOOST_TEST(open(kIdx, kBin).tokenizer().name() == "bytes");
  options.id_type = "u16";
  BOOST_CHECK_EXCEPTION(open(kIdx, kBin), ConfigError, says(idx.string(), "no --data-type"));
  options.id_type = "";
  options.split = "x";
  BOOST_CHECK_EXCEPTION(open(kIdx, kBin), ConfigError, says("--data-split"));
  BOOST_TEST(corpus_hash(prefix, options) == "");
}

BOOST_AUTO_TEST_CASE(the_hash_tells_corpora_splits_and_tokenizers_apart) {
  const std::string hash = open(kIdx, kBin).hash();
  BOOST_TEST(corpus_hash(prefix, options) == hash);
  BOOST_TEST(open(megatron_index(8, 2, {2, 3}), kBin).hash() != hash);
  BOOST_TEST(open(kIdx, with_number(kBin, 8, 8, 2)).hash() != hash);
  options.split = "100";
  BOOST_TEST(open(kIdx, kBin).hash() != hash);
  options.split = "1,1";
  options.model_tokenizer = std::make_shared<IdsTokenizer>(50257, 0);
  BOOST_TEST(open(kIdx, kBin).hash() != hash);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
