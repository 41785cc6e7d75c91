#include <boost/test/unit_test.hpp>

#include "apps/sweep/cost.h"
#include "apps/sweep/pace.h"
#include "tests/apps/sweep/sweep_fixture.h"
#include "tests/support/temp_folder.h"

using namespace farfield;
using namespace farfield::sweep;

BOOST_AUTO_TEST_SUITE(test_pace)

BOOST_AUTO_TEST_CASE(a_cell_takes_what_the_slowest_finished_one_took) {
  const Experiment e = two_models();
  const Plan plan = plan_of(e, made_up_options(Scale::tiny));
  const Cell &done = plan.cells.front(), &open = plan.cells.back();
  Pace pace;
  BOOST_TEST(!pace.is_known());
  BOOST_TEST(pace.seconds_of(open, false) == seconds_of(open.work(), false));
  CellResult result = made_up_result(plan, done, "P1", {1, 2});
  pace.learn(done, result);  // says nothing of its time
  BOOST_TEST(!pace.is_known());
  result.facts = {{"train_seconds", 100}, {"seconds", 130}};
  pace.learn(done, result);
  result.facts = {{"train_seconds", 90}, {"seconds", 160}};
  pace.learn(done, result);
  BOOST_TEST(pace.seconds_of(open, false) == 170, boost::test_tools::tolerance(1e-9));
  Cell longer = open;
  longer.training_work *= 3;
  BOOST_TEST(pace.seconds_of(longer, false) == 370, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(timed_steps_and_passes_are_work) {
  Experiment e = two_models();
  e.measures = {{.key = "P10",
                 .protocol = "speed",
                 .lengths = {1, 4},
                 .options = {{"warmup", "0"}, {"timed-passes", "10"}, {"batch-tokens", "1024"}}}};
  const auto work_of = [&](int64_t n_steps) {
    e.measures.front().options.emplace_back("timed-steps", std::to_string(n_steps));
    const Cell cell = plan_of(e, made_up_options(Scale::tiny)).cells.front();
    e.measures.front().options.pop_back();
    return cell.measurements.front().work / cell.training_work;
  };
  // A timed step costs as much as a step of training, of which there are 1200.
  BOOST_TEST(work_of(250) - work_of(10) == 240.0 / 1200, boost::test_tools::tolerance(1e-9));
  // 20 passes over 1024 tokens against 1200 steps over 2048, of which each costs three passes.
  BOOST_TEST(work_of(1) - 1.0 / 1200 > 20 * 1024 / (3.0 * 1200 * 2048));
}

BOOST_AUTO_TEST_CASE(what_is_measured_already_takes_no_time) {
  const TempFolder temp;
  const SweepFolder folder(temp.path() / "sweep", made_up_options(Scale::tiny));
  const Experiment e = two_models();
  const Plan plan = plan_of(e, folder.options());
  CellResult result = made_up_result(plan, plan.cells.front(), "P1", {1, 2});
  result.facts = {{"train_seconds", 100}, {"seconds", 130}};
  Pace pace;
  pace.learn(plan.cells.front(), result);
  write_result(folder.results(), result);
  BOOST_TEST(pace.seconds_left(folder, plan.cells.back(), false) == 130,
             boost::test_tools::tolerance(1e-9));
  BOOST_TEST(pace.seconds_left(folder, plan.cells.front(), false) == 100,
             boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_SUITE_END()
