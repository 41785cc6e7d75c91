#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "apps/catalog/commands.h"
#include "apps/cli/verbose.h"
#include "engine/base/file.h"
#include "tests/apps/catalog/made_runs.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_show)

using namespace farfield;
using farfield::catalog::model_show;
using farfield::test::keep_cell;
using farfield::test::make_run;
using farfield::test::run_command;
using farfield::test::Said;
namespace fs = std::filesystem;

namespace {

constexpr const char* kWithLineage = R"({"parameters": 1234, "trained_parameters": 34,
    "data": {"hash": "d", "mixture": [
        {"path": "a", "weight": 1.0, "tokens": {"train": 5}}, {"path": "b", "weight": 0.25}]},
    "lineage": [{"run": "runs/old", "step": 3, "weights": "w0", "posenc": "rope"},
                {"run": "runs/mid", "step": 7, "weights": "w1", "posenc": "alibi"}]})";

struct Shown {
  TempFolder folder;
  fs::path run = folder / "run";
  Said show(std::vector<std::string> words = {}) const {
    words.insert(words.begin(), run.string());
    return run_command(model_show, words);
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_run_is_shown_in_sections) {
  const Shown shown;
  make_run(shown.run, {.name = "small"});
  keep_cell(shown.run, 20, 64);
  keep_cell(shown.run, 30, 64, "rope");
  write_file_atomic(shown.run / "eval/cells/last-token-9-0000000000000000.json", "no cell");
  const Said said = shown.show();
  BOOST_TEST(
      said.has("run (small): finished, step 8 of 8\nencoding alibi, trained at 16 tokens\n"
               "1234 parameters, weights of "));
  BOOST_TEST(said.has("last training loss 2.250\n"));
  BOOST_TEST(said.has("\nconfiguration\n  preset = smoke\n"));
  BOOST_TEST(said.has("\nweights from\n  random numbers\n"));
  BOOST_TEST(said.has("\ndata\n  corpora/a: 900 train, 80 test tokens\n"));
  BOOST_TEST(said.has("\ntokenizer\n  bytes, vocabulary of 64\n"));
  BOOST_TEST(said.has("\ncheckpoints\n  step 8   "));
  BOOST_TEST(said.has("  protocol  "));
  BOOST_TEST(said.has("alibi      8   20\n"));
  BOOST_TEST(said.has("rope (trained: alibi)      8   30\n"));
  BOOST_TEST(said.has("damaged: " + shown.run.string() + "/eval/cells/last-token-9"));
  BOOST_TEST(
      said.has("started 2031-02-03T04:05:06Z on a processor, a system, threads: 3\n"
               "  by version 1.2, commit c0ffee\n"
               "  resumed 2031-02-04T00:00:00Z at step 4\n"));
}

BOOST_AUTO_TEST_CASE(lineage_mixtures_and_adapters_are_shown) {
  const Shown shown;
  make_run(shown.run, {.manifest = kWithLineage});
  const Said said = shown.show();
  BOOST_TEST(said.has("1234 parameters, 34 of them trained, "));
  BOOST_TEST(said.has("weights from\n  step 7 of runs/mid, from step 3 of runs/old\n"));
  BOOST_TEST(said.has("data\n  a: 5 train tokens, weight 1\n  b, weight 0.25\n"));
  BOOST_TEST(said.has("measurements\n  none\n"));
  BOOST_TEST(said.has("machine\n  not recorded\n"));
}

BOOST_AUTO_TEST_CASE(hashes_are_shown_on_request) {
  const Shown shown;
  make_run(shown.run);
  BOOST_TEST(!shown.show().has("hash d1"));
  const Said said = shown.show({"--verbose"});
  cli::set_verbose(false);
  BOOST_TEST(said.has("80 test tokens, hash d1\n"));
  BOOST_TEST(said.has("vocabulary of 64, hash t1\n"));
}

BOOST_AUTO_TEST_CASE(json_has_all_of_it) {
  const Shown shown;
  make_run(shown.run, {.manifest = kWithLineage});
  keep_cell(shown.run, 20, 64);
  fs::create_directory(shown.run / "checkpoints/step-00000002");
  write_file_atomic(shown.run / "checkpoints/step-00000002/state.json", "");
  const auto json = nlohmann::json::parse(shown.show({"--json"}).out);
  BOOST_TEST(json["state"] == "finished");
  BOOST_TEST(json["parameters"] == 1234);
  BOOST_TEST(json["trained_parameters"] == 34);
  BOOST_TEST(json["configuration"]["posenc"] == "alibi");
  BOOST_TEST(json["configuration"]["train-len"] == "16");  // as config.conf has it
  BOOST_TEST(json["lineage"][1]["run"] == "runs/mid");
  BOOST_TEST(json["data"]["mixture"].size() == 2u);
  BOOST_TEST(json["tokenizer"].is_null());
  BOOST_TEST_REQUIRE(json["checkpoints"].size() == 2u);
  BOOST_TEST(json["checkpoints"][0]["step"] == 2);
  BOOST_TEST(json["checkpoints"][0]["error"].get<std::string>().starts_with("[checkpoint] "));
  BOOST_TEST(json["checkpoints"][1]["bytes"].is_number_integer());
  BOOST_TEST(!json["checkpoints"][1].contains("error"));
  BOOST_TEST(json["measurements"][0]["length"] == 64);
  BOOST_TEST(json["measurements"][0]["protocol"] == "last-token");
  BOOST_TEST(json["damaged_measurements"].empty());
}

BOOST_AUTO_TEST_CASE(a_manifest_of_other_types_is_shown_as_far_as_it_goes) {
  for (const char* manifest : {"[]", "7", R"({"data": 3, "tokenizer": [], "started": "x",
       "resumed": {}, "parameters": "many"})",
                               R"({"data": {"tokens": [1]}, "started": {"hardware": 1, "build": []},
       "resumed": [1, {}]})"}) {
    const Shown shown;
    make_run(shown.run, {.manifest = manifest});
    BOOST_TEST(shown.show().has("\nmachine\n"));
    BOOST_TEST(nlohmann::json::parse(shown.show({"--json"}).out)["step"] == 8);
  }
}

BOOST_AUTO_TEST_CASE(a_damaged_run_and_what_is_none_are_errors) {
  const Shown shown;
  make_run(shown.run, {.manifest = "{"});
  BOOST_CHECK_EXCEPTION(shown.show(), IoError, says("run/manifest.json"));
  BOOST_CHECK_EXCEPTION(run_command(model_show, {shown.folder.path().string()}), IoError,
                        says("a folder of runs; name one of them"));
  BOOST_CHECK_EXCEPTION(run_command(model_show, {}), ConfigError,
                        says("[model] expected the folder of a run, got none"));
}

BOOST_AUTO_TEST_SUITE_END()
