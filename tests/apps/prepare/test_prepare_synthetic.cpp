#include <boost/test/unit_test.hpp>
#include <sstream>

#include "apps/cli/options.h"
#include "apps/prepare/program.h"
#include "data/corpus.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::prepare {
BOOST_AUTO_TEST_SUITE(test_prepare_synthetic)
namespace {

std::string run(std::vector<std::string> words) {
  words.insert(words.begin(), {"prepare", "synthetic"});
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  std::ostringstream out;
  BOOST_TEST(prepare_program(static_cast<int>(argv.size()), argv.data(), out) == cli::kDone);
  return out.str();
}

BOOST_AUTO_TEST_CASE(a_corpus_is_made_and_its_floor_told) {
  const TempFolder folder;
  const std::string output = (folder / "out").string();
  for (const char* task : {"topic", "induction"}) {
    std::vector<std::string> words = {
        task,  "--output",   output, "--documents", "3,1,2", "--force", "--document-tokens",
        "100", "--alphabet", "10",   "--seed",      "7"};
    const std::string text = run(words);
    BOOST_CHECK_EXCEPTION(fail<Error>("", text), Error,
                          says("train              3           303           300", "floor of test ",
                               " nats per symbol, perplexity ", output + ": corpus written\n"));
    const data::Corpus corpus = data::Corpus::open(output);
    BOOST_TEST(corpus.document_tokens() == 100);
    BOOST_TEST(text.find(corpus.hash()) == std::string::npos);
    words.push_back("--verbose");
    BOOST_TEST(run(words).find(": corpus written, hash " + corpus.hash() + '\n') !=
               std::string::npos);
  }
  const std::string help = run({"induction", "--help"});
  for (const char* option : {"--alphabet", "--local", "--alpha", "--copy P", "--copy-length",
                             "--documents", "--document-tokens", "--seed"})
    BOOST_TEST(help.find(option) != std::string::npos, option);
  BOOST_TEST(run({"topic", "--help"}).find("--copy") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_wrong_request_is_a_usage_error) {
  const TempFolder folder;
  const auto topic = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"topic", "--output", (folder / "out").string()});
    return run(more);
  };
  BOOST_CHECK_EXCEPTION(run({"tpic"}), ConfigError, says("did you mean 'topic'?"));
  BOOST_CHECK_EXCEPTION(run({"topic"}), ConfigError, says("--output"));
  BOOST_CHECK_EXCEPTION(topic({"--copy", "0.1"}), ConfigError, says("unknown option '--copy'"));
  BOOST_CHECK_EXCEPTION(topic({"--documents", "3,4"}), ConfigError,
                        says("--documents: expected three numbers", "got 3,4"));
  BOOST_CHECK_EXCEPTION(topic({"--alpha", "-1"}), ConfigError, says("--alpha: expected "));
  BOOST_CHECK_EXCEPTION(topic({"--seed", "-1"}), ConfigError, says("seed"));
  BOOST_CHECK_EXCEPTION(run({"induction", "--output", (folder / "out").string(), "--copy", "0"}),
                        ConfigError, says("--copy: expected a probability above 0"));
  BOOST_TEST(!std::filesystem::exists(folder / "out"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::prepare
