// A tokenizer comes back from what a corpus or a run keeps of it.
#include <boost/test/unit_test.hpp>

#include "data/corpus.h"
#include "data/prepare.h"
#include "data/tokenizers/bpe.h"
#include "data/tokenizers/kept.h"
#include "data/tokenizers/make.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/data/tokenizers/hello_bpe.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_kept)
namespace {

// With two tokens that could end a document.
std::string two_ends() {
  BpeDefinition d = hello_definition();
  d.added = {{300, "<|endoftext|>", true, false}, {301, "<end>", true, false}};
  return BpeTokenizer("two", d, {}).file();
}

BOOST_AUTO_TEST_CASE(a_corpus_keeps_the_token_that_was_asked_to_end_its_documents) {
  const TempFolder folder;
  write_file_atomic(folder / "two.json", two_ends());
  write_file_atomic(folder / "text.txt", std::string(400, 'h') + " hello world");
  for (const std::string& end : {std::string(), std::string("<end>")}) {
    PrepareOptions options;
    options.source.inputs = {folder / "text.txt"};
    options.tokenizer = (folder / "two.json").string();
    options.tokenizer_options.end_of_text = end;
    options.output = folder / ("corpus" + end);
    prepare(options);
    const Corpus corpus = Corpus::open(options.output);
    BOOST_TEST(corpus.tokenizer().end_of_document() == (end.empty() ? 300 : 301));
    const Tokens& last = corpus.split("test");
    BOOST_TEST(last[last.size() - 1] == corpus.tokenizer().end_of_document());
    CorpusOptions asked;
    asked.end_of_text = end.empty() ? "<|endoftext|>" : end;
    BOOST_TEST(Corpus::open(options.output, asked).hash() == corpus.hash());
    asked.end_of_text = end.empty() ? "<end>" : "<|endoftext|>";
    BOOST_CHECK_EXCEPTION(Corpus::open(options.output, asked), ConfigError,
                          says("got '" + asked.end_of_text + "'; leave --end-of-text out"));
  }
  BOOST_CHECK_EXCEPTION(make_tokenizer("bytes", {.end_of_text = "x"}), ConfigError,
                        says("tokenizer bytes, ", "got 'x'; leave --end-of-text out"));
}

BOOST_AUTO_TEST_CASE(a_record_that_does_not_fit_is_refused) {
  const TempFolder folder;
  const auto kept = folder / "tokenizer.json";
  write_file_atomic(kept, two_ends());
  const TokenizerPtr sound = make_tokenizer(kept.string());
  const TokenizerRecord record = record_of(*sound);
  BOOST_TEST(kept_tokenizer(record, kept, "here", "m.json")->hash() == sound->hash());
  TokenizerRecord other = record;
  other.hash = std::string(32, '0');
  BOOST_CHECK_EXCEPTION(kept_tokenizer(other, kept, "here", "m.json"), IoError,
                        says("[here] m.json: expected the tokenizer '", "got 000"));
  for (const int64_t end : {int64_t{299}, int64_t{302}, int64_t{1} << 40}) {
    other = record;
    other.end_of_document = end;
    BOOST_CHECK_EXCEPTION(
        kept_tokenizer(other, kept, "here", "m.json"), IoError,
        says("expected the id of a token to end documents with, got ", std::to_string(end)));
  }
  BOOST_CHECK_EXCEPTION(kept_tokenizer(record, folder / "gone.json", "here", "m.json"), IoError,
                        says("[here] m.json: expected a tokenizer that this version has, got '",
                             "' and no gone.json beside it"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
