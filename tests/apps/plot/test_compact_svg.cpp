#include <boost/test/unit_test.hpp>
#include <string>

#include "apps/plot/compact_svg.h"

BOOST_AUTO_TEST_SUITE(test_compact_svg)

using farfield::plot::compact_svg;

BOOST_AUTO_TEST_CASE(a_line_keeps_the_points_that_a_tenth_of_a_pixel_needs) {
  BOOST_TEST(
      compact_svg("<path d='M10.00,20.00 L11.00,20.04\n\t\tL12.00,20.00 L13.26,19.50  '/>") ==
      "<path d='M10,20l2,0 1.3,-.5'/>");
}

BOOST_AUTO_TEST_CASE(rounding_does_not_add_up) {
  std::string path = "M0.00,0.00", wanted;
  for (int i = 1; i <= 100; ++i)
    path += i % 2 ? " L" + std::to_string(i) + ".04,1.00" : " L" + std::to_string(i) + ".04,0.00";
  const std::string found = compact_svg("<path d='" + path + "'/>");
  double x = 0;
  for (size_t at = found.find('l') + 1; at < found.size() && found[at] != '\'';) {
    x += std::stod(found.substr(at));
    at = found.find_first_of(" '", at) + 1;
    if (found[at - 1] == '\'') break;
  }
  BOOST_TEST(x == 100.0, boost::test_tools::tolerance(0.0006));
}

BOOST_AUTO_TEST_CASE(several_lines_closed_lines_and_moves_that_draw_nothing) {
  BOOST_TEST(compact_svg("<path d='M1.00,1.00 M2.00,2.00 L2.00,4.00 L3.00,3.00 Z M5.00,5.00 "
                         "L5.50,9.00 M7.00,7.00  '/>") == "<path d='M2,2l0,2 1,-1zM5,5l.5,4'/>");
}

BOOST_AUTO_TEST_CASE(what_it_does_not_know_stays) {
  for (const char* const path :
       {"M-1,0 h2 M0,-1 v2", "m1,1 l2,2", "M1 1 L2 2", "L1,1", "M1,", "Z"}) {
    const std::string svg = std::string("<path d='") + path + "'/>";
    BOOST_TEST(compact_svg(svg) == svg);
  }
  BOOST_TEST(compact_svg("<path d='M1,1") == "<path d='M1,1");
}

BOOST_AUTO_TEST_CASE(a_band_keeps_the_points_that_a_tenth_of_a_pixel_needs) {
  BOOST_TEST(compact_svg("<polygon fill = '#440154' points = '10.00,20.00 11.00,20.04 12.00,20.00\n"
                         "\t12.00,30.26 10.00,30.00'/>") ==
             "<polygon fill = '#440154' points = '10,20 12,20 12,30.3 10,30'/>");
  for (const char* const points : {"1,2 3", "1 2 3 4", "1,2,3,4", ""}) {
    const std::string svg = std::string("<polygon points = '") + points + "'/>";
    BOOST_TEST(compact_svg(svg) == svg);
  }
}

BOOST_AUTO_TEST_CASE(symbols_that_nothing_uses_go_also_those_that_only_such_use) {
  BOOST_TEST(
      compact_svg("<defs>\n\t<circle id='gpPt5' r='1'/>\n\t<use xlink:href='#gpPt5' "
                  "id='gpPt6'/>\n\t<rect id='gpPt3'/>\n</defs>\n<use xlink:href='#gpPt3'/>\n") ==
      "<defs>\n\t<rect id='gpPt3'/>\n</defs>\n<use xlink:href='#gpPt3'/>\n");
}

BOOST_AUTO_TEST_CASE(empty_groups_go) {
  BOOST_TEST(compact_svg("<svg>\n<g a=\"1\">\n<g b=\"2\">\n</g>\n</g>\n<g c=\"3\">\n<path "
                         "d=''/>\n</g>\n</svg>") ==
             "<svg>\n<g c=\"3\">\n<path d=''/>\n</g>\n</svg>");
}

BOOST_AUTO_TEST_CASE(symbols_keep_their_points) {
  const std::string svg =
      "<defs><path id='gpPt1' d='M0,0 L.04,.04 L1,0'/></defs><use xlink:href='#gpPt1'/>";
  BOOST_TEST(compact_svg(svg) == svg);
}

BOOST_AUTO_TEST_SUITE_END()
