#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/cli/options.h"
#include "apps/prepare/program.h"
#include "data/tasks/row.h"
#include "data/tasks/task.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/support/messages.h"
#include "tests/support/source_dir.h"

namespace farfield::prepare {
BOOST_AUTO_TEST_SUITE(test_prepare_task)
namespace {

std::string run(std::vector<std::string> words) {
  words.insert(words.begin(), {"prepare", "task"});
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  std::ostringstream out;
  BOOST_TEST(prepare_program(static_cast<int>(argv.size()), argv.data(), out) == cli::kDone);
  return out.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

BOOST_AUTO_TEST_CASE(answers_are_in_brackets_and_other_targets_in_parentheses) {
  BOOST_TEST(run({"parity(zeros=0)", "--length", "3,1"}) == "1 1 1 SEP [1]\n1 SEP [1]\n");
  BOOST_TEST(run({"parity(zeros=0)", "--length", "3", "--format", "ids"}) == "1 1 1 2 [1]\n");
  BOOST_TEST(run({"parity(form=prefix, zeros=0)", "--length", "3"}) ==
             "1 (1) 1 (0) 1 (1) SEP (1) 1\n");
}

BOOST_AUTO_TEST_CASE(samples_are_those_of_the_library) {
  const auto task = data::make_task("passkey");
  const std::vector<std::string> lines =
      lines_of(run({"passkey", "--length", "16,64", "--samples", "3", "--split", "test", "--seed",
                    "5", "--format", "jsonl"}));
  BOOST_TEST_REQUIRE(lines.size() == 6u);
  for (size_t i = 0; i < 6; ++i) {
    const auto object = nlohmann::json::parse(lines[i]);
    const int64_t length = i < 3 ? 16 : 64, index = static_cast<int64_t>(i % 3);
    const data::TaskSample sample = task->sample(5, "test", length, index);
    BOOST_TEST(object.at("length") == length);
    BOOST_TEST(object.at("index") == index);
    BOOST_TEST(object.at("place") == sample.place);
    BOOST_TEST((object.at("tokens").get<std::vector<int32_t>>() == sample.tokens));
    BOOST_TEST((object.at("is_answer").get<std::vector<uint8_t>>() == sample.is_answer));
    BOOST_TEST(!object.contains("targets"));
    BOOST_TEST(object.at("text").get<std::string>().find(" ASK ") != std::string::npos);
  }
  const auto prefix =
      nlohmann::json::parse(run({"parity(form=prefix)", "--length", "4", "--format", "jsonl"}));
  BOOST_TEST((prefix.at("targets").get<std::vector<int32_t>>() ==
              data::make_task("parity(form=prefix)")->sample(0, "train", 4, 0).targets));
  BOOST_TEST(!prefix.contains("place"));
}

BOOST_AUTO_TEST_CASE(without_lengths_it_prints_those_of_the_small_split) {
  BOOST_TEST(lines_of(run({"copy"})).size() == 20u);
  BOOST_TEST(lines_of(run({"copy", "--split", "test", "--samples", "2"})).size() == 20u);
}

BOOST_AUTO_TEST_CASE(the_table_of_the_readme_is_that_of_the_list) {
  const std::string table = run({"--list", "--markdown"}), text = run({"--list"});
  BOOST_TEST(
      read_file(source_dir() / "data/README.md").find('\n' + table + '\n') != std::string::npos,
      "data/README.md lacks the table that `prepare task --list --markdown` prints:\n"
          << table);
  for (const data::TaskRow& row : data::tasks())
    BOOST_TEST(text.find(row.name + ": " + row.help) != std::string::npos, row.name);
}

BOOST_AUTO_TEST_CASE(a_wrong_request_is_a_usage_error) {
  BOOST_CHECK_EXCEPTION(run({}), ConfigError,
                        says_exactly("[prepare] expected a task, got none; `prepare task --list` "
                                     "explains all"));
  BOOST_CHECK_EXCEPTION(run({"revers_string"}), ConfigError,
                        says("did you mean 'reverse_string'?"));
  BOOST_CHECK_EXCEPTION(run({"copy", "--split", "valid"}), ConfigError,
                        says("--split: expected train or test, got 'valid'"));
  BOOST_CHECK_EXCEPTION(run({"copy", "--format", "json"}), ConfigError,
                        says("--format: expected text, ids or jsonl, got 'json'; did you mean "
                             "'jsonl'?"));
  BOOST_CHECK_EXCEPTION(run({"copy", "--samples", "0"}), ConfigError,
                        says("--samples: expected 1 or more, got 0"));
  BOOST_CHECK_EXCEPTION(run({"--markdown"}), ConfigError, says("--markdown: expected --list"));
  BOOST_CHECK_EXCEPTION(run({"copy", "--list"}), ConfigError,
                        says("--list: expected no task beside it, got 'copy'"));
  std::ostringstream out;
  const char* argv[] = {"prepare", "task", "copy", "--length", "3,0"};
  BOOST_CHECK_EXCEPTION(prepare_program(5, argv, out), ConfigError,
                        says("expected a length in 1 ... 1000000, got 0"));
  BOOST_TEST(out.str().empty());
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::prepare
