#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/sweep/arms.h"
#include "apps/sweep/report.h"
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

// The figure of the first output, when the models, on each seed, have these perplexities at 1 and 2
// L.
ReportFigure figure_with(Experiment e, int64_t n_seeds,
                         const std::vector<std::vector<double>>& perplexities) {
  PlanOptions options = made_up_options(Scale::tiny);
  options.seeds = n_seeds;
  const Plan plan = plan_of(e, options);
  Results results;
  for (size_t i = 0; i < plan.cells.size(); ++i) {
    std::vector<double> nll;
    for (const double p : perplexities.at(i)) nll.push_back(std::log(p));
    results.add(made_up_result(plan, plan.cells[i], "P1", nll));
  }
  const Measured m(plan, plan.datasets.front(), results);
  const std::vector<ReportFigure> figures = figures_of(m, e.outputs.front());
  BOOST_REQUIRE(figures.size() == 1U);
  return figures.front();
}

Experiment three_models() {
  Experiment e = two_models();
  Arm third = e.arms[1];
  third.label = "Sinusoidal";
  third.posenc = third.encoding = "sinusoidal";
  e.arms.push_back(third);
  return e;
}

plot::Plot between(double least, double most) {
  plot::Plot plot;
  plot.curves = {{"a", {{1, least}, {2, most}}}};
  return plot;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(test_figures)

BOOST_AUTO_TEST_CASE(two_seeds_have_a_band_of_their_standard_deviation) {
  const ReportFigure figure = figure_with(two_models(), 2, {{4, 5}, {6, 5}, {7, 8}, {7, 9}});
  const plot::PlotPoint point = figure.plot.curves.at(0).points.at(0);
  BOOST_TEST(point.y == 5, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(point.low == 5 - std::sqrt(2), boost::test_tools::tolerance(1e-12));
  BOOST_TEST(point.high == 5 + std::sqrt(2), boost::test_tools::tolerance(1e-12));
  BOOST_TEST(figure.plot.band_label == "band: ± SD");
  BOOST_REQUIRE(figure.notes.size() == 1U);
  const ReportFigure one = figure_with(two_models(), 1, {{4, 5}, {7, 8}});
  BOOST_TEST(std::isnan(one.plot.curves.at(0).points.at(0).low));
  BOOST_TEST(one.plot.band_label == "");
  BOOST_TEST(one.notes.empty());
}

BOOST_AUTO_TEST_CASE(a_series_has_a_band_at_each_point) {
  Experiment e = two_models();
  e.arms.resize(1);
  e.measures = {gradient()};
  e.outputs = {cumulative_gradient()};
  PlanOptions options = made_up_options(Scale::tiny);
  options.seeds = 2;
  const Plan plan = plan_of(e, options);
  Results results;
  for (size_t i = 0; i < 2; ++i) {
    eval::LengthResult cell;
    cell.length = 256;
    cell.series = {line("cumulative gradient", "", {1, 128, 255}, {1, i == 0 ? 0.5 : 0.7, 0.2})};
    CellResult result;
    result.hash = plan.cells[i].hash();
    result.measured[plan.cells[i].measurements.front().id()].lengths = {cell};
    results.add(result);
  }
  const Measured m(plan, plan.datasets.front(), results);
  const ReportFigure figure = figures_of(m, e.outputs.front()).at(0);
  const std::vector<plot::PlotPoint>& points = figure.plot.curves.at(0).points;
  BOOST_REQUIRE(points.size() == 3U);
  BOOST_TEST(points[1].y == 0.6, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(points[1].high - points[1].y == std::sqrt(0.02), boost::test_tools::tolerance(1e-9));
  BOOST_TEST(points[2].high == 0.2, boost::test_tools::tolerance(1e-12));
  // The lines that the papers read it by: T = 255 inputs, L = 64.
  BOOST_TEST(figure.plot.marked_x == 191);
  BOOST_TEST(figure.plot.marked_y == 0.99);
  BOOST_TEST(!plot::has_points(figure.near));
}

BOOST_AUTO_TEST_CASE(curves_under_an_explosion_have_a_second_panel) {
  const ReportFigure figure = figure_with(three_models(), 1, {{5, 5.2}, {5.5, 5}, {6, 60}});
  BOOST_REQUIRE(plot::has_points(figure.near));
  BOOST_TEST(figure.near.y_range.least == 5, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(figure.near.y_range.most == 5.5, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(figure.near.curves.size() == 3U);  // the third leaves it at the top
  BOOST_TEST(figure.notes.size() == 1U);
  // One that starts lower is seen until it explodes.
  BOOST_TEST(
      figure_with(three_models(), 1, {{5, 5.2}, {5.5, 5}, {4.5, 60}}).near.y_range.least == 4.5,
      boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(curves_that_can_be_told_apart_have_one_panel) {
  // Nothing explodes.
  BOOST_TEST(
      !plot::has_points(figure_with(three_models(), 1, {{5, 5.2}, {5.5, 5}, {60, 68}}).near));
  // One curve alone stays near its value.
  BOOST_TEST(!plot::has_points(figure_with(three_models(), 1, {{5, 5.2}, {5, 50}, {6, 60}}).near));
  // Those that stay fill more than a quarter of the axis.
  BOOST_TEST(!plot::has_points(figure_with(three_models(), 1, {{5, 5}, {9, 9}, {9, 18}}).near));
  // The bound is 15 %.
  BOOST_TEST(plot::has_points(figure_with(three_models(), 1, {{5, 5.74}, {5.5, 5}, {6, 60}}).near));
  BOOST_TEST(
      !plot::has_points(figure_with(three_models(), 1, {{5, 5.76}, {5.5, 5}, {6, 60}}).near));
}

BOOST_AUTO_TEST_CASE(figures_of_a_quantity_share_a_scale_unless_one_would_be_squeezed) {
  std::vector<ReportFigure> figures(5);
  const char* const quantities[] = {"p", "p", "p", "q", ""};
  const plot::Plot plots[] = {between(1, 2), between(1.5, 3), between(10, 20), between(1, 9),
                              between(1, 9)};
  for (size_t i = 0; i < figures.size(); ++i) {
    figures[i].plot = plots[i];
    figures[i].quantity = quantities[i];
  }
  figures[0].near = between(7, 8);
  figures[1].near = between(7.5, 8.5);
  share_y_ranges(figures);
  for (const size_t i : {0, 1}) {
    BOOST_TEST(figures[i].plot.y_range.least == 1);
    BOOST_TEST(figures[i].plot.y_range.most == 3);
    BOOST_TEST(figures[i].near.y_range.least == 7);
    BOOST_TEST(figures[i].near.y_range.most == 8.5);
    BOOST_TEST(figures[i].notes.size() == 1U);
  }
  for (const size_t i : {2, 3, 4}) {
    BOOST_TEST(figures[i].plot.y_range.empty());
    BOOST_TEST(figures[i].notes.empty());
  }
}

BOOST_AUTO_TEST_CASE(a_count_of_heads_is_drawn_in_whole_steps) {
  Experiment e = two_models();
  e.arms.resize(1);
  e.measures = {{.key = "K", .protocol = "effective-length"}};
  const Output output = {.form = Output::Form::series,
                         .measure = "K",
                         .quantity = "heads",
                         .most_x = 1,
                         .is_count = true};
  const Plan plan = plan_of(e, made_up_options(Scale::tiny));
  eval::LengthResult cell;
  cell.series = {line("heads", "", {1, 32, 96}, {0, 2, 4})};
  CellResult result;
  result.hash = plan.cells.front().hash();
  result.measured[plan.cells.front().measurements.front().id()].lengths = {cell};
  Results results;
  results.add(result);
  const Measured m(plan, plan.datasets.front(), results);
  const plot::Plot plot = figures_of(m, output).at(0).plot;
  BOOST_TEST(plot.has_whole_y);
  BOOST_TEST(plot.curves.at(0).is_step);
  BOOST_REQUIRE(plot.curves[0].points.size() == 3U);
  BOOST_TEST(plot.curves[0].points[2].x == 64);
  BOOST_TEST(plot.curves[0].points[2].y == 2);  // not 3, which a slope would have there
}

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

BOOST_AUTO_TEST_CASE(a_page_shows_both_panels_with_their_notes) {
  Section section;
  section.id = "test/two";
  ReportFigure figure;
  figure.caption = "perplexity";
  figure.near = between(1, 2);
  figure.notes = {"Bands: a < b.", "Second panel."};
  section.figures = {figure, {}};
  ReportTable table;
  table.caption = "a caption";
  table.header = {"model", "1 L"};
  table.rows = {{{"learned_abs"}, {"position_out_of_range"}}};
  section.tables = {table};
  Report report;
  report.sections = {section};
  const std::string page = report_html(report, {{"<svg>one</svg><svg>two</svg>", "<svg>3</svg>"}});
  const auto has = [&](const char* text) { return page.find(text) != std::string::npos; };
  BOOST_TEST(
      has("<figure class=\"two\">\n<figcaption>perplexity<br><span "
          "class=\"numbers\">Bands: a &lt; b. Second panel.</span></figcaption>\n"
          "<svg>one</svg><svg>two</svg></figure>"));
  BOOST_TEST(has("<figure>\n<figcaption></figcaption>\n<svg>3</svg></figure>"));
  // Names stay whole, codes take several lines.
  BOOST_TEST(has("<th scope=\"row\">learned_abs</th>"));
  BOOST_TEST(has("<td class=\"code\">position_<wbr>out_<wbr>of_<wbr>range</td>"));
  BOOST_TEST(has("<caption><span>a caption</span></caption>"));
}

BOOST_AUTO_TEST_SUITE_END()
