#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "apps/sweep/folder.h"
#include "apps/sweep/results.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "tests/apps/sweep/sweep_fixture.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

using namespace farfield;
using namespace farfield::sweep;

BOOST_AUTO_TEST_SUITE(test_results_files)

BOOST_AUTO_TEST_CASE(what_is_kept_of_a_cell_is_read_back) {
  const TempFolder folder;
  const Experiment e = two_models();
  const Plan plan = plan_of(e, made_up_options(Scale::tiny));
  CellResult result = made_up_result(plan, plan.cells.front(), "P1", {1.5, INFINITY});
  result.facts["step_ms"] = 12.5;
  result.words["commit"] = "abc";
  eval::LengthResult& cell = result.measured.begin()->second.lengths.front();
  cell.items = {1, 2, 3};
  cell.quantities = {{"eff", 7, "h1", "seven"}};
  eval::Series series;
  series.name = "kernel";
  for (int i = 0; i < 2000; ++i) {
    series.x.push_back(i);
    series.y.push_back(-i);
  }
  cell.series = {series};
  write_result(folder.path(), result);
  const CellResult back = read_result(result_path(folder.path(), result.hash));
  BOOST_TEST(back.hash == plan.cells.front().hash());
  BOOST_TEST(back.covers(plan.cells.front()));
  BOOST_TEST(back.facts.at("step_ms") == 12.5);
  const auto& lengths = back.measured.begin()->second.lengths;
  BOOST_TEST(lengths[0].mean_nll == 1.5);
  BOOST_TEST(std::isinf(lengths[1].mean_nll));
  BOOST_TEST(lengths[0].items.empty());
  BOOST_TEST(lengths[0].quantities.front().full_name() == "eff h1");
  BOOST_TEST(lengths[0].series.front().x.size() == 512U);
  BOOST_TEST(lengths[0].series.front().x.back() == 1999);
}

BOOST_AUTO_TEST_CASE(a_file_that_is_damaged_or_renamed_is_refused_by_name) {
  const TempFolder folder;
  const Experiment e = two_models();
  const Plan plan = plan_of(e, made_up_options(Scale::tiny));
  const CellResult result = made_up_result(plan, plan.cells.front(), "P1", {1.5, 2});
  write_result(folder.path(), result);
  const auto file = result_path(folder.path(), result.hash);
  const std::string text = read_file(file);
  for (const std::string& bad :
       {text.substr(0, text.size() / 2), std::string("{}"), std::string("[1]"), std::string()}) {
    write_file_atomic(file, bad);
    BOOST_CHECK_EXCEPTION(read_result(file), IoError, says(result.hash));
  }
  std::string changed = text;
  changed.replace(changed.find("1.5"), 3, "1.6");
  write_file_atomic(file, changed);
  BOOST_CHECK_EXCEPTION(read_result(file), IoError, says("damaged"));
  std::vector<std::filesystem::path> damaged;
  BOOST_TEST(Results::read({folder.path()}, &damaged).all().empty());
  BOOST_TEST(damaged.size() == 1U);
  write_file_atomic(folder.path() / "0123456789abcdef.json", text);
  BOOST_CHECK_EXCEPTION(read_result(folder.path() / "0123456789abcdef.json"), IoError,
                        says("renamed"));
}

BOOST_AUTO_TEST_CASE(a_cell_is_told_to_a_worker_by_a_file) {
  const TempFolder folder;
  const Cell cell = plan_of(two_models(), made_up_options(Scale::tiny)).cells.front();
  write_cell(folder.path(), cell);
  const auto file = folder.path() / (cell.hash() + ".json");
  const Cell back = read_cell(file);
  BOOST_TEST(back.hash() == cell.hash());
  BOOST_TEST(back.measurements.front().id() == cell.measurements.front().id());
  const std::string text = read_file(file);
  for (const char* number : {"1200", "512"}) {  // of its training, of what is measured
    std::string changed = text;
    changed.replace(changed.find(number), 1, "6");
    write_file_atomic(file, changed);
    BOOST_CHECK_EXCEPTION(read_cell(file), IoError, says("changed"));
  }
}

