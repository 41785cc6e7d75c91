#include <boost/test/unit_test.hpp>

#include "apps/cli/lists.h"
#include "apps/sweep/requested_models.h"

using namespace farfield;
using namespace farfield::sweep;

BOOST_AUTO_TEST_SUITE(test_requested_models)

BOOST_AUTO_TEST_CASE(labels_with_commas_are_put_together_again) {
  const std::vector<const Experiment*> some = {&experiment_named("context/interpolation"),
                                               &experiment_named("context/logn-shifted")};
  const auto whole = [&](const std::vector<std::string>& pieces) {
    return whole_names(pieces, some);
  };
  using Names = std::vector<std::string>;
  BOOST_TEST((whole({"positions / 4", "30 steps"}) == Names{"positions / 4, 30 steps"}));
  BOOST_TEST((whole({"positions / 4", "positions / 4", "30 steps", "no change"}) ==
              Names{"positions / 4", "positions / 4, 30 steps", "no change"}));
  BOOST_TEST((whole({"log n", "shifted", "read from 2 L on"}) ==
              Names{"log n, shifted, read from 2 L on"}));
  // What no label has stays in pieces, to be refused by its name.
  BOOST_TEST((whole({"positions / 4", "31 steps"}) == Names{"positions / 4", "31 steps"}));
  BOOST_TEST((whole_names({"a", "b"}, {}) == Names{"a", "b"}));
  BOOST_TEST(whole({}).empty());
}

BOOST_AUTO_TEST_CASE(a_label_at_test_time_is_the_label_of_no_fine_tune) {
  std::vector<std::string> at_test_time, tuned;
  for (const Experiment& e : experiments()) {
    if (e.base_arm.empty()) continue;
    for (const std::string& label : test_time_labels(e)) cli::add_new(at_test_time, label);
    for (const Arm& arm : e.arms)
      if (!arm.starts_from.empty()) cli::add_new(tuned, arm.label);
  }
  BOOST_TEST(cli::has<std::string>(at_test_time, "no change"));
  BOOST_TEST(cli::has<std::string>(at_test_time, "YaRN by 4"));
  BOOST_TEST(cli::has<std::string>(tuned, "positions / 4, 30 steps"));
  for (const std::string& label : tuned) BOOST_TEST(!cli::has(at_test_time, label), label);
}

BOOST_AUTO_TEST_SUITE_END()
