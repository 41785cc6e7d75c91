#include <boost/test/unit_test.hpp>
#include <fstream>

#include "data/corpus.h"
#include "engine/base/error.h"
#include "tests/support/corpus_files.h"
#include "tests/support/ids_tokenizer.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_llmc)
namespace {

using Ids = std::vector<int32_t>;

struct Fixture {
  TempFolder folder;
  CorpusOptions options;

  Fixture() { options.tokenizer = "bytes"; }
};

BOOST_FIXTURE_TEST_SUITE(llmc, Fixture)

BOOST_AUTO_TEST_CASE(shards_are_one_row_in_the_order_of_their_names) {
  put(folder / "x_train_000002.bin", llmc_shard({3, 4}));
  put(folder / "x_train_000001.bin", llmc_shard({256, 1, 2, 256}));
  put(folder / "x_val_000000.bin", llmc_shard({256, 7}));
  const Corpus corpus = Corpus::open(folder.path(), options);
  BOOST_TEST(corpus.format() == "llm.c");
  BOOST_TEST(tokens_of(corpus, "train") == (Ids{256, 1, 2, 256, 3, 4}),
             boost::test_tools::per_element());
  BOOST_TEST(tokens_of(corpus, "valid") == (Ids{256, 7}), boost::test_tools::per_element());
  BOOST_TEST(!corpus.has_split("test"));
  BOOST_TEST(corpus.document_begins("train") == (std::vector<int64_t>{0, 3, 6}),
             boost::test_tools::per_element());
  BOOST_TEST(corpus.split("train").place(4).file == (folder / "x_train_000002.bin").string());
  for (const char* name : {"x", "x_", "x_*.bin"})
    BOOST_TEST(Corpus::open(folder / name, options).hash() == corpus.hash());
  BOOST_TEST(tokens_of(Corpus::open(folder / "x_train_", options), "train").size() == 6u);
  options.split = "1,1";
  BOOST_CHECK_EXCEPTION(Corpus::open(folder.path(), options), ConfigError,
                        says("expected no --data-split"));
}

BOOST_AUTO_TEST_CASE(shards_without_a_split_in_the_name_are_cut_at_documents) {
  put(folder / "train_story_0.bin", llmc_shard({256, 1, 2, 3, 256, 4}));
  put(folder / "train_story_1.bin", llmc_shard({5, 256, 6, 7}));
  options.split = "5,5";
  const Corpus corpus = Corpus::open(folder / "train_story", options);
  BOOST_TEST(tokens_of(corpus, "train") == (Ids{256, 1, 2, 3, 256, 4, 5}),
             boost::test_tools::per_element());
  BOOST_TEST(tokens_of(corpus, "valid") == (Ids{256, 6, 7}), boost::test_tools::per_element());
  put(folder / "train_story_val.bin", llmc_shard({256}));
  BOOST_CHECK_EXCEPTION(Corpus::open(folder.path(), options), IoError,
                        says("train_story_val.bin: expected no split in its name"));
}

BOOST_AUTO_TEST_CASE(the_shards_of_llama_3_are_read) {
  std::vector<int32_t> header(256);
  header[0] = 20240801;
  header[1] = 7;
  header[2] = 2;
  options.tokenizer = "";
  options.model_tokenizer = std::make_shared<IdsTokenizer>(128256, 128000);
  put(folder / "a_train.bin", bytes_of(header) + bytes_of(std::vector<uint32_t>{128000, 128255}));
  BOOST_TEST(
      tokens_of(Corpus::open(folder / "a_train.bin", options), "train") == (Ids{128000, 128255}),
      boost::test_tools::per_element());
  put(folder / "a_val.bin", llmc_shard({1}));
  BOOST_CHECK_EXCEPTION(Corpus::open(folder.path(), options), IoError,
                        says("a_val.bin: expected ids as they are stored in "));
}

BOOST_AUTO_TEST_CASE(a_damaged_header_is_refused) {
  const auto file = folder / "a_train.bin";
  const std::string good = llmc_shard({256, 1});
  put(folder / "a_val.bin", good);
  const auto check_refused = [&](const std::string& bytes, const std::string& message) {
    put(file, bytes);
    BOOST_CHECK_EXCEPTION(Corpus::open(folder.path(), options), IoError,
                          says("[corpus] ", file.string(), message));
  };
  for (size_t size = 0; size < good.size(); size += size < 16 ? 1 : 97)
    check_refused(good.substr(0, size), ": expected ");
  check_refused(good.substr(0, 1027), ": expected 1028 bytes for 2 tokens, got 1027; ");
  check_refused(good + "x", ": expected 1028 bytes for 2 tokens, got 1029");
  for (const size_t at : {0, 4, 8})
    for (const uint64_t value : kExtremes)
      if (const std::string bytes = with_number(good, at, value, 4); bytes != good)
        check_refused(bytes, ": expected ");
  check_refused(with_number(good, 0, 0x88d83401, 4), ": expected a token shard of llm.c");
  check_refused(with_number(good, 0, 20240522, 4), " got the magic 20240522");
  check_refused(with_number(good, 4, 2, 4), ": expected version 1, got 2");
}

BOOST_AUTO_TEST_CASE(options_that_it_does_not_take_are_refused) {
  put(folder / "a_train.bin", llmc_shard({256, 1}));
  options.id_type = "u16";
  BOOST_CHECK_EXCEPTION(Corpus::open(folder.path(), options), ConfigError,
                        says("expected no --data-type"));
  options.id_type = options.tokenizer = "";
  BOOST_CHECK_EXCEPTION(Corpus::open(folder.path(), options), ConfigError, says("--tokenizer"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
