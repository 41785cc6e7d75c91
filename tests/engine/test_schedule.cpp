#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/base/error.h"
#include "engine/schedule.h"
#include "tests/support/golden.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_schedule)
namespace {

BOOST_AUTO_TEST_CASE(the_published_schedule_has_the_golden_rates) {
  const auto model = test::golden("model.json");
  const auto& golden = model["lr_schedule"];
  const Schedule schedule{.peak_lr = golden["lr"],
                          .decay_steps = golden["decay_iters"],
                          .warmup_fraction = golden["warmup_fraction"]};
  for (size_t i = 0; i < golden["value"].size(); ++i) {
    const double want = golden["value"][i];
    const double got = learning_rate(schedule, golden["scheduler_index"][i].get<int64_t>() + 1);
    BOOST_TEST(std::abs(got - want) <= 1e-13 * schedule.peak_lr);
  }
}

BOOST_AUTO_TEST_CASE(the_first_update_has_rate_zero_and_the_peak_comes_after_the_warm_up) {
  const Schedule schedule{.peak_lr = 3e-3, .decay_steps = 600, .warmup_fraction = 0.02};
  BOOST_TEST(learning_rate(schedule, 1) == 0);
  BOOST_TEST(learning_rate(schedule, 13) == 3e-3);
  BOOST_TEST(learning_rate(schedule, 12) < 3e-3);
  BOOST_TEST(learning_rate(schedule, 14) < 3e-3);
}

BOOST_AUTO_TEST_CASE(the_rate_stays_above_zero_after_the_end) {
  const Schedule schedule{.peak_lr = 1, .decay_steps = 1000, .warmup_fraction = 0.02};
  const double last = learning_rate(schedule, 981);
  BOOST_TEST(last > 0);
  BOOST_TEST(learning_rate(schedule, 1000) == last);
  BOOST_TEST(learning_rate(schedule, 1000000) == last);
}

BOOST_AUTO_TEST_CASE(without_warm_up_the_first_update_has_the_peak_rate) {
  BOOST_TEST(learning_rate({.peak_lr = 0.5, .decay_steps = 10, .warmup_fraction = 0}, 1) == 0.5);
}

BOOST_AUTO_TEST_CASE(fairseqs_rate_rises_from_its_start_and_falls_to_its_end) {
  const Schedule schedule{.peak_lr = 1,
                          .decay_steps = 286'000,
                          .warmup_fraction = 16'000.0 / 286'000,
                          .start_lr = 1e-7,
                          .end_lr = 1e-4,
                          .form = Schedule::Form::fairseq};
  BOOST_TEST(learning_rate(schedule, 1) == 1e-7);
  const double step = (1 - 1e-7) / 16'000;
  BOOST_TEST(std::abs(learning_rate(schedule, 2) - (1e-7 + step)) < 1e-18);
  BOOST_TEST(std::abs(learning_rate(schedule, 16'000) - (1 - step)) < 1e-15);
  BOOST_TEST(learning_rate(schedule, 16'001) == 1);
  BOOST_TEST(learning_rate(schedule, 16'002) < 1);
  // Half way, the mean of both ends.
  BOOST_TEST(std::abs(learning_rate(schedule, 16'001 + 135'000) - (1 + 1e-4) / 2) < 1e-12);
  BOOST_TEST(std::abs(learning_rate(schedule, 286'001) - 1e-4) < 1e-15);
  BOOST_TEST(learning_rate(schedule, 1'000'000) == learning_rate(schedule, 286'001));
}

BOOST_AUTO_TEST_CASE(neoxs_rate_has_a_start_and_an_end_too) {
  const Schedule schedule{
      .peak_lr = 1, .decay_steps = 1000, .warmup_fraction = 0.02, .start_lr = 0.5, .end_lr = 0.25};
  BOOST_TEST(learning_rate(schedule, 1) == 0.5);
  BOOST_TEST(learning_rate(schedule, 11) == 0.75);
  BOOST_TEST(learning_rate(schedule, 21) == 1);
  const Schedule plain{.peak_lr = 1, .decay_steps = 1000, .warmup_fraction = 0.02};
  for (const int64_t u : {22, 500, 981, 2000})
    BOOST_TEST(std::abs(learning_rate(schedule, u) - (0.25 + 0.75 * learning_rate(plain, u))) <
               1e-15);
}

BOOST_AUTO_TEST_CASE(arguments_out_of_range_are_refused) {
  const auto check = [](const Schedule& schedule, int64_t update, const std::string& text) {
    BOOST_CHECK_EXCEPTION(learning_rate(schedule, update), ConfigError,
                          [&](const ConfigError& e) { return e.what() == text; });
  };
  check({}, 0, "[schedule] expected an update number >= 1, got 0");
  check({.peak_lr = -1}, 1, "[schedule] expected a finite peak_lr >= 0, got -1");
  check({.decay_steps = 0}, 1, "[schedule] expected decay_steps >= 1, got 0");
  check({.start_lr = 1}, 1, "[schedule] expected start_lr from 0 to the peak of 0.001, got 1");
  check({.end_lr = -1}, 1, "[schedule] expected end_lr from 0 to the peak of 0.001, got -1");
  check({.warmup_fraction = 0.6}, 1, "[schedule] expected warmup_fraction in [0, 0.5], got 0.6");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
