#include <boost/test/unit_test.hpp>
#include <fstream>

#include "data/corpus.h"
#include "data/prepare.h"
#include "engine/base/error.h"
#include "tests/support/corpus_files.h"
#include "tests/support/ids_tokenizer.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_open)
namespace {

struct Fixture {
  TempFolder folder;
  CorpusOptions options;

  void check_refused(const std::filesystem::path& path, const std::string& message) {
    BOOST_CHECK_EXCEPTION(Corpus::open(path, options), Error, says(path.string(), message));
  }
};

BOOST_FIXTURE_TEST_SUITE(open, Fixture)

BOOST_AUTO_TEST_CASE(what_is_no_corpus_is_refused_with_a_way_out) {
  check_refused(folder / "nowhere", ": expected a corpus, a folder with manifest.json, got none");
  check_refused(folder.path(), ": expected a corpus, a folder with manifest.json, got none");
  put(folder / "a.txt", "text");
  check_refused(folder / "a.txt", ": expected a corpus (a folder made by prepare, or .bin");
  put(folder / "a.idx", "");
  put(folder / "b.idx", "");
  check_refused(folder.path(), ": expected one corpus, got the indices of several");
  BOOST_TEST(corpus_hash(folder.path()) == "");
}

BOOST_AUTO_TEST_CASE(our_own_corpus_takes_no_options_of_others) {
  PrepareOptions prepare_options;
  put(folder / "text.txt", std::string(1000, 'x'));
  prepare_options.source.inputs = {folder / "text.txt"};
  prepare_options.output = folder / "corpus";
  prepare(prepare_options);
  const std::string hash = Corpus::open(folder / "corpus" / "").hash();
  BOOST_TEST(corpus_hash(folder / "corpus") == hash);
  check_refused(folder / "corpus" / "train.tokens", ": expected the folder of a corpus");
  check_refused(folder / "corpus" / "manifest.json", ": expected the folder of a corpus");
  options.tokenizer = "bytes";
  BOOST_TEST(Corpus::open(folder / "corpus", options).hash() == hash);
  options.model_tokenizer = std::make_shared<IdsTokenizer>(100, 0);
  check_refused(folder / "corpus", ": expected tokens of the tokenizer 'ids'");
  options.split = "1,1";
  check_refused(folder / "corpus", ": expected no --data-split");
  options.split = "";
  options.id_type = "u16";
  check_refused(folder / "corpus", ": expected no --data-type");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
