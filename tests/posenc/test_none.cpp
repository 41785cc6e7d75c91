#include <boost/test/unit_test.hpp>

#include "posenc/composition.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_none)
namespace {

BOOST_AUTO_TEST_CASE(none_asks_for_nothing_on_any_layer) {
  const Composition none("none", {.n_head = 2, .head_dim = 4, .d_model = 8, .n_layer = 3});
  const Composition::Plan plan = none.plan(4, 6, Phase::eval);
  BOOST_TEST(!plan.embedding.defined());
  BOOST_TEST(plan.token_scale == 1);
  BOOST_TEST_REQUIRE(plan.layers.size() == 3u);
  for (const auto& [rotation, rule] : plan.layers) {
    BOOST_TEST(!rotation.cos.defined());
    BOOST_TEST((!rule.bias.defined() && !rule.weight.defined() && !rule.row_scale.defined()));
    BOOST_TEST((rule.window == 0 && rule.sinks == 0));
  }
  BOOST_TEST(none.parameters().empty());
}

BOOST_AUTO_TEST_CASE(aliases_of_none_have_its_canonical_text) {
  for (const char* alias : {"nope", "no_pe", " none ( ) ", "none+none"})
    BOOST_TEST(Composition(alias, {}).canonical() == "none");
}

BOOST_AUTO_TEST_CASE(none_takes_no_arguments) {
  BOOST_CHECK_EXCEPTION(Composition("none(3)", {}), ConfigError, [](const ConfigError& e) {
    return std::string(e.what()) ==
           "[posenc] none takes no arguments at column 6\n"
           "  none(3)\n"
           "       ^";
  });
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
