#include <boost/test/unit_test.hpp>

#include "apps/demo_page.h"

using namespace farfield::apps;

namespace {

RunResult result(const std::string& posenc, double rise) {
  RunResult r;
  r.posenc = posenc;
  r.train_len = 128;
  r.result.protocol = "last-token";
  for (const int64_t length : {128, 2048}) {
    LengthResult cell;
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

BOOST_AUTO_TEST_CASE(the_second_plot_leaves_out_what_hides_the_rest_and_keeps_colours) {
  const auto plots = demo_plots(
      {result("sinusoidal", 3), result("alibi", 0), result("rope", 1), result("sandwich", 0.1)});
  BOOST_TEST_REQUIRE(plots.size() == 2u);
  BOOST_TEST(plots[0].curves.size() == 4u);
  BOOST_TEST(plots[1].title == "The same without sinusoidal and rope");
  BOOST_TEST_REQUIRE(plots[1].curves.size() == 2u);
  for (const Curve& curve : plots[1].curves)
    for (const Curve& same : plots[0].curves)
      if (same.label == curve.label) BOOST_TEST(same.style == curve.style);
  BOOST_TEST(plots[1].curves[1].style == 3);
  BOOST_TEST(demo_plots({result("alibi", 0), result("sandwich", 0)}).size() == 1u);
  BOOST_TEST(demo_plots({result("sinusoidal", 3)}).size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_page_stands_alone_and_escapes_what_it_shows) {
  DemoFacts facts;
  facts.text_from = "<script>alert(1)</script>";
  RunResult failed = result("learned_abs", 0);
  failed.result.lengths[1] = LengthResult();
  failed.result.lengths[1].length = 2048;
  failed.result.lengths[1].failure = "OOM";
  const std::string page =
      demo_page(facts, {result("sinusoidal", 3), failed},
                {"<?xml version=\"1.0\"?><!DOCTYPE svg><svg id=\"plot\"></svg>"});
  BOOST_TEST(!has(page, "<script>"));
  BOOST_TEST(has(page, "&lt;script&gt;"));
  BOOST_TEST(!has(page, "<?xml"));
  BOOST_TEST(has(page, "<svg id=\"plot\">"));
  BOOST_TEST(!has(page, "http"));  // nothing is loaded from elsewhere
  BOOST_TEST(has(page, "OOM"));
  BOOST_TEST(has(page, "learned_abs cannot be judged"));
  BOOST_TEST(has(page, "class=\"bad\""));
}
