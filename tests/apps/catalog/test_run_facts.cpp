#include <boost/test/unit_test.hpp>

#include "apps/catalog/run_facts.h"
#include "engine/base/file.h"
#include "tests/apps/catalog/made_runs.h"

BOOST_AUTO_TEST_SUITE(test_run_facts)

using namespace farfield;
using namespace farfield::catalog;
using farfield::test::keep_cell;
using farfield::test::MadeRun;
using farfield::test::make_run;
namespace fs = std::filesystem;

namespace {

// The error of a run after f() has damaged it.
template <class F>
std::string error_after(const F& damage) {
  const TempFolder folder;
  make_run(folder / "run");
  damage(folder / "run");
  const RunFacts facts = facts_of(folder / "run");
  BOOST_TEST(name(facts.state) == "damaged");
  BOOST_TEST(facts.run == (folder / "run").string());
  return facts.error;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(facts_come_from_the_files_of_a_run) {
  const TempFolder folder;
  make_run(folder / "run", {.posenc = "rope", .name = "small one"});
  const RunFacts facts = facts_of(folder / "run");
  BOOST_TEST(facts.error == "");
  BOOST_TEST(facts.name == "small one");
  BOOST_TEST(facts.posenc == "rope");
  BOOST_TEST(facts.train_len == 16);
  BOOST_TEST(facts.step == 8);
  BOOST_TEST(facts.steps == 8);
  BOOST_TEST(facts.parameters.value() == 1234);
  BOOST_TEST(facts.loss.value() == 2.25);
  BOOST_TEST(facts.weights_bytes ==
             static_cast<int64_t>(
                 fs::file_size(folder / "run/checkpoints/step-00000008/model.safetensors")));
}

BOOST_AUTO_TEST_CASE(a_run_is_running_while_its_lock_is_held) {
  const TempFolder folder;
  {
    // A row beyond the checkpoint: where the training is now.
    const run::RunFolder trained = make_run(folder / "run", {.step = 4});
    const RunFacts facts = facts_of(folder / "run");
    BOOST_TEST(name(facts.state) == "running");
    BOOST_TEST(facts.step == 8);
  }
  const RunFacts facts = facts_of(folder / "run");
  BOOST_TEST(name(facts.state) == "stopped");
  BOOST_TEST(facts.step == 4);
  make_run(folder / "done");
  BOOST_TEST(name(facts_of(folder / "done").state) == "finished");
}

BOOST_AUTO_TEST_CASE(what_was_not_recorded_is_missing_and_no_damage) {
  const TempFolder folder;
  make_run(folder / "run", {.manifest = "{}", .metrics = "step,tokens,loss\n"});
  fs::remove(folder / "run/lock");
  const RunFacts facts = facts_of(folder / "run");
  BOOST_TEST(facts.error == "");
  BOOST_TEST(!facts.parameters.has_value());
  BOOST_TEST(!facts.loss.has_value());
  fs::remove(folder / "run/metrics.csv");
  fs::remove(folder / "run/manifest.json");
  BOOST_TEST(facts_of(folder / "run").error == "");
}

BOOST_AUTO_TEST_CASE(perplexities_are_the_best_of_the_runs_own_measurements) {
  const TempFolder folder;
  const fs::path run = folder / "run";
  make_run(run);
  keep_cell(run, 30, 64);
  keep_cell(run, 20, 64, "alibi", "sliding");
  keep_cell(run, 10, 64, "rope");  // another encoding than the trained one
  keep_cell(run, 40, 8);
  keep_cell(run, 90, 128, "alibi", "last-token", 0);
  keep_cell(run, 10, 128, "alibi", "last-token", 1);
  write_file_atomic(run / "eval/cells/last-token-9-0000000000000000.json", "no cell");
  const RunFacts facts = facts_of(run);
  BOOST_TEST_REQUIRE(facts.perplexities.size() == 3u);
  BOOST_TEST(facts.perplexities[0].length == 8);
  BOOST_TEST(facts.perplexities[1].length == 64);
  BOOST_TEST(facts.perplexities[1].perplexity == 20, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(facts.perplexities[1].protocol == "sliding");
  // Two draws: of their mean nll.
  BOOST_TEST(facts.perplexities[2].perplexity == 30, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(damage_is_named_with_its_file) {
  const auto write = [](const char* file, const std::string& text) {
    return [=](const fs::path& run) { write_file_atomic(run / file, text); };
  };
  const std::string weights = "checkpoints/step-00000008/model.safetensors";
  BOOST_TEST(contains(error_after(write("manifest.json", "{")), "run/manifest.json"));
  BOOST_TEST(contains(error_after(write("config.conf", "no-setting")), "run/config.conf"));
  BOOST_TEST(contains(error_after(write("metrics.csv", "step,loss\n8,\"2")), "run/metrics.csv"));
  BOOST_TEST(contains(error_after(write("metrics.csv", "step,loss\n8,x\n")),
                      "run/metrics.csv: expected a number as 'loss' in the last row, got 'x'"));
  BOOST_TEST(contains(error_after(write("metrics.csv", "step\n8\n")), "as 'loss'"));
  BOOST_TEST(contains(error_after(write("checkpoints/step-00000008/state.json", "{}")),
                      "step-00000008/state.json"));
  BOOST_TEST(contains(error_after(write(weights.c_str(), "short")), "bytes, got 5"));
  BOOST_TEST(contains(error_after([&](const fs::path& run) { fs::remove(run / weights); }),
                      "model.safetensors: cannot read: No such file"));
  BOOST_TEST(contains(error_after([](const fs::path& run) { fs::remove(run / "config.conf"); }),
                      "without config.conf"));
  BOOST_TEST(contains(error_after([](const fs::path& run) { fs::remove_all(run / "checkpoints"); }),
                      "checkpoints"));
  // Weights of another run: its configuration differs.
  BOOST_TEST(contains(error_after([](const fs::path& run) {
                        const TempFolder other;
                        make_run(other / "run", {.posenc = "rope"});
                        fs::copy_file(other / "run/config.conf", run / "config.conf",
                                      fs::copy_options::overwrite_existing);
                      }),
                      "posenc"));
}

BOOST_AUTO_TEST_SUITE_END()
