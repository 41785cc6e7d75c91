#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "apps/cli/scratch_folder.h"
#include "apps/plot/gnuplot.h"
#include "apps/plot/plot.h"
#include "apps/plot/script.h"
#include "apps/plot/svg.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "tests/support/emulation.h"
#include "tests/support/markup.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

BOOST_AUTO_TEST_SUITE(test_plot)

using namespace farfield;
using namespace farfield::plot;
using farfield::test::Element;
using farfield::test::Markup;
using farfield::test::parse_markup;

namespace {

Plot perplexities() {
  Plot plot;
  plot.title = "Last-token perplexity, 'tiny' model";
  plot.x_label = "evaluation length (tokens)";
  plot.y_label = "perplexity";
  plot.marked_x = 128;
  plot.marked_label = "training length";
  const std::vector<std::pair<std::string, std::vector<double>>> rows = {
      {"sinusoidal", {4.1, 9.0, 40, 230, 700}},
      {"rope", {3.9, 4.6, 7.2, 12.9, 20}},
      {"alibi", {3.95, 3.93, 3.94, 3.96, 3.95}},
      {"kerple_log(r_2=1)", {3.9, 3.85, 3.8, 3.82, 3.8}},
      {"sandwich", {3.96, 3.9, INFINITY, 3.88, 3.87}}};
  for (const auto& [label, values] : rows) {
    Curve curve{label, {}};
    for (size_t i = 0; i < values.size(); ++i) {
      curve.points.push_back({std::exp2(7 + double(i)), values[i], 0.05 * values[i]});
    }
    plot.curves.push_back(curve);
  }
  return plot;
}

bool skip() {
  if (can_plot()) return false;
  BOOST_TEST_MESSAGE("SKIPPED: gnuplot is not installed");
  return true;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_png_is_as_large_as_the_svg) {
  if (skip()) return;
  const std::string png = draw_png(perplexities());
  BOOST_TEST(png.substr(0, 8) == "\x89PNG\r\n\x1a\n");
  const std::string svg = draw_svg(perplexities());
  const auto number = [&](size_t at) {
    return 256 * static_cast<unsigned char>(png.at(at + 2)) +
           static_cast<unsigned char>(png.at(at + 3));
  };
  const std::string box = concat("viewBox=\"0 0 ", number(16), ' ', number(20), '"');
  BOOST_TEST(svg.find(box) != std::string::npos, box);
}

BOOST_AUTO_TEST_CASE(the_users_settings_of_gnuplot_change_no_plot) {
  if (skip()) return;
  const std::string svg = draw_svg(perplexities());
  const TempFolder home;
  std::ofstream(home / ".gnuplot") << "set logscale y\nset datafile separator ','\nset multiplot\n";
  const char* const before = std::getenv("HOME");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("HOME", home.path().c_str(), 1);
  const std::string again = draw_svg(perplexities());
  if (before == nullptr)
    ::unsetenv("HOME");
  else
    ::setenv("HOME", kept.c_str(), 1);
  BOOST_TEST((again == svg));
}

BOOST_AUTO_TEST_CASE(a_plot_is_one_svg_with_every_label) {
  if (skip()) return;
  const std::string svg = draw_svg(perplexities());
  BOOST_TEST(svg.find("<svg") != std::string::npos);
  BOOST_TEST(svg.find("</svg>") != std::string::npos);
  for (const char* text : {"sinusoidal", "rope", "alibi", "kerple_log(r_2=1)", "sandwich", "2048",
                           "evaluation length (tokens)", "training length"})
    BOOST_TEST(svg.find(text) != std::string::npos, text << " is missing");
  if (const char* keep = std::getenv("FARFIELD_KEEP_PLOT")) std::ofstream(keep) << svg;
}

BOOST_AUTO_TEST_CASE(text_that_is_not_utf8_leaves_the_picture_well_formed) {
  BOOST_TEST(escaped("r\xe9sum\xe9 \x01<\n") == "r\xef\xbf\xbdsum\xef\xbf\xbd \xef\xbf\xbd&lt;\n");
  if (!can_plot()) return;
  Plot plot = perplexities();
  plot.title = "r\xe9sum\xe9";
  plot.curves[0].label = "\xff";
  const std::string svg = draw_svg(plot);
  BOOST_TEST(svg.find("r\xef\xbf\xbdsum\xef\xbf\xbd") != std::string::npos);
  BOOST_TEST(find_invalid_utf8(svg) == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_plot_says_what_it_shows_and_shares_no_id_with_another) {
  if (skip()) return;
  Plot other = perplexities();
  other.title = "a < b & \"c\"";
  other.curves.resize(2);
  const std::string one = draw_svg(perplexities()), two = draw_svg(other);
  const Markup markup = parse_markup(one);
  BOOST_TEST(markup.fault == "");
  const std::vector<Element> titles = markup.named("title");
  BOOST_TEST(titles.at(0).text == "Last-token perplexity, 'tiny' model");
  BOOST_TEST(titles.size() == 6u);  // and one for each curve
  for (const Element& title : titles) BOOST_TEST(title.text.find("nuplot") == std::string::npos);
  BOOST_TEST(markup.named("desc").at(0).text ==
             "perplexity by evaluation length (tokens): sinusoidal, rope, alibi, "
             "kerple_log(r_2=1), sandwich");
  BOOST_TEST(markup.named("svg").at(0).attributes.at("role") == "img");
  // Both in one document.
  BOOST_TEST(parse_markup("<html>" + one + two + "</html>").fault == "");
  BOOST_TEST(parse_markup("<html>" + one + one + "</html>").fault != "");
  BOOST_TEST(parse_markup(two).named("title").at(0).text == "a &lt; b &amp; &quot;c&quot;");
}

BOOST_AUTO_TEST_CASE(every_colour_of_a_plot_has_one_for_a_dark_page) {
  if (skip()) return;
  const std::string svg = draw_svg(perplexities());
  const Markup markup = parse_markup(svg);
  const size_t style = svg.find("prefers-color-scheme: dark");
  BOOST_TEST_REQUIRE(style != std::string::npos);
  const std::string id = markup.named("svg").at(0).attributes.at("id");
  int n = 0;
  for (const char* name : {"fill", "stroke", "color"}) {
    for (const std::string& colour : markup.values(name)) {
      if (colour == "none" || colour == "currentColor") continue;
      ++n;
      const std::string rule = "#" + id + " [" + name + "=\"" + colour + "\"]";
      BOOST_TEST(svg.find(rule, style) != std::string::npos, rule << " is missing");
    }
  }
  BOOST_TEST(n > 20);
}

BOOST_AUTO_TEST_CASE(text_of_a_plot_can_be_read_on_a_telephone) {
  if (skip()) return;
  constexpr double kColumn = 358, kLeast = 12;  // pixels; 390 without the margins of the page
  const Markup markup = parse_markup(draw_svg(perplexities(), kPagePlot));
  const std::string box = markup.named("svg").at(0).attributes.at("viewBox");
  const double width = std::stod(box.substr(std::string("0 0 ").size()));
  BOOST_TEST(markup.values("font-size").size() > 10u);
  for (const std::string& size : markup.values("font-size"))
    BOOST_TEST(std::stod(size) * kColumn / width >= kLeast, size << " of " << width);
}

BOOST_AUTO_TEST_CASE(differences_of_many_sizes_stand_on_an_axis_that_is_linear_near_zero) {
  if (skip()) return;
  Plot left = perplexities(), right = left;
  right.title = "Difference to alibi";
  right.y_label = "difference in perplexity";
  right.is_difference = true;
  right.curves = {
      {.label = "sinusoidal", .points = {{128, 0.2, 0.1}, {2048, 700, 100}}, .has_line = false},
      {.label = "rope", .points = {{128, -0.05, 0.1}, {2048, 16, 1}}, .has_line = false}};
  const std::string svg = draw_svg(left, right, {.width = 980, .height = 430});
  if (const char* keep = std::getenv("FARFIELD_KEEP_PLOT")) std::ofstream(keep) << svg;
  const Markup markup = parse_markup(svg);
  BOOST_TEST(markup.fault == "");
  BOOST_TEST(markup.named("title").at(0).text ==
             "Last-token perplexity, 'tiny' model. Difference to alibi");
  BOOST_TEST(svg.find(">difference in perplexity<") != std::string::npos);
  // gnuplot leaves out the label of an axis that numbers leave no room for.
  Plot close = left;
  for (Curve& curve : close.curves)
    for (size_t i = 0; i < curve.points.size(); ++i)
      curve.points[i] = {curve.points[i].x, 12.5 + 0.7 * static_cast<double>(i), 0};
  const std::string both = draw_svg(close, right, {.width = 980, .height = 430});
  BOOST_TEST(both.find('>' + close.y_label + '<') != std::string::npos);
  const auto marks = [&] {
    std::string all;
    for (const Element& text : parse_markup(draw_svg(right)).named("tspan")) all += text.text + ' ';
    return all;
  };
  BOOST_TEST(marks().find("0 1 10 100 ") != std::string::npos, marks());
  // Small ones alone are drawn as they are.
  for (Curve& curve : right.curves) curve.points.resize(1);
  BOOST_TEST(marks().find("0.1") != std::string::npos, marks());
  BOOST_TEST(marks().find(" 10 ") == std::string::npos, marks());
}

BOOST_AUTO_TEST_CASE(a_band_is_named_in_the_key) {
  if (skip()) return;
  Plot plot = perplexities();
  plot.band_label = "band: 95 % interval";
  BOOST_TEST(draw_svg(plot).find(">band:") == std::string::npos);  // there is none
  for (PlotPoint& point : plot.curves[2].points) {
    point.low = 0.9 * point.y;
    point.high = 1.1 * point.y;
  }
  BOOST_TEST(draw_svg(plot).find(">band: 95 % interval<") != std::string::npos);
}

// Text of the numbers beside the axes, the key and all else, in order.
std::string words_of(const std::string& svg) {
  std::string all;
  for (const char* name : {"tspan", "text"})
    for (const Element& text : parse_markup(svg).named(name)) all += text.text + '|';
  return all;
}

BOOST_AUTO_TEST_CASE(two_panels_have_one_key_with_their_bands) {
  if (skip()) return;
  Plot plot = perplexities();
  plot.band_label = "band: SD";
  BOOST_TEST(words_of(draw_svg(plot, plot, {})).find("band: SD") == std::string::npos);
  for (PlotPoint& point : plot.curves[1].points) {
    point.low = 0.9 * point.y;
    point.high = 1.1 * point.y;
  }
  const std::string words = words_of(draw_svg(plot, plot, {}));
  BOOST_TEST(words.find("band: SD|") != std::string::npos);
  BOOST_TEST(words.find("band: SD|") == words.rfind("band: SD|"), words);
}

BOOST_AUTO_TEST_CASE(a_curve_without_points_is_in_no_key) {
  if (skip()) return;
  Plot plot = perplexities();
  plot.curves[3].points.clear();
  BOOST_TEST(words_of(draw_svg(plot)).find(plot.curves[3].label) == std::string::npos);
  const std::string both = words_of(draw_svg(plot, plot, {}));
  BOOST_TEST(both.find(plot.curves[3].label) == std::string::npos, both);
  BOOST_TEST(both.find(plot.curves[4].label) != std::string::npos, both);
}

BOOST_AUTO_TEST_CASE(plots_drawn_together_are_those_drawn_alone) {
  if (skip()) return;
  const Plot one = perplexities();
  Plot two = one, three = one;
  two.marked_x = 0;
  two.title = "";
  two.curves.resize(1);
  for (PlotPoint& point : two.curves[0].points) {
    point.low = 0.9 * point.y;
    point.high = 1.1 * point.y;
  }
  three.is_log_x = three.may_log_y = false;
  std::vector<PlotRequest> requests;
  for (int i = 0; i < 3; ++i) {  // so many that a process makes several
    requests.push_back({.plot = &one});
    requests.push_back({.plot = &two, .size = kPagePlot});
    requests.push_back({&one, &three, {.width = 980, .height = 430}});
    requests.push_back({.plot = &two});
  }
  const std::vector<std::string> together = draw_svgs(requests);
  BOOST_REQUIRE(together.size() == requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    const PlotRequest& r = requests[i];
    const std::string alone =
        r.right == nullptr ? draw_svg(*r.plot, r.size) : draw_svg(*r.plot, *r.right, r.size);
    BOOST_TEST((together[i] == alone), "picture " << i << " differs");
  }
  BOOST_TEST(draw_svgs({}).empty());
}

BOOST_AUTO_TEST_CASE(a_marked_height_is_on_the_axis_with_its_label) {
  if (skip()) return;
  Plot plot;
  plot.is_log_x = plot.may_log_y = false;
  plot.marked_x = 90;
  plot.marked_label = "last tenth";
  plot.curves = {{"share", {{0, 0.5}, {100, 0.1}}}};
  BOOST_TEST(y_range_of(plot).most == 0.5);
  const auto dashed = [&] {  // the first dashed lines
    for (const Element& path : parse_markup(draw_svg(plot)).named("path"))
      if (path.attributes.count("stroke-dasharray") != 0) {
        const std::string& lines = path.attributes.at("d");
        return std::count(lines.begin(), lines.end(), 'M');
      }
    return std::ptrdiff_t{0};
  };
  BOOST_TEST(dashed() == 1);
  plot.marked_y = 0.99;
  plot.marked_y_label = "most of it";
  BOOST_TEST(y_range_of(plot).most == 0.99);
  const std::string svg = draw_svg(plot);
  BOOST_TEST(words_of(svg).find("most of it|") != std::string::npos);
  BOOST_TEST(dashed() == 2);
  // A label beside a line at the right end stands on its left.
  const auto anchors = [](const std::string& picture) {
    const std::vector<std::string> all = parse_markup(picture).values("text-anchor");
    return std::count(all.begin(), all.end(), "end");
  };
  Plot left = plot;
  left.marked_x = 10;
  BOOST_TEST(anchors(svg) == anchors(draw_svg(left)) + 1);
}

BOOST_AUTO_TEST_CASE(a_step_goes_along_and_up_and_a_count_has_whole_marks) {
  if (skip()) return;
  Plot plot;
  plot.may_log_y = false;
  plot.curves = {
      {.label = "heads", .points = {{1, 0}, {4, 1}, {64, 2}, {256, 2}}, .has_markers = false}};
  const auto slopes = [&] {  // parts of lines that go neither along nor up
    int n = 0;
    for (const std::string& path : parse_markup(draw_svg(plot)).values("d")) {
      const size_t begin = path.rfind('l');  // behind the sample in the key
      if (begin == std::string::npos) continue;
      std::istringstream parts(path.substr(begin + 1));
      double dx = 0, dy = 0;
      char comma = ' ';
      while (parts >> dx >> comma >> dy) n += dx != 0 && dy != 0 ? 1 : 0;
    }
    return n;
  };
  BOOST_TEST(slopes() == 2);
  plot.curves[0].is_step = true;
  BOOST_TEST(slopes() == 0);
  BOOST_TEST(words_of(draw_svg(plot)).find("0.5|") != std::string::npos);
  plot.has_whole_y = true;
  BOOST_TEST(words_of(draw_svg(plot)).find('.') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(numbers_of_a_long_axis_do_not_run_together) {
  if (skip()) return;
  Plot plot;
  Curve curve{.label = "a"};
  for (double x = 1; x <= 2048; x *= 2) curve.points.push_back({x, x});
  plot.curves = {curve};
  BOOST_TEST(words_of(draw_svg(plot)).find("512|1024|2048|") != std::string::npos);
  const std::string narrow = words_of(draw_svg(plot, kPagePlot));
  BOOST_TEST(narrow.find("|256|1024|") != std::string::npos, narrow);
  BOOST_TEST(narrow.find("|512|") == std::string::npos, narrow);
}

BOOST_AUTO_TEST_CASE(a_given_range_of_y_is_taken_and_cuts_curves_off) {
  if (skip()) return;
  Plot plot = perplexities();
  BOOST_TEST(has_log_y(plot));
  BOOST_TEST(y_range_of(plot).most == 700);
  plot.y_range = {3.8, 4.2};
  BOOST_TEST(!has_log_y(plot));
  BOOST_TEST(y_range_of(plot).most == 4.2);
  const std::string words = words_of(draw_svg(plot));
  BOOST_TEST(words.find(" 4.1|") != std::string::npos, words);
  BOOST_TEST(words.find("500|") == std::string::npos, words);
}

BOOST_AUTO_TEST_CASE(labels_cannot_hold_commands) {
  if (skip()) return;
  Plot plot = perplexities();
  plot.curves.resize(1);
  plot.curves[0].label = "x'; system('false'); set title 'y\nquit";
  plot.title = "`false` \"$PATH\"";
  BOOST_TEST(draw_svg(plot).find("system(") != std::string::npos);  // shown, not run
}

BOOST_AUTO_TEST_CASE(a_narrow_range_has_a_linear_axis_and_still_draws) {
  if (skip()) return;
  Plot plot = perplexities();
  plot.curves = {{"one", {{128, 4}}}, {"flat", {{128, 4}, {256, 4}}}};
  BOOST_TEST(draw_svg(plot).find("flat") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_short_linear_axis_has_marks_between_whole_numbers) {
  Plot plot;
  plot.is_log_x = false;
  plot.curves = {{"one", {{11, 4}, {14, 5}}}};
  BOOST_TEST(plot_script(plot, PlotSize{}).commands.find("set format x '%g'") != std::string::npos);
  plot.curves = {{"one", {{0, 4}, {2'000'000, 5}}}};
  BOOST_TEST(plot_script(plot, PlotSize{}).commands.find("set format x '%.0f'") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_linear_axis_begins_at_zero_and_lines_need_no_markers) {
  if (skip()) return;
  Plot plot;
  plot.is_log_x = false;
  plot.may_log_y = false;
  Curve curve{.label = "bias", .colour = "#123456", .has_markers = false};
  for (const double d : {0.0, 1.0, 700.0}) curve.points.push_back({d, -d});
  plot.curves = {curve};
  const std::string svg = draw_svg(plot);
  BOOST_TEST(svg.find("bias") != std::string::npos);
  BOOST_TEST(svg.find("#123456") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_curve_keeps_the_style_it_is_given) {
  if (skip()) return;
  Plot plot = perplexities();
  plot.curves = {plot.curves[3]};
  const std::string fourth = "#009e73";
  BOOST_TEST(draw_svg(plot).find(fourth) == std::string::npos);
  plot.curves[0].style = 3;
  BOOST_TEST(draw_svg(plot).find(fourth) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(long_curves_are_thinned_to_means_that_keep_their_shape) {
  std::vector<PlotPoint> points;
  for (int i = 1; i <= 1000; ++i)
    points.push_back({double(i), 2.0 * i, 0.0, 2.0 * i - 1, 2.0 * i + 3});
  const std::vector<PlotPoint> few = thinned(points, 10, false);
  BOOST_TEST_REQUIRE(few.size() == 10u);
  BOOST_TEST(few[0].x == 50.5, boost::test_tools::tolerance(1e-12));  // of 1 .. 100
  BOOST_TEST(few[9].x == 950.5, boost::test_tools::tolerance(1e-12));
  for (const PlotPoint& point : few) {
    BOOST_TEST(point.y == 2 * point.x, boost::test_tools::tolerance(1e-12));
    BOOST_TEST(point.low == point.y - 1, boost::test_tools::tolerance(1e-12));
    BOOST_TEST(point.high == point.y + 3, boost::test_tools::tolerance(1e-12));
  }
  // By the logarithm the beginning keeps its points: 1 .. 1000 in parts of a factor of 10^(1/30).
  const std::vector<PlotPoint> logs = thinned(points, 90, true);
  BOOST_TEST(logs.size() <= 90u);
  BOOST_TEST(logs.size() > 60u);
  for (size_t i = 0; i < 10; ++i) BOOST_TEST(logs[i].x == static_cast<double>(i + 1));
  BOOST_TEST(logs.back().x > 950);
  // Few points are left as they are.
  BOOST_TEST(thinned(points, 1000, true).size() == 1000u);
}

BOOST_AUTO_TEST_CASE(thinning_keeps_gaps_and_leaves_what_is_not_finite_out_of_means) {
  std::vector<PlotPoint> points;
  for (int i = 0; i < 100; ++i) points.push_back({double(i), 1});
  points[5].y = INFINITY;
  for (size_t i = 50; i < 60; ++i) points[i].y = std::nan("");
  const std::vector<PlotPoint> few = thinned(points, 10, false);
  BOOST_TEST(few[0].y == 1);
  BOOST_TEST(std::isnan(few[5].y));
  BOOST_TEST(few[6].y == 1);
}

BOOST_AUTO_TEST_CASE(a_band_is_drawn_behind_its_line_and_thousands_of_points_are_few) {
  if (skip()) return;
  Plot plot;
  plot.title = "position-wise: perplexity, length 4096";
  plot.x_label = "position (tokens)";
  plot.y_label = "perplexity";
  plot.marked_x = 512;
  plot.marked_label = "training length";
  for (int c = 0; c < 3; ++c) {
    Curve curve{.label = c == 0   ? "rope"
                         : c == 1 ? "kerple_log"
                                  : "kerple_log masked@512",
                .has_markers = false};
    for (int t = 1; t <= 4096; ++t) {
      const double floor = c == 0 && t > 512 ? 8.0 + (t - 512) * 0.004 : 8.0 - c * 0.5;
      const double y = floor + 30.0 / t + 0.3 * std::sin(0.9 * t + c);
      curve.points.push_back({double(t), y, 0, y * 0.9, y * 1.1});
    }
    plot.curves.push_back(curve);
  }
  const std::string svg = draw_svg(plot);
  if (const char* keep = std::getenv("FARFIELD_KEEP_BAND")) std::ofstream(keep) << svg;
  BOOST_TEST(svg.find("fill-opacity = '0.18") != std::string::npos);
  BOOST_TEST(svg.size() < 200000u);
  BOOST_TEST(svg.find(">4096</tspan>") != std::string::npos);  // the axis goes to the last point
  for (Curve& curve : plot.curves)
    for (PlotPoint& point : curve.points) point.low = std::nan("");
  BOOST_TEST(draw_svg(plot).find("fill-opacity = '0.18") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_ramp_goes_from_dark_to_light) {
  BOOST_TEST(ramp_colour(0, 1) == "#440154");
  BOOST_TEST(ramp_colour(0, 12) == "#440154");
  BOOST_TEST(ramp_colour(11, 12) == "#f0dc28");
  BOOST_TEST(ramp_colour(1, 3) == "#21918c");
}

BOOST_AUTO_TEST_CASE(nothing_to_draw_is_an_error) {
  Plot plot;
  plot.curves = {{"a", {{128, INFINITY}}}};
  BOOST_CHECK_EXCEPTION(draw_svg(plot), ConfigError,
                        says("[plot] expected at least one point with a finite value"));
}

BOOST_AUTO_TEST_CASE(a_missing_gnuplot_is_a_clear_error) {
  if (test::skip_if_emulated("posix_spawn() does not say there that a program is missing")) return;
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nonexistent", 1);
  BOOST_CHECK_EXCEPTION(draw_svg(perplexities()), BackendError,
                        says("[plot] expected gnuplot", "install gnuplot-nox"));
  ::setenv("PATH", path.c_str(), 1);
}

// Numbers that a plot goes with are written whatever happens to it.
BOOST_AUTO_TEST_CASE(a_plot_that_cannot_be_drawn_says_why) {
  if (test::skip_if_emulated("posix_spawn() does not say there that a program is missing")) return;
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nonexistent", 1);
  std::string why;
  BOOST_TEST(draw_svg_or_say(perplexities(), why).empty());
  BOOST_TEST(why.find("install gnuplot-nox") != std::string::npos, why);
  ::setenv("PATH", path.c_str(), 1);
}

BOOST_AUTO_TEST_CASE(a_place_for_temporary_files_that_is_not_there_costs_no_plot) {
  const char* const given = std::getenv("TMPDIR");
  const std::string before = given != nullptr ? given : "";
  ::setenv("TMPDIR", "/nonexistent", 1);
  {
    const cli::ScratchFolder scratch("test");
    BOOST_TEST(std::filesystem::is_directory(std::filesystem::path(scratch / "x").parent_path()));
  }
  if (!skip()) BOOST_TEST(draw_svg(perplexities()).find("</svg>") != std::string::npos);
  if (before.empty())
    ::unsetenv("TMPDIR");
  else
    ::setenv("TMPDIR", before.c_str(), 1);
}

BOOST_AUTO_TEST_SUITE_END()
