#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/eval/passkey_score.h"

BOOST_AUTO_TEST_SUITE(test_passkey_score)

using namespace farfield;
using namespace farfield::eval;

namespace {

double quantity(const PasskeyScore& of, const std::string& name) {
  for (const Quantity& one : of.quantities())
    if (one.name == name) return one.value;
  return std::nan("");
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_answer_is_right_if_its_first_number_is_the_key) {
  const auto accuracy = [](int64_t key, const char* text) {
    PasskeyScore score(0);
    score.add({0, key}, text);
    return quantity(score, "accuracy");
  };
  BOOST_TEST(accuracy(4711, " 4711. Remember it. 12") == 1);
  BOOST_TEST(accuracy(4711, "\n the key 4711") == 1);
  for (const char* wrong : {"", " yellow", " 47110", " 04711", " 4 711", " 471", " 12 4711"})
    BOOST_TEST(accuracy(4711, wrong) == 0, wrong);
}

BOOST_AUTO_TEST_CASE(shares_have_a_standard_error_and_the_chance_of_a_guess_beside_them) {
  PasskeyScore score(0);
  for (int i = 0; i < 10; ++i) score.add({0, 5}, i < 2 ? "5" : i < 7 ? "6" : "green");
  BOOST_TEST(score.n_prompts() == 10);
  BOOST_TEST(quantity(score, "accuracy") == 0.2);
  BOOST_TEST(quantity(score, "accuracy_error") == std::sqrt(0.2 * 0.8 / 10),
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(quantity(score, "chance") == 1.0 / 50000);
  BOOST_TEST(quantity(score, "answered") == 0.7);
}

BOOST_AUTO_TEST_CASE(places_are_tenths_of_the_garbage_with_both_ends) {
  PasskeyScore score(200);
  score.add({0, 1}, "1");
  score.add({19, 2}, "3");
  score.add({20, 4}, "4");
  score.add({199, 5}, "x");
  score.add({200, 6}, "6");
  const Series places = score.by_place();
  BOOST_TEST_REQUIRE(places.x.size() == 10u);
  BOOST_TEST_REQUIRE(places.y.size() == 10u);
  BOOST_TEST(places.x.front() == 0.05);
  BOOST_TEST(places.x.back() == 0.95);
  BOOST_TEST(places.y[0] == 0.5);
  BOOST_TEST(places.y[1] == 1);
  for (size_t i = 2; i < 9; ++i) BOOST_TEST(std::isnan(places.y[i]), i);
  BOOST_TEST(places.y[9] == 0.5);
}

BOOST_AUTO_TEST_CASE(without_garbage_there_are_no_places) {
  PasskeyScore score(0);
  score.add({0, 1}, "1");
  BOOST_TEST(score.by_place().x.empty());
  PasskeyScore least(1);
  least.add({0, 1}, "1");
  least.add({1, 1}, "2");
  BOOST_TEST(least.by_place().y.front() == 1);
  BOOST_TEST(least.by_place().y.back() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
