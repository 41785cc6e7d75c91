#include <boost/test/unit_test.hpp>
#include <sstream>

#include "apps/sweep/cell_run.h"
#include "apps/sweep/results.h"
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

BOOST_AUTO_TEST_SUITE_END()
