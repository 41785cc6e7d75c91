#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "apps/sweep/sections.h"
#include "apps/sweep/task_arms.h"
#include "posenc/registry.h"
#include "tests/apps/sweep/sweep_fixture.h"

using namespace farfield;
using namespace farfield::sweep;

namespace {

constexpr int64_t kUnit = 64;

// The answers of a model: the share of keys at 1, 2, 4 and 8 L, and at 8 L of keys near the
// beginning and near the end.
CellResult answered(const Cell& cell, const std::vector<double>& shares, double far, double near) {
  CellResult result;
  result.hash = cell.hash();
  result.key = cell.key();
  result.corpus = cell.corpus;
  for (const Measurement& m : cell.measurements) {
    eval::ProtocolResult& of = result.measured[m.id()];
    of.protocol = m.protocol;
    for (size_t i = 0; i < shares.size(); ++i) {
      eval::LengthResult& length = of.lengths.emplace_back();
      length.length = kUnit << i;
      length.quantities = {{"exact_match", shares[i]}};
    }
    of.lengths.back().series = {
        {"exact match by place", "place", {0.05, 0.95}, {far, near}, {}, {}}};
  }
  return result;
}

// The trained encodings of these names, and of others that share their models.
Section section_with(const std::vector<std::pair<std::string, CellResult (*)(const Cell&)>>& made) {
  PlanOptions options;
  options.scale = Scale::tiny;
  const Plan plan = plan_of(experiment_named("atlas/passkey"), options);
  Results results;
  for (const auto& [name, result] : made)
    for (const Cell& cell : plan.cells)
      if (run::value_of(cell.key(), "posenc") == name) results.add(result(cell));
  return section_of(plan, results);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(test_atlas_retrieval)

BOOST_AUTO_TEST_CASE(every_compared_encoding_is_asked) {
  size_t n_compared = 0;
  for (const posenc::Row& row : posenc::registry()) n_compared += row.is_compared;
  for (const auto& [id, lengths] :
       {std::pair("atlas/passkey", "16..64"), {"atlas/induction", "32..64"}}) {
    PlanOptions options;
    options.scale = Scale::tiny;
    const Plan plan = plan_of(experiment_named(id), options);
    BOOST_TEST(plan.arms.size() == n_compared);
    for (const Cell& cell : plan.cells)
      BOOST_TEST(run::value_of(cell.key(), "task-lengths") == lengths);
  }
}

BOOST_AUTO_TEST_CASE(encodings_are_ranked_by_the_keys_that_they_find_far_away) {
  const Section section = section_with({{"kerple_power",
                                         [](const Cell& cell) {
                                           return answered(cell, {1, 0.5, 0.4, 0.2}, 0.1, 0.9);
                                         }},
                                        {"kerple_log", [](const Cell& cell) {
                                           return answered(cell, {1, 0.9, 0.9, 0.8}, 0.75, 0.95);
                                         }}});
  BOOST_TEST_REQUIRE(section.tables.size() == 1u);
  const auto& rows = section.tables[0].rows;
  BOOST_TEST_REQUIRE(rows.size() == 2u);
  BOOST_TEST(rows[0][0].text == "kerple_log");
  BOOST_TEST(rows[0][5].text == "0.8");
  BOOST_TEST(rows[0][6].text == "0.750");
  BOOST_TEST(rows[0][7].text == "0.950");
  BOOST_TEST(rows[1][0].text == "kerple_power");
  // Of 2 L there are no places.
  BOOST_TEST_REQUIRE(section.figures.size() == 1u);
  const plot::HeatMap& map = section.figures[0].map;
  BOOST_TEST(map.rows == (std::vector<std::string>{"kerple_power", "kerple_log"}),
             boost::test_tools::per_element());
  BOOST_TEST(map.values.size() == 20u);
  BOOST_TEST(map.values[0] == 0.1);
  BOOST_TEST(map.values[10] == 0.75);
  BOOST_TEST(map.values[19] == 0.95);
  BOOST_TEST(std::isnan(map.values[15]));
}

BOOST_AUTO_TEST_CASE(without_models_there_is_nothing_to_show) {
  const Section section = section_with({});
  BOOST_TEST(section.tables.empty());
  BOOST_TEST(section.figures.empty());
}

BOOST_AUTO_TEST_SUITE_END()
