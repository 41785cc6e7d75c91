#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>
#include <set>

#include "apps/run/resolved_config.h"
#include "apps/sweep/halving.h"
#include "apps/sweep/search.h"
#include "apps/sweep/search_budget.h"
#include "apps/sweep/search_report.h"
#include "engine/base/error.h"
#include "tests/apps/sweep/sweep_fixture.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

using namespace farfield;
using namespace farfield::sweep;

BOOST_AUTO_TEST_SUITE(test_search)
namespace {

std::vector<std::string> expressions(const SearchSpace& space) {
  std::vector<std::string> all;
  for (const Candidate& c : space.candidates) all.push_back(c.posenc);
  return all;
}

std::vector<std::string> names_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const PlannedArm& arm : plan.arms) names.push_back(arm.label());
  return names;
}

// Writes results for all cells of a stage: nats by the place of the model.
void finish(const SweepFolder& folder, const Plan& plan,
            const std::vector<std::pair<double, double>>& nats) {
  for (size_t i = 0; i < plan.cells.size(); ++i) {
    const auto& [near, far] = nats[i / plan.seeds.size() % plan.arms.size()];
    std::vector<double> all(plan.experiment->measures.front().lengths.size(), near);
    all.back() = far;
    write_result(folder.results(), made_up_result(plan, plan.cells[i], "last-token", all));
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(formulas_are_different_valid_and_the_same_for_the_same_seed) {
  const SearchSpace space = search_space(Scale::smoke, 1, 60);
  const std::vector<std::string> all = expressions(space);
  BOOST_TEST(all.size() == 60U);
  BOOST_TEST(std::set<std::string>(all.begin(), all.end()).size() == 60U);
  BOOST_TEST(space.n_refused == 0);
  std::set<std::string> families;
  size_t n_rope = 0;
  for (const Candidate& c : space.candidates) {
    families.insert(c.family);
    n_rope += c.posenc.ends_with("+ rope") ? 1 : 0;
    // As the model of the scale writes it.
    run::RunConfig request = training_of(Scale::smoke, Size::base);
    request.posenc = c.posenc;
    request.data = {"text"};
    BOOST_TEST(run::resolve(request).posenc() == c.posenc);
  }
  BOOST_TEST(families.size() == 12U);
  BOOST_TEST(n_rope == 30U);
  const std::vector<std::string> fewer = expressions(search_space(Scale::smoke, 1, 13));
  BOOST_TEST(fewer == std::vector<std::string>(all.begin(), all.begin() + 13));
  BOOST_TEST(expressions(search_space(Scale::smoke, 2, 13)) != fewer);
}

BOOST_AUTO_TEST_CASE(slopes_start_as_steep_as_the_training_length_asks) {
  // 2 / L at both: the bias at L starts between 0 and 2.
  const auto third = [](Scale scale) { return search_space(scale, 1, 3).candidates[2].posenc; };
  BOOST_TEST(third(Scale::smoke) == "kernel(bias=-r*d, r>=0~U(0,0.062))");
  BOOST_TEST(third(Scale::paper) == "kernel(bias=-r*d, r>=0~U(0,0.0039))");
  for (const Scale scale : {Scale::tiny, Scale::small, Scale::brief})
    BOOST_TEST(search_space(scale, 1, 12).n_refused == 0);
}

BOOST_AUTO_TEST_CASE(a_front_holds_what_nothing_dominates) {
  const std::vector<Score> scores = {{"a", 1, 4}, {"b", 2, 2}, {"c", 4, 1},
                                     {"d", 3, 3}, {"e", 2, 2}, {"f", INFINITY, 0}};
  const std::vector<std::vector<size_t>> fronts = fronts_of(scores);
  BOOST_TEST(fronts.size() == 2U);
  BOOST_TEST(fronts[0] == (std::vector<size_t>{1, 4, 0, 2}));  // by sum, equal ones by name
  BOOST_TEST(fronts[1] == (std::vector<size_t>{3}));
  BOOST_TEST(promoted(scores, 2) == (std::vector<std::string>{"b", "e"}));
  BOOST_TEST(promoted(scores, 9).size() == 5U);  // f has no number
  BOOST_TEST(!dominates(scores[1], scores[4]));
  BOOST_TEST(dominates(scores[1], scores[3]));
}

BOOST_AUTO_TEST_CASE(a_score_is_the_mean_of_nats_above_the_best_of_each_text) {
  const TempFolder at;
  SweepFolder folder(at.path() / "s", made_up_options(Scale::smoke));
  folder.save();
  Search search(folder, {}, search_space(Scale::smoke, 1, 3));
  const Plan plan = search.begin(0);
  // Of the second text, k3 has no number at 16 L.
  const std::vector<std::pair<double, double>> nats = {{1, 2},   {2, 4},     {3, 3},
                                                       {5, 5.5}, {4.5, 5.5}, {4.75, INFINITY}};
  for (size_t i = 0; i < plan.cells.size(); ++i)
    write_result(folder.results(), made_up_result(plan, plan.cells[i], "last-token",
                                                  {nats[i].first, nats[i].second}));
  const std::vector<Score> scores = scores_of(plan, Results::read({folder.results()}));
  const auto tolerance = boost::test_tools::tolerance(1e-9);
  BOOST_TEST(scores[0].near == 0.25, tolerance);   // 0 and 0.5
  BOOST_TEST(scores[1].near == 0.5, tolerance);    // 1 and 0
  BOOST_TEST(scores[2].near == 1.125, tolerance);  // 2 and 0.25
  BOOST_TEST(scores[1].far == 1, tolerance);
  BOOST_TEST(scores[0].is_known());
  BOOST_TEST(!scores[2].is_known());
}

BOOST_AUTO_TEST_CASE(a_third_of_the_models_reaches_the_next_rung) {
  const std::vector<Rung> rungs = rungs_of(20);
  BOOST_TEST(rungs.size() == 3U);
  BOOST_TEST(rungs[0].n == 20);
  BOOST_TEST(rungs[1].n == 7);
  BOOST_TEST(rungs[2].n == 3);
  BOOST_TEST(rungs[0].steps == 1.0 / 9);
  BOOST_TEST(rungs[2].steps == 1);
}

BOOST_AUTO_TEST_CASE(the_results_of_a_rung_choose_the_models_of_the_next) {
  const TempFolder at;
  const SearchRequest request;
  const SearchSpace space = search_space(Scale::smoke, 1, 9);
  SweepFolder folder(at.path() / "s", made_up_options(Scale::smoke));
  Search search(folder, request, space);
  BOOST_TEST(Search::size_in(folder) == 0);
  const Plan first = search.begin(0);
  folder.save();
  BOOST_TEST(Search::size_in(folder) == 9);
  BOOST_TEST(first.cells.size() == 18U);  // two texts, one seed
  BOOST_TEST(run::value_of(first.cells.front().training, "steps") == "67");
  BOOST_TEST(run::value_of(first.cells.front().measurements.front().options, "split") == "valid");
  BOOST_CHECK_EXCEPTION(search.begin(1), Error, says("expected a formula with results"));

  // k2 is best near, k5 far, k7 in between; k4 is next.
  std::vector<std::pair<double, double>> nats(9, {5, 9});
  nats[1] = {1, 8};
  nats[4] = {3, 2};
  nats[6] = {2, 4};
  nats[3] = {4, 5};
  finish(folder, first, nats);
  const Plan second = search.begin(1);
  folder.save();
  std::vector<std::string> names = names_of(second);
  BOOST_TEST(std::set<std::string>(names.begin(), names.end()) ==
             (std::set<std::string>{"k2", "k5", "k7"}));
  BOOST_TEST(run::value_of(second.cells.front().training, "steps") == "200");

  // A new process goes on with the same models, whatever the results say by now.
  finish(folder, first, std::vector<std::pair<double, double>>(9, {1, 1}));
  SweepFolder again(at.path() / "s", made_up_options(Scale::smoke));
  Search resumed(again, request, search_space(Scale::smoke, 1, Search::size_in(again)));
  BOOST_TEST(names_of(resumed.begin(1)) == names);
  finish(again, resumed.begin(1), {{1, 1}, {2, 2}, {3, 3}});
  const Plan third = resumed.begin(2);
  BOOST_TEST(names_of(third).size() == 1U);
  BOOST_TEST(names_of(third).front() == names.front());
  // Its models are measured on both splits, in one cell each.
  const std::vector<Cell> cells = resumed.cells_of(third, 2);
  BOOST_TEST(cells.size() == 2U);
  BOOST_TEST(cells.front().measurements.size() == 2U);
}

BOOST_AUTO_TEST_CASE(another_search_in_the_same_folder_is_refused) {
  const TempFolder at;
  SweepFolder folder(at.path() / "s", made_up_options(Scale::smoke));
  Search(folder, {}, search_space(Scale::smoke, 1, 4)).begin(0);
  for (const uint64_t seed : {1, 2}) {
    const int64_t n = seed == 1 ? 5 : 4;
    BOOST_CHECK_EXCEPTION(Search(folder, {.seed = seed}, search_space(Scale::smoke, seed, n)),
                          ConfigError, says("holds a search with another --seed, --on or"));
  }
}

BOOST_AUTO_TEST_CASE(the_front_shares_the_cells_of_the_last_rung_and_of_the_atlas) {
  const TempFolder at;
  SweepFolder folder(at.path() / "s", made_up_options(Scale::smoke));
  const SearchSpace space = search_space(Scale::smoke, 1, 3);
  Search search(folder, {}, space);
  folder.save();
  finish(folder, search.begin(0), {{1, 3}, {2, 2}, {3, 1}});
  finish(folder, search.begin(1), {{1, 3}});
  const Plan third = search.begin(2);
  for (const Cell& cell : search.cells_of(third, 2)) {
    CellResult result = made_up_result(third, cell, "last-token", {1, 2});
    write_result(folder.results(), result);
  }
  const Plan front = search.begin(Search::kFront);
  BOOST_TEST(front.seeds.size() == 3U);
  BOOST_TEST(front.arms.size() == 1 + catalogue().size());
  std::set<std::string> hashes, measured;
  const std::vector<Cell> cells = search.cells_of(front, Search::kFront);
  for (const Cell& cell : cells) {
    hashes.insert(cell.hash());
    measured.insert(cell.hash() + cell.measurements.front().id());
  }
  BOOST_TEST(cells.size() == 2 * 3 * (1 + catalogue().size()));
  for (const Cell& cell : search.cells_of(third, 2)) {
    BOOST_TEST(hashes.count(cell.hash()) == 1U);
    BOOST_TEST(measured.count(cell.hash() + cell.measurements.back().id()) == 1U);
  }
  size_t n_shared = 0;
  for (const Cell& cell : plan_of(experiment_named("atlas"), folder.options()).cells)
    for (const Measurement& m : cell.measurements) n_shared += measured.count(cell.hash() + m.id());
  BOOST_TEST(n_shared == 2 * catalogue().size());  // one seed
}

BOOST_AUTO_TEST_CASE(the_pace_of_the_first_models_says_how_many_formulas_fit) {
  const TempFolder at;
  SweepFolder folder(at.path() / "s", made_up_options(Scale::tiny));
  folder.save();
  const SearchRequest request;
  const auto budget = [&] { return SearchBudget(folder, request, 2, 4); };
  BOOST_TEST(!budget().is_measured());
  const OwnPlan first = first_plan(folder, request, 2);
  BOOST_TEST(first.plan.cells.size() == 2U);
  BOOST_TEST(first_plan(folder, request, 3).plan.cells.size() == 4U);
  for (const Cell& cell : first.plan.cells) {
    CellResult result = made_up_result(first.plan, cell, "last-token", {1, 1, 1, 1, 1});
    result.facts = {{"train_seconds", 60}, {"seconds", 80}};
    write_result(folder.results(), result);
  }
  const SearchBudget measured = budget();
  BOOST_TEST(measured.is_measured());
  const std::vector<double> nine = measured.stages(9), eighteen = measured.stages(18);
  BOOST_TEST(nine.size() == Search::kStages);
  for (size_t rung = 0; rung < Search::kRungs; ++rung)
    BOOST_TEST(eighteen[rung] == 2 * nine[rung], boost::test_tools::tolerance(1e-9));
  // 2 texts x 9 formulas x a ninth of 60 s of training, by two workers; less than a minute
  // measuring
  BOOST_TEST(nine[0] > 60);
  BOOST_TEST(nine[0] < 120);
  const int64_t n = measured.most(7200, 3);
  BOOST_TEST(measured.all(n) <= 7200);
  BOOST_TEST(measured.all(n + 1) > 7200);
  BOOST_TEST(measured.most(60, 3) == 0);
  // Finished models count as done.
  const std::vector<Cell> cells = first.plan.cells;
  BOOST_TEST(measured.left(9, Search::kFront, cells) == 0);
  BOOST_TEST(measured.left(9, 2, cells) == nine.back());
}

BOOST_AUTO_TEST_CASE(a_report_marks_the_front_and_has_five_of_it_beside_the_catalogue) {
  const TempFolder at;
  SweepFolder folder(at.path() / "s", made_up_options(Scale::smoke));
  Search search(folder, {}, search_space(Scale::smoke, 1, 60));
  folder.save();
  const auto nats = [](size_t n) {  // the first seven trade near for far; the others are worse
    std::vector<std::pair<double, double>> all;
    for (size_t i = 0; i < n; ++i) {
      const double x = 0.1 * static_cast<double>(i);
      all.emplace_back(i < 7 ? 1 + x : 3, i < 7 ? 2 - x : 4);
    }
    return all;
  };
  for (size_t stage = 0; stage < Search::kRungs; ++stage) {
    const Plan plan = search.begin(stage);
    finish(folder, plan, nats(plan.arms.size()));
  }
  const Plan front = search.begin(Search::kFront);
  BOOST_TEST(front.arms.size() == 7 + catalogue().size());
  finish(folder, front, nats(front.arms.size()));
  const SearchReport report = search_report(search, front, Results::read({folder.results()}));
  const auto count = [](const std::string& text, const std::string& what) {
    size_t n = 0;
    for (size_t i = text.find(what); i != std::string::npos; i = text.find(what, i + 1)) ++n;
    return n;
  };
  BOOST_TEST(count(report.front, "| yes |") == 7U);
  BOOST_TEST(count(report.catalogue, "| k") == 5 + 1U);  // and kerple_log
  BOOST_TEST(count(report.catalogue, "\n") == 2 + 5 + catalogue().size());
  BOOST_TEST(report.front.find("7.39 ± 0.00") != std::string::npos);  // e^2
  BOOST_TEST(count(report.csv, "\n") == 1 + front.arms.size() * 2 * 5);
}

BOOST_AUTO_TEST_SUITE_END()
