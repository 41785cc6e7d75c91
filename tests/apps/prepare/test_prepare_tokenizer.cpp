#include <boost/test/unit_test.hpp>
#include <sstream>

#include "apps/cli/options.h"
#include "apps/prepare/program.h"
#include "data/manifest.h"
#include "data/tokenizers/make.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::prepare {
BOOST_AUTO_TEST_SUITE(test_prepare_tokenizer)
namespace {

struct Fixture {
  TempFolder folder;
  std::string text = (folder / "text.txt").string(), file = (folder / "t.json").string();

  Fixture() {
    std::string words;
    for (int i = 0; i < 200; ++i) words += "the cat sat on the mat " + std::to_string(i) + "\n";
    write_file_atomic(text, words);
  }
  std::string run(std::vector<std::string> words) {
    words.insert(words.begin(), "prepare");
    std::vector<const char*> argv;
    for (const std::string& word : words) argv.push_back(word.c_str());
    std::ostringstream out;
    BOOST_TEST(prepare_program(static_cast<int>(argv.size()), argv.data(), out) == cli::kDone);
    return out.str();
  }
  std::string train(std::vector<std::string> more) {
    more.insert(more.begin(), {"tokenizer", "train", "--input", text, "--output", file});
    return run(more);
  }
};
bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

BOOST_FIXTURE_TEST_SUITE(program, Fixture)

BOOST_AUTO_TEST_CASE(what_it_learns_is_a_tokenizer) {
  const std::string said =
      train({"--vocab-size", "280", "--special", "<|pad|>", "--nfc", "--verbose"});
  BOOST_TEST(has(said, "vocabulary 280, "));
  BOOST_TEST(has(said, " bytes per token of the input"));
  BOOST_TEST(has(said, "longest tokens: \""));
  const data::TokenizerPtr tokenizer = data::make_tokenizer(file);
  BOOST_TEST(tokenizer->n_vocab() == 280);
  BOOST_TEST(tokenizer->end_of_document() == 279);
  BOOST_TEST(has(said, file + ": tokenizer written in "));
  BOOST_TEST(has(said, ", hash " + tokenizer->hash() + '\n'));
  const std::string shown = run({"tokenizer", "show", file, "--text", "the cat<|pad|>"});
  BOOST_TEST(has(shown, "kind        byte-level BPE"));
  BOOST_TEST(has(shown, "normalizer  NFC"));
  BOOST_TEST(has(shown, "special     278 \"<|pad|>\""));
  BOOST_TEST(has(shown, "\n278 \"<|pad|>\"\n"));
  BOOST_TEST(has(shown, tokenizer->hash()));
}

BOOST_AUTO_TEST_CASE(it_says_why_it_stopped_early) {
  BOOST_TEST(has(train({"--vocab-size", "5000"}),
                 "stopped early, with fewer tokens than --vocab-size: "
                 "no two tokens stand side by side twice"));
  BOOST_TEST(has(train({"--kind", "words", "--vocab-size", "5000", "--force"}),
                 "stopped early, with fewer tokens than --vocab-size: there are no more words"));
}

BOOST_AUTO_TEST_CASE(a_file_that_is_there_is_kept) {
  write_file_atomic(file, "mine");
  BOOST_CHECK_EXCEPTION(train({}), ConfigError, says("t.json: expected a new file", "--force"));
  BOOST_TEST(read_file(file) == "mine");
  train({"--force", "--vocab-size", "260"});
  BOOST_TEST(data::make_tokenizer(file)->n_vocab() == 260);
}

BOOST_AUTO_TEST_CASE(options_that_make_no_sense_are_refused) {
  BOOST_CHECK_EXCEPTION(train({"--kind", "word"}), ConfigError, says("did you mean 'words'?"));
  BOOST_CHECK_EXCEPTION(train({"--kind", "words", "--nfc"}), ConfigError,
                        says("--special and --nfc are for --kind bpe"));
  BOOST_CHECK_EXCEPTION(train({"--vocab-size", "256"}), ConfigError,
                        says("--vocab-size: expected"));
  BOOST_CHECK_EXCEPTION(train({"--kind", "words", "--vocab-size", "4"}), ConfigError,
                        says("--vocab-size: expected from 5"));
  BOOST_TEST(!std::filesystem::exists(file));
}

BOOST_AUTO_TEST_CASE(a_corpus_of_words_learns_them_from_its_inputs) {
  const std::string corpus = (folder / "corpus").string();
  run({"--input", text, "--tokenizer", "words", "--output", corpus});
  train({"--kind", "words"});
  const data::RecordedManifest manifest = data::read_manifest(corpus);
  BOOST_TEST(manifest.tokenizer.name == "words");
  BOOST_TEST(manifest.tokenizer.hash == data::make_tokenizer(file)->hash());
  // 200 lines of 7 words, their ends, and one of the document; splits cut two words at most.
  int64_t n_tokens = 0;
  for (const auto& split : manifest.splits) n_tokens += split.counts.tokens;
  BOOST_TEST(n_tokens >= 200 * 8 + 1);
  BOOST_TEST(n_tokens <= 200 * 8 + 3);
  BOOST_CHECK_EXCEPTION(run({"--input", "-", "--tokenizer", "words", "--output", corpus + "2"}),
                        ConfigError, says("expected files for --tokenizer words"));
}

BOOST_AUTO_TEST_SUITE_END()
}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::prepare
