#include <boost/test/unit_test.hpp>

#include "apps/eval/protocols/gradient.h"
#include "apps/eval/protocols/reach.h"
#include "engine/base/error.h"
#include "tests/apps/eval/protocols/small_model.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_reach)

using namespace farfield;
using namespace farfield::eval;
using namespace farfield::test;

namespace {

ProtocolResult measure(const std::string& posenc, std::vector<int64_t> lengths) {
  CommonOptions common;
  common.lengths = std::move(lengths);
  return reach(SmallModel(posenc).subject(), common);
}

// trf_paper and trf_exact at each length.
std::vector<double> fields(const ProtocolResult& result) {
  std::vector<double> all;
  for (const LengthResult& cell : result.lengths) {
    all.push_back(value_of(cell, "trf_paper"));
    all.push_back(value_of(cell, "trf_exact"));
  }
  return all;
}

void expect(const std::string& posenc, const std::vector<double>& want) {
  BOOST_TEST_CONTEXT(posenc)
  BOOST_TEST(fields(measure(posenc, {2, 4, 64})) == want, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_window_reaches_over_each_layer) {
  expect("window(3)", {6, 2, 6, 4, 6, 5});
  expect("alibi", {2, 2, 4, 4, 64, 64});
  expect("window(1)", {2, 1, 2, 1, 2, 1});
}

BOOST_AUTO_TEST_CASE(layers_with_windows_of_their_own_add_up) {
  expect("window(3)@0 + window(6)@1", {9, 2, 9, 4, 9, 8});
  BOOST_TEST(measure("window(3)@0 + window(6)@1", {64}).lengths[0].notes.at(0) ==
             "windows by layer: 3 6; trf_paper is their sum, trf_exact the sum of (w - 1), plus 1");
}

BOOST_AUTO_TEST_CASE(a_layer_without_a_window_sees_everything) {
  expect("window(3)@0", {2, 2, 4, 4, 64, 64});
  BOOST_TEST(measure("window(3)@0", {64}).lengths[0].notes.at(0) ==
             "windows by layer: 3 none; a layer without one sees every input");
}

BOOST_AUTO_TEST_CASE(sinks_are_counted_and_said) {
  expect("window(3, sinks=2)", {6, 2, 6, 4, 6, 7});
  BOOST_TEST(measure("window(3, sinks=2)", {64}).lengths[0].notes.at(0) ==
             "trf_exact counts the first 2 tokens, which windows leave visible, too");
  BOOST_TEST(measure("window(3)", {64}).lengths[0].notes.empty());
}

BOOST_AUTO_TEST_CASE(a_mask_with_gaps_is_refused) {
  BOOST_TEST(
      message_of<ConfigError>([] { measure("only_distances([0, 3])", {4}); }) ==
      "[eval:reach] bad_argument: expected masks without gaps, got "
      "'only_distances(distances=[0,3])': its inputs are no range that ends at the last one");
}

BOOST_AUTO_TEST_CASE(covered_is_what_fits_into_the_training_length) {  // of 9
  for (const auto& [posenc, length, want] :
       {std::tuple("window(4)", 64, 1), {"window(5)", 64, 0}, {"alibi", 9, 1}, {"alibi", 10, 0}})
    BOOST_TEST(value_of(measure(posenc, {length}).lengths[0], "covered") == want);
}

BOOST_AUTO_TEST_CASE(just_so_many_inputs_have_a_gradient) {
  for (const char* posenc : {"alibi + window(3)", "rope + window(3)@0 + window(6)@1",
                             "alibi + window(3, sinks=2)", "alibi + window(3)@0"}) {
    const SmallModel small(posenc);
    CommonOptions common;
    common.lengths = {24};
    GradientOptions own;
    own.segments = 5;
    const ProtocolResult got = gradient(small.subject(), common, own);
    double n = 0;
    for (const double share : got.lengths[0].series.at(0).y) n += share > 0;
    BOOST_TEST(n == fields(measure(posenc, {23})).at(1), posenc);
  }
}

BOOST_AUTO_TEST_CASE(a_length_beyond_learned_positions_fails_its_cell) {
  const ProtocolResult got = measure("learned_abs", {4, 64});
  BOOST_TEST(got.lengths[0].failure == "");
  BOOST_TEST(got.lengths[1].failure == "position_out_of_range");
}

BOOST_AUTO_TEST_CASE(stand_ins_have_no_masks) {
  BOOST_CHECK_EXCEPTION(reach(test::subject(uniform_model(), toy_text(100)), {}), ConfigError,
                        says("[eval:reach] bad_argument: expected a model to look inside"));
}

BOOST_AUTO_TEST_SUITE_END()
