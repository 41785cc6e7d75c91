#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/plot/gnuplot.h"
#include "apps/plot/heat_map.h"
#include "engine/base/error.h"
#include "tests/support/markup.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_heat_map)

using namespace farfield;
using namespace farfield::plot;

namespace {

HeatMap two_rows() {
  return {.title = "keys, 'quoted'",
          .x_label = "place",
          .y_label = "characters of garbage",
          .value_label = "accuracy",
          .rows = {"100", "5000"},
          .values = {1, 1, 0, NAN}};
}

size_t n_filled(const std::string& svg, const std::string& colour) {
  size_t n = 0;
  for (const test::Element& element : test::parse_markup(svg).elements) {
    const auto fill = element.attributes.find("fill");
    n += element.name == "polygon" && fill != element.attributes.end() && fill->second == colour;
  }
  return n;
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_finite_value_is_a_cell_of_its_colour) {
  if (!can_plot()) {
    BOOST_TEST_MESSAGE("SKIPPED: gnuplot is not installed");
    return;
  }
  const std::string svg = draw_svg(two_rows());
  BOOST_TEST(test::parse_markup(svg).fault == "");
  for (const char* part : {"keys, 'quoted'", "place", "characters of garbage", "accuracy", ">100<",
                           ">5000<", "2 rows; the darker the lower"})
    BOOST_TEST(svg.find(part) != std::string::npos, part << " is missing");
  HeatMap more = two_rows();
  more.values[3] = 1;
  const std::string whole = draw_svg(more);
  BOOST_TEST(n_filled(whole, "#f0dc28") == n_filled(svg, "#f0dc28") + 1);
}

BOOST_AUTO_TEST_CASE(a_map_that_is_not_whole_or_empty_is_refused) {
  HeatMap map = two_rows();
  map.values.pop_back();
  BOOST_CHECK_EXCEPTION(draw_svg(map), ConfigError,
                        says("[plot] expected as many values in each of 2 rows, got 3"));
  map.rows.clear();
  BOOST_CHECK_EXCEPTION(draw_svg(map), ConfigError, says("[plot] expected as many values"));
  map = two_rows();
  map.values.assign(4, NAN);
  BOOST_CHECK_EXCEPTION(draw_svg(map), ConfigError,
                        says("[plot] expected at least one cell with a finite value"));
}

BOOST_AUTO_TEST_SUITE_END()
