// Results of a protocol whose lengths are no tokens: heat maps, tables and files.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/eval/results_heat_maps.h"
#include "apps/eval/results_plots.h"

BOOST_AUTO_TEST_SUITE(test_results_heat_maps)

using namespace farfield;
using namespace farfield::eval;

namespace {

RunResult passkeys(const std::string& posenc) {
  RunResult r;
  r.run = "runs/" + posenc;
  r.posenc = r.trained_posenc = posenc;
  r.train_len = 128;
  r.result.protocol = "passkey";
  r.result.parameters = "prompts=50 seed=0 new=10";
  for (const int64_t length : {500, 0, 100}) {
    LengthResult& cell = r.result.lengths.emplace_back();
    cell.length = length;
    cell.quantities = {{"accuracy", 0.5}};
    if (length == 0) continue;
    cell.series.push_back({"accuracy", "place of the key", {0.25, 0.75}, {}, {}, {}});
    cell.series[0].y = {length == 100 ? 1.0 : 0.2, length == 100 ? NAN : 0.1};
  }
  return r;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_heat_map_has_a_row_for_each_length_that_has_the_series) {
  const std::vector<NamedHeatMap> maps = results_heat_maps({passkeys("alibi")});
  BOOST_TEST_REQUIRE(maps.size() == 1u);
  BOOST_TEST(maps[0].suffix == "-accuracy");
  const plot::HeatMap& map = maps[0].map;
  BOOST_TEST(map.title == "passkey: alibi");
  BOOST_TEST(map.x_label == "place of the key");
  BOOST_TEST(map.y_label == "characters of garbage");
  BOOST_TEST(map.value_label == "accuracy");
  BOOST_TEST(map.rows == (std::vector<std::string>{"100", "500"}),
             boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(map.values.size() == 4u);
  BOOST_TEST(map.values[0] == 1);
  BOOST_TEST(std::isnan(map.values[1]));
  BOOST_TEST(map.values[2] == 0.2);
  BOOST_TEST(map.x_least == 0);
  BOOST_TEST(map.x_most == 1);
  BOOST_TEST(results_plots({passkeys("alibi")}).empty());  // no curves of the same numbers
}

BOOST_AUTO_TEST_CASE(several_runs_have_a_map_each_and_an_empty_one_is_left_out) {
  RunResult none = passkeys("rope");
  none.result.lengths.resize(2);
  none.result.lengths[0].series.clear();
  RunResult other = passkeys("alibi");
  other.result.protocol = "task";
  const auto maps = results_heat_maps({passkeys("alibi"), none, passkeys("fire")});
  BOOST_TEST_REQUIRE(maps.size() == 2u);
  BOOST_TEST(maps[0].suffix == "-accuracy-alibi");
  BOOST_TEST(maps[1].suffix == "-accuracy-fire");
  BOOST_TEST(results_heat_maps({other}).empty());
  BOOST_TEST(results_heat_maps({}).empty());
  // Labels that are one word in the name of a file.
  RunResult a = passkeys("alibi"), b = passkeys("alibi");
  a.run = "a b";
  b.run = "a-b";
  const auto alike = results_heat_maps({a, b});
  BOOST_TEST(alike.at(0).suffix != alike.at(1).suffix);
  a.run = std::string(300, 'a');
  b.run = std::string(300, 'b');
  const auto longer = results_heat_maps({a, b});
  BOOST_TEST(longer.at(0).suffix.size() < 80u);
  BOOST_TEST(longer.at(0).suffix != longer.at(1).suffix);
}

BOOST_AUTO_TEST_CASE(zero_is_a_length_and_files_say_what_lengths_count) {
  RunResult r = passkeys("alibi");
  r.result.lengths[1].notes = {"a remark"};
  const std::string table = results_table({r});
  BOOST_TEST(has(table, "encoding   quantity   500     0   100\n"), table);
  BOOST_TEST(has(table, "alibi at 0: a remark\n"), table);
  BOOST_TEST(has(results_csv({r}), "length: characters of garbage in a prompt"));
  BOOST_TEST(has(series_csv({r}), ",nan,"));
}

BOOST_AUTO_TEST_SUITE_END()
