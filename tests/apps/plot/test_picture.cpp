#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/plot/gnuplot.h"
#include "apps/plot/picture.h"
#include "engine/base/error.h"
#include "tests/support/markup.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_picture)

using namespace farfield;
using namespace farfield::plot;

BOOST_AUTO_TEST_CASE(a_matrix_becomes_an_image_with_labelled_axes) {
  if (!can_plot()) {
    BOOST_TEST_MESSAGE("SKIPPED: gnuplot is not installed");
    return;
  }
  Picture picture{.title = "a bias, 'quoted'", .x_label = "key", .y_label = "query", .n = 3};
  for (int i = 0; i < 9; ++i) picture.values.push_back(i % 4 == 3 ? NAN : -i);
  const std::string svg = draw_svg(picture);
  for (const char* part : {"<image", "a bias, 'quoted'", "key", "query"})
    BOOST_TEST(svg.find(part) != std::string::npos, part << " is missing");
  // Axes and text follow a dark scheme; colours stand for values, here and in the scale.
  const auto markup = test::parse_markup(svg);
  BOOST_TEST(markup.fault == "");
  const size_t style = svg.find("prefers-color-scheme: dark");
  BOOST_TEST(svg.find("[stroke=\"#000000\"]", style) != std::string::npos);
  BOOST_TEST(svg.find("'#440154'") != std::string::npos);
  BOOST_TEST(svg.find("\"#440154\"", style) == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_matrix_of_another_size_is_refused) {
  Picture picture;
  picture.n = 2;
  picture.values = {1, 2, 3};
  BOOST_CHECK_EXCEPTION(draw_svg(picture), ConfigError,
                        says("[plot] expected 2 x 2 values, got 3"));
}

BOOST_AUTO_TEST_SUITE_END()
