#include <boost/test/unit_test.hpp>
#include <iostream>
#include <sstream>

#include "apps/cli/options.h"
#include "apps/prepare/program.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/support/corpus_files.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::prepare {
BOOST_AUTO_TEST_SUITE(test_prepare_program)
namespace {

BOOST_AUTO_TEST_CASE(without_a_command_it_makes_a_corpus) {
  std::ostringstream out;
  const char* const words[] = {"prepare", "--help"};
  BOOST_TEST(prepare_program(2, words, out) == cli::kDone);
  BOOST_TEST(out.str().find("Turns text into a corpus") != std::string::npos);
  BOOST_TEST(out.str().find("  convert     puts a corpus into another format") !=
             std::string::npos);
}

// What it says on stdout, and then on stderr.
std::string run(const std::vector<std::string>& words) {
  std::vector<const char*> argv = {"prepare"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  std::ostringstream out, err;
  std::streambuf* const before = std::cerr.rdbuf(err.rdbuf());
  int code = -1;
  try {
    code = prepare_program(static_cast<int>(argv.size()), argv.data(), out);
  } catch (...) {
    std::cerr.rdbuf(before);
    throw;
  }
  std::cerr.rdbuf(before);
  BOOST_TEST(code == cli::kDone);
  for (const char* word : {"note: ", "warning: "})
    BOOST_TEST(out.str().find(word) == std::string::npos, out.str());
  return out.str() + err.str();
}

BOOST_AUTO_TEST_CASE(a_corpus_is_converted_and_named) {
  const TempFolder folder;
  const auto at = [&](const std::string& name) { return (folder / name).string(); };
  write_file_atomic(folder / "text.txt", std::string(1000, 'x'));
  run({"--input", at("text.txt"), "--output", at("own")});
  const std::string text = run({"convert", at("own"), "--to", "megatron", "--output", at("pair")});
  BOOST_TEST(text.find("note: a pair holds one row of documents") != std::string::npos);
  BOOST_TEST(text.find(at("pair") + ": megatron corpus written, from ") != std::string::npos);
  BOOST_TEST(run({"convert", "--help"}).find("--to FORMAT") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_was_lost_or_not_read_is_named) {
  const TempFolder folder;
  const auto at = [&](const std::string& name) { return (folder / name).string(); };
  for (int i = 10; i < 22; ++i)
    put(folder / concat("in/", i), concat(std::string(40, 'x'), "\xE9", i));
  put(folder / "more.txt", "x");
  const std::string text = run({"--input", at("in"), "--input", at("more.txt"), "--max-bytes",
                                "540", "--output", at("out")});
  for (const std::string& part :
       {"note: " + at("in/10") + " has sequences that are not UTF-8, replaced by U+FFFD: 1 (",
        "note: and 2 files more, named in " + at("out/manifest.json"),
        "note: --max-bytes was reached; not read: " + at("more.txt") + '\n'})
    BOOST_TEST(text.find(part) != std::string::npos, part << " is not in\n" << text);
  BOOST_TEST(read_file(folder / "out/manifest.json").find(at("in/21")) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(given_splits_have_their_options) {
  const TempFolder folder;
  const auto at = [&](const std::string& name) { return (folder / name).string(); };
  for (const char* name : {"a", "b", "c"}) put(folder / name, name);
  std::vector<std::string> words = {"--train-input", at("a"), "--valid-input", at("b"),
                                    "--test-input",  at("c"), "--output",      at("out")};
  BOOST_TEST(run(words).find("split as given by --train-input, --valid-input and --test-input") !=
             std::string::npos);
  const auto refused = [&](std::vector<std::string> more, const std::string& text) {
    more.insert(more.end(), words.begin(), words.end());
    BOOST_CHECK_EXCEPTION(run(more), ConfigError, says(text));
  };
  refused({"--input", at("a")}, "--input: expected none beside --train-input");
  refused({"--split", "90,5,5"}, "--split: expected no shares beside --train-input");
}

BOOST_AUTO_TEST_CASE(what_is_missing_or_unknown_is_named) {
  BOOST_CHECK_EXCEPTION(run({"convrt"}), ConfigError,
                        says("expected options or a command (convert",
                             "got 'convrt'; did you mean "
                             "'convert'?"));
  BOOST_CHECK_EXCEPTION(run({"convert"}), ConfigError, says("expected a corpus to convert"));
  BOOST_CHECK_EXCEPTION(run({"convert", "x"}), ConfigError, says("expected --to farfield, "));
  BOOST_CHECK_EXCEPTION(run({"convert", "x", "--to", "nanogpt"}), Error,
                        says("x: expected a corp"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::prepare
