#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "apps/catalog/commands.h"
#include "engine/base/file.h"
#include "tests/apps/catalog/made_runs.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_list)

using namespace farfield;
using farfield::catalog::model_list;
using farfield::test::keep_cell;
using farfield::test::make_run;
using farfield::test::run_command;
using farfield::test::Said;
namespace fs = std::filesystem;

namespace {

// Two runs, of which one is measured, and a damaged one.
struct Runs {
  TempFolder folder;
  std::string path = folder.path().string();
  Runs() {
    make_run(folder / "big", {.posenc = "rope", .name = "gr\u00f6\u00dfer", .steps = 9});
    make_run(folder / "small");
    keep_cell(folder / "small", 20, 64);
    keep_cell(folder / "small", 50.5, 256);
    make_run(folder / "broken");
    write_file_atomic(folder / "broken/manifest.json", "\x1b[2J");
  }
  Said list(std::vector<std::string> words) const {
    words.insert(words.begin(), path);
    return run_command(model_list, words);
  }
};

// Runs of blanks as one, the folder left out.
std::vector<std::string> rows_of(const std::string& table, const std::string& folder) {
  std::vector<std::string> rows;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    if (const size_t at = line.find(folder); at == 0) line.erase(0, folder.size() + 1);
    std::istringstream words(line);
    std::string row;
    for (std::string word; words >> word;) row += row.empty() ? word : " " + word;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_table_has_a_row_for_each_run_and_the_error_of_a_damaged_one) {
  const Runs runs;
  const Said said = runs.list({});
  const auto rows = rows_of(said.out, runs.path);
  BOOST_TEST_REQUIRE(rows.size() == 4u);
  BOOST_TEST(rows[0] ==
             "run state name steps parameters weights encoding train-len loss ppl@64 ppl@256");
  BOOST_TEST(rows[1].starts_with("big stopped gr\u00f6\u00dfer 8 of 9 1234 "));
  BOOST_TEST(rows[1].ends_with(" B rope 16 2.250 - -"));
  BOOST_TEST(rows[2].starts_with("broken damaged [manifest] "));
  BOOST_TEST(rows[2].find("broken/manifest.json: expected JSON") != std::string::npos);
  BOOST_TEST(rows[3].starts_with("small finished - 8 of 8 1234 "));
  BOOST_TEST(rows[3].ends_with(" alibi 16 2.250 20 50.5"));
  BOOST_TEST(said.out.find('\x1b') == std::string::npos);
  BOOST_TEST(said.err == "");
}

BOOST_AUTO_TEST_CASE(rows_are_sorted_and_lengths_chosen) {
  const Runs runs;
  const auto rows =
      rows_of(runs.list({"--sort", "encoding", "--reverse", "--lengths", "256"}).out, runs.path);
  BOOST_TEST_REQUIRE(rows.size() == 4u);
  BOOST_TEST(rows[0].ends_with(" loss ppl@256"));
  BOOST_TEST(rows[1].starts_with("big "));
  BOOST_TEST(rows[2].starts_with("small "));
  BOOST_TEST(rows[3].starts_with("broken "));
}

BOOST_AUTO_TEST_CASE(json_has_numbers_and_nulls) {
  const Runs runs;
  const auto json = nlohmann::json::parse(runs.list({"--json"}).out);
  BOOST_TEST_REQUIRE(json.size() == 3u);
  BOOST_TEST(json[0]["name"] == "gr\u00f6\u00dfer");
  BOOST_TEST(json[0]["state"] == "stopped");
  BOOST_TEST(json[0]["step"] == 8);
  BOOST_TEST(json[0]["steps"] == 9);
  BOOST_TEST(json[0]["perplexity"].empty());
  BOOST_TEST(json[1]["state"] == "damaged");
  BOOST_TEST(json[1]["run"] == runs.path + "/broken");
  BOOST_TEST(json[1]["error"].get<std::string>().starts_with("[manifest] "));
  BOOST_TEST(json[1].size() == 3u);
  BOOST_TEST(json[2]["name"].is_null());
  BOOST_TEST(json[2]["parameters"] == 1234);
  BOOST_TEST(json[2]["weights_bytes"].is_number_integer());
  BOOST_TEST(json[2]["train_len"] == 16);
  BOOST_TEST(json[2]["loss"] == 2.25);
  BOOST_TEST(json[2]["posenc"] == "alibi");
  BOOST_TEST(json[2]["perplexity"][1]["length"] == 256);
  BOOST_TEST(json[2]["perplexity"][1]["perplexity"].get<double>() == 50.5,
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(json[2]["perplexity"][1]["protocol"] == "last-token");
}

BOOST_AUTO_TEST_CASE(a_run_may_be_named_itself) {
  const Runs runs;
  const Said said = run_command(model_list, {runs.path + "/small", runs.path + "/big", "--json"});
  const auto json = nlohmann::json::parse(said.out);
  BOOST_TEST_REQUIRE(json.size() == 2u);
  BOOST_TEST(json[0]["run"] == runs.path + "/big");
}

BOOST_AUTO_TEST_CASE(an_empty_result_is_said) {
  const TempFolder folder;
  const Said said = run_command(model_list, {folder.path().string()});
  BOOST_TEST(said.out == "");
  BOOST_TEST(said.err == "no runs below " + folder.path().string() + "\n");
  BOOST_TEST(run_command(model_list, {folder.path().string(), "--json"}).out == "[]\n");
}

BOOST_AUTO_TEST_CASE(mistakes_are_refused) {
  BOOST_CHECK_EXCEPTION(run_command(model_list, {}), ConfigError,
                        says("[model] expected folders of runs, got none"));
  BOOST_CHECK_EXCEPTION(run_command(model_list, {"/nowhere/at/all"}), IoError,
                        says("expected a folder, got nothing of that name"));
  BOOST_CHECK_EXCEPTION(run_command(model_list, {".", "--sort", "size"}), ConfigError,
                        says("--sort: expected run, "));
}

BOOST_AUTO_TEST_SUITE_END()
