#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "apps/demo/page.h"
#include "apps/plot/gnuplot.h"
#include "tests/support/markup.h"

BOOST_AUTO_TEST_SUITE(test_demo_page)

using namespace farfield;
using namespace farfield::demo;
using farfield::test::Element;
using farfield::test::Markup;
using farfield::test::parse_markup;

namespace {

eval::RunResult result(const std::string& posenc, double rise) {
  eval::RunResult r;
  r.posenc = posenc;
  r.train_len = 128;
  r.result.protocol = "last-token";
  for (const int64_t length : {128, 2048}) {
    eval::LengthResult cell;
    cell.length = length;
    for (int i = 0; i < 10; ++i) cell.items.push_back(0.1 * i + (length > 128 ? rise : 0));
    cell.mean_nll = 0.45 + (length > 128 ? rise : 0);
    cell.nll_error = 0.1;
    r.result.lengths.push_back(cell);
  }
  return r;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_pattern_is_claimed_only_where_the_numbers_show_it) {
  const auto all = findings({result("sinusoidal", 3), result("rope", 0.3), result("alibi", 0)});
  BOOST_TEST(has(all[0], "sinusoidal explodes: 1.568 at 128, 31.5 at 2048, that is +3.000"));
  BOOST_TEST(has(all[1], "rope degrades"));
  BOOST_TEST(has(all[2], "alibi stays flat"));
  BOOST_TEST(has(all[3], "That pattern is seen here, for every encoding of the table."));

  const auto some = findings({result("sinusoidal", 0.2), result("rope", 0.3), result("alibi", 1)});
  BOOST_TEST(has(some[3], "Here it is seen for rope, and not for sinusoidal and alibi."));
  const auto none = findings({result("sinusoidal", 0), result("sandwich", 2)});
  BOOST_TEST(has(none[2], "That pattern is not seen here."));
}

BOOST_AUTO_TEST_CASE(a_peak_between_the_ends_is_told) {
  eval::RunResult r = result("sinusoidal", 0.2);
  eval::LengthResult peak = result("", 3).result.lengths[1];
  peak.length = 1024;
  r.result.lengths.insert(r.result.lengths.begin() + 1, peak);
  BOOST_TEST(has(findings({r})[0], "on the same tokens; it explodes in between, to 31.5 at 1024."));
}

BOOST_AUTO_TEST_CASE(the_second_plot_leaves_out_what_hides_the_rest_and_keeps_colours) {
  const auto plots = demo_plots(
      {result("sinusoidal", 3), result("alibi", 0), result("rope", 1), result("sandwich", 0.1)});
  BOOST_TEST_REQUIRE(plots.size() == 2u);
  BOOST_TEST(plots[0].curves.size() == 4u);
  BOOST_TEST(plots[1].title == "The same without sinusoidal and rope");
  BOOST_TEST_REQUIRE(plots[1].curves.size() == 2u);
  for (const plot::Curve& curve : plots[1].curves)
    for (const plot::Curve& same : plots[0].curves)
      if (same.label == curve.label) BOOST_TEST(same.style == curve.style);
  BOOST_TEST(plots[1].curves[1].style == 3);
  BOOST_TEST(demo_plots({result("alibi", 0), result("sandwich", 0)}).size() == 1u);
  BOOST_TEST(demo_plots({result("sinusoidal", 3)}).size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_page_stands_alone_and_escapes_what_it_shows) {
  DemoFacts facts;
  facts.text_from = "<script>alert(1)</script>";
  eval::RunResult failed = result("learned_abs", 0);
  failed.result.lengths[1] = eval::LengthResult();
  failed.result.lengths[1].length = 2048;
  failed.result.lengths[1].failure = "OOM";
  const std::string page =
      demo_page(facts, {result("sinusoidal", 3), failed},
                {{"all & more", "<?xml version=\"1.0\"?><!DOCTYPE svg><svg id=\"plot\"></svg>"}},
                "last-token.csv");
  BOOST_TEST(!has(page, "<script>"));
  BOOST_TEST(has(page, "&lt;script&gt;"));
  BOOST_TEST(!has(page, "<?xml"));
  BOOST_TEST(has(page, "<svg id=\"plot\">"));
  BOOST_TEST(has(page, "<figcaption>all &amp; more</figcaption>"));
  BOOST_TEST(!has(page, "http"));  // nothing is loaded from elsewhere
  BOOST_TEST(has(page, "OOM"));
  BOOST_TEST(has(page, "learned_abs cannot be judged"));
  BOOST_TEST(has(page, "class=\"explodes\""));
  BOOST_TEST(has(page, "class=\"failed\" colspan=\"2\">OOM</td>"));
  BOOST_TEST(has(page, "<a href=\"last-token.csv\">"));
}

namespace {

std::vector<eval::RunResult> usual() {
  return {result("sinusoidal", 3), result("rope", 1.5), result("alibi", 0),
          result("kerple_log", -0.3), result("sandwich", 0.06)};
}

// Of the class, or of a class among others.
std::vector<Element> of_class(const Markup& in, const std::string& css) {
  std::vector<Element> found;
  for (const Element& element : in.elements)
    if (const auto at = element.attributes.find("class"); at != element.attributes.end())
      if ((' ' + at->second + ' ').find(' ' + css + ' ') != std::string::npos)
        found.push_back(element);
  return found;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_page_is_well_formed_with_plots_that_say_what_they_show) {
  std::vector<PageFigure> figures;
  if (plot::can_plot())
    for (const plot::Plot& plot : demo_plots(usual()))
      figures.push_back({plot.title, plot::draw_svg(plot, plot::kPagePlot)});
  else
    BOOST_TEST_MESSAGE("SKIPPED: the plots; gnuplot is not installed");
  const Markup page = parse_markup(demo_page({}, usual(), figures, "last-token.csv"));
  BOOST_TEST(page.fault == "");  // every id once, too
  BOOST_TEST(page.named("svg").size() == figures.size());
  const std::vector<Element> titles = page.named("title");
  for (const PageFigure& figure : figures)
    BOOST_TEST(std::any_of(titles.begin(), titles.end(),
                           [&](const Element& title) { return title.text == figure.caption; }));
  for (const Element& title : titles) BOOST_TEST(!has(title.text, "nuplot"));
}

BOOST_AUTO_TEST_CASE(sentence_colour_and_verdict_say_the_same) {
  const std::string html = demo_page({}, usual(), {}, "x.csv");
  const Markup page = parse_markup(html);
  for (const char* said :
       {"<li>sinusoidal explodes: ", "<li>rope explodes: ", "<li>alibi stays flat: ",
        "<li>kerple_log improves: ", "<li>sandwich degrades: "})
    BOOST_TEST(has(html, said), said);
  std::string words;
  for (const Element& cell : of_class(page, "word"))
    if (cell.name == "td") words += cell.text + ", ";
  BOOST_TEST(words == "explodes, explodes, stays flat, improves, degrades, ");
  // A number and its error are two cells; the legend shows each colour once.
  for (const auto& [css, n] : std::vector<std::pair<const char*, size_t>>{
           {"explodes", 2 * 2 + 1}, {"degrades", 2 + 1}, {"improves", 2 + 1}})
    BOOST_TEST(of_class(page, css).size() == n, css);
  BOOST_TEST(of_class(page, "swatch").size() == 4u);
  // What is known of rotary encodings is not another word than what is seen.
  BOOST_TEST(has(html, "rotary degrades or explodes"));
}

BOOST_AUTO_TEST_CASE(numbers_line_up_and_the_table_says_that_it_goes_on) {
  const std::string html = demo_page({}, usual(), {}, "x.csv");
  BOOST_TEST(has(html, "font-variant-numeric: tabular-nums"));
  for (const char* part : {">1.57</td><td class=\"error flat\">± 0.16</td>",
                           ">31.50</td><td class=\"error explodes\">± 3.15</td>", "class=\"cue\"",
                           "overflow-x: auto", "prefers-color-scheme: dark"})
    BOOST_TEST(has(html, part), part << " is missing");
}

BOOST_AUTO_TEST_SUITE_END()