BOOST_AUTO_TEST_CASE(a_digit_of_sweep_json_that_changed_is_an_error) {
  const TempFolder temp;
  const auto file = temp.path() / "sweep/sweep.json";
  {
    SweepFolder folder(temp.path() / "sweep", made_up_options(Scale::smoke));
    folder.add({}, 2);
    folder.add_grid("mine", "encoding = alibi\ntrain.steps = 50\n");
    folder.save();
  }
  const std::string text = read_file(file);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.rfind(from), from.size(), to);
    write_file_atomic(file, changed);
  };
  for (const auto& [from, to] :
       {std::pair("\"seeds\": 2", "\"seeds\": 3"), std::pair("steps = 50", "steps = 51"),
        std::pair("\"scale\": \"smoke\"", "\"scale\": \"tiny\"")}) {
    with(from, to);
    BOOST_CHECK_EXCEPTION(SweepFolder(temp.path() / "sweep"), IoError,
                          says(file.string(), "expected the hash of what it holds"));
  }
  with("\"hash\"", "\"hasx\"");
  BOOST_CHECK_EXCEPTION(SweepFolder(temp.path() / "sweep"), IoError, says("expected a hash"));
  // As it was written without one; a command that saves it adds it.
  Json json = read_json({"test", "sweep.json", text});
  json.erase("hash");
  json["format"] = 1;
  json["seeds"] = 3;
  write_file_atomic(file, json.dump());
  SweepFolder folder(temp.path() / "sweep");
  BOOST_TEST(folder.options().seeds.value() == 3);
  folder.save();
  BOOST_TEST(read_file(file).find("\"hash\"") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_sweep_that_no_command_wrote_is_refused_by_name) {
  const TempFolder temp;
  const auto file = temp.path() / "sweep.json";
  const auto refused = [&](const std::string& scale, const std::string& seeds,
                           const std::string& message) {
    write_file_atomic(file, R"({"format": 1, "scale": ")" + scale + R"(", "device": "cpu", )" +
                                R"("seeds": )" + seeds +
                                R"(, "experiments": [], "grids": {}, "datasets": {}})");
    BOOST_CHECK_EXCEPTION(SweepFolder(temp.path()), IoError, says(file.string(), message));
  };
  for (const char* seeds : {"0", "-1", "1001", "1000000000000000", "1e64", "2.5"})
    refused("smoke", seeds, "expected 1 to 1000 seeds, got ");
  refused("large", "1", "the file is damaged: [sweep] --scale: expected ");
}

BOOST_AUTO_TEST_CASE(a_folder_remembers_what_it_is_a_sweep_of) {
  const TempFolder temp;
  const auto path = temp.path() / "sweep";
  {
    SweepFolder folder(path, made_up_options(Scale::smoke));
    folder.add({&experiment_named("sandwich/table1")}, 2);
    folder.add_grid("mine", "encoding = alibi\n");
    folder.save();
  }
  const SweepFolder folder(path);
  BOOST_TEST(folder.experiments().size() == 2U);
  BOOST_TEST(folder.options().seeds.value() == 2);
  BOOST_TEST(folder.plans().front().seeds.size() == 2U);
  BOOST_CHECK_EXCEPTION(SweepFolder(path, made_up_options(Scale::tiny)), ConfigError,
                        says("scale smoke"));
  PlanOptions other = made_up_options(Scale::smoke);
  other.datasets.set("arxiv", "other", {"x", "another hash", "x"});
  BOOST_CHECK_EXCEPTION(SweepFolder(path, other), ConfigError,
                        says("a sweep of sandwich/table1 on arxiv"));
  BOOST_CHECK_EXCEPTION(SweepFolder(temp.path() / "nothing"), IoError, says("sweep.json"));
  BOOST_CHECK_EXCEPTION(SweepFolder(temp.path(), made_up_options(Scale::smoke)), ConfigError,
                        says("something else"));
}

BOOST_AUTO_TEST_SUITE_END()
