#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/inspect/geometry.h"
#include "engine/base/error.h"
#include "tests/support/golden.h"
#include "tests/support/messages.h"

namespace farfield::inspect {
BOOST_AUTO_TEST_SUITE(test_geometry)  // ctest: on_cuda
namespace {

posenc::Composition encoding_of(const std::string& expression, int64_t head_dim = 8) {
  return {expression,
          {.n_head = 2,
           .head_dim = head_dim,
           .d_model = 2 * head_dim,
           .n_layer = 3,
           .train_len = 16,
           .dtype = DType::f64}};
}

BOOST_AUTO_TEST_CASE(plain_positions_stay_and_so_do_distances) {
  const auto all = remapped_positions(encoding_of("rope + alibi"), {.n_key = 5});
  BOOST_TEST_REQUIRE(all.size() == 5u);
  for (size_t t = 0; t < 5; ++t) {
    BOOST_TEST(all[t].id == static_cast<double>(t));
    BOOST_TEST(all[t].distance == static_cast<double>(t));
  }
}

BOOST_AUTO_TEST_CASE(frequencies_are_those_of_the_formula_at_any_position) {
  const posenc::Composition rope = encoding_of("rope(base=500, layout=interleaved)");
  for (const int64_t position : {0, 3}) {
    const auto pairs = turned_pairs(rope, {.n_key = 9}, position);
    BOOST_TEST_REQUIRE(pairs.size() == 4u);
    for (size_t i = 0; i < 4; ++i) {
      const double want = std::pow(500.0, -2.0 * static_cast<double>(i) / 8);
      BOOST_TEST(pairs[i].frequency == want, boost::test_tools::tolerance(1e-13));
      BOOST_TEST(pairs[i].scale_q == 1, boost::test_tools::tolerance(1e-15));
      BOOST_TEST(pairs[i].scale_k == 1, boost::test_tools::tolerance(1e-15));
      BOOST_TEST(std::isnan(pairs[i].far_frequency_q));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_layer_has_its_own_rotation_or_none) {
  const posenc::Composition mixed = encoding_of("rope@0..1 + alibi@2");
  BOOST_TEST(turned_pairs(mixed, {.layer = 1, .n_key = 4}, 0).size() == 4u);
  BOOST_TEST(turned_pairs(mixed, {.layer = 2, .n_key = 4}, 0).empty());
}

BOOST_AUTO_TEST_CASE(a_position_without_another_after_it_is_refused) {
  for (const int64_t position : {-1, 4, 100})
    BOOST_CHECK_EXCEPTION(turned_pairs(encoding_of("rope"), {.n_key = 5}, position), ConfigError,
                          says(concat("[inspect] --position: expected one from 0 to 3, with "
                                      "another after it in 5 tokens, got ",
                                      position)));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::inspect
