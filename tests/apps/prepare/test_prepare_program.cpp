#include <boost/test/unit_test.hpp>
#include <sstream>

#include "apps/cli/options.h"
#include "apps/prepare/program.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
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

std::string run(const std::vector<std::string>& words) {
  std::vector<const char*> argv = {"prepare"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  std::ostringstream out;
  BOOST_TEST(prepare_program(static_cast<int>(argv.size()), argv.data(), out) == cli::kDone);
  return out.str();
}

BOOST_AUTO_TEST_CASE(a_corpus_is_converted_and_named) {
  const TempFolder folder;
  const auto at = [&](const std::string& name) { return (folder / name).string(); };
  write_file_atomic(folder / "text.txt", std::string(1000, 'x'));
  run({"--input", at("text.txt"), "--output", at("own")});
  const std::string text = run({"convert", at("own"), "--to", "megatron", "--output", at("pair")});
  BOOST_TEST(text.find("note: a pair holds one row of documents") != std::string::npos);
  BOOST_TEST(text.find(at("pair") + ": megatron corpus ") != std::string::npos);
  BOOST_TEST(run({"convert", "--help"}).find("--to FORMAT") != std::string::npos);
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
