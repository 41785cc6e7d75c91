#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/cell_files.h"
#include "tests/support/temp_folder.h"

using namespace farfield;
using namespace farfield::apps;

namespace {

LengthResult measured() {
  LengthResult cell;
  cell.tokens = "abc";
  cell.message = "layer 0: no bias by distance";
  cell.quantities = {{"eff", INFINITY, "h1"}, {"verdict", -1, "h2", "not_cpd"}};
  cell.series = {
      {"kernel", "distance", {0, 1}, {0, -INFINITY}, {-1, -2}, {1, 2}, true, false, "h1"}};
  return cell;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_was_kept_is_found_whole) {
  const TempFolder folder;
  const Cells cells = cell_files(folder / "cells", {{"model", "m"}}, /*again=*/false);
  Subject subject;
  subject.text.id = "t";
  ProtocolResult of;
  of.protocol = "effective-length";
  LengthResult found;
  BOOST_TEST(!cells.find(subject, of, found));
  cells.keep(subject, of, measured());
  BOOST_TEST_REQUIRE(cells.find(subject, of, found));
  const LengthResult want = measured();
  BOOST_TEST(found.message == want.message);
  BOOST_TEST(found.tokens == want.tokens);
  BOOST_TEST_REQUIRE(found.quantities.size() == 2u);
  for (size_t i = 0; i < 2; ++i) {
    BOOST_TEST(found.quantities[i].full_name() == want.quantities[i].full_name());
    BOOST_TEST(found.quantities[i].value == want.quantities[i].value);
    BOOST_TEST(found.quantities[i].word == want.quantities[i].word);
  }
  BOOST_TEST_REQUIRE(found.series.size() == 1u);
  const Series &got = found.series[0], &kept = want.series[0];
  BOOST_TEST(got.full_name() == kept.full_name());
  BOOST_TEST(got.axis == kept.axis);
  BOOST_TEST(got.x == kept.x, boost::test_tools::per_element());
  BOOST_TEST(got.y == kept.y, boost::test_tools::per_element());
  BOOST_TEST(got.low == kept.low, boost::test_tools::per_element());
  BOOST_TEST(got.high == kept.high, boost::test_tools::per_element());
  BOOST_TEST(got.is_log_x);
  BOOST_TEST(!got.may_log_y);
}
