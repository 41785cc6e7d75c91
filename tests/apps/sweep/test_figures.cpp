#include <boost/test/unit_test.hpp>

#include "apps/sweep/sections.h"
#include "tests/apps/sweep/sweep_fixture.h"

using namespace farfield;
using namespace farfield::sweep;

namespace {

eval::Series line(const std::string& name, const std::string& of, std::vector<double> x,
                  std::vector<double> y) {
  eval::Series s;
  s.name = name;
  s.axis = "distance (tokens)";
  s.of = of;
  s.x = std::move(x);
  s.y = std::move(y);
  return s;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(test_figures)

BOOST_AUTO_TEST_CASE(a_series_ends_with_its_axis_and_heads_have_colours_in_order) {
  eval::LengthResult cell;
  cell.series = {line("kernel", "h1", {0, 32, 96}, {0, -1, -3}),
                 line("kernel", "h2", {0, 64, 96}, {0, -8, -9}), line("other", "", {0, 1}, {0, 0})};
  const Output output = {.form = Output::Form::series,
                         .measure = "K",
                         .quantity = "kernel",
                         .is_log_x = false,
                         .most_x = 1};
  Experiment e = two_models();
  e.arms.resize(1);
  e.measures = {{.key = "K", .protocol = "effective-length"}};
  const Plan plan = plan_of(e, made_up_options(Scale::tiny));
  CellResult result;
  result.hash = plan.cells.front().hash();
  result.measured[plan.cells.front().measurements.front().id()].lengths = {cell};
  Results results;
  results.add(result);
  const Measured m(plan, plan.datasets.front(), results);
  const std::vector<ReportFigure> figures = figures_of(m, output);
  BOOST_REQUIRE(figures.size() == 1U);
  const std::vector<plot::Curve>& curves = figures[0].plot.curves;
  BOOST_REQUIRE(curves.size() == 2U);
  BOOST_TEST(curves[0].label == "ALiBi h1");
  BOOST_REQUIRE(curves[0].points.size() == 3U);
  BOOST_TEST(curves[0].points[2].x == 64);  // L, between two points
  BOOST_TEST(curves[0].points[2].y == -2);
  BOOST_REQUIRE(curves[1].points.size() == 2U);
  BOOST_TEST(curves[1].points[1].x == 64);
  BOOST_TEST(curves[0].colour != curves[1].colour);
  BOOST_TEST(!curves[0].colour.empty());
}

BOOST_AUTO_TEST_CASE(no_two_lines_of_a_figure_look_alike) {
  Experiment e = two_models();
  Arm same = e.arms[0], other = e.arms[0];
  same.label = "ALiBi, trained at 4 L";
  same.train_len = 4;
  other.label = "another";
  other.encoding.clear();
  e.arms.push_back(same);
  e.arms.push_back(other);
  const Plan plan = plan_of(e, made_up_options(Scale::tiny));
  Results results;
  for (const Cell& cell : plan.cells) results.add(made_up_result(plan, cell, "P1", {1, 2}));
  const Measured m(plan, plan.datasets.front(), results);
  const std::vector<ReportFigure> figures = figures_of(m, plan.experiment->outputs.front());
  BOOST_REQUIRE(figures.size() == 1U);
  std::vector<int> styles;
  for (const plot::Curve& curve : figures[0].plot.curves) styles.push_back(curve.style);
  BOOST_REQUIRE(styles.size() == 4U);
  BOOST_TEST(styles[0] == 0);  // the style of ALiBi in every figure
  BOOST_TEST(styles[1] == 3);  // and of rope
  for (size_t i = 0; i < styles.size(); ++i)
    for (size_t j = 0; j < i; ++j) BOOST_TEST(styles[i] % 8 != styles[j] % 8);
}

BOOST_AUTO_TEST_SUITE_END()
