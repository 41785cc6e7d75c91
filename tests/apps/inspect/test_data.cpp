#include <boost/test/unit_test.hpp>
#include <sstream>

#include "apps/cli/options.h"
#include "apps/inspect/commands.h"
#include "data/prepare.h"
#include "data/synthetic/synthesize.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/support/corpus_files.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::inspect {
BOOST_AUTO_TEST_SUITE(test_data)
namespace {

struct Fixture {
  TempFolder folder;
  std::string corpus = (folder / "out").string();

  Fixture() {
    std::string lines;
    for (int i = 0; i < 40; ++i)
      lines += "{\"text\":\"\\u001b[31m\\n" + std::to_string(i) +
               std::string(static_cast<size_t>(i) * 10, 'x') + "\"}\n";
    write_file_atomic(folder / "a.jsonl", lines);
    data::PrepareOptions o;
    o.source.inputs = {folder / "a.jsonl"};
    o.output = corpus;
    data::prepare(o);
  }
  static std::string run(std::vector<std::string> words) {
    words.insert(words.begin(), {"inspect", "data"});
    std::vector<const char*> argv;
    for (const std::string& word : words) argv.push_back(word.c_str());
    std::ostringstream out;
    BOOST_TEST(inspect(static_cast<int>(argv.size()), argv.data(), out) == cli::kDone);
    return out.str();
  }
  static void has(const std::string& text, const std::string& part) {
    BOOST_TEST(text.find(part) != std::string::npos, part << " is not in\n" << text);
  }
};

BOOST_FIXTURE_TEST_SUITE(data_suite, Fixture)

BOOST_AUTO_TEST_CASE(a_corpus_is_told_with_its_first_tokens_shown_harmlessly) {
  const std::string text = run({corpus, "--tokens", "6"});
  has(text, corpus + ": farfield corpus, hash ");
  has(text, "tokenizer bytes: 257 ids, in models 320, 256 ends a document, hash ");
  has(text, "bytes per token");
  has(text, "  27 \"\\x1b\"");
  has(text, "  10 \"\\n\"");
  has(text, "tokens were not compared with their hashes; --verify does");
  BOOST_TEST(text.find('\x1b') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(every_document_is_in_the_histogram) {
  const std::string text = run({corpus});
  std::istringstream lines(text.substr(text.find("from ")));
  std::string line;
  std::getline(lines, line);
  int64_t documents = 0;
  while (std::getline(lines, line) && !line.empty()) {
    std::istringstream fields(line);
    int64_t from = 0, to = 0, train = 0, valid = 0, test = 0;
    fields >> from >> to >> train >> valid >> test;
    BOOST_TEST(to == 2 * from - 1);
    documents += train + valid + test;
  }
  BOOST_TEST(documents == 40);
}

BOOST_AUTO_TEST_CASE(documents_without_tokens_have_a_row_of_their_own) {
  const std::string prefix = (folder / "pair").string();
  const std::vector<std::string> words = {prefix, "--tokenizer", "bytes", "--data-split", "1,0,0"};
  for (const std::vector<int32_t>& sizes :
       {std::vector<int32_t>{0, 2, 0, 0, 1, 0}, {3}, {0, 3}, {3, 0}}) {
    put(prefix + ".idx", megatron_index(8, 2, sizes));
    put(prefix + ".bin", bytes_of(std::vector<uint16_t>{104, 105, 256}));
    const std::string text = run(words);
    const auto n_empty = std::count(sizes.begin(), sizes.end(), 0);
    if (n_empty > 0) has(text, concat("0       0       ", n_empty));
  }
  for (const std::vector<int32_t>& none : {std::vector<int32_t>{}, {0}, {0, 0}}) {
    put(prefix + ".idx", megatron_index(8, 2, none));
    put(prefix + ".bin", "");
    has(run(words), "tokens of a document");
  }
}

BOOST_AUTO_TEST_CASE(a_run_is_told_with_its_corpus) {
  put(folder / "run/config.conf", "");
  put(folder / "run/manifest.json", "{\"data\": {\"path\": \"corpora/x\"}}");
  BOOST_CHECK_EXCEPTION(run({(folder / "run").string()}), IoError,
                        says("/run: expected a corpus, got a run of `train`; its corpus is "
                             "corpora/x"));
}

BOOST_AUTO_TEST_CASE(verify_says_so_and_damage_is_bad_data) {
  has(run({corpus, "--verify"}), "are ids of the tokenizer and have the recorded hashes");
  std::string bytes = read_file(folder / "out/valid.tokens");
  bytes[70] ^= 1;
  write_file_atomic(folder / "out/valid.tokens", bytes);
  BOOST_CHECK_EXCEPTION(run({corpus, "--verify"}), IoError,
                        says("valid.tokens: the tokens do not have the hash that is recorded"));
  has(run({corpus}), "--verify does");
  BOOST_CHECK_EXCEPTION(run({}), ConfigError, says("expected a corpus, got none"));
}

BOOST_AUTO_TEST_CASE(windows_within_documents_and_the_floor_are_told_where_there_are_some) {
  data::SyntheticOptions o = data::synthetic_options("topic");
  o.output = folder / "made";
  o.document_tokens = 50;
  o.documents = {3, 2, 2};
  data::synthesize(o);
  const std::string text = run({o.output.string(), "--verify"});
  has(text, "windows stay within documents, of 50 tokens each\nfloor of test ");
  has(text, " nats per token, perplexity ");
  BOOST_TEST(run({corpus}).find("floor") == std::string::npos);
  BOOST_TEST(run({corpus}).find("windows") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::inspect
