#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/eval/step_times.h"

namespace farfield::eval {
BOOST_AUTO_TEST_SUITE(test_step_times)
namespace {

// A clock that shows multiples of `resolution_s`, and steps of `step_s` on it.
struct Toy {
  double resolution_s, step_s;
  double time_s = 0;
  int64_t n_run = 0;

  StepClock clock() {
    return {[this] { return std::floor(time_s / resolution_s) * resolution_s; }, resolution_s};
  }
  StepTimes run(int64_t n, int64_t n_possible = 1000000) {
    return time_steps(clock(), n, [this, n_possible] {
      if (n_run == n_possible) return false;
      ++n_run;
      time_s += step_s;
      return true;
    });
  }
};

BOOST_AUTO_TEST_CASE(a_fine_clock_times_each_step) {
  Toy toy{.resolution_s = 0.125, .step_s = 16};
  const StepTimes times = toy.run(7);
  BOOST_TEST(times.is_whole);
  BOOST_TEST(times.block == 1);
  BOOST_TEST(toy.n_run == 7);
  BOOST_TEST(times.n_step() == 7);
  BOOST_TEST(times.step_s.values() == std::vector<double>(7, 16), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_clock_of_more_than_a_hundredth_of_a_step_times_blocks) {
  // A hundred ticks of the clock are 100 s, so 64 steps are the first power of two above.
  Toy toy{.resolution_s = 1, .step_s = 1.75};
  const StepTimes times = toy.run(100);
  BOOST_TEST(times.block == 64);
  BOOST_TEST(times.step_s.size() == 2);
  BOOST_TEST(times.n_step() == 128);
  BOOST_TEST(toy.n_run == 1 + 2 + 4 + 8 + 16 + 32 + 2 * 64);
  for (const double step_s : times.step_s.values())
    BOOST_TEST(step_s == 1.75, boost::test_tools::tolerance(0.01));
}

BOOST_AUTO_TEST_CASE(what_a_slow_first_step_let_pass_is_thrown_away) {
  double time_s = 0;
  int64_t n_run = 0;
  const StepTimes times = time_steps({[&] { return std::floor(time_s); }, 1}, 1000, [&] {
    time_s += ++n_run == 1 ? 400 : 1;
    return true;
  });
  BOOST_TEST(times.block == 128);
  for (const double step_s : times.step_s.values()) BOOST_TEST(step_s == 1);
}

BOOST_AUTO_TEST_CASE(exactly_a_hundredth_is_fine_enough) {
  Toy exact{.resolution_s = 1, .step_s = 100}, below{.resolution_s = 1, .step_s = 99};
  BOOST_TEST(exact.run(1).block == 1);
  BOOST_TEST(below.run(1).block == 2);
}

BOOST_AUTO_TEST_CASE(a_block_that_was_cut_short_is_left_out) {
  Toy toy{.resolution_s = 1, .step_s = 1.75};
  const StepTimes times = toy.run(1000, 63 + 64 + 10);
  BOOST_TEST(!times.is_whole);
  BOOST_TEST(times.n_step() == 64);
  Toy never{.resolution_s = 1, .step_s = 1};
  BOOST_TEST(never.run(5, 0).step_s.empty());
}

BOOST_AUTO_TEST_CASE(the_resolution_is_the_least_difference_of_two_readings) {
  double time_s = 0;
  BOOST_TEST(resolution_of([&] { return std::floor((time_s += 0.03125) * 4) / 4; }) == 0.25);
  const StepClock clock = machine_clock();
  BOOST_TEST(clock.resolution_s > 0);
  BOOST_TEST(clock.resolution_s < 0.01);
  const double before = clock.now_s();
  BOOST_TEST(before <= clock.now_s());
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::eval
