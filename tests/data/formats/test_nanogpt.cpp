#include <boost/test/unit_test.hpp>
#include <fstream>

#include "data/corpus.h"
#include "engine/base/error.h"
#include "tests/support/corpus_files.h"
#include "tests/support/ids_tokenizer.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_nanogpt)
namespace {

using Ids = std::vector<int32_t>;

struct Fixture {
  TempFolder folder;
  CorpusOptions options;

  Fixture() {
    options.tokenizer = "bytes";
    options.id_type = "u16";
  }
  void put_ids(const std::string& name, const std::vector<uint16_t>& ids) {
    put(folder / name, bytes_of(ids));
  }
};

BOOST_FIXTURE_TEST_SUITE(nanogpt, Fixture)

BOOST_AUTO_TEST_CASE(a_folder_says_its_splits) {
  put_ids("train.bin", {1, 2, 256, 3, 256, 4});
  put_ids("val.bin", {5, 256});
  const Corpus corpus = Corpus::open(folder.path(), options);
  BOOST_TEST(corpus.format() == "nanogpt");
  BOOST_TEST(tokens_of(corpus, "train") == (Ids{1, 2, 256, 3, 256, 4}),
             boost::test_tools::per_element());
  BOOST_TEST(tokens_of(corpus, "valid") == (Ids{5, 256}), boost::test_tools::per_element());
  BOOST_TEST(corpus.document_begins("train") == (std::vector<int64_t>{0, 3, 5}),
             boost::test_tools::per_element());
  BOOST_TEST(corpus.counts("train").documents == kUnknown);
  BOOST_TEST(corpus.split_rule() == "as its files say: train.bin and val.bin");
  BOOST_CHECK_EXCEPTION(corpus.split("test"), ConfigError,
                        says("a split that the corpus has, got 'test'", "train.bin and val.bin"));
  put_ids("test.bin", {6, 256});
  BOOST_TEST(tokens_of(Corpus::open(folder.path(), options), "test") == (Ids{6, 256}),
             boost::test_tools::per_element());
  BOOST_TEST(Corpus::open(folder.path(), options).hash() != corpus.hash());
  options.split = "90,10";
  BOOST_CHECK_EXCEPTION(Corpus::open(folder.path(), options), ConfigError,
                        says("expected no --data-split"));
}

// As nanoGPT's prepare.py of characters leaves them: no tokenizer, and no token ends documents.
BOOST_AUTO_TEST_CASE(numbers_without_a_tokenizer_are_read) {
  put_ids("train.bin", {1, 2, 64, 3});
  put_ids("val.bin", {5, 6});
  options.tokenizer.clear();
  BOOST_CHECK_EXCEPTION(Corpus::open(folder.path(), options), ConfigError,
                        says("name it with --tokenizer", "--vocab-size"));
  options.vocab_size = 65;
  const Corpus corpus = Corpus::open(folder.path(), options);
  BOOST_TEST(corpus.vocab_size() == 128);
  BOOST_TEST(!corpus.tokenizer().has_text());
  BOOST_TEST(corpus.document_begins("train") == std::vector<int64_t>{0});
  BOOST_TEST(corpus.notes().size() == 2u);
  BOOST_TEST(corpus.notes()[0].find("bytes per token are unknown") != std::string::npos);
  BOOST_TEST(corpus.notes()[1].find("each split is one document") != std::string::npos);
  options.end_of_text = "64";
  const Corpus marked = Corpus::open(folder.path(), options);
  BOOST_TEST(marked.document_begins("train") == (std::vector<int64_t>{0, 3}));
  BOOST_TEST(marked.notes().size() == 1u);
  BOOST_TEST(marked.hash() != corpus.hash());
  options.end_of_text = "x";
  BOOST_CHECK_EXCEPTION(Corpus::open(folder.path(), options), ConfigError,
                        says("--end-of-text: expected the id of a token with --vocab-size"));
  options.end_of_text.clear();
  options.vocab_size = 64;
  BOOST_CHECK_THROW(Corpus::open(folder.path(), options).verify(), IoError);
  for (const int64_t bad : {int64_t{0}, int64_t{-1}, int64_t{1} << 40}) {
    options.vocab_size = bad;
    BOOST_CHECK_EXCEPTION(Corpus::open(folder.path(), options), ConfigError, says("--vocab-size"));
  }
  options.vocab_size = 65;
  options.tokenizer = "bytes";
  BOOST_CHECK_EXCEPTION(Corpus::open(folder.path(), options), ConfigError,
                        says("expected --tokenizer or --vocab-size, got both"));
}

BOOST_AUTO_TEST_CASE(one_file_is_cut_at_ends_of_documents) {
  put_ids("all.bin", {1, 2, 256, 3, 3, 256, 4, 256});
  options.split = "2,1,1";
  const Corpus corpus = Corpus::open(folder / "all.bin", options);
  BOOST_TEST(tokens_of(corpus, "train") == (Ids{1, 2, 256, 3, 3, 256}),
             boost::test_tools::per_element());
  BOOST_TEST(!corpus.has_split("valid"));
  BOOST_TEST(tokens_of(corpus, "test") == (Ids{4, 256}), boost::test_tools::per_element());
  BOOST_TEST(corpus.split_rule() == "in order, 2,1,1 of the tokens, at the next end of a document");
  options.split = "1,1";
  put_ids("letters.bin", {1, 2, 3, 4});
  BOOST_TEST(Corpus::open(folder / "letters.bin", options).split_rule() ==
             "in order, 1,1 of the tokens, within documents, for none ends near enough");
}

BOOST_AUTO_TEST_CASE(ids_of_four_bytes_are_read) {
  options.tokenizer = "";
  options.model_tokenizer = std::make_shared<IdsTokenizer>(100000, 0);
  options.id_type = "u32";
  put(folder / "train.bin", bytes_of(std::vector<uint32_t>{99999, 0}));
  put(folder / "val.bin", bytes_of(std::vector<uint32_t>{1, 0}));
  BOOST_TEST(tokens_of(Corpus::open(folder.path(), options), "train") == (Ids{99999, 0}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_it_does_not_say_must_be_given) {
  put_ids("train.bin", {1, 2, 256});
  put_ids("val.bin", {1, 2, 256});
  options.id_type = "";
  BOOST_CHECK_EXCEPTION(Corpus::open(folder.path(), options), ConfigError,
                        says("which the format does not say", "--data-type u16", " or u32"));
  options.id_type = "u8";
  BOOST_CHECK_EXCEPTION(Corpus::open(folder.path(), options), ConfigError,
                        says("expected --data-type u16 or u32, got 'u8'"));
  options.id_type = "u16";
  options.tokenizer = "";
  BOOST_CHECK_EXCEPTION(Corpus::open(folder.path(), options), ConfigError, says("--tokenizer"));
}

BOOST_AUTO_TEST_CASE(files_of_a_size_that_no_ids_have_are_refused) {
  put_ids("val.bin", {1, 2, 256});
  for (const char* bad : {"", "x", "xyz"}) {
    put(folder / "train.bin", bad);
    BOOST_CHECK_EXCEPTION(Corpus::open(folder.path(), options), IoError,
                          says((folder / "train.bin").string(), ": expected ids of 2 bytes each"));
  }
  put_ids("train.bin", {1, 257});
  BOOST_CHECK_EXCEPTION(Corpus::open(folder.path(), options).verify(), IoError,
                        says("train.bin: expected ids from 0 to 256, got 257 at byte 2"));
}

BOOST_AUTO_TEST_CASE(damage_in_a_large_file_shows_in_the_hash_where_it_is_sampled) {
  std::vector<uint16_t> ids(4 << 20, 1);
  put_ids("all.bin", ids);
  const std::string hash = Corpus::open(folder / "all.bin", options).hash();
  for (const size_t at : {size_t{0}, ids.size() - 1}) {
    std::vector<uint16_t> other = ids;
    other[at] = 2;
    put_ids("all.bin", other);
    BOOST_TEST(Corpus::open(folder / "all.bin", options).hash() != hash);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
