#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/eval/draws.h"
#include "apps/eval/subject.h"

namespace farfield::eval {
BOOST_AUTO_TEST_SUITE(test_draws)
namespace {

ProtocolResult draw(const std::vector<double>& items) {
  ProtocolResult result;
  result.protocol = "last-token";
  result.parameters = "segments=2";
  LengthResult& cell = result.lengths.emplace_back();
  cell.length = 8;
  cell.n_scored = static_cast<int64_t>(items.size());
  measure_cell(cell, "last-token", [&](LengthResult& to) { to.items = items; });
  return result;
}

BOOST_AUTO_TEST_CASE(one_draw_is_the_result_itself) {
  const ProtocolResult got = mean_over_draws({draw({1, 3})});
  BOOST_TEST(got.parameters == "segments=2");
  BOOST_TEST(got.lengths[0].n_draws == 1);
  BOOST_TEST(got.lengths[0].nll_error == 1);
  BOOST_TEST(std::isnan(got.lengths[0].nll_spread));
}

BOOST_AUTO_TEST_CASE(items_and_means_are_averaged_and_their_spread_is_kept) {
  const ProtocolResult got = mean_over_draws({draw({1, 3}), draw({2, 6}), draw({3, 9})});
  const LengthResult& cell = got.lengths[0];
  BOOST_TEST(got.parameters == "segments=2 draws=3");
  BOOST_TEST(cell.items == (std::vector<double>{2, 6}), boost::test_tools::per_element());
  BOOST_TEST(cell.mean_nll == 4);  // of 2, 4 and 6
  BOOST_TEST(cell.nll_spread == 2);
  BOOST_TEST(cell.nll_error == 2);  // deviation sqrt(8) over sqrt(2)
  BOOST_TEST(cell.n_draws == 3);
  BOOST_TEST(cell.n_scored == 2);
  const double mean = (std::exp(2.0) + std::exp(4.0) + std::exp(6.0)) / 3;
  double squares = 0;
  for (const double nll : {2.0, 4.0, 6.0}) squares += std::pow(std::exp(nll) - mean, 2);
  BOOST_TEST(cell.perplexity_spread == std::sqrt(squares / 2), boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(a_length_that_failed_once_has_failed) {
  ProtocolResult bad = draw({1, 3});
  bad.lengths[0].failure = "nonfinite_logits";
  const ProtocolResult got = mean_over_draws({draw({1, 3}), bad, draw({1, 3})});
  BOOST_TEST(got.lengths[0].failure == "nonfinite_logits");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::eval
