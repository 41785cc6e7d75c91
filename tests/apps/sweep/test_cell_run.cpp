#include <boost/test/unit_test.hpp>
#include <sstream>

#include "apps/sweep/cell_run.h"
#include "apps/sweep/results.h"
#include "tests/apps/sweep/sweep_fixture.h"
#include "tests/apps/toy_run.h"

using namespace farfield;
using namespace farfield::sweep;

BOOST_AUTO_TEST_SUITE(test_cell_run)  // ctest: on_cuda

// The protocols of joint/table3, on whatever device this runs.
BOOST_AUTO_TEST_CASE(a_cell_is_trained_and_measured_once) {
  const test::ToyRun toy;
  PlanOptions options;
  options.scale = Scale::smoke;
  options.datasets.map("github=" + toy.data);
  SweepFolder folder(toy.path("sweep"), options);
  folder.add_grid("mine",
                  "encoding = kerple_log\ndataset = github\ntrain-len = 16\nlengths = 16, 64\n"
                  "protocols = last-token, non-overlapping, position-wise, cached, gradient\n"
                  "train.n-layer = 1\ntrain.n-head = 2\ntrain.d-model = 16\ntrain.steps = 4\n"
                  "train.batch = 2\neval.segments = 4\neval.gradient-segments = 2\n"
                  "eval.sequences = 2\neval.max-tokens = 256\n");
  folder.save();
  const Cell cell = cells_of(folder.plans()).at(0);
  std::ostringstream said;
  BOOST_TEST((run_cell(folder, cell, {.workers = 1}, said) == cli::kDone));
  const CellResult result = read_result(result_path(folder.results(), cell.hash()));
  BOOST_TEST(result.covers(cell));
  BOOST_TEST(result.measured.size() == 5U);
  for (const auto& [id, one] : result.measured)
    for (const eval::LengthResult& length : one.lengths)
      BOOST_TEST(length.failure == "", one.protocol << " at " << length.length);
  BOOST_TEST(result.words.at("precision") == "float32");
  BOOST_TEST(!std::filesystem::exists(folder.runs() / cell.hash()));
  said.str("");
  BOOST_TEST((run_cell(folder, cell, {.workers = 1}, said) == cli::kDone));
  BOOST_TEST(said.str() == "");  // nothing is made again
}

BOOST_AUTO_TEST_CASE(a_cell_trains_the_model_that_it_starts_from) {
  const test::ToyRun toy;
  PlanOptions options;
  options.scale = Scale::smoke;
  options.datasets.map("arxiv=" + toy.data);
  Experiment e = two_models();
  for (Arm& arm : e.arms) {
    arm.steps = 0.01;
    arm.batch = 0.125;
    arm.training = {{"n-layer", "1"}};
  }
  e.arms[1].starts_from = "ALiBi";
  e.arms[1].posenc = "alibi";
  e.arms[1].training.emplace_back("lora", "rank=2,targets=q");
  SweepFolder folder(toy.path("based"), options);
  folder.save();
  const Plan plan = plan_of(e, options);
  const Cell &base = plan.cells[0], &tuned = plan.cells[1];
  write_cell(folder.cells(), tuned);
  const Cell read = read_cell(folder.cell(tuned.hash()));
  BOOST_TEST_REQUIRE((read.base != nullptr));
  BOOST_TEST(read.base->hash() == base.hash());
  std::ostringstream said;
  BOOST_TEST((run_cell(folder, read, {.workers = 1}, said) == cli::kDone));
  BOOST_TEST(std::filesystem::exists(folder.runs() / base.hash()));
  BOOST_TEST(!std::filesystem::exists(folder.runs() / tuned.hash()));
  const auto nll = [&](const Cell& cell) {
    const CellResult result = read_result(result_path(folder.results(), cell.hash()));
    return result.measured.begin()->second.lengths.front().mean_nll;
  };
  const double after = nll(tuned);
  // From the same weights, with fewer steps of the base or with more, the result is another.
  BOOST_TEST((run_cell(folder, base, {.workers = 1}, said) == cli::kDone));
  BOOST_TEST(nll(base) != after);
  std::filesystem::remove(result_path(folder.results(), tuned.hash()));
  BOOST_TEST((run_cell(folder, read, {.workers = 1}, said) == cli::kDone));  // the base anew
  BOOST_TEST(nll(tuned) == after);
}

BOOST_AUTO_TEST_SUITE_END()
