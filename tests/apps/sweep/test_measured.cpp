#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/sweep/measured.h"
#include "apps/sweep/step_times.h"
#include "tests/apps/sweep/sweep_fixture.h"

using namespace farfield;
using namespace farfield::sweep;

namespace {

// As `speed` has it: training goes with no length, inference with several.
struct TimedModels {
  Experiment experiment = [] {
    Experiment e = two_models();
    e.measures = {{.key = "P10", .protocol = "speed", .lengths = {1, 2}}};
    return e;
  }();
  Plan plan = plan_of(experiment, made_up_options(Scale::tiny));
  Results results;

  TimedModels() {
    const Cell& cell = plan.cell(0, 0, 0);
    CellResult result;
    result.hash = cell.hash();
    std::vector<eval::LengthResult>& lengths =
        result.measured[cell.measurements.front().id()].lengths;
    lengths.resize(3);
    lengths[0].quantities = {{"train_step_s", 0.5}};
    for (const size_t i : {1, 2}) {
      lengths[i].length = 64 * static_cast<int64_t>(i);
      lengths[i].quantities = {{"infer_pass_s", static_cast<double>(i)}};
    }
    results.add(result);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(test_measured)

BOOST_AUTO_TEST_CASE(what_goes_with_no_length_is_found_without_one) {
  const TimedModels models;
  const Measured m(models.plan, models.plan.datasets.front(), models.results);
  BOOST_TEST(m.value("ALiBi", "P10", "train_step_s") == 0.5);
  BOOST_TEST(std::isnan(m.value("ALiBi", "P10", "train_step_s", 2)));
  BOOST_TEST(m.value("ALiBi", "P10", "infer_pass_s") == 2);
  BOOST_TEST(m.value("ALiBi", "P10", "infer_pass_s", 1) == 1);
  BOOST_TEST(std::isnan(m.value("ALiBi", "P10", "infer_pass", 1)));
  BOOST_TEST(std::isnan(m.value("Rotary", "P10", "train_step_s")));
}

BOOST_AUTO_TEST_CASE(step_times_are_apart_beyond_their_spread_and_the_drift_of_the_machine) {
  struct Times {
    double median, low, high;
  };
  const auto are_apart = [](Times a, Times b) {
    const TimedModels models;
    Results results;
    for (const size_t arm : {0, 1}) {
      const Cell& cell = models.plan.cell(0, arm, 0);
      const Times of = arm == 0 ? a : b;
      CellResult result;
      result.hash = cell.hash();
      result.measured[cell.measurements.front().id()].lengths.resize(1);
      result.measured[cell.measurements.front().id()].lengths[0].quantities = {
          {"train_step_s", of.median}, {"train_step_s_p10", of.low}, {"train_step_s_p90", of.high}};
      results.add(result);
    }
    const Measured m(models.plan, models.plan.datasets.front(), results);
    return are_step_times_apart(m, *m.arm("ALiBi"), *m.arm("Rotary"));
  };
  BOOST_TEST(are_apart({1, 0.98, 1.02}, {1.2, 1.18, 1.22}));
  BOOST_TEST(are_apart({1.2, 1.18, 1.22}, {1, 0.98, 1.02}));
  BOOST_TEST(!are_apart({1, 0.98, 1.02}, {1.1, 1.08, 1.12}));  // the machine may have drifted
  BOOST_TEST(!are_apart({1, 0.98, 1.3}, {1.2, 1.18, 1.22}));   // single steps overlap
  BOOST_TEST(are_apart({1, 1, 1}, {NAN, NAN, NAN}));           // not measured: not undecided
}

BOOST_AUTO_TEST_CASE(rows_of_a_protocol_with_lengths_of_its_own_are_at_the_longest) {
  Experiment e = two_models();
  e.measures = {{.key = "keys", .protocol = "passkey", .options = {{"garbage", "0,90,30"}}}};
  const Plan plan = plan_of(e, made_up_options(Scale::tiny));
  const Cell& cell = plan.cell(0, 0, 0);
  CellResult result;
  result.hash = cell.hash();
  eval::ProtocolResult& of = result.measured[cell.measurements.front().id()];
  of.protocol = "passkey";
  of.lengths.resize(3);
  for (const size_t i : {0, 1, 2}) {
    of.lengths[i].length = std::vector<int64_t>{0, 90, 30}[i];
    of.lengths[i].quantities = {{"accuracy", static_cast<double>(i)}};
  }
  const auto accuracy = [&] {
    Results results;
    results.add(result);
    return Measured(plan, plan.datasets.front(), results).value("ALiBi", "keys", "accuracy");
  };
  BOOST_TEST(accuracy() == 1);
  eval::set_failure(of.lengths[1], "OOM", "too long");
  BOOST_TEST(std::isnan(accuracy()));  // not the number of garbage 0
}

BOOST_AUTO_TEST_CASE(shared_seeds_are_those_that_all_models_have) {
  const Experiment experiment = two_models();
  PlanOptions options = made_up_options(Scale::tiny);
  options.seeds = 3;
  const Plan plan = plan_of(experiment, options);
  Results results;
  const auto add = [&](size_t arm, size_t seed) {
    const auto nll = static_cast<double>(1 + seed);
    results.add(made_up_result(plan, plan.cell(0, arm, seed), "P1", {nll, nll}));
  };
  const auto shared = [&] {
    return Measured(plan, plan.datasets.front(), results).of_shared_seeds();
  };
  const auto used = [&] { return shared().seeds_used(); };
  const std::vector<uint64_t> all = {1, 2, 3}, second = {2}, third = {2, 3};
  add(0, 1);
  add(0, 2);
  BOOST_TEST(used() == third, boost::test_tools::per_element());  // of Rotary there is none
  add(1, 1);
  BOOST_TEST(used() == second, boost::test_tools::per_element());
  BOOST_TEST(shared().perplexity("ALiBi", 1) == std::exp(2.0));
  const Measured m(plan, plan.datasets.front(), results);  // each model has its own
  BOOST_TEST(m.seeds(*m.arm("ALiBi"), "P1", "perplexity", 1).size() == 2u);
  BOOST_TEST(m.n_seed(*m.arm("ALiBi")) == 2u);
  BOOST_TEST(m.n_seed(*m.arm("Rotary")) == 1u);
  BOOST_TEST(m.of_seed(2).perplexity("ALiBi", 1) == std::exp(3.0));
  BOOST_TEST(std::isnan(m.of_seed(2).perplexity("Rotary", 1)));
  BOOST_TEST(!m.of_seed(2).n_seed(*m.arm("Rotary")));
  add(1, 0);
  BOOST_TEST(used() == second, boost::test_tools::per_element());
  add(1, 2);
  add(0, 0);
  BOOST_TEST(used() == all, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_seed_that_another_experiment_made_has_no_numbers_of_this_one) {
  const Experiment experiment = two_models();
  PlanOptions options = made_up_options(Scale::tiny);
  options.seeds = 2;
  const Plan plan = plan_of(experiment, options);
  Results results;
  for (const auto& [arm, seed] : {std::pair(0, 0), {0, 1}, {1, 0}})
    results.add(made_up_result(plan, plan.cell(0, arm, seed), "P1", {1, 1}));
  CellResult other = made_up_result(plan, plan.cell(0, 1, 1), "P1", {1, 1});
  other.measured.clear();
  results.add(other);
  const Measured m = Measured(plan, plan.datasets.front(), results).of_shared_seeds();
  const std::vector<uint64_t> first = {1};
  BOOST_TEST(m.seeds_used() == first, boost::test_tools::per_element());
  BOOST_TEST(m.seeds(*m.arm("ALiBi"), "P1", "perplexity", 1).size() == 1u);
  BOOST_TEST(m.seeds(*m.arm("Rotary"), "P1", "perplexity", 1).size() == 1u);
}

BOOST_AUTO_TEST_CASE(no_seed_of_all_models_means_all_seeds) {
  const Experiment experiment = two_models();
  PlanOptions options = made_up_options(Scale::tiny);
  options.seeds = 2;
  const Plan plan = plan_of(experiment, options);
  Results results;
  results.add(made_up_result(plan, plan.cell(0, 0, 0), "P1", {1, 1}));
  results.add(made_up_result(plan, plan.cell(0, 1, 1), "P1", {2, 2}));
  const Measured m = Measured(plan, plan.datasets.front(), results).of_shared_seeds();
  BOOST_TEST(m.seeds_used().size() == 2u);
  BOOST_TEST(m.perplexity("Rotary", 1) == std::exp(2.0));
}

BOOST_AUTO_TEST_CASE(what_a_grid_has_finished_stays_when_its_lengths_change) {
  Experiment grid = two_models();
  grid.is_own = true;
  const PlanOptions options = made_up_options(Scale::tiny);
  const Plan before = plan_of(grid, options);
  CellResult result = made_up_result(before, before.cells.front(), "P1", {1, 2});
  result.families[result.measured.begin()->first] =
      before.cells.front().measurements.front().family();
  Results results;
  results.add(result);
  grid.measures.front().lengths = {1, 2, 4};
  const Plan longer = plan_of(grid, options);
  const Measured m(longer, longer.datasets.front(), results);
  BOOST_TEST(m.value("ALiBi", "P1", "perplexity", 2) == std::exp(2.0));
  BOOST_TEST(std::isnan(m.value("ALiBi", "P1", "perplexity", 4)));
  BOOST_TEST(m.is_of_other_lengths(*m.arm("ALiBi"), "P1"));
  BOOST_TEST(!m.is_of_other_lengths(*m.arm("Rotary"), "P1"));
  grid.measures.front().options = {{"segments", "7"}};  // another measurement
  const Plan other = plan_of(grid, options);
  BOOST_TEST(std::isnan(
      Measured(other, other.datasets.front(), results).value("ALiBi", "P1", "perplexity", 2)));
  // What a paper's finding is judged by is what the experiment measures, nothing else.
  grid.measures.front().options = {};
  grid.is_own = false;
  const Plan papers = plan_of(grid, options);
  BOOST_TEST(std::isnan(
      Measured(papers, papers.datasets.front(), results).value("ALiBi", "P1", "perplexity", 2)));
}

BOOST_AUTO_TEST_CASE(a_series_is_read_between_its_points_and_nowhere_else) {
  eval::Series s;
  s.x = {1, 2, 6};
  s.y = {0, 10, 30};
  BOOST_TEST(value_at(s, 1) == 0);
  BOOST_TEST(value_at(s, 6) == 30);
  BOOST_TEST(value_at(s, 3) == 15);
  BOOST_TEST(std::isnan(value_at(s, 0.5)));
  BOOST_TEST(std::isnan(value_at(s, 6.5)));
  BOOST_TEST(std::isnan(value_at({}, 1)));
}

BOOST_AUTO_TEST_CASE(thresholds_are_the_papers_from_small_on_and_as_printed) {
  TimedModels models;
  const Measured tiny(models.plan, models.plan.datasets.front(), models.results);
  BOOST_TEST(!tiny.is_published());
  BOOST_TEST(tiny.pick(10, 1.3) == 1.3);
  BOOST_TEST(tiny.as_printed().pick(10, 1.3) == 10);
  BOOST_TEST(!tiny.as_printed().has_published_models());
  Plan small = models.plan;
  small.scale = Scale::small;
  const Measured m(small, small.datasets.front(), models.results);
  BOOST_TEST(m.is_published());
  BOOST_TEST(m.pick(10, 1.3) == 10);
}

BOOST_AUTO_TEST_CASE(a_data_set_stands_for_those_that_share_its_corpus) {
  TimedModels models;
  models.plan.datasets.front().name = "arxiv, github";
  const Measured m(models.plan, models.plan.datasets.front(), models.results);
  BOOST_TEST(m.is_on("arxiv"));
  BOOST_TEST(m.is_on("github"));
  BOOST_TEST(!m.is_on("openwebtext2"));
}

BOOST_AUTO_TEST_SUITE_END()
